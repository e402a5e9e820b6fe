"""One run of a watcher: silence, one line per change, its own faults, and whether what it said arrived."""

import json
import sys
import types

import pytest

from hermes_ops import cli
from hermes_ops.core import alert, run, watch
from hermes_ops.core.finding import Blind, Finding, Reading
from hermes_ops.core.incident import Incidents
from hermes_ops.errors import Unreadable

NOW = 1_796_000_000.0
STEP = 1800.0
JOB = "0123456789ab"


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / "cron").mkdir(parents=True)
    monkeypatch.setenv("HERMES_HOME", str(home))
    monkeypatch.setattr(alert, "send", lambda *arguments, **options: [])
    return home


class Script:
    """A watcher that sees what a test wants it to see."""

    def __init__(self):
        self.sees = Reading()

    def watch(self, context):
        if isinstance(self.sees, Exception):
            raise self.sees
        return self.sees


@pytest.fixture
def scripted(monkeypatch):
    script = Script()
    module = types.ModuleType("hermes_ops.scripted")
    module.watch = script.watch
    monkeypatch.setitem(sys.modules, "hermes_ops.scripted", module)
    one = watch.Watcher("scripted", "scripted", "every 30m", "for tests", period=STEP)
    monkeypatch.setattr(watch, "WATCHERS", (*watch.WATCHERS, one))
    script.watcher = one
    return script


def once(scripted, home, now):
    said = []
    outcome = run.run(scripted.watcher, home, now, said.append)
    # As if the host had delivered it: nothing of it is left to settle.
    if not (home / "cron" / "jobs.json").exists():
        while (at := Incidents(home).unsettled("scripted")) is not None:
            Incidents(home).settle("scripted", True, at)
    return outcome, said


def wrong(text="the disk is full", key="default/disk"):
    return Reading.of([Finding("test.disk", "error", "disk", text, key, remind=None)])


def test_all_well_is_silence_and_a_change_is_one_line(home, scripted):
    assert once(scripted, home, NOW)[1] == []
    scripted.sees = wrong()
    (line,) = once(scripted, home, NOW + STEP)[1]
    assert "the disk is full" in line
    assert once(scripted, home, NOW + 2 * STEP)[1] == []
    scripted.sees = Reading()
    (line,) = once(scripted, home, NOW + 3 * STEP)[1]
    assert "disk" in line
    assert once(scripted, home, NOW + 4 * STEP)[1] == []


@pytest.mark.parametrize(
    "fault", [ValueError("broken\nthing"), Unreadable("state.db", "locked"), OSError(5, "io")]
)
def test_a_fault_of_the_watcher_is_said_once_and_keeps_what_was_open(home, scripted, fault):
    scripted.sees = wrong()
    once(scripted, home, NOW)
    scripted.sees = fault
    outcome, (line,) = once(scripted, home, NOW + STEP)
    assert "scripted watcher cannot tell" in line
    assert "\n" not in line
    assert outcome.error
    assert once(scripted, home, NOW + 2 * STEP)[1] == []
    kept = run.last_run(home, "scripted")
    assert (kept.last_ok, kept.last_run) == (NOW, NOW + 2 * STEP)
    assert [one.state for one in Incidents(home).all() if one.id == "test.disk:default/disk"] == ["open"]
    # It sees again: that is said, and what it saw before is still open, so not said anew.
    scripted.sees = wrong()
    lines = once(scripted, home, NOW + 3 * STEP)[1]
    assert len(lines) == 1
    assert run.last_run(home, "scripted").error is None


def test_the_place_of_a_fault_is_kept_without_secrets(home, scripted):
    token = "gh" + "p_" + "a1B2" * 9
    scripted.sees = RuntimeError(f"cannot use {token}")
    _, (line,) = once(scripted, home, NOW)
    kept = (home / "ops" / "watchers" / "scripted.traceback").read_text()
    assert "RuntimeError" in kept
    assert token not in kept
    assert token not in line
    assert token not in (home / "ops" / "watchers" / "scripted.json").read_text()


def test_a_second_run_of_the_same_watcher_does_nothing(home, scripted):
    inner = []

    def meanwhile(context):
        inner.append(once(scripted, home, NOW))
        return Reading()

    sys.modules["hermes_ops.scripted"].watch = meanwhile
    outcome, said = once(scripted, home, NOW)
    assert outcome.ran
    assert [result[0].ran for result in inner] == [False]
    assert said == []


