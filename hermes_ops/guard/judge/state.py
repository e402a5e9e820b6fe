"""What a walk knows at a point: variables, functions, aliases, the folder, files written on the line."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field

from ..shell.tree import Command
from .invocation import UNKNOWN, Arg, Stream

# A variable is a word or an array (its elements by key); it may have several values, one for each way through
# the text that leads to a point.
Value = Arg | dict[str, Arg]
Values = tuple[Value, ...]

UNSET = Arg(UNKNOWN)
EMPTY = Arg("")
MOST_VALUES = 12

# Variables every shell has: their values, or the part of them that is certain.
USUAL = {
    "IFS": " \t\n",
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "SHELL": "/bin/bash",
    "BASH": "/bin/bash",
    "TMPDIR": "/tmp",
    "UID": UNKNOWN,
    "OSTYPE": "linux-gnu",
}


@dataclass(slots=True)
class Folder:
    """The current folder and the one before; None when not known."""

    path: str | None
    previous: str | None = None
    stack: tuple[str | None, ...] = ()


@dataclass(slots=True)
class State:
    variables: dict[str, Values]
    functions: dict[str, Command]
    aliases: dict[str, str]
    folders: tuple[Folder, ...]
    positional: list[Arg]
    zeroth: str
    files: dict[str, Stream]  # what files of this line hold; shared by all states of a walk
    descriptors: dict[str, Stream]
    quits: bool = False  # exit, return or break: what follows in this list does not run after it
    traps: list[str] = field(default_factory=list)

    def fork(self) -> State:
        """The state of a subshell: it changes nothing here but the files."""
        return State(
            self.variables.copy(),
            self.functions.copy(),
            self.aliases,
            self.folders,
            self.positional,
            self.zeroth,
            self.files,
            self.descriptors,
        )

    def assign(self, name: str, value: Value, also: bool = False) -> None:
        """Give a variable a value; `also`: besides the values it may have."""
        if also:
            earlier = self.variables.get(name, ())
            if value not in earlier:
                self.variables[name] = _capped((*earlier, value))
        else:
            self.variables[name] = (value,)

    def snapshot(self) -> Snapshot:
        return Snapshot(self.variables.copy(), self.folders)

    def restore(self, snapshot: Snapshot) -> None:
        self.variables = snapshot.variables.copy()
        self.folders = snapshot.folders

    def merge(self, other: Snapshot) -> None:
        """From here on everything may also be as it was in another state."""
        mine = self.variables
        for name, values in other.variables.items():
            own = mine.get(name)
            if own is None:
                mine[name] = values
            elif own is not values and own != values:
                mine[name] = _capped((*own, *(value for value in values if value not in own)))
        folders = self.folders
        if folders is not other.folders:
            added = [folder for folder in other.folders if folder not in folders]
            self.folders = (*folders, *added)[:4]

    def file_key(self, path: str, cwd: str | None) -> str:
        """The name under which a file of this line is remembered."""
        if not path.startswith("/"):
            path = posixpath.join(cwd or "", path)
        return posixpath.normpath(path)


@dataclass(slots=True)
class Snapshot:
    variables: dict[str, Values]
    folders: tuple[Folder, ...]


def _capped(values: Values) -> Values:
    if len(values) <= MOST_VALUES:
        return values
    return (*values[: MOST_VALUES - 1], UNSET)


def fresh(cwd: str | None, home: str, hermes_home: str) -> State:
    """The state a command line starts in."""
    variables: dict[str, Values] = {name: (Arg(value),) for name, value in USUAL.items()}
    if home:
        variables["HOME"] = (Arg(home),)
        name = home.rstrip("/").rpartition("/")[2]
        variables["USER"] = variables["LOGNAME"] = (Arg(name),)
    if hermes_home:
        variables["HERMES_HOME"] = (Arg(hermes_home),)
    return State(variables, {}, {}, (Folder(cwd),), [], "bash", {}, {})
