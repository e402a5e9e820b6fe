"""The ledger's file: made, shared by processes, brought to this version, set aside when damaged."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._common.home import private_dir
from ..errors import Unreadable

FORMAT = 1
FILE = "ledger.db"
WAIT = 15.0  # seconds that a write waits for another process

_TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE snapshot(
    at REAL NOT NULL, runs INTEGER NOT NULL, rows INTEGER NOT NULL, bad INTEGER NOT NULL,
    future INTEGER NOT NULL, resets INTEGER NOT NULL);
CREATE INDEX snapshot_at ON snapshot(at);
CREATE TABLE profile(
    name TEXT PRIMARY KEY, usage_at REAL NOT NULL, file TEXT NOT NULL, message_id INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE session(
    no INTEGER PRIMARY KEY, profile TEXT NOT NULL, id TEXT NOT NULL, root TEXT NOT NULL, job TEXT,
    source TEXT NOT NULL, UNIQUE(profile, id));
CREATE INDEX session_job ON session(job) WHERE job IS NOT NULL;
CREATE TABLE route(
    no INTEGER PRIMARY KEY, model TEXT NOT NULL, provider TEXT NOT NULL, url TEXT NOT NULL,
    base_url TEXT NOT NULL, mode TEXT NOT NULL, task TEXT NOT NULL, billed TEXT NOT NULL,
    UNIQUE(model, provider, url, mode, task));
CREATE TABLE counter(
    session INTEGER NOT NULL, route INTEGER NOT NULL, calls INTEGER NOT NULL, input INTEGER NOT NULL,
    output INTEGER NOT NULL, cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL,
    reasoning INTEGER NOT NULL, estimated_usd REAL NOT NULL, actual_usd REAL NOT NULL, first_seen REAL,
    last_seen REAL, PRIMARY KEY(session, route)) WITHOUT ROWID;
CREATE TABLE delta(
    session INTEGER NOT NULL, route INTEGER NOT NULL, since REAL NOT NULL, until REAL NOT NULL,
    middle REAL NOT NULL, calls INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL, cache_write INTEGER NOT NULL, reasoning INTEGER NOT NULL,
    usd REAL NOT NULL, price TEXT NOT NULL);
CREATE INDEX delta_middle ON delta(middle);
CREATE INDEX delta_wide ON delta(until) WHERE until - since > 93600;
CREATE TABLE unplaced(
    session INTEGER NOT NULL, route INTEGER NOT NULL, first_seen REAL, last_seen REAL NOT NULL,
    PRIMARY KEY(session, route)) WITHOUT ROWID;
CREATE INDEX unplaced_last_seen ON unplaced(last_seen);
CREATE TABLE run(
    profile TEXT NOT NULL, execution_id TEXT NOT NULL, job_id TEXT NOT NULL, job_name TEXT NOT NULL,
    source TEXT NOT NULL, status TEXT NOT NULL, claimed_at REAL, started_at REAL, finished_at REAL,
    error TEXT, outcome TEXT NOT NULL, response_chars INTEGER NOT NULL, output TEXT,
    delivery TEXT NOT NULL, delivery_error TEXT, targets TEXT NOT NULL, no_agent INTEGER NOT NULL,
    PRIMARY KEY(profile, execution_id)) WITHOUT ROWID;
CREATE INDEX run_claimed ON run(claimed_at);
CREATE TABLE balance(
    at REAL NOT NULL, provider TEXT NOT NULL, account TEXT NOT NULL, amount REAL NOT NULL,
    currency TEXT NOT NULL);
CREATE INDEX balance_at ON balance(provider, account, at);
"""

# The step from format n to n + 1 is MIGRATIONS[n - 1].
MIGRATIONS: tuple[str, ...] = ()


class Damaged(Unreadable):
    """The file is no ledger any more."""


def path_of(home: Path) -> Path:
    return home / "ops" / FILE


def open_store(path: Path) -> tuple[sqlite3.Connection, str | None]:
    """The open database, made when missing; and what became of a damaged one, None when it was sound.

    Raises Unreadable: no permission, locked, a format of a later version, something else than a file.
    """
    said = None
    for attempt in (1, 2):
        try:
            _make_file(path)
            return _connect(path), said
        except Damaged as error:
            if attempt == 2:
                raise
            said = f"{error.why}; its history begins anew, the damaged file is {set_aside(path).name}"
        except sqlite3.Error as error:
            raise Unreadable(path, f"the ledger cannot be opened ({error})") from error
        except OSError as error:
            raise Unreadable(path, error.strerror or str(error)) from error
    raise AssertionError


@contextmanager
def sound(path: Path) -> Iterator[None]:
    """Turn sqlite's errors into Unreadable; Damaged when the file itself is the cause."""
    try:
        yield
    except sqlite3.Error as error:
        text = str(error)
        if "malformed" in text or "not a database" in text:
            raise Damaged(path, f"the ledger is damaged ({text})") from error
        raise Unreadable(path, f"the ledger cannot be used now ({text})") from error


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[None]:
    """One transaction: all of it or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def set_aside(path: Path) -> Path:
    """Rename a damaged ledger, with what belongs to it, to `<name>.damaged-<n>`; returns the new name."""
    number = 1
    while (target := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    for suffix in ("", "-wal", "-shm"):
        part = path.with_name(path.name + suffix)
        if part.exists():
            part.rename(target.with_name(target.name + suffix))
    return target


def _make_file(path: Path) -> None:
    """A private file; sqlite gives `-wal` and `-shm` the same mode."""
    private_dir(path.parent)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise Unreadable(path, "not a file")
    finally:
        os.close(fd)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=WAIT, isolation_level=None)
    try:
        with sound(path):
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute("PRAGMA journal_size_limit=16000000")
            found = _format(connection)
            if found is None or found < FORMAT:
                with writing(connection):
                    _bring_up(connection, path)
            elif found > FORMAT:
                raise Unreadable(
                    path, f"format {found} is of a later version of hermes_ops (this one knows {FORMAT})"
                )
    except BaseException:
        connection.close()
        raise
    return connection


def _format(connection: sqlite3.Connection) -> int | None:
    """The format of an open ledger; None: an empty file."""
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    if not names:
        return None
    if "meta" in names:
        row = connection.execute("SELECT value FROM meta WHERE key='format'").fetchone()
        if row is not None and str(row[0]).isdigit():
            return int(row[0])
    raise sqlite3.DatabaseError("file is not a database of ours: malformed meta table")


def _bring_up(connection: sqlite3.Connection, path: Path) -> None:
    """Make the tables, or carry the steps out; another process may have done so while this one waited."""
    found = _format(connection)
    if found is None:
        script = _TABLES
    else:
        script = "".join(MIGRATIONS[found - 1 : FORMAT - 1])
    for statement in script.split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.execute("INSERT OR REPLACE INTO meta VALUES('format', ?)", (str(FORMAT),))
