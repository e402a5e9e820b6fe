"""Our own files with any value in any place: damage that is set aside and told, never an error of ours."""

from __future__ import annotations

import copy
import json
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_ops import cli
from hermes_ops._common import config
from hermes_ops._common.files import write_atomic
from hermes_ops.core import state
from hermes_ops.core.incident import Incidents
from hermes_ops.core.incident_record import Recent, Record, Saying, Waiting, Watched
from hermes_ops.core.run import last_run
from hermes_ops.core.typed import decoded, object_of, typed
from hermes_ops.errors import Unreadable
from hermes_ops.liveness.lease import Lease, read_lease
from hermes_ops.liveness.memory import Memory, MemoryFile, Outage, as_data
from hermes_ops.liveness.units import Installed
from hermes_ops.quality.probes import read_baseline
from hermes_ops.schedule import brief, gate_state, moves, remind, snapshot, sweep_memory
from hermes_ops.schedule.declared import Declared
from hermes_ops.schedule.lint import watch as lint
from hermes_ops.spend import budget_pauses

JOB, NOW = "06c6883b7ddd", 1_796_000_000.0
HOSTILE = (
    None, True, False, 0, -1, 10**400, -(10**400), 2**63, 1e300, -1e300, 1.5, "", "x", "\0", "\ud83d",
    "a/../b", [], {}, [None], [[]], {"": None}, {"x": {"y": []}}, [[1, 2, 3]],
)  # fmt: skip

SAYING = Saying("open", "error", NOW, 10.0, 1, True)
RECORD = Record(
    "schedule.late:default/a", "finding", "error", "job a", "late", NOW, NOW, ["x"], "fix", state="open",
    opened_at=NOW, openings=[1.0], said=[SAYING], history=[(NOW, "opened")], acknowledged_by="anna",
)  # fmt: skip
OUTAGE = Outage(NOW, "gateway.down", "dead", "no process", ("pid 1",), closed_at=NOW)
DECLARED = Declared(
    "default", JOB, "digest", "cron 0 6 * * *", "on", "agent", ("local",), None, None, None, None, "", "ab",
    2, (), (), None, None, None, None,
)  # fmt: skip
PAUSED = {
    "profile": "default", "home": "/nowhere", "job": JOB, "name": "digest", "day": "2026-11-28", "at": NOW,
    "reason": "cap", "asked": False, "status": "paused", "paused_at": None, "paused_reason": None,
}  # fmt: skip
MADE = {
    "at": NOW, "profile": "default", "home": "/nowhere", "job": JOB, "name": "digest", "before": "0 6 * * *",
    "after": "0 3 * * *", "undo": {"schedule": "0 6 * * *", "expect": {"schedule": {"kind": "cron"}}},
}  # fmt: skip
REMINDER = remind.Reminder("0a1b2c3d", "tea", NOW, "UTC", "local", JOB, "ops-remind-0a1b2c3d.py", NOW - 60)


def watched() -> dict[str, Any]:
    return asdict(
        Watched(
            NOW, 10.0, {RECORD.id: RECORD}, {"x:y": Recent(1.0, 1, [1.0])}, ["e"],
            [Waiting("e:1", "said", "warning", NOW, 9.0)], [1.0], None,
        )
    )  # fmt: skip


VALID: dict[str, dict[str, Any]] = {
    "incidents.json": {"watchers": {"sweep": watched()}},
    "incidents-closed.json": {"closed": [["sweep", asdict(RECORD)]]},
    "sweep.json": {
        "at": NOW,
        "jobs": {f"default/{JOB}": {"name": "x", "signature": "", "since": 1, "idle": None, "one_shot": 1}},
    },
    "supervisor.json": as_data(
        Memory(
            pid=1, last_pass_at=NOW, restarts=(NOW,), outage=OUTAGE, last_outage=OUTAGE, evidence=("x",),
            lease=Lease("anna", "work", NOW, NOW + 60),
        )
    ),
    "budget.json": {
        "paused": [PAUSED],
        "days": {"2026-11-28": {"status": "done", "at": NOW, "jobs": [JOB]}},
    },
    "gates/feed.json": gate_state.written(
        gate_state.Gate("feed", "a\n", "a", NOW, NOW, ("changed",), "it failed", NOW)
    ),
    "schedule.json": {
        "at": NOW, "by": "anna", "reason": "", "zones": {"default": "UTC"}, "jobs": [DECLARED.as_dict()],
        "history": [{"at": NOW, "by": "anna", "reason": "", "jobs": 1}],
    },
    "reminders.json": {"reminders": [asdict(REMINDER)]},
    "lint.json": {"prompts": {f"default/{JOB}": "ab"}},
    "brief.json": {"at": NOW, "open": {"a:b": ["error", "late"]}, "events": ["e"]},
    "schedule-moves.json": {"moves": [MADE]},
    "maintenance.json": asdict(Lease("anna", "work", NOW, NOW + 60)),
    "supervise.json": asdict(Installed("detached", "", "/nowhere", (NOW,))),
    "probes-baseline.json": {"accepted_at": NOW, "probes": {"a": ["the list is there", True]}},
    "install.json": {"jobs": {"sweep": JOB}},
    "watchers/sweep.json": {"last_run": NOW, "last_ok": NOW, "error": None},
}  # fmt: skip


