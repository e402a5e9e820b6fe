"""The sweep over jobs that the real host ran, failed, lost, paused and could not deliver."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tests.host.hermes import HermesHome
from tests.host.model_server import ModelServer
from tests.host.ops_host import CHECKOUT, Host

pytestmark = pytest.mark.host

ZONE = "Europe/Berlin"


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer([{"turns": [{"text": "I have told them."}], "repeat": True}]) as server:
        yield server


@pytest.fixture(scope="module")
def home(model: ModelServer) -> Iterator[HermesHome]:
    with HermesHome(model.url) as home:
        home.configure({"timezone": ZONE})
        home.install(CHECKOUT / "hermes_ops")
        (home.path / "scripts").mkdir()
        yield home


class Days:
    """Days of June in which the host ticks on a clock of ours, and jobs of scripts that it runs."""

    def __init__(self, home: HermesHome, host: Host) -> None:
        self.home, self.host = home, host
        self.ids: dict[str, str] = {}
        self.at(1, "00:10")

    def at(self, day: int, time: str) -> None:
        """The clock jumps, and the host does nothing."""
        self.clock = (
            datetime.fromisoformat(f"2026-06-{day:02}T{time}").replace(tzinfo=ZoneInfo(ZONE)).timestamp()
        )
        self.host.ask("stands", self.clock, ZONE)

    def go_on(self, day: int, time: str, step: float = 3600.0) -> None:
        """Let the host tick every hour, or as often as is said, until then."""
        begin = self.clock
        self.at(day, time)
        self.host.ask("tick_until", begin, self.clock, step, ZONE)

    def script(self, name: str, text: str = "print('x')") -> str:
        (self.home.path / "scripts" / name).write_text(text)
        return name

    def make(self, name: str, schedule: str, text: str = "print('x')", deliver: str = "local") -> str:
        script = self.script(f"{name}.py", text)
        job = {"name": name, "schedule": schedule, "script": script, "no_agent": True, "deliver": deliver}
        self.ids[name] = self.host.ask("create", **job)
        return self.ids[name]

    def swept(self) -> dict[str, Any]:
        return self.host.ask("watch", "schedule.sweep", at=self.clock)


@pytest.fixture(scope="module")
def steps(home: HermesHome) -> Iterator[dict[str, Any]]:
    with Host(home) as host:
        yield live_through(Days(home, host), host)


def live_through(days: Days, host: Host) -> dict[str, Any]:
    """What each sweep of these days found, and what became of the operator's job."""
    steps: dict[str, Any] = {"ids": days.ids}
    days.make("often", "0 */6 * * *")
    daily = days.make("daily", "0 6 * * *")
    days.make("broken", "0 9 * * *", "import sys; sys.exit('no luck')")
    sent = days.make("sent", "0 9 * * *", deliver="discord:55")
    days.make("once", "2026-06-02T10:00")
    idle = days.make("idle", "0 9 * * *")
    host.ask("pause", idle, "a holiday")

    days.go_on(3, "12:00")
    steps["three days"] = days.swept()
    days.go_on(4, "05:40")
    days.at(4, "06:05")
    # What a gateway leaves that dies between planning a run and making it.
    host.ask("cron.jobs.advance_next_run", daily)
    days.go_on(4, "12:00")
    steps["a run lost"] = days.swept()
    days.script("broken.py")
    host.ask("cron.jobs.update_job", sent, {"deliver": "local"})
    days.go_on(5, "12:00")
    steps["mended"] = days.swept()
    days.go_on(6, "05:40")
    days.at(6, "14:10")
    days.go_on(6, "15:00", step=1800.0)
    steps["after a night without a gateway"] = days.swept()
    days.go_on(9, "12:00")
    steps["a week later"] = days.swept()
    host.ask("cron.jobs.resume_job", idle)
    days.go_on(10, "12:00")
    steps["all well"] = days.swept()

    host.ask("stands", None)
    (days.home.path / "scripts" / "often.py").unlink()
    host.ask("ops", "sweep", "--brief", "--write")
    brief = {"prompt": "Tell the operator.", "schedule": "15 5 * * *", "script": "hermes-ops-brief.py"}
    operator = host.ask("create", name="brief", **brief)
    steps["briefs"] = []
    for _ in range(2):
        ran = host.ask("ran", operator)
        steps["briefs"].append([ran["job"]["last_status"], ran["job"]["last_error"], ran["text"]])
        time.sleep(1.1)  # the host names an output by the second
    return steps


def found(steps: dict[str, Any], step: str) -> dict[str, list[str]]:
    """The findings of a step, with the names of jobs for their ids."""
    assert steps[step]["blind"] == []
    names = {f"default/{job_id}": name for name, job_id in steps["ids"].items()}
    return {
        f"{rule} {names.get(key, key)}": lines
        for id, lines in steps[step]["findings"].items()
        for rule, _, key in [id.removeprefix("schedule.").partition(":")]
    }


def test_failures_and_deliveries_are_told_and_what_works_is_not(steps: dict[str, Any]) -> None:
    reading = found(steps, "three days")
    assert set(reading) == {"failing broken", "undelivered sent", "target sent"}
    severity, text, *_ = reading["failing broken"]
    assert severity == "error" and "3 failures in a row since 2026-06-01 09:" in text
    assert "Script exited with code 1" in text and "CEST" in text
    assert "though the run counts as ok" in reading["undelivered sent"][1]
    assert "discord is not set up" in reading["target sent"][1]


def test_a_run_that_the_host_planned_and_lost_is_missed(steps: dict[str, Any]) -> None:
    reading = found(steps, "a run lost")
    severity, text, *evidence = reading["missed daily"]
    assert severity == "error" and "due, 2026-06-04 06:00 CEST; it has not run since" in text
    assert "next_run_at: 2026-06-05 06:00 CEST" in evidence


def test_a_success_closes_failures_and_a_later_run_softens_the_miss(steps: dict[str, Any]) -> None:
    reading = found(steps, "mended")
    assert set(reading) == {"missed daily"}
    assert (
        reading["missed daily"][0] == "warning" and "ran again 2026-06-05 06:" in reading["missed daily"][1]
    )


def test_a_night_without_a_gateway_is_one_gap_and_its_late_runs_are_not_missed(steps: dict[str, Any]) -> None:
    reading = found(steps, "after a night without a gateway")
    assert set(reading) == {"outage default/"}
    severity, text, *evidence = reading["outage default/"]
    assert severity == "warning" and "4 jobs were due" in text
    assert any("daily" in line and "2026-06-06 06:00 CEST" in line for line in evidence)


def test_what_is_over_is_silent_and_a_long_pause_is_told(steps: dict[str, Any]) -> None:
    reading = found(steps, "a week later")
    assert set(reading) == {"paused idle"}
    assert "8 days" in reading["paused idle"][1] and "a holiday" in reading["paused idle"][1]
    assert found(steps, "all well") == {}


def test_the_operators_agent_is_woken_by_a_change_and_only_by_one(
    home: HermesHome, model: ModelServer, steps: dict[str, Any]
) -> None:
    (status, error, woken), (again, error_again, asleep) = steps["briefs"]
    assert (status, error, again, error_again) == ("ok", None, "ok", None)
    assert "NEW error: job" in woken and "its script 'often.py' is missing" in woken
    assert "Tell the operator." in woken and "I have told them." in woken
    assert asleep == ""
    asked = [request for request in model.requests if "Tell the operator." in json.dumps(request.body)]
    assert len([request for request in asked if request.body.get("tools")]) == 1
