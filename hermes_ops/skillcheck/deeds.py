"""What a skill does to its user, told by words of several kinds that stand near each other.

The phrases (phrases.py) are orders in one wording. Here a section of a page or a script is asked for kinds of
words: a secret, a way out, a wish to be quiet, a place where something stays. None of them says much alone.
The kinds are in deed_words.py and deed_kinds.py, what they make together in deeds_*.py.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise

from . import deeds_code, deeds_lasting, deeds_private, deeds_quiet
from .context import ABOUT_ATTACKS
from .deed import Deed, Kind
from .deed_words import FORBIDS, MEANT
from .document import Document
from .fold import visible
from .instructions import Topic
from .rules import WARNING, Hit

DEEDS = (*deeds_private.DEEDS, *deeds_lasting.DEEDS, *deeds_quiet.DEEDS, *deeds_code.DEEDS)
MAX_PIECE = 3_000
MIN_PIECE = 1_000  # shorter sections are read together with the next: every piece costs time of its own
MAX_PIECES = 2_000
_OVERLAP = 500
_FORBIDS = re.compile(
    r"\b(?:never|do not|don.?t|avoid|wrong|bad)\b[^.]{0,60}\b(?:run|this|pipe|such|paste|do)\b"
)
Place = tuple[int, int]  # where it begins and ends


class _Piece:
    """A piece of a text, with the places of each kind of words, looked for once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._found: dict[re.Pattern[str], list[Place]] = {}
        self._places: dict[Kind, list[Place]] = {}
        self._longest: dict[Kind, int] = {}

    def together(self, deed: Deed) -> list[Place]:
        """A place of each kind of a deed, near the first kind's; [] when they do not stand together."""
        if any(self._places.get(kind) == [] for kind in deed.kinds):
            return []
        if not all(self._of(kind) for kind in deed.kinds):
            return []
        last = -deed.near
        for start, end in self._of(deed.kinds[0]):
            if start - last < deed.near // 8:  # as good as the one before it
                continue
            last = start
            near = [self._near(kind, start - deed.near, end + deed.near) for kind in deed.kinds[1:]]
            if None in near:
                continue
            if deed.unless is None or not self._near(deed.unless, start - deed.near, end + deed.near):
                return [(start, end), *(one for one in near if one)]
        return []

    def _of(self, kind: Kind) -> list[Place]:
        if kind not in self._places:
            places = sorted(place for pattern in kind for place in self._matches(pattern))
            self._places[kind] = places
            self._longest[kind] = max((end - start for start, end in places), default=0)
        return self._places[kind]

    def _matches(self, pattern: re.Pattern[str]) -> list[Place]:
        if pattern not in self._found:
            places = [found.span() for found in pattern.finditer(self.text)]
            if pattern.pattern.startswith(MEANT):
                places = [
                    one for one in places if not FORBIDS.search(self.text[max(0, one[0] - 14) : one[0]])
                ]
            self._found[pattern] = places
        return self._found[pattern]

    def _near(self, kind: Kind, first: int, last: int) -> Place | None:
        """The first place of a kind that touches a stretch."""
        places = self._of(kind)
        for at in range(bisect_left(places, (first - self._longest[kind], 0)), len(places)):
            if places[at][0] > last:
                return None
            if places[at][1] >= first:
                return places[at]
        return None


def deeds(page: Document, topic: Topic) -> Iterator[Hit]:
    """At most one warning of a kind in a text; none in a skill or a section about attacks."""
    if topic.is_security or topic.is_attacks:
        return
    done: set[str] = set()
    for start, piece in _pieces(page):
        prose, code = _Piece(piece.replace("\n", " ")), _Piece(piece)
        is_about_attacks = ABOUT_ATTACKS.search(piece) is not None
        for deed in DEEDS:
            if deed.what in done or (deed.is_prose and is_about_attacks):
                continue
            found = (prose if deed.is_prose else code).together(deed)
            if not found:
                continue
            first = start + min(found)[0]
            is_code = not page.is_page or all(page.fence_at(start + one[0]) is not None for one in found)
            if not deed.is_prose and (not is_code or _FORBIDS.search(page.around(first, first + 1))):
                continue
            done.add(deed.what)
            words = " ... ".join(piece[slice(*one)] for one in found)
            yield Hit(deed.rule, WARNING, page.path, page.line_of(first), deed.what, (visible(words),), words)


def _pieces(page: Document) -> Iterator[tuple[int, str]]:
    """Sections of a page, short ones together, and pieces of a script, with where they begin."""
    text = page.folded.text
    if not page.is_page:
        for at in range(0, min(len(text), 200_000), MAX_PIECE):
            yield at, text[at : at + MAX_PIECE + _OVERLAP]
        return
    starts = [0]
    for offset, _title in page.headings:
        if offset - starts[-1] >= MIN_PIECE:
            starts.append(offset)
    for first, last in list(pairwise((*starts, len(text))))[:MAX_PIECES]:
        for at in range(first, last, MAX_PIECE):
            yield at, text[at : min(last, at + MAX_PIECE + _OVERLAP)]
