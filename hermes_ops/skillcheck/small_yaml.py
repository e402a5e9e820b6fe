"""The part of YAML that people write above a skill, read where PyYAML is not at hand.

Block mappings and lists, flow lists and mappings, plain, quoted, literal and folded texts, comments, and the
types of YAML 1.1 as PyYAML resolves them. What lies outside (anchors, tags, several documents) is
Unsupported, never guessed at.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Any

_DEEPEST = 40
_LONGEST = 200_000
_LONGEST_LINE = 5_000  # keys are found by a search that is quadratic in the blanks of a line
_MOST_FLOW_LINES = 500
_NOT_PRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_OTHER_BREAKS = re.compile("[\x85\u2028\u2029]")
_INSIDE = r"(?:[^#]|(?<=\S)#)*?"
_KEY = re.compile(
    r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'"""
    rf"""|[^\s#&*!|>'"%@`\[\]{{}},?:-]{_INSIDE}|[?:-][^\s#]{_INSIDE})\s*:(?=\s|$)"""
)
_BLOCK = re.compile(r"([|>])(?:([+-])([1-9])?|([1-9])([+-])?)?(?:[ \t]+#.*|[ \t]*)$")
_BOOLS = {
    **dict.fromkeys(("yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
}
_INT = re.compile(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*(?::[0-5]?[0-9])*)")
_FLOAT = re.compile(
    r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|(?<![-+])\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
    r"|[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|\.(?:inf|Inf|INF))|\.(?:nan|NaN|NAN)"
)
_TIME = re.compile(
    r"\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?"
)
_ESCAPES = {
    **dict(zip('0abtnvfre "/\\', '\0\a\b\t\n\v\f\r\x1b "/\\', strict=True)),
    "\t": "\t",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
_HEX = {"x": 2, "u": 4, "U": 8}


class Broken(ValueError):
    """No YAML: PyYAML refuses it too."""


class Unsupported(ValueError):
    """It may be YAML, and this reader does not know the construct."""


def load(text: str) -> Any:
    """The value of a document; None for an empty one. Broken or Unsupported."""
    if len(text) > _LONGEST:
        raise Unsupported(f"longer than {_LONGEST} characters")
    found = _NOT_PRINTABLE.search(text)
    if found:
        raise Broken(f"the character U+{ord(found[0]):04X} is not allowed")
    if _OTHER_BREAKS.search(text):
        raise Unsupported("line breaks other than newlines")
    lines = text.split("\n")
    if max(map(len, lines)) > _LONGEST_LINE:
        raise Unsupported(f"a line of more than {_LONGEST_LINE} characters")
    return _Reader(lines).document()


class _Reader:
    """Lines and a position; each method reads one construct and leaves the position behind it."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = [line.rstrip("\r") for line in lines]
        self.at = 0
        self.depth = 0

    def document(self) -> Any:
        for line in self.lines:
            if re.match(r"(?:---|\.\.\.)(?:\s|$)|%", line):
                raise Unsupported("directives and several documents")
        value = self.block(-1)
        if self.next_line() is not None:
            raise Broken(f"line {self.at + 1}: does not belong to what is above it")
        return value

    def next_line(self) -> str | None:
        """The next line that says something, at `self.at`; None at the end."""
        while self.at < len(self.lines):
            line = self.lines[self.at]
            stripped = line.lstrip(" ")
            if re.match(r"(?:-[ \t]*)?\t", stripped):
                raise Unsupported("tabs that indent")
            if stripped.strip() and not stripped.lstrip().startswith("#"):
                return line
            self.at += 1
        return None

    def block(self, above: int) -> Any:
        """A value whose lines are indented further than `above`."""
        line = self.next_line()
        if line is None or _indent(line) <= above:
            return None
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unsupported("nested too deeply")
        indent, text = _indent(line), line.strip()
        if _is_item(text):
            value: Any = self.sequence(indent)
        elif text.startswith("? ") or text == "?":
            raise Unsupported("keys of several lines")
        elif _key(text):
            value = self.mapping(indent)
        else:
            value = self.scalar(text, above)
        self.depth -= 1
        return value

    def sequence(self, indent: int) -> list[Any]:
        items = []
        while (line := self.next_line()) is not None and _indent(line) == indent and _is_item(line.strip()):
            rest = line[indent + 1 :]
            text = rest.strip()
            if not text or text.startswith("#"):
                self.at += 1
                items.append(self.block(indent))
                continue
            column = indent + 1 + len(rest) - len(rest.lstrip())
            if _is_item(text) or _key(text):
                self.lines[self.at] = " " * column + text
                items.append(self.block(indent))
            else:
                items.append(self.scalar(text, indent))
        self.end_of(indent)
        return items

    def mapping(self, indent: int) -> dict[Any, Any]:
        found: dict[Any, Any] = {}
        while (line := self.next_line()) is not None and _indent(line) == indent:
            text = line.strip()
            if _is_item(text):
                break
            split = _key(text)
            if split is None:
                if text[0] == "?":
                    raise Unsupported("keys of several lines")
                raise Broken(f"line {self.at + 1}: expected `key: value`")
            key, rest = split
            if key == "<<":
                raise Unsupported("merged mappings")
            found[key] = self.value_of(rest, indent)
        self.end_of(indent)
        return found

    def value_of(self, rest: str, indent: int) -> Any:
        if rest and not rest.startswith("#"):
            return self.scalar(rest, indent)
        self.at += 1
        line = self.next_line()
        if line is not None and _indent(line) == indent and _is_item(line.strip()):
            return self.sequence(indent)
        return self.block(indent)

    def end_of(self, indent: int) -> None:
        line = self.next_line()
        if line is not None and _indent(line) > indent:
            raise Broken(f"line {self.at + 1}: indented unlike what is above it")

    def scalar(self, text: str, above: int) -> Any:
        """A value that begins with `text` on the line at `self.at`."""
        first = text[0]
        if first in "&*!":
            raise Unsupported("anchors, aliases and tags")
        if first in "%@`,]}" or (_is_item(text) and above >= 0):
            raise Broken(f"line {self.at + 1}: a text must not begin with {first!r}")
        if first in "|>":
            return self.literal(text, above)
        if first in "\"'":
            return self.quoted(text)
        if first in "[{":
            return self.flow(text)
        return self.plain(text, above)

    def plain(self, text: str, above: int) -> Any:
        parts, breaks = [], 0
        while True:
            said, comment = _before_comment(text)
            if re.search(r":(?:\s|$)", said):
                raise Broken(f"line {self.at + 1}: `: ` inside a text that is not quoted")
            parts.append(("\n" * (breaks - 1) if breaks > 1 else " " if breaks else "") + said)
            start = self.at
            self.at += 1
            while self.at < len(self.lines) and not self.lines[self.at].strip():
                self.at += 1
            if self.at >= len(self.lines) or _indent(self.lines[self.at]) <= above:
                break
            text, breaks = self.lines[self.at].strip(), self.at - start
            if text.startswith("#"):
                comment = True
                if self.next_line() is None or _indent(self.lines[self.at]) <= above:
                    break
            if comment:
                raise Broken(f"line {self.at + 1}: a text does not go on behind a comment")
        whole = "".join(parts)
        return resolved(whole) if len(parts) == 1 else whole

    def quoted(self, text: str) -> str:
        mark, pieces, line = text[0], [], text[1:]
        while True:
            end = _closing(line, mark)
            if end is not None:
                pieces.append(line[:end])
                break
            pieces.append(line)
            self.at += 1
            if self.at >= len(self.lines):
                raise Broken("a quotation does not end")
            line = self.lines[self.at].strip()
        rest = line[end + 1 :].strip()
        if rest and not rest.startswith("#"):
            raise Broken(f"line {self.at + 1}: text behind a quotation")
        self.at += 1
        return _unquoted(_folded_lines(pieces, mark), mark)

    def flow(self, text: str) -> Any:
        pieces = []
        while True:
            said, _ = _before_comment(text, quotes=True)
            pieces.append(said)
            joined = " ".join(pieces)
            end = _balanced(joined)
            if end is not None:
                break
            self.at += 1
            if self.at >= len(self.lines):
                raise Broken("a list or mapping in brackets does not end")
            if len(pieces) > _MOST_FLOW_LINES:
                raise Unsupported(f"more than {_MOST_FLOW_LINES} lines in brackets")
            text = self.lines[self.at].strip()
            if text.startswith((":", "-")):
                raise Unsupported("a line in brackets that begins with a mark")
        if joined[end:].startswith("#"):
            raise Unsupported("a comment right behind a bracket")
        if joined[end:].strip():
            raise Broken(f"line {self.at + 1}: text behind a bracket")
        self.at += 1
        return _Flow(joined[:end]).whole()

    def literal(self, header: str, above: int) -> str:
        if "#" in header and not re.search(r"\s#", header):
            raise Unsupported("a comment right behind the mark of a block")
        shape = _BLOCK.match(header)
        if not shape:
            raise Broken(f"line {self.at + 1}: {header[:20]!r} is no header of a block of text")
        chomp, given = shape[2] or shape[5] or "", shape[3] or shape[4]
        self.at += 1
        lines: list[str] = []
        indent = max(above, 0) + int(given) if given else None
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip(" "):
                if indent is None:
                    indent = max(_indent(line), above + 1)
                    if line[_indent(line) :].startswith("\t"):
                        raise Unsupported("tabs that indent")
                if _indent(line) < indent:
                    break
            lines.append(line[indent or len(line) :] if line.strip(" ") or indent is not None else "")
            self.at += 1
        kept = len(lines)
        while kept and not lines[kept - 1]:
            kept -= 1
        body = "\n".join(lines[:kept]) if shape[1] == "|" else _folded(lines[:kept])
        breaks = len(lines) - kept + bool(kept) - (self.at >= len(self.lines))  # the last line has none
        if chomp == "-" or (not kept and chomp != "+"):
            return body
        return body + "\n" * (breaks if chomp == "+" else min(breaks, 1))


class _Flow:
    """A list or mapping in brackets, on one line."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0

    def whole(self) -> Any:
        return self.value("")

    def skip(self) -> str:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1
        return self.text[self.at] if self.at < len(self.text) else ""

    def value(self, ends: str) -> Any:
        first = self.skip()
        if first and first in "[{":
            self.depth += 1
            if self.depth > _DEEPEST:
                raise Unsupported("nested too deeply")
            found = self.items() if first == "[" else self.pairs()
            self.depth -= 1
            return found
        if first in ('"', "'"):
            end = _closing(self.text[self.at + 1 :], first)
            if end is None:
                raise Broken("a quotation does not end")
            raw = self.text[self.at + 1 : self.at + 1 + end]
            self.at += end + 2
            return _unquoted(raw, first)
        if first and first in "&*!?|>":
            raise Unsupported("anchors, tags and keys in brackets")
        if first and first in "%@`":
            raise Broken(f"a text must not begin with {first!r}")
        found_end = re.compile(r"[,\[\]{}]|:(?=[\s,\[\]{}]|$)").search(self.text, self.at)
        end_at = found_end.start() if found_end else len(self.text)
        raw = self.text[self.at : end_at].strip()
        self.at = end_at
        return resolved(raw)

    def items(self) -> list[Any]:
        self.at += 1
        found: list[Any] = []
        while True:
            next_one = self.skip()
            if next_one == "]":
                self.at += 1
                return found
            if next_one in (",", "", "}", ":"):
                raise Broken("a list in brackets has an empty entry")
            found.append(self.value("]"))
            after = self.skip()
            if after == ":":
                raise Unsupported("a pair inside a list in brackets")
            if after not in (",", "]"):
                raise Broken("expected `,` or `]`")
            self.at += after == ","

    def pairs(self) -> dict[Any, Any]:
        self.at += 1
        found: dict[Any, Any] = {}
        while True:
            next_one = self.skip()
            if next_one == "}":
                self.at += 1
                return found
            if next_one in (",", "", "]", ":"):
                raise Broken("a mapping in braces has an empty entry")
            key = self.value("}")
            if isinstance(key, (list, dict)):
                raise Unsupported("a key that is a list")
            value = None
            if self.skip() == ":":
                self.at += 1
                if self.text[self.at : self.at + 1] in (",", "[", "]", "{", "}"):
                    raise Unsupported("a colon before a comma or bracket")
                value = None if self.skip() in (",", "}") else self.value("}")
            after = self.skip()
            if after not in (",", "}"):
                raise Broken("expected `,` or `}`")
            self.at += after == ","
            found[key] = value


def resolved(text: str) -> Any:
    """A plain text as the type YAML 1.1 takes it for."""
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if _INT.fullmatch(text):
        return _number(text)
    if _FLOAT.fullmatch(text):
        return _decimal(text)
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
            return date.fromisoformat(text)
    except ValueError as error:
        raise Broken(f"{text!r}: {error}") from None
    if _TIME.fullmatch(text):
        return datetime(*(int(part) for part in re.findall(r"\d+", text)[:6]))
    if text == "=":
        raise Unsupported("the default value `=`")
    return text


def _number(text: str) -> int:
    plain = text.replace("_", "")
    sign = -1 if plain.startswith("-") else 1
    digits = plain.lstrip("+-")
    if digits.startswith(("0b", "0x")):
        if len(digits) == 2:
            raise Broken(f"{text!r} is no number")
        return sign * int(digits, 0)
    if digits.startswith("0") and digits != "0":
        return sign * int(digits, 8)
    total = 0
    for part in digits.split(":"):
        total = total * 60 + int(part)
    return sign * total


def _decimal(text: str) -> float:
    plain = text.replace("_", "").lower()
    sign = -1.0 if plain.startswith("-") else 1.0
    digits = plain.lstrip("+-")
    if digits == ".inf":
        return sign * float("inf")
    if digits == ".nan":
        return float("nan")
    total = 0.0
    for part in digits.split(":"):
        total = total * 60 + float(part)
    return sign * total


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_item(text: str) -> bool:
    return text == "-" or text.startswith(("- ", "-\t"))


def _key(text: str) -> tuple[Any, str] | None:
    """Key and what stands behind the colon, when a line begins with a key."""
    found = _KEY.match(text)
    if not found:
        return None
    raw = found[1]
    if raw[0] in "\"'":
        return _unquoted(raw[1:-1], raw[0]), text[found.end() :].strip()
    return resolved(raw), text[found.end() :].strip()


def _before_comment(text: str, quotes: bool = False) -> tuple[str, bool]:
    """The text before ` #`, and whether there is a comment; with `quotes`, not inside quotations."""
    mark = ""
    for index, character in enumerate(text):
        if quotes and mark:
            if character == mark and not (mark == '"' and text[index - 1] == "\\"):
                mark = ""
        elif quotes and character in "\"'" and (index == 0 or text[index - 1] in " \t[{,:"):
            mark = character
        elif character == "#" and (index == 0 or text[index - 1] in " \t"):
            return text[:index].rstrip(), True
    return text.rstrip(), False


def _closing(text: str, mark: str) -> int | None:
    """Where the quotation that `text` is in ends."""
    index = 0
    while index < len(text):
        if mark == '"' and text[index] == "\\":
            index += 2
            continue
        if text[index] == mark:
            if mark == "'" and text[index + 1 : index + 2] == "'":
                index += 2
                continue
            return index
        index += 1
    return None


def _balanced(text: str) -> int | None:
    """Behind the bracket that closes the one `text` begins with; None when it is still open."""
    stack, mark, index = [], "", 0
    while index < len(text):
        character = text[index]
        if mark:
            if mark == '"' and character == "\\":
                index += 1
            elif character == mark:
                mark = ""
        elif character in "\"'" and text[index - 1] in " \t[{,:":
            mark = character
        elif character in "[{":
            stack.append("]" if character == "[" else "}")
            if len(stack) > _DEEPEST:
                raise Unsupported("nested too deeply")
        elif character in "]}":
            if stack.pop() != character:
                raise Broken("brackets that do not match")
            if not stack:
                return index + 1
        index += 1
    return None


def _folded_lines(lines: list[str], mark: str) -> str:
    """The lines of a quotation as one text: a break is a blank, an empty line a break."""
    text = lines[0]
    empty = 0
    for number, line in enumerate(lines[1:], 1):
        stripped = line.strip() if number < len(lines) - 1 else line.lstrip()
        if not stripped and number < len(lines) - 1:
            empty += 1
            continue
        if mark == '"' and re.search(r"\\[ \t]+$", text):
            raise Unsupported("an escaped blank at the end of a line")
        if mark == '"' and re.search(r"(?<!\\)(?:\\\\)*\\$", text):
            text = text + "\n" if empty else text[:-1] + stripped
        else:
            text = text.rstrip(" \t") + ("\n" * empty if empty else " ") + stripped
        empty = 0
    return text


def _folded(lines: list[str]) -> str:
    """The lines of a `>` block: those at its indent flow together, those indented further stand alone."""
    text, empty, before = "", 0, None
    for line in lines:
        if not line:
            empty += 1
            continue
        more = line[0] in " \t"
        if before is None:
            text = "\n" * empty + line
        elif more or before:
            text += "\n" * (empty + 1) + line
        else:
            text += ("\n" * empty if empty else " ") + line
        before, empty = more, 0
    return text


def _unquoted(raw: str, mark: str) -> str:
    if mark == "'":
        return raw.replace("''", "'")
    parts, index = [], 0
    while index < len(raw):
        character = raw[index]
        if character != "\\":
            parts.append(character)
            index += 1
            continue
        code = raw[index + 1 : index + 2]
        if code in _HEX:
            digits = raw[index + 2 : index + 2 + _HEX[code]]
            if not re.fullmatch(rf"[0-9a-fA-F]{{{_HEX[code]}}}", digits) or int(digits, 16) > 0x10FFFF:
                raise Broken(f"\\{code}{digits} is no character")
            parts.append(chr(int(digits, 16)))
            index += 2 + _HEX[code]
        elif code in _ESCAPES:
            parts.append(_ESCAPES[code])
            index += 2
        elif code == "\n":
            raise Unsupported("an escaped break before an empty line")
        else:
            raise Broken(f"unknown escape \\{code}")
    return "".join(parts)
