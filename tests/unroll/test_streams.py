"""The recorded sessions of the real host, recorded again by the plugin, replay what the host stored."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from hermes_unroll import journal
from hermes_unroll._common.redact import Redactor
from hermes_unroll.events import EventKind
from tests.unroll import hook_streams
from tests.unroll.hook_streams import HookStream
from tests.unroll.host_driver import Host, conversation

# Sessions in which the host stores text where its hooks gave content parts: stream -> number of the session.
MULTIMODAL = {"image": 0, "api_server": 1}
# Streams in which the client brings messages of its own, which the host does not store: how many.
BROUGHT = {"client_history": 2}
# What one call of each hook becomes. post_llm_call and the middleware only say what is new, if anything is.
EVENT_OF_HOOK = {
    "pre_llm_call": EventKind.USER_MESSAGE,
    "pre_api_request": EventKind.PRE_API_REQUEST,
    "post_api_request": EventKind.POST_API_REQUEST,
    "api_request_error": EventKind.API_REQUEST_ERROR,
    "pre_tool_call": EventKind.PRE_TOOL_CALL,
    "post_tool_call": EventKind.TOOL_CALL,
    "subagent_start": EventKind.SUBAGENT_START,
    "subagent_stop": EventKind.SUBAGENT_STOP,
    "on_session_end": EventKind.TURN_END,
    "on_session_finalize": EventKind.SESSION_END,
}


def is_multimodal(stream: HookStream, session_id: str) -> bool:
    number = MULTIMODAL.get(stream.name)
    return number is not None and list(stream.stored)[number] == session_id


def redacted(host: Host, session_id: str, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The stored messages as the recorder of that session would write them."""
    numbers = journal.SecretNumbers(host.directory(session_id) / "secrets", journal.load_key(host.home))
    return Redactor(number=numbers).value(messages)


def flat(content: Any) -> Any:
    """A content as the host's store flattens it."""
    if not isinstance(content, list):
        return content
    return "\n".join(part["text"] if part["type"] == "text" else "[screenshot]" for part in content)


@pytest.mark.parametrize("name", hook_streams.names())
def test_the_program_of_a_recorded_session_replays_what_the_host_stored(name: str, host: Host) -> None:
    stream = hook_streams.load(name)
    host.play(stream)
    assert stream.stored
    for session_id, stored in stream.stored.items():
        result = host.replay(session_id)
        messages = conversation(result)[BROUGHT.get(name, 0) :]
        wanted = redacted(host, session_id, stored)
        differing = {
            index
            for index, message in enumerate(result["messages"])
            if isinstance(message.get("content"), list)
        }
        if is_multimodal(stream, session_id):
            told = {
                note["message"] for note in result["inexact"] if note["what"] == "message" and note["why"]
            }
            assert differing and told == differing
            messages = [message | {"content": flat(message["content"])} for message in messages]
        else:
            assert not differing
        assert messages == wanted
        assert session_id == result["session_id"]


@pytest.mark.parametrize("name", hook_streams.names())
def test_no_hook_call_is_lost(name: str, host: Host) -> None:
    stream = hook_streams.load(name)
    host.play(stream)
    fired: Counter[tuple[str, str]] = Counter()
    owners = {call.kwargs["task_id"]: call.kwargs["session_id"] for call in stream.named("pre_llm_call")}
    for call in stream.calls:
        if call.hook in EVENT_OF_HOOK:
            session_id = call.kwargs.get("session_id") or call.kwargs.get("parent_session_id")
            session_id = session_id or owners[call.kwargs["task_id"]]
            fired[session_id, EVENT_OF_HOOK[call.hook]] += 1
    recorded: Counter[tuple[str, str]] = Counter()
    steps: Counter[tuple[str, str]] = Counter()
    for session_id in {session_id for session_id, _ in fired}:
        for event in host.events(session_id):
            recorded[session_id, event.kind] += event.kind in EVENT_OF_HOOK.values()
        for step in host.trace(session_id).steps:
            steps[session_id, step["kind"]] += step["kind"] in EVENT_OF_HOOK.values() and "source" not in step
    assert +recorded == fired
    assert +steps == fired


@pytest.mark.parametrize("name", hook_streams.names())
def test_a_step_stands_in_the_timeline_once_and_depends_on_earlier_ones_only(name: str, host: Host) -> None:
    stream = hook_streams.load(name)
    host.play(stream)
    for session_id in stream.stored:
        trace = host.trace(session_id)
        ids = [step["event_id"] for step in trace.steps]
        assert len(set(ids)) == len(ids)
        assert sorted(trace.dependencies) == list(range(len(ids)))
        assert all(before < index for index, found in trace.dependencies.items() for before in found)
        placed = [step["message"] for step in trace.steps if "message" in step]
        listed = {index for step in trace.steps for index in step.get("messages", ())}
        assert len(set(placed)) == len(placed)
        assert listed.union(placed) == set(range(len(trace.messages)))


