"""What the guard answers: allow, approve (a person decides) or block, and the findings behind it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum


class Verdict(IntEnum):
    """Ordered: of several findings the highest verdict counts."""

    ALLOW = 0
    APPROVE = 1
    BLOCK = 2

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Found:
    """One reason to stop a command.

    `rule` is a stable id, "family.what" ("files.root-removal"). `part` is the piece of the command that
    triggered it, as the guard understood it. `why` is one clause without a full stop. `safer` is what to do
    instead, or "". `targets` are the files the command would destroy, for the blast radius.
    """

    rule: str
    verdict: Verdict
    why: str
    part: str = ""
    safer: str = ""
    targets: tuple[str, ...] = ()

    def at(self, part: str) -> Found:
        """The same finding with the piece of the command that triggered it."""
        return Found(self.rule, self.verdict, self.why, part, self.safer, self.targets)

    def with_verdict(self, verdict: Verdict) -> Found:
        return Found(self.rule, verdict, self.why, self.part, self.safer, self.targets)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one text with all findings, the weightiest first.

    `unread` names what could not be read ("" when all of it was); then the findings come from the lexical
    view of the rest of the text.
    """

    findings: tuple[Found, ...] = ()
    unread: str = ""

    @property
    def verdict(self) -> Verdict:
        return max((found.verdict for found in self.findings), default=Verdict.ALLOW)

    @property
    def rule(self) -> str:
        """The id of the weightiest finding, "" when there is none."""
        return self.findings[0].rule if self.findings else ""


def judged(findings: Iterable[Found], unread: str = "") -> Judgement:
    """A judgement of findings, each once, the weightiest first and otherwise in the order they were made."""
    distinct = list(dict.fromkeys(findings))
    return Judgement(tuple(sorted(distinct, key=lambda found: -found.verdict)), unread)
