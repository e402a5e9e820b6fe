"""What is known about the surroundings of code: arguments, input, the environment, files of the line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..judge.invocation import OPAQUE, UNKNOWN, Arg, Stream
from .printing import Printed
from .value import Value

# Where a piece of code comes from that the shell puts in, and what a program is given.
THE_SHELL, AN_ARGUMENT = "the shell", "an argument"
_OPAQUE = frozenset([OPAQUE])
# How many arguments and how many lines of the input are looked at.
ARGUMENTS, LINES = 64, 64


def _nothing(name: str) -> None:
    return None


def _nowhere(path: str, content: Stream) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Given:
    """What code is given.

    `argv`: the words behind the program text, None when they are not known; `appended`: more of them follow
    that are not known. `stdin`: what comes in, with OPAQUE where nothing can be said of it. `records`: the
    code is run for each line of the input, as awk and `perl -n` do. `assigned`: variables that the command
    line sets, as `awk -v`. `variable` looks up a variable of the environment, `held` what a file of this line
    holds; `keep` is told what the code writes to a file, `printed` what it prints.
    """

    argv: tuple[Arg, ...] | None = None
    appended: bool = False
    stdin: Stream = field(default_factory=Stream)
    records: bool = False
    assigned: tuple[tuple[str, Arg], ...] = ()
    variable: Callable[[str], Arg | None] = _nothing
    held: Callable[[str], Stream | None] = _nothing
    keep: Callable[[str, Stream], None] = _nowhere
    printed: Printed | None = None

    def arguments(self, first: tuple[str, ...] = ()) -> list[Value] | None:
        """The arguments behind what the language puts before them; None when they are not known."""
        if self.argv is None:
            return None
        values = [Value(text) for text in first] + [value_of(arg) for arg in self.argv[:ARGUMENTS]]
        return [*values, value_of(Arg(UNKNOWN))] if self.appended else values

    def input(self) -> Value:
        """All of the input."""
        stdin = self.stdin
        if stdin.text is not None:
            return Value(stdin.text, taint=stdin.taint, source=stdin.source)
        return Value(name="sys.stdin.read()", taint=stdin.taint, source=stdin.source or "the input")

    def lines(self) -> list[Value] | None:
        """The lines of the input; None when they are not known."""
        text = self.stdin.text
        if text is None:
            return None
        lines = text.split("\n")[: LINES + 1]
        return [Value(line, taint=self.stdin.taint, source=self.stdin.source) for line in lines if line]


NOTHING_GIVEN = Given()


def value_of(arg: Arg) -> Value:
    """A word of the shell as a value of code; one that is not known at all must not be run."""
    if arg.text == UNKNOWN and not arg.taint:
        return Value(UNKNOWN, taint=_OPAQUE, source=arg.source or AN_ARGUMENT)
    return Value(arg.text, taint=arg.taint, source=arg.source)


def value_held(stream: Stream) -> Value:
    """What a file of the line holds, as a value."""
    if stream.text is None:
        return Value(name="file content", taint=stream.taint, source=stream.source)
    return Value(stream.text, taint=stream.taint, source=stream.source)


def stream_of(value: Value) -> Stream:
    """What code writes, as the content of a file of the line."""
    text = value.text
    return Stream(None if text == UNKNOWN else text, True, value.taint, value.source)