def test_a_background_review_is_recorded_marked_and_kept_out_of_the_conversation(host: Host) -> None:
    stream = hook_streams.load("background_review")
    host.play(stream)
    reviews = {call.kwargs["turn_id"] for call in stream.named("pre_llm_call") if call.thread == "bg-review"}
    assert reviews
    fired = Counter(
        EVENT_OF_HOOK[call.hook]
        for call in stream.calls
        if call.hook in EVENT_OF_HOOK and call.kwargs.get("turn_id") in reviews
    )
    trace = host.trace(stream.session_id)
    marked = [step for step in trace.steps if step.get("background")]
    assert Counter(step["kind"] for step in marked if step["kind"] in fired) == fired
    assert not any("message" in step or "turn" in step for step in marked)
    prompt = next(call for call in stream.named("pre_llm_call") if call.thread == "bg-review")
    assert prompt.kwargs["user_message"] in [step.get("content") for step in marked]
    assert prompt.kwargs["user_message"] not in [message.get("content") for message in trace.messages]
    assert len(trace.session["turns"]) == len(stream.named("pre_llm_call")) - len(reviews)


def test_what_a_background_review_was_answered_is_served_from_the_cache(host: Host) -> None:
    stream = hook_streams.load("background_review")
    host.play(stream)
    result = host.replay(stream.session_id)
    calls = [step for step in result["steps"] if step.get("background") and step["kind"] == "llm_call"]
    replies = [
        call.kwargs["assistant_message"]
        for call in stream.named("post_api_request")
        if call.thread == "bg-review"
    ]
    served = [result["response_cache"][f"llm:{step['event_id']}"]["message"] for step in calls]
    assert len(served) == len(replies)
    for message, reply in zip(served, replies, strict=True):
        assert message["content"] == (reply.content or "").strip()
        assert [call["id"] for call in message.get("tool_calls", [])] == [
            call.id for call in reply.tool_calls or []
        ]


def test_calls_made_inside_execute_code_are_found_through_their_task_and_marked(host: Host) -> None:
    stream = hook_streams.load("execute_code")
    host.play(stream)
    fired = [
        call for call in stream.named("pre_tool_call", "post_tool_call") if not call.kwargs["session_id"]
    ]
    assert fired
    trace = host.trace(stream.session_id)
    inner = [step for step in trace.steps if step.get("inner")]
    assert [step["name"] for step in inner] == [call.kwargs["tool_name"] for call in fired]
    assert not any("message" in step for step in inner)
    outer = next(n for n, step in enumerate(trace.steps) if step["kind"] == "pre_tool_call")
    assert trace.steps[outer]["name"] == "execute_code"
    starts = [
        n for n, step in enumerate(trace.steps) if step.get("inner") and step["kind"] == "pre_tool_call"
    ]
    assert [trace.dependencies[n] for n in starts] == [[outer]] * len(starts)
    assert not host.directory("unattributed").exists()


def test_retries_of_one_request_are_numbered_and_the_errors_kept(host: Host) -> None:
    stream = hook_streams.load("retried_error")
    host.play(stream)
    requests = stream.named("pre_api_request")
    assert len({call.kwargs["api_request_id"] for call in requests}) == 1
    trace = host.trace(stream.session_id)
    attempts = [step["attempt"] for step in trace.steps if step["kind"] == "pre_api_request"]
    assert attempts == list(range(1, len(requests) + 1))
    errors = [step for step in trace.steps if step["kind"] == "api_request_error"]
    assert [(step["status_code"], step["retry_count"]) for step in errors] == [
        (call.kwargs["status_code"], call.kwargs["retry_count"]) for call in stream.named("api_request_error")
    ]
    assert [turn["error"] for turn in trace.session["turns"]] == [None]


def test_a_turn_that_failed_says_so_and_the_next_one_stands_apart(host: Host) -> None:
    stream = hook_streams.load("fatal_error_after_tool")
    host.play(stream)
    turns = host.trace(stream.session_id).session["turns"]
    error = stream.named("api_request_error")[0].kwargs
    assert turns[0]["error"]["status_code"] == error["status_code"]
    assert turns[0]["error"]["error"] == error["error"]
    assert turns[0]["completed"] is None
    assert (turns[1]["error"], turns[1]["completed"]) == (None, True)


@pytest.mark.parametrize("name", ["delegate_one", "delegate_two", "delegate_background"])
def test_a_delegating_session_and_its_children_name_each_other(name: str, host: Host) -> None:
    stream = hook_streams.load(name)
    host.play(stream)
    children = [call.kwargs["child_session_id"] for call in stream.named("subagent_start")]
    assert children
    parent = host.trace(stream.session_id)
    assert parent.session["children"] == children
    assert parent.session["parent_session_id"] is None
    for child in children:
        assert host.trace(child).session["parent_session_id"] == stream.session_id
    subagents = [graph for graph in parent.state_graph["subgraphs"] if graph["kind"] == "subagent"]
    assert [graph["child_session_id"] for graph in subagents] == children
    assert all(graph["stop"] is not None and graph["start"] < graph["stop"] for graph in subagents)


