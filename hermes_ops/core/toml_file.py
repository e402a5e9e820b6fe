"""The files that people write, `<home>/ops/*.toml`: read whole, checked whole, the place of a fault named."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any

from .._common.files import read_regular
from ..errors import OpsError, Unreadable

_LARGEST = 1_000_000


def read(path: Path) -> dict[str, Any] | None:
    """The content of a TOML file, None without the file. Unreadable, or OpsError naming the line."""
    try:
        raw = read_regular(path, _LARGEST)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(path, error.strerror or type(error).__name__) from None
    import tomllib

    try:
        return tomllib.loads(raw.decode("utf-8-sig"))
    except RecursionError:
        raise OpsError(f"{path}: not valid TOML: lists or tables too deep in each other") from None
    except ValueError as error:
        raise OpsError(f"{path}: not valid TOML: {error}") from None


def known(table: Mapping[str, Any], keys: Collection[str], where: str) -> None:
    """Refuse a key that means nothing, with the nearest one that does."""
    for key in table:
        if key not in keys:
            from difflib import get_close_matches

            near = get_close_matches(key, keys, 1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(keys)}"
            raise OpsError(f"{where}: unknown key {key[:60]!r}; {hint}")


def tables(content: Mapping[str, Any], key: str, path: Path) -> list[tuple[dict[str, Any], str]]:
    """The tables written as [[key]], each with its place."""
    found = content.get(key, [])
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise OpsError(f"{path}: {key}: expected tables, each written as [[{key}]]")
    return [(entry, f"{path}: [[{key}]] no. {number}") for number, entry in enumerate(found, 1)]


def text(table: Mapping[str, Any], key: str, where: str, *, required: bool = False) -> str | None:
    """A text on one line; None when it is not there."""
    value = table.get(key)
    if value is None and not required:
        return None
    if not isinstance(value, str) or not value.strip():
        raise OpsError(f"{where}: {key}: expected text, and it must not be empty")
    return " ".join(value.split())


def texts(table: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    """A text or a list of texts; () when it is not there."""
    value = table.get(key, [])
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) and item.strip() for item in items):
        raise OpsError(f"{where}: {key}: expected a text or a list of texts")
    return tuple(" ".join(item.split()) for item in items)


def number(table: Mapping[str, Any], key: str, where: str, default: int | None) -> int | None:
    """A whole number of at least 0."""
    value = table.get(key, default)
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise OpsError(f"{where}: {key}: expected a whole number of at least 0")
    return value


def choice(
    table: Mapping[str, Any], key: str, where: str, values: Collection[str], default: str | None
) -> str:
    """One of the named words."""
    value = table.get(key, default)
    if not isinstance(value, str) or value not in values:
        raise OpsError(f"{where}: {key}: expected one of {', '.join(values)}")
    return value


def until(table: Mapping[str, Any], key: str, where: str, zone: tzinfo | None) -> float | None:
    """The end of a date in `zone` (None: the server's) or a time, in seconds since the epoch; or None."""
    value = table.get(key)
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
    raise OpsError(f"{where}: {key}: expected a date like 2026-12-31, or a time like 2026-12-31T18:00:00")


def seconds(table: Mapping[str, Any], key: str, where: str, default: float | None) -> float | None:
    """A length of time: "90s", "30m", "26h", "8d", or a number of seconds."""
    value = table.get(key)
    if value is None:
        return default
    found = length(value) if isinstance(value, str) else value
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not 0 < found < 1e12:
        raise OpsError(f'{where}: {key}: expected a length of time like "30m", "26h" or "8d"')
    return float(found)


def length(written: str) -> float | None:
    """Seconds of "45m", "1h30m", "2 days"; None for what is none."""
    import re

    if len(written) > 100:  # a search for numbers in a long text takes its length squared
        return None
    units = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
    part = r"(\d+(?:\.\d+)?)\s*(s|m|h|d|w)(?:ec(?:ond)?s?|in(?:ute)?s?|(?:ou)?rs?|ays?|eeks?)?"
    found = re.findall(part, written.strip().lower())
    left = re.sub(part, "", written.strip().lower())
    if not found or left.strip(" ,"):
        return None
    return sum(float(value) * units[unit] for value, unit in found)
