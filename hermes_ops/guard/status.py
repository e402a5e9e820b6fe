"""How the guard stands: its policy, what it decided lately, how long that took."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.finding import DAY
from . import decisions
from .accepted import ACCEPTED


@dataclass
class Decided:
    """The decisions since an instant: how many by answer and by rule, and the slowest in milliseconds."""

    days: float
    answers: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    slowest: float | None = None

    def add(self, record: dict[str, Any]) -> None:
        count = record.get("count", 1)
        self.answers[str(record["answer"])] += count if isinstance(count, int) and 0 < count < 10**9 else 1
        rules = record.get("rules")
        for rule in rules if isinstance(rules, list) else ():
            self.rules[str(rule)] += 1
        took = record.get("ms")
        if isinstance(took, (int, float)) and not isinstance(took, bool) and took >= 0:
            self.slowest = max(self.slowest or 0.0, float(took))

    def as_dict(self) -> dict[str, Any]:
        return {
            "days": self.days,
            "answers": dict(self.answers),
            "rules": dict(self.rules),
            "slowest_ms": self.slowest,
        }


def decided(home: Path, now: float, spans: tuple[float, ...] = (1.0, 30.0)) -> list[Decided]:
    """What was decided in the last so many days, in one pass over the log. Raises OSError."""
    found = [Decided(days) for days in spans]
    for record in decisions.read(home):
        at = record.get("at")
        if record["answer"] == ACCEPTED:
            continue  # no call
        if isinstance(at, (int, float)) and record.get("rules") != ["guard.canary"]:
            for one in found:
                if now - one.days * DAY < at <= now + DAY:
                    one.add(record)
    return found
