"""Is `((` arithmetic or two nested subshells? As bash decides it: by where the parentheses close."""

from __future__ import annotations

import re

from .source import Source

_OUTSIDE = re.compile(r"\\[\s\S]|'[^']*'|\"[^\"\\$`]*\"|`[^`\\]*(?:\\[\s\S][^`\\]*)*`|[\"()]")
_INSIDE = re.compile(r"\\[\s\S]|`[^`\\]*(?:\\[\s\S][^`\\]*)*`|\$\(|\"")


def closing(source: Source, opening: int) -> int:
    """Where the `))` of an arithmetic expression begins whose `((` is at `opening`; -1 when it is none.

    It is none when its two closing parentheses do not stand together, or are missing.
    """
    pairs = source.parens
    if opening not in pairs:
        _match(source, opening)
        pairs = source.parens
    inner = pairs.get(opening + 1, -1)
    if inner < 0:
        return -1
    while source.text.startswith("\\\n", inner + 1):
        source.join(inner + 1)
        _match(source, opening)
        pairs = source.parens
    return inner if pairs[opening] == inner + 1 else -1


def _match(source: Source, opening: int) -> None:
    """Note for the parenthesis at `opening`, and for those inside it, where they close; -1 for nowhere."""
    text, pairs = source.text, source.parens
    stack: list[int] = []
    quotes: list[int] = []  # how many parentheses were open where each open double quote began
    pos = opening
    for found in range(4 * source.steps + 1):  # noqa: B007
        match = (_INSIDE if quotes and quotes[-1] == len(stack) else _OUTSIDE).search(text, pos)
        if not match:
            break
        pos = match.end()
        sign = match[0]
        if sign == "(" or sign == "$(":
            stack.append(pos - 1)
        elif sign == ")":
            pairs[stack.pop()] = pos - 1
            if not stack:
                break
        elif sign == '"':
            if quotes and quotes[-1] == len(stack):
                quotes.pop()
            else:
                quotes.append(len(stack))
    for place in stack:
        pairs[place] = -1
    source.spend(2 + found // 4 + (pos - opening) // 2000)
