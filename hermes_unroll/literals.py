"""Write plain values as Python literals: ASCII only, the same bytes on every Python, nothing but data.

What is written here is parsed as source later. So only exact built-in types are accepted (a subclass
could bring a repr of its own) and everything else is an error instead of a guess; values.py turns
other values into plain ones first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

# CPython's parser stops at 200 open brackets; a literal stands inside a few of the program's own.
MAX_DEPTH = 150
# CPython refuses decimal literals over 4,300 digits, about 14,280 bits.
MAX_INT_BITS = 14_000
# A longer text is written as one piece per line of it, but no piece is shorter than this without need.
LONG_TEXT = 100
SHORTEST_PIECE = 70


class LiteralError(ValueError):
    """A value that cannot be written as a literal."""


def literal(value: Any) -> str:
    """Return the source text of a value.

    None, bool, int, finite float, str, list and dict with str or int keys come back equal from the
    parser. A long text with line ends, inside a list or dict, becomes adjacent literals on lines of
    their own.
    Raises LiteralError for any other type, an infinite or overlong number, or nesting over MAX_DEPTH.
    """
    return ascii(value) if type(value) is str else _literal(value, MAX_DEPTH)


def layout(value: Any, levels: int = 1, indent: str = "") -> Iterator[str]:
    """Yield the source text of a container, one item per line down to ``levels`` levels, item by item."""
    if levels == 0 or type(value) not in (list, dict) or not value:
        yield _literal(value, MAX_DEPTH) if indent else literal(value)
        return
    inner = indent + " "
    named = type(value) is dict
    yield "{\n" if named else "[\n"
    for item in value.items() if named else value:
        yield f"{inner}{_key(item[0])}: " if named else inner
        yield from layout(item[1] if named else item, levels - 1, inner)
        yield ",\n"
    yield indent + ("}" if named else "]")


def comment_text(value: Any, limit: int = 200) -> str:
    """Return a recorded value as text that cannot leave a comment: one line, ASCII, bounded length."""
    if value is None or value == "":
        return "unknown"
    text = value if type(value) is str else str(value)
    return ascii(text[:limit])[1:-1] + ("..." if len(text) > limit else "")


def _literal(value: Any, depth: int) -> str:
    kind = type(value)
    if kind is str:
        return ascii(value) if len(value) <= LONG_TEXT or "\n" not in value else _pieces(value)
    if kind is int:
        if value.bit_length() > MAX_INT_BITS:
            raise LiteralError(f"an integer of {value.bit_length()} bits is too long for a literal")
        return repr(value)
    if value is None or kind is bool:
        return repr(value)
    if depth == 0:
        raise LiteralError(f"nested deeper than {MAX_DEPTH} levels")
    if kind is dict:
        items = [f"{_key(key)}: {_literal(item, depth - 1)}" for key, item in value.items()]
        return "{" + ", ".join(items) + "}"
    if kind is list:
        return "[" + ", ".join([_literal(item, depth - 1) for item in value]) + "]"
    if kind is float and value - value == 0.0:
        return repr(value)
    raise LiteralError(f"{kind.__name__} {ascii(value)[:80]} is no plain value; encode it first")


def _key(key: Any) -> str:
    if type(key) is str:
        return ascii(key)
    if type(key) is int:
        return _literal(key, 1)
    raise LiteralError(f"{type(key).__name__} {ascii(key)[:80]} is no key of a literal")


def _pieces(text: str) -> str:
    pieces = []
    start = 0
    while len(text) - start > SHORTEST_PIECE:
        end = text.find("\n", start + SHORTEST_PIECE - 1) + 1
        if end == 0:
            break
        pieces.append(ascii(text[start:end]))
        start = end
    if start < len(text):
        pieces.append(ascii(text[start:]))
    return "\n  " + "\n  ".join(pieces)
