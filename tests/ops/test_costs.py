"""What was spent: figures with what is not known about them, from the ledger and from one database."""

from __future__ import annotations

import json
import time
from datetime import datetime, timezone
from functools import partial
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import pytest

from hermes_ops import cli
from hermes_ops.core.ledger import Balance, Ledger
from hermes_ops.core.watch import Context
from hermes_ops.host.database import reading
from hermes_ops.host.usage import session
from hermes_ops.spend.attribution import choose, gather, stop_command, top_burners
from hermes_ops.spend.costs import NO_DAY, Figure, from_ledger, last_days, measured, summed
from hermes_ops.spend.costs_database import from_database
from hermes_ops.spend.costs_text import cost, dollars
from tests.ops.made import Home, at, spent
from tests.ops.state_databases import (
    EVENING,
    JOB,
    NEXT_EVENING,
    NOON,
    StateDatabase,
    counts,
    evening_home,
    grow_a_day,
)

UTC = timezone.utc
BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_TIMEZONE", "UTC")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.setattr("hermes_ops.commands.costs.time", SimpleNamespace(time=lambda: NEXT_EVENING))
    return tmp_path


def plain(kind, group):
    return f"{kind} {group[1] or 'none'}", {}


def report(home, now=NEXT_EVENING, days=3, collect=True, namer=plain, **more):
    ledger = Ledger.open(home)
    try:
        if collect:
            ledger.collect(now)
        return from_ledger(ledger, now, days, UTC, "UTC", namer, **more)
    finally:
        ledger.close()


def two_evenings(home):
    state = evening_home(home)
    ledger = Ledger.open(home)
    ledger.collect(EVENING)
    grow_a_day(state)
    ledger.collect(NEXT_EVENING)
    ledger.close()
    return state


def run(capsys, *arguments):
    code = cli.main(["costs", *arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


# --- figures


def test_what_is_not_known_is_said_and_never_nothing():
    known = spent("m", usd=1.0, calls=2, input=10)
    unpriced = spent("m", usd=0.0, calls=3, input=20, unknown_calls=3)
    planned = spent("m", usd=0.0, calls=1, input=5, included_tokens=5)
    assert cost(summed([known])) == "$1.00"
    assert cost(summed([known, unpriced])) == "≥ $1.00"
    assert cost(summed([unpriced])) == "unknown"
    assert cost(summed([planned])) == "in a plan"
    assert cost(summed([], unplaced=2)) == NO_DAY
    assert cost(summed([known], unplaced=2)) == "≥ $1.00"
    assert cost(summed([])) == "$0.00"
    assert summed([known, planned]).usd == 1.0 and summed([unpriced]).usd is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "$0.00"), (1234.5, "$1,234.50"), (0.0021, "$0.0021"), (-1.5, "-$1.50"), (0.01, "$0.01")]
    + [(0.00001, "under $0.0001"), (-0.00001, "under $0.0001")],
)
def test_dollars_are_readable_at_every_size(value, text):
    assert dollars(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.108, "$0.10"), (1.62, "$1.62"), (0.00259, "$0.0025"), (0.0, "$0.00"), (2.999, "$2.99")],
)
def test_a_lower_bound_is_rounded_down(value, text):
    assert cost(Figure(value, at_least=True)) == f"≥ {text}"


@pytest.mark.parametrize("now", ["2026-10-25 23:30", "2026-03-29 00:10", "2026-11-29 12:00"])
@pytest.mark.parametrize("days", [1, 2, 14, 400])
def test_the_days_shown_are_the_last_ones_of_the_zone(now, days):
    bounds = last_days(at(now, BERLIN), days, BERLIN)
    assert len(bounds) == days and bounds == sorted(set(bounds))
    assert bounds[-1] <= at(now, BERLIN) < bounds[-1] + 25 * 3600
    assert {datetime.fromtimestamp(bound, BERLIN).strftime("%H:%M") for bound in bounds} == {"00:00"}


# --- from the ledger


