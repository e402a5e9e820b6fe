"""Live processes register themselves on disk, so that others can tell who records and whether hooks fire.

$HERMES_HOME/traces/live/<pid>.json   pid, start time, plugin copy, hooks registered and heard, last event
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._common import files

if TYPE_CHECKING:
    from .tracer import LiveSession

FORMAT = 1
REFRESH_SECONDS = 5.0

_lock = threading.Lock()
_written: dict[str, float] = {}
_facts: dict[str, Any] = {}


def describe(**facts: Any) -> None:
    """Set what this process says about itself besides its events (copy, version, hooks, counts)."""
    _facts.update(facts)


def live_dir(home: Path) -> Path:
    return home / "traces" / "live"


def on_activity(home: Path, session: LiveSession | None) -> None:
    """Write this process's file, at most every REFRESH_SECONDS."""
    now = time.monotonic()
    with _lock:
        if now - _written.get(str(home), -REFRESH_SECONDS) < REFRESH_SECONDS:
            return
        _written[str(home)] = now
    write(home, session)


def write(home: Path, session: LiveSession | None = None) -> None:
    pid = os.getpid()
    record = {
        "format": FORMAT,
        "pid": pid,
        "start_time": files.process_start_time(pid),
        "written_at": time.time(),
        "recording": session is not None,
        **_facts,
    }
    files.write_atomic(live_dir(home) / f"{pid}.json", json.dumps(record).encode("utf-8"), durable=False)


def read(home: Path) -> list[dict[str, Any]]:
    """Return what the processes of a home say, the latest first; ``alive`` may be None: unknown."""
    found = []
    try:
        names = os.listdir(live_dir(home))
    except (FileNotFoundError, NotADirectoryError):
        return []
    for name in names:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            record = json.loads((live_dir(home) / name).read_bytes())
            record["alive"] = files.is_alive(record["pid"], record.get("start_time"))
            found.append(record)
    return sorted(found, key=lambda record: -record.get("written_at", 0.0))


def forget_dead(home: Path) -> int:
    """Remove the files of processes that have ended; return how many."""
    count = 0
    for record in read(home):
        if record["alive"] is False:
            with contextlib.suppress(OSError):
                (live_dir(home) / f"{record['pid']}.json").unlink()
                count += 1
    return count
