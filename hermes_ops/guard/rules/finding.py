"""Searches that act on what they find: find -delete, find -exec, fd -x."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..judge.invocation import FOUND, FOUND_ALL, UNKNOWN, Arg, Invocation
from ..verdict import Found, Verdict
from . import artefacts, find_tests
from .emptying import EMPTIED_ALL, is_spared
from .few import few
from .hermes_state import Part, part_of
from .names import names
from .paths import Located, Place
from .removal import (
    FOUND_FILES,
    HOME_REMOVAL,
    MOVED_SYSTEM,
    ROOT_REMOVAL,
    STATE_REMOVAL,
    SYSTEM_REMOVAL,
    located,
    removal,
    target_of,
)
from .rule import Family, Rule, approve, block

SYSTEM_MODES = block("files.found-system-modes", "changes modes or owners all over the system")
FOUND_CHANGED = approve(
    "files.found-changed", "changes or moves whatever a search turns up", "run it with -print first"
)

# Tests that leave only some of the files; without one everything below the folders is meant.
_NARROWING = names(
    "-name -iname -path -ipath -wholename -regex -iregex -lname -mtime -mmin -atime -amin -ctime "
    "-cmin -newer -size -empty -user -group -perm -newermt -uid -gid -inum -samefile -links -nouser "
    "-nogroup -broken"
)
_NAMES = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename"})
_WEAK_WHEN_DENIED = _NAMES | {"-empty"}
_RUN = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_REMOVERS = names("rm unlink shred srm rimraf wipe")
_MODES = names("chmod chown chgrp chattr setfacl")
_DATA = frozenset({"/srv", "/opt", "/mnt", "/media"})
_GLOBAL = frozenset({"-H", "-L", "-P"})


class _Reach(NamedTuple):
    """What an action of find gets: not all files, only what a build makes again, only files of one's own."""

    narrowed: bool
    only_junk: bool
    own: bool


def _reach(words: list[str], at: int, takes_empty: bool) -> _Reach:
    scope = range(find_tests.joined(words, at), at)
    # What is found but for one name, or but for what is empty, is nearly everything.
    kept = [
        place
        for place in scope
        if not (words[place] in _WEAK_WHEN_DENIED and find_tests.is_denied(words, place))
    ]
    named = [words[place + 1] for place in kept if words[place] in _NAMES and place + 1 < at]
    tests = {words[place] for place in kept}
    only_junk = bool(named) and (
        all(artefacts.is_junk_pattern(name.rpartition("/")[2] or name) for name in named)
        or all(_in_artefacts(name) for name in named)
    )
    return _Reach(
        not _NARROWING.isdisjoint(tests),
        only_junk or (takes_empty and "-empty" in tests),
        bool(named) and all(map(_is_a_name, named)),
    )


def _find(invocation: Invocation) -> Iterator[Found]:
    arguments = invocation.arguments
    actions = [(index, argument.text) for index, argument in enumerate(arguments) if argument.text in _RUN]
    deletes = any(argument.text == "-delete" for argument in arguments)
    runs = [_command(arguments, index) for index, _ in actions]
    removes = deletes or any(name in _REMOVERS for name, _ in runs)
    modes = any(name in _MODES for name, _ in runs)
    moves = any(name == "mv" for name, _ in runs)
    empties = any(name == "truncate" for name, _ in runs)
    if not (removes or modes or moves or empties):
        return
    recursive = deletes or any(name in _REMOVERS and "r" in options.lower() for name, options in runs)
    roots = _roots(arguments)
    words = [argument.text for argument in arguments]
    acts = [at for at, word in enumerate(words) if word in _RUN or word == "-delete"]
    reach = [_reach(words, at, recursive and words[at] == "-delete") for at in acts]
    narrowed = all(each.narrowed for each in reach)
    only_junk = all(each.only_junk for each in reach)
    own = all(each.own for each in reach)
    for root in roots:
        where = located(invocation, root)
        shown = root.text.replace(UNKNOWN, "?")
        if modes:
            if not narrowed and where.place in (Place.ROOT, Place.SYSTEM) and where.path not in _DATA:
                yield SYSTEM_MODES.found(invocation.part, shown)
            elif where.place in (Place.ROOT, Place.SYSTEM, Place.HOME, Place.UNKNOWN, Place.SHARED):
                yield FOUND_CHANGED.found(invocation.part, shown)
        if removes and own and where.path in _SCRATCH and not where.everything:
            continue
        if removes:
            yield from _removed(invocation, where, shown, narrowed, only_junk)
        elif moves or empties:
            yield from _taken(invocation, where, shown, narrowed, EMPTIED_ALL if empties else MOVED_SYSTEM)


