"""A text as a stream of words: what stands between them, line ends and markup too, counts for nothing."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

GONE = "\x00"  # stands for markup inside a word: the word goes on behind it
_WORD = re.compile(r"[^\W_](?:[^\W_]|\x00+(?=[^\W_]))*")
_LETTERS = str.maketrans("0134578", "oieastb")
_MIXED = re.compile(r"(?=[a-z0-9]*[a-z])(?=[a-z0-9]*[013457])[a-z0-9]{3,20}")
_BROKEN = re.compile(r"-[ \t]*\r?\n[ \t>#*/;|%!-]*$")


@dataclass(frozen=True)
class Found:
    """A place in the text that a stream was made of: offsets of its first and past its last character."""

    start: int
    end: int
    words: str


class Stream:
    """Words joined by single spaces, each knowing where it stood."""

    def __init__(self, tokens: list[str], starts: list[int], ends: list[int]) -> None:
        self.text = " ".join(tokens)
        self._starts, self._ends = starts, ends
        self._offsets: list[int] = []
        at = 0
        for token in tokens:
            self._offsets.append(at)
            at += len(token) + 1

    def search(self, pattern: re.Pattern[str]) -> Iterator[Found]:
        """Every match, as a place in the text."""
        for match in pattern.finditer(self.text):
            first = bisect_right(self._offsets, match.start()) - 1
            last = bisect_right(self._offsets, max(match.start(), match.end() - 1)) - 1
            yield Found(self._starts[first], self._ends[last], match[0].strip())


def stream(text: str) -> Stream:
    """The words of a folded text."""
    return Stream(*_tokens(text))


def variants(text: str) -> Iterator[Stream]:
    """Streams of a text as it may be meant, only where it gives reason: digits for letters, spaced letters,
    words broken at the end of a line."""
    tokens, starts, ends = _tokens(text)
    if any(_MIXED.fullmatch(token) for token in tokens):
        plain = [token.translate(_LETTERS) if _MIXED.fullmatch(token) else token for token in tokens]
        yield Stream(plain, starts, ends)
    joined = _spaced(tokens, starts, ends)
    if joined is not None:
        yield joined
    joined = _unbroken(text, tokens, starts, ends)
    if joined is not None:
        yield joined


def _tokens(text: str) -> tuple[list[str], list[int], list[int]]:
    tokens, starts, ends = [], [], []
    for found in _WORD.finditer(text):
        tokens.append(found[0].replace(GONE, "") if GONE in found[0] else found[0])
        starts.append(found.start())
        ends.append(found.end())
    return tokens, starts, ends


def _spaced(tokens: list[str], starts: list[int], ends: list[int]) -> Stream | None:
    """Runs of five and more single letters as one word; None where there are none."""
    new: tuple[list[str], list[int], list[int]] = ([], [], [])
    i, any_run = 0, False
    while i < len(tokens):
        j = i
        while j < len(tokens) and len(tokens[j]) == 1 and tokens[j].isalpha():
            j += 1
        if j - i >= 5:
            any_run = True
            new[0].append("".join(tokens[i:j]))
            new[1].append(starts[i])
            new[2].append(ends[j - 1])
            i = j
        else:
            for k in range(i, max(j, i + 1)):
                new[0].append(tokens[k])
                new[1].append(starts[k])
                new[2].append(ends[k])
            i = max(j, i + 1)
    return Stream(*new) if any_run else None


def _unbroken(text: str, tokens: list[str], starts: list[int], ends: list[int]) -> Stream | None:
    """Words that a hyphen breaks at the end of a line made whole; None where there are none."""
    new: tuple[list[str], list[int], list[int]] = ([], [], [])
    any_broken = False
    for token, start, end in zip(tokens, starts, ends, strict=True):
        between = text[new[2][-1] : start] if new[2] and start - new[2][-1] < 40 else ""
        if between.startswith("-") and "\n" in between and _BROKEN.match(between):
            any_broken = True
            new[0][-1] += token
            new[2][-1] = end
        else:
            new[0].append(token)
            new[1].append(start)
            new[2].append(end)
    return Stream(*new) if any_broken else None
