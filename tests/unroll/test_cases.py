"""Nasty sequences of hook calls, and what must become of each. The inputs are in cases/."""

from __future__ import annotations

import datetime
import json
import os
import runpy
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hermes_unroll import sealing
from hermes_unroll._common.pricing import estimate_cost, normalize_usage
from tests.unroll.host_driver import Host, call, replay, run

CASES = Path(__file__).parent / "cases"
SESSION = "20260101_000000_abc123"
# It writes to stderr what its own text does not hold in one piece.
CODE = '__import__("os").write(2, b"PWN" + b"ED\\n")'


def value(encoded: Any) -> Any:
    """Decode a value of a case file: a dict of one key with double underscores is what JSON cannot hold."""
    if isinstance(encoded, list):
        return [value(item) for item in encoded]
    if not isinstance(encoded, dict):
        return encoded
    kind, data = next(iter(encoded.items())) if len(encoded) == 1 else (None, None)
    readers = {
        "__bytes__": bytes.fromhex,
        "__set__": set,
        "__nan__": lambda _: float("nan"),
        "__inf__": lambda _: float("inf"),
        "__datetime__": datetime.datetime.fromisoformat,
        "__intkeys__": lambda items: {int(key): value(item) for key, item in items.items()},
        "__repeat__": lambda parts: parts[0] * parts[1],
        "__obj__": lambda items: SimpleNamespace(**value(items)),
        "__circular__": circular,
    }
    if kind in readers:
        return readers[kind](data)
    return {key: value(item) for key, item in encoded.items()}


def circular(_: Any) -> dict[str, Any]:
    around: dict[str, Any] = {}
    around["me"] = around
    return around


def calls_of(name: str) -> list[tuple[str, dict[str, Any]]]:
    text = (CASES / f"{name}.json").read_text("ascii")
    return [(hook, value(kwargs)) for hook, kwargs in json.loads(text)["calls"]]


def fire(host: Host, name: str) -> None:
    for hook, kwargs in calls_of(name):
        host.fire(hook, **kwargs)


def use(host: Host, name: str) -> tuple[Path, dict[str, Any]]:
    """Fire a case; return its program and what it replays."""
    fire(host, name)
    program = host.program(SESSION)
    return program, replay(program)


def assert_harmless(program: Path) -> None:
    """No way of using a program runs what was recorded in it."""
    for arguments in ([], ["--help"], ["--steps"], ["--diff", str(program)]):
        done = run(program, *arguments)
        assert done.returncode == 0, done.stderr
        assert b"PWNED" not in done.stderr.splitlines()
    code = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='trace')"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code, program], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def roles(result: dict[str, Any]) -> list[str]:
    return [message["role"] for message in result["messages"]]


def tool_results(result: dict[str, Any]) -> list[Any]:
    """What the cache served to each tool call, in order."""
    keys = [f"tool:{step['event_id']}" for step in result["steps"] if step["kind"] == "tool_call"]
    return [result["response_cache"][key]["result"] for key in keys]


@pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_every_case_replays_and_says_what_it_is_about(path: Path, host: Host) -> None:
    case = json.loads(path.read_text("ascii"))
    assert case["what"] and case["promise"]
    program, result = use(host, path.stem)
    assert result["session_id"] == SESSION
    assert result["messages"]
    if path.stem.startswith("code_"):
        assert_harmless(program)


def test_a_tool_call_id_is_kept_byte_for_byte(host: Host) -> None:
    wanted = dict(calls_of("code_in_tool_call_id")[3][1])["tool_call_id"]
    assert "\n" in wanted
    _, result = use(host, "code_in_tool_call_id")
    assistant, tool = result["messages"][2:4]
    assert assistant["tool_calls"][0]["id"] == tool["tool_call_id"] == wanted
    used = [step for step in result["steps"] if step["kind"] in ("pre_tool_call", "tool_call")]
    assert [step["tool_call_id"] for step in used] == [wanted, wanted]


STARTS = (
    "\n",
    "\r",
    "\x0c",
    "\u2028",
    '"\n',
    "'''\n",
    '"""\n',
    "\\",
    "{{",
    "<<model>>\n",
    "\n# Session: x\n",
)


