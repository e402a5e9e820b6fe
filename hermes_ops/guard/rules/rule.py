"""A rule: which commands it looks at, what it says of them, and the examples that hold it to its word."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..judge.invocation import Invocation
from ..verdict import Found, Verdict

Check = Callable[[Invocation], Iterable[Found]]

# What `needs` of a family may name.
REDIRECTS, ENVIRONMENT = "redirects", "environment"


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """What may be found: a stable id "family.what", the verdict, one clause why, and what to do instead.

    Every rule is there once, so that two are the same only when they are one.
    """

    id: str
    verdict: Verdict
    why: str
    safer: str = ""

    def found(self, part: str, detail: str = "", targets: tuple[str, ...] = ()) -> Found:
        """A finding of this rule in a piece of a command; `detail` is appended to the reason."""
        why = f"{self.why}: {detail}" if detail else self.why
        return Found(self.id, self.verdict, why, part, self.safer, targets)


def block(identifier: str, why: str, safer: str = "") -> Rule:
    return Rule(identifier, Verdict.BLOCK, why, safer)


def approve(identifier: str, why: str, safer: str = "") -> Rule:
    return Rule(identifier, Verdict.APPROVE, why, safer)


@dataclass(frozen=True, slots=True)
class Family:
    """Rules about some programs. `check` is called for every invocation of one of `programs`.

    `programs` empty: the check is called for every invocation, where `needs` is set of those that have
    redirections or variables of their own. `examples` maps a command to the rule id that
    must be among its findings; `silent` are commands of which no rule of this family may say anything. Both
    are held by a test and by `hermes ops guard status --self-test`. `rules` are all that `check` may find.
    """

    name: str
    programs: frozenset[str]
    check: Check
    examples: tuple[tuple[str, str], ...] = ()
    silent: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    needs: str = ""
