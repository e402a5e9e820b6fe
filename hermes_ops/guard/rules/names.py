"""Tables of names, written as one string."""

from __future__ import annotations

from functools import lru_cache


@lru_cache(maxsize=1024)
def names(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())
