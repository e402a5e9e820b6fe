"""Pieces between operators, of text that could not be read: each is judged as if it were a command."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..rules.names import names as listed
from ..verdict import Verdict
from . import names
from .interpreters import HANDLERS as INTERPRETERS
from .invocation import UNKNOWN, Arg, Stream
from .shells import SHELLS
from .wrappers import ASSIGNMENT, KEYWORDS

if TYPE_CHECKING:
    from .walk import Walk

MOST = 300
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


def judge(walk: Walk, pieces: list[list[str]]) -> None:
    """Judge every piece as a command of plain words; only what must never run counts."""
    kept, outer = walk.findings, walk.broken
    walk.broken = True
    found: list = []
    try:
        for piece in pieces[:MOST]:
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


def risky(pieces: list[list[str]]) -> str:
    """A word of risk among the words, "" when there is none."""
    for piece in pieces:
        for word in piece:
            base = names.base(word)
            if base in RISKY or word.startswith(("/dev/tcp/", "$(", "`")):
                return base
    return ""
