"""The wording rules: will this text do its work in a session that knows nothing but the text?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import islice

from .languages import LANGUAGES, matcher, shared_set, words
from .phrases import Match
from .placeholders import Words, find_slots
from .rules import RULES, Allowance, Hit, allowances
from .text import ADDRESS, DATA, PATH, URL, Prompt, Sentence, Token, read_prompt

MIN_WORDS = 8
MAX_CHARACTERS = 12_000
MAX_PER_RULE = 20  # hits of one rule that are named in one prompt

_OTHER_MARK = re.compile(r"\b(?:NO_REPLY|NO REPLY|SILENT)\b")
_STATE_NAME = re.compile(
    r"(?i)(?:^|[/_.-])(?:last|seen|state|prev|previous|known|cursor|offset|done|history|snapshot|baseline|progress)"
)
_NAMED = (PATH, URL, ADDRESS)
_RELATIVE = re.compile(
    r"(?<![\w/.~:@-])(?:\.{1,2}/)?[\w-]{1,80}(?:/[\w.-]{1,80}){0,8}"
    r"\.(?:md|txt|csv|tsv|jsonl?|ya?ml|toml|xml|html?|log|ini|cfg|conf|py|sh|js|sql|sqlite|db|pdf|docx?|xlsx?|ics)\b"
)


@dataclass(frozen=True)
class Given:
    """What a session gets beside the prompt: text put before it (a script's, another job's), a workdir."""

    before: bool = False
    workdir: bool = False


NOTHING = Given()


def lint_prompt(
    text: str,
    *,
    languages: Sequence[str] = LANGUAGES,
    given: Given = NOTHING,
    allow: Iterable[Allowance] = (),
) -> list[Hit]:
    """What is wrong with a prompt, in order of its lines; what is allowed is there with the reason.

    Linear in the length of the text. Raises KeyError for a language that there is not.
    """
    prompt = read_prompt(text)
    hits: list[Hit] = []
    seen: set[tuple[str, int]] = set()
    ends: dict[str, int] = {}
    for name in languages:
        finder = matcher(name)
        for index, sentence in enumerate(prompt.sentences):
            for match in finder.find(sentence):
                rule = match.phrase.tag
                if match.start < ends.get(rule, -1) or (rule, match.start) in seen:
                    continue
                if _stands(rule, match, index, prompt, given):
                    seen.add((rule, match.start))
                    ends[rule] = match.end
                    hits.append(_hit(rule, prompt, match.start, match.end))
    for slot in find_slots(prompt, _slot_words(tuple(languages))):
        hits.append(_hit(slot.rule, prompt, slot.start, slot.end))
    hits += _other_marks(prompt)
    hits += _size(prompt)
    if not given.workdir:
        hits += _relative_paths(prompt)
    return _allowed(hits, prompt, list(allow))


@cache
def _slot_words(names: tuple[str, ...]) -> Words:
    return Words(**{field.name: words(field.name, names) for field in fields(Words)})


def _stands(rule: str, match: Match, index: int, prompt: Prompt, given: Given) -> bool:
    """Whether a phrase that was found is the fault it looks like."""
    tokens = match.sentence.tokens
    if not match.phrase.stands and is_negated(match):
        return False
    if rule == "L101":
        clause = tokens[match.last].clause  # "the limits I gave you in /srv/limits.toml"
        after = tokens[match.last + 1 : match.last + 7]
        return not any(token.kind in _NAMED and token.clause == clause for token in after)
    if rule == "L102":
        return not (given.before or _keeps_state(prompt))
    if rule == "L109":
        return not any(token.text in shared_set("whether").words for token in tokens[: match.first])
    if rule == "L103":
        return not given.before and not _something_before(match, index, prompt)
    if rule == "L108":
        return not _something_after(match, index, prompt)
    if rule == "L105":
        return not _keeps_state(prompt, anywhere=True)
    if rule == "L401":
        return not _forbidden(match)
    if rule == "L501":
        return _silence_stands(match, prompt)
    return True


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


def _forbidden(match: Match) -> bool:
    """Whether the clause forbids what it names: the negation may stand after it."""
    clauses = {match.sentence.tokens[match.first].clause, match.sentence.tokens[match.last].clause}
    return any(
        token.text in shared_set("not").words for token in match.sentence.tokens if token.clause in clauses
    )


def _keeps_state(prompt: Prompt, *, anywhere: bool = False) -> bool:
    """Whether the prompt names where runs keep what the next one needs: a file that is said, or called, so.

    With `anywhere` the file and what is said need not stand in one sentence.
    """
    kept = words("state")
    sentences = [Sentence(tuple(prompt.tokens))] if anywhere else prompt.sentences
    for sentence in sentences:
        places = [token for token in sentence.tokens if token.kind in (PATH, DATA)]
        if places and any(kept.takes(token.text) for token in sentence.tokens):
            return True
        if any(_STATE_NAME.search(prompt.text[token.start : token.end]) for token in places):
            return True
    return False


def _something_before(match: Match, index: int, prompt: Prompt) -> bool:
    """Whether the prompt has a list, code, a quotation or several addresses before the place."""
    before = prompt.sentences[:index]
    if any(sentence.item for sentence in before) or any(end <= match.start for _, end in prompt.data):
        return True
    named = sum(token.kind in _NAMED for sentence in before for token in sentence.tokens)
    return named >= 2 or len(before) >= 6


def _something_after(match: Match, index: int, prompt: Prompt) -> bool:
    rest = prompt.sentences[index + 1 :]
    return (
        bool(rest)
        or any(start >= match.end for start, _ in prompt.data)
        or match.last + 2 < len(match.sentence.tokens)
    )


def _silence_stands(match: Match, prompt: Prompt) -> bool:
    if _names_silence(prompt) or _OTHER_MARK.search(prompt.text):
        return False
    tokens = match.sentence.tokens
    clause = {token.text for token in tokens if token.clause == tokens[match.first].clause}
    if tokens[0].text in shared_set("about").words:
        clause.add(tokens[0].text)
    if clause & (shared_set("about").words | shared_set("sending").words) or any(
        map(shared_set("channel").takes, clause)
    ):
        return False  # a subject that is not to be spoken of, a way that is not to be used: not silence
    return not (_conditional(match) and _says_otherwise(prompt))


def _conditional(match: Match) -> bool:
    return any(token.text in shared_set("only").words for token in match.tokens)


def _says_otherwise(prompt: Prompt) -> bool:
    """Whether the prompt says what the answer is when the condition does not hold."""
    for sentence in prompt.sentences:
        texts = [token.text for token in sentence.tokens]
        for position, text in enumerate(texts):
            if text in shared_set("otherwise").words:
                after = set(texts[position + 1 : position + 8])
                if after & shared_set("say").words and not after & shared_set("not").words:
                    return True
    return False


def _hit(rule: str, prompt: Prompt, start: int, end: int) -> Hit:
    line, column = prompt.position(start)
    excerpt = " ".join(prompt.text[start:end].split())
    return Hit(RULES[rule], f'"{excerpt}" {RULES[rule].text}', line, column, excerpt, RULES[rule].instead)


def _other_marks(prompt: Prompt) -> Iterator[Hit]:
    """Marks that the host takes for silence today, though its own words to the agent name only [SILENT]."""
    if not _names_silence(prompt):
        for match in _OTHER_MARK.finditer(prompt.text):
            yield _hit("L503", prompt, match.start(), match.end())


def _names_silence(prompt: Prompt) -> bool:
    return "[silent]" in prompt.text.lower()


def _size(prompt: Prompt) -> Iterator[Hit]:
    count = len(list(islice(prompt.tokens, MIN_WORDS)))
    if count < MIN_WORDS:
        text = f"{count} word{'s' if count != 1 else ''}: {RULES['L601'].text}"
        yield Hit(RULES["L601"], text, 1, 1, "", RULES["L601"].instead)
    if len(prompt.text) > MAX_CHARACTERS:
        text = f"{len(prompt.text)} characters: {RULES['L602'].text}"
        yield Hit(RULES["L602"], text, 1, 1, "", RULES["L602"].instead)


def _relative_paths(prompt: Prompt) -> Iterator[Hit]:
    """Paths without a beginning; a bare file name only where the prompt names no place at all."""
    placed = any(token.kind in (PATH, URL) for token in prompt.tokens)
    for match in _RELATIVE.finditer(prompt.prose):
        if "/" in match.group() or not placed:
            yield _hit("L603", prompt, match.start(), match.end())


def _sorted(hits: list[Hit]) -> list[Hit]:
    hits.sort(key=lambda hit: (hit.line or 0, hit.column or 0, hit.rule.id))
    counts: dict[str, int] = {}
    kept = []
    for hit in hits:
        counts[hit.rule.id] = counts.get(hit.rule.id, 0) + 1
        if counts[hit.rule.id] <= MAX_PER_RULE:
            kept.append(hit)
    return kept


def _allowed(hits: list[Hit], prompt: Prompt, given: list[Allowance]) -> list[Hit]:
    """Mark what is allowed; say what is wrong with the allowances themselves."""
    written = allowances(prompt.text)
    about = []
    for allowance in written:
        rule = "L001" if not allowance.reason else "L002" if not allowance.known else ""
        if not rule and not any(allowance.covers(hit.rule) for hit in hits):
            rule = "L003"
        if rule:
            line, column = prompt.position(allowance.offset or 0)
            text = f"{allowance.rule}: {RULES[rule].text}"
            about.append(Hit(RULES[rule], text, line, column, "", RULES[rule].instead))
    counted = [allowance for allowance in written if allowance.reason] + given
    marked = []
    for hit in hits:
        reason = next((one.reason for one in counted if one.covers(hit.rule)), None)
        marked.append(hit if reason is None else replace(hit, allowed=reason))
    return _sorted(marked + about)
