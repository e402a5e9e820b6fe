"""What a path is to the person whose machine it is: the system, a home, a build artefact, nothing of note."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from functools import lru_cache

from ..judge.invocation import UNKNOWN
from . import artefacts
from .names import names


class Place(Enum):
    """Where a path leads, from what must never go to what may always go."""

    ROOT = "the root of the file system"
    SYSTEM = "a system directory"
    DEVICE = "a disk or the memory of the machine"
    HOME = "a whole home, or a folder in it that a person lives by"
    HERMES = "the agent's own state"
    VERSION_CONTROL = "the history of a repository"
    CURRENT = "the whole working folder"
    PARENT = "a folder around the working folder"
    SHARED = "data outside of any home: /srv, /opt, mounted disks, logs"
    WORK = "an ordinary file or folder"
    UNKNOWN = "only running the command could tell"
    BUILD = "made by a build, or a cache"
    TEMPORARY = "a temporary file"
    NETWORK = "bash's /dev/tcp and /dev/udp"
    NOTHING = "/dev/null, a terminal, a standard stream"


@dataclass(frozen=True, slots=True)
class Located:
    """A path that was made sense of. `path` is absolute when that is known, "" components and dots gone.

    `everything`: it was a glob for all that the folder `path` holds. `depth`: how many components it has from
    the root. `pattern`: its last component is a glob for some names. `climbing`: the path with its "..",
    which lead elsewhere behind a link; "" when it has none.
    """

    place: Place
    path: str
    depth: int = 0
    everything: bool = False
    pattern: bool = False
    climbing: str = ""


_GLOB = frozenset("*?[")
# A component that matches all names, or all hidden ones: *, .*, ?*, .[!.]*, ..?*, *.*, ???.
_ALL = re.compile(r"\.?(?:[*?.]|\[[!^]?[.a-zA-Z0-9*\\_-]*\])+\Z")
_DRIVE = re.compile(r"([A-Za-z]):(?:[\\/]|\Z)")
_TEMPORARY_ROOTS = frozenset({("tmp",), ("var", "tmp"), ("dev", "shm"), ("var", "folders")})
_SYSTEM = names(
    "bin sbin lib lib32 lib64 libx32 usr etc boot proc sys dev System Library nix snap efi kernel "
    "cores private Network Windows windows WINDOWS"
) | {"Program Files", "Program Files (x86)", "ProgramData"}
# Their contents are somebody's data; the folder as a whole is the system's.
_HOLDERS = names("opt srv mnt media Volumes run var Applications lost+found export")
_HOMES = frozenset({"home", "Users"})
_PERSONAL = frozenset(
    {
        (".ssh",),
        (".gnupg",),
        (".aws",),
        (".kube",),
        (".password-store",),
        (".config",),
        (".local",),
        (".local", "share"),
        ("Library",),
        ("Library", "Application Support"),
        ("Library", "Keychains"),
        ("AppData",),
        (".mozilla",),
        (".thunderbird",),
        (".docker",),
        (".config", "gcloud"),
    }
)
_DISKS = tuple(
    names(
        "sd hd vd xvd nvme mmcblk disk rdisk dm- md mapper loop sr fd0 zd zvol nbd pmem ram bcache mem "
        "kmem port mtd ubi vg"
    )
)
_PERSONAL_FOLDERS = tuple(name[0] for name in _PERSONAL if len(name) == 1)
_LONGEST_GLOB = 64
_LITERAL_START, _LITERAL_END = re.compile(r"[^*?\[]*"), re.compile(r"[^*?\[\]]*\Z")
_VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".bzr", ".jj"})
# The root-level names that a glob such as /e* or /??? may stand for.
_ROOT_NAMES = tuple(sorted((_SYSTEM | _HOLDERS | _HOMES | {"root"}) - {"Network", "kernel", "efi"}))


def place(
    path_text: str, cwd: str | None = None, home: str = "", hermes_home: str = "", glob: bool = True
) -> Place:
    """Where a path leads. `cwd` None: not known. `glob` False: *, ? and [ stand for themselves."""
    return locate(path_text, cwd, home, hermes_home, glob).place


def components(text: str) -> list[str]:
    return [piece for piece in text.split("/") if piece and piece != "."]


@lru_cache(maxsize=64)
def folder_components(folder: str) -> list[str]:
    """The components of a home or a working folder; the list is everybody's and must not be changed."""
    return components(folder)


def locate(
    path_text: str, cwd: str | None = None, home: str = "", hermes_home: str = "", glob: bool = True
) -> Located:
    """Make sense of a path: `place` with what else was learnt on the way. Never looks at the disk."""
    if len(path_text) < _LONG:
        return _located_again(path_text, cwd, home, hermes_home, glob)
    if len(path_text) > LONGEST:
        path_text = _shortened(path_text)
    return _located(path_text, cwd, home, hermes_home, glob)


def _shortened(path_text: str) -> str:
    """A path of more letters than any has, without repetitions; one that stays too long is unknown."""
    path_text = _REPEATED_STARS.sub("*", _REPEATED_SLASHES.sub("", path_text[: 32 * LONGEST]))
    return path_text if len(path_text) <= LONGEST else UNKNOWN


def _located(path_text: str, cwd: str | None, home: str, hermes_home: str, glob: bool) -> Located:
    text = path_text
    if not text:
        return Located(Place.WORK, "")
    home = home or "/home/\x7f"
    if text[0] == UNKNOWN:
        return _starting_unknown(text)
    if text[0] == "~":
        text = _tilde(text, cwd, home)
    if "\\" in text or text[1:2] == ":":
        text = _windows(text)
    absolute = text[0] == "/"
    pieces = components(text)
    climbs = beyond = 0
    walked: list[str] = []
    base = None if cwd is None or UNKNOWN in cwd else folder_components(cwd)
    if not absolute and base is not None:
        walked = base.copy()
    for piece in pieces:
        if piece != "..":
            walked.append(piece)
        elif walked and UNKNOWN in walked[-1]:
            # An unknown piece may be several folders; as many steps up as this end at the root.
            beyond += 1
            if beyond >= 4:
                walked.clear()
        elif walked:
            walked.pop()
        elif not absolute and base is None:
            climbs += 1
    rooted = absolute or base is not None
    if 0 < beyond < 4:
        return Located(Place.UNKNOWN, text)
    if climbs >= 4 and (not walked or walked[0] in _SYSTEM or walked[0] in _HOLDERS or climbs >= 8):
        # Deeper than working folders are: it ends at the root.
        rooted, climbs = True, 0
    everything = False
    while glob and walked and _ALL.match(walked[-1]) and not _GLOB.isdisjoint(walked[-1]):
        walked.pop()
        everything = True
    pattern = glob and bool(walked) and not everything and not _GLOB.isdisjoint(walked[-1])
    if rooted:
        found = _rooted(walked, base, home, hermes_home, relative=not absolute, glob=glob)
        climbing = ""
        if ".." in pieces:
            climbing = "/" + "/".join(pieces if absolute or base is None else [*base, *pieces])
        return Located(found, "/" + "/".join(walked), len(walked), everything, pattern, climbing)
    found = _loose(walked, climbs)
    prefix = ["..", *[".."] * (climbs - 1)] if climbs else []
    return Located(found, "/".join(prefix + walked) or ".", 0, everything, pattern)


# Letters of the longest path that Linux takes.
LONGEST = 4_096
_REPEATED_STARS = re.compile(r"\*{2,}")
_REPEATED_SLASHES = re.compile(r"(?:/\.?)+(?=/)")
# Several rules ask about the same path; a cache of long ones would only take room.
_LONG = 200
_located_again = lru_cache(maxsize=1024)(_located)


def _starting_unknown(text: str) -> Located:
    pieces = components(text)
    if ".." not in pieces and artefacts.is_artefact(pieces):
        return Located(Place.BUILD, text)
    if not _VERSION_CONTROL.isdisjoint(pieces):
        return Located(Place.VERSION_CONTROL, text)
    # A name with an ending ("\0.bak") is a file; anything else might be empty, or the root.
    is_file = len(pieces) == 1 and len(pieces[0].strip(UNKNOWN)) > 1 and _GLOB.isdisjoint(pieces[0])
    return Located(Place.WORK if is_file else Place.UNKNOWN, text)


def _tilde(text: str, cwd: str | None, home: str) -> str:
    name, slash, rest = text.partition("/")
    if name == "~":
        return home + slash + rest
    if name == "~+":
        return (cwd or ".") + slash + rest
    user = name[1:]
    if not user.replace("-", "").replace("_", "").replace(".", "").isalnum():
        return text
    return ("/root" if user == "root" else "/home/" + user) + slash + rest


def _windows(text: str) -> str:
    """A path of Windows with slashes, its drive as a root of its own kind."""
    drive = _DRIVE.match(text)
    if drive:
        return "/mnt/" + drive.group(1).lower() + "/" + text[drive.end() :].replace("\\", "/")
    for name, where in (
        ("%USERPROFILE%", "~"),
        ("%SYSTEMROOT%", "/mnt/c/Windows"),
        ("%WINDIR%", "/mnt/c/Windows"),
    ):
        if text.upper().startswith(name):
            rest = text[len(name) :].replace("\\", "/")
            return where + rest if where != "~" else "/mnt/c/Users/me" + rest
    return text


def _rooted(
    parts: list[str], base: list[str] | None, home: str, hermes_home: str, relative: bool, glob: bool
) -> Place:
    parts = _canonical(parts)
    count = len(parts)
    if not count:
        return Place.ROOT
    hermes = components(hermes_home or home + "/.hermes")
    if parts[: len(hermes)] == hermes:
        return Place.HERMES
    home_parts = components(home)
    if parts == home_parts[:count]:
        # The home, or a folder around it; but above a home in a place of its own (/data/me) is no system.
        return Place.HOME if count == len(home_parts) or parts[0] in _HOMES else _around(parts)
    if home_parts and parts[: len(home_parts)] == home_parts:
        return _in_home(parts[len(home_parts) :], base, parts, glob)
    first = parts[0]
    if UNKNOWN in first:
        return Place.BUILD if count > 1 and artefacts.is_artefact(parts[1:]) else Place.UNKNOWN
    if glob and not _GLOB.isdisjoint(first):
        if _may_be(first, _ROOT_NAMES):
            return Place.SYSTEM
        return Place.SHARED
    if first in _HOMES or parts[:2] == ["export", "home"]:
        rest = parts[2:] if first == "export" else parts[1:]
        if not rest:
            return Place.HOME
        if UNKNOWN in rest[0]:
            return Place.UNKNOWN
        if first == "Users" and rest[0] == "Shared":
            return Place.SHARED
        return Place.HOME if len(rest) == 1 else _in_home(rest[1:], base, parts, glob)
    if first == "root" or parts[:2] == ["var", "root"]:
        rest = parts[1:] if first == "root" else parts[2:]
        return _in_home(rest, base, parts, glob) if rest else Place.HOME
    if tuple(parts[:2]) in _TEMPORARY_ROOTS or first == "tmp":
        return _temporary(parts, base, relative)
    if first == "dev":
        return _device(parts)
    if first in _SYSTEM:
        return _system(parts, base)
    if first in _HOLDERS:
        return _held(parts, base)
    if parts == base:
        return Place.CURRENT
    return _ordinary(parts, base, Place.SHARED)


def _may_be(pattern: str, known: tuple[str, ...]) -> bool:
    """Does a glob match one of the names? One that is longer than makes sense is taken to."""
    beginning, end = _LITERAL_START.match(pattern), _LITERAL_END.search(pattern)
    first, last = beginning[0] if beginning else "", end[0] if end else ""
    return any(
        name.startswith(first)
        and name.endswith(last)
        and (len(pattern) > _LONGEST_GLOB or fnmatchcase(name, pattern))
        for name in known
    )


def _canonical(parts: list[str]) -> list[str]:
    """Another name of the same place: /private/etc, /proc/self/root/etc, a drive under /mnt."""
    if parts and parts[0] == "private" and parts[1:2] and parts[1] in ("etc", "var", "tmp"):
        return parts[1:]
    if parts[:1] == ["proc"] and len(parts) > 2 and parts[2] == "root":
        return _canonical(parts[3:])
    if parts[:3] == ["System", "Volumes", "Data"]:
        return parts[3:]
    if len(parts) > 1 and parts[0] == "mnt" and len(parts[1]) == 1:
        return parts[2:]
    return parts


def _around(parts: list[str]) -> Place:
    return Place.SYSTEM if parts[0] in _SYSTEM or parts[0] in _HOLDERS else Place.HOME


def _in_home(rest: list[str], base: list[str] | None, parts: list[str], glob: bool) -> Place:
    if tuple(rest) in _PERSONAL:
        return Place.HOME
    if rest[0] == ".cache" or rest[:2] == ["Library", "Caches"]:
        return Place.BUILD
    if rest[0] == ".hermes":
        return Place.HERMES
    if glob and len(rest) == 1 and not _GLOB.isdisjoint(rest[0]):
        if _may_be(rest[0], (".hermes",)):
            return Place.HERMES
        if _may_be(rest[0], _PERSONAL_FOLDERS):
            return Place.HOME
    if UNKNOWN in rest[0] and not artefacts.is_artefact(rest[1:]):
        # An empty variable would make it the home itself.
        return Place.UNKNOWN
    return _ordinary(parts, base, Place.WORK)


def _temporary(parts: list[str], base: list[str] | None, relative: bool) -> Place:
    root = 1 if parts[0] == "tmp" else 2
    if len(parts) == root:
        return Place.SHARED
    if base is not None and len(base) > root and parts[: len(base)] == base and relative:
        # A project that is worked on under /tmp is work all the same.
        return Place.CURRENT if parts == base else _ordinary(parts, base, Place.WORK)
    return Place.TEMPORARY


def _device(parts: list[str]) -> Place:
    if len(parts) == 1:
        return Place.SYSTEM
    name = parts[1]
    if name in ("tcp", "udp"):
        return Place.NETWORK
    if name in (
        "stdin",
        "stdout",
        "stderr",
        "null",
        "zero",
        "full",
        "random",
        "urandom",
        "fd",
        "tty",
        "pts",
        "ptmx",
    ):
        return Place.NOTHING
    if name.startswith(_DISKS) or UNKNOWN in name or not _GLOB.isdisjoint(name):
        return Place.DEVICE
    return Place.NOTHING


def _system(parts: list[str], base: list[str] | None) -> Place:
    if parts[:2] == ["usr", "local"] and len(parts) > 2:
        named = parts[2] in (
            "bin",
            "sbin",
            "lib",
            "lib64",
            "share",
            "etc",
            "include",
            "src",
            "opt",
            "libexec",
        )
        return Place.SYSTEM if named and len(parts) == 3 else _ordinary(parts, base, Place.SHARED)
    if parts[:2] == ["usr", "src"] and len(parts) > 2:
        return _ordinary(parts, base, Place.SHARED)
    return Place.SYSTEM


def _held(parts: list[str], base: list[str] | None) -> Place:
    if parts[0] == "var":
        if len(parts) <= 2:
            return Place.SYSTEM
        if parts[1] == "lib" and parts[2:4] != ["apt", "lists"]:
            return Place.SYSTEM
    elif len(parts) == 1:
        return Place.SYSTEM
    if UNKNOWN in parts[1]:
        return Place.UNKNOWN
    return _ordinary(parts, base, Place.SHARED)


def _ordinary(parts: list[str], base: list[str] | None, other: Place) -> Place:
    inside = base is not None and parts[: len(base)] == base
    if inside and base is not None and len(parts) == len(base):
        return Place.CURRENT
    if base is not None and base[: len(parts)] == parts:
        return Place.PARENT
    rest = parts[len(base) :] if inside and base is not None else parts
    if not _VERSION_CONTROL.isdisjoint(rest):
        return Place.VERSION_CONTROL
    if artefacts.is_artefact(rest) if inside else artefacts.is_artefact(rest[-2:], rest):
        return Place.BUILD
    return Place.WORK if inside else other


def _loose(parts: list[str], climbs: int) -> Place:
    """A relative path when the working folder is not known."""
    if not parts:
        return Place.PARENT if climbs else Place.CURRENT
    if not _VERSION_CONTROL.isdisjoint(parts):
        return Place.VERSION_CONTROL
    if artefacts.is_artefact(parts):
        return Place.BUILD
    if UNKNOWN in parts[0]:
        return Place.UNKNOWN
    return Place.WORK
