"""Collecting use: the host's running totals against what the ledger saw last, profile by profile."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import Unreadable
from ..host.database import columns, errors_of, reading
from ..host.profiles import Profile
from ..host.usage import (
    Faults,
    billed_by,
    database,
    job_of,
    normal_url,
    parents,
    providers_by_url,
    raw_residuals,
    raw_rows,
    root,
    sessions_since,
)
from .ledger_difference import Days, Difference, Seen, difference
from .ledger_store import sound, writing

OVERLAP = 7200.0  # seconds before the last snapshot from which rows are looked at again
_BATCH = 5000

Row = tuple[Any, ...]

GONE = "it was there before and is gone; what was used since it was last looked at is not known"


class Gone(Unreadable):
    """A database that the ledger knows, and that is not there any more."""


@dataclass
class Counted:
    """What one pass over a profile met; `grown` are the new rows of the ledger."""

    read: int = 0
    grown: int = 0
    unplaced: int = 0
    future: int = 0
    resets: int = 0
    bad: int = 0
    examples: tuple[str, ...] = ()
    first: bool = False


def collect_usage(
    ledger: sqlite3.Connection, ledger_path: Path, profile: Profile, now: float, days: Days
) -> Counted:
    """Book what grew in a profile since it was last looked at. All of it or nothing. Raises Unreadable.

    Without a reason to look at every row (never done; the clock went back; another file), rows seen since
    shortly before the last snapshot are read, and the totals of the sessions that moved.
    """
    counted = Counted()
    path = database(profile.home)
    known = ledger.execute("SELECT usage_at, file, message_id FROM profile WHERE name=?", (profile.name,))
    usage_at, file, message_id = known.fetchone() or (None, "", 0)
    if not _holds_use(path):
        if usage_at is not None:
            raise Gone(path, GONE)
        return counted
    identity = _identity(path)
    counted.first = usage_at is None
    everything = usage_at is None or now < usage_at or file != identity
    faults = Faults()
    # sqlite's errors do not say whose they are: those of the host are told apart where it is read.
    with reading(path) as host, sound(ledger_path), writing(ledger):
        with errors_of(path):
            newest = _newest_message(host)
            lineage = _Lineage(host, path, everything)
            since = None if everything else usage_at - OVERLAP
            moved: set[str] | None = None if everything else _moved(host, since, message_id)
        book = _Book(ledger, profile.name, lineage, everything)
        for batch in _batches(path, raw_rows(host, since, faults)):
            if moved is not None:
                moved.update(row[0] for row in batch)
            book.take(batch, usage_at, now, days, counted)
        for batch in _batches(path, raw_residuals(host, moved, faults)):
            book.take(batch, usage_at, now, days, counted)
        book.settle()
        ledger.execute(
            "INSERT OR REPLACE INTO profile VALUES(?, ?, ?, ?)", (profile.name, now, identity, newest)
        )
    counted.read, counted.bad, counted.examples = faults.read, faults.bad, tuple(faults.examples)
    return counted


class _Book:
    """Writes rows of one profile into the ledger, with numbers for its sessions and routes."""

    def __init__(self, ledger: sqlite3.Connection, profile: str, lineage: _Lineage, everything: bool) -> None:
        self._ledger, self._profile = ledger, profile
        query = "SELECT no, model, provider, url, mode, task FROM route"
        self._routes: dict[Row, int] = {row[1:]: row[0] for row in ledger.execute(query)}
        self._written: dict[Row, int] = {}
        self._new_routes = False
        self._sessions: dict[str, int] = {}
        self._all_sessions = everything
        if everything:
            query = "SELECT id, no FROM session WHERE profile=?"
            self._sessions = dict(ledger.execute(query, (profile,)))
        self._lineage = lineage
        count = ledger.execute("SELECT EXISTS(SELECT 1 FROM profile WHERE name=?)", (profile,)).fetchone()
        self._fresh = not count[0]

    def take(
        self, batch: list[Row], snapshot_at: float | None, now: float, days: Days, counted: Counted
    ) -> None:
        counters, deltas, unplaced = [], [], []
        for row in batch:
            key = (self._session(row[0]), self._route(row[1:6]))
            seen = Seen.of(row)
            found = difference(None if self._fresh else self._before(key), seen, snapshot_at, now, days)
            self._count(found, counted)
            if found.remember is not None:
                kept = found.remember
                totals = (*kept.counts, kept.estimated_usd, kept.actual_usd, kept.first, kept.last)
                counters.append((*key, *totals))
            if found.grown is not None:
                counts, usd, price, since, until = found.grown
                deltas.append((*key, since, until, (since + until) / 2, *counts, usd, price))
            elif found.kind == "unplaced":
                unplaced.append((*key, seen.first, now if seen.last is None else min(now, seen.last)))
        write = self._ledger.executemany
        write(f"INSERT OR REPLACE INTO counter VALUES({', '.join('?' * 12)})", counters)
        write(f"INSERT INTO delta VALUES({', '.join('?' * 13)})", deltas)
        write("INSERT OR REPLACE INTO unplaced VALUES(?, ?, ?, ?)", unplaced)

    def settle(self) -> None:
        """Say again who bills each route, now that all are known: "auto" goes by its base URL."""
        if not self._new_routes:
            return
        rows = self._ledger.execute("SELECT no, provider, base_url FROM route").fetchall()
        by_url = providers_by_url((provider, url) for _, provider, url in rows)
        self._ledger.executemany(
            "UPDATE route SET billed=? WHERE no=?",
            [(billed_by(provider, url, by_url), no) for no, provider, url in rows],
        )

    @staticmethod
    def _count(found: Difference, counted: Counted) -> None:
        counted.grown += found.kind == "grown"
        counted.unplaced += found.kind == "unplaced"
        counted.future += found.kind == "future"
        counted.resets += found.kind == "reset"

    def _before(self, key: tuple[int, int]) -> Seen | None:
        row = self._ledger.execute("SELECT * FROM counter WHERE session=? AND route=?", key).fetchone()
        return None if row is None else Seen(row[2:8], row[8], row[9], row[10], row[11])

    def _session(self, session_id: str) -> int:
        no = self._sessions.get(session_id)
        if no is None:
            row = None if self._all_sessions else self._find_session(session_id)
            no = self._sessions[session_id] = self._add_session(session_id) if row is None else row[0]
        return no

    def _find_session(self, session_id: str) -> Row | None:
        query = "SELECT no FROM session WHERE profile=? AND id=?"
        found: Row | None = self._ledger.execute(query, (self._profile, session_id)).fetchone()
        return found

    def _add_session(self, session_id: str) -> int:
        first, source = self._lineage.of(session_id)
        cursor = self._ledger.execute(
            "INSERT INTO session(profile, id, root, job, source) VALUES(?, ?, ?, ?, ?)",
            (self._profile, session_id, first, job_of(first), source),
        )
        return int(cursor.lastrowid or 0)

    def _route(self, written: Row) -> int:
        no = self._written.get(written)
        if no is None:
            no = self._written[written] = self._find_route(*written)
        return no

    def _find_route(self, model: str, provider: str, raw_url: str, mode: str, task: str) -> int:
        # A base URL may hold credentials: a hash tells two of them apart.
        url = hashlib.sha256(raw_url.encode("utf-8", "surrogatepass")).hexdigest()[:16] if raw_url else ""
        named = (model, provider, url, mode, task)
        no = self._routes.get(named)
        if no is None:
            shown = normal_url(raw_url)
            cursor = self._ledger.execute(
                "INSERT INTO route(model, provider, url, base_url, mode, task, billed) VALUES(?,?,?,?,?,?,?)",
                (model, provider, url, shown, mode, task, billed_by(provider, shown, {})),
            )
            no = self._routes[named] = int(cursor.lastrowid or 0)
            self._new_routes = True
        return no


class _Lineage:
    """The root session of each session, and where that came from."""

    def __init__(self, host: sqlite3.Connection, path: Path, everything: bool) -> None:
        self._host, self._path = host, path
        self._columns = columns(host, "sessions")
        self._sources: dict[str, str] = {}
        self._parent: Callable[[str], str | None] = parents(host)
        if everything:
            self._read_all()

    def of(self, session_id: str) -> tuple[str, str]:
        with errors_of(self._path):
            first = root(session_id, self._parent)
            return first, self._source(first) or self._source(session_id) or "unknown"

    def _source(self, session_id: str) -> str | None:
        if session_id not in self._sources and "source" in self._columns:
            row = self._host.execute("SELECT source FROM sessions WHERE id=?", (session_id,)).fetchone()
            if row is not None:
                self._sources[session_id] = str(row[0] or "unknown")
        return self._sources.get(session_id)

    def _read_all(self) -> None:
        """In a first pass two scans are quicker than a look-up for each session."""
        if {"id", "source"} <= self._columns:
            rows = self._host.execute("SELECT id, source FROM sessions")
            self._sources = {str(row[0]): str(row[1] or "unknown") for row in rows}
        if {"id", "parent_session_id"} <= self._columns:
            rows = self._host.execute(
                "SELECT id, parent_session_id FROM sessions WHERE parent_session_id IS NOT NULL"
            )
            above = {str(row[0]): str(row[1]) for row in rows if row[1]}
            self._parent = above.get


def _moved(host: sqlite3.Connection, since: float, message_id: int) -> set[str]:
    """The sessions that began, or got a message, since then: their own totals may have grown."""
    moved = sessions_since(host, since)
    if {"id", "session_id"} <= columns(host, "messages"):
        query = "SELECT DISTINCT session_id FROM messages WHERE id > ?"
        moved.update(str(row[0]) for row in host.execute(query, (message_id,)))
    return moved


def _newest_message(host: sqlite3.Connection) -> int:
    if "id" not in columns(host, "messages"):
        return 0
    found = host.execute("SELECT MAX(id) FROM messages").fetchone()[0]
    return found if isinstance(found, int) else 0


def _holds_use(path: Path) -> bool:
    """Whether there is a database with tables of the host's; an empty file is none yet, or none any more."""
    if not path.exists():
        return False
    with reading(path) as host:
        return bool(columns(host, "sessions") or columns(host, "session_model_usage"))


def _identity(path: Path) -> str:
    """Which file this is: another one has to be compared row by row."""
    found = path.stat()
    return f"{found.st_dev}:{found.st_ino}"


def _batches(path: Path, rows: Iterable[Row]) -> Iterator[list[Row]]:
    iterator = iter(rows)
    while True:
        with errors_of(path):
            batch = list(islice(iterator, _BATCH))
        if not batch:
            return
        yield batch
