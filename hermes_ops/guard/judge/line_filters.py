"""What each filter prints of a text that is known; None for a use that is not followed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from . import decode, letters, regular, stream_editor


class Given(NamedTuple):
    """The options of a filter by letter (all values of those that take one), and its other words."""

    options: dict[str, list[str]]
    own: list[str]  # words that are no files: a pattern, a script, sets of letters
    files: list[str]

    def has(self, letter: str) -> bool:
        return letter in self.options

    def value(self, letter: str, default: str = "") -> str:
        values = self.options.get(letter)
        return values[-1] if values else default

    def only(self, allowed: str) -> bool:
        """Are there no options but these?"""
        return self.options.keys() <= set(allowed)


_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def _lines(text: str) -> list[str]:
    """The lines of a text without their ends."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _text(lines: Sequence[str]) -> str:
    return "".join(line + "\n" for line in lines)


def _number(text: str) -> tuple[str, int] | None:
    """A count with its sign."""
    found = re.fullmatch(r"([+-]?)(\d{1,9})", text)
    return (found[1], int(found[2])) if found else None


def head(given: Given, text: str) -> str | None:
    by = "c" if given.has("c") else "n"
    count = _number(given.value(by, "10"))
    if count is None or (given.has("c") and given.has("n")) or given.has("z"):
        return None
    sign, number = count
    if by == "c":
        return text[: len(text) - number if sign == "-" else number] if number or sign != "-" else text
    lines = _LINE.findall(text)
    return "".join(lines[: max(0, len(lines) - number) if sign == "-" else number])


def tail(given: Given, text: str) -> str | None:
    by = "c" if given.has("c") else "n"
    count = _number(given.value(by, "10"))
    if count is None or (given.has("c") and given.has("n")) or given.has("z"):
        return None
    sign, number = count
    pieces: Sequence[str] = text if by == "c" else _LINE.findall(text)
    kept = pieces[max(0, number - 1) :] if sign == "+" else pieces[-number:] if number else pieces[:0]
    return "".join(kept)


def _positions(text: str, complement: bool) -> Callable[[int], bool] | None:
    """The places that a list such as `1,3-5,7-` names, counted from 1."""
    ranges = []
    for piece in text.split(","):
        found = re.fullmatch(r"(\d{0,6})(-?)(\d{0,6})", piece)
        if not found or not (found[1] or found[3]):
            return None
        first = int(found[1] or 1)
        last = int(found[3]) if found[3] else (10**9 if found[2] else first)
        ranges.append((first, last))
    return lambda place: any(first <= place <= last for first, last in ranges) != complement


def cut(given: Given, text: str) -> str | None:
    kind = next((letter for letter in "bcf" if given.has(letter)), "")
    if not kind or given.has("z"):
        return None
    chosen = _positions(given.value(kind), given.has("C"))
    if chosen is None or (kind == "b" and not text.isascii()):
        return None
    if kind != "f":
        if given.has("O"):
            return None
        return _text(["".join(x for n, x in enumerate(line, 1) if chosen(n)) for line in _lines(text)])
    between = given.value("d", "\t")
    if len(between) != 1:
        return None
    joint = given.value("O", between)
    kept = []
    for line in _lines(text):
        if between in line:
            kept.append(joint.join(x for n, x in enumerate(line.split(between), 1) if chosen(n)))
        elif not given.has("s"):
            kept.append(line)
    return _text(kept)


def tr(given: Given, text: str) -> str | None:
    sets = [letters.expanded(word) for word in given.own]
    if None in sets or not 1 <= len(sets) <= 2:
        return None
    first = sets[0] or ""
    second = sets[1] if len(sets) > 1 else None
    deletes, squeezes, complement = given.has("d"), given.has("s"), given.has("c") or given.has("C")
    if deletes:
        text = "".join([x for x in text if (x in first) == complement])
    elif second is not None:
        if not second or (complement and given.has("t")):
            return None
        if complement:
            text = "".join([x if x in first else second[-1] for x in text])
        else:
            padded = second + second[-1] * (len(first) - len(second))
            if given.has("t"):
                first = first[: len(second)]
            # Of a letter that stands in the set several times, the last counts.
            text = text.translate(dict(zip(map(ord, first), padded, strict=False)))
    elif not squeezes:
        return None
    if squeezes:
        last = second if second is not None else first
        inverted = complement and second is None
        text = re.sub(r"([\s\S])\1+", lambda run: run[1] if (run[1] in last) != inverted else run[0], text)
    return text


