"""The arithmetic of the shell on known values: what `$(( ))`, `(( ))`, let, slices and subscripts come to.

A name stands for its value, which is arithmetic again; a subscript of an array in such a value is expanded,
and a command substitution there runs.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .invocation import UNKNOWN, Arg

if TYPE_CHECKING:
    from .walk import Walk

LONGEST = 400
_DEEPEST = 5
_LARGEST = 1 << 62
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+#\w+|0[xX][0-9A-Fa-f]+|\d+)|(?P<name>[A-Za-z_]\w*)|(?P<parameter>\$\{?(?:\w+|#)\}?)"
    r"|(?P<sign>\*\*|<<=|>>=|\+\+|--|[-+*/%&|^]=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%()<>=!~&|^?:,\[\]\"]))"
)
_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
_SUBSCRIPT = re.compile(r"[A-Za-z_]\w*\[[^]]*(?:\$\(|`)")


class _Unknown(Exception):
    """A value that is not known, or text that is not followed."""


def evaluate(walk: Walk, text: str, depth: int = 0) -> int | None:
    """The number that an expression comes to; None where that is not known. Assignments in it are made."""
    if len(text) > LONGEST or depth > _DEEPEST:
        return None
    if depth:
        subscripts(walk, text)
    try:
        return _Expression(walk, text, depth).whole()
    except _Unknown:
        return None


def subscripts(walk: Walk, text: str) -> None:
    """A subscript that came by a value, as in `a[$(command)]`: it is expanded, so the command runs."""
    if "[" in text and ("$(" in text or "`" in text) and _SUBSCRIPT.search(text):
        with walk.subshell():
            walk.shell(Arg(f': "{text}"'), same=True)


def names_in(walk: Walk, text: str) -> None:
    """Look at what the names of an expression hold, without computing it."""
    for name in set(re.findall(r"[A-Za-z_]\w*", text[:LONGEST])):
        value = walk.parameter(name)
        if value is not None and "[" in value.text:
            subscripts(walk, value.text)


class _Expression:
    """An expression, read and computed in one go."""

    def __init__(self, walk: Walk, text: str, depth: int) -> None:
        self.walk = walk
        self.depth = depth
        self.tokens: list[tuple[str, str]] = []
        self.at = 0
        place = 0
        text = text.rstrip()
        while place < len(text):
            found = _TOKEN.match(text, place)
            if found is None:
                # The names that stand here are looked at all the same: what they hold may run commands.
                names_in(walk, text)
                raise _Unknown
            place = found.end()
            kind = found.lastgroup or ""
            if found[kind] != '"':
                self.tokens.append((kind, found[kind]))

    def whole(self) -> int:
        value = 0
        if self.tokens:
            value = self.choice()
            while self.take(","):
                value = self.choice()
            if self.at < len(self.tokens):
                raise _Unknown
        return value

    def take(self, *signs: str) -> str:
        if self.at < len(self.tokens):
            kind, text = self.tokens[self.at]
            if kind == "sign" and text in signs:
                self.at += 1
                return text
        return ""

    def need(self, sign: str) -> None:
        if not self.take(sign):
            raise _Unknown

    def choice(self) -> int:
        condition = self.binary(0)
        if not self.take("?"):
            return condition
        first = self.choice()
        self.need(":")
        second = self.choice()
        return first if condition else second

    def binary(self, level: int) -> int:
        if level == len(_LEVELS):
            return self.power()
        left = self.binary(level + 1)
        while sign := self.take(*_LEVELS[level]):
            left = _applied(sign, left, self.binary(level + 1))
        return left

    def power(self) -> int:
        base = self.unary()
        if not self.take("**"):
            return base
        exponent = self.power()
        if not 0 <= exponent < 64 or abs(base) > 1 << 16:
            raise _Unknown
        return base**exponent

    def unary(self) -> int:
        sign = self.take("-", "+", "!", "~", "++", "--")
        if not sign:
            return self.primary()
        if sign in ("++", "--"):
            if self.at < len(self.tokens) and self.tokens[self.at][0] == "name":
                name = self.tokens[self.at][1]
                self.at += 1
                return self.assign(name, self.value(name) + (1 if sign == "++" else -1))
            return self.unary()
        value = self.unary()
        return {"-": -value, "+": value, "!": int(not value), "~": ~value}[sign]

    def primary(self) -> int:
        if self.take("("):
            value = self.choice()
            while self.take(","):
                value = self.choice()
            self.need(")")
            return value
        if self.at >= len(self.tokens):
            raise _Unknown
        kind, text = self.tokens[self.at]
        self.at += 1
        if kind == "number":
            return _number(text)
        if kind == "parameter":
            return self.value(text.strip("${}"))
        if kind == "name":
            return self.name(text)
        raise _Unknown

    def name(self, name: str) -> int:
        if self.take("["):
            key = str(self.choice())
            self.need("]")
            if self.take("=", "+=", "-=", "++", "--"):
                raise _Unknown
            value = self.walk.element(name, key)
            return self.number(value)
        sign = self.take("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=", "++", "--")
        if not sign:
            return self.value(name)
        if sign in ("++", "--"):
            before = self.value(name)
            self.assign(name, before + (1 if sign == "++" else -1))
            return before
        try:
            right = self.choice()
            return self.assign(name, right if sign == "=" else _applied(sign[:-1], self.value(name), right))
        except _Unknown:
            self.walk.state.assign(name, Arg(UNKNOWN))
            raise

    def assign(self, name: str, value: int) -> int:
        self.walk.state.assign(name, Arg(str(value)))
        return value

    def value(self, name: str) -> int:
        value = self.walk.parameter(name)
        if value is None:
            raise _Unknown
        return self.number(value)

    def number(self, value: Arg | None) -> int:
        if value is None or UNKNOWN in value.text:
            raise _Unknown
        if not value.text.strip():
            return 0
        number = evaluate(self.walk, value.text, self.depth + 1)
        if number is None:
            raise _Unknown
        return number


def _applied(sign: str, left: int, right: int) -> int:
    if sign in ("/", "%"):
        if not right:
            raise _Unknown
        quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        return quotient if sign == "/" else left - quotient * right
    if sign in ("<<", ">>"):
        if not 0 <= right < 63:
            raise _Unknown
        result = left << right if sign == "<<" else left >> right
    else:
        result = int(
            {
                "+": left + right,
                "-": left - right,
                "*": left * right,
                "|": left | right,
                "^": left ^ right,
                "&": left & right,
                "==": left == right,
                "!=": left != right,
                "<": left < right,
                ">": left > right,
                "<=": left <= right,
                ">=": left >= right,
                "&&": bool(left and right),
                "||": bool(left or right),
            }[sign]
        )
    if abs(result) > _LARGEST:
        raise _Unknown
    return result


def _number(text: str) -> int:
    try:
        if "#" in text:
            base, _, digits = text.partition("#")
            return int(digits, int(base)) if 2 <= int(base) <= 36 else _refuse()
        if text[:2].lower() == "0x":
            return int(text, 16)
        return int(text, 8) if text[0] == "0" and len(text) > 1 else int(text)
    except ValueError:
        return _refuse()


def _refuse() -> int:
    raise _Unknown
