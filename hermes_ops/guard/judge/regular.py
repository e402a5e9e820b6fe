"""Regular expressions of grep and sed as those of Python, with a bound on what matching them may cost."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

# What re says of an odd set in a command's pattern is nothing to the person at the terminal.
warnings.filterwarnings("ignore", category=FutureWarning, module=re.escape(__name__))

LONGEST_PATTERN = 200
MOST_WORK = 1_000_000
_NAMED = {
    "alpha": "A-Za-z", "lower": "a-z", "upper": "A-Z", "digit": "0-9", "space": r"\s", "alnum": "0-9A-Za-z",
    "blank": r" \t", "xdigit": "0-9A-Fa-f", "punct": r"!-/:-@\[-`{-~", "print": r" -~", "graph": "!-~",
    "cntrl": r"\x00-\x1f\x7f",
}  # fmt: skip
_ESCAPES = {
    "n": "\\n", "t": "\\t", "w": "\\w", "W": "\\W", "s": "\\s", "S": "\\S", "b": "\\b", "B": "\\B",
    "<": "\\b(?=\\w)", ">": "\\b(?<=\\w)", "`": "\\A", "'": "\\Z",
}  # fmt: skip
_BOUNDS = re.compile(r"(\d{0,3})(,?)(\d{0,3})")


class Expression(NamedTuple):
    """A compiled expression, and the power of the length of a line that a search may take."""

    pattern: re.Pattern[str]
    power: int

    def affordable(self, lines: Iterable[str]) -> bool:
        """May these lines be searched within the bound?"""
        return sum((len(line) + 1) ** max(self.power, 1) for line in lines) <= MOST_WORK


class _Refused(Exception):
    """A construct that is not translated."""


@lru_cache(maxsize=128)
def compiled(text: str, kind: str = "basic", ignore: bool = False) -> Expression | None:
    """The expression `text` is, of a kind: basic, extended, perl or fixed; None when not followed."""
    if len(text) > LONGEST_PATTERN or "\0" in text:
        return None
    flags = re.IGNORECASE if ignore else 0
    if kind == "fixed":
        return Expression(re.compile(re.escape(text), flags), 1)
    reader = _Reader(text, kind)
    try:
        source = reader.read()
        pattern = re.compile(source, flags)
    except (_Refused, re.error, OverflowError):
        return None
    anchored = source.startswith(("^", "\\A")) and "|" not in source
    return Expression(pattern, reader.repeats + (0 if anchored else 1))


class _Reader:
    """Reads an expression once from left to right."""

    def __init__(self, text: str, kind: str) -> None:
        self.text = text
        self.basic = kind == "basic"
        self.perl = kind == "perl"
        self.at = 0
        self.pieces: list[str] = []
        self.groups: list[int] = []  # the repeats before each open group
        self.repeats = 0
        self.closed = -1  # the repeats before the group that has just been closed

    def read(self) -> str:
        while self.at < len(self.text):
            self.step()
        if self.groups:
            raise _Refused
        return "".join(self.pieces)

    def step(self) -> None:
        letter = self.text[self.at]
        self.at += 1
        if letter == "\\":
            self.escape()
        elif letter == "[":
            self.bracket()
        elif letter == "*" and not self.at_start():
            self.repeat("*")
        elif letter == "*" and self.basic:
            self.add("\\*")
        elif letter == "^":
            self.add("^" if not self.basic or self.at_start() else "\\^")
        elif letter == "$":
            self.add("$" if not self.basic or self.at_end() else "\\$")
        elif letter == ".":
            self.add(".")
        elif not self.basic and letter in "(){}+?|":
            self.sign(letter)
        else:
            self.add(re.escape(letter))

    def add(self, piece: str) -> None:
        self.pieces.append(piece)
        self.closed = -1

    def at_start(self) -> bool:
        return not self.pieces or self.pieces[-1] in ("(", "|", "^")

    def at_end(self) -> bool:
        return self.text[self.at :] == "" or self.text.startswith(("\\)", "\\|"), self.at)

    def escape(self) -> None:
        if self.at >= len(self.text):
            raise _Refused
        letter = self.text[self.at]
        self.at += 1
        if self.basic and letter in "(){}+?|":
            self.sign(letter)
        elif letter.isdigit():
            raise _Refused
        elif self.perl and letter in "dD":
            self.add("[0-9]" if letter == "d" else "[^0-9]")
        elif letter in _ESCAPES:
            self.add(_ESCAPES[letter])
        elif letter.isalnum():
            raise _Refused
        else:
            self.add(re.escape(letter))

    def sign(self, letter: str) -> None:
        if letter == "(":
            if self.text.startswith("?", self.at):
                raise _Refused
            self.groups.append(self.repeats)
            self.add("(")
        elif letter == ")":
            if not self.groups:
                raise _Refused
            before = self.groups.pop()
            self.add(")")
            self.closed = before
        elif letter == "|":
            self.add("|")
        elif letter == "{":
            self.bounds()
        elif letter == "}":
            self.add("\\}")
        else:
            self.repeat(letter)

    def bounds(self) -> None:
        found = _BOUNDS.match(self.text, self.at)
        assert found is not None
        end = "\\}" if self.basic else "}"
        if not self.text.startswith(end, found.end()) or not found[0].strip(","):
            raise _Refused
        self.at = found.end() + len(end)
        low, comma, high = found.groups()
        if max(int(low or 0), int(high or 0)) > 100:
            raise _Refused
        self.repeat(f"{{{low or 0}{comma}{high}}}")

    def repeat(self, sign: str) -> None:
        if self.at_start() or self.pieces[-1] in ("*", "+", "?") or self.pieces[-1][0] == "{":
            raise _Refused
        # A repeat around a repeat could take exponential time.
        if self.closed >= 0 and self.repeats > self.closed:
            raise _Refused
        self.add(sign)
        self.repeats += 1

    def bracket(self) -> None:
        text = self.text
        start = self.at
        negated = text.startswith("^", start)
        at = start + negated
        inside: list[str] = []
        while True:
            if at >= len(text):
                raise _Refused
            letter = text[at]
            if letter == "]" and at > start + negated:
                break
            if letter == "[" and text.startswith(":", at + 1):
                end = text.find(":]", at + 2)
                letters = _NAMED.get(text[at + 2 : end]) if end > 0 else None
                if letters is None:
                    raise _Refused
                inside.append(letters)
                at = end + 2
                continue
            if letter == "\\" and text[at + 1 : at + 2] in ("n", "t", "]", "\\") and at + 2 < len(text):
                inside.append({"n": "\\n", "t": "\\t"}.get(text[at + 1], "\\" + text[at + 1]))
                at += 2
                continue
            inside.append(letter if letter == "-" and inside else re.escape(letter))
            at += 1
        self.at = at + 1
        self.add("[" + "^" * negated + "".join(inside) + "]")