@pytest.mark.parametrize("starts", [("\n",), ("\u2028",), STARTS], ids=["newline", "U+2028", "all"])
def test_code_in_any_name_is_never_run(
    starts: tuple[str, ...], host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = "x" + "\n#".join(start + CODE for start in starts) + "\n#"
    monkeypatch.setenv("UNROLL_SESSION_TAGS", hostile)
    chat = host.chat(f"s{hostile}", model=hostile, platform=hostile)
    chat.provider = {"provider": hostile, "base_url": hostile, "api_mode": hostile}
    chat.system = hostile
    chat.start()
    chat.ask(hostile)
    chat.request()
    chat.error(message=hostile)
    chat.request(again=True)
    use_skill = call(hostile, "skill_view", name=hostile, file_path=hostile)
    use_tool = call(f"{hostile}2", hostile, command=hostile)
    chat.reply(hostile, use_skill, use_tool, reasoning=hostile)
    for used in (use_skill, use_tool):
        chat.before_tool(used)
        chat.tool(used, hostile, error_message=hostile, error_type=hostile, status=hostile)
    ids = {"parent_session_id": chat.session_id, "parent_turn_id": chat.turn_id, "child_session_id": hostile}
    host.fire("subagent_start", **ids, child_role=hostile, child_goal=hostile)
    host.fire("subagent_stop", **ids, child_role=hostile, child_summary=hostile, child_status=hostile)
    chat.request()
    chat.reply("done")
    chat.answered()
    chat.turn_end(reason=hostile)
    chat.finalize(hostile)
    program = host.program(chat.session_id)
    assert_harmless(program)
    result = replay(program)
    assert (result["session_id"], result["model"], result["provider"]) == (chat.session_id, hostile, hostile)
    assert [message.get("content") for message in result["messages"]] == [
        hostile,
        hostile,
        hostile.strip(),
        hostile,
        hostile,
        "done",
    ]
    assert_harmless(host.program(hostile))


def test_a_file_is_never_named_by_a_session_id(host: Host) -> None:
    for session_id in (
        "../../outside",
        "/etc/passwd",
        "..",
        "a\x00b",
        "C:\\x",
        "con",
        "x" * 5000,
        "\ud83d",
        "-rf",
    ):
        chat = host.chat(session_id)
        chat.turn("hello")
        program = host.program(session_id)
        assert program.parent == sealing.unrolled_dir(host.home)
        assert sealing.journal.SEGMENT_NAME.fullmatch(host.segments(session_id)[0].name)
        assert host.directory(session_id).parent == host.home / "traces" / "journal"
        assert replay(program)["session_id"] == session_id
    assert {path.name for path in host.home.parent.iterdir()} == {"home"}
    assert {path.name for path in host.home.iterdir()} == {"traces"}


def test_constants_of_json_come_back_as_python_values(host: Host) -> None:
    program, result = use(host, "json_constants_in_arguments")
    args = [step["args"] for step in result["steps"] if step["kind"] in ("pre_tool_call", "tool_call")]
    assert len(args) == 2
    decode = runpy.run_path(str(program))["decode_value"]
    for found in map(decode, args):
        assert (found["background"], found["timeout"]) == (False, None)
        assert found["x"] != found["x"]
        assert found["y"] == float("inf")


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "C", "PYTHONIOENCODING": "utf-8"},
        {"LANG": "C.UTF-8"},
    ],
    ids=["ascii", "C", "utf-8"],
)
def test_characters_beyond_the_bmp_come_back_in_any_locale(environment: dict[str, str], host: Host) -> None:
    program, _ = use(host, "characters_beyond_the_bmp")
    result = replay(program, environment={"PATH": os.defpath, **environment})
    assert [message["content"] for message in result["messages"][3:]] == [
        "party \U0001f389 \U00020bb7",
        "done \U0001f44d",
    ]
    assert tool_results(result) == ["party \U0001f389 \U00020bb7"]
    assert run(program, "--steps", environment={"PATH": os.defpath, **environment}).returncode == 0


def test_what_json_cannot_hold_is_kept_or_marked_and_the_rest_is_whole(host: Host) -> None:
    program, result = use(host, "values_json_cannot_hold")
    decode = runpy.run_path(str(program))["decode_value"]
    steps = [step for step in result["steps"] if step["kind"] in ("pre_tool_call", "tool_call")]
    assert [step["name"] for step in steps] == ["t1", "t1", "t2", "t2", "t3", "t3"]
    assert [decode(step["args"]) for step in steps[:4]] == [
        *[{"b": b"\x00\xff", "s": {1, 2}}] * 2,
        *[{"d": datetime.datetime(2026, 1, 1), "k": {1: "x"}}] * 2,
    ]
    assert [step["args"]["c"]["me"]["__unroll__"] for step in steps[4:]] == ["circular"] * 2
    assert tool_results(result) == ["ok"] * 3
    assert result["messages"][1]["content"][0] == {"type": "text", "text": "look"}
    assert roles(result) == ["system", "user", "assistant", "tool", "assistant"]
    kinds = [step["kind"] for step in result["steps"]]
    assert [kinds.count(kind) for kind in ("pre_api_request", "post_api_request", "turn_end")] == [6, 6, 3]


