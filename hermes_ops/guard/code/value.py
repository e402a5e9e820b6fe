"""What is known about a value of code that is read and not run: constants, names, taints, and folding."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ..judge.invocation import UNKNOWN

NOTHING = object()
CLEAN: frozenset[str] = frozenset()
# Values grow no longer than this, and lists no longer than that.
TEXT_LIMIT, ITEM_LIMIT = 65_536, 512

_PLAIN = (str, bytes, int, float)


@dataclass(slots=True)
class Value:
    """A value of code.

    `known` is the constant, NOTHING when it is not known; a str holds UNKNOWN for pieces that are not known.
    `name` says what it is in the words of the language: "os.system", "requests.get().text", "file(w)".
    `of` is what it was made from (the path of a file, the command of a process). `glob`: a str that stands
    for every match; `deep`: for everything below its folder. `function` is the tree of a function of the code.
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
        if self.items is not None:
            return all(item.is_known for item in self.items)
        if self.pairs is not None:
            return all(value.is_known for value in self.pairs.values())
        known = self.known
        return known is not NOTHING and not (type(known) is str and UNKNOWN in known)

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
    if value.items is not None:
        items = [plain(item) for item in value.items]
        return NOTHING if any(item is NOTHING for item in items) else items
    if value.pairs is not None:
        pairs = {key: plain(item) for key, item in value.pairs.items()}
        return NOTHING if any(item is NOTHING for item in pairs.values()) else pairs
    known = value.known
    return NOTHING if type(known) is str and UNKNOWN in known else known


def taint_of(values: Iterable[Value], depth: int = 3) -> tuple[frozenset[str], str]:
    """The taints of values together, those of their items included, and where the first comes from."""
    taint, source = CLEAN, ""
    for value in values:
        if value.taint:
            taint, source = taint | value.taint, source or value.source
        if depth > 0:
            inner: list[Value] = value.items[:64] if value.items else []
            if value.pairs:
                inner = [*inner, *list(value.pairs.values())[:64]]
            if value.of is not None and value.name.startswith("request"):
                inner = [*inner, value.of]
            if inner:
                more, where = taint_of(inner, depth - 1)
                if more:
                    taint, source = taint | more, source or where
    return taint, source


def unknown(*values: Value, name: str = "") -> Value:
    """A value that is not known, with the taints of what it was made from."""
    if not values:
        return Value(name=name)
    taint, source = taint_of(values)
    return Value(name=name, taint=taint, source=source)


def either(values: Iterable[Value]) -> Value:
    """A value that is one of several; at most four are kept."""
    flat: list[Value] = []
    for value in values:
        for one in value.each():
            if one not in flat:
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
        return Value(a + b)  # type: ignore[operator]
    return Value(taint=taint, source=source)


def joined(parts: Iterable[Value], by: str = "") -> Value:
    """by.join(parts), or the pieces of a template."""
    texts: list[str] = []
    parts = list(parts)
    for part in parts:
        texts.append(part.text)
    taint, source = taint_of(parts)
    text = by.join(texts)
    if len(text) > TEXT_LIMIT:
        return Value(taint=taint, source=source)
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
