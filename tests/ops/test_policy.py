"""The delivery policy: declared kinds, held against the jobs; exceptions with a reason and an end."""

import json
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from hermes_ops import cli
from hermes_ops.core.ledger_runs import Run
from hermes_ops.core.watch import Context
from hermes_ops.schedule import policy, policy_check, policy_start
from hermes_ops.schedule.declared import read_all
from tests.ops.job_records import HALF_HOURLY, job, new_home, once, put_list, write_jobs

NOW = 1_796_000_000.0
DAY = 86_400.0
BERLIN = ZoneInfo("Europe/Berlin")
A, B, C, D = "aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc", "dddddddddddd"


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = new_home(tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(home))
    monkeypatch.setenv("HERMES_TIMEZONE", "")
    return home


def declare(home, text):
    (home / "ops").mkdir(exist_ok=True)
    (home / "ops" / "policy.toml").write_text(text, "utf-8")


def found(home, now=NOW):
    return {(one.rule, one.key): one for one in policy_check.examine(home, now).findings}


def kinds(*pairs, more=""):
    return "".join(f'[[job]]\nid = "{job_id}"\nkind = "{kind}"\n' for job_id, kind in pairs) + more


def script(job_id, name, **fields):
    return job(job_id, name, **{"no_agent": True, "script": "x.py", "prompt": "", **fields})


def test_jobs_that_keep_to_their_kind_have_no_findings(home, capsys):
    write_jobs(
        home,
        job(A, "gather", deliver="local"),
        script(B, "disk", deliver="telegram:-100:17", schedule=HALF_HOURLY),
        job(C, "digest", deliver="telegram:-100:5"),
        script(D, "call", schedule=once("2026-12-24T17:30:00+01:00"), deliver="telegram:-100:1"),
    )
    declare(
        home,
        '[targets]\nalert = ["telegram:-100:17"]\n' + kinds((A, "collector"), (B, "alert"), (C, "digest")),
    )
    assert found(home) == {}
    assert cli.main(["policy"]) == 0
    assert "4 of 4 jobs have a kind" in capsys.readouterr().out


@pytest.mark.parametrize(
    "kind, record, rule, told",
    [
        ("collector", job(A, "a", deliver="telegram:-100:5"), "policy.deliver", "it is to be silent (local)"),
        ("alert", script(A, "a", deliver="telegram:-100:9"), "policy.deliver", "not to telegram:-100:17"),
        ("alert", script(A, "a", deliver="local"), "policy.deliver", "where nobody sees it"),
        ("alert", job(A, "a", deliver="telegram:-100:17"), "policy.mode", "an alert that a model writes"),
        (
            "alert",
            job(A, "a", deliver="telegram:-100:17", script="x.py"),
            "policy.mode",
            "agent after a script",
        ),
        ("digest", job(A, "a", deliver=None), "policy.deliver", "a digest delivers to local"),
        ("digest", job(A, "a", deliver="telegram:-100:17"), "policy.deliver", "where alerts go"),
        ("one-shot", job(A, "a"), "policy.mode", "a one-shot that a model writes"),
    ],
)
def test_what_a_kind_forbids_is_told(home, kind, record, rule, told):
    write_jobs(home, record)
    declare(home, '[targets]\nalert = ["telegram:-100:17"]\n' + kinds((A, kind)))
    ((key, finding),) = found(home).items()
    assert key == (rule, f"default/{A}") and finding.severity == "warning"
    assert told in finding.text


def test_a_digest_speaks_where_it_was_declared_to_and_not_in_anothers_place(home):
    write_jobs(home, job(A, "a"), job(B, "b"))
    declare(home, kinds((A, "digest"), (B, "digest")))
    shared = found(home)
    assert {rule for rule, _ in shared} == {"policy.shared"} and len(shared) == 2
    declare(home, f'[[job]]\nid = "{A}"\nkind = "digest"\ntarget = "telegram:-100:6"\n')
    assert "not to its own target telegram:-100:6" in found(home)["policy.deliver", f"default/{A}"].text


