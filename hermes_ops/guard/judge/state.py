"""What a walk knows at a point: variables, functions, aliases, the folder, files written on the line."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field

from ..shell.tree import Command
from . import danger, decode
from .invocation import UNKNOWN, Arg, Stream

# A variable is a word or an array (its elements by key); it may have several values, one for each way through
# the text that leads to a point.
Value = Arg | dict[str, Arg]
Values = tuple[Value, ...]

UNSET = Arg(UNKNOWN)
EMPTY = Arg("")
MOST_VALUES = 16
MOST_FOLDERS = 6

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
    functions: dict[str, tuple[Command, ...]]  # the bodies a name may have
    aliases: dict[str, tuple[str, ...]]
    folders: tuple[Folder, ...]
    positionals: tuple[list[Arg], ...]  # the lists that $@ may be
    zeroth: str
    files: dict[str, Stream]  # what files of this line hold; shared by all states of a walk
    descriptors: dict[str, Stream]  # what can be read from file descriptors
    quits: bool = False  # exit, return or break: what follows in this list does not run after it
    dialect: str = "bash"  # the shell that runs this
    references: dict[str, str] = field(default_factory=dict)  # names that stand for other names
    sink: str = ""  # the file that `exec >file` sends the output to

    @property
    def positional(self) -> list[Arg]:
        return self.positionals[0]

    @positional.setter
    def positional(self, words: list[Arg]) -> None:
        self.positionals = (words,)

    def fork(self) -> State:
        """The state of a subshell: it changes nothing here but the files."""
        return State(
            self.variables.copy(),
            self.functions.copy(),
            self.aliases.copy(),
            self.folders,
            self.positionals,
            self.zeroth,
            self.files,
            self.descriptors,
            False,
            self.dialect,
            self.references.copy() if self.references else self.references,
            self.sink,
        )

    def assign(self, name: str, value: Value, also: bool = False) -> None:
        """Give a variable a value; `also`: besides the values it may have."""
        if self.references:
            name = self.references.get(name, name)
        if also:
            earlier = self.variables.get(name, ())
            if value not in earlier:
                self.variables[name] = capped((*earlier, value))
        else:
            self.variables[name] = (value,)

    def alias(self, named: Value) -> None:
        """The elements of BASH_ALIASES are aliases."""
        if isinstance(named, dict):
            self.aliases.update({name: (value.text,) for name, value in named.items()})

    def snapshot(self) -> Snapshot:
        return Snapshot(
            self.variables.copy(),
            self.folders,
            self.functions.copy(),
            self.aliases.copy(),
            self.positionals,
            self.files.copy(),
        )

    def restore(self, snapshot: Snapshot) -> None:
        self.variables = snapshot.variables.copy()
        self.folders = snapshot.folders
        self.functions = snapshot.functions.copy()
        self.aliases = snapshot.aliases.copy()
        self.positionals = snapshot.positionals
        if self.files != snapshot.files:
            self.files.clear()
            self.files.update(snapshot.files)

    def merge(self, other: Snapshot) -> None:
        """From here on everything may also be as it was in another state."""
        mine = self.variables
        for name, values in other.variables.items():
            own = mine.get(name)
            if own is None:
                mine[name] = values
            elif own is not values and own != values:
                mine[name] = capped((*own, *[value for value in values if value not in own]))
        if self.functions != other.functions:
            _join(self.functions, other.functions)
        if self.aliases != other.aliases:
            _join(self.aliases, other.aliases)
        folders = self.folders
        if folders is not other.folders:
            added = [folder for folder in other.folders if folder not in folders]
            self.folders = _most_dangerous_folders((*folders, *added))
        if self.positionals is not other.positionals:
            more = [words for words in other.positionals if words not in self.positionals]
            self.positionals = (*self.positionals, *more)[:MOST_FOLDERS]
        if other.files:
            self.merge_files(other.files)

    def merge_files(self, others: dict[str, Stream]) -> None:
        """A file may hold what it holds now or what it held elsewhere: both, one behind the other."""
        files = self.files
        for key, content in others.items():
            now = files.get(key)
            if now is None:
                files[key] = content
            elif now is not content and now != content:
                files[key] = either(now, content)

    def file_key(self, path: str, cwd: str | None) -> str:
        """The name under which a file of this line is remembered."""
        if not path.startswith("/"):
            path = posixpath.join(cwd or "", path)
        path = posixpath.normpath(path)
        return path[1:] if path.startswith("//") else path


@dataclass(slots=True)
class Snapshot:
    variables: dict[str, Values]
    folders: tuple[Folder, ...]
    functions: dict[str, tuple[Command, ...]]
    aliases: dict[str, tuple[str, ...]]
    positionals: tuple[list[Arg], ...]
    files: dict[str, Stream]


def _join(mine: dict, others: dict) -> None:
    """Of every name all that it may stand for."""
    for name, meanings in others.items():
        own = mine.get(name, ())
        if own != meanings:
            mine[name] = (*own, *[each for each in meanings if each not in own])[:MOST_FOLDERS]


def either(one: Stream, other: Stream) -> Stream:
    """A content that is one of two: what reads it is judged by both."""
    taint = one.taint | other.taint
    source = one.source or other.source
    texts = [text for text in (one.text, other.text) if text is not None]
    if not texts:
        return Stream(None, True, taint, source)
    if len(texts) == 2 and texts[0].startswith(texts[1]):
        return Stream(texts[0], True, taint, source)
    whole = "\n".join(text.removesuffix("\n") for text in texts) + "\n"
    return Stream(decode.bounded(whole), True, taint, source)


def capped(values: Values) -> Values:
    """As many values as are looked at: of more the ones that could do the most harm, and an unknown one."""
    if len(values) <= MOST_VALUES:
        return values
    ranked = sorted(values, key=danger.of_value, reverse=True)
    return (*ranked[: MOST_VALUES - 1], UNSET)


def _most_dangerous_folders(folders: tuple[Folder, ...]) -> tuple[Folder, ...]:
    if len(folders) <= MOST_FOLDERS:
        return folders
    return tuple(sorted(folders, key=lambda folder: danger.of_path(folder.path or ""), reverse=True))[
        :MOST_FOLDERS
    ]


def fresh(cwd: str | None, home: str, hermes_home: str) -> State:
    """The state a command line starts in."""
    variables: dict[str, Values] = {name: (Arg(value),) for name, value in USUAL.items()}
    if home:
        variables["HOME"] = (Arg(home),)
        name = home.rstrip("/").rpartition("/")[2]
        variables["USER"] = variables["LOGNAME"] = (Arg(name),)
    if hermes_home:
        variables["HERMES_HOME"] = (Arg(hermes_home),)
    return State(variables, {}, {}, (Folder(cwd),), ([],), "bash", {}, {})
