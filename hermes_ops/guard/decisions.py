"""What the guard decided: one redacted line per decision that is not a plain allow, in a log that rotates."""

from __future__ import annotations

import errno
import json
import math
import os
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .._common.files import FileLock, append_line, open_regular
from .verdict import Found

NAME = "decisions.jsonl"
OLDER = "decisions.1.jsonl"
MOST_BYTES = 2_000_000
COUNT_EVERY = 600.0  # seconds after which the calls that were allowed are counted in the log
_LONGEST_LINE = 100_000  # bytes; ours have a few thousand
_LONGEST_NUMBER = 18  # digits of a whole number

_lock = threading.Lock()
_allowed: dict[str, int] = {}
_counted = 0.0


def directory(home: Path) -> Path:
    """Where the guard keeps its log: `<home>/ops/guard`."""
    return home / "ops" / "guard"


def decided(
    home: Path,
    answer: str,
    tool: str,
    shown: str,
    findings: Iterable[Found],
    *,
    most_bytes: int = MOST_BYTES,
    **more: Any,
) -> None:
    """Write one decision: "block", "ask", "withheld", "bypassed", "approved", "report" or "error".

    `shown` must be redacted. Never waits for another process. Raises OSError when it cannot be written.
    """
    record = {
        "at": round(time.time(), 3),
        "answer": answer,
        "tool": tool,
        "rules": [found.rule for found in findings][:8],
        "command": shown,
        **{key: value for key, value in more.items() if value not in (None, "")},
    }
    _write(home, record, most_bytes)


def allowed(home: Path, most_bytes: int = MOST_BYTES) -> None:
    """Count a call that was allowed; the count is written at the first one and then every ten minutes."""
    global _counted
    now = time.monotonic()
    with _lock:
        key = str(home)
        _allowed[key] = _allowed.get(key, 0) + 1
        if _counted and now - _counted < COUNT_EVERY:
            return
        _counted, count = now, _allowed.pop(key)
    _write(home, {"at": round(time.time(), 3), "answer": "allow", "count": count}, most_bytes)


def read(home: Path) -> Iterator[dict[str, Any]]:
    """The decisions that are kept, the oldest first; lines that are none are passed over.

    Memory is bounded whatever the files hold. Raises OSError for what cannot be read, and for a pipe, a
    device or a link in the place of the log.
    """
    for name in (OLDER, NAME):
        try:
            for line in _lines(directory(home) / name):
                record = _record(line)
                if record is not None:
                    yield record
        except FileNotFoundError:
            continue


def _lines(path: Path) -> Iterator[bytes]:
    """The finished lines of a file that are no longer than one of ours may be."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, "a link, and no log", str(path))
    with open_regular(path) as file:
        whole = True
        while line := file.readline(_LONGEST_LINE):
            ended = line.endswith(b"\n")
            if ended and whole:
                yield line
            whole = ended


def _record(line: bytes) -> dict[str, Any] | None:
    """The decision in a line; None when there is none, or one with a number that no clock gives."""
    try:
        record = json.loads(line, parse_constant=_no_number, parse_float=_finite, parse_int=_whole)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("answer"), str):
        return None
    return record if isinstance(record.get("at", 0), (int, float)) else None


def _no_number(text: str) -> Any:
    raise ValueError(f"no number: {text[:_LONGEST_NUMBER]}")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _whole(text: str) -> int:
    return int(text) if len(text) <= _LONGEST_NUMBER else _no_number(text)


def _write(home: Path, record: dict[str, Any], most_bytes: int) -> None:
    path = directory(home) / NAME
    _rotate(path, most_bytes)
    append_line(path, json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode())


def _rotate(path: Path, most_bytes: int) -> None:
    try:
        if path.stat().st_size < most_bytes:
            return
        lock = FileLock(path.with_name("decisions.lock"))
        if not lock.acquire():
            return
        try:  # another process may have moved it since
            if path.stat().st_size >= most_bytes:
                os.replace(path, path.with_name(OLDER))
        finally:
            lock.release()
    except FileNotFoundError:
        return
