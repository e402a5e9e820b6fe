"""The callback as the host calls it: what it answers, what it writes down, and that it never fails open."""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_ops import guard
from hermes_ops.guard import calls, decisions, hook, presence, surroundings
from hermes_ops.guard.accepted import accept
from hermes_ops.guard.presence import CHAT, NOBODY, TERMINAL, Presence

ASKED = "git push --force origin main"
NEVER = "hermes-ops-guard-canary"
SECRET = "gh" + "p_" + "c6Tk1YnQs8MuS3wXo7bA" + "0fZg4iKl2vEh"
Call = Callable[..., dict[str, str] | None]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    monkeypatch.setattr(hook, "hermes_home", lambda: tmp_path)
    monkeypatch.setattr(decisions, "_counted", 0.0)
    monkeypatch.setattr(calls, "INPUTS", calls.Inputs())
    monkeypatch.setattr(hook, "_complained", False)
    return tmp_path


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, home: Path) -> Callable[[Presence], None]:
    def set_presence(value: Presence) -> None:
        monkeypatch.setattr(presence, "look", lambda session="": value)
        monkeypatch.setattr(presence, "approved_before", lambda key: False)
        monkeypatch.setattr(surroundings, "host_asks", lambda *_: False)

    set_presence(Presence(TERMINAL))
    return set_presence


def terminal(command: str, **more: Any) -> dict[str, str] | None:
    args = {"command": command, "workdir": "/work", **more}
    return guard.pre_tool_call(tool_name="terminal", args=args, task_id="t1", session_id="", tool_call_id="")


def records(home: Path) -> list[tuple[str, str]]:
    return [(one["answer"], (one.get("rules") or [""])[0]) for one in calls_decided(home)]


def calls_decided(home: Path) -> list[dict[str, Any]]:
    """What was decided of calls; an acceptance of a policy is written down as well."""
    return [one for one in decisions.read(home) if one["answer"] != "accepted"]


def test_an_ordinary_call_gets_no_answer_and_is_counted(home: Path, here: object) -> None:
    assert terminal("ls -l && git status") is None
    assert guard.pre_tool_call(tool_name="execute_code", args={"code": "print(1)"}) is None
    assert records(home) == [("allow", "")]


def test_a_question_has_a_message_and_a_key_and_a_block_has_a_message(home: Path, here: object) -> None:
    asked = terminal(f"{ASKED} # {SECRET}")
    assert asked is not None and asked["action"] == "approve" and "git.force-push" in asked["message"]
    assert asked["rule_key"].startswith("hermes-ops:git.force-push:") and SECRET not in str(asked)
    never = terminal(NEVER)
    assert never is not None and never["action"] == "block" and "guard.canary" in never["message"]
    assert set(never) == {"action", "message"}
    assert records(home) == [("ask", "git.force-push"), ("block", "guard.canary")]
    assert SECRET not in str(list(decisions.read(home)))


def test_where_nobody_is_a_question_is_a_block_of_its_own_words(
    home: Path, here: Callable[[Presence], None]
) -> None:
    here(Presence(NOBODY, "a scheduled job", bypassed=True))
    blocked = terminal(ASKED)
    assert blocked is not None and blocked["action"] == "block"
    assert "nobody can be asked here: a scheduled job" in blocked["message"]
    here(Presence(CHAT, bypassed=True))
    assert terminal(ASKED) is None
    assert records(home) == [("block", "git.force-push"), ("bypassed", "git.force-push")]


def test_the_accepted_policy_decides_what_is_done_where_nobody_is(
    home: Path, here: Callable[[Presence], None]
) -> None:
    here(Presence(NOBODY, "a scheduled job"))
    (home / "ops").mkdir()
    for written, action in (("allow", None), ("ask", "approve"), ("block", "block")):
        (home / "ops" / "guard.toml").write_text(f'unattended = "{written}"\n', "utf-8")
        accept(home, time.time())
        answered = terminal(ASKED)
        assert (answered["action"] if answered else None) == action
        assert terminal(NEVER)["action"] == "block"  # type: ignore[index]