def rev(given: Given, text: str) -> str | None:
    return "\n".join(line[::-1] for line in text.split("\n"))


def tac(given: Given, text: str) -> str | None:
    return _text(_lines(text)[::-1]) if given.only("") else None


def cat(given: Given, text: str) -> str | None:
    if given.only("u"):
        return text
    if not given.only("nbsETAetu") or re.search(r"[^\n\t -~]", text):
        return None
    lines = _lines(text)
    if given.has("s"):
        lines = [line for at, line in enumerate(lines) if line or not at or lines[at - 1]]
    if any(map(given.has, "TAt")):
        lines = [line.replace("\t", "^I") for line in lines]
    if any(map(given.has, "EAe")):
        lines = [line + "$" for line in lines]
    if given.has("b"):
        return _numbered(lines, True)
    return _numbered(lines, False) if given.has("n") else _text(lines)


def _numbered(lines: list[str], filled: bool) -> str:
    printed, number = [], 0
    for line in lines:
        if line or not filled:
            number += 1
            printed.append(f"{number:6d}\t{line}")
        else:
            printed.append("")
    return _text(printed)


def nl(given: Given, text: str) -> str | None:
    if not given.only("b") or given.value("b", "t") not in ("t", "a") or "\\:" in text:
        return None
    return _numbered(_lines(text), given.value("b", "t") == "t").replace("\n\n", "\n       \n")


_KEY = re.compile(r"(\d{1,4})(?:,(\d{1,4}))?([nr]*)")


def sort(given: Given, text: str) -> str | None:
    if not given.only("ruftkbns"):
        return None
    keys = [_KEY.fullmatch(key) for key in given.options.get("k", [])]
    between = given.value("t") if given.has("t") else None
    if None in keys or len(keys) > 1 or (between is not None and len(between) != 1):
        return None
    numeric, backwards = given.has("n"), given.has("r")
    first, last = 0, None
    if keys and keys[0] is not None:
        first, last = int(keys[0][1]) - 1, int(keys[0][2]) if keys[0][2] else None
        numeric, backwards = numeric or "n" in keys[0][3], backwards or "r" in keys[0][3]

    def rank(line: str) -> tuple[float, str]:
        key = (between or " ").join(line.split(between)[first:last]) if keys else line
        key = key.upper() if given.has("f") else key
        found = re.match(r"\s*(-?\d{1,15}(?:\.\d{1,9})?)", key) if numeric else None
        return (float(found[1]) if found else 0.0, key)

    lines = sorted(_lines(text), key=rank, reverse=backwards)
    if given.has("u"):
        lines = [line for at, line in enumerate(lines) if not at or rank(line) != rank(lines[at - 1])]
    return _text(lines)


def uniq(given: Given, text: str) -> str | None:
    if not given.only("cdui"):
        return None
    groups: list[list[str]] = []
    for line in _lines(text):
        if groups and _same(given, groups[-1][0], line):
            groups[-1].append(line)
        else:
            groups.append([line])
    if given.has("d"):
        groups = [group for group in groups if len(group) > 1]
    if given.has("u"):
        groups = [group for group in groups if len(group) == 1]
    return _text([f"{len(group):7d} {group[0]}" if given.has("c") else group[0] for group in groups])


def _same(given: Given, one: str, other: str) -> bool:
    return one.lower() == other.lower() if given.has("i") else one == other


