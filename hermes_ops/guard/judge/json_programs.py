"""What jq prints of a program and an input that are known: constants, members, joins, decoders.

A program is read into functions from a value and variables to values. What is not followed raises, and then
nothing is said about the output.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from . import decode, flows
from .invocation import UNKNOWN, Invocation

if TYPE_CHECKING:
    from .walk import Walk

LONGEST_PROGRAM, LONGEST_INPUT = 2_000, 20_000
_MOST_VALUES, _DEEPEST, _MOST_STEPS, _LONGEST_TEXT = 64, 30, 4_000, 8_000
Variables = dict[str, Any]
Step = Callable[[Any, Variables], list[Any]]

_TOKEN = re.compile(
    r"\s*(?:#[^\n]*\s*)?(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<format>@[a-z0-9]+)"
    r"|\$(?P<variable>[A-Za-z_]\w*)|\.(?P<member>[A-Za-z_]\w*)|(?P<sign>//|[-+*/|,.()\[\]{}:?])|(?P<quote>\"))"
)


class _Unfollowed(Exception):
    """A program, or a use of one, that is not followed."""


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
            raise _Unfollowed

    def word(self, name: str) -> bool:
        found = self.peek()
        if found is None or found["name"] != name:
            return False
        self.at = found.end()
        return True

    def whole(self) -> Step:
        step = self.pipe()
        if self.text[self.at :].strip():
            raise _Unfollowed
        return step

    def pipe(self) -> Step:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _Unfollowed
        first = self.comma()
        if self.word("as"):
            found = self.peek()
            if found is None or not found["variable"]:
                raise _Unfollowed
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
            self.spend(len(values))
            return [last for each in values for last in second(each, names)][:_MOST_VALUES]

        return step

    def spend(self, steps: int) -> None:
        self.left -= steps + 1
        if self.left < 0:
            raise _Unfollowed

    def bound(self, first: Step, name: str, rest: Step) -> Step:
        """EXPRESSION as $name | REST"""

        def step(value: Any, names: Variables) -> list[Any]:
            values = first(value, names)
            self.spend(len(values))
            return [last for each in values for last in rest(value, {**names, name: each})][:_MOST_VALUES]

        return step

    def at_key(self, step: Step, key: Step) -> Step:
        """EXPRESSION[KEY]"""

        def held(value: Any, names: Variables) -> list[Any]:
            values, places = step(value, names), key(value, names)
            self.spend(len(values) * len(places))
            return [_held(each, place) for each in values for place in places][:_MOST_VALUES]

        return held

    def applied(self, sign: str, left: Step, right: Step) -> Step:
        """LEFT + RIGHT and its like, for each pair of their values."""

        def step(value: Any, names: Variables) -> list[Any]:
            ones, others = left(value, names), right(value, names)
            self.spend(len(ones) * len(others))
            return [_computed(sign, one, other) for other in others for one in ones][:_MOST_VALUES]

        return step

    def comma(self) -> Step:
        steps = [self.alternative()]
        while self.take(","):
            steps.append(self.alternative())
        return (
            steps[0]
            if len(steps) == 1
            else lambda value, names: [last for each in steps for last in each(value, names)][:_MOST_VALUES]
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
            return self.chained(step, lambda value, names: _values(value))
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
            raise _Unfollowed
        self.at = found.end()
        if found["quote"]:
            return self.string("")
        if found["format"]:
            if self.text[self.at : self.at + 2] == ' "' or self.text[self.at : self.at + 1] == '"':
                self.at = self.text.index('"', self.at) + 1
                return self.string(found["format"])
            return _called(found["format"], [])
        if found["number"]:
            number = float(found["number"]) if "." in found["number"] else int(found["number"])
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
        raise _Unfollowed

    def made(self) -> Step:
        """An object: {name: value, name, "text": value}"""
        pairs: list[tuple[Step, Step]] = []
        while not self.take("}"):
            found = self.peek()
            if found is None:
                raise _Unfollowed
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
            return [{_text(_one(key(value, names))): _one(held(value, names)) for key, held in pairs}]

        return step

    def string(self, form: str) -> Step:
        """A string behind its quotation mark; `form`: how what is put into it is written."""
        pieces: list[Step] = []
        start = self.at
        while True:
            found = _STRING_STOP.search(self.text, self.at)
            if found is None:
                raise _Unfollowed
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
            return ["".join(_text(_one(piece(value, names))) for piece in pieces)]

        return step

    def function(self, name: str) -> Step:
        if name in _CONSTANTS:
            return lambda value, names: [_CONSTANTS[name]]
        arguments: list[Step] = []
        if self.take("("):
            arguments.append(self.pipe())
            self.need(")")
        if name == "map" and arguments:
            each = self.chained(lambda value, names: _values(value), arguments[0])
            return lambda value, names: [each(value, names)]
        if name in ("first", "last") and arguments:
            place = 0 if name == "first" else -1
            return lambda value, names: [_end(arguments[0](value, names), place)]
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
        raise _Unfollowed from None


def _one(values: list[Any]) -> Any:
    if len(values) != 1:
        raise _Unfollowed
    return values[0]


def _end(values: list[Any], place: int) -> Any:
    if not values:
        raise _Unfollowed
    return values[place]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else _encoded(value)


def _encoded(value: Any, indent: int | None = None, ascii_only: bool = False) -> str:
    """A value as JSON; a list may hold itself a hundred times, so that it is written piece by piece."""
    joints = (",", ":") if indent is None else (",", ": ")
    encoder = json.JSONEncoder(ensure_ascii=ascii_only, indent=indent, separators=joints)
    pieces, left = [], LONGEST_INPUT
    for piece in encoder.iterencode(value):
        pieces.append(piece)
        left -= len(piece)
        if left < 0:
            raise _Unfollowed
    return "".join(pieces)


def _values(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())[:_MOST_VALUES]
    if isinstance(value, list):
        return value[:_MOST_VALUES]
    raise _Unfollowed


def _variable(name: str) -> Step:
    def step(value: Any, names: Variables) -> list[Any]:
        if name not in names:
            raise _Unfollowed
        return [names[name]]

    return step


def _member(name: str) -> Step:
    return lambda value, names: [_held(value, name)]


def _held(value: Any, key: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, dict) and isinstance(key, str):
        return value.get(key)
    if isinstance(value, list) and type(key) is int:
        return value[key] if -len(value) <= key < len(value) else None
    raise _Unfollowed


def _sliced(step: Step, first: Step | None, last: Step | None) -> Step:
    def sliced(value: Any, names: Variables) -> list[Any]:
        ends = [None if end is None else _one(end(value, names)) for end in (first, last)]
        whole = _one(step(value, names))
        if not isinstance(whole, str | list) or not all(end is None or type(end) is int for end in ends):
            raise _Unfollowed
        return [whole[ends[0] : ends[1]]]

    return sliced


def _computed(sign: str, left: Any, right: Any) -> Any:
    kinds = type(left), type(right)
    numbers = all(kind in (int, float) for kind in kinds)
    if sign == "+":
        if left is None or right is None:
            return right if left is None else left
        if numbers or (kinds in ((str, str), (list, list)) and len(left) + len(right) <= _LONGEST_TEXT):
            return left + right
        if kinds == (dict, dict):
            return {**left, **right}
    if sign == "-" and numbers:
        return left - right
    if sign == "*" and numbers:
        return left * right
    if sign == "*" and kinds == (str, int) and 0 < right * len(left) <= _LONGEST_TEXT:
        return left * right
    if sign == "/" and kinds == (str, str):
        return left.split(right) if right else list(left)
    if sign == "/" and numbers and right:
        return left // right if kinds == (int, int) and left % right == 0 else left / right
    raise _Unfollowed


def _formed(form: str, inner: Step) -> Step:
    return lambda value, names: [_FUNCTIONS[form](each) for each in inner(value, names)]


def _called(name: str, arguments: list[Step]) -> Step:
    """A function of the value, or of the value and one argument."""
    function = (_FUNCTIONS_OF_ONE if arguments else _FUNCTIONS).get(name)
    if function is None:
        raise _Unfollowed
    if not arguments:
        return lambda value, names: [function(value)]
    return lambda value, names: [function(value, each) for each in arguments[0](value, names)]


def _of(kind: type | tuple[type, ...], change: Callable[..., Any]) -> Callable[..., Any]:
    def function(value: Any, *given: Any) -> Any:
        if not isinstance(value, kind) or any(not isinstance(each, str) for each in given):
            raise _Unfollowed
        result = change(value, *given)
        if result is None:
            raise _Unfollowed
        return result

    return function


def _added(values: list[Any]) -> Any:
    total = None
    for value in values[:_MOST_VALUES]:
        total = _computed("+", total, value)
    return total


def _imploded(values: list[Any]) -> str:
    if not all(type(value) is int and 0 < value < 0x110000 for value in values):
        raise _Unfollowed
    return "".join(map(chr, values))


def _quoted(value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    return " ".join(
        "'" + each.replace("'", "'\\''") + "'" if isinstance(each, str) else _text(each) for each in values
    )


def _parsed(text: str) -> Any:
    try:
        return json.loads(text[:LONGEST_INPUT])
    except (ValueError, RecursionError):
        raise _Unfollowed from None


def _joined(values: list[Any], joint: str) -> str:
    return joint.join("" if value is None else _text(value) for value in values)


_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "@base64d": _of(str, decode.from_base64),
    "@base64": _of(str, lambda text: decode.RECODERS["base64"]([], text).rstrip("\n")),  # type: ignore[union-attr]
    "@base32d": _of(str, lambda text: decode.RECODERS["base32"](["-d"], text)),
    "@text": _text,
    "@json": _encoded,
    "@sh": _quoted,
    "@uri": _of(str, lambda text: quote(text, safe="")),
    "implode": _of(list, _imploded),
    "explode": _of(str, lambda text: list(map(ord, text[:LONGEST_INPUT]))),
    "reverse": _of((str, list), lambda value: value[::-1]),
    "add": _of(list, _added),
    "tostring": _text,
    "tojson": _encoded,
    "fromjson": _of(str, _parsed),
    "tonumber": _of((str, int), int),
    "length": _of((str, list, dict), len),
    "ascii_downcase": _of(str, str.lower),
    "ascii_upcase": _of(str, str.upper),
    "ascii": _of(int, chr),
    "trim": _of(str, str.strip),
    "first": _of(list, lambda values: _end(values, 0)),
    "last": _of(list, lambda values: _end(values, -1)),
    "keys": _of(dict, sorted),
    "keys_unsorted": _of(dict, list),
}
_FUNCTIONS_OF_ONE: dict[str, Callable[[Any, Any], Any]] = {
    "join": _of(list, _joined),
    "split": _of(str, lambda text, joint: text.split(joint) if joint else list(text)),
    "ltrimstr": _of(str, str.removeprefix),
    "rtrimstr": _of(str, str.removesuffix),
}


def evaluated(program: str, inputs: list[Any], variables: Variables) -> list[Any] | None:
    """All that a program of jq gives for its inputs; None where that is not followed."""
    if len(program) > LONGEST_PROGRAM or UNKNOWN in program:
        return None
    try:
        step = _Reader(program).whole()
        return [last for each in inputs[:_MOST_VALUES] for last in step(each, variables)]
    except (_Unfollowed, ValueError, TypeError, OverflowError, RecursionError):
        return None


_FLAGS = frozenset("nrjacsRSMeu")
_LONG_FLAGS = {
    "--null-input": "n", "--raw-output": "r", "--join-output": "j", "--ascii-output": "a",
    "--compact-output": "c", "--slurp": "s", "--raw-input": "R", "--sort-keys": "S", "--exit-status": "e",
    "--monochrome-output": "M", "--unbuffered": "u", "--tab": "", "--no-colors": "M", "--unwrapScalar": "r",
}  # fmt: skip


def _jq(walk: Walk, call: Invocation) -> str | None:
    """jq [OPTIONS] PROGRAM [FILE]..."""
    flags: set[str] = {"r"} if call.name == "yq" else set()
    variables: Variables = {}
    operands: list[str] = []
    words = call.words()
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word[:1] != "-" or word == "-":
            operands.append(word)
        elif word in ("--arg", "--argjson") and at + 1 < len(words):
            held = words[at + 1]
            if UNKNOWN not in held:
                variables[words[at]] = held if word == "--arg" else _json(held)
            at += 2
        elif word == "--indent":
            at += 1
        elif word in _LONG_FLAGS:
            flags.add(_LONG_FLAGS[word])
        elif set(word[1:]) <= _FLAGS:
            flags.update(word[1:])
        else:
            return None
    if call.name == "yq" and operands[:1] in (["e"], ["eval"]):
        del operands[0]
    if not operands or (call.name == "yq" and "n" not in flags):
        return None
    inputs = _inputs(walk, call, operands[1:], flags)
    results = None if inputs is None else evaluated(operands[0], inputs, variables)
    if results is None:
        return None
    raw = not flags.isdisjoint("rj")
    end = "" if "j" in flags else "\n"
    indent = None if "c" in flags else 2
    try:
        lines = [
            each if raw and isinstance(each, str) else _encoded(each, indent, "a" in flags)
            for each in results
        ]
    except (_Unfollowed, RecursionError):
        return None
    text = "".join(line + end for line in lines).replace("\0", decode.ZERO)
    # Half a pair of surrogates is no letter that could be written.
    return decode.bounded(text if text.isascii() else text.encode("utf-8", "replace").decode())


def _json(text: str) -> Any:
    try:
        return json.loads(text[:LONGEST_INPUT])
    except (ValueError, RecursionError):
        return None


def _inputs(walk: Walk, call: Invocation, files: list[str], flags: set[str]) -> list[Any] | None:
    """The values that come in; None where they are not known."""
    if "n" in flags:
        return [None]
    streams = [flows.file_stream(walk, path) for path in files] or [call.stdin]
    if any(each.text is None or UNKNOWN in each.text for each in streams):
        return None
    text = "".join(str(each.text) for each in streams)
    if len(text) > LONGEST_INPUT:
        return None
    if "R" in flags:
        return [text] if "s" in flags else text.splitlines()[:_MOST_VALUES]
    values: list[Any] = []
    decoder, at = json.JSONDecoder(strict=False), 0
    try:
        while len(values) < _MOST_VALUES and (rest := _SPACE.match(text, at)) and rest.end() < len(text):
            value, at = decoder.raw_decode(text, rest.end())
            values.append(value)
    except (ValueError, RecursionError):
        return None
    return [values] if "s" in flags else values


_SPACE = re.compile(r"\s*")

PRINTERS: dict[str, Callable[[Walk, Invocation], str | None]] = dict.fromkeys(
    ("jq", "gojq", "jaq", "yq"), _jq
)
