"""Here-documents: the delimiter, and the bodies that follow the line."""

from __future__ import annotations

import re

from .expansions import piece
from .source import Pending, Source
from .tree import HereDocument, Part, Text, Word

# A line of a body whose expansions are read, with the lines it is continued on.
_LINE = re.compile(r"([^\n\\]*(?:\\[\s\S][^\n\\]*)*\\?)(?:\n|\Z)")


def begin(source: Source, op: str, parts: tuple[Part, ...], raw: str) -> HereDocument:
    """Note a here-document whose delimiter is the word given by its parts and its source text."""
    quoted = any(sign in raw for sign in "'\"\\")
    if all(type(part) is Text for part in parts):
        delimiter = "".join([part.value for part in parts])  # type: ignore[union-attr]
    else:
        delimiter = raw.replace("'", "").replace('"', "").replace("\\", "")
    document = HereDocument("", quoted, Word(()), False)
    source.pending.append(Pending(document, delimiter, op == "<<-"))
    return document


def gather(source: Source, pos: int) -> int:
    """Read the bodies of all begun here-documents, from behind the newline; gives where they end."""
    pending, source.pending, source.begun = source.pending, [], 0
    for each in pending:
        pos = _read(source, pos, each)
    return pos


def _read(source: Source, start: int, pending: Pending) -> int:
    text = source.text
    document, delimiter, stripped = pending
    source.spend(4)
    if not document.quoted and source.last_fold >= start:
        end, after = _end_of_continued(source, start, delimiter, stripped)
    elif stripped or source.substituted:
        end, after = _end_by_pattern(source, start, delimiter, stripped)
    else:
        end, after = _end(source, start, delimiter)
    document.ended = end >= 0
    if end < 0:
        end = after = len(text)
    body = text[start:end]
    if document.quoted:
        source.limit += len(body)
    if stripped and "\t" in body:
        body = "\n".join([line.lstrip("\t") for line in body.split("\n")])
    document.body = body
    parts = (
        (Text(body, True),) if document.quoted else piece(source, body, (start, end), "in a here-document")
    )
    document.word = Word(parts, (start, end))
    return after


def _end(source: Source, start: int, delimiter: str) -> tuple[int, int]:
    """Where the body ends and where reading goes on; -1 when the delimiter never comes."""
    text, length = source.text, len(delimiter)
    at = start - 1  # of the newline before the delimiter
    if not text.startswith(delimiter, start) or text[start + length : start + length + 1] not in ("\n", ""):
        at = text.find(f"\n{delimiter}\n", max(at, 0))
        if at < 0:
            if not text.endswith("\n" + delimiter) or len(text) - length - 1 < start:
                return -1, -1
            at = len(text) - length - 1
    return at + 1, min(at + length + 2, len(text))


def _end_by_pattern(source: Source, start: int, delimiter: str, stripped: bool) -> tuple[int, int]:
    """As _end, with tabs before the delimiter, and in a substitution the closing parenthesis after it."""
    source.spend(40 + len(delimiter) // 8)
    tabs = r"\t*" if stripped else ""
    closes = r"|(?=[^\n]*\))" if source.substituted else ""
    pattern = re.compile(rf"^{tabs}{re.escape(delimiter)}(?:\n|\Z{closes})", re.MULTILINE)
    match = pattern.search(source.text, start)
    source.spend(((match.end() if match else len(source.text)) - start) // 1_000)
    return match.span() if match else (-1, -1)


def _end_of_continued(source: Source, start: int, delimiter: str, stripped: bool) -> tuple[int, int]:
    """As _end, where lines ending in a backslash go on in the next one before the delimiter is looked for."""
    text, pos, lines = source.text, start, 0
    while pos < len(text):
        match = _LINE.match(text, pos)
        assert match
        line = match[1]
        if "\\\n" in line:
            line = line.replace("\\\n", "")
        if stripped:
            line = line.lstrip("\t")
        lines += 1
        if line == delimiter:
            source.spend(lines // 6)
            return pos, match.end()
        if source.substituted and line.startswith(delimiter) and ")" in line[len(delimiter) :]:
            source.spend(lines // 6)
            return pos, text.index(delimiter, pos) + len(delimiter)
        if lines > 6 * source.steps:
            source.spend(lines // 6)
        pos = match.end()
    return -1, -1
