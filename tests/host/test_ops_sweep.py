"""The sweep over jobs that the real host ran, failed, lost, paused and could not deliver."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.host.hermes import HermesHome
from tests.host.model_server import ModelServer

pytestmark = pytest.mark.host

CHECKOUT = Path(__file__).resolve().parents[2]
DRIVER = Path(__file__).with_name("sweep_driver.py")


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer([{"turns": [{"text": "I have told them."}], "repeat": True}]) as server:
        yield server


@pytest.fixture(scope="module")
def home(model: ModelServer) -> Iterator[HermesHome]:
    with HermesHome(model.url) as home:
        home.configure({"timezone": "Europe/Berlin"})
        home.install(CHECKOUT / "hermes_ops")
        yield home


@pytest.fixture(scope="module")
def steps(home: HermesHome) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(DRIVER), str(CHECKOUT)],
        env=home.environment(),
        cwd=home.project,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def found(steps: dict[str, Any], step: str) -> dict[str, list[str]]:
    """The findings of a step, with the names of jobs for their ids."""
    assert steps[step]["blind"] == []
    names = {f"default/{job_id}": name for name, job_id in steps["ids"].items()}
    return {
        f"{rule} {names.get(key, key)}": lines
        for id, lines in steps[step]["findings"].items()
        for rule, _, key in [id.partition(":")]
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
