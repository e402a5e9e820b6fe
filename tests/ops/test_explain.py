"""The decision trees: the first cause with its evidence, unknown where nothing can be read; autopsies."""

import json
import os
import sqlite3
import time
from datetime import datetime, timezone
from pathlib import Path

import pytest

from hermes_ops import cli
from hermes_ops.core.finding import Finding, Reading
from hermes_ops.core.incident import Incidents
from hermes_ops.core.ledger import Balance, Ledger
from hermes_ops.core.watch import Context
from hermes_ops.errors import Unreadable
from hermes_ops.playbook import dead, duplicate, missing, slow, spend
from hermes_ops.playbook.autopsy import markdown
from hermes_ops.playbook.tree import Case, no, walk, yes

NOW = 1_796_000_000.0
HOUR, DAY = 3600.0, 86_400.0
JOB, TWIN = "0123456789ab", "ba9876543210"
SESSIONS = """CREATE TABLE sessions(id TEXT PRIMARY KEY, source TEXT, model TEXT, title TEXT,
 parent_session_id TEXT, started_at REAL, ended_at REAL, end_reason TEXT, message_count INTEGER,
 compression_failure_error TEXT,
 compression_failure_cooldown_until REAL)"""
USAGE = """CREATE TABLE session_model_usage(session_id TEXT, model TEXT, billing_provider TEXT DEFAULT '',
 billing_base_url TEXT DEFAULT '', billing_mode TEXT DEFAULT '', task TEXT DEFAULT '', api_call_count INTEGER,
 input_tokens INTEGER, output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0,
 cache_write_tokens INTEGER DEFAULT 0, reasoning_tokens INTEGER DEFAULT 0, estimated_cost_usd REAL DEFAULT 0,
 actual_cost_usd REAL DEFAULT 0, cost_status TEXT, cost_source TEXT, first_seen REAL, last_seen REAL,
 PRIMARY KEY(session_id, model, billing_provider, billing_base_url, billing_mode, task))"""