def test_nothing_is_guessed_of_a_job_that_nobody_declared(home, capsys):
    write_jobs(home, job(A, "morning digest", deliver="local"), job(B, "alert!", deliver="local"))
    got = found(home)
    assert set(got) == {("policy.undeclared", f"default/{A}"), ("policy.undeclared", f"default/{B}")}
    assert {one.severity for one in got.values()} == {"info"}
    assert cli.main(["policy"]) == 0
    assert "hermes ops policy init" in capsys.readouterr().out


def test_a_one_shot_is_known_by_its_schedule_but_only_mentioned(home):
    write_jobs(home, job(A, "research x tomorrow", schedule=once("2026-12-24T17:30:00+01:00")))
    (finding,) = found(home).values()
    assert (finding.rule, finding.severity) == ("policy.mode", "info")


def test_our_own_watchers_are_alerts_without_a_declaration(home):
    write_jobs(home, script(A, "ops wallet", script="ops-wallet.py", deliver="telegram:-100:9"))
    declare(home, '[targets]\nalert = ["telegram:-100:17"]\n')
    assert list(found(home)) == [("policy.deliver", f"default/{A}")]


def test_our_watchers_that_speak_in_one_wrong_place_are_one_finding_that_install_mends(home, capsys):
    def watcher(job_id, name, deliver):
        return script(job_id, f"ops {name}", script=f"ops-{name}.py", deliver=deliver)

    wrong = "telegram:-100:9"
    write_jobs(
        home, watcher(A, "wallet", wrong), watcher(B, "sweep", wrong), watcher(C, "lint", "telegram:-100:8")
    )
    targets = '[targets]\nalert = ["telegram:-100:17"]\n'
    declare(home, targets)
    both, alone = policy_check.examine(home, NOW).findings
    assert both.key == f"default/watchers/{wrong}" and "wallet, sweep" in both.evidence[1]
    assert both.fix == "hermes ops install wallet sweep --deliver telegram:-100:17"
    assert (alone.key, alone.fix) == (f"default/{C}", "hermes ops install lint --deliver telegram:-100:17")
    assert cli.main(["policy"]) == 1
    assert capsys.readouterr().out.count(wrong) == 1
    # One of them can still be excluded by itself.
    declare(home, f'{targets}[[exclude]]\nwhat = "policy.deliver:default/{A}"\nreason = "for the team"\n')
    assert [one.key for one in policy_check.examine(home, NOW).findings] == [f"default/{B}", f"default/{C}"]


def test_names_are_patterns_an_id_goes_first_and_two_that_disagree_are_told(home):
    write_jobs(home, job(A, "Morning digest", deliver="local"), job(B, "morning mail", deliver="local"))
    pattern = '[[job]]\nname = "morning *"\nkind = "collector"\n'
    declare(home, pattern)
    assert found(home) == {}
    declare(home, pattern + kinds((A, "digest")))
    assert list(found(home)) == [("policy.deliver", f"default/{A}")]
    declare(home, pattern + '[[job]]\nname = "*mail"\nkind = "digest"\n')
    assert list(found(home)) == [("policy.conflict", f"default/{B}")]


def test_a_declaration_is_about_its_profile_and_one_without_a_job_is_told(home):
    write_jobs(home, job(A, "a", deliver="local"))
    write_jobs(home / "profiles" / "work", job(A, "a", deliver="local"))
    declare(
        home,
        f'[[job]]\nid = "{A}"\nprofile = "work"\nkind = "digest"\n' + kinds((A, "collector"), (C, "digest")),
    )
    assert set(found(home)) == {("policy.deliver", f"work/{A}"), ("policy.unused", f"default/{C}")}


def test_a_job_that_does_not_run_is_asked_nothing(home):
    write_jobs(home, job(A, "a", deliver="telegram:-100:5", enabled=False, state="paused"))
    declare(home, kinds((A, "collector")))
    assert found(home) == {}


def test_a_kind_can_be_changed_and_added(home):
    write_jobs(home, job(A, "a"), job(B, "b"))
    declare(
        home,
        '[kinds.digest]\nmode = "script"\n[kinds.chat]\ndeliver = "somebody"\n'
        + kinds((A, "digest"), (B, "chat")),
    )
    assert list(found(home)) == [("policy.mode", f"default/{A}")]


