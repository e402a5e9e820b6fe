"""What sed prints and writes of a text that is known, for the scripts that one-liners have."""

from __future__ import annotations

import re
from typing import NamedTuple

from . import regular

LONGEST = 65536
LONGEST_LINE = 4096  # that a substitution may make
MOST_COMMANDS = 20
_PLAIN_ADDRESS = re.compile(r"(\d{1,9})~(\d{1,9})|(\d{1,9})(?!\d)|(\$)")
_SECOND_ADDRESS = re.compile(r"\+(\d{1,9})(?!\d)|(\d{1,9})(?!\d)|(\$)")
_FLAGS = re.compile(r"([gpiIM0-9]*)(?:w[ \t]*([^\n]*))?")


class Address(NamedTuple):
    """A line by number, the last one, every nth one, or those that match."""

    kind: str  # "line", "last", "step", "match", "more" (`+N`, as a second address)
    number: int = 0
    step: int = 0
    expression: regular.Expression | None = None


class Step(NamedTuple):
    """One command with its addresses."""

    name: str
    first: Address | None = None
    second: Address | None = None
    negated: bool = False
    expression: regular.Expression | None = None
    text: str = ""  # replacement, inserted text, letters of y, file of w
    flags: str = ""
    file: str = ""


class Edited(NamedTuple):
    """What is printed, and what `w` writes to files."""

    text: str
    files: dict[str, str]


class _Refused(Exception):
    """A command or construct that is not followed."""


def edited(scripts: list[str], text: str, silent: bool, extended: bool) -> Edited | None:
    """Run scripts on a text; None where that cannot be told."""
    if len(text) > LONGEST:
        return None
    try:
        steps: list[Step] = []
        for script in scripts:
            steps.extend(_Script(script, "extended" if extended else "basic").steps())
        if len(steps) > MOST_COMMANDS:
            return None
        return _Run(steps, text, silent).result()
    except _Refused:
        return None


class _Script:
    """Reads a script."""

    def __init__(self, text: str, kind: str) -> None:
        self.text = text
        self.kind = kind
        self.at = 0

    def steps(self) -> list[Step]:
        steps: list[Step] = []
        while True:
            self.skip("; \t\n")
            if self.at >= len(self.text):
                return steps
            if self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
                continue
            steps.append(self.step())
            if len(steps) > MOST_COMMANDS:
                raise _Refused

    def skip(self, letters: str) -> None:
        while self.at < len(self.text) and self.text[self.at] in letters:
            self.at += 1

    def next(self) -> str:
        if self.at >= len(self.text):
            raise _Refused
        self.at += 1
        return self.text[self.at - 1]

    def step(self) -> Step:
        first = self.address()
        second = None
        self.skip(" \t")
        if first is not None and self.text.startswith(",", self.at):
            self.at += 1
            self.skip(" \t")
            second = self.second()
        self.skip(" \t")
        negated = self.text.startswith("!", self.at)
        self.at += negated
        self.skip(" \t")
        name = self.next()
        if name == "s":
            return self.substitution(first, second, negated)
        if name == "y":
            mark = self.next()
            old, new = self.until(mark, True), self.until(mark, True)
            if len(old) != len(new):
                raise _Refused
            self.end()
            return Step("y", first, second, negated, None, new, old)
        if name in "aic":
            return Step(name, first, second, negated, None, self.inserted())
        if name == "w":
            self.skip(" \t")
            return Step("w", first, second, negated, None, "", "", self.line())
        if name not in "pdq=":
            raise _Refused
        self.end()
        return Step(name, first, second, negated)

    def end(self) -> None:
        self.skip(" \t")
        if self.at < len(self.text) and self.text[self.at] not in ";\n#":
            raise _Refused

    def line(self) -> str:
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        line, self.at = self.text[self.at : end], end
        return line

    def inserted(self) -> str:
        self.skip(" \t")
        if self.text.startswith("\\", self.at):
            self.at += 1
            self.skip(" \t")
            self.at += self.text.startswith("\n", self.at)
        line = self.line()
        if "\\" in line:
            raise _Refused
        return line

    def address(self) -> Address | None:
        found = _PLAIN_ADDRESS.match(self.text, self.at)
        if found:
            self.at = found.end()
            if found[4]:
                return Address("last")
            if found[1]:
                return Address("step", int(found[1]), int(found[2]))
            return Address("line", int(found[3]))
        return self.matching()

    def second(self) -> Address:
        found = _SECOND_ADDRESS.match(self.text, self.at)
        if found:
            self.at = found.end()
            if found[3]:
                return Address("last")
            return Address("more", int(found[1])) if found[1] else Address("line", int(found[2]))
        address = self.matching()
        if address is None:
            raise _Refused
        return address

    def matching(self) -> Address | None:
        mark = self.text[self.at : self.at + 1]
        if mark not in ("/", "\\") or not mark:
            return None
        self.at += 1
        if mark == "\\":
            mark = self.next()
        pattern = self.until(mark)
        ignore = self.text.startswith("I", self.at)
        self.at += ignore
        return Address("match", expression=self.expression(pattern, ignore))

    def expression(self, pattern: str, ignore: bool) -> regular.Expression:
        found = regular.compiled(pattern, self.kind, ignore) if pattern else None
        if found is None:
            raise _Refused
        return found

    def until(self, mark: str, letters: bool = False) -> str:
        """The text up to the next mark, with the escapes of the mark taken away."""
        pieces: list[str] = []
        while (letter := self.next()) != mark:
            if letter == "\\":
                following = self.next()
                if following == mark:
                    letter = mark
                elif letters:
                    letter = {"n": "\n", "\\": "\\", "t": "\t"}.get(following, "")
                    if not letter:
                        raise _Refused
                else:
                    letter += following
            elif letter == "[" and not letters and mark in _bracket(self.text, self.at):
                raise _Refused
            pieces.append(letter)
        return "".join(pieces)

    def substitution(self, first: Address | None, second: Address | None, negated: bool) -> Step:
        mark = self.next()
        pattern, new = self.until(mark), self.until(mark)
        found = _FLAGS.match(self.text, self.at)
        flags, file = (found[1], found[2] or "") if found else ("", "")
        self.at = found.end() if found else self.at
        if not file:
            self.end()
        ignore = "i" in flags.lower()
        return Step("s", first, second, negated, self.expression(pattern, ignore), new, flags, file)


