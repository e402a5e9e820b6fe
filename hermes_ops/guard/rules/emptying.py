"""Emptying a file that exists: truncate, a bare redirection, copying nothing over it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..judge.invocation import UNKNOWN, Arg, Invocation
from ..verdict import Found
from .paths import Place
from .removal import located, mv_operands
from .rule import Family, approve

EMPTIED = approve("files.emptied", "empties a file that may hold data", "copy the file first")

JOURNAL = approve("files.journal-emptied", "removes the system's log", "keep some days of it")
# Less than days, or than hundreds of megabytes.
_SHORT = re.compile(
    r"--vacuum-(?:time=[\d.]+(?:us|ms|s|m|min|h|sec\w*|minutes?|hours?)|size=\d{1,2}[KMkm]?|files=[01])\Z"
)

_TRUNCATE_VALUED = frozenset({"-s", "--size", "-r", "--reference"})
_LOST = frozenset(
    {Place.WORK, Place.SHARED, Place.SYSTEM, Place.HOME, Place.UNKNOWN, Place.HERMES, Place.CURRENT}
)
# Files that are meant to be empty.
_MARKERS = re.compile(
    r"(?:\.(?:gitkeep|keep|nojekyll|placeholder|touch|stamp|lock|done|log|out|err|flag)|__init__\.py|py\.typed|empty)\Z"
)


def _emptied(invocation: Invocation, argument: Arg, with_logs: bool = False) -> Iterator[Found]:
    where = located(invocation, argument)
    with_logs = with_logs or where.path.startswith("/var/log/")
    if where.place not in _LOST and not (
        with_logs and where.place is Place.BUILD and argument.text.endswith(".log")
    ):
        return
    if not with_logs and _MARKERS.search(argument.text) and where.place in (Place.WORK, Place.BUILD):
        return
    targets = () if UNKNOWN in argument.text else (where.path,)
    yield EMPTIED.found(invocation.part, argument.text.replace(UNKNOWN, "?"), targets)


def _truncate(invocation: Invocation) -> Iterator[Found]:
    size = ""
    words = invocation.words()
    for index, word in enumerate(words):
        if word in ("-s", "--size") and index + 1 < len(words):
            size = words[index + 1]
        elif word.startswith("--size="):
            size = word.partition("=")[2]
        elif word.startswith("-s") and len(word) > 2:
            size = word[2:]
    if size.strip("0KMGTPkBb") == "" or size.startswith(("-", "<", "/", "%")) or UNKNOWN in size:
        for argument in invocation.operands(_TRUNCATE_VALUED):
            yield from _emptied(invocation, argument, with_logs=True)


def _copied(invocation: Invocation) -> Iterator[Found]:
    sources, destination = mv_operands(invocation)
    if destination is not None and any(source.text == "/dev/null" for source in sources):
        yield from _emptied(invocation, destination)


def _redirected(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    if name == "cat" and all(argument.text != "/dev/null" for argument in invocation.arguments):
        return
    for target in invocation.redirects:
        if target.op in (">", ">|", "&>") and target.fd in ("", "1"):
            yield from _emptied(invocation, target.arg)


def _check(invocation: Invocation) -> Iterable[Found]:
    name = invocation.name
    if name == "truncate":
        return _truncate(invocation)
    if name == "cp":
        return _copied(invocation)
    if name == "journalctl":
        return (JOURNAL.found(invocation.part) for word in invocation.words() if _SHORT.match(word))
    return _redirected(invocation) if invocation.redirects else ()


FAMILY = Family(
    "emptying",
    frozenset({"truncate", "cp", ":", "true", "cat", "journalctl"}),
    _check,
    examples=(
        ("truncate -s 0 /var/log/syslog", "files.emptied"),
        ("truncate --size=0 app.db", "files.emptied"),
        (": > app.db", "files.emptied"),
        ("cp /dev/null users.csv", "files.emptied"),
        ("cat /dev/null > users.csv", "files.emptied"),
        ("journalctl --rotate --vacuum-time=1s", "files.journal-emptied"),
    ),
    silent=(
        "truncate -s 10G disk.img",
        "truncate -s 0 /tmp/scratch",
        ": > build/stamp",
        "true > /dev/null",
        "cp a.csv b.csv",
        "cat a.csv > b.csv",
        "journalctl --vacuum-time=14d",
        "journalctl --vacuum-size=500M",
    ),
    rules=(EMPTIED, JOURNAL),
)
