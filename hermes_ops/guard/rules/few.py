"""A bounded look at many words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

# The reader ends with a question long before a command has so many words; the view of what it could not read
# may still hold them.
MOST = 800
_LAST = 50

Item = TypeVar("Item")


def few(items: Iterable[Item]) -> Sequence[Item]:
    """The first and the last of many items."""
    every = list(items)
    return every if len(every) <= MOST else [*every[: MOST - _LAST], *every[-_LAST:]]
