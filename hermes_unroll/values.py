"""Any Python value as JSON-like data and back.

A host hook may hand over anything. JSON holds None, bool, int, finite float, str, list and dict with
str keys as they are; every other value becomes a tag:

    {"__unroll__": TYPE, "v": DATA}

    float      "nan", "inf" or "-inf"
    bytes      a latin-1 string
    datetime, date, time   ISO 8601 text
    tuple, set, frozenset  a list (sets sorted by their encoded text)
    int        hexadecimal text; only for integers too long for a decimal literal
    dict       [key, value] pairs: keys that are no strings, or a dict that holds "__unroll__" itself
    deep       a structure nested deeper than MAX_DEPTH, as a flat table: node 0 is the root, a node is
               {"d": [[key, node], ...]}, {"l": [node, ...]} or {"v": scalar}
    circular   None: a container that contains itself, cut where it does
    object     "type" names the class, "v" is a short text: the value itself cannot be kept
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

Redact = Callable[[Any, str], Any]

TAG = "__unroll__"
MAX_DEPTH = 100
MAX_OBJECT_TEXT = 500
# CPython refuses decimal literals over 4,300 digits; 13,000 bits are 3,914 of them.
MAX_INT_BITS = 13_000
# A data: URL larger than this is an attachment: its hash and size are kept, not its bytes.
MAX_DATA_URL = 2_048


def tag(kind: str, value: Any, **extra: Any) -> dict[str, Any]:
    """Make one tagged value."""
    return {TAG: kind, **extra, "v": value}


def encode(value: Any, redact: Redact | None = None, key: str = "") -> Any:
    """Return a JSON-like copy of any value. Never raises; shares no mutable part with the original.

    ``redact(value, key)`` sees what becomes a tag before it does, with the name it stands under: behind a
    tag nobody can tell that a value is the one of a secret's name.
    """
    return _Encoder(redact or _as_it_is)(value, key, 0)


def _as_it_is(value: Any, key: str) -> Any:
    return value


class _Encoder:
    def __init__(self, redact: Redact) -> None:
        self._redact = redact
        self._path: list[int] = []  # ids of the containers around the value

    def __call__(self, value: Any, key: str, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            return value if len(value) <= MAX_DATA_URL or not value.startswith("data:") else _data_url(value)
        if value is None or kind is bool:
            return value
        if kind is int:
            return value if value.bit_length() <= MAX_INT_BITS else tag("int", hex(value))
        if kind is float:
            return value if value - value == 0.0 else tag("float", _float_name(value))
        try:
            return (
                self._container(value, key, depth) if kind in _CONTAINERS else self._other(value, key, depth)
            )
        except Exception:
            return tag("object", "<no value>", type=_type_name(value))

    def _container(self, value: Any, key: str, depth: int) -> Any:
        if id(value) in self._path:
            return tag("circular", None)
        if depth >= MAX_DEPTH:
            return self._flat(value, key)
        self._path.append(id(value))
        try:
            if type(value) is list:
                return [self(item, key, depth + 1) for item in list(value)]
            if type(value) is tuple:
                return tag("tuple", [self(item, key, depth + 1) for item in self._redact(value, key)])
            if TAG not in value and all(type(name) is str for name in value):
                return {name: self(item, name, depth + 1) for name, item in list(value.items())}
            return tag(
                "dict",
                [
                    [self(name, "", depth + 1), self(item, name if type(name) is str else "", depth + 1)]
                    for name, item in list(self._redact(value, key).items())
                ],
            )
        finally:
            self._path.pop()

    def _other(self, value: Any, key: str, depth: int) -> Any:
        import datetime

        if isinstance(value, (bytes, bytearray, memoryview)):
            return tag("bytes", self._redact(bytes(value), key).decode("latin-1"))
        for name in ("datetime", "date", "time"):
            if isinstance(value, getattr(datetime, name)):
                return tag(name, value.isoformat())
        if isinstance(value, (set, frozenset)) and depth < MAX_DEPTH:
            items = [self(item, key, depth + 1) for item in self._redact(value, key)]
            return tag("frozenset" if isinstance(value, frozenset) else "set", sorted(items, key=_sort_key))
        for base, plain in _PLAIN:
            if isinstance(value, base):
                return self(plain(value), key, depth)
        return tag("object", self._redact(_object_text(value), key), type=_type_name(value))

    def _flat(self, root: Any, key: str) -> dict[str, Any]:
        nodes: list[Any] = [None]
        inside: set[int] = set()
        # (value, name it stands under, index of its node), or (id, "", -1) where a container is left again
        work: list[tuple[Any, str, int]] = [(root, key, 0)]
        while work:
            value, key, index = work.pop()
            if index < 0:
                inside.discard(value)
                continue
            if not isinstance(value, (dict, list, tuple)):
                nodes[index] = {"v": self(self._redact(value, key), "", 0)}
                continue
            if id(value) in inside:
                nodes[index] = {"v": tag("circular", None)}
                continue
            inside.add(id(value))
            work.append((id(value), "", -1))
            named = isinstance(value, dict)
            children = list(value.items()) if named else [(key, item) for item in value]
            first = len(nodes)
            nodes.extend([None] * len(children))
            work.extend(
                (item, name if type(name) is str else "", first + place)
                for place, (name, item) in enumerate(children)
            )
            nodes[index] = (
                {"d": [[self(name, "", 0), first + place] for place, (name, _) in enumerate(children)]}
                if named
                else {"l": list(range(first, first + len(children)))}
            )
        return tag("deep", nodes)


_CONTAINERS = frozenset((dict, list, tuple))
# Subclasses of plain types, and what makes the plain value of one whatever the subclass overrides.
_PLAIN = (
    (str, str.__str__),
    (int, int.__int__),
    (float, float.__float__),
    (dict, dict),
    (list, list),
    (tuple, list),
)


def _sort_key(item: Any) -> str:
    import json

    return json.dumps(item, sort_keys=True)


def _float_name(value: float) -> str:
    return "nan" if value != value else "inf" if value > 0 else "-inf"


def _type_name(value: Any) -> str:
    kind: type = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


def _object_text(value: Any) -> str:
    try:
        text = str(value)
    except Exception:
        return "<no text>"
    if len(text) <= MAX_OBJECT_TEXT:
        return text
    # Whole words only: what is left of a secret that was cut would not be found.
    return text[:MAX_OBJECT_TEXT].rpartition(" ")[0] + " ..."


def _data_url(url: str) -> str:
    head, comma, body = url[:200].partition(",")
    if not comma or "base64" not in head:
        return url
    body = url[len(head) + 1 :]
    digest = hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{head},<blob sha256:{digest} {len(body)} characters>"


def decode(value: Any) -> Any:
    """Return the Python value that an encoded one stands for; circular and object tags stay as they are."""
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if TAG not in value:
        return {key: decode(item) for key, item in value.items()}
    reader = _READERS.get(value[TAG])
    return reader(value.get("v")) if reader else value


def _decode_datetime(name: str) -> Any:
    def read(text: str) -> Any:
        import datetime

        return getattr(datetime, name).fromisoformat(text)

    return read


def _unflatten(nodes: list[Any]) -> Any:
    # A child's node always stands behind its parent's, so one pass from the end builds every container.
    built: list[Any] = [None] * len(nodes)
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        if "d" in node:
            built[index] = {decode(key): built[child] for key, child in node["d"]}
        elif "l" in node:
            built[index] = [built[child] for child in node["l"]]
        else:
            built[index] = decode(node["v"])
    return built[0]


_READERS = {
    "float": float,
    "bytes": lambda text: text.encode("latin-1"),
    "datetime": _decode_datetime("datetime"),
    "date": _decode_datetime("date"),
    "time": _decode_datetime("time"),
    "tuple": lambda items: tuple(decode(items)),
    "set": lambda items: set(decode(items)),
    "frozenset": lambda items: frozenset(decode(items)),
    "int": lambda text: int(text, 16),
    "dict": lambda pairs: {decode(key): decode(item) for key, item in pairs},
    "deep": _unflatten,
}
