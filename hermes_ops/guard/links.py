"""Where paths really lead: a link made earlier hides nothing that is written or removed through it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from .blast import is_remote

_MOST_LINKS = 40  # in one path, as the kernel has it
_MOST_LOOKS = 5_000  # in one call; a thousandth of a millisecond each
_LONGEST = 4_096

_current: ContextVar[Links | None] = ContextVar("hermes_ops_guard_links", default=None)


class Links:
    """The links of this machine, each looked at once. File systems of other machines are left alone."""

    __slots__ = ("_targets",)

    def __init__(self) -> None:
        self._targets: dict[str, str] = {}

    def real(self, path: str, last: bool = True) -> str:
        """An absolute path without links and "..", as far as it exists; `last` False: its last name stays."""
        if not path.startswith("/") or len(path) > _LONGEST:
            return path
        names = [name for name in path.split("/") if name and name != "."]
        kept = names.pop() if names and not last and names[-1] != ".." else ""
        pending, here, links = names[::-1], "", 0
        while pending:
            name = pending.pop()
            if name == "..":
                here = here.rpartition("/")[0]
                continue
            target = self._target(f"{here}/{name}")
            if not target:
                here = f"{here}/{name}"
                continue
            links += 1
            if links > _MOST_LINKS:
                return path
            if target[0] == "/":
                here = ""
            pending += [part for part in target.split("/")[::-1] if part and part != "."]
        return f"{here}/{kept}" if kept else here or "/"

    def _target(self, path: str) -> str:
        """What a link points to; "" for what is no link, does not exist or may not be looked at."""
        found = self._targets.get(path)
        if found is None:
            found = ""
            if len(self._targets) < _MOST_LOOKS and not is_remote(path):
                try:
                    found = os.readlink(path)
                except (OSError, ValueError):
                    pass
            self._targets[path] = found
        return found


@contextmanager
def followed(local: bool = True) -> Iterator[None]:
    """Within this, paths are followed through the links that this machine has now; each is looked at once."""
    token = _current.set(Links() if local else None)
    try:
        yield
    finally:
        _current.reset(token)


def are_followed() -> bool:
    """Is what is judged about this machine as it is now?"""
    return _current.get() is not None


def real(path: str, last: bool = True) -> str:
    """Where a path really leads (see Links.real); the path itself outside of `followed`."""
    links = _current.get()
    return path if links is None else links.real(path, last)
