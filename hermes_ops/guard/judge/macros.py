"""m4: the macros of its input expanded, the commands it hands to a shell, and what it prints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..rules.names import names as listed
from . import decode, flows
from .invocation import UNKNOWN, Arg, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk

LONGEST = 8_000
# Letters that are read of all texts together, those of expansions included, and commands that are judged.
_MOST_LETTERS, _MOST_COMMANDS, _DEEPEST = 30_000, 12, 12
_NAME = re.compile(r"[A-Za-z_]\w*")
_PLACE = re.compile(r"\$([0-9*@#])")
# Macros of m4 itself that are not followed: what they come to is not known.
_OTHERS = listed(
    "defn pushdef popdef shift builtin indir divnum undivert dumpdef traceon traceoff debugmode patsubst "
    "regexp eval mkstemp maketemp sinclude include sysval changecom changeword m4wrap m4exit"
)


class _Unfollowed(Exception):
    """A text that grows beyond all bounds."""


class _Macros:
    """The macros that are defined, and what was handed to the shell."""

    def __init__(self, walk: Walk, prefixed: bool) -> None:
        self.walk, self.prefix = walk, "m4_" if prefixed else ""
        self.bodies: dict[str, str] = {}
        self.opening, self.closing = "`", "'"
        self.left, self.commands = _MOST_LETTERS, _MOST_COMMANDS
        self.hidden = False  # in a diversion that is thrown away

    def quoted(self, text: str, at: int) -> int:
        """Where what begins with a quotation mark ends."""
        depth, place = 0, at
        while place < len(text):
            if text.startswith(self.closing, place) and depth:
                depth -= 1
                place += len(self.closing)
                if not depth:
                    return place
            elif text.startswith(self.opening, place):
                depth += 1
                place += len(self.opening)
            else:
                place += 1
        return len(text)

    def expanded(self, text: str, depth: int = 0) -> str:
        """A text with its macros expanded and one level of its quotes taken off."""
        self.left -= len(text)
        if depth > _DEEPEST or self.left < 0:
            raise _Unfollowed
        printed: list[str] = []
        at = 0
        while at < len(text):
            if text.startswith(self.opening, at):
                end = self.quoted(text, at)
                closed = end - len(self.closing) if text.endswith(self.closing, at, end) else end
                self.put(printed, text[at + len(self.opening) : closed])
                at = end
                continue
            if text[at] == "#":
                end = (text + "\n").find("\n", at)
                self.put(printed, text[at:end])
                at = end
                continue
            name = _NAME.match(text, at)
            if name is None:
                self.put(printed, text[at])
                at += 1
                continue
            at = self.called(name[0], text, name.end(), printed, depth)
        return "".join(printed)

    def put(self, printed: list[str], text: str) -> None:
        if not self.hidden:
            printed.append(text)

    def called(self, name: str, text: str, at: int, printed: list[str], depth: int) -> int:
        """A name: a macro is expanded; where the text goes on."""
        own = name[len(self.prefix) :] if name.startswith(self.prefix) else ""
        if name not in self.bodies and own not in _BUILTINS and own not in _OTHERS and own != "dnl":
            self.put(printed, name)
            return at
        arguments: list[str] = []
        if text[at : at + 1] == "(":
            begin = at
            arguments, at = self.arguments(text, at + 1, depth)
            self.left -= at - begin
        if name in self.bodies:
            self.put(printed, self.expanded(_filled(self.bodies[name], name, arguments), depth + 1))
        elif own == "dnl":
            return (text + "\n").find("\n", at) + 1
        elif own in _OTHERS:
            self.put(printed, UNKNOWN)
        else:
            self.put(printed, self.expanded(_BUILTINS[own](self, arguments), depth + 1))
        return at

    def arguments(self, text: str, at: int, depth: int) -> tuple[list[str], int]:
        """What stands in brackets behind a name, expanded; and where the text goes on."""
        given: list[str] = []
        start, open_brackets = at, 1
        while at < len(text):
            if text.startswith(self.opening, at):
                at = self.quoted(text, at)
                continue
            letter = text[at]
            open_brackets += {"(": 1, ")": -1}.get(letter, 0)
            if not open_brackets or (letter == "," and open_brackets == 1):
                given.append(text[start:at])
                start = at + 1
                if not open_brackets:
                    break
            at += 1
        else:
            given.append(text[start:])
        hidden, self.hidden = self.hidden, False
        try:
            values = [self.expanded(each.lstrip(), depth + 1) for each in given[:20]]
        finally:
            self.hidden = hidden
        return values, at + 1


def _filled(body: str, name: str, arguments: list[str]) -> str:
    def one(found: re.Match[str]) -> str:
        place = found[1]
        if place in "*@":
            return ",".join(arguments)
        if place == "#":
            return str(len(arguments))
        number = int(place)
        return name if not number else arguments[number - 1] if number <= len(arguments) else ""

    return _PLACE.sub(one, body)


def _define(macros: _Macros, given: list[str]) -> str:
    if given and given[0]:
        macros.bodies[given[0]] = given[1] if len(given) > 1 else ""
    return ""


def _undefine(macros: _Macros, given: list[str]) -> str:
    for name in given:
        macros.bodies.pop(name, None)
    return ""


def _command(macros: _Macros, given: list[str]) -> str:
    macros.commands -= 1
    if macros.commands < 0:
        raise _Unfollowed
    return macros.walk.shell(Arg(given[0])).text or UNKNOWN if given and given[0] else ""


def _silent_command(macros: _Macros, given: list[str]) -> str:
    # What the command prints stands in the output, but it is no text of m4's any more.
    output = _command(macros, given)
    return macros.opening + output + macros.closing if output else ""


def _quotes(macros: _Macros, given: list[str]) -> str:
    macros.opening = given[0] if given and given[0] else "`"
    macros.closing = given[1] if len(given) > 1 and given[1] else "'"
    return ""


def _divert(macros: _Macros, given: list[str]) -> str:
    macros.hidden = bool(given) and given[0].strip().startswith("-")
    return ""


def _chosen(macros: _Macros, given: list[str]) -> str:
    while len(given) >= 3:
        if UNKNOWN in given[0] + given[1]:
            return UNKNOWN
        if given[0] == given[1]:
            return given[2]
        given = given[3:]
    return given[0] if given else ""


def _defined(macros: _Macros, given: list[str]) -> str:
    if given and given[0] in macros.bodies:
        return given[1] if len(given) > 1 else ""
    return given[2] if len(given) > 2 else ""


def _substr(macros: _Macros, given: list[str]) -> str:
    ends = [int(each) if re.fullmatch(r"\s*\d{1,6}\s*", each) else 0 for each in given[1:3]]
    if not ends:
        return ""
    return given[0][ends[0] :][: ends[1]] if len(ends) > 1 else given[0][ends[0] :]


def _translit(macros: _Macros, given: list[str]) -> str:
    text, old, new = (*given, "", "", "")[:3]
    if "-" in old[1:] or "-" in new[1:]:
        return UNKNOWN
    return text.translate({ord(letter): new[at : at + 1] for at, letter in reversed(list(enumerate(old)))})


def _format(macros: _Macros, given: list[str]) -> str:
    text = decode.printf([each.replace("\\", "\\\\") if not at else each for at, each in enumerate(given)])
    return UNKNOWN if text is None else text


def _length(macros: _Macros, given: list[str]) -> str:
    return str(len(given[0])) if given else ""


def _nothing(macros: _Macros, given: list[str]) -> str:
    return ""


_BUILTINS = {
    "define": _define,
    "undefine": _undefine,
    "syscmd": _silent_command,
    "esyscmd": _command,
    "changequote": _quotes,
    "divert": _divert,
    "ifelse": _chosen,
    "ifdef": _defined,
    "substr": _substr,
    "translit": _translit,
    "format": _format,
    "len": _length,
    "errprint": _nothing,
}


def run(walk: Walk, call: Invocation) -> Stream | None:
    """m4 [-D NAME=VALUE] [-P] [FILE]..."""
    words = call.words()
    macros = _Macros(walk, "-P" in words or "--prefix-builtins" in words)
    texts: list[str | None] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        name, equals, value = word.partition("=")
        if word in ("-D", "--define") and at < len(words):
            name, _, value = words[at].partition("=")
            at += 1
            macros.bodies[name] = value
        elif name == "--define" and equals:
            name, _, value = value.partition("=")
            macros.bodies[name] = value
        elif word.startswith("-D"):
            macros.bodies[name[2:]] = value
        elif word in ("-I", "-U", "-B", "-H", "-L"):
            at += 1
        elif word == "-":
            texts.append(call.stdin.text)
        elif word[:1] != "-":
            texts.append(flows.file_stream(walk, word).text)
    if not texts:
        texts.append(call.stdin.text)
    try:
        printed = [None if text is None else macros.expanded(text[:LONGEST]) for text in texts]
    except (_Unfollowed, RecursionError):
        return None
    if None in printed:
        return None
    return Stream(decode.bounded("".join(map(str, printed))), True, call.stdin.taint, call.stdin.source)


HANDLERS = {"m4": run, "gm4": run}
