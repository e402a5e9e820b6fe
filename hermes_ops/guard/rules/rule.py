"""A rule: which commands it looks at, what it says of them, and the examples that hold it to its word."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..judge.invocation import Invocation
from ..verdict import Found

Check = Callable[[Invocation], Iterable[Found]]


@dataclass(frozen=True, slots=True)
class Family:
    """Rules about some programs. `check` is called for every invocation of one of `programs`.

    `programs` empty: the check is called for every invocation. `examples` maps a command to the rule id that
    must be among its findings; `silent` are commands of which no rule of this family may say anything. Both
    are held by a test and by `hermes ops guard status --self-test`.
    """

    name: str
    programs: frozenset[str]
    check: Check
    examples: tuple[tuple[str, str], ...] = ()
    silent: tuple[str, ...] = ()
