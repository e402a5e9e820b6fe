"""The rules: what each is called, how bad it is, and what to write instead; and how one is allowed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ERROR, WARNING, INFO = "error", "warning", "info"


@dataclass(frozen=True)
class Rule:
    """``severity`` is "error" for what will not survive a session without history or cannot run as it is."""

    id: str
    name: str
    severity: str
    text: str
    instead: str

    @property
    def kind(self) -> str:
        """The first part of the name: history, placeholder, human, delivery, silence, size, path ..."""
        return self.name.partition(".")[0]


@dataclass(frozen=True)
class Hit:
    """A rule that something breaks, and where: line and column from 1, None for the job itself.

    ``allowed`` is the reason for which somebody accepts it; ``key`` tells hits of one rule apart.
    """

    rule: Rule
    text: str
    line: int | None = None
    column: int | None = None
    excerpt: str = ""
    instead: str = ""
    allowed: str | None = None
    key: str = ""

    @property
    def severity(self) -> str:
        return self.rule.severity


def _read_rules() -> dict[str, Rule]:
    import tomllib

    table = tomllib.loads(Path(__file__).with_name("rules.toml").read_text(encoding="utf-8"))
    return {rule_id: Rule(rule_id, **row) for rule_id, row in table.items()}


RULES = _read_rules()

_ALLOW = re.compile(
    r"ops-lint:[ \t]{0,9}allow[ \t]{1,9}(?P<rules>[\w.]{1,40}(?:[ \t]{0,9},[ \t]{0,9}[\w.]{1,40}){0,20})"
    r"(?:[ \t]{1,9}(?:because|--|потому что|:)[ \t]{1,9}(?P<reason>[^\n]{1,400}))?"
)


@dataclass(frozen=True)
class Allowance:
    """A rule that a prompt, or whoever calls, accepts: by id, name or kind.

    ``offset`` is where a prompt says so, None for the one who calls.
    """

    rule: str
    reason: str
    offset: int | None = None

    def covers(self, rule: Rule) -> bool:
        return self.rule in (rule.id.lower(), rule.name, rule.kind)

    @property
    def known(self) -> bool:
        return any(self.covers(rule) for rule in RULES.values())


def allowances(prompt: str) -> list[Allowance]:
    """What a prompt allows: lines `# ops-lint: allow L103, human.wait because <reason>`."""
    found = []
    for match in _ALLOW.finditer(prompt):
        reason = (match["reason"] or "").strip().removesuffix("-->").strip()
        for name in match["rules"].split(","):
            found.append(Allowance(name.strip().lower(), reason, match.start()))
    return found


def errors(hits: Iterable[Hit], *, strict: bool = False) -> list[Hit]:
    """The hits that count: errors that nobody allowed, with ``strict`` warnings too."""
    counted = (ERROR, WARNING) if strict else (ERROR,)
    return [hit for hit in hits if hit.allowed is None and hit.severity in counted]
