"""How much harm a value could do, told at a glance: which of too many alternatives are looked at first."""

from __future__ import annotations

from ..rules.names import names as listed
from .invocation import UNKNOWN, Arg

_PROGRAMS = listed(
    "rm dd mkfs shred wipefs find chmod chown mv tee kill killall pkill shutdown reboot poweroff halt init "
    "truncate unlink rmdir sudo su doas sh bash zsh dash ksh eval exec source python python3 perl ruby node "
    "php curl wget nc ncat socat ssh scp docker kubectl terraform git systemctl crontab iptables xargs env"
)
PROGRAM = 11  # the rank of a program


def of_path(text: str) -> int:
    """The rank of a path: the fewer folders from the root the higher; climbing and globs count as much."""
    if not text:
        return 4
    if text[0] in "/~":
        depth = sum(1 for piece in text.split("/") if piece not in ("", ".", "*"))
        return max(3, 12 - 2 * depth)
    if ".." in text:
        return 10
    if text[0] in ".*?[$" or UNKNOWN in text:
        return 6
    return 0


def of_text(text: str) -> int:
    """The rank of a word: as a program, an option, a path or several words."""
    name = text.rpartition("/")[2] if "/" in text else text
    first = text.split(None, 1)[0] if " " in text and text.strip() else name
    if first in _PROGRAMS or name in _PROGRAMS:
        return PROGRAM
    if text[:1] == "-":
        return 7 if "r" in text.lower() or "f" in text else 2
    return max(of_path(text), 5 if " " in text or "(" in text else 0)


def of_value(value: Arg | dict[str, Arg]) -> int:
    """The rank of the value of a variable."""
    if isinstance(value, dict):
        return max((of_text(each.text) for each in value.values()), default=0)
    return of_text(value.text)


def most(texts: list[str], count: int) -> tuple[list[str], bool]:
    """The `count` most dangerous of different texts, in their order, and whether some were left out."""
    different = list(dict.fromkeys(texts))
    if len(different) <= count:
        return different, False
    kept = sorted(different, key=of_text, reverse=True)[:count]
    chosen = set(kept)
    return [text for text in different if text in chosen], True