_OWN = frozenset((Place.WORK, Place.CURRENT, Place.PARENT))


def _taken(
    invocation: Invocation, where: Located, shown: str, narrowed: bool, of_the_system: Rule
) -> Iterator[Found]:
    """Files that are moved away or emptied, which spares their names or their folders."""
    if where.place in (Place.BUILD, Place.TEMPORARY):
        return
    rule = removal(where, True, invocation)
    blocks = rule is not None and rule.verdict is Verdict.BLOCK and not narrowed
    if blocks and (of_the_system is MOVED_SYSTEM or not is_spared(where.path)):
        yield of_the_system.found(invocation.part, shown, target_of(where, shown))
    elif of_the_system is EMPTIED_ALL or where.place not in _OWN:
        yield FOUND_CHANGED.found(invocation.part, shown)


def _removed(
    invocation: Invocation, where: Located, shown: str, narrowed: bool, only_junk: bool
) -> Iterator[Found]:
    place = where.place
    if only_junk and place not in (Place.ROOT, Place.SYSTEM, Place.HOME, Place.HERMES):
        return
    rule = removal(where, True, invocation)
    if rule is None:
        if place in (Place.BUILD, Place.TEMPORARY):
            return
        rule = FOUND_FILES
    if rule.verdict is Verdict.BLOCK:
        # A narrow search in a home or below a system folder is a clean-up that a person may want.
        spared = (
            rule is HOME_REMOVAL
            or (rule is STATE_REMOVAL and not _holds_guard(where, invocation))
            or (rule is SYSTEM_REMOVAL and (where.depth >= 2 or where.path in _DATA))
        )
        if narrowed and spared:
            rule = FOUND_FILES
    else:
        rule = FOUND_FILES
    if rule is FOUND_FILES and only_junk and place is Place.HOME:
        return
    yield rule.found(invocation.part, shown, (where.path,) if where.path.startswith("/") else ())


def _holds_guard(where: Located, invocation: Invocation) -> bool:
    """Is it the guard, or one of the folders that hold it and its policy?"""
    part = part_of(where.path, invocation.home, invocation.hermes_home)
    return part is Part.GUARD or (part is Part.STATE and where.path.endswith(("/plugins", "/ops")))


# Folders for what nobody needs later: a name in a search of them says whose files are meant.
_SCRATCH = frozenset({"/tmp", "/var/tmp", "/dev/shm"})


def _is_a_name(pattern: str) -> bool:
    """Does a pattern name some files ("pytest-*"), not just any ("*", "*.*", "?*")?"""
    return UNKNOWN not in pattern and len(re.sub(r"\[[^\]]*\]|\W|_", "", pattern)) >= 3


def _in_artefacts(pattern: str) -> bool:
    pieces = [piece for piece in pattern.split("/") if piece.strip("*.")]
    return "/" in pattern and any(artefacts.is_junk_pattern(piece) for piece in pieces)


def _roots(arguments: list[Arg]) -> Sequence[Arg]:
    roots: list[Arg] = []
    for argument in arguments:
        text = argument.text
        if text in _GLOBAL or text.startswith(("-O", "-D")):
            continue
        if text.startswith("-") or text in ("(", "!", ")", ","):
            break
        roots.append(argument)
    return few(roots) or [Arg(".")]


def _command(arguments: list[Arg], index: int) -> tuple[str, str]:
    """The program that -exec runs, and its options as one string."""
    words = []
    for argument in arguments[index + 1 :]:
        if argument.text in (";", "+", "\\;"):
            break
        words.append(argument.text)
    while words and words[0] in ("sudo", "doas", "nice", "env", "command", "busybox"):
        words = words[1:]
    name = words[0].rpartition("/")[2] if words else ""
    return name, "".join(word for word in words[1:] if word.startswith("-"))


