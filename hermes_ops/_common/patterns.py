"""Regular expressions: compiled on first use; and those of the user, refused when they could take forever."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator


class Lazy:
    """A regular expression compiled on first use, so that importing these modules costs next to nothing."""

    def __init__(self, pattern: str | bytes, flags: int = 0):
        self._pattern, self._flags = pattern, flags

    def __getattr__(self, name: str):
        compiled = re.compile(self._pattern, self._flags)
        for method in ("match", "fullmatch", "search", "finditer", "sub"):
            setattr(self, method, getattr(compiled, method))  # from now on found without __getattr__
        return getattr(compiled, name)


PLACEHOLDER = Lazy(r"<redacted:[a-z0-9][a-z0-9-]*:[1-9][0-9]*>")


class RedactionError(Exception):
    """A custom pattern cannot be used; the message names it and says why."""


class CustomPattern:
    """A pattern from the config, refused when it is no pattern or may take exponential time."""

    def __init__(self, pattern: str):
        try:
            self._pattern = re.compile(pattern)
        except (re.error, TypeError, OverflowError, RecursionError) as error:
            raise RedactionError(f"custom pattern {pattern!r} is not a regular expression: {error}") from None
        reason = _catastrophic(self._pattern)
        if reason:
            raise RedactionError(f"custom pattern {pattern!r} could take forever: {reason}")

    def matches(self, text: str) -> Iterator[tuple[int, int]]:
        taken = [match.span() for match in PLACEHOLDER.finditer(text)] if "<redacted:" in text else []
        starts = [start for start, _ in taken]
        for match in self._pattern.finditer(text):
            start, end = match.span()
            at = bisect_right(starts, end - 1)
            if end > start and not (at and taken[at - 1][1] > start):
                yield start, end


def _catastrophic(pattern: re.Pattern[str]) -> str:
    """Why the pattern may take exponential time, or nothing.

    Two checks: a repeat without bound directly around another one, and the growth of the time on short texts.
    """
    import time

    try:
        from re import _parser as parser  # type: ignore[attr-defined]
    except ImportError:  # before Python 3.11
        import sre_parse as parser
    if _nested_repeat(parser.parse(pattern.pattern, pattern.flags), parser):
        return "a repeat without bound inside a repeat without bound"

    def seconds(text: str) -> float:
        started = time.perf_counter()
        pattern.search(text)
        return time.perf_counter() - started

    for unit in ("a", "0", " ", "aA", "a0", "-", ".", "a.", "ab", "\t"):
        # Longer step by step, so that the check itself ends soon; twice, since the machine may have paused.
        for size in (*range(6, 23, 2), 32, 44, 64, 88, 128, 176):
            text = unit * (size // len(unit)) + "\x00"
            if seconds(text) > 0.02 and seconds(text) > 0.02:
                return f"it takes too long on {unit!r} repeated"
    return ""


def _nested_repeat(parsed, parser, inside: bool = False) -> bool:
    for op, argument in parsed:
        name = str(op)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            unbounded = argument[1] is parser.MAXREPEAT or argument[1] > 100
            body = list(argument[2])
            if unbounded and inside and name != "POSSESSIVE_REPEAT":
                return True
            delimited = len(body) > 1 and any(
                str(part[0]) in ("LITERAL", "NOT_LITERAL") for part in _flat(body)
            )
            if _nested_repeat(body, parser, (unbounded and not delimited) or (inside and not delimited)):
                return True
        elif name == "SUBPATTERN":
            if _nested_repeat(argument[-1], parser, inside):
                return True
        elif name == "BRANCH":
            if any(_nested_repeat(branch, parser, inside) for branch in argument[1]):
                return True
        elif name in ("ASSERT", "ASSERT_NOT") and _nested_repeat(argument[1], parser, inside):
            return True
    return False


def _flat(body):
    """The parts of a sequence, groups opened, as far as each of them must match."""
    for op, argument in body:
        if str(op) == "SUBPATTERN":
            yield from _flat(argument[-1])
        else:
            yield op, argument
