"""Job lists as the host writes them, for tests without a host."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LISTS = Path(__file__).parent / "job_lists"

CRON = {"kind": "cron", "expr": "0 6 * * 1-5", "display": "0 6 * * 1-5"}
HALF_HOURLY = {"kind": "interval", "minutes": 30, "display": "every 30m"}


def job(job_id: str, name: str, **fields: Any) -> dict[str, Any]:
    """One record with all fields of the host; `fields` replace some."""
    schedule = fields.pop("schedule", CRON)
    return {
        "id": job_id,
        "name": name,
        "prompt": "Summarise the mail of today.",
        "skills": [],
        "skill": None,
        "model": None,
        "provider": None,
        "provider_snapshot": "custom",
        "model_snapshot": "a/b",
        "base_url": None,
        "script": None,
        "no_agent": False,
        "context_from": None,
        "schedule": schedule,
        "schedule_display": schedule.get("display"),
        "repeat": {"times": 1 if schedule.get("kind") == "once" else None, "completed": 0},
        "enabled": True,
        "state": "scheduled",
        "paused_at": None,
        "paused_reason": None,
        "created_at": "2026-11-01T10:00:00+01:00",
        "next_run_at": "2026-11-30T06:00:00+01:00",
        "last_run_at": None,
        "last_status": None,
        "last_error": None,
        "last_delivery_error": None,
        "deliver": "telegram:-100:5",
        "origin": None,
        "enabled_toolsets": None,
        "workdir": None,
        **fields,
    }


def once(run_at: str) -> dict[str, Any]:
    """The schedule of a one-shot."""
    return {"kind": "once", "run_at": run_at, "display": f"once at {run_at[:16]}"}


def cron(expr: str) -> dict[str, Any]:
    return {"kind": "cron", "expr": expr, "display": expr}


def write_jobs(home: Path, *records: dict[str, Any], updated_at: str = "2026-11-28T23:00:00+01:00") -> Path:
    """Write `cron/jobs.json` of a home."""
    path = home / "cron" / "jobs.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"jobs": list(records), "updated_at": updated_at}, indent=1), "utf-8")
    return path


def read_records(home: Path) -> list[dict[str, Any]]:
    return json.loads((home / "cron" / "jobs.json").read_text("utf-8"))["jobs"]


def put_list(home: Path, name: str) -> Path:
    """Copy one of job_lists/ to where the host keeps it."""
    path = home / "cron" / "jobs.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes((LISTS / name).read_bytes())
    return path


def new_home(folder: Path, zone: str = "Europe/Berlin") -> Path:
    """A home with a zone and telegram set up (a token of no use)."""
    home = folder / "home"
    home.mkdir()
    config = {"timezone": zone, "platforms": {"telegram": {"enabled": True}}}
    (home / "config.yaml").write_text(json.dumps(config), "utf-8")
    return home
