"""A save leaves the new file whole or the old file as it was, whatever happens in between."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_rlm.kernel.child import saving
from hermes_rlm.kernel.child.definitions import Definitions
from hermes_rlm.kernel.child.saving import file as file_
from hermes_rlm.kernel.child.saving import threads
from hermes_rlm.kernel.child.saving.file import MANIFEST_ROOM
from hermes_rlm.kernel.child.saving.format import CHUNK
from tests.rlm.checkpoint_kernel import Kernel

KEY = b"k" * 32
SAVING = os.path.dirname(saving.__file__)


def save(path: Path, values: dict, limit: int = 1 << 30, seconds: float | None = None) -> dict:
    options = {"path": str(path), "key": KEY, "session": "s", "name": "n", "cell": 1, "limit": limit}
    options["seconds"] = seconds
    return saving.save(values, Definitions(), **options)


def restored(path: Path, names: dict | None = None) -> dict:
    names = {} if names is None else names
    options = {"path": str(path), "key": KEY, "overwrite": True, "session": "s"}
    reply = saving.restore(names, Definitions(), **options)
    assert reply["ok"], reply
    return names


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The path of a checkpoint that holds x = "old"."""
    assert save(tmp_path / "a", {"x": "old"})["ok"]
    return tmp_path / "a"


def is_untouched(old: Path) -> None:
    assert restored(old) == {"x": "old"} and os.listdir(old.parent) == [old.name]


@pytest.mark.parametrize("size", [200, CHUNK - 100, CHUNK, 3 * CHUNK + 1])
def test_when_nothing_fits_the_old_file_stays(old: Path, size: int) -> None:
    reply = save(old, {"x": bytes(size)}, limit=size + MANIFEST_ROOM)
    assert reply["ok"] is False and reply["saved"] == []
    assert reply["error"].startswith("nothing could be saved; x: there is no room")
    is_untouched(old)


def test_a_value_that_does_not_fit_costs_its_own_name(old: Path) -> None:
    shared: list = [bytes(2 * CHUNK)]
    values = {"small": 7, "big": bytes(3 * CHUNK), "pair": shared, "both": [shared], "last": "kept"}
    reply = save(old, values, limit=CHUNK + MANIFEST_ROOM)
    assert reply["ok"] and reply["saved"] == ["small", "last"]
    assert [row["name"] for row in reply["skipped"]] == ["big", "pair", "both"]
    assert all("no room" in row["reason"] for row in reply["skipped"])
    assert reply["size"] == old.stat().st_size <= CHUNK + MANIFEST_ROOM
    assert restored(old) == {"small": 7, "last": "kept"}


class Slow:
    """Takes for ever to pickle, and swallows what would end it."""

    def __reduce__(self) -> tuple:
        for _ in range(3):
            try:
                time.sleep(30)
            except BaseException:
                pass
        raise ValueError("at last")


def test_a_value_that_takes_for_ever_costs_its_own_name(old: Path) -> None:
    began = time.monotonic()
    values = {"a": 1, "slow": Slow(), "b": [2], "slower": Slow(), "c": {"three": 3}}
    reply = save(old, values, seconds=2.0)
    assert time.monotonic() - began < 10
    assert reply["ok"] and reply["saved"] == ["a", "b", "c"]
    assert [row["name"] for row in reply["skipped"]] == ["slow", "slower"]
    assert restored(old) == {"a": 1, "b": [2], "c": {"three": 3}}
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def test_a_full_disk_is_told_and_changes_nothing(tmp_path: Path) -> None:
    with Kernel() as kernel:
        kernel.run("import resource; x = 'old'")
        assert kernel.save(tmp_path / "a")["ok"]
        kernel.run("resource.setrlimit(resource.RLIMIT_FSIZE, (6 << 20, 6 << 20)); x = bytes(20 << 20)")
        reply = kernel.save(tmp_path / "a")
        assert reply["ok"] is False and "could not be written" in reply["error"]
        assert os.listdir(tmp_path) == ["a"]
    with Kernel() as kernel:
        kernel.restore(tmp_path / "a")
        assert kernel.value("x") == "old"