def job(watcher: str) -> list[str]:
    """A watcher as its job runs it."""
    return ["watch", watcher, "--scheduled"]


# What reads each of the files.
USERS: dict[str, tuple[list[str], ...]] = {
    "incidents.json": (["incidents"], ["status"], job("thinking"), ["incidents"]),
    "incidents-closed.json": (["incidents", "--all"], job("thinking"), ["incidents", "--all"]),
    "sweep.json": (["sweep"], job("sweep"), job("sweep")),
    "supervisor.json": (["supervise", "status"], job("watchers"), job("supervisor")),
    "budget.json": (["budget"], job("budget"), ["budget", "resume", "--dry-run"]),
    "gates/feed.json": (["gate", "list"], ["gate", "feed", "--diff", "--file", "FILE"], ["gate", "list"]),
    "schedule.json": (["diff"], job("table"), ["diff", "--json"]),
    "reminders.json": (["remind", "list", "--all"], ["remind", "clean"], job("table")),
    "lint.json": (["lint"], job("lint")),
    "brief.json": (["sweep", "--brief"], ["sweep", "--brief"]),
    "schedule-moves.json": (["schedule"], ["schedule", "--undo", JOB, "--dry-run"]),
    "maintenance.json": (["supervise", "status"], ["status"]),
    "supervise.json": (["supervise", "status"], job("supervisor")),
    "probes-baseline.json": (["probes"], job("probes")),
    "install.json": (["status"], job("watchers"), job("sweep")),
    "watchers/sweep.json": (["status"], job("watchers")),
}  # fmt: skip


def files(home: Path) -> dict[str, state.StateFile]:
    incidents = Incidents(home)
    return {
        "incidents.json": incidents._live,
        "incidents-closed.json": incidents._closed,
        "sweep.json": sweep_memory.state_file(home),
        "supervisor.json": MemoryFile(home)._file,
        "budget.json": budget_pauses.state_file(home),
        "gates/feed.json": gate_state.state_file(home, "feed"),
        "schedule.json": snapshot._file(home),
        "reminders.json": remind._file(home),
        "lint.json": lint._state(home),
        "brief.json": brief.state_file(home),
        "schedule-moves.json": moves.state_file(home),
    }


