"""What jq prints, where its program and its input are known."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import decode, flows
from . import json_values as of
from .invocation import UNKNOWN, Invocation
from .json_programs import Variables, evaluated

if TYPE_CHECKING:
    from .walk import Walk

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
            each if raw and isinstance(each, str) else of.encoded(each, indent, "a" in flags)
            for each in results
        ]
    except (of.Unfollowed, ValueError, RecursionError):
        return None
    text = "".join(line + end for line in lines).replace("\0", decode.ZERO)
    # Half a pair of surrogates is no letter that could be written.
    return decode.bounded(text if text.isascii() else text.encode("utf-8", "replace").decode())


def _json(text: str) -> Any:
    try:
        return json.loads(text[: of.LONGEST_INPUT])
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
    if len(text) > of.LONGEST_INPUT:
        return None
    if "R" in flags:
        return [text] if "s" in flags else text.splitlines()[: of.MOST_VALUES]
    values: list[Any] = []
    decoder, at = json.JSONDecoder(strict=False), 0
    try:
        while len(values) < of.MOST_VALUES and (rest := _SPACE.match(text, at)) and rest.end() < len(text):
            value, at = decoder.raw_decode(text, rest.end())
            values.append(value)
    except (ValueError, RecursionError):
        return None
    return [values] if "s" in flags else values


_SPACE = re.compile(r"\s*")

PRINTERS: dict[str, Callable[[Walk, Invocation], str | None]] = dict.fromkeys(
    ("jq", "gojq", "jaq", "yq"), _jq
)
