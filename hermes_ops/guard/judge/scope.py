"""What a walk knows where it stands: the values of names, of which there may be several, and the folder."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from . import arithmetic, danger, expand
from .invocation import UNKNOWN, Arg
from .state import EMPTY, Folder, State, Value, fresh

# Names under which a choice of the folder and of the positional parameters is kept.
FOLDER, WORDS = "\0folder", "\0words"
MOST_PASSES = 24
_MOST_TOGETHER = 16


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
        return folders[self._chosen(FOLDER, len(folders))]

    def _chosen(self, name: str, count: int) -> int:
        number = self.choice.get(name)
        if number is None:
            self.undecided[name] = count
            return 0
        return min(number, count - 1)

    def lookup(self, name: str) -> Value | None:
        """The value of a variable, of the alternatives the one looked at; None when it is not set here."""
        state = self.state
        if state.references:
            name = state.references.get(name, name)
        values = state.variables.get(name)
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
        if name.isascii() and name.isdigit():
            number = int(name[:9])
            if number == 0:
                return Arg(self.state.zeroth)
            positional = self.positional()
            return positional[number - 1] if number <= len(positional) else EMPTY
        if name == "#":
            return Arg(str(len(self.positional())))
        if name in ("@", "*"):
            return expand.joined(self.positional())
        return None

    def positional(self) -> list[Arg]:
        """The words of `$@`."""
        lists = self.state.positionals
        return lists[0] if len(lists) == 1 else lists[self._chosen(WORDS, len(lists))]

    def element(self, name: str, key: str) -> Arg | None:
        value = self.lookup(name)
        if key.isidentifier() and key in self.state.variables:
            # It is arithmetic, unless the array is one by names; what it holds is looked at in any case.
            arithmetic.names_in(self, key)
        if value is None:
            return None
        if not isinstance(value, dict):
            return value if key == "0" else EMPTY
        if UNKNOWN in key:
            return Arg(UNKNOWN)
        if key.startswith("-") and key[1:].isdigit():
            elements = list(value.values())
            return elements[int(key)] if int(key[1:]) <= len(elements) else EMPTY
        key = key.strip("\"'")
        found = value.get(key)
        if found is None and not key.isdigit():
            number = arithmetic.evaluate(self, key)
            if number is None and all(map(str.isdigit, value)):
                return Arg(UNKNOWN)
            found = value.get(str(number))
        return EMPTY if found is None else found

    def separators(self) -> str:
        value = self.state.variables.get("IFS")
        if value is None or isinstance(value[0], dict) or UNKNOWN in value[0].text:
            return " \t\n"
        return value[0].text

    def ranks(self, name: str) -> list[int]:
        """How much harm each alternative of a name could do."""
        state = self.state
        if name == FOLDER:
            return [danger.of_path(folder.path or "") for folder in state.folders]
        if name == WORDS:
            return [max(map(danger.of_value, words), default=0) for words in state.positionals]
        return [danger.of_value(value) for value in state.variables.get(name, ())]

    def choices(self, undecided: dict[str, int]) -> tuple[list[dict[str, int]], bool]:
        """The choices to judge besides the first of everything, and whether some are left out.

        Of too many the most dangerous alternatives are taken together, and each other one with those.
        """
        names = list(undecided)
        total = math.prod(undecided.values())
        if total <= MOST_PASSES:
            ranges = [range(undecided[name]) for name in names]
            found = [dict(zip(names, picked, strict=True)) for picked in itertools.product(*ranges)]
            return found[1:], False
        order = []
        for name in names:
            ranks = self.ranks(name)
            ranks += [0] * (undecided[name] - len(ranks))
            order.append(sorted(range(undecided[name]), key=ranks.__getitem__, reverse=True))
        together = max(1, int(_MOST_TOGETHER ** (1 / len(names)) + 0.001))
        found = [
            dict(zip(names, picked, strict=True))
            for picked in itertools.product(*[indices[:together] for indices in order])
        ]
        worst = dict(zip(names, [indices[0] for indices in order], strict=True))
        for step in range(together, max(map(len, order))):
            for name, indices in zip(names, order, strict=True):
                if step < len(indices) and len(found) < MOST_PASSES:
                    found.append({**worst, name: indices[step]})
        return found, True

    def every(self, expanded: Callable[[], list[Arg]]) -> list[Arg]:
        """The words that something expands to, with all the values its names may have."""
        outer_choice, outer_undecided = self.choice, self.undecided
        self.undecided = {}
        words = list(expanded())
        try:
            if self.undecided:
                for choice in self.choices(self.undecided)[0]:
                    self.choice = {**outer_choice, **choice}
                    words.extend(word for word in expanded() if word not in words)
        finally:
            self.choice, self.undecided = outer_choice, outer_undecided
        return words

    @contextmanager
    def subshell(self) -> Iterator[None]:
        """Run something on a copy of the state."""
        before = self.state
        self.state = before.fork()
        try:
            yield
        finally:
            self.state = before
