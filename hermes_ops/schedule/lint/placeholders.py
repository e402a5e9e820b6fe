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
from .text import DATA, Prompt, Sentence

_MARKERS = (
    r"\b(?:todo|tbd|tba|fixme|xxx+|\u0445\u0445\u0445+)\b"
    r"|\b(?:changeme|change_me|replace_me|replace_this|lorem\ ipsum)\b"
    r"|\b[a-z]{2,30}(?:_[a-z]{2,30}){0,4}_here\b"
    r"|\((?:fill\ in|fill\ me\ in|insert|вписать|впиши|вставить|вставь|заполнить|подставить)\b[^()\n]{0,40}\)"
    r"|\?\?\?+|_{3,}|(?<!\w)your[_-][a-z0-9_-]{2,40}\b|\binsert[_-][a-z0-9_-]{2,40}\b"
)
_SHELL = (
    r"\$\{[a-z_][a-z0-9_]{0,60}\}|(?<![\w$])\$[a-z_][a-z0-9_]{1,60}\b"
    r"|(?<!\w)%[a-z_][a-z0-9_]{1,60}%(?!\w)|%\([a-z_]{1,60}\)[sd]"
)
_SLOT = re.compile(
    rf"""
    (?P<double>\{{\{{[^{{}}\n]{{1,80}}\}}\}}|\{{%[^%\n]{{1,80}}%\}}|<<[^<>\n]{{1,60}}>>|\[\[[^\[\]\n]{{1,60}}\]\])
  | (?P<shell>{_SHELL})
  | (?P<single>(?<![\w\\}}$])\{{[^\W\d][\w .-]{{0,60}}\}})
  | (?P<angle>(?<![\w<])</?[^\W\d][^<>\n=]{{0,80}}>)
  | (?P<square>\[[^\[\]\n]{{1,120}}\](?!\())
  | (?P<marker>{_MARKERS})
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
MAX_SLOTS = 500  # candidates that are looked at in one prompt


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ELEMENTS = _names(
    """
    a abbr address article aside audio b base blockquote body br button canvas caption cite code col
    data dd del details dfn dialog div dl dt em embed fieldset figcaption figure footer form h1 h2
    h3 h4 h5 h6 head header hr html i iframe img input ins kbd label legend li link main map mark
    meta meter nav noscript object ol optgroup option output p param picture pre progress q rp rt
    ruby s samp script section select small source span strong style sub summary sup svg table tbody
    td template textarea tfoot th thead time title tr track u ul var video wbr item items entry feed
    channel rss url urlset loc
    """
)
_ENVIRONMENT = _names(
    """
    home path user shell pwd hermes_home tmpdir lang term hostname logname editor oldpwd xdg_config_home
    """
)
_LIKE_WORDS = _names("todo tbd tba fixme xxx")  # only capitals make a mark of them
_NAME = re.compile(r"[^\W\d_]+|\d+")
_CLOSING = re.compile(r"</([^\W\d][\w:.-]{0,60})")
_DEFINING = re.compile(
    r"\b(?:each|every|where|per|каждого|каждой|каждому|где)[ ]+[\[{<]{0,2}"
    r"([^\W\d][\w-]{0,40}(?:[ ][\w-]{1,40}){0,2})"
)
# Variables of shell text to which the prompt itself gives a value.
_ASSIGNED = re.compile(r"\bfor[ ]([a-z_]\w{0,60})[ ]in\b|(?<![\w$])([a-z_]\w{0,60})=(?!=)")


@dataclass(frozen=True)
class Words:
    """Words that decide whether something is a slot; what each is for stands in the tables of languages."""

    form: WordSet
    answer: WordSet
    about: WordSet
    seek: WordSet
    slots: WordSet
    fill: WordSet
    known: WordSet
    prepositions: WordSet


@dataclass(frozen=True)
class Slot:
    """A slot: rule id, offsets of the prompt."""

    rule: str
    start: int
    end: int


@dataclass(frozen=True)
class _Candidate:
    """What looks like a slot: its kind, as folded, as written, what is inside, the words of that."""

    kind: str
    start: int
    end: int
    text: str
    written: str
    inner: str

    @property
    def names(self) -> frozenset[str]:
        return frozenset(_NAME.findall(self.inner.replace("_", " ")))


def find_slots(prompt: Prompt, words: Words) -> list[Slot]:
    """The slots of a prompt that nobody filled in.

    What is part of a form, or spoken about, in one place is so wherever the prompt repeats it.
    """
    near = _Near(prompt.sentences, words)
    closed = frozenset(_CLOSING.findall(prompt.prose))
    defined = _defined(prompt.prose)
    given = frozenset(name for names in _ASSIGNED.findall(prompt.prose) for name in names)
    left: list[tuple[_Candidate, int]] = []
    harmless: set[str] = set()
    forms: set[int] = set()
    spoken_of: set[int] = set()
    tagged: set[int] = set()
    for one in _candidates(prompt):
        sentence, form, about = near.look(one.start, one.end)
        if one.kind == "shell" and one.inner in given:
            continue
        if _harmless(one, prompt.prose, words, closed):
            if one.kind == "angle":
                tagged.add(sentence)
            continue
        if one.kind in _NAMED and not one.names & words.fill.words and near.in_answer(one.start, one.end):
            continue
        if one.kind == "square" and not _is_slot(one, words, near.previous(one.start)):
            continue
        if form and one.kind != "marker":
            forms.add(sentence)
        if about and one.kind == "marker":
            spoken_of.add(sentence)
        if (about and one.kind != "square") or (one.kind in _NAMED and one.inner in defined):
            harmless.add(one.text)
        left.append((one, sentence))
    return [
        Slot(_RULES[one.kind], one.start, one.end)
        for one, sentence in left
        if one.text not in harmless
        and sentence not in (spoken_of if one.kind == "marker" else forms)
        and not (one.kind == "angle" and sentence in tagged and " " not in one.text)
    ]


def _candidates(prompt: Prompt) -> list[_Candidate]:
    found = []
    for match in _SLOT.finditer(prompt.prose):
        start, end, text = match.start(), match.end(), match.group()
        inner = text.strip("{}[]<>$%()/ ").strip()
        found.append(_Candidate(match.lastgroup or "", start, end, text, prompt.text[start:end], inner))
        if len(found) >= MAX_SLOTS:
            break
    return found


def _harmless(one: _Candidate, prose: str, words: Words, closed: frozenset[str]) -> bool:
    names = one.names
    if one.kind in ("single", "angle") and names and names <= words.known.words:
        return True
    if one.kind == "double":
        return bool(names) and names <= words.known.words and _in_path(one, prose)
    if one.kind == "shell":
        bare = one.written.strip("${}%()sd")
        return one.inner in _ENVIRONMENT or not (bare.isupper() or one.written.startswith(("${", "%(")))
    if one.kind == "single":
        return _in_path(one, prose) and not one.written.isupper()
    if one.kind == "angle":
        return _is_markup(one, closed)
    if one.kind == "square":
        return one.inner in ("silent", "sic", "x", "", "!")
    return one.inner in _LIKE_WORDS and not one.written.isupper()


def _is_slot(one: _Candidate, words: Words, previous: str) -> bool:
    """Whether square brackets hold what somebody was to write: they say so, or stand where a noun stands."""
    names = one.names
    if not names or len(names) > 6:
        return "..." in one.inner or "\u2026" in one.inner
    if names & words.fill.words or names <= words.slots.words:
        return True
    return (
        one.written.islower()
        and not any(map(str.isdigit, one.inner))
        and previous in words.prepositions.words
    )


def _is_markup(one: _Candidate, closed: frozenset[str]) -> bool:
    """Whether it is a tag: of HTML, or one that is closed elsewhere in the prompt; or an address."""
    name = one.inner.split()[0].rstrip("/") if one.inner.split() else ""
    if name in _ELEMENTS or name in closed or one.text.startswith("</"):
        return True
    return any(mark in one.inner for mark in ("@", "://", "|"))


def _in_path(one: _Candidate, prose: str) -> bool:
    """Whether it stands inside a path or an address."""
    before = prose[max(0, one.start - 60) : one.start].rsplit(None, 1)
    last = before[-1] if before and not prose[one.start - 1 : one.start].isspace() else ""
    return "/" in last or "/" in prose[one.end : one.end + 2]


def _defined(prose: str) -> frozenset[str]:
    """Names that the prompt itself gives a meaning: "where <id> is ...", "for each id"."""
    found: set[str] = set()
    for phrase in _DEFINING.findall(prose):
        parts = phrase.split(" ")
        found.update(" ".join(parts[:size]) for size in range(1, len(parts) + 1))
    return frozenset(found)


class _Near:
    """The words around a slot: those before it in its sentence (or in the lead to it), and those after."""

    BEFORE, AFTER, SOUGHT, ASKED = 8, 2, 2, 3

    def __init__(self, sentences: Sequence[Sentence], words: Words) -> None:
        self._sentences, self._words = sentences, words
        self._starts = [sentence.start for sentence in sentences]

    def previous(self, start: int) -> str:
        """The word directly before an offset, in its sentence."""
        if not self._sentences:
            return ""
        before = [token.text for token in self._sentences[self._index(start)].tokens if token.start < start]
        return before[-1] if before else ""

    def in_answer(self, start: int, end: int) -> bool:
        """Whether a slot stands in a quotation that is to be the answer: "reply: 'Tonight: <names>'"."""
        if not self._sentences:
            return False
        tokens = self._sentences[self._index(start)].tokens
        for place, token in enumerate(tokens):
            if token.kind == DATA and token.start < start and end < token.end:
                before = [token.text for token in tokens[max(0, place - self.ASKED) : place]]
                return any(map(self._words.answer.takes, before))
        return False

    def look(self, start: int, end: int) -> tuple[int, bool, bool]:
        """The sentence of a slot by number, whether it is part of a form, whether it is spoken about."""
        index = self._index(start)
        if not self._sentences:
            return index, False, False
        tokens = self._sentences[index].tokens
        place = sum(token.start < start for token in tokens)
        before = [token.text for token in tokens[max(0, place - self.BEFORE) : place]]
        if index and (self._sentences[index].item or place <= 2):
            lead = self._sentences[index - 1].tokens
            before = [token.text for token in lead[-self.BEFORE :]] + before
        after = [token.text for token in tokens[place : place + 4] if token.start >= end][: self.AFTER]
        if after and after[0] in ("and", "or", "и", "или"):
            after = []
        form = any(map(self._words.form.takes, before))
        about = any(map(self._words.about.takes, before + after))
        return index, form, about or any(map(self._words.seek.takes, before[-self.SOUGHT :]))

    def _index(self, offset: int) -> int:
        return max(0, bisect_right(self._starts, offset) - 1)
