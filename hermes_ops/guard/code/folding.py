"""Folding of Python's pure functions and methods over constants: what an obfuscated text comes to."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import json
import posixpath
import re
import shlex
import string
import zlib
from collections.abc import Callable
from urllib.parse import unquote, unquote_to_bytes

from ..judge.invocation import OPAQUE, UNKNOWN
from ..rules.names import names
from .value import (
    DECODED,
    ITEM_LIMIT,
    NOTHING,
    TEXT_LIMIT,
    Value,
    clean,
    constant,
    joined,
    plain,
    unknown,
)

_HIDDEN, _DECODED = frozenset([OPAQUE]), frozenset([DECODED])

# Methods of constants that give a constant no longer than a small multiple of their input.
_TEXT_METHODS = names(
    "strip lstrip rstrip lower upper swapcase title capitalize casefold translate encode decode split "
    "rsplit splitlines partition rpartition removeprefix removesuffix hex startswith endswith find "
    "count index isdigit isalpha maketrans to_bytes bit_length"
)

# What gives the code that it decodes; over something unknown the result is opaque.
DECODERS = names(
    "base64.b64decode base64.b32decode base64.b16decode base64.b85decode base64.a85decode "
    "base64.decodebytes base64.urlsafe_b64decode base64.standard_b64decode base64.decodestring "
    "binascii.unhexlify binascii.a2b_hex binascii.a2b_base64 bytes.fromhex bytearray.fromhex "
    "codecs.decode zlib.decompress gzip.decompress bz2.decompress lzma.decompress marshal.loads "
    "marshal.load types.CodeType zlib.decompressobj cryptography.fernet.Fernet().decrypt"
)

_CONSTANTS: dict[str, object] = {
    "os.sep": "/",
    "os.path.sep": "/",
    "os.linesep": "\n",
    "os.pathsep": ":",
    "os.curdir": ".",
    "os.pardir": "..",
    "os.devnull": "/dev/null",
    "sys.executable": "python3",
    "sys.platform": NOTHING,
    "string.ascii_letters": string.ascii_letters,
    "string.ascii_lowercase": string.ascii_lowercase,
    "string.ascii_uppercase": string.ascii_uppercase,
    "string.digits": string.digits,
    "string.punctuation": string.punctuation,
    "string.printable": string.printable,
    "string.hexdigits": string.hexdigits,
    "signal.SIGKILL": 9,
    "signal.SIGTERM": 15,
    "os.O_WRONLY": 1,
    "os.O_RDWR": 2,
    "os.O_CREAT": 64,
    "os.O_TRUNC": 512,
    "os.O_APPEND": 1024,
    "os.O_RDONLY": 0,
    "stat.S_ISUID": 0o4000,
    "stat.S_IRWXU": 0o700,
    "stat.S_IRWXG": 0o070,
    "stat.S_IRWXO": 0o007,
}


def named_constant(name: str) -> Value | None:
    """The value of a constant of the standard library by its dotted name."""
    known = _CONSTANTS.get(name, NOTHING)
    return None if known is NOTHING else Value(known)


def method(value: Value, name: str, args: list[Value]) -> Value | None:
    """A method of a constant text, bytes, number or list; None when it is none that folds."""
    if name == "join" and len(args) == 1:
        return _join(value, args[0])
    if name == "format" and value.is_text:
        return None
    given = [plain(arg) for arg in args]
    known = value.known
    if any(one is NOTHING for one in given) or type(known) not in (str, bytes, int):
        return _unknown_method(value, name, args)
    if (
        type(known) is str
        and UNKNOWN in known
        and name not in ("strip", "encode", "lower", "upper", "replace")
    ):
        return _unknown_method(value, name, args)
    if name == "replace" and len(given) >= 2 and type(known) in (str, bytes):
        if not isinstance(given[0], type(known)) or not isinstance(given[1], type(known)) or not given[0]:
            return None
        if len(known) // max(len(given[0]), 1) * len(given[1]) > TEXT_LIMIT:  # type: ignore[arg-type]
            return unknown(value)
        return _tainted(constant(known.replace(given[0], given[1])), value)  # type: ignore[union-attr]
    if (
        name in ("zfill", "ljust", "rjust", "center")
        and given
        and type(given[0]) is int
        and given[0] > TEXT_LIMIT
    ):
        return unknown(value)
    if name not in _TEXT_METHODS and name not in ("zfill", "ljust", "rjust", "center"):
        return None
    if name == "decode" and given and str(given[0]).lower() not in _PLAIN_CODECS:
        return None
    if name == "translate" and type(given[0] if given else None) is dict:
        if any(type(new) is str and len(new) > 4 for new in given[0].values()):  # type: ignore[union-attr]
            return unknown(value)
    try:
        return _tainted(constant(getattr(known, name)(*given)), value)
    except (ValueError, TypeError, AttributeError, LookupError, OverflowError):
        return None


_PLAIN_CODECS = names(
    "utf-8 utf8 ascii latin-1 latin1 iso-8859-1 utf-16 utf-16-le utf-16-be utf-32 cp1252 unicode_escape "
    "unicode-escape raw_unicode_escape"
)


def _tainted(result: Value, origin: Value) -> Value:
    result.taint, result.source = origin.taint, origin.source
    return result


def _unknown_method(value: Value, name: str, args: list[Value]) -> Value | None:
    if name in ("strip", "rstrip", "lstrip", "encode", "decode") and value.is_text:
        return value
    return None


def _join(by: Value, items: Value) -> Value | None:
    separator = by.known
    if items.items is None:
        if items.is_text and type(separator) is str and items.is_known:
            return Value(separator.join(items.text), taint=items.taint, source=items.source)
        return None
    if type(separator) is bytes:
        parts = [item.known for item in items.items]
        if all(type(part) is bytes for part in parts):
            return Value(separator.join(parts)[:TEXT_LIMIT])  # type: ignore[arg-type]
        return None
    return joined(items.items, by.text) if type(separator) is str else None


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


def _decoded(name: str, args: list[Value]) -> Value | None:
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


def _chr(args: list[Value]) -> Value | None:
    known = args[0].known if args else None
    return Value(chr(known)) if type(known) is int and 0 < known < 0x110000 else None


def _ord(args: list[Value]) -> Value | None:
    known = args[0].known if args else None
    if type(known) is str and len(known) == 1 and known != UNKNOWN:
        return Value(ord(known))
    return Value(known[0]) if type(known) is bytes and len(known) == 1 else None


def _str(args: list[Value]) -> Value | None:
    if not args:
        return Value("")
    value = args[0]
    if type(value.known) is bytes and len(args) > 1:
        return _tainted(Value(value.text), value)
    if (
        value.items is None
        and value.pairs is None
        and value.known is not NOTHING
        and type(value.known) is not bytes
    ):
        return Value(value.text, taint=value.taint, source=value.source, glob=value.glob, deep=value.deep)
    if value.name == "pathlib.Path()":
        return value
    return None


def _bytes_of(args: list[Value]) -> Value | None:
    if not args:
        return Value(b"")
    known = plain(args[0])
    try:
        if type(known) is str:
            return Value(known.encode())
        if type(known) is list and len(known) <= TEXT_LIMIT:
            return Value(bytes(known))
        if type(known) is bytes:
            return args[0]
    except (ValueError, TypeError):
        return None
    return None


def _int(args: list[Value]) -> Value | None:
    given = [plain(arg) for arg in args]
    try:
        if (
            given
            and all(type(one) in (str, int, float, bytes) for one in given)
            and len(str(given[0])) < 4000
        ):
            return Value(int(*given))  # type: ignore[call-overload]
    except (ValueError, TypeError, OverflowError):
        return None
    return None


def elements(value: Value) -> list[Value] | None:
    """The items of a known sequence, one by one; None when they are not known."""
    if value.items is not None:
        return value.items
    if value.pairs is not None:
        return [Value(key) for key in value.pairs]
    known = value.known
    if (
        type(known) is str
        and UNKNOWN not in known
        and len(known) <= ITEM_LIMIT
        and value.name != "pathlib.Path()"
    ):
        return [Value(letter) for letter in known]
    if type(known) is bytes and len(known) <= ITEM_LIMIT:
        return [Value(number) for number in known]
    return None


def _list(args: list[Value]) -> Value | None:
    if not args:
        return Value(items=[])
    items = elements(args[0])
    return None if items is None else Value(items=list(items))


def _reversed(args: list[Value]) -> Value | None:
    items = elements(args[0]) if args else None
    return None if items is None else Value(items=items[::-1])


def _range(args: list[Value]) -> Value | None:
    given = [arg.known for arg in args]
    if not 1 <= len(given) <= 3 or not all(type(one) is int for one in given):
        return None
    if len(given) == 3 and given[2] == 0:
        return None
    return Value(items=[Value(number) for number in range(*given)[:ITEM_LIMIT]])  # type: ignore[arg-type]


def _zip(args: list[Value]) -> Value | None:
    columns = [elements(arg) for arg in args]
    if not columns or any(column is None for column in columns):
        return None
    return Value(items=[Value(items=list(row)) for row in zip(*columns, strict=False)])  # type: ignore[arg-type]


def _enumerate(args: list[Value]) -> Value | None:
    items = elements(args[0]) if args else None
    if items is None:
        return None
    return Value(items=[Value(items=[Value(number), item]) for number, item in enumerate(items)])


def _dict(args: list[Value]) -> Value | None:
    if len(args) == 1 and args[0].pairs is not None:
        return Value(pairs=dict(args[0].pairs))
    rows = args[0].items if len(args) == 1 else None
    if rows is None or not all(row.items is not None and len(row.items) == 2 for row in rows):
        return Value(pairs={}) if not args else None
    return Value(pairs={row.items[0].text: row.items[1] for row in rows if row.items is not None})


def _path_join(args: list[Value]) -> Value | None:
    if not args:
        return None
    parts = list(args)
    for place in range(len(parts) - 1, 0, -1):
        if parts[place].text[:1] == "/":
            parts = parts[place:]
            break
    result = joined(parts, "\1")
    if result.is_text:
        result.known = re.sub("/*\1", "/", result.text)
    return result


def _same_path(args: list[Value]) -> Value | None:
    return args[0] if args and args[0].is_text else None


def _normal(args: list[Value]) -> Value | None:
    if not args or not args[0].is_text:
        return None
    value = args[0]
    known = value.text
    tidy = posixpath.normpath(known) if known and UNKNOWN not in known else known
    return Value(tidy, name=value.name, taint=value.taint, glob=value.glob, deep=value.deep)


def _part(which: Callable[[str], str]) -> Callable[[list[Value]], Value | None]:
    def fold(args: list[Value]) -> Value | None:
        if args and args[0].is_text:
            return Value(which(args[0].text) or ("" if args[0].is_known else UNKNOWN), glob=args[0].glob)
        return None

    return fold


def _shlex_split(args: list[Value]) -> Value | None:
    if not args or not args[0].is_text:
        return None
    try:
        return constant(shlex.split(args[0].text))
    except ValueError:
        return None


def _shlex_join(args: list[Value]) -> Value | None:
    items = args[0].items if args else None
    return None if items is None else joined([Value(shlex.quote(item.text)) for item in items], " ")


def _quote(args: list[Value]) -> Value | None:
    return Value(shlex.quote(args[0].text), taint=args[0].taint, source=args[0].source) if args else None


def _loads(args: list[Value]) -> Value | None:
    if args and args[0].is_known:
        try:
            return constant(json.loads(args[0].text))
        except (ValueError, RecursionError):
            return None
    return None


def _text_function(function: Callable[[str], object]) -> Callable[[list[Value]], Value | None]:
    def fold(args: list[Value]) -> Value | None:
        if args and args[0].is_known and (args[0].is_text or type(args[0].known) is bytes):
            return constant(function(args[0].text))
        return None

    return fold


def _number(function: Callable[[int], object]) -> Callable[[list[Value]], Value | None]:
    def fold(args: list[Value]) -> Value | None:
        return Value(function(args[0].known)) if args and type(args[0].known) is int else None

    return fold


def _length(args: list[Value]) -> Value | None:
    known = plain(args[0]) if args else NOTHING
    return Value(len(known)) if type(known) in (str, bytes, list, dict) else Value()  # type: ignore[arg-type]


def _maketrans(args: list[Value]) -> Value | None:
    given = [plain(arg) for arg in args]
    try:
        return Value(str.maketrans(*given))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _which(args: list[Value]) -> Value | None:
    return Value(args[0].text) if args and args[0].is_text else None


def _identity(args: list[Value]) -> Value | None:
    return args[0] if args else None


_FOLDS: dict[str, Callable[[list[Value]], Value | None]] = {
    "chr": _chr,
    "ord": _ord,
    "str": _str,
    "bytes": _bytes_of,
    "bytearray": _bytes_of,
    "memoryview": _identity,
    "int": _int,
    "list": _list,
    "tuple": _list,
    "set": _list,
    "iter": lambda args: Value(name="endless") if len(args) > 1 else _identity(args),
    "sorted": _list,
    "reversed": _reversed,
    "range": _range,
    "zip": _zip,
    "enumerate": _enumerate,
    "dict": _dict,
    "len": _length,
    "hex": _number(hex),
    "bin": _number(bin),
    "oct": _number(oct),
    "abs": _number(abs),
    "str.maketrans": _maketrans,
    "bytes.maketrans": lambda args: None,
    "ast.literal_eval": _loads,
    "json.loads": _loads,
    "os.path.join": _path_join,
    "os.path.abspath": _normal,
    "os.path.realpath": _normal,
    "os.path.normpath": _normal,
    "os.fspath": _same_path,
    "os.fsencode": _same_path,
    "os.fsdecode": _same_path,
    "os.path.dirname": _part(posixpath.dirname),
    "os.path.basename": _part(posixpath.basename),
    "shlex.split": _shlex_split,
    "shlex.join": _shlex_join,
    "subprocess.list2cmdline": _shlex_join,
    "shlex.quote": _quote,
    "pipes.quote": _quote,
    "shutil.which": _which,
    "urllib.parse.unquote": _text_function(unquote),
    "urllib.parse.unquote_to_bytes": _text_function(unquote_to_bytes),
    "html.unescape": _text_function(html.unescape),
    "textwrap.dedent": _same_path,
    "inspect.cleandoc": _same_path,
    "asyncio.subprocess.PIPE": lambda args: None,
    "sys.intern": _identity,
    "copy.copy": _identity,
    "copy.deepcopy": _identity,
}

# What gives nothing of its arguments away.
_CLEAN = names(
    "len bool isinstance type id hash callable hasattr any all os.path.exists os.path.isfile "
    "os.path.isdir os.path.getsize os.stat print max min"
)


def function(name: str, args: list[Value]) -> Value | None:
    """A pure function by its dotted name; None when it is none that folds over these arguments."""
    fold = _FOLDS.get(name)
    if fold is not None:
        result = fold(args)
        if name == "len" and result is not None:
            return clean(result)
        return result
    if name in DECODERS or name in _BYTES:
        result = _decoded(name, args)
        return result if result is not None else opaque(*args)
    if name in _CLEAN or name.startswith(("hashlib.", "re.", "hmac.")):
        return Value(name=name + "()")
    return None


def formatted(template: str, args: list[Value], keywords: dict[str, Value]) -> Value:
    """str.format: fields by number and name; what is not known stays UNKNOWN."""
    counter = iter(range(len(args)))

    def field(match: re.Match[str]) -> str:
        inner = match.group(1)
        if inner is None:
            return match.group()[0]
        key = re.split(r"[!:.\[]", inner, maxsplit=1)[0]
        if not key:
            place = next(counter, None)
            return args[place].text if place is not None else UNKNOWN
        if key.isdigit():
            return args[int(key)].text if len(key) < 4 and int(key) < len(args) else UNKNOWN
        return keywords[key].text if key in keywords else UNKNOWN

    text = re.sub(r"\{\{|\}\}|\{([^{}]*)\}", field, template)
    result = unknown(*args, *keywords.values())
    result.known = text if len(text) <= TEXT_LIMIT else NOTHING
    return result


def percent(template: Value, right: Value) -> Value:
    """`template % right` for text."""
    args = right.items if right.items is not None else [right]
    pairs = right.pairs or {}
    remaining = iter(args)

    def field(match: re.Match[str]) -> str:
        if match.group() == "%%":
            return "%"
        if match.group(1) is not None:
            value = pairs.get(match.group(1))
        else:
            value = next(remaining, None)
        if value is None:
            return UNKNOWN
        if match.group(2) == "c" and type(value.known) is int and 0 < value.known < 0x110000:
            return chr(value.known)
        return value.text

    text = re.sub(r"%(?:\((\w*)\))?[-+ #0]*(?:\d+|\*)?(?:\.\d+)?([a-zA-Z%])", field, template.text)
    result = unknown(template, *args, *pairs.values())
    result.known = text if len(text) <= TEXT_LIMIT else NOTHING
    return result
