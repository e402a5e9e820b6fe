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


# A string of code that goes on in the next one: "prev" "ious".
_NEXT_STRING = re.compile(r"""^(["'])\s*(?:[+.]\s*)?\n?\s*\1$""")
_TURNED_LIST = """
    ignore disregard previous instructions instruction prompts guidelines earlier system forget override
"""


def _shape(word: str) -> tuple[str, str, str]:
    """A word by its first and last letter and which others it has: the same when two change places."""
    return word[0], word[-1], "".join(sorted(word))


_MEANT = {_shape(word): word for word in _TURNED_LIST.split()}


Tokens = tuple[list[str], list[int], list[int]]


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
        self.words = frozenset(tokens)
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
    return Stream(*tokens_of(text))


def variants(text: str, all_tokens: Tokens) -> Iterator[Stream]:
    """Streams of a text as it may be meant, only where it gives reason: digits for letters, spaced letters,
    words broken at the end of a line, letters of a word in another order."""
    tokens, starts, ends = all_tokens
    if any(_MIXED.fullmatch(token) for token in tokens):
        plain = [token.translate(_LETTERS) if _MIXED.fullmatch(token) else token for token in tokens]
        yield Stream(plain, starts, ends)
    joined = _spaced(tokens, starts, ends)
    if joined is not None:
        yield joined
    joined = _unbroken(text, tokens, starts, ends)
    if joined is not None:
        yield joined
    spelled = [_MEANT.get(_shape(token), token) if 5 < len(token) < 13 else token for token in tokens]
    if sum(a != b for a, b in zip(tokens, spelled, strict=True)) > 1:
        yield Stream(spelled, starts, ends)


def tokens_of(text: str) -> Tokens:
    """The words of a text, where each begins and where it ends."""
    tokens, starts, ends = [], [], []
    for found in _WORD.finditer(text):
        tokens.append(found[0].replace(GONE, "") if GONE in found[0] else found[0])
        starts.append(found.start())
        ends.append(found.end())
    return tokens, starts, ends


def _spaced(tokens: list[str], starts: list[int], ends: list[int]) -> Stream | None:
    """Runs of five and more single letters as one word; None where there are none."""
    if sum(len(token) == 1 for token in tokens) < 5:
        return None
    new: Tokens = ([], [], [])
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
    new: Tokens = ([], [], [])
    any_broken = False
    for token, start, end in zip(tokens, starts, ends, strict=True):
        between = text[new[2][-1] : start] if new[2] and start - new[2][-1] < 40 else ""
        if (between.startswith("-") and "\n" in between and _BROKEN.match(between)) or (
            between[:1] in ("'", '"') and len(between) > 1 and _NEXT_STRING.match(between)
        ):
            any_broken = True
            new[0][-1] += token
            new[2][-1] = end
        else:
            new[0].append(token)
            new[1].append(start)
            new[2].append(end)
    return Stream(*new) if any_broken else None
