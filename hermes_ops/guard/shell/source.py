"""The text being read, and what all parts of the reader share: limits, joined lines, open here-documents."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import NamedTuple

from .tree import Command, HereDocument, Script, Span

# Reading stops at these, so that no text takes long. Characters do not count the bodies of here-documents
# with a quoted delimiter. A step is two plain words, a piece of a word, or a command; costlier constructs are
# several. Every level of nesting takes up to eight Python frames.
CHARACTERS = 131_072
STEPS = 1_500
DEPTH = 40
JOINS = 400

_PLAIN_RUN = r"[^ \t\n;&|<>()'\"`$\\]+"
_CUT_TOKEN = re.compile(rf"[ \t]*(?:\\\n[ \t]*)*(?:{_PLAIN_RUN}|[;&|<>()]+)(?=\\\n)")
_JOINED_RUN = re.compile(r"(?:\\\n[^ \t\n;&|<>()'\"`$\\#]*)+")


class Unreadable(Exception):
    """A syntax error: `what` names the construct in plain words, `at` is the offset where it was noticed."""

    def __init__(self, what: str, at: int) -> None:
        super().__init__(what)
        self.what, self.at = what, at


class Exhausted(Exception):
    """A limit was reached; the argument says which."""


class Pending(NamedTuple):
    """A here-document whose body has not come yet; `stripped`: it loses its leading tabs."""

    document: HereDocument
    delimiter: str
    stripped: bool


class Source:
    """A text with the state of reading it.

    A backslash-newline inside a token is taken out of `text` when it is met, so offsets are those of the text
    without it until `original` turns them back. `script` (source, offset, and a list that gets the items as
    they are read) and `command` (source, offset) are the grammar, which words need for substitutions.
    """

    __slots__ = (
        "begun",
        "command",
        "cuts",
        "depth",
        "folds",
        "inside",
        "last_fold",
        "limit",
        "parens",
        "pending",
        "script",
        "steps",
        "substituted",
        "text",
    )

    def __init__(
        self,
        text: str,
        script: Callable[..., tuple[Script, int]],
        command: Callable[[Source, int], tuple[Command, int]],
    ) -> None:
        self.text = text
        self.script = script
        self.command = command
        self.steps = STEPS
        self.depth = DEPTH
        self.limit = CHARACTERS
        self.folds = "\\\n" in text
        self.last_fold = text.rfind("\\\n")
        self.cuts: list[int] = []
        self.parens: dict[int, int] = {}
        # Here-documents whose body begins after the next newline; the first `begun` come out of substitutions
        # that ended before it.
        self.pending: list[Pending] = []
        self.begun = 0
        # How many substitutions in parentheses are open.
        self.substituted = 0
        # Why text that bash reads only when it gets there (in backquotes, in a here-document) is wrong.
        self.inside: list[Unreadable] = []

    def part(self, text: str) -> Source:
        """A source for a piece of this one, with what is left of the limits."""
        piece = Source(text, self.script, self.command)
        piece.steps, piece.depth = self.steps, self.depth
        return piece

    def absorb(self, piece: Source, at: int, error: Unreadable | None, where: str) -> None:
        """Take over what reading a piece that begins at `at` has used up, and what is wrong inside it."""
        self.steps = piece.steps
        if not self.inside:
            # The first is told; there may be thousands.
            self.inside += [Unreadable(one.what, at) for one in piece.inside]
            if error:
                self.inside.append(Unreadable(f"{where}, {error.what}", at))

    def state(self) -> tuple[int, list[Pending], int, int]:
        """What an error inside a construct would leave wrong, for `restore`."""
        return self.depth, self.pending, self.begun, self.substituted

    def restore(self, state: tuple[int, list[Pending], int, int]) -> None:
        self.depth, self.pending, self.begun, self.substituted = state

    def enter(self) -> None:
        """One level of nesting further; `depth` is put up again by whoever called this."""
        self.depth -= 1
        if self.depth < 0:
            raise Exhausted("nesting that is too deep")

    def spend(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise Exhausted("too many words")

    def join(self, at: int) -> None:
        """Take out the backslash-newline at `at`, and those in the plain characters right after it."""
        match = _JOINED_RUN.match(self.text, at)
        assert match
        run = match[0].split("\\\n")
        place = at
        for piece in run[1:]:
            self.cuts.append(place)
            place += len(piece)
        if len(self.cuts) > JOINS:
            raise Exhausted("too many continued lines inside words")
        self.text = self.text[:at] + "".join(run) + self.text[match.end() :]
        self.parens.clear()

    def unfold(self, at: int) -> None:
        """Join the lines that cut the plain or operator characters that come next."""
        while match := _CUT_TOKEN.match(self.text, at):
            self.join(match.end())

    def original(self, span: Span) -> Span:
        """The span in the text as it was given."""
        return widened(span, self.cuts, 2)


def widened(span: Span, cuts: list[int], width: int) -> Span:
    """A span of a text as one of the text in which `width` characters stood at each of the cuts."""
    start, end = span
    start += width * bisect_right(cuts, start)
    return start, max(start, end + width * bisect_left(cuts, end))
