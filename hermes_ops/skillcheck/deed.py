"""A deed: kinds of words that together say what a skill does to its user."""

from __future__ import annotations

import re
from dataclasses import dataclass

PIECE = 4_000  # characters: anywhere in the same piece

Kind = tuple[re.Pattern[str], ...]  # what matches any of them is of the kind


@dataclass(frozen=True)
class Deed:
    """All of ``kinds`` within ``near`` characters of the first: of a page (``is_prose``) or of code.

    ``unless``: what near the first of them says that it is something else.
    """

    rule: str
    what: str
    kinds: tuple[Kind, ...]
    near: int = PIECE
    is_prose: bool = True
    unless: Kind | None = None


def deed(rule: str, what: str, *kinds: str | tuple[str, ...], near: int = PIECE, unless: str = "") -> Deed:
    """A deed that is told in words; several patterns of one kind stand in a tuple."""
    return Deed(rule, what, _compiled(kinds), near, unless=(re.compile(unless),) if unless else None)


def code(rule: str, what: str, *kinds: str, near: int = PIECE) -> Deed:
    """A deed that code does."""
    return Deed(rule, what, _compiled(kinds), near, is_prose=False)


def _compiled(kinds: tuple[str | tuple[str, ...], ...]) -> tuple[Kind, ...]:
    return tuple(tuple(map(re.compile, (one,) if isinstance(one, str) else one)) for one in kinds)
