"""Phrases of words: how they are written in the tables of languages, and how they are found.

A phrase is elements parted by spaces:
    word a|b|c       one word; one of several; `agree*` any word that begins so, `*ed` any that ends so
    @name            one of the words of a set of the language
    ?x               x or nothing
    ..3              up to three words of any kind
    ~3               up to three words, none of the language's `stop` words (which begin another thought)
    ^ $ .            beginning of a sentence, end of a clause, end of a sentence
    !                where an order begins: start of a clause, after "and", "then", "please", "to" ...
    =                at the very beginning: the phrase stands even when it is negated
A word may be <path>, <url>, <code>, <quote>, <channel>, <handle>, <address>, <slot>.
Gaps are bounded and a phrase is tried only at words that can begin it: the time is linear.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from .text import Sentence, Token

_STEM = 3  # shortest beginning that can be indexed


@dataclass(frozen=True)
class WordSet:
    """Words, beginnings of words, and endings."""

    words: frozenset[str] = frozenset()
    stems: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()

    def takes(self, word: str) -> bool:
        return (
            word in self.words
            or (bool(self.stems) and word.startswith(self.stems))
            or (bool(self.ends) and word.endswith(self.ends))
        )

    def __or__(self, other: WordSet) -> WordSet:
        return WordSet(self.words | other.words, self.stems + other.stems, self.ends + other.ends)


@dataclass(frozen=True)
class _Element(WordSet):
    optional: bool = False
    gap: int = 0
    stops: bool = False
    anchor: str = ""


@dataclass(frozen=True)
class Phrase:
    """A phrase ready to be found; ``tag`` is whatever it was given with (a rule id)."""

    tag: str
    source: str
    elements: tuple[_Element, ...]
    stands: bool = False


@dataclass(frozen=True)
class Match:
    """Where a phrase was found: `sentence.tokens[first : last + 1]`."""

    phrase: Phrase
    sentence: Sentence
    first: int
    last: int

    @property
    def tokens(self) -> tuple[Token, ...]:
        return self.sentence.tokens[self.first : self.last + 1]

    @property
    def start(self) -> int:
        return self.sentence.tokens[self.first].start

    @property
    def end(self) -> int:
        return self.sentence.tokens[self.last].end


class Matcher:
    """Finds the phrases of one language.

    ``sets`` name lists of words; of these `leads` are the words after which an order may begin, and `stop`
    those that a `~` gap does not cross. Raises ValueError for a phrase that cannot be read.
    """

    def __init__(self, phrases: Mapping[str, Iterable[str]], sets: Mapping[str, str]) -> None:
        self._sets = {name: word_set(text) for name, text in sets.items()}
        self._leads = self._set("leads").words
        self._stop = self._set("stop")
        self._exact: dict[str, list[Phrase]] = {}
        self._stems: dict[str, list[tuple[str, Phrase]]] = {}
        for tag, sources in phrases.items():
            for source in sources:
                self._add(tag, source)

    def find(self, sentence: Sentence) -> Iterator[Match]:
        """Every match in a sentence, in order of its first word; one per phrase and first word."""
        tokens = sentence.tokens
        for position, token in enumerate(tokens):
            for phrase in self._candidates(token.text):
                last = self._match(phrase.elements, 0, tokens, position)
                if last >= 0:
                    yield Match(phrase, sentence, position, last)

    def _set(self, name: str) -> WordSet:
        return self._sets.get(name, WordSet())

    def _candidates(self, word: str) -> Iterator[Phrase]:
        yield from self._exact.get(word, ())
        for stem, phrase in self._stems.get(word[:_STEM], ()):
            if word.startswith(stem):
                yield phrase

    def _add(self, tag: str, source: str) -> None:
        written = source.split()
        stands = written[:1] == ["="]
        elements = tuple(self._element(item, source) for item in written[stands:])
        for variant in _without_leading_optional(elements):
            phrase = Phrase(tag, source, variant, stands)
            first = next((element for element in variant if not element.anchor), None)
            if first is None or first.gap or first.ends:
                raise ValueError(f"phrase {source!r} must begin with a word")
            for word in first.words:
                self._exact.setdefault(word, []).append(phrase)
            for stem in first.stems:
                self._stems.setdefault(stem[:_STEM], []).append((stem, phrase))

    def _element(self, item: str, source: str) -> _Element:
        if item in ("^", "$", "!", "."):
            return _Element(anchor=item)
        if item.startswith("..") or (item.startswith("~") and item[1:].isdigit()):
            return _Element(gap=int(item.lstrip(".~")), stops=item[0] == "~")
        optional = item.startswith("?")
        parts = item.lstrip("?").split("|")
        if any(not part or part in ("^", "$", "!", "..") for part in parts):
            raise ValueError(f"phrase {source!r}: {item!r} cannot be read")
        try:
            found = join_sets(parts, self._sets)
        except KeyError as error:
            raise ValueError(f"phrase {source!r}: no set {error}") from error
        return _Element(found.words, found.stems, found.ends, optional)

    def _match(
        self, elements: tuple[_Element, ...], at: int, tokens: tuple[Token, ...], position: int
    ) -> int:
        """The last word of the shortest match of `elements[at:]` from `position`, or -1."""
        while at < len(elements):
            element = elements[at]
            if element.anchor:
                if not self._anchored(element.anchor, tokens, position):
                    return -1
                at += 1
                continue
            if element.gap:
                for width in range(element.gap + 1):
                    if width:
                        passed = position + width - 1
                        if passed >= len(tokens) or (element.stops and self._stop.takes(tokens[passed].text)):
                            return -1
                    found = self._match(elements, at + 1, tokens, position + width)
                    if found >= 0:
                        return found
                return -1
            here = position < len(tokens) and element.takes(tokens[position].text)
            if element.optional:
                if here:
                    found = self._match(elements, at + 1, tokens, position + 1)
                    if found >= 0:
                        return found
                at += 1
                continue
            if not here:
                return -1
            position, at = position + 1, at + 1
        return position - 1

    def _anchored(self, anchor: str, tokens: tuple[Token, ...], position: int) -> bool:
        if anchor == "^":
            return position == 0
        if anchor == ".":
            return position >= len(tokens)
        if anchor == "$":
            return position >= len(tokens) or tokens[position].clause != tokens[position - 1].clause
        if position == 0 or tokens[position].clause != tokens[position - 1].clause:
            return True
        before = tokens[position - 1].text
        return before in self._leads or (before.endswith("ly") and len(before) > 4)


def word_set(text: str) -> WordSet:
    """Read a set: words parted by spaces; `agree*` for all that begin so, `*ed` for all that end so."""
    exact, stems, ends = [], [], []
    for item in text.split():
        if item.startswith("*"):
            ends.append(item[1:])
        elif item.endswith("*"):
            if len(item) <= _STEM:
                raise ValueError(f"{item!r}: a beginning needs at least {_STEM} letters")
            stems.append(item[:-1])
        else:
            exact.append(item)
    return WordSet(frozenset(exact), tuple(stems), tuple(ends))


def join_sets(items: Iterable[str], sets: Mapping[str, WordSet]) -> WordSet:
    """One set of words and `@name`s of sets. Raises KeyError for a set that there is not."""
    items = list(items)
    found = word_set(" ".join(item for item in items if not item.startswith("@")))
    for item in items:
        if item.startswith("@"):
            found |= sets[item[1:]]
    return found


def _without_leading_optional(elements: tuple[_Element, ...]) -> Iterator[tuple[_Element, ...]]:
    """The phrase as it is with its leading optional words, and without each."""
    leading = next((index for index, element in enumerate(elements) if not element.anchor), len(elements))
    if leading < len(elements) and elements[leading].optional:
        first = elements[leading]
        given = _Element(first.words, first.stems, first.ends)
        yield (*elements[:leading], given, *elements[leading + 1 :])
        yield from _without_leading_optional((*elements[:leading], *elements[leading + 1 :]))
    else:
        yield elements
