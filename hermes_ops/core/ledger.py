"""The run ledger: our own append-only copy of what the host forgets or keeps only as running totals.

`<home>/ops/ledger.db`. The host keeps 1,000 runs over all jobs, 50 outputs a job, the last delivery error
alone, and lifetime totals of tokens; what a day cost is the difference of two of our snapshots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .finding import Blind


@dataclass(frozen=True)
class Run:
    """One run of a job; times are seconds since the epoch.

    outcome   "said", "silent", "failed", "empty", "running", "unknown" (host/outputs.py, executions)
    delivery  "sent", "failed", "local" (nothing to send, by design), "silent", "unknown"
    targets   the deliver targets the job had then
    """

    profile: str
    job_id: str
    job_name: str
    execution_id: str
    source: str
    status: str
    claimed_at: float | None
    started_at: float | None
    finished_at: float | None
    error: str | None
    outcome: str
    response_chars: int
    output: str | None
    delivery: str
    delivery_error: str | None
    targets: tuple[str, ...]
    no_agent: bool


@dataclass(frozen=True)
class Spent:
    """Use between two snapshots, summed over a group.

    ``group`` are the values of the asked columns. ``usd`` is what is known; ``unknown_calls`` had no price (then
    the sum is a lower bound); ``included_tokens`` were covered by a plan and cost nothing extra.
    """

    group: tuple[str | None, ...]
    calls: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int
    usd: float
    unknown_calls: int
    included_tokens: int


@dataclass(frozen=True)
class Balance:
    """One reading of a provider's balance; ``account`` tells two keys apart without holding either."""

    at: float
    provider: str
    account: str
    amount: float
    currency: str


@dataclass(frozen=True)
class Collected:
    """What one collection added, and what it could not read."""

    runs: int
    usage_rows: int
    blind: tuple[Blind, ...]
    first: bool  # whether this was the first snapshot: totals are known, no differences yet


class Ledger:
    """Opened by `Ledger.open`; safe for several processes at once."""

    @classmethod
    def open(cls, home: Path) -> Ledger:
        """Open or make `<home>/ops/ledger.db` (0600). A damaged one is set aside under another name, and said.

        Raises Unreadable.
        """
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    def collect(self, now: float) -> Collected:
        """Copy what is new in every profile: runs with their outputs and deliveries, and usage differences.

        One process at a time does it; another that comes meanwhile waits up to two seconds, then goes on
        without (`blind` says so). Never raises for what the host's files are like.
        """
        raise NotImplementedError

    def runs(
        self, since: float, until: float, *, profile: str | None = None, job_id: str | None = None
    ) -> list[Run]:
        """The runs claimed in [since, until), oldest first."""
        raise NotImplementedError

    def spent(self, by: Sequence[str], since: float, until: float) -> list[Spent]:
        """Use in [since, until) grouped by columns: profile, session, root, job, source, model, provider, task.

        Sub-agents and continuations count for the root session and its job. Sorted by usd, largest first.
        """
        raise NotImplementedError

    def spent_by_day(
        self, by: Sequence[str], since: float, until: float, zone: object
    ) -> list[tuple[str, Spent]]:
        """The same for each day ("2026-11-29") in `zone` (a tzinfo). Use that belongs to no one day is under ""."""
        raise NotImplementedError

    def snapshots(self) -> list[float]:
        """The times of the collections kept, oldest first (at most the newest 1,000)."""
        raise NotImplementedError

    def record_balance(self, balance: Balance) -> None:
        raise NotImplementedError

    def balances(self, provider: str, account: str, since: float) -> list[Balance]:
        """The readings from `since` on, oldest first, and the last one before it."""
        raise NotImplementedError
