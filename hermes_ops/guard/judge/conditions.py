"""The operands of [[ ]] and test that are arithmetic or name an element: what they hold may run commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..rules.names import names as listed
from . import arithmetic

if TYPE_CHECKING:
    from .invocation import Invocation, Stream
    from .walk import Walk

_COMPARISONS = listed("-eq -ne -lt -le -gt -ge")
_NAMES = frozenset(("-v", "-R"))


def walk_operands(walk: Walk, words: list[str], compares: bool = True) -> None:
    """Walk what stands beside `-eq` and behind `-v`."""
    for at, word in enumerate(words):
        if word in _NAMES and at + 1 < len(words):
            arithmetic.subscripts(walk, words[at + 1])
        elif compares and word in _COMPARISONS:
            for beside in (at - 1, at + 1):
                if 0 <= beside < len(words):
                    arithmetic.evaluate(walk, words[beside], 1)


def test(walk: Walk, call: Invocation) -> Stream | None:
    """test and [: only `-v` looks at a subscript there."""
    words = call.words()
    if not _NAMES.isdisjoint(words):
        walk_operands(walk, words, False)
    return None
