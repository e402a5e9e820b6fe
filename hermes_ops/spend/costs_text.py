"""How figures of a cost report are written: the same words in text and on the page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..core.render import Table
from .costs import GROUPS, NO_DAY, NO_PRICE, UNSEEN, Figure, Group, Line, Report

_TITLES = {
    "day": "By day",
    "provider": "By provider",
    "model": "By model",
    "task": "By task",
    "job": "By job",
    "session": "By session",
}
_NUMBERS = frozenset({"cost", "calls", "tokens", "in a plan", "sessions"})


def dollars(value: float) -> str:
    """Dollars and cents; below a cent with four places."""
    if 0 < abs(value) < 0.01:
        return f"${value:.4f}" if abs(value) >= 0.0001 else "under $0.0001"
    return f"${value:,.2f}" if value >= 0 else f"-${-value:,.2f}"


def cost(figure: Figure) -> str:
    """A sum with what is not known about it: "$1.02", "≥ $1.02", "unknown", "in a plan"."""
    if figure.usd is None:
        return "unknown" if figure.reason in (NO_PRICE, UNSEEN) else figure.reason
    return f"≥ {dollars(_rounded_down(figure.usd))}" if figure.at_least else dollars(figure.usd)


def _rounded_down(value: float) -> float:
    """A lower bound that is still one once it is written with the places of `dollars`."""
    step = 100 if abs(value) >= 0.01 else 10_000
    return math.floor(value * step + 1e-6) / step if abs(value) >= 0.0001 else value


def count(value: int) -> str:
    return f"{value:,}"


def counted(value: int, noun: str) -> str:
    """The number and the noun: "1 row", "4 rows"."""
    return f"{value:,} {noun}{'' if value == 1 else 's'}"


def lines_of(report: Report, name: str) -> tuple[Line, ...]:
    """The lines of a group by its name, "day" included."""
    return report.by_day if name == "day" else report.groups[name].lines


def table_of(report: Report, name: str) -> Table:
    """The table of one group; each cell with the place of its value in the JSON."""
    if name == "day":
        rows, figures = _rows(report.by_day, "by_day")
        if report.no_day is not None:
            rows.append(_row("no one day", report.no_day))
            figures.append(_places("no_day"))
    else:
        rows, figures = _group_rows(report.groups[name], f"by_{name}")
    return _table(name, rows, figures, _TITLES[name])


def lifetime_table(report: Report, name: str) -> Table:
    """The table of totals over all time, by "session" or "job"."""
    group = (report.lifetime or {})[name]
    rows, figures = _group_rows(group, f"lifetime.by_{name}")
    return _table(name, rows, figures, f"All time, {_TITLES[name].lower()}")


def measured_table(report: Report) -> Table:
    """Balances against the estimate."""
    rows, figures = [], []
    for i, one in enumerate(report.measured):
        place = f"measured.{i}"
        unknown = "unknown" if one.unexplained is None else dollars(one.unexplained)
        fell, rose = _money(one.fell, one.currency), _money(one.rose, one.currency)
        rows.append((one.provider, fell, rose, cost(one.estimated), unknown))
        figures.append(
            ("", f"{place}.fell", f"{place}.rose", f"{place}.estimated.usd", f"{place}.unexplained")
        )
    names = ("provider", "balance fell", "topped up", "estimate", "unexplained")
    return Table(names, tuple(rows), frozenset(names[1:]), "Measured against the estimate", tuple(figures))


def movers_table(report: Report) -> Table:
    """What changed the most against the week before."""
    rows, figures = [], []
    for i, one in enumerate(report.movers):
        mark, place = "≥ " if one.at_least else "", f"movers.{i}"
        change = one.usd - one.before
        signed = f"+{dollars(change)}" if change > 0 else dollars(change)
        rows.append(
            (f"{one.kind} {one.label}", f"{mark}{dollars(one.before)}", f"{mark}{dollars(one.usd)}", signed)
        )
        figures.append(("", f"{place}.before", f"{place}.usd", f"{place}.change"))
    names = ("what", "week before", "last 7 days", "change")
    return Table(names, tuple(rows), frozenset(names[1:]), "Movers", tuple(figures))


def remarks(report: Report) -> list[str]:
    """What has to be known to read the figures, in sentences."""
    said = [*report.problems, *report.notes]
    total = report.total
    dark = sum(line.figure.reason == UNSEEN for line in report.by_day)
    if dark:
        said.append(f"{counted(dark, 'day')} of which nothing is known")
    if report.unplaced_rows:
        rows, sessions = counted(report.unplaced_rows, "row"), counted(report.unplaced_sessions, "session")
        said.append(f"{rows} of {sessions}, used on more than one day: {NO_DAY}, and in no sum by day")
    if report.no_day is not None:
        said.append("use between two snapshots more than a day apart belongs to no one day; the total has it")
    if total.unknown_calls:
        unknown = counted(total.unknown_calls, "call")
        said.append(f"{unknown} without a known price: sums with them are lower bounds")
    if total.included_tokens:
        said.append(f"{counted(total.included_tokens, 'token')} included in a plan, at no extra cost")
    return said


def group_names(by: str | None) -> Sequence[str]:
    """The tables that are shown: one when it was asked for, else all."""
    return (by,) if by else GROUPS


def _table(name: str, rows: list[tuple[str, ...]], figures: list[tuple[str, ...]], title: str) -> Table:
    return Table((name, "cost", "calls", "tokens", "in a plan"), tuple(rows), _NUMBERS, title, tuple(figures))


def _group_rows(group: Group, place: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    rows, figures = _rows(group.lines, f"{place}.rows")
    if group.rest is not None:
        rows.append(_row(f"{count(group.hidden)} others", group.rest))
        figures.append(_places(f"{place}.rest"))
    return rows, figures


def _rows(lines: Sequence[Line], place: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    rows = [_row(line.label, line.figure) for line in lines]
    return rows, [_places(f"{place}.{i}", line.figure) for i, line in enumerate(lines)]


def _row(label: str, figure: Figure) -> tuple[str, ...]:
    if figure.reason == UNSEEN:
        return (label, cost(figure), "-", "-", "-")
    numbers = (figure.calls, figure.tokens, figure.included_tokens)
    return (label, cost(figure), *(count(number) for number in numbers))


def _places(place: str, figure: Figure | None = None) -> tuple[str, ...]:
    if figure is not None and figure.reason == UNSEEN:
        return ("", f"{place}.usd", "", "", "")
    return ("", *(f"{place}.{name}" for name in ("usd", "calls", "tokens", "included_tokens")))


def _money(value: float, currency: str) -> str:
    return dollars(value) if currency.upper() == "USD" else f"{value:,.2f} {currency}"
