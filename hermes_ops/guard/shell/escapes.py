r"""The escapes of $'...': \n, \x41, \101, \u20ac, \cA and the others that bash decodes."""

from __future__ import annotations

import re

_NAMED = {"a": 7, "b": 8, "e": 27, "E": 27, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_NAMED |= {sign: ord(sign) for sign in "\\'\"?"}
_ESCAPE = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x(?:\{([0-9a-fA-F]*)\}?|([0-9a-fA-F]{1,2}))"
    r"|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|c(\\\\|[\s\S]))"
)


def ansi_c(text: str) -> str:
    r"""The value of $'...' from what stands between the quotes.

    Bytes given by number join to UTF-8 characters; those that do not stay as surrogates, as Python keeps
    undecodable bytes. A zero byte ends the value. What is no escape stays, with its backslash.
    """
    value = _ESCAPE.sub(_decoded, text).partition("\0")[0]
    if any("\udc80" <= char <= "\udcff" for char in value):
        try:
            return value.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
        except UnicodeEncodeError:
            return value
    return value


def _decoded(match: re.Match[str]) -> str:
    name, octal, braced, short, four, eight, control = match.groups()
    if name:
        return chr(_NAMED[name])
    if octal:
        return _byte(int(octal, 8) & 0xFF)
    if short:
        return _byte(int(short, 16))
    if braced is not None:
        return _byte(int(braced or "0", 16) & 0xFF)
    if control:
        return chr(ord(control[0]) & 0x1F) if ord(control[0]) < 128 else match[0]
    number = int(four or eight, 16)
    return chr(number) if number < 0x110000 else match[0]


def _byte(number: int) -> str:
    return chr(number) if number < 128 else chr(0xDC00 + number)
