"""The sets of letters that tr takes: ranges, classes, repeats and escapes."""

from __future__ import annotations

import re
from functools import lru_cache

_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_ASCII = [chr(code) for code in range(128)]
_CLASSES = {
    "alpha": [x for x in _ASCII if x.isalpha()],
    "lower": [x for x in _ASCII if x.islower()],
    "upper": [x for x in _ASCII if x.isupper()],
    "digit": [x for x in _ASCII if x.isdigit()],
    "alnum": [x for x in _ASCII if x.isalnum()],
    "space": list("\t\n\v\f\r "),
    "blank": list("\t "),
    "xdigit": list("0123456789ABCDEFabcdef"),
    "punct": [x for x in _ASCII if x.isprintable() and not x.isalnum() and x != " "],
    "print": [x for x in _ASCII if x.isprintable()],
    "graph": [x for x in _ASCII if x.isprintable() and x != " "],
    "cntrl": [x for x in _ASCII if not x.isprintable()],
}
_PIECE = re.compile(
    r"\[:(?P<named>\w+):\]|\[=(?P<same>.)=\]|\[(?P<again>\\?.)\*(?P<count>\d*)\]"
    r"|\\(?P<octal>[0-7]{1,3})|\\(?P<escape>.)|(?P<letter>.)",
    re.DOTALL,
)
_MOST = 512


@lru_cache(maxsize=64)
def expanded(text: str) -> str | None:
    """All letters of a set in order; None for a set that is not followed."""
    letters: list[str] = []
    ranged = False  # a "-" stands between the last letter and the next
    at = 0
    while at < len(text):
        found = _PIECE.match(text, at)
        if found is None:
            return None
        at = found.end()
        if found["named"] is not None:
            named = _CLASSES.get(found["named"])
            if named is None or ranged:
                return None
            letters.extend(named)
            continue
        if found["again"] is not None:
            again = expanded(found["again"])
            # Without a count it fills up, as the last letter of a set does anyhow.
            if not again or ranged or (not found["count"] and at < len(text)):
                return None
            count = found["count"] or "1"
            letters.extend(again * min(int(count, 8 if count[0] == "0" else 10), _MOST))
            continue
        letter = _letter(found)
        if ranged:
            first = ord(letters.pop())
            if not 0 <= ord(letter) - first < 256:
                return None
            letters.extend(map(chr, range(first, ord(letter) + 1)))
            ranged = False
        elif letter == "-" and found["letter"] and letters and at < len(text):
            ranged = True
        else:
            letters.append(letter)
    return "".join(letters)


def _letter(found: re.Match[str]) -> str:
    if found["octal"] is not None:
        return chr(int(found["octal"], 8) & 0xFF)
    if found["escape"] is not None:
        return _ESCAPES.get(found["escape"], found["escape"])
    return found["same"] or found["letter"]
