"""The part of YAML that people write above a skill, read where PyYAML is not at hand.

Block mappings and lists, flow lists and mappings, plain, quoted, literal and folded texts, comments, and the
types of YAML 1.1 as PyYAML resolves them. What lies outside (anchors, tags, several documents) is
Unsupported, never guessed at.
"""

from __future__ import annotations

import re
from typing import Any

from .small_yaml_texts import Broken, Unsupported, closing, folded, folded_lines, resolved, unquoted

__all__ = ["Broken", "Unsupported", "load"]

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
            end = closing(line, mark)
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
        return unquoted(folded_lines(pieces, mark), mark)

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
        body = "\n".join(lines[:kept]) if shape[1] == "|" else folded(lines[:kept])
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
            end = closing(self.text[self.at + 1 :], first)
            if end is None:
                raise Broken("a quotation does not end")
            raw = self.text[self.at + 1 : self.at + 1 + end]
            self.at += end + 2
            return unquoted(raw, first)
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
        return unquoted(raw[1:-1], raw[0]), text[found.end() :].strip()
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
