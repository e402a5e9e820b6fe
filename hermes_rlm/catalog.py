"""The sessions of a home, and how to find one by its id or the beginning of it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from . import cells, sessions
from ._common.terminal import printable

_SHOWN = 5


class NotFoundError(Exception):
    """No session, or more than one, answers to a name."""


def known(home: Path) -> list[str]:
    """Return the ids of all sessions that have a journal, a checkpoint or a kernel, sorted."""
    root = sessions.root(home)
    try:
        names = os.listdir(root)
    except (FileNotFoundError, NotADirectoryError):
        names = []
    found = {cells.session_of(root / name) for name in names}
    found.update(entry.session for entry in checkpoints(home))
    found.update(record.get("session") for _, record in kernels(home))
    return sorted(session for session in found if session and isinstance(session, str))


def find(home: Path, name: str) -> str:
    """Return the session that is called so, or the only one whose id begins so. Raises NotFoundError."""
    ids = known(home)
    if name in ids or (name and sessions.directory(home, name).is_dir()):
        return name
    matches = [session for session in ids if session.startswith(name)] if name else []
    if len(matches) == 1:
        return matches[0]
    listed = ", ".join(session[:80] for session in (matches or ids)[:_SHOWN])
    called = printable(name[:80])
    if matches:
        raise NotFoundError(f"{len(matches)} sessions begin with {called!r}: {listed}; give more of the id")
    there = f"of {len(ids)} there: {listed}" if ids else "it holds none yet"
    raise NotFoundError(f"no session {called!r} in {home}; {there}")


def checkpoints(home: Path) -> list[Any]:
    """Return the checkpoints of a home, damaged ones with their `problem`. Reads manifests only."""
    from .checkpoint import listing

    return listing(home)


def kernels(home: Path) -> list[tuple[Path, dict[str, Any]]]:
    """Return the registrations of kernels with their files, those of dead kernels too."""
    from .kernel import registry

    return list(registry.records(home))