def test_a_session_started_by_slash_new_names_the_one_before_it(host: Host) -> None:
    stream = hook_streams.load("new_session")
    host.play(stream)
    first, second = stream.stored
    assert host.trace(first).session["end"] == "observed"
    assert host.trace(second).session["predecessor_session_id"] == first


def test_another_process_goes_on_in_a_segment_of_its_own(host: Host) -> None:
    stream = hook_streams.load("resumed")
    host.play(stream)
    processes = {call.process for call in stream.calls}
    assert len(host.segments(stream.session_id)) == len(processes) > 1
    trace = host.trace(stream.session_id)
    assert set(trace.chain) == {str(process) for process in processes}
    assert {step["event_id"].partition(":")[0] for step in trace.steps} == set(trace.chain)


def test_a_request_names_its_real_provider_and_where_it_went(host: Host) -> None:
    stream = hook_streams.load("text_with_tools")
    host.play(stream)
    asked = stream.named("pre_api_request")[0].kwargs
    config = host.trace(stream.session_id).provider_config
    assert config == {name: asked[name] for name in ("provider", "base_url", "api_mode", "model")}
    assert config["provider"] != asked["platform"]


def test_tool_schemas_come_whole_and_once(host: Host) -> None:
    stream = hook_streams.load("text_with_tools")
    host.play(stream)
    requests = stream.named("llm_request")
    trace = host.trace(stream.session_id)
    assert len(requests) > 1
    assert trace.tool_schemas == requests[0].kwargs["request"]["tools"]
    assert [step["kind"] for step in trace.steps].count("tool_schemas") == 1


def test_reasoning_of_the_model_is_replayed(host: Host) -> None:
    stream = hook_streams.load("reasoning")
    host.play(stream)
    told = [message["reasoning"] for message in stream.stored[stream.session_id] if message.get("reasoning")]
    assert told
    assert [block["text"] for block in host.replay(stream.session_id)["reasoning_blocks"]] == told


def test_a_compaction_is_a_step_that_puts_a_list_in_place_and_loses_nothing(host: Host) -> None:
    stream = hook_streams.load("compaction")
    host.play(stream)
    trace = host.trace(stream.session_id)
    contexts = [step for step in trace.steps if step["kind"] == "context"]
    assert [step["reason"] for step in contexts] == ["compaction"]
    before = {
        message["content"]
        for call in stream.named("pre_api_request")
        for message in call.kwargs["conversation_history"]
        if isinstance(message["content"], str)
    }
    kept = {message.get("content") for message in trace.messages}
    assert before <= kept


def test_what_the_model_saw_of_a_steered_turn_stands_beside_what_is_stored(host: Host) -> None:
    stream = hook_streams.load("steered")
    host.play(stream)
    trace = host.trace(stream.session_id)
    changed = [index for index, message in enumerate(trace.messages) if "live_content" in message]
    assert len(changed) == 1
    assert "OUT-OF-BAND" in trace.messages[changed[0]]["live_content"]
    assert "OUT-OF-BAND" not in trace.messages[changed[0]]["content"]
    assert changed[0] in [note.get("message") for note in trace.session["inexact"]]


@pytest.mark.parametrize("name", ["interrupted_tool", "interrupted_stream", "sigint", "sigterm"])
def test_an_interrupted_turn_is_marked(name: str, host: Host) -> None:
    stream = hook_streams.load(name)
    host.play(stream)
    ended = [call.kwargs["interrupted"] for call in stream.named("on_session_end")]
    assert True in ended
    assert [turn["interrupted"] for turn in host.trace(stream.session_id).session["turns"]] == ended


def test_messages_that_a_client_brings_are_part_of_the_conversation_and_named_as_not_stored(
    host: Host,
) -> None:
    stream = hook_streams.load("client_history")
    host.play(stream)
    given = stream.named("pre_llm_call")[0].kwargs["conversation_history"][:-1]
    result = host.replay(stream.session_id)
    assert [message["content"] for message in result["messages"][1:3]] == [
        message["content"] for message in given
    ]
    named = [note for note in result["inexact"] if note["what"] == "message"]
    assert [note["message"] for note in named] == [1, 2]
    assert all("does not store" in note["why"] for note in named)


def test_what_the_host_sends_but_never_stores_stands_with_the_request_alone(host: Host) -> None:
    stream = hook_streams.load("empty_reply")
    host.play(stream)
    sent = [
        message
        for call in stream.named("pre_api_request")
        for message in call.kwargs["conversation_history"]
        if message.get("_empty_recovery_synthetic")
    ]
    assert sent
    trace = host.trace(stream.session_id)
    unstored = [message for step in trace.steps for message in step.get("unstored", ())]
    assert [message["content"] for message in unstored] == [message["content"] for message in sent]
    kept = [message.get("content") for message in trace.messages]
    assert not {message["content"] for message in sent} & set(kept)
    assert not [step for step in trace.steps if step["kind"] == "context"]
