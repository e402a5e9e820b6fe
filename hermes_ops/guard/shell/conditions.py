"""The inside of [[ ]]."""

from __future__ import annotations

import re

from .grammar import gap, word
from .source import Exhausted, Source, Unreadable
from .tree import Part, Text, Word
from .words import pattern_group, pieces

_SIGN = re.compile(r"&&|\|\||[()<>!](?=[ \t\n(]|\Z)|[()<>]")
_END = re.compile(r"\]\](?=[ \t\n;&|<>()]|\Z)")
_REGULAR = re.compile(r"[()|]")


def condition(source: Source, pos: int) -> tuple[tuple[Word, ...], int]:
    """Read up to `]]` and past it; gives the words, without connectives and parentheses."""
    words: list[Word] = []
    start, open_groups, after_match = pos, 0, False
    for taken in range(source.steps + 1):  # noqa: B007
        pos = gap(source, pos)
        text = source.text
        if pos >= len(text):
            raise Unreadable("a [[ without `]]`", start)
        if after_match:
            one, pos = _regular(source, pos)
            words.append(one)
            after_match = False
            continue
        if _END.match(text, pos):
            if open_groups:
                raise Unreadable("a parenthesis in [[ ]] that is never closed", pos)
            break
        sign = _SIGN.match(text, pos)
        if sign and not (sign[0] in "<>" and text.startswith("(", sign.end())):
            open_groups += {"(": 1, ")": -1}.get(sign[0], 0)
            if open_groups < 0:
                raise Unreadable("an unexpected `)` in [[ ]]", pos)
            pos = sign.end()
            continue
        one, pos = word(source, pos, "a [[ without `]]`")
        words.append(one)
        after_match = len(one.parts) == 1 and one.literal() == "=~" and not one.parts[0].quoted
    else:
        raise Exhausted("too many words")
    source.spend(taken)
    if not words:
        raise Unreadable("an empty [[ ]]", pos)
    return tuple(words), pos + 2


def _regular(source: Source, pos: int) -> tuple[Word, int]:
    """The regular expression after =~, in which ( ) and | are text."""
    parts: list[Part] = []
    start = pos
    while True:
        pos = pieces(source, pos, parts)
        sign = source.text[pos : pos + 1]
        if sign == "(":
            pos = pattern_group(source, pos, parts)
        elif sign == "|" and not source.text.startswith("||", pos):
            parts.append(Text(sign))
            pos += 1
        else:
            break
    if pos == start:
        raise Unreadable("a =~ with nothing after it", pos)
    return Word(tuple(parts), (start, pos)), pos
