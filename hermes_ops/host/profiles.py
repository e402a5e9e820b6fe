"""The profiles of a home: each is a whole home of its own, with its own jobs, sessions and gateway."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DEFAULT = "default"


@dataclass(frozen=True)
class Profile:
    """``name`` is "default" for the root, else the folder below `profiles/`."""

    name: str
    home: Path


def profiles(home: Path) -> list[Profile]:
    """The profiles that the watchers of `home` look at, the home's own first, the others by name.

    A root home has those below `profiles/`; a home that is itself a named profile has only itself.
    """
    raise NotImplementedError
