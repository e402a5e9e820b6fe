"""The wallet watcher: what is left at the provider, how fast it goes, and who spends it.

The balance is the fact; prices are only asked for who spends. Every run reads it once, writes it down, and
sums up what fell. A balance that cannot be read is not a healthy one: after three runs it is an incident.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from .._common.files import FileLock
from ..core.finding import DAY, Blind, Reading
from ..core.ledger import Balance, Ledger
from ..core.watch import Context
from ..errors import OpsError, Unreadable
from .accounts import OPTIONS, Wallet, Watched, configured
from .balances import Left, read_balance
from .burn import CATCH_UP, KEPT_READINGS, Burn, Seen, burn
from .wallet_findings import BLIND_AFTER, State, is_telling, judge, of_settings

__all__ = ["OPTIONS", "Examined", "examine", "watch"]

_LOCK_SECONDS = 40.0


@dataclass(frozen=True)
class Examined:
    """All accounts, what is set, and what of our own could not be read."""

    wallet: Wallet
    states: tuple[State, ...]
    blind: tuple[Blind, ...]
    profile: str

    def reading(self, context: Context) -> Reading:
        """What is wrong, and what happened."""
        found = Reading.of(blind=self.blind)
        zone = context.zone.tz
        for state in self.states:
            found += judge(state, zone)
        return found + of_settings(self.wallet, self.profile)


def watch(context: Context) -> Reading:
    """One run: read every balance, write it down, judge. Over the network it asks the providers alone."""
    return examine(context).reading(context)


def examine(context: Context, who: Callable[[State], bool] = is_telling) -> Examined:
    """Read every account and sum up its history; ``who`` tells for which accounts the spenders are asked."""
    profile = context.home.name if context.home.parent.name == "profiles" else "default"
    wallet = configured(context)
    ledger, why, blind = _ledger(context)
    states = []
    for watched in wallet.watched:
        state = _read(context, watched, f"{profile}/{watched.account.name}", wallet.timeout, ledger)
        if ledger is None and not state.problem:
            state = replace(state, problem=why)
        states.append(_with_burners(context, state, ledger) if ledger and who(state) else state)
    return Examined(wallet, tuple(states), tuple(blind), profile)


def _ledger(context: Context) -> tuple[Ledger | None, str, list[Blind]]:
    """The ledger with what is new in it, or None and why. What it cannot see hides no balance."""
    try:
        ledger = context.ledger()
        collected = ledger.collect(context.now)
    except (OpsError, OSError) as error:
        return None, str(error), []
    found = []
    for blind in collected.blind:
        # Without its past an account that burns would seem to have stopped.
        covers = "wallet." if blind.key == "ledger" else "wallet.who:"
        holds = max(BLIND_AFTER, blind.holds)
        found.append(Blind(f"wallet/{blind.key}", blind.text, covers, holds, blind.fix))
    return ledger, "", found


def _read(context: Context, watched: Watched, key: str, timeout: float, ledger: Ledger | None) -> State:
    """Read one balance, write it down, sum up; two runs at once do so one after the other."""
    left, problem, seen = None, "", None
    lock = FileLock(context.state / "wallet.lock")
    try:
        held = ledger is not None and lock.acquire(_LOCK_SECONDS)
    except OSError:
        held = False
    try:
        left = read_balance(watched.account, timeout)
    except Unreadable as error:
        problem = str(error)
    try:
        if ledger is not None:
            seen = _remember(ledger, watched, left if held else None, context.now)
    except (Unreadable, OSError) as error:
        problem, ledger = problem or str(error), None
    finally:
        if held:
            lock.release()
    if ledger is None or seen is None:
        return State(watched, key, left, problem, context.now if left is not None else None)
    readings, awake = seen
    at = readings[-1].at if readings else None
    if left is not None and at != context.now:
        readings, at = [*readings, Seen(context.now, left.amount)], context.now
    summed = burn(readings, awake, context.now, context.zone.tz)
    return State(watched, key, left, problem, at, summed, _runs(ledger, summed))


def _remember(
    ledger: Ledger, watched: Watched, left: Left | None, now: float
) -> tuple[list[Seen], list[float]]:
    """Write a reading down; returns the readings of the last weeks, and when this machine was awake."""
    account = watched.account
    if left is not None:
        ledger.record_balance(Balance(now, account.provider, account.id, left.amount, left.currency))
    readings = ledger.latest_balances(account.provider, account.id, account.currency, KEPT_READINGS)
    return [Seen(one.at, one.amount) for one in readings], ledger.snapshots()


def _runs(ledger: Ledger, summed: Burn | None) -> int | None:
    """How many runs of jobs began while they caught up."""
    if summed is None or summed.burst is None:
        return None
    woke = summed.burst.woke
    try:
        return len(ledger.runs(woke - 120.0, woke + CATCH_UP))
    except (Unreadable, OSError):
        return None


def _with_burners(context: Context, state: State, ledger: Ledger) -> State:
    """Who used the most in the time whose burn is known: the last 24 hours, or since the first reading."""
    from .attribution import top_burners

    since = context.now - DAY if state.burn is None else max(context.now - DAY, state.burn.since)
    try:
        found = top_burners(ledger, context, since, context.now + 1.0)
    except (OpsError, OSError) as error:
        return replace(state, who=f"not known: {error}")
    return replace(state, burners=tuple(found))