def grep(given: Given, text: str) -> str | None:
    if not given.only("vioxwFEPGhsane") or not (given.has("e") or given.own):
        return None
    kind = next((name for letter, name in _GREP_KINDS if given.has(letter)), "basic")
    expressions = []
    for pattern in "\n".join(given.options["e"] if given.has("e") else given.own[:1]).split("\n"):
        expression = regular.compiled(pattern, kind, given.has("i"))
        if expression is None or (given.has("w") and not re.fullmatch(r"\w+", pattern)):
            return None
        expressions.append(expression)
    lines = _lines(text)
    if not all(expression.affordable(lines) for expression in expressions):
        return None
    kept = []
    for number, line in enumerate(lines, 1):
        found = [match for each in expressions if (match := _sought(given, each.pattern, line))]
        if bool(found) == given.has("v"):
            continue
        mark = f"{number}:" if given.has("n") else ""
        if not given.has("o"):
            kept.append(mark + line)
        elif not given.has("v"):
            if len(expressions) > 1:
                return None
            kept.extend(mark + each[0] for each in expressions[0].pattern.finditer(line) if each[0])
    return _text(kept)


_GREP_KINDS = (("F", "fixed"), ("E", "extended"), ("P", "perl"))


def _sought(given: Given, pattern: re.Pattern[str], line: str) -> re.Match[str] | None:
    if given.has("x"):
        return pattern.fullmatch(line)
    if given.has("w"):
        return re.search(rf"\b(?:{pattern.pattern})\b", line, pattern.flags & re.IGNORECASE)
    return pattern.search(line)


def egrep(given: Given, text: str) -> str | None:
    return grep(given._replace(options={**given.options, "E": [""]}), text)


def fgrep(given: Given, text: str) -> str | None:
    return grep(given._replace(options={**given.options, "F": [""]}), text)


def fold(given: Given, text: str) -> str | None:
    width = given.value("w", "80")[:9]
    if not width.isdigit() or not int(width) or "\t" in text or "\b" in text or not text.isascii():
        return None
    size = int(width)
    printed = []
    for line in text.split("\n"):
        while len(line) > size:
            cut = line.rfind(" ", 0, size) + 1 if given.has("s") else 0
            printed.append(line[: cut or size])
            line = line[cut or size :]
        printed.append(line)
    return "\n".join(printed)


_JOINTS = {"n": "\n", "t": "\t", "0": "", "\\": "\\"}


def paste(given: Given, text: str) -> str | None:
    joints = re.findall(r"\\?[\s\S]", given.value("d", "\t")) or [""]
    joints = [_JOINTS.get(joint[1:], joint[1:]) if joint[0:1] == "\\" else joint for joint in joints]
    lines = _lines(text)
    if given.has("z"):
        return None
    if given.has("s"):
        return _joined(lines, joints) + "\n"
    columns = max(1, len(given.files))
    if columns > 1 and set(given.files) != {"-"}:
        return None
    rows = [lines[at : at + columns] for at in range(0, len(lines), columns)]
    return _text([_joined(row + [""] * (columns - len(row)), joints) for row in rows])


def _joined(pieces: list[str], joints: list[str]) -> str:
    printed = pieces[0] if pieces else ""
    for at, piece in enumerate(pieces[1:]):
        printed += joints[at % len(joints)] + piece
    return printed


def column(given: Given, text: str) -> str | None:
    if not given.has("t") or not given.only("tso"):
        return None
    separators = given.value("s")
    lines = [line for line in _lines(text) if line.strip()]
    rows = [re.split(f"[{re.escape(separators)}]", x) if separators else x.split() for x in lines]
    widths = [max(len(row[n]) for row in rows if n < len(row)) for n in range(max(map(len, rows), default=0))]
    between = given.value("o", "  ")
    return _text([between.join(x.ljust(widths[n]) for n, x in enumerate(row)).rstrip(" ") for row in rows])


def expand(given: Given, text: str) -> str | None:
    width = given.value("t", "8")[:9]
    return text.expandtabs(int(width)) if width.isdigit() and 0 < int(width) < 100 else None


