"""A text as it is searched: its bytes, its runs of word characters, and the secrets found so far."""

from __future__ import annotations

import re
from bisect import bisect_right

from .patterns import PLACEHOLDER, Lazy

_WORD_CHARS = bytes(65 if chr(c) in "-_" or (c < 128 and chr(c).isalnum()) else 32 for c in range(256))
_ESCAPED_CHAR = Lazy(r"(?<!\\)(\\+)(?:u00([2-7][0-9a-fA-F])|/)")
GLUED_ESCAPE = Lazy(rb"(?<=\\)(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}|[nrtbfv0ae])"
                     rb"|(?<=%)(?:25)*[0-9a-fA-F]{2}|(?<=[\[;])[0-9]{0,3}m")  # fmt: skip
BULLET = Lazy(rb"[-_]*")
_ESCAPE = Lazy(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|U00([01][0-9a-fA-F]{5})|(.))", re.DOTALL)
_SHORT_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}

Span = tuple[int, int, str, int, str]  # start, end, kind, levels of escaping of the secret, quote to add


class SearchedText:
    """One text and what was found in it: `spans`, in offsets of `text`.

    `finished`: the text ends where it was meant to end, so its end is no truncation mark.
    `text` is the given one with `\\u0061` and `\\/` resolved, if there are any; `offset` leads back to it.
    """

    def __init__(self, s: str, finished: bool):
        self.finished = finished
        self.spans: list[Span] = []
        self.blocks: set[int] = set()  # where a whole PEM block begins
        self._marks: list[int] = []  # offsets in text where an escape was shortened, and by how much in all
        self._shifts: list[int] = []
        self.text = self._resolved(s) if "\\u00" in s or "\\/" in s else s
        self.bytes = self.text.encode("latin-1", "replace")
        self.low = self.bytes.lower()
        # The n of an escaped newline must not stick to the word that follows; for others see GLUED_ESCAPE.
        self.words = self.bytes.replace(b"\\n", b"  ").translate(_WORD_CHARS)

    def offset(self, index: int) -> int:
        """The offset in the given text of an offset in `text`."""
        if not self._marks:
            return index
        at = bisect_right(self._marks, index)
        return index + (self._shifts[at - 1] if at else 0)

    def merge(self) -> None:
        """Sort, and join what overlaps; where two cover the same, the token format says the kind."""
        if "<redacted:" in self.text:
            self._keep_placeholders()
        merged: list[Span] = []
        for span in sorted(self.spans, key=lambda span: (span[0], -span[1], span[2] == "secret")):
            if merged and span[0] < merged[-1][1]:
                if span[1] > merged[-1][1]:
                    merged[-1] = (merged[-1][0], span[1], *merged[-1][2:])
                continue
            merged.append(span)
        self.spans = merged

    def _keep_placeholders(self) -> None:
        """Drop what was found over a placeholder: what stands in its field or command is redacted already."""
        taken = [match.span() for match in PLACEHOLDER.finditer(self.text)]
        starts = [start for start, _ in taken]

        def free(span: Span) -> bool:
            at = bisect_right(starts, span[1] - 1)
            return span[2] not in ("secret", "cookie") or not at or taken[at - 1][1] <= span[0]

        self.spans = [span for span in self.spans if free(span)]

    def _resolved(self, s: str) -> str:
        parts, position, length, shift = [], 0, 0, 0
        for match in _ESCAPED_CHAR.finditer(s):
            slashes, code = match.groups()
            char = chr(int(code, 16)) if code else "/"
            if char in '"\\':  # still escaped, in the short way
                char = "\\" * (2 * len(slashes) - 1) + char
            parts += s[position : match.start()], char
            length += match.start() - position + len(char)
            position = match.end()
            shift += len(match.group()) - len(char)
            self._marks.append(length)
            self._shifts.append(shift)
        parts.append(s[position:])
        return "".join(parts)

    def follows(self, start: int, chars: str) -> bool:
        """Whether one of the characters stands before `start`; ? in the bytes may stand for any other."""
        return start > 0 and self.text[start - 1] in chars

    def starts(self, start: int) -> list[int]:
        """Where the word really begins that has a run begin at `start`: behind an escape or a bullet, too."""
        text, starts = self.bytes, [start]
        if start and text[start - 1] in b"\\%[;":
            glued = GLUED_ESCAPE.match(text, start)
            if glued:
                starts.append(glued.end())
        if text[starts[-1] : starts[-1] + 1] in (b"-", b"_"):
            starts.append(BULLET.match(text, starts[-1]).end())  # type: ignore[union-attr]
        return starts


def plain(secret: str, levels: int) -> str:
    """The secret as such: unescaped, percent-decoded, a PEM block without its line breaks."""
    if levels < 0:
        return re.sub(r"\\+[nr]|\s", "", secret)
    for _ in range(levels):
        if "\\" not in secret:
            break
        secret = _unescaped(secret)
    if not levels and "%" in secret:
        from urllib.parse import unquote

        return unquote(secret)
    return secret


def _unescaped(text: str) -> str:
    """The text with one level of JSON or Python escapes undone; what is no escape stays."""

    def char(match: re.Match[str]) -> str:
        code = match.group(1) or match.group(2) or match.group(3)
        return (
            chr(min(int(code, 16), 0x10FFFF)) if code else _SHORT_ESCAPES.get(match.group(4), match.group(4))
        )

    text = _ESCAPE.sub(char, text)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")  # joins surrogate pairs
