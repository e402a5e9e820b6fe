"""One word, up to the blank or operator that ends it, and the patterns with parentheses in one."""

from __future__ import annotations

import re

from .expansions import special
from .source import Exhausted, Source, Unreadable
from .tokens import BRACED, CHUNK, ESCAPED, FOLD, IN_DOUBLE, IN_SINGLE, PARAMETER, PIECE
from .tree import Param, Part, Text

_PATTERN_CHUNK = re.compile(r"[^()'\"`$\\<>]+")
_PARAMETERS = (PARAMETER, BRACED)
_LITERALS = (IN_DOUBLE, IN_SINGLE, ESCAPED)
_PATTERN_SIGNS = ("?", "*", "+", "@", "!")


def pieces(source: Source, pos: int, parts: list[Part]) -> int:
    """Read the pieces of a word from `pos` on into `parts`; gives where it ends. May read nothing."""
    text = source.text
    for taken in range(source.steps + 1):  # noqa: B007
        match = PIECE.match(text, pos)
        if match is None:
            break
        kind = match.lastindex
        if kind == CHUNK:
            parts.append(Text(match[1]))
            pos = match.end()
        elif kind in _PARAMETERS:
            pos = match.end()
            if kind == PARAMETER and text.startswith("\\\n", pos):
                source.join(pos)
                text = source.text
                pos = match.start()
            else:
                parts.append(Param(match[kind]))
        elif kind in _LITERALS:
            parts.append(Text(match[kind], True))
            pos = match.end()
        elif kind == FOLD:
            pos = match.end()
        else:
            if match[0] == "(":
                last = parts[-1] if parts else None
                is_pattern = type(last) is Text and not last.quoted and last.value.endswith(_PATTERN_SIGNS)
                # `name!()` defines a function where extended patterns are off, as they are in scripts.
                if not is_pattern or text.startswith("()", pos):
                    break
                after = pattern_group(source, pos, parts)
            else:
                after = special(source, pos, parts)
                if after == pos:
                    break
            text = source.text
            pos = after
    else:
        raise Exhausted("too many words")
    source.spend(taken)
    return pos


def pattern_group(source: Source, pos: int, parts: list[Part]) -> int:
    """Read the `(a|b)` of an extended pattern or a regular expression, from its opening parenthesis on."""
    start, open_groups = pos, 0
    text = source.text
    for taken in range(source.steps + 1):  # noqa: B007
        match = _PATTERN_CHUNK.match(text, pos)
        if match:
            parts.append(Text(match[0]))
            pos = match.end()
        sign = text[pos : pos + 1]
        if sign == "(" or sign == ")":
            parts.append(Text(sign))
            open_groups += 1 if sign == "(" else -1
            pos += 1
            if not open_groups:
                break
        elif not sign:
            raise Unreadable("a pattern with a parenthesis that is never closed", start)
        else:
            match = PIECE.match(text, pos)
            assert match
            kind = match.lastindex
            if kind in _LITERALS:
                parts.append(Text(match[kind], True))
                pos = match.end()
            elif kind == FOLD:
                pos = match.end()
            else:
                after = special(source, pos, parts)
                if after == pos:
                    parts.append(Text(sign))
                    after += 1
                pos = after
                text = source.text
    else:
        raise Exhausted("too many words")
    source.spend(taken)
    return pos
