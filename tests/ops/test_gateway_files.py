"""The gateway's files, as the real host writes them and as crashes leave them."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_ops._common.files import process_start_time
from hermes_ops.host.gateway import Exit, process_facts, read_gateway, service_suffix


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process that runs until the test is over."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()
    process.stdin.close()


def home_of(tmp_path: Path, pid: int, ticks: int | None, **state: object) -> Path:
    record = {"pid": pid, "kind": "hermes-gateway", "argv": [], "start_time": ticks}
    for folder in ("state", "logs"):
        (tmp_path / folder).mkdir(exist_ok=True)
    (tmp_path / "gateway.pid").write_text(json.dumps(record))
    (tmp_path / "gateway.lock").write_text(json.dumps(record))
    status = {
        **record,
        "gateway_state": "running",
        "exit_reason": None,
        "restart_requested": False,
        "active_agents": 2,
        "platforms": {"telegram": {"state": "connected"}, "broken": "no mapping"},
        "updated_at": "2026-11-29T10:00:00.5+00:00",
        **state,
    }
    (tmp_path / "gateway_state.json").write_text(json.dumps(status))
    beat = {"pid": pid, "updated_at": "2026-11-29T10:00:30+00:00", "monotonic": 1.0, "start_time": 1.5}
    (tmp_path / "state" / "gateway.heartbeat").write_text(json.dumps(beat))
    return tmp_path


def test_a_home_without_files_has_no_gateway(tmp_path: Path) -> None:
    found = read_gateway(tmp_path)
    assert (found.pid, found.alive, found.state, found.lock_held, found.problems) == (
        None,
        None,
        None,
        False,
        (),
    )


def test_what_a_running_gateway_wrote(tmp_path: Path, child: subprocess.Popen[bytes]) -> None:
    ticks = process_start_time(child.pid)
    found = read_gateway(home_of(tmp_path, child.pid, ticks))
    assert (found.pid, found.alive, found.start_ticks, found.pid_file) == (child.pid, True, ticks, True)
    assert (found.state, found.active_agents, found.heartbeat_pid) == ("running", 2, child.pid)
    assert (found.state_at, found.heartbeat_at) == (1795946400.5, 1795946430.0)
    assert dict(found.platforms) == {"telegram": {"state": "connected"}}
    assert found.problems == ()


def test_a_number_that_another_process_has_now_is_dead(
    tmp_path: Path, child: subprocess.Popen[bytes]
) -> None:
    found = read_gateway(home_of(tmp_path, child.pid, process_start_time(child.pid) - 1))
    assert (found.alive, found.state) == (False, "running")


def test_without_a_start_time_life_cannot_be_known(tmp_path: Path, child: subprocess.Popen[bytes]) -> None:
    assert read_gateway(home_of(tmp_path, child.pid, None)).alive is None


def test_the_lock_is_looked_at_and_never_taken(tmp_path: Path, child: subprocess.Popen[bytes]) -> None:
    home = home_of(tmp_path, child.pid, process_start_time(child.pid))
    assert read_gateway(home).lock_held is False
    with open(home / "gateway.lock", "a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert read_gateway(home).lock_held is True


def test_a_torn_file_is_a_problem_and_the_others_are_read(
    tmp_path: Path, child: subprocess.Popen[bytes]
) -> None:
    home = home_of(tmp_path, child.pid, process_start_time(child.pid))
    (home / "gateway.pid").write_text("")
    (home / "state" / "gateway.heartbeat").write_bytes(b"\x00" * 100)
    found = read_gateway(home)
    assert (found.pid, found.alive, found.heartbeat_at) == (child.pid, True, None)
    assert len(found.problems) == 2 and found.unreadable == ()
    (home / "gateway_state.json").write_text("[1, 2")
    found = read_gateway(home)
    assert (found.pid, found.alive, found.state) == (child.pid, True, None)  # by gateway.lock


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_unreadable(tmp_path: Path) -> None:
    home = home_of(tmp_path, 1, 1)
    (home / "gateway_state.json").chmod(0)
    assert read_gateway(home).unreadable == (str(home / "gateway_state.json"),)


def test_hostile_shapes_never_raise(tmp_path: Path) -> None:
    home = home_of(tmp_path, 1, 1)
    for text in (
        "null",
        "7",
        "[]",
        '"x"',
        "{",
        '{"pid": "a"}',
        '{"pid": -1}',
        '{"pid": true}',
        "[" * 100_000,
    ):
        for name in ("gateway.pid", "gateway_state.json", "state/gateway.heartbeat", ".drain_request.json"):
            (home / name).write_text(text)
        assert read_gateway(home).alive in (None, True, False)
    for platforms in ([], {"a": None}, 3):
        (home / "gateway_state.json").write_text(json.dumps({"platforms": platforms, "updated_at": 5}))
        assert dict(read_gateway(home).platforms) == {}


def test_the_ends_of_starts_and_exits_are_read_and_torn_lines_are_not(tmp_path: Path) -> None:
    home = home_of(tmp_path, 1, 1)
    (home / "gateway-starts.log").write_text("1795946400.5\nx\n1795946401.0\n")
    lines = [
        "x" * 100_000,
        '{"ts": "2026-11-29T10:00:00+00:00", "tag": "gateway.start", "pid": 9}',
        "[]",
        "{torn",
    ]
    end = '{"ts": "2026-11-29T10:00:01+00:00", "tag": "asyncio.run.SystemExit", "pid": 9, "code": 78}'
    (home / "logs" / "gateway-exit-diag.log").write_text("\n".join([*lines, end]))
    found = read_gateway(home)
    assert found.starts == (1795946400.5, 1795946401.0)
    assert found.exits == (
        Exit(1795946400.0, "gateway.start", 9),
        Exit(1795946401.0, "asyncio.run.SystemExit", 9, 78),
    )


def test_a_process_that_has_only_said_that_it_starts_is_seen(
    tmp_path: Path, child: subprocess.Popen[bytes]
) -> None:
    import time
    from datetime import datetime, timezone

    home = home_of(tmp_path, 999_999_999, 5)
    at = datetime.fromtimestamp(time.time() + 1, timezone.utc).isoformat()
    start = json.dumps({"ts": at, "tag": "gateway.start", "pid": child.pid})
    (home / "logs" / "gateway-exit-diag.log").write_text(start + "\n")
    assert read_gateway(home).starting_pid == child.pid
    old = json.dumps({"ts": "2020-01-01T00:00:00+00:00", "tag": "gateway.start", "pid": child.pid})
    (home / "logs" / "gateway-exit-diag.log").write_text(old + "\n")
    assert read_gateway(home).starting_pid is None  # a later process with that number


def test_markers_tell_when_they_were_written_and_whether_they_still_count(tmp_path: Path) -> None:
    home = home_of(tmp_path, 1, 1)
    (home / ".gateway-planned-stop.json").write_text('{"written_at": "2026-11-29T10:00:00+00:00"}')
    (home / ".drain_request.json").write_text(
        '{"requested_at": "2026-11-29T09:00:00+00:00", "epoch": "another:1"}'
    )
    (home / ".update_pending.json").write_text("torn")
    os.utime(home / ".update_pending.json", (1000, 1000))
    markers = read_gateway(home).markers
    assert (markers["planned_stop"].at, markers["planned_stop"].valid) == (1795946400.0, True)
    assert markers["drain"].valid is False  # from before the machine was started
    assert markers["update"].at == 1000


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_store_that_was_deleted_under_the_gateway_is_seen(tmp_path: Path) -> None:
    code = f"import sys; f = open({str(tmp_path / 'state.db-wal')!r}, 'w'); print(flush=True); input()"
    process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        home = home_of(tmp_path, process.pid, process_start_time(process.pid))
        assert read_gateway(home).deleted == ()
        (home / "state.db-wal").unlink()
        assert read_gateway(home).deleted == ("state.db-wal",)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_facts_of_a_process_name_its_zone_and_its_parent() -> None:
    environment = {**os.environ, "TZ": "Asia/Tokyo", "HERMES_S6_SUPERVISED_CHILD": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, env=environment
    ) as process:
        try:
            facts = process_facts(process.pid)
            while "TZ" not in facts:  # not yet exec'ed
                facts = process_facts(process.pid)
        finally:
            process.stdin.close()
    assert (facts["TZ"], facts["HERMES_S6_SUPERVISED_CHILD"]) == ("Asia/Tokyo", "1")
    assert facts["parent"]


def test_unit_names_follow_the_host(tmp_path: Path) -> None:
    root = tmp_path / ".hermes"
    assert service_suffix(root, tmp_path) == ""
    assert service_suffix(root / "profiles" / "coder", tmp_path) == "coder"
    assert service_suffix(tmp_path / "data", tmp_path) == ""
    assert service_suffix(tmp_path / "data" / "profiles" / "coder", tmp_path) == "coder"
    assert len(service_suffix(root / "elsewhere", tmp_path)) == 8


def test_a_number_that_no_process_can_have_is_no_process(tmp_path):
    for pid in (-1, 0):
        (tmp_path / "gateway.pid").write_text(json.dumps({"pid": pid, "start_time": 1}))
        (tmp_path / "gateway_state.json").write_text(json.dumps({"pid": pid, "gateway_state": "running"}))
        found = read_gateway(tmp_path)
        assert (found.pid, found.alive) == (None, None)
