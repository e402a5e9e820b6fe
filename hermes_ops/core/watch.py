"""The watchers: what they are called, when they run, and what they are given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..host.profiles import Profile
    from ..host.zone import Zone
    from .ledger import Ledger


@dataclass(frozen=True)
class Watcher:
    """A check that runs by itself.

    ``module`` (below hermes_ops) has a function ``watch(context) -> Reading``. ``schedule`` is what the
    host's `cron create` takes. ``minimal`` watchers are those of `install --minimal`.
    """

    name: str
    module: str
    schedule: str
    summary: str
    minimal: bool = False
    period: float = 86_400.0  # seconds between two runs, for whoever watches the watchers


WATCHERS = (
    Watcher("wallet", "spend.wallet", "every 30m", "balance and burn at the provider", True, 1800.0),
    Watcher("supervisor", "liveness.guard", "every 5m", "the gateway's supervisor runs", True, 300.0),
    Watcher("sweep", "schedule.sweep", "0 5 * * *", "jobs run when their schedule says"),
    Watcher("deliveries", "schedule.deliveries", "30 5 * * *", "what jobs said has arrived"),
    Watcher("budget", "spend.budget", "every 60m", "a day's spending stays under its cap", False, 3600.0),
    Watcher("thinking", "spend.thinking", "45 5 * * *", "reasoning stays under its cap"),
    Watcher("lint", "schedule.lint.watch", "15 5 * * *", "prompts and settings of jobs are sound"),
    Watcher("policy", "schedule.policy_check", "20 5 * * *", "jobs keep to the declared delivery policy"),
    Watcher("watchers", "schedule.watchers", "10 5 * * *", "every watcher runs and is itself watched"),
    Watcher("table", "schedule.table", "0 11 * * *", "the schedule is the one that was acknowledged"),
    Watcher("probes", "quality.probes", "55 * * * *", "declared checks hold", False, 3600.0),
    Watcher("guard", "guard.watch", "every 60m", "the guard is on, by an accepted policy", False, 3600.0),
    Watcher("janitor", "skillcheck.janitor", "50 5 * * 1", "skills are sound", False, 7 * 86_400.0),
    Watcher("backup", "liveness.backup", "20 4 * * *", "a copy of state.db is made and opens"),
)


def watcher(name: str) -> Watcher | None:
    """The watcher of that name."""
    return next((one for one in WATCHERS if one.name == name), None)


class Context:
    """What a watcher is given: the home, the time, and what it may ask for.

    home      the home this runs in; our own state lies in `state` below it
    now       seconds since the epoch
    profiles  every profile whose jobs and sessions are looked at
    zone      the configured zone of `home`
    """

    def __init__(self, home: Path, now: float) -> None:
        self.home, self.now = home, now
        self._ledger: Ledger | None = None

    @property
    def state(self) -> Path:
        """`<home>/ops`, not created by asking."""
        return self.home / "ops"

    @property
    def profiles(self) -> list[Profile]:
        from ..host.profiles import profiles

        return profiles(self.home)

    @property
    def zone(self) -> Zone:
        from ..host.zone import zone

        return zone(self.home)

    def ledger(self) -> Ledger:
        """The run ledger of this home, open until `close`."""
        if self._ledger is None:
            from .ledger import Ledger

            self._ledger = Ledger.open(self.home)
        return self._ledger

    def close(self) -> None:
        ledger, self._ledger = self._ledger, None
        if ledger is not None:
            ledger.close()
