"""One table, three renderings: text, Markdown, HTML; and the page every HTML report is.

Every string is escaped for where it goes. A page needs nothing from outside and says so (CSP
`default-src 'none'`); it is readable at 390 px and in a dark scheme.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Columns and rows of text; columns named in ``numbers`` are aligned right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[str] = frozenset()
    title: str = ""


def as_text(table: Table, width: int = 0) -> str:
    """Aligned columns; with a width the last column is cut to fit. Wide characters count two."""
    raise NotImplementedError


def as_markdown(table: Table) -> str:
    """A Markdown table; pipes, newlines and markup in cells are escaped."""
    raise NotImplementedError


def as_html(table: Table) -> str:
    """A `<table>` with a caption, scrollable on a narrow screen."""
    raise NotImplementedError


@dataclass(frozen=True)
class Bars:
    """A bar chart: (label, value, note) from left to right; a value of None is shown as unknown, not as 0."""

    title: str
    unit: str
    bars: tuple[tuple[str, float | None, str], ...]


def as_svg(bars: Bars) -> str:
    """An inline SVG chart with a title, a description for readers that cannot see it, and labelled values."""
    raise NotImplementedError


def page(title: str, subtitle: str, sections: Sequence[tuple[str, str]]) -> str:
    """A self-contained HTML page of (heading, inner HTML); title, subtitle and headings are escaped."""
    raise NotImplementedError
