"""A function of texts that is applied to each item of a list: `map { chr } LIST`, `.map(&:chr)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .script_values import fold
from .tokens import NAME, Token
from .value import Value, unknown

if TYPE_CHECKING:
    from .script_walk import Script

# Functions of one letter or number; "hex" and "oct" make a number of text.
_APPLIED = frozenset(("chr", "hex", "oct", "lc", "uc", "ord"))
_LETTER_FUNCTIONS = {"String.fromCharCode": "chr", "String.fromCodePoint": "chr"}
_LONGEST = 12  # tokens of what is applied


def applied(functions: Sequence[str], values: Sequence[Value]) -> Value | None:
    """Functions applied to each of some values, the last of them first; None where one cannot be told."""
    results = []
    for value in values:
        for name in reversed(functions):
            made = _one(name, value)
            if made is None:
                return None
            value = made
        results.append(value)
    return Value(items=results)


def _one(name: str, value: Value) -> Value | None:
    if name in ("hex", "oct"):
        try:
            return Value(int(value.text, 16 if name == "hex" else 8)) if value.is_known else None
        except ValueError:
            return None
    if name == "ord":
        return Value(ord(value.text[0])) if value.is_text and value.is_known and value.text else None
    if name == "chr" and type(value.known) is str and value.text.isdigit():
        value = Value(int(value.text[:7]))
    return fold(name, [value])


def of_perl(script: Script) -> Value | None:
    """`map { chr } LIST`, `map { chr($_) } LIST`, `map chr, LIST`, behind the word; None for another map."""
    start = script.at
    bracket = script.is_next("(")
    script.at += bracket
    braces = script.is_next("{")
    script.at += braces
    functions: list[str] = []
    for _ in range(_LONGEST):
        token = script.peek()
        if token is None or token.text == ("}" if braces else ","):
            break
        if token.kind == NAME and token.text in _APPLIED:
            functions.append(token.text)
        elif token.text not in ("$_", "(", ")"):
            break
        script.at += 1
    if functions and script.is_next("}" if braces else ","):
        script.at += 1
        values = script.listed(")") if bracket else script.arguments()
        # Read once: a map within a map within a map would else take twice the time of the next.
        result = applied(functions, _flat(values))
        return result if result is not None else unknown(*values)
    script.at = start
    return None


def of_method(script: Script, receiver: Value) -> Value | None:
    """`(&:chr)`, `(c => String.fromCharCode(c))`, `{ |c| c.chr }` behind `.map`; None for another call."""
    items = receiver.items
    if items is None:
        return None
    texts = [token.text for token in script.tokens[script.at : script.at + _LONGEST]]
    name, length = _function(texts)
    result = applied([name], items) if name else None
    if result is not None:
        script.at += length
    return result


def _function(texts: list[str]) -> tuple[str, int]:
    """The function that stands here in the brackets of a map, and how many tokens that takes."""
    if texts[:3] in (["(", "&", ":chr"], ["(", "&", ":ord"]) and texts[3:4] == [")"]:
        return texts[2][1:], 4
    if len(texts) > 5 and texts[0] == "{" and texts[1] == texts[3] == "|" and texts[5] == "}":
        name, _, method = texts[4].partition(".")
        return (method, 6) if name == texts[2] and method in _APPLIED else ("", 0)
    if texts[1:3] == ["(", ")"] or len(texts) < 10 or texts[0] != "(":
        return "", 0
    at = 1
    wrapped = texts[1] == "("
    at += wrapped
    variable = texts[at]
    at += 1 + wrapped
    called = "".join(texts[at + 1 : at + 4])
    function = _LETTER_FUNCTIONS.get(called, "")
    if texts[at] == "=>" and function and texts[at + 4 : at + 8] == ["(", variable, ")", ")"]:
        return function, at + 8
    return "", 0


def _flat(values: Sequence[Value]) -> list[Value]:
    return [item for value in values for item in (value.items if value.items is not None else (value,))]


def certain(tokens: Sequence[Token], at: int) -> bool:
    """Does a token belong to such a map: its braces, its arrow or its &?"""
    text = tokens[at].text
    before = tokens[max(0, at - 10) : at]
    if text == "&":
        return tokens[at + 1 : at + 2] != [] and tokens[at + 1].text in (":chr", ":ord")
    if text == "=>":
        following = "".join(token.text for token in tokens[at + 1 : at + 4])
        return following in _LETTER_FUNCTIONS
    if text in ("{", "}"):
        return any(token.text == "map" for token in before)
    return text == "..." and tokens[at - 1].text == "("
