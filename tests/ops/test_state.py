"""State files: whole, locked, brought up from old formats, and never lost without a word."""

from __future__ import annotations

import json
import multiprocessing
import os
from pathlib import Path

import pytest

from hermes_ops._common.files import FileLock
from hermes_ops.core.state import StateFile
from hermes_ops.errors import OpsError, Unreadable


def new() -> dict:
    return {"count": 0}


def check(data: dict) -> None:
    if not isinstance(data["count"], int):
        raise ValueError("count is no number")


def second(data: dict) -> dict:
    return {"count": int(data["number"])}


def third(data: dict) -> dict:
    return {**data, "added": True}


@pytest.fixture
def file(tmp_path: Path) -> StateFile:
    return StateFile(tmp_path / "ops" / "count.json", 3, new, check, {1: second, 2: third})


def write(file: StateFile, text: str | bytes) -> None:
    file.path.parent.mkdir(exist_ok=True)
    file.path.write_bytes(text if isinstance(text, bytes) else text.encode())


def test_what_is_written_is_read_again_with_its_format(file: StateFile) -> None:
    assert file.read() == {"count": 0}
    assert not file.path.exists()
    with file.changing() as opened:
        assert opened.fresh and opened.damaged is None
        opened.data["count"] = 7
    assert file.read() == {"count": 7}
    assert json.loads(file.path.read_text())["format"] == 3
    assert file.path.stat().st_mode & 0o777 == 0o600
    assert file.path.parent.stat().st_mode & 0o777 == 0o700


def test_an_exception_leaves_the_old_content_and_no_lock(file: StateFile) -> None:
    write(file, '{"count": 1, "format": 3}')
    with pytest.raises(ZeroDivisionError), file.changing() as opened:
        opened.data["count"] = 2
        raise ZeroDivisionError
    with file.changing(timeout=0) as opened:
        assert opened.data == {"count": 1}


def test_content_that_did_not_change_is_not_written(file: StateFile) -> None:
    with file.changing() as opened:
        opened.data["count"] = 1
    before = file.path.stat().st_mtime_ns, file.path.stat().st_ino
    with file.changing():
        pass
    assert (file.path.stat().st_mtime_ns, file.path.stat().st_ino) == before


@pytest.mark.parametrize(
    "content",
    [
        "",
        '{"count": 1, "for',
        "[1, 2]",
        "null",
        '{"count": 1}',
        '{"count": 1, "format": true}',
        '{"count": 1, "format": 0}',
        '{"count": NaN, "format": 3}',
        '{"count": "x", "format": 3}',
        '{"format": 3}',
        '{"format": 1, "number": "not one"}',
        b"\xff\xfe\x00",
        "[" * 200_000,
    ],
)
def test_a_damaged_file_is_set_aside_and_said(file: StateFile, content: str | bytes) -> None:
    write(file, content)
    with pytest.raises(Unreadable, match="damaged"):
        file.read()
    with file.changing() as opened:
        assert opened.damaged == file.path.with_name("count.json.damaged-1")
        assert opened.data == {"count": 0}
        opened.data["count"] = 5
    raw = content if isinstance(content, bytes) else content.encode()
    assert opened.damaged.read_bytes() == raw
    assert file.read() == {"count": 5}


def test_a_second_damage_overwrites_nothing(file: StateFile) -> None:
    for number in (1, 2, 3):
        write(file, f"damage {number}")
        with file.changing() as opened:
            assert opened.damaged is not None
            assert opened.damaged.name == f"count.json.damaged-{number}"
    kept = sorted(path.read_text() for path in file.path.parent.glob("*.damaged-*"))
    assert kept == ["damage 1", "damage 2", "damage 3"]


@pytest.mark.parametrize(
    ("content", "data"),
    [
        ('{"format": 1, "number": "4"}', {"count": 4, "added": True}),
        ('{"format": 2, "count": 4}', {"count": 4, "added": True}),
    ],
)
def test_old_formats_are_brought_up_step_by_step(file: StateFile, content: str, data: dict) -> None:
    write(file, content)
    assert file.read() == data
    with file.changing() as opened:
        assert opened.data == data
    assert json.loads(file.path.read_text())["format"] == 3


def test_a_newer_format_is_refused_and_left_alone(file: StateFile) -> None:
    write(file, '{"format": 4, "whatever": 1}')
    for use in (file.read, lambda: file.changing().__enter__()):
        with pytest.raises(OpsError, match=r"newer hermes-ops \(format 4, this one knows 3\)"):
            use()
    assert file.path.read_text() == '{"format": 4, "whatever": 1}'
    assert not list(file.path.parent.glob("*.damaged-*"))


def test_what_cannot_be_read_is_not_taken_for_damaged(file: StateFile) -> None:
    file.path.mkdir(parents=True)
    with pytest.raises(Unreadable):
        file.read()
    with pytest.raises(Unreadable), file.changing():
        pass
    assert file.path.is_dir()


def test_a_link_is_not_written_through(file: StateFile, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text('{"count": 1, "format": 3}')
    file.path.parent.mkdir()
    os.symlink(other, file.path)
    with pytest.raises(Unreadable, match="cannot be written"), file.changing() as opened:
        opened.data["count"] = 2
    assert json.loads(other.read_text())["count"] == 1


def test_a_lock_that_is_held_is_waited_for_and_named(file: StateFile) -> None:
    file.path.parent.mkdir()
    other = FileLock(file.path.with_name("count.json.lock"))
    refused = pytest.raises(Unreadable, match=f"locked by process {os.getpid()}")
    with other, refused, file.changing(timeout=0.05):
        pass


def _count(path: Path, times: int) -> None:
    file = StateFile(path, 3, new, check)
    for _ in range(times):
        with file.changing() as opened:
            opened.durable = False
            opened.data["count"] += 1


def test_processes_at_once_lose_no_change(file: StateFile) -> None:
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_count, args=(file.path, 25)) for _ in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0] * 4
    assert file.read() == {"count": 100}
