"""rlm_checkpoint as the model uses it: what it says, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest


def checkpoint(agent, action, session="s", **arguments):
    return agent.call("rlm_checkpoint", {"action": action, **arguments}, session)


def test_save_names_what_was_saved_and_why_the_rest_was_not(agent):
    agent.run(
        "import threading, math\nx = 1\nlock = threading.Lock()\n"
        "gen = (i for i in [])\nfile = open('/dev/null')"
    )
    answer = checkpoint(agent, "save", name="before")
    assert answer["ok"] and answer["checkpoint"] == "before"
    assert answer["saved"] == "[threading, math, x]"
    assert [line.partition(":")[0] for line in answer["skipped"]] == ["lock", "gen", "file"]
    assert "cannot pickle" in answer["skipped"][0]
    path = Path(answer["path"])
    assert path.stat().st_size == answer["size"] and path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_restore_brings_back_what_is_missing_and_keeps_what_exists(agent):
    agent.run("x = [1]; y = 1")
    checkpoint(agent, "save")
    agent.run("x.append(2); del y")
    answer = checkpoint(agent, "restore")
    assert answer["restored"] == "[y]" and "ago" in answer["saved"]
    assert answer["note"] == "kept because they exist: [x]; overwrite=true replaces them"
    assert agent.value("x, y") == ([1, 2], 1)
    answer = checkpoint(agent, "restore", overwrite=True)
    assert "note" not in answer and agent.value("x, y") == ([1], 1)


def test_another_sessions_checkpoint_only_when_allowed(agent):
    agent.run("x = 'theirs'", session="a")
    checkpoint(agent, "save", "a", name="shared")
    refused = checkpoint(agent, "restore", "b", name="shared")
    assert refused["error"].startswith("this session has no checkpoint 'shared'")
    assert checkpoint(agent, "list", "b")["note"] == "there are none"
    (row,) = checkpoint(agent, "list", "b", allow_cross_session=True)["checkpoints"]
    assert (row["name"], row["session"], row["variables"]) == ("shared", "a", "[x]")
    taken = checkpoint(agent, "restore", "b", name="shared", allow_cross_session=True)
    assert taken["restored"] == "[x]" and taken["from_session"] == "a"
    assert agent.value("x", session="b") == "theirs"
    assert not checkpoint(agent, "delete", "b", name="shared")["ok"]
    assert checkpoint(agent, "delete", "a", name="shared")["ok"]
    assert checkpoint(agent, "list", "a")["note"] == "there are none"


def test_a_copied_file_of_another_session_is_refused(agent):
    agent.run("x = 1", session="a")
    theirs = Path(checkpoint(agent, "save", "a")["path"])
    agent.run("y = 1", session="b")
    mine = Path(checkpoint(agent, "save", "b")["path"])
    mine.write_bytes(theirs.read_bytes())
    assert "another session" in checkpoint(agent, "restore", "b")["error"]


@pytest.mark.parametrize("name", ["../../x", "/tmp/evil", "a\0b", "n" * 10_000, "\ud800", "..", "CON", "é"])
def test_names_are_data(agent, name):
    agent.run("x = 5")
    answer = checkpoint(agent, "save", name=name)
    assert answer["ok"]
    sessions = agent.home / "state" / "rlm" / "sessions"
    assert Path(answer["path"]).resolve().is_relative_to(sessions.resolve())
    agent.run("del x")
    assert checkpoint(agent, "restore", name=name)["ok"] and agent.value("x") == 5
    assert checkpoint(agent, "delete", name=name)["ok"]
    assert not list(sessions.rglob("*.checkpoint"))


@pytest.mark.parametrize("action", [None, "", "SAVE", "drop", 5, ["save"]])
def test_an_unknown_action_names_the_known_ones(agent, action):
    assert checkpoint(agent, action)["error"] == "action must be one of save, restore, list, delete"


def test_what_is_damaged_is_listed_with_the_reason_and_refused(agent):
    agent.run("x = 1")
    path = Path(checkpoint(agent, "save")["path"])
    path.chmod(0o644)
    (row,) = checkpoint(agent, "list")["checkpoints"]
    assert "0644" in row["problem"]
    assert "0644" in checkpoint(agent, "restore")["error"]


def test_a_restore_starts_a_kernel_and_tells_of_the_one_before(agent):
    agent.run("x = 1; y = 2")
    checkpoint(agent, "save", name="n")
    agent.run("import os; os._exit(3)")
    answer = checkpoint(agent, "restore", name="n")
    assert answer["ok"] and "restarted: the kernel exited with code 3, " in answer["note"]
    assert agent.value("x, y") == (1, 2)
