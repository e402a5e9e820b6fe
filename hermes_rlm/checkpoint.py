"""The checkpoints of a home, seen from the host: signing key, paths, listing, deletion, pruning.

Kernels write and restore the files themselves (kernel/child/saving). Here only manifests are read; nothing
is unpickled.
"""

from __future__ import annotations

import os
import stat
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import sessions
from ._common.home import private_dir
from .kernel.child.saving.file import TEMPORARY
from .kernel.child.saving.format import CheckpointError, open_private, read_manifest

AUTOSAVE = "autosave"
SET_ASIDE = "autosave-previous"  # an autosave that was not restored, where the next one does not replace it
LIMIT_BYTES = 500 << 20
MAX_AGE_DAYS = 14
SUFFIX = ".checkpoint"

_KEY_BYTES = 32
_STALE_SECONDS = 3600


@dataclass(frozen=True)
class Entry:
    """One checkpoint file. `problem` says why it cannot be restored; then the manifest's fields are empty."""

    path: Path
    size: int
    modified: float  # seconds since the epoch
    session: str = ""
    name: str = ""
    saved_at: float = 0.0
    cell: int = 0
    python: str = ""
    variables: tuple[tuple[str, str], ...] = ()  # (name, type)
    skipped: tuple[tuple[str, str], ...] = ()  # (name, reason)
    problem: str | None = None

    @property
    def names(self) -> list[str]:
        """The names of the saved variables."""
        return [name for name, _ in self.variables]


def signing_key(home: Path) -> bytes:
    """Return the 32 bytes that sign this home's checkpoints, made at the first call.

    Raises CheckpointError when the key file is a link, not ours, open to others or damaged, since whoever
    could change it could have kernels run code; OSError when it cannot be read or written.
    """
    path = home / "state" / "rlm" / "key"
    if not os.path.lexists(path):
        _make_key(path)
    try:
        descriptor = open_private(str(path))
    except CheckpointError as error:
        raise CheckpointError(f"the signing key {path} cannot be used: {error}") from error
    try:
        key = os.read(descriptor, _KEY_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(key) != _KEY_BYTES:
        raise CheckpointError(
            f"the signing key {path} is damaged; delete it to begin anew (older checkpoints are lost then)"
        )
    return key


def _make_key(path: Path) -> None:
    """Create the key whole or not at all; another process may be faster, and then its key stands."""
    private_dir(path.parent)
    temporary = path.parent / f"{TEMPORARY}{os.getpid()}-{os.urandom(8).hex()}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.urandom(_KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(temporary, path)
        except FileExistsError:
            pass
    finally:
        os.unlink(temporary)


def path_of(home: Path, session_id: str, name: str) -> Path:
    """Return where the checkpoint of that name lies; neither text becomes a path."""
    return sessions.directory(home, session_id) / (sessions.key(name) + SUFFIX)


def set_aside(home: Path, session_id: str) -> str:
    """Keep a session's autosave under the name it returns, out of the way of the next. Raises OSError."""
    os.replace(path_of(home, session_id, AUTOSAVE), path_of(home, session_id, SET_ASIDE))
    return SET_ASIDE


def listing(home: Path) -> list[Entry]:
    """Return all checkpoints of the home, newest first; damaged ones too, with the reason."""
    entries = [_entry(path, status) for path, status in _files(home, suffix=SUFFIX)]
    return sorted(entries, key=lambda entry: (-entry.modified, entry.path.name))


def _files(home: Path, *, prefix: str = "", suffix: str = "") -> list[tuple[Path, os.stat_result]]:
    """The files of all sessions' directories with such names; links are not followed."""
    found = []
    for directory in _scan(sessions.root(home)):
        if not directory.is_dir(follow_symlinks=False):
            continue
        for item in _scan(directory.path):
            if item.name.startswith(prefix) and item.name.endswith(suffix):
                try:
                    found.append((Path(item.path), item.stat(follow_symlinks=False)))
                except OSError:  # gone since
                    pass
    return found


def _scan(path: str | os.PathLike[str]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as found:
            return list(found)
    except OSError:  # not there yet, gone since, or no directory
        return []


def describe(path: Path) -> Entry | None:
    """Return the entry of one checkpoint, None when there is no file; a damaged one has its `problem`."""
    try:
        return _entry(path, os.lstat(path))
    except (FileNotFoundError, NotADirectoryError):
        return None


def _entry(path: Path, status: os.stat_result) -> Entry:
    try:
        descriptor = open_private(str(path))
        try:
            manifest = read_manifest(descriptor)
        finally:
            os.close(descriptor)
    except (CheckpointError, OSError) as error:
        text = str(error) if isinstance(error, CheckpointError) else error.strerror or str(error)
        return Entry(path, status.st_size, status.st_mtime, problem=text)
    return Entry(
        path,
        status.st_size,
        status.st_mtime,
        session=manifest["session"],
        name=SET_ASIDE if path.name == sessions.key(SET_ASIDE) + SUFFIX else manifest["name"],
        saved_at=manifest["saved_at"],
        cell=manifest["cell"],
        python=manifest["python"],
        variables=_variables(manifest),
        skipped=_skipped(manifest),
    )


def _variables(manifest: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    records = [record for record in manifest["records"] if record["kind"] != "attributes"]
    return tuple(pair for record in records for pair in zip(record["names"], record["types"], strict=True))


def _skipped(manifest: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    rows = [row for row in manifest["skipped"] if isinstance(row, dict)]
    return tuple((str(row.get("name", "")), str(row.get("reason", ""))) for row in rows)


def delete(home: Path, session_id: str, name: str) -> bool:
    """Remove a checkpoint; whether there was one. Raises OSError when it cannot be removed."""
    try:
        os.unlink(path_of(home, session_id, name))
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def prune(
    home: Path,
    keep: Path | None,
    *,
    max_age_days: float = MAX_AGE_DAYS,
    max_bytes: int = LIMIT_BYTES,
    dry_run: bool = False,
) -> list[Entry]:
    """Remove old checkpoints and return those removed; `keep`, the one just saved, always stays.

    First those older than `max_age_days`; then, while all together are larger than `max_bytes`, autosaves
    from the oldest on, then others from the oldest on. What killed saves left behind goes after an hour.
    With `dry_run` nothing is removed.
    """
    now = time.time()
    if not dry_run:
        _remove_remains(home, now)
    entries = listing(home)
    removed = []
    total = sum(entry.size for entry in entries)
    for entry in _in_order_of_removal(entries, now - max_age_days * 86400):
        is_old = entry.modified < now - max_age_days * 86400
        if entry.path == keep or not (is_old or total > max_bytes):
            continue
        if dry_run or _remove(entry.path):
            total -= entry.size
            removed.append(entry)
    return removed


def _in_order_of_removal(entries: list[Entry], oldest: float) -> list[Entry]:
    autosaves = [sessions.key(name) + SUFFIX for name in (AUTOSAVE, SET_ASIDE)]

    def rank(entry: Entry) -> tuple[bool, bool, float]:
        is_old = entry.modified < oldest
        return not is_old, not is_old and entry.path.name not in autosaves, entry.modified

    return sorted(entries, key=rank)


def _remove_remains(home: Path, now: float) -> None:
    for path, status in _files(home, prefix=TEMPORARY):
        if now - status.st_mtime > _STALE_SECONDS:
            _remove(path)


def _remove(path: Path) -> bool:
    """Remove one file (a link itself, not what it leads to); whether it is gone by our doing."""
    try:
        if stat.S_ISDIR(os.lstat(path).st_mode):
            return False
        os.unlink(path)
    except OSError:
        return False
    return True
