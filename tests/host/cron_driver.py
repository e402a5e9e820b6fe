"""Run by the host's Python in a home: the real host makes, runs, pauses and plans jobs.

Prints one JSON object with what the host itself says of each, for our readers to be compared with.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from cron import executions, jobs, scheduler
from hermes_cli.env_loader import load_hermes_dotenv

HOME = Path(os.environ["HERMES_HOME"])
load_hermes_dotenv(hermes_home=HOME)

QUESTION = json.loads(sys.argv[1])
ANSWER: dict[str, Any] = {}


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Let the host run a job now: what it did, and the output file it wrote."""
    folder = HOME / "cron" / "output" / job["id"]
    before = set(folder.glob("*.md")) if folder.exists() else set()
    found = dict(jobs.get_job(job["id"]) or job)
    said: list[Any] = []
    deliver, scheduler._deliver_result = scheduler._deliver_result, lambda job, text, **_: said.append(text)
    try:
        scheduler.run_one_job(found)
    finally:
        scheduler._deliver_result = deliver
    written = sorted(set(folder.glob("*.md")) - before)
    after = jobs.get_job(job["id"])
    return {
        "id": job["id"],
        "output": str(written[0]) if written else None,
        "said": said[0] if said else None,
        "status": after and after["last_status"],
        "error": after and after["last_error"],
    }


def script(name: str, text: str) -> str:
    (HOME / "scripts").mkdir(exist_ok=True)
    (HOME / "scripts" / name).write_text(text)
    return name


def outputs() -> dict[str, Any]:
    """One run of every kind there is."""
    made = {
        "script ok": jobs.create_job(
            "", "every 30m", script=script("ok.py", "print('a line')"), no_agent=True
        ),
        "script silent": jobs.create_job("", "every 30m", script=script("mute.py", ""), no_agent=True),
        "script gate": jobs.create_job(
            "", "every 30m", script=script("gate.py", "print('x\\n{\"wakeAgent\": false}')"), no_agent=True
        ),
        "script token": jobs.create_job(
            "", "every 30m", script=script("token.py", "print('[SILENT] x')"), no_agent=True
        ),
        "script failed": jobs.create_job(
            "", "every 30m", script=script("bad.py", "import sys; print('half'); sys.exit(3)"), no_agent=True
        ),
        "script missing": jobs.create_job("", "every 30m", script="gone.py", no_agent=True),
        "agent ok": jobs.create_job(QUESTION["headings"], "0 6 * * *", name="agent ok"),
        "agent silent": jobs.create_job("QUIET please", "0 6 * * *", name="silent (FAILED)"),
        "agent failed": jobs.create_job("BREAK please", "0 6 * * *", name="agent failed"),
        "agent empty": jobs.create_job("NOTHING please", "0 6 * * *", name="agent empty"),
        "gate silent": jobs.create_job("never asked", "0 6 * * *", name="gate", script="mute.py"),
        "gate closed": jobs.create_job("never asked", "0 6 * * *", name="gate", script="gate.py"),
    }
    found = {kind: run(job) for kind, job in made.items()}
    chained = jobs.create_job(
        "QUIET after reading", "0 7 * * *", name="chained", context_from=[made["agent ok"]["id"]]
    )
    found["agent chained"] = run(chained)
    return found


def records() -> None:
    """A paused job, a finished one-shot, one whose run fails, a list of targets, a job without a name."""
    paused = jobs.create_job("p", "every 2h", name="paused one")
    jobs.pause_job(paused["id"], reason="a holiday")
    once = jobs.create_job("", "30m", name="once", script="ok.py", no_agent=True)
    run(once)
    broken = jobs.create_job("p", "0 4 * * 6", name="cannot be planned")
    jobs.HAS_CRONITER = False
    jobs.mark_job_run(broken["id"], True)
    jobs.HAS_CRONITER = True
    odd = jobs.create_job("the prompt is the name", "0 4 1,31 * 7", deliver="telegram:-100:17,all")
    stored = jobs.load_jobs()
    next(job for job in stored if job["id"] == odd["id"]).update(name=None, deliver=["telegram", "slack"])
    jobs.save_jobs(stored)
    jobs.create_job("later", "2031-01-01T10:00", name="naive one-shot")
    running = executions.create_execution(paused["id"], source="builtin")
    executions.mark_execution_running(running["id"])


