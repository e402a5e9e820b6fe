"""Opening the host's SQLite files to read: never a write, never a lock that a writer would feel."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


@contextmanager
def reading(path: Path, timeout: float = 2.0) -> Iterator[sqlite3.Connection]:
    """A connection that can only read (`mode=ro`, `query_only`), closed at the end; rows are sqlite3.Row.

    Raises Unreadable: missing, locked for longer than `timeout`, not a database, no permission. A sqlite error
    inside the block becomes Unreadable too.
    """
    raise NotImplementedError
    yield


def columns(connection: sqlite3.Connection, table: str) -> set[str]:
    """The columns of a table; empty when there is no such table."""
    raise NotImplementedError
