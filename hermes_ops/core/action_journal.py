"""The journal of actions, `<home>/ops/actions.jsonl`: one line each, redacted, the newest 4 MB or so."""

from __future__ import annotations

import json
import os
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._common.files import FileLock, append_line, read_complete_lines
from ..errors import Unreadable

if TYPE_CHECKING:
    from .action import Action, Done

FORMAT = 1
FILE_NAME = "actions.jsonl"
MAX_BYTES = 2_000_000
MAX_VALUE = 2000
FIELDS = ("at", "verb", "job_id", "home", "arguments", "reason", "ok", "detail")


def write(state_home: Path, action: Action, done: Done, now: float) -> str | None:
    """Add one line; returns why that failed, or None."""
    from .._common.redact import Redactor

    record = Redactor().value(
        {
            "format": FORMAT,
            "at": datetime.fromtimestamp(now, timezone.utc).isoformat(timespec="seconds"),
            "verb": action.verb,
            "job_id": done.job_id,
            "home": str(action.home),
            "arguments": dict(action.arguments),
            "reason": action.reason,
            "ok": done.ok,
            "changed": done.changed,
            "detail": done.detail,
        }
    )
    record["arguments"] = {name: _short(value) for name, value in record["arguments"].items()}
    record["reason"] = _short(record["reason"])
    path = state_home / "ops" / FILE_NAME
    try:
        line = json.dumps(record, sort_keys=True, default=str).encode("ascii")
        lock = FileLock(path.with_name(FILE_NAME + ".lock"))
        if not lock.acquire(10.0):
            return f"{path}: locked"
        try:
            if path.exists() and path.stat().st_size > MAX_BYTES:
                os.replace(path, path.with_name(FILE_NAME + ".1"))
            append_line(path, line)
        finally:
            lock.release()
    except (OSError, ValueError) as error:
        return f"{path}: {getattr(error, 'strerror', None) or error}"
    return None


def journal(state_home: Path, limit: int = 100) -> list[dict[str, Any]]:
    """The newest actions, oldest first: {at, verb, job_id, home, arguments, reason, ok, changed, detail}.

    ``at`` is ISO in UTC. A torn last line and lines that are none are left out. Raises Unreadable.
    """
    path = state_home / "ops" / FILE_NAME
    found: list[dict[str, Any]] = []
    for one in (path.with_name(FILE_NAME + ".1"), path):
        try:
            for line in read_complete_lines(one):
                record = _parsed(line)
                if record is not None:
                    found.append(record)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise Unreadable(one, error.strerror or str(error)) from None
    return found[-limit:] if limit > 0 else []


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not all(name in record for name in FIELDS):
        return None
    record.pop("format", None)
    return record


def _short(value: Any) -> Any:
    """A long text (a prompt) by its beginning."""
    return value[:MAX_VALUE] + "..." if isinstance(value, str) and len(value) > MAX_VALUE else value
