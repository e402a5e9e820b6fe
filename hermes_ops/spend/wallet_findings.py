"""What is wrong with an account, on plain values: the balance, what fell, the limits, who spends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING

from ..core.finding import DAY, HOUR, Blind, Event, Finding, Reading
from ..core.moment import show, span
from .accounts import Wallet, Watched
from .balances import Left
from .burn import Burn

if TYPE_CHECKING:
    from .attribution import Burner

BLIND_AFTER = 3  # runs in a row without a balance
SLOW_CLEARS = 48
CLEARS = 4  # runs below a limit of burn before it counts as over
MUCH = 3.0  # times the day's limit: critical
TOP_UP = 1.0  # a smaller rise is a credit or a refund
LEAST_RISE = 0.01
LEAST_SLOW = 0.2  # of the day's limit; less a day is not worth a word
RULES = ("wallet.low", "wallet.burn", "wallet.slow", "wallet.refused")
OF_HISTORY = ("wallet.burn", "wallet.slow")


@dataclass(frozen=True)
class State:
    """What is known of one account after a run.

    ``left`` None: not read now, for the reason in ``problem``; ``read_at`` is when it last was. ``burn``
    None: there is no history that can be read. ``runs`` of jobs began while they caught up after the machine
    slept; None: not known. ``burners`` None: not asked for, or not known for the reason in ``who``.
    """

    watched: Watched
    key: str
    left: Left | None
    problem: str = ""
    read_at: float | None = None
    burn: Burn | None = None
    runs: int | None = None
    burners: tuple[Burner, ...] | None = None
    who: str = "not known yet"

    @property
    def name(self) -> str:
        return self.watched.account.name


def judge(state: State, zone: tzinfo) -> Reading:
    """What is wrong with one account, and what happened to it."""
    events = _rises(state)
    if state.left is None:
        last = f"; it was last read {show(state.read_at, zone)}" if state.read_at is not None else ""
        text = f"{state.name}: the balance is not known: {state.problem}{last}"
        fix = f"check {state.watched.key_from} and ops.wallet: hermes ops wallet"
        return Reading.of(blind=_blind(state.key, text, RULES, fix, BLIND_AFTER), events=events)
    findings = (_refused(state), _low(state), _burning(state), _slowly(state))
    blind = []
    if state.burn is None:
        text = f"{state.name}: what is spent is not known: {state.problem}"
        blind = _blind(state.key, text, OF_HISTORY, "", BLIND_AFTER)
    return Reading.of([found for found in findings if found is not None], blind, events)


def of_settings(wallet: Wallet, profile: str) -> Reading:
    """What is wrong with the settings, or that there are none."""
    findings, blind = [], []
    for name, why, fix in wallet.unusable:
        text = f"{name}: the balance is not known: {why}"
        blind += _blind(f"{profile}/{name}", text, RULES, fix, 1)
    if wallet.problems:
        text = "; ".join(wallet.problems)
        findings.append(Finding("wallet.settings", "warning", "settings", text, profile, fix="correct them"))
    if not wallet.watched and not wallet.unusable:
        text = "no balance is watched: no key of a known provider is set"
        fix = "set DEEPSEEK_API_KEY, or WALLET_BALANCE_URL and WALLET_API_KEY, in .env"
        findings.append(Finding("wallet.unconfigured", "info", "wallet", text, profile, fix=fix, remind=None))
    return Reading.of(findings, blind)


def is_telling(state: State) -> bool:
    """Whether an alert about the account will name who spends."""
    return _low(state) is not None or _burning(state) is not None


def _blind(key: str, text: str, rules: tuple[str, ...], fix: str, holds: int) -> list[Blind]:
    """One blindness that covers several rules of one account."""
    return [Blind(f"wallet/{key}", text, f"{rule}:{key}", holds, fix) for rule in rules]


def _rises(state: State) -> list[Event]:
    events = []
    for step in state.burn.rises if state.burn is not None else ():
        rose = -step.fell
        if rose < LEAST_RISE:
            continue
        what = "topped up by" if rose >= TOP_UP else "a credit or refund of"
        text = f"{state.name}: {what} {_money(rose, state)}; {_money(state.burn.left, state)} left"
        events.append(Event(f"wallet.rise:{state.key}:{step.id:.0f}", text))
    return events


def _refused(state: State) -> Finding | None:
    if state.left is None or state.left.usable is not False:
        return None
    text = f"the provider says that no call is possible; {_money(state.left.amount, state)} left"
    return Finding("wallet.refused", "critical", state.name, text, state.key, fix="top up the account")


def _low(state: State) -> Finding | None:
    """Under the floor is a warning, under half of it an error, under a quarter critical."""
    floor = state.watched.floor
    if state.left is None or state.left.amount >= floor:
        return None
    amount = state.left.amount
    severity = "critical" if amount < floor / 4 else "error" if amount < floor / 2 else "warning"
    parts = [f"{_money(amount, state)} left, under the floor of {floor:.2f}"]
    spent = state.burn
    known = (state.read_at or 0.0) - spent.since if spent is not None else 0.0
    if spent is not None and known >= HOUR:
        length = "24 h" if known >= DAY else span(known)
        parts.append(f"{spent.day:.2f} spent in {length}{_empty(spent)}")
    if state.left.note:
        parts.append(state.left.note)
    text = f"{'; '.join(parts)}. {_who(state)}"
    return Finding(
        "wallet.low", severity, state.name, text, state.key, _evidence(state), _stop(state), clears=2
    )


def _burning(state: State) -> Finding | None:
    """More than the day's limit within 24 hours; right after waking it is a burst, which is less bad."""
    spent, limit = state.burn, state.watched.daily_burn
    if spent is None or state.left is None or limit <= 0 or spent.day < limit:
        return None
    text = (
        f"{_money(spent.day, state)} spent in 24 h ({spent.today:.2f} today), the limit is {limit:.2f} a day"
    )
    severity = "error"
    if spent.burst is not None:
        began = "" if state.runs is None else f" ({state.runs} runs began)"
        text += (
            f"; {spent.burst.amount:.2f} of it within 2 h after {span(spent.burst.slept)} of sleep: "
            f"a catch-up burst{began}, not a trend"
        )
        severity = "warning"
    severity = "critical" if spent.day >= MUCH * limit else severity
    text += f"; {_money(spent.left, state)} left{_empty(spent)}. {_who(state)}"
    return Finding(
        "wallet.burn", severity, state.name, text, state.key, _evidence(state), _stop(state), clears=CLEARS
    )


