"""Brace expansion: `{a,b}`, nested, and the sequences `{1..9}`, `{a..e..2}`."""

from __future__ import annotations

import re
from itertools import pairwise

from .expansions import merged
from .source import Source
from .tree import Param, Part, Span, Text, Word

# No word becomes more than so many.
RESULTS = 64
# A word of more signs or pieces than this is not expanded.
_SIGNS_READ = 200
_UNITS = 600
_UNKNOWN = (Param("", "bad"),)

_SIGNS = re.compile(r"[{},]|[^{},]+")
_NAME_GOES_ON = re.compile(r"[A-Za-z0-9_]+")
_SEQUENCE = re.compile(r"(-?[0-9]+|[A-Za-z])\.\.(-?[0-9]+|[A-Za-z])(?:\.\.(-?[0-9]+))?\Z")

# A word as brace expansion sees it: the three signs, and everything else.
_Unit = Part | str


def braced(source: Source, parts: tuple[Part, ...], span: Span) -> list[Word]:
    """The words that a word becomes. Where they would be too many, the last one stands for all the others."""
    source.spend(1)
    units: list[_Unit] = []
    texts = [part.value for part in parts if type(part) is Text and not part.quoted]
    if sum(text.count("{") + text.count(",") for text in texts) > _SIGNS_READ:
        return [Word(parts, span), Word(_UNKNOWN, span)]
    for part in parts:
        if type(part) is Text and not part.quoted:
            for piece in _SIGNS.findall(part.value):
                units.append(piece if piece in "{}," else Text(piece))
        else:
            units.append(part)
    pairs = _pairs(units)
    if not pairs:
        return [Word(parts, span)]
    source.spend(len(units) // 4)
    if len(units) > _UNITS:
        return [Word(parts, span), Word(_UNKNOWN, span)]
    results, more = _expand(units, pairs, 0, len(units))
    source.spend(sum(map(len, results)) // 4)
    words = [Word(merged([_copy(part) for part in result]), span) for result in results]
    for name in _names_before_braces(source, units, span):
        for word in words:
            word.parts = _lengthened(word.parts, name)
    if more:
        words.append(Word(_UNKNOWN, span))
    return words


def _names_before_braces(source: Source, units: list[_Unit], span: Span) -> list[Param]:
    """The parameters written as `$name{`: braces come first, so what they give may go on with the name."""
    raw = source.text[span[0] : span[1]]
    return [
        unit
        for unit, after in pairwise(units)
        if type(unit) is Param and after == "{" and f"${unit.name}{{" in raw and unit.name.isidentifier()
    ]


def _lengthened(parts: tuple[Part, ...], name: Param) -> tuple[Part, ...]:
    """The parts of a word with what follows a parameter of a name given to it."""
    for at, (part, after) in enumerate(pairwise(parts)):
        if part is name and type(after) is Text and not after.quoted:
            more = _NAME_GOES_ON.match(after.value)
            if more:
                rest = after.value[more.end() :]
                longer = (Param(name.name + more[0]), *((Text(rest),) if rest else ()))
                return (*parts[:at], *longer, *parts[at + 2 :])
    return parts


def _copy(part: Part) -> Part:
    """Texts are merged in place, so each word needs its own."""
    return Text(part.value, part.quoted) if type(part) is Text else part


def _pairs(units: list[_Unit]) -> dict[int, int]:
    """Where each opening brace that has one finds its closing brace."""
    pairs: dict[int, int] = {}
    stack: list[int] = []
    for at, unit in enumerate(units):
        if unit == "{":
            stack.append(at)
        elif unit == "}" and stack:
            pairs[stack.pop()] = at
    return pairs


def _expand(units: list[_Unit], pairs: dict[int, int], start: int, end: int) -> tuple[list[list[Part]], bool]:
    """All expansions of units[start:end], and whether some were left out."""
    done: list[list[Part]] = [[]]
    more = False
    at = start
    while at < end:
        unit = units[at]
        choices: list[list[Part]] | None = None
        if unit == "{" and at in pairs:
            close = pairs[at]
            choices, left = _choices(units, pairs, at, close)
            if choices is not None:
                more |= left
                at = close
        if choices is None:
            part = Text(unit) if type(unit) is str else unit
            for each in done:
                each.append(part)
        else:
            if len(done) * len(choices) > RESULTS:
                more = more or len(choices) > 1
                done = [one + choice for one in done for choice in choices[:RESULTS]][:RESULTS]
            else:
                done = [one + choice for one in done for choice in choices]
        at += 1
    return done, more


def _choices(
    units: list[_Unit], pairs: dict[int, int], opening: int, close: int
) -> tuple[list[list[Part]] | None, bool]:
    """What the braces stand for; None when they are text."""
    commas = []
    at = opening + 1
    while at < close:
        if units[at] == "{" and at in pairs:
            at = pairs[at]
        elif units[at] == ",":
            commas.append(at)
        at += 1
    if commas:
        choices: list[list[Part]] = []
        more = False
        begin = opening + 1
        for comma in [*commas, close]:
            found, left = _expand(units, pairs, begin, comma)
            choices += found
            more |= left
            begin = comma + 1
        if len(choices) > RESULTS:
            return choices[:RESULTS], True
        return choices, more
    if close == opening + 2 and type(units[opening + 1]) is Text:
        sequence = _sequence(units[opening + 1].value)  # type: ignore[union-attr]
        if sequence:
            return [[Text(value)] for value in sequence], False
    return None, False


def _sequence(text: str) -> list[str]:
    """The values of `1..9` or `a..e..2`; of a long one the beginning and the last."""
    match = _SEQUENCE.match(text)
    if not match or len(text) > 60:
        return []
    first, last = match[1], match[2]
    step = abs(int(match[3] or 1)) or 1
    letters = first.isalpha()
    if letters != last.isalpha():
        return []
    low, high = (ord(first), ord(last)) if letters else (int(first), int(last))
    values = range(low, high + 1, step) if low <= high else range(low, high - 1, -step)
    numbers = [*values[: RESULTS - 1], values[-1]] if len(values) > RESULTS else list(values)
    if letters:
        return [chr(number) for number in numbers]
    if any(len(end) > 1 and end.lstrip("-").startswith("0") for end in (first, last)):
        width = max(len(first), len(last))
        return [f"{number:0{width}d}" for number in numbers]
    return [str(number) for number in numbers]
