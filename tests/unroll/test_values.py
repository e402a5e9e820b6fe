"""Any value becomes JSON-like data and comes back, or is visibly marked; encoding never fails."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import math
import pathlib
import uuid
from collections import OrderedDict, defaultdict, namedtuple
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_unroll.values import MAX_DEPTH, MAX_OBJECT_TEXT, TAG, decode, encode

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=20)
    | st.binary(max_size=8)
    | st.datetimes()
    | st.dates()
    | st.times()
)
hashable = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.binary(max_size=4)
values = st.recursive(
    scalars | st.sets(hashable, max_size=4) | st.frozensets(hashable, max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=8) | st.just(TAG) | st.integers(), inner, max_size=4)
    ),
    max_leaves=12,
)


def same(one: Any, other: Any) -> bool:
    """Equality with types, and with NaN equal to itself."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        signs = math.copysign(1, one) == math.copysign(1, other)
        return (one == other and signs) or (one != one and other != other)
    if isinstance(one, dict):
        return list(map(repr, one)) == list(map(repr, other)) and all(
            same(a, b) for a, b in zip(one.values(), other.values(), strict=True)
        )
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


def as_json(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


@settings(max_examples=300, deadline=None)
@given(values)
def test_every_value_comes_back_from_json(value: Any) -> None:
    encoded = encode(value)
    assert same(as_json(encoded), encoded)
    assert same(decode(as_json(encoded)), value)


@settings(max_examples=50, deadline=None)
@given(values)
def test_a_copy_shares_nothing_with_the_value(value: Any) -> None:
    before = repr(value)
    encoded = encode(value)
    containers = [encoded]
    while containers:
        container = containers.pop()
        if isinstance(container, dict):
            containers += container.values()
            container.clear()
        elif isinstance(container, list):
            containers += container
            container.clear()
    assert repr(value) == before


@pytest.mark.parametrize(
    "value",
    ["", "\ud83d", "\x00\u2028", 10**5000, -(10**5000), 2**13_000, 0.1 + 0.2, -0.0, 5e-324, float("-inf")],
    ids=lambda value: type(value).__name__,
)
def test_numbers_and_texts_at_the_edge_come_back(value: Any) -> None:
    assert same(decode(as_json(encode({"x": value}))), {"x": value})


def test_a_dict_that_looks_like_a_tag_is_told_from_one() -> None:
    for value in ({TAG: "float", "v": "nan"}, {TAG: None}, {"a": {TAG: {TAG: 1}}}):
        assert decode(encode(value)) == value


@pytest.mark.parametrize("make", [lambda inner: [inner], lambda inner: {"k": inner}, lambda inner: (inner,)])
def test_deep_nesting_is_a_flat_table_and_comes_back(make: Any) -> None:
    # What grows with the square takes minutes for this.
    value: Any = "bottom"
    for _ in range(50_000):
        value = make(value)
    encoded = encode(value)
    text = json.dumps(encoded)
    depth, found = 0, decode(json.loads(text))
    while not isinstance(found, str):
        found = found["k"] if isinstance(found, dict) else found[0]
        depth += 1
    assert (depth, found) == (50_000, "bottom")


def test_nesting_up_to_the_limit_keeps_its_shape() -> None:
    value: Any = 1
    for _ in range(MAX_DEPTH):
        value = [value]
    assert encode(value) == value


def test_deep_sets_are_cut_and_marked() -> None:
    value: Any = frozenset()
    for _ in range(5000):
        value = frozenset([value])
    text = json.dumps(encode([1, value]))
    assert text.startswith('[1, {"__unroll__": "frozenset"')
    assert '"object"' in text


def circles() -> list[Any]:
    a: dict[str, Any] = {"before": 1}
    a["self"] = a
    b: list[Any] = [1]
    b.append({"inner": b})
    c: dict[str, Any] = {}
    c["t"] = (c, [c])
    ordered: Any = OrderedDict(x=1)
    ordered["self"] = ordered
    deep: Any = a
    for _ in range(300):
        deep = [deep]
    return [a, b, c, ordered, deep]


@pytest.mark.parametrize("value", circles(), ids=["dict", "list", "tuple", "subclass", "deep"])
def test_a_circle_is_cut_where_it_closes(value: Any) -> None:
    text = json.dumps(encode(value))
    assert '"circular"' in text
    assert len(text) < 20_000


def test_what_stands_in_two_places_is_no_circle() -> None:
    shared = {"x": [1]}
    assert encode([shared, shared, {"again": shared}]) == [shared, shared, {"again": shared}]


class Colour(enum.IntEnum):
    RED = 1


class Text(str):
    def __str__(self) -> str:
        return "another text"


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Colour.RED, 1),
        (Text("own text"), "own text"),
        (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
        (defaultdict(list, x=[1]), {"x": [1]}),
        (Point(1, 2), [1, 2]),
        (bytearray(b"\xff"), {TAG: "bytes", "v": "\xff"}),
        (memoryview(b"ab"), {TAG: "bytes", "v": "ab"}),
    ],
)
def test_kinds_of_plain_values_become_the_plain_value(value: Any, plain: Any) -> None:
    assert same(encode(value), plain)


