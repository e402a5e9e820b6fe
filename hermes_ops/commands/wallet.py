"""`hermes ops wallet`: what is left, what it costs, who spends it; `wallet history`: day by day."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo
from itertools import pairwise
from typing import Any

from .._common.command_line import UsageError
from .._common.home import hermes_home
from ..core.finding import DAY, HOUR, Finding
from ..core.moment import show, span
from ..core.watch import Context
from ..speak import say, say_json

LONGEST_HISTORY = 400


def add_arguments(parser: Any) -> None:
    parser.add_argument("what", nargs="?", choices=("now", "history"), default="now", help="default: now")
    parser.add_argument("--days", type=float, default=14.0, metavar="N", help="of history (default 14)")
    parser.add_argument("--json", action="store_true", help="print one JSON object; unknown is null")


def run(arguments: Any) -> int:
    import time

    context = Context(hermes_home(), time.time())
    try:
        if arguments.what == "history":
            if not 0 < arguments.days <= LONGEST_HISTORY:
                raise UsageError(f"--days: expected a number up to {LONGEST_HISTORY}")
            return _history(context, arguments.days, arguments.json)
        return _now(context, arguments.json)
    finally:
        context.close()


def _now(context: Context, as_json: bool) -> int:
    from ..spend.wallet import examine

    examined = examine(context, who=lambda state: True)
    reading = examined.reading(context)
    blind = {one.key: one.text for one in reading.blind}
    zone = context.zone
    if as_json:
        say_json(
            {
                "home": str(context.home),
                "zone": zone.name,
                "accounts": [_as_dict(state) for state in examined.states],
                "findings": [finding.as_dict() for finding in reading.findings],
                "blind": [{"key": key, "text": text} for key, text in sorted(blind.items())],
            }
        )
    else:
        for state in examined.states:
            for line in _lines(state, zone.tz):
                say(line)
        for line in _wrong(reading.findings):
            say(line)
        for text in blind.values():
            say(f"blind: {text}")
    return 1 if reading.findings or blind else 0


def _as_dict(state: Any) -> dict[str, Any]:
    account, burn, left = state.watched.account, state.burn, state.left
    return {
        "name": account.name,
        "provider": account.provider,
        "account": account.id,
        "key_from": state.watched.key_from,
        "currency": account.currency,
        "floor": state.watched.floor,
        "daily_burn": state.watched.daily_burn,
        "left": left.amount if left else None,
        "usable": left.usable if left else None,
        "note": left.note if left else "",
        "problem": state.problem,
        "read_at": state.read_at,
        "burn": None
        if burn is None
        else {
            "since": burn.since,
            "today": _round(burn.today),
            "24h": _round(burn.day),
            "7d": _round(burn.week),
            "per_hour": None if burn.pace is None else _round(burn.pace * HOUR),
            "empty_in_hours": None if burn.empty_in is None else round(burn.empty_in / HOUR, 2),
            "burst": None
            if burn.burst is None
            else {"woke": burn.burst.woke, "amount": _round(burn.burst.amount), "slept": burn.burst.slept},
            "slow": None
            if burn.slow is None
            else {"now": _round(burn.slow.now), "before": _round(burn.slow.before), "days": burn.slow.days},
            "rises": [
                {"since": one.since, "until": one.until, "rose": _round(-one.fell)} for one in burn.rises
            ],
        },
        "burners": None
        if state.burners is None
        else [
            {
                "label": one.label,
                "usd": one.usd,
                "tokens": one.tokens,
                "share": round(one.share, 4),
                "command": one.command,
                "lower_bound": one.unknown,
            }
            for one in state.burners
        ],
    }


def _lines(state: Any, zone: tzinfo) -> Iterator[str]:
    from ..spend.wallet_findings import used

    account, burn = state.watched.account, state.burn
    left = f"{state.left.amount:.2f} {account.currency} left" if state.left else "unknown"
    note = f" ({state.left.note})" if state.left and state.left.note else ""
    yield f"{account.name}: {left}{note}, floor {state.watched.floor:.2f}; key from {state.watched.key_from}"
    if burn is None:
        yield f"  spent   unknown: {state.problem}"
    else:
        limit = f"the limit is {state.watched.daily_burn:.2f} a day"
        yield f"  spent   {burn.today:.2f} today, {burn.day:.2f} in 24 h, {burn.week:.2f} in 7 days; {limit}"
        yield f"          known since {show(burn.since, zone)}"
        if burn.pace is None:
            yield "  pace    not known yet"
        else:
            empty = "" if burn.empty_in is None else f", empty in about {span(burn.empty_in)}"
            yield f"  pace    {burn.pace * HOUR:.3f} an hour{empty}"
        for one in burn.rises:
            yield f"  rose    {-one.fell:.2f} by {show(one.until, zone)}"
    if not state.burners:
        yield f"  who     {state.who}"
    for one in state.burners or ():
        yield f"  who     {one.label}: {used(one)}, {one.share:.0%} of 24 h"
        yield f"          to stop it: {one.command}"


def _wrong(findings: tuple[Finding, ...]) -> Iterator[str]:
    for finding in findings:
        yield f"{finding.severity}: {finding.where}: {finding.text}"
        if finding.fix:
            yield f"  fix: {finding.fix}"


def _history(context: Context, days: float, as_json: bool) -> int:
    from ..core.render import Table, as_text

    rows = _days(context, days)
    if as_json:
        say_json({"home": str(context.home), "zone": context.zone.name, "days": rows})
        return 0
    if not rows:
        say("No balance was read yet: hermes ops wallet")
        return 0
    table = Table(
        ("account", "day", "readings", "spent", "rose", "left"),
        tuple(
            (
                row["name"],
                row["day"],
                str(row["readings"]),
                f"{row['spent']:.2f}",
                f"{row['rose']:.2f}" if row["rose"] else "",
                "unknown" if row["left"] is None else f"{row['left']:.2f} {row['currency']}",
            )
            for row in rows
        ),
        frozenset({"readings", "spent", "rose", "left"}),
    )
    for line in as_text(table).splitlines():
        say(line)
    return 0


def _days(context: Context, days: float) -> list[dict[str, Any]]:
    """What was spent on each day, by account, from our own readings; no provider is asked."""
    from ..core.ledger_spent import day_bounds
    from ..core.moment import day
    from ..spend.accounts import configured
    from ..spend.burn import Seen, fallen, ordered_times, steps

    ledger, zone = context.ledger(), context.zone.tz
    since = context.now - days * DAY
    names = {one.account.id: one.account.name for one in configured(context).watched}
    awake = ledger.snapshots()
    rows = []
    for provider, account in ledger.accounts():
        stored = ledger.balances(provider, account, since)
        for currency in sorted({one.currency for one in stored}):
            seen = [Seen(one.at, one.amount) for one in stored if one.currency == currency]
            times, _ = ordered_times([one.at for one in seen], context.now)
            done = steps(seen, times, awake)
            bounds = day_bounds(max(times[0], since), context.now, zone)
            for begin, end in pairwise(bounds):
                inside = [one for one, at in zip(seen, times, strict=True) if begin <= at < end]
                rose = sum(-step.fell for step in done if step.fell < 0 and begin <= step.until < end)
                rows.append(
                    {
                        "name": names.get(account, f"{provider} {account}"),
                        "provider": provider,
                        "account": account,
                        "currency": currency,
                        "day": day(begin, zone),
                        "readings": len(inside),
                        "spent": _round(fallen(done, begin, min(end, context.now))),
                        "rose": _round(rose),
                        "left": inside[-1].amount if inside else None,
                    }
                )
    return rows


def _round(amount: float) -> float:
    return round(amount, 6)
