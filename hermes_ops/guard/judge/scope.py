"""What a walk knows where it stands: the values of names, of which there may be several, and the folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from . import expand
from .invocation import UNKNOWN, Arg
from .state import EMPTY, Folder, State, Value, fresh


class Scope:
    """The names and the folder at one point of a text.

    `choice` says which of its alternatives a name stands for now; names with alternatives that were asked for
    without a choice are noted in `undecided`, with how many there are.
    """

    def __init__(self, cwd: str | None, home: str, hermes_home: str) -> None:
        self.home = home
        self.hermes_home = hermes_home
        self.state: State = fresh(cwd, home, hermes_home)
        self.choice: dict[str, int] = {}
        self.undecided: dict[str, int] = {}
        self.casting = False  # this is a judgement on the side, of what a program may run

    def folder(self) -> Folder:
        folders = self.state.folders
        if len(folders) == 1:
            return folders[0]
        return folders[self._chosen("\0folder", len(folders))]

    def _chosen(self, name: str, count: int) -> int:
        number = self.choice.get(name)
        if number is None:
            self.undecided[name] = count
            return 0
        return min(number, count - 1)

    def lookup(self, name: str) -> Value | None:
        """The value of a variable, of the alternatives the one looked at; None when it is not set here."""
        values = self.state.variables.get(name)
        if values is None:
            return None
        if len(values) == 1:
            return values[0]
        return values[self._chosen(name, len(values))]

    def parameter(self, name: str) -> Arg | None:
        """The value of `$name`; None for what is not set on this line."""
        value = self.lookup(name)
        if value is not None:
            if isinstance(value, dict):
                return value.get("0", EMPTY)
            return value
        if name == "PWD":
            return Arg(self.folder().path or "/" + UNKNOWN)
        if name == "OLDPWD":
            return Arg(self.folder().previous or "/" + UNKNOWN)
        if name.isdigit():
            number = int(name)
            if number == 0:
                return Arg(self.state.zeroth)
            positional = self.state.positional
            return positional[number - 1] if number <= len(positional) else EMPTY
        if name == "#":
            return Arg(str(len(self.state.positional)))
        if name in ("@", "*"):
            return expand.joined(self.state.positional)
        return None

    def positional(self) -> list[Arg]:
        return self.state.positional

    def element(self, name: str, key: str) -> Arg | None:
        value = self.lookup(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            return value if key == "0" else EMPTY
        if UNKNOWN in key:
            return Arg(UNKNOWN)
        if key.startswith("-") and key[1:].isdigit():
            elements = list(value.values())
            return elements[int(key)] if int(key[1:]) <= len(elements) else EMPTY
        return value.get(key.strip("\"'"), EMPTY)

    def separators(self) -> str:
        value = self.state.variables.get("IFS")
        if value is None or isinstance(value[0], dict) or UNKNOWN in value[0].text:
            return " \t\n"
        return value[0].text

    @contextmanager
    def subshell(self) -> Iterator[None]:
        """Run something on a copy of the state."""
        before = self.state
        self.state = before.fork()
        try:
            yield
        finally:
            self.state = before
