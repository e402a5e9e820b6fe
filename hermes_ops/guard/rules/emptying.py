"""Emptying a file that exists: truncate, a bare redirection, copying nothing over it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..judge.invocation import FOUND, FOUND_ALL, UNKNOWN, Arg, Invocation, Target
from ..verdict import Found, Verdict
from .few import few
from .paths import Place, components
from .removal import located, mv_operands, removal, target_of
from .rule import REDIRECTS as NEEDS_REDIRECTS
from .rule import Family, approve, block

EMPTIED = approve("files.emptied", "empties a file that may hold data", "copy the file first")
EMPTIED_ALL = block(
    "files.system-emptied",
    "empties or overwrites all files of a system directory, of a home or of the agent's state",
    "name the one file that is meant",
)

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


# Folders of the system whose files are settings of the kernel, or logs and caches.
_SPARED = re.compile(r"/(?:proc|sys|dev)(?:/|\Z)|/var(?:/(?!lib(?:/|\Z))|\Z)")


def is_spared(path: str) -> bool:
    """Is it a folder of the system whose files are written anew all the time?"""
    return bool(_SPARED.match(path))


def _all_of(argument: Arg) -> str:
    """The folder all of whose files an argument stands for, as a glob or what a search turns up; else ""."""
    text = argument.text
    folder, slash, name = text.rpartition("/")
    found = argument.source in (FOUND, FOUND_ALL) and name == UNKNOWN
    if not slash or not (found or name == "*") or UNKNOWN in folder:
        return ""
    return folder or "/"


def overwrites_all(invocation: Invocation, argument: Arg) -> Iterator[Found]:
    """Is a file that is written one of all files of a folder that must not go?"""
    folder = _all_of(argument)
    if not folder:
        return
    where = located(invocation, Arg(folder))
    rule = removal(where, True, invocation)
    if rule is None or rule.verdict is not Verdict.BLOCK or is_spared(where.path):
        return
    narrowed = argument.source == FOUND and where.place in (Place.HOME, Place.SYSTEM)
    if not narrowed or not components(where.path):
        yield EMPTIED_ALL.found(invocation.part, folder, target_of(where, folder))


def _emptied(invocation: Invocation, argument: Arg, with_logs: bool = False) -> Iterator[Found]:
    worse = list(overwrites_all(invocation, argument))
    if worse:
        yield from worse
        return
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
        # What find hands over is judged with find's own arguments, where the folders and tests stand.
        by_find = invocation.wrappers[-1:] == ("find",)
        for argument in few(invocation.operands(_TRUNCATE_VALUED)):
            if by_find and not argument.text.strip(UNKNOWN):
                continue
            yield from _emptied(invocation, argument, with_logs=True)


def _copied(invocation: Invocation) -> Iterator[Found]:
    sources, destination = mv_operands(invocation)
    if destination is None:
        return
    if any(source.text == "/dev/null" for source in sources):
        yield from _emptied(invocation, destination)
    elif destination.source in (FOUND, FOUND_ALL):
        yield from overwrites_all(invocation, destination)


def _written(invocation: Invocation) -> Iterator[Found]:
    """The files that tee, sponge and dd write anew."""
    if invocation.has("a", "--append"):
        return
    for argument in few(invocation.arguments):
        text = argument.text
        if invocation.name == "dd":
            if text.startswith("of="):
                yield from overwrites_all(invocation, Arg(text[3:], argument.glob, source=argument.source))
        elif text[:1] != "-":
            yield from overwrites_all(invocation, argument)


def _is_anew(target: Target) -> bool:
    return target.op in (">", ">|", "&>") and target.fd in ("", "1")


def _redirected(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    if name == "cat" and all(argument.text != "/dev/null" for argument in invocation.arguments):
        return
    for target in invocation.redirects:
        if _is_anew(target):
            yield from _emptied(invocation, target.arg)


def _over_all(invocation: Invocation) -> Iterator[Found]:
    """Output of whatever command that goes over every file of a folder."""
    if invocation.name not in _EMPTY:
        for target in invocation.redirects:
            if _is_anew(target):
                yield from overwrites_all(invocation, target.arg)


def _check(invocation: Invocation) -> Iterable[Found]:
    name = invocation.name
    if name == "truncate":
        return _truncate(invocation)
    if name in ("cp", "install"):
        return _copied(invocation)
    if name in ("tee", "dd", "sponge"):
        return _written(invocation)
    if name == "journalctl":
        return (JOURNAL.found(invocation.part) for word in invocation.words() if _SHORT.match(word))
    return _redirected(invocation) if invocation.redirects else ()


# Commands that print nothing, or nothing but a file.
_EMPTY = frozenset({":", "true", "cat"})

FAMILY = Family(
    "emptying",
    _EMPTY | {"truncate", "cp", "install", "tee", "dd", "sponge", "journalctl"},
    _check,
    examples=(
        ("truncate -s 0 /var/log/syslog", "files.emptied"),
        ("truncate --size=0 app.db", "files.emptied"),
        (": > app.db", "files.emptied"),
        ("cp /dev/null users.csv", "files.emptied"),
        ("cat /dev/null > users.csv", "files.emptied"),
        ("truncate -s 0 /etc/*", "files.system-emptied"),
        ("find /usr -type f | xargs truncate -s 0", "files.system-emptied"),
        ("find ~ -type f -exec cp /dev/null {} \\;", "files.system-emptied"),
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
    rules=(EMPTIED, EMPTIED_ALL, JOURNAL),
)
REDIRECTS = Family(
    "emptying-redirects",
    frozenset(),
    _over_all,
    examples=(("find /etc -type f -exec sh -c 'echo > \"$1\"' _ {} \\;", "files.system-emptied"),),
    silent=(
        "find /etc -type f -exec sh -c 'wc -l \"$1\" > /tmp/n' _ {} \\;",
        'for f in *.md; do echo x > "$f.txt"; done',
        'for f in /sys/class/net/*; do echo x > "$f/mtu"; done',
        "echo x > ~/$name",
    ),
    needs=NEEDS_REDIRECTS,
)