def jobs(home, **job):
    record = {
        "id": JOB,
        "name": "ops scripted",
        "script": "ops-scripted.py",
        "no_agent": True,
        "enabled": True,
        "state": "scheduled",
        "deliver": "telegram:1",
        "schedule": {"kind": "interval", "minutes": 30, "display": "every 30m"},
        **job,
    }
    (home / "cron" / "jobs.json").write_text(json.dumps({"jobs": [record]}))
    (home / "ops").mkdir(exist_ok=True)
    (home / "ops" / "install.json").write_text(json.dumps({"format": 1, "jobs": {"scripted": JOB}}))


def iso(at):
    from datetime import datetime, timezone

    return datetime.fromtimestamp(at, timezone.utc).isoformat()


def test_what_did_not_arrive_is_said_again_and_by_another_way(home, scripted, monkeypatch):
    sent = []
    monkeypatch.setattr(alert, "send", lambda home, text, **options: sent.append(text) or [])
    jobs(home)
    scripted.sees = wrong()
    assert len(once(scripted, home, NOW)[1]) == 1
    jobs(home, last_run_at=iso(NOW + 2), last_status="ok", last_delivery_error="chat not found")
    _, lines = once(scripted, home, NOW + STEP)
    assert any("the disk is full" in line for line in lines), "it never arrived, so it is said again"
    assert any("did not reach telegram:1: chat not found" in line for line in lines)
    assert any("the disk is full" in text for text in sent)
    assert any(one.id.startswith("ops.undelivered") for one in Incidents(home).all())

    jobs(home, last_run_at=iso(NOW + STEP + 2), last_status="ok", last_delivery_error=None)
    sent.clear()
    _, lines = once(scripted, home, NOW + 2 * STEP)
    assert not any("the disk is full" in line for line in lines), "it has arrived"
    assert sent == []
    assert not any(one.id.startswith("ops.undelivered") for one in Incidents(home).all())


def test_a_stamp_older_than_the_message_settles_nothing(home, scripted):
    jobs(home, last_run_at=iso(NOW - 100), last_delivery_error=None)
    scripted.sees = wrong()
    once(scripted, home, NOW)
    once(scripted, home, NOW + 60)
    assert Incidents(home).unsettled("scripted") == NOW


def test_a_blindness_that_covers_everything_closes_nothing(home, scripted):
    scripted.sees = wrong()
    once(scripted, home, NOW)
    scripted.sees = Reading.of(blind=[Blind("test", "nothing can be read")])
    (line,) = once(scripted, home, NOW + STEP)[1]
    assert "nothing can be read" in line


def test_the_command_ends_with_zero_under_cron_whatever_it_finds(home, scripted, capsys):
    scripted.sees = wrong("half a character: \ud83d and a line\nbreak")
    assert cli.main(["watch", "scripted", "--scheduled"]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    scripted.sees = RuntimeError("boom")
    assert cli.main(["watch", "scripted", "--scheduled"]) == 0
    assert "Traceback" not in capsys.readouterr().err


def test_a_look_by_hand_tells_all_and_counts_as_telling_nobody(home, scripted, capsys):
    scripted.sees = wrong()
    for _ in range(2):
        assert cli.main(["watch", "scripted"]) == 1
        assert "the disk is full" in capsys.readouterr().out
    assert Incidents(home).all() == []
    assert run.last_run(home, "scripted") == run.LastRun()
    assert cli.main(["watch", "scripted", "--scheduled"]) == 0
    assert "the disk is full" in capsys.readouterr().out


def test_the_command_by_hand_tells_what_is_known(home, scripted, capsys):
    assert cli.main(["watch"]) == 0
    assert "wallet" in capsys.readouterr().out
    assert cli.main(["watch", "scripted"]) == 0
    assert "All is well" in capsys.readouterr().out
    scripted.sees = wrong()
    assert cli.main(["watch", "scripted", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["findings"][0]["id"]) == (1, "test.disk:default/disk")
    assert cli.main(["watch", "nosuch"]) == 2
    assert cli.main(["watch", "--scheduled"]) == 2


def test_what_cannot_be_noted_on_a_full_disk_is_said_by_the_clock(home, scripted, monkeypatch, capsys):
    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(run, "run", full)
    monkeypatch.setattr(run.Path, "touch", full)
    clock = [NOW - NOW % 21_600]
    monkeypatch.setattr(run.time, "time", lambda: clock[0])
    said = 0
    for _ in range(24):
        run.as_job("scripted", home)
        said += capsys.readouterr().out.count("cannot run")
        clock[0] += STEP
    assert said == 2, "two windows of six hours in twelve hours of runs"
    monkeypatch.undo()
