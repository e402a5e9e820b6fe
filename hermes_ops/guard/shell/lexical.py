"""The lexical view of text that cannot be read: pieces between operators, as far as they can be told."""

from __future__ import annotations

import re
from itertools import islice

from .escapes import ansi_c
from .source import CHARACTERS

_COMMENT, _PLAIN, _ANSI_C, _SINGLE, _DOUBLE, _ESCAPED, _OTHER, _OPERATOR, _SEPARATOR = range(1, 10)
_TOKEN = re.compile(
    r"[ \t]+|\\\n"
    r"|(?<![^ \t\n;&|<>()])(#[^\n]*)"
    r"|(?![0-9]+[<>])([^ \t\n;&|<>()'\"`$\\]+)"
    r"|\$'([^'\\]*(?:\\[\s\S][^'\\]*)*)'"
    r"|'([^']*)'"
    r"|\$?\"([^\"\\]*(?:\\[\s\S][^\"\\]*)*)\""
    r"|\\([\s\S])"
    r"|(\$(?!\()|['\"\\])"
    r"|([0-9]*(?:<<<|<<-?|<>|[<>]&|>>|>\||[<>](?!\()|&>>?))"
    r"|([\n;&|]+|[$<>]?\(|\)|`)"
)
_IN_DOUBLE = re.compile(r"\\([$`\"\\\n])")
# How deep substitutions between double quotes are looked into.
_QUOTES_IN_QUOTES = 3
_RUNS = re.compile(r"\$\(|`")


def pieces(text: str, limit: int = 2_000) -> list[list[str]]:
    """The words between operators and newlines outside quotes, with quotes removed: at most `limit` words.

    Substitutions and groups begin a piece of their own, also those between double quotes. A redirection
    operator is a word of its own, before its target. A quote that is never closed is left out. Never raises;
    takes time linear in the text, of which it looks at the first 131,072 characters.
    """
    found: list[list[str]] = []
    _split(text[:CHARACTERS], limit, found, _QUOTES_IN_QUOTES)
    return found


def _split(text: str, limit: int, found: list[list[str]], deeper: int) -> int:
    """Put the pieces of `text` into `found`; gives how many words may still come."""
    piece: list[str] = []
    word: list[str] = []
    inner: list[str] = []
    for match in islice(_TOKEN.finditer(text), 8 * limit):
        kind = match.lastindex
        if kind == _COMMENT:
            continue
        if kind is not None and kind < _OPERATOR:
            value = match[kind]
            if kind == _ANSI_C:
                value = ansi_c(value)
            elif kind == _DOUBLE:
                if deeper and _RUNS.search(value):
                    inner.append(value)
                value = _IN_DOUBLE.sub(lambda escape: escape[1].strip("\n"), value)
            elif kind == _OTHER and value in "'\"\\":
                value = ""
            word.append(value)
        elif kind is not None or match[0] != "\\\n":
            limit -= _end_word(piece, word)
            if kind == _OPERATOR:
                piece.append(match[_OPERATOR])
            elif kind == _SEPARATOR and piece:
                found.append(piece)
                piece = []
            if limit <= 0:
                break
    limit -= _end_word(piece, word)
    if piece:
        found.append(piece)
    for each in inner:
        if limit <= 0:
            break
        limit = _split(each, limit, found, deeper - 1)
    return limit


def _end_word(piece: list[str], word: list[str]) -> int:
    """Put a word that was begun into the piece; gives how many that were."""
    if not word:
        return 0
    piece.append("".join(word))
    word.clear()
    return 1
