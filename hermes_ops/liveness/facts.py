"""What one look at a gateway gathers, all of it bounded: files, the newest lines of one log, no network."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path

from .._common.config import read_config
from ..errors import Unreadable
from ..host.gateway import Gateway, process_facts, read_gateway
from ..host.logs import Record, recent
from ..host.ticker import Ticker, read_ticker
from .lease import Lease, host_lease, read_lease
from .service import Service


@dataclass(frozen=True)
class Limits:
    """The numbers of the verdict, in seconds; what they rest on is in docs/ops/supervise.md.

    heartbeat   age of the heartbeat that means frozen (the host writes one every 30 s)
    startup     a start may take this long after its back-off until the first heartbeat
    storm_*     the host's own rule: more starts than `storm_starts` within `storm_window` -> it sleeps
    lingering   a process that has shut down may take this long to end
    comeback    a planned restart may take this long
    ticker      age of the scheduler's heartbeat that is told; `ticker_restart`: that is worth a restart
    ticks       seconds without a tick that worked
    markers     how far back failed writes count; `failures` is how many are needed
    platform    how long a platform may be down
    flaps       starts within ten minutes that mean it keeps dying
    drain       how long a drain may last
    wake, grace own look further in the past than `wake` -> nothing is judged for `grace`
    """

    heartbeat: float = 300.0
    startup: float = 300.0
    storm_starts: int = 5
    storm_window: float = 120.0
    storm_cap: float = 300.0
    lingering: float = 30.0
    comeback: float = 120.0
    ticker: float = 300.0
    ticker_restart: float = 600.0
    ticks: float = 420.0
    markers: float = 240.0
    failures: int = 2
    platform: float = 420.0
    flaps: int = 4
    drain: float = 3600.0
    wake: float = 180.0
    grace: float = 120.0


@dataclass(frozen=True)
class Facts:
    """What is known at one moment.

    ticker           None: unknown
    records          records of errors.log of the last minutes
    store_written_at when state.db or its write-ahead log last changed
    other_scheduler  whether jobs are driven by something else than the gateway's own ticker, which is silent
    service          what the service manager says; None: nobody, or not asked
    lease            ours or the host's, that holds now; written_lease: ours, also when it is over
    """

    gateway: Gateway
    ticker: Ticker | None = None
    records: tuple[Record, ...] = ()
    store_written_at: float | None = None
    other_scheduler: bool = False
    service: Service | None = None
    lease: Lease | None = None
    written_lease: Lease | None = None
    problems: tuple[str, ...] = field(default=())


def read_facts(home: Path, now: float, limits: Limits, zone: tzinfo | None = None) -> Facts:
    """Look at `home`. Never raises: what cannot be read is in `problems` and counts as unknown."""
    gateway = read_gateway(home)
    problems = list(gateway.problems)
    try:
        ticker: Ticker | None = read_ticker(home)
    except Unreadable as error:
        ticker = None
        problems.append(str(error))
    written = None
    try:
        written = read_lease(home)
    except Unreadable as error:
        problems.append(str(error))
    lease = written if written is not None and written.active(now) else host_lease(gateway, now)
    return Facts(
        gateway,
        ticker,
        _records(home, gateway, now - limits.markers, zone, problems),
        _changed_at(home / "state.db", home / "state.db-wal"),
        _silent(ticker, now, limits) and _other_scheduler(home),
        None,
        lease,
        written,
        tuple(problems),
    )


def _records(
    home: Path, gateway: Gateway, since: float, zone: tzinfo | None, problems: list[str]
) -> tuple[Record, ...]:
    """The newest records of errors.log alone: what is in agent.log as well would count twice."""
    path = home / "logs" / "errors.log"
    if not path.exists():
        path = home / "logs" / "agent.log"
    changed_at = _changed_at(path)
    if changed_at is None or changed_at < since:
        return ()
    if zone is None and gateway.alive and gateway.pid:
        zone = _zone(process_facts(gateway.pid).get("TZ"))
    try:
        return tuple(recent(path, since, zone=zone))
    except Unreadable as error:
        problems.append(str(error))
        return ()


def _zone(name: str | None) -> tzinfo | None:
    if not name:
        return None
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name.removeprefix(":"))
    except (ValueError, OSError):
        return None


def _changed_at(*paths: Path) -> float | None:
    times = []
    for path in paths:
        try:
            times.append(path.stat().st_mtime)
        except OSError:
            continue
    return max(times, default=None)


def _silent(ticker: Ticker | None, now: float, limits: Limits) -> bool:
    """Whether the scheduler's files look as if it did not run; else its settings need not be read."""
    times = (ticker.heartbeat_at, ticker.success_at) if ticker is not None else ()
    return any(at is None or not now - limits.ticker <= at for at in times)


def _other_scheduler(home: Path) -> bool:
    provider = read_config(home).get("cron.provider")
    return isinstance(provider, str) and provider.strip().lower() not in (
        "",
        "builtin",
        "in-process",
        "inprocess",
    )