def test_one_call_id_in_two_turns_is_served_in_order(host: Host) -> None:
    _, result = use(host, "one_call_id_in_two_turns")
    assert tool_results(result) == ["ONE", "TWO"]
    commands = [step["args"]["command"] for step in result["steps"] if step["kind"] == "tool_call"]
    assert commands == ["echo ONE", "echo TWO"]


def test_one_call_id_in_two_turns_of_one_conversation_keeps_both_results(host: Host) -> None:
    chat = host.chat()
    chat.turn("first", (call("call_0", command="echo ONE"), "ONE"))
    chat.turn("second", (call("call_0", command="echo TWO"), "TWO"))
    result = host.replay(chat.session_id)
    assert tool_results(result) == ["ONE", "TWO"]
    assert [message["content"] for message in result["messages"] if message["role"] == "tool"] == [
        "ONE",
        "TWO",
    ]


def test_one_turn_with_a_tool_keeps_text_call_schema_and_address(host: Host) -> None:
    program, result = use(host, "one_turn_with_a_tool")
    assert roles(result) == ["system", "user", "assistant", "tool", "assistant"]
    assert [message.get("content") for message in result["messages"]] == [
        "You are a test agent.",
        "please look",
        "let me look",
        "hi",
        "done",
    ]
    assert [item["function"]["name"] for item in result["messages"][2]["tool_calls"]] == ["terminal"]
    data = runpy.run_path(str(program))
    assert [tool["function"]["name"] for tool in data["TOOL_SCHEMAS"]] == ["terminal"]
    assert data["PROVIDER_CONFIG"]["base_url"] == "http://127.0.0.1:9/v1"
    # The schemas came in the host's shortened payload alone, which a trace must not hide.
    assert "tool_schemas" in [note["what"] for note in result["inexact"]]


def test_an_interrupted_turn_is_on_disk_before_anything_ends(host: Host) -> None:
    fire(host, "interrupted_and_killed")
    assert not host.programs()
    host.new_process()
    sealing.seal_pending(host.home, idle=0)
    (program,) = host.programs()
    result = replay(program)
    assert roles(result)[:4] == ["system", "user", "assistant", "tool"]
    assert [message["content"] for message in result["messages"][1:4]] == [
        "sleep please",
        "let me look",
        "interrupted",
    ]
    assert [step["kind"] for step in result["steps"]].count("pre_api_request") == 2
    assert result["end"] == "not observed"
    turns = runpy.run_path(str(program))["SESSION"]["turns"]
    assert [(turn["completed"], turn["interrupted"]) for turn in turns] == [(False, True)]


def test_a_resumed_session_is_recorded_without_an_announcement(host: Host) -> None:
    _, result = use(host, "resumed_without_a_start")
    assert [message["content"] for message in result["messages"] if message["role"] == "user"] == [
        "second question"
    ]
    assert roles(result) == ["system", "user", "assistant", "tool", "assistant"]
    assert result["end"] == "observed"


def test_a_call_costs_what_its_own_model_asks_and_an_unknown_one_is_unknown(host: Host) -> None:
    _, result = use(host, "cost_of_three_models")
    cost = result["cost"]
    usages = [
        kwargs["usage"] for hook, kwargs in calls_of("cost_of_three_models") if hook == "post_api_request"
    ]
    parts = [
        estimate_cost([(model, "openai", normalize_usage(usage), None)]).as_dict()["cost_usd"]
        for model, usage in zip(("gpt-4o", "gpt-4o-mini"), usages, strict=False)
    ]
    assert all(part > 0 for part in parts)
    assert cost["cost_usd"] == pytest.approx(sum(parts))
    assert (cost["status"], cost["cache_read"], cost["cache_write"]) == ("unknown", 99_000, 5_000)
    cached = estimate_cost(
        [("gpt-4o", "openai", normalize_usage({"prompt_tokens": 1000, "completion_tokens": 100}), None)]
    )
    assert parts[0] > cached.as_dict()["cost_usd"]
    assert cost["per_model"]["no-such-model"]["cost_usd"] is None


def test_one_unbroken_run_does_not_hold_up_a_hook(host: Host) -> None:
    calls = calls_of("one_unbroken_run")
    for _, kwargs in calls:
        if "result" in kwargs:
            kwargs["result"] = kwargs["result"] * 4
    began = time.monotonic()
    for hook, kwargs in calls:
        host.fire(hook, **kwargs)
    # What grows with the square takes minutes for 240,000 characters.
    assert time.monotonic() - began < 8
    assert tool_results(host.replay(SESSION)) == [("0123456789abcdef" * 3750) * 4]
