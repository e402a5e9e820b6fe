"""What programs print of a format they are given: date, seq -f, stat, find -printf, git log --format.

What such a program fills in is not known in most cases; the words of the format itself are. Each function
gives the text with UNKNOWN in it, or None where the format has no words of its own: a date, a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from . import answers, decode
from .invocation import UNKNOWN, Invocation

if TYPE_CHECKING:
    from .walk import Walk

Fill = Mapping[str, str]

LONGEST_FORM = 4_000

_DATE = re.compile(r"%[-_0^#+]{0,8}\d{0,8}:{0,3}[EO]?([A-Za-z%])")
_STAT = re.compile(r"%[-+ #0']{0,8}\d{0,8}(?:\.\d{1,8})?[HL]?([A-Za-z%])")
_NUMBER = re.compile(r"%[-+ #0']{0,8}\d{0,8}(?:\.\d{1,8})?(?:[lL])?([aefgAEFG%])")
_GIT = re.compile(
    r"%(x[0-9A-Fa-f]{2}|C\([^)]{0,60}\)|C\w{1,20}|[a-z]?\([^)]{0,120}\)|[aceGgrt][A-Za-z]|[A-Za-z%])"
)
_CURL = re.compile(r"%(\{[^}]{0,60}\}|%)|\\([nrt])")
_MOST_LINES = 12


def filled(form: str, conversion: re.Pattern[str], known: Fill) -> str | None:
    """A format with its conversions filled in; None where its own part is no words and not all is known."""
    if len(form) > LONGEST_FORM:
        return None

    def one(found: re.Match[str]) -> str:
        return known.get(found[1] or found[0], UNKNOWN)

    text = conversion.sub(one, form)
    if UNKNOWN in text and not any(map(_has_words, conversion.sub("", form).split("\n"))):
        return None
    return text


def _has_words(line: str) -> bool:
    """Are there a letter and a blank, so that it may be a command with an argument?"""
    return (" " in line or "\t" in line) and any(map(str.isalpha, line))


def _option(call: Invocation, short: str, *names: str) -> Iterator[str]:
    """The values of an option of one letter or of these long names."""
    words = call.words()
    for at, word in enumerate(words):
        if word == "--":
            return
        name, equals, value = word.partition("=")
        if name in names and word[:2] == "--":
            if equals:
                yield value
            elif at + 1 < len(words):
                yield words[at + 1]
        elif short and word[:1] == "-" and word[1:2] != "-" and short in word:
            glued = word.partition(short)[2]
            if glued or at + 1 < len(words):
                yield glued or words[at + 1]


def _date(walk: Walk, call: Invocation) -> str | None:
    """date +FORMAT"""
    valued = frozenset(("-d", "-f", "-r", "-s", "-v", "--date", "--file", "--reference", "--set"))
    form = next((arg.text for arg in call.operands(valued) if arg.text[:1] == "+"), None)
    if form is None:
        return None
    text = filled(form[1:], _DATE, {"%": "%", "n": "\n", "t": "\t"})
    return None if text is None else text + "\n"


def _seq(walk: Walk, call: Invocation) -> str | None:
    """seq -f FORMAT [FIRST [STEP]] LAST"""
    form = next(_option(call, "f", "--format"), None)
    if form is None:
        return None
    operands = [arg.text for arg in call.operands(frozenset(("-f", "-s", "--format", "--separator")))]
    values = answers.numbers(operands)
    joint = next(_option(call, "s", "--separator"), "\n")
    if values is not None and not values:
        return ""
    some = list(map(str, values[:_MOST_LINES])) if values is not None else [UNKNOWN]
    lines = [filled(form, _NUMBER, {"%": "%", **dict.fromkeys("gGfF", some)}) for some in some]
    if None in lines:
        return None
    more = values is None or len(values) > len(some)
    return joint.join([*map(str, lines), *([UNKNOWN] if more and len(set(lines)) > 1 else [])]) + "\n"


def _numfmt(walk: Walk, call: Invocation) -> str | None:
    """numfmt --format=FORMAT NUMBER"""
    form = next(_option(call, "", "--format"), None)
    text = None if form is None else filled(form, _NUMBER, {"%": "%"})
    return None if text is None else text + "\n"


def _stat(walk: Walk, call: Invocation) -> str | None:
    """stat -c FORMAT, --printf=FORMAT"""
    raw = next(_option(call, "", "--printf"), None)
    form = raw if raw is not None else next(_option(call, "c", "--format"), None)
    if form is None:
        return None
    names = [arg.text for arg in call.operands(frozenset(("-c", "--format", "--printf")))]
    lines = []
    for name in names[:_MOST_LINES] or [UNKNOWN]:
        text = filled(form, _STAT, {"%": "%", "n": name, "N": f"'{name}'"})
        if text is None:
            return None
        lines.append(decode.escapes(text) if raw is not None else text + "\n")
    return "".join(lines)


def _find(walk: Walk, call: Invocation) -> str | None:
    """find -printf FORMAT: a line for the folder itself and one for what is below it."""
    words = call.words()
    if "-printf" not in words[:-1]:
        return None
    form = words[words.index("-printf") + 1]
    roots, _ = answers.found(call.argv)
    alone = ("-maxdepth", "0") in pairwise(words)
    lines = []
    for root in roots[:4]:
        base = root.text.rstrip("/")
        for path in (root.text,) if alone else (root.text, f"{base}/{UNKNOWN}"):
            known = {"%": "%", "p": path, "H": root.text, "f": path.rpartition("/")[2] or path}
            text = filled(form, _STAT, known)
            if text is None:
                return None
            lines.append(decode.escapes(text))
    return "".join(lines)


_GIT_PRINTERS = frozenset(("log", "show", "for-each-ref", "branch", "tag", "stash", "rev-list", "shortlog"))


def _git(walk: Walk, call: Invocation) -> str | None:
    """git log --format=FORMAT, --pretty=format:FORMAT"""
    words = call.words()
    if _GIT_PRINTERS.isdisjoint(words[:6]):
        return None
    form = next(_option(call, "", "--format", "--pretty"), None)
    if form is None:
        return None
    form = re.sub(r"\At?format:", "", form)
    known = {"%": "%", "n": "\n"}
    for found in re.finditer(r"%(x([0-9A-Fa-f]{2}))", form):
        known[found[1]] = chr(int(found[2], 16)).replace("\0", decode.ZERO)
    text = filled(form, _GIT, known)
    # A name of a format that git knows or was told is no text.
    return None if text is None or re.fullmatch(r"[\w.-]*", form) else text + "\n"


def of_transfer(form: str) -> str | None:
    """What curl -w FORMAT prints behind a transfer."""
    return filled(form, _CURL, {"%": "%", "\\n": "\n", "\\r": "\r", "\\t": "\t"})


def _gettext(walk: Walk, call: Invocation) -> str | None:
    """gettext [-e] [DOMAIN] TEXT, ngettext TEXT PLURAL COUNT: a text in no catalogue stays as it is."""
    words = [arg.text for arg in call.operands(frozenset(("-d", "--domain")))]
    if call.name == "ngettext":
        words = (words[-3:-2] if words[-1:] == ["1"] else words[-2:-1]) if len(words) >= 3 else []
    if not words:
        return None
    text = decode.escapes(words[-1]) if call.has("e", "--expand") else words[-1]
    return text + "\n" if call.has("s") else text


_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")


def _envsubst(walk: Walk, call: Invocation) -> str | None:
    """envsubst ['$NAMES']: the input with variables put in."""
    text = call.stdin.text
    if text is None or len(text) > decode.LONGEST or call.has("v", "--variables"):
        return None
    wanted = {found[1] or found[2] for arg in call.operands() for found in _VARIABLE.finditer(arg.text)}

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if wanted and name not in wanted:
            return found[0]
        held = call.environment.get(name) or walk.parameter(name)
        return held.text if held is not None else UNKNOWN

    return decode.bounded(_VARIABLE.sub(value, text))


_ESCAPED = re.compile(r"\\x([0-9a-fA-F]{2})|-")


def _unit_name(walk: Walk, call: Invocation) -> str | None:
    """systemd-escape -u TEXT: a dash is a slash, and \\xHH a letter."""
    if not call.has("u", "--unescape"):
        return None
    lines = [
        _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else "/", arg.text)
        for arg in call.operands()
    ]
    return " ".join(lines).replace("\0", decode.ZERO) + "\n"


PRINTERS: dict[str, Callable[[Walk, Invocation], str | None]] = {
    **dict.fromkeys(("date", "gdate"), _date),
    **dict.fromkeys(("seq", "gseq"), _seq),
    "numfmt": _numfmt,
    **dict.fromkeys(("stat", "gstat"), _stat),
    **dict.fromkeys(("find", "gfind"), _find),
    "git": _git,
    **dict.fromkeys(("gettext", "ngettext"), _gettext),
    "envsubst": _envsubst,
    "systemd-escape": _unit_name,
}
