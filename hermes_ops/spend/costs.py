"""What was spent: by day, provider, model, task, job and session, against what the balances say.

A report is plain values: the text, the JSON and the page are made of the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import tzinfo
from itertools import pairwise
from operator import attrgetter
from typing import Any

from ..core.finding import DAY
from ..core.ledger import Balance, Ledger, Spent
from ..core.ledger_spent import day_bounds
from ..core.moment import day, show

COLUMNS = ("provider", "model", "task")
GROUPS = ("day", *COLUMNS, "job", "session")
TOP = 10
WEEK = 7 * DAY
MAIN_TASK = "main"  # the host writes "" for the agent's own loop
NO_JOB = "no job"

NO_PRICE, IN_PLAN, NO_DAY = "no price", "in a plan", "not attributable to a day yet"
UNSEEN = "not seen"


@dataclass(frozen=True)
class Figure:
    """A sum with what is not known about it.

    usd           what is known, None when nothing is; `reason` then says why (no price, in a plan, no day,
                  not seen: then the counts are unknown too)
    at_least      the true sum is this or more
    tokens        all of them; reasoning is a part of output
    """

    usd: float | None = 0.0
    at_least: bool = False
    reason: str = ""
    calls: int = 0
    tokens: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    unknown_calls: int = 0
    included_tokens: int = 0

    def as_dict(self) -> dict[str, Any]:
        values = {**vars(self), "usd": rounded(self.usd)}
        if self.reason == UNSEEN:
            values |= {one.name: None for one in fields(self) if one.type == "int"}
        return values


@dataclass(frozen=True)
class Line:
    """One line of a group. ``name`` is the key (a date, a model, an id), ``label`` is for people."""

    name: str
    label: str
    figure: Figure
    details: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.name, "label": self.label, **self.details, **self.figure.as_dict()}


@dataclass(frozen=True)
class Group:
    """The largest lines, and the sum of the `hidden` others."""

    lines: tuple[Line, ...]
    rest: Figure | None = None
    hidden: int = 0

    def as_dict(self) -> dict[str, Any]:
        rest = None if self.rest is None else {"count": self.hidden, **self.rest.as_dict()}
        return {"rows": [line.as_dict() for line in self.lines], "rest": rest}


@dataclass(frozen=True)
class Measured:
    """A provider's balances between two readings against the estimate of the same time.

    ``fell`` is the sum of the falls (a top-up takes nothing back), ``rose`` of the rises. ``unexplained`` is
    what fell beyond the estimate; None when one of the two is not known in the same currency.
    """

    provider: str
    accounts: int
    currency: str
    since: float
    until: float
    fell: float
    rose: float
    estimated: Figure
    unexplained: float | None

    def as_dict(self) -> dict[str, Any]:
        return {
            **vars(self),
            "fell": rounded(self.fell),
            "rose": rounded(self.rose),
            "estimated": self.estimated.as_dict(),
            "unexplained": rounded(self.unexplained),
        }


@dataclass(frozen=True)
class Mover:
    """Something that cost more, or less, than in the week before."""

    kind: str
    label: str
    usd: float
    before: float
    at_least: bool

    def as_dict(self) -> dict[str, Any]:
        change = rounded(self.usd - self.before)
        return {**vars(self), "usd": rounded(self.usd), "before": rounded(self.before), "change": change}


@dataclass(frozen=True)
class Report:
    """All of it. ``source`` is what it was read from; ``lifetime`` has totals by session of one database.

    ``problems`` make the figures unfit to act on (something could not be read); ``notes`` do not.
    """

    source: str
    zone: str
    since: float
    until: float
    days: int
    snapshots: tuple[int, float | None, float | None]
    total: Figure
    no_day: Figure | None
    by_day: tuple[Line, ...]
    groups: Mapping[str, Group]
    unplaced_rows: int
    unplaced_sessions: int
    measured: tuple[Measured, ...] = ()
    movers: tuple[Mover, ...] = ()
    movers_unknown: str = ""
    lifetime: Mapping[str, Group] | None = None
    lifetime_total: Figure | None = None
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        count, first, last = self.snapshots
        lifetime = None
        if self.lifetime is not None and self.lifetime_total is not None:
            groups = {f"by_{name}": group.as_dict() for name, group in self.lifetime.items()}
            lifetime = {"total": self.lifetime_total.as_dict(), **groups}
        return {
            "source": self.source,
            "zone": self.zone,
            "since": self.since,
            "until": self.until,
            "days": self.days,
            "snapshots": {"count": count, "first": first, "last": last},
            "total": self.total.as_dict(),
            "no_day": None if self.no_day is None else self.no_day.as_dict(),
            "by_day": [line.as_dict() for line in self.by_day],
            **{f"by_{name}": group.as_dict() for name, group in self.groups.items()},
            "unplaced": {"rows": self.unplaced_rows, "sessions": self.unplaced_sessions},
            "measured": [one.as_dict() for one in self.measured],
            "movers": [one.as_dict() for one in self.movers],
            "movers_unknown": self.movers_unknown,
            "lifetime": lifetime,
            "problems": list(self.problems),
            "notes": list(self.notes),
        }


_sums = attrgetter(*(one.name for one in fields(Spent) if one.name != "group"))

# (kind, group) -> what it is called, and details for the JSON; kinds: "job" (profile, job id), "session"
# (profile, job id, root session, source)
Namer = Callable[[str, tuple[str | None, ...]], tuple[str, Mapping[str, Any]]]


def from_ledger(
    ledger: Ledger,
    now: float,
    days: int,
    zone: tzinfo,
    zone_name: str,
    namer: Namer,
    top: int = TOP,
    problems: Sequence[str] = (),
    notes: Sequence[str] = (),
    unseen: Callable[[float, float], bool] = lambda since, until: False,
) -> Report:
    """The report of the last `days` days of `zone`, today included. Raises Unreadable.

    ``unseen`` tells for a time whether something that was used in it may not have been seen.
    """
    until = now + 1.0  # use that was seen this very moment counts
    bounds = last_days(now, days, zone)
    since = bounds[0]
    daily: dict[str, list[Spent]] = {}
    for name, spent in ledger.spent_by_day(COLUMNS, since, until, zone):
        daily.setdefault(name, []).append(spent)
    everything = [spent for group in daily.values() for spent in group]
    unplaced = ledger.unplaced(since, until)
    snapshots = ledger.snapshots()
    began = ledger.began()
    by_day = []
    for start, end in zip(bounds, [*bounds[1:], until], strict=True):
        name = day(start, zone)
        unknown = ledger.unplaced(start, end)
        figure = summed(daily.get(name, ()), unknown.rows + unknown.windows)
        figure = as_seen(unless_early(figure, end, began), not unseen(start, end))
        by_day.append(Line(name, name, figure))
    sessions = ledger.spent(("profile", "job", "root", "source"), since, until)
    movers, movers_unknown = _movers(ledger, now, zone, namer, snapshots)
    return Report(
        source=str(ledger.path),
        zone=zone_name,
        since=since,
        until=now,
        days=days,
        snapshots=(len(snapshots), snapshots[0] if snapshots else None, snapshots[-1] if snapshots else None),
        total=as_seen(summed(everything, unplaced.rows), not unseen(since, until) and all_seen(by_day)),
        no_day=summed(daily[""]) if "" in daily else None,
        by_day=tuple(by_day),
        groups={
            **by_columns(everything, top),
            "job": named(by_job(sessions), "job", namer, top),
            "session": named(sessions, "session", namer, top),
        },
        unplaced_rows=unplaced.rows,
        unplaced_sessions=unplaced.sessions,
        measured=tuple(_measured(ledger, since)),
        movers=movers,
        movers_unknown=movers_unknown,
        problems=tuple(problems),
        notes=tuple(notes),
    )


def summed(spent: Iterable[Spent], unplaced: int = 0) -> Figure:
    """One figure of several sums; `unplaced` is how many others nobody can place in this time."""
    rows = list(spent)
    usd = sum(row.usd for row in rows)
    tokens = sum(map(tokens_of, rows))
    unknown = sum(row.unknown_calls for row in rows)
    included = sum(row.included_tokens for row in rows)
    reason = ""
    if usd <= 0:
        if unknown:
            reason = NO_PRICE
        elif included:
            reason = IN_PLAN
        elif unplaced and not tokens:
            reason = NO_DAY
    return Figure(
        usd=None if reason else usd,
        at_least=bool(unknown or unplaced),
        reason=reason,
        calls=sum(row.calls for row in rows),
        tokens=tokens,
        input=sum(row.input for row in rows),
        output=sum(row.output for row in rows),
        cache_read=sum(row.cache_read for row in rows),
        cache_write=sum(row.cache_write for row in rows),
        reasoning=sum(row.reasoning for row in rows),
        unknown_calls=unknown,
        included_tokens=included,
    )


def as_seen(figure: Figure, seen: bool = False) -> Figure:
    """A sum of a time of which not all was `seen` is a lower bound, and nothing is unknown then, not $0."""
    if seen:
        return figure
    if figure.reason or figure.usd or figure.calls or figure.tokens:
        return replace(figure, at_least=True)
    return replace(figure, usd=None, at_least=True, reason=UNSEEN)


def unless_early(figure: Figure, end: float, began: float | None) -> Figure:
    """The sum of a day that ended at `end`; a day before the first look is known by what is still there."""
    early = began is None or end <= began
    return as_seen(figure) if early and not (figure.usd or figure.calls or figure.tokens) else figure


def all_seen(by_day: Iterable[Line]) -> bool:
    """Whether there is no day of which nothing is known."""
    return all(line.figure.reason != UNSEEN for line in by_day)


def tokens_of(spent: Spent) -> int:
    """All tokens of a sum; reasoning is a part of output."""
    return spent.input + spent.output + spent.cache_read + spent.cache_write


def by_columns(spent: Sequence[Spent], top: int) -> dict[str, Group]:
    """Lines by each of COLUMNS, which are the parts of the groups; the dearest first, the rest as one sum."""
    found = {}
    for i, column in enumerate(COLUMNS):
        parts: dict[str, list[Spent]] = {}
        for row in spent:
            parts.setdefault(str(row.group[i] or ""), []).append(row)
        ordered = sorted(parts.items(), key=lambda part: rank(part[1], part[0]))
        empty = MAIN_TASK if column == "task" else "unknown"
        lines = tuple(Line(name, name or empty, summed(rows)) for name, rows in ordered[:top])
        found[column] = Group(lines, *_rest([rows for _, rows in ordered[top:]]))
    return found


def by_job(sessions: Iterable[Spent]) -> list[Spent]:
    """Sums by (profile, job) of sums by (profile, job, root session, source)."""
    parts: dict[tuple[str | None, ...], list[Spent]] = {}
    for row in sessions:
        parts.setdefault(row.group[:2], []).append(row)
    return [Spent(group, *map(sum, zip(*map(_sums, rows), strict=True))) for group, rows in parts.items()]


def named(spent: Sequence[Spent], kind: str, namer: Namer, top: int) -> Group:
    """Lines of jobs or sessions, with their names as the host has them."""
    key = 1 if kind == "job" else 2
    ordered = sorted(spent, key=lambda row: (-row.usd, -tokens_of(row), row.group[key] or ""))
    lines = []
    for row in ordered[:top]:
        label, details = namer(kind, row.group)
        lines.append(Line(row.group[key] or "", label, summed([row]), details))
    rest = summed(ordered[top:]) if ordered[top:] else None
    return Group(tuple(lines), rest, len(ordered[top:]))


def rank(rows: Iterable[Spent], name: str) -> tuple[float, int, str]:
    """The order of lines: dollars, then tokens, then the name."""
    figure = summed(rows)
    return -(figure.usd or 0.0), -figure.tokens, name


def last_days(now: float, days: int, zone: tzinfo) -> list[float]:
    """The midnights that begin the last `days` days, today's last."""
    bounds = day_bounds(now - (days + 1) * DAY, now, zone)[:-1]
    return bounds[-days:]


