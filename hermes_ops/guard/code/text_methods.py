"""Methods of constant texts, bytes and numbers, and the two ways of filling a template."""

from __future__ import annotations

import re

from ..judge.invocation import UNKNOWN
from ..rules.names import names
from .value import NOTHING, TEXT_LIMIT, Value, constant, joined, plain, unknown

# Methods of constants that give a constant no longer than a small multiple of their input.
_TEXT_METHODS = names(
    "strip lstrip rstrip lower upper swapcase title capitalize casefold translate encode decode split "
    "rsplit splitlines partition rpartition removeprefix removesuffix hex startswith endswith find "
    "count index isdigit isalpha maketrans to_bytes bit_length"
)
_PLAIN_CODECS = names(
    "utf-8 utf8 ascii latin-1 latin1 iso-8859-1 utf-16 utf-16-le utf-16-be utf-32 cp1252 unicode_escape "
    "unicode-escape raw_unicode_escape"
)


# Methods that may go over text of which pieces are not known.
_PIECEWISE = names("strip encode lower upper replace")


def _is_long(new: object) -> bool:
    return type(new) is str and len(new) > 4


def method(value: Value, name: str, args: list[Value]) -> Value | None:
    """A method of a constant text, bytes, number or list; None when it is none that folds."""
    if name == "join" and len(args) == 1:
        return _join(value, args[0])
    if name == "format" and value.is_text:
        return None
    given = [plain(arg) for arg in args]
    known = value.known
    if any(one is NOTHING for one in given) or type(known) not in (str, bytes, int):
        return _unknown_method(value, name, args)
    if value.glob or (type(known) is str and UNKNOWN in known and name not in _PIECEWISE):
        return _unknown_method(value, name, args)
    if name == "replace" and len(given) >= 2 and type(known) in (str, bytes):
        if not isinstance(given[0], type(known)) or not isinstance(given[1], type(known)) or not given[0]:
            return None
        if len(known) // max(len(given[0]), 1) * len(given[1]) > TEXT_LIMIT:  # type: ignore[arg-type]
            return unknown(value)
        return _tainted(constant(known.replace(given[0], given[1])), value)  # type: ignore[union-attr]
    if (
        name in ("zfill", "ljust", "rjust", "center")
        and given
        and type(given[0]) is int
        and given[0] > TEXT_LIMIT
    ):
        return unknown(value)
    if name not in _TEXT_METHODS and name not in ("zfill", "ljust", "rjust", "center"):
        return None
    if name == "decode" and given and str(given[0]).lower() not in _PLAIN_CODECS:
        return None
    if name == "translate" and given and type(given[0]) is dict and any(map(_is_long, given[0].values())):
        return unknown(value)
    try:
        return _tainted(constant(getattr(known, name)(*given)), value)
    except (ValueError, TypeError, AttributeError, LookupError, OverflowError):
        return None


def _tainted(result: Value, origin: Value) -> Value:
    result.taint, result.source = origin.taint, origin.source
    return result


def _unknown_method(value: Value, name: str, args: list[Value]) -> Value | None:
    if name in ("strip", "rstrip", "lstrip", "encode", "decode") and value.is_text:
        return value
    return unknown(value) if value.glob else None


def _join(by: Value, items: Value) -> Value | None:
    separator = by.known
    if items.items is None:
        if items.is_text and type(separator) is str and items.is_known:
            return Value(separator.join(items.text), taint=items.taint, source=items.source)
        return None
    if type(separator) is bytes:
        parts = [item.known for item in items.items]
        if all(type(part) is bytes for part in parts):
            return Value(separator.join(parts)[:TEXT_LIMIT])  # type: ignore[arg-type]
        return None
    return joined(items.items, by.text) if type(separator) is str else None


def formatted(template: str, args: list[Value], keywords: dict[str, Value]) -> Value:
    """str.format: fields by number and name; what is not known stays UNKNOWN."""
    counter = iter(range(len(args)))

    def field(match: re.Match[str]) -> str:
        inner = match.group(1)
        if inner is None:
            return match.group()[0]
        key = re.split(r"[!:.\[]", inner, maxsplit=1)[0]
        if not key:
            place = next(counter, None)
            return args[place].text if place is not None else UNKNOWN
        if key.isdigit():
            return args[int(key)].text if len(key) < 4 and int(key) < len(args) else UNKNOWN
        return keywords[key].text if key in keywords else UNKNOWN

    text = re.sub(r"\{\{|\}\}|\{([^{}]*)\}", field, template)
    result = unknown(*args, *keywords.values())
    result.known = text if len(text) <= TEXT_LIMIT else NOTHING
    return result


def percent(template: Value, right: Value) -> Value:
    """`template % right` for text."""
    args = right.items if right.items is not None else [right]
    pairs = right.pairs or {}
    remaining = iter(args)

    def field(match: re.Match[str]) -> str:
        if match.group() == "%%":
            return "%"
        if match.group(1) is not None:
            value = pairs.get(match.group(1))
        else:
            value = next(remaining, None)
        if value is None:
            return UNKNOWN
        if match.group(2) == "c" and type(value.known) is int and 0 < value.known < 0x110000:
            return chr(value.known)
        return value.text

    text = re.sub(r"%(?:\((\w*)\))?[-+ #0]*(?:\d+|\*)?(?:\.\d+)?([a-zA-Z%])", field, template.text)
    result = unknown(template, *args, *pairs.values())
    result.known = text if len(text) <= TEXT_LIMIT else NOTHING
    return result
