"""Journal to trace: what each event becomes, how steps hang together, and that nothing else decides."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hermes_unroll import compiler, journal
from hermes_unroll.events import RecordKind, TraceEvent, TraceSession
from hermes_unroll.generator import generate_trace_program
from hermes_unroll.reader import read_trace
from hermes_unroll.trace import Trace
from tests.unroll.host_driver import SYSTEM, Host, call, conversation, tool_schema

ROOT = Path(__file__).resolve().parents[2]
SESSION = "20260101_000000_abc123"


def steps(trace: Trace, *kinds: str) -> list[dict[str, Any]]:
    return [step for step in trace.steps if step["kind"] in kinds]


def contents(trace: Trace) -> list[Any]:
    return [message.get("content") for message in trace.messages]


# Determinism ------------------------------------------------------------------------------------


def test_the_same_journal_compiles_to_the_same_bytes(host: Host) -> None:
    chat = host.chat()
    chat.start()
    chat.turn("hello", (call("call_0", command="ls"), {"set": {"b", "a", "c"}}))
    chat.finalize()
    first = host.program(SESSION).read_bytes()
    assert generate_trace_program(host.trace(SESSION)) == first
    code = (
        "import hashlib, sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; "
        "from hermes_unroll import compiler, generator, journal; "
        "trace = compiler.compile_session(journal.load_session(Path(sys.argv[2]))); "
        "print(hashlib.sha256(generator.generate_trace_program(trace)).hexdigest())"
    )
    for seed, zone in (("1", "UTC"), ("2", "Pacific/Auckland")):
        environment = {"PYTHONHASHSEED": seed, "TZ": zone, "PATH": os.defpath, "LC_ALL": "C"}
        done = subprocess.run(
            [sys.executable, "-c", code, str(ROOT), str(host.directory(SESSION))],
            capture_output=True,
            text=True,
            timeout=60,
            env=environment,
        )
        assert done.stdout.strip() == hashlib.sha256(first).hexdigest(), done.stderr


def test_compiling_needs_nothing_of_the_home(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.chat().turn("hello")
    before = generate_trace_program(host.trace(SESSION))
    moved = tmp_path / "elsewhere"
    os.rename(host.directory(SESSION), moved)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "nothing"))
    assert generate_trace_program(compiler.compile_session(journal.load_session(moved))) == before


def test_compiling_is_linear(host: Host) -> None:
    def session(turns: int) -> TraceSession:
        events, number = [], 0
        said: list[str] = []
        messages: dict[str, dict[str, Any]] = {}
        for turn in range(turns):
            for kind, data in (
                ("user_message", {"turn": f"t{turn}", "content": f"ask {turn}"}),
                ("pre_api_request", {"turn": f"t{turn}", "model": "m", "attempt": 1}),
                ("post_api_request", {"turn": f"t{turn}", "model": "m", "usage": {"prompt_tokens": 1}}),
                ("llm_call", {"turn": f"t{turn}", "content": f"answer {turn}"}),
            ):
                number += 1
                events.append(TraceEvent(kind, "1", number, float(number), data))
            names = [f"u{turn}", f"a{turn}"]
            messages[names[0]] = {"role": "user", "content": f"ask {turn}"}
            messages[names[1]] = {"role": "assistant", "content": f"answer {turn}"}
            number += 1
            data = {"keep": len(said), "add": names}
            said += names
            events.append(TraceEvent(RecordKind.HISTORY, "1", number, float(number), data))
        return TraceSession("s", "/home", events, messages)

    def seconds(turns: int) -> float:
        prepared = session(turns)
        began = time.process_time()
        assert len(compiler.compile_session(prepared).steps) == 4 * turns
        return time.process_time() - began

    seconds(50)
    few, many = (min(seconds(turns) for _ in range(3)) for turns in (300, 2400))
    # Eight times as many: 64 times as long if it grew with the square.
    assert many < 30 * max(few, 0.01)


# What events become -----------------------------------------------------------------------------


def test_a_turn_is_its_steps_in_order(host: Host) -> None:
    chat = host.chat()
    chat.turn("hello", (call("call_0", command="ls"), "a file"), say="Let me look.")
    trace = host.trace(SESSION)
    assert [step["kind"] for step in trace.steps] == [
        "user_message",
        "tool_schemas",
        "system_prompt",
        *("pre_api_request", "post_api_request", "llm_call", "pre_tool_call", "tool_call"),
        *("pre_api_request", "post_api_request", "llm_call", "turn_end"),
    ]
    assert contents(trace) == [SYSTEM, "hello", "Let me look.", "a file", "done"]
    assert {step["turn"] for step in trace.steps} == {1}
    assert trace.session["turns"] == [{"turn": 1, "completed": True, "interrupted": False, "error": None}]


def test_long_arguments_stand_once_and_are_found_from_the_reply(host: Host) -> None:
    used = call("call_0", command="echo " + "x" * 3000)
    host.chat().turn("hello", (used, "x"))
    trace = host.trace(SESSION)
    assert [step["args_at"] for step in steps(trace, "pre_tool_call", "tool_call")] == [[2, 0]] * 2
    program = host.program(SESSION)
    assert program.read_bytes().count(b"x" * 3000) == 1
    timeline = read_trace(str(program))["TIMELINE"]
    assert [step["args"] for step in timeline if step["kind"] in ("pre_tool_call", "tool_call")] == [
        used["args"]
    ] * 2
    written = b"".join(path.read_bytes() for path in host.segments(SESSION))
    assert written.count(b"x" * 3000) == 1


def test_arguments_the_host_changed_are_those_the_tool_got(host: Host) -> None:
    chat = host.chat()
    said, got = call("call_0", count="4" * 300), call("call_0", count=int("4" * 300))
    chat.ask("hello")
    chat.request()
    chat.reply("", said)
    chat.before_tool(got)
    chat.tool(got, "fine")
    trace = host.trace(SESSION)
    assert [step["args"] for step in steps(trace, "pre_tool_call", "tool_call")] == [got["args"]] * 2
    assert trace.messages[2]["tool_calls"][0]["function"]["arguments"] == said["arguments"]


def test_a_result_without_a_reply_is_inner_and_still_served(host: Host) -> None:
    chat = host.chat()
    chat.ask("hello")
    chat.tool(call("nobody asked", command="ls"), "a file", store=False)
    trace = host.trace(SESSION)
    (step,) = steps(trace, "tool_call")
    assert step["inner"] and "message" not in step
    assert trace.response_cache[f"tool:{step['event_id']}"] == {"result": "a file"}


def test_calls_without_an_id_are_found_by_name_and_order(host: Host) -> None:
    chat = host.chat()
    chat.ask("hello")
    chat.request()
    chat.reply("", call("", "read_file", path="a"), call("", "read_file", path="b"))
    chat.messages.pop()
    made_up = [call(f"call_{name}", "read_file", path=name) for name in "ab"]
    calls = [
        {
            "id": used["id"],
            "type": "function",
            "function": {"name": "read_file", "arguments": used["arguments"]},
        }
        for used in made_up
    ]
    chat.messages.append({"role": "assistant", "content": "", "tool_calls": calls})
    for used, text in zip(made_up, ("A", "B"), strict=True):
        chat.tool(used, text)
    assert contents(host.trace(SESSION)) == [SYSTEM, "hello", "", "A", "B"]
    chat.request()
    chat.reply("done")
    chat.answered()
    assert conversation(host.replay(SESSION)) == chat.stored


def test_a_user_message_that_was_not_stored_keeps_its_text(host: Host) -> None:
    chat = host.chat()
    chat.turn("first")
    host.fire("pre_llm_call", session_id=SESSION, turn_id="t", user_message="never stored")
    host.new_process()
    resumed = host.chat()
    resumed.messages = chat.messages
    resumed._turn = 2
    resumed.turn("second")
    trace = host.trace(SESSION)
    (unstored,) = [step for step in trace.steps if step.get("stored") is False]
    assert unstored["content"] == "never stored"
    assert "never stored" not in contents(trace)
    assert conversation(host.replay(SESSION)) == resumed.stored


def test_a_changed_system_prompt_puts_a_new_list_in_place(host: Host) -> None:
    chat = host.chat()
    chat.turn("hello")
    chat.system = "Be brief."
    chat.turn("again")
    chat.turn("and again")
    trace = host.trace(SESSION)
    assert [step["reason"] for step in steps(trace, "context")] == ["system_prompt"]
    messages = host.replay(SESSION)["messages"]
    assert [message["content"] for message in messages if message["role"] == "system"] == ["Be brief."]
    assert messages[0]["role"] == "system"
    assert SYSTEM in contents(trace)


def test_a_model_is_named_where_it_differs_from_the_last_one(host: Host) -> None:
    chat = host.chat()
    chat.turn("hello")
    chat.facts["model"], chat.provider["provider"] = "gpt-4o-mini", "openrouter"
    chat.turn("again")
    trace = host.trace(SESSION)
    assert (trace.provider_config["model"], trace.provider_config["provider"]) == (
        "gpt-4o-mini",
        "openrouter",
    )
    assert [step.get("model") for step in steps(trace, "pre_api_request")] == ["gpt-4o", None]
    assert [step.get("provider") for step in steps(trace, "llm_call")] == ["openai", None]
    assert [step.get("base_url") for step in steps(trace, "llm_call")] == [None, None]


def test_parameters_of_a_request_are_kept_without_what_stands_elsewhere(host: Host) -> None:
    host.chat().turn("hello")
    (request,) = steps(host.trace(SESSION), "pre_api_request")
    assert request["parameters"] == {"timeout": 60}


def test_tools_that_change_are_told_when_they_do(host: Host) -> None:
    chat = host.chat()
    chat.turn("hello")
    chat.turn("again")
    chat.tools = [tool_schema("terminal"), tool_schema("read_file")]
    chat.turn("more")
    trace = host.trace(SESSION)
    assert [step["names"] for step in steps(trace, "tool_schemas")] == [
        ["terminal"],
        ["terminal", "read_file"],
    ]
    assert trace.tool_schemas == chat.tools


def test_skills_that_were_looked_at_are_named(host: Host) -> None:
    chat = host.chat()
    for number, name in enumerate(("pdf", "pdf", "mail")):
        used = call(f"call_{number}", "skill_view", name=name, file_path="a.md")
        chat.turn("hello", (used, "how to"))
    trace = host.trace(SESSION)
    assert trace.session["active_skills"] == ["pdf", "mail"]
    viewed = [(step["name"], step["file_path"]) for step in steps(trace, "skill_view")]
    assert viewed == [("pdf", "a.md"), ("pdf", "a.md"), ("mail", "a.md")]


def test_streamed_text_is_coalesced_and_whole(host: Host) -> None:
    ids = {"session_id": SESSION, "turn_id": "t"}
    lines = [f"line {number} of the answer\n" for number in range(200)]
    text = "".join(lines) + "and its end"
    for place in range(0, len(text), 7):
        host.fire("on_stream_delta", **ids, delta=text[place : place + 7])
    for part in ("hm, ", "let me think"):
        host.fire("on_stream_delta", **ids, delta=part, kind="reasoning")
    host.fire("on_session_end", **ids, completed=True)
    found = steps(host.trace(SESSION), "on_stream_delta")
    assert "".join(step["text"] for step in found if step["stream"] == "text") == text
    assert [step["text"] for step in found if step["stream"] == "reasoning"] == ["hm, let me think"]
    assert len(found) < 12


def test_what_a_router_chose_is_billed_where_its_price_is_known(host: Host) -> None:
    usage = {"input_tokens": 1000, "output_tokens": 100, "cache_read_tokens": 0}
    ids = {"session_id": SESSION, "turn_id": "t", "provider": "openai", "model": "gpt-4o", "usage": usage}
    host.fire("post_api_request", **ids, response_model="gpt-4o-mini")
    host.fire("post_api_request", **ids, response_model="nobody knows")
    assert set(host.trace(SESSION).cost["per_model"]) == {"gpt-4o", "gpt-4o-mini"}


def test_tags_of_the_session_are_in_the_trace(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNROLL_SESSION_TAGS", " b, a ,,b")
    host.chat().turn("hello")
    assert host.trace(SESSION).session["tags"] == ["a", "b"]


# How steps hang together ------------------------------------------------------------------------


def test_steps_depend_on_what_they_follow_from(host: Host) -> None:
    chat = host.chat()
    tools = [call("a", command="1"), call("b", command="2")]
    chat.ask("hello")
    chat.request()
    chat.error(500)
    chat.request(again=True)
    chat.reply("", *tools)
    for used in tools:
        chat.before_tool(used)
    for used in reversed(tools):
        chat.tool(used, used["id"])
    chat.messages[-1], chat.messages[-2] = chat.messages[-2], chat.messages[-1]
    chat.request()
    chat.reply("done")
    trace = host.trace(SESSION)
    names = [f"{step['kind']} {step.get('tool_call_id', '')}".strip() for step in trace.steps]
    place = {name: number for number, name in enumerate(names)}
    last = [number for number, name in enumerate(names) if name == "llm_call"]
    links = trace.dependencies
    asked = last[0]
    assert links[place["user_message"]] == []
    assert names[links[place["api_request_error"]][0]] == "pre_api_request"
    assert [links[place[f"pre_tool_call {name}"]] for name in "ab"] == [[asked], [asked]]
    assert [links[place[f"tool_call {name}"]] for name in "ab"] == [
        [place["pre_tool_call a"]],
        [place["pre_tool_call b"]],
    ]
    requests = [number for number, name in enumerate(names) if name == "pre_api_request"]
    assert set(links[requests[-1]]) == {asked, place["tool_call a"], place["tool_call b"]}
    answers = [number for number, name in enumerate(names) if name == "post_api_request"]
    assert (links[answers[-1]], links[last[-1]]) == ([requests[-1]], [answers[-1]])


def test_the_state_graph_has_a_node_per_step_an_edge_per_dependency_and_a_part_per_turn(host: Host) -> None:
    chat = host.chat()
    chat.turn("one", (call("call_0", command="ls"), "a"))
    chat.turn("two")
    trace = host.trace(SESSION)
    graph = trace.state_graph
    assert [node["id"] for node in graph["nodes"]] == list(range(len(trace.steps)))
    assert {node["label"] for node in graph["nodes"]} >= {"tool_call:terminal", "llm_call", "user_message"}
    wanted = [[before, step] for step, found in trace.dependencies.items() for before in found]
    assert graph["edges"] == wanted
    turns = [
        (part["turn"], part["start"], part["stop"]) for part in graph["subgraphs"] if part["kind"] == "turn"
    ]
    assert turns == [(1, 0, 11), (2, 12, len(trace.steps) - 1)]


# What is not whole ------------------------------------------------------------------------------


def test_a_journal_with_nothing_but_its_header_is_a_trace_without_steps(host: Host) -> None:
    host.chat().start()
    result = host.replay(SESSION)
    assert (result["steps"], result["messages"], result["cost"]["cost_usd"]) == (
        [],
        [],
        result["cost"]["cost_usd"],
    )
    assert result["session_id"] == SESSION


def test_a_kind_of_record_from_a_later_version_is_passed_over(host: Host) -> None:
    chat = host.chat()
    chat.ask("hello")
    from hermes_unroll.hooks import RECORDER

    with RECORDER.recording(host.home, SESSION) as session:
        session.event("new_kind_of_event", {"x": 1})
        session.note("new_kind_of_record", {"y": 2})
    trace = host.trace(SESSION)
    assert contents(trace) == ["hello"]
    assert [step["kind"] for step in trace.steps] == ["user_message"]


def test_a_message_the_journal_lacks_is_noted(host: Host) -> None:
    events = [
        TraceEvent("user_message", "1", 1, 1.0, {"content": "hello"}),
        TraceEvent(RecordKind.HISTORY, "1", 2, 2.0, {"keep": 0, "add": ["gone", "here"]}),
    ]
    session = TraceSession(
        "s", "/home", events, {"here": {"role": "user", "content": "hello"}}, damage=["a line"]
    )
    trace = compiler.compile_session(session)
    assert contents(trace) == ["hello"]
    assert any("gone" in note["why"] for note in trace.session["inexact"])
    assert trace.session["damage"] == ["a line"]


def test_arguments_whose_reply_is_gone_are_noted(host: Host) -> None:
    events = [TraceEvent("tool_call", "1", 5, 1.0, {"name": "terminal", "args_of": 3, "result": "x"})]
    trace = compiler.compile_session(TraceSession("s", "/home", events))
    assert [note["what"] for note in trace.session["inexact"]] == ["args"]
    assert trace.steps[0]["args"] is None
