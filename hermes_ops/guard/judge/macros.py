"""m4: the macros of its input expanded, the commands it hands to a shell, and what it prints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..rules.names import names as listed
from ..verdict import Verdict
from . import decode, flows, other_languages, regular
from .invocation import UNKNOWN, Arg, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk

LONGEST = 8_000
# Letters that are read of all texts together, those of expansions included, and commands that are judged.
_MOST_LETTERS, _MOST_COMMANDS, _DEEPEST = 30_000, 12, 12
_NAME = re.compile(r"[A-Za-z_]\w*")
_PLACE = re.compile(r"\$([0-9*@#])")
# Macros of m4 itself that are not followed: what they come to is not known.
_OTHERS = listed("divnum regexp eval mkstemp maketemp sysval changeword index incr decr __file__ __line__")
_SILENT = listed("errprint undivert dumpdef traceon traceoff debugmode debugfile m4exit")
# Stands in a definition for a macro of m4 itself, and the name of it follows.
_OWN = "\ue0b4"
_QUOTED = re.compile(r"`([^`']{1,2000})'|cmd\(([^()`']{1,2000})\)")
_CALL = re.compile(r"\s*\w*cmd\(([^()]*)\)\s*\Z")
_MAY_RUN = re.compile(r"sys|cmd|builtin|indir|include|defn|wrap|def")
_MOST_QUOTED = 24


class _Unfollowed(Exception):
    """A text that grows beyond all bounds."""


class _Macros:
    """The macros that are defined, and what was handed to the shell."""

    def __init__(self, walk: Walk, prefixed: bool) -> None:
        self.walk, self.prefix = walk, "m4_" if prefixed else ""
        self.bodies: dict[str, str] = {}
        self.pushed: dict[str, list[str | None]] = {}
        self.wrapped: list[str] = []
        self.remark, self.remark_end = "#", "\n"
        self.followed = True  # all of the text, so that it need not be read as a plain text
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
            if self.remark and text.startswith(self.remark, at):
                end = text.find(self.remark_end, at + len(self.remark))
                end = len(text) if end < 0 else end + len(self.remark_end)
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
        if name not in self.bodies and not _is_own(own):
            self.put(printed, name)
            return at
        arguments: list[str] = []
        if text[at : at + 1] == "(":
            begin = at
            arguments, at = self.arguments(text, at + 1, depth)
            self.left -= at - begin
        if own in ("builtin", "indir") and name not in self.bodies and arguments:
            name, *arguments = arguments
            own = name.removeprefix(self.prefix)
        body = self.bodies.get(name)
        if body is not None and body.startswith(_OWN):
            body, own = None, body[len(_OWN) :]
        if body is not None:
            self.put(printed, self.expanded(_filled(body, name, arguments), depth + 1))
        elif own == "dnl":
            return (text + "\n").find("\n", at) + 1
        elif own in _BUILTINS:
            self.put(printed, self.expanded(_BUILTINS[own](self, arguments), depth + 1))
        else:
            self.followed = False
            self.put(printed, UNKNOWN)
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


def _is_own(name: str) -> bool:
    return name in _BUILTINS or name in _OTHERS or name in ("dnl", "builtin", "indir")


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


def _push(macros: _Macros, given: list[str]) -> str:
    if given and given[0]:
        macros.pushed.setdefault(given[0], []).append(macros.bodies.get(given[0]))
    return _define(macros, given)


def _pop(macros: _Macros, given: list[str]) -> str:
    for name in given:
        earlier = macros.pushed[name].pop() if macros.pushed.get(name) else None
        if earlier is None:
            macros.bodies.pop(name, None)
        else:
            macros.bodies[name] = earlier
    return ""


def _meaning(macros: _Macros, given: list[str]) -> str:
    """defn(`name'): the definition itself."""
    name = given[0] if given else ""
    own = name.removeprefix(macros.prefix)
    text = macros.bodies.get(name, _OWN + own if _is_own(own) else "")
    return macros.opening + text + macros.closing if text else ""


def _wrap(macros: _Macros, given: list[str]) -> str:
    macros.wrapped.extend(given[:1])
    return ""


def _shift(macros: _Macros, given: list[str]) -> str:
    macros.followed = False  # what it comes to are several arguments where it stands among some
    return ",".join(macros.opening + each + macros.closing for each in given[1:])


def _remarks(macros: _Macros, given: list[str]) -> str:
    macros.remark = given[0] if given else ""
    macros.remark_end = given[1] if len(given) > 1 and given[1] else "\n"
    return ""


def _included(macros: _Macros, given: list[str]) -> str:
    text = flows.file_stream(macros.walk, given[0]).text if given and given[0] else ""
    if text is None or UNKNOWN in text:
        macros.followed = False
        return UNKNOWN
    return text


def _undefine(macros: _Macros, given: list[str]) -> str:
    for name in given:
        macros.bodies.pop(name, None)
    return ""


def _command(macros: _Macros, given: list[str]) -> str:
    macros.commands -= 1
    if macros.commands < 0:
        raise _Unfollowed
    if given and UNKNOWN in given[0]:
        macros.followed = False
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
            return _either(macros, given[2:])
        if given[0] == given[1]:
            return given[2]
        given = given[3:]
    return given[0] if given else ""


def _either(macros: _Macros, texts: list[str]) -> str:
    """Each of some texts, where it is not known which of them is meant."""
    macros.followed = False
    return "\n".join((UNKNOWN, *texts))


def _defined(macros: _Macros, given: list[str]) -> str:
    name = given[0] if given else ""
    if name not in macros.bodies and ("unix" in name or name.startswith("__") or UNKNOWN in name):
        return _either(macros, given[1:3])
    if name in macros.bodies or _is_own(name.removeprefix(macros.prefix)):
        return given[1] if len(given) > 1 else ""
    return given[2] if len(given) > 2 else ""


def _substr(macros: _Macros, given: list[str]) -> str:
    ends = [int(each) if re.fullmatch(r"\s*\d{1,6}\s*", each) else 0 for each in given[1:3]]
    if not ends:
        return ""
    return given[0][ends[0] :][: ends[1]] if len(ends) > 1 else given[0][ends[0] :]


def _translit(macros: _Macros, given: list[str]) -> str:
    text, old, new = (*given, "", "", "")[:3]
    old, new = _letters(old), _letters(new)
    macros.left -= len(old) + len(new)
    return text.translate({ord(letter): new[at : at + 1] for at, letter in reversed(list(enumerate(old)))})


def _letters(text: str) -> str:
    """Letters with their ranges written out: a-c, c-a."""
    if len(text) > 600:
        raise _Unfollowed
    return _RANGE.sub(_between, text)


_RANGE = re.compile(r"(.)-(.)", re.DOTALL)


def _between(found: re.Match[str]) -> str:
    first, last = ord(found[1]), ord(found[2])
    if abs(first - last) > 255:
        raise _Unfollowed
    step = 1 if first <= last else -1
    return "".join(map(chr, range(first, last + step, step)))


def _substituted(macros: _Macros, given: list[str]) -> str:
    """patsubst(text, expression, replacement)"""
    text, expression, new = (*given, "", "", "")[:3]
    macros.left -= len(text) + 100
    pattern = regular.compiled(expression, "basic", False) if UNKNOWN not in "".join(given[:3]) else None
    if pattern is None or not pattern.affordable([text]) or len(text) * (len(new) + 1) > LONGEST * 4:
        macros.followed = False
        return UNKNOWN
    return pattern.pattern.sub(lambda found: _PUT_IN.sub(lambda place: _put_in(found, place[1]), new), text)


_PUT_IN = re.compile(r"\\([0-9&])")


def _put_in(found: re.Match[str], place: str) -> str:
    number = 0 if place == "&" else int(place)
    return found[number] or "" if number <= found.re.groups else ""


def _format(macros: _Macros, given: list[str]) -> str:
    text = decode.printf([each.replace("\\", "\\\\") if not at else each for at, each in enumerate(given)])
    if text is None:
        macros.followed = False
    return UNKNOWN if text is None else text


def _length(macros: _Macros, given: list[str]) -> str:
    return str(len(given[0])) if given else ""


def _nothing(macros: _Macros, given: list[str]) -> str:
    return ""


_BUILTINS = {
    "define": _define,
    "pushdef": _push,
    "popdef": _pop,
    "defn": _meaning,
    "m4wrap": _wrap,
    "shift": _shift,
    "changecom": _remarks,
    **dict.fromkeys(("include", "sinclude"), _included),
    "patsubst": _substituted,
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
    **dict.fromkeys(_SILENT, _nothing),
}


def run(walk: Walk, call: Invocation) -> Stream | None:
    """m4 [-D NAME=VALUE] [-P] [FILE]..."""
    words = call.words()
    macros = _Macros(walk, any(_PREFIXES.fullmatch(word) for word in words))
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
        elif word in ("-I", "-U", "-B", "-H", "-L", "-R", "-F"):
            at += 1
        elif word == "-":
            texts.append(call.stdin.text)
        elif word[:1] != "-":
            texts.append(flows.file_stream(walk, word).text)
    if not texts:
        texts.append(call.stdin.text)
    macros.followed = not any(_LOADS.match(word) for word in words)
    try:
        printed = [None if text is None else macros.expanded(text[:LONGEST]) for text in texts]
        printed.extend(map(macros.expanded, macros.wrapped[:_MOST_COMMANDS]))
    except (_Unfollowed, RecursionError):
        macros.followed, printed = False, [None]
    if not macros.followed or any(text is not None and len(text) > LONGEST for text in texts):
        for text in texts:
            _plain(walk, text or "")
    if None in printed:
        return None
    return Stream(decode.bounded("".join(map(str, printed))), True, call.stdin.taint, call.stdin.source)


_PREFIXES = re.compile(r"-[EeisQgG]*P|--pre[a-z-]*")
_LOADS = re.compile(r"-[FR]|--(?:reload|word)")


def _plain(walk: Walk, text: str) -> None:
    """A text that is not followed to its end: what stands in its quotation marks may be a command."""
    other_languages.code(walk, Arg(text))
    if _MAY_RUN.search(text) is None:
        return
    for found in list(_QUOTED.finditer(text[: other_languages.LONGEST]))[:_MOST_QUOTED]:
        command = found[1] or found[2]
        call = _CALL.match(command)
        command = call[1] if call is not None else command
        if " " in command.strip():
            walk.findings.extend(each for each in walk.captured(command) if each.verdict == Verdict.BLOCK)


HANDLERS = {"m4": run, "gm4": run}
