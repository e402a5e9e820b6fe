"""A skill in memory: its files as bytes, its links and pipes as names. Nothing of it is ever executed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from ..host.skills import _SKIPPED as IGNORED
from ..host.skills import _SUPPORT as SUPPORT

FILE, LINK, SPECIAL, UNREAD = "file", "link", "special", "unread"

MAX_HEAD = 4_000_000  # bytes of a file that are looked at from its beginning
MAX_TAIL = 1_000_000  # and from its end, when it is longer
MAX_SKILL = 64_000_000  # bytes of one skill that are looked at, unpacked archives included
MAX_ENTRIES = 5_000

MANIFEST = "SKILL.md"
MEMBER = "!/"  # stands between an archive and what is in it: "pack.zip!/inner/run.sh"


@dataclass(frozen=True)
class Entry:
    """One thing of a skill, by its path below the skill's folder.

    kind    "file", "link", "special" (pipe, socket, device) or "unread"
    data    the content; of a long file its first MAX_HEAD bytes, its last MAX_TAIL are in `tail`
    note    where a link leads, what a special file is, why nothing could be read
    sha256  of the whole content, "" when it is not known
    """

    path: str
    kind: str = FILE
    data: bytes = b""
    tail: bytes = b""
    size: int = 0
    mode: int = 0
    note: str = ""
    sha256: str = ""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """The last extension in lower case, with its dot; "" without one."""
        return PurePosixPath(self.name).suffix.lower()

    @property
    def is_whole(self) -> bool:
        return self.size <= len(self.data) + len(self.tail)

    @property
    def in_archive(self) -> bool:
        return MEMBER in self.path


@dataclass
class Skill:
    """A skill as it is looked at. `origin` is a path or an address; `root` is its folder when it has one.

    ``is_loose``: these are files that belong to no skill, such as descriptions of categories.
    ``limited`` says what was left out because of a limit, "" when nothing was.
    """

    name: str
    origin: str
    entries: list[Entry] = field(default_factory=list)
    root: Path | None = None
    is_loose: bool = False
    limited: str = ""

    def entry(self, path: str) -> Entry | None:
        return next((entry for entry in self.entries if entry.path == path), None)


def partition(paths: Iterable[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Paths by the folder of the skill that they belong to, and those that belong to none.

    A folder with SKILL.md is a skill; one below `scripts/`, `references/` ... of a skill, or below a folder
    that the host passes by, belongs to what is around it. The folder of a skill at the top is "".
    """
    all_paths = list(paths)
    folders = {_parent(path) for path in all_paths if path.rpartition("/")[2] == MANIFEST}
    active = {folder for folder in folders if _is_active(folder, folders)}
    skills: dict[str, list[str]] = {folder: [] for folder in sorted(active)}
    loose = []
    for path in all_paths:
        owner = next((folder for folder in _above(path) if folder in active), None)
        if owner is None:
            loose.append(path)
        else:
            skills[owner].append(path)
    return skills, loose


def _is_active(folder: str, folders: set[str]) -> bool:
    parts = folder.split("/") if folder else []
    if not IGNORED.isdisjoint(parts):
        return False
    return not any(part in SUPPORT and "/".join(parts[:i]) in folders for i, part in enumerate(parts))


def _above(path: str) -> Iterable[str]:
    """The folders a path lies in, the nearest first, "" last."""
    folder = _parent(path)
    while folder:
        yield folder
        folder = _parent(folder)
    yield ""


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
