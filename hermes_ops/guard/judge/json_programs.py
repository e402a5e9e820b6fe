"""Programs of jq that compute their output from what is known: constants, members, joins, decoders.

A program is read into functions from a value and variables to values. What is not followed raises, and then
nothing is said about the output.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from . import json_values as of
from .invocation import UNKNOWN

LONGEST_PROGRAM = 2_000
_DEEPEST, _MOST_STEPS, _LETTERS_A_STEP = 30, 4_000, 100
Variables = dict[str, Any]
Step = Callable[[Any, Variables], list[Any]]

_TOKEN = re.compile(
    r"\s*(?:#[^\n]*\s*)?(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<format>@[a-z0-9]+)"
    r"|\$(?P<variable>[A-Za-z_]\w*)|\.(?P<member>[A-Za-z_]\w*)|(?P<sign>//|[-+*/|,.()\[\]{}:?])|(?P<quote>\"))"
)


class _Reader:
    """Reads a program once from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0
        self.left = _MOST_STEPS

    def peek(self) -> re.Match[str] | None:
        return _TOKEN.match(self.text, self.at)

    def take(self, sign: str) -> bool:
        found = self.peek()
        if found is None or found["sign"] != sign:
            return False
        self.at = found.end()
        return True

    def need(self, sign: str) -> None:
        if not self.take(sign):
            raise of.Unfollowed

    def word(self, name: str) -> bool:
        found = self.peek()
        if found is None or found["name"] != name:
            return False
        self.at = found.end()
        return True

    def whole(self) -> Step:
        step = self.pipe()
        if self.text[self.at :].strip():
            raise of.Unfollowed
        return step

    def pipe(self) -> Step:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise of.Unfollowed
        first = self.comma()
        if self.word("as"):
            found = self.peek()
            if found is None or not found["variable"]:
                raise of.Unfollowed
            self.at = found.end()
            self.need("|")
            first = self.bound(first, found["variable"], self.pipe())
        elif self.take("|"):
            first = self.chained(first, self.pipe())
        self.depth -= 1
        return first

    def chained(self, first: Step, second: Step) -> Step:
        def step(value: Any, names: Variables) -> list[Any]:
            values = first(value, names)
            self.weigh(values)
            return [last for each in values for last in second(each, names)][: of.MOST_VALUES]

        return step

    def spend(self, steps: int) -> None:
        self.left -= steps + 1
        if self.left < 0:
            raise of.Unfollowed

    def weigh(self, values: list[Any]) -> None:
        """Count what the next step is given: a long text counts for many values."""
        self.spend(sum(1 + len(each) // _LETTERS_A_STEP if type(each) is str else 1 for each in values))

    def bound(self, first: Step, name: str, rest: Step) -> Step:
        """EXPRESSION as $name | REST"""

        def step(value: Any, names: Variables) -> list[Any]:
            values = first(value, names)
            self.weigh(values)
            return [last for each in values for last in rest(value, {**names, name: each})][: of.MOST_VALUES]

        return step

    def at_key(self, step: Step, key: Step) -> Step:
        """EXPRESSION[KEY]"""

        def held(value: Any, names: Variables) -> list[Any]:
            values, places = step(value, names), key(value, names)
            self.spend(len(values) * len(places))
            return [of.held_by(each, place) for each in values for place in places][: of.MOST_VALUES]

        return held

    def applied(self, sign: str, left: Step, right: Step) -> Step:
        """LEFT + RIGHT and its like, for each pair of their values."""

        def step(value: Any, names: Variables) -> list[Any]:
            ones, others = left(value, names), right(value, names)
            self.spend(len(ones) * len(others))
            return [of.computed(sign, one, other) for other in others for one in ones][: of.MOST_VALUES]

        return step

    def comma(self) -> Step:
        steps = [self.alternative()]
        while self.take(","):
            steps.append(self.alternative())
        return (
            steps[0]
            if len(steps) == 1
            else lambda value, names: [last for each in steps for last in each(value, names)][
                : of.MOST_VALUES
            ]
        )

    def alternative(self) -> Step:
        first = self.sum()
        if not self.take("//"):
            return first
        second = self.alternative()

        def step(value: Any, names: Variables) -> list[Any]:
            kept = [each for each in first(value, names) if each is not None and each is not False]
            return kept or second(value, names)

        return step

    def sum(self) -> Step:
        left = self.product()
        while True:
            sign = next((sign for sign in "+-" if self.take(sign)), "")
            if not sign:
                return left
            left = self.applied(sign, left, self.product())

    def product(self) -> Step:
        left = self.postfix()
        while True:
            sign = next((sign for sign in "*/" if self.take(sign)), "")
            if not sign:
                return left
            left = self.applied(sign, left, self.postfix())

    def postfix(self) -> Step:
        step = self.term()
        while (found := self.peek()) is not None:
            if found["member"]:
                self.at = found.end()
                step = self.chained(step, _member(found["member"]))
            elif found["sign"] == "[":
                self.at = found.end()
                step = self.subscript(step)
            elif found["sign"] == "." and self.text[found.end() : found.end() + 1] in ('"', "["):
                self.at = found.end()
                if self.text[self.at] == '"':
                    step = self.at_key(step, self.term())
            elif found["sign"] == "?":
                self.at = found.end()
            else:
                break
        return step

    def subscript(self, step: Step) -> Step:
        if self.take("]"):
            return self.chained(step, lambda value, names: of.items_of(value))
        first = None if self.take(":") else self.pipe()
        if first is not None and self.take("]"):
            return self.at_key(step, first)
        if first is not None:
            self.need(":")
        last = None if self.take("]") else self.pipe()
        if last is not None:
            self.need("]")
        return _sliced(step, first, last)

    def term(self) -> Step:
        found = self.peek()
        if found is None:
            raise of.Unfollowed
        self.at = found.end()
        if found["quote"]:
            return self.string("")
        if found["format"]:
            if self.text[self.at : self.at + 2] == ' "' or self.text[self.at : self.at + 1] == '"':
                self.at = self.text.index('"', self.at) + 1
                return self.string(found["format"])
            return _called(found["format"], [])
        if found["number"]:
            digits = found["number"]
            number = of.small(float(digits) if "." in digits else int(digits))
            return lambda value, names: [number]
        if found["variable"]:
            return _variable(found["variable"])
        if found["member"]:
            return _member(found["member"])
        if found["name"]:
            return self.function(found["name"])
        return self.sign(found["sign"])

    def sign(self, sign: str) -> Step:
        if sign == "(":
            step = self.pipe()
            self.need(")")
            return step
        if sign == "-":
            return self.applied("-", lambda value, names: [0], self.postfix())
        if sign == "[":
            if self.take("]"):
                return lambda value, names: [[]]
            inner = self.pipe()
            self.need("]")
            return lambda value, names: [inner(value, names)]
        if sign == "{":
            return self.made()
        if sign == ".":
            if self.text[self.at : self.at + 1] == '"':
                return self.at_key(_itself, self.term())
            return _itself
        raise of.Unfollowed

    def made(self) -> Step:
        """An object: {name: value, name, "text": value}"""
        pairs: list[tuple[Step, Step]] = []
        while not self.take("}"):
            found = self.peek()
            if found is None:
                raise of.Unfollowed
            if found["name"] or found["variable"]:
                self.at = found.end()
                name = found["name"] or found["variable"]
                key: Step = lambda value, names, name=name: [name]  # noqa: E731
                held = _member(name) if found["name"] else _variable(name)
            else:
                key = held = self.term()
            pairs.append((key, self.alternative() if self.take(":") else held))
            self.take(",")

        def step(value: Any, names: Variables) -> list[Any]:
            return [
                {of.text_of(of.one(key(value, names))): of.one(held(value, names)) for key, held in pairs}
            ]

        return step

    def string(self, form: str) -> Step:
        """A string behind its quotation mark; `form`: how what is put into it is written."""
        pieces: list[Step] = []
        start = self.at
        while True:
            found = _STRING_STOP.search(self.text, self.at)
            if found is None:
                raise of.Unfollowed
            self.at = found.end()
            if found[0] == "\\(" or found[0] == '"':
                literal = _literal(self.text[start : found.start()])
                pieces.append(lambda value, names, literal=literal: [literal])
                if found[0] == '"':
                    break
                inner = self.pipe()
                self.need(")")
                pieces.append(_formed(form or "@text", inner))
                start = self.at

        def step(value: Any, names: Variables) -> list[Any]:
            return [of.short("".join(of.text_of(of.one(piece(value, names))) for piece in pieces))]

        return step

    def function(self, name: str) -> Step:
        if name in _CONSTANTS:
            return lambda value, names: [_CONSTANTS[name]]
        arguments: list[Step] = []
        if self.take("("):
            arguments.append(self.pipe())
            self.need(")")
        if name == "map" and arguments:
            each = self.chained(lambda value, names: of.items_of(value), arguments[0])
            return lambda value, names: [each(value, names)]
        if name in ("first", "last") and arguments:
            place = 0 if name == "first" else -1
            return lambda value, names: [of.end_of(arguments[0](value, names), place)]
        if name == "empty":
            return lambda value, names: []
        return _called(name, arguments)


_STRING_STOP = re.compile(r"\\\(|\\.|\"", re.DOTALL)
_CONSTANTS = {"null": None, "true": True, "false": False}


def _itself(value: Any, names: Variables) -> list[Any]:
    return [value]


def _literal(text: str) -> str:
    try:
        return json.loads(f'"{text}"', strict=False)
    except ValueError:
        raise of.Unfollowed from None


def _variable(name: str) -> Step:
    def step(value: Any, names: Variables) -> list[Any]:
        if name not in names:
            raise of.Unfollowed
        return [names[name]]

    return step


def _member(name: str) -> Step:
    return lambda value, names: [of.held_by(value, name)]


def _sliced(step: Step, first: Step | None, last: Step | None) -> Step:
    def sliced(value: Any, names: Variables) -> list[Any]:
        ends = [None if end is None else of.one(end(value, names)) for end in (first, last)]
        whole = of.one(step(value, names))
        if not isinstance(whole, str | list) or not all(end is None or type(end) is int for end in ends):
            raise of.Unfollowed
        return [whole[ends[0] : ends[1]]]

    return sliced


def _formed(form: str, inner: Step) -> Step:
    function = of.FUNCTIONS.get(form)
    if function is None:
        raise of.Unfollowed
    return lambda value, names: [function(each) for each in inner(value, names)]


def _called(name: str, arguments: list[Step]) -> Step:
    """A function of the value, or of the value and one argument."""
    function = (of.FUNCTIONS_OF_ONE if arguments else of.FUNCTIONS).get(name)
    if function is None:
        raise of.Unfollowed
    if not arguments:
        return lambda value, names: [function(value)]
    return lambda value, names: [function(value, each) for each in arguments[0](value, names)]


def evaluated(program: str, inputs: list[Any], variables: Variables) -> list[Any] | None:
    """All that a program of jq gives for its inputs; None where that is not followed."""
    if len(program) > LONGEST_PROGRAM or UNKNOWN in program:
        return None
    try:
        step = _Reader(program).whole()
        return [last for each in inputs[: of.MOST_VALUES] for last in step(each, variables)]
    except (of.Unfollowed, ValueError, TypeError, LookupError, ArithmeticError, RecursionError):
        return None