def places(data: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every value in a tree, the whole excepted."""
    items = (
        data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, (list, tuple)) else ()
    )
    for key, value in items:
        yield (*at, key)
        yield from places(value, (*at, key))


def spoiled(name: str, place: tuple[Any, ...], value: Any) -> str:
    """The file with one value replaced."""
    data = json.loads(json.dumps({**VALID[name], "format": 1}))
    target = data
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = copy.deepcopy(value)
    return json.dumps(data)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", VALID)
def test_what_is_written_is_read_again(home: Path, name: str) -> None:
    """The states that the other tests spoil are sound ones."""
    write_atomic(home / "ops" / name, json.dumps({**VALID[name], "format": 1}))
    if name in files(home):
        assert files(home)[name].read()
    elif name == "maintenance.json":
        assert read_lease(home) == Lease(**VALID[name])
    elif name == "probes-baseline.json":
        assert read_baseline(home).probes == {"a": ("the list is there", True)}


@pytest.mark.once
def test_any_value_in_any_place_is_read_or_is_damage(home: Path) -> None:
    refused = 0
    for name, file in files(home).items():
        file.path.parent.mkdir(parents=True, exist_ok=True)
        for place in places(VALID[name]):
            for value in HOSTILE:
                file.path.write_text(spoiled(name, place, value))
                try:
                    file.read()
                except Unreadable as error:
                    assert "damaged (" in str(error)
                    refused += 1
                    continue
                with file.changing() as opened:  # what is taken for sound can be written again
                    opened.durable = False
                    opened.data["touched"] = True
    assert refused > 1000


@pytest.mark.once
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_commands_and_watchers_answer_whatever_our_files_hold(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(VALID)))
    place = data.draw(st.sampled_from(sorted(places(VALID[name]), key=str)))
    value = data.draw(st.sampled_from(HOSTILE))
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        home = Path(folder)
        patch.setenv("HERMES_HOME", folder)
        patch.setattr("hermes_ops.liveness.units.spawn", lambda home: 1)
        (home / "config.yaml").write_text("ops: {budget: {cap_usd: 10}, alert_command: ''}\n")
        (home / "text").write_text("new\n")
        write_atomic(home / "ops" / "probes.toml", PROBES)
        write_atomic(home / "ops" / name, spoiled(name, place, value))
        config._cache.clear()
        for command in USERS[name]:
            words = [str(home / "text") if word == "FILE" else word for word in command]
            assert cli.main(words) in (0, 1, 2), words
        left = [path.read_text() for path in (home / "ops" / "watchers").glob("*.traceback")]
        assert left == []


PROBES = '[[probe]]\nid = "a"\nkind = "file_fresh"\ntitle = "t"\npath = "config.yaml"\nmax_age_hours = 1\n'


def test_a_value_of_another_type_is_told_and_the_watcher_goes_on(home: Path, capsys: Any) -> None:
    path = home / "ops" / "sweep.json"
    write_atomic(path, spoiled("sweep.json", ("jobs", f"default/{JOB}", "since"), "x"))
    assert cli.main(["watch", "sweep", "--scheduled"]) == 0
    assert "sweep.json.damaged-1" in capsys.readouterr().out and last_run(home, "sweep").error is None
    assert cli.main(["watch", "sweep", "--scheduled"]) == 0
    assert not path.with_name("sweep.json.damaged-2").exists()


def test_an_incident_of_a_wrong_type_does_not_end_its_watcher(home: Path, capsys: Any) -> None:
    place = ("watchers", "sweep", "incidents", RECORD.id, "said", 0, "severity")
    write_atomic(home / "ops" / "incidents.json", spoiled("incidents.json", place, {}))
    assert cli.main(["watch", "sweep", "--scheduled"]) == 0
    assert "incidents.json.damaged-1" in capsys.readouterr().out


@pytest.mark.parametrize(
    "kind, data, said",
    [
        (int, True, "found true or false"),
        (float, True, "found true or false"),
        (float, 10**400, "out of range"),
        (int, 2**53 + 1, "whole number"),
        (float, float("nan"), "out of range"),
        (float, float("inf"), "out of range"),
        (str | None, 1, "expected a text"),
        (list[str], "ab", "expected a list"),
        (tuple[str, float], ["a"], "a list of 2"),
        (dict[str, int], {"a": "1"}, "a: expected a whole number"),
        (Lease, {"owner": "a", "reason": "b", "since": 1}, "no until"),
        (Lease, {"owner": "a", "reason": "b", "since": 1, "until": 2, "more": 3}, "unknown 'more'"),
    ],
)
def test_what_is_not_of_its_type_is_named(kind: Any, data: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        typed(kind, data)


def test_an_int_will_do_as_a_time_and_lists_as_tuples() -> None:
    assert typed(Lease, {"owner": "a", "reason": "b", "since": 1, "until": 2}) == Lease("a", "b", 1.0, 2.0)
    assert typed(tuple[tuple[str, int], ...], [["a", 1]]) == (("a", 1),)


@pytest.mark.parametrize("raw", [b"1e400", b"NaN", b"[" * 200_000, b"\xff", b"[1,"])
def test_what_is_no_json_of_ours_is_a_value_error(raw: bytes) -> None:
    with pytest.raises(ValueError):
        decoded(raw)
    with pytest.raises(ValueError):
        object_of(Lease, raw)


def test_reading_many_records_takes_no_longer_than_their_number(home: Path) -> None:
    many = {"watchers": {"sweep": {**watched(), "incidents": {str(i): asdict(RECORD) for i in range(2000)}}}}
    write_atomic(home / "ops" / "incidents.json", json.dumps({**many, "format": 1}))
    begun = time.perf_counter()
    assert len(Incidents(home).all()) == 2000
    assert time.perf_counter() - begun < 5
