"""The log of decisions: private, bounded, readable, and never waited for."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hermes_ops._common.files import FileLock
from hermes_ops.guard import decisions
from hermes_ops.guard.verdict import Found, Verdict

FOUND = Found("git.force", Verdict.APPROVE, "rewrites shared history")


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decisions, "_allowed", {})
    monkeypatch.setattr(decisions, "_counted", 0.0)


def decide(home: Path, answer: str = "ask", **more: object) -> None:
    decisions.decided(home, answer, "terminal", "git push -f", [FOUND], **more)


def test_a_decision_is_one_private_line_with_what_is_known(tmp_path: Path) -> None:
    decide(tmp_path, who="chat", workdir="/w", unread="", session=None)
    path = decisions.directory(tmp_path) / decisions.NAME
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    (record,) = decisions.read(tmp_path)
    assert record.pop("at") > 0
    assert record == {
        "answer": "ask",
        "tool": "terminal",
        "rules": ["git.force"],
        "command": "git push -f",
        "who": "chat",
        "workdir": "/w",
    }


def test_what_is_allowed_is_counted_at_once_and_then_now_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        decisions.allowed(tmp_path)
    assert [record["count"] for record in decisions.read(tmp_path)] == [1]
    monkeypatch.setattr(decisions, "COUNT_EVERY", 0.0)
    decisions.allowed(tmp_path)
    assert [record["count"] for record in decisions.read(tmp_path)] == [1, 5]


def test_a_full_log_is_put_aside_once(tmp_path: Path) -> None:
    for number in range(50):
        decide(tmp_path, most_bytes=1000, number=number)
    kept = [record["number"] for record in decisions.read(tmp_path)]
    assert kept == list(range(kept[0], 50)) and len(kept) > 5
    files = {path.name: path.stat().st_size for path in decisions.directory(tmp_path).iterdir()}
    assert max(files.values()) < 1200 and {decisions.NAME, decisions.OLDER} <= set(files)


def test_a_log_that_another_process_is_turning_over_is_written_to_all_the_same(tmp_path: Path) -> None:
    decide(tmp_path)
    with FileLock(decisions.directory(tmp_path) / "decisions.lock"):
        decide(tmp_path, most_bytes=10)
    assert not (decisions.directory(tmp_path) / decisions.OLDER).exists()
    assert len(list(decisions.read(tmp_path))) == 2


def test_processes_write_whole_lines_beside_each_other(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from hermes_ops.guard import decisions\n"
        "for n in range(50): decisions.decided(Path(sys.argv[1]), 'ask', 't', 'c' * 300, [], most_bytes=5000)"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) for _ in range(3)]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    for name in (decisions.NAME, decisions.OLDER):
        for line in filter(None, (decisions.directory(tmp_path) / name).read_text("utf-8").splitlines()):
            assert json.loads(line)["command"] == "c" * 300


def test_a_damaged_line_is_passed_over(tmp_path: Path) -> None:
    decide(tmp_path)
    path = decisions.directory(tmp_path) / decisions.NAME
    path.write_bytes(path.read_bytes() + b'{"answer": "as\n[1]\n\xff\n{"answer": 3}\n')
    decide(tmp_path, "block")
    assert [record["answer"] for record in decisions.read(tmp_path)] == ["ask", "block"]


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        '{"answer": "ask", "x": ' + "[" * 100_000,
        '{"answer": "ask", "at": ' + "9" * 400 + "}",
        '{"answer": "ask", "ms": -' + "9" * 5_000 + "}",
        '{"answer": "ask", "at": NaN}',
        '{"answer": "ask", "at": -Infinity}',
        '{"answer": "ask", "ms": 1e400}',
        '{"answer": "ask", "at": "yesterday"}',
        '{"answer": "ask", "command": "' + "x" * 200_000 + '"}',
        '"ask"',
    ],
    ids=range(10),
)
def test_a_line_that_no_decision_can_be_is_passed_over(tmp_path: Path, line: str) -> None:
    decide(tmp_path)
    path = decisions.directory(tmp_path) / decisions.NAME
    path.write_bytes(path.read_bytes() + line.encode() + b"\n")
    decide(tmp_path, "block")
    assert [record["answer"] for record in decisions.read(tmp_path)] == ["ask", "block"]


@pytest.mark.parametrize("name", [decisions.NAME, decisions.OLDER])
@pytest.mark.parametrize("kind", ["pipe", "link", "device", "folder"])
def test_a_log_that_is_no_file_is_an_error_and_never_waited_for(tmp_path: Path, name: str, kind: str) -> None:
    path = decisions.directory(tmp_path) / name
    path.parent.mkdir(parents=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        target = tmp_path / "other"
        target.write_text("")
        path.symlink_to("/dev/zero" if kind == "device" else target)
    with pytest.raises(OSError) as raised:
        list(decisions.read(tmp_path))
    assert raised.value.strerror


def test_a_place_that_cannot_be_written_is_an_error_for_the_caller(tmp_path: Path) -> None:
    (tmp_path / "ops").write_text("no folder")
    with pytest.raises(OSError):
        decide(tmp_path)
