"""The journal of a session's cells: what was run, redacted, one JSON line each.

$HERMES_HOME/state/rlm/sessions/<key>/cells.jsonl    the first line is {"format": 1, "session": id}
                                     cells.1.jsonl   what was there before, once that file grew too large

Numbers of cells grow over the life of a session, across kernels and processes. A line that cannot be read
(torn by a crash, altered) costs that line alone.
"""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import sessions
from ._common import files

FORMAT = 1
FILE_NAME = "cells.jsonl"
OLDER_NAME = "cells.1.jsonl"
ROTATE_BYTES = 8 * 1024 * 1024  # two files of this size together are what a session keeps
MAX_CODE = 200_000  # characters of one cell
CUT_MARK = "\n# ... cut: the cell was longer than the journal keeps"
LEFT_OUT = "# left out: the code could not be redacted"

# A secret that the cut goes through is not recognised: this much in front of it is dropped as well.
_MARGIN = 16_384
_TAIL = 64 * 1024
_ENDLESS = 1 << 53
_encode = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True)
class Cell:
    """One executed cell, or an event between cells.

    number     of the cell; an event has that of the cell before it
    at         seconds since the epoch, when it began
    ok         False when it raised, was interrupted or ended the kernel
    code       its source; empty for events
    assigned   names it bound (also when it failed later); of "restored" the names that came back
    deleted    names it removed; of "lost" the names that are gone (none named: all)
    event      "" for a cell that ran to its end, "interrupted" for one that was stopped; between cells
               "reset" (everything is gone), "lost" or "restored"
    as_of      of "restored": the cell after which the checkpoint was saved, 0 when another session saved it
    """

    number: int
    at: float
    ok: bool = True
    code: str = ""
    assigned: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()
    event: str = ""
    as_of: int = 0


@dataclass(frozen=True)
class Recorded:
    """What a journal holds: the session's id ("" when no line names it), its cells, lines left aside."""

    session_id: str
    cells: tuple[Cell, ...]
    damaged: int = 0


class CellJournal:
    """Appends the cells of one session; safe for several threads and processes."""

    def __init__(self, home: Path, session_id: str) -> None:
        self.session_id = session_id
        self.directory = sessions.directory(home, session_id)
        self._path = self.directory / FILE_NAME
        self._lock = threading.Lock()
        self._fd = -1
        self._inode = 0
        self._seen = (0, -1)  # inode and size of the file when `_last` was true of it
        self._last = 0
        self._redactor: Any = None

    @property
    def last(self) -> int:
        """The number of the last cell, also when another process ran it; 0 when there is none."""
        with self._lock:
            self._catch_up()
            return self._last

    def append(self, cell: Cell) -> None:
        """Write a cell down, its secrets replaced. Raises OSError when it could not be written.

        Code that cannot be redacted is left out: it never reaches the disk as it is.
        """
        with self._lock:
            line = self._line(cell)
            self._open()
            self._catch_up()
            size = self._seen[1] + files.append_line(self._fd, line)
            self._seen = (self._inode, size)
            self._last = max(self._last, cell.number)
            if size > ROTATE_BYTES:
                self._rotate()

    def entries(self) -> list[Cell]:
        """Return what the journal holds, in the order in which it happened. Raises OSError."""
        return list(read(self.directory).cells)

    def close(self) -> None:
        """Give the descriptor back; the next append opens the file again."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _open(self) -> None:
        """Have the file open that now stands at the path: it may have been removed or put aside."""
        if self._fd >= 0:
            try:
                if os.stat(self._path).st_ino == self._inode:
                    return
            except FileNotFoundError:
                pass
            self._close()
        self._fd = files.open_append(self._path)
        found = os.fstat(self._fd)
        self._inode = found.st_ino
        if found.st_size == 0:
            files.append_line(self._fd, _encode({"format": FORMAT, "session": self.session_id}).encode())

    def _catch_up(self) -> None:
        """Read the last number again when the file is not as this process left it."""
        try:
            found = os.stat(self._path)
        except OSError:
            found = None
        seen = (found.st_ino, found.st_size) if found else (0, 0)
        if seen != self._seen:
            self._seen = seen
            self._last = max(self._last, _last_number(self._path) or _last_number(self._older()))

    def _older(self) -> Path:
        return self.directory / OLDER_NAME

    def _line(self, cell: Cell) -> bytes:
        record: dict[str, Any] = {"n": cell.number, "at": round(cell.at, 3), "ok": cell.ok}
        code, *names = self._redacted((cell.code, *cell.assigned, *cell.deleted))
        for field, value in (
            ("code", code),
            ("assigned", [name for name in names[: len(cell.assigned)] if name]),
            ("deleted", [name for name in names[len(cell.assigned) :] if name]),
            ("event", cell.event),
            ("as_of", cell.as_of),
        ):
            if value:
                record[field] = value
        return _encode(record).encode("ascii")

    def _redacted(self, texts: tuple[str, ...]) -> list[str]:
        try:
            if self._redactor is None:
                from ._common.redact import Redactor

                self._redactor = Redactor()
            return [_shortened(self._redactor.text, texts[0]), *map(self._redactor.text, texts[1:])]
        except Exception:  # fail closed, whatever the redactor stumbled over
            return [LEFT_OUT if texts[0] else "", *("" for _ in texts[1:])]

    def _rotate(self) -> None:
        """Put the full file aside in place of the one before it, unless another process just did."""
        import fcntl

        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.stat(self._path).st_ino == self._inode:
                os.replace(self._path, self._older())
        except (BlockingIOError, FileNotFoundError):
            return
        finally:
            self._close()


def read(directory: Path) -> Recorded:
    """Read the journal in a session's directory. Raises OSError when a file is there and cannot be read."""
    session_id, found, damaged = "", [], 0
    for name in (OLDER_NAME, FILE_NAME):
        try:
            for line in files.read_complete_lines(directory / name):
                record = _parsed(line)
                if isinstance(record, Cell):
                    found.append(record)
                elif record is None:
                    damaged += 1
                else:
                    session_id = record
        except FileNotFoundError:
            continue
    return Recorded(session_id, tuple(found), damaged)


