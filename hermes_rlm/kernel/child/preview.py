"""Representations that stay small: of the value of a cell, and of the variables for rlm_vars.

Built-in containers and texts are cut while they are walked, so a value of 50 MB costs no copy of it.
Other objects are asked for their own repr, which may raise, take long or be huge.
"""

from sys import getsizeof

from .definitions import CLASS_MODULE, CLASS_QUALNAME

PREVIEW_BYTES = 160
NAME_CHARACTERS = 100
DEPTH = 6


def shown(value, limit: int) -> str:
    """Return the repr of ``value`` cut to about ``limit`` characters, the cut marked. Never raises Exception.

    KeyboardInterrupt passes, so that a repr that does not end can be stopped.
    """
    writer = _Writer(limit)
    try:
        writer.add(value, DEPTH)
    except _Full:
        return "".join(writer.parts)[:limit] + f"... [cut at {limit} characters]"
    return "".join(writer.parts)


class _Full(Exception):
    """As much was written as may be."""


class _Writer:
    def __init__(self, limit: int) -> None:
        self.parts, self._left, self._inside = [], limit, set()

    def write(self, text: str) -> None:
        self.parts.append(text)
        self._left -= len(text)
        if self._left < 0:
            raise _Full

    def add(self, value, depth: int) -> None:
        kind = type(value)
        if kind is str or kind is bytes or kind is bytearray:
            # One more than fits, so that the cut is noticed.
            self.write(repr(value[: self._left + 1]))
        elif (kind is list or kind is tuple or kind is dict or kind is set) and value:
            self._container(value, kind, depth)
        elif kind is int and value.bit_length() > 14000:
            # Python refuses to convert such numbers to text, or takes long.
            self.write(f"<int of {value.bit_length()} bits>")
        else:
            self.write(own_repr(value))

    def _container(self, value, kind, depth: int) -> None:
        opening, closing = _BRACKETS[kind]
        if depth == 0 or id(value) in self._inside:
            self.write(f"{opening}...{closing}")
            return
        self._inside.add(id(value))
        self.write(opening)
        try:
            self._items(value, kind, depth)
        except RuntimeError:  # a thread changes it meanwhile
            self.write("...")
        self.write(",)" if kind is tuple and len(value) == 1 else closing)
        self._inside.discard(id(value))

    def _items(self, value, kind, depth: int) -> None:
        first = True
        for item in value.items() if kind is dict else value:
            self.write("" if first else ", ")
            first = False
            if kind is dict:
                self.add(item[0], depth - 1)
                self.write(": ")
                self.add(item[1], depth - 1)
            else:
                self.add(item, depth - 1)


_BRACKETS = {list: ("[", "]"), tuple: ("(", ")"), dict: ("{", "}"), set: ("{", "}")}


def own_repr(value) -> str:
    """Return what the object's own repr says, or why it says nothing."""
    try:
        text = repr(value)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit from a repr must not end anything either
        return f"<{type(value).__name__} object; its repr raised {type(error).__name__}>"
    return text if type(text) is str else str.__str__(text)


def described(name: str, value, cell: int) -> dict:
    """Return one row of rlm_vars: name, type, size in bytes, len, shape, preview, the cell that wrote it.

    Whatever a value raises, or an interrupt of what it takes for ever to say, costs that field alone.
    """
    if len(name) > NAME_CHARACTERS:
        name = f"{name[:NAME_CHARACTERS]}... [{len(name):,} characters]"
    row = {"name": name, "type": _asked(type_name, value) or "?"}
    for field, read in (("len", _length), ("shape", _shape), ("size", _size)):
        found = _asked(read, value)
        if found is not None:
            row[field] = found
    try:
        row["preview"] = shown(value, PREVIEW_BYTES)
    except KeyboardInterrupt:
        row["preview"] = "<its repr takes too long>"
    except BaseException as error:
        row["preview"] = f"<its repr raised {type(error).__name__}>"
    if cell:
        row["cell"] = cell
    return row


def _asked(read, value):
    try:
        return read(value)
    except BaseException:
        return None


def type_name(value) -> str:
    kind = type(value)
    module, name = CLASS_MODULE(kind), CLASS_QUALNAME(kind)
    return name[:80] if module in ("builtins", "__main__") else f"{module}.{name}"[:80]


def _length(value):
    return len(value) if hasattr(type(value), "__len__") else None


def _shape(value):
    shape = getattr(value, "shape", None)
    return repr(shape)[:60] if type(shape) is tuple else None


def _size(value):
    held = getattr(value, "nbytes", None)
    return held if type(held) is int else getsizeof(value)
