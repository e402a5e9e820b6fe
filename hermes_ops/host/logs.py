"""The host's logs: the newest lines of a file and its rotated one, by level and logger, bounded in size.

A line is `YYYY-MM-DD HH:MM:SS,mmm LEVEL [session] logger: message` in the server's local time without zone;
lines that do not begin so belong to the record before them.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

from ..errors import Unreadable

MAX_MESSAGE = 2000
ANCHOR = 5.0  # seconds between a record and the file's last change within which they are the same write
QUARTER = 900.0  # zones differ by whole quarters of an hour
_BACKWARDS = timedelta(
    seconds=60
)  # threads may log out of order by less; a change of clocks goes back further
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

_HEADER = re.compile(
    rb"\x00*(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3}) (DEBUG|INFO|WARNING|ERROR|CRITICAL)"
    rb"(?: \[([^\]\r\n]{0,200})\])? ([^\s:]{1,200}): ?"
)


@dataclass(frozen=True)
class Record:
    """One record; ``message`` is its first line only."""

    at: float
    level: str
    session: str | None
    logger: str
    message: str


def recent(path: Path, since: float, max_bytes: int = 400_000, zone: tzinfo | None = None) -> list[Record]:
    """The records of `path` (and of its `.1`, when the file is younger than `since`) from `since` on.

    Reads at most the last `max_bytes` of each, whatever their size; oldest first. `zone` is that of the
    process that wrote them (None: the server's). In the hour that a change of clocks repeats, a record is of
    the second one only when the order of the file or its last change shows it: an old line is never taken
    for a fresh one. No file is no records. Raises Unreadable.
    """
    newest = _tail(path, max_bytes)
    if newest is None:
        return []
    records = _records(newest, zone)
    if newest.whole and all(record.at >= since for record in records):
        older = _tail(path.with_name(path.name + ".1"), max_bytes)
        if older is not None and older.inode == newest.inode:
            # It was rotated between the two reads.
            newest = _tail(path, max_bytes)
            records = _records(newest, zone) if newest is not None else []
        if older is not None:
            records = _records(older, zone) + records
    return [record for record in records if record.at >= since]


@dataclass(frozen=True)
class _Tail:
    data: bytes
    whole: bool
    inode: int
    changed_at: float


def _tail(path: Path, max_bytes: int) -> _Tail | None:
    try:
        fd = os.open(path, _FLAGS)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(path, error.strerror or type(error).__name__) from None
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise Unreadable(path, "not a regular file")
        start = max(0, found.st_size - max_bytes)
        os.lseek(fd, start, os.SEEK_SET)
        data = b""
        while len(data) < max_bytes:
            piece = os.read(fd, max_bytes - len(data))
            if not piece:
                break
            data += piece
    except OSError as error:
        raise Unreadable(path, error.strerror or type(error).__name__) from None
    finally:
        os.close(fd)
    if start:
        # The first line of the tail is the end of one that began before it.
        _, _, data = data.partition(b"\n")
    return _Tail(data, start == 0, found.st_ino, found.st_mtime)


def _records(tail: _Tail, zone: tzinfo | None) -> list[Record]:
    found: list[tuple[datetime, Record]] = []
    for line in tail.data.split(b"\n"):
        header = _HEADER.match(line)
        if header is None:
            continue
        try:
            written = datetime.fromisoformat(header[1].decode("ascii"))
        except ValueError:
            continue
        message = line[header.end() : header.end() + 4 * MAX_MESSAGE].rstrip(b"\r")
        found.append(
            (
                written.replace(microsecond=int(header[2]) * 1000),
                Record(
                    0.0,
                    header[3].decode("ascii"),
                    header[4].decode("utf-8", "replace") if header[4] is not None else None,
                    header[5].decode("utf-8", "replace"),
                    message.decode("utf-8", "replace")[:MAX_MESSAGE],
                ),
            )
        )
    times = _times([written for written, _ in found], tail.changed_at, zone)
    return [replace(record, at=at) for at, (_, record) in zip(times, found, strict=True)]


def _times(written: list[datetime], changed_at: float, zone: tzinfo | None) -> list[float]:
    """The times of records in the order of the file, whose last change was at `changed_at`."""
    times: list[float] = []
    second_hour = False
    for index, moment in enumerate(written):
        first, second = _readings(moment, zone)
        if first == second:
            second_hour = False
        else:
            back = index > 0 and written[index - 1] - moment > _BACKWARDS
            anchored = index == len(written) - 1 and abs(changed_at - second) <= ANCHOR
            second_hour = second_hour or back or anchored
        times.append(second if second_hour else first)
    # What was written after the last change of its file was written in another zone, further east.
    ahead = times[-1] - changed_at - ANCHOR if times else 0.0
    shift = -(-ahead // QUARTER) * QUARTER if ahead > 0 else 0.0
    return [at - shift for at in times]


def _readings(moment: datetime, zone: tzinfo | None) -> tuple[float, float]:
    """The two instants that a local time may mean, the earlier one first; mostly they are the same."""
    try:
        readings = [moment.replace(tzinfo=zone, fold=fold).timestamp() for fold in (0, 1)]
    except (OverflowError, ValueError, OSError):
        return 0.0, 0.0
    return min(readings), max(readings)
