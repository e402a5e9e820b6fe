"""Session ids as data: which session a tool call belongs to, and where its files lie.

An id comes from the host, and through it from messaging platforms and API clients: it may hold slashes, NUL,
half a surrogate pair, or be very long. It never becomes a path; its key does.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

DEFAULT = "default"
KEPT_DAYS = 30
_SLUG_LENGTH = 24
_HASH_DIGITS = 16
_OTHER = re.compile(r"[^a-z0-9]+")


def of_call(keywords: Mapping[str, Any]) -> str:
    """Return the session a tool call belongs to, from the keywords the host gives its handler.

    `session_id` comes first: in one-shot modes `task_id` is another one in every turn.
    """
    found = keywords.get("session_id") or keywords.get("task_id") or DEFAULT
    return found if isinstance(found, str) else str(found)


def key(text: str) -> str:
    """Return the file name that stands for an id or a checkpoint's name: a readable slug and a hash.

    Only [a-z0-9-], at most 41 characters. Distinct texts have distinct keys.
    """
    slug = _OTHER.sub("-", text[:200].lower()).strip("-")[:_SLUG_LENGTH].rstrip("-") or "id"
    return f"{slug}-{sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:_HASH_DIGITS]}"


def root(home: Path) -> Path:
    """Return the directory that holds one directory per session; it may not exist."""
    return home / "state" / "rlm" / "sessions"


def directory(home: Path, session_id: str) -> Path:
    """Return the directory of a session's files; it may not exist."""
    return root(home) / key(session_id)


def prune(home: Path, days: float = KEPT_DAYS) -> list[str]:
    """Remove the directories of sessions in which nothing has changed for so long; return their names."""
    oldest, removed = time.time() - days * 86400, []
    try:
        found = list(os.scandir(root(home)))
    except OSError:
        return []
    for entry in found:
        if entry.is_dir(follow_symlinks=False) and _newest(entry) < oldest:
            shutil.rmtree(entry.path, ignore_errors=True)
            removed.append(entry.name)
    return sorted(removed)


def _newest(directory: os.DirEntry[str]) -> float:
    """When something in a directory changed last; now, where that cannot be seen."""
    try:
        times = [entry.stat(follow_symlinks=False).st_mtime for entry in os.scandir(directory)]
        return max([*times, directory.stat(follow_symlinks=False).st_mtime])
    except OSError:
        return time.time()
