"""What filters print of a text that is known: head, tail, cut, tr, grep, sort, paste, fold and their like.

Each is a table entry: its options and what it computes. An option that is not in the table, or a use that is
not followed, gives None: then nothing is said about the output.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from . import line_filters as of
from .invocation import UNKNOWN
from .line_filters import Given

LONGEST = 65536


class Filter(NamedTuple):
    """How the words of a filter are read, and what it prints.

    `flags` and `valued` are letters; `long` maps long options to letters, with "=" behind those that take a
    value. `own`: how many of the first operands are no files (-1: none is one), unless an option of `instead`
    is there. `lines`: it prints some of its input's lines, so all of them stand for what cannot be told.
    """

    compute: Callable[[Given, str], str | None]
    flags: str = ""
    valued: str = ""
    long: str = ""
    own: int = 0
    instead: str = ""
    lines: bool = False
    number: str = ""  # the option that `-5` is short for


def parsed(spec: Filter, words: Sequence[str]) -> Given | None:
    """The words behind the name, sorted into options, own words and files; None for an unknown option."""
    long = _long_options(spec.long)
    options: dict[str, list[str]] = {}
    operands: list[str] = []
    queue = list(words)
    at = 0
    plain = False
    while at < len(queue):
        word = queue[at]
        at += 1
        if plain or word[:1] != "-" or word == "-":
            operands.append(word)
        elif word == "--":
            plain = True
        elif word[1] == "-":
            name, equals, value = word[2:].partition("=")
            letter = _letter(long, name)
            if letter is None:
                return None
            if letter[1:]:
                if not equals:
                    if at >= len(queue):
                        return None
                    value = queue[at]
                    at += 1
            elif equals:
                return None
            options.setdefault(letter[0], []).append(value)
        elif spec.number and re.fullmatch(r"-\d+", word):
            options[spec.number] = [word[1:]]
        else:
            for place, letter in enumerate(word[1:], 2):
                if letter in spec.valued:
                    value = word[place:]
                    if not value:
                        if at >= len(queue):
                            return None
                        value = queue[at]
                        at += 1
                    options.setdefault(letter, []).append(value)
                    break
                if letter not in spec.flags:
                    return None
                options.setdefault(letter, []).append("")
    own = spec.own
    if own < 0:
        own = len(operands)
    elif any(letter in options for letter in spec.instead):
        own = 0
    return Given(options, operands[:own], operands[own:])


@lru_cache(maxsize=64)
def _long_options(table: str) -> dict[str, str]:
    """`lines=n quiet:q` of a table: letters by name, with "=" behind those that take a value."""
    return {re.split("[=:]", word)[0]: word[-1] + "=" * ("=" in word) for word in table.split()}


def _letter(long: dict[str, str], name: str) -> str | None:
    found = long.get(name)
    if found is not None:
        return found
    fitting = {letter for each, letter in long.items() if each.startswith(name)}
    return fitting.pop() if len(fitting) == 1 else None


_COUNTS = "bytes=c lines=n quiet:q silent:q verbose:v zero-terminated:z"
_GREP_LONG = (
    "invert-match:v ignore-case:i only-matching:o line-regexp:x word-regexp:w fixed-strings:F "
    "extended-regexp:E perl-regexp:P basic-regexp:G no-filename:h no-messages:s text:a line-number:n "
    "regexp=e "
    "file=f count:c quiet:q files-with-matches:l max-count=m recursive:r include=I exclude=X exclude-dir=D "
    "color:K colour:K"
)
_GREP = {
    "flags": "vioxwFEPGhsancqlLHrRzZbUyT",
    "valued": "efmABCdD",
    "long": _GREP_LONG,
    "own": 1,
    "instead": "ef",
    "lines": True,
}
FILTERS: dict[str, Filter] = {
    "cat": Filter(
        of.cat, "unbsETAetv", long="number:n number-nonblank:b show-ends:E show-all:A squeeze-blank:s"
    ),
    "tac": Filter(of.tac, "br", "s", lines=True),
    "rev": Filter(of.rev),
    "nl": Filter(of.nl, "p", "bnwsvidhfl", "body-numbering=b", lines=True),
    "head": Filter(of.head, "qvz", "cn", _COUNTS, lines=True, number="n"),
    "tail": Filter(of.tail, "qvz", "cn", _COUNTS, lines=True, number="n"),
    "cut": Filter(
        of.cut,
        "snz",
        "bcfd",
        "bytes=b characters=c fields=f delimiter=d only-delimited:s complement:C "
        "output-delimiter=O zero-terminated:z",
    ),
    "tr": Filter(of.tr, "cCdst", long="complement:c delete:d squeeze-repeats:s truncate-set1:t", own=-1),
    "sort": Filter(
        of.sort,
        "ruftbnsdiMhgRVzcCm",
        "kotST",
        "reverse:r unique:u ignore-case:f key=k field-separator=t numeric-sort:n stable:s output=o",
        lines=True,
    ),
    "uniq": Filter(of.uniq, "cduizD", "fsw", "count:c repeated:d unique:u ignore-case:i", lines=True),
    "grep": Filter(of.grep, **_GREP),
    "egrep": Filter(of.egrep, **_GREP),
    "fgrep": Filter(of.fgrep, **_GREP),
    "fold": Filter(of.fold, "sb", "w", "width=w spaces:s bytes:b", number="w"),
    "paste": Filter(of.paste, "sz", "d", "serial:s delimiters=d zero-terminated:z"),
    "column": Filter(of.column, "tx", "soc", "table:t separator=s output-separator=o"),
    "expand": Filter(of.expand, "i", "t", "tabs=t initial:i", number="t"),
    "fmt": Filter(of.fmt, "cstu", "wpg", "width=w", number="w"),
    "iconv": Filter(of.iconv, "cs", "fto", "from-code=f to-code=t output=o"),
    "strings": Filter(of.strings, "a", "nt", "all:a bytes=n"),
    "shuf": Filter(of.shuf, "erz", "nio", "echo:e head-count=n repeat:r", lines=True),
    "sed": Filter(
        of.sed,
        "neErsiuz",
        "efl",
        "quiet:n silent:n expression=e file=f regexp-extended:E separate:s "
        "in-place:i unbuffered:u null-data:z",
        own=1,
        instead="ef",
    ),
    "awk": Filter(of.awk, "", "Fvfe", "field-separator=F assign=v file=f source=e", own=1, instead="fe"),
    "dos2unix": Filter(of.same_text, "q"),
    "pv": Filter(of.same_text, "qpterabfnclW", "LBsiwHND"),
}
for _name, _other in (("gsed", "sed"), ("gawk", "awk"), ("mawk", "awk"), ("nawk", "awk"), ("ghead", "head")):
    FILTERS[_name] = FILTERS[_other]


def computed(name: str, given: Given, text: str) -> str | None:
    """What a filter of the table prints of a text; None where that cannot be told."""
    if UNKNOWN in text and name not in _THROUGH:
        return None
    if any(UNKNOWN in word for words in (given.own, *given.options.values()) for word in words):
        return None
    if len(text) > LONGEST:
        return None
    return FILTERS[name].compute(given, text)


# Of a text that is known in part, these say as much.
_THROUGH = frozenset(("cat", "tac", "dos2unix", "pv", "shuf"))
