"""Session ids are data: distinct ones stay distinct, and none becomes a path."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_rlm import sessions
from hermes_rlm._common.terminal import printable
from hermes_rlm.display import duration, moment, size

HOSTILE = [
    "",
    ".",
    "..",
    "/",
    "../../etc/passwd",
    "/tmp/x",
    "a\x00b",
    "\ud800",
    "\udfff\ud800",
    "telegram:dm:42",
    "telegram_dm_42",
    "telegram/dm/42",
    "Telegram:DM:42",
    "x" * 10_240,
    "x" * 10_241,
    "a\nb",
    "\x1b[2J",
    "ünïcödé-ıd",
    "CON",
    "global",
    "-",
    "--help",
]


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_a_key_is_a_short_plain_file_name(text: str) -> None:
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]{0,23}-[0-9a-f]{16}", sessions.key(text))
    place = sessions.directory(Path("/home"), text)
    assert place.parent == Path("/home/state/rlm/sessions") and place.name == sessions.key(text)


def test_distinct_ids_have_distinct_keys() -> None:
    assert len({sessions.key(text) for text in HOSTILE}) == len(HOSTILE)


@given(st.text(), st.text())
def test_any_two_ids_have_the_same_key_only_when_they_are_one(one: str, other: str) -> None:
    assert (sessions.key(one) == sessions.key(other)) == (one == other)


def test_a_key_stays_what_it_is() -> None:
    assert sessions.key("telegram:dm:42") == "telegram-dm-42-377e8cda4ffcb1a4"
    assert sessions.key("autosave") == "autosave-5eab565ecf5fd249"


@pytest.mark.parametrize(
    ("keywords", "session"),
    [
        ({"session_id": "s", "task_id": "t"}, "s"),
        ({"session_id": "", "task_id": "t"}, "t"),
        ({"session_id": None, "task_id": "t", "user_task": None}, "t"),
        ({"task_id": None}, "default"),
        ({}, "default"),
        ({"session_id": 7}, "7"),
    ],
)
def test_the_session_of_a_call(keywords: dict[str, object], session: str) -> None:
    assert sessions.of_call(keywords) == session


def test_what_is_shown_is_one_line_without_commands_to_a_terminal() -> None:
    for text in HOSTILE:
        shown = printable(text)
        assert shown.isprintable()
        shown.encode("utf-8")
    assert printable("plain ünïcödé") == "plain ünïcödé"


def test_times_and_sizes() -> None:
    assert [duration(s) for s in (0, 119, 120, 7200, 172_800, -1, float("nan"), float("inf"))] == [
        *("0 s", "119 s", "2 min", "2 h", "2 days"),
        *("unknown", "unknown", "unknown"),
    ]
    assert moment(0) == "1970-01-01T00:00:00Z"
    assert moment(1e300) == moment(float("nan")) == moment(float("inf")) == "unknown"
    assert (size(None), size(0), size(1 << 20)) == ("unknown", "0 bytes", "1.0 MB")


def test_sessions_unused_for_a_month_are_removed(tmp_path):
    for name, age in (("old", 40), ("new", 1)):
        directory = sessions.directory(tmp_path, name)
        directory.mkdir(parents=True)
        (directory / "cells.jsonl").write_text("{}")
        then = time.time() - age * 86400
        for path in (directory / "cells.jsonl", directory):
            os.utime(path, (then, then))
    (sessions.root(tmp_path) / "link").symlink_to(tmp_path)
    assert sessions.prune(tmp_path) == [sessions.key("old")]
    assert not sessions.directory(tmp_path, "old").exists()
    assert sessions.directory(tmp_path, "new").is_dir() and tmp_path.is_dir()
    assert sessions.prune(tmp_path / "absent") == []
