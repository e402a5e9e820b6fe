"""read and mapfile: the lines of a known input are what their variables may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import assignments, danger, decode, flows
from .invocation import UNKNOWN, Arg, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk

MOST_LINES = 12
MOST_ELEMENTS = 64
_NO_LETTERS = ""


class _Options:
    """The options of read and mapfile, and their other words."""

    def __init__(self, call: Invocation, valued: str) -> None:
        self.values: dict[str, str] = {}
        self.names: list[str] = []
        arguments = iter(call.argv[1:])
        for arg in arguments:
            text = arg.text
            if self.names or text[:1] != "-" or len(text) == 1:
                self.names.append(text)
                continue
            for place, letter in enumerate(text[1:], 2):
                if letter not in valued:
                    self.values[letter] = ""
                    continue
                following = text[place:] or None
                if following is None:
                    following = getattr(next(arguments, None), "text", "")
                self.values[letter] = following
                break

    def number(self, letter: str) -> int | None:
        value = self.values.get(letter, "")
        return int(value) if value.isdigit() and len(value) < 10 else None


def _input(walk: Walk, call: Invocation, options: _Options) -> Stream:
    if "u" in options.values:
        return walk.state.descriptors.get(options.values["u"], call.stdin)
    return call.stdin


def _pieces(text: str, options: _Options) -> list[str]:
    """The lines that read would take one after another, by its delimiter."""
    delimiter = options.values.get("d")
    if delimiter is None:
        end = "\n"
    elif delimiter:
        end = delimiter[0]
    else:
        # The zero letter: in known text another letter stands for it.
        end = decode.ZERO
    lines = text.split(end)
    if len(lines) > 1 and not lines[-1].strip("\n"):
        lines.pop()
    return lines


def read(walk: Walk, call: Invocation) -> Stream:
    """read: every line is what the variables may hold, as in a loop."""
    options = _Options(call, "adinNptu")
    stdin = _input(walk, call, options)
    array = options.values.get("a")
    raw = "r" in options.values
    if stdin.text is None:
        for target in [array] if array else options.names or ["REPLY"]:
            value = Arg(UNKNOWN, False, stdin.taint, stdin.source)
            assignments.to(walk, target, value)
        return flows.NOTHING
    text, more = stdin.text, False
    if not raw:
        text = text.replace("\\\n", "")
    exact = options.number("N")
    if exact is not None:
        lines = [text[:exact]]
    else:
        lines, more = danger.most(_pieces(text, options), MOST_LINES)
        most = options.number("n")
        if most is not None:
            lines = [line[:most] for line in lines]
    separators = _NO_LETTERS if exact is not None else walk.separators()
    if array:
        pieces = fields(lines[0], separators, 0, raw)
        walk.state.assign(array, {str(n): _word(piece, stdin) for n, piece in enumerate(pieces)})
        return flows.NOTHING
    names = options.names or ["REPLY"]
    if not options.names:
        separators = _NO_LETTERS
    for number, line in enumerate(lines):
        pieces = fields(line, separators, len(names), raw)
        for position, name in enumerate(names):
            piece = pieces[position] if position < len(pieces) else ""
            assignments.to(walk, name, _word(piece, stdin), number > 0)
    if more:
        for name in names:
            walk.state.assign(name, Arg(UNKNOWN, False, stdin.taint, stdin.source), also=True)
    return flows.NOTHING


def _word(text: str, stdin: Stream) -> Arg:
    return Arg(text, "*" in text or "?" in text, stdin.taint, stdin.source)


def fields(line: str, separators: str, most: int, raw: bool) -> list[str]:
    """The fields of a line as read splits it; the last of `most` takes the rest (0: no end of fields)."""
    blanks = frozenset(letter for letter in separators if letter in " \t\n")
    marks = frozenset(separators)
    letters = _letters(line, raw)
    at, end = 0, len(letters)
    while at < end and letters[at] in blanks:
        at += 1
    while end > at and letters[end - 1] in blanks:
        end -= 1
    found: list[str] = []
    while at < end:
        if most and len(found) == most - 1:
            rest = letters[at:end]
            # A single separator at the very end is none of the last field.
            if rest[-1] in marks:
                head = rest[:-1]
                while head and head[-1] in blanks:
                    head.pop()
                rest = rest if any(letter in marks for letter in head) else head
            found.append("".join(letter[-1] for letter in rest))
            return found
        start = at
        while at < end and letters[at] not in marks:
            at += 1
        found.append("".join(letter[-1] for letter in letters[start:at]))
        seen = False
        while at < end and (letters[at] in blanks or (not seen and letters[at] in marks)):
            seen = seen or letters[at] not in blanks
            at += 1
    return found


def _letters(line: str, raw: bool) -> list[str]:
    """The letters of a line; one that a backslash stood before keeps it, so that it separates nothing."""
    if raw or "\\" not in line:
        return list(line)
    letters: list[str] = []
    at = 0
    while at < len(line):
        if line[at] == "\\" and at + 1 < len(line):
            letters.append(line[at : at + 2])
            at += 2
        else:
            if line[at] != "\\":
                letters.append(line[at])
            at += 1
    return letters


def mapfile(walk: Walk, call: Invocation) -> Stream:
    """mapfile, readarray: the lines as an array; a callback gets each."""
    options = _Options(call, "dnOsuCc")
    stdin = _input(walk, call, options)
    name = options.names[0] if options.names else "MAPFILE"
    lines = [UNKNOWN] if stdin.text is None else _pieces(stdin.text, options)
    skipped, most = options.number("s") or 0, options.number("n") or 0
    lines = lines[skipped : skipped + most] if most else lines[skipped:]
    first = options.number("O") or 0
    callback = options.values.get("C")
    if callback:
        for line in lines[:4]:
            walk.shell(Arg(f"{callback} 0 '" + line.replace("'", "'\\''") + "'"), same=True)
    elements = {str(first + n): _word(line, stdin) for n, line in enumerate(lines[:MOST_ELEMENTS])}
    if len(lines) > MOST_ELEMENTS:
        elements[str(first + MOST_ELEMENTS)] = Arg(UNKNOWN, False, stdin.taint, stdin.source)
    walk.state.assign(name, elements)
    return flows.NOTHING
