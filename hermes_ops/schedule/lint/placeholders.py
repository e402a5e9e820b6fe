"""Slots that nobody filled in: {{city}}, <your name>, [insert list], $API_URL, TBD.

What looks the same and is not one: the form of an output, a sentence about such text, markup, generics,
addresses, JSON, sets, code, and names that the session fills in by itself (the date).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .text import Prompt, Sentence

_SLOT = re.compile(
    r"""
    (?P<double>\{\{[^{}\n]{1,80}\}\}|\{%[^%\n]{1,80}%\}|<<[^<>\n]{1,60}>>|\[\[[^\[\]\n]{1,60}\]\])
  | (?P<shell>\$\{[a-z_][a-z0-9_]{0,60}\}|(?<![\w$])\$[a-z_][a-z0-9_]{1,60}\b|(?<!\w)%[a-z_][a-z0-9_]{1,60}%(?!\w)|%\([a-z_]{1,60}\)[sd])
  | (?P<single>(?<![\w\\}$])\{[^\W\d][\w .-]{0,60}\})
  | (?P<angle>(?<![\w<])</?[^\W\d][^<>\n=]{0,80}>)
  | (?P<square>\[[^\[\]\n]{1,120}\](?!\())
  | (?P<marker>\b(?:todo|tbd|tba|fixme|xxx+|changeme|change_me|replace_me|replace_this|lorem\ ipsum)\b|\?\?\?+|_{3,}|(?<!\w)your[_-][a-z0-9_-]{2,40}\b|\binsert[_-][a-z0-9_-]{2,40}\b)
    """,
    re.VERBOSE,
)
_RULES = {
    "double": "L201",
    "shell": "L202",
    "single": "L201",
    "angle": "L203",
    "square": "L204",
    "marker": "L205",
}
_ELEMENTS = frozenset(
    """a abbr address article aside audio b base blockquote body br button canvas caption cite code col data dd del
    details dfn dialog div dl dt em embed fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html
    i iframe img input ins kbd label legend li link main map mark meta meter nav noscript object ol optgroup option
    output p param picture pre progress q rp rt ruby s samp script section select small source span strong style sub
    summary sup svg table tbody td template textarea tfoot th thead time title tr track u ul var video wbr
    item items entry feed channel rss url urlset loc""".split()
)
_ENVIRONMENT = frozenset(
    "home path user shell pwd hermes_home tmpdir lang term hostname logname editor oldpwd xdg_config_home".split()
)
_NAME = re.compile(r"[^\W\d_]+|yyyy|\d+")


@dataclass(frozen=True)
class Words:
    """The words of the languages that decide: form of an output, talk about text, nouns of slots, filling in, known."""

    form: frozenset[str]
    about: frozenset[str]
    slots: frozenset[str]
    fill: frozenset[str]
    known: frozenset[str]


@dataclass(frozen=True)
class Slot:
    """A slot: rule id, offsets of the prompt."""

    rule: str
    start: int
    end: int


def find_slots(prompt: Prompt, words: Words) -> Iterator[Slot]:
    """The slots of a prompt that nobody filled in."""
    prose = prompt.prose
    sentences = _Sentences(prompt.sentences)
    for match in _SLOT.finditer(prose):
        kind = match.lastgroup or ""
        original = prompt.text[match.start() : match.end()]
        inner = match.group().strip("{}[]<>$%()/ ").strip()
        if _harmless(kind, match, original, inner, prose, words):
            continue
        around = sentences.around(match.start())
        if around & words.about or (kind != "marker" and around & words.form):
            continue
        if kind in ("single", "angle", "double") and _defined(inner, match, prose):
            continue
        yield Slot(_RULES[kind], match.start(), match.end())


def _harmless(kind: str, match: re.Match[str], original: str, inner: str, prose: str, words: Words) -> bool:
    named = set(_NAME.findall(inner.replace("_", " ")))
    in_path = _in_path(match, prose)
    if kind in ("single", "angle") and named and named <= words.known:
        return True
    if kind == "double":
        return in_path and bool(named) and named <= words.known
    if kind == "shell":
        return inner in _ENVIRONMENT or not (original.strip("${}%()sd").isupper() or original.startswith(("${", "%(")))
    if kind == "single":
        return in_path and not original.isupper()
    if kind == "angle":
        return _markup(match, inner, prose)
    if kind == "square":
        if inner in ("silent", "x", "", "!"):
            return True
        short = len(named) <= 6
        slot = bool(named & words.fill) or (original.isupper() and bool(named & words.slots))
        return not (short and slot) and "..." not in inner and "\u2026" not in inner
    if kind == "marker":
        return inner in ("todo", "tbd", "tba", "fixme", "xxx") and not original.isupper()
    return False


def _markup(match: re.Match[str], inner: str, prose: str) -> bool:
    """Whether it is a tag: of HTML, or one that is closed (or was opened) elsewhere in the prompt."""
    name = inner.split()[0].rstrip("/") if inner.split() else ""
    if name in _ELEMENTS or "@" in inner or "://" in inner or "|" in inner:
        return True
    if match.group().startswith("</"):
        return True
    return f"</{name}>" in prose


def _in_path(match: re.Match[str], prose: str) -> bool:
    """Whether it stands inside a path or an address."""
    start = match.start()
    before = prose[max(0, start - 60) : start].rsplit(None, 1)
    last = before[-1] if before and not prose[start - 1 : start].isspace() else ""
    return "/" in last or prose[match.end() : match.end() + 1] in ("/",) or "/" in prose[match.end() : match.end() + 2]


def _defined(inner: str, match: re.Match[str], prose: str) -> bool:
    """Whether the prompt says what stands for the name: "where <id> is ...", "for each id"."""
    name = inner.strip()
    if not name or len(name) > 40:
        return False
    for before in ("each ", "every ", "where ", "per ", "каждого ", "каждой ", "каждому ", "где "):
        for opening in ("", "{", "<", "[", "{{"):
            if before + opening + name in prose:
                return True
    return False


class _Sentences:
    """The words around an offset: those of its sentence, and of the one before when that leads into it."""

    def __init__(self, sentences: Iterable[Sentence]) -> None:
        self._sentences = list(sentences)
        self._starts = [sentence.start for sentence in self._sentences]

    def around(self, offset: int) -> frozenset[str]:
        from bisect import bisect_right

        index = max(0, bisect_right(self._starts, offset) - 1)
        words: set[str] = set()
        for near in self._sentences[max(0, index - 1) : index + 1]:
            if near is self._sentences[index] or near.end + 4 >= self._starts[index] and self._leads(near, index):
                words.update(token.text for token in near.tokens if abs(token.start - offset) < 300)
        return frozenset(words)

    def _leads(self, near: Sentence, index: int) -> bool:
        return self._sentences[index].item or len(self._sentences[index].tokens) <= 4