def measured(
    readings: Mapping[tuple[str, str], Sequence[Balance]], estimate: Callable[[str, float, float], Figure]
) -> list[Measured]:
    """Falls of balances by provider and currency against `estimate(provider, since, until)`."""
    parts: dict[tuple[str, str], list[Sequence[Balance]]] = {}
    for (provider, _), found in readings.items():
        if len(found) >= 2:
            parts.setdefault((provider, found[-1].currency), []).append(found)
    result = []
    for (provider, currency), accounts in sorted(parts.items()):
        since, until = min(one[0].at for one in accounts), max(one[-1].at for one in accounts)
        steps = [b.amount - a.amount for one in accounts for a, b in pairwise(one)]
        fell, rose = -sum(step for step in steps if step < 0), sum(step for step in steps if step > 0)
        figure = estimate(provider, since, until)
        known = currency.upper() == "USD" and figure.usd is not None
        unexplained = fell - (figure.usd or 0.0) if known else None
        result.append(
            Measured(provider, len(accounts), currency, since, until, fell, abs(rose), figure, unexplained)
        )
    return result


def rounded(value: float | None) -> float | None:
    """Dollars without the noise of adding them up."""
    return None if value is None else round(value, 6)


def _measured(ledger: Ledger, since: float) -> list[Measured]:
    def estimate(provider: str, first: float, last: float) -> Figure:
        rows = ledger.spent(("provider",), first, last)
        return summed(row for row in rows if (row.group[0] or "").lower() == provider.lower())

    return measured({one: ledger.balances(*one, since) for one in ledger.accounts()}, estimate)