class Hostile:
    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    def __hash__(self) -> int:
        return 1

    def __len__(self) -> int:
        raise RuntimeError("no length")


class Liar(dict):
    def items(self) -> Any:
        raise RuntimeError("no items")

    def keys(self) -> Any:
        raise RuntimeError("no keys")

    def __iter__(self) -> Any:
        raise RuntimeError("no iteration")


def released() -> memoryview:
    view = memoryview(b"x")
    view.release()
    return view


class Pretender:
    @property
    def __class__(self) -> Any:
        raise RuntimeError("no class")


HOSTILE = {
    "no text": Hostile,
    "no items": lambda: Liar(a=1),
    "a key": lambda: {1: Hostile()},
    "in a list": lambda: [Hostile()],
    "in a set": lambda: {Hostile()},
    "mock of a dict": lambda: Mock(spec=dict),
    "mock of a list": lambda: Mock(spec=list),
    "mock of a text": lambda: Mock(spec=str),
    "mock of a set": lambda: MagicMock(spec=set),
    "mock": MagicMock,
    "released memory": released,
    "no class": Pretender,
    "class": lambda: object,
    "function": lambda: print,
    "iterator": lambda: iter([]),
    "decimal": lambda: decimal.Decimal("NaN"),
    "path": lambda: pathlib.PurePath("a"),
    "uuid": lambda: uuid.UUID(int=1),
    "namespace": lambda: SimpleNamespace(a=1),
    "ellipsis": lambda: ...,
    "duration": lambda: datetime.timedelta(1),
    "complex": lambda: complex(1, 2),
    "exception": lambda: ValueError("x"),
    "made-up type": lambda: type("T", (), {"__module__": None})(),
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_encoding_never_fails_and_never_goes_without_a_mark(make: Any) -> None:
    value = make()
    encoded = encode({"before": 1, "value": value, "after": [2]})
    text = json.dumps(encoded, allow_nan=False)
    assert text.startswith('{"before": 1, "value": ') and text.endswith(', "after": [2]}')
    assert "at 0x" not in text or '"object"' in text


def test_an_object_is_named_and_its_text_cut_between_words() -> None:
    found = encode(SimpleNamespace(text="word " * 500))
    assert (found[TAG], found["type"]) == ("object", "types.SimpleNamespace")
    assert len(found["v"]) <= MAX_OBJECT_TEXT + 4
    assert found["v"].endswith("word ...")
    assert encode(ValueError("short"))["v"] == "short"


def test_only_the_payload_of_a_large_data_url_is_left_out() -> None:
    large = "data:image/png;base64," + "A" * 5000
    found = encode(
        {"url": large, "other": large.replace("data:", "text:"), "small": "data:image/png;base64,AAAA"}
    )
    assert (
        found["url"].startswith("data:image/png;base64,<blob sha256:") and "5000 characters" in found["url"]
    )
    assert found["other"] == large.replace("data:", "text:")
    assert found["small"] == "data:image/png;base64,AAAA"
    for text in ("data:" + "x" * 5000, "data:text/plain," + "x" * 5000, "data:,;base64" + "," * 5000):
        assert encode(text) == text
    assert encode(large) != encode(large[:-1] + "B")


def test_a_set_has_one_form_whatever_its_order() -> None:
    many = {f"item {number}" for number in range(50)} | {1, 2, None}
    assert encode(many) == encode(set(sorted(many, key=str)))
    assert encode(many)["v"] == sorted(encode(many)["v"], key=json.dumps)


def hide(value: Any, key: str) -> Any:
    """A redactor: what stands under "password" is hidden."""
    if key != "password" or isinstance(value, (dict, type(None))):
        if isinstance(value, dict):
            return {name: hide(item, name if isinstance(name, str) else "") for name, item in value.items()}
        return value
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value)(hide(item, key) for item in value)
    return b"hidden" if isinstance(value, bytes) else "hidden"


@pytest.mark.parametrize(
    "value",
    [
        {"password": b"secret"},
        {"password": ("secret", "x")},
        {"password": {"secret"}},
        {"password": frozenset(["secret"])},
        {1: 2, "password": "secret"},
        {"a": [{1: 2, "password": "secret"}]},
        {"password": SimpleNamespace(text="secret")},
        {"password": [[("secret",)]]},
        {TAG: 1, "password": "secret"},
    ],
)
def test_what_becomes_a_tag_is_redacted_under_its_name_first(value: Any) -> None:
    assert "secret" in json.dumps(encode(value))
    assert "secret" not in json.dumps(encode(value, hide))
    assert "hidden" in json.dumps(encode(value, hide))


def test_deep_values_are_redacted_under_their_names() -> None:
    value: Any = {"password": "secret", "list": {"password": ["secret"]}}
    for _ in range(150):
        value = {"k": value}
    found = json.dumps(encode(value, hide))
    assert "secret" not in found
    assert found.count("hidden") == 2
