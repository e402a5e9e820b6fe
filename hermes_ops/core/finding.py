"""What a check found, and what one run of a watcher saw as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

SEVERITIES = ("info", "warning", "error", "critical")

HOUR = 3600.0
DAY = 24 * HOUR


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    rule      what kind of thing, in dotted words: "schedule.missed"
    severity  one of SEVERITIES
    where     where it is, for a person: "job 06c6883b7ddd (morning digest)"
    text      one line: what is wrong, with the numbers that show it
    key       what it is about, stable from run to run ("default/06c6883b7ddd"); no times, no counts
    evidence  lines: value, file, row
    fix       the next command, or the next step
    holds     how many runs in a row must see it before it is told (hysteresis)
    clears    how many runs in a row must miss it before it counts as over
    remind    seconds until it is told again while it lasts; None: never
    """

    rule: str
    severity: str
    where: str
    text: str
    key: str
    evidence: tuple[str, ...] = ()
    fix: str = ""
    holds: int = 1
    clears: int = 1
    remind: float | None = DAY

    @property
    def id(self) -> str:
        """The identity of the incident: the same from run to run while it is the same thing."""
        return f"{self.rule}:{self.key}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "rule": self.rule,
            "severity": self.severity,
            "where": self.where,
            "text": self.text,
            "evidence": list(self.evidence),
            "fix": self.fix,
        }


@dataclass(frozen=True)
class Blind:
    """Something that could not be read, so that nothing is known about what it covers.

    ``covers`` is the beginning of the finding ids that this reading says nothing about: such incidents stay
    as they are. "" covers everything. A blindness is itself an incident once it lasts ``holds`` runs.
    """

    key: str
    text: str
    covers: str = ""
    holds: int = 1
    fix: str = ""


@dataclass(frozen=True)
class Event:
    """Something that happened and is told once (a top-up); ``id`` must be unique for each happening."""

    id: str
    text: str
    severity: str = "info"


@dataclass(frozen=True)
class Reading:
    """All that one run of a watcher saw. What it did not see any more and is not blind for, is over."""

    findings: tuple[Finding, ...] = ()
    blind: tuple[Blind, ...] = ()
    events: tuple[Event, ...] = ()

    @staticmethod
    def of(
        findings: Iterable[Finding] = (), blind: Iterable[Blind] = (), events: Iterable[Event] = ()
    ) -> Reading:
        return Reading(tuple(findings), tuple(blind), tuple(events))

    def __add__(self, other: Reading) -> Reading:
        return Reading(self.findings + other.findings, self.blind + other.blind, self.events + other.events)


@dataclass(frozen=True)
class Suppression:
    """A finding that somebody has looked at and accepts: by rule or id, with a reason, for a time.

    ``until`` is seconds since the epoch, None for always.
    """

    pattern: str
    reason: str
    until: float | None = None

    def covers(self, finding: Finding, now: float) -> bool:
        """Tell whether it accepts ``finding``; the pattern is a rule, an id, or a beginning ending in `*`."""
        if self.until is not None and now >= self.until:
            return False
        if self.pattern.endswith("*"):
            return finding.id.startswith(self.pattern[:-1])
        return self.pattern in (finding.rule, finding.id)


@dataclass
class Sorted:
    """Findings, those that count apart from those that were accepted, each with the reason."""

    open: list[Finding] = field(default_factory=list)
    accepted: list[tuple[Finding, str]] = field(default_factory=list)


def sort(findings: Iterable[Finding], suppressions: Iterable[Suppression], now: float) -> Sorted:
    """Part findings by what is suppressed."""
    rules = list(suppressions)
    result = Sorted()
    for finding in findings:
        reason = next((rule.reason for rule in rules if rule.covers(finding, now)), None)
        if reason is None:
            result.open.append(finding)
        else:
            result.accepted.append((finding, reason))
    return result
