"""Jobs that the real host made, linted; toolsets and skills told as the host tells them."""

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
DRIVER = Path(__file__).with_name("lint_driver.py")


@pytest.fixture(scope="module")
def seen() -> Iterator[dict[str, Any]]:
    with ModelServer([]) as server, HermesHome(server.url) as home:
        home.configure({"timezone": "Europe/Berlin"})
        done = subprocess.run(
            [sys.executable, str(DRIVER), str(CHECKOUT)],
            env=home.environment(),
            cwd=home.project,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        yield json.loads(done.stdout.splitlines()[-1])


def told(seen: dict[str, Any], name: str) -> dict[str, str]:
    """Rule -> text of what `lint` says of a job, remarks left out."""
    (target,) = [one for one in seen["lint"]["targets"] if one["job"] == seen["ids"][name]]
    return {hit["rule"]: hit["text"] for hit in target["findings"] if hit["severity"] != "info"}


def test_sound_jobs_of_the_host_have_no_findings(seen: dict[str, Any]) -> None:
    for name in ("early", "reader", "script"):
        assert told(seen, name) == {}, name


def test_wording_and_settings_of_real_jobs_are_told(seen: dict[str, Any]) -> None:
    assert {"L109", "L201", "L402"} <= set(told(seen, "vague"))
    assert "no arguments" in told(seen, "arguments")["J101"]
    assert "23 h old" in told(seen, "too early")["J107"]
    assert "'files'" in told(seen, "slip")["J109"]
    assert "'absent'" in told(seen, "skilled")["J105"]


def test_prompts_are_held_against_the_tools_of_real_jobs(seen: dict[str, Any]) -> None:
    by_id = {one["job"]: one for one in seen["toolsets"]["jobs"]}
    assert seen["ids"]["script"] not in by_id
    lacking = by_id[seen["ids"]["lacking"]]
    assert {one["rule"] for one in lacking["findings"]} == {"toolsets.missing", "toolsets.unneeded"}
    assert sorted(by_id[seen["ids"]["slip"]]["tools"]) == [
        "image_generate",
        "vision_analyze",
        "web_extract",
        "web_search",
    ]


def test_toolsets_are_those_of_the_host_and_the_table_is_up_to_date(seen: dict[str, Any]) -> None:
    assert seen["source"] == "host"
    assert seen["table"] == sorted(seen["resolved"])
    for name, (ours, table, host) in seen["resolved"].items():
        assert ours == table == host, name
    for name, (known, valid) in seen["valid"].items():
        assert known is valid, name
    ours, host = seen["cron default"]
    assert ours == host


def test_skills_are_found_where_the_host_finds_them(seen: dict[str, Any]) -> None:
    for name, (ours, host) in seen["skills"].items():
        assert ours is host, name
