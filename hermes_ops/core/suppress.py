"""`<home>/ops/suppress.toml`: findings that somebody has looked at and accepts, each with a reason.

[[suppress]]
pattern = "schedule.late:default/06c6883b7ddd"   # a rule, an id, or a beginning ending in *
reason = "the feed is slow on Mondays"
until = 2026-12-31                               # optional: a date or a time
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from ..errors import OpsError
from . import toml_file
from .finding import Suppression

FILE_NAME = "suppress.toml"
KEYS = ("pattern", "reason", "until")


@dataclass(frozen=True)
class Expired:
    """A suppression whose time is over: what it accepted is told again, and the entry can go."""

    pattern: str
    reason: str
    until: float


def load(state: Path, zone: tzinfo | None = None) -> list[Suppression]:
    """The suppressions of a state directory (`<home>/ops`); [] without the file.

    ``zone`` is where dates and times without offset are read (default: the server's). A date holds to its
    end. Raises Unreadable when the file cannot be read, OpsError naming the entry and key that is wrong: then
    none of them holds.
    """
    path = state / FILE_NAME
    content = toml_file.read(path)
    return [] if content is None else parse(content, path, zone)


def parse(content: dict[str, object], path: Path, zone: tzinfo | None = None) -> list[Suppression]:
    """The suppressions of a parsed file; OpsError naming what is wrong, for the file as a whole."""
    toml_file.known(content, ("suppress",), str(path))
    return [_entry(table, where, zone) for table, where in toml_file.tables(content, "suppress", path)]


def expired(suppressions: list[Suppression], now: float) -> list[Expired]:
    """Those whose time is over, for doctor."""
    return [
        Expired(rule.pattern, rule.reason, rule.until)
        for rule in suppressions
        if rule.until is not None and now >= rule.until
    ]


def _entry(entry: dict[str, object], where: str, zone: tzinfo | None) -> Suppression:
    toml_file.known(entry, KEYS, where)
    pattern = toml_file.text(entry, "pattern", where, required=True) or ""
    reason = toml_file.text(entry, "reason", where, required=True) or ""
    if "*" in pattern[:-1] or pattern == "*":
        raise OpsError(f'{where}: pattern: a "*" may only end it, behind at least one character')
    return Suppression(pattern, reason, toml_file.until(entry, "until", where, zone))
