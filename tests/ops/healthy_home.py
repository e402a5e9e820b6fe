"""A home in which nothing is wrong, laid out as the host has it: what a watcher meets on most of its runs.

Jobs that ran when they were due, their outputs and executions, a gateway that works, a schedule that was
acknowledged, the watchers installed. Times are real ones: watchers are run in processes of their own.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from hermes_ops import install
from hermes_ops._common.files import process_start_time
from hermes_ops.core import run
from hermes_ops.core.incident import Incidents
from hermes_ops.core.watch import WATCHERS
from hermes_ops.host.schedules import due_times, parse
from hermes_ops.launcher import launcher_text
from hermes_ops.liveness.memory import Memory, MemoryFile
from hermes_ops.schedule import declared, snapshot
from tests.ops.job_records import cron, job, write_jobs
from tests.ops.made import EXECUTIONS
from tests.ops.state_databases import StateDatabase

ROOT = Path(__file__).resolve().parents[2]
ZONE = ZoneInfo("Europe/Berlin")
CHAT = "telegram:-1001234567890"
RUN_SECONDS = 4.0
DIGEST = (
    "Read the notes of the last 24 hours in /srv/notes, write a digest of at most ten lines of plain text.\n"
    "Begin with what needs a decision today. Name the file of each point. When there is nothing new,"
    " answer with exactly [SILENT].\n"
)

CONFIG = """\
_config_version: 33
model:
  default: vendor/model-1
  provider: openrouter
  base_url: https://openrouter.ai/api/v1
  context_length: 131072
agent:
  max_turns: 90
  reasoning_effort: medium
terminal:
  backend: local
  timeout: 180
compression:
  enabled: true
  threshold: 0.5
auxiliary:
  compression: {provider: openrouter, model: vendor/small-1}
  title_generation: {provider: openrouter, model: vendor/small-1}
memory:
  memory_enabled: true
  user_profile_enabled: true
approvals:
  mode: manual
  timeout: 60
session_reset:
  mode: both
  idle_minutes: 1440
  at_hour: 4
cron:
  wrap_response: true
platforms:
  telegram:
    enabled: true
    home_channel: {platform: telegram, chat_id: '-1001234567890', name: ops}
plugins:
  enabled: [hermes-ops]
timezone: Europe/Berlin
"""

SKILL = "---\nname: digest\ndescription: Write the digest of a day\n---\n\nRead the day, write ten lines.\n"
ENVIRONMENT = """\
# keys of this home
TELEGRAM_HOME_CHANNEL=-1001234567890
TELEGRAM_ALLOWED_USERS=1
"""

POLICY = """\
[targets]
alert = ["telegram:-1001234567890"]

