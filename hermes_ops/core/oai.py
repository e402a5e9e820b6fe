"""OAI-PMH 2.0, the part of it that harvests: ListRecords, page by page, with a position to go on from.

What counts is the datestamp of a record's header (when it was added, changed or deleted), never a date in its
metadata: a paper of 2019 that was revised yesterday is news of yesterday.
Source: https://www.openarchives.org/OAI/openarchivesprotocol.html
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from ..errors import OpsError, Unreadable
from .http import Answer, request, retry_after, shown

PAUSE = 3.0  # seconds between two pages, what arXiv asks for
PATIENCE = 900.0  # seconds that a busy archive is waited for, over all pages
MAX_PAGES = 1000
MAX_BYTES = 50_000_000
_BUSY_WAIT = 10.0
_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?")


class OaiError(OpsError):
    """The archive refused the request; ``code`` is its own, such as badArgument or badResumptionToken."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code


@dataclass(frozen=True)
class Record:
    """One record. ``datestamp`` is the header's, as written; a deleted record (tombstone) has no metadata.

    ``abstract`` is the longest description: shorter ones are remarks. ``dates`` are those of the metadata.
    """

    identifier: str
    datestamp: str
    deleted: bool = False
    sets: tuple[str, ...] = ()
    title: str = ""
    abstract: str = ""
    authors: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


@dataclass(frozen=True)
class Page:
    """One page.

    ``token`` is where to go on after it, None at the end; ``total`` what the archive says there is.
    ``outside`` records were sent although they lie outside the window, ``bad`` ones have no identifier or
    datestamp.
    """

    number: int
    records: tuple[Record, ...]
    token: str | None
    total: int | None = None
    outside: int = 0
    bad: int = 0


def harvest(
    endpoint: str,
    *,
    since: str | None = None,
    until: str | None = None,
    set_name: str | None = None,
    prefix: str = "oai_dc",
    token: str | None = None,
    timeout: float = 60.0,
    pause: float = PAUSE,
    patience: float = PATIENCE,
    progress: Callable[[Page], None] | None = None,
    wait: Callable[[float], None] = time.sleep,
) -> Iterator[Page]:
    """The pages of ListRecords with a datestamp in [since, until]; each as soon as it is there.

    Dates are "2026-11-28" or "2026-11-28T06:00:00Z" and count as a whole, `until` included. Keep the token of
    every page: with it a harvest that broke goes on. Nothing in the window is one page without records.
    Raises OaiError (what the archive says, or a token that came before) or Unreadable (no answer, no OAI-PMH,
    a document type, an archive busy for longer than `patience`) after the pages that were well.
    """
    for name, value in (("from", since), ("until", until)):
        if value is not None and not _DATE.fullmatch(value):
            raise OaiError("badArgument", f"{name} is {value!r}, expected 2026-11-28 or 2026-11-28T06:00:00Z")
    asked = {"metadataPrefix": prefix, "from": since, "until": until, "set": set_name}
    seen = {token} if token else set()
    left = patience
    for number in range(1, MAX_PAGES + 1):
        arguments = {"resumptionToken": token} if token else {k: v for k, v in asked.items() if v}
        answer, left = _ask(_address(endpoint, arguments), timeout, left, wait)
        page = read_page(answer.body, number=number, since=since, until=until, source=shown(endpoint))
        if progress is not None:
            progress(page)
        yield page
        if page.token is None:
            return
        if page.token in seen:
            raise OaiError("badResumptionToken", f"page {number} points to a page that was already read")
        seen.add(page.token)
        token = page.token
        wait(pause)
    raise OaiError("tooManyPages", f"no end after {MAX_PAGES} pages; go on with the token of the last one")


def read_page(
    body: bytes,
    *,
    number: int = 1,
    since: str | None = None,
    until: str | None = None,
    source: str = "answer",
) -> Page:
    """Read one answer to ListRecords; the bytes are parsed in the encoding that they declare.

    Raises OaiError for what the archive refused, Unreadable for what is no OAI-PMH.
    """
    root = _parse(body, source)
    if _name(root) != "OAI-PMH":
        raise Unreadable(source, f"expected an OAI-PMH answer, found <{_name(root)[:40]}>")
    errors = [(item.get("code") or "error", _text(item)) for item in root if _name(item) == "error"]
    if errors:
        if all(code == "noRecordsMatch" for code, _ in errors):
            return Page(number, (), None, 0)
        raise OaiError(errors[0][0], "; ".join(_printable(text) or code for code, text in errors))
    listing = next((item for item in root if _name(item) == "ListRecords"), None)
    if listing is None:
        raise Unreadable(source, "the answer holds neither records nor an error")
    found, outside, bad = [], 0, 0
    for item in listing:
        if _name(item) != "record":
            continue
        record = _record(item)
        if record is None:
            bad += 1
        elif not _inside(record.datestamp, since, until):
            outside += 1
        else:
            found.append(record)
    token = next((item for item in listing if _name(item) == "resumptionToken"), None)
    total = (token.get("completeListSize") or "") if token is not None else ""
    return Page(
        number,
        tuple(found),
        ((token.text or "").strip() or None) if token is not None else None,
        int(total) if total.isascii() and total.isdigit() and len(total) < 12 else None,
        outside,
        bad,
    )


