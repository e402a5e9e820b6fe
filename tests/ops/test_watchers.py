"""Who watches whom: each watcher by another layer, nobody alone, nothing stale, and somebody who hears it."""

import json
import os

import pytest

from hermes_ops import cli
from hermes_ops.core import run
from hermes_ops.core.watch import WATCHERS, Context
from hermes_ops.errors import OpsError
from hermes_ops.liveness.memory import Memory, MemoryFile
from hermes_ops.schedule import manifest, watchers
from hermes_ops.schedule.manifest import Entry
from hermes_ops.schedule.watchers import Evidence, check, combine, survey
from tests.ops.job_records import HALF_HOURLY, job, new_home, put_list, write_jobs

NOW = 1_796_000_000.0
HOUR = 3600.0
A, B, C, D = "aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc", "dddddddddddd"


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = new_home(tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(home))
    monkeypatch.delenv("OPS_PING_URL", raising=False)
    return home


def ours(name, job_id, **fields):
    """The job of one of our watchers."""
    fields = {"schedule": HALF_HOURLY, "no_agent": True, "script": f"ops-{name}.py", "prompt": "", **fields}
    return job(job_id, f"ops {name}", **fields)


def test_what_a_service_survives_is_unknown_until_it_is_declared(home, capsys):
    (home / "ops").mkdir()
    services = [("rack", "service"), ("disk", "cron"), ("phone", "outside")]
    tables = [
        f'[[watcher]]\nname = "{name}"\nwatches = ["x"]\nlayer = "{layer}"\n' for name, layer in services
    ]
    (home / "ops" / "watchers.toml").write_text("".join(tables))
    cli.main(["watchers"])
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line.strip()}
    assert "unknown: declare survives" in lines["rack"] and "unknown: declare survives" in lines["phone"]
    assert "inside the gateway" in lines["disk"] and "inside the gateway" in lines["sweep"]


def daemon_looked(home, at):
    MemoryFile(home).write(Memory(pid=1, last_pass_at=at), durable=False)


def declare(home, text):
    (home / "ops").mkdir(exist_ok=True)
    (home / "ops" / "watchers.toml").write_text(text, "utf-8")


def rules(home, now=NOW):
    return {(finding.rule, finding.key) for finding in check(survey(home), now)}


def test_a_whole_chain_with_somebody_outside_has_no_findings(home):
    write_jobs(home, ours("wallet", A), ours("supervisor", B), ours("sweep", C))
    for name in ("wallet", "supervisor", "sweep"):
        run.record(home, name, NOW - 300, None)
    daemon_looked(home, NOW - 60)
    declare(home, '[[watcher]]\nname = "phone"\nwatches = ["watchers"]\nlayer = "outside"\n')
    found = {one.entry.name: one for one in survey(home)}
    assert check(found.values(), NOW) == []
    assert [one.name for one in found["wallet"].by] == ["sweep", "daemon", "phone"]
    assert [one.name for one in found["daemon"].by] == ["supervisor", "phone"]


def test_without_anybody_outside_the_circle_is_told_once(home):
    write_jobs(home, ours("wallet", A), ours("supervisor", B), ours("sweep", C))
    for name in ("wallet", "supervisor", "sweep"):
        run.record(home, name, NOW, None)
    daemon_looked(home, NOW)
    (finding,) = check(survey(home), NOW)
    assert (finding.rule, finding.severity) == ("watchers.no_outside", "warning")
    assert "wallet, supervisor, sweep, daemon" in finding.text
    assert finding.evidence == ("they watch each other in a circle: supervisor, sweep, daemon",)


def test_a_ping_url_is_somebody_outside(home, monkeypatch):
    write_jobs(home, ours("wallet", A), ours("supervisor", B))
    for name in ("wallet", "supervisor"):
        run.record(home, name, NOW, None)
    daemon_looked(home, NOW)
    monkeypatch.setenv("OPS_PING_URL", "https://ping.example.org/key-of-mine")
    found = survey(home)
    assert check(found, NOW) == []
    assert "key-of-mine" not in "".join(one.entry.signal for one in found)


def test_only_the_minimal_ones_are_missed(home):
    write_jobs(home)
    assert rules(home) == {
        ("watchers.not_installed", f"default/{name}") for name in ("wallet", "supervisor", "daemon")
    }


