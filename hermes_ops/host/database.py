"""Opening the host's SQLite files to read: never a write, never a lock that a writer would feel for long."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import Unreadable

if TYPE_CHECKING:
    import sqlite3

MISSING = "missing"


@contextmanager
def reading(path: Path, timeout: float = 2.0) -> Iterator[sqlite3.Connection]:
    """A connection that can only read (`mode=ro`, `query_only`), closed at the end; rows are sqlite3.Row.

    Every statement is a read of its own: nothing is held between two of them unless the caller begins a
    transaction. Text that is not UTF-8 comes with replacement characters. sqlite keeps its lock words in
    `-shm` (made when it is not there, as for any reader); the database and its `-wal` stay as they are.
    Raises Unreadable: missing, locked for longer than `timeout`, not a database, no permission. A sqlite
    error inside the block becomes Unreadable too.
    """
    import sqlite3

    _check(path)
    with errors_of(path):
        connection = sqlite3.connect(
            path.absolute().as_uri() + "?mode=ro", uri=True, timeout=timeout, isolation_level=None
        )
        try:
            connection.row_factory = sqlite3.Row
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            connection.execute("PRAGMA query_only=1")
            connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
            yield connection
        finally:
            connection.close()


@contextmanager
def errors_of(path: Path) -> Iterator[None]:
    """Turn sqlite's errors into Unreadable of `path`, where a block also uses another database."""
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        raise Unreadable(path, _why(path, error)) from error


def columns(connection: sqlite3.Connection, table: str) -> set[str]:
    """The columns of a table; empty when there is no such table."""
    return {row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}


def _check(path: Path) -> None:
    """sqlite would wait on a pipe and say "unable to open" to everything else."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        raise Unreadable(path, MISSING) from None
    except OSError as error:
        raise Unreadable(path, error.strerror or str(error)) from error
    if not stat.S_ISREG(found.st_mode):
        raise Unreadable(path, "not a file")
    if not os.access(path, os.R_OK):
        raise Unreadable(path, "no permission to read it")


def _why(path: Path, error: Exception) -> str:
    text = str(error)
    if "locked" in text or "busy" in text:
        return "locked: another process holds it"
    if "not a database" in text:
        return "not a database, or encrypted"
    if "malformed" in text:
        return f"damaged ({text})"
    if "unable to open" in text and not os.access(path.parent, os.W_OK):
        return "cannot be opened: it is in WAL mode, and its -shm cannot be made in a read-only directory"
    if "no such" in text:
        return f"not the schema that was expected ({text})"
    return text
