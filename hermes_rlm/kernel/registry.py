"""Which kernels live, on disk: other processes list them, the next start sweeps what the dead have left."""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from .._common import files
from .._common.home import private_dir
from . import process

FORMAT = 1
LAST_WORDS_SECONDS = 2.0
RECORD = "kernel.json"


def directory(home: Path) -> Path:
    return home / "state" / "rlm" / "kernels"


def temporary_base() -> Path:
    """The directory of this user's kernels below the system's temporary directory."""
    return Path(tempfile.gettempdir(), f"hermes-rlm-{os.getuid()}")


def enter(home: Path, record: dict[str, Any]) -> None:
    """Register a kernel. ``record`` has id, session, pid, start_time, parent, parent_start, directory ..."""
    text = json.dumps({"format": FORMAT, **record}, sort_keys=True).encode("ascii")
    files.write_atomic(directory(home) / f"{record['id']}.json", text, durable=False)
    if record["directory"]:
        files.write_atomic(Path(record["directory"], RECORD), text, durable=False)


def leave(home: Path, kernel: str, temporary: Path | None) -> None:
    """Take a kernel out and remove its temporary directory; nothing when they are not there."""
    with suppress(OSError):
        (directory(home) / f"{kernel}.json").unlink(missing_ok=True)
    if temporary is not None:
        shutil.rmtree(temporary, ignore_errors=True)


def touch(home: Path, kernel: str) -> None:
    """Note that a kernel is used now: the time of its file is the time of its last call."""
    try:
        os.utime(directory(home) / f"{kernel}.json")
    except OSError:
        pass


def records(home: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Every registration of a home with its file, dead ones included; unreadable ones are left out."""
    yield from _records(directory(home).glob("*.json"))


def live(home: Path) -> list[dict[str, Any]]:
    """The kernels of a home that run, with ``last_used`` (seconds since the epoch), by session."""
    found = [
        {**record, "last_used": path.stat().st_mtime} for path, record in records(home) if is_live(record)
    ]
    return sorted(found, key=lambda record: (str(record.get("session")), str(record["id"])))


def is_live(record: dict[str, Any]) -> bool:
    return files.is_alive(record["pid"], record["start_time"]) is not False


def sweep(home: Path) -> list[str]:
    """Remove what kernels without a host have left: processes, directories, registrations.

    Looks at this home's registrations and at this user's directories below the temporary directory,
    whatever home they belong to. Sessions in which nothing was run for a month go too. Returns the ids
    of the kernels that were swept.
    """
    from .. import sessions

    sessions.prune(home)
    base = temporary_base()
    dead: dict[str, dict[str, Any]] = {}
    for path, record in [*records(home), *_records(base.glob(f"*/{RECORD}"))]:
        if files.is_alive(record["parent"], record["parent_start"]) is not False:
            continue
        if _outlives(record):
            process.end_group(record["pid"])
        dead[record["id"]] = record
        if path.parent == directory(home):
            path.unlink(missing_ok=True)
    process.end_strays(set(dead))
    for kernel, record in dead.items():
        (directory(home) / f"{kernel}.json").unlink(missing_ok=True)
        found = Path(str(record.get("directory") or ""))
        # The record may say anything; only a directory of the shape we make is removed.
        if found.name == kernel and found.parent.name == base.name and not found.is_symlink():
            shutil.rmtree(found, ignore_errors=True)
    return sorted(dead)


def _outlives(record: dict[str, Any]) -> bool:
    """Whether a kernel whose host is dead still runs after the time it has to save its state."""
    give_up = time.monotonic() + LAST_WORDS_SECONDS
    while files.is_alive(record["pid"], record["start_time"]):
        if time.monotonic() > give_up:
            return True
        time.sleep(0.02)
    return False


def make_directory(kernel: str) -> Path:
    """Make the private temporary directory of a kernel. Raises OSError when the base is not ours."""
    base = temporary_base()
    if not base.is_symlink():
        private_dir(base)
    status = os.lstat(base)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise NotADirectoryError(f"{base} is not a directory of this user")
    if status.st_mode & 0o077:
        os.chmod(base, 0o700)
    made = base / kernel
    made.mkdir(mode=0o700)
    return made


def _records(paths: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in paths:
        try:
            record = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError):
            continue
        numbers = ("pid", "parent")
        if (
            isinstance(record, dict)
            and isinstance(record.get("id"), str)
            and all(isinstance(record.get(name), int) for name in numbers)
            and all(
                isinstance(record.get(name), (int, str, type(None)))
                for name in ("start_time", "parent_start")
            )
        ):
            yield path, record
