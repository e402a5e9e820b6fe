"""The ladder for text that cannot be read: what is left of it is looked at in pieces, never passed over.

First the text is read again behind words that only a broken line puts before a command, and behind the place
that was not understood; then every piece between operators is judged as if it were a command. What must never
run is blocked however it was found. Where that finds nothing, a person is asked if a word of risk remains.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..shell import lexical, reader
from ..verdict import Verdict
from . import beyond, names, pieces, reasons
from .budget import CHARACTERS_A_STEP
from .invocation import Stream
from .wrappers import KEYWORDS, VERBS, WRAPPERS

if TYPE_CHECKING:
    from ..shell.tree import Reading
    from .walk import Walk

# Characters of text that are looked at piece by piece; of what comes behind them only the words are.
LONGEST_IN_PIECES = 6_000
_MOST_WORDS = LONGEST_IN_PIECES
_OVERLAP = 200  # a word may stand where the pieces end
_STARTS = 6
_LONGEST_AGAIN = 8000
_WORD = re.compile(r"[\s;&|]*(\S+)[ \t]*")
_BOUNDARY = re.compile(r"[;&|\n(){}`]+|\b(?:do|then|else)\b")


def rest(walk: Walk, reading: Reading, stdin: Stream) -> None:
    """Judge what the reader could not: the text behind the last whole command."""
    text = reading.text
    begin = reading.script.items[-1].command.span[1] if reading.script.items else 0
    walk.unread = walk.unread or reading.problem
    if reading.stopped:
        beyond.judge(walk, text[begin:])
        return
    before = len(walk.findings)
    if walk.again < 2 and len(text) <= _LONGEST_AGAIN:
        walk.again += 1
        try:
            _from_new_starts(walk, reading, begin, stdin)
        finally:
            walk.again -= 1
    end = begin + LONGEST_IN_PIECES
    found = lexical.pieces(text[begin:end], _MOST_WORDS)
    pieces.judge(walk, found)
    if len(text) > end:
        beyond.judge(walk, text[end - _OVERLAP :])
    if len(walk.findings) == before or all(each.verdict == Verdict.ALLOW for each in walk.findings[before:]):
        word = pieces.risky(found)
        if word:
            detail = names.printable(reading.problem)
            walk.report([reasons.UNREAD.found(names.printable(word), detail)])


def _begins(reading: Reading) -> list[int]:
    """Where the last whole commands began: `sudo for x in a` was one, though it ended before `do`."""
    return [item.command.span[0] for item in reading.script.items[-3:]]


def _from_new_starts(walk: Walk, reading: Reading, begin: int, stdin: Stream) -> None:
    text, at = reading.text, reading.at
    starts: list[int] = []
    # Words before a compound command: `sudo for ...`, `timeout 5 (rm ...)`.
    for here in dict.fromkeys((begin, *_begins(reading))):
        first = True
        for _ in range(_STARTS):
            found = _WORD.match(text, here)
            if not found or not _is_prefix(found[1], first):
                break
            first = False
            here = found.end()
            starts.append(here)
    for found in _BOUNDARY.finditer(text, max(at, begin)):
        starts.append(found.end())
        if len(starts) >= 2 * _STARTS:
            break
    for start in starts:
        piece = text[start:]
        if not piece.strip():
            continue
        walk.spend(len(piece) // CHARACTERS_A_STEP)
        again = reader.read(piece)
        if again.script.items:
            outer, walk.text = walk.text, piece
            walk.script(again.script, stdin)
            walk.text = outer
        if not again.problem:
            return


def _is_prefix(word: str, first: bool) -> bool:
    base = names.base(word)
    return (
        base in WRAPPERS
        or base in VERBS
        or base in ("xargs", "watch", "parallel")
        or word in KEYWORDS
        or (
            not first
            and (word.startswith("-") or re.fullmatch(r"[\d.]+[smhd]?|[A-Za-z_]\w*=\S*", word) is not None)
        )
    )
