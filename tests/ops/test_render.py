"""Tables, bars and pages: aligned, escaped for where they go, and needing nothing from outside."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_ops.core.render import (
    Bars,
    Table,
    as_html,
    as_markdown,
    as_svg,
    as_text,
    big_figures,
    columns_of,
    cut,
    page,
    paragraph,
)

HOSTILE = "</script><img src=x onerror=alert(1)>\"'`|&amp;\N{RIGHT-TO-LEFT OVERRIDE}\x1b[31m\n\0"
VOID = {"meta", "img", "br", "input", "link"}
TABLE = Table(
    ("name", "cost"),
    (("日本語", "$1.00"), ("e\N{COMBINING ACUTE ACCENT}", "$12.50")),
    frozenset({"cost"}),
    "Costs",
    (("", "a.0.usd"), ("", "a.1.usd")),
)


class Page(HTMLParser):
    """Collects elements and text, and holds that every element is closed in its order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def tags(self) -> set[str]:
        return {tag for tag, _ in self.elements}


def test_wide_and_combining_characters_are_aligned():
    lines = as_text(TABLE).splitlines()
    assert lines[0] == "Costs"
    assert {columns_of(line) for line in lines[1:]} == {columns_of("日本語  $12.50")}
    assert lines[2].endswith(" $1.00") and lines[3].endswith("$12.50")


def test_the_last_column_is_cut_to_the_width():
    text = as_text(Table(("a", "b"), (("x", "日本語" * 20),)), 20)
    assert all(columns_of(line) <= 20 for line in text.splitlines()) and "…" in text


@given(st.text(max_size=40), st.integers(1, 30))
def test_a_cut_text_fits(text, width):
    found = cut(text, width)
    assert columns_of(found) <= width or columns_of(text) == 0
    assert found == text or found.endswith("…")


def test_a_text_table_is_safe_for_a_terminal():
    text = as_text(Table((HOSTILE, "b"), ((HOSTILE, HOSTILE),), title=HOSTILE))
    assert len(text.splitlines()) == 3 and all(line.isprintable() for line in text.splitlines())


def test_an_empty_table_says_so():
    empty = Table(("a", "b"), ())
    assert as_text(empty).splitlines()[-1] == "none"
    assert "none" in Page(as_html(empty)).texts and "none" in as_svg(Bars("t", "USD", ()))


@given(st.text(max_size=60))
def test_a_cell_stays_one_cell_in_markdown(text):
    lines = as_markdown(Table(("a", "b"), ((text, "end"),))).split("\n")
    assert len(lines) == 3
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", lines[2])) == 3
    assert "<" not in lines[2]


def test_markup_in_markdown_is_shown_not_obeyed():
    text = as_markdown(Table(("a",), (("**x** [y](z) `c` <b>\n# h",),)))
    assert r"\*\*x\*\* \[y\](z) \`c\` &lt;b&gt; \# h" in text


@given(st.text(max_size=80))
def test_nothing_in_a_text_becomes_markup(text):
    table = Table((text, "b"), ((text, text),), frozenset(), text, ((text, ""),))
    bars = Bars(text, text, ((text, 1.0, text), (text, None, "")), (text, text))
    inner = as_html(table) + as_svg(bars) + paragraph(text) + big_figures([(text, text, text)])
    plain = page("t", "s", [("h", as_html(Table(("a",), (("a",),))))])
    found = Page(page(text, text, [(text, inner)]))
    assert found.tags() <= Page(plain).tags() | {
        "svg", "g", "rect", "text", "title", "desc", "dl", "div", "dt", "dd", "p", "caption"
    }  # fmt: skip
    assert not any(name.startswith("on") or name == "style" for _, more in found.elements for name in more)


def test_a_hostile_text_is_shown_and_does_nothing():
    found = Page(page(HOSTILE, HOSTILE, [(HOSTILE, as_html(Table(("a",), ((HOSTILE,),))))]))
    assert "img" not in found.tags() and "script" not in found.tags()
    assert any("onerror=alert(1)" in text for text in found.texts)


def test_a_chart_is_xml_with_a_title_a_description_and_labelled_values():
    chart = as_svg(
        Bars("Cost by day", "USD", (("2026-11-28", 1.0, "$1.00"), ("2026-11-29", None, "unknown")))
    )
    root = ElementTree.fromstring(chart)
    texts = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["2026-11-28", "$1.00", "2026-11-29", "unknown"]
    bars = [
        node.get("width")
        for node in root.iter("{http://www.w3.org/2000/svg}rect")
        if node.get("class") == "bar"
    ]
    assert bars == ["100.00%", "0.00%"]
    assert "2026-11-29: unknown" in root.find("{http://www.w3.org/2000/svg}desc").text


@pytest.mark.parametrize("values", [(0.0, 0.0), (-1.0, 2.0), (1e300, 1e-300), (None, None)])
def test_bars_of_any_values_stay_within_the_chart(values):
    chart = as_svg(Bars("t", "USD", tuple((str(i), value, "") for i, value in enumerate(values))))
    widths = [float(found) for found in re.findall(r'width="([0-9.]+)%" height="12" class="bar"', chart)]
    assert len(widths) == 2 and all(0 <= width <= 100 for width in widths)


def test_figures_carry_their_place_in_the_json():
    found = Page(as_html(TABLE) + as_svg(Bars("t", "USD", (("a", 1.0, "$1"),), ("by_day.0.usd",))))
    places = [more["data-figure"] for _, more in found.elements if "data-figure" in more]
    assert places == ["a.0.usd", "a.1.usd", "by_day.0.usd"]


def test_a_page_names_no_other_place_and_admits_none():
    text = page("t", "s", [("h", as_html(TABLE))])
    assert not re.search(r"(?:src|href|url)\s*[=(]|@import", text)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src &#x27;none&#x27;; style-src &#x27;sha256-")
    assert "script" not in text


def test_the_same_content_gives_the_same_bytes():
    bars = Bars("t", "USD", (("a", 1.0, ""),))
    assert page("t", "s", [("h", as_svg(bars))]) == page("t", "s", [("h", as_svg(bars))])


def test_no_renderer_shows_a_secret_not_even_the_part_that_is_left_when_it_is_cut():
    secret = "gh" + "p_" + "a1B2" * 9
    label = f"sessions of the model {secret}"
    table = Table((label, "n"), ((label, label),), title=label)
    chart = Bars(label, "USD", ((label, 1.0, ""),))
    shown = [as_text(table), as_text(table, 60), as_markdown(table), as_html(table), as_svg(chart)]
    shown += [paragraph(label), big_figures([(label, label, "")]), page(label, label, [(label, "")])]
    assert [text for text in shown if secret[:8] in text] == []
