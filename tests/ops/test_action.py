"""Actions on jobs against a command that changes a job list as the host's does, and one that lies."""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from hermes_ops.core import action_host, action_journal
from hermes_ops.core.action import Action, Done, apply, journal
from hermes_ops.errors import OpsError
from hermes_ops.host import command
from hermes_ops.host.command import Said

JOB, OTHER = "06c6883b7ddd", "aaaaaaaaaaaa"


def record(job_id: str = JOB, **given: Any) -> dict[str, Any]:
    return {
        "id": job_id,
        "name": "digest",
        "prompt": "Say what is new.",
        "skills": [],
        "model": None,
        "provider": None,
        "script": None,
        "no_agent": False,
        "schedule": {"kind": "cron", "expr": "0 9 * * *", "display": "0 9 * * *"},
        "schedule_display": "0 9 * * *",
        "repeat": {"times": None, "completed": 3},
        "enabled": True,
        "state": "scheduled",
        "paused_at": None,
        "paused_reason": None,
        "created_at": "2026-11-01T09:00:00+00:00",
        "next_run_at": "2100-01-01T09:00:00+00:00",
        "last_run_at": None,
        "deliver": "local",
        "workdir": None,
        **given,
    }


def schedule_of(text: str) -> dict[str, Any]:
    if text.startswith("every "):
        return {"kind": "interval", "minutes": int(text[6:-1]), "display": text}
    if "T" in text:
        return {"kind": "once", "run_at": text, "display": f"once at {text}"}
    return {"kind": "cron", "expr": text, "display": text}


class Hermes:
    """`hermes cron ...` over one job list; `lies` are verbs that say they did it and did not."""

    def __init__(self, home: Path) -> None:
        self.home, self.path = home, home / "cron" / "jobs.json"
        self.calls: list[list[str]] = []
        self.lies: set[str] = set()
        self.path.parent.mkdir()
        self.write(record(), record(OTHER, name="other"))

    def write(self, *jobs: dict[str, Any]) -> None:
        self.path.write_text(json.dumps({"jobs": list(jobs), "updated_at": None}))

    def jobs(self) -> dict[str, dict[str, Any]]:
        return {job["id"]: job for job in json.loads(self.path.read_text())["jobs"]}

    def run(self, home: Path, arguments: list[str], timeout: float, stdin: str | None = None) -> Said:
        assert home == self.home
        self.calls.append(arguments)
        parser = argparse.ArgumentParser()
        parser.add_argument("cron")
        parser.add_argument("verb")
        parser.add_argument("first")
        parser.add_argument("prompt_word", nargs="?")
        for name in ("schedule", "prompt", "name", "deliver", "script", "workdir"):
            parser.add_argument(f"--{name}")
        parser.add_argument("--repeat", type=int)
        parser.add_argument("--skill", dest="skills", action="append")
        parser.add_argument("--clear-skills", dest="skills", action="store_const", const=[])
        parser.add_argument("--no-agent", dest="no_agent", action="store_true", default=None)
        parser.add_argument("--agent", dest="no_agent", action="store_false")
        parsed = parser.parse_args(arguments)
        if parsed.verb in self.lies:
            return Said(0, f"Done: {parsed.first}\n", "")
        jobs = self.jobs()
        job = jobs.get(parsed.first, {})
        given = {
            name: getattr(parsed, name)
            for name in ("prompt", "name", "deliver", "script", "workdir", "skills", "no_agent")
            if getattr(parsed, name) is not None
        }
        if parsed.schedule:
            given["schedule"] = schedule_of(parsed.schedule)
        if parsed.repeat is not None:
            given["repeat"] = {"times": parsed.repeat or None, "completed": 0}
        if parsed.verb == "pause":
            job.update(enabled=False, state="paused", paused_at="2026-11-29T10:00:00+00:00")
        elif parsed.verb == "resume":
            job.update(
                enabled=True, state="scheduled", paused_at=None, next_run_at="2100-01-01T09:00:00+00:00"
            )
        elif parsed.verb == "edit":
            job.update(given)
        elif parsed.verb == "remove":
            del jobs[parsed.first]
        elif parsed.verb == "run":
            job.update(last_run_at="2026-11-29T10:00:00+00:00", last_status="ok")
        else:
            given.update(prompt=parsed.prompt_word or "", schedule=schedule_of(parsed.first))
            jobs["bbbbbbbbbbbb"] = record("bbbbbbbbbbbb", **given)
        self.write(*jobs.values())
        return Said(0, "Created job: bbbbbbbbbbbb\n" if parsed.verb == "create" else "Done\n", "")