[[job]]
name = "digest *"
kind = "digest"
messages_per_day = 100
"""

PROBES = """\
[[probe]]
id = "jobs-fresh"
kind = "file_fresh"
title = "the list of jobs is there"
path = "cron/jobs.json"
max_age_hours = 1000
"""

# The watchers in the gateway watch each other; somebody outside watches the machine.
OUTSIDE = """\
[[watcher]]
name = "phone"
watches = ["watchers", "layer:service"]
layer = "outside"
signal = "a call when the pings end"
survives = ["gateway restart", "reboot"]
owner = "anna"
"""


@dataclass(frozen=True)
class HealthyHome:
    """A home on disk. ``fresh`` brings its signs of life up to now; call it before a run."""

    path: Path
    now: float

    def fresh(self) -> None:
        _gateway(self.path, time.time())

    def script(self, watcher: str) -> Path:
        """The wrapper script of a watcher."""
        return self.path / "scripts" / install.script_name(watcher)

    def last_run(self, watcher: str) -> dict[str, Any]:
        """When a watcher ran last, and its own error."""
        return json.loads((self.path / "ops" / "watchers" / f"{watcher}.json").read_bytes())

    def found_by(self, watcher: str) -> list[str]:
        """What a watcher found or could not see, told or not yet."""
        return [one.text for one in Incidents(self.path).all() if one.watcher == watcher]


def make(
    home: Path,
    now: float,
    *,
    jobs: int = 6,
    runs: int = 60,
    config: str = CONFIG,
    prompt: str = DIGEST,
    link: bool = True,
) -> HealthyHome:
    """Lay out a home with so many jobs beside the watchers' own, and the newest runs of all of them.

    The plugin is a link to this repository's, or without `link` a copy. A state.db that is there already
    stays as it is; cron/executions.db is filled on.
    """
    for folder in ("cron/output", "logs", "state", "scripts", "plugins", "ops", "skills/digest"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    (home / "ops").chmod(0o700)
    (home / "config.yaml").write_text(config, "utf-8")
    (home / ".env").write_text(ENVIRONMENT, "utf-8")
    for name, text in (("policy", POLICY), ("probes", PROBES), ("watchers", OUTSIDE)):
        (home / "ops" / f"{name}.toml").write_text(text, "utf-8")
    (home / "skills" / "digest" / "SKILL.md").write_text(SKILL, "utf-8")
    if not (home / "state.db").exists():
        database = StateDatabase(home)
        database.session("20260101_000000_00000001", now - 7200, source="telegram")
        database.use("20260101_000000_00000001", now - 7000, calls=3, input=1000, output=100, usd=0.01)
        database.close()
    _plugin(home, link)
    records = [_digest(number, prompt, now) for number in range(jobs)]
    records += [_watcher(home, number, now) for number in range(len(WATCHERS))]
    _run_all(home, records, now, runs)
    write_jobs(home, *records, updated_at=_iso(now))
    for watcher in WATCHERS:
        run.record(home, watcher.name, now, None)
    found = declared.read_all(home)
    snapshot.accept(home, found, "anna", "as set up", now)
    _supervisor(home, now)
    healthy = HealthyHome(home, now)
    healthy.fresh()
    return healthy


def _plugin(home: Path, link: bool) -> None:
    """The plugin as a folder of the home, and the wrapper of each watcher."""
    source, target = ROOT / "hermes_ops", home / "plugins" / "hermes-ops"
    if link:
        target.symlink_to(source, target_is_directory=True)
    else:
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    for watcher in WATCHERS:
        text = launcher_text(home, ["watch", watcher.name, "--scheduled"])
        (home / "scripts" / install.script_name(watcher.name)).write_text(text, "utf-8")


def _digest(number: int, prompt: str, now: float) -> dict:
    schedule = cron(f"{number % 60} {number % 24} * * *")
    # Made under the configuration that still holds.
    made = {"model_snapshot": "vendor/model-1", "provider_snapshot": "openrouter"}
    more = {"schedule": schedule, "prompt": prompt, "deliver": f"{CHAT}:{number + 1}", **made}
    return job(f"{number:012x}", f"digest {number}", created_at=_iso(now - 40 * 86_400), **more)


def _watcher(home: Path, number: int, now: float) -> dict:
    watcher = WATCHERS[number]
    every = watcher.schedule.removeprefix("every ").removesuffix("m")
    schedule = (
        {"kind": "interval", "minutes": int(every), "display": watcher.schedule}
        if watcher.schedule.startswith("every")
        else cron(watcher.schedule)
    )
    more = {"schedule": schedule, "prompt": "", "no_agent": True, "deliver": CHAT}
    script = install.script_name(watcher.name)
    name = f"ops {watcher.name}"
    return job(f"{0xA0000 + number:012x}", name, script=script, created_at=_iso(now - 40 * 86_400), **more)


def _run_all(home: Path, records: list[dict], now: float, runs: int) -> None:
    """Let every job have run when it was due; of all runs the newest are on record, as on a host."""
    since = now - 3 * 86_400
    done = sorted((at, number) for number, record in enumerate(records) for at in _times(record, since, now))[
        -runs:
    ]
    with sqlite3.connect(home / "cron" / "executions.db") as database:
        database.executescript(EXECUTIONS)
        database.executemany(
            "INSERT INTO executions(id, job_id, source, process_id, pid, status, claimed_at, started_at,"
            " finished_at) VALUES(?,?,?,?,?,?,?,?,?)",
            [
                (
                    f"{at:.0f}-{number}",
                    records[number]["id"],
                    "builtin",
                    "p",
                    1,
                    "completed",
                    _iso(at),
                    _iso(at),
                    _iso(at + RUN_SECONDS),
                )
                for at, number in done
            ],
        )
    database.close()
    kept = {}
    for at, number in done:
        kept.setdefault(number, []).append(at)
    for number, record in enumerate(records):
        for at in kept.get(number, [])[-50:]:
            _output(home, record, at + RUN_SECONDS)
        last = max(_times(record, since, now), default=now - 60)
        record["last_run_at"], record["last_status"] = _iso(last + RUN_SECONDS), "ok"
        schedule = parse(record["schedule"])
        coming = due_times(schedule, now, now + 40 * 86_400, ZONE, anchor=last + RUN_SECONDS)
        record["next_run_at"] = _iso(coming[0])
        record["repeat"] = {"times": None, "completed": 100}


def _times(record: dict, since: float, now: float) -> list[float]:
    """When a job ran: an interval counts from the end of the run before."""
    schedule = parse(record["schedule"])
    if schedule.kind == "cron":
        return [at + 20 for at in due_times(schedule, since, now - 120, ZONE)]
    step = schedule.minutes * 60 + 60
    return [now - 90 - step * number for number in range(int((now - since) / step))][::-1]


def _output(home: Path, record: dict, at: float) -> None:
    stamp = datetime.fromtimestamp(at, ZONE)
    head = f"# Cron Job: {record['name']}\n\n**Job ID:** {record['id']}\n"
    head += f"**Run Time:** {stamp:%Y-%m-%d %H:%M:%S}\n"
    if record["no_agent"]:
        text = f"{head}**Mode:** no_agent (script)\n**Status:** silent (empty output)\n"
    else:
        answer = "- The harvest was good (file a.md).\n" * 10
        text = f"{head}**Schedule:** daily\n\n## Prompt\n\n{record['prompt']}\n\n## Response\n\n{answer}\n"
    path = home / "cron" / "output" / record["id"] / f"{stamp:%Y-%m-%d_%H-%M-%S}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")


def _gateway(home: Path, now: float) -> None:
    """The files of a gateway that works: this process stands for it."""
    pid, ticks = os.getpid(), process_start_time()
    record = {"pid": pid, "kind": "hermes-gateway", "argv": ["hermes", "gateway", "run"], "start_time": ticks}
    platforms = {"telegram": {"state": "connected", "error_code": None, "error_message": None}}
    state = {
        **record,
        "gateway_state": "running",
        "exit_reason": None,
        "restart_requested": False,
        "active_agents": 0,
        "platforms": platforms,
        "updated_at": _utc(now),
    }
    beat = {"pid": pid, "updated_at": _utc(now), "monotonic": 1.0, "start_time": now - 3600}
    for name, data in (
        ("gateway.pid", record),
        ("gateway.lock", record),
        ("gateway_state.json", state),
        ("state/gateway.heartbeat", beat),
    ):
        (home / name).write_text(json.dumps(data), "utf-8")
    (home / "gateway-starts.log").write_text(f"{now - 3600!r}\n", "utf-8")
    for name in ("ticker_heartbeat", "ticker_last_success"):
        (home / "cron" / name).write_text(repr(now), "utf-8")
    memory = MemoryFile(home).read()
    if memory.pid is not None:
        _supervisor(home, now)


def _supervisor(home: Path, now: float) -> None:
    """The memory of a supervisor that has just looked: this process stands for it, too."""
    memory = Memory(pid=os.getpid(), started=process_start_time(), last_pass_at=now, state="running")
    MemoryFile(home).write(memory, durable=False)


def _iso(at: float) -> str:
    return datetime.fromtimestamp(at, ZONE).isoformat()


def _utc(at: float) -> str:
    return datetime.fromtimestamp(at, timezone.utc).isoformat()
