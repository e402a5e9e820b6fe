"""Decoders over constants: base64, hex, zlib, rot13; over something unknown the result is opaque."""

from __future__ import annotations

import base64
import binascii
import codecs
import zlib
from collections.abc import Callable

from ..judge.invocation import OPAQUE
from ..rules.names import names
from .value import DECODED, TEXT_LIMIT, Value, plain, unknown

_HIDDEN, _DECODED = frozenset([OPAQUE]), frozenset([DECODED])
# What gives the code that it decodes.
DECODERS = names(
    "base64.b64decode base64.b32decode base64.b16decode base64.b85decode base64.a85decode "
    "base64.decodebytes base64.urlsafe_b64decode base64.standard_b64decode base64.decodestring "
    "binascii.unhexlify binascii.a2b_hex binascii.a2b_base64 bytes.fromhex bytearray.fromhex "
    "codecs.decode zlib.decompress gzip.decompress bz2.decompress lzma.decompress marshal.loads "
    "marshal.load types.CodeType zlib.decompressobj cryptography.fernet.Fernet().decrypt"
)


def opaque(*values: Value) -> Value:
    """What a decoder makes of something that is not known."""
    result = unknown(*values)
    result.taint = result.taint | _HIDDEN
    return result


def _bytes(value: Value) -> bytes:
    known = plain(value)
    if type(known) is str:
        return known.encode("latin-1", "replace")
    if type(known) is bytes:
        return known
    if type(known) is list:
        return bytes(known)
    raise ValueError("not bytes")


def _inflate(data: bytes, bits: int = zlib.MAX_WBITS) -> bytes:
    return zlib.decompressobj(bits).decompress(data, TEXT_LIMIT)


def _padded(data: bytes) -> bytes:
    data = b"".join(data.split())
    return data + b"=" * (-len(data) % 4)


_TEXT_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "base64": lambda data: base64.b64decode(_padded(data)),
    "hex": lambda data: binascii.unhexlify(data),
    "zlib": _inflate,
    "rot13": lambda data: codecs.decode(data.decode("latin-1"), "rot13").encode("latin-1"),
    "rot_13": lambda data: codecs.decode(data.decode("latin-1"), "rot13").encode("latin-1"),
    "bz2": lambda data: b"",
}
_BYTES: dict[str, Callable[[bytes], bytes]] = {
    "base64.b64decode": lambda data: base64.b64decode(_padded(data)),
    "base64.standard_b64decode": lambda data: base64.b64decode(_padded(data)),
    "base64.urlsafe_b64decode": lambda data: base64.urlsafe_b64decode(_padded(data)),
    "base64.decodebytes": lambda data: base64.decodebytes(data),
    "base64.b32decode": base64.b32decode,
    "base64.b16decode": base64.b16decode,
    "base64.b85decode": base64.b85decode,
    "base64.a85decode": base64.a85decode,
    "base64.b64encode": base64.b64encode,
    "binascii.unhexlify": binascii.unhexlify,
    "binascii.a2b_hex": binascii.unhexlify,
    "binascii.a2b_base64": binascii.a2b_base64,
    "binascii.hexlify": binascii.hexlify,
    "zlib.decompress": _inflate,
    "gzip.decompress": lambda data: _inflate(data, 31),
}


def decoded(name: str, args: list[Value]) -> Value | None:
    if name in _BYTES and args:
        try:
            taint = args[0].taint | _DECODED if name in DECODERS else args[0].taint
            return Value(_BYTES[name](_bytes(args[0])), taint=taint, source=args[0].source)
        except (ValueError, TypeError, zlib.error, binascii.Error):
            return opaque(*args) if name in DECODERS else None
    if name == "codecs.decode" and len(args) > 1:
        coder = args[1].text.lower().replace("-", "").replace("_codec", "").replace("rot_13", "rot13")
        try:
            data = _TEXT_DECODERS[coder](_bytes(args[0]))
        except (KeyError, ValueError, TypeError, zlib.error, binascii.Error):
            return opaque(*args)
        return Value(data.decode("latin-1") if coder == "rot13" else data, taint=_DECODED)
    if name in ("bytes.fromhex", "bytearray.fromhex") and args and args[0].is_known:
        try:
            return Value(bytes.fromhex(args[0].text), taint=_DECODED)
        except ValueError:
            return opaque(*args)
    return None


def is_decoder(name: str) -> bool:
    """Is it a function that `decoded` knows, or one whose result is opaque?"""
    return name in DECODERS or name in _BYTES
