"""What `hermes ops`, `hermes ops status` and /ops show: open incidents, and the watchers' last runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any

from .core.incident import Incident, Incidents, as_dict
from .core.moment import show, span
from .core.run import last_run
from .core.watch import WATCHERS
from .host.zone import zone
from .install import installed

LATE = 2.5  # periods of a watcher after which it counts as not running
AHEAD = 120.0  # seconds that a stamp may be ahead of the clock


@dataclass(frozen=True)
class WatcherRow:
    """One watcher: its job, when it ran, whether that is recent enough."""

    name: str
    job_id: str | None
    last_run: float | None
    last_ok: float | None
    error: str | None
    late: bool

    @property
    def wrong(self) -> bool:
        """Whether nothing can be concluded from its silence."""
        return self.job_id is not None and (self.late or self.error is not None)

    def state(self, now: float) -> str:
        if self.job_id is None and self.last_run is None:
            return "not installed"
        if self.last_run is None:
            return "has not run since it was installed: LATE" if self.late else "never ran yet"
        if self.last_run > now + AHEAD:
            return "its last run is dated in the future: LATE"
        ago = f"ran {span(max(0.0, now - self.last_run))} ago"
        if self.error:
            return f"{ago}, failed: {self.error}"
        return f"{ago}, LATE" if self.late else ago


@dataclass(frozen=True)
class Overview:
    """Everything at a glance, as of ``now``."""

    home: Path
    now: float
    zone: tzinfo
    incidents: tuple[Incident, ...]
    watchers: tuple[WatcherRow, ...]

    @property
    def deaf(self) -> tuple[WatcherRow, ...]:
        """The installed watchers that do not look."""
        return tuple(row for row in self.watchers if row.wrong)

    @property
    def well(self) -> bool:
        return not self.incidents and not self.deaf and self._looked

    @property
    def _looked(self) -> bool:
        """Whether an installed watcher has run at all."""
        return any(row.job_id is not None and row.last_run is not None for row in self.watchers)

    def lines(self) -> list[str]:
        said = []
        if self.deaf:
            names = ", ".join(row.name for row in self.deaf)
            said.append(
                f"NOT KNOWN: {names} do not look, so what follows is not the whole; hermes ops doctor"
            )
        for incident in self.incidents:
            since = show(incident.opened_at or incident.first_seen, self.zone)
            noted = "" if incident.state == "open" else f" [{incident.state}]"
            said.append(
                f"{incident.severity.upper()}{noted} {_where(incident)}{incident.text} (since {since})"
            )
            said.append(f"  {incident.id}" + (f"; {incident.fix}" if incident.fix else ""))
        if self.well:
            said.append("Nothing is wrong that the watchers know of.")
        elif not self.incidents and not self._looked:
            said.append("Nothing is known: no watcher has looked yet.")
        if all(row.job_id is None and row.last_run is None for row in self.watchers):
            return [*said, f"No watcher is installed in {self.home}: hermes ops install --deliver TARGET"]
        return [*said, *(f"{row.name:<12}{row.state(self.now)}" for row in self.watchers)]

    def as_dict(self) -> dict[str, Any]:
        return {
            "home": str(self.home),
            "well": self.well,
            "incidents": [as_dict(incident) for incident in self.incidents],
            "watchers": [
                {
                    "name": row.name,
                    "job": row.job_id,
                    "last_run": row.last_run,
                    "last_ok": row.last_ok,
                    "error": row.error,
                    "late": row.late,
                }
                for row in self.watchers
            ],
        }


def _where(incident: Incident) -> str:
    return f"{incident.where}: " if incident.where else ""


def look(home: Path, now: float) -> Overview:
    """Read what the watchers left; nothing of the host's is opened but its zone."""
    jobs = installed(home)
    rows = []
    for watcher in WATCHERS:
        found = last_run(home, watcher.name)
        ran = found.last_run
        rows.append(
            WatcherRow(
                watcher.name,
                jobs.get(watcher.name),
                ran,
                found.last_ok,
                found.error,
                _is_late(ran if ran is not None else _installed_at(home), now, watcher.period),
            )
        )
    open_now = tuple(one for one in Incidents(home).all() if one.state in ("open", "acknowledged"))
    return Overview(home, now, zone(home).tz, open_now, tuple(rows))


def _is_late(since: float | None, now: float, period: float) -> bool:
    return since is not None and (now - since > LATE * period or since > now + AHEAD)


def _installed_at(home: Path) -> float | None:
    """When something was last installed: a watcher that has not run since then is late as well."""
    try:
        return (home / "ops" / "install.json").stat().st_mtime
    except OSError:
        return None