LOCKS = (
    "CREATE TABLE compression_locks(session_id TEXT PRIMARY KEY, holder, acquired_at REAL, expires_at REAL)"
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = tmp_path / "home"
    for folder in ("cron", "logs", "state"):
        (home / folder).mkdir(parents=True)
    monkeypatch.setenv("HERMES_HOME", str(home))
    monkeypatch.setenv("HERMES_TIMEZONE", "UTC")
    return home


@pytest.fixture
def case(home):
    context = Context(home, NOW)
    yield lambda subject=None: Case(context, subject)
    context.close()


def iso(at):
    return datetime.fromtimestamp(at, timezone.utc).isoformat()


def database(home, *statements):
    connection = sqlite3.connect(home / "state.db")
    for statement in (SESSIONS, USAGE, LOCKS, *statements):
        connection.execute(statement)
    connection.commit()
    connection.close()


def session(name="20261128_100000_abc123", model="m", **more):
    keys = {"id": name, "source": "telegram", "model": model, "started_at": NOW - 5 * DAY, **more}
    return f"INSERT INTO sessions({', '.join(keys)}) VALUES ({', '.join(map(repr, keys.values()))})"


def usage(tokens, calls, name="20261128_100000_abc123", task="", usd=0.0, at=NOW - 60):
    return (
        "INSERT INTO session_model_usage(session_id, model, task, api_call_count, input_tokens,"
        " cache_read_tokens, estimated_cost_usd, cost_status, first_seen, last_seen) VALUES"
        f" ('{name}', 'm', '{task}', {calls}, {tokens // 10}, {tokens - tokens // 10}, {usd}, 'estimated',"
        f" {at - DAY}, {at})"
    )


def jobs(home, *records):
    kinds = {"enabled": True, "state": "scheduled", "deliver": "telegram:1", "prompt": "p", "no_agent": False}
    every = {"kind": "interval", "minutes": 60, "display": "every 60m"}
    rows = [{**kinds, "id": JOB, "name": "digest", "schedule": every, **record} for record in records]
    (home / "cron" / "jobs.json").write_text(json.dumps({"jobs": rows}))


def ticks(home, age=10.0):
    (home / "cron" / "ticker_heartbeat").write_text(str(NOW - age))
    (home / "cron" / "ticker_last_success").write_text(str(NOW - age))


def answers(tree, case, *, every=True):
    return {node.question: node.found.answer for node in walk(tree.QUESTIONS, case, every=every).nodes}


def cause(tree, case):
    [node] = walk(tree.QUESTIONS, case).causes
    return node.found


def test_a_walk_stops_at_the_first_cause_and_what_cannot_be_read_is_unknown(case):
    def locked(case):
        raise Unreadable("state.db", "locked")

    asked = [
        ("a", lambda case: no("x")),
        ("b", locked),
        ("c", lambda case: yes("that", ["y"], "do")),
        ("d", locked),
    ]
    found = walk(asked, case())
    assert [node.found.answer for node in found.nodes] == ["no", "unknown", "yes"]
    assert found.lines()[-2:] == ["Cause: that", "  next: do"]
    assert len(walk(asked, case(), every=True).nodes) == 4
    nothing = walk(asked[:2], case())
    assert "1 could not be told" in nothing.lines()[-1]


@pytest.mark.parametrize("tree", [slow, spend, dead])
def test_an_empty_home_is_no_error_and_nothing_is_called_healthy(case, tree):
    assert "yes" in answers(tree, case()).values() or "unknown" in answers(tree, case()).values()


def test_slow_names_the_giant_session(home, case):
    database(home, session(title="the long one"), usage(530_000 * 20, 20))
    found = cause(slow, case())
    assert "530,000 tokens a call" in found.cause
    assert any("the long one" in line for line in found.evidence)


def test_slow_asks_about_the_session_that_is_named(home, case):
    small = "20261129_110000_small1"
    database(home, session(), usage(530_000 * 20, 20), session(small), usage(9000, 3, small, at=NOW - 999))
    assert answers(slow, case("20261129"))["Has the session grown giant?"] == "no"
    assert answers(slow, case())["Has the session grown giant?"] == "yes"
    with pytest.raises(Exception, match="several sessions"):
        answers(slow, case("2026112"))
    with pytest.raises(Exception, match="no session"):
        answers(slow, case("nosuch"))


def test_slow_names_a_compaction_that_fails_and_one_that_hangs(home, case):
    failing = session(compression_failure_error="no provider", compression_failure_cooldown_until=NOW + 600)
    database(home, failing, usage(9000, 3))
    assert any("no provider" in line for line in cause(slow, case()).evidence)
    connection = sqlite3.connect(home / "state.db")
    connection.execute("UPDATE sessions SET compression_failure_cooldown_until = 0")
    connection.execute("INSERT INTO compression_locks VALUES ('s', 'h', ?, ?)", (NOW - 1200, NOW))
    connection.commit()
    connection.close()
    assert any("held for 20 min" in line for line in cause(slow, case()).evidence)


def test_slow_hears_the_provider_and_not_what_people_wrote(home, case):
    stamp = datetime.fromtimestamp(NOW - 60).strftime("%Y-%m-%d %H:%M:%S,000")
    database(home, session(), usage(9000, 3))
    log = home / "logs" / "errors.log"
    log.write_text(f"{stamp} INFO agent.loop: user asked about error 429 and rate limits\n")
    os.utime(log, (NOW - 60, NOW - 60))
    assert answers(slow, case())["Does the provider limit the rate?"] == "no"
    log.write_text(f"{stamp} WARNING agent.client: HTTP 429 Too Many Requests\n")
    os.utime(log, (NOW - 60, NOW - 60))
    assert answers(slow, case())["Does the provider limit the rate?"] == "yes"


def test_slow_tells_another_model_than_wanted(home, case):
    (home / "config.yaml").write_text("model: {default: wanted-model}\n")
    database(home, session(model="other-model"), usage(9000, 3))
    found = answers(slow, case())
    assert found["Does it run on another model than wanted?"] == "yes"


def test_slow_tells_that_there_is_no_session_yet_from_no_model(home, case):
    (home / "config.yaml").write_text("model: {default: wanted-model}\n")
    database(home)
    [node] = [one for one in walk(slow.QUESTIONS, case()).nodes if "another model" in one.question]
    assert node.found.answer == "unknown"
    assert node.found.evidence == (
        "config.yaml model.default: wanted-model; there is no session with usage yet",
    )
    (home / "config.yaml").write_text("model: {}\n")
    [node] = [one for one in walk(slow.QUESTIONS, case()).nodes if "another model" in one.question]
    assert node.found.evidence == ("no model is set in config.yaml",)


def spent(home, *rows):
    """Two snapshots a day apart, between which `rows` grew from nothing."""
    database(home)
    ledger = Ledger.open(home)
    ledger.collect(NOW - 20 * HOUR)
    connection = sqlite3.connect(home / "state.db")
    for statement in rows:
        connection.execute(statement)
    connection.commit()
    connection.close()
    ledger.collect(NOW - 60)
    ledger.close()


def test_spend_says_that_nothing_is_measured_rather_than_nothing_spent(home, case):
    database(home, session(), usage(9000, 3, usd=5.0))
    assert "two snapshots" in cause(spend, case()).cause


def test_spend_names_the_one_job_that_spends_most(home, case):
    jobs(home, {})
    cron = f"cron_{JOB}_20261129_060000"
    spent(
        home,
        session(cron, source="cron", started_at=NOW - HOUR),
        usage(90_000, 30, cron, usd=4.0).replace(str(NOW - 60 - DAY), str(NOW - HOUR)),
        session(started_at=NOW - HOUR),
        usage(9_000, 3, usd=1.0).replace(str(NOW - 60 - DAY), str(NOW - HOUR)),
    )
    found = cause(spend, case())
    assert "80%" in found.cause and JOB in found.cause
    assert found.commands == (f"hermes cron pause {JOB}",)


def test_spend_calls_no_plan_and_no_unknown_price_nothing(home, case):
    names = ("20261128_100000_planned", "20261128_100000_unknown", "20261128_100000_priced0")
    statuses, sums = ("included", "unknown", "estimated"), (0.0, 0.0, 1.5)
    rows = []
    for name, status, usd in zip(names, statuses, sums, strict=True):
        row = usage(9000, 9, name, usd=usd).replace(str(NOW - 60 - DAY), str(NOW - HOUR))
        rows += [session(name, started_at=NOW - HOUR), row.replace("'estimated'", f"'{status}'")]
    spent(home, *rows)
    said = "\n".join(line for node in walk(spend.QUESTIONS, case()).nodes for line in node.found.evidence)
    assert f"{names[0]}: in a plan: 9,000 tokens, 9 calls" in said
    assert f"{names[1]}: no known price, 9 calls" in said
    assert f"{names[2]}: 1.50 USD, 9 calls" in said and "0.00 USD" not in said


def test_spend_tells_a_top_up(home, case):
    ledger = Ledger.open(home)
    for at, amount in ((NOW - 3 * HOUR, 2.0), (NOW - 2 * HOUR, 12.0)):
        ledger.record_balance(Balance(at, "deepseek", "a1", amount, "USD"))
    ledger.close()
    found = walk(spend.QUESTIONS, case(), every=True)
    assert any("+10.00" in line for node in found.nodes for line in node.found.evidence)


def test_missing_walks_from_off_to_silent(home, case):
    def said():
        return cause(missing, case(JOB)).cause

    jobs(home, {"enabled": False, "state": "paused", "paused_reason": "on holiday"})
    assert "paused" in said()
    jobs(home, {"last_run_at": iso(NOW - HOUR)})
    assert "never run here" in said()
    ticks(home, age=4000)
    assert "does not run" in said()
    ticks(home)
    jobs(
        home, {"created_at": iso(NOW - 60), "schedule": {"kind": "cron", "expr": "0 4 1 1 *", "display": "y"}}
    )
    assert "not due yet" in said()
    jobs(home, {"schedule": "0 4 * * 6"})
    assert "not valid" in said()
    jobs(home, {"created_at": iso(NOW - DAY)})
    assert "never run" in said()
    jobs(
        home,
        {
            "created_at": iso(NOW - DAY),
            "last_run_at": iso(NOW - 600),
            "last_status": "error",
            "last_error": "x",
        },
    )
    assert "failed: x" in said()
    ran = {"created_at": iso(NOW - DAY), "last_run_at": iso(NOW - 600), "last_status": "ok"}
    jobs(home, {**ran, "last_delivery_error": "chat not found"})
    assert "did not arrive: chat not found" in said()
    jobs(home, {**ran, "deliver": "local"})
    assert "only in cron/output" in said()
    jobs(home, {**ran, "deliver": "origin"})
    assert "made in none" in said()


@pytest.mark.parametrize("good", [None, 3 * HOUR])
def test_missing_names_a_scheduler_that_loops_and_fails(home, case, good):
    jobs(home, {"created_at": iso(NOW - DAY)})
    ticks(home)
    path = home / "cron" / "ticker_last_success"
    path.unlink() if good is None else path.write_text(str(NOW - good))
    found = cause(missing, case(JOB))
    assert "loops and" in found.cause and "no job is started" in found.cause
    assert ("3 h ago" if good else "missing") in found.evidence[1]


def test_missing_finds_the_job_by_name_and_refuses_none(home, case):
    jobs(home, {"enabled": False, "state": "paused"}, {"id": TWIN, "name": "other"})
    assert cause(missing, case("digest")).commands == (f"hermes cron resume {JOB}",)
    with pytest.raises(Exception, match="nosuch"):
        walk(missing.QUESTIONS, case("nosuch"))


@pytest.mark.usefixtures("impatient")
def test_missing_with_a_torn_job_list_is_an_error_that_names_it(home, case):
    (home / "cron" / "jobs.json").write_text('{"jobs": [{')
    found = answers(missing, case(JOB))
    assert set(found.values()) <= {"unknown", "yes"}


def test_duplicate_names_the_twin_and_the_doubled_target(home, case):
    jobs(home, {}, {"id": TWIN, "name": "copy"})
    assert "2 live jobs do the same" in cause(duplicate, case(JOB)).cause
    jobs(home, {"deliver": "all,telegram:1"}, {"id": TWIN, "name": "other", "prompt": "q"})
    assert "`all`" in cause(duplicate, case(JOB)).cause
    jobs(home, {"deliver": "telegram:1,telegram:1"})
    assert "written twice" in cause(duplicate, case(JOB)).cause
    jobs(home, {"deliver": "telegram,telegram:1"})
    assert "home channel" in cause(duplicate, case(JOB)).cause


def test_dead_sees_through_a_state_file_that_says_running(home, case):
    gone = 2**22 - 5
    (home / "gateway.pid").write_text(json.dumps({"pid": gone, "kind": "hermes-gateway", "start_time": 1}))
    (home / "gateway_state.json").write_text(json.dumps({"pid": gone, "gateway_state": "running"}))
    found = cause(dead, case())
    assert "process is gone" in found.cause


def test_an_incident_renders_as_an_autopsy_with_its_history_and_no_markup(home):
    incidents = Incidents(home)
    finding = Finding(
        "test.giant",
        "critical",
        "session <b>x</b>",
        "grew to 530,000 `tokens` | a call",
        "default/x",
        evidence=("row 1: *5*",),
        fix="hermes sessions list",
    )
    incidents.update("sweep", Reading.of([finding]), NOW, lambda messages: True)
    incidents.update("sweep", Reading.of(), NOW + HOUR, lambda messages: True)
    page = markdown(incidents.find("test.giant"), timezone.utc, NOW + DAY)
    for heading in ("## Symptom", "## Evidence", "## What happened", "## Cause", "## Fix", "## Prevention"):
        assert heading in page
    assert "lasted 60 min" in page
    assert "<b>" not in page.replace("\\<", "")
    assert "row 1: \\*5\\*" in page


def test_the_command_ends_with_what_was_found(home, capsys):
    assert cli.main(["explain"]) == 0
    assert cli.main(["explain", "nosuch"]) == 2
    assert cli.main(["explain", "missing"]) == 2
    jobs(home, {"enabled": False, "state": "paused"})
    capsys.readouterr()
    assert cli.main(["explain", "missing", "digest", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["nodes"][-1]["answer"] == "yes"
    assert cli.main(["explain", "incident", "nosuch"]) == 1
    assert "Traceback" not in capsys.readouterr().err
    now = time.time()
    Incidents(home).update(
        "sweep", Reading.of([Finding("a.b", "error", "w", "t", "k")]), now, lambda messages: True
    )
    assert cli.main(["explain", "incident", "a.b"]) == 0
    assert "## Symptom" in capsys.readouterr().out


def test_explaining_changes_nothing_of_the_hosts(home, case):
    database(home, session(), usage(9000, 3))
    jobs(home, {})
    ticks(home)

    def content():
        names = [path for path in home.rglob("*") if path.is_file() and home / "ops" not in path.parents]
        return {path: path.read_bytes() for path in names}

    before = content()
    for tree in (slow, spend, dead):
        walk(tree.QUESTIONS, case(), every=True)
    for tree in (missing, duplicate):
        walk(tree.QUESTIONS, case(JOB), every=True)
    assert content() == before
    assert Path(home / "ops").exists()


def test_slow_takes_what_the_database_holds_as_it_comes(home, case):
    failing = session(started_at="long ago", compression_failure_error="x")
    database(home, failing, usage(9000, 3))
    assert answers(slow, case())["Has the session grown giant?"] == "no"
