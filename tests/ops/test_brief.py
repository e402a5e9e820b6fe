"""The operator's brief: nothing without a change, the change otherwise, bounded and without secrets."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hermes_ops.cli import main
from hermes_ops.core.finding import Blind, Event, Finding, Reading
from hermes_ops.schedule.brief import LIMIT, Brief, brief, state_file

BERLIN = ZoneInfo("Europe/Berlin")
NOW = 1_795_777_200.0


def finding(
    key: str, text: str = "is wrong", severity: str = "warning", rule: str = "schedule.late"
) -> Finding:
    return Finding(rule, severity, f"job {key}", text, f"default/{key}")


def nothing() -> dict[str, object]:
    return {"at": None, "open": {}, "events": []}


def tell(before: Brief | None, *found: Finding | Blind | Event) -> Brief:
    reading = Reading.of(
        [one for one in found if isinstance(one, Finding)],
        [one for one in found if isinstance(one, Blind)],
        [one for one in found if isinstance(one, Event)],
    )
    return brief(reading, before.data if before else nothing(), NOW, BERLIN)


def test_nothing_wrong_is_nothing_said() -> None:
    assert tell(None).text == ""


def test_what_is_new_is_told_once() -> None:
    first = tell(None, finding("a"), finding("b", severity="error"))
    lines = first.text.splitlines()
    assert lines[0].endswith("the first brief: 2 new.")
    assert lines[1].startswith("NEW error: job b") and lines[2].startswith("NEW warning: job a")
    assert tell(first, finding("a"), finding("b", severity="error")).text == ""


def test_other_numbers_are_no_change_but_another_severity_is() -> None:
    first = tell(None, finding("a", "missed 3"))
    second = tell(first, finding("a", "missed 4"))
    assert second.text == ""
    third = tell(second, finding("a", "missed 9", "error"))
    assert "NOW error, was warning: job a: missed 9" in third.text


def test_what_is_over_is_told_with_what_it_was() -> None:
    first = tell(None, finding("a", "missed 3"), finding("b"))
    second = tell(first, finding("b"))
    assert "OVER: job a: missed 3" in second.text
    assert second.text.splitlines()[-1] == "1 more findings are as they were: hermes ops sweep"
    assert tell(second, finding("b")).text == ""


def test_what_cannot_be_seen_is_not_over() -> None:
    first = tell(None, finding("a"))
    blind = Blind("jobs.json", "jobs.json: torn", covers="schedule.late:default/")
    second = tell(first, blind)
    assert "cannot tell: jobs.json: torn" in second.text and "OVER" not in second.text
    third = tell(second, finding("a"))
    assert "OVER: cannot tell" in third.text and "NEW" not in third.text


def test_an_event_is_told_once() -> None:
    event = Event("burst:1", "twelve jobs at once", "warning")
    first = tell(None, event)
    assert "EVENT warning: twelve jobs at once" in first.text
    assert tell(first, event).text == ""


def test_a_brief_is_bounded_and_says_what_it_leaves_out() -> None:
    text = tell(None, *(finding(f"{number:04}", "x" * 1000) for number in range(500))).text
    assert len(text) <= LIMIT and "more: hermes ops sweep" in text


def test_a_secret_is_redacted_before_anything_is_cut() -> None:
    secret = "gh" + "p_" + "a1B2c3D4e5" * 4
    made = tell(None, finding("a", "x" * 370 + " " + secret))
    assert secret[:12] not in made.text and secret[:12] not in json.dumps(made.data)


def test_the_command_prints_nothing_when_nothing_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    (tmp_path / "cron").mkdir()
    record = {"id": "06c6883b7ddd", "name": "digest", "schedule": {}, "schedule_display": "0 6 * * *"}
    (tmp_path / "cron" / "jobs.json").write_text(json.dumps({"jobs": [record]}))

    def run() -> bytes:
        out = io.TextIOWrapper(io.BytesIO())
        monkeypatch.setattr(sys, "stdout", out)
        assert main(["sweep", "--brief"]) == 0
        out.flush()
        return out.buffer.getvalue()  # type: ignore[attr-defined]

    first = run()
    assert b"NEW error: job 06c6883b7ddd (digest)" in first
    assert run() == b""
    (tmp_path / "cron" / "jobs.json").write_text("{")
    assert b"cannot tell" in run()
    assert state_file(tmp_path).read()["open"]


def test_a_brief_that_could_not_be_printed_is_told_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    (tmp_path / "cron").mkdir()
    (tmp_path / "cron" / "jobs.json").write_text('{"jobs": [{"id": "06c6883b7ddd", "schedule": {}}]}')

    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            raise OSError(28, "No space left on device")

    out = io.TextIOWrapper(io.BytesIO())
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", type("Out", (), {"buffer": Full(), "encoding": "utf-8"})())
        assert main(["sweep", "--brief"]) == 1
    monkeypatch.setattr(sys, "stdout", out)
    assert main(["sweep", "--brief"]) == 0
    assert b"NEW" in out.buffer.getvalue()  # type: ignore[attr-defined]


def test_the_script_of_the_job_runs_the_brief(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    (tmp_path / "cron").mkdir()
    (tmp_path / "cron" / "jobs.json").write_text('{"jobs": [{"id": "06c6883b7ddd", "schedule": {}}]}')
    assert main(["sweep", "--brief", "--write"]) == 0
    assert "--script hermes-ops-brief.py" in capsys.readouterr().out
    script = tmp_path / "scripts" / "hermes-ops-brief.py"
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, str(script)],
        env={"HERMES_HOME": str(tmp_path), "PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0 and done.stdout.startswith(b"Schedule sweep of"), done.stderr
    script.write_text("print('mine')")
    assert main(["sweep", "--brief", "--write"]) == 2