@contextlib.contextmanager
def clock(at: list[float], zone: ZoneInfo | None) -> Any:
    """The host's clock stands at `at[0]`, in a zone that is configured or in the server's."""

    def now() -> datetime:
        return datetime.fromtimestamp(at[0], zone) if zone else datetime.fromtimestamp(at[0]).astimezone()

    real, jobs._hermes_now = jobs._hermes_now, now
    try:
        yield
    finally:
        jobs._hermes_now = real


def starts(zone_name: str | None, begin: float, hours: float, exprs: list[str]) -> dict[str, list[float]]:
    """When the host starts jobs as its clock goes on in steps of ten minutes."""
    zone = ZoneInfo(zone_name) if zone_name else None
    if zone_name is None:
        os.environ["TZ"] = "Europe/Berlin"
        time.tzset()
    at = [begin]
    found: dict[str, list[float]] = {expr: [] for expr in exprs}
    store = HOME / "clocks" / f"{zone_name or 'server'}-{int(begin)}".replace("/", "-")
    with jobs.use_cron_store(store), clock(at, zone):
        made = {jobs.create_job("p", expr, name=expr)["id"]: expr for expr in exprs}
        while at[0] < begin + hours * 3600:
            at[0] += 600
            for job in jobs.get_due_jobs():
                jobs.advance_next_run(job["id"])
                jobs.mark_job_run(job["id"], True)
                found[made[job["id"]]].append(at[0])
    if zone_name is None:
        os.environ["TZ"] = "UTC"
        time.tzset()
    return found


def planned() -> list[Any]:
    """What compute_next_run makes of schedules at moments."""
    found = []
    for schedule, zone, moment in QUESTION["planned"]:
        with clock([moment], ZoneInfo(zone)):
            last = datetime.fromtimestamp(moment, ZoneInfo(zone)).isoformat()
            try:
                text = jobs.compute_next_run(schedule, last)
            except Exception:
                text = None
            grace = jobs._compute_grace_seconds(schedule)
        found.append([text and datetime.fromisoformat(text).timestamp(), grace])
    return found


def targets() -> dict[str, Any]:
    """Which targets the host resolves, and whether their platforms are switched on."""
    from gateway.config import Platform, load_gateway_config

    config = load_gateway_config()
    found = {}
    for text in QUESTION["targets"]:
        resolved = scheduler._resolve_delivery_targets({"id": "0" * 12, "deliver": text})
        on = []
        for target in resolved:
            try:
                platform = config.platforms.get(Platform(target["platform"].lower()))
            except ValueError:
                platform = None
            on.append(bool(platform and platform.enabled))
        found[text] = (
            [[target["platform"], str(target["chat_id"]), target["thread_id"]] for target in resolved],
            on,
        )
    return found


with contextlib.redirect_stdout(io.StringIO()):
    begin = time.time()
    ANSWER["outputs"] = outputs()
    ANSWER["took"] = {"outputs": time.time() - begin}
    records()
    jobs.record_ticker_heartbeat(success=True)
    ANSWER["ages"] = [jobs.get_ticker_heartbeat_age(), jobs.get_ticker_success_age(), time.time()]
    ANSWER["listed"] = jobs.list_jobs(include_disabled=True)
    ANSWER["executions"] = executions.list_executions(limit=500)
    ANSWER["silence"] = [scheduler._is_cron_silence_response(text) for text in QUESTION["silence"]]
    ANSWER["planned"] = planned()
    ANSWER["targets"] = targets()
    ANSWER["variables"] = {name: os.environ.get(name) for name in QUESTION["variables"]}
    ANSWER["written"] = []
    for text in QUESTION["written"]:
        try:
            ANSWER["written"].append(jobs.parse_schedule(text))
        except ValueError:
            ANSWER["written"].append(None)
    ANSWER["now"] = jobs._hermes_now().utcoffset() / timedelta(seconds=1)
    begin = time.time()
    ANSWER["starts"] = [starts(*one) for one in QUESTION["clocks"]]
    ANSWER["took"]["clocks"] = time.time() - begin
print(json.dumps(ANSWER))
