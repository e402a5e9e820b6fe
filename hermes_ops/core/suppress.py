"""`<home>/ops/suppress.toml`: findings that somebody has looked at and accepts, each with a reason.

[[suppress]]
pattern = "schedule.late:default/06c6883b7ddd"   # a rule, an id, or a beginning ending in *
reason = "the feed is slow on Mondays"
until = 2026-12-31                               # optional: a date or a time
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from pathlib import Path

from .._common.files import read_regular
from ..errors import OpsError, Unreadable
from .finding import Suppression

FILE_NAME = "suppress.toml"
KEYS = ("pattern", "reason", "until")
MAX_BYTES = 1_000_000


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
    try:
        raw = read_regular(path, MAX_BYTES)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Unreadable(path, error.strerror or str(error)) from None
    if len(raw) > MAX_BYTES:
        raise Unreadable(path, f"larger than {MAX_BYTES} bytes")
    import tomllib

    try:
        content = tomllib.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise OpsError(f"{path}: not valid TOML: {error}") from None
    return parse(content, path, zone)


def parse(content: dict[str, object], path: Path, zone: tzinfo | None = None) -> list[Suppression]:
    """The suppressions of a parsed file; OpsError naming what is wrong, for the file as a whole."""
    _known(content, ("suppress",), str(path))
    entries = content.get("suppress", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise OpsError(f"{path}: suppress: expected tables, each written as [[suppress]]")
    return [
        _entry(entry, f"{path}: [[suppress]] no. {number}", zone) for number, entry in enumerate(entries, 1)
    ]


def expired(suppressions: list[Suppression], now: float) -> list[Expired]:
    """Those whose time is over, for doctor."""
    return [
        Expired(rule.pattern, rule.reason, rule.until)
        for rule in suppressions
        if rule.until is not None and now >= rule.until
    ]


def _entry(entry: dict[str, object], where: str, zone: tzinfo | None) -> Suppression:
    _known(entry, KEYS, where)
    for key in ("pattern", "reason"):
        value = entry.get(key)
        if not isinstance(value, str) or not value.strip():
            raise OpsError(f"{where}: {key}: expected text, and it must not be empty")
    pattern = str(entry["pattern"]).strip()
    if "*" in pattern[:-1] or pattern == "*":
        raise OpsError(f'{where}: pattern: a "*" may only end it, behind at least one character')
    return Suppression(
        pattern, " ".join(str(entry["reason"]).split()), _until(entry.get("until"), where, zone)
    )


def _until(value: object, where: str, zone: tzinfo | None) -> float | None:
    if value is None:
        return None
    try:
        if isinstance(value, str):
            value = date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value)
        if isinstance(value, datetime):
            return (value if value.tzinfo else value.replace(tzinfo=zone)).timestamp()
        if isinstance(value, date):
            end = datetime(value.year, value.month, value.day) + timedelta(days=1)
            return end.replace(tzinfo=zone).timestamp()
    except (ValueError, OverflowError, OSError):
        pass
    raise OpsError(f"{where}: until: expected a date like 2026-12-31, or a time like 2026-12-31T18:00:00")


def _known(table: dict[str, object], keys: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in keys:
            from difflib import get_close_matches

            near = get_close_matches(key, keys, 1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(keys)}"
            raise OpsError(f"{where}: unknown key {key[:60]!r}; {hint}")
