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
from typing import Any

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


def encode(value: Any) -> Any:
    """Return a JSON-like copy of any value. Never raises; shares no mutable part with the original."""
    return _encode(value, 0, [])


def _encode(value: Any, depth: int, path: list[int]) -> Any:
    kind = type(value)
    if kind is str:
        return value if len(value) <= MAX_DATA_URL or not value.startswith("data:") else _data_url(value)
    if value is None or kind is bool:
        return value
    if kind is int:
        return value if value.bit_length() <= MAX_INT_BITS else tag("int", hex(value))
    if kind is float:
        return value if value - value == 0.0 else tag("float", _float_name(value))
    if kind is dict or kind is list or kind is tuple:
        if id(value) in path:
            return tag("circular", None)
        if depth >= MAX_DEPTH:
            return _flatten(value)
        path.append(id(value))
        try:
            return _encode_container(value, kind, depth + 1, path)
        finally:
            path.pop()
    return _encode_other(value, depth, path)


def _encode_container(value: Any, kind: type, depth: int, path: list[int]) -> Any:
    if kind is not dict:
        items = [_encode(item, depth, path) for item in list(value)]
        return items if kind is list else tag("tuple", items)
    pairs = list(value.items())
    if TAG not in value and all(type(key) is str for key, _ in pairs):
        return {key: _encode(item, depth, path) for key, item in pairs}
    return tag("dict", [[_encode(key, depth, path), _encode(item, depth, path)] for key, item in pairs])


def _encode_other(value: Any, depth: int, path: list[int]) -> Any:
    import datetime

    if isinstance(value, (bytes, bytearray, memoryview)):
        return tag("bytes", bytes(value).decode("latin-1"))
    if isinstance(value, datetime.datetime):
        return tag("datetime", value.isoformat())
    if isinstance(value, datetime.date):
        return tag("date", value.isoformat())
    if isinstance(value, datetime.time):
        return tag("time", value.isoformat())
    if isinstance(value, (set, frozenset)):
        items = [_encode(item, depth + 1, path) for item in list(value)]
        return tag("frozenset" if isinstance(value, frozenset) else "set", sorted(items, key=_sort_key))
    for base in (str, int, float):
        if isinstance(value, base):
            return _encode(base.__new__(base, value), depth, path)
    if isinstance(value, dict):
        return _encode(dict(value), depth, path)
    if isinstance(value, (list, tuple)):
        return _encode(list(value), depth, path)
    return tag("object", _object_text(value), type=_type_name(value))


def _sort_key(item: Any) -> str:
    import json

    return json.dumps(item, sort_keys=True)


def _float_name(value: float) -> str:
    return "nan" if value != value else "inf" if value > 0 else "-inf"


def _type_name(value: Any) -> str:
    kind = type(value)
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


def _flatten(root: Any) -> dict[str, Any]:
    nodes: list[Any] = [None]
    # (value, index of its node, ids of the containers around it as a linked list)
    work: list[tuple[Any, int, Any]] = [(root, 0, None)]
    while work:
        value, index, around = work.pop()
        if not isinstance(value, (dict, list, tuple)):
            nodes[index] = {"v": _encode(value, 0, [])}
            continue
        if _is_around(id(value), around):
            nodes[index] = {"v": tag("circular", None)}
            continue
        inside = (id(value), around)
        children = list(value.items()) if isinstance(value, dict) else [(None, item) for item in value]
        first = len(nodes)
        nodes.extend([None] * len(children))
        work.extend((item, first + i, inside) for i, (_, item) in enumerate(children))
        if isinstance(value, dict):
            nodes[index] = {"d": [[_encode(key, 0, []), first + i] for i, (key, _) in enumerate(children)]}
        else:
            nodes[index] = {"l": [first + i for i in range(len(children))]}
    return tag("deep", nodes)


def _is_around(identity: int, around: Any) -> bool:
    while around is not None:
        if around[0] == identity:
            return True
        around = around[1]
    return False


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
