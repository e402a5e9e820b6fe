"""The ladder for text that cannot be read: what is left of it is looked at in pieces, never passed over.

First the text is read again behind words that only a broken line puts before a command, and behind the place
that was not understood; then every piece between operators is judged as if it were a command. What must never
run is blocked however it was found. Where that finds nothing, a person is asked if a word of risk remains.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..rules.names import names as listed
from ..shell import lexical, reader
from ..verdict import Verdict
from . import names, reasons
from .interpreters import HANDLERS as INTERPRETERS
from .invocation import UNKNOWN, Arg, Stream
from .shells import SHELLS
from .wrappers import ASSIGNMENT, KEYWORDS, VERBS, WRAPPERS

if TYPE_CHECKING:
    from ..shell.tree import Reading
    from .walk import Walk

MOST_PIECES = 300
MOST_LINES = 60
LONGEST_SEARCHED = 1_000_000
MOST_WORDS = 2000
_STARTS = 6
_LONGEST_AGAIN = 8000
_WORD = re.compile(r"[\s;&|]*(\S+)[ \t]*")
_BOUNDARY = re.compile(r"[;&|\n(){}`]+|\b(?:do|then|else)\b")
_NO_COMMANDS = listed("fi done esac } ) ;; in for case select function ]] [[")

# Words that make text nobody could read a matter for a person.
RISKY = (
    SHELLS
    | frozenset(INTERPRETERS)
    | listed(
        "rm rmdir unlink shred dd mkfs wipefs mv truncate find xargs parallel sudo doas su pkexec chmod "
        "chown chattr curl wget nc ncat netcat socat telnet ssh scp sftp rsync eval exec source trap "
        "alias kill pkill killall shutdown reboot poweroff halt init systemctl service crontab at "
        "iptables nft ufw mount umount swapoff useradd userdel usermod passwd visudo docker podman "
        "kubectl helm terraform aws gcloud az gh dropdb parted fdisk sfdisk cryptsetup blkdiscard hermes "
        "base64 xxd openssl insmod modprobe chroot tee"
    )
) - frozenset(("make", "awk", "gawk", "mawk", "nawk", "R"))


def rest(walk: Walk, reading: Reading, stdin: Stream) -> None:
    """Judge what the reader could not: the text behind the last whole command."""
    text = reading.text
    begin = reading.script.items[-1].command.span[1] if reading.script.items else 0
    walk.unread = walk.unread or reading.problem
    if reading.stopped:
        beyond(walk, text[begin:])
        return
    before = len(walk.findings)
    if walk.again < 2 and len(text) <= _LONGEST_AGAIN:
        walk.again += 1
        try:
            _from_new_starts(walk, reading, begin, stdin)
        finally:
            walk.again -= 1
    pieces = lexical.pieces(text[begin:], MOST_WORDS)
    _as_commands(walk, pieces)
    if len(walk.findings) == before or all(
        found.verdict == Verdict.ALLOW for found in walk.findings[before:]
    ):
        word = risky(pieces)
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
        again = reader.read(piece)
        if again.script.items:
            walk.script(again.script, stdin)
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


def _as_commands(walk: Walk, pieces: list[list[str]]) -> None:
    """Every piece as a command of plain words; only what must never run counts."""
    kept, outer = walk.findings, walk.broken
    walk.broken = True
    found: list = []
    try:
        for piece in pieces[:MOST_PIECES]:
            words = piece
            while words and (words[0] in _NO_COMMANDS or (words[0] in KEYWORDS and len(words) > 1)):
                words = words[1:]
            if not words or (len(words) == 1 and not ASSIGNMENT.match(words[0])):
                continue
            walk.findings = []
            arguments = [_argument(walk, word) for word in _plain(words)]
            if arguments:
                walk.words(arguments, Stream())
            found.extend(each for each in walk.findings if each.verdict == Verdict.BLOCK)
    finally:
        walk.findings, walk.broken = kept, outer
        walk.findings.extend(found)


_REDIRECT = re.compile(r"[0-9]*(?:<<<|<<-?|<>|[<>]&|>>|>\||[<>]|&>>?)")


def _plain(words: list[str]) -> list[str]:
    """Words without the redirections among them."""
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif _REDIRECT.fullmatch(word):
            skip = True
        else:
            kept.append(word)
    return kept


_VARIABLE = re.compile(r"\$(?:\{(\w+)[^}]*\}|(\w+)|\{?[@*#?!-]\}?)")


def _argument(walk: Walk, word: str) -> Arg:
    if word == "~" or word.startswith("~/"):
        word = walk.home + word[1:]
    if "$" in word:
        word = _VARIABLE.sub(lambda found: _value(walk, found[1] or found[2]), word)
    return Arg(word, "*" in word or "?" in word or "[" in word)


def _value(walk: Walk, name: str | None) -> str:
    value = walk.parameter(name) if name else None
    return UNKNOWN if value is None else value.text


_ANY_RISKY = "|".join(sorted(map(re.escape, RISKY), key=len, reverse=True))
_RISKY_WORD = re.compile(rf"(?<![\w.-])(?:{_ANY_RISKY})(?![\w-])|/dev/(?:tcp|udp)/")
_LINE_END = re.compile(r"[;\n]")


def risky(pieces: list[list[str]]) -> str:
    """A word of risk among the words, "" when there is none."""
    for piece in pieces:
        for word in piece:
            base = names.base(word)
            if base in RISKY or word.startswith(("/dev/tcp/", "$(", "`")):
                return base
    return ""


def beyond(walk: Walk, text: str) -> None:
    """Judge a text too long to be walked: the lines in it that hold a word of risk."""
    if len(text) > LONGEST_SEARCHED:
        walk.report([reasons.LIMIT.found("", f"{len(text)} characters")])
        return
    word, end, lines = "", 0, []
    for found in _RISKY_WORD.finditer(text):
        word = word or found[0]
        if found.start() < end:
            continue
        start = max(text.rfind("\n", 0, found.start()), text.rfind(";", 0, found.start())) + 1
        stop = _LINE_END.search(text, found.end())
        end = stop.start() if stop else len(text)
        lines.append(text[start : min(end, start + 1000)])
        if len(lines) >= MOST_LINES:
            break
    if word:
        walk.report([reasons.LIMIT.found(names.printable(word))])
        for line in lines:
            _as_commands(walk, lexical.pieces(line, 100))
