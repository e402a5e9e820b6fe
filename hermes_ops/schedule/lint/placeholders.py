"""Slots that nobody filled in: {{city}}, <your name>, [insert list], $API_URL, TBD.

What looks the same and is not one: the form of an output, a sentence about such text, markup, generics,
addresses, JSON, sets, code, and names that the session fills in by itself (the date).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from .phrases import WordSet
from .text import Prompt, Sentence

_SLOT = re.compile(
    r"""
    (?P<double>\{\{[^{}\n]{1,80}\}\}|\{%[^%\n]{1,80}%\}|<<[^<>\n]{1,60}>>|\[\[[^\[\]\n]{1,60}\]\])
  | (?P<shell>\$\{[a-z_][a-z0-9_]{0,60}\}|(?<![\w$])\$[a-z_][a-z0-9_]{1,60}\b|(?<!\w)%[a-z_][a-z0-9_]{1,60}%(?!\w)|%\([a-z_]{1,60}\)[sd])
  | (?P<single>(?<![\w\\}$])\{[^\W\d][\w .-]{0,60}\})
  | (?P<angle>(?<![\w<])</?[^\W\d][^<>\n=]{0,80}>)
  | (?P<square>\[[^\[\]\n]{1,120}\](?!\())
  | (?P<marker>\b(?:todo|tbd|tba|fixme|xxx+|\u0445\u0445\u0445+|changeme|change_me|replace_me|replace_this|lorem\ ipsum)\b|\?\?\?+|_{3,}|(?<!\w)your[_-][a-z0-9_-]{2,40}\b|\binsert[_-][a-z0-9_-]{2,40}\b)
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
_NAMED = ("single", "angle", "double")
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
    """Words that decide: forms of output, talk about text, searching, nouns of slots, filling in, known names."""

    form: WordSet
    about: WordSet
    seek: WordSet
    slots: frozenset[str]
    fill: frozenset[str]
    known: frozenset[str]
    prepositions: frozenset[str]


@dataclass(frozen=True)
class Slot:
    """A slot: rule id, offsets of the prompt."""

    rule: str
    start: int
    end: int


def find_slots(prompt: Prompt, words: Words) -> list[Slot]:
    """The slots of a prompt that nobody filled in.

    What is part of a form, or spoken about, in one place is so wherever the prompt repeats it.
    """
    near = _Near(prompt.sentences, words)
    found: list[tuple[Slot, str, int]] = []
    harmless: set[str] = set()
    forms: set[int] = set()
    spoken_of: set[int] = set()
    tagged: set[int] = set()
    for match in _SLOT.finditer(prompt.prose):
        kind = match.lastgroup or ""
        original = prompt.text[match.start() : match.end()]
        inner = match.group().strip("{}[]<>$%()/ ").strip()
        harmless_here = _harmless(kind, match, original, inner, prompt.prose, words)
        if harmless_here and kind != "angle":
            continue
        sentence, form, about = near.look(match.start(), match.end())
        if harmless_here:
            tagged.add(sentence)
            continue
        if kind == "square" and not _is_slot(original, inner, words, near.previous(match.start())):
            continue
        if form and kind != "marker":
            forms.add(sentence)
        if about and kind == "marker":
            spoken_of.add(sentence)
        if (about and kind != "square") or (kind in _NAMED and _defined(inner, prompt.prose)):
            harmless.add(match.group())
        found.append((Slot(_RULES[kind], match.start(), match.end()), match.group(), sentence))
    return [
        slot
        for slot, text, sentence in found
        if text not in harmless
        and sentence not in (spoken_of if slot.rule == "L205" else forms)
        and not (slot.rule == "L203" and sentence in tagged and " " not in text)
    ]


def _harmless(kind: str, match: re.Match[str], original: str, inner: str, prose: str, words: Words) -> bool:
    named = set(_NAME.findall(inner.replace("_", " ")))
    in_path = _in_path(match, prose)
    if kind in _NAMED[:2] and named and named <= words.known:
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
        return inner in ("silent", "sic", "x", "", "!")
    if kind == "marker":
        return inner in ("todo", "tbd", "tba", "fixme", "xxx") and not original.isupper()
    return False


def _is_slot(original: str, inner: str, words: Words, previous: str) -> bool:
    """Whether square brackets hold what somebody was to write in: it says so, or stands where a noun stands."""
    named = set(_NAME.findall(inner.replace("_", " ")))
    if not named or len(named) > 6:
        return "..." in inner or "\u2026" in inner
    if named & words.fill or named <= words.slots:
        return True
    return original.islower() and not any(map(str.isdigit, inner)) and previous in words.prepositions


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


def _defined(inner: str, prose: str) -> bool:
    """Whether the prompt says what stands for the name: "where <id> is ...", "for each id"."""
    name = inner.strip()
    if not name or len(name) > 40:
        return False
    for before in ("each ", "every ", "where ", "per ", "каждого ", "каждой ", "каждому ", "где "):
        for opening in ("", "{", "<", "[", "{{"):
            if before + opening + name in prose:
                return True
    return False


class _Near:
    """The words around a slot: those before it in its sentence (or in the lead to it), and those after."""

    BEFORE, AFTER, SOUGHT = 8, 2, 2

    def __init__(self, sentences: Sequence[Sentence], words: Words) -> None:
        self._sentences, self._words = sentences, words
        self._starts = [sentence.start for sentence in sentences]

    def previous(self, start: int) -> str:
        """The word directly before an offset, in its sentence."""
        index = max(0, bisect_right(self._starts, start) - 1)
        if not self._sentences:
            return ""
        before = [token.text for token in self._sentences[index].tokens if token.start < start]
        return before[-1] if before else ""

    def look(self, start: int, end: int) -> tuple[int, bool, bool]:
        """The sentence of a slot by number, whether it is part of a form, whether it is spoken about."""
        index = max(0, bisect_right(self._starts, start) - 1)
        if not self._sentences:
            return index, False, False
        tokens = self._sentences[index].tokens
        place = sum(token.start < start for token in tokens)
        before = [token.text for token in tokens[max(0, place - self.BEFORE) : place]]
        if index and (self._sentences[index].item or place <= 2):
            lead = self._sentences[index - 1].tokens
            before = [token.text for token in lead[-self.BEFORE :]] + before
        after = [token.text for token in tokens[place : place + 4] if token.start >= end][: self.AFTER]
        if after and after[0] in ("and", "или", "or", "и"):
            after = []
        form = any(map(self._words.form.takes, before))
        about = any(map(self._words.about.takes, before + after))
        return index, form, about or any(map(self._words.seek.takes, before[-self.SOUGHT :]))
