"""What the recorded sessions of the real host say about hooks and about what is stored."""

from __future__ import annotations

import pytest

from tests.unroll import hook_streams
from tests.unroll.hook_streams import HookStream, as_stored

REWRITTEN_BY_THE_HOST = {
    "api_server": "a list of content parts is stored as text",
    "client_history": "messages the client brings itself are not stored",
    "repeated_ids": "a second result with the same id is stored but leaves the live conversation",
    "steered": "the text of /steer is in the live conversation but not stored",
}


def last_history(stream: HookStream, session_id: str) -> list[dict[str, object]] | None:
    """The conversation in the session's last post_llm_call, or None when there is none."""
    found = [
        call
        for call in stream.named("post_llm_call")
        if call.kwargs["session_id"] == session_id and call.thread != "bg-review"
    ]
    return [as_stored(message) for message in found[-1].kwargs["conversation_history"]] if found else None


@pytest.mark.parametrize("name", hook_streams.names())
def test_the_last_history_of_a_session_is_what_the_host_stored(name: str) -> None:
    stream = hook_streams.load(name)
    histories = {session_id: last_history(stream, session_id) for session_id in stream.stored}
    differing = [
        session_id
        for session_id, history in histories.items()
        if history is not None and history != stream.stored[session_id]
    ]
    assert bool(differing) == (name in REWRITTEN_BY_THE_HOST)


@pytest.mark.parametrize("name", hook_streams.names())
def test_the_request_of_an_attempt_is_seen_alike_by_hook_and_middleware(name: str) -> None:
    stream = hook_streams.load(name)
    keys = ("session_id", "api_request_id")
    for call in stream.named("pre_api_request"):
        before = [
            other
            for other in stream.calls[: stream.calls.index(call)]
            if other.is_middleware and all(other.kwargs[key] == call.kwargs[key] for key in keys)
        ]
        assert before and before[-1].kwargs["request"]["messages"] == call.kwargs["request_messages"]


def test_objects_come_back_with_the_attributes_the_host_gave_them() -> None:
    stream = hook_streams.load("parallel_tools")
    reply = stream.named("post_api_request")[0].kwargs["assistant_message"]
    assert type(reply).__name__ == "NormalizedResponse"
    assert [call.id for call in reply.tool_calls] == ["call_0", "call_1"]
    assert reply.tool_calls[0].function.arguments == reply.tool_calls[0].arguments
    request = stream.named("llm_request")[0].kwargs
    assert request["original_request"] == request["request"]
    assert request["original_request"] is not request["request"]
