"""From what a person says ("2026-12-01 17:30", "17:30", "in 45m") to one instant, or to why there is none."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo

from .._common.command_line import UsageError
from ..core.toml_file import length
from ..errors import OpsError

LATEST = 10 * 366 * 86_400.0  # further ahead is taken for a slip of the finger


@dataclass(frozen=True)
class Instant:
    """``at`` in seconds since the epoch; ``remark`` is what somebody should know about how it was chosen."""

    at: float
    remark: str | None = None


def named_zone(name: str) -> tzinfo:
    """The zone of an IANA name. UsageError for a name nobody knows, with near ones."""
    from zoneinfo import ZoneInfo, available_timezones

    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        from difflib import get_close_matches

        near = get_close_matches(name, available_timezones(), 2, 0.6)
        hint = f"; did you mean {' or '.join(near)}?" if near else ""
        raise UsageError(f"--zone {name!r}: no zone of that name is known here{hint}") from None


def after(written: str, now: float) -> Instant:
    """`--in`: "45m", "1h30m", "2 days" from now on."""
    found = length(written)
    if found is None:
        raise UsageError(f'--in {written!r}: expected a length of time like "45m", "1h30m" or "2d"')
    return _checked(Instant(now + found), now)


def at(written: str, zone: tzinfo, zone_name: str, now: float, fold: str | None = None) -> Instant:
    """`--at`: a date and time, in `zone` unless it has an offset of its own; a time alone is the next one.

    ``fold`` ("first", "second") picks one of the two times in the hour that a change of clocks repeats.
    """
    text = written.strip()
    alone = re.fullmatch(r"(\d{1,2}):(\d{2})", text)
    if alone:
        return _next_time(int(alone[1]), int(alone[2]), zone, zone_name, now, fold)
    try:
        local = datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", text))
    except ValueError:
        raise UsageError(f'--at {written!r}: expected a time like "2026-12-01 17:30", or "17:30"') from None
    if re.fullmatch(r"\d{4}-?\d{2}-?\d{2}", text):
        raise UsageError(f'--at {written!r}: at what time of that day? For example "{text} 09:00"')
    if not 1900 <= local.year <= 9000:
        raise UsageError(f"--at {written!r}: expected a year of four digits, near now")
    if local.tzinfo is not None:
        if fold:
            raise UsageError(f"--fold means nothing for a time with an offset ({written})")
        return _checked(Instant(local.timestamp()), now)
    return _checked(_resolved(local, zone, zone_name, fold), now)


def iso(moment: float, zone: tzinfo) -> str:
    """An instant as the host takes it, with the offset of `zone`, so that no other zone can be meant."""
    return datetime.fromtimestamp(moment, zone).replace(tzinfo=None).isoformat(timespec="seconds") + _offset(
        moment, zone
    )


def _next_time(hour: int, minute: int, zone: tzinfo, name: str, now: float, fold: str | None) -> Instant:
    if hour > 23 or minute > 59:
        raise UsageError(f"--at {hour}:{minute:02d}: there is no such time of day")
    today = datetime.fromtimestamp(now, zone).replace(tzinfo=None)
    for days in range(3):
        local = (today + timedelta(days=days)).replace(hour=hour, minute=minute, second=0, microsecond=0)
        found = _resolved(local, zone, name, fold if _repeated(local, zone) else None)
        if found.at > now:
            return found
    raise OpsError(f"there is no {hour}:{minute:02d} in {name} in the next days")


def _resolved(local: datetime, zone: tzinfo, name: str, fold: str | None) -> Instant:
    """The instant of a local time; where clocks change, it may be none or two."""
    first = local.replace(tzinfo=zone, fold=0)
    second = local.replace(tzinfo=zone, fold=1)
    if _skipped(local, zone):
        # In a gap fold 0 is read with the offset before the change, fold 1 with the one after.
        later = datetime.fromtimestamp(first.timestamp(), zone).replace(tzinfo=None)
        earlier = datetime.fromtimestamp(second.timestamp(), zone).replace(tzinfo=None)
        raise UsageError(
            f"{_shown(local)} does not exist in {name}: clocks go forward over it;"
            f" take {_shown(earlier)} or {_shown(later)}"
        )
    if not _repeated(local, zone):
        if fold:
            raise UsageError(f"--fold: {_shown(local)} comes only once in {name}")
        return Instant(first.timestamp())
    chosen, other = (second, first) if fold == "second" else (first, second)
    which = "second" if fold == "second" else "first"
    why = "as asked" if fold else f"--fold second is {other.tzname()}"
    remark = f"{_shown(local)} comes twice in {name}: this is the {which} ({chosen.tzname()}; {why})"
    return Instant(chosen.timestamp(), remark)


def _repeated(local: datetime, zone: tzinfo) -> bool:
    offsets = [local.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1)]
    return offsets[0] != offsets[1] and not _skipped(local, zone)


def _skipped(local: datetime, zone: tzinfo) -> bool:
    there = local.replace(tzinfo=zone).astimezone(timezone.utc).astimezone(zone)
    return there.replace(tzinfo=None, fold=0) != local.replace(fold=0)


def _checked(found: Instant, now: float) -> Instant:
    if found.at <= now:
        from ..core.moment import span

        raise UsageError(
            f"that was {span(now - found.at)} ago; a reminder needs a time that is still to come"
        )
    if found.at - now > LATEST:
        raise UsageError("that is more than ten years ahead; is the year right?")
    return found


def _offset(moment: float, zone: tzinfo) -> str:
    seconds = datetime.fromtimestamp(moment, zone).utcoffset() or timedelta()
    if seconds == timedelta():
        return "+00:00"
    return datetime.fromtimestamp(moment, timezone(seconds)).isoformat(timespec="seconds")[19:]


def _shown(local: datetime) -> str:
    return local.strftime("%Y-%m-%d %H:%M")