def spoken(job_id, when, delivery="sent", outcome="said"):
    at = datetime.fromisoformat(when).replace(tzinfo=BERLIN).timestamp()
    return Run(
        profile="default",
        job_id=job_id,
        job_name="a",
        execution_id=f"{job_id}{when}{delivery}{outcome}",
        source="builtin",
        status="completed",
        claimed_at=at,
        started_at=at,
        finished_at=at,
        error=None,
        outcome=outcome,
        response_chars=5,
        output=None,
        delivery=delivery,
        delivery_error=None,
        targets=("telegram:-100:5",),
        no_agent=False,
    )


class Runs:
    """A ledger that holds the runs of a test."""

    def __init__(self, runs):
        self._runs = runs

    def runs(self, since, until):
        return [run for run in self._runs if since <= run.claimed_at < until]

    def close(self):
        pass


@pytest.fixture
def ledger(home, monkeypatch):
    def hold(*runs):
        (home / "ops").mkdir(exist_ok=True)
        (home / "ops" / "ledger.db").touch()
        monkeypatch.setattr("hermes_ops.core.ledger.Ledger.open", lambda home: Runs(runs))

    return hold


def test_messages_are_counted_by_day_of_the_zone_and_held_against_the_budget(home, ledger):
    write_jobs(home, job(A, "a"))
    declare(home, f'[[job]]\nid = "{A}"\nkind = "digest"\nmessages_per_day = 2\n')
    evening = [spoken(A, f"2026-11-28T23:{minute}:00") for minute in ("10", "20")]
    after_midnight = [spoken(A, "2026-11-29T00:05:00")]
    quiet = [
        spoken(A, "2026-11-28T12:00:00", "silent", "silent"),
        spoken(A, "2026-11-28T13:00:00", "local"),
        spoken(A, "2026-11-28T14:00:00", "failed"),
    ]
    ledger(*evening, *after_midnight, *quiet)
    assert found(home) == {}
    ledger(*evening, spoken(A, "2026-11-28T08:00:00", "unknown"), *quiet)
    (finding,) = found(home).values()
    assert finding.rule == "policy.budget"
    assert finding.text == "3 messages on 2026-11-28; a digest has 2 a day"


def test_a_ledger_that_cannot_be_read_is_said_and_not_taken_for_silence(home, capsys):
    write_jobs(home, job(A, "a"))
    declare(home, kinds((A, "digest")))
    (home / "ops" / "ledger.db").mkdir()
    checked = policy_check.examine(home, NOW)
    assert checked.messages is None
    assert [blind.covers for blind in checked.blind] == ["policy.budget:"]
    assert cli.main(["policy"]) == 1
    assert "not counted" in capsys.readouterr().err


def test_a_profile_that_cannot_be_read_leaves_no_declaration_unused(home):
    write_jobs(home, job(A, "a", deliver="local"))
    put_list(home / "profiles" / "work", "truncated.json")
    declare(home, f'[[job]]\nid = "{B}"\nprofile = "work"\nkind = "digest"\n' + kinds((A, "digest")))
    reading = policy_check.watch(Context(home, NOW))
    assert [one.rule for one in reading.findings] == ["policy.deliver"]
    (blind,) = reading.blind
    assert "work/cron/jobs.json" in blind.text


EXCLUDE = '[[exclude]]\nwhat = "{what}"\nreason = "the feed is busy"\nowner = "anna"\n{more}'


def test_an_exclusion_holds_until_its_date_has_ended_and_is_told_then(home, capsys):
    write_jobs(home, job(A, "a", deliver="local"))
    what = f"policy.deliver:default/{A}"
    declare(home, kinds((A, "digest"), more=EXCLUDE.format(what=what, more="until = 2026-11-30\n")))
    assert found(home) == {}
    assert policy_check.examine(home, NOW).accepted[0][1] == "the feed is busy"
    end = datetime(2026, 12, 1, tzinfo=BERLIN).timestamp()
    assert found(home, end - 1) == {}
    over = found(home, end)
    assert {rule for rule, _ in over} == {"policy.deliver", "policy.exclusion_over"}
    (text,) = [one.text for one in over.values() if one.rule == "policy.exclusion_over"]
    assert "the feed is busy, anna" in text and "2026-12-01 00:00 CET" in text


def test_an_exclusion_that_matches_nothing_is_told(home):
    write_jobs(home, job(A, "a"))
    declare(home, kinds((A, "digest"), more=EXCLUDE.format(what="policy.budget:default/x*", more="")))
    assert list(found(home)) == [("policy.exclusion_idle", "default/policy.budget:default/x*")]


