"""Reads expressions of script languages from their tokens: operands, operators, brackets."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..judge.invocation import OPAQUE, SECRET, UNKNOWN
from .acts import Acts, Exhausted
from .given import THE_SHELL
from .tokens import END, NAME, NUMBER, OPERATOR, SHELL, STRING, WORDS, Token, tokens, tokens_and_rest
from .value import Value, add, either, joined, taint_of, unknown

# How deep code runs code, and how many expressions are read of one text.
DEPTH, STEPS = 4, 12_000
# What an operation costs on a value that may be one of several.
STEPS_OF_CHOICES = 30

ASSIGNMENT = frozenset(["=", ":=", "<-", "||=", "??="])
_CONCATENATION = {"node": "+", "perl": ".", "php": ".", "ruby": "+", "lua": "..", "r": "", "applescript": "&"}


class Expressions(ABC):
    """Expressions over a list of tokens; names and calls are the business of its heirs."""

    def __init__(self, language: str, code: str, acts: Acts, depth: int = 0) -> None:
        self.language, self.acts, self.depth = language, acts, depth
        self.tokens, self.rest = tokens_and_rest(language, code)
        self.at = 0
        self.steps = STEPS
        self.names: dict[str, Value] = {}
        self.arguments_of: dict[str, Value] = {}  # the arguments under the names that were asked for
        self.taken = 0  # arguments that `shift` took
        self.stops_at_redirection = False  # in a print of awk, where | and > end an expression

        self.connected = self.shell_started = False
        self.plus = _CONCATENATION.get(language, "")

    def peek(self, ahead: int = 0) -> Token | None:
        place = self.at + ahead
        return self.tokens[place] if place < len(self.tokens) else None

    def is_next(self, *texts: str) -> bool:
        token = self.peek()
        return token is not None and token.kind in (OPERATOR, END) and token.text in texts

    def skip_lines(self) -> None:
        while (token := self.peek()) is not None and token.kind == END and token.text == "\n":
            self.at += 1

    def statements(self, until: str) -> list[Value]:
        """The values of the statements up to a closing bracket, which is taken along."""
        values: list[Value] = []
        while (token := self.peek()) is not None:
            if token.kind == OPERATOR and token.text == until:
                self.at += 1
                break
            if token.kind == END or (token.text in (",", "]", ")", "}") and token.kind == OPERATOR):
                if until and token.text in ("]", ")", "}") and token.text != until:
                    break
                self.at += 1
                continue
            before = self.at
            values.append(self.expression())
            if self.at == before:
                self.at += 1
        return values

    def expression(self) -> Value:
        self.steps -= 1
        if self.steps < 0:
            raise Exhausted
        start = self.at
        value = self.operand()
        while (token := self.peek()) is not None:
            text = token.text
            if token.kind == END:
                following = self._continued()
                if not following:
                    break
                continue
            if value.choices:
                self.steps -= STEPS_OF_CHOICES
            if token.kind != OPERATOR:
                if (
                    self.language == "awk"
                    and token.kind in (STRING, NAME, NUMBER)
                    and text not in ("in", "getline")
                ):
                    value = add(value, self.operand())
                    continue
                if token.kind == NAME and text in ("or", "and", "x", "if", "unless", "while", "until"):
                    self.at += 1
                    if text in ("or", "and"):
                        other = self.expression()
                        value = either([value, other]) if text == "or" else unknown(value, other)
                    continue
                break
            if text in (",", ")", "]", "}", ":", "{", ";"):
                break
            if self.stops_at_redirection and text in ("|", ">", ">>"):
                break
            self.at += 1
            if text in ASSIGNMENT:
                self.skip_lines()
                right = self.expression()
                self.bind(start, right)
                value = right
            elif text in ("+=", ".="):
                name = self.name_at(start)
                right = self.expression()
                value = add(self.names.get(name, Value()), right)
                self.names[name] = value
                self.steps -= 3 * STEPS_OF_CHOICES if value.choices else 0
            elif text == self.plus:
                self.skip_lines()
                value = add(value, self.operand())
            elif text == "?":
                self.skip_lines()
                first = self.expression()
                self.skip_lines()
                if self.is_next(":"):
                    self.at += 1
                    value = either([first, self.expression()])
            elif text in ("||", "??"):
                self.skip_lines()
                other = self.expression()
                value = either([value, other]) if value.known is not None else other
            elif text == "|" and self.language == "awk":
                self.awk_pipe(value)
            elif text in ("=>", "&&"):
                self.skip_lines()
                value = self.expression()
            elif text == "<<":
                right = self.operand()
                if value.items is not None:
                    value.items.append(right)
            else:
                self.skip_lines()
                value = unknown(value, self.operand())
        return value

    def _continued(self) -> bool:
        """Does the next line go on with a dot or an operator: `x\\n  .then(...)`?"""
        ahead = 0
        while (token := self.peek(ahead)) is not None and token.kind == END and token.text == "\n":
            ahead += 1
        if token is None or token.kind != OPERATOR or not ahead:
            return False
        if token.text in (".", "->", "?.", self.plus):
            self.at += ahead
            return token.text == self.plus
        return False

    def operand(self) -> Value:
        token = self.peek()
        if token is None:
            return Value()
        self.at += 1
        kind, text = token.kind, token.text
        if kind == STRING:
            return self.postfix(self.text(token))
        if kind == SHELL:
            command = self.text(token)
            self.run(command)
            return self.postfix(Value(name="output", taint=command.taint & {SECRET}))
        if kind == WORDS:
            items = [] if text == "pattern" else [Value(word) for word in text.split()]
            return self.postfix(Value(items=items) if text != "pattern" else Value(name="pattern"))
        if kind == NUMBER:
            return Value(self._number(text))
        if kind == NAME:
            return self.named(token)
        if kind == END:
            self.at -= 1
            return Value()
        return self._operator(text)

    @staticmethod
    def _number(text: str) -> object:
        try:
            if "." in text:
                return float(text)
            digits = text.lower()
            if len(digits) > 1 and digits[0] == "0" and digits[1] not in "xob":
                return int(digits, 8)
            return int(digits, 0)
        except ValueError:
            return 0

    def _operator(self, text: str) -> Value:
        if text == "(":
            values = self.listed(")")
            return self.postfix(values[0] if len(values) == 1 else Value(items=values))
        if text == "[":
            values = self.listed("]")
            return self.postfix(Value(items=values))
        if text == "{":
            values = self.statements("}")
            taint, source = taint_of(values)
            return self.postfix(
                Value(name="block", items=None, of=Value(items=values), taint=taint, source=source)
            )
        if text == "<" and self.language == "perl":
            pieces = []
            while (token := self.peek()) is not None and not self.is_next(">") and token.kind != END:
                pieces.append(token.text)
                self.at += 1
            self.at += 1
            handle = "".join(pieces)
            if handle in self.names or handle in ("STDIN", ""):
                return self.names.get(handle) or self.acts.given.input()
            return Value(handle, glob=True)
        if text == "|" and self.language == "awk":
            self.awk_pipe(Value())
            return Value()
        if text == "-":
            value = self.operand()
            return Value(-value.known) if type(value.known) in (int, float) else value  # type: ignore[operator]
        if text in (")", "]", "}", ",", ":"):
            self.at -= 1
            return Value()
        return self.operand()

    def listed(self, closing: str) -> list[Value]:
        """Values up to a closing bracket, which is taken along."""
        outer, self.stops_at_redirection = self.stops_at_redirection, False
        try:
            return self._listed(closing)
        finally:
            self.stops_at_redirection = outer

    def _listed(self, closing: str) -> list[Value]:
        values: list[Value] = []
        while (token := self.peek()) is not None:
            if token.kind == OPERATOR and token.text == closing:
                self.at += 1
                break
            if token.kind == END or (token.kind == OPERATOR and token.text in (",", ":")):
                self.at += 1
                continue
            if token.kind == OPERATOR and token.text in (")", "]", "}"):
                break
            before = self.at
            value = self.expression()
            if self.at == before:
                self.at += 1
            values.append(value)
        return values

    def text(self, token: Token) -> Value:
        """The value of a string with what is put into it."""
        if token.parts is None:
            if token.text == UNKNOWN:
                return Value(UNKNOWN, taint=frozenset([OPAQUE]), source=THE_SHELL)
            return Value(token.text)
        pieces: list[Value] = []
        for part in token.parts:
            if isinstance(part, str):
                pieces.append(Value(part))
            else:
                value = self.inner(part[0])
                pieces.append(joined(value.items, " ") if value.items is not None else value)
        return joined(pieces)

    def inner(self, code: str) -> Value:
        """An expression inside a string."""
        if len(code) > 2_000 or self.depth >= DEPTH:
            return Value()
        if self.language in ("perl", "php", "powershell"):
            code = "$" + code.lstrip("$")
        kept = self.tokens, self.at
        self.tokens, self.at = tokens(self.language, code), 0
        try:
            self.depth += 1
            return self.expression()
        finally:
            self.depth -= 1
            self.tokens, self.at = kept

    def _until(self, closing: str) -> list[str]:
        pieces = []
        while (token := self.peek()) is not None:
            self.at += 1
            if token.kind == OPERATOR and token.text == closing:
                break
            pieces.append(token.text)
        return pieces

    def arguments(self) -> list[Value]:
        """Arguments without brackets, up to the end of the statement."""
        values: list[Value] = []
        while (token := self.peek()) is not None and token.kind != END:
            if token.kind == OPERATOR and token.text in (")", "]", "}"):
                break
            if token.kind == NAME and token.text in (
                "if",
                "unless",
                "while",
                "until",
                "or",
                "and",
                "for",
                "foreach",
                "do",
            ):
                break
            if token.kind == OPERATOR and token.text in (",", "=>", ":"):
                self.at += 1
                self.skip_lines()
                continue
            if self.stops_at_redirection and token.kind == OPERATOR and token.text in ("|", ">", ">>"):
                break
            before = self.at
            values.append(self.expression())
            if self.at == before:
                self.at += 1
        return [item for value in values for item in (value.items if self._is_list(value) else [value])]

    def _is_list(self, value: Value) -> bool:
        return value.items is not None and self.language == "perl"

    @abstractmethod
    def named(self, token: Token) -> Value:
        """What a name stands for, with all that follows it."""

    @abstractmethod
    def bind(self, start: int, value: Value) -> None:
        """Bind what stands on the left of an assignment that begins at a token."""

    @abstractmethod
    def postfix(self, value: Value, token: Token | None = None) -> Value:
        """What follows a value: members, calls, subscripts."""

    @abstractmethod
    def run(self, command: Value, stdin: Value | None = None) -> None:
        """Shell text is run."""

    @abstractmethod
    def awk_pipe(self, value: Value) -> None:
        """`"cmd" | getline` of awk."""

    @abstractmethod
    def name_at(self, place: int) -> str:
        """The name that an expression at a token begins with."""
