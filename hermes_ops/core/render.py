"""One table, three renderings: text, Markdown, HTML; and the page every HTML report is.

Every string is redacted, and escaped for where it goes. A page needs nothing from outside and says so (CSP
`default-src 'none'`); it is readable at 390 px and in a dark scheme.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape as _escape

from .._common.command_line import printable
from ..speak import clean
from .report_file import GENERATOR

NONE = "none"  # what an empty table says

_LABEL = 34  # columns of a label in a chart: what fits on a narrow screen beside its value
_ROW, _BAR = 40, 12  # pixels


@dataclass(frozen=True)
class Table:
    """Columns and rows of text; columns named in ``numbers`` are aligned right.

    ``figures`` has the place of each cell's value in the JSON of the same report ("" for none), row by row;
    in HTML it becomes the attribute `data-figure`.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[str] = frozenset()
    title: str = ""
    figures: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Bars:
    """A bar chart: (label, value, note) from top to bottom; a value of None is unknown and has no bar.

    ``note`` is what stands for the value ("≥ $1.02"), "" shows the number and the unit. ``figures`` as in
    Table.
    """

    title: str
    unit: str
    bars: tuple[tuple[str, float | None, str], ...]
    figures: tuple[str, ...] = ()


def as_text(table: Table, width: int = 0) -> str:
    """Aligned columns; with a width the last column is cut to fit. Wide characters count two."""
    rows = [[printable(clean(cell)) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(columns_of(row[i]) for row in rows) for i in range(len(table.columns))]
    if width and widths:
        widths[-1] = min(widths[-1], max(8, width - sum(widths[:-1]) - 2 * (len(widths) - 1)))
        rows = [[*row[:-1], cut(row[-1], widths[-1])] for row in rows]
    right = [name in table.numbers for name in table.columns]
    lines = ["  ".join(map(_padded, row, widths, right)).rstrip() for row in rows]
    if not table.rows:
        lines = [*lines, NONE]
    return "\n".join([printable(clean(table.title)), *lines] if table.title else lines)


def as_markdown(table: Table) -> str:
    """A Markdown table; pipes, newlines and markup in cells are escaped."""
    marks = ["---:" if name in table.numbers else "---" for name in table.columns]
    rows = [[_markdown(cell) for cell in row] for row in (table.columns, *table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in (rows[0], marks, *rows[1:])]
    return "\n".join([f"### {_markdown(table.title)}", "", *lines] if table.title else lines)


def as_html(table: Table) -> str:
    """A `<table>` with a caption, scrollable on a narrow screen."""
    kinds = [' class="n"' if name in table.numbers else "" for name in table.columns]
    head = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(table.columns, kinds, strict=True)
    )
    body = "".join(f"<tr>{_cells(table, i, kinds)}</tr>" for i in range(len(table.rows)))
    if not table.rows:
        body = f'<tr><td colspan="{len(table.columns)}">{NONE}</td></tr>'
    caption = f"<caption>{escape(table.title)}</caption>" if table.title else ""
    name = f' aria-label="{escape(table.title)}"' if table.title else ""
    return (
        f'<div class="scroll" role="region" tabindex="0"{name}><table>{caption}<thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def as_svg(bars: Bars) -> str:
    """An inline SVG chart with a title, a description for readers that cannot see it, and labelled values."""
    most = max((value for _, value, _ in bars.bars if value is not None and value > 0), default=0.0)
    notes = [note or _note(value, bars.unit) for _, value, note in bars.bars]
    labels = [clean(label) for label, _, _ in bars.bars]
    rows = []
    for i, (_, value, _) in enumerate(bars.bars):
        top, share = i * _ROW, 0.0 if not value or most <= 0 else max(0.0, 100 * value / most)
        figure = _figure(bars.figures[i] if bars.figures else "")
        label = _safe(cut(printable(labels[i]), _LABEL))
        rows.append(
            f'<g><title>{_safe(labels[i])}: {_safe(notes[i])}</title><text x="0" y="{top + 15}">'
            f'{label}</text><text x="100%" y="{top + 15}" class="v"{figure}>'
            f'{_safe(notes[i])}</text><rect x="0" y="{top + 21}" width="100%" height="{_BAR}" class="all"/>'
            f'<rect x="0" y="{top + 21}" width="{share:.2f}%" height="{_BAR}" class="bar"/></g>'
        )
    told = "; ".join(f"{label}: {note}" for label, note in zip(labels, notes, strict=True))
    name = "c" + hashlib.sha256(f"{bars.title}\n{told}".encode("utf-8", "replace")).hexdigest()[:12]
    height = max(1, len(bars.bars)) * _ROW
    empty = "" if bars.bars else f'<text x="0" y="15">{NONE}</text>'
    return (
        f'<svg class="chart" role="img" width="100%" height="{height}" aria-labelledby="{name}t {name}d" '
        f'xmlns="http://www.w3.org/2000/svg"><title id="{name}t">{escape(bars.title)}</title>'
        f'<desc id="{name}d">{_safe(told or NONE)}</desc>{"".join(rows)}{empty}</svg>'
    )


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text; ``kind``: "", "note" (smaller) or "problem" (marked)."""
    return f"<p{f' class={chr(34)}{escape(kind)}{chr(34)}' if kind else ''}>{escape(text)}</p>"


def big_figures(figures: Sequence[tuple[str, str, str]]) -> str:
    """Figures that stand out: (name, text, place in the JSON)."""
    cells = "".join(
        f"<div><dt>{escape(name)}</dt><dd{_figure(place)}>{escape(text)}</dd></div>"
        for name, text, place in figures
    )
    return f'<dl class="figures">{cells}</dl>'


def page(title: str, subtitle: str, sections: Sequence[tuple[str, str]]) -> str:
    """A self-contained HTML page of (heading, inner HTML); title, subtitle and headings are escaped.

    The inner HTML is what the functions of this module make. The only style that the page's own policy admits
    is this one: there is no script, and no style attribute would hold.
    """
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    body = "".join(f"<section><h2>{escape(heading)}</h2>{inner}</section>" for heading, inner in sections)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">'
        f"{GENERATOR}<title>{escape(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><main><header><h1>{escape(title)}</h1>"
        f"<p>{escape(subtitle)}</p></header>\n{body}</main></body></html>\n"
    )


def escape(text: str) -> str:
    """Text for HTML, also inside an attribute: redacted; what cannot be printed is shown by its code."""
    return _safe(clean(text))


def _safe(text: str) -> str:
    return _escape(printable(text), quote=True)


def columns_of(text: str) -> int:
    """How many columns a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def cut(text: str, width: int) -> str:
    """A text cut to so many columns, the last of them an ellipsis."""
    if columns_of(text) <= width:
        return text
    kept, used = [], 0
    for character in text:
        used += _width(character)
        if used > width - 1:
            break
        kept.append(character)
    return "".join(kept) + "…"


def _width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _padded(cell: str, width: int, right: bool) -> str:
    space = " " * (width - columns_of(cell))
    return space + cell if right else cell + space


_MARKDOWN = re.compile(r"([\\`*_{}\[\]|~#])")


def _markdown(text: str) -> str:
    text = clean(text)
    plain = " ".join(text.split()) if "\n" in text or "\r" in text else text
    quoted = printable(plain).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", quoted)


def _cells(table: Table, i: int, kinds: Sequence[str]) -> str:
    places = table.figures[i] if table.figures else ("",) * len(kinds)
    return "".join(
        f"<td{kind}{_figure(place)}>{escape(cell)}</td>"
        for cell, kind, place in zip(table.rows[i], kinds, places, strict=True)
    )


def _figure(place: str) -> str:
    return f' data-figure="{_escape(place)}"' if place else ""


def _note(value: float | None, unit: str) -> str:
    return "unknown" if value is None else f"{value:g} {unit}".strip()


STYLE = """
:root{color-scheme:light dark;--ink:#1b1f24;--dim:#4d5761;--paper:#fff;--line:#d0d7de;--fill:#eaeef2;
--bar:#0a63b8;--warn:#8a4b00}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--dim:#a9b4bf;--paper:#0f1419;--line:#39424c;
--fill:#1d252d;--bar:#58a6ff;--warn:#f0b75c}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.45 system-ui,sans-serif}
main{max-width:60rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;margin:.2rem 0;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
p{margin:.4rem 0;overflow-wrap:anywhere}
header p,.note,dt,caption{color:var(--dim);font-size:.875rem}
.problem{color:var(--warn)}
.figures{display:flex;flex-wrap:wrap;gap:.5rem 2rem;margin:.5rem 0}
dd{margin:0;font-size:1.5rem;overflow-wrap:anywhere}
.scroll{overflow-x:auto;margin:.5rem 0}
table{border-collapse:collapse;width:100%;font-size:.875rem}
caption{text-align:left;padding:.25rem 0}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line)}
td:first-child{overflow-wrap:anywhere;min-width:8rem}
.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.chart{display:block;margin:.5rem 0;font-size:13px}
.chart text{fill:var(--ink)}
.chart .v{text-anchor:end;font-variant-numeric:tabular-nums}
.chart .all{fill:var(--fill)}
.chart .bar{fill:var(--bar)}
@media print{:root{--ink:#000;--dim:#333;--paper:#fff;--line:#999;--fill:#eee;--bar:#333;--warn:#000}
.scroll{overflow:visible}section{break-inside:avoid-page}main{max-width:none;padding:0}}
"""
