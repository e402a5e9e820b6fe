"""Slots that nobody filled in: {{city}}, <your name>, [insert list], $API_URL, TBD.

What looks the same and is not one: the form of an output, a sentence about such text, markup, generics,
addresses, JSON, sets, code, and names that the session fills in by itself (the date).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from .phrases import WordSet
from .text import DATA, Prompt, Sentence

# What is still to be written, as its author says it.
_LATER = (
    r"to\ be\ (?:confirmed|decided|added|defined|filled)|уточнить|уточню|уточним|дописать|допишу|впишу"
    r"|вставлю|заполнить|заполню|подставить|подставлю"
)
_MARKERS = (
    r"\b(?:todo|tbd|tba|tbc|fixme|xxx+|\u0445\u0445\u0445+)\b"
    r"|\b(?:changeme|change_me|replace_me|replace_this|lorem\ ipsum)\b"
    r"|\b[a-z]{2,30}(?:_[a-z]{2,30}){0,4}_here\b"
    rf"|\((?:fill\ in|fill\ me\ in|insert|вписать|впиши|вставить|вставь|{_LATER})\b"
    r"[^()\n]{0,40}\)"
    r"|\((?:put|add|paste|enter|type|set|change)\b[^()\n]{0,40}\b(?:here|later)\b[^()\n]{0,40}\)"
    rf"|\([^()\n]{{1,40}}\b(?:goes\ here|{_LATER})\b[^()\n]{{0,20}}\)"
    rf"|(?<=[:\u2014(])[ ]?(?:{_LATER}|уточняется|решим|позже[ ]\w{{3,12}})[ ]?(?=[.,;)\n]|$)"
    r"|\b(?:такой|такого|такому|таком|такую|такая|такое|столько)-то\b|\b(?:so-and-so|such-and-such)\b"
    r"|(?<=[\"«])(?:\u2026|\.{3,5})(?=[\"»])|\b\w{2,20}[ ]goes[ ]here\b"
    r"|\b(?:xx|\u0445\u0445)\b(?=[ ]?[%$\u20ac\u20bd\u00b0]|[ ][^\W\d_])"
    r"|\?\?\?+|_{3,}|(?<!\w)your[_-][a-z0-9_-]{2,40}\b|\binsert[_-][a-z0-9_-]{2,40}\b"
)
_SHELL = (
    r"\$\{[a-z_][a-z0-9_]{0,60}\}|(?<![\w$])\$[a-z_][a-z0-9_]{1,60}\b"
    r"|(?<!\w)%[a-z_][a-z0-9_]{1,60}%(?!\w)|%\([a-z_]{1,60}\)[sd]"
)
_SLOT = re.compile(
    rf"""
    (?P<double>\{{\{{[^{{}}\n]{{1,80}}\}}\}}|\{{%[^%\n]{{1,80}}%\}}|<<[^<>\n]{{1,60}}>>|\[\[[^\[\]\n]{{1,60}}\]\]
      |(?<![\w\#&/])\#{{1,2}}[^\W\d_][\w]{{1,30}}\#{{1,2}}(?![\w\#]))
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
    "capital": "L205",
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
_LIKE_WORDS = _names("todo tbd tba tbc fixme xxx xx \u0445\u0445")  # only capitals make a mark of them
_TWENTY = re.compile(r"[ ](?:век|столет|съезд|century|vek|chromosom|olymp|олимп)")  # after XX as a number
# Words that are written in capitals without being short for something.
_CAPITALS = re.compile(
    r"(?<![\w.#/{<\[$%-])(?:ИМЯ|ФАМИЛИ[ЯЮИ]|ОТЧЕСТВО|ГОРОД[АЕУ]?|АДРЕС|НАЗВАНИЕ|КОМПАНИ[ЯИ]|ОРГАНИЗАЦИ[ЯИ]|НОМЕР|ССЫЛКА"
    r"|УЛИЦА|ДАТА|ТЕМА|СУММА|ЛОГИН|ПАРОЛЬ|ТЕЛЕФОН|NAME|CITY|TOWN|COUNTRY|COMPANY|ADDRESS|SURNAME|USERNAME|TOPIC|AMOUNT"
    r"|STREET|DATE|CLIENT|CUSTOMER|КЛИЕНТ[АУ]?)(?:[ ][A-ZА-Я]{3,12}){0,2}(?![\w:}>\])%-]|\.\w)"
)
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
    leave: WordSet
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
    for one in (*_candidates(prompt), *_capitals(prompt)):
        reach = near.IN_CODE if one.kind == "shell" else near.BEFORE
        sentence, form, about = near.look(one.start, one.end, reach)
        if one.kind == "capital":
            governed = " " in one.text or near.previous(one.start) in words.prepositions.words
            if form or about or not governed:
                continue
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
        if form and (one.kind != "marker" or one.inner in ("xx", "\u0445\u0445")):
            forms.add(sentence)
        if about and one.kind == "marker":
            spoken_of.add(sentence)
        if about or (one.kind in _NAMED and one.inner in defined):
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


def _capitals(prompt: Prompt) -> list[_Candidate]:
    """Nouns in capitals that stand for what is to be written there: "for NAME SURNAME"."""
    return [
        _Candidate(
            "capital", match.start(), match.end(), match.group().lower(), match.group(), match.group().lower()
        )
        for match in islice(_CAPITALS.finditer(_written(prompt)), MAX_SLOTS)
    ]


def _written(prompt: Prompt) -> str:
    """The text as it was written, data set apart: quotations and code blanked out."""
    parts, position = [], 0
    for start, end in prompt.data:
        if start >= position:
            parts += prompt.text[position:start], " " * (end - start)
            position = end
    return "".join([*parts, prompt.text[position:]])


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
    if one.inner in ("xx", "\u0445\u0445") and _TWENTY.match(prose, one.end):
        return True
    return one.inner in _LIKE_WORDS and not one.written.isupper()


def _is_slot(one: _Candidate, words: Words, previous: str) -> bool:
    """Whether square brackets hold what somebody was to write: they say so, or stand where a noun stands."""
    names = one.names
    if not names or len(names) > 6:
        return "..." in one.inner or "\u2026" in one.inner
    if names & words.fill.words or names <= words.slots.words:
        return True
    if one.written.isupper() and len(one.inner) > 2:
        numbered = any(map(str.isdigit, names)) and not all(map(str.isdigit, names))
        return numbered or previous in words.prepositions.words or bool(names & words.slots.words)
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

    BEFORE, AFTER, SOUGHT, ASKED, LEFT, IN_CODE = 8, 2, 2, 3, 4, 3

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

    def look(self, start: int, end: int, reach: int = BEFORE) -> tuple[int, bool, bool]:
        """The sentence of a slot by number, whether it is part of a form, whether it is spoken about.

        Words of a form count when they stand at most `reach` words before.
        """
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
        form = any(map(self._words.form.takes, before[-reach:]))
        about = any(map(self._words.about.takes, before + after))
        about = about or any(map(self._words.seek.takes, before[-self.SOUGHT :]))
        return index, form, about or any(map(self._words.leave.takes, before[-self.LEFT :]))

    def _index(self, offset: int) -> int:
        return max(0, bisect_right(self._starts, offset) - 1)
