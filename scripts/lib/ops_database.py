"""A state.db of many sessions, for the bench: the host's own tables, the same rows every time.

    python scripts/lib/ops_database.py HOME [--sessions N] [--rows N] [--days N]

Sessions begin evenly over the days before now; every third is a run of one of 70 jobs, every seventh goes
on from the one before it. A row lives for an hour on average, so that some live across midnight. A tenth of
the rows is auxiliary work (of which some has no price), a twentieth is in a plan.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

SESSIONS, ROWS, DAYS = 100_000, 1_000_000, 365
PROMPT = "You are a helpful agent. " * 160  # the host keeps the prompt of each session, some kilobytes of it
MODELS = tuple(f"vendor-{i}/model-{i}" for i in range(8))
PROVIDERS = ("openrouter", "deepseek", "anthropic", "custom")
TASKS = ("compression", "title_generation", "vision")


def build(
    home: Path, now: float, sessions: int = SESSIONS, rows: int = ROWS, days: float = DAYS, seed: int = 1
) -> Path:
    """Write `<home>/state.db` anew; returns its path."""
    path = home / "state.db"
    home.mkdir(parents=True, exist_ok=True)
    for part in home.glob("state.db*"):
        part.unlink()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=OFF")
    connection.executescript(_schema())
    source = random.Random(seed)
    names: list[tuple[str, float]] = []
    connection.executemany(
        "INSERT INTO sessions(id, source, model, system_prompt, parent_session_id, started_at, title,"
        " input_tokens, output_tokens, api_call_count) VALUES(?,?,?,?,?,?,?,?,?,?)",
        _sessions(names, now, sessions, days),
    )
    connection.executemany(
        f"INSERT INTO session_model_usage VALUES({', '.join('?' * 18)})",
        _rows(names, now, max(1, rows // max(1, sessions)), source),
    )
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return path


def grow(home: Path, now: float, rows: int = 200) -> None:
    """What half an hour of a busy home adds: calls in the newest sessions, seen now."""
    with sqlite3.connect(home / "state.db") as connection:
        connection.execute(
            "UPDATE session_model_usage SET api_call_count = api_call_count + 1, last_seen = ?,"
            " input_tokens = input_tokens + 1000, estimated_cost_usd = estimated_cost_usd + 0.01"
            " WHERE rowid IN (SELECT rowid FROM session_model_usage ORDER BY rowid DESC LIMIT ?)",
            (now, rows),
        )
    connection.close()


def _sessions(names: list[tuple[str, float]], now: float, count: int, days: float) -> Iterator[tuple]:
    for i in range(count):
        started = now - days * 86400 * (1 - i / count)
        stamp = time.strftime("%Y%m%d_%H%M%S", time.gmtime(started))
        of_job = i % 3 == 0
        name = f"cron_{i % 70:012x}_{stamp}" if of_job else f"{stamp}_{i:08x}"
        parent = names[-1][0] if i % 7 == 6 else None
        names.append((name, started))
        title = f"session {i}" if i % 2 else None
        where = "cron" if of_job else "telegram"
        yield (name, where, MODELS[i % 8], PROMPT, parent, started, title, 100, 10, 1)


def _rows(names: list[tuple[str, float]], now: float, each: int, source: random.Random) -> Iterator[tuple]:
    for name, started in names:
        for i in range(each):
            auxiliary = i % 10 == 9
            first = started + source.random() * 300
            last = min(now, first + source.expovariate(1 / 3600))
            status = None if auxiliary and i % 3 else "included" if i % 20 == 10 else "estimated"
            task = TASKS[i % 3] if auxiliary else ""
            provider = "auto" if auxiliary else PROVIDERS[i % 4]
            counters = (source.randrange(1, 50), source.randrange(10**5), source.randrange(5000))
            cached, thought = source.randrange(10**6), source.randrange(1000)
            usd = 0.0 if status == "included" else source.random() / 10
            yield (
                *(name, f"{MODELS[i % 8]}-{i // 8}", provider, "https://api.example.org/v1", "", task),
                *(*counters, cached, 0, thought, usd, 0.0, status, None, first, last),
            )


def _schema() -> str:
    """The tables of the installed host."""
    from hermes_state import SCHEMA_SQL

    return SCHEMA_SQL


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--days", type=float, default=DAYS)
    given = parser.parse_args()
    started = time.monotonic()
    path = build(given.home, time.time(), given.sessions, given.rows, given.days)
    print(f"{path}: {path.stat().st_size / 1e6:.0f} MB in {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