def test_a_day_costs_what_its_snapshots_differ_by(home):
    two_evenings(home)
    found = report(home, collect=False).as_dict()
    by_day = {line["name"]: line for line in found["by_day"]}
    day = by_day["2026-11-28"]
    assert (day["usd"], day["calls"], day["at_least"]) == (1.02, 51, True)
    assert by_day["2026-11-26"]["usd"] is None and by_day["2026-11-26"]["reason"] == NO_DAY
    assert found["total"]["usd"] == 1.62 and found["total"]["at_least"]
    jobs = {line["name"]: line for line in found["by_job"]["rows"]}
    assert jobs[JOB]["usd"] == 0.6 and not jobs[JOB]["at_least"]
    tasks = {line["label"]: line for line in found["by_task"]["rows"]}
    assert tasks["compression"]["usd"] == 0.02 and tasks["compression"]["unknown_calls"] == 1
    models = {line["name"]: line for line in found["by_model"]["rows"]}
    assert models["m"]["included_tokens"] == 3_000_001


def test_one_snapshot_is_not_attributed_to_a_day(home):
    state = StateDatabase(home)
    state.session("long", EVENING - 9 * 86400)
    state.put("long", EVENING - 9 * 86400, EVENING - 60, **counts(500, 10), estimated_cost_usd=11.0)
    found = report(home, EVENING)
    assert found.total.usd is None and found.total.reason == NO_DAY
    assert {cost(line.figure) for line in found.by_day} == {NO_DAY}


def test_every_sum_of_a_group_is_the_total(home):
    two_evenings(home)
    found = report(home, collect=False, top=1).as_dict()
    for name in ("provider", "model", "task", "job", "session"):
        group = found[f"by_{name}"]
        lines = group["rows"] + ([group["rest"]] if group["rest"] else [])
        assert sum(line["usd"] or 0 for line in lines) == pytest.approx(found["total"]["usd"])
        assert sum(line["tokens"] for line in lines) == found["total"]["tokens"]
        assert len(group["rows"]) == 1
    assert found["by_session"]["rest"]["count"] == 2


def test_use_of_no_one_day_is_in_the_total_and_makes_its_days_uncertain(home):
    state = StateDatabase(home)
    state.session("a", EVENING - 20 * 86400)
    state.use("a", EVENING - 20 * 86400, calls=1)
    state.use("a", EVENING - 6 * 86400, calls=1)
    ledger = Ledger.open(home)
    ledger.collect(EVENING - 5 * 86400)
    state.use("a", EVENING - 60, usd=2.0, calls=1)
    ledger.close()
    found = report(home, EVENING, 10)
    assert found.total.usd == 2.0 and found.no_day.usd == 2.0
    covered = {line.name: line.figure for line in found.by_day}["2026-11-25"]
    assert covered.usd is None and covered.reason == NO_DAY


def test_movers_need_two_weeks_of_snapshots(home):
    state = StateDatabase(home)
    state.session(f"cron_{JOB}_20261127_060000", EVENING - 30 * 86400)
    session = f"cron_{JOB}_20261127_060000"
    state.use(session, EVENING - 30 * 86400, calls=1)
    ledger = Ledger.open(home)
    for day in range(15, -1, -1):
        state.use(session, EVENING - day * 86400 - 60, usd=3.0 if day < 7 else 1.0, calls=1)
        ledger.collect(EVENING - day * 86400)
    ledger.close()
    found = report(home, EVENING, collect=False)
    assert [(one.kind, one.usd, one.before) for one in found.movers] == [
        ("job", 21.0, 7.0),
        ("model", 21.0, 7.0),
    ]
    assert found.as_dict()["movers"][0]["change"] == 14.0


def test_without_two_weeks_of_snapshots_movers_are_unknown(home):
    two_evenings(home)
    found = report(home, collect=False)
    assert found.movers == () and "two weeks of snapshots" in found.movers_unknown


def test_falls_of_a_balance_are_set_against_the_estimate():
    readings = [
        Balance(float(i), "deepseek", "k", amount, "USD") for i, amount in enumerate((10, 8, 13, 12.5))
    ]
    yuan = [Balance(float(i), "other", "k", amount, "CNY") for i, amount in enumerate((10, 8))]
    one = [Balance(0.0, "single", "k", 1.0, "USD")]
    found = measured(
        {("deepseek", "k"): readings, ("other", "k"): yuan, ("single", "k"): one},
        lambda provider, since, until: Figure(usd=2.0),
    )
    deepseek, other = found
    assert (deepseek.fell, deepseek.rose, deepseek.unexplained) == (2.5, 5.0, 0.5)
    assert (other.fell, other.unexplained) == (2.0, None)


def test_an_estimate_without_prices_explains_nothing():
    readings = [Balance(float(i), "custom", "k", amount, "USD") for i, amount in enumerate((10, 8))]
    [found] = measured({("custom", "k"): readings}, lambda *_: summed([spent("m", calls=2, unknown_calls=2)]))
    assert found.fell == 2.0 and found.unexplained is None


