"""What a client of a database prints of a query of constants: `select 'text'`, `select char(114) || 'm'`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from . import commands_in_options, decode
from .invocation import UNKNOWN, Arg, Invocation
from .other_languages import as_word

if TYPE_CHECKING:
    from .walk import Walk

LONGEST = 4_000
_DEEPEST = 12
_REST = r"(?P<number>\d+)|(?P<name>[A-Za-z_]\w*)|(?P<sign>\|\||::|[(),;*])"
_ESCAPED = r"'(?P<escaped>(?:[^'\\]|\\.|'')*)'"
_TOKEN = re.compile(
    rf"\s*(?:[eE]{_ESCAPED}|(?:(?P<hex>[xX])|[nN])?'(?P<text>(?:[^']|'')*)'|{_REST})", re.DOTALL
)
# In all strings of MySQL a backslash stands before a letter that it changes.
_TOKEN_OF_MYSQL = re.compile(
    rf"\s*(?:[nN]?{_ESCAPED}|\"(?P<quoted>(?:[^\"\\]|\\.|\"\")*)\"|(?P<hex>[xX])'(?P<text>[^']*)'|{_REST})",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPE_OF_MYSQL = re.compile(r"\\(.)", re.DOTALL)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_MYSQL = frozenset(("mysql", "mariadb"))
_QUERY = re.compile(r"\s*(?:select|values)\b\s*", re.IGNORECASE)
# Options whose value is a query; psql and mysql take them at the end of a bundle of letters.
_QUERIES = {
    "psql": (frozenset(("--command",)), "c"),
    "mysql": (frozenset(("--execute",)), "e"),
    "mariadb": (frozenset(("--execute",)), "e"),
    "duckdb": (frozenset(("-c", "-s")), ""),
}


class _Unfollowed(Exception):
    """A query that is not one of constants."""


class _Reader:
    """Reads the expressions of a query once from left to right."""

    def __init__(self, text: str, at: int, mysql: bool) -> None:
        self.text, self.at = text, at
        self.token = _TOKEN_OF_MYSQL if mysql else _TOKEN
        self.escape = _ESCAPE_OF_MYSQL if mysql else _ESCAPE

    def take(self) -> re.Match[str]:
        found = self.token.match(self.text, self.at)
        if found is None:
            raise _Unfollowed
        self.at = found.end()
        return found

    def is_next(self, *signs: str) -> bool:
        found = self.token.match(self.text, self.at)
        if found is None or (found["sign"] or (found["name"] or "").lower()) not in signs:
            return False
        self.at = found.end()
        return True

    def expression(self, depth: int = 0) -> str:
        if depth > _DEEPEST:
            raise _Unfollowed
        pieces = [self.operand(depth)]
        while True:
            if self.is_next("||"):
                pieces.append(self.operand(depth))
            elif self.is_next("::"):
                self.take()
            else:
                return "".join(pieces)

    def operand(self, depth: int) -> str:
        found = self.take()
        if found["text"] is not None:
            text = found["text"].replace("''", "'")
            return _decoded(decode.from_hex(text)) if found["hex"] else text
        if found["escaped"] is not None:
            return self.escape.sub(_meant, found["escaped"].replace("''", "'"))
        if self.token is _TOKEN_OF_MYSQL and found["quoted"] is not None:
            return self.escape.sub(_meant, found["quoted"].replace('""', '"'))
        if found["number"]:
            return found["number"]
        if found["sign"] == "(":
            text = self.expression(depth + 1)
            if not self.is_next(")"):
                raise _Unfollowed
            return text
        if found["name"] and self.is_next("("):
            return self.called(found["name"].lower(), depth + 1)
        raise _Unfollowed

    def called(self, name: str, depth: int) -> str:
        given: list[str] = []
        while not self.is_next(")"):
            given.append(self.expression(depth))
            if self.is_next("as", "using"):
                self.take()
            self.is_next(",")
        function = _FUNCTIONS.get(name)
        if function is None:
            raise _Unfollowed
        return function(given)


def _meant(found: re.Match[str]) -> str:
    """What a backslash and what follows it stand for."""
    code = found[1]
    if len(code) > 1 or code in "01234567":
        number = int(code.lstrip("xuU"), 8 if code[0] in "01234567" else 16)
        if not 0 < number < 0x110000:
            raise _Unfollowed
        return chr(number)
    return _LETTERS.get(code, code)


def _decoded(text: str | None) -> str:
    if text is None:
        raise _Unfollowed
    return text


def _letters(given: list[str]) -> str:
    if not all(word.isdigit() and 0 < int(word) < 0x110000 for word in given):
        raise _Unfollowed
    return "".join(chr(int(word)) for word in given)


def _by_coding(given: list[str]) -> str:
    """decode('...', 'base64') of PostgreSQL."""
    text, coding = (*given, "", "")[:2]
    return _decoded({"base64": decode.from_base64, "hex": decode.from_hex}.get(coding, lambda _: None)(text))


def _replaced(given: list[str]) -> str:
    if len(given) != 3 or not given[1] or len(given[0]) * len(given[2]) > LONGEST * 4:
        raise _Unfollowed
    return given[0].replace(given[1], given[2])


def _first(given: list[str]) -> str:
    if not given:
        raise _Unfollowed
    return given[0]


def _substr(given: list[str]) -> str:
    if len(given) not in (2, 3) or not all(word.isdigit() and len(word) < 6 for word in given[1:]):
        raise _Unfollowed
    place = max(0, int(given[1]) - 1)
    return given[0][place : place + int(given[2])] if len(given) > 2 else given[0][place:]


_FUNCTIONS: dict[str, Callable[[list[str]], str]] = {
    **dict.fromkeys(("char", "chr"), _letters),
    "concat": "".join,
    "concat_ws": lambda given: _first(given).join(given[1:]),
    **dict.fromkeys(("unhex", "from_hex"), lambda given: _decoded(decode.from_hex(_first(given)))),
    "from_base64": lambda given: _decoded(decode.from_base64(_first(given))),
    "decode": _by_coding,
    **dict.fromkeys(("cast", "convert", "convert_from", "trim", "coalesce"), _first),
    "lower": lambda given: _first(given).lower(),
    "upper": lambda given: _first(given).upper(),
    "reverse": lambda given: _first(given)[::-1],
    "replace": _replaced,
    **dict.fromkeys(("substr", "substring"), _substr),
    **dict.fromkeys(("printf", "format"), lambda given: _decoded(decode.printf(given))),
}


def rows(query: str, mysql: bool = False) -> str | None:
    """What a query of constants prints, a line for its row; None for any other query."""
    found = _QUERY.match(query)
    if found is None or len(query) > LONGEST or UNKNOWN in query:
        return None
    reader = _Reader(query, found.end(), mysql)
    try:
        values = [reader.expression()]
        while True:
            if reader.is_next("as"):
                reader.take()
            if not reader.is_next(","):
                break
            values.append(reader.expression())
    except _Unfollowed:
        return None
    return None if query[reader.at :].strip("; \t\r\n") else "|".join(values) + "\n"


# Functions and statements of a database on this machine that write a file or start an editor.
_LOCAL = frozenset(("sqlite3", "sqlite", "duckdb"))
_WRITES = re.compile(
    r"\bwritefile\s{0,4}\(\s{0,4}'([^']{1,400})'|\bcopy\b[^;]{0,2000}?[\s)]to\s{1,4}'([^']{1,400})'",
    re.IGNORECASE,
)
_EDITS = re.compile(r"\bedit\s{0,4}\([^()]{0,400}?,\s{0,4}'((?:[^']|''){1,400})'\s{0,4}\)", re.IGNORECASE)
_MOST_FILES = 8


def _files(walk: Walk, query: str) -> None:
    """Judge what a query writes and starts on this machine."""
    for found in list(_WRITES.finditer(query))[:_MOST_FILES]:
        walk.shell(Arg(f"cat > {as_word(found[1] or found[2])}"))
    for found in list(_EDITS.finditer(query))[:_MOST_FILES]:
        walk.shell(Arg(found[1].replace("''", "'")))


def _printed(walk: Walk, call: Invocation) -> str | None:
    """sqlite3 [OPTIONS] FILE QUERY, psql -c QUERY, mysql -e QUERY, or the query on the input."""
    options = _QUERIES.get(call.name)
    if options is not None:
        queries = [value.text for _, value in commands_in_options.values(call.argv[1:], *options)]
    else:
        queries = [arg.text for arg in call.operands(frozenset(("-separator", "-cmd", "-init")))][1:]
    if not queries and call.stdin.text:
        queries = [call.stdin.text]
    if call.name in _LOCAL:
        for query in queries[:4]:
            _files(walk, query[:LONGEST])
    printed = [rows(query, call.name in _MYSQL) for query in queries[:4]]
    return None if not printed or None in printed else "".join(map(str, printed))


PRINTERS: dict[str, Callable[[Walk, Invocation], str | None]] = dict.fromkeys(
    (*_QUERIES, "sqlite3", "sqlite"), _printed
)
