"""Runs, sums of use, jobs and small homes, made for the tests of reports that stand on the ledger."""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from hermes_ops.core.ledger import Run, Spent
from hermes_ops.host.jobs import Job
from hermes_ops.host.schedules import Schedule

BERLIN = ZoneInfo("Europe/Berlin")
A, B, C, D = "aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc", "dddddddddddd"

TABLES = """
CREATE TABLE sessions(id TEXT PRIMARY KEY, source TEXT NOT NULL, model TEXT, parent_session_id TEXT,
  started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, input_tokens INTEGER DEFAULT 0,
  output_tokens INTEGER DEFAULT 0, cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0,
  reasoning_tokens INTEGER DEFAULT 0, estimated_cost_usd REAL, actual_cost_usd REAL, cost_status TEXT,
  api_call_count INTEGER DEFAULT 0);
CREATE TABLE session_model_usage(session_id TEXT NOT NULL, model TEXT NOT NULL,
  billing_provider TEXT NOT NULL DEFAULT '', billing_base_url TEXT NOT NULL DEFAULT '',
  billing_mode TEXT NOT NULL DEFAULT '', task TEXT NOT NULL DEFAULT '',
  api_call_count INTEGER NOT NULL DEFAULT 0, input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0, cache_read_tokens INTEGER NOT NULL DEFAULT 0,
  cache_write_tokens INTEGER NOT NULL DEFAULT 0, reasoning_tokens INTEGER NOT NULL DEFAULT 0,
  estimated_cost_usd REAL NOT NULL DEFAULT 0, actual_cost_usd REAL NOT NULL DEFAULT 0, cost_status TEXT,
  cost_source TEXT, first_seen REAL, last_seen REAL,
  PRIMARY KEY(session_id, model, billing_provider, billing_base_url, billing_mode, task));
"""
EXECUTIONS = """
CREATE TABLE IF NOT EXISTS executions(id TEXT PRIMARY KEY, job_id TEXT, source TEXT, process_id TEXT,
  pid INTEGER, process_started_at INTEGER, status TEXT, claimed_at TEXT, started_at TEXT, finished_at TEXT,
  error TEXT);
"""


def at(text: str, zone: ZoneInfo = BERLIN) -> float:
    """Seconds since the epoch of "2026-11-29 06:00" in a zone."""
    return datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=zone).timestamp()


def run(job_id: str, claimed: float, outcome: str = "said", **fields: object) -> Run:
    values = {
        "profile": "default",
        "job_name": f"job {job_id[0]}",
        "execution_id": f"{job_id}-{claimed}",
        "source": "builtin",
        "status": "failed" if outcome in ("failed", "empty") else "completed",
        "started_at": claimed,
        "finished_at": claimed + 60,
        "error": None,
        "response_chars": 10,
        "output": None,
        "delivery": {"said": "sent", "failed": "sent"}.get(outcome, "silent"),
        "delivery_error": None,
        "targets": ("telegram:-100",),
        "no_agent": False,
    }
    return Run(job_id=job_id, claimed_at=claimed, outcome=outcome, **{**values, **fields})


def spent(*group: str | None, usd: float = 0.0, **counts: float) -> Spent:
    names = "calls input output cache_read cache_write reasoning unknown_calls included_tokens"
    values = dict.fromkeys(names.split(), 0)
    return Spent(group=group, usd=usd, **{**values, **counts})


def job(job_id: str, expr: str = "0 9 * * *", **fields: object) -> Job:
    every = expr.removeprefix("every ").removesuffix("m")
    schedule = (
        Schedule("interval", minutes=float(every), display=expr)
        if expr.startswith("every")
        else Schedule("cron", expr, display=expr)
    )
    raw = {"id": job_id, "schedule": {"kind": schedule.kind, "expr": expr}}
    values = {
        "name": f"job {job_id[0]}",
        "prompt": "do it",
        "schedule": schedule,
        "enabled": True,
        "state": "scheduled",
        "no_agent": False,
        "script": None,
        "deliver": ("telegram:-100",),
        "created_at": 0.0,
        "raw": raw,
    }
    return Job(id=job_id, **{**values, **fields})


