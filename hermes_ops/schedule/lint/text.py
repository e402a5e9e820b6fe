"""A prompt as the rules see it: what is data set apart, the rest as words in clauses and sentences.

Fenced code, inline code, quotations and quoted lines are data: an instruction that speaks *about* words
does not say them. Every step is linear in the length of the text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

WORD, PATH, URL, DATA, CHANNEL, HANDLE, ADDRESS, NUMBER, SLOT, SILENT = (
    "word",
    "path",
    "url",
    "data",
    "channel",
    "handle",
    "address",
    "number",
    "slot",
    "silent",
)

_CODE, _QUOTE = "\ue000", "\ue001"  # stand in for data, so that offsets stay those of the text

# One character for one: curly quotes, dashes and spaces as ASCII, capitals of any script as small letters.
_FOLD = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u02bc\u00b4\u2032"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033"), '"'),
    **dict.fromkeys(map(ord, "\u2013\u2014\u2015\u2212"), "\u2014"),
    **dict.fromkeys(map(ord, "\u2010\u2011"), "-"),
    **dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u202f\t\r\x0b\x0c"), " "),
    **dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad"), "\u2060"),
    ord("\u0130"): "i",
    ord("\u0451"): "\u0435",
    ord("\u0401"): "\u0435",
}

_CONTRACTIONS = {
    "n't": ("not",),
    "'ll": ("will",),
    "'ve": ("have",),
    "'re": ("are",),
    "'m": ("am",),
    "'d": ("would",),
}
_WHOLE = {
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "won't": ("will", "not"),
    "shan't": ("shall", "not"),
    "let's": ("let", "us"),
    "dont": ("do", "not"),
    "doesnt": ("does", "not"),
    "e-mail": ("email",),
    "e-mails": ("emails",),
    "\u0435-mail": ("email",),
    "okay": ("ok",),
}

_LETTER = r"\w\u0300-\u036f\u2060"
_TOKEN = re.compile(
    rf"""
    (?P<url>[a-z][a-z0-9+]{{1,9}}://[^\s<>"'`)\]{_CODE}{_QUOTE}]*[^\s<>"'`)\]{_CODE}{_QUOTE}.,:;!?])
  | (?P<address>(?<![{_LETTER}])[a-z0-9][a-z0-9.+_-]{{0,63}}@[a-z0-9-]{{1,63}}(?:\.[a-z0-9-]{{1,63}}){{1,8}})
  | (?P<path>(?<![{_LETTER}/.])(?:~|\.{{1,2}}|[a-z]:)?/
      (?:[{_LETTER}.@%+=:{{}}$<>*/\[\]-]*[{_LETTER}@%+={{}}$>*/\]-])?)
  | (?P<channel>(?<![{_LETTER}#&])\#[^\W\d_][\w-]*)
  | (?P<handle>(?<![{_LETTER}@/.])@[^\W\d_][\w]*)
  | (?P<silent>\[silent\])
  | (?P<slot>\{{\{{?[^{{}}\n]{{1,80}}\}}\}}?|<[^<>\n]{{1,80}}>)
  | (?P<word>[^\W_][{_LETTER}]*(?:['.\u00b7-](?=[^\W_])[{_LETTER}]+)*|_[{_LETTER}]*)
  | (?P<data>{_CODE}+|{_QUOTE}+)
  | (?P<mark>[.!?\u2026]+|[,;:\u2014()\[\]"\n]|-(?=\s))
    """,
    re.VERBOSE,
)
_BULLET = re.compile(r"\s*(?:[-*+\u2022\u2013\u2014]|\(?\d{1,3}[.)]|\(?[a-z\u0430-\u044f]\)|\#{1,6})\s")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w-]*")
_INLINE = re.compile(r"(`{1,2})([^`\n]{1,300})\1")
_QUOTED = re.compile(
    r'"[^"\n]{1,400}"|\u00ab[^\u00ab\u00bb\n]{1,400}\u00bb'
    rf"|(?<![{_LETTER}'])'(?=\S)[^'\n]{{1,200}}'(?![{_LETTER}])"
)
MAX_SENTENCE = 400  # words; a longer one is read in pieces


@dataclass(frozen=True)
class Token:
    """One word, or one thing that counts as a word: a path, an address, a quotation.

    ``text`` is folded ("don't" is "do", "not"); ``start`` and ``end`` are offsets of the prompt; ``clause``
    counts the clauses of its sentence.
    """

    text: str
    start: int
    end: int
    kind: str = WORD
    clause: int = 0


@dataclass(frozen=True)
class Sentence:
    """The words of a sentence, a heading or an item of a list; ``item`` for the last."""

    tokens: tuple[Token, ...]
    item: bool = False

    @property
    def start(self) -> int:
        return self.tokens[0].start

    @property
    def end(self) -> int:
        return self.tokens[-1].end


@dataclass
class Prompt:
    """A prompt, read once. ``prose`` is the text with code blanked out, of the same length."""

    text: str
    prose: str = ""
    sentences: list[Sentence] = field(default_factory=list)
    data: list[tuple[int, int]] = field(default_factory=list)
    _lines: list[int] = field(default_factory=list)

    @property
    def tokens(self) -> Iterator[Token]:
        for sentence in self.sentences:
            yield from sentence.tokens

    @cached_property
    def names_a_place(self) -> bool:
        """Whether it names a file or an address, or has code."""
        return any(token.kind in (PATH, URL) or token.text == "<code>" for token in self.tokens)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        line = bisect_right(self._lines, offset)
        return line, offset - self._lines[line - 1] + 1


def read_prompt(text: str) -> Prompt:
    """Read a prompt."""
    folded = fold(text)
    code = _code_spans(folded)
    prose = _blank(folded, code, _CODE)
    quotes = [
        (match.start(), match.end())
        for match in _QUOTED.finditer(prose)
        if match.end() - match.start() < 0.8 * len(text.strip())
    ]
    masked = _blank(prose, quotes, _QUOTE)
    lines = [0] + [index + 1 for index, character in enumerate(text) if character == "\n"]
    prompt = Prompt(text, prose, [], sorted(code + quotes), lines)
    prompt.sentences = list(_sentences(masked, text))
    return prompt


def fold(text: str) -> str:
    """Small letters, plain quotes, ё as е; of the same length as the text."""
    lowered = text.translate(_FOLD)
    quick = lowered.lower()
    if len(quick) == len(lowered):
        return quick
    return "".join(low if len(low := character.lower()) == 1 else character for character in lowered)


def _code_spans(folded: str) -> list[tuple[int, int]]:
    """Fenced blocks, lines quoted with `>`, HTML comments, suppressions, inline code."""
    spans, position, opened = [], 0, None
    lines = folded.split("\n")
    for line in lines:
        bare = line.lstrip(" ")
        fence = bare[:3]
        if fence in ("```", "~~~"):
            if opened is None:
                opened = position, fence
            elif opened[1] == fence:
                spans.append((opened[0], position + len(line)))
                opened = None
        elif opened is None and (bare.startswith(">") or "ops-lint:" in bare):
            spans.append((position, position + len(line)))
        position += len(line) + 1
    start = folded.find("<!--")
    while start >= 0:
        end = folded.find("-->", start)
        if end < 0:
            break
        spans.append((start, end + 3))
        start = folded.find("<!--", end)
    prose = _blank(folded, spans, _CODE)
    spans += [(match.start(), match.end()) for match in _INLINE.finditer(prose) if _CODE not in match.group()]
    return sorted(spans)


def _blank(text: str, spans: list[tuple[int, int]], mark: str) -> str:
    parts, position = [], 0
    for start, end in sorted(spans):
        if start < position:
            continue
        parts += text[position:start], mark * (end - start)
        position = end
    return "".join([*parts, text[position:]])


def _sentences(masked: str, text: str) -> Iterator[Sentence]:
    tokens: list[Token] = []
    clause, item = 0, bool(_BULLET.match(masked))
    for match in _TOKEN.finditer(masked):
        kind = match.lastgroup
        if kind == "mark":
            if _ends_sentence(match, masked, text):
                if tokens:
                    yield Sentence(tuple(tokens), item)
                tokens, clause = [], 0
                item = match.group() == "\n" and bool(_BULLET.match(masked, match.end(), match.end() + 40))
            elif match.group() != "\n":
                clause += 1
            continue
        tokens += _read(match, kind or WORD, text, clause)
        if len(tokens) >= MAX_SENTENCE:
            yield Sentence(tuple(tokens), item)
            tokens, clause = [], 0
    if tokens:
        yield Sentence(tuple(tokens), item)


def _ends_sentence(match: re.Match[str], masked: str, text: str) -> bool:
    mark, after = match.group(), masked[match.end() : match.end() + 42]
    if mark == "\n":
        following = after.lstrip(" ")
        if not following or following[0] == "\n" or _BULLET.match(after):
            return True
        before = masked[max(0, match.start() - 1) : match.start()]
        first = text[match.end() + len(after) - len(following)]
        return before in ":;" or not first.islower()
    if mark[0] not in ".!?\u2026":
        return False
    if not after or after[0] in '\n"':
        return True
    return after[0] == " " and (mark[0] in "!?" or not _abbreviation(masked, match.start()))


def _abbreviation(masked: str, dot: int) -> bool:
    word = masked[max(0, dot - 5) : dot].split(" ")[-1]
    return word in (
        "e.g",
        "i.e",
        "etc",
        "vs",
        "no",
        "nr",
        "approx",
        "mr",
        "dr",
        "\u0442.\u0435",
        "\u0442.\u043a",
        "\u0442.\u0434",
        "\u0440\u0443\u0431",
        "\u0441\u043c",
        "\u0443\u043b",
        "\u0433",
    )


def _read(match: re.Match[str], kind: str, text: str, clause: int) -> Iterator[Token]:
    start, end, found = match.start(), match.end(), match.group().replace("\u2060", "")
    if kind == "data":
        inner = text[start:end].strip("`")
        if found[0] == _CODE and _IDENTIFIER.fullmatch(inner):
            yield Token(inner.lower(), start, end, DATA, clause)  # a tool, named as people name tools
        else:
            yield Token("<code>" if found[0] == _CODE else "<quote>", start, end, DATA, clause)
        return
    if kind != "word":
        yield Token(f"<{kind}>", start, end, kind, clause)
        return
    if not found.isascii():
        found = unicodedata.normalize("NFC", found).replace("\u0451", "\u0435")
    if found[0].isdigit():
        yield Token(found, start, end, NUMBER, clause)
        return
    for part in _expand(found):
        yield Token(part, start, end, WORD, clause)


def _expand(word: str) -> tuple[str, ...]:
    if word in _WHOLE:
        return _WHOLE[word]
    if "'" in word:
        for ending, parts in _CONTRACTIONS.items():
            if word.endswith(ending):
                return (word[: -len(ending)], *parts)
        if word.endswith("'s"):
            return (word[:-2],) if word[:-2] not in ("that", "it", "what", "there") else (word[:-2], "is")
    return (word,)
