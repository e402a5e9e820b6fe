"""`hermes ops incidents`: what it lists, what it changes, and its exit codes."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from hermes_ops.cli import main
from hermes_ops.core.finding import Finding, Reading
from hermes_ops.core.incident import Incidents

ID = "schedule.missed:default/06c6883b7ddd"


@pytest.fixture
def home(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.setenv("HERMES_TIMEZONE", "UTC")
    return tmp_path


def see(home: Path, *keys: str, holds: int = 1, ago: float = 0.0) -> None:
    findings = [
        Finding(
            "schedule.missed",
            "error",
            "job digest",
            "no run\x1b[2J",
            key,
            ("row 1",),
            "hermes cron list",
            holds,
        )
        for key in keys
    ]
    Incidents(home).update("sweep", Reading.of(findings), time.time() - ago, lambda messages: True)


def test_nothing_open_is_exit_code_0(home: Path, capsys) -> None:
    assert main(["incidents"]) == 0
    assert capsys.readouterr().out == "nothing is open\n"
    see(home, "default/06c6883b7ddd", holds=3)
    assert main(["incidents"]) == 0
    assert main(["incidents", "--all"]) == 0
    assert "suspect" in capsys.readouterr().out
    assert list((home / "ops").glob("*.damaged*")) == []


def test_what_is_open_is_listed_with_its_fix(home: Path, capsys) -> None:
    see(home, "default/06c6883b7ddd", ago=7200)
    assert main(["incidents"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"error  {ID}  open, since 2 h",
        "    job digest: no run\\x1b[2J",
        "    fix: hermes cron list",
    ]
    assert main(["incidents", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["schema"] == 1 and [one["id"] for one in said["incidents"]] == [ID]


def test_acknowledged_and_snoozed_wait_for_nobody(home: Path, capsys) -> None:
    see(home, "default/06c6883b7ddd", "default/aaaaaaaaaaaa")
    assert main(["incidents", "ack", "06c6", "--by", "ann"]) == 0
    assert "acknowledged by ann" in capsys.readouterr().out
    assert main(["incidents", "snooze", "aaaa", "--for", "4h", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["incident"]["snoozed_until"]
    assert main(["incidents"]) == 0
    assert "snoozed for 4 h" in capsys.readouterr().out


def test_one_is_shown_with_all_that_is_known_of_it(home: Path, capsys) -> None:
    see(home, "default/06c6883b7ddd", ago=3600)
    see(home)
    see(home, "default/06c6883b7ddd")
    assert main(["incidents", "show", "schedule"]) == 0
    out = capsys.readouterr().out
    assert out.count(f"{ID}  (error, ") == 2 and "row 1" in out and " UTC" in out
    assert "said: came back" in out
    assert main(["incidents", "show", "schedule", "--json"]) == 0
    first, second = json.loads(capsys.readouterr().out)["incidents"]
    assert (first["state"], second["state"]) == ("open", "closed")


def test_what_is_over_is_listed_when_asked_for(home: Path, capsys) -> None:
    keys = [f"default/{number:012x}" for number in range(25)]
    see(home, *keys, ago=3600)
    see(home)
    assert main(["incidents"]) == 0
    assert main(["incidents", "--all"]) == 0
    out = capsys.readouterr().out
    assert out.count("after 60 min") == 20 and "and 5 more that are over" in out


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["ack", "nothing"], 1, "no incident 'nothing'"),
        (["show", "nothing"], 1, "no incident 'nothing'"),
        (["snooze", "06c6", "--for", "soon"], 2, "expected a time like"),
        (["snooze", "06c6", "--for", "0h"], 2, "expected a time like"),
        (["snooze", "06c6"], 2, "--for"),
        (["forget"], 2, "invalid choice"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    home: Path, capsys, arguments: list[str], code: int, why: str
) -> None:
    see(home, "default/06c6883b7ddd")
    assert main(["incidents", *arguments]) == code
    error = capsys.readouterr().err
    assert why in error and error.count("\n") == 1


def test_damaged_state_is_said_and_left_for_the_next_run(home: Path, capsys) -> None:
    (home / "ops").mkdir()
    (home / "ops" / "incidents.json").write_text("{")
    assert main(["incidents"]) == 1
    assert "damaged" in capsys.readouterr().err
    assert (home / "ops" / "incidents.json").read_text() == "{"