class Home:
    """A home with the host's files, as far as the reports read them."""

    def __init__(self, path: Path, zone: str = "Europe/Berlin") -> None:
        self.path = path
        (path / "cron").mkdir(parents=True)
        self.config: dict = {"timezone": zone}
        self.configure({})
        self.jobs: list[dict] = []
        with self.database() as db:
            db.executescript(TABLES)
        with sqlite3.connect(path / "cron" / "executions.db") as db:
            db.executescript(EXECUTIONS)

    def configure(self, ops: dict) -> None:
        self.config["ops"] = ops
        (self.path / "config.yaml").write_text(json.dumps(self.config), "utf-8")

    def database(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path / "state.db")

    def job(self, job_id: str, schedule: dict | str = "0 9 * * *", **fields: object) -> dict:
        if isinstance(schedule, str):
            schedule = {"kind": "cron", "expr": schedule, "display": schedule}
        one = {
            "id": job_id,
            "name": f"job {job_id[0]}",
            "prompt": "do it",
            "schedule": schedule,
            "enabled": True,
            "state": "scheduled",
            "no_agent": False,
            "deliver": "telegram:-100",
            "created_at": "2026-01-01T00:00:00+00:00",
            "next_run_at": None,
            **fields,
        }
        self.jobs = [other for other in self.jobs if other["id"] != job_id] + [one]
        self.write_jobs()
        return one

    def write_jobs(self) -> None:
        text = json.dumps({"jobs": self.jobs, "updated_at": "2026-11-29T00:00:00+00:00"})
        (self.path / "cron" / "jobs.json").write_text(text, "utf-8")

    def use(
        self,
        session: str,
        at: float,
        usd: float = 0.0,
        *,
        model: str = "m",
        status: str | None = "estimated",
        task: str = "",
        source: str = "cron",
        calls: int = 1,
        first: float | None = None,
        **counts: int,
    ) -> None:
        """Add to the running totals of a session, as the host does."""
        with self.database() as db:
            db.execute(
                "INSERT OR IGNORE INTO sessions(id, source, model, started_at) VALUES(?,?,?,?)",
                (session, source, model, first or at),
            )
            key = (session, model, "openrouter", task)
            row = db.execute(
                "SELECT 1 FROM session_model_usage WHERE session_id=? AND model=? AND billing_provider=?"
                " AND task=?",
                key,
            ).fetchone()
            if row is None:
                db.execute(
                    "INSERT INTO session_model_usage(session_id, model, billing_provider, task, cost_status,"
                    " first_seen) VALUES(?,?,?,?,?,?)",
                    (*key, status, first or at),
                )
            sums = {"api_call_count": calls, "estimated_cost_usd": usd}
            sums |= {f"{name}_tokens": count for name, count in counts.items()}
            added = ", ".join(f"{name} = {name} + ?" for name in sums)
            db.execute(
                f"UPDATE session_model_usage SET {added}, last_seen=?"
                " WHERE session_id=? AND model=? AND billing_provider=? AND task=?",
                (*sums.values(), at, *key),
            )
        db.close()

    def ran(self, job_id: str, claimed: float, *, seconds: float = 60.0, status: str = "completed") -> str:
        """Add a run to the host's list; returns the root session it would have, in the home's zone."""
        stamp = datetime.fromtimestamp(claimed + 1, ZoneInfo(self.config["timezone"]))
        times = (claimed, claimed, claimed + seconds)
        iso = [datetime.fromtimestamp(time, ZoneInfo("UTC")).isoformat() for time in times]
        with sqlite3.connect(self.path / "cron" / "executions.db") as db:
            db.execute(
                "INSERT INTO executions(id, job_id, source, status, claimed_at, started_at, finished_at)"
                " VALUES(?,?,?,?,?,?,?)",
                (f"{job_id}{claimed:.0f}", job_id, "builtin", status, *iso),
            )
        db.close()
        return f"cron_{job_id}_{stamp.strftime('%Y%m%d_%H%M%S')}"

    def said(self, job_id: str, written: float, answer: str) -> None:
        """Write the output of a run, in the host's form."""
        zone = ZoneInfo(self.config["timezone"])
        name = datetime.fromtimestamp(written, zone).strftime("%Y-%m-%d_%H-%M-%S")
        path = self.path / "cron" / "output" / job_id / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        head = f"# Cron Job: job\n\n**Job ID:** {job_id}\n**Run Time:** {name}\n**Schedule:** daily\n"
        path.write_text(f"{head}\n## Prompt\n\ndo it\n\n## Response\n\n{answer}\n", "utf-8")
