"""/rlm says in a few lines what this process runs and what is saved, and waits for nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hermes_rlm import checkpoint, slash
from hermes_rlm.kernel.pool import POOL
from tests.rlm.home_contents import save_checkpoint


def overview(monkeypatch: pytest.MonkeyPatch, *rows: dict[str, Any]) -> None:
    facts = {"session": "s", "state": "idle", "cell": 3, "seconds": 5.0, "names": ["a"], "rss": 20 << 20}
    monkeypatch.setattr(POOL, "overview", lambda: [{**facts, **row} for row in rows])


def test_no_kernel_is_said(home: Path) -> None:
    assert slash.run("") == slash.run("status") == "No kernel runs in this process yet."


def test_kernels_are_a_line_each(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overview(
        monkeypatch,
        {"session": "telegram:dm:42", "names": ["a", "b"]},
        {
            "session": "api\n\x1b[2J\ud800",
            "state": "busy",
            "cell": 7,
            "seconds": 300.0,
            "names": [],
            "rss": 0,
        },
    )
    assert slash.run("status").split("\n") == [
        "telegram:dm:42: idle after cell 3 for 5 s, 2 names, memory 20.0 MB",
        "api\\n\\x1b[2J\\ud800: busy with cell 7 for 5 min, 0 names, memory unknown",
    ]


def test_kernels_of_another_home_are_not_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overview(monkeypatch, {"session": "mine", "home": str(home)}, {"session": "other", "home": "/else"})
    assert "other" not in slash.run("") and "mine" in slash.run("")


def test_an_answer_stays_short(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overview(monkeypatch, *({"session": f"s{number}"} for number in range(40)))
    lines = slash.run("").split("\n")
    assert len(lines) == 16 and lines[-1] == "and 25 more"


def test_checkpoints_newest_first_and_damaged_ones_with_the_reason(home: Path) -> None:
    assert slash.run("checkpoints") == "No checkpoint is saved."
    save_checkpoint(home, "s/1", "one", a=1, b=2)
    checkpoint.path_of(home, "s/1", "bad").write_bytes(b"x")
    first, last = slash.run(" checkpoints ").split("\n")
    assert first.startswith("s/1: one, saved 0 s ago, ") and first.endswith(" bytes, 2 names")
    assert last.startswith("damaged: bad-")


@pytest.mark.parametrize("arguments", ["fly", "status now", "--json", "\x00", "\ud800", "x" * 10_000])
def test_anything_else_is_answered_with_the_usage(home: Path, arguments: str) -> None:
    assert slash.run(arguments) == slash.USAGE


def test_doctor_is_pointed_to(home: Path) -> None:
    assert "hermes rlm doctor" in slash.run("doctor")


def test_a_real_kernel_is_shown(agent: Any) -> None:
    assert agent.run("a = 1", session="real")["ok"]
    assert slash.run("").startswith("real: idle after cell 1 for 0 s, 1 name, memory ")
