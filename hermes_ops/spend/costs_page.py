"""The cost report as one page: a chart and a table by day, provider, model, task, job and session."""

from __future__ import annotations

from datetime import tzinfo

from ..core.moment import show
from ..core.render import Bars, as_html, as_svg, big_figures, page, paragraph
from .costs import GROUPS, UNSEEN, Group, Line, Report
from .costs_text import (
    cost,
    count,
    counted,
    lifetime_table,
    lines_of,
    measured_table,
    movers_table,
    remarks,
    table_of,
)

_HEADINGS = {
    "day": "Cost by day",
    "provider": "Cost by provider",
    "model": "Cost by model",
    "task": "Cost by task",
    "job": "Cost by job",
    "session": "Cost by session",
}


def as_page(report: Report, zone: tzinfo) -> str:
    """The whole page. Every figure on it carries its place in the JSON of the same report (`data-figure`)."""
    sections = [("Total", _total(report))]
    sections += [(_HEADINGS[name], _chart(report, name) + as_html(table_of(report, name))) for name in GROUPS]
    if report.lifetime is not None and report.lifetime_total is not None:
        figures = [("all time", cost(report.lifetime_total), "lifetime.total.usd")]
        inner = big_figures(figures) + as_html(lifetime_table(report, "session"))
        sections.append(("All time", inner + as_html(lifetime_table(report, "job"))))
    if report.measured:
        sections.append(("Measured against the estimate", _measured(report, zone)))
    if report.movers:
        sections.append(("Movers", as_html(movers_table(report))))
    elif report.movers_unknown:
        sections.append(("Movers", paragraph(f"unknown: {report.movers_unknown}", "note")))
    title = f"Costs of {report.days} days"
    return page(title, f"{subtitle(report, zone)}. Read from {report.source}.", sections)


def subtitle(report: Report, zone: tzinfo) -> str:
    """The time, its zone, and what the figures rest on."""
    number, first, _ = report.snapshots
    said = f"{show(report.since, zone)} to {show(report.until, zone)} ({report.zone})"
    if first is None:
        return f"{said}; one database, no snapshots"
    return f"{said}; {counted(number, 'snapshot')} since {show(first, zone)}"


def _total(report: Report) -> str:
    total = report.total
    figures = [
        ("cost", cost(total), "total.usd"),
        ("calls", count(total.calls), "total.calls"),
        ("tokens", count(total.tokens), "total.tokens"),
        ("of them from cache", count(total.cache_read), "total.cache_read"),
        ("of them reasoning", count(total.reasoning), "total.reasoning"),
        ("in a plan", count(total.included_tokens), "total.included_tokens"),
        ("calls without a price", count(total.unknown_calls), "total.unknown_calls"),
    ]
    if total.reason == UNSEEN:
        figures = figures[:1]
    problems = set(report.problems)
    said = [paragraph(text, "problem" if text in problems else "note") for text in remarks(report)]
    return big_figures(figures) + "".join(said)


def _chart(report: Report, name: str) -> str:
    place = "by_day" if name == "day" else f"by_{name}.rows"
    bars = [_bar(line, f"{place}.{i}.usd") for i, line in enumerate(lines_of(report, name))]
    group = report.groups.get(name)
    if isinstance(group, Group) and group.rest is not None:
        rest = Line("", f"{count(group.hidden)} others", group.rest)
        bars.append(_bar(rest, f"by_{name}.rest.usd"))
    if name == "day" and report.no_day is not None:
        bars.append(_bar(Line("", "no one day", report.no_day), "no_day.usd"))
    chart = Bars(_HEADINGS[name], "USD", tuple(bar for bar, _ in bars), tuple(at for _, at in bars))
    return as_svg(chart)


def _bar(line: Line, place: str) -> tuple[tuple[str, float | None, str], str]:
    return (line.label, line.figure.usd, cost(line.figure)), place


def _measured(report: Report, zone: tzinfo) -> str:
    said = [
        paragraph(f"{one.provider}: balances from {show(one.since, zone)} to {show(one.until, zone)}", "note")
        for one in report.measured
    ]
    return as_html(measured_table(report)) + "".join(said)
