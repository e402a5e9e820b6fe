"""Shell patterns on known values: `${x#pattern}`, `${x/pattern/text}` and globs in the place of a command."""

from __future__ import annotations

import re
from functools import lru_cache

MOST_STARS = 4
LONGEST = 4096
# How many letters may be looked at to match one value: its length to the power of the stars.
MOST_LOOKS = 200_000


@lru_cache(maxsize=256)
def regular(pattern: str, greedy: bool = True) -> re.Pattern[str] | None:
    """The regular expression of a shell pattern; None when it could take long to match."""
    if len(pattern) > 200 or pattern.count("*") > MOST_STARS:
        return None
    star = ".*" if greedy else ".*?"
    pieces: list[str] = []
    at = 0
    while at < len(pattern):
        letter = pattern[at]
        at += 1
        if letter == "*":
            pieces.append(star)
        elif letter == "?":
            pieces.append(".")
        elif letter == "\\" and at < len(pattern):
            pieces.append(re.escape(pattern[at]))
            at += 1
        elif letter == "[" and (end := pattern.find("]", at + 1 + (pattern[at : at + 1] in ("!", "^")))) > 0:
            inside = pattern[at:end].replace("\\", "\\\\").replace("[", "\\[")
            if inside[:1] in ("!", "^"):
                inside = "^" + inside[1:]
            pieces.append(f"[{_classes(inside)}]")
            at = end + 1
        else:
            pieces.append(re.escape(letter))
    try:
        return re.compile("".join(pieces), re.DOTALL)
    except re.error:
        return None


def _classes(inside: str) -> str:
    for name, letters in (("alpha", "A-Za-z"), ("digit", "0-9"), ("space", r"\s"), ("alnum", "A-Za-z0-9")):
        inside = inside.replace(f"\\[:{name}:", letters)
    return inside


def looks(value: str, pattern: str, everywhere: bool = False) -> int:
    """How many letters of a value may be looked at to match a pattern, once or from every letter on."""
    return len(value) ** max(1, pattern.count("*") + everywhere)


def matches(text: str, pattern: str) -> bool:
    """Does the pattern match the whole text? A pattern that is too intricate matches nothing."""
    expression = regular(pattern) if looks(text, pattern) <= MOST_LOOKS else None
    return expression is not None and expression.fullmatch(text) is not None


def without_prefix(value: str, pattern: str, longest: bool) -> str | None:
    """`${value#pattern}` or, longest, `##`; None when that cannot be said."""
    expression = regular(pattern, longest)
    if expression is None or len(value) > LONGEST or looks(value, pattern) > MOST_LOOKS:
        return None
    found = expression.match(value)
    return value[found.end() :] if found else value


def without_suffix(value: str, pattern: str, longest: bool) -> str | None:
    """`${value%pattern}` or, longest, `%%`; None when that cannot be said."""
    expression = regular(pattern)
    if expression is None or looks(value, pattern, True) > MOST_LOOKS:
        return None
    places = range(len(value) + 1) if longest else range(len(value), -1, -1)
    for start in places:
        if expression.fullmatch(value, start):
            return value[:start]
    return value


def replaced(value: str, pattern: str, new: str, everywhere: bool) -> str | None:
    """`${value/pattern/new}`, with "#" or "%" before the pattern anchored; None when that cannot be said."""
    if pattern[:1] == "#" and len(pattern) > 1:
        rest = without_prefix(value, pattern[1:], True)
        return None if rest is None else (new + rest if rest != value else value)
    if pattern[:1] == "%" and len(pattern) > 1:
        rest = without_suffix(value, pattern[1:], True)
        return None if rest is None else (rest + new if rest != value else value)
    expression = regular(pattern)
    if expression is None or not pattern or len(value) > LONGEST:
        return None
    if "*" in pattern and looks(value, pattern, True) > MOST_LOOKS:
        return None
    return expression.sub(lambda _: new, value, count=0 if everywhere else 1)
