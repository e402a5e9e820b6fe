"""How much a command would destroy: files and bytes below its targets, counted within a hard time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from fnmatch import fnmatch

SECONDS = 0.010
ENTRIES = 10_000
_MOST_TARGETS = 20
_MOST_MATCHES = 200
_LONGEST = 1_000  # characters of a target
_CLOCK_EVERY = 64  # entries between two looks at the clock
_UNKNOWN = "\0"
# File systems of which a listing may wait for a server.
_REMOTE = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "glusterfs", "afs", "davfs"})
_mounts: list[tuple[str, str]] | None = None


def radius(
    targets: Iterable[str],
    cwd: str | None,
    home: str = "",
    *,
    seconds: float = SECONDS,
    entries: int = ENTRIES,
) -> str:
    """What is below the targets, "347 files, 12.0 MB"; "" when nothing is or nothing can be told cheaply.

    Targets are paths or globs, relative ones to `cwd`. Links are counted and never followed, nothing is run,
    file systems of other machines are left alone. "more than" when the time or the entries ran out.
    """
    count = _Count(time.monotonic() + seconds, entries)
    for target in list(targets)[:_MOST_TARGETS]:
        for path in _paths(target, cwd, home, count):
            if not is_remote(path):
                count.add(path)
    return count.told()


class _Count:
    def __init__(self, give_up: float, entries: int) -> None:
        self.files = self.directories = self.bytes = self.seen = 0
        self.give_up, self.entries, self.full = give_up, entries, False
        self.repository = False

    def spent(self) -> bool:
        """Count one entry; True when no more may be looked at."""
        self.seen += 1
        if self.seen > self.entries or (self.seen % _CLOCK_EVERY == 0 and time.monotonic() > self.give_up):
            self.full = True
        return self.full

    def add(self, path: str) -> None:
        try:
            status = os.lstat(path)
        except (OSError, ValueError):
            return
        if not os.path.isdir(path) or os.path.islink(path):
            if not self.spent():
                self.files, self.bytes = self.files + 1, self.bytes + status.st_size
            return
        self.repository = self.repository or os.path.exists(os.path.join(path, ".git", "index"))
        pending = [path]
        self.directories += 1
        while pending and not self.full:
            pending += self._directory(pending.pop())

    def _directory(self, path: str) -> list[str]:
        below: list[str] = []
        try:
            with os.scandir(path) as found:
                for entry in found:
                    if self.spent():
                        break
                    if entry.is_dir(follow_symlinks=False):
                        self.directories += 1
                        below.append(entry.path)
                    else:
                        self.files += 1
                        self.bytes += entry.stat(follow_symlinks=False).st_size
        except OSError:  # not ours to read, or gone meanwhile
            pass
        return below

    def told(self) -> str:
        if not self.files and not self.directories:
            return ""
        more = "more than " if self.full else ""
        text = f"{more}{self.files:,} {'file' if self.files == 1 else 'files'}, {_size(self.bytes)}"
        return text + (", a git repository among them" if self.repository else "")


def _paths(target: str, cwd: str | None, home: str, count: _Count) -> list[str]:
    if not target or _UNKNOWN in target or len(target) > _LONGEST:
        return []
    if target == "~" or target.startswith("~/"):
        target = (home or os.path.expanduser("~")) + target[1:]
    if not os.path.isabs(target):
        if cwd is None:
            return []
        target = os.path.join(cwd, target)
    return _matches(target, count) if any(letter in target for letter in "*?[") else [target]


def _matches(pattern: str, count: _Count) -> list[str]:
    """The paths that a glob matches, as a shell finds them; at most a few hundred."""
    found = ["/"]
    for part in [part for part in pattern.split("/") if part]:
        if not any(letter in part for letter in "*?["):
            found = [os.path.join(directory, part) for directory in found]
            continue
        matched: list[str] = []
        for directory in found:
            try:
                with os.scandir(directory) as entries:
                    for entry in entries:
                        if count.spent() or len(matched) >= _MOST_MATCHES:
                            count.full = True
                            return matched
                        if entry.name.startswith(".") == part.startswith(".") and fnmatch(entry.name, part):
                            matched.append(entry.path)
            except OSError:
                continue
        found = matched
    return found


def is_remote(path: str) -> bool:
    """Is a path on a file system of another machine, as far as the system tells?"""
    global _mounts
    if _mounts is None:
        _mounts = _read_mounts()
    return any(path == where or path.startswith(where.rstrip("/") + "/") for where, kind in _mounts if kind)


def _read_mounts() -> list[tuple[str, str]]:
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as file:
            lines = [line.split() for line in file.readlines()[:2000]]
    except OSError:
        return []
    return [
        (fields[1].replace("\\040", " "), fields[2])
        for fields in lines
        if len(fields) > 2 and (fields[2] in _REMOTE or fields[2].startswith("fuse.sshfs"))
    ]


def _size(count: int) -> str:
    value = float(count)
    for unit in ("bytes", "KB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError("unreachable")
