"""Removing files and folders: rm, mv, shred and their like."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..judge.invocation import FOUND, FOUND_ALL, UNKNOWN, Arg, Invocation
from ..verdict import Found
from . import artefacts
from .few import few
from .hermes_state import Part, part_of
from .names import names
from .paths import Located, Place, components, locate
from .rule import Family, Rule, approve, block
from .secrets import secret_of

_TRASH = "move it aside (mv DIR DIR.removed) or to the trash (gio trash DIR), so that it can come back"
_NAME_IT = "name the one file or folder that is meant"

ROOT_REMOVAL = block("files.root-removal", "removes the root of the file system", _NAME_IT)
SYSTEM_REMOVAL = block("files.system-removal", "removes a system directory", _NAME_IT)
HOME_REMOVAL = block(
    "files.home-removal", "removes a home, or a folder in it that a person lives by", _NAME_IT
)
DEVICE_REMOVAL = block("files.device-removal", "removes or overwrites a device")
STATE_REMOVAL = block(
    "files.agent-state-removal", "removes what the agent itself lives by or is held in check by"
)
SYSTEM_FILE = approve("files.system-file-removal", "removes a file of the system", "copy it elsewhere first")
FOLDER = approve("files.folder-removal", "removes a folder that no build makes again", _TRASH)
CURRENT_FOLDER = approve(
    "files.working-folder-removal", "empties the working folder or one around it", _TRASH
)
HISTORY = approve(
    "files.repository-removal", "removes the history of a repository", "push or bundle it first"
)
UNKNOWN_TARGET = approve(
    "files.unknown-removal",
    "removes what only running the command could tell",
    "print the paths first, then name them",
)
FOUND_FILES = approve(
    "files.found-removal",
    "removes whatever a search or a list turns up",
    "run it with -print first, then name the files",
)
SECRET_FILE = approve(
    "files.secret-removal", "removes a file of credentials", "copy it to a safe place first"
)
SHREDDED = approve("files.shredded", "destroys existing data for good", "move the file aside")
MOVED_SYSTEM = block("files.system-moved", "moves a system directory, a home or the agent's state away")
MOVED_SYSTEM_FILE = approve("files.system-file-moved", "moves a file of the system away", "copy it instead")
MOVED_TO_NOTHING = approve("files.moved-to-nothing", "moves data into the null device", _TRASH)

_REMOVERS = names("rm unlink grm srm wipe scrub nwipe shred secure-delete sfill rimraf del-cli trash-empty")
_SHREDDERS = names("shred srm wipe scrub nwipe secure-delete sfill")
_FOREIGN = frozenset(
    name
    for word in ("Remove-Item", "ri", "rd", "del", "erase", "Clear-Content", "Clear-RecycleBin")
    for name in (word, word.lower())
)
_RM_VALUED: frozenset[str] = frozenset()
_SHRED_VALUED = frozenset({"-n", "--iterations", "-s", "--size", "--random-source", "-N", "-p"})
_ENDING = re.compile(r"[^./\0]\.[A-Za-z][A-Za-z0-9]{0,4}\Z")
_FOLDER_ENDINGS = (
    ".git",
    ".bak",
    ".old",
    ".orig",
    ".d",
    ".app",
    ".noarch",
    ".wiki",
    ".save",
    ".back",
    ".copy",
)
# Nobody recovers from losing a single file of these folders without help.
_VITAL = names("boot lib lib32 lib64 bin sbin proc sys dev System")
_VITAL_FILES = re.compile(
    r"/etc/(?:passwd|shadow|group|gshadow|sudoers|fstab|sudoers\.d(?:/.*)?|pam\.d(?:/.*)?)\Z"
)


def removal(located: Located, recursive: bool, invocation: Invocation) -> Rule | None:
    """The rule that speaks of removing a path, None when it may go.

    `recursive`: a folder goes with all that is in it; else a single file, or the files a glob stands for.
    """
    place = located.place
    if place in (Place.BUILD, Place.TEMPORARY, Place.NOTHING, Place.NETWORK):
        return None
    part = part_of(located.path, invocation.home, invocation.hermes_home)
    if part is None and place is Place.HERMES:
        return STATE_REMOVAL
    if part is not None:
        return _agent_removal(part, located, recursive)
    if recursive:
        return _recursive(located)
    return _single(located, invocation)


def _agent_removal(part: Part, located: Located, recursive: bool) -> Rule | None:
    if part in (Part.GUARD, Part.STATE, Part.PLUGIN):
        return STATE_REMOVAL
    if not recursive and not located.everything:
        return None
    below = components(located.path)
    return None if artefacts.is_artefact(below[-1:]) or is_file_name(located.path) else FOLDER


_RECURSIVE = {
    Place.ROOT: ROOT_REMOVAL,
    Place.SYSTEM: SYSTEM_REMOVAL,
    Place.DEVICE: DEVICE_REMOVAL,
    Place.HOME: HOME_REMOVAL,
    Place.VERSION_CONTROL: HISTORY,
    Place.CURRENT: CURRENT_FOLDER,
    Place.PARENT: CURRENT_FOLDER,
    Place.UNKNOWN: UNKNOWN_TARGET,
    Place.SHARED: FOLDER,
}


def _recursive(located: Located) -> Rule | None:
    rule = _RECURSIVE.get(located.place)
    if rule is HISTORY and located.path.endswith(".lock"):
        return None
    if rule is None or rule is FOLDER:
        return None if not located.everything and is_file_name(located.path) else FOLDER
    return rule


def _single(located: Located, invocation: Invocation) -> Rule | None:
    place = located.place
    if place in (Place.ROOT, Place.HOME, Place.DEVICE):
        return _RECURSIVE[place]
    if place is Place.SYSTEM:
        parts = components(located.path)
        wide = (located.everything or located.pattern) and located.depth <= 2
        vital = parts[0] in _VITAL or parts[:2] in (["usr", "lib"], ["usr", "lib64"])
        return SYSTEM_REMOVAL if wide or vital or _VITAL_FILES.match(located.path) else SYSTEM_FILE
    if place in (Place.CURRENT, Place.PARENT):
        return CURRENT_FOLDER if located.everything else None
    if place is Place.VERSION_CONTROL:
        return HISTORY if located.everything else None
    if place is Place.SHARED and (
        invocation.privileged or located.everything or located.path.startswith(("/var/", "/run/"))
    ):
        return SYSTEM_FILE
    return None


def is_file_name(path: str) -> bool:
    """Does a name read as that of a single file ("notes.txt")? Then -r adds nothing to its removal."""
    return bool(_ENDING.search(path)) and not path.endswith(_FOLDER_ENDINGS)


def of_path(
    path: str, recursive: bool, cwd: str | None = None, home: str = "", hermes_home: str = "", part: str = ""
) -> Found | None:
    """What is to be said of removing a path, for code that is no shell command."""
    invocation = Invocation("rm", [], cwd=cwd, home=home, hermes_home=hermes_home)
    located = locate(path, cwd, home, hermes_home, glob=UNKNOWN in path or "*" in path)
    rule = removal(located, recursive, invocation)
    return rule.found(part or path, targets=target_of(located, path)) if rule else None


def target_of(located: Located, text: str) -> tuple[str, ...]:
    """The files that a finding about a place speaks of, as far as they can be named."""
    if UNKNOWN in text or not located.path.startswith("/"):
        return () if UNKNOWN in text else (text,)
    return (located.path.rstrip("/") + "/*" if located.everything else located.path,)


def located(invocation: Invocation, argument: Arg) -> Located:
    """The place of an argument of an invocation."""
    return locate(argument.text, invocation.cwd, invocation.home, invocation.hermes_home, argument.glob)


def removed(invocation: Invocation, arguments: Iterable[Arg], recursive: bool) -> Iterator[Found]:
    """Findings for arguments that would be removed: one per rule, with all the targets of that rule."""
    by_rule: dict[Rule, list[str]] = {}
    shown: dict[Rule, str] = {}
    for argument in few(arguments):
        where = located(invocation, argument)
        rule = removal(where, recursive, invocation)
        if rule is None and where.place in (Place.WORK, Place.SHARED, Place.HERMES):
            secret = secret_of(argument.text, invocation.cwd, invocation.home, invocation.hermes_home)
            rule = SECRET_FILE if secret else None
        if rule is not None:
            by_rule.setdefault(rule, []).extend(target_of(where, argument.text))
            shown.setdefault(rule, argument.text.replace(UNKNOWN, "?"))
    for rule, targets in by_rule.items():
        yield rule.found(invocation.part, shown[rule], tuple(targets))


def _check(invocation: Invocation) -> Iterable[Found]:
    name = invocation.name
    if name == "mv":
        return _mv(invocation)
    if name in _FOREIGN:
        return _foreign(invocation)
    return _rm(invocation)


def _rm(invocation: Invocation) -> Iterator[Found]:
    if invocation.has("", "--help", "--version"):
        return
    name = invocation.name
    shredding = name in _SHREDDERS
    recursive = invocation.has("rR", "--recursive") or name in ("rimraf", "del-cli")
    if shredding:
        recursive = recursive and name != "shred"
    operands = list(invocation.operands(_SHRED_VALUED if shredding else _RM_VALUED))
    if invocation.appended:
        # What find hands over is judged with find's own arguments, where the folders and patterns stand.
        found_by_find = invocation.wrappers[-1:] == ("find",) or any(
            argument.source in (FOUND, FOUND_ALL) for argument in operands
        )
        operands = [argument for argument in operands if argument.text.strip(UNKNOWN) not in ("", "{}")]
        if not found_by_find:
            yield FOUND_FILES.found(invocation.part)
    yield from removed(invocation, operands, recursive)
    if shredding:
        kept = []
        for argument in few(operands):
            where = located(invocation, argument)
            if where.place not in (Place.BUILD, Place.TEMPORARY, Place.NOTHING):
                kept.append(argument.text)
        if kept:
            yield SHREDDED.found(invocation.part, targets=tuple(text for text in kept if UNKNOWN not in text))


def _foreign(invocation: Invocation) -> Iterator[Found]:
    words = [argument.text.lower() for argument in invocation.arguments]
    recursive = any(word.startswith("-rec") or word in ("/s", "-r") for word in words)
    paths = [
        argument
        for argument in invocation.arguments
        if not argument.text.startswith("-") and not re.fullmatch(r"/[a-zA-Z](?::\w+)?", argument.text)
    ]
    yield from removed(invocation, paths, recursive)


_MV_VALUED = frozenset({"-t", "--target-directory", "-S", "--suffix"})


def mv_operands(invocation: Invocation) -> tuple[list[Arg], Arg | None]:
    """The sources and the destination of mv, cp or install."""
    operands = list(invocation.operands(_MV_VALUED))
    arguments = invocation.arguments
    for index, argument in enumerate(arguments):
        if argument.text in ("-t", "--target-directory") and index + 1 < len(arguments):
            return operands, arguments[index + 1]
        if argument.text.startswith("--target-directory="):
            return operands, Arg(argument.text.partition("=")[2], argument.glob)
    if len(operands) < 2:
        return operands, None
    return operands[:-1], operands[-1]


def _mv(invocation: Invocation) -> Iterator[Found]:
    sources, destination = mv_operands(invocation)
    if destination is not None and destination.text == "/dev/null":
        yield MOVED_TO_NOTHING.found(invocation.part)
    for source in few(sources):
        where = located(invocation, source)
        place = where.place
        part = part_of(where.path, invocation.home, invocation.hermes_home)
        rule = None
        if part in (Part.GUARD, Part.STATE, Part.PLUGIN) or place in (Place.ROOT, Place.HOME):
            rule = MOVED_SYSTEM
        elif place is Place.SYSTEM:
            rule = MOVED_SYSTEM if is_vital(where) else MOVED_SYSTEM_FILE
        if rule is not None:
            yield rule.found(invocation.part, source.text, target_of(where, source.text))


def is_vital(where: Located) -> bool:
    """Does the system need all of it: /usr/lib, /etc, /etc/passwd; but not /etc/nginx/nginx.conf."""
    path = where.path
    return (
        where.depth <= 1
        or (where.depth == 2 and (where.everything or not path.startswith("/etc/")))
        or path.startswith(("/usr/", "/lib", "/boot/", "/bin/", "/sbin/"))
        or bool(_VITAL_FILES.match(path))
    )


FAMILY = Family(
    "files",
    _REMOVERS | _FOREIGN | frozenset({"mv"}),
    _check,
    examples=(
        ("rm -rf /", "files.root-removal"),
        ("rm -fr -- //", "files.root-removal"),
        ("rm -rf /*", "files.root-removal"),
        ("rm --recursive --force /usr/../etc", "files.system-removal"),
        ("rm -rf /var/lib", "files.system-removal"),
        ("rm -r ~", "files.home-removal"),
        ("rm -rf ~/.*", "files.home-removal"),
        ("rm -rf /home/other", "files.home-removal"),
        ("rm -rf ~/.ssh", "files.home-removal"),
        ("srm -r /dev/sda1", "files.device-removal"),
        ("rm ~/.hermes/plugins/some/plugin.yaml", "files.agent-state-removal"),
        ("rm -rf ~/.hermes", "files.agent-state-removal"),
        ("rm /etc/nginx/conf.d/old.conf", "files.system-file-removal"),
        ("rm -rf src", "files.folder-removal"),
        ("rm -rf /srv/www/site", "files.folder-removal"),
        ("rm -rf .", "files.working-folder-removal"),
        ("rm -f *", "files.working-folder-removal"),
        ("rm -rf .git", "files.repository-removal"),
        ('rm -rf "$UNSET_DIRECTORY/"', "files.unknown-removal"),
        ("git ls-files -o | xargs rm", "files.found-removal"),
        ("rm .env", "files.secret-removal"),
        ("shred -u ledger.ods", "files.shredded"),
        ("mv /etc /tmp/etc.bak", "files.system-moved"),
        ("mv /etc/nginx/nginx.conf /tmp/", "files.system-file-moved"),
        ("mv ledger.ods /dev/null", "files.moved-to-nothing"),
        ("Remove-Item -Recurse -Force /", "files.root-removal"),
    ),
    silent=(
        "rm old.txt",
        "rm -f *.log",
        "rm -rf build dist *.egg-info",
        "rm -rf node_modules && npm ci",
        "rm -rf ./frontend/.next frontend/node_modules",
        "rm -rf /tmp/work-1",
        "rm -rf report.json",
        "rm -rf ~/.cache/pip",
        "rm --help",
        "rm -f .git/index.lock",
        "mv src/a.py src/b.py",
    ),
    rules=(
        ROOT_REMOVAL,
        SYSTEM_REMOVAL,
        HOME_REMOVAL,
        DEVICE_REMOVAL,
        STATE_REMOVAL,
        SYSTEM_FILE,
        FOLDER,
        CURRENT_FOLDER,
        HISTORY,
        UNKNOWN_TARGET,
        FOUND_FILES,
        SECRET_FILE,
        SHREDDED,
        MOVED_SYSTEM,
        MOVED_SYSTEM_FILE,
        MOVED_TO_NOTHING,
    ),
)