_FD_VALUED = names(
    "-t --type -e --extension -E --exclude -d --max-depth --min-depth -c --color -S --size -o --owner -j "
    "--threads --changed-within --changed-before --base-directory"
)


def _as_glob(pattern: str) -> str:
    """A plain regular expression as a glob: \\.pyc$ is *.pyc."""
    plain = pattern.replace("\\.", ".")
    if plain.endswith("$"):
        return ("" if plain.startswith("^") else "*") + plain.strip("^$")
    return plain


def _fd(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    for index, word in enumerate(words):
        if word in ("-x", "-X", "--exec", "--exec-batch") and index + 1 < len(words):
            name = words[index + 1].rpartition("/")[2]
            if name in _REMOVERS:
                before = Invocation("fd", invocation.argv[: index + 1])
                named = [other.text for other in before.operands(_FD_VALUED)]
                if not (named and artefacts.is_junk_pattern(_as_glob(named[0]))):
                    yield FOUND_FILES.found(invocation.part)


def _listed(invocation: Invocation) -> Iterator[Found]:
    """Names that a search prints, handed to a program that removes files."""
    for argument in few(invocation.arguments):
        if argument.source not in (FOUND, FOUND_ALL) or UNKNOWN not in argument.text:
            continue
        folder, _, name = argument.text.partition("/" + UNKNOWN)
        root = Arg(folder or "/", argument.glob)
        name = name.strip("/")
        if folder in _SCRATCH and _is_a_name(name):
            continue
        yield from _removed(
            invocation,
            located(invocation, root),
            argument.text.replace(UNKNOWN, "?"),
            argument.source == FOUND,
            bool(name) and artefacts.is_junk_pattern(name),
        )


def _check(invocation: Invocation) -> Iterable[Found]:
    if invocation.name in _REMOVERS:
        return _listed(invocation)
    return _find(invocation) if invocation.name in ("find", "gfind", "bfs") else _fd(invocation)


FAMILY = Family(
    "searches",
    frozenset({"find", "gfind", "bfs", "fd", "fdfind"}) | _REMOVERS,
    _check,
    examples=(
        ("find / -delete", "files.root-removal"),
        ("find / -xdev -type f -exec rm -f {} +", "files.root-removal"),
        ("find /etc -type f -exec rm -f {} +", "files.system-removal"),
        ("find ~ -mindepth 1 -delete", "files.home-removal"),
        ("find ~/.hermes -delete", "files.agent-state-removal"),
        ("find . -name '*.orig' -delete", "files.found-removal"),
        ("find . -type f -exec rm {} +", "files.found-removal"),
        ("find . -type d -execdir rm -rf {} \\;", "files.found-removal"),
        ("find /home -name '*.bak' -exec rm -f {} \\;", "files.found-removal"),
        ("find / -exec chmod 777 {} +", "files.found-system-modes"),
        ("find /srv -exec chown nobody {} +", "files.found-changed"),
        ("fd -e bak -x rm", "files.found-removal"),
        ("find /etc -type f -exec truncate -s 0 {} \\;", "files.system-emptied"),
        ("find src -type f -exec truncate -s 0 {} \\;", "files.found-changed"),
        ("find ~ -mindepth 1 -exec mv {} /tmp/x \\;", "files.system-moved"),
    ),
    silent=(
        "find . -name '*.py' -print",
        "find . -name '*.pyc' -delete",
        "find . -type d -name __pycache__ -exec rm -rf {} +",
        "find build -type f -delete",
        "find build -type f -exec truncate -s 0 {} +",
        "find /tmp/work-1 -type f -delete",
        "find . -type d -empty -delete",
        "find / -name '*.conf' 2>/dev/null",
        "find . -name '*.sh' -exec chmod +x {} +",
        "find src -name '*.js' -exec grep -l TODO {} +",
    ),
    rules=(
        ROOT_REMOVAL,
        SYSTEM_REMOVAL,
        HOME_REMOVAL,
        STATE_REMOVAL,
        FOUND_FILES,
        SYSTEM_MODES,
        FOUND_CHANGED,
    ),
)