def _address(endpoint: str, arguments: dict[str, str]) -> str:
    query = urlencode({"verb": "ListRecords", **arguments})
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{query}"


def _ask(url: str, timeout: float, patience: float, wait: Callable[[float], None]) -> tuple[Answer, float]:
    """One page's answer, and what is left of the patience after an archive that was busy."""
    while True:
        answer = request(url, timeout=timeout, max_bytes=MAX_BYTES)
        if answer.status == 200:
            return answer, patience
        if answer.status not in (429, 503):
            raise Unreadable(answer.url, f"HTTP {answer.status}")
        asked = retry_after(answer.headers)
        pause = max(1.0, _BUSY_WAIT if asked is None else asked)
        if pause > patience:
            raise Unreadable(
                answer.url, f"the archive is busy (HTTP {answer.status}) and asks for {pause:.0f} s more"
            )
        wait(pause)
        patience -= pause


def _parse(body: bytes, source: str) -> Any:
    from xml.etree import ElementTree

    if body[:4].count(0) or body[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise Unreadable(source, "UTF-16 and UTF-32 are not read; OAI-PMH is UTF-8")
    if body[:400].removeprefix(b"\xef\xbb\xbf").lstrip().lower().startswith((b"<html", b"<!doctype html")):
        raise Unreadable(source, "an HTML page, where XML was expected")
    if not _prolog_is_plain(body):
        raise Unreadable(
            source, "it declares a document type, which no OAI-PMH answer needs; it was not read"
        )
    try:
        return ElementTree.fromstring(body, ElementTree.XMLParser(target=_builder(source)))
    except ElementTree.ParseError as error:
        line, column = error.position
        raise Unreadable(source, f"XML that is cut or broken at line {line}, column {column + 1}") from None
    except (LookupError, ValueError) as error:
        raise Unreadable(source, f"XML in an encoding that is not known: {str(error)[:80]}") from None


def _builder(source: str) -> Any:
    from xml.etree.ElementTree import TreeBuilder

    class Builder(TreeBuilder):
        def doctype(self, *_: object) -> None:
            raise Unreadable(source, "it declares a document type; it was not read")

    return Builder()


def _prolog_is_plain(body: bytes) -> bool:
    """Whether nothing but a declaration, comments and instructions stands before the first element."""
    at = 3 if body.startswith(b"\xef\xbb\xbf") else 0
    while True:
        while body[at : at + 1] in (b" ", b"\t", b"\r", b"\n"):
            at += 1
        for opening, closing in ((b"<?", b"?>"), (b"<!--", b"-->")):
            if body.startswith(opening, at):
                end = body.find(closing, at)
                if end < 0:
                    return True
                at = end + len(closing)
                break
        else:
            return not body.startswith(b"<!", at)


def _record(item: Any) -> Record | None:
    header = next((part for part in item if _name(part) == "header"), None)
    if header is None:
        return None
    of_header = _texts(header)
    identifier = next(iter(of_header.get("identifier", ())), "")
    datestamp = next(iter(of_header.get("datestamp", ())), "")
    if not identifier or not _DATE.fullmatch(datestamp):
        return None
    sets = tuple(of_header.get("setSpec", ()))
    if header.get("status") == "deleted":
        return Record(identifier, datestamp, True, sets)
    metadata = next((part for part in item if _name(part) == "metadata"), None)
    form = next(iter(metadata), None) if metadata is not None else None
    found = _texts(form) if form is not None else {}

    def get(*names: str) -> tuple[str, ...]:
        return tuple(text for name in names for text in found.get(name, ()) if text)

    categories = tuple(word for text in get("categories") for word in text.split())
    return Record(
        identifier,
        datestamp,
        sets=sets,
        title=next(iter(get("title")), ""),
        abstract=max(get("description", "abstract"), key=len, default=""),
        authors=get("creator", "author", "authors"),
        subjects=get("subject") + categories,
        dates=get("date", "created", "updated"),
        links=get("identifier"),
    )


def _texts(element: Any) -> dict[str, list[str]]:
    """The texts of the children by local name; a list of authors counts one by one."""
    found: dict[str, list[str]] = {}
    for child in element:
        name = _name(child)
        if name == "authors" and len(child):
            for author in child:
                parts = _texts(author)
                names = [*parts.get("forenames", ()), *parts.get("keyname", ())]
                found.setdefault("author", []).append(" ".join(names) or _text(author))
        else:
            found.setdefault(name, []).append(_text(child))
    return found


def _inside(datestamp: str, since: str | None, until: str | None) -> bool:
    """Whether a datestamp lies in the window; compared at the coarser of the two granularities."""
    for bound, sign in ((since, 1), (until, -1)):
        if bound is None:
            continue
        size = min(len(bound), len(datestamp))
        ours, theirs = datestamp[:size], bound[:size]
        if (ours > theirs) - (ours < theirs) == -sign:
            return False
    return True


def _name(element: Any) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _text(element: Any) -> str:
    return " ".join("".join(element.itertext()).split())


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)[:300].strip()
