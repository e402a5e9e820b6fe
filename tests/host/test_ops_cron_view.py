"""Our view of the cron side read back from what the real host wrote, planned and resolved itself."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from hermes_ops.host import environment
from hermes_ops.host.delivery import parse_target, unreachable
from hermes_ops.host.executions import read_executions
from hermes_ops.host.jobs import Jobs, read_job, read_jobs
from hermes_ops.host.outputs import is_silence, list_outputs, read_output
from hermes_ops.host.schedules import due_times, grace, next_due, parse, written
from hermes_ops.host.ticker import read_ticker
from hermes_ops.host.zone import SERVER, host_time, zone
from tests.host.hermes import HermesHome
from tests.host.model_server import ModelServer
from tests.host.ops_host import Host, Refused

pytestmark = pytest.mark.host

HEADINGS = "Answer in this form:\n\n## Response\n\n[SILENT]\n\n## Error\n\n```\nnone\n```\n\nSPEAK please"
ANSWER = "1. A card\n\nA job may answer [SILENT] when idle."

ENV = """\
TELEGRAM_BOT_TOKEN=12345:made-up  # a comment
TELEGRAM_HOME_CHANNEL="-100123"
export SLACK_BOT_TOKEN='xoxb-made-up'
REFERRED=${TELEGRAM_HOME_CHANNEL}-x
MULTI="a
b"
"""
VARIABLES = ["TELEGRAM_BOT_TOKEN", "TELEGRAM_HOME_CHANNEL", "SLACK_BOT_TOKEN", "REFERRED", "MULTI", "NOWHERE"]

TARGETS = [
    "telegram",
    "telegram:-100:17",
    "telegram:5",
    "discord",
    "discord:55",
    "slack:C123456789",
    "signal",
    "pigeon",
    "pigeon:5",
    "whatsapp_cloud",
    "homeassistant",
    "all",
    "origin",
    "email",
]
SILENCE = [
    "[SILENT]",
    "silent",
    "NO_REPLY\n",
    "a\n\n[silent]",
    "[SILENT]: x",
    "Silent retry",
    "x [SILENT] y",
    "",
    " no  reply ",
]
WRITTEN = [
    "every 2h",
    "every 0m",
    "30m",
    "1d",
    "0 9 * * 1-5",
    "0 9 * * MON",
    "0 9 * * 7",
    "60 9 * * *",
    "0 9 * *",
    "0 9 * * * 30",
    "2031-02-03T14:00",
    "2031-02-03",
    "soon",
    "every",
]
HOURS, STEP = 44, 1800.0  # how long the host's clock goes on, and from one look of its to the next
EXPRS = ["0 6 * * *", "30 2 * * *", "0 */2 * * *", "0,30 * * * *", "0 0 * * 0", "30 1 25,29 * *"]
CLOCKS: list[tuple[str | None, str]] = [
    ("Europe/Berlin", "2026-03-28"),
    ("Europe/Berlin", "2026-10-24"),
    ("America/New_York", "2026-10-31"),
    ("Australia/Lord_Howe", "2026-04-04"),
    ("Asia/Kolkata", "2026-06-01"),
    (None, "2026-03-28"),
    (None, "2026-10-24"),
]


def moments() -> list[tuple[dict[str, Any], str, float]]:
    """Schedules, zones and times around both changes of clocks."""
    chosen, found = random.Random(8), []
    for _ in range(150):
        name, day = chosen.choice([one for one in CLOCKS if one[0]])
        base = datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(str(name))).timestamp()
        fields = [
            chosen.choice(["*", "*/7", "0", "30", "5,50", "10-20/3"]),
            chosen.choice(["*", "*/5", "2", "6", "22-3", "0"]),
            chosen.choice(["*", "*", "1,31", "*/6", "29"]),
            chosen.choice(["*", "*", "1-6", "10,11,12"]),
            chosen.choice(["*", "*", "7", "1-5", "*/2"]),
        ]
        found.append(
            ({"kind": "cron", "expr": " ".join(fields)}, str(name), base + chosen.uniform(-2, 3) * 86_400)
        )
    for minutes in (5, 30, 1440):
        found.append(({"kind": "interval", "minutes": minutes}, "Europe/Berlin", 1_795_777_200.0))
    return found


PLANNED = moments()


def begin(name: str | None, day: str) -> float:
    return (
        datetime.fromisoformat(f"{day}T06:01:00")
        .replace(tzinfo=ZoneInfo(name or "Europe/Berlin"))
        .timestamp()
    )


@pytest.fixture(scope="module")
def home() -> Iterator[HermesHome]:
    routes = [
        {
            "when": {"last_user": "QUIET"},
            "turns": [{"text": "Nothing new.\n\n[SILENT]"}],
            "repeat": True,
        },
        {
            "when": {"last_user": "BREAK"},
            "turns": [{"status": 401, "message": "no"}],
            "repeat": True,
        },
        {"when": {"last_user": "NOTHING"}, "turns": [{"text": ""}], "repeat": True},
        {"turns": [{"text": ANSWER}], "repeat": True},
    ]
    with ModelServer(routes) as server, HermesHome(server.url) as home:
        home.configure(
            {
                "timezone": "Europe/Berlin",
                "platforms": {"slack": {"enabled": False}},
                "agent": {"api_max_retries": 1},
            }
        )
        (home.path / ".env").write_text(ENV)
        yield home


SCRIPTS = {
    "ok": "print('a line')",
    "mute": "",
    "gate": "print('x\\n{\"wakeAgent\": false}')",
    "token": "print('[SILENT] x')",
    "bad": "import sys; print('half'); sys.exit(3)",
}
# One run of every kind there is.
RUNS: dict[str, dict[str, Any]] = {
    "script ok": {"script": "ok.py"},
    "script silent": {"script": "mute.py"},
    "script gate": {"script": "gate.py"},
    "script token": {"script": "token.py"},
    "script failed": {"script": "bad.py"},
    "script missing": {"script": "gone.py"},
    "agent ok": {"prompt": HEADINGS, "name": "agent ok"},
    "agent silent": {"prompt": "QUIET please", "name": "silent (FAILED)"},
    "agent failed": {"prompt": "BREAK please", "name": "agent failed"},
    "agent empty": {"prompt": "NOTHING please", "name": "agent empty"},
    "gate silent": {"prompt": "never asked", "name": "gate", "script": "mute.py"},
    "gate closed": {"prompt": "never asked", "name": "gate", "script": "gate.py"},
}


@pytest.fixture(scope="module")
def said(home: HermesHome) -> Iterator[dict[str, Any]]:
    """What the host itself says of jobs that it made, ran, paused and planned."""
    (home.path / "scripts").mkdir()
    for name, text in SCRIPTS.items():
        (home.path / "scripts" / f"{name}.py").write_text(text)
    with Host(home) as host:
        host.ask("hermes_cli.env_loader.load_hermes_dotenv", hermes_home=str(home.path))
        said = {"outputs": outputs(host)}
        records(host)
        host.ask("tick")
        said["ages"] = [host.ask(f"cron.jobs.get_ticker_{name}_age") for name in ("heartbeat", "success")]
        said["ages"].append(time.time())
        said["listed"] = host.ask("cron.jobs.list_jobs", include_disabled=True)
        said["executions"] = host.ask("cron.executions.list_executions", limit=500)
        said["silence"] = [host.ask("cron.scheduler._is_cron_silence_response", text) for text in SILENCE]
        said["planned"] = [planned(host, *one) for one in PLANNED]
        said["targets"] = host.ask("resolved", TARGETS)
        said["variables"] = {name: host.ask("os.getenv", name) for name in VARIABLES}
        said["written"] = [read(host, text) for text in WRITTEN]
        said["now"] = host.ask("cron.jobs._hermes_now")
        said["starts"] = [
            host.ask("starts", name, begin(name, day), HOURS, STEP, EXPRS) for name, day in CLOCKS
        ]
        yield said


def outputs(host: Host) -> dict[str, Any]:
    made = {}
    for kind, job in RUNS.items():
        recurring = (
            {"schedule": "0 6 * * *"} if "prompt" in job else {"schedule": "every 30m", "no_agent": True}
        )
        made[kind] = host.ask("create", **recurring, **job)
    found = {kind: host.ask("ran", job_id) for kind, job_id in made.items()}
    chain = {"prompt": "QUIET after reading", "context_from": [made["agent ok"]]}
    chained = host.ask("create", schedule="0 7 * * *", name="chained", **chain)
    return {**found, "agent chained": host.ask("ran", chained)}


def records(host: Host) -> None:
    """A paused job, a finished one-shot, one whose run fails, a list of targets, a job without a name."""
    paused = host.ask("create", prompt="p", schedule="every 2h", name="paused one")
    host.ask("pause", paused, "a holiday")
    host.ask("ran", host.ask("create", schedule="30m", name="once", script="ok.py", no_agent=True))
    broken = host.ask("create", prompt="p", schedule="0 4 * * 6", name="cannot be planned")
    host.ask("put", "cron.jobs.HAS_CRONITER", False)
    host.ask("cron.jobs.mark_job_run", broken, True)
    host.ask("put", "cron.jobs.HAS_CRONITER", True)
    everywhere = {"schedule": "0 4 1,31 * 7", "deliver": "telegram:-100:17,all"}
    odd = host.ask("create", prompt="the prompt is the name", **everywhere)
    stored = host.ask("cron.jobs.load_jobs")
    next(job for job in stored if job["id"] == odd).update(name=None, deliver=["telegram", "slack"])
    host.ask("cron.jobs.save_jobs", stored)
    host.ask("create", prompt="later", schedule="2031-01-01T10:00", name="naive one-shot")
    running = host.ask("cron.executions.create_execution", paused, source="builtin")
    host.ask("cron.executions.mark_execution_running", running["id"])


def planned(host: Host, schedule: dict[str, Any], zone: str, moment: float) -> tuple[float | None, float]:
    """When the host lets a job run next that has just run, and how late it may be."""
    host.ask("stands", moment, zone)
    try:
        text = host.ask(
            "cron.jobs.compute_next_run", schedule, datetime.fromtimestamp(moment, ZoneInfo(zone)).isoformat()
        )
    except Refused:
        text = None
    grace = host.ask("cron.jobs._compute_grace_seconds", schedule)
    host.ask("stands", None)
    return text and datetime.fromisoformat(text).timestamp(), grace


def read(host: Host, schedule: str) -> dict[str, Any] | None:
    """A schedule as the host reads it, None when it refuses it."""
    try:
        return host.ask("cron.jobs.parse_schedule", schedule)
    except Refused as error:
        assert "ValueError" in str(error)
        return None


@pytest.fixture(scope="module")
def jobs(home: HermesHome, said: dict[str, Any]) -> Jobs:
    return read_jobs(home.path)


def test_the_list_is_the_hosts_own(home: HermesHome, said: dict[str, Any], jobs: Jobs) -> None:
    assert jobs.problems == () and jobs.updated_at
    listed = {record["id"]: record for record in said["listed"]}
    assert [job.id for job in jobs.jobs] == list(listed)
    for job in jobs.jobs:
        record = listed[job.id]
        assert (job.name, job.prompt, job.state) == (record["name"], record["prompt"], record["state"])
        assert job.enabled is record["enabled"] and job.no_agent is record["no_agent"]
        assert job.schedule.display == record["schedule_display"]
        assert job.schedule.kind == record["schedule"]["kind"] and job.problems == ()
        for name in ("created_at", "next_run_at", "last_run_at", "paused_at"):
            assert getattr(job, name) == host_time(record[name])
        for name in ("last_status", "last_error", "last_delivery_error", "paused_reason", "model_snapshot"):
            assert getattr(job, name) == record[name]
        assert job.repeat_completed == record["repeat"]["completed"]
        if job.live and job.schedule.recurring and job.last_run_at:
            assert job.next_run_at == pytest.approx(
                next_due(job.schedule, job.last_run_at, zone(home.path).tz, job.last_run_at)
            )


def test_states_of_the_host_are_what_they_are(jobs: Jobs) -> None:
    by_name = {job.name: job for job in jobs.jobs}
    paused, broken = by_name["paused one"], by_name["cannot be planned"]
    assert not paused.live and paused.state == "paused" and paused.paused_reason == "a holiday"
    assert broken.state == "error" and broken.enabled and not broken.live and broken.next_run_at is None
    assert "once" not in by_name
    odd = by_name["the prompt is the name"]
    assert odd.deliver == ("telegram", "slack")
    berlin = ZoneInfo("Europe/Berlin")
    assert by_name["naive one-shot"].schedule.run_at == datetime(2031, 1, 1, 10, tzinfo=berlin).timestamp()


def test_runs_are_the_hosts_own(home: HermesHome, said: dict[str, Any]) -> None:
    runs = {run.id: run for run in read_executions(home.path)}
    assert set(runs) == {record["id"] for record in said["executions"]}
    for record in said["executions"]:
        run = runs[record["id"]]
        assert (run.job_id, run.status, run.source) == (record["job_id"], record["status"], record["source"])
        assert (run.error, run.pid) == (record["error"], record["pid"])
        assert run.process_started_at == str(record["process_started_at"])
        for name in ("claimed_at", "started_at", "finished_at"):
            assert getattr(run, name) == host_time(record[name])
    assert {"completed", "failed", "running"} <= {run.status for run in runs.values()}


OUTCOMES = {
    "script ok": "said",
    "script silent": "silent",
    "script gate": "silent",
    "script token": "silent",
    "script failed": "failed",
    "script missing": "failed",
    "agent ok": "said",
    "agent silent": "silent",
    "agent failed": "failed",
    "agent empty": "empty",
    "agent chained": "silent",
    "gate silent": "silent",
    "gate closed": "silent",
}


@pytest.mark.parametrize("kind", OUTCOMES)
@pytest.mark.parametrize("known", [False, True], ids=["prompt unknown", "prompt known"])
def test_every_kind_of_output_is_told_apart(
    home: HermesHome, said: dict[str, Any], jobs: Jobs, kind: str, known: bool
) -> None:
    ran = said["outputs"][kind]
    job = jobs.by_id(ran["id"])
    assert job is not None
    [path] = list_outputs(home.path, ran["id"])
    assert str(path) == ran["output"]
    found = read_output(path, zone(home.path).tz, job.prompt if known else None)
    assert found.outcome == OUTCOMES[kind], path.read_text()
    assert found.job_id == ran["id"] and found.run_at and job.last_run_at
    assert abs(found.run_at - job.last_run_at) < 30
    if found.outcome == "said":
        assert found.response == ran["said"].strip()
        assert ran["job"]["last_status"] == "ok"
    elif found.outcome == "failed":
        assert ran["job"]["last_status"] == "error" and ran["said"]
        assert found.error.split("\n")[0] == ran["job"]["last_error"].split("\n")[0]
    elif found.outcome == "empty":
        assert ran["job"]["last_status"] == "error" and ran["said"] is None
    else:
        assert ran["job"]["last_status"] == "ok" and ran["said"] is None
    if not job.no_agent and found.prompt:
        assert found.prompt.endswith(job.prompt)


def test_the_answer_to_a_prompt_of_headings_is_the_answer(home: HermesHome, said: dict[str, Any]) -> None:
    found = read_output(Path(said["outputs"]["agent ok"]["output"]))
    assert found.response == ANSWER
    assert read_output(Path(said["outputs"]["gate silent"]["output"])).size == 0


def test_silence_is_the_hosts_rule(said: dict[str, Any]) -> None:
    assert [is_silence(text) for text in SILENCE] == said["silence"]


def test_the_ticker_is_what_the_host_wrote(home: HermesHome, said: dict[str, Any]) -> None:
    found = read_ticker(home.path)
    heartbeat, success, now = said["ages"]
    assert found.heartbeat_at and found.success_at
    assert abs(now - heartbeat - found.heartbeat_at) < 1 and abs(now - success - found.success_at) < 1


@pytest.mark.parametrize("place", range(len(PLANNED)), ids=lambda place: str(place))
def test_the_next_run_is_the_one_the_host_computes(said: dict[str, Any], place: int) -> None:
    raw, name, moment = PLANNED[place]
    theirs, their_grace = said["planned"][place]
    schedule, tz = parse(raw), ZoneInfo(name)
    ours = next_due(schedule, moment, tz, moment)
    if theirs is not None and theirs <= moment:
        # Within a repeated hour the host plans the first pass again, and waits for the clock to show it.
        theirs = datetime.fromtimestamp(theirs, tz).replace(fold=1).timestamp()
    assert ours == (None if theirs is None else pytest.approx(theirs))
    assert grace(schedule, moment, tz) == their_grace


@pytest.mark.parametrize("place", range(len(CLOCKS)), ids=[f"{name} {day}" for name, day in CLOCKS])
def test_jobs_start_when_our_due_times_say(
    said: dict[str, Any], place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, day = CLOCKS[place]
    start = begin(name, day)
    if name is None:
        monkeypatch.setenv("TZ", "Europe/Berlin")
        time.tzset()
    try:
        for expr, real in said["starts"][place].items():
            schedule = parse({"kind": "cron", "expr": expr})
            due = due_times(schedule, start, start + HOURS * 3600, ZoneInfo(name) if name else SERVER)
            looked = [start + STEP * math.ceil((at - start) / STEP) for at in due]
            assert [round(at) for at in looked] == [round(at) for at in real], expr
    finally:
        monkeypatch.undo()
        time.tzset()


def test_schedules_as_text_are_taken_and_refused_as_the_host_does(said: dict[str, Any]) -> None:
    berlin = ZoneInfo("Europe/Berlin")
    for text, theirs in zip(WRITTEN, said["written"], strict=True):
        ours = written(text, berlin, 0.0)
        assert (ours.kind == "invalid") == (theirs is None), text
        if theirs is None:
            continue
        parsed = parse(theirs)
        assert (ours.kind, ours.expr, ours.minutes) == (parsed.kind, parsed.expr, parsed.minutes)
        if "T" in text:
            assert ours.run_at == parsed.run_at


def test_variables_are_those_of_the_hosts_process(home: HermesHome, said: dict[str, Any]) -> None:
    ours = environment.variables(home.path)
    assert {name: ours.get(name) for name in VARIABLES} == said["variables"]


def test_the_zone_is_the_hosts(home: HermesHome, said: dict[str, Any]) -> None:
    assert zone(home.path).name == "Europe/Berlin"
    offset = datetime.fromisoformat(said["now"]).utcoffset()
    assert offset is not None and offset.total_seconds() in (3600.0, 7200.0)


@pytest.mark.parametrize("text", TARGETS)
def test_a_target_is_unreachable_when_the_host_cannot_resolve_it(
    home: HermesHome, said: dict[str, Any], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    resolved, on = said["targets"][text]
    why = unreachable(read_job({"id": "0" * 12, "deliver": text}), parse_target(text), home.path)
    assert (why is None) == (bool(resolved) and any(on)), (why, resolved, on)
    if resolved and ":" in text:
        target = parse_target(text)
        assert [target.platform, target.chat, target.thread] == resolved[0]
