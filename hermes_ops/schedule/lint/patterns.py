"""Patterns: phrases that are a fault only beside words of other kinds, or only without them.

A table of a language has them as `[[pattern]]`:
    rule      the rule that is broken
    phrases   one a line, in the notation of phrases.py
    beside    sets, of each of which a word must stand in the sentence, `within` words of the phrase
    unless    words of which none may stand in the sentence
    bare      nothing is meant where the prompt names a file or an address anywhere
    positive  nothing is meant where a negation stands inside the phrase
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .phrases import Match, WordSet, join_sets, word_set
from .text import Prompt

WITHIN = 12
NONE = WordSet()


@dataclass(frozen=True)
class Pattern:
    """A pattern ready to be held against a match of one of its phrases."""

    rule: str
    phrases: tuple[str, ...]
    beside: tuple[WordSet, ...] = ()
    unless: WordSet = NONE
    within: int = WITHIN
    bare: bool = False
    positive: bool = False

    def holds(self, match: Match, prompt: Prompt, negators: frozenset[str]) -> bool:
        """Whether what must stand beside the phrase does, and what must not does not."""
        if self.bare and prompt.names_a_place:
            return False
        if self.positive and any(token.text in negators for token in match.tokens):
            return False
        tokens = match.sentence.tokens
        if any(self.unless.takes(token.text) for token in tokens):
            return False
        around = [
            token.text
            for position, token in enumerate(
                tokens[max(0, match.first - self.within) : match.last + 1 + self.within],
                max(0, match.first - self.within),
            )
            if not match.first <= position <= match.last
        ]
        return all(any(map(kind.takes, around)) for kind in self.beside)


def read_patterns(rows: Iterable[Mapping[str, Any]], sets: Mapping[str, str]) -> dict[str, Pattern]:
    """The patterns of a table by tag: rule id and number. Raises ValueError for an unknown key or set."""
    known = {name: word_set(text) for name, text in sets.items()}
    found: dict[str, Pattern] = {}
    for number, row in enumerate(rows):
        given = dict(row)
        try:
            given["phrases"] = tuple(given["phrases"].strip("\n").split("\n"))
            given["beside"] = tuple(join_sets(kind.split(), known) for kind in given.get("beside", ()))
            given["unless"] = join_sets(given.get("unless", "").split(), known)
            found[f"{given['rule']}#{number}"] = Pattern(**given)
        except (KeyError, TypeError) as error:
            raise ValueError(f"pattern {number} ({row.get('rule')}): {error}") from error
    return found
