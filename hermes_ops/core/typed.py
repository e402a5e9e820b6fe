"""Our own JSON read as what it should be: every value is checked against the type it is declared with.

A file that somebody edited, or a disk that lost a block, may hold any value in any place. What is not of its
type is damage, found where the file is read and not where the value is used.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, NoReturn, Union, get_args, get_origin, get_type_hints

# A time or a span in seconds must stay within the calendar in every zone (the years 68 to 3871); nothing
# else of ours comes near it.
LARGEST_FLOAT = 6e10
LARGEST_INT = 2**53

Reader = Callable[[Any], Any]


def typed(kind: Any, data: Any) -> Any:
    """`data` (decoded JSON) as a value of `kind`; ValueError names the field that is not of its type.

    ``kind`` is a dataclass (an object; fields with a default may be missing, unknown names are refused), str,
    int, float, bool, None, a union of them, list[T], tuple[T, ...], tuple[A, B], dict[str, T] or Mapping; Any
    is for values of the host that are only compared. A bool is no number, an int will do as a float, and
    numbers beyond the limits above are refused. A tuple is taken for the list that it becomes in JSON.
    """
    return _reader(kind)(data)


def decoded(raw: bytes) -> Any:
    """The JSON of a file of ours. ValueError for what is none, also for NaN and numbers without end."""
    try:
        return json.loads(raw.decode("utf-8"), parse_constant=_no_number, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def object_of(kind: Any, raw: bytes) -> Any:
    """A file that is one object of `kind`, with a "format" beside its fields. Raises ValueError."""
    data = decoded(raw)
    if not isinstance(data, dict):
        raise ValueError(f"expected an object, found {_named(data)}")
    return typed(kind, {name: value for name, value in data.items() if name != "format"})


@cache
def _reader(kind: Any) -> Reader:
    """The function that reads one kind; made once for each."""
    if is_dataclass(kind):
        return _object_reader(kind)
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return _union_reader(tuple(map(_reader, parts)))
    if origin is list:
        return _row_reader(list, _reader(parts[0]))
    if origin is tuple and parts[1:] == (...,):
        return _row_reader(tuple, _reader(parts[0]))
    if origin is tuple:
        return _fixed_reader(tuple(map(_reader, parts)))
    if origin in (dict, Mapping):
        return _mapping_reader(_reader(parts[1]))
    return _PLAIN[kind]


def _object_reader(kind: Any) -> Reader:
    hints = get_type_hints(kind)
    readers = {one.name: _reader(hints[one.name]) for one in fields(kind)}
    needed = [one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING]

    def read(data: Any) -> Any:
        if not isinstance(data, dict):
            raise ValueError(f"expected an object, found {_named(data)}")
        missing = next((name for name in needed if name not in data), None)
        if missing is not None:
            raise ValueError(f"no {missing}")
        values = {}
        for name, value in data.items():
            if name not in readers:
                raise ValueError(f"unknown {name[:40]!r}")
            values[name] = _within(name, readers[name], value)
        return kind(**values)

    return read


def _union_reader(readers: tuple[Reader, ...]) -> Reader:
    def read(data: Any) -> Any:
        for one in readers[:-1]:
            try:
                return one(data)
            except ValueError:
                continue
        return readers[-1](data)

    # None is tried first, so that what is said of a wrong value is what was expected of a value.
    readers = tuple(sorted(readers, key=lambda one: one is not _PLAIN[NoneType]))
    return read


def _row_reader(row: type, item: Reader) -> Reader:
    def read(data: Any) -> Any:
        if not isinstance(data, (list, tuple)):
            raise ValueError(f"expected a list, found {_named(data)}")
        return row(_within(str(place), item, value) for place, value in enumerate(data))

    return read


def _fixed_reader(items: tuple[Reader, ...]) -> Reader:
    def read(data: Any) -> Any:
        if not isinstance(data, (list, tuple)) or len(data) != len(items):
            raise ValueError(f"expected a list of {len(items)}, found {_named(data)}")
        return tuple(_within(str(place), *pair) for place, pair in enumerate(zip(items, data, strict=True)))

    return read


def _mapping_reader(item: Reader) -> Reader:
    def read(data: Any) -> Any:
        if not isinstance(data, dict):
            raise ValueError(f"expected an object, found {_named(data)}")
        return {name: _within(name[:40], item, value) for name, value in data.items()}

    return read


def _within(place: str, reader: Reader, value: Any) -> Any:
    try:
        return reader(value)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def _plain(kind: type, what: str) -> Reader:
    def read(data: Any) -> Any:
        if type(data) is not kind:
            raise ValueError(f"expected {what}, found {_named(data)}")
        return data

    return read


def _int(data: Any) -> int:
    if type(data) is not int or abs(data) > LARGEST_INT:
        raise ValueError(f"expected a whole number, found {_named(data)}")
    return data


def _float(data: Any) -> float:
    # An int of a thousand digits cannot be made a float, and is compared before.
    if type(data) not in (int, float) or not abs(data) <= LARGEST_FLOAT:
        raise ValueError(f"expected a number, found {_named(data)}")
    return float(data)


def _anything(data: Any) -> Any:
    return data


_PLAIN: dict[Any, Reader] = {
    Any: _anything,
    NoneType: _plain(NoneType, "null"),
    str: _plain(str, "a text"),
    bool: _plain(bool, "true or false"),
    int: _int,
    float: _float,
}


def _named(data: Any) -> str:
    """What a value is, for a message; what it holds may be anything."""
    if data is None:
        return "null"
    if type(data) in (int, float):
        return "a number that is out of range" if not abs(data) <= LARGEST_FLOAT else "a number"
    names = {str: "a text", bool: "true or false", list: "a list", tuple: "a list", dict: "an object"}
    return names.get(type(data), "?")


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def _finite(text: str) -> float:
    found = float(text)
    if not math.isfinite(found):
        raise ValueError(f"{text[:20]} is out of range")
    return found
