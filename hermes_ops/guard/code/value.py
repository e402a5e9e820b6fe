"""What is known about a value of code that is read and not run: constants, names, taints, and folding."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..judge.invocation import UNKNOWN

NOTHING = object()
CLEAN: frozenset[str] = frozenset()
# The taint of a constant that a decoder made: known, but written so as not to be read.
DECODED = "decoded"
# Values grow no longer than this, and lists no longer than that.
TEXT_LIMIT, ITEM_LIMIT = 16_384, 512
# How many values inside one another are looked at.
_INNER_LIMIT = 1_024


@dataclass(slots=True, eq=False)
class Value:
    """A value of code.

    `known` is the constant, NOTHING when it is not known; a str holds UNKNOWN for pieces that are not known.
    `name` says what it is in the words of the language: "os.system", "requests.get().text", "file(w)".
    `of` is what it was made from (the path of a file, the command of a process). `glob`: a str that stands
    for every match; `deep`: for everything below its folder. `function` is the tree of one of its functions.
    """

    known: object = NOTHING
    items: list[Value] | None = None
    pairs: dict[str, Value] | None = None
    name: str = ""
    taint: frozenset[str] = CLEAN
    source: str = ""
    of: Value | None = None
    glob: bool = False
    deep: bool = False
    function: object = None
    choices: tuple[Value, ...] = field(default=())

    @property
    def is_known(self) -> bool:
        """Is all of the value known, down to its items?"""
        if self.items is None and self.pairs is None:
            known = self.known
            return known is not NOTHING and not (type(known) is str and UNKNOWN in known)
        pending, count = [self], 0
        while pending:
            value = pending.pop()
            count += 1
            if count > _INNER_LIMIT:
                return False
            if value.items is not None:
                pending.extend(value.items)
            elif value.pairs is not None:
                pending.extend(value.pairs.values())
            elif value.known is NOTHING or (type(value.known) is str and UNKNOWN in value.known):
                return False
        return True

    @property
    def is_text(self) -> bool:
        return type(self.known) is str

    @property
    def text(self) -> str:
        """The value as text: UNKNOWN where it is not known."""
        known = self.known
        if type(known) is str:
            return known
        if type(known) is bytes:
            return known.decode("utf-8", "replace")
        if known is NOTHING or self.items is not None:
            return UNKNOWN
        return str(known)

    def each(self) -> tuple[Value, ...]:
        """The values it may have: itself, or one for each way the code can go."""
        return self.choices or (self,)


def constant(known: object) -> Value:
    """A value for a plain Python constant, lists and dicts included, as far as the limits go."""
    kind = type(known)
    if kind in (list, tuple, set, frozenset):
        return Value(items=[constant(item) for item in list(known)[:ITEM_LIMIT]])  # type: ignore[call-overload]
    if kind is dict:
        return Value(pairs={str(key): constant(item) for key, item in list(known.items())[:ITEM_LIMIT]})  # type: ignore[attr-defined]
    return Value(known)


def plain(value: Value) -> object:
    """The Python constant of a known value; NOTHING when some of it is not known."""
    if value.items is None and value.pairs is None:
        known = value.known
        return NOTHING if type(known) is str and UNKNOWN in known else known
    if not value.is_known:
        return NOTHING
    if value.items is not None:
        return [plain(item) for item in value.items]
    return {key: plain(item) for key, item in (value.pairs or {}).items()}


def taint_of(values: Iterable[Value]) -> tuple[frozenset[str], str]:
    """The taints of values together, those of their items included, and where the first comes from."""
    taint, source = CLEAN, ""
    pending = list(values)
    for count, value in enumerate(pending):
        if count > _INNER_LIMIT // 4:
            break
        if value.taint:
            taint, source = taint | value.taint, source or value.source
        if value.items:
            pending += value.items[:128]
        if value.pairs:
            pending += list(value.pairs.values())[:128]
    return taint, source


def unknown(*values: Value, name: str = "") -> Value:
    """A value that is not known, with the taints of what it was made from."""
    if not values:
        return Value(name=name)
    taint, source = taint_of(values)
    return Value(name=name, taint=taint, source=source)


def _is_same(one: Value, other: Value) -> bool:
    if one is other:
        return True
    plain_values = (
        one.items is one.pairs is other.items is other.pairs is one.function is other.function is None
    )
    return (
        plain_values
        and type(one.known) is type(other.known)
        and ((one.known, one.name, one.taint, one.glob) == (other.known, other.name, other.taint, other.glob))
    )


def either(values: Iterable[Value]) -> Value:
    """A value that is one of several; at most four are kept."""
    flat: list[Value] = []
    for value in values:
        for one in value.each():
            if not any(_is_same(one, other) for other in flat):
                flat.append(one)
    if len(flat) == 1:
        return flat[0]
    first = flat[0]
    taint, source = taint_of(flat)
    return replace(first, taint=taint, source=source, choices=tuple(flat[:4]))


def add(left: Value, right: Value) -> Value:
    """left + right: text with unknown pieces, bytes, numbers, lists."""
    if left.choices or right.choices:
        return either(add(one, other) for one in left.each() for other in right.each())
    a, b = left.known, right.known
    if left.items is not None and right.items is not None:
        return Value(items=[*left.items, *right.items][:ITEM_LIMIT])
    taint, source = taint_of((left, right))
    if type(a) is str or type(b) is str:
        if type(a) in (bytes, int, float) or type(b) in (bytes, int, float):
            return Value(taint=taint, source=source)
        if len(left.text) + len(right.text) > TEXT_LIMIT:
            return Value(taint=taint, source=source)
        return Value(
            left.text + right.text,
            taint=taint,
            source=source,
            glob=left.glob or right.glob,
            deep=left.deep or right.deep,
        )
    if type(a) is bytes and type(b) is bytes and len(a) + len(b) <= TEXT_LIMIT:
        return Value(a + b, taint=taint, source=source)
    if type(a) in (int, float) and type(b) in (int, float):
        try:
            return Value(a + b)  # type: ignore[operator]
        except OverflowError:
            return Value()
    return Value(taint=taint, source=source)


def joined(parts: Iterable[Value], by: str = "") -> Value:
    """by.join(parts), or the pieces of a template."""
    parts = list(parts)
    for place, part in enumerate(parts[:64]):
        if part.choices:
            rest = parts[place + 1 :]
            return either(_joined([*parts[:place], choice, *rest], by) for choice in part.choices)
    return _joined(parts, by)


def _joined(parts: list[Value], by: str) -> Value:
    texts = [part.text for part in parts]
    taint, source = taint_of(parts)
    if sum(map(len, texts)) + len(by) * len(texts) > TEXT_LIMIT:
        return Value(taint=taint, source=source)
    text = by.join(texts)
    return Value(
        text,
        taint=taint,
        source=source,
        glob=any(part.glob for part in parts),
        deep=any(part.deep for part in parts),
    )


def clean(value: Value) -> Value:
    """The value without its taints: a length, a digest or a comparison gives nothing away."""
    return replace(value, taint=CLEAN, source="") if value.taint else value
