"""What only looks like an order to the session: text for others, what is forbidden, what the author does.

Each question is asked of a match; the words that decide are sets of the languages.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .languages import shared_set
from .phrases import Match
from .text import Prompt, Token

NOUN = 6  # words after a verb of drafting in which what is drafted must be named
AFTER = 4  # words after a phrase in which it may be forbidden


def is_negated(match: Match) -> bool:
    """Whether what a phrase of any language says is denied or forbidden where it was found."""
    return negated(match.sentence.tokens, match.first, shared_set("not").words, shared_set("but").words)


def negated(tokens: Sequence[Token], first: int, negators: frozenset[str], breakers: frozenset[str]) -> bool:
    """Whether a negation in the same clause, at most six words before, covers the word at `first`."""
    for position in range(first - 1, max(-1, first - 7), -1):
        token = tokens[position]
        if token.clause != tokens[first].clause or token.text in breakers:
            return False
        if token.text in negators:
            return True
    return False


def forbids_clause(match: Match) -> bool:
    """Whether the clause forbids what it names: the negation may stand after it."""
    clauses = {match.sentence.tokens[match.first].clause, match.sentence.tokens[match.last].clause}
    return any(
        token.text in shared_set("not").words for token in match.sentence.tokens if token.clause in clauses
    )


def forbidden_after(match: Match) -> bool:
    """Whether the words right after say that it must not be: "... нельзя", "... is forbidden"."""
    tokens = match.sentence.tokens
    after = [
        token.text
        for token in tokens[match.last + 1 : match.last + 1 + AFTER]
        if token.clause == tokens[match.last].clause
    ]
    if any(map(shared_set("forbidden").takes, after)):
        return True
    pairs = pairwise(after)
    return any(one in shared_set("not").words and shared_set("needed").takes(other) for one, other in pairs)


def is_drafted(match: Match) -> bool:
    """Whether it is what a text for others says: "draft a mail that asks them to ..."."""
    tokens, first = match.sentence.tokens, match.first
    if first and (tokens[first - 1].text in shared_set("resume").words):
        return False
    drafts, written, guide, saying = map(shared_set, ("draft", "written", "guide", "saying"))
    for position in range(first - 1, -1, -1):
        if not drafts.takes(tokens[position].text):
            continue
        for noun in range(position + 1, min(position + 1 + NOUN, first)):
            if guide.takes(tokens[noun].text):
                return True
            if written.takes(tokens[noun].text):
                return any(saying.takes(token.text) for token in tokens[noun + 1 : first + 1])
    return False


def is_own_deed(match: Match) -> bool:
    """Whether the author says what he does himself with the answer: "I will send it on", "сам отправлю"."""
    tokens = match.sentence.tokens
    clause = [
        token.text
        for token in tokens[max(0, match.first - 4) : match.last + 9]
        if token.clause == tokens[match.last].clause
    ]
    before = {token.text for token in tokens[max(0, match.first - 4) : match.first]}
    if any(map(shared_set("myself").takes, clause)) or (
        before & shared_set("i").words and before & shared_set("jot").words
    ):
        return True
    after = [token.text for token in tokens[match.last + 1 : match.last + 3]]
    return (
        bool(after)
        and after[0] in shared_set("it").words
        and (len(after) == 1 or after[1] not in shared_set("hither").words)
    )


def is_conditional(index: int, prompt: Prompt) -> bool:
    """Whether a sentence or the one before it states a case: only then is "send nothing" silence."""
    case = shared_set("case")
    near = prompt.sentences[max(0, index - 1) : index + 1]
    return any(case.takes(token.text) for sentence in near for token in sentence.tokens)


def is_possible(match: Match) -> bool:
    """Whether it is only said to be possible: "this can wait"."""
    return match.first > 0 and match.sentence.tokens[match.first - 1].text in shared_set("can").words
