"""What was let through to the input of each background process, so that a text in pieces is judged whole."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator
from itertools import pairwise

from .shell.reader import read

# Characters that are kept of what a process was given: of a shell, of another interpreter, and of a command
# that has begun and not ended. Commands that others depend on are kept longer, up to as much again.
MOST, MOST_OTHER, MOST_OPEN = 8_000, 30_000, 60_000
MOST_PROCESSES = 256
_MOST_LOST = 4_096
_MOST_READINGS = 30
# A command that says what later ones mean: a variable, a function, an alias, a folder, an option.
_STATE = re.compile(
    r"(?:^|[\s;&|({])\w+(?:\[[^\]]*\])?\+?=|\(\s*\)|(?:^|[\s;&|({])(?:function|alias|unalias|export|declare|typeset"
    r"|local|readonly|unset|set|shopt|read|mapfile|readarray|printf|source|\.|eval|trap|cd|pushd|popd|exec|enable"
    r"|hash|bind|complete|coproc|unsetopt|setopt|getopts|let)(?=[\s;]|$)|\(\("
)
_STATEMENT = re.compile(r"^(?=[^\s#)\]}])", re.MULTILINE)
_STATELESS = re.compile(r"(?!.*[^=!<>]=(?!=))(?:print|help|dir|type|len)\b[^;\n]*\n?")


class Inputs:
    """The end of each process's input, cut where a command begins; bounded in processes and characters."""

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._lost: OrderedDict[str, None] = OrderedDict()
        self._lock = threading.Lock()

    def before(self, process: str) -> str:
        """What the process has been given so far, from the beginning of a command."""
        with self._lock:
            return self._texts.get(process, "")

    def is_lost(self, process: str) -> bool:
        """Was it given what a judgement of the next text would need, and is not kept?"""
        return process in self._lost

    def let_through(self, process: str, text: str, language: str = "shell") -> None:
        """Remember `text`, all that the process has been given."""
        kept, lost = _cut(text, language)
        with self._lock:
            self._texts[process] = kept
            self._texts.move_to_end(process)
            if lost:
                self._lose(process)
            while len(self._texts) > MOST_PROCESSES:
                forgotten, text = self._texts.popitem(last=False)
                if text:
                    self._lose(forgotten)

    def _lose(self, process: str) -> None:
        self._lost[process] = None
        while len(self._lost) > _MOST_LOST:
            self._lost.popitem(last=False)


def _cut(text: str, language: str) -> tuple[str, bool]:
    """What is kept of a text, and whether something is missing then that later text may depend on."""
    most = MOST if language == "shell" else MOST_OTHER
    if len(text) <= most:
        return text, False
    commands = list(_commands(text) if language == "shell" else _statements(text, language))
    last = commands.pop()[0] if commands else text
    at, size = len(commands), len(last)
    while at and size + len(commands[at - 1][0]) <= most // 2:
        at -= 1
        size += len(commands[at][0])
    older = [whole for whole, matters in commands[:at] if matters]
    tail = [whole for whole, _ in commands[at:]] + [last]
    if len(last) > MOST_OPEN:
        return last[-most:], True
    if sum(map(len, older)) > most:
        return "".join(tail), True
    return "".join((*older, *tail)), False


def _commands(text: str) -> Iterator[tuple[str, bool]]:
    """The commands of shell text, each with the rest of its lines, and whether others depend on it.

    The last one is what has not ended yet, "" when all has.
    """
    spans = _spans(text + ":\n")
    starts = [
        (text.rfind("\n", 0, start) + 1, index)
        for index, (start, _) in enumerate(spans)
        if not text[text.rfind("\n", 0, start) + 1 : start].strip()
    ]
    for (start, _), (end, after) in pairwise(starts):
        said = text[start : spans[after - 1][1]]
        matters = _STATE.search(said) is not None
        # Only a here-document needs what follows the words of a command.
        yield (said + "\n" if matters and "<<" not in said else text[start:end]), matters
    yield text[starts[-1][0] :] if starts else text, True


def _spans(text: str) -> list[tuple[int, int]]:
    """Where the commands of a text are; the reader takes so many at a time."""
    spans: list[tuple[int, int]] = []
    begin = 0
    for _ in range(_MOST_READINGS):
        reading = read(text[begin:])
        found = [item.command.span for item in reading.script.items]
        spans += [(begin + start, begin + end) for start, end in found]
        if not reading.stopped or len(found) < 2:
            break
        begin = spans.pop()[0]
    return spans


def _statements(text: str, language: str) -> Iterator[tuple[str, bool]]:
    """The same of another language, by lines that are not indented; statements of SQL depend on no other."""
    starts = [found.start() for found in _STATEMENT.finditer(text)]
    for start, end in pairwise(starts):
        whole = text[start:end]
        yield whole, language != "sql" and _STATELESS.fullmatch(whole) is None
    yield text[starts[-1] :] if starts else text, True
