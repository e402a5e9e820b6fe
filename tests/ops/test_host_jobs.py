"""The job list as the host writes it, as people edit it, and as it must never be taken for empty."""

from __future__ import annotations

import json
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from hermes_ops.errors import OpsError, Unreadable
from hermes_ops.host.jobs import find, read_job, read_jobs

CASES = Path(__file__).parent / "cron"


def home_with(tmp_path: Path, content: Any) -> Path:
    (tmp_path / "cron").mkdir()
    target = tmp_path / "cron" / "jobs.json"
    if isinstance(content, Path):
        shutil.copy(content, target)
    elif isinstance(content, (bytes, str)):
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    else:
        target.write_text(json.dumps(content))
    return tmp_path


def test_every_shape_of_the_host_is_read_without_a_crash(tmp_path: Path) -> None:
    home = home_with(tmp_path, CASES / "host_shapes.json")
    before = (home / "cron" / "jobs.json").read_bytes()
    jobs = read_jobs(home)
    assert [job.id for job in jobs.jobs] == [
        "06c6883b7ddd",
        "aaaaaaaaaaaa",
        "bbbbbbbbbbbb",
        "cccccccccccc",
        "dddddddddddd",
        "eeeeeeeeeeee",
        "ffffffffffff",
    ]
    digest, nameless, broken, killed, drifted, done, dead = jobs.jobs
    assert digest.deliver == ("telegram:-100123:17", "discord:55")
    assert digest.last_delivery_error and digest.last_status == "ok"
    assert digest.toolsets == ("files", "web")
    assert nameless.name == "watch.py" and nameless.deliver == ("telegram", "slack")
    assert nameless.repeat_times is None and nameless.repeat_completed == 0
    assert broken.state == "error" and broken.deliver == ("local",) and not broken.live
    assert killed.schedule.kind == "invalid" and killed.schedule.display == "30 9 * * *"
    assert drifted.schedule.problem == "a string, where the host writes a mapping"
    assert any("job_id" in problem for problem in drifted.problems)
    assert done.schedule.kind == "once" and done.deliver == ("origin",) and not done.live
    assert dead.live and dead.last_run_at == pytest.approx(1_789_448_400.0)
    assert (home / "cron" / "jobs.json").read_bytes() == before


def test_a_bare_list_with_bom_and_control_characters_is_accepted_and_not_rewritten(tmp_path: Path) -> None:
    home = home_with(tmp_path, CASES / "bare_list_bom_control.json")
    before = (home / "cron" / "jobs.json").read_bytes()
    jobs = read_jobs(home)
    assert len(jobs.jobs) == 1 and jobs.jobs[0].schedule.minutes == 5.0
    assert "\t" in jobs.jobs[0].name
    assert (home / "cron" / "jobs.json").read_bytes() == before


def test_a_truncated_list_is_unreadable_and_named(tmp_path: Path) -> None:
    home = home_with(tmp_path, CASES / "truncated.json")
    with pytest.raises(Unreadable, match=r"cron/jobs\.json"):
        read_jobs(home)


@pytest.mark.parametrize(
    "content",
    ["", "null", "3", '"x"', '{"jobs": null}', '{"jobs": {}}', b"\xff\xfe[]", "[" * 100_000],
    ids=["empty", "null", "number", "text", "null jobs", "mapping", "not utf-8", "deep"],
)
def test_what_is_no_list_of_jobs_is_never_taken_for_no_jobs(tmp_path: Path, content: Any) -> None:
    with pytest.raises(Unreadable):
        read_jobs(home_with(tmp_path, content))


def test_no_file_and_an_empty_list_are_no_jobs(tmp_path: Path) -> None:
    assert read_jobs(tmp_path).jobs == ()
    assert read_jobs(home_with(tmp_path, {"updated_at": None})).jobs == ()


def test_a_file_that_is_being_written_is_read_again(tmp_path: Path) -> None:
    home = home_with(tmp_path, '{"jobs": [{"id": "06c68')
    path = home / "cron" / "jobs.json"
    timer = threading.Timer(0.1, lambda: path.write_text('{"jobs": [{"id": "06c6883b7ddd"}]}'))
    timer.start()
    try:
        assert read_jobs(home).jobs[0].id == "06c6883b7ddd"
    finally:
        timer.join()


def test_a_truncated_list_is_given_up_within_seconds(tmp_path: Path) -> None:
    home = home_with(tmp_path, "{")
    begin = time.monotonic()
    with pytest.raises(Unreadable):
        read_jobs(home)
    assert time.monotonic() - begin < 10