def _bracket(text: str, at: int) -> str:
    """The inside of a bracket expression that begins before `at`."""
    end = text.find("]", at + 1)
    return text[at:end] if end > 0 else ""


_PIECE = re.compile(r"\\([\s\S])|(&)")
_LETTERS = {"n": "\n", "t": "\t"}


def _replacement(new: str, found: re.Match[str]) -> str:
    def piece(part: re.Match[str]) -> str:
        letter = part[1]
        if letter is None:
            return found[0]
        if letter.isdigit():
            number = int(letter)
            if number > len(found.groups()):
                raise _Refused
            return found[number] or "" if number else found[0]
        if letter in "LUElu":
            raise _Refused
        return _LETTERS.get(letter, letter)

    return _PIECE.sub(piece, new)


class _Run:
    """A run of steps over the lines of a text."""

    def __init__(self, steps: list[Step], text: str, silent: bool) -> None:
        self.steps = steps
        self.silent = silent
        self.lines = text.split("\n")
        self.ended = not self.lines[-1]
        if self.ended:
            self.lines.pop()
        self.printed: list[str] = []
        self.files: dict[str, list[str]] = {step.file: [] for step in steps if step.file}
        self.open: dict[int, int] = {}  # ranges that are open, and up to which line where that is known
        for step in steps:
            for expression in (step.expression, *(a.expression for a in (step.first, step.second) if a)):
                if expression is not None and not expression.affordable(self.lines):
                    raise _Refused

    def result(self) -> Edited:
        for number, line in enumerate(self.lines, 1):
            if not self.cycle(number, line):
                break
        text = "\n".join(self.printed)
        if self.printed and (self.ended or len(self.printed) != len(self.lines)):
            text += "\n"
        return Edited(text, {name: "".join(f"{x}\n" for x in w) for name, w in self.files.items()})

    def cycle(self, number: int, line: str) -> bool:
        """One line through all steps; False when the rest is not read."""
        behind: list[str] = []
        for at, step in enumerate(self.steps):
            if self.chosen(at, step, number, line) == step.negated:
                continue
            name = step.name
            if name == "s":
                line = self.substituted(step, line)
            elif name == "y":
                line = line.translate(dict(zip(map(ord, step.flags), step.text, strict=True)))
            elif name == "p":
                self.printed.append(line)
            elif name == "=":
                self.printed.append(str(number))
            elif name == "i":
                self.printed.append(step.text)
            elif name == "a":
                behind.append(step.text)
            elif name == "w":
                self.files[step.file].append(line)
            elif name in "dc":
                if name == "c":
                    if step.second is not None:
                        raise _Refused
                    self.printed.append(step.text)
                self.printed.extend(behind)
                return True
            else:
                break
        else:
            name = ""
        if not self.silent:
            self.printed.append(line)
        self.printed.extend(behind)
        return name != "q"

    def substituted(self, step: Step, line: str) -> str:
        digits = "".join(letter for letter in step.flags if letter.isdigit())
        wanted = int(digits[:9]) if digits else 1
        everywhere = "g" in step.flags
        seen = 0

        def change(found: re.Match[str]) -> str:
            nonlocal seen
            seen += 1
            if seen == wanted or (everywhere and seen > wanted):
                return _replacement(step.text, found)
            return found[0]

        assert step.expression is not None
        new = step.expression.pattern.sub(change, line)
        if len(new) > max(LONGEST_LINE, len(line)):
            raise _Refused
        if seen >= wanted:
            if "p" in step.flags:
                self.printed.append(new)
            if step.file:
                self.files[step.file].append(new)
        return new

    def chosen(self, at: int, step: Step, number: int, line: str) -> bool:
        if step.first is None:
            return True
        if step.second is None:
            return self.fits(step.first, number, line)
        if at in self.open:
            if step.second.kind == "match":
                ends = self.fits(step.second, number, line)
            else:
                ends = number >= self.open[at]
            if ends:
                del self.open[at]
            return True
        if not self.fits(step.first, number, line):
            return False
        second = step.second
        until = {"line": second.number, "more": number + second.number, "last": len(self.lines)}
        end = until.get(second.kind, number + 1)
        if end > number:
            self.open[at] = end
        return True

    def fits(self, address: Address, number: int, line: str) -> bool:
        kind = address.kind
        if kind == "line":
            return number == address.number
        if kind == "last":
            return number == len(self.lines)
        if kind == "step":
            if not address.step:
                return number == address.number
            return number >= address.number and (number - address.number) % address.step == 0
        assert address.expression is not None
        return address.expression.pattern.search(line) is not None