def test_a_directory_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path)
    for place in ("file", "file/below", "link"):
        reply = save(tmp_path / place / "a", {"x": 1})
        assert reply["ok"] is False and str(tmp_path / place) in reply["error"], reply


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_without_permission_is_told(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(0o500)
    assert "ermission" in save(tmp_path / "closed" / "a", {"x": 1})["error"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give directories away")
def test_a_directory_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", 12345, -1)
    reply = save(tmp_path / "theirs" / "a", {"x": 1})
    assert reply["ok"] is False and "somebody else" in reply["error"] and not os.listdir(tmp_path / "theirs")


def test_a_link_in_the_place_of_the_file_is_replaced_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("precious")
    (tmp_path / "a").symlink_to(tmp_path / "target")
    assert save(tmp_path / "a", {"x": 1})["ok"]
    assert (tmp_path / "target").read_text() == "precious" and restored(tmp_path / "a") == {"x": 1}


@pytest.mark.parametrize("size", [10, 2 * CHUNK])
def test_what_does_not_read_back_is_not_saved(old: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    class Forgetful:
        def __getattr__(self, name: str) -> Any:
            return getattr(os, name)

        def pwrite(self, descriptor: int, data: memoryview, offset: int) -> int:
            changed = bytearray(data)
            changed[len(changed) // 2] ^= 1
            return os.pwrite(descriptor, changed, offset)

    monkeypatch.setattr(file_, "os", Forgetful())
    reply = save(old, {"x": bytes(size)})
    monkeypatch.undo()
    assert reply["ok"] is False and "does not read back" in reply["error"]
    is_untouched(old)


def test_saving_and_restoring_work_without_more_threads(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "start_new_thread", refuse)
    assert save(old, {"x": bytes(3 * CHUNK), "y": [1]})["ok"]
    assert restored(old) == {"x": bytes(3 * CHUNK), "y": [1]}


def test_a_record_that_fails_late_leaves_no_trace_in_the_file(old: Path) -> None:
    import threading

    values: dict = {"first": bytes(CHUNK // 2), "bad": [bytes(2 * CHUNK + 7), threading.Lock()]}
    values |= {"middle": [b"m" * CHUNK], "worse": [bytes(10), threading.Lock()], "last": "l" * 1000}
    reply = save(old, values)
    assert sorted(reply["saved"]) == ["first", "last", "middle"] and reply["size"] < 2 * CHUNK
    good = {name: values[name] for name in ("first", "middle", "last")}
    assert restored(old) == good


def test_a_kill_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with Kernel() as kernel:
        kernel.run("x = 'old'")
        assert kernel.save(path)["ok"]
        kernel.run("x = bytes(400 << 20)")
        kernel.ask_save(path)
        _wait(lambda: any(item.stat().st_size > CHUNK for item in tmp_path.glob(".saving-*")))
        os.kill(kernel.process.pid, signal.SIGKILL)
    assert len(list(tmp_path.glob(".saving-*"))) == 1
    with Kernel() as kernel:
        assert kernel.restore(path)["ok"] and kernel.value("x") == "old"


def test_two_savers_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with Kernel() as one, Kernel() as two:
        one.run("x = ['one'] * 200_000")
        two.run("x = ['two'] * 200_000")
        for _ in range(5):
            one.ask_save(path)
            two.ask_save(path)
            assert one.answer()["ok"] and two.answer()["ok"]
        one.restore(path, overwrite=True)
        assert one.value("len(x) == 200_000 and set(x) in ({'one'}, {'two'})")
    assert os.listdir(tmp_path) == ["a"]


class Interrupt:
    """Raises KeyboardInterrupt before the n-th line of the checkpoint code that this thread runs."""

    def __init__(self, lines: int) -> None:
        self.left = lines

    def __enter__(self) -> None:
        sys.settrace(self._call)

    def __exit__(self, *exc_info: object) -> None:
        sys.settrace(None)

    def _call(self, frame: Any, event: str, argument: object) -> Callable | None:
        return self._line if frame.f_code.co_filename.startswith(SAVING) else None

    def _line(self, frame: Any, event: str, argument: object) -> Callable | None:
        if event == "line":
            self.left -= 1
            if self.left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self._line


def _interrupted(lines: int, action: Callable[[], object]) -> bool:
    """Whether an interrupt before that line came out of the action; False when it ended before."""
    try:
        with Interrupt(lines):
            action()
    except KeyboardInterrupt:
        return True
    return False


VALUES = {"x": "new", "y": [1, {2: 3}], "os": os, "z": bytes(CHUNK + 5), "f": lambda: 1}


def test_an_interrupt_of_a_save_leaves_one_whole_file_and_nothing_else(old: Path) -> None:
    lines, seen = 1, set()
    while _interrupted(lines, lambda: save(old, VALUES)):
        assert os.listdir(old.parent) == [old.name]
        seen.add(restored(old)["x"])
        assert lines < 5000
        lines += 3
    assert lines > 500 and restored(old)["x"] == "new" and "old" in seen


def test_an_interrupt_of_a_restore_leaves_all_names_or_none(tmp_path: Path) -> None:
    save(tmp_path / "a", VALUES)
    before = {"x": "mine", "other": 1}
    lines = 1
    while True:
        names = dict(before)
        if not _interrupted(lines, lambda: restored(tmp_path / "a", names)):  # noqa: B023
            break
        assert names == before or set(names) == {*before, *VALUES}
        lines += 2
    assert lines > 150 and set(names) == {*before, *VALUES}


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)
