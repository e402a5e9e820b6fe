"""Retention: what goes, why, in which order, and what always stays."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hermes_unroll import catalog, presence, retention, sealing
from hermes_unroll import settings as settings_of
from hermes_unroll.settings import Settings
from tests.unroll.host_driver import Host, call

KEEP_ALL = Settings(max_age_days=0, max_size_mb=0)


def record_and_die(host: Host, *session_ids: str, size: int = 100) -> None:
    """Record sessions in a process that ends without a word, and compile them."""
    pid = os.fork()
    if pid == 0:
        try:
            for session_id in session_ids:
                chat = host.chat(session_id)
                chat.turn("hello", (call("call_0", command="ls"), os.urandom(size // 2).hex()))
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    for session_id in session_ids:
        host.program(session_id)


def age(host: Host, session_id: str, days: float) -> None:
    then = time.time() - days * 86_400
    for path in host.segments(session_id):
        os.utime(path, (then, then))


def names(doomed: list[retention.Doomed]) -> list[str]:
    return [recording.name for recording in doomed]


def test_what_is_too_old_goes_and_says_how_old(host: Host) -> None:
    record_and_die(host, "old", "young")
    age(host, "old", 40)
    age(host, "young", 20)
    (doomed,) = retention.plan(host.home, Settings())
    assert (doomed.name, doomed.why) == ("old", "40 days old; 30 are kept")
    assert retention.plan(host.home, KEEP_ALL) == []
    retention.prune(host.home, Settings())
    assert [entry.session_id for entry in catalog.sessions(host.home)] == ["young"]
    assert not host.directory("old").exists()
    assert len(host.programs()) == 1


def test_the_oldest_go_first_until_the_rest_fits(host: Host) -> None:
    record_and_die(host, "a", "b", "c", "d", size=400_000)
    for days, session_id in ((3, "c"), (1, "a"), (2, "d"), (4, "b")):
        age(host, session_id, days)
    sizes = {entry.session_id: entry.bytes for entry in catalog.sessions(host.home)}
    room = (sizes["d"] + sizes["a"]) / retention.MEGABYTE + 0.01
    doomed = retention.plan(host.home, replace(KEEP_ALL, max_size_mb=room))
    assert names(doomed) == ["b", "c"]
    assert "all recordings take" in doomed[0].why
    assert [recording.bytes for recording in doomed] == [sizes["b"], sizes["c"]]
    before = sum(len(data) for _, data in host.everything_written())
    freed = retention.carry_out(doomed)
    assert before - sum(len(data) for _, data in host.everything_written()) >= freed > 800_000
    assert retention.plan(host.home, replace(KEEP_ALL, max_size_mb=room)) == []


def test_a_session_that_is_being_written_stays_however_old_and_large(host: Host) -> None:
    host.chat("live").turn("hello")
    age(host, "live", 400)
    record_and_die(host, "dead")
    age(host, "dead", 400)
    doomed = retention.plan(host.home, Settings(max_age_days=1, max_size_mb=0.000001))
    assert names(doomed) == ["dead"]


def test_a_plan_removes_nothing(host: Host) -> None:
    record_and_die(host, "old")
    age(host, "old", 40)
    before = list(host.everything_written())
    assert retention.plan(host.home, Settings())
    assert list(host.everything_written()) == before


def test_edits_and_traces_without_a_journal_are_recordings_too(host: Host) -> None:
    record_and_die(host, "one")
    (program,) = host.programs()
    edit = program.with_name(program.stem + "_edit_20260101_000000.py")
    edit.write_bytes(program.read_bytes())
    host.segments("one")[0].unlink()
    then = time.time() - 40 * 86_400
    for path in (program, edit):
        os.utime(path, (then, then))
    doomed = retention.plan(host.home, Settings())
    assert sorted(path for recording in doomed for path in recording.paths) == sorted([program, edit])
    retention.carry_out(doomed)
    assert host.programs() == []


def test_only_what_the_recorder_wrote_is_removed(host: Host, home: Path) -> None:
    record_and_die(host, "old")
    age(host, "old", 40)
    note = host.directory("old") / "my notes.txt"
    note.write_text("mine")
    mine = sealing.unrolled_dir(home) / "mine.py"
    mine.write_text("print('mine')")
    settings_of.set_consent(home, "sessions", "x", False)
    retention.prune(home, Settings())
    assert [path.name for path in host.directory("old").iterdir()] == ["my notes.txt"]
    assert host.programs() == [mine]
    assert settings_of.load(home).exclude_sessions == {"x"}
    assert catalog.sessions(home) == []


def test_what_is_gone_already_is_no_failure(host: Host) -> None:
    record_and_die(host, "old")
    age(host, "old", 40)
    doomed = retention.plan(host.home, Settings())
    host.programs()[0].unlink()
    for path in host.segments("old"):
        path.unlink()
    retention.carry_out(doomed)
    assert not host.directory("old").exists()


def test_processes_that_ended_are_forgotten_and_those_that_run_are_not(host: Host) -> None:
    record_and_die(host, "dead")
    host.chat("live").ask("hello")
    assert len(presence.read(host.home)) == 2
    retention.prune(host.home, KEEP_ALL)
    assert [record["pid"] for record in presence.read(host.home)] == [os.getpid()]


def test_a_home_without_recordings_has_nothing_to_remove(home: Path) -> None:
    assert retention.prune(home, Settings()) == []
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("limits", [{"max_age_days": 0}, {"max_size_mb": 0}])
def test_zero_keeps_for_ever(limits: dict[str, Any], host: Host) -> None:
    record_and_die(host, "old")
    age(host, "old", 20)
    assert retention.plan(host.home, replace(Settings(), **limits)) == []
