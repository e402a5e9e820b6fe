"""Skills read from the disk: bounded, links not followed, pipes and devices never opened."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from .._common.files import open_regular
from ..errors import Unreadable
from .entries import (
    FILE,
    LINK,
    MAX_ENTRIES,
    MAX_HEAD,
    MAX_SKILL,
    MAX_TAIL,
    SPECIAL,
    UNREAD,
    Entry,
    Skill,
    partition,
)

MAX_DEPTH = 40
MAX_LISTED = 50_000
MAX_HASHED = 1_000_000_000  # bytes of one file; of a longer one the hash is of its beginning and its size
_PIECE = 1 << 20

# Of a repository's own storage only what git would run is of interest.
_STORAGE = frozenset(("objects", "refs", "logs", "index", "packed-refs", "ORIG_HEAD", "FETCH_HEAD", "lfs"))

_SPECIAL_NAMES = (
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "character device"),
    (stat.S_ISBLK, "block device"),
)


def skills_at(path: Path) -> list[Skill]:
    """The skills at a path: a folder with one or several, or a single file; [] where nothing lies.

    What belongs to no skill is one more, `is_loose`. Raises Unreadable when the path cannot be read.
    """
    try:
        real = path.resolve(strict=True)
        mode = real.stat().st_mode
    except (OSError, RuntimeError) as error:
        raise Unreadable(path, getattr(error, "strerror", None) or "a link that leads to itself") from None
    if stat.S_ISDIR(mode):
        return folder_skills(real, str(path))
    if not stat.S_ISREG(mode):
        raise Unreadable(path, "neither a folder nor a file")
    return [Skill(real.name, str(path), [_entry(real, real.name)], real.parent)]


def folder_skills(root: Path, origin: str, *, only_own: bool = False) -> list[Skill]:
    """The skills in a folder; with `only_own` just the one that the folder itself is."""
    listed, limited = _listed(root)
    owned, loose = partition(listed)
    found = []
    for folder, paths in owned.items():
        if only_own and folder:
            continue
        name = folder.rpartition("/")[2] or root.name
        below = root / folder if folder else root
        found.append(_load(name, f"{origin}/{folder}" if folder else origin, below, folder, paths))
    if loose and not only_own:
        skill = _load(root.name or origin, origin, root, "", loose)
        skill.is_loose = bool(owned)
        found.append(skill)
    if limited and found:
        found[0].limited = found[0].limited or limited
    return found


def loose_files(root: Path, origin: str) -> Skill | None:
    """The files of a tree of skills that belong to none of them and are not the host's own (dot files)."""
    listed, limited = _listed(root)
    loose = [path for path in partition(listed)[1] if not any(p.startswith(".") for p in path.split("/"))]
    if not loose:
        return None
    skill = _load(origin, str(root), root, "", loose)
    skill.is_loose, skill.limited = True, skill.limited or limited
    return skill


def _load(name: str, origin: str, root: Path, folder: str, paths: Iterable[str]) -> Skill:
    skill = Skill(name, origin, root=root)
    cut = len(folder) + 1 if folder else 0
    left = MAX_SKILL
    for number, path in enumerate(sorted(paths)):
        if number >= MAX_ENTRIES:
            skill.limited = f"more than {MAX_ENTRIES:,} files"
            break
        entry = _entry(root / path[cut:], path[cut:], left)
        left -= len(entry.data) + len(entry.tail)
        skill.entries.append(entry)
    return skill


def _entry(file: Path, path: str, left: int = MAX_SKILL) -> Entry:
    try:
        found = os.lstat(file)
        if stat.S_ISLNK(found.st_mode):
            return Entry(path, LINK, note=os.readlink(file))
        if stat.S_ISDIR(found.st_mode):
            return Entry(path, UNREAD, note="folders nested too deeply, or one that cannot be listed")
        if not stat.S_ISREG(found.st_mode):
            what = next((name for is_it, name in _SPECIAL_NAMES if is_it(found.st_mode)), "special file")
            return Entry(path, SPECIAL, note=what)
        return _file(file, path, found, left)
    except OSError as error:
        return Entry(path, UNREAD, note=error.strerror or type(error).__name__)


def _file(file: Path, path: str, found: os.stat_result, left: int) -> Entry:
    digest, head, tail, size = hashlib.sha256(), bytearray(), b"", 0
    with open_regular(file) as opened:
        while size < MAX_HASHED and (piece := opened.read(_PIECE)):
            digest.update(piece)
            size += len(piece)
            if len(head) < MAX_HEAD:
                head += piece[: MAX_HEAD - len(head)]
        if size > MAX_HEAD:
            opened.seek(max(MAX_HEAD, found.st_size - MAX_TAIL))
            tail = opened.read(MAX_TAIL)
    if size >= MAX_HASHED:
        size = max(size, found.st_size)
        digest.update(f"of {size}".encode() + tail)
    if left <= 0:
        return Entry(
            path, UNREAD, size=size, note="beyond what is read of one skill", sha256=digest.hexdigest()
        )
    return Entry(path, FILE, bytes(head), tail, size, stat.S_IMODE(found.st_mode), "", digest.hexdigest())


def _listed(root: Path) -> tuple[list[str], str]:
    """Paths of everything below a folder that is no folder itself, and what limit was met ("": none)."""
    found: list[str] = []
    for path in _walk(root, "", 0):
        found.append(path)
        if len(found) >= MAX_LISTED:
            return found, f"more than {MAX_LISTED:,} files in all"
    return found, ""


def _walk(root: Path, below: str, depth: int) -> Iterator[str]:
    try:
        with os.scandir(root / below) as entries:
            items = sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        if not below:
            raise Unreadable(root, error.strerror or type(error).__name__) from None
        yield below
        return
    in_storage = below.rpartition("/")[2] == ".git"
    for item in items:
        path = f"{below}/{item.name}" if below else item.name
        if in_storage and item.name in _STORAGE:
            continue
        if not item.is_dir(follow_symlinks=False) or depth >= MAX_DEPTH:
            yield path
        else:
            yield from _walk(root, path, depth + 1)
