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


@dataclass(frozen=True)
class WatcherRow:
    """One watcher: its job, when it ran, whether that is recent enough."""

    name: str
    job_id: str | None
    last_run: float | None
    last_ok: float | None
    error: str | None
    late: bool

    def state(self, now: float) -> str:
        if self.job_id is None and self.last_run is None:
            return "not installed"
        if self.last_run is None:
            return "never ran yet"
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

    def lines(self) -> list[str]:
        said = []
        for incident in self.incidents:
            since = show(incident.opened_at or incident.first_seen, self.zone)
            noted = "" if incident.state == "open" else f" [{incident.state}]"
            said.append(
                f"{incident.severity.upper()}{noted} {incident.where}: {incident.text} (since {since})"
            )
            said.append(f"  {incident.id}" + (f"; {incident.fix}" if incident.fix else ""))
        if not self.incidents:
            said.append("Nothing is wrong that the watchers know of.")
        if all(row.job_id is None and row.last_run is None for row in self.watchers):
            return [*said, f"No watcher is installed in {self.home}: hermes ops install --deliver TARGET"]
        return [*said, *(f"{row.name:<12}{row.state(self.now)}" for row in self.watchers)]

    def as_dict(self) -> dict[str, Any]:
        return {
            "home": str(self.home),
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
                ran is not None and watcher.name in jobs and now - ran > LATE * watcher.period,
            )
        )
    open_now = tuple(one for one in Incidents(home).all() if one.state in ("open", "acknowledged"))
    return Overview(home, now, zone(home).tz, open_now, tuple(rows))
