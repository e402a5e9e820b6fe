"""The wording rules: will this text do its work in a session that knows nothing but the text?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import islice

from .content import (
    forbidden_after,
    forbids_clause,
    is_conditional,
    is_drafted,
    is_negated,
    is_own_deed,
    is_possible,
    negated,
)
from .languages import LANGUAGES, language, matcher, shared_set, words
from .phrases import Match
from .placeholders import Words, find_slots
from .rules import RULES, Allowance, Hit, allowances
from .text import ADDRESS, PATH, URL, Prompt, read_prompt
from .whole import OTHER_MARK, Whole

MIN_WORDS = 8
MAX_CHARACTERS = 12_000
NEAR = 4  # words around an earlier run in which it may be said where it left something
SHORT = 3  # words of a line that is one of a list without bullets
MAX_PER_RULE = 20  # hits of one rule that are named in one prompt

_NAMED = (PATH, URL, ADDRESS)
# Rules whose phrases a text for other people may hold.
_SPEAKING = ("L301", "L302", "L303", "L304", "L306", "L402", "L501")
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
    whole = Whole(prompt)
    hits: list[Hit] = []
    seen: set[tuple[str, int]] = set()
    ends: dict[str, int] = {}
    for name in languages:
        finder, patterns = matcher(name), language(name).patterns
        for index, sentence in enumerate(prompt.sentences):
            for match in finder.find(sentence):
                pattern = patterns.get(match.phrase.tag)
                rule = pattern.rule if pattern else match.phrase.tag
                if pattern and not pattern.holds(match, prompt, shared_set("not").words):
                    continue
                if match.start < ends.get(rule, -1) or (rule, match.start) in seen:
                    continue
                if _stands(rule, match, index, whole, given):
                    seen.add((rule, match.start))
                    ends[rule] = match.end
                    hits.append(_hit(rule, prompt, match.start, match.end))
    for slot in find_slots(prompt, _slot_words(tuple(languages))):
        hits.append(_hit(slot.rule, prompt, slot.start, slot.end))
    hits += _marks_in_quotations(prompt)
    hits += _other_marks(whole)
    hits += _size(prompt)
    if not given.workdir:
        hits += _relative_paths(prompt)
    return _allowed(hits, prompt, list(allow))


@cache
def _slot_words(names: tuple[str, ...]) -> Words:
    return Words(**{field.name: words(field.name, names) for field in fields(Words)})


def _stands(rule: str, match: Match, index: int, whole: Whole, given: Given) -> bool:
    """Whether a phrase that was found is the fault it looks like."""
    tokens = match.sentence.tokens
    if not match.phrase.stands and is_negated(match):
        return False
    if forbidden_after(match):
        return False
    if rule in _SPEAKING and is_drafted(match):
        return False
    if rule == "L101":
        clause = tokens[match.last].clause  # "the limits I gave you in /srv/limits.toml"
        after = tokens[match.last + 1 : match.last + 7]
        before = tokens[max(0, match.first - 2) : match.first]  # "in /srv/limits.toml we agreed"
        given_in = (
            len(before) == 2 and before[1].kind in _NAMED and before[0].text in shared_set("within").words
        )
        return not (given_in or any(token.kind in _NAMED and token.clause == clause for token in after))
    if rule == "L102":
        return not (given.before or whole.keeps_state or _says_where(match) or whole.renews_a_file)
    if rule == "L109":
        return not any(token.text in shared_set("whether").words for token in tokens[: match.first])
    if rule == "L103":
        return not given.before and not _something_before(match, index, whole.prompt)
    if rule == "L108":
        return not _something_after(match, index, whole.prompt)
    if rule == "L105":
        return not whole.names_kept_file
    if rule == "L401":
        return not forbids_clause(match)
    if rule == "L402":
        return not any(token.kind == PATH for token in tokens[match.last + 1 : match.last + 2])
    if rule in ("L302", "L304"):
        return not (is_own_deed(match) or is_possible(match))
    if rule == "L501":
        return _silence_stands(match, index, whole)
    return True


def _says_where(match: Match) -> bool:
    """Whether the sentence has the file that an earlier run is said to have left."""
    tokens = match.sentence.tokens
    near = tokens[max(0, match.first - NEAR) : match.first] + tokens[match.last + 1 : match.last + 1 + NEAR]
    return any(token.kind == PATH for token in tokens) and any(words("left").takes(one.text) for one in near)


def _something_before(match: Match, index: int, prompt: Prompt) -> bool:
    """Whether the prompt has a list, code, a quotation or several addresses before the place."""
    if index >= 6 or any(end <= match.start for _, end in prompt.data[:1]):
        return True
    before = prompt.sentences[:index]
    named = sum(token.kind in _NAMED for sentence in before for token in sentence.tokens)
    lines = sum(len(sentence.tokens) <= SHORT for sentence in before)
    return named >= 2 or lines >= 3 or any(sentence.item for sentence in before)


def _something_after(match: Match, index: int, prompt: Prompt) -> bool:
    return (
        index + 1 < len(prompt.sentences)
        or any(start >= match.end for start, _ in prompt.data[-1:])
        or match.last + 2 < len(match.sentence.tokens)
    )


def _silence_stands(match: Match, index: int, whole: Whole) -> bool:
    if whole.names_silence or whole.names_another_mark:
        return False
    tokens = match.sentence.tokens
    if any(shared_set("sends").takes(token.text) for token in match.tokens) and not is_conditional(
        index, whole.prompt
    ):
        return False  # a deed that is not to be done
    clause = {token.text for token in tokens if token.clause == tokens[match.first].clause}
    if tokens[0].text in shared_set("about").words:
        clause.add(tokens[0].text)
    if clause & (shared_set("about").words | shared_set("sending").words) or any(
        map(shared_set("channel").takes, clause)
    ):
        return False  # a subject that is not to be spoken of, a way that is not to be used: not silence
    return not (_conditional(match) and whole.says_otherwise)


def _conditional(match: Match) -> bool:
    return any(token.text in shared_set("only").words for token in match.tokens)


def _hit(rule: str, prompt: Prompt, start: int, end: int) -> Hit:
    line, column = prompt.position(start)
    excerpt = " ".join(prompt.text[start:end].split())
    return Hit(RULES[rule], f'"{excerpt}" {RULES[rule].text}', line, column, excerpt, RULES[rule].instead)


def _marks_in_quotations(prompt: Prompt) -> Iterator[Hit]:
    """Answers in quotation marks that hold the mark of silence and other words: "[SILENT] all is well"."""
    for sentence in prompt.sentences:
        for position, token in enumerate(sentence.tokens):
            if token.text == "<quote>":
                before, mark, after = prompt.text[token.start : token.end].lower().partition("[silent]")
                refused = negated(sentence.tokens, position, shared_set("not").words, shared_set("but").words)
                if mark and sum(map(str.isalpha, before + after)) > 2 and not refused:
                    yield _hit("L502", prompt, token.start, token.end)


def _other_marks(whole: Whole) -> Iterator[Hit]:
    """Marks that the host takes for silence today, though its own words to the agent name only [SILENT]."""
    if not whole.names_silence:
        for match in OTHER_MARK.finditer(whole.prompt.text):
            yield _hit("L503", whole.prompt, match.start(), match.end())


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
