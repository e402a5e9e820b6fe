"""Which tests of find decide what an action of it gets: those that are joined to it by "and"."""

from __future__ import annotations

from collections.abc import Sequence

_MOST_BACK = 400  # words that are looked back over
_NOT = ("!", "-not")
_OR = ("-o", "-or", ",")
_ACTIONS = frozenset(
    (
        "-delete",
        "-exec",
        "-execdir",
        "-ok",
        "-okdir",
        "-print",
        "-print0",
        "-printf",
        "-fprint",
        "-ls",
        "-fls",
    )
)


def joined(words: Sequence[str], at: int) -> int:
    """Where the tests begin that must all hold for the action at a place; behind an -o or a comma."""
    depth = 0
    for place in range(at - 1, max(-1, at - _MOST_BACK), -1):
        word = words[place]
        if word == ")":
            depth += 1
        elif word == "(":
            depth = max(0, depth - 1)
        elif not depth and word in _OR:
            return place + 1
    return 0 if at < _MOST_BACK else at


def branches(words: Sequence[str]) -> list[tuple[int, int]]:
    """The tests by which a file comes to the last action; without an action any of some branches may do."""
    last = max((at for at, word in enumerate(words) if word in _ACTIONS), default=-1)
    if last >= 0:
        return [(joined(words, last), last)]
    found, end = [], len(words)
    while end >= 0:
        begin = joined(words, end)
        found.append((begin, end))
        if begin >= end:
            break  # no test at all: the others leave no more
        end = begin - 1
    return found


def is_denied(words: Sequence[str], at: int) -> bool:
    """Does a test stand behind a `!`, or in a group that does?"""
    closed = 0
    for before in range(at - 1, max(-1, at - _MOST_BACK), -1):
        word = words[before]
        if word == ")":
            closed += 1
        elif word == "(":
            closed -= 1
        if word in _NOT and (before == at - 1 or (closed < 0 and words[before + 1] == "(")):
            return True
    return False
