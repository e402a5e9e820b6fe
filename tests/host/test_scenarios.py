"""The installed host says and stores what the recorded sessions say it does."""

from __future__ import annotations

import json

import pytest

from tests.host.conftest import PROBE, Play, Played
from tests.host.stored import stored_messages
from tests.unroll import hook_streams
from tests.unroll.hook_streams import as_stored

pytestmark = pytest.mark.host

PLAYED = ("resumed", "interactive", "compaction", "delegate_one", "sigint", "api_server")


def hook_lines(played: Played) -> list[dict[str, object]]:
    return [json.loads(line) for line in played.hooks.read_text("ascii").splitlines()]


@pytest.mark.parametrize("name", PLAYED)
def test_hooks_fire_as_in_the_recorded_session(name: str, play: Play) -> None:
    recorded = hook_streams.load(name)
    assert [line["hook"] for line in hook_lines(play(name, PROBE))] == [call.hook for call in recorded.calls]


@pytest.mark.parametrize("name", PLAYED)
def test_the_host_stores_as_in_the_recorded_session(name: str, play: Play) -> None:
    played = play(name, PROBE)
    recorded = list(hook_streams.load(name).stored.values())
    stored = [stored_messages(played.home.path, session_id) for session_id in played.outcome.session_ids]
    assert [[shape(message) for message in session] for session in stored] == [
        [shape(message) for message in session] for session in recorded
    ]


def shape(message: dict[str, object]) -> tuple[object, ...]:
    """What does not depend on paths and times: role, keys, ids, and the text of user and assistant."""
    calls = [(call["id"], call["name"]) for call in message.get("tool_calls", [])]
    text = message["content"] if message["role"] == "assistant" else None
    return message["role"], sorted(message), message.get("tool_call_id"), calls, text


@pytest.mark.parametrize("name", ["resumed", "interactive", "compaction", "delegate_one"])
def test_the_last_history_of_a_session_is_what_the_host_stored(name: str, play: Play) -> None:
    played = play(name, PROBE)
    histories = {
        line["kwargs"]["session_id"]: line["kwargs"]["conversation_history"]
        for line in hook_lines(played)
        if line["hook"] == "post_llm_call"
    }
    assert set(histories) == set(played.outcome.session_ids)
    for session_id, history in histories.items():
        assert [as_stored(message) for message in history] == stored_messages(played.home.path, session_id)
