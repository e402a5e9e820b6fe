"""The run ledger: our own append-only copy of what the host forgets or keeps only as running totals.

`<home>/ops/ledger.db`. The host keeps 1,000 runs over all jobs, 50 outputs a job, the last delivery error
alone, and lifetime totals of tokens; what a day cost is the difference of two of our snapshots.
The parts: ledger_store (the file), ledger_runs, ledger_difference and ledger_usage, ledger_spent (questions),
ledger_balances.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from .._common.files import FileLock
from ..errors import Unreadable
from ..host.profiles import DEFAULT, Profile, profiles
from ..host.zone import zone
from . import ledger_balances, ledger_spent, ledger_store
from .finding import DAY, Blind
from .ledger_balances import Balance
from .ledger_difference import Days
from .ledger_runs import Run, collect_runs, stored_runs
from .ledger_spent import Spent, Unplaced
from .ledger_usage import Counted, Gone, collect_usage

__all__ = ["Balance", "Collected", "Ledger", "Run", "Spent", "Unplaced"]

KEPT_SNAPSHOTS = 1000
PATIENCE = 2.0  # seconds to wait for another process that collects
DELETED = 7 * DAY  # after which a profile without a folder is taken for one that somebody deleted
NO_FOLDER = (
    "its folder was there before and is gone; what was used since it was last looked at is not known"
    " (7 days later it counts as deleted)"
)
COPIES = "hermes ops backup list"
BAD_SHARE = 0.05  # of rows without usable numbers, above which sums are not to be relied on


@dataclass(frozen=True)
class Collected:
    """What one collection added, and what it could not read.

    ``blind`` has keys "ledger", "runs/<profile>/...", "usage/<profile>"; `covers` is "" (everything): whoever
    knows better narrows it. ``bad`` rows held no usable numbers, ``future`` ones a stamp ahead of the clock,
    ``resets`` totals that went down: all of them are left out. From ``unseen_since`` on the use of some
    profile is not known, because it cannot be read any more (0.0: it never was read); None: all was read.
    """

    runs: int
    usage_rows: int
    blind: tuple[Blind, ...]
    first: bool  # whether this was the first snapshot: totals are known, no differences yet
    bad: int = 0
    future: int = 0
    resets: int = 0
    unseen_since: float | None = None

    def unseen(self, since: float, until: float) -> bool:
        """Whether something that was used in that time may not have been seen."""
        return self.unseen_since is not None and until > max(since, self.unseen_since)


class Ledger:
    """Opened by `Ledger.open`; safe for several processes at once. ``problem``: what opening it met."""

    def __init__(self, home: Path, path: Path, connection: sqlite3.Connection, problem: str | None) -> None:
        self.home, self.path, self.problem = home, path, problem
        self._connection = connection

    @classmethod
    def open(cls, home: Path) -> Ledger:
        """Open or make `<home>/ops/ledger.db` (0600). A damaged one is set aside, and `problem` says so.

        Raises Unreadable.
        """
        path = ledger_store.path_of(home)
        connection, problem = ledger_store.open_store(path)
        return cls(home, path, connection, problem)

    def close(self) -> None:
        self._connection.close()

    def collect(self, now: float) -> Collected:
        """Copy what is new in every profile: runs with their outputs and deliveries, and usage differences.

        One process at a time does it; another that comes meanwhile waits up to two seconds, then goes on
        without (`blind` says so). Never raises for what the host's files are like.
        """
        blind = [Blind("ledger", self.problem)] if self.problem else []
        self.problem = None
        lock = FileLock(self.path.with_name("ledger.lock"))
        try:
            taken = lock.acquire(PATIENCE)
        except OSError as error:
            return Collected(0, 0, (*blind, Blind("ledger", f"{lock.path}: {error.strerror}")), False)
        if not taken:
            said = f"{self.path}: process {lock.holder()} is collecting; what is newest is not in yet"
            return Collected(0, 0, (*blind, Blind("ledger", said, holds=3)), False)
        try:
            return self._collect(now, blind)
        finally:
            lock.release()

    def runs(
        self, since: float, until: float, *, profile: str | None = None, job_id: str | None = None
    ) -> list[Run]:
        """The runs claimed in [since, until), oldest first."""
        with self._used() as connection:
            return stored_runs(connection, since, until, profile, job_id)

    def spent(self, by: Sequence[str], since: float, until: float) -> list[Spent]:
        """Use in [since, until) grouped by columns of GROUPS, the largest sum first.

        profile, session, root, job, source, model, provider, task, price. Sub-agents and continuations count
        for the root session, its source and its job. A window of use counts where its middle lies.
        """
        with self._used() as connection:
            return ledger_spent.spent(connection, by, since, until)

    def spent_by_day(
        self, by: Sequence[str], since: float, until: float, zone: tzinfo
    ) -> list[tuple[str, Spent]]:
        """The same for each day ("2026-11-29") in `zone`. Use that belongs to no one day is under ""."""
        with self._used() as connection:
            return ledger_spent.spent_by_day(connection, by, since, until, zone)

    def unplaced(self, since: float, until: float) -> Unplaced:
        """What was used before the first snapshot and cannot be put on a day: not 0, not known."""
        with self._used() as connection:
            return ledger_spent.unplaced(connection, since, until)

    def snapshots(self) -> list[float]:
        """The times of the collections kept, oldest first (at most the newest 1,000)."""
        with self._used() as connection:
            return [row[0] for row in connection.execute("SELECT at FROM snapshot ORDER BY rowid")]

    def began(self) -> float | None:
        """When the use of a profile was first read; None: never."""
        with self._used() as connection:
            row = connection.execute("SELECT CAST(value AS REAL) FROM meta WHERE key='began'").fetchone()
        return None if row is None else float(row[0])

    def record_balance(self, balance: Balance) -> None:
        with self._used() as connection:
            ledger_balances.record(connection, balance)

    def balances(self, provider: str, account: str, since: float) -> list[Balance]:
        """The readings from `since` on, in the order in which they were made, and the last one before it."""
        with self._used() as connection:
            return ledger_balances.stored(connection, provider, account, since)

    def latest_balances(self, provider: str, account: str, currency: str, count: int) -> list[Balance]:
        """The newest readings in one currency, in the order in which they were made, whatever their times."""
        with self._used() as connection:
            return ledger_balances.latest(connection, provider, account, currency, count)

    def accounts(self) -> list[tuple[str, str]]:
        """Every (provider, account) of which there is a balance."""
        with self._used() as connection:
            return ledger_balances.accounts(connection)

    @contextmanager
    def _used(self) -> Iterator[sqlite3.Connection]:
        """The connection; a ledger that turns out to be damaged is set aside for the sake of the next run."""
        try:
            with ledger_store.sound(self.path):
                yield self._connection
        except ledger_store.Damaged as error:
            raise self._give_up(error) from error

    def _give_up(self, error: ledger_store.Damaged) -> Unreadable:
        self._connection.close()
        aside = ledger_store.set_aside(self.path)
        return Unreadable(self.path, f"{error.why}; it is now {aside.name}, the next run begins anew")

    def _collect(self, now: float, blind: list[Blind]) -> Collected:
        runs, counted, first = 0, Counted(), False
        days = Days(zone(self.home).tz)
        found = self._profiles(blind)
        try:
            looked_at = self._looked_at()
        except Unreadable as error:
            return Collected(0, 0, (*blind, Blind("ledger", str(error))), False, unseen_since=0.0)
        gone = _without_folder(found, looked_at, now)
        blind += [Blind(f"usage/{name}", f"use of profile {name}: {NO_FOLDER}", fix=COPIES) for name in gone]
        unread = [looked_at[name] for name in gone]
        for profile in found or [Profile(DEFAULT, self.home)]:
            try:
                added, unseen = collect_runs(self._connection, self.path, profile)
                runs += added
                blind += unseen
                use = collect_usage(self._connection, self.path, profile, now, days)
            except ledger_store.Damaged as error:
                return Collected(runs, 0, (*blind, Blind("ledger", str(self._give_up(error)))), False)
            except Unreadable as error:
                if error.source == str(self.path):  # locked: whatever comes next would wait as long again
                    blind.append(Blind("ledger", str(error)))
                    since = min(looked_at.values(), default=0.0)
                    return Collected(runs, 0, tuple(blind), False, unseen_since=since)
                blind.append(_unread(profile, error))
                unread.append(looked_at.get(profile.name, 0.0))
                continue
            blind += _loud(profile.name, use)
            first = first or use.first
            for name in ("read", "grown", "bad", "future", "resets"):
                setattr(counted, name, getattr(counted, name) + getattr(use, name))
        try:
            self._remember(now, runs, counted)
            looked_at = self._looked_at()
        except Unreadable as error:
            blind.append(Blind("ledger", str(error)))
        return Collected(
            runs,
            counted.grown,
            tuple(blind),
            first,
            counted.bad,
            counted.future,
            counted.resets,
            min(unread, default=None if looked_at else 0.0),
        )

    def _looked_at(self) -> dict[str, float]:
        """When each profile's use was last read."""
        with self._used() as connection:
            return dict(connection.execute("SELECT name, usage_at FROM profile"))

    def _profiles(self, blind: list[Blind]) -> list[Profile]:
        """The profiles; none when they cannot be listed."""
        try:
            return profiles(self.home)
        except Unreadable as error:
            blind.append(Blind("ledger", f"only the home itself is read: {error}"))
            return []

    def _remember(self, now: float, runs: int, use: Counted) -> None:
        with self._used() as connection, ledger_store.writing(connection):
            connection.execute(
                "INSERT INTO snapshot VALUES(?, ?, ?, ?, ?, ?)",
                (now, runs, use.grown, use.bad, use.future, use.resets),
            )
            connection.execute(
                "INSERT OR IGNORE INTO meta SELECT 'began', MIN(at) FROM snapshot"
                " WHERE EXISTS(SELECT 1 FROM profile)"
            )
            connection.execute(
                "DELETE FROM snapshot WHERE rowid <= (SELECT MAX(rowid) FROM snapshot) - ?", (KEPT_SNAPSHOTS,)
            )


def nothing_recorded(home: Path) -> str:
    """What to say of a home in which the use of no profile was ever read."""
    return f"{home}: nothing was ever recorded here (no profile has a state.db); what was used is unknown"


def _without_folder(found: list[Profile], looked_at: dict[str, float], now: float) -> list[str]:
    """The profiles that were read lately and are not there any more; none while they cannot be listed."""
    there = {profile.name for profile in found}
    return [name for name, at in looked_at.items() if there and name not in there and now - at < DELETED]


def _unread(profile: Profile, error: Unreadable) -> Blind:
    text = f"use of profile {profile.name}: {error}"
    return Blind(f"usage/{profile.name}", text, fix=COPIES if isinstance(error, Gone) else "")


def _loud(profile: str, use: Counted) -> list[Blind]:
    """A profile whose rows are bad in more than a few cases: its sums are no ground to act on."""
    if use.bad <= use.read * BAD_SHARE:
        return []
    text = f"use of profile {profile}: {use.bad} of {use.read} rows hold no usable numbers"
    return [Blind(f"usage/{profile}", f"{text} ({', '.join(use.examples)})")]