def test_watchers_in_the_gateway_are_not_enough_for_each_other(home):
    write_jobs(home, ours("wallet", A), ours("sweep", B))
    for name in ("wallet", "sweep"):
        run.record(home, name, NOW, None)
    found = rules(home)
    assert ("watchers.same_layer", "default/wallet") in found
    assert ("watchers.unwatched", "default/sweep") in found


def test_a_stale_run_is_told_and_a_young_job_is_given_time(home):
    write_jobs(home, ours("wallet", A), ours("sweep", B, created_at="2026-11-30T01:00:00+01:00"))
    run.record(home, "wallet", NOW - 2 * HOUR, None)
    assert ("watchers.stale", "default/wallet") in rules(home)
    assert ("watchers.stale", "default/sweep") not in rules(home)
    assert ("watchers.stale", "default/sweep") in rules(home, NOW + 31 * HOUR)
    run.record(home, "wallet", NOW, None)
    assert ("watchers.stale", "default/wallet") not in rules(home)


def test_a_run_that_fails_is_told_before_it_is_stale(home):
    write_jobs(home, ours("wallet", A))
    run.record(home, "wallet", NOW - 600, None)
    run.record(home, "wallet", NOW - 300, "401 from the provider")
    (failing,) = [one for one in check(survey(home), NOW) if one.rule == "watchers.failing"]
    assert "401 from the provider" in failing.text
    assert ("watchers.stale", "default/wallet") not in rules(home)


@pytest.mark.parametrize(
    "fields, rule",
    [
        ({"enabled": False, "state": "paused", "paused_reason": "noisy"}, "watchers.off"),
        ({"deliver": "local"}, "watchers.deaf"),
        ({"deliver": None}, "watchers.deaf"),
        ({"deliver": "nowhere:1"}, "watchers.deaf"),
        ({"deliver": "nowhere:1,telegram:-100:5"}, None),
        ({"deliver": "local,telegram:-100:5"}, None),
    ],
)
def test_a_watcher_that_is_off_or_heard_by_nobody_is_told(home, fields, rule):
    write_jobs(home, ours("wallet", A, **fields))
    run.record(home, "wallet", NOW, None)
    found = {name for name, key in rules(home) if key == "default/wallet"}
    assert (rule in found) if rule else not found & {"watchers.off", "watchers.deaf"}


def test_jobs_that_cannot_be_read_are_not_taken_for_missing(home):
    put_list(home, "truncated.json")
    found = rules(home)
    assert ("watchers.unreadable", "default/all") in found
    assert ("watchers.not_installed", "default/wallet") not in found


def test_a_job_or_a_file_of_ones_own_shows_that_it_ran(home):
    write_jobs(home, job(A, "disk check", last_run_at="2026-11-30T01:00:00+01:00", last_status="ok"))
    touched = home / "ok"
    touched.write_text("")
    os.utime(touched, (NOW - 2 * HOUR, NOW - 2 * HOUR))
    declare(
        home,
        f'[[watcher]]\nname = "disk"\nwatches = ["disk"]\nlayer = "cron"\njob = "{A}"\nmax_age = "26h"\n'
        f'[[watcher]]\nname = "rack"\nwatches = ["watcher:disk"]\nlayer = "service"\n'
        f'file = "{touched}"\nmax_age = "1h"\n'
        '[[watcher]]\nname = "gone"\nwatches = ["x"]\nlayer = "cron"\njob = "no such job"\n',
    )
    found = rules(home)
    assert ("watchers.stale", "default/rack") in found
    assert ("watchers.stale", "default/disk") not in found
    assert ("watchers.unwatched", "default/disk") not in found
    assert ("watchers.unreadable", "default/gone") in found


