"""The scan of a skill: every file by what it is, archives from the inside. Decides nothing, runs nothing."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from . import hidden, structure
from .archives import Budget, unpack
from .deeds import deeds
from .document import document
from .encoded import encoded
from .entries import FILE, MANIFEST, Entry, Skill
from .flows import flows
from .head import head, topic_of
from .instructions import Topic, instructions
from .kinds import ARCHIVE, BINARY, DOCUMENT, MEDIA, OPAQUE, TEXT, Kind, kind_of
from .languages import is_page, language_of
from .own_files import by_name, wanted
from .page_commands import excused, page_commands
from .rules import ERROR, ORDER, WARNING, Hit, Located, located
from .scripts import scripts
from .sent_keys import filled_in, sent_keys

MAX_TEXT = 1_500_000  # characters from the beginning of one text; from its end a third of that
MAX_ALL_TEXT = 10_000_000  # of one skill

_PRINTED_WIDE = re.compile(rb"(?:[\x20-\x7e\n\t]\x00){20,}")
_PRINTED = re.compile(rb"[\x20-\x7e\n\t]{40,}")


def scan(skill: Skill) -> list[Located]:
    """Every finding on a skill, by file and line."""
    hits: list[Hit] = []
    entries = [*skill.entries]
    budget = Budget()
    for entry in skill.entries:
        if entry.kind == FILE:
            inner = unpack(entry, budget)
            entries += inner.entries
            hits += inner.hits
    whole = Skill(skill.name, skill.origin, entries, skill.root, skill.is_loose, skill.limited)
    hits += structure.links_and_specials(whole)
    hits += structure.names(whole)
    hits += structure.ignored(whole)
    hits += _contents(whole)
    return _located(hits, whole)


def _contents(skill: Skill) -> Iterator[Hit]:
    topic, left = _topic(skill), MAX_ALL_TEXT
    for entry in skill.entries:
        if entry.kind != FILE:
            continue
        kind = kind_of(entry.name, entry.data)
        yield from structure.content(entry, kind, skill)
        if kind.what == TEXT and left <= 0:
            yield Hit(
                "skill.huge",
                WARNING,
                entry.path,
                0,
                f"over {MAX_ALL_TEXT:,} characters of text: not looked at",
                match="text",
                is_unread=True,
            )
        elif kind.what == TEXT:
            text, cut = _text(entry, kind)
            left -= len(text)
            yield from text_hits(entry.path, text, topic)
            if cut and entry.is_whole:
                said = f"{cut:,} characters in its middle were not looked at"
                yield Hit("skill.huge", WARNING, entry.path, 0, said, match="huge", is_unread=True)
            if _holds_archive(entry):
                yield Hit(
                    "skill.archive",
                    WARNING,
                    entry.path,
                    0,
                    "an archive is attached to a text",
                    match="attached",
                )
        elif kind.what in (MEDIA, DOCUMENT, BINARY, OPAQUE):
            yield from _printed(entry, kind, topic)


def _packed_notes(data: bytes, kind: Kind) -> Iterator[bytes]:
    """Compressed notes of a PNG (zTXt, iTXt), at most 100,000 bytes of each."""
    if kind.detail != "PNG":
        return
    for found in islice(re.finditer(b"zTXt|iTXt", data), 20):
        size = int.from_bytes(data[found.start() - 4 : found.start()], "big")
        note = data[found.end() : found.end() + min(size, 1_000_000)]
        at = note.find(b"\x78", note.find(b"\0") + 1)
        try:
            yield zlib.decompressobj().decompress(note[at:], 100_000) if at > 0 else b""
        except zlib.error:
            continue


def text_hits(path: str, text: str, topic: Topic) -> list[Hit]:
    """Everything found in one text."""
    language = language_of(path, text)
    page = document(path, text, is_page(path) and not language)
    hits: list[Hit] = instructions(page, topic, is_code=bool(language))
    hits += hidden.hidden(page, bool(language))
    hits += encoded(page, topic)
    hits += excused(page, topic, (*wanted(page, bool(language)), *sent_keys(path, text), *filled_in(page)))
    hits += by_name(path, text)
    if page.is_page:
        hits += page_commands(page, topic)
    hits += scripts(path, text)
    hits += deeds(page, topic)
    if path.rpartition("/")[2] == MANIFEST:
        hits += head(path, text)
    if language:  # what a piece of code does is decided all over its file
        return hits
    return [replace(hit, passage=page.passage(hit.line)) if hit.line else hit for hit in hits]


def _text(entry: Entry, kind: Kind) -> tuple[str, int]:
    """The beginning and the end of a text, and how many characters between them are left out."""
    text = kind.text + ("\n" + entry.tail.decode("utf-8", "replace") if entry.tail else "")
    if len(text) <= MAX_TEXT + MAX_TEXT // 3:
        return text, 0
    end = text[-MAX_TEXT // 3 :]
    return f"{text[:MAX_TEXT]}\n{end}", len(text) - MAX_TEXT - len(end)


def _topic(skill: Skill) -> Topic:
    manifest = skill.entry(MANIFEST)
    if manifest is None or manifest.kind != FILE:
        return Topic()
    return topic_of(kind_of(manifest.name, manifest.data).text)


def _holds_archive(entry: Entry) -> bool:
    """Whether unzip would find something: it looks for a directory at the end, whatever is before."""
    end = (entry.tail or entry.data)[-66_000:]
    return b"PK\x05\x06" in end and b"PK\x01\x02" in end


def _printed(entry: Entry, kind: Kind, topic: Topic) -> Iterator[Hit]:
    """The readable pieces of a picture or another binary file: comments, metadata, what is attached."""
    pieces = [
        *_PRINTED.findall(entry.data)[:400],
        *(one[::2] for one in _PRINTED_WIDE.findall(entry.data)[:100]),
        *_packed_notes(entry.data, kind),
    ]
    found = b"\n".join(pieces)[:200_000].decode("ascii", "replace")
    if found and kind.what in (MEDIA, DOCUMENT):
        yield from flows(entry.path, found)
    if found:
        page = document(entry.path, found, False)
        for hit in instructions(page, topic):
            yield Hit(
                hit.rule,
                hit.severity,
                hit.path,
                0,
                f"{hit.text}, inside a {kind.detail or 'binary file'}",
                hit.evidence,
                hit.match,
            )
    if kind.what == MEDIA and _holds_archive(entry):
        yield Hit(
            "skill.archive",
            ERROR,
            entry.path,
            0,
            f"an archive is attached to a {kind.detail}",
            match="attached",
        )
    if kind.what != ARCHIVE and entry.mode & 0o111 and kind.what == MEDIA:
        yield Hit(
            "skill.file-name",
            WARNING,
            entry.path,
            0,
            f"a {kind.detail} that may be executed",
            match="executable",
        )


def _located(hits: Iterable[Hit], skill: Skill) -> list[Located]:
    """Hits as findings, each once: by file and line, the weightiest first in a line."""
    best: dict[tuple[str, str, int, str], Hit] = {}
    for hit in hits:
        key = hit.rule, hit.path, hit.line, hit.match
        if key not in best or ORDER.index(hit.severity) < ORDER.index(best[key].severity):
            best[key] = hit
    ordered = sorted(best.values(), key=lambda hit: (hit.path, hit.line, ORDER.index(hit.severity), hit.rule))
    sums = {entry.path: entry.sha256 for entry in skill.entries}
    seen: Counter[tuple[str, ...]] = Counter()
    found = []
    for each in ordered:
        hit = each if each.passage else replace(each, passage=sums.get(each.path, ""))
        same = hit.rule, hit.severity, hit.path, hit.text, hit.match, hit.passage
        found.append(located(hit, skill.name, sums.get(hit.path, ""), seen[same]))
        seen[same] += 1
    return found