def _movers(
    ledger: Ledger, now: float, zone: tzinfo, namer: Namer, snapshots: Sequence[float]
) -> tuple[tuple[Mover, ...], str]:
    """What changed the most between the last seven days and the seven before."""
    start = now - 2 * WEEK
    if not snapshots or snapshots[0] > start:
        first = f"the first is of {show(snapshots[0], zone)}" if snapshots else "there is none"
        return (), f"two weeks of snapshots are needed; {first}"
    found = []
    for kind, columns in (("model", ("model",)), ("job", ("profile", "job"))):
        later = {row.group: row for row in ledger.spent(columns, now - WEEK, now + 1.0)}
        before = {row.group: row for row in ledger.spent(columns, start, now - WEEK)}
        for group in {*later, *before}:
            label = str(group[0]) if kind == "model" else namer(kind, group)[0]
            rows = [row for row in (later.get(group), before.get(group)) if row is not None]
            found.append(
                Mover(
                    kind,
                    label,
                    later[group].usd if group in later else 0.0,
                    before[group].usd if group in before else 0.0,
                    any(row.unknown_calls for row in rows),
                )
            )
    moved = [one for one in found if abs(one.usd - one.before) >= 0.01]
    moved.sort(key=lambda one: (-abs(one.usd - one.before), one.kind, one.label))
    return tuple(moved[:TOP]), ""


def _rest(parts: Sequence[Sequence[Spent]]) -> tuple[Figure | None, int]:
    if not parts:
        return None, 0
    return summed(row for rows in parts for row in rows), len(parts)