@pytest.fixture
def hermes(tmp_path: Path, monkeypatch) -> Hermes:
    """A home that is not this process's own, so that actions go through the command."""
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "elsewhere"))
    monkeypatch.delenv("OPS_ACTIONS", raising=False)
    home = tmp_path / "home"
    home.mkdir()
    fake = Hermes(home)
    monkeypatch.setattr(command, "run_hermes", fake.run)
    return fake


def act(hermes: Hermes, verb: str, job_id: str | None = JOB, **arguments: Any) -> Done:
    return apply(Action(verb, hermes.home, job_id, arguments, "test"))


def content(folder: Path) -> str:
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        found.update(f"{path} {path.stat().st_mtime_ns}".encode())
        if path.is_file():
            found.update(path.read_bytes())
    return found.hexdigest()


def test_a_pause_is_read_back_and_undone(hermes: Hermes) -> None:
    done = act(hermes, "pause")
    assert done.ok and done.changed and done.detail == f"job {JOB} (digest) is paused"
    assert hermes.jobs()[OTHER]["enabled"] is True
    undone = apply(done.undo)
    assert undone.ok and hermes.jobs()[JOB]["state"] == "scheduled"
    assert undone.undo.verb == "pause" and apply(undone.undo).ok
    assert hermes.calls == [["cron", verb, JOB] for verb in ("pause", "resume", "pause")]


def test_what_is_paused_already_is_not_ours_to_resume(hermes: Hermes) -> None:
    hermes.write(record(state="paused", enabled=False))
    done = act(hermes, "pause")
    assert done.ok and not done.changed and done.undo is None and hermes.calls == []


def test_an_undo_leaves_alone_what_somebody_changed_since(hermes: Hermes) -> None:
    done = act(hermes, "pause")
    hermes.write(record(state="paused", enabled=False, paused_at="2026-11-29T11:00:00+00:00"))
    undone = apply(done.undo)
    assert not undone.ok and "was changed since: paused_at" in undone.detail
    edited = act(hermes, "edit", name="new")
    hermes.write(record(name="theirs"))
    assert not apply(edited.undo).ok and hermes.jobs()[JOB]["name"] == "theirs"


@pytest.mark.parametrize("verb", ["pause", "edit", "remove", "run", "create", "resume"])
def test_an_exit_code_of_0_proves_nothing(hermes: Hermes, verb: str) -> None:
    hermes.lies.add(verb)
    if verb == "resume":
        hermes.write(record(state="paused", enabled=False))
    arguments = {"edit": {"name": "new"}, "create": {"schedule": "every 30m", "prompt": "x"}}.get(verb, {})
    before = hermes.path.read_text()
    done = act(hermes, verb, None if verb == "create" else JOB, **arguments)
    assert not done.ok and hermes.calls and hermes.path.read_text() == before
    assert done.undo is None


@pytest.mark.parametrize(
    "job_id",
    ["", "06C6883B7DDD", "06c6883b7dd", "06c6883b7ddd0", "x; touch /tmp/x", "--help", "../../etc", None, 5],
)
def test_what_is_no_job_id_never_reaches_a_command(hermes: Hermes, job_id: Any) -> None:
    done = act(hermes, "pause", job_id)
    assert not done.ok and "no job id" in done.detail and hermes.calls == []


def test_a_job_that_is_not_there_or_twice_is_refused(hermes: Hermes) -> None:
    assert "no job 000000000000" in act(hermes, "pause", "0" * 12).detail
    hermes.write(record(), record())
    assert "more than once" in act(hermes, "pause").detail
    hermes.path.write_text("{")
    assert not act(hermes, "pause").ok
    assert hermes.calls == []


@pytest.mark.parametrize(
    ("given", "before"),
    [
        ({"schedule": "30 4 * * *"}, {"schedule": "0 9 * * *"}),
        ({"schedule": "every 90m", "name": "new"}, {"schedule": "0 9 * * *", "name": "digest"}),
        ({"deliver": ["telegram:-100:17", "slack"]}, {"deliver": "local"}),
        ({"skills": ["a", "b"]}, {"skills": []}),
        ({"no_agent": True, "script": "w.py"}, {"no_agent": False, "script": ""}),
        ({"repeat": 5}, {"repeat": 0}),
        ({"prompt": "--deliver=all; $(touch x)\nline"}, {"prompt": "Say what is new."}),
        ({"schedule": "2100-01-01T10:00:00+01:00"}, {"schedule": "0 9 * * *"}),
    ],
)
def test_an_edit_is_read_back_and_undone(hermes: Hermes, given: dict, before: dict) -> None:
    untouched = hermes.jobs()[JOB]
    done = act(hermes, "edit", **given)
    assert done.ok, done.detail
    assert {name: value for name, value in done.undo.arguments.items() if name != "expect"} == before
    undone = apply(done.undo)
    assert undone.ok, undone.detail
    after = hermes.jobs()[JOB]
    for ours in (untouched, after):
        ours.pop("repeat")
        ours["script"] = ours["script"] or None
    assert after == untouched