def test_an_exclusion_of_all_of_a_rule(home):
    write_jobs(home, job(A, "a"), job(B, "b"))
    declare(home, EXCLUDE.format(what="policy.undeclared", more=""))
    assert found(home) == {}


@pytest.mark.parametrize(
    "text, told",
    [
        ('[[job]]\nid = "x"\nkind = "digests"\n', "kind: expected one of collector, alert, digest, one-shot"),
        ('[[job]]\nkind = "digest"\n', "expected either id or name"),
        ('[[job]]\nid = "x"\nname = "y"\nkind = "digest"\n', "expected either id or name"),
        ('[[job]]\nid = "x"\nkind = "digest"\ntargets = "y"\n', "did you mean target?"),
        ('[[job]]\nid = "x"\nkind = "digest"\nmessages_per_day = -1\n', "whole number"),
        ('[[jobs]]\nid = "x"\n', "did you mean job?"),
        ('[kinds.chat]\nmode = "any"\n', "needs deliver"),
        ('[kinds.digest]\ndeliver = "all"\n', "deliver: expected one of"),
        ('[targets]\nalerts = ["x"]\n', "did you mean alert?"),
        ('[[exclude]]\nwhat = "policy.x"\n', "reason: expected text"),
        ('[[exclude]]\nwhat = "policy.x"\nreason = "  "\n', "must not be empty"),
        ('[[exclude]]\nwhat = "policy.x"\nreason = "y"\nuntil = "soon"\n', "until: expected a date"),
        ('[[exclude]]\nwhat = "*"\nreason = "y"\n', 'a "*" may only end it'),
        ('[[exclude]]\nwhat = "schedule.late"\nreason = "y"\n', "others go into ops/suppress.toml"),
        ("targets = 3\n", "targets: expected a table"),
    ],
)
def test_a_faulty_policy_is_refused_as_a_whole_and_names_the_place(home, capsys, text, told):
    write_jobs(home)
    declare(home, text)
    assert cli.main(["policy"]) == 1
    error = capsys.readouterr().err
    assert told in error and "policy.toml" in error


def test_a_first_policy_names_every_job_decides_nothing_and_is_never_overwritten(home, capsys):
    name = 'a "b"\n[[job]]\nid = "x"'
    write_jobs(home, job(A, name), job(B, "x", deliver="local"), script(C, "s"))
    write_jobs(home / "profiles" / "work", job(D, "d", schedule=once("2026-12-24T17:30:00+01:00")))
    assert cli.main(["policy", "init"]) == 0
    text = (home / "ops" / "policy.toml").read_text("utf-8")
    decided = policy.load(home, BERLIN)
    assert decided.declarations == () and decided.exclusions == () and decided.kinds == policy.KINDS
    opened = "".join(
        line.removeprefix("# ") + "\n"
        for line in text.splitlines()
        if line.startswith(("# [[job]]", "# id =", "# kind =", "# profile ="))
    )
    declare(home, opened)
    declared = {(one.profile, one.id): one.kind for one in policy.load(home, BERLIN).declarations}
    assert declared == {
        ("default", A): "digest",
        ("default", B): "collector",
        ("default", C): "alert",
        ("work", D): "one-shot",
    }
    assert cli.main(["policy", "init"]) == 1
    assert "left as it is" in capsys.readouterr().err
    assert (home / "ops" / "policy.toml").read_text("utf-8") == opened


def test_a_first_policy_shows_no_secret(home):
    secret = "gh" + "p_" + "a1B2" * 9
    write_jobs(home, job(A, f"push {secret}"))
    assert secret not in policy_start.starter(read_all(home)[0].declared)


def test_the_answer_as_json(home, capsys):
    write_jobs(home, job(A, "a", deliver="local"), job(B, "b"))
    declare(home, kinds((A, "digest")))
    assert cli.main(["policy", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert {one["job"]: one["kind"] for one in data["jobs"]} == {A: "digest", B: None}
    assert {one["rule"] for one in data["findings"]} == {"policy.deliver", "policy.undeclared"}
    assert data["jobs"][0]["most_messages"] is None