def names_after(entries: Iterable[Cell]) -> list[str]:
    """The variables that are there after the cells and events of a journal."""
    names: dict[str, None] = {}
    for entry in entries:
        if entry.event == "reset":
            names.clear()
        names.update(dict.fromkeys(entry.assigned))
        for name in entry.deleted:
            names.pop(name, None)
    return list(names)


def session_of(directory: Path) -> str | None:
    """Return the id of the session whose directory this is, None when no journal there tells."""
    for name in (FILE_NAME, OLDER_NAME):
        try:
            with open(directory / name, "rb") as file:
                record = _parsed(file.readline(1 << 20).rstrip(b"\n"))
        except OSError:
            continue
        if isinstance(record, str):
            return record
    return None


def _shortened(redact: Any, code: str) -> str:
    if len(code) <= MAX_CODE:
        return redact(code)
    text = redact(code[: MAX_CODE + _MARGIN])
    return text[: min(MAX_CODE, max(0, len(text) - _MARGIN))] + CUT_MARK


def _parsed(line: bytes) -> Cell | str | None:
    """Return the cell of a line, the session's id of a first line, or None for what is neither."""
    try:
        record = json.loads(line)
        if "session" in record:
            return record["session"] if isinstance(record["session"], str) else None
        cell = Cell(
            number=record["n"],
            at=float(record["at"]),
            ok=record["ok"],
            code=record.get("code", ""),
            assigned=tuple(record.get("assigned", ())),
            deleted=tuple(record.get("deleted", ())),
            event=record.get("event", ""),
            as_of=record.get("as_of", 0),
        )
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None
    return cell if _is_sound(cell) else None


def _is_sound(cell: Cell) -> bool:
    whole = all(type(number) is int and 0 <= number < _ENDLESS for number in (cell.number, cell.as_of))
    texts = all(isinstance(text, str) for text in (cell.code, cell.event, *cell.assigned, *cell.deleted))
    return whole and texts and isinstance(cell.ok, bool) and math.isfinite(cell.at)


def _last_number(path: Path) -> int:
    """Return the highest number near the end of a file, 0 when there is none; reads back to the first."""
    try:
        with open(path, "rb") as file:
            end = file.seek(0, os.SEEK_END)
            length = _TAIL
            while True:
                start = max(0, end - length)
                file.seek(start)
                lines = file.read(end - start).split(b"\n")
                numbers = [
                    cell.number for line in lines[start > 0 :] if isinstance(cell := _parsed(line), Cell)
                ]
                if numbers or not start:
                    return max(numbers, default=0)
                length *= 4
    except OSError:
        return 0
