"""What calculators print of a program that is known: dc, bc, expr. They print letters as well as numbers."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from . import decode, flows, regular
from .invocation import UNKNOWN, Invocation

if TYPE_CHECKING:
    from .walk import Walk

LONGEST = 8_000
# A program may print a thousand letters as one number; longer strings count for many steps.
_MOST_STEPS, _MOST_BITS, _LETTERS_A_STEP = 2_000, 1 << 13, 100


class _Unfollowed(Exception):
    """A program that is not followed to its end."""


def _programs(walk: Walk, call: Invocation, short: str, long: str) -> str | None:
    """The text a calculator is given: by options, files, or the input where there is none of them."""
    texts: list[str | None] = []
    words = call.words()
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word in (f"-{short}", long) and at < len(words):
            texts.append(words[at])
            at += 1
        elif short and word.startswith(f"-{short}") and len(word) > 2:
            texts.append(word[2:])
        elif word.startswith(long + "="):
            texts.append(word.partition("=")[2])
        elif word in ("-f", "--file") and at < len(words):
            texts.append(flows.file_stream(walk, words[at]).text)
            at += 1
        elif word[:1] != "-":
            texts.append(flows.file_stream(walk, word).text)
    if call.stdin.piped and (call.name != "dc" or not texts):
        texts.append(call.stdin.text)
    if not texts or None in texts:
        return None
    text = "\n".join(map(str, texts))
    return text if len(text) <= LONGEST and UNKNOWN not in text else None


class _Full(Exception):
    """More is printed than is read."""


_DC_NUMBER = re.compile(r"_?[0-9A-F]+")
_DC_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.floordiv, "%": operator.mod,
}  # fmt: skip
_Held = int | str


class _Stack:
    """A program of dc while it runs: the stack, the registers, what was printed."""

    def __init__(self) -> None:
        self.held: list[_Held] = []
        self.registers: dict[str, list[_Held]] = {}
        self.printed: list[str] = []
        self.base, self.shown_in = 10, 10
        self.steps, self.left = _MOST_STEPS, decode.LONGEST

    def put(self, text: str) -> None:
        self.printed.append(text)
        self.left -= len(text)
        if self.left < 0:
            raise _Full

    def pop(self) -> _Held:
        if not self.held:
            raise _Unfollowed
        return self.held.pop()

    def number(self) -> int:
        value = self.pop()
        if type(value) is not int:
            raise _Unfollowed
        return value

    def shown(self, value: _Held) -> str:
        if type(value) is str:
            return value
        if self.shown_in == 10:
            return str(value) if abs(int(value)).bit_length() < 4_000 else UNKNOWN
        return f"{value:X}" if self.shown_in == 16 else UNKNOWN

    def run(self, text: str, depth: int = 0) -> None:
        if depth > 8:
            raise _Unfollowed
        at = 0
        while at < len(text):
            self.steps -= 1
            if self.steps < 0:
                raise _Unfollowed
            letter = text[at]
            number = _DC_NUMBER.match(text, at)
            if number is not None:
                self.held.append(self._read(number[0]))
                at = number.end()
            elif letter == "[":
                end = _closing(text, at)
                self.steps -= (end - at) // _LETTERS_A_STEP
                self.held.append(text[at + 1 : end])
                at = end + 1
            elif letter in "slSL":
                self._register(letter, text[at + 1 : at + 2])
                at += 2
            elif letter == "#":
                at = (text + "\n").find("\n", at)
            elif letter == "q":
                return
            else:
                if not letter.isspace():
                    self._command(letter, depth)
                at += 1

    def _read(self, digits: str) -> int:
        value = 0
        if len(digits) > 2_000:
            raise _Unfollowed
        for digit in digits.lstrip("_"):
            value = value * self.base + int(digit, 16)
        return -value if digits[0] == "_" else value

    def _register(self, how: str, name: str) -> None:
        values = self.registers.setdefault(name, [])
        if how == "s":
            self.registers[name] = [*values[:-1], self.pop()]
        elif how == "S":
            values.append(self.pop())
        elif not values:
            raise _Unfollowed
        else:
            self.held.append(values[-1] if how == "l" else values.pop())

    def _command(self, letter: str, depth: int) -> None:
        held = self.held
        if letter in "pn" and held:
            self.put(self.shown(held[-1]) + ("\n" if letter == "p" else ""))
            if letter == "n":
                held.pop()
        elif letter == "P":
            value = self.pop()
            self.put(value if type(value) is str else _bytes(int(value)))
        elif letter == "f":
            for value in reversed(held):
                self.put(self.shown(value) + "\n")
        elif letter == "a":
            value = self.pop()
            held.append(chr(value & 0xFF) if type(value) is int else str(value)[:1])
        elif letter == "d" and held:
            held.append(held[-1])
        elif letter == "r" and len(held) > 1:
            held[-1], held[-2] = held[-2], held[-1]
        elif letter == "c":
            held.clear()
        elif letter == "z":
            held.append(len(held))
        elif letter == "i":
            self.base = self.number()
            if not 2 <= self.base <= 16:
                raise _Unfollowed
        elif letter == "o":
            self.shown_in = self.number()
        elif letter == "x":
            value = self.pop()
            if type(value) is str:
                self.run(value, depth + 1)
            else:
                held.append(value)
        elif letter == "^":
            self._power()
        elif letter in _DC_BINARY:
            right, left = self.number(), self.number()
            if letter in "/%" and right == 0:
                raise _Unfollowed
            held.append(_small(_DC_BINARY[letter](left, right)))
        else:
            raise _Unfollowed

    def _power(self) -> None:
        right, left = self.number(), self.number()
        if not 0 <= right <= _MOST_BITS or left.bit_length() * right > _MOST_BITS:
            raise _Unfollowed
        self.held.append(left**right)


def _small(value: int) -> int:
    if value.bit_length() > _MOST_BITS:
        raise _Unfollowed
    return value


def _closing(text: str, at: int) -> int:
    """The bracket that closes the string which begins here."""
    depth = 0
    for found in re.compile(r"[\[\]]").finditer(text, at):
        depth += 1 if found[0] == "[" else -1
        if not depth:
            return found.start()
    return len(text)


def _bytes(value: int) -> str:
    """A number as letters, the way P prints it."""
    value = abs(value)
    data = value.to_bytes((value.bit_length() + 7) // 8 or 1, "big")
    return data.decode("latin-1").replace("\0", decode.ZERO)


def _dc(walk: Walk, call: Invocation) -> str | None:
    text = _programs(walk, call, "e", "--expression")
    if text is None:
        return None
    stack = _Stack()
    try:
        stack.run(text)
    except _Full:
        pass  # what was printed until then is read, and that it goes on is said
    except _Unfollowed:
        return None
    return decode.bounded("".join(stack.printed))


_BC_TOKEN = re.compile(
    r"\"(?P<text>[^\"]*)\"|(?P<remark>/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z))|(?P<word>[a-z]\w*)"
    r"|(?P<end>[;\n]+)|(?P<other>[^\"a-z;\n/]+|/)"
)
_BC_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "q": '"', "\\": "\\"}


def _bc(walk: Walk, call: Invocation) -> str | None:
    """bc: the strings that it prints; its numbers are not computed."""
    text = _programs(walk, call, "", "--expression")
    if text is None or text.count('"') < 2:
        return None
    printed: list[str] = []
    kind = ""  # of the statement that is being read
    for found in _BC_TOKEN.finditer(text):
        other = (found["other"] or "").strip()
        if "{" in other or "}" in other:
            return None
        if found["end"]:
            printed.append("\n" if kind == "number" else "")
            kind = ""
        elif found["text"] is not None and kind in ("", "print"):
            printed.append(re.sub(r"\\(.)", _bc_escape, found["text"]) if kind else found["text"])
            kind = kind or "text"
        elif not kind and found["word"] in ("quit", "halt"):
            break
        elif not kind and found["word"]:
            kind = "print" if found["word"] == "print" else "name"
        elif kind == "name" and not other.startswith("="):
            return None
        elif kind == "name":
            kind = "silent"
        elif not kind and other:
            kind = "number"
            printed.append(UNKNOWN)
        elif kind == "print" and other.strip(", "):
            printed.append(UNKNOWN)
    return "".join(printed)


def _bc_escape(found: re.Match[str]) -> str:
    return _BC_ESCAPES.get(found[1], found[0])


def _expr(walk: Walk, call: Invocation) -> str | None:
    """expr substr TEXT PLACE LENGTH, expr TEXT : PATTERN, expr match TEXT PATTERN, expr TEXT"""
    words = call.words()
    if words[:1] == ["--"]:
        words = words[1:]
    if any(UNKNOWN in word or len(word) > LONGEST for word in words):
        return None
    if words[:1] == ["substr"] and len(words) == 4 and all(re.fullmatch(r"\d{1,5}", x) for x in words[2:]):
        place, length = int(words[2]), int(words[3])
        return words[1][place - 1 : place - 1 + length] + "\n" if place else "\n"
    if len(words) == 2 and words[0] == "+":
        words = words[1:]
    if len(words) == 1:
        return words[0] + "\n"
    if len(words) == 3 and (words[0] == "match" or words[1] == ":"):
        text, pattern = (words[1], words[2]) if words[0] == "match" else (words[0], words[2])
        return _matched(text, pattern)
    return None


def _matched(text: str, pattern: str) -> str | None:
    expression = regular.compiled(pattern, "basic", False)
    if expression is None or not expression.affordable([text]) or "\\(" not in pattern:
        return None
    found = expression.pattern.match(text)
    return (found[1] or "" if found else "") + "\n"


PRINTERS: dict[str, Callable[[Walk, Invocation], str | None]] = {"dc": _dc, "bc": _bc, "expr": _expr}