def test_in_report_mode_nothing_is_stopped_and_all_is_written_down(home: Path, here: object) -> None:
    (home / "ops").mkdir()
    (home / "ops" / "guard.toml").write_text('mode = "report"\n', "utf-8")
    accept(home, time.time())
    assert terminal(ASKED) is None and terminal(NEVER) is None
    assert records(home) == [("report", "git.force-push"), ("report", "guard.canary")]
    assert [one["would"] for one in calls_decided(home)] == ["ask", "block"]


def test_a_finding_that_a_person_has_approved_is_not_asked_again(
    home: Path, here: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = terminal(ASKED)["rule_key"]  # type: ignore[index]
    monkeypatch.setattr(presence, "approved_before", lambda asked: asked == key)
    assert terminal(ASKED) is None
    assert terminal(ASKED, workdir="/elsewhere") is not None and terminal(ASKED + " dev") is not None
    assert terminal(NEVER) is not None


def test_our_question_is_withheld_where_the_host_asks_and_a_block_never_is(
    home: Path, here: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surroundings, "host_asks", lambda *_: True)
    assert terminal(ASKED) is None and terminal(NEVER) is not None
    assert records(home)[0] == ("withheld", "git.force-push")


@pytest.mark.parametrize(
    "tool, args",
    [
        ("write_file", {"path": "~/.ssh/authorized_keys", "content": "ssh-ed25519 AAAA x"}),
        ("patch", {"mode": "patch", "patch": "*** Begin Patch\n*** Delete File: /etc/passwd\n*** End Patch"}),
        ("execute_code", {"code": f"import os\nos.system({NEVER!r})"}),
        ("rlm_exec", {"code": f"import subprocess\nsubprocess.run([{NEVER!r}])"}),
        ("cronjob", {"action": "create", "script": f"{NEVER}\nls"}),
        ("skill_manage", {"action": "write_file", "file_path": "scripts/a.sh", "file_content": NEVER}),
        ("write_file", {"path": "~/.bashrc", "content": NEVER}),
        ("write_file", {"path": "/etc/cron.d/x", "content": f"* * * * * root {NEVER}"}),
    ],
)
def test_every_way_to_run_or_write_what_must_never_be_is_blocked(
    home: Path, here: object, tool: str, args: dict[str, Any]
) -> None:
    answered = guard.pre_tool_call(tool_name=tool, args=args, task_id="t")
    assert answered is not None and answered["action"] == "block"


def test_input_of_a_process_is_forgotten_when_it_was_stopped(
    home: Path, here: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surroundings, "process", lambda session: surroundings.Process("bash", "/w"))

    def typed(action: str, data: str) -> dict[str, str] | None:
        args = {"action": action, "session_id": "p", "data": data}
        return guard.pre_tool_call(tool_name="process", args=args)

    assert typed("write", NEVER[:6]) is None
    assert typed("submit", NEVER[6:]) is not None
    assert typed("submit", "") is None and typed("submit", "ls") is None


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"tool_name": None},
        {"tool_name": ["terminal"]},
        {"tool_name": "terminal"},
        {"tool_name": "terminal", "args": None},
        {"tool_name": "terminal", "args": "ls"},
        {"tool_name": "terminal", "args": {"command": 3, "workdir": object()}},
        {"tool_name": "terminal", "args": {"command": "ls", "workdir": 7}, "session_id": None, "task_id": 5},
        {"tool_name": "patch", "args": {"path": "x" * 100_000}, "unheard_of": object()},
        {"tool_name": "write_file", "args": {"path": "a\0b", "content": "\ud800"}},
        {"tool_name": "process", "args": {"action": "write", "session_id": {}, "data": []}},
    ],
)
def test_no_call_raises_whatever_the_host_passes(home: Path, here: object, told: dict[str, Any]) -> None:
    assert guard.pre_tool_call(**told) is None


