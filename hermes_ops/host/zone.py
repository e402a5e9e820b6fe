"""The zone in which a home's schedules are read: `timezone:`, else HERMES_TIMEZONE, else the server's."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from pathlib import Path

from .._common.config import read_config
from ..errors import Unreadable
from .environment import effective


@dataclass(frozen=True)
class Zone:
    """``tz`` works always; ``name`` is for people; ``problem`` says why it may not be the right one."""

    tz: tzinfo
    name: str
    problem: str | None = None


class ServerZone(tzinfo):
    """The server's own zone. The host plans in it with the offset of the moment: see schedules.py."""

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        return None if dt is None else _local(dt).utcoffset()

    def dst(self, dt: datetime | None) -> timedelta | None:
        if dt is None:
            return None
        summer = time.localtime(_local(dt).timestamp()).tm_isdst > 0
        standard = timedelta(seconds=-time.timezone)
        return (self.utcoffset(dt) or timedelta(0)) - standard if summer else timedelta(0)

    def tzname(self, dt: datetime | None) -> str | None:
        return None if dt is None else _local(dt).tzname()

    def fromutc(self, dt: datetime) -> datetime:
        at = dt.replace(tzinfo=timezone.utc).timestamp()
        return datetime.fromtimestamp(at).replace(tzinfo=self)

    def __repr__(self) -> str:
        return "ServerZone()"


SERVER = ServerZone()


def zone(home: Path) -> Zone:
    """The zone in which the gateway of `home` plans its jobs. Never raises; a name nobody knows is a problem.

    The gateway puts `timezone:` of config.yaml over HERMES_TIMEZONE; the command line does it the other way
    round, so that both set and different is a problem too.
    """
    config = read_config(home)
    value = config.get("timezone")
    written = value.strip() if isinstance(value, str) else ""
    problem = None if config.known else config.problem
    try:
        exported = (effective("HERMES_TIMEZONE", home) or "").strip()
    except Unreadable as error:
        exported, problem = "", str(error)
    if written and exported and written != exported:
        problem = (
            f"HERMES_TIMEZONE is {exported[:60]} and timezone: in config.yaml is {written[:60]}: the gateway "
            "runs jobs by the second, `hermes cron` shows and takes times by the first"
        )
    name = written or exported
    if not name:
        return Zone(SERVER, server_name(), problem)
    from zoneinfo import ZoneInfo

    try:
        return Zone(ZoneInfo(name), name, problem)
    except (KeyError, ValueError, OSError):
        wrong = f"no time zone is called {name[:60]!r}; the host goes on in the server's own"
        return Zone(SERVER, server_name(), wrong)


def server_name() -> str:
    """What the server's zone is called: "Europe/Berlin", or its abbreviation when only that is known."""
    named = os.environ.get("TZ", "").lstrip(":")
    if not named:
        link = os.path.realpath("/etc/localtime")
        named = link.partition("/zoneinfo/")[2]
    if "/" in named and not named.startswith("/"):
        return named
    return time.tzname[0]


def host_time(value: object) -> float | None:
    """Seconds since the epoch of a time stored by the host; one without offset is in the server's zone.

    None: no time, as the host too drops what is not ISO text.
    """
    if not isinstance(value, str):
        return None
    try:
        return datetime.fromisoformat(value).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _local(dt: datetime) -> datetime:
    return dt.replace(tzinfo=None).astimezone()
