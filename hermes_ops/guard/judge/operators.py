"""The operators of parameter expansion on known values: `${x:1:2}`, `${x#pattern}`, `${x/a/b}`, `${x@Q}`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..shell.tree import Param, Text, Word
from . import arithmetic, decode, expand, patterns
from .invocation import UNKNOWN, Arg

if TYPE_CHECKING:
    from .walk import Walk

_GLOB_LETTER = re.compile(r"[*?\[\]]+")
_PLAIN = re.compile(r"[\w@%+=:,./-]+")
_NUMBER = re.compile(r"\s*-?\d{1,18}\s*")


def operate(walk: Walk, part: Param, value: Arg) -> Arg:
    """Apply a text operator to a value; what cannot be computed is unknown, and keeps its taint."""
    op = part.op
    text = value.text
    result: str | None = None
    if op == ":":
        result = _slice(walk, expand.one(walk, part.argument).text, text)
    elif op in ("/", "//"):
        pattern, new = _halves(walk, part.argument, part.quoted)
        if UNKNOWN not in text and UNKNOWN not in pattern and UNKNOWN not in new:
            result = patterns.replaced(text, pattern, new, op == "//")
    elif op[:1] in ("#", "%"):
        pattern = expand.one(walk, part.argument).text
        if UNKNOWN not in pattern and UNKNOWN not in text:
            cut = patterns.without_prefix if op[0] == "#" else patterns.without_suffix
            result = cut(text, pattern, len(op) == 2)
        elif op == "%%" and UNKNOWN not in pattern:
            # What stays of a known beginning: "${PWD%%[!/]*}" is "/".
            result = patterns.without_suffix(text, pattern, True) or None
            result = result if result and UNKNOWN not in result and result.endswith("/") else None
    elif op[:1] in ("^", ","):
        expand.one(walk, part.argument)
        change = str.upper if op[0] == "^" else str.lower
        result = change(text) if len(op) == 2 else change(text[:1]) + text[1:]
    elif op[:1] == "@":
        result = _transformed(walk, op[1:] or expand.one(walk, part.argument).text, value)
    glob = value.glob and result is not None and result in (text, text.rstrip("/"))
    if value.glob and result is not None and not glob:
        # A part of the name of one element.
        result = _GLOB_LETTER.sub(UNKNOWN, result)
    return Arg(UNKNOWN if result is None else result, glob, value.taint, value.source)


def _transformed(walk: Walk, how: str, value: Arg) -> str | None:
    """`${x@U}` and its like; of `${x@P}` the commands in the value run."""
    text = value.text
    if how == "P":
        if "$" not in text and "`" not in text:
            return None if "\\" in text else text
        with walk.subshell():
            quoted = text.replace('"', '\\"')
            output = walk.shell(Arg(f'printf %s "{quoted}"', False, value.taint, value.source), same=True)
        return output.text
    if how == "E":
        return decode.escapes(text)
    if how == "Q":
        return text if _PLAIN.fullmatch(text) else "'" + text.replace("'", "'\\''") + "'"
    changed = {"U": text.upper(), "L": text.lower(), "u": text[:1].upper() + text[1:]}
    return changed.get(how)


def bounds(walk: Walk, wanted: str) -> tuple[int, int | None] | None:
    """Start and length of a slice `2:3`, which are arithmetic; None where they are not known."""
    first, colon, rest = wanted.partition(":")
    if "?" in first:
        return None
    start = int(first) if _NUMBER.fullmatch(first) else arithmetic.evaluate(walk, first)
    if start is None or not colon:
        return None if start is None else (start, None)
    length = int(rest) if _NUMBER.fullmatch(rest) else arithmetic.evaluate(walk, rest)
    return None if length is None else (start, length)


def _slice(walk: Walk, wanted: str, text: str) -> str | None:
    found = bounds(walk, wanted)
    if found is None:
        return None
    start, length = found
    end = None if length is None else (start + length if length >= 0 else length)
    unknown = text.find(UNKNOWN)
    # A slice that ends before the first unknown piece is known: "${PWD:0:1}" is "/".
    if unknown >= 0 and (start < 0 or end is None or end < 0 or end > unknown):
        return None
    return text[start:end]


def _halves(walk: Walk, word: Word | None, quoted: bool) -> tuple[str, str]:
    """Pattern and replacement of `${x/pattern/text}`."""
    if word is None:
        return "", ""
    before: list = []
    after: list = []
    side = before
    for part in word.parts:
        if side is before and type(part) is Text and (quoted or not part.quoted) and "/" in part.value:
            start = 1 if not before and part.value[:1] == "/" else 0
            cut = part.value.find("/", start)
            if cut >= 0:
                before.append(Text(part.value[:cut]))
                side = after
                if part.value[cut + 1 :]:
                    after.append(Text(part.value[cut + 1 :]))
                continue
        side.append(part)
    return expand.one(walk, Word(tuple(before))).text, expand.one(walk, Word(tuple(after))).text