@pytest.mark.parametrize(
    "text, told",
    [
        (
            '[[watcher]]\nname = "a"\nwatches = ["x"]\nlayer = "cron"\nmaxage = "1h"\n',
            "did you mean max_age?",
        ),
        (
            '[[watcher]]\nname = "a"\nwatches = ["x"]\nlayer = "moon"\n',
            "expected one of cron, service, outside",
        ),
        ('[[watcher]]\nname = "a"\nlayer = "cron"\n', "watches: expected"),
        ('[[watcher]]\nname = "a"\nwatches = ["watcher:b"]\nlayer = "cron"\n', "no watcher has that name"),
        ('[[watcher]]\nname = "a"\nwatches = ["layer:moon"]\nlayer = "cron"\n', "no layer 'moon'"),
        (
            '[[watcher]]\nname = "wallet"\nwatches = ["x"]\nlayer = "cron"\n',
            "two watchers are called 'wallet'",
        ),
        ('[[watcher]]\nname = "a"\nwatches = ["x"]\nlayer = "cron"\nmax_age = "soon"\n', "max_age: expected"),
        (
            '[[watcher]]\nname = "a"\nwatches = ["x"]\nlayer = "cron"\nsurvives = ["fire"]\n',
            "survives: expected",
        ),
        ('[[watchers]]\nname = "a"\n', "did you mean watcher?"),
        ("watcher = 3\n", "each written as [[watcher]]"),
        ("[[watcher]\n", "not valid TOML"),
    ],
)
def test_a_faulty_manifest_is_refused_as_a_whole_and_names_the_place(home, capsys, text, told):
    write_jobs(home)
    declare(home, text)
    assert cli.main(["watchers"]) == 1
    error = capsys.readouterr().err
    assert told in error and "watchers.toml" in error


def test_one_watcher_alone_above_itself_is_no_watcher_of_itself():
    entry = Entry("a", ("watchers", "watcher:a"), "", None, "service")
    (one,) = combine([entry], {"a": Evidence(True)})
    assert one.by == ()
    assert {finding.rule for finding in check([one], NOW)} == {"watchers.unwatched", "watchers.no_outside"}


def test_one_that_is_not_there_watches_nobody():
    up, down = Entry("up", ("watcher:down",), "", None, "service"), Entry("down", ("x",), "", None, "cron")
    found = combine([up, down], {"up": Evidence(False), "down": Evidence(True)})
    assert found[1].by == ()


def test_a_long_chain_to_somebody_outside_counts():
    layers = ["outside"] + ["service", "cron"] * 10
    names = [f"w{number}" for number in range(len(layers))]
    entries = [
        Entry(name, (f"watcher:{below}",) if below else ("x",), "", None, layer)
        for name, layer, below in zip(names, layers, [*names[1:], None], strict=True)
    ]
    assert check(combine(entries, {name: Evidence(True) for name in names}), NOW) == []


def test_every_watcher_of_the_registry_is_in_the_manifest_with_a_target():
    entries = {entry.name: entry for entry in manifest.built_in()}
    assert set(entries) == {watcher.name for watcher in WATCHERS} | {manifest.DAEMON}
    assert all(entries[watcher.name].max_age > watcher.period for watcher in WATCHERS)


def test_the_command_prints_it_as_text_json_and_markdown(home, capsys):
    write_jobs(home, ours("wallet", A))
    run.record(home, "wallet", NOW, None)
    assert cli.main(["watchers"]) == 1
    assert "gateway restart, reboot" in capsys.readouterr().out
    assert cli.main(["watchers", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    (wallet,) = [one for one in data["watchers"] if one["name"] == "wallet"]
    assert (wallet["installed"], wallet["job"], wallet["last_ok"]) == (True, f"default/{A}", NOW)
    tables = []
    for at in (NOW, NOW + HOUR):
        run.record(home, "wallet", at, None)
        cli.main(["watchers", "--markdown"])
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1] and "| wallet |" in tables[0]
    assert cli.main(["watchers", "--json", "--markdown"]) == 2


def test_an_exclusion_with_a_reason_keeps_a_finding_apart(home, capsys):
    write_jobs(home)
    (home / "ops").mkdir()
    (home / "ops" / "policy.toml").write_text(
        '[[exclude]]\nwhat = "watchers.not_installed"\nreason = "a laptop"\nowner = "anna"\n', "utf-8"
    )
    assert cli.main(["watchers"]) == 0
    assert "excluded watchers.not_installed:default/daemon: a laptop" in capsys.readouterr().out
    assert watchers.watch(Context(home, NOW)).findings == ()
    assert cli.main(["policy"]) == 0
    (home / "ops" / "policy.toml").write_text('[[exclude]]\nwhat = "watchers.stale"\nreason = "x"\n', "utf-8")
    told = [
        one.text for one in watchers.watch(Context(home, NOW)).findings if one.rule == "policy.exclusion_idle"
    ]
    assert told == ["the exclusion of watchers.stale matches nothing (x)"]


def test_a_faulty_manifest_is_an_error_of_ours_not_a_traceback(home):
    declare(home, "watcher = []\nother = 1\n")
    with pytest.raises(OpsError):
        watchers.survey(home)
