"""The tails of the host's logs: bounded, in order, and never fresher than they are."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hermes_ops.errors import Unreadable
from hermes_ops.host.logs import MAX_MESSAGE, recent

BERLIN = ZoneInfo("Europe/Berlin")
UTC = ZoneInfo("UTC")
# The night of 2026-10-25: 02:00 to 03:00 comes twice; the first begins at 00:00 UTC.
FIRST = datetime(2026, 10, 25, 0, 30, tzinfo=UTC).timestamp()
SECOND = FIRST + 3600


def write(path: Path, lines: str | bytes, changed_at: float | None = None) -> Path:
    path.write_bytes(lines if isinstance(lines, bytes) else lines.encode())
    if changed_at is not None:
        os.utime(path, (changed_at, changed_at))
    return path


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def test_records_have_level_session_logger_and_first_line(tmp_path: Path) -> None:
    path = write(
        tmp_path / "errors.log",
        "2026-11-29 10:00:00,250 WARNING [20261129_100000_abcdef] run_agent: "
        "Session DB append_message failed: x\n"
        "Traceback (most recent call last):\n"
        "  File x\n"
        "2026-11-29 10:00:01,000 ERROR cron.scheduler_provider: Cron tick error: y\n",
        at("2026-11-29 10:00:01"),
    )
    first, second = recent(path, 0, zone=UTC)
    assert (first.level, first.session, first.logger) == ("WARNING", "20261129_100000_abcdef", "run_agent")
    assert first.message == "Session DB append_message failed: x"
    assert first.at == at("2026-11-29 10:00:00") + 0.25
    assert (second.session, second.logger) == (None, "cron.scheduler_provider")
    assert recent(path, at("2026-11-29 10:00:01"), zone=UTC) == [second]


def test_no_file_is_no_records_and_what_is_no_file_is_unreadable(tmp_path: Path) -> None:
    assert recent(tmp_path / "errors.log", 0) == []
    with pytest.raises(Unreadable):
        recent(tmp_path, 0)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Unreadable):
        recent(tmp_path / "pipe", 0)


def test_two_gigabytes_cost_one_seek(tmp_path: Path) -> None:
    path = tmp_path / "agent.log"
    with open(path, "wb") as file:
        file.truncate(2_000_000_000)
        file.seek(0, os.SEEK_END)
        file.write(b"\n2026-11-29 10:00:00,000 INFO gateway.run: the last line\n")
    os.utime(path, (at("2026-11-29 10:00:00"),) * 2)
    assert [record.message for record in recent(path, 0, zone=UTC)] == ["the last line"]


def test_binary_nul_and_endless_lines_are_no_records(tmp_path: Path) -> None:
    path = tmp_path / "errors.log"
    good = b"2026-11-29 10:00:00,000 INFO a.b: fine \xff\xfe\n"
    write(
        path,
        b"\x00\x01\xff\n"
        + b"x" * 500_000
        + b"\n\x00\x00\x00"
        + good
        + b"2026-11-29 99:00:00,000 INFO a: b\n",
    )
    assert [record.message for record in recent(path, 0, zone=UTC)] == ["fine \ufffd\ufffd"]
    write(path, b"2026-11-29 10:00:00,000 INFO a: " + b"y" * 600_000)
    assert recent(path, 0, zone=UTC) == []
    write(path, b"2026-11-29 10:00:00,000 INFO a: " + b"y" * 100_000)
    assert len(recent(path, 0, zone=UTC)[0].message) == MAX_MESSAGE


def test_a_young_file_is_read_with_the_one_before_it(tmp_path: Path) -> None:
    day = "2026-11-29 10:0"
    write(tmp_path / "e.log.1", f"{day}0:00,000 INFO a: one\n{day}1:00,000 INFO a: two\n", at(f"{day}1:00"))
    path = write(tmp_path / "e.log", f"{day}2:00,000 INFO a: three\n", at(f"{day}2:00"))
    assert [r.message for r in recent(path, at(f"{day}0:30"), zone=UTC)] == ["two", "three"]
    # It is older than what is asked for: the one before it cannot matter.
    assert [r.message for r in recent(path, at(f"{day}2:00"), zone=UTC)] == ["three"]
    path.write_bytes(b"")
    assert [r.message for r in recent(path, at(f"{day}0:30"), zone=UTC)] == ["two"]


def test_a_file_that_is_rotated_while_it_is_read_is_not_read_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hermes_ops.host import logs

    day = "2026-11-29 10:0"
    path = write(tmp_path / "e.log", f"{day}0:00,000 INFO a: one\n", at(f"{day}0:00"))
    tail, calls = logs._tail, []

    def rotating(asked: Path, max_bytes: int) -> object:
        found = tail(asked, max_bytes)
        if not calls:
            path.rename(tmp_path / "e.log.1")
            write(path, f"{day}1:00,000 INFO a: two\n", at(f"{day}1:00"))
        calls.append(asked)
        return found

    monkeypatch.setattr(logs, "_tail", rotating)
    assert [record.message for record in recent(path, 0, zone=UTC)] == ["one", "two"]


def test_in_the_repeated_hour_a_line_is_of_the_first_unless_something_shows_the_second(
    tmp_path: Path,
) -> None:
    path = tmp_path / "e.log"
    line = "2026-10-25 02:30:00,000 INFO a: x\n"
    # Its last change is that line: then the file itself tells.
    assert recent(write(path, line, FIRST), 0, zone=BERLIN)[0].at == FIRST
    assert recent(write(path, line, SECOND), 0, zone=BERLIN)[0].at == SECOND
    # A later line stands after it: it may be an hour old, so it is.
    later = "2026-10-25 02:50:00,000 INFO a: y\n"
    assert [r.at for r in recent(write(path, line + later, SECOND + 1200), 0, zone=BERLIN)] == [
        FIRST,
        SECOND + 1200,
    ]
    # The clock went back between two lines: what follows is of the second hour.
    before = "2026-10-25 02:55:00,000 INFO a: w\n"
    after = "2026-10-25 03:10:00,000 INFO a: z\n"
    times = [r.at for r in recent(write(path, before + line + after, SECOND + 2400), 0, zone=BERLIN)]
    assert times == [FIRST + 1500, SECOND, SECOND + 2400]


def test_a_line_from_after_the_last_change_was_written_in_another_zone(tmp_path: Path) -> None:
    path = write(tmp_path / "e.log", "2026-11-29 12:00:00,000 INFO a: x\n", at("2026-11-29 07:00:00"))
    assert recent(path, 0, zone=UTC)[0].at == at("2026-11-29 07:00:00")


def test_an_old_line_in_a_touched_file_stays_old(tmp_path: Path) -> None:
    path = write(tmp_path / "e.log", "2026-11-29 06:00:00,000 INFO a: x\n", at("2026-11-29 12:00:00"))
    assert recent(path, at("2026-11-29 11:00:00"), zone=UTC) == []
