"""The profiles of a home: each is a whole home of its own, with its own jobs, sessions and gateway."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from ..errors import Unreadable

DEFAULT = "default"
FOLDER = "profiles"

# What the host takes for a profile; other folders and files below profiles/ are none.
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True)
class Profile:
    """``name`` is "default" for the root, else the folder below `profiles/`."""

    name: str
    home: Path


def profiles(home: Path) -> list[Profile]:
    """The profiles that the watchers of `home` look at, the home's own first, the others by name.

    A root home has those below `profiles/`; a home that is itself a named profile has only itself.
    Raises Unreadable when the folder is there and cannot be listed.
    """
    if home.parent.name == FOLDER and home.name:
        return [Profile(home.name, home)]
    found = [Profile(DEFAULT, home)]
    folder = home / FOLDER
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if _NAME.fullmatch(entry.name) and _is_folder(entry)]
    except (FileNotFoundError, NotADirectoryError):
        return found
    except OSError as error:
        raise Unreadable(folder, error.strerror or type(error).__name__) from error
    return found + [Profile(name, folder / name) for name in sorted(names) if name != DEFAULT]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a folder; a link that leads nowhere, or to itself, is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False
