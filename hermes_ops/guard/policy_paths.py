"""Path patterns of a policy: compared folder by folder, so that no pattern and no path can take long.

"**" stands for any number of whole folders, "*" and "?" and "[ab]" for characters of one name. The time is at
most the product of the numbers of folders of a pattern and of a path.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate
from functools import lru_cache

from .judge.invocation import Arg, Invocation

ANY = "**"
GLOB = frozenset("*?[")
# No system opens a path that is longer.
LONGEST = 8_192
# Characters up to which a glob in a command is compared as a glob, beyond only by what stands before it.
LONGEST_GLOB = 1_000
_MOST_FOLDERS = 60
_WILD = re.compile(r"\[[!^]?\]?[^\]/]*\]|[*?]")
_FIXED = re.compile(r"[^*?\[]*")

Same = Callable[[str, str], bool]


def fault(pattern: str) -> str:
    """What is wrong about a path pattern, "" when nothing is."""
    if not pattern.strip():
        return "expected a path"
    if len(pattern) > 1_000 or pattern.count("/") > _MOST_FOLDERS:
        return f"longer than 1000 characters or {_MOST_FOLDERS} folders"
    part = next((part for part in pattern.split("/") if ANY in part and part != ANY), None)
    return f"** stands for whole folders, between slashes, not within a name: {part!r}" if part else ""


def path_matches(pattern: str, path: Arg, cwd: str | None, home: str, whole: bool) -> bool:
    """Whether a file named in a command is one of a pattern's.

    A pattern without "/" is about names of files, one that begins with "/" or "~/" about whole paths, any
    other about the end of a path. `whole`: a folder stands for what is below it.
    """
    if len(path.text) > LONGEST:
        return False
    text = _absolute(path.text, cwd, home)
    if pattern.startswith("~/"):
        pattern = home + pattern[1:]
    anchored = pattern.startswith("/")
    parts = _parts(pattern if anchored else f"{ANY}/{pattern}")
    if matches(parts, _parts(text), is_named):
        return True
    if path.glob and _glob_matches(text, pattern.rstrip("*").rstrip("/") if anchored else pattern):
        return True
    if not whole or not anchored:
        return False
    return _fixed(pattern).startswith(text.rstrip("/") + "/")


def named_in(invocation: Invocation) -> Iterator[Arg]:
    """What may name a file: arguments, values of --option=value and name=value, targets of redirections."""
    for arg in invocation.arguments:
        if not arg.text.startswith("-"):
            yield arg
        name, equals, value = arg.text.partition("=")
        if equals and value and "/" not in name:
            yield Arg(value, arg.glob)
    for target in invocation.redirects:
        if target.op not in ("<&", ">&") or target.writes:
            yield target.arg


def matches(wanted: Sequence[str], given: Sequence[str], same: Same) -> bool:
    """Whether texts match a pattern from end to end, in which "**" stands for any number of texts.

    It goes back to the last "**" alone, which is enough: what stands before it matched as early as it could.
    """
    at, place, again, kept = 0, 0, -1, 0
    while place < len(given):
        if at < len(wanted) and wanted[at] == ANY:
            again, kept = at, place
            at += 1
        elif at < len(wanted) and same(wanted[at], given[place]):
            at, place = at + 1, place + 1
        elif again >= 0:
            kept += 1
            at, place = again + 1, kept
        else:
            return False
    return all(left == ANY for left in wanted[at:])


def is_named(wanted: str, given: str) -> bool:
    """Whether a text is what a glob describes, from end to end; linear, since no star is taken back."""
    return wanted == given or (
        not GLOB.isdisjoint(wanted) and _expression(wanted).fullmatch(given) is not None
    )


def literals(pattern: str) -> list[str]:
    """What stands between the wildcards of a pattern."""
    return [text for text in _WILD.split(pattern) if text]


def _glob_matches(text: str, pattern: str) -> bool:
    """Whether a glob in a command may mean what a pattern names."""
    if len(text) <= LONGEST_GLOB:
        return matches(_parts(text), _parts(pattern), is_named)
    before, fixed = _fixed(text), _fixed(pattern)
    return before.startswith(fixed) or fixed.startswith(before)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _fixed(pattern: str) -> str:
    found = _FIXED.match(pattern)
    return found[0] if found else ""


def _absolute(text: str, cwd: str | None, home: str) -> str:
    if text == "~" or text.startswith("~/"):
        text = home + text[1:]
    if not text.startswith("/"):
        text = f"{cwd}/{text}" if cwd else f"/{text}"
    text = posixpath.normpath(text)
    return text[1:] if text.startswith("//") else text


@lru_cache(maxsize=512)
def _expression(glob: str) -> re.Pattern[str]:
    return re.compile(translate(glob.replace("[^", "[!")))