def broken(*_: object, **__: object) -> None:
    raise RuntimeError("broken")


@pytest.mark.parametrize("part", ["calls.read", "policy.current", "policy.judge", "surroundings.backend"])
def test_an_error_of_the_guard_is_a_question_and_no_permission(
    home: Path, here: Callable[[Presence], None], monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    module, _, name = part.partition(".")
    monkeypatch.setattr(importlib.import_module(f"hermes_ops.guard.{module}"), name, broken)
    asked = terminal("ls")
    assert asked is not None and asked["action"] == "approve" and "guard.error" in asked["rule_key"]
    here(Presence(NOBODY, "a scheduled job"))
    blocked = terminal("ls")
    assert blocked is not None and blocked["action"] == "block" and "a scheduled job" in blocked["message"]


@pytest.mark.parametrize("part", ["message.ask", "message.block", "message.command", "blast.radius"])
def test_an_answer_stands_when_its_message_cannot_be_made(
    home: Path, here: object, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    module, _, name = part.partition(".")
    monkeypatch.setattr(importlib.import_module(f"hermes_ops.guard.{module}"), name, broken)
    for asked in (ASKED, "rm -rf /work/data"):
        assert terminal(asked)["action"] == "approve"  # type: ignore[index]
    assert terminal(NEVER)["action"] == "block"  # type: ignore[index]


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


class Unspeakable:
    def __str__(self) -> str:
        raise RuntimeError("no text")

    __repr__ = __str__


@pytest.mark.parametrize("odd", [nested(20_000), Unspeakable(), 10**5_000], ids=["deep", "mute", "long"])
def test_what_cannot_be_made_text_is_no_way_past_the_guard(
    home: Path, here: Callable[[Presence], None], monkeypatch: pytest.MonkeyPatch, odd: object
) -> None:
    never = guard.pre_tool_call(tool_name="terminal", args={"command": NEVER}, session_id=odd, task_id=odd)
    assert never is not None and never["action"] == "block"
    monkeypatch.setattr(calls, "read", broken)
    for args in ({"command": "ls"}, {"command": "ls", "workdir": odd}, odd):
        asked = guard.pre_tool_call(tool_name="terminal", args=args, session_id=odd)
        assert asked is not None and asked["action"] == "approve" and "guard.error" in asked["rule_key"]
    here(Presence(NOBODY, "a scheduled job"))
    stopped = guard.pre_tool_call(tool_name="terminal", args={"command": odd}, session_id=odd)
    assert stopped is not None and stopped["action"] == "block"


def test_a_guard_that_cannot_be_loaded_asks_and_blocks_where_nobody_is(
    here: Callable[[Presence], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(hook, "judged_call")
    asked = terminal("ls")
    assert asked is not None and asked["action"] == "approve" and "rule_key" in asked
    here(Presence(NOBODY, bypassed=True))
    blocked = terminal("ls")
    assert blocked is not None and blocked["action"] == "block"
    assert guard.pre_tool_call(tool_name="read_file", args={}) is None


def test_a_log_that_cannot_be_written_stops_nothing_and_is_said_once(
    home: Path, here: object, caplog: pytest.LogCaptureFixture
) -> None:
    (home / "ops").write_text("no folder")
    assert terminal("ls") is None and terminal(ASKED) is not None and terminal(NEVER) is not None
    said = [one for one in caplog.records if "cannot be written" in one.getMessage()]
    assert len(said) == 1 and said[0].exc_info is None and "\n" not in said[0].getMessage()


def test_calls_beside_each_other_get_their_own_answers(home: Path, here: object) -> None:
    answers: dict[int, Any] = {}

    def one(number: int) -> None:
        answers[number] = terminal((NEVER, "ls", ASKED)[number % 3])

    threads = [threading.Thread(target=one, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    actions = [answers[number]["action"] if answers[number] else None for number in range(12)]
    assert actions == ["block", None, "approve"] * 4


def test_padding_hides_nothing_that_comes_behind_it(home: Path, here: object) -> None:
    comments, joins, never = "# nothing here\n" * 10_000, "\\\n" * 2_000, f"{NEVER} now"
    for path, content in (
        (f"{home}/scripts/a.sh", comments + never),
        (f"{home}/scripts/a.sh", never[:5] + joins + never[5:]),
        (f"{home}/scripts/a.py", f"{comments[:70_000]}\nimport os\nos.system({never!r})\n"),
        ("~/.bashrc", comments + never),
        ("/etc/cron.d/x", "# nothing here\n" * 1_000 + f"* * * * * root {never}\n"),
    ):
        answered = guard.pre_tool_call(tool_name="write_file", args={"path": path, "content": content})
        assert answered is not None and answered["action"] == "block", path
    assert terminal(never[:5] + joins + never[5:]) is not None
    args = {"path": f"{home}/scripts/a.py", "content": f"{comments}import os\nos.system({never!r})\n"}
    assert guard.pre_tool_call(tool_name="write_file", args=args) is not None
    args = {"path": f"{home}/scripts/a.sh", "content": "# nothing here\n" * 5_000 + "ls"}
    assert guard.pre_tool_call(tool_name="write_file", args=args) is None


def test_what_is_typed_at_a_terminal_is_judged_as_it_will_be_read(
    home: Path, here: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = surroundings.Process("bash", "/w", True)
    monkeypatch.setattr(surroundings, "process", lambda session: process)

    def typed(session: str, *texts: str) -> list[str | None]:
        answers = []
        for text in texts:
            args = {"action": "write", "session_id": session, "data": text}
            found = guard.pre_tool_call(tool_name="process", args=args)
            answers.append(found["action"] if found else None)
        return answers

    assert typed("erased", f"echo zz\x15{NEVER}\n") == ["block"]
    assert typed("letters", NEVER[:4] + "X\x7f" + NEVER[4:] + "\n") == ["block"]
    assert typed("pieces", NEVER[:4] + "XY", "\x7f\x7f", NEVER[4:] + "\n") == [None, None, "block"]
    assert typed("interrupted", "echo '\n", "\x03", f"{NEVER}\n") == [None, None, "block"]
    assert typed("quoted", "echo '\n", "\x03", NEVER[:4] + "\x16\0" + NEVER[4:] + "\n") == [
        None,
        None,
        "block",
    ]
    assert typed("moved", NEVER[:4] + NEVER[5:], f"\x01\x1b[C\x1b[C\x1b[C\x1b[C{NEVER[4]}\n") == [
        None,
        "approve",
    ]
    assert typed("far", NEVER[:4] + "\\\n" * 4_101, NEVER[4:] + "\n")[1] is not None
    assert typed("document", "cat <<'E'\n", "a\n" * 5_000, "E\n", f"{NEVER}\n") == [None, None, None, "block"]
    assert typed("state", f"x={NEVER}\n", "# " + "a" * 8_100 + "\n", "$x now\n") == [None, None, "block"]
    assert typed("lost", "x=1\n" * 8_000, "ls\n")[1] == "approve"
    assert typed("answers", "y\n", "\x03", "\x04", "a\tb\n", "ls -l\r\n") == [None] * 5


def test_a_text_of_any_length_gets_an_answer_in_bounded_time(home: Path, here: object) -> None:
    def seconds(length: int) -> float:
        started = time.perf_counter()
        for tool, key in (("terminal", "command"), ("execute_code", "code"), ("write_file", "content")):
            args = {key: "echo $(x" * length, "path": "~/.bashrc"}
            guard.pre_tool_call(tool_name=tool, args=args)
        return time.perf_counter() - started

    seconds(10)
    assert seconds(400_000) < 20 * max(seconds(20_000), 0.02)
