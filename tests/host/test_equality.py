"""A replayed conversation equals what the host stored, message by message, for real sessions.

The traces are compiled and replayed with state.db out of reach. Compared are role, content,
tool_call_id, tool_calls (id, name, arguments as parsed JSON) and reasoning, redacted on both sides; the
rows' own ids, times, call_id, response_item_id and finish_reason are no part of the conversation.
Where the host stores another form than any hook shows, the trace says so, and the tests pin the form.
"""

from __future__ import annotations

from typing import Any

import pytest

from hermes_unroll.reader import read_trace
from tests.host.conftest import Play, Record
from tests.host.hermes import HermesHome, Interactive
from tests.host.model_server import ModelServer
from tests.host.recordings import UNROLL, Recording
from tests.host.scenarios import Outcome
from tests.host.scenarios.core import script, session_ids

pytestmark = pytest.mark.host

# Scenario -> the roles the host stored, a word per session: u(ser), a(ssistant), t(ool).
EXACT = {
    "single_turn": ["ua"],
    "resumed": ["uatauata"],
    "interactive": ["uauataua"],
    "text_with_tools": ["uata"],
    "parallel_tools": ["uatta"],
    "failing_tool": ["uata"],
    "unknown_tool": ["uatata"],
    "retried_error": ["ua"],
    "fatal_error": ["u"],
    "reasoning": ["uatata"],
    "injected_context": ["uaua"],
    "execute_code": ["uata"],
    "delegate_one": ["uata", "uata"],
    "compaction": ["uatata"],
    "sigint": ["ua"],
}
SKIPPED = "[Tool execution skipped — terminal was not started. User sent a new message]"
UNTOLD = "the turn was interrupted: the host tells no hook what it stores then"
CHILD_PROMPT = "the host stores a sub-agent's system prompt without the task it was sent with"
BROUGHT = "the client brought this message with its first request: the host does not store it"
AS_TEXT = "the host stores the text parts of this message and a word for each image"


def roles(messages: list[dict[str, Any]]) -> str:
    return "".join(message["role"][0] for message in messages)


def only(recordings: list[Recording]) -> Recording:
    assert len(recordings) == 1
    return recordings[0]


@pytest.mark.parametrize("name", EXACT)
def test_replayed_messages_are_the_stored_ones(name: str, record: Record) -> None:
    found = record(name)
    assert [roles(recording.stored) for recording in found] == EXACT[name]
    for recording in found:
        assert recording.messages == recording.stored
        assert recording.inexact in ([], [("message", 0, CHILD_PROMPT)])


@pytest.mark.parametrize("name", [*EXACT, "large_result", "image", "interrupted_tool"])
def test_replayed_system_prompt_is_the_stored_one(name: str, record: Record) -> None:
    recording = record(name)[0]
    assert recording.stored_system_prompt.startswith("You are Hermes Agent")
    assert recording.system_prompt == recording.stored_system_prompt


def test_system_prompt_of_a_sub_agent_is_the_stored_one_and_its_task(record: Record) -> None:
    child = record("delegate_one")[1]
    added = child.system_prompt.removeprefix(child.stored_system_prompt)
    assert added.startswith("\n\nYou are a focused subagent working on a specific delegated task.")
    assert "YOUR TASK:\nCOUNT-ALPHA" in added
    assert child.inexact == [("message", 0, CHILD_PROMPT)]


@pytest.mark.parametrize("name", [*EXACT, "large_result", "image", "interrupted_tool", "sigterm"])
def test_recording_leaves_no_line_in_the_log_of_the_host(name: str, record: Record, play: Play) -> None:
    record(name)
    assert [line for line in play(name, UNROLL).home.logs() if "unroll" in line] == []