def test_an_edit_that_lost_its_next_run_is_not_ok(hermes: Hermes) -> None:
    hermes.write(record(next_run_at=None))
    done = act(hermes, "edit", schedule="30 4 * * *")
    assert not done.ok and "no next run" in done.detail


def test_a_schedule_that_cannot_be_written_down_has_no_undo(hermes: Hermes) -> None:
    hermes.write(record(schedule="0 9 * * *"))
    done = act(hermes, "edit", schedule="30 4 * * *")
    assert done.ok and done.undo is None


@pytest.mark.parametrize(
    ("verb", "arguments", "why"),
    [
        ("edit", {}, "at least one field"),
        ("edit", {"schedul": "x"}, "did you mean schedule?"),
        ("edit", {"id": "x"}, "no field of a job"),
        ("edit", {"no_agent": "yes"}, "true or false"),
        ("edit", {"repeat": 1.5}, "whole number"),
        ("edit", {"skills": [1]}, "list of texts"),
        ("edit", {"name": "x\0y"}, "expected text"),
        ("edit", {"schedule": ""}, "cannot be cleared"),
        ("pause", {"name": "x"}, "takes no name"),
        ("delete", {}, "is no action"),
    ],
)
def test_arguments_that_are_wrong_are_refused(hermes: Hermes, verb: str, arguments: dict, why: str) -> None:
    done = act(hermes, verb, **arguments)
    assert not done.ok and why in done.detail and hermes.calls == []


def test_a_new_job_is_found_by_what_is_new(hermes: Hermes) -> None:
    done = act(
        hermes, "create", None, schedule="every 30m", prompt="Say hello", deliver="local", name="hello"
    )
    assert done.ok and done.job_id == "bbbbbbbbbbbb" and "next run 2100" in done.detail
    assert hermes.calls[0][:4] == ["cron", "create", "every 30m", "Say hello"]
    undone = apply(done.undo)
    assert undone.ok and set(hermes.jobs()) == {JOB, OTHER}


@pytest.mark.parametrize(("job_id", "arguments"), [(JOB, {"schedule": "every 2h"}), (None, {"prompt": "x"})])
def test_a_job_is_not_created_from_half_a_description(hermes: Hermes, job_id: Any, arguments: dict) -> None:
    assert not act(hermes, "create", job_id, **arguments).ok and hermes.calls == []


def test_a_one_shot_whose_time_has_passed_is_not_resumed(hermes: Hermes) -> None:
    hermes.write(record(state="paused", enabled=False, schedule=schedule_of("2020-01-01T10:00:00+00:00")))
    done = act(hermes, "resume")
    assert not done.ok and "that time has passed" in done.detail and hermes.calls == []


def test_pausing_a_one_shot_says_what_it_may_cost(hermes: Hermes) -> None:
    hermes.write(record(schedule=schedule_of("2100-01-01T10:00:00+00:00")))
    assert "cannot be resumed once its time has passed" in act(hermes, "pause").detail


def test_a_paused_job_is_not_run_and_a_live_one_is(hermes: Hermes) -> None:
    done = act(hermes, "run")
    assert done.ok and done.detail.endswith("ran: ok") and done.undo is None
    hermes.write(record(state="paused", enabled=False))
    assert "resume it first" in act(hermes, "run").detail


def test_a_model_is_never_set_through_the_command(hermes: Hermes, monkeypatch) -> None:
    monkeypatch.setattr(action_host, "importable", lambda: False)
    done = act(hermes, "edit", model="some-model", provider="openrouter")
    assert not done.ok and "has no flag for model, provider" in done.detail and hermes.calls == []


def test_a_dry_run_changes_nothing_and_shows_the_command(hermes: Hermes) -> None:
    before = content(hermes.home)
    for action, shown in (
        (Action("pause", hermes.home, JOB), f"hermes cron pause {JOB}"),
        (
            Action("edit", hermes.home, JOB, {"schedule": "30 4 * * *"}),
            f"cron edit {JOB} '--schedule=30 4 * * *'",
        ),
        (Action("create", hermes.home, None, {"schedule": "every 2h", "prompt": "it's"}), "'it'\"'\"'s'"),
        (Action("edit", hermes.home, JOB, {"model": "m"}), "no flag for model"),
    ):
        done = apply(action, dry_run=True)
        assert done.ok and shown in done.detail and not done.changed and done.undo is None
    assert not apply(Action("pause", hermes.home, "x"), dry_run=True).ok
    assert content(hermes.home) == before and hermes.calls == []


