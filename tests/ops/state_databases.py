"""Small state.db files as the host writes them: running totals that grow, sessions with parents."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from tests.ops.made import TABLES

COUNTERS = {
    "calls": "api_call_count",
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_tokens",
    "cache_write": "cache_write_tokens",
    "reasoning": "reasoning_tokens",
    "usd": "estimated_cost_usd",
    "actual": "actual_cost_usd",
}
KEY = ("session_id", "model", "billing_provider", "billing_base_url", "billing_mode", "task")


class StateDatabase:
    """A state.db that is written to as the host does it: one statement, one commit."""

    def __init__(self, home: Path, tables: str = TABLES, wal: bool = True) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.path = home / "state.db"
        self.connection = sqlite3.connect(self.path, isolation_level=None)
        if wal:
            self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.executescript(tables)
        self.connection.executescript(
            "CREATE TABLE IF NOT EXISTS messages(id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT);"
        )

    def close(self) -> None:
        self.connection.close()

    def session(self, name: str, started: float, parent: str | None = None, source: str = "telegram", **more):
        values = {"id": name, "source": source, "parent_session_id": parent, "started_at": started, **more}
        marks = ", ".join("?" * len(values))
        self.connection.execute(
            f"INSERT INTO sessions({', '.join(values)}) VALUES({marks})", tuple(values.values())
        )

    def message(self, session: str) -> None:
        self.connection.execute("INSERT INTO messages(session_id) VALUES(?)", (session,))

    def use(
        self,
        session: str,
        at: float,
        model: str = "m",
        provider: str = "openrouter",
        url: str = "",
        task: str = "",
        status: str | None = "estimated",
        **grown: float,
    ) -> None:
        """Add to the totals of a row, as the host does after a call: `at` becomes last_seen."""
        counters = {COUNTERS[name]: value for name, value in grown.items()}
        values = dict(zip(KEY, (session, model, provider, url, "", task), strict=True))
        values |= {**counters, "cost_status": status, "first_seen": at, "last_seen": at}
        grow = "".join(f"{name} = {name} + excluded.{name}, " for name in counters)
        self.connection.execute(
            f"INSERT INTO session_model_usage({', '.join(values)}) VALUES({', '.join('?' * len(values))}) "
            f"ON CONFLICT DO UPDATE SET {grow}cost_status = COALESCE(excluded.cost_status, cost_status), "
            "last_seen = excluded.last_seen",
            tuple(values.values()),
        )

    def put(self, session: str, first: float | None, last: float | None, **columns: object) -> None:
        """A row as it stands, whatever is in it."""
        values = {
            "session_id": session,
            "model": "m",
            "billing_provider": "openrouter",
            "cost_status": "estimated",
            "first_seen": first,
            "last_seen": last,
            **columns,
        }
        self.connection.execute(
            f"INSERT OR REPLACE INTO session_model_usage({', '.join(values)}) "
            f"VALUES({', '.join('?' * len(values))})",
            tuple(values.values()),
        )


# Noon of 2026-11-27 and the two evenings at which a home was looked at, all UTC.
NOON = 1795780800.0
EVENING, NEXT_EVENING = 1795820400.0, 1795906800.0
JOB = "06c6883b7ddd"


def evening_home(home: Path) -> StateDatabase:
    """A home as it stood in the evening of 2026-11-27: a long chat, a run of three sessions, two odd ones."""
    state = StateDatabase(home)
    began = EVENING - 9 * 86400
    state.session("long_chat", began, estimated_cost_usd=10.0)
    state.put(
        "long_chat",
        began,
        EVENING - 2800,
        **counts(500, 1_000_000, 50_000, 9_000_000),
        estimated_cost_usd=10.0,
    )
    compression = {"task": "compression", "model": "glm-flash", "cost_status": None}
    state.put(
        "long_chat", began, EVENING - 3800, **counts(9, 450_000, 4500), estimated_cost_usd=0.18, **compression
    )
    run = f"cron_{JOB}_20261127_060000"
    state.session(run, NOON - 21600, source="cron")
    state.put(run, NOON - 21600, NOON - 21500, **counts(2, 100, 10), estimated_cost_usd=0.10)
    state.session("continued", NOON - 21288, parent=run, source="cron")
    state.put("continued", NOON - 21288, NOON - 21280, **counts(1, 100), estimated_cost_usd=0.20)
    state.session("helper", NOON - 21240, parent="continued", source="subagent")
    state.put("helper", NOON - 21240, NOON - 21230, **counts(1, 100), estimated_cost_usd=0.30)
    state.session("totals_only", NOON - 42200, estimated_cost_usd=0.9, cost_status="estimated")
    state.session("planned", NOON - 41200, source="cli")
    state.put(
        "planned",
        NOON - 41200,
        NOON - 41100,
        **counts(9, 3_000_000, 1),
        billing_provider="anthropic",
        cost_status="included",
    )
    return state


def grow_a_day(state: StateDatabase) -> None:
    """What happened until the next evening: the chat went on, and was compressed once more."""
    last = NEXT_EVENING - 32_800
    state.use("long_chat", last, calls=50, input=100_000, output=5000, cache_read=900_000, usd=1.0)
    state.use(
        "long_chat",
        last - 1000,
        "glm-flash",
        task="compression",
        status=None,
        calls=1,
        input=50_000,
        output=500,
        usd=0.02,
    )


def counts(calls: int, into: int, out: int = 0, read: int = 0) -> dict[str, int]:
    return {"api_call_count": calls, "input_tokens": into, "output_tokens": out, "cache_read_tokens": read}
