"""What the host itself kept of a session: the active rows of state.db, read only."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

JSON_CONTENT = "\x00json:"
REASONING = ("reasoning", "reasoning_content", "reasoning_details")


def sessions(home: Path) -> list[dict[str, Any]]:
    """Every row of the sessions table, oldest first. `home` is HERMES_HOME."""
    with _database(home) as database:
        return [dict(row) for row in database.execute("SELECT * FROM sessions ORDER BY started_at, id")]


def stored_rows(home: Path, session_id: str, *, inactive: bool = False) -> list[dict[str, Any]]:
    """The message rows of a session as they are in the table, in order of insertion.

    Rows that compaction or an undo took out of the conversation are left out unless `inactive`.
    """
    condition = "" if inactive else " AND active = 1"
    query = f"SELECT * FROM messages WHERE session_id = ?{condition} ORDER BY id"
    with _database(home) as database:
        return [dict(row) for row in database.execute(query, (session_id,))]


def stored_messages(home: Path, session_id: str) -> list[dict[str, Any]]:
    """The conversation of a session as the host stored it, from its active rows.

    Each message has role and content (None, str, or a list of parts), and where the row has them
    tool_call_id, tool_calls (`[{"id", "name", "arguments"}]`, arguments as parsed JSON, or the
    string itself when it does not parse), reasoning, reasoning_content and reasoning_details.
    """
    return [message_of(row) for row in stored_rows(home, session_id)]


def message_of(row: dict[str, Any]) -> dict[str, Any]:
    """One row of the messages table as a message; see `stored_messages`."""
    message: dict[str, Any] = {"role": row["role"], "content": _content(row["content"])}
    if row["tool_call_id"] is not None:
        message["tool_call_id"] = row["tool_call_id"]
    if row["tool_calls"]:
        message["tool_calls"] = [_call(call) for call in json.loads(row["tool_calls"])]
    for name in REASONING:
        if row[name] is not None:
            message[name] = json.loads(row[name]) if name == "reasoning_details" else row[name]
    return message


def _content(value: Any) -> Any:
    if isinstance(value, str) and value.startswith(JSON_CONTENT):
        return json.loads(value[len(JSON_CONTENT) :])
    return value


def _call(call: dict[str, Any]) -> dict[str, Any]:
    arguments = call["function"]["arguments"]
    try:
        arguments = json.loads(arguments)
    except ValueError:
        pass
    return {"id": call["id"], "name": call["function"]["name"], "arguments": arguments}


@contextmanager
def _database(home: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(f"{(home / 'state.db').as_uri()}?mode=ro", uri=True, timeout=10)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA query_only = ON")
        yield connection
    finally:
        connection.close()