def test_balances_and_use_of_the_same_time_are_compared(home):
    state = StateDatabase(home)
    state.session("a", NOON)
    ledger = Ledger.open(home)
    ledger.record_balance(Balance(EVENING, "openrouter", "k", 10.0, "USD"))
    ledger.collect(EVENING)
    state.use("a", EVENING + 600, usd=0.5, calls=1)
    ledger.record_balance(Balance(EVENING + 1800, "openrouter", "k", 9.2, "USD"))
    ledger.close()
    found = report(home, EVENING + 1800).as_dict()
    [one] = found["measured"]
    assert (one["fell"], one["estimated"]["usd"], one["unexplained"]) == (0.8, 0.5, 0.3)


# --- from one database


def test_one_database_gives_lifetimes_and_the_days_that_hold_rows_whole(home):
    state = evening_home(home)
    grow_a_day(state)
    found = from_database(state.path, NEXT_EVENING, 3, UTC, "UTC").as_dict()
    by_day = {line["name"]: line for line in found["by_day"]}
    assert by_day["2026-11-27"]["usd"] == 0.6 and by_day["2026-11-27"]["at_least"]
    assert by_day["2026-11-28"]["usd"] is None and by_day["2026-11-28"]["reason"] == NO_DAY
    assert found["total"]["usd"] == 0.6 and found["unplaced"] == {"rows": 2, "sessions": 1}
    lifetime = {line["name"]: line for line in found["lifetime"]["by_session"]["rows"]}
    assert lifetime["long_chat"]["usd"] == 11.2 and lifetime["long_chat"]["unknown_calls"] == 10
    assert lifetime["totals_only"]["usd"] == 0.9
    run = lifetime[f"cron_{JOB}_20261127_060000"]
    assert (run["usd"], run["sessions"]) == (0.6, 3)
    assert lifetime["planned"]["usd"] is None and lifetime["planned"]["included_tokens"] == 3_000_001
    jobs = {line["name"]: line for line in found["lifetime"]["by_job"]["rows"]}
    assert jobs[JOB]["usd"] == 0.6 and jobs[JOB]["sessions"] == 3
    assert found["lifetime"]["total"]["usd"] == pytest.approx(12.7)


def test_a_database_that_was_never_collected_equals_the_first_snapshot(home):
    state = evening_home(home)
    ledger, database = (
        report(home, EVENING).as_dict(),
        from_database(state.path, EVENING, 3, UTC, "UTC").as_dict(),
    )
    for name in ("by_day", "total", "by_provider", "by_model", "by_task"):
        assert ledger[name] == database[name]


def test_an_older_narrower_database_is_read(home):
    state = StateDatabase(
        home,
        "CREATE TABLE sessions(id TEXT PRIMARY KEY, source TEXT, started_at REAL);"
        "CREATE TABLE session_model_usage(session_id TEXT, model TEXT, billing_provider TEXT,"
        " input_tokens INTEGER, estimated_cost_usd REAL, first_seen REAL, last_seen REAL);",
    )
    state.connection.execute("INSERT INTO sessions VALUES('a', 'cli', ?)", (NOON,))
    state.connection.execute(
        "INSERT INTO session_model_usage VALUES('a', 'm', 'openrouter', 10, 0.5, ?, ?)", (NOON, NOON + 60)
    )
    found = from_database(state.path, EVENING, 2, UTC, "UTC")
    assert found.total.usd == 0.5 and found.total.unknown_calls == 1
    assert found.lifetime["session"].lines[0].figure.input == 10


def test_bad_rows_are_left_out_of_every_sum_and_counted(home):
    state = StateDatabase(home)
    state.session("a", NOON)
    state.use("a", NOON, calls=1, input=10, usd=0.1)
    for i, value in enumerate(("x", -4, float("inf"))):
        state.put("a", NOON, NOON, model=f"b{i}", input_tokens=value, estimated_cost_usd=5.0)
    found = from_database(state.path, EVENING, 2, UTC, "UTC")
    assert (found.total.usd, found.total.input) == (0.1, 10)
    assert found.lifetime_total.input == 10 and found.lifetime_total.usd == pytest.approx(0.1)
    assert found.problems == ("3 of 4 rows hold no usable numbers and are left out",)