def test_the_command_of_a_profile_names_it(hermes: Hermes, tmp_path: Path, monkeypatch) -> None:
    root = tmp_path / "elsewhere"
    assert Action("pause", root, JOB).command() == f"hermes cron pause {JOB}"
    assert Action("pause", root / "profiles" / "work", JOB).command() == f"hermes -p work cron pause {JOB}"
    assert Action("pause", Path("/a b"), JOB).command() == f"HERMES_HOME='/a b' hermes cron pause {JOB}"
    with pytest.raises(OpsError, match="no field"):
        Action("edit", root, JOB, {"x": 1}).command()


@pytest.mark.parametrize(
    "config", ['{"ops": {"actions": false}}', "ops: [", '{"ops": {"actions": "perhaps"}}']
)
def test_the_switch_stops_everything_also_when_it_cannot_be_read(hermes: Hermes, config: str) -> None:
    (hermes.home / "config.yaml").write_text(config)
    done = act(hermes, "pause")
    assert not done.ok and "ops.actions" in done.detail and hermes.calls == []
    assert apply(Action("pause", hermes.home, JOB), dry_run=True).ok
    assert [one["ok"] for one in journal(hermes.home)] == [False]


def test_the_switch_is_that_of_the_home_that_acts(hermes: Hermes, tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    ours.mkdir()
    (ours / "config.yaml").write_text('{"ops": {"actions": "off"}}')
    assert not apply(Action("pause", hermes.home, JOB), state_home=ours).ok
    assert hermes.calls == [] and len(journal(ours)) == 1 and journal(hermes.home) == []


def test_the_journal_holds_every_action_redacted(hermes: Hermes) -> None:
    secret = "ghp" + "_" + "Ab3" * 12
    act(hermes, "pause")
    act(hermes, "edit", prompt=f"use {secret}\n" * 300)
    first, second = journal(hermes.home)
    assert (first["verb"], first["job_id"], first["ok"], first["reason"]) == ("pause", JOB, True, "test")
    assert set(first) >= {"at", "verb", "job_id", "home", "arguments", "reason", "ok", "detail"}
    raw = (hermes.home / "ops" / "actions.jsonl").read_bytes()
    assert secret.encode() not in raw and len(second["arguments"]["prompt"]) < 2100
    assert json.loads(raw.splitlines()[0])["format"] == 1
    assert journal(hermes.home, 1) == [second] and journal(hermes.home, 0) == []


def test_a_torn_journal_is_read_as_far_as_it_goes(hermes: Hermes) -> None:
    act(hermes, "pause")
    with open(hermes.home / "ops" / "actions.jsonl", "ab") as file:
        file.write(b'not json\n[1]\n{"at": "x"}\n{"verb": "pau')
    assert len(journal(hermes.home)) == 1
    act(hermes, "resume")
    assert [one["verb"] for one in journal(hermes.home)] == ["pause", "resume"]


def test_a_full_journal_is_rotated_once(hermes: Hermes, monkeypatch) -> None:
    monkeypatch.setattr(action_journal, "MAX_BYTES", 400)
    for number in range(6):
        act(hermes, "pause" if number % 2 == 0 else "resume")
    names = sorted(path.name for path in (hermes.home / "ops").glob("actions.jsonl*"))
    assert names == ["actions.jsonl", "actions.jsonl.1", "actions.jsonl.lock"]
    assert 1 <= len(journal(hermes.home)) <= 4 and journal(hermes.home)[-1]["verb"] == "resume"


def test_an_action_that_cannot_be_written_down_says_so(hermes: Hermes) -> None:
    (hermes.home / "ops").write_text("in the way")
    done = act(hermes, "pause")
    assert done.ok and "not written down" in done.detail


def test_a_command_that_does_not_end_is_judged_by_what_it_did(hermes: Hermes, monkeypatch) -> None:
    def hang(home: Path, arguments: list[str], timeout: float, stdin: str | None = None) -> Said:
        hermes.run(home, arguments, timeout)
        return Said(None, "", "")

    monkeypatch.setattr(command, "run_hermes", hang)
    assert act(hermes, "pause").ok
    monkeypatch.setattr(command, "run_hermes", lambda *_: Said(None, "", ""))
    assert "did not end in time" in act(hermes, "resume").detail


def test_a_host_that_cannot_be_started_is_an_answer(hermes: Hermes, monkeypatch) -> None:
    def fail(*_: Any) -> Said:
        raise OpsError("the command `hermes` is nowhere")

    monkeypatch.setattr(command, "run_hermes", fail)
    done = act(hermes, "pause")
    assert not done.ok and "nowhere" in done.detail and not done.changed


def test_a_package_called_cron_that_is_not_the_hosts_is_left_alone(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "cron").mkdir()
    (tmp_path / "cron" / "__init__.py").write_text("raise AssertionError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "cron", raising=False)
    assert action_host.importable() is False
