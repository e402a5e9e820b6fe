"""What people know about jobs and the host has no field for: `<home>/ops/notes.toml`, keyed by job id.

["06c6883b7ddd"]            # or ["work/06c6883b7ddd"] for a job of another profile
owner = "anna"
note = "read in the ward every morning"
watcher = "anna's calendar"
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..core import toml_file
from ..errors import OpsError

_KEYS = ("owner", "note", "watcher")


@dataclass(frozen=True)
class Note:
    """What somebody wrote about one job; every part may be missing."""

    owner: str | None = None
    note: str | None = None
    watcher: str | None = None

    @property
    def text(self) -> str:
        """Owner and note on one line, "" for neither."""
        return ": ".join(part for part in (self.owner, self.note) if part)


def load(home: Path) -> dict[str, Note]:
    """The notes by "profile/id"; {} without the file. OpsError names the key that is wrong."""
    path = home / "ops" / "notes.toml"
    content = toml_file.read(path)
    found = {}
    for key, value in (content or {}).items():
        where = f"{path}: [{key[:60]!r}]"
        if isinstance(value, str):
            value = {"note": value}
        if not isinstance(value, dict):
            raise OpsError(f"{where}: expected a table with {', '.join(_KEYS)}, or a text")
        toml_file.known(value, _KEYS, where)
        parts = [toml_file.text(value, name, where) for name in _KEYS]
        found[key if "/" in key else f"default/{key}"] = Note(*parts)
    return found


def without_job(notes: dict[str, Note], keys: Iterable[str]) -> list[str]:
    """The notes of jobs that are not there (any more)."""
    return sorted(set(notes) - set(keys))