def fmt(given: Given, text: str) -> str | None:
    """Paragraphs that fit into one line each; how others are broken is not followed."""
    width = given.value("w", "75")[:9]
    if not given.only("w") or not width.isdigit() or re.search(r"(?m)^[ \t]", text):
        return None
    paragraphs = [" ".join(paragraph.split()) for paragraph in re.split(r"\n{2,}", text.strip("\n"))]
    if any(len(paragraph) >= int(width) * 0.9 for paragraph in paragraphs):
        return None
    return "\n\n".join(paragraphs) + "\n"


def iconv(given: Given, text: str) -> str | None:
    names = [given.value(letter, "utf-8").partition("//")[0].lower() for letter in "ft"]
    ascii_like = all(re.fullmatch(r"utf-?8|(us-)?ascii|iso-?8859-\d+|latin-?\d|cp12\d\d", x) for x in names)
    return text if ascii_like and text.isascii() else None


def same_text(given: Given, text: str) -> str | None:
    return text


def strings(given: Given, text: str) -> str | None:
    runs = re.findall(r"[\t -~]{4,}", text)
    return _text(runs) if given.only("a") else None


def shuf(given: Given, text: str) -> str | None:
    """Any order of the lines stands for all."""
    if given.has("e"):
        return _text(given.files)
    return text if given.only("nr") else None


def sed(given: Given, text: str) -> str | None:
    found = edited(given, text)
    return found.text if found else None


def edited(given: Given, text: str) -> stream_editor.Edited | None:
    """What a sed of these words prints and writes."""
    scripts = given.options.get("e") or given.own[:1]
    if not scripts or not given.only("neErsiu"):
        return None
    return stream_editor.edited(scripts, text, given.has("n"), given.has("E") or given.has("r"))


_PRINT = re.compile(
    r"\s*(?:(?P<where>NR\s*(?P<op>[=!<>]=|[<>])\s*(?P<number>\d{1,6})|/(?P<pattern>[^/\\]*)/|1|BEGIN)\s*)?"
    r"(?:\{\s*print(?P<what>[^{};|>]*);?\s*\})?\s*"
)
_PIECE = re.compile(r'\s*(?:\$(\d{1,3}|NF\b)|"((?:[^"\\]|\\.)*)"|(,))')
_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "==": int.__eq__, "!=": int.__ne__, "<": int.__lt__, ">": int.__gt__, "<=": int.__le__, ">=": int.__ge__,
}  # fmt: skip


def awk(given: Given, text: str) -> str | None:
    """Programs of one `print`, for all lines or some."""
    found = _PRINT.fullmatch(given.own[0]) if given.own else None
    if found is None or not given.only("F") or not (found["where"] or found["what"] is not None):
        return None
    between = given.value("F")
    pattern = regular.compiled(found["pattern"], "extended") if found["pattern"] else None
    lines = _lines(text)
    if (found["pattern"] and pattern is None) or (pattern and not pattern.affordable(lines)):
        return None
    if found["where"] == "BEGIN":
        lines = [""]
    printed = []
    for number, line in enumerate(lines, 1):
        if found["op"] and not _COMPARED[found["op"]](number, int(found["number"])):
            continue
        if pattern is not None and not pattern.pattern.search(line):
            continue
        shown = _awk_print(found["what"] or "", line, between)
        if shown is None:
            return None
        printed.append(shown)
    return _text(printed)


def _awk_print(what: str, line: str, between: str) -> str | None:
    if between not in ("", " ") and (len(between) != 1 or between in "\\|[]().*+?^$"):
        if not re.fullmatch(r"\\?[|.]|\\t", between):
            return None
        between = "\t" if between == "\\t" else between[-1]
    pieces = line.split(None if between in ("", " ") else between)
    printed = []
    what = what.strip()
    if not what:
        return line
    at = 0
    while at < len(what):
        found = _PIECE.match(what, at)
        if found is None:
            return None
        at = found.end()
        if found[1]:
            number = len(pieces) if found[1] == "NF" else int(found[1])
            printed.append(line if not number else pieces[number - 1] if number <= len(pieces) else "")
        else:
            printed.append(" " if found[3] else decode.escapes(found[2]))
        while at < len(what) and what[at] in " \t":
            at += 1
    return "".join(printed)