def test_pictures_are_kept_where_the_host_stores_a_word(record: Record) -> None:
    recording = only(record("image"))
    picture, *rest = recording.messages
    stored, *stored_rest = recording.stored
    assert rest == stored_rest and roles(rest) == "aua"
    text, image = picture["content"]
    assert image["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert stored == {"role": "user", "content": f"{text['text']}\n[screenshot]"}
    assert recording.inexact == [("message", 1, AS_TEXT)]


def test_whole_result_is_kept_where_the_host_stores_a_preview(record: Record) -> None:
    recording = only(record("large_result"))
    assert recording.messages == recording.stored
    assert recording.messages[2]["content"].startswith("<persisted-output>")
    [step] = recording.steps("tool_call")
    whole = recording.result["response_cache"][f"tool:{step['event_id']}"]["result"]
    assert len(whole) > 50_000 and "line 2999 of a large file" in whole
    assert [note[:2] for note in recording.inexact] == [("message", 3)]
    assert recording.inexact[0][2].startswith("the host moved this result to a file")


def test_result_that_only_the_request_shortened_is_named_and_whole_in_the_cache(record: Record) -> None:
    recording = only(record("turn_budget"))
    differing = [
        n
        for n, both in enumerate(zip(recording.messages, recording.stored, strict=True))
        if len(set(map(str, both))) > 1
    ]
    assert differing == [2]
    assert recording.messages[2]["content"].startswith("<persisted-output>")
    assert recording.stored[2]["content"].startswith('{"output": "line 0 of a large file')
    assert [note[:2] for note in recording.inexact] == [("message", 3)]
    assert recording.inexact[0][2].startswith("the host moved this result to a file")
    [first, *_] = recording.steps("tool_call")
    cached = recording.result["response_cache"][f"tool:{first['event_id']}"]
    assert cached["result"] == recording.stored[2]["content"]


def test_messages_a_client_brought_are_kept_and_named(record: Record) -> None:
    recording = only(record("client_history"))
    assert [message["content"] for message in recording.messages[:2]] == ["Good day.", "Good day to you."]
    assert recording.messages[2:] == recording.stored and roles(recording.stored) == "ua"
    assert recording.inexact == [("message", 1, BROUGHT), ("message", 2, BROUGHT)]
    assert recording.system_prompt == recording.stored_system_prompt + "\n\nBe exact."


def test_text_that_a_hook_injected_is_kept_beside_what_the_user_typed(record: Record) -> None:
    users = [m for m in only(record("injected_context")).result["messages"] if m["role"] == "user"]
    assert [(m["content"], m.get("api_content")) for m in users] == [
        (text, f"{text}\n\nThe weather is fine.") for text in ("What shall we do?", "Really?")
    ]


def test_calls_from_inside_a_program_are_steps_and_no_messages(record: Record) -> None:
    recording = only(record("execute_code"))
    steps = [
        (step["name"], step.get("inner", False), "message" in step) for step in recording.steps("tool_call")
    ]
    assert steps == [("read_file", True, False), ("terminal", True, False), ("execute_code", False, True)]


def test_parent_and_child_name_each_other(record: Record) -> None:
    parent, child = record("delegate_one")
    assert session_of(parent)["children"] == [child.session_id]
    assert session_of(child)["parent_session_id"] == parent.session_id


def test_failed_attempts_are_steps_of_the_turn_that_succeeded(record: Record) -> None:
    recording = only(record("retried_error"))
    assert [step["attempt"] for step in recording.steps("pre_api_request")] == [1, 2, 3]
    assert [step["status_code"] for step in recording.steps("api_request_error")] == [500, 429]
    assert recording.result["usage"]["errors"] == 2
    assert [turn["error"] for turn in session_of(recording)["turns"]] == [None]


def test_turn_that_failed_says_why(record: Record) -> None:
    [turn] = session_of(only(record("fatal_error")))["turns"]
    assert turn["error"]["status_code"] == 400
    assert "this request is not accepted" in str(turn["error"]["error"])


def session_of(recording: Recording) -> dict[str, Any]:
    """The SESSION of a trace, read without running it."""
    return read_trace(str(recording.trace))["SESSION"]


# Interrupted turns ---------------------------------------------------------------------------


def test_interrupted_tools_are_confirmed_by_the_next_turn(record: Record) -> None:
    recording = only(record("interrupted_tool"))
    assert recording.messages == recording.stored
    assert roles(recording.stored) == "uattaua"
    assert recording.stored[3]["content"] == SKIPPED
    assert recording.stored[4]["content"] == "Operation interrupted."


def test_last_messages_of_an_interrupted_session_are_predicted(record: Record) -> None:
    recording = only(record("sigterm"))
    assert recording.messages == recording.stored
    assert roles(recording.stored) == "uata"
    assert recording.stored[3]["content"] == "Operation interrupted."
    assert recording.inexact == [("messages", None, f"{UNTOLD}; its last messages are predicted")]


def cut_answers(home: HermesHome, server: ModelServer) -> Outcome:
    """Two turns of one session, both cut by Ctrl-C while the answer is being streamed."""
    turns = [{"text": f"Answer {number} goes on and on. " * 60, "wait_between": 0.3} for number in (1, 2)]
    script(server, *turns)
    with Interactive(home) as session:
        session.wait_until_idle()
        for number in (1, 2):
            session.send_line(f"Question {number}.")
            session.wait_for(f"Answer {number} goes on")
            press_ctrl_c(session)
            session.wait_until_idle()
        session.quit()
    return Outcome(tuple(session_ids(home)), "chat in a terminal, Ctrl-C twice")


def press_ctrl_c(session: Interactive) -> None:
    """Interrupt the turn. A key is lost when it comes while the host writes to the terminal.

    Two keys within two seconds would end the host.
    """
    for _ in range(5):
        session.interrupt()
        try:
            return session.wait_for("Interrupting agent", 5)
        except TimeoutError:
            continue
    raise TimeoutError("Ctrl-C was never heard")


def test_answer_cut_while_it_streamed_comes_with_the_next_turn_or_is_missing(record: Record) -> None:
    recording = only(record(cut_answers))
    assert roles(recording.stored) == "uaua"
    assert recording.messages == recording.stored[:3]
    assert recording.stored[1]["content"].startswith("Answer 1 goes on")
    assert recording.stored[3]["content"].startswith("Answer 2 goes on")
    note = f"{UNTOLD}; an answer cut while it streamed is missing"
    assert recording.inexact[-1] == ("messages", None, note)


def test_only_what_is_missing_of_cut_answers_is_inexact(record: Record) -> None:
    assert len(only(record(cut_answers)).inexact) == 1


def test_interrupted_turn_that_the_next_one_confirmed_is_exact(record: Record) -> None:
    assert only(record("interrupted_tool")).inexact == []
