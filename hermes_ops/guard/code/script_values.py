"""Folding of what script languages compute from constants, by the last name of the function."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import zlib
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import unquote

from ..judge.invocation import OPAQUE, UNKNOWN
from .folding import elements
from .value import DECODED, TEXT_LIMIT, Value, add, joined, taint_of, unknown

_Fold = Callable[[list[Value]], "Value | None"]


def opaque(*values: Value) -> Value:
    """What a decoder makes of something that is not known."""
    taint, source = taint_of(values)
    return Value(taint=taint | {OPAQUE}, source=source)


def _decoder(decode: Callable[[str], bytes]) -> _Fold:
    def fold(args: list[Value]) -> Value | None:
        if args and args[0].is_known and args[0].text:
            try:
                text = decode(args[0].text).decode("utf-8", "replace")
                return Value(text, taint=args[0].taint | {DECODED})
            except (ValueError, binascii.Error, zlib.error):
                return opaque(*args)
        return opaque(*args)

    return fold


def _base64(text: str) -> bytes:
    text = "".join(text.split()).replace("-", "+").replace("_", "/")
    return base64.b64decode(text + "=" * (-len(text) % 4))


def _hex(text: str) -> bytes:
    return bytes.fromhex("".join(text.split()))


def _inflate(text: str) -> bytes:
    return zlib.decompressobj(-15).decompress(text.encode("latin-1"), TEXT_LIMIT)


def _uu(text: str) -> bytes:
    return b"".join(binascii.a2b_uu(line) for line in text.splitlines() if line)


def _characters(args: list[Value]) -> Value | None:
    items = [item for arg in args for item in (arg.items if arg.items is not None else [arg])]
    if items and all(type(item.known) is int and 0 < item.known < 0x110000 for item in items):  # type: ignore[operator]
        return Value("".join(chr(item.known) for item in items))  # type: ignore[arg-type]
    return None


def _whole(change: Callable[[str], str]) -> _Fold:
    def fold(args: list[Value]) -> Value | None:
        if args and args[0].is_text:
            return Value(change(args[0].text), taint=args[0].taint, source=args[0].source, glob=args[0].glob)
        return None

    return fold


def _reverse(args: list[Value]) -> Value | None:
    if len(args) == 1 and args[0].items is not None:
        return Value(items=args[0].items[::-1])
    if len(args) == 1 and args[0].is_text:
        return Value(args[0].text[::-1])
    return Value(items=args[::-1]) if args else None


def _join(args: list[Value]) -> Value | None:
    """join(by, list), join(by, one, two), list.join(by), implode(by, list)"""
    if not args:
        return None
    if args[0].items is not None:
        return joined(args[0].items, args[1].text if len(args) > 1 and args[1].is_text else "")
    rest = args[1].items if len(args) == 2 and args[1].items is not None else args[1:]
    return joined(rest, args[0].text) if args[0].is_text else None


def _split(args: list[Value]) -> Value | None:
    if not args or not args[0].is_known or not args[0].is_text:
        return None
    by = args[1].known if len(args) > 1 else None
    if type(by) is not str:
        return Value(items=[Value(word) for word in args[0].text.split()])
    pieces = args[0].text.split(by) if by else list(args[0].text)
    return Value(items=[Value(piece) for piece in pieces[:512]])


def _replace(args: list[Value]) -> Value | None:
    if len(args) == 3 and all(arg.is_text and arg.is_known for arg in args) and args[1].text:
        text, old, new = (arg.text for arg in args)
        if len(text) // len(old) * len(new) <= TEXT_LIMIT:
            return Value(text.replace(old, new))
    return None


def _string_replace(args: list[Value]) -> Value | None:
    """str_replace(old, new, text) of PHP."""
    return _replace([args[2], args[0], args[1]]) if len(args) == 3 else None


def _add_all(args: list[Value]) -> Value | None:
    if not args:
        return None
    value = args[0]
    for arg in args[1:]:
        value = add(value, arg)
    return value


_CONVERSION = re.compile(r"%(?P<flags>[-+ 0#]*)(?P<width>\d{0,4})(?:\.(?P<size>\d{1,4}))?(?P<kind>[a-zA-Z%])")
_BASES = {"x": "x", "X": "X", "o": "o", "b": "b"}


def _format(args: list[Value]) -> Value | None:
    if not args or not args[0].is_text:
        return None
    rest = iter(args[1:])

    def one(match: re.Match[str]) -> str:
        kind = match["kind"]
        if kind == "%":
            return "%"
        value = next(rest, None)
        if value is None:
            return UNKNOWN
        text = value.text
        if kind == "c":
            text = (
                (chr(value.known & 0x10FFFF) if value.known else "") if type(value.known) is int else text[:1]
            )
        elif kind in _BASES and type(value.known) is int:
            text = format(value.known, _BASES[kind])
        elif match["size"] is not None:
            text = text[: int(match["size"])] if kind == "s" else UNKNOWN
        if "-" in match["flags"]:
            return text.ljust(int(match["width"] or 0))
        return text.rjust(int(match["width"] or 0), "0" if "0" in match["flags"] and kind != "s" else " ")

    return Value(_CONVERSION.sub(one, args[0].text))


def _buffer(args: list[Value]) -> Value | None:
    """Buffer.from(text, "base64"): bytes, kept as text."""
    if not args:
        return None
    coding = args[1].text.lower() if len(args) > 1 and args[1].is_text else ""
    if coding.startswith("base64"):
        return _decoder(_base64)(args[:1])
    if coding == "hex":
        return _decoder(_hex)(args[:1])
    if args[0].items is not None:
        return _characters(args[:1])
    return args[0]


def _pack(args: list[Value]) -> Value | None:
    """pack("H*", hex) of Perl, PHP and Ruby ([hex].pack("H*"))."""
    if args and args[0].items is not None and len(args) > 1:
        args = [args[1], *args[0].items]
    if len(args) < 2 or not args[0].is_text:
        return opaque(*args)
    how = args[0].text[:1]
    if how in "Hm" and how:
        return _decoder(_hex if how == "H" else _base64)(args[1:2])
    if how in "cCUW" and how:
        return _characters(args[1:]) or opaque(*args)
    if how in "Aa" and how and args[0].text[1:] in ("", "*"):
        return args[1]
    return opaque(*args)


def _unpack(args: list[Value]) -> Value | None:
    """text.unpack1("m") of Ruby, unpack("u", text) of Perl."""
    if len(args) != 2 or not args[0].is_text or not args[1].is_text:
        return opaque(*args)
    text, how = (args[0], args[1].text) if len(args[1].text) <= 3 else (args[1], args[0].text)
    coder = {"m": _base64, "u": _uu, "H": _hex}.get(how[:1])
    return _decoder(coder)([text]) if coder else opaque(*args)


def _repeat(args: list[Value]) -> Value | None:
    if len(args) != 2 or not args[0].is_text or type(args[1].known) is not int:
        return None
    times = args[1].known
    return Value(args[0].text * times) if 0 <= times * len(args[0].text) <= TEXT_LIMIT else None


def _list(args: list[Value]) -> Value | None:
    items = elements(args[0]) if args else None
    return Value(items=list(items)) if items is not None else None


def _slice(args: list[Value]) -> Value | None:
    ends = [arg.known for arg in args[1:3]]
    if args and all(type(end) is int for end in ends):
        piece = slice(*ends) if len(ends) == 2 else slice(ends[0] if ends else None, None)
        if args[0].items is not None:
            return Value(items=args[0].items[piece])
        if args[0].is_text and args[0].is_known:
            return Value(args[0].text[piece])
    return None


def substring(args: list[Value], first: int) -> Value:
    """substr(text, place, length), where places are counted from `first`."""
    ends = [arg.known for arg in args[1:3]]
    if len(ends) and args[0].is_text and args[0].is_known and all(type(end) is int for end in ends):
        place = ends[0] - first  # type: ignore[operator]
        if place >= 0 and (len(ends) == 1 or ends[1] >= 0):  # type: ignore[operator]
            rest = args[0].text[place:]
            return Value(rest[: ends[1]] if len(ends) > 1 else rest, taint=args[0].taint)  # type: ignore[misc]
    return unknown(*args, name="substr()")


def _rot13(text: str) -> str:
    return codecs.decode(text, "rot13")


def _path(args: list[Value]) -> Value | None:
    """path.join, File.join, File.expand_path"""
    from .folding import function

    return function("os.path.join", args) if args else None


_ADDRESS = re.compile(r"data:[\w/+.-]*(?P<settings>(?:;[\w=-]+)*),(?P<text>.*)", re.DOTALL)


def data_address(address: str) -> str | None:
    """The text in a data: address; None when it is none."""
    match = _ADDRESS.match(address)
    if match is None:
        return None
    text = unquote(match["text"])
    if not match["settings"].endswith(";base64"):
        return text
    try:
        return _base64(text).decode("utf-8", "replace")
    except (ValueError, binascii.Error):
        return ""


def _end(place: int) -> _Fold:
    def fold(args: list[Value]) -> Value | None:
        return args[0].items[place] if args and args[0].items else None

    return fold


def _same(args: list[Value]) -> Value | None:
    return args[0] if args else None


FOLDS: dict[str, _Fold] = {
    "atob": _decoder(_base64),
    "base64_decode": _decoder(_base64),
    "decode_base64": _decoder(_base64),
    "decode64": _decoder(_base64),
    "strict_decode64": _decoder(_base64),
    "urlsafe_decode64": _decoder(_base64),
    "frombase64string": _decoder(_base64),
    "base64decode": _decoder(_base64),
    "hex2bin": _decoder(_hex),
    "gzinflate": _decoder(_inflate),
    "gzuncompress": lambda args: opaque(*args),
    "str_rot13": _whole(_rot13),
    "strrev": _reverse,
    "reverse": _reverse,
    "implode": _join,
    "join": _join,
    "concat": _add_all,
    "split": _split,
    "explode": lambda args: _split(args[1:2] + args[0:1]),
    "chars": lambda args: _split([*args[:1], Value("")]),
    "replace": _replace,
    "replaceall": _replace,
    "gsub": _replace,
    "str_replace": _string_replace,
    "fromcharcode": _characters,
    "fromcodepoint": _characters,
    "char": _characters,
    "rawtochar": _characters,
    "inttoutf8": _characters,
    "raw": _same,
    "chr": _characters,
    "from": _buffer,
    "tostring": _same,
    "to_s": _same,
    "tolowercase": _whole(str.lower),
    "touppercase": _whole(str.upper),
    "strtolower": _whole(str.lower),
    "downcase": _whole(str.lower),
    "lc": _whole(str.lower),
    "uc": _whole(str.upper),
    "tolower": _whole(str.lower),
    "toupper": _whole(str.upper),
    "strtoupper": _whole(str.upper),
    "upcase": _whole(str.upper),
    "trim": _whole(str.strip),
    "strip": _whole(str.strip),
    "chomp": _whole(str.strip),
    "decodeuricomponent": _whole(unquote),
    "unescape": _whole(unquote),
    "urldecode": _whole(unquote),
    "sprintf": _format,
    "format": _format,
    "pack": _pack,
    "unpack": _unpack,
    "unpack1": _unpack,
    "rep": _repeat,
    "repeat": _repeat,
    "str_repeat": _repeat,
    "slice": _slice,
    "array_slice": _slice,
    "drop": _slice,
    "shift": _end(0),
    "first": _end(0),
    "last": _end(-1),
    "array_shift": _end(0),
    "pop": _end(-1),
    "array_pop": _end(-1),
    "paste0": _add_all,
    "expand_path": _path,
    "expand": _same,
    "resolve": _path,
    "normalize": _same,
    "realpath": _same,
    "tolist": _list,
    "c": lambda args: Value(items=args),
    "array": lambda args: Value(items=args),
    "uri": _same,
    "shellescape": _same,
    "escapeshellarg": lambda args: Value("'" + args[0].text + "'") if args and args[0].is_text else None,
    "quotemeta": _same,
    "ipairs": _same,
    "pairs": _same,
    "freeze": _same,
}


@lru_cache(maxsize=2_048)
def _function(name: str) -> _Fold | None:
    last = re.split(r"[.:>]+", name)[-1].lower()
    if name.lower() in ("path.join", "file.join", "path.posix.join", "file.path"):
        return _path
    return FOLDS.get(last)


def fold(name: str, args: list[Value]) -> Value | None:
    """A pure function by its name, its receiver first among `args`; None when there is no such."""
    function = _function(name)
    return function(args) if function is not None else None
