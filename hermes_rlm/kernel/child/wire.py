"""The kernel's end of the channel: one JSON object a line, without importing json.

Only the C half of the json module is used, bound at import: importing json takes as long as starting
the interpreter, and code in a cell may replace its functions.
"""

import posix
from _json import encode_basestring_ascii as _quote
from _json import make_scanner

CHUNK = 1 << 16


class _Reading:
    """What the C scanner asks its decoder for."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float
    memo: dict = {}  # noqa: RUF012


_scan = make_scanner(_Reading())


def decode(line: bytes):
    """Return the value of one line of JSON. Raises ValueError or StopIteration on anything else."""
    return _scan(line.decode("utf-8"), 0)[0]


def encode(value) -> str:
    """Return ``value`` (None, bool, int, float, str, list, tuple, dict with str keys) as ASCII JSON."""
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    kind = type(value)
    if kind is str:
        return _quote(value)
    if kind is int or kind is float:
        return repr(value)
    if kind is dict:
        return "{" + ",".join([_quote(name) + ":" + encode(item) for name, item in value.items()]) + "}"
    return "[" + ",".join([encode(item) for item in value]) + "]"


class Channel:
    """Requests in, replies out, on a descriptor that nothing started by user code inherits."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._pending = b""

    def receive(self):
        """Wait for the next request; None when the host has closed its end."""
        while True:
            line, newline, rest = self._pending.partition(b"\n")
            if newline:
                self._pending = rest
                return decode(line)
            pieces = [self._pending]
            while True:
                try:
                    data = posix.read(self.descriptor, CHUNK)
                except ConnectionError:
                    return None
                if not data:
                    return None
                pieces.append(data)
                if b"\n" in data:
                    break
            self._pending = b"".join(pieces)

    def send(self, message: dict) -> None:
        """Write one message whole. Raises OSError when the host has closed its end."""
        data = memoryview((encode(message) + "\n").encode("ascii"))
        while data:
            data = data[posix.write(self.descriptor, data) :]