def _slowly(state: State) -> Finding | None:
    slow = state.burn.slow if state.burn is not None else None
    if slow is None or slow.now < LEAST_SLOW * state.watched.daily_burn:
        return None
    times = f"{slow.now / slow.before:.1f} times" if slow.before > 0 else "against"
    text = (
        f"{_money(slow.now, state)} a day in the last 7 days, {times} the {slow.before:.2f} a day "
        f"of the {slow.days} days before"
    )
    return Finding(
        "wallet.slow",
        "warning",
        state.name,
        text,
        state.key,
        fix="hermes ops costs",
        clears=SLOW_CLEARS,
        remind=7 * DAY,
    )


# --- words


def _money(amount: float, state: State) -> str:
    return f"{amount:.2f} {state.watched.account.currency}"


def _empty(spent: Burn) -> str:
    if spent.empty_in is None or spent.empty_in > 90 * DAY:
        return ""
    return f", empty in about {span(spent.empty_in)}"


def _who(state: State) -> str:
    if not state.burners:
        return f"Who: {state.who}"
    first = state.burners[0]
    return f"Most by {first.label} ({first.share:.0%})"


def _stop(state: State) -> str:
    return state.burners[0].command if state.burners else "hermes ops wallet"


def _evidence(state: State) -> tuple[str, ...]:
    lines = [
        f"{one.label}: {used(one)}, {one.share:.0%}; to stop it: {one.command}" for one in state.burners or ()
    ]
    if state.burn is not None and state.burn.rises:
        lines.append("the balance rose in between; what was spent at that moment does not show")
    return tuple(lines)


def used(one: Burner) -> str:
    """What a burner used, as far as it is known."""
    if one.usd is None:
        return f"{one.tokens:,} tokens without a price"
    return f"{'at least ' if one.unknown else ''}${one.usd:.2f}"
