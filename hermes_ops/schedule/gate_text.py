"""What of a gate's text is compared, and what changed in it: in time that does not depend on luck.

Patterns of people and differences may take longer than anybody waits, so both run in a process with a limit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from .._common.command_line import UsageError
from ..core.bounded import evaluate
from ..errors import OpsError

LONGEST = 10.0  # seconds for the patterns, and for the difference
_DIGITS = 300  # characters of a number that is rounded: more than fit a float stand for themselves

_LEFT = """
import json, re, sys
patterns, lines = json.load(sys.stdin)
patterns = [re.compile(one) for one in patterns]
left = [i for i, line in enumerate(lines) if not any(one.search(line) for one in patterns)]
json.dump(left, sys.stdout)
"""
_CHANGED = """
import json, sys
from difflib import unified_diff
old, new = json.load(sys.stdin)
json.dump(list(unified_diff(old, new, lineterm="", n=1))[2:], sys.stdout)
"""  # the first two lines name files, which says nothing here


@dataclass(frozen=True)
class Options:
    """How texts are compared, and how much of one is shown.

    skip     lines that any of these regular expressions match are not compared
    sort     the order of lines does not count
    digits   numbers count as equal when they are after rounding to so many digits (-1: to tens)
    as_diff  show what changed instead of the new text
    limit    at most so many characters are printed
    """

    skip: tuple[str, ...] = ()
    sort: bool = False
    digits: int | None = None
    as_diff: bool = False
    limit: int = 8000


def patterns(written: Sequence[str]) -> tuple[str, ...]:
    """The regular expressions of --skip-lines. UsageError for one that is none."""
    for text in written:
        try:
            re.compile(text)
        except (re.error, RecursionError, OverflowError) as error:
            raise UsageError(f"--skip-lines {text!r}: no regular expression: {error}") from None
    return tuple(written)


def normalised(text: str, options: Options) -> str:
    """What of a text is compared: without trailing space and skipped lines, sorted and rounded as asked.

    OpsError when the patterns take over LONGEST on it.
    """
    lines = [line.rstrip() for line in text.splitlines()]
    if options.skip:
        lines = _left(lines, options.skip)
    if options.digits is not None:
        lines = [_rounded(line, options.digits) for line in lines]
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(sorted(lines) if options.sort else lines)


def difference(old: list[str], new: list[str]) -> list[str]:
    """What changed, as a unified difference; all of `new` when that takes over LONGEST."""
    try:
        return evaluate(_CHANGED, [old, new], LONGEST)
    except TimeoutError:
        return [f"(the difference took over {LONGEST:g} s to find; the new text:)", *new]


def _left(lines: list[str], skip: Sequence[str]) -> list[str]:
    shown = ", ".join(skip)[:200]
    try:
        return [lines[i] for i in evaluate(_LEFT, [list(skip), lines], LONGEST)]
    except TimeoutError:
        why = f"took over {LONGEST:g} s on this text; simplify them"
    except OpsError as error:
        why = f"cannot be matched: {error}"
    raise OpsError(f"the patterns of --skip-lines ({shown}) {why}")


def _rounded(line: str, digits: int) -> str:
    def shown(number: str) -> str:
        value = round(float(number), digits) if len(number) <= _DIGITS else math.inf
        if not math.isfinite(value):
            return number
        return f"{value:.{max(digits, 0)}f}" if value else f"{0:.{max(digits, 0)}f}"

    def whole(word: re.Match[str]) -> str:
        """A number with what stands behind it, as "12kB"; a word with further digits is none."""
        found = re.fullmatch(r"(-?\d+(?:\.\d+)?)(\D*)", word[0])
        return shown(found[1]) + found[2] if found else word[0]

    if digits >= 0:
        return re.sub(r"(?<![\w.])-?\d+\.\d+(?!\.?\d)", lambda found: shown(found[0]), line)
    return re.sub(r"[\w.:/-]+", whole, line)
