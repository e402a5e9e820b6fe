"""Text behind a limit: nobody walks it, so its words are looked at, all of them.

A person is asked when one of them names a program that a rule speaks of, or that runs what it is given. The
lines at both ends that hold such a word are judged as commands, for what must never run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..rules.families import BY_PROGRAM
from ..rules.names import names as listed
from ..shell import lexical
from . import names, pieces, reasons
from .invocation import UNKNOWN, Arg

if TYPE_CHECKING:
    from .walk import Walk

# A text longer than this is asked about as it is.
LONGEST = 250_000
# Characters at each end of a text in which lines are looked for that hold a word of risk, and how many lines.
LONGEST_END = 12_000
MOST_LINES = 30
LONGEST_LINE = 1_000

# Programs with rules of their own that only show things, and names that are words of everyday English.
_ORDINARY = listed(
    ": cat echo true date grep egrep fgrep rg head tail less more sort sed cut tr cmp diff column comm "
    "expand unexpand fold join look paste split strings uniq nl rev tac fmt open start view now host go "
    "net mail port pass set fly mix format glow metal render transfer skill snow realm surge neon "
    "present type message apprise atlas bless chisel console conda file hive highlight https http batch "
    "cap chamber code brew ar cc cr ctr dart eas eb ed ex gist goose image item joe lite m mike micro "
    "nova packet pico pr rails rake remove-item slack slay sponge stripe swift task tea touch train "
    "tree turso twine vault wsl alternatives bridge bundle clang function install join links op "
    "packagecloud patch planetscale readonly release security sequelize service shopify trino up wipe "
    "yarn zip"
)
_PARTS = "\t\n\r;&|()<>{}[]`\"'$=/,:!@#%^*+?~\\"
_SEPARATORS = str.maketrans(dict.fromkeys(_PARTS, " "))
_PARTING = re.compile(rf"[\s{re.escape(_PARTS)}]+")
_QUOTES = str.maketrans(dict.fromkeys("\"'\\"))
_LINE_END = re.compile(r"[;\n]")


def judge(walk: Walk, text: str) -> None:
    """Judge text that was not read; asks when there is a word of risk in it."""
    if len(text) > LONGEST:
        walk.report([reasons.LIMIT.found("", f"{len(text)} characters")])
        return
    found = words(text)
    if not found:
        odd = _odd(text)
        if odd:
            walk.report([reasons.LIMIT.found(names.printable(odd))])
        return
    walk.report([reasons.LIMIT.found(names.printable(min(found, key=text.find)))])
    for line in _lines(text, found):
        pieces.judge(walk, lexical.pieces(line, 100))


def words(text: str) -> set[str]:
    """The words of risk in a text, however they are quoted."""
    found = _named(text)
    plain = text.translate(_QUOTES) if text.isascii() else re.sub(r"[\"'\\]", "", text)
    if len(plain) < len(text):
        found |= _named(plain)
    return found


# A program by another spelling: octal and hexadecimal letters, or a variable in the place of a command.
_HIDDEN = re.compile(r"\$'[^'\n]*\\[0-7xuU]|(?:^|[\n;&|({])[ \t]*\"?\$(\{?(\w+)|[({@*!])")
# A function that calls itself twice at once, around its parentheses.
_BOMB = re.compile(r"([^\s(){}|&;'\"]{1,40})[ \t]*\(\)[ \t]*\{[^}\n]{0,80}\1[ \t]*[|&]")
# Files that must not change unseen, and what stands before one that is changed: a redirection or a program.
_KEPT = re.compile(
    r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|mapper|mem)|/etc/|/boot/|/proc/|/sys/|\.hermes\b|\.ssh/"
    r"|\.(?:bash|zsh)\w*|\.profile|\.git/"
)
_CHANGES = re.compile(r">|\b(?:sed|yq|jq|perl|dasel|sort|split|ed|ex|patch|sponge)\b")
_COMMAND_END = re.compile(r"[\n;|&]")
# Places that are looked at; a text that has more of them is asked about.
_MOST_PLACES = 200


def _odd(text: str) -> str:
    """What stands for a command that cannot be told by its letters, or a file that is kept from changes."""
    for found in _HIDDEN.finditer(text):
        if found[2] is None or names.of_variable(Arg(UNKNOWN, variable=found[2])) is None:
            return found[0].strip()
    return _kept(text) or _bomb(text)


def _kept(text: str) -> str:
    for number, found in enumerate(_KEPT.finditer(text)):
        before = _COMMAND_END.split(text[max(0, found.start() - 210) : found.start()])[-1]
        if number == _MOST_PLACES or _CHANGES.search(before):
            return found[0]
    return ""


def _bomb(text: str) -> str:
    at = text.find("()")
    for number in range(_MOST_PLACES + 1):
        if at < 0:
            break
        found = _BOMB.search(text[max(0, at - 50) : at + 140])
        if found or number == _MOST_PLACES:
            return found[0].strip() if found else "()"
        at = text.find("()", at + 2)
    return ""


def _named(text: str) -> set[str]:
    every = set(_split(text))
    found = every & _WORDS
    # mkfs.ext4, python3.12, rm.exe
    found |= {word for word in every if "." in word and word.partition(".")[0] in _WORDS}
    if "/dev/tcp/" in text or "/dev/udp/" in text:
        found.add("tcp")  # a word of its own between the slashes
    return found


def _split(text: str) -> list[str]:
    # Of a text that is not ASCII, translate() looks every character up by itself.
    return text.translate(_SEPARATORS).split() if text.isascii() else _PARTING.split(text)


def _lines(text: str, found: set[str]) -> list[str]:
    """The lines and commands at the ends of a text that hold one of the words."""
    if len(text) > 2 * LONGEST_END:
        last = text[-LONGEST_END:]
        parts = [text[:LONGEST_END], last]
    else:
        parts = [text]
    lines: list[str] = []
    for part in parts:
        held = [
            line[:LONGEST_LINE]
            for line in _LINE_END.split(part)
            if not found.isdisjoint(_split(line.translate(_QUOTES)))
        ]
        lines += held[:MOST_LINES] if part is parts[0] else held[-MOST_LINES:]
    return lines


_WORDS = pieces.RISKY | (frozenset(BY_PROGRAM) - _ORDINARY)
