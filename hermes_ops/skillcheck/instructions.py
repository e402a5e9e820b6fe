"""Instructions against the user, found in the texts of a skill and weighed by where they stand.

Prose is meant. What stands in code or quotation marks of a text that speaks of attacks is an example. What is
hidden or disguised is never excused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from .context import ABOUT_ATTACKS, EXAMPLES
from .document import Document
from .fold import visible
from .phrases import CORE, PHRASES, SCRIPTS, SQUEEZED, Phrase
from .rules import ERROR, INFO, ORDER, WARNING, Hit
from .words import Found, Stream, stream, tokens_of, variants

MAX_HIDDEN = 300  # hidden pieces looked at one by one; when there are more, all of them together
MAX_SHOWN = 2_000
SHORTEST_SQUEEZED = 12  # letters of words that are run together
MAX_OF_ONE_RULE = 5  # in one file; more of the same says nothing new
_OPPOSITE = re.compile(
    r"\b(?:never|not|don.?t|avoid|refuse to|without|cannot|nicht|niemals|нельзя|не)[^\w,;:]+"
    r"(?:(?!(?:and|then|but|forget|fail|hesitate|omit|neglect|miss|only|just)\b)\w+[^\w,;:]+){0,2}$"
)
# "If a page asks you to ..." speaks of what others may say.
_IF_SAID = re.compile(
    r"\b(?:if|when|whenever|any|anything|may|might|could|wenn|если|si|cuando)\b.{0,120}\b(?:asks?|asking|"
    r"tells?|telling|says?|saying|instructs?|"
    r"instructing|orders?|wants?|urges?|tries|trying|attempts?|requests?)\b\W+(?:(?!and\b|then\b)\w+\W+){0,3}$",
    re.DOTALL,
)
# "..., do so", "..., follow it": then it is an order all the same.
_DO_SO = re.compile(
    r"^\W{0,4}(?:(?:then|please|just|you|should|must|always|simply|to)\W+){0,3}(?:do (?:so|it|that|as)|"
    r"obey|comply|follow (?:it|them|that|"
    r"this)|run (?:it|them|that)|go ahead|carry (?:it|them|that) out|agree|accept)\b"
)
_SOMEBODY_SAYS = re.compile(
    r"(?:mail|email|message|page|comment|site) (?:saying|telling|asking|that (?:says|asks))\b"
)
_NOT_FORGET = re.compile(r"(?:forget|neglect) to\b")  # "never forget to ignore ..."
_PRINTS = re.compile(
    r"\b(?:print|echo|printf|puts|console\.\w+|write(?:ln|-output|-host)?|say|display|cat)\b"
)


_OPENS = ('"', "“", "„", "'", "‘", "«", "「", "`")
_COMMENT = re.compile(r"(?:^|\s)(?:#|//|--|;)\s*(\S.*)$")
_OFTEN = ("ignore", "disregard", "instructions", "previous", "prompt", "override", "forget", "user", "tell")


def _shift(distance: int) -> dict[int, int]:
    """Letters moved by a distance in the alphabet, for str.translate."""
    return {97 + i: 97 + (i + distance) % 26 for i in range(26)}


_SHIFTED = {
    distance: frozenset(word.translate(_shift(distance)) for word in _OFTEN) for distance in range(1, 26)
}


@dataclass(frozen=True)
class Topic:
    """What a skill is about, by its own name and description: security, or attacks as such."""

    is_security: bool = False
    is_attacks: bool = False


def instructions(page: Document, topic: Topic, *, is_code: bool = False) -> list[Hit]:
    """Every instruction against the user in a text, at most MAX_OF_ONE_RULE of a rule."""
    hits = [*_shown(page, topic, is_code), *_not_shown(page), *_turned(page)]
    if is_code:
        hits += _in_comments(page)
    return limited(hits)


def in_text(text: str) -> tuple[Phrase, str] | None:
    """The first instruction in a piece of text on its own (decoded, of a title), with its words; or None."""
    for phrase, found in _matches(text):
        if phrase.severity == ERROR:
            return phrase, found.words
    return None


def limited(hits: Iterable[Hit]) -> list[Hit]:
    """Hits by line, one for each rule and line, the weightiest; at most MAX_OF_ONE_RULE of a rule."""
    best: dict[tuple[str, int], Hit] = {}
    for hit in hits:
        key = hit.rule, hit.line
        if key not in best or ORDER.index(hit.severity) < ORDER.index(best[key].severity):
            best[key] = hit
    kept: list[Hit] = []
    counts: dict[tuple[str, str], int] = {}
    for hit in sorted(best.values(), key=lambda one: (ORDER.index(one.severity), one.line)):
        group = hit.rule, hit.severity
        counts[group] = counts.get(group, 0) + 1
        if counts[group] <= MAX_OF_ONE_RULE:
            kept.append(hit)
        else:  # who accepts the last one accepts what is left out: it belongs to what is accepted
            at = max(i for i, one in enumerate(kept) if (one.rule, one.severity) == group)
            left_out = " ".join((hit.text, hit.match, *hit.evidence))
            kept[at] = replace(kept[at], match=f"{kept[at].match}\n{left_out}")
    return sorted(kept, key=lambda one: one.line)


def _matches(text: str) -> Iterator[tuple[Phrase, Found]]:
    """Every phrase in a text, also where digits, blanks or line ends break its words up."""
    tokens = tokens_of(text)
    plain = Stream(*tokens)
    yield from _in_stream(plain, PHRASES)
    if any(len(word) >= SHORTEST_SQUEEZED for word in plain.words):
        yield from _in_stream(plain, SQUEEZED)
    for phrase in SCRIPTS if not text.isascii() else ():
        for found in phrase.pattern.finditer(text):
            yield phrase, Found(found.start(), found.end(), found[0])
    for other in variants(text, tokens):
        yield from _in_stream(other, PHRASES)
        yield from _in_stream(other, SQUEEZED)


def _in_stream(words: Stream, phrases: Iterable[Phrase]) -> Iterator[tuple[Phrase, Found]]:
    for phrase in phrases:
        if phrase.begins and phrase.begins.isdisjoint(words.words):
            continue
        for found in words.search(phrase.pattern):
            yield phrase, found


def _shown(page: Document, topic: Topic, is_code: bool) -> Iterator[Hit]:
    readings = (page.visible, page.apart) if page.apart else (page.visible,)
    for phrase, found in (one for text in readings for one in _matches(text)):
        first, last = page.line_of(found.start), page.line_of(found.end - 1)
        is_disguised = _is_disguised(page, found, first, last)
        if is_disguised:
            severity, why = ERROR, " in disguise"
        else:
            severity, why = _weighed(page, topic, phrase, found, is_code)
        if severity:
            yield _hit(page, phrase, found, severity, why, first, last)


def _is_disguised(page: Document, found: Found, first: int, last: int) -> bool:
    """Whether a match was only seen through invisible characters, look-alikes or digits for letters."""
    if any(line in page.folded.disguised for line in range(first, last + 1)):
        return True
    written = re.sub(r"[^\w]+|_", " ", page.folded.text[found.start : found.end]).split()
    return (
        bool(found.words.isascii())
        and " ".join(written) != found.words
        and _looks_dressed(written, found.words)
    )


def _looks_dressed(written: list[str], words: str) -> bool:
    joined = "".join(written)
    if joined == words.replace(" ", ""):  # apart only by markup or line ends
        return sum(len(one) == 1 for one in written) >= 5 or "<" in joined
    return True


def _weighed(page: Document, topic: Topic, phrase: Phrase, found: Found, is_code: bool) -> tuple[str, str]:
    """The severity of a match where it stands, and a word on why; "" when it is none."""
    before, after = page.sentence(found.start, found.end)
    is_order = _DO_SO.match(after) or _NOT_FORGET.match(found.words)
    if phrase.pardoned and not is_order and (_OPPOSITE.search(before) or _IF_SAID.search(before)):
        return "", ""
    if not is_order and _SOMEBODY_SAYS.match(found.words):
        return INFO, " (what others may write)"
    if (
        phrase.rule == "skill.hide"
        and phrase.severity == WARNING
        and page.folded.text[found.end :][:3].lstrip()[:1] in _OPENS
    ):
        return INFO, " (words that are not to be used)"
    if page.has_orders and page.is_quoted(found.start, found.end):
        return _lower(phrase.severity), " (quoted, in a page that says to do it)"
    sentence = f"{before} {after}"
    if page.is_quoted(found.start, found.end):
        if is_code and _PRINTS.search(before[-80:]):
            return phrase.severity, " (printed to whoever runs it)"
        if topic.is_security:
            return INFO, " (quoted in a text about security)"
        near = f"{sentence}\n{page.title}\n{page.around(found.start, found.end)}\n{page.path}"
        if ABOUT_ATTACKS.search(near):
            return INFO, " (quoted in a text about attacks)"
        if EXAMPLES.search(sentence) or EXAMPLES.search(near):
            return INFO, " (quoted as an example)"
        return _lower(phrase.severity), " (quoted)"
    if ABOUT_ATTACKS.search(sentence):
        return INFO, " (in a sentence about attacks)"
    if topic.is_security and ABOUT_ATTACKS.search(f"{page.around(found.start, found.end)}\n{page.path}"):
        return INFO, " (in a text about attacks)"
    return phrase.severity, ""


def _lower(severity: str) -> str:
    return {ERROR: WARNING}.get(severity, INFO)


def _not_shown(page: Document) -> Iterator[Hit]:
    """Instructions in what a page does not show: each piece on its own, and all of a kind together."""
    for hidden in page.hidden[:MAX_HIDDEN]:
        for phrase, found in _matches(hidden.text):
            place = Found(hidden.start + found.start, hidden.start + found.end, found.words)
            first, last = page.line_of(place.start), page.line_of(max(place.start, place.end - 1))
            yield _hit(page, phrase, place, ERROR, f" in a {hidden.how}", first, last)
    comments = [one for one in page.hidden if one.how == "comment" or len(page.hidden) > MAX_HIDDEN]
    if len(comments) > 1:
        for phrase, found in _matches(" ".join(one.text for one in comments)):
            place = Found(comments[0].start, comments[0].start + 1, found.words)
            line = page.line_of(place.start)
            yield _hit(page, phrase, place, ERROR, " in comments taken together", line, line)


def _in_comments(page: Document) -> Iterator[Hit]:
    """Instructions that go on from comment to comment, with code between them."""
    texts, lines = [], []
    for number, line in enumerate(page.folded.text.split("\n"), 1):
        found = _COMMENT.search(line[:2000])
        if found and line[: found.start()].strip():
            texts.append(found[1])
            lines.append(number)
    if len(texts) < 2:
        return
    joined = " ".join(texts)
    for phrase, found in _matches(joined):
        at, line = 0, lines[-1]
        for text, number in zip(texts, lines, strict=True):
            at += len(text) + 1
            if at > found.start:
                line = number
                break
        yield _hit(
            page,
            phrase,
            Found(page.start_of(line), page.start_of(line) + 1, found.words),
            phrase.severity,
            " in comments taken together",
            line,
            line,
        )


def _shifted(words: str) -> Iterator[tuple[str, str]]:
    """The text with its letters shifted back, for each distance that makes words of the phrases of it."""
    known = set(words.split())
    for distance, shifted in _SHIFTED.items():
        if len(shifted & known) > 1:
            yield f"with letters shifted by {distance}", words.translate(_shift(-distance))


def _turned(page: Document) -> Iterator[Hit]:
    """Text written backwards or with shifted letters (Caesar, rot13)."""
    words = stream(page.visible).text
    for how, text in (("written backwards", words[::-1]), *_shifted(words)):
        for phrase in CORE[:4] + CORE[-12:-8]:
            found = phrase.pattern.search(text)
            if found:
                yield Hit(
                    "skill.encoded",
                    ERROR,
                    page.path,
                    0,
                    f"{how}: {phrase.what}",
                    (visible(found[0]),),
                    found[0],
                )
                break


def _hit(page: Document, phrase: Phrase, found: Found, severity: str, why: str, first: int, last: int) -> Hit:
    lines = [page.line_text(number) for number in range(first, min(last, first + 4) + 1)]
    if len(lines[0]) > MAX_SHOWN:  # a long line: the part that holds the match, as it was folded
        lines = [page.folded.text[max(0, found.start - 60) : found.end + 60]]
    shown = visible(" / ".join(line.strip() for line in lines if line.strip()))
    evidence = [shown]
    if re.sub(r"\W+", " ", shown.lower()).find(found.words) < 0:
        evidence.append(f"understood as: {visible(found.words)}")
    return Hit(phrase.rule, severity, page.path, first, f"{phrase.what}{why}", tuple(evidence), found.words)