def test_rows_without_times_are_on_no_day_of_a_database(home):
    state = StateDatabase(home)
    state.session("a", NOON)
    state.put("a", None, None, input_tokens=5, estimated_cost_usd=0.5)
    found = from_database(state.path, EVENING, 2, UTC, "UTC")
    assert found.total.reason == NO_DAY and found.unplaced_rows == 1
    assert {line.figure.reason for line in found.by_day} == {NO_DAY} and found.lifetime_total.usd == 0.5


def test_an_empty_database_is_nothing_spent(home):
    state = StateDatabase(home)
    found = from_database(state.path, EVENING, 1, UTC, "UTC")
    assert cost(from_database(state.path, EVENING, 2, UTC, "UTC").total) == "unknown", "nothing of yesterday"
    assert cost(found.total) == "$0.00" and cost(found.lifetime_total) == "$0.00"
    assert found.lifetime["session"].lines == ()


# --- the command


def test_the_summary_says_the_total_its_gaps_and_every_table(home, capsys):
    two_evenings(home)
    code, out, err = run(capsys, "--days", "5")
    assert (code, err) == (0, "")
    assert "total ≥ $1.62, 64 calls" in out and "not attributable to a day yet" in out
    for title in ("By day", "By provider", "By model", "By task", "By job", "By session"):
        assert f"\n{title}\n" in out


def test_one_table_alone(home, capsys):
    two_evenings(home)
    code, out, _ = run(capsys, "--by", "job", "--days", "5")
    assert code == 0 and f"job {JOB}" in out and "By model" not in out


def test_json_is_one_object_with_a_schema(home, capsys):
    two_evenings(home)
    code, out, _ = run(capsys, "--json", "--days", "5")
    found = json.loads(out)
    assert code == 0 and found["schema"] == 1 and found["total"]["usd"] == 1.62


def test_sessions_and_jobs_are_named_and_what_stops_them_is_said(tmp_path, monkeypatch, capsys):
    home = Home(tmp_path / "home", "UTC")
    monkeypatch.setenv("HERMES_HOME", str(home.path))
    now = time.time()
    home.job(JOB, name="morning digest")
    home.use(f"cron_{JOB}_20261127_060000", now - 60, 0.5)
    home.use("chat", now - 60, 0.7, source="telegram")
    code, out, _ = run(capsys, "--json")
    found = json.loads(out)
    [job] = [line for line in found["by_job"]["rows"] if line["name"]]
    assert job["label"] == f"job {JOB} (morning digest)" and job["stop"] == f"hermes cron pause {JOB}"
    chat = found["by_session"]["rows"][0]
    assert chat["name"] == "chat" and chat["source"] == "telegram" and chat["stop"].startswith("/new in ")
    assert code == 0


def test_the_old_names_of_the_options_work(home, tmp_path_factory, capsys):
    state = evening_home(home)
    page = tmp_path_factory.mktemp("out") / "costs.html"
    code, out, _ = run(capsys, "--db", str(state.path), "--days", "5", "--out", str(page))
    assert code == 0 and f"wrote {page}" in out
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert not (home / "ops").exists()


@pytest.mark.parametrize("path", ["odd ?name#%41.db", "ü 名.db"])
def test_a_database_with_an_odd_name_is_read(home, tmp_path, capsys, path):
    state = evening_home(home)
    state.connection.execute("PRAGMA journal_mode=DELETE")
    state.close()
    (home / "state.db").rename(tmp_path / path)
    code, out, _ = run(capsys, "--db", str(tmp_path / path), "--days", "5")
    assert code == 0 and "All time, by session" in out


def test_what_cannot_be_read_is_one_line_and_exit_1(home, tmp_path, capsys):
    code, out, err = run(capsys, "--db", str(tmp_path / "nothing.db"))
    assert (code, out) == (1, "") and err == f"hermes ops: {tmp_path / 'nothing.db'}: missing\n"
    (tmp_path / "text.db").write_text("words " * 1000)
    code, out, err = run(capsys, "--db", str(tmp_path / "text.db"))
    assert (code, out) == (1, "") and "not a database" in err


def test_a_locked_home_is_said_with_what_is_known(home, capsys, monkeypatch):
    monkeypatch.setattr("hermes_ops.core.ledger_usage.reading", partial(reading, timeout=0.1))
    state = StateDatabase(home, wal=False)
    state.session("a", NOON)
    state.connection.execute("BEGIN EXCLUSIVE")
    code, out, _ = run(capsys)
    assert code == 1 and "locked" in out
    state.connection.execute("COMMIT")
    assert run(capsys)[0] == 0


