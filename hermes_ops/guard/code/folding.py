"""Folding of Python's pure functions over constants: what an obfuscated text comes to."""

from __future__ import annotations

import html
import json
import posixpath
import re
import shlex
import string
from collections.abc import Callable
from urllib.parse import unquote, unquote_to_bytes

from ..judge.invocation import UNKNOWN
from ..rules.names import names
from .decoding import decoded, is_decoder, opaque
from .value import ITEM_LIMIT, NOTHING, TEXT_LIMIT, Value, clean, constant, joined, plain

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
        return Value(value.text, taint=value.taint, source=value.source)
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


LONGEST_LINE = 4_000


def _shlex_split(args: list[Value]) -> Value | None:
    if not args or not args[0].is_text or len(args[0].text) > LONGEST_LINE:
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
    "repr": _text_function(repr),
    "ascii": _text_function(ascii),
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
    if is_decoder(name):
        result = decoded(name, args)
        return result if result is not None else opaque(*args)
    if name in _CLEAN or name.startswith(("hashlib.", "re.", "hmac.")):
        return Value(name=name + "()")
    return None
