"""Variables of a home: the process environment, then `<home>/.env`.

The host strips provider keys and bot tokens from the environment of its cron scripts, so whoever runs
under cron has to read `.env`.
"""

from __future__ import annotations

import codecs
import os
import re
from pathlib import Path

from .._common.files import open_regular
from .._common.home import hermes_home
from ..errors import Unreadable

FILE = ".env"
_MAX_BYTES = 4_000_000

# The grammar of python-dotenv, which is what the host loads the file with.
_BLANK = re.compile(r"\s*")
_EXPORT = re.compile(r"export[^\S\r\n]+")
_QUOTED_KEY = re.compile(r"'([^']+)'")
_KEY = re.compile(r"([^=#\s]+)")
_SPACE = re.compile(r"[^\S\r\n]*")
_SINGLE = re.compile(r"'((?:\\'|[^'])*)'")
_DOUBLE = re.compile(r'"((?:\\"|[^"])*)"')
_PLAIN = re.compile(r"[^\r\n]*")
_END = re.compile(r"(?:[^\S\r\n]*#[^\r\n]*)?[^\S\r\n]*(?:\r\n|\n|\r|$)")
_REST = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)?")
_REFERENCE = re.compile(r"\$\{([^}:]*)(?::-([^}]*))?\}")

# The host makes these pure ASCII: they are sent as HTTP headers.
_CREDENTIAL = ("_API_KEY", "_TOKEN", "_SECRET", "_KEY")

_cache: dict[str, tuple[tuple[int, ...], dict[str, str]]] = {}


def variables(home: Path) -> dict[str, str]:
    """What `<home>/.env` sets, read as the host reads it (export, quotes, comments, BOM); {} without it.

    Raises Unreadable.
    """
    path = home / FILE
    try:
        found = os.stat(path)
        signature = (found.st_mtime_ns, found.st_size, found.st_ino)
        known = _cache.get(str(path))
        if known is not None and known[0] == signature:
            return known[1]
        with open_regular(path) as file:
            raw = file.read(_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise Unreadable(path, error.strerror or type(error).__name__) from error
    if len(raw) > _MAX_BYTES:
        raise Unreadable(path, f"larger than {_MAX_BYTES} bytes")
    values = parse(_decode(raw))
    _cache[str(path)] = (signature, values)
    return values


def lookup(name: str, home: Path) -> str | None:
    """The value of `name`: the process environment, else `.env`; None when unset or empty.

    What this process got from the `.env` of its own home says nothing about another profile's.
    """
    value = os.environ.get(name)
    if value and not _comes_from_another_home(name, value, home):
        return value
    return variables(home).get(name) or None


def effective(name: str, home: Path) -> str | None:
    """The value of `name` in the host's process for `home`: there `.env` wins over what was exported."""
    return variables(home).get(name) or lookup(name, home)


def parse(text: str) -> dict[str, str]:
    """Read the text of a `.env`: a line that is no binding is skipped, `${NAME:-default}` is filled in."""
    values: dict[str, str | None] = {}  # None: named without a value, which takes back an earlier one
    position = 0
    while position < len(text):
        position = _BLANK.match(text, position).end()  # type: ignore[union-attr]
        if position >= len(text):
            break
        key, value, position, whole = _binding(text, position)
        if not whole:
            position = _REST.match(text, position).end()  # type: ignore[union-attr]
        elif key and value is not None:
            value = _REFERENCE.sub(lambda found: _referred(found, values), value)
            if key.endswith(_CREDENTIAL):
                value = value.encode("ascii", "ignore").decode("ascii")
            values[key] = value
        elif key:
            values[key] = None
    return {key: value for key, value in values.items() if value is not None}


def _binding(text: str, position: int) -> tuple[str | None, str | None, int, bool]:
    """One binding from `position` on: key, value, where reading stopped, and whether it is one."""
    export = _EXPORT.match(text, position)
    position = export.end() if export else position
    key = None
    if not text.startswith("#", position):
        found = (_QUOTED_KEY if text.startswith("'", position) else _KEY).match(text, position)
        if found is None:
            return None, None, position, False
        key, position = found[1], found.end()
    position = _SPACE.match(text, position).end()  # type: ignore[union-attr]
    value = None
    if text.startswith("=", position):
        position = _SPACE.match(text, position + 1).end()  # type: ignore[union-attr]
        value, position = _value(text, position)
        if value is None:
            return None, None, position, False
    end = _END.match(text, position)
    return key, value, end.end() if end else position, end is not None


def _value(text: str, position: int) -> tuple[str | None, int]:
    quote = text[position : position + 1]
    if quote and quote in "'\"":
        found = (_SINGLE if quote == "'" else _DOUBLE).match(text, position)
        if found is None:
            return None, position
        escapes = r"\\[\\']" if quote == "'" else r"\\[\\'\"abfnrtv]"
        value = re.sub(escapes, lambda part: codecs.decode(part[0], "unicode-escape"), found[1])
        return value, found.end()
    found = _PLAIN.match(text, position)
    assert found is not None
    return re.sub(r"\s+#.*", "", found[0]).rstrip(), found.end()


def _referred(found: re.Match[str], values: dict[str, str | None]) -> str:
    name, default = found[1], found[2] or ""
    return values[name] or "" if name in values else os.environ.get(name, default)


def _decode(raw: bytes) -> str:
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = raw.decode("utf-16", "replace")
    else:
        try:
            text = raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = raw.decode("latin-1")
    return text.replace("\x00", "")


def _comes_from_another_home(name: str, value: str, home: Path) -> bool:
    own = hermes_home()
    if own == home or os.path.realpath(own) == os.path.realpath(home):
        return False
    try:
        return variables(own).get(name) == value
    except Unreadable:
        return False
