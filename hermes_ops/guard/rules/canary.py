"""A command that names no program and always blocks, by which doctor proves the guard live."""

from __future__ import annotations

from collections.abc import Iterable

from ..judge.invocation import Invocation
from ..verdict import Found
from .rule import Family, block

CANARY = "hermes-ops-guard-canary"
RULE = block(
    "guard.canary", "this command exists to prove that the guard answers", "nothing: it does nothing"
)


def _check(invocation: Invocation) -> Iterable[Found]:
    return (RULE.found(CANARY),)


FAMILY = Family(
    "guard",
    frozenset((CANARY,)),
    _check,
    examples=((CANARY, RULE.id),),
    silent=(f"echo {CANARY}", f"grep -r {CANARY} ."),
    rules=(RULE,),
)