@pytest.mark.parametrize("arguments", [["--days", "0"], ["--days", "x"], ["--by", "hour"], ["--top", "0"]])
def test_a_wrong_command_line_is_exit_2(home, capsys, arguments):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "") and err.count("\n") == 1


def test_a_secret_in_any_name_is_neither_shown_nor_written(home, tmp_path_factory, capsys):
    written = tmp_path_factory.mktemp("out") / "page.html"
    secret = "sk-or-" + "v1-" + "0a1b" * 16
    state = evening_home(home)
    for column in ("model", "billing_provider", "task"):
        state.connection.execute(f"UPDATE session_model_usage SET {column} = {column} || ' ' || ?", (secret,))
    for words in ([], ["--json"], ["--db", str(home)], ["--db", str(home), "--out", str(written)]):
        assert cli.main(["costs", "--days", "5", *words]) in (0, 1)
        assert secret[9:] not in capsys.readouterr().out
    page = written.read_text("utf-8")
    assert "redacted" in page and secret[9:] not in page


def test_the_page_does_not_go_into_a_directory(home, tmp_path, capsys):
    assert run(capsys, "--out", str(tmp_path))[0] == 1
    assert run(capsys, "--out", str(tmp_path / "no" / "page.html"))[0] == 1


# --- who burns


def test_burners_are_named_by_what_they_used_in_the_time_not_over_their_life(home):
    state = StateDatabase(home)
    state.session("giant", EVENING - 9 * 86400)
    state.use("giant", EVENING - 9 * 86400, usd=40.0, calls=900, cache_read=9 * 10**8)
    state.use("giant", EVENING - 3600, usd=0.01, calls=1)
    state.session(f"cron_{JOB}_20261127_060000", EVENING, source="cron")
    context = Context(home, EVENING + 1800)
    context.ledger().collect(EVENING)
    state.use("giant", EVENING + 60, usd=0.2, calls=1, input=10)
    state.use(f"cron_{JOB}_20261127_060000", EVENING + 60, usd=0.6, calls=1, input=30)
    context.ledger().collect(EVENING + 1800)
    first, second = top_burners(context.ledger(), context, EVENING, EVENING + 1800)
    assert (first.label, first.command) == (f"job {JOB}", f"hermes cron pause {JOB}")
    assert (first.usd, first.tokens, first.unknown) == (pytest.approx(0.6), 30, False)
    assert first.share == pytest.approx(0.75) and second.usd == pytest.approx(0.2)
    assert "giant" in second.label and second.command.startswith("/new in ")
    context.close()


def test_a_jobs_runs_are_one_burner():
    groups = [
        spent("default", JOB, f"cron_{JOB}_1", "cron", usd=0.2, input=5),
        spent("default", JOB, f"cron_{JOB}_2", "cron", usd=0.3, input=5),
        spent("work", JOB, f"cron_{JOB}_2", "cron", usd=0.1, input=5),
    ]
    assert [(use.key, use.usd) for use in gather(groups)] == [
        (("default", JOB, ""), 0.5),
        (("work", JOB, ""), 0.1),
    ]


def test_a_large_user_without_a_price_is_not_hidden_by_small_dollars():
    groups = [spent("default", None, f"s{i}", "cli", usd=0.01, input=10) for i in range(5)]
    groups.append(spent("default", None, "dark", "telegram", input=10**7, unknown_calls=4))
    chosen = choose(gather(groups), 3)
    assert [use.key[2] for use in chosen] == ["s0", "s1", "dark"]
    assert not chosen[-1].priced and chosen[-1].unpriced


def test_what_stops_a_session_depends_on_where_it_runs(home):
    state = StateDatabase(home)
    state.connection.execute("ALTER TABLE sessions ADD COLUMN chat_id TEXT")
    state.connection.execute("ALTER TABLE sessions ADD COLUMN thread_id TEXT")
    state.session("a", NOON, chat_id="-100", thread_id="17")
    assert stop_command("telegram", session(home, "a")) == (
        "/new in telegram chat -100, thread 17 (/stop ends what runs now)"
    )
    assert stop_command("cli", None) == "/new in the terminal that runs it"
    assert "API client" in stop_command("api_server", None)
    assert stop_command("subagent", None) == "end the program that runs it"
