"""Our view of the cron side read back from what the real host wrote, planned and resolved itself."""

from __future__ import annotations

import json
import random
import subprocess
import sys
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

pytestmark = pytest.mark.host

DRIVER = Path(__file__).with_name("cron_driver.py")
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


@pytest.fixture(scope="module")
def said(home: HermesHome) -> dict[str, Any]:
    question = {
        "headings": HEADINGS,
        "silence": SILENCE,
        "planned": PLANNED,
        "targets": TARGETS,
        "variables": VARIABLES,
        "written": WRITTEN,
        "clocks": [(name, begin(name, day), 44, EXPRS) for name, day in CLOCKS],
    }
    done = subprocess.run(
        [sys.executable, str(DRIVER), json.dumps(question)],
        env=home.environment(),
        cwd=home.project,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


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
        assert ran["status"] == "ok"
    elif found.outcome == "failed":
        assert ran["status"] == "error" and ran["said"]
        assert found.error.split("\n")[0] == ran["error"].split("\n")[0]
    elif found.outcome == "empty":
        assert ran["status"] == "error" and ran["said"] is None
    else:
        assert ran["status"] == "ok" and ran["said"] is None
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
    import time

    name, day = CLOCKS[place]
    start = begin(name, day)
    if name is None:
        monkeypatch.setenv("TZ", "Europe/Berlin")
        time.tzset()
    try:
        for expr, real in said["starts"][place].items():
            schedule = parse({"kind": "cron", "expr": expr})
            due = due_times(schedule, start, start + 44 * 3600, ZoneInfo(name) if name else SERVER)
            looked = [start + 600 * (int((at - start) // 600) + ((at - start) % 600 > 0)) for at in due]
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
    assert said["now"] in (3600.0, 7200.0)


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