def test_ids_that_stand_twice_and_records_that_are_none_are_told(tmp_path: Path) -> None:
    record = {"id": "06c6883b7ddd", "schedule": {"kind": "interval", "minutes": 5}}
    jobs = read_jobs(home_with(tmp_path, {"jobs": [record, None, record, [1], {}]}))
    assert len(jobs.jobs) == 3
    assert any("record 2" in problem for problem in jobs.problems)
    assert any("record 4" in problem for problem in jobs.problems)
    assert any("06c6883b7ddd" in problem and "2 times" in problem for problem in jobs.problems)
    assert all(any("2 times" in one for one in job.problems) for job in jobs.jobs[:2])
    assert jobs.jobs[2].id == "unknown-5"


def test_a_record_of_nothing_but_null_is_read() -> None:
    keys = [
        "id",
        "name",
        "prompt",
        "script",
        "schedule",
        "schedule_display",
        "repeat",
        "enabled",
        "state",
        "no_agent",
        "deliver",
        "model",
        "provider",
        "model_snapshot",
        "provider_snapshot",
        "skills",
        "skill",
        "context_from",
        "enabled_toolsets",
        "workdir",
        "origin",
        "created_at",
        "next_run_at",
        "last_run_at",
        "last_status",
        "last_error",
        "last_delivery_error",
        "paused_at",
    ]
    job = read_job(dict.fromkeys(keys))
    assert job.name and job.deliver == ("local",) and job.schedule.kind == "invalid"
    assert not job.enabled and job.state == "paused"


@pytest.mark.parametrize("value", [[], {}, 7, "x", True, float("nan"), 10**400, [None], {"a": [1]}])
def test_a_record_of_wrong_types_is_read(value: Any) -> None:
    keys = [
        "name",
        "prompt",
        "script",
        "schedule",
        "schedule_display",
        "repeat",
        "enabled",
        "state",
        "deliver",
        "model",
        "skills",
        "context_from",
        "enabled_toolsets",
        "workdir",
        "origin",
        "created_at",
        "next_run_at",
        "last_run_at",
        "last_status",
        "paused_at",
    ]
    job = read_job({"id": "06c6883b7ddd", **dict.fromkeys(keys, value)})
    assert job.name and job.deliver
    assert job.next_run_at is None


@pytest.mark.parametrize(
    ("deliver", "targets"),
    [
        (None, ("local",)),
        ("", ("local",)),
        ([], ("local",)),
        ("local", ("local",)),
        ("telegram, slack", ("telegram", "slack")),
        (["telegram", "slack:C1"], ("telegram", "slack:C1")),
        (["telegram,slack"], ("telegram", "slack")),
        ("telegram:-100:17", ("telegram:-100:17",)),
        (" , ", ("local",)),
    ],
)
def test_targets_are_read_one_by_one(deliver: Any, targets: tuple[str, ...]) -> None:
    assert read_job({"id": "06c6883b7ddd", "deliver": deliver}).deliver == targets


def test_enabled_decides_what_runs_not_the_state() -> None:
    assert read_job({"id": "06c6883b7ddd", "state": "paused", "enabled": True}).live
    assert not read_job({"id": "06c6883b7ddd", "state": "scheduled", "enabled": False}).live
    assert read_job({"id": "06c6883b7ddd"}).live


def test_a_job_is_found_by_id_beginning_and_name(tmp_path: Path) -> None:
    jobs = read_jobs(home_with(tmp_path, CASES / "host_shapes.json"))
    assert find(jobs, "06c6883b7ddd").name == "morning digest"
    assert find(jobs, "06c").id == "06c6883b7ddd"
    assert find(jobs, "Morning Digest").id == "06c6883b7ddd"
    with pytest.raises(OpsError, match="06c6883b7ddd"):
        find(jobs, "morning digestt")
    with pytest.raises(OpsError, match="no job"):
        find(jobs, "")
    with pytest.raises(OpsError, match="holds no jobs"):
        find(read_jobs(tmp_path / "nowhere"), "x")


def test_a_list_that_is_gone_is_not_a_home_without_jobs(tmp_path):
    assert read_jobs(tmp_path).jobs == ()
    (tmp_path / "cron" / "output").mkdir(parents=True)
    assert read_jobs(tmp_path).jobs == ()
    (tmp_path / "cron" / "output" / "0123456789ab").mkdir()
    with pytest.raises(Unreadable, match="gone"):
        read_jobs(tmp_path)
    (tmp_path / "cron" / "jobs.json").write_text('{"jobs": []}')
    assert read_jobs(tmp_path).jobs == ()
