"""A state.db whose sessions called tools, as the host writes it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

NOW = 1_800_000_000.0
DAY = 86_400.0
# As hermes-agent 0.19 makes them, the columns that are read.
TABLES = """
CREATE TABLE sessions(id TEXT PRIMARY KEY, source TEXT, started_at REAL, cwd TEXT);
CREATE TABLE messages(id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT,
    tool_calls TEXT, timestamp REAL);
"""


class Database:
    """A state.db with sessions whose messages call tools."""

    def __init__(self, home: Path) -> None:
        self.connection = sqlite3.connect(home / "state.db", isolation_level=None)
        self.connection.executescript(TABLES)
        self.connection.execute("INSERT INTO sessions VALUES('s', 'cli', ?, '/home/user/project')", (NOW,))

    def raw(self, calls: str | None, at: float = NOW - DAY, role: str = "assistant") -> None:
        self.connection.execute(
            "INSERT INTO messages(session_id, role, tool_calls, timestamp) VALUES('s', ?, ?, ?)",
            (role, calls, at),
        )

    def call(self, tool: str, arguments: object, at: float = NOW - DAY) -> None:
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        function = {"name": tool, "arguments": text}
        self.raw(json.dumps([{"id": "c1", "type": "function", "function": function}]), at)

    def ran(self, command: str, times: int = 1, at: float = NOW - DAY) -> None:
        for _ in range(times):
            self.call("terminal", {"command": command}, at)
