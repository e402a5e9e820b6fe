"""Values of jq: how they are written and put together, and the functions of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from . import decode

LONGEST_INPUT = 20_000
MOST_VALUES, LONGEST_TEXT = 64, 8_000
_LARGEST = 10**15


class Unfollowed(Exception):
    """A program, or a use of one, that is not followed."""


def one(values: list[Any]) -> Any:
    """The only one of some values."""
    if len(values) != 1:
        raise Unfollowed
    return values[0]


def end_of(values: list[Any], place: int) -> Any:
    """The first or the last of some values."""
    if not values:
        raise Unfollowed
    return values[place]


def text_of(value: Any) -> str:
    """A value as it stands in a text."""
    return value if isinstance(value, str) else encoded(value)


def encoded(value: Any, indent: int | None = None, ascii_only: bool = False) -> str:
    """A value as JSON; a list may hold itself a hundred times, so that it is written piece by piece."""
    joints = (",", ":") if indent is None else (",", ": ")
    encoder = json.JSONEncoder(ensure_ascii=ascii_only, indent=indent, separators=joints)
    pieces, left = [], LONGEST_INPUT
    for piece in encoder.iterencode(value):
        pieces.append(piece)
        left -= len(piece)
        if left < 0:
            raise Unfollowed
    return "".join(pieces)


def short(text: str) -> str:
    """A text that was put together, where it is not too long."""
    if len(text) > LONGEST_TEXT:
        raise Unfollowed
    return text


def small(number: Any) -> Any:
    """A number that was computed, where it is one that jq writes digit by digit."""
    if not -_LARGEST <= number <= _LARGEST:
        raise Unfollowed
    return number


def items_of(value: Any) -> list[Any]:
    """What a list or an object holds."""
    if isinstance(value, dict):
        return list(value.values())[:MOST_VALUES]
    if isinstance(value, list):
        return value[:MOST_VALUES]
    raise Unfollowed


def held_by(value: Any, key: Any) -> Any:
    """The member of a value under a key."""
    if value is None:
        return None
    if isinstance(value, dict) and isinstance(key, str):
        return value.get(key)
    if isinstance(value, list) and type(key) is int:
        return value[key] if -len(value) <= key < len(value) else None
    raise Unfollowed


def computed(sign: str, left: Any, right: Any) -> Any:
    """Two values put together by an operator."""
    kinds = type(left), type(right)
    numbers = all(kind in (int, float) for kind in kinds)
    if sign == "+":
        if left is None or right is None:
            return right if left is None else left
        if numbers:
            return small(left + right)
        if kinds in ((str, str), (list, list)) and len(left) + len(right) <= LONGEST_TEXT:
            return left + right
        if kinds == (dict, dict):
            return {**left, **right}
    if sign == "-" and numbers:
        return small(left - right)
    if sign == "*" and numbers:
        return small(small(left) * small(right))
    if sign == "*" and kinds == (str, int) and 0 < right * len(left) <= LONGEST_TEXT:
        return left * right
    if sign == "/" and kinds == (str, str):
        return left.split(right) if right else list(left)
    if sign == "/" and numbers and small(right):
        return left // right if kinds == (int, int) and left % right == 0 else left / right
    raise Unfollowed


def _of(kind: type | tuple[type, ...], change: Callable[..., Any]) -> Callable[..., Any]:
    def function(value: Any, *given: Any) -> Any:
        if not isinstance(value, kind) or any(not isinstance(each, str) for each in given):
            raise Unfollowed
        result = change(value, *given)
        if result is None or (isinstance(result, str) and len(result) > LONGEST_INPUT):
            raise Unfollowed
        return result

    return function


def _added(values: list[Any]) -> Any:
    total = None
    for value in values[:MOST_VALUES]:
        total = computed("+", total, value)
    return total


def _imploded(values: list[Any]) -> str:
    if not all(type(value) is int and 0 < value < 0x110000 for value in values):
        raise Unfollowed
    return "".join(map(chr, values))


def _quoted(value: Any) -> str:
    return _row(" ", lambda text: "'" + text.replace("'", "'\\''") + "'", "null")(
        value if isinstance(value, list) else [value]
    )


def _row(joint: str, written: Callable[[str], str], null: str = "") -> Callable[[list[Any]], str]:
    """A list as one line, with its texts written in some way."""

    def line(values: list[Any]) -> str:
        cells = []
        left = LONGEST_TEXT
        for value in values:
            cells.append(written(short(value)) if isinstance(value, str) else _cell(value) or null)
            left -= len(cells[-1]) + len(joint)
            if left < 0:
                raise Unfollowed
        return joint.join(cells)

    return line


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | dict):
        raise Unfollowed
    return encoded(value)


def _tabbed(text: str) -> str:
    return text.translate({ord("\\"): "\\\\", ord("\t"): "\\t", ord("\n"): "\\n", ord("\r"): "\\r"})


def _html(value: Any) -> str:
    return short(short(text_of(value)).translate(_ENTITIES))


_ENTITIES = {ord("<"): "&lt;", ord(">"): "&gt;", ord("&"): "&amp;", ord("'"): "&#39;", ord('"'): "&quot;"}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text[:LONGEST_INPUT])
    except (ValueError, RecursionError):
        raise Unfollowed from None


def _joined(values: list[Any], joint: str) -> str:
    if len(joint) * len(values) > LONGEST_INPUT:
        raise Unfollowed
    return joint.join(short(value) if isinstance(value, str) else _cell(value) for value in values)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "@base64d": _of(str, decode.from_base64),
    "@base64": _of(str, lambda text: decode.RECODERS["base64"]([], text).rstrip("\n")),  # type: ignore[union-attr]
    "@base32d": _of(str, lambda text: decode.RECODERS["base32"](["-d"], text)),
    "@text": text_of,
    "@json": encoded,
    "@sh": _quoted,
    "@uri": _of(str, lambda text: short(quote(short(text), safe=""))),
    "@html": _html,
    "@csv": _of(list, _row(",", lambda text: '"' + text.replace('"', '""') + '"')),
    "@tsv": _of(list, _row("\t", _tabbed)),
    "implode": _of(list, _imploded),
    "explode": _of(str, lambda text: list(map(ord, text[:LONGEST_INPUT]))),
    "reverse": _of((str, list), lambda value: value[::-1]),
    "add": _of(list, _added),
    "tostring": text_of,
    "tojson": encoded,
    "fromjson": _of(str, _parsed),
    "tonumber": _of((str, int), lambda value: small(int(value))),
    "length": _of((str, list, dict), len),
    "ascii_downcase": _of(str, str.lower),
    "ascii_upcase": _of(str, str.upper),
    "ascii": _of(int, chr),
    "trim": _of(str, str.strip),
    "first": _of(list, lambda values: end_of(values, 0)),
    "last": _of(list, lambda values: end_of(values, -1)),
    "keys": _of(dict, sorted),
    "keys_unsorted": _of(dict, list),
}
FUNCTIONS_OF_ONE: dict[str, Callable[[Any, Any], Any]] = {
    "join": _of(list, _joined),
    "split": _of(str, lambda text, joint: text.split(joint) if joint else list(text)),
    "ltrimstr": _of(str, str.removeprefix),
    "rtrimstr": _of(str, str.removesuffix),
}
