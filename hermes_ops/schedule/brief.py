"""The operator's brief: what changed in the findings of the sweep since the last brief, for an agent to read.

It is the script of an agent job: without a change it prints nothing, and the host then wakes no agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any

from ..core.finding import SEVERITIES, Blind, Finding, Reading
from ..core.incident_text import clean
from ..core.moment import show
from ..core.state import StateFile
from ..core.typed import typed

FORMAT = 1
LIMIT = 6000  # characters of a brief
LINE = 400  # characters of one line
TOLD_EVENTS = 500
QUIET = '{"wakeAgent": false}'


@dataclass(frozen=True)
class Line:
    """One thing that is wrong, as it was told: its severity and its line."""

    severity: str
    text: str


@dataclass(frozen=True)
class Brief:
    """The text of a brief ("" when nothing changed), and what is to be remembered once it is printed."""

    text: str
    data: dict[str, Any]


def state_file(home: Path) -> StateFile:
    """What the last brief told, `<home>/ops/brief.json`."""
    return StateFile(
        home / "ops" / "brief.json", FORMAT, lambda: {"at": None, "open": {}, "events": []}, _check
    )


def brief(reading: Reading, before: Mapping[str, Any], now: float, zone: tzinfo) -> Brief:
    """Compare a reading with what the last brief told.

    What a blindness covers stays as it was told: it is neither over nor new. A change of the numbers in a
    line alone is no change.
    """
    told = {key: Line(*value) for key, value in before["open"].items()}
    found = {finding.id: _line(finding) for finding in reading.findings}
    found.update({f"blind:{blind.key}": _blind_line(blind) for blind in reading.blind})
    covered = tuple(blind.covers for blind in reading.blind)
    for key, line in told.items():
        if key not in found and not key.startswith("blind:") and covered and key.startswith(covered):
            found[key] = line
    new = {key: line for key, line in found.items() if key not in told}
    over = {key: line for key, line in told.items() if key not in found}
    changed = {
        key: (told[key], line)
        for key, line in found.items()
        if key in told and told[key].severity != line.severity
    }
    seen = list(before["events"])
    events = [event for event in reading.events if event.id not in seen]
    lines = [f"NEW {line.severity}: {line.text}" for line in _ranked(new)]
    lines += [f"EVENT {event.severity}: {clean(event.text, LINE)}" for event in events]
    lines += [f"NOW {line.severity}, was {old.severity}: {line.text}" for old, line in changed.values()]
    lines += [f"OVER: {line.text}" for line in _ranked(over)]
    data = {
        "at": now,
        "open": {key: [line.severity, line.text] for key, line in sorted(found.items())},
        "events": (seen + [event.id for event in events])[-TOLD_EVENTS:],
    }
    if not lines:
        return Brief("", {**data, "at": before["at"]})
    since = "the first brief" if before["at"] is None else f"since {show(before['at'], zone)}"
    head = f"Schedule sweep of {show(now, zone)}, {since}: {_counted(new, over, changed, events)}."
    unchanged = len(found) - len(new) - len(changed)
    foot = [f"{unchanged} more findings are as they were: hermes ops sweep"] if unchanged else []
    return Brief(_bounded([head, *lines], foot), data)


def _line(finding: Finding) -> Line:
    fix = f" [{finding.fix}]" if finding.fix else ""
    return Line(finding.severity, clean(f"{finding.where}: {finding.text}{fix}", LINE))


def _blind_line(blind: Blind) -> Line:
    return Line("error", clean(f"cannot tell: {blind.text}", LINE))


def _ranked(lines: Mapping[str, Line]) -> list[Line]:
    """The worst first, otherwise by id: the same findings give the same text."""
    return [lines[key] for key in sorted(lines, key=lambda key: (-_rank(lines[key].severity), key))]


def _rank(severity: str) -> int:
    return SEVERITIES.index(severity) if severity in SEVERITIES else 0


def _counted(*groups: Any) -> str:
    names = ("new", "over", "changed", "events")
    return ", ".join(f"{len(group)} {name}" for group, name in zip(groups, names, strict=True) if group)


def _bounded(lines: list[str], foot: list[str]) -> str:
    """The lines that there is room for, and how many are left out."""
    shown, size = [], sum(len(line) + 1 for line in foot) + 60
    for place, line in enumerate(lines):
        size += len(line) + 1
        if size > LIMIT:
            shown.append(f"and {len(lines) - place} more: hermes ops sweep")
            break
        shown.append(line)
    return "\n".join(shown + foot)


def _check(data: dict[str, Any]) -> object:
    told = typed(dict[str, tuple[str, str]], data["open"])
    return told, typed(float | None, data["at"]), typed(list[str], data["events"])
