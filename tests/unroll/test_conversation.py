"""The conversation as the host stores it, followed through predictions and the host's own lists."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_unroll.conversation import STEER, SUMMARY, Change, Conversation, Entry, Message


def user(text: Any) -> Message:
    return {"role": "user", "content": text}


def reply(text: str, *ids: str) -> Message:
    message: Message = {"role": "assistant", "content": text}
    if ids:
        message["tool_calls"] = [
            {"id": name, "type": "function", "function": {"name": "terminal", "arguments": "{}"}}
            for name in ids
        ]
    return message


def result(call_id: str, text: str) -> Message:
    return {"role": "tool", "content": text, "tool_call_id": call_id}


class Recorded:
    """A conversation that gets lists as the recorder writes them: what stays, and what is added."""

    def __init__(self) -> None:
        self.conversation = Conversation()
        self.lists: dict[str, list[Message]] = {}

    def predict(self, *messages: Message, segment: str = "1") -> list[Entry]:
        return [self.conversation.predict(message, segment) for message in messages]

    def list(self, *messages: Message, segment: str = "1") -> Change:
        before = self.lists.get(segment, [])
        keep = 0
        while keep < min(len(before), len(messages)) and before[keep] == messages[keep]:
            keep += 1
        self.lists[segment] = list(messages)
        return self.conversation.follow(segment, keep, [dict(message) for message in messages[keep:]])

    @property
    def active(self) -> list[Any]:
        return [entry.message["content"] for entry in self.conversation.active]

    @property
    def order(self) -> list[Any]:
        return [entry.message["content"] for entry in self.conversation.order]


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


# One process ------------------------------------------------------------------------------------


def test_a_list_confirms_what_was_predicted(recorded: Recorded) -> None:
    entries = recorded.predict(user("hi"), reply("hello"))
    change = recorded.list(user("hi"), reply("hello"))
    assert (change.added, change.dropped, change.replaced) == ([], [], False)
    assert recorded.conversation.active == entries == recorded.conversation.order
    assert all(entry.confirmed for entry in entries)


def test_what_no_list_has_decided_on_yet_stays_predicted(recorded: Recorded) -> None:
    recorded.predict(user("hi"))
    recorded.list(user("hi"))
    (answer,) = recorded.predict(reply("hello"))
    assert recorded.active == ["hi", "hello"]
    assert not answer.confirmed


def test_a_stored_text_takes_the_place_of_the_predicted_one(recorded: Recorded) -> None:
    recorded.predict(user("hi"), reply("<think>x</think>hello"))
    recorded.list(user("hi"), reply("hello"))
    assert recorded.active == ["hi", "hello"]


def test_a_prediction_the_host_did_not_store_is_dropped(recorded: Recorded) -> None:
    recorded.predict(user("hi"))
    recorded.list(user("hi"))
    (unstored,) = recorded.predict(reply("cut", "call_0"))
    change = recorded.list(user("hi"), reply("whole"))
    assert change.dropped == [unstored]
    assert recorded.active == recorded.order == ["hi", "whole"]


def test_what_no_event_reported_is_added_in_its_place(recorded: Recorded) -> None:
    recorded.predict(user("hi"), reply("", "call_0"), reply("done"))
    change = recorded.list(user("hi"), reply("", "call_0"), result("call_0", "no such tool"), reply("done"))
    assert [entry.message["content"] for entry in change.added] == ["no such tool"]
    assert recorded.order == recorded.active == ["hi", "", "no such tool", "done"]


@pytest.mark.parametrize(
    "earlier", [[user("old"), reply("older")], [user("hi"), reply("hello")], [user("hi")] * 3]
)
def test_what_was_there_before_the_first_event_stands_before_it(
    earlier: list[Message], recorded: Recorded
) -> None:
    (asked,) = recorded.predict(user("hi"))
    change = recorded.list(*earlier, user("hi"))
    assert recorded.conversation.active[-1] is asked
    assert len(change.added) == len(earlier)
    assert recorded.order == [message["content"] for message in earlier] + ["hi"]


def test_equal_messages_are_different_messages(recorded: Recorded) -> None:
    said: list[Message] = []
    for _ in range(4):
        recorded.predict(user("go on"), reply("ok"))
        said += [user("go on"), reply("ok")]
        assert not recorded.list(*said).added
    assert recorded.active == recorded.order == ["go on", "ok"] * 4
    assert len({id(entry) for entry in recorded.conversation.active}) == 8


def test_tools_that_finish_out_of_order_stand_in_the_order_of_their_calls(recorded: Recorded) -> None:
    (asked,) = recorded.predict(reply("", "a", "b", "c"))
    for rank, name in ((2, "c"), (0, "a"), (1, "b")):
        recorded.conversation.predict_tool(result(name, name), "1", asked, rank)
    assert recorded.active == recorded.order == ["", "a", "b", "c"]
    change = recorded.list(reply("", "a", "b", "c"), result("a", "a"), result("b", "b"), result("c", "c"))
    assert (change.added, change.dropped, change.replaced) == ([], [], False)


def test_a_second_answer_to_one_call_id_is_kept_though_the_list_loses_it(recorded: Recorded) -> None:
    recorded.predict(user("hi"))
    (asked,) = recorded.predict(reply("", "same", "same"))
    for rank, text in enumerate(("ONE", "TWO")):
        recorded.conversation.predict_tool(result("same", text), "1", asked, rank)
    live = [user("hi"), reply("", "same", "same"), result("same", "ONE")]
    for more in ([], [reply("done")], [reply("done"), user("next")]):
        change = recorded.list(*live, *more)
        assert not change.dropped and not change.replaced
    assert recorded.active == ["hi", "", "ONE", "TWO", "done", "next"]


def test_a_note_added_to_a_result_is_stored_and_steering_is_not(recorded: Recorded) -> None:
    recorded.predict(reply("", "a", "b"), result("a", "fine"), result("b", "good"))
    steered = "good" + STEER + " ...]\nBe brief.\n[/OUT-OF-BAND USER MESSAGE]"
    recorded.list(reply("", "a", "b"), result("a", "fine\n\n[Tool loop warning]"), result("b", steered))
    assert recorded.active == ["", "fine\n\n[Tool loop warning]", "good"]
    assert recorded.conversation.active[-1].message["live_content"] == steered


def test_a_text_changed_after_it_was_stored_keeps_the_row(recorded: Recorded) -> None:
    recorded.list(user("hi"), reply("", "a"), result("a", "the whole text"))
    change = recorded.list(user("hi"), reply("", "a"), result("a", "<persisted-output>"), reply("done"))
    assert not change.replaced
    assert recorded.active == ["hi", "", "the whole text", "done"]
    assert recorded.conversation.active[2].message["live_content"] == "<persisted-output>"


@pytest.mark.parametrize("make", [user, reply])
def test_messages_that_the_live_list_joins_stay_rows_of_their_own(make: Any, recorded: Recorded) -> None:
    recorded.list(make("one"), make("two"), make("three"))
    change = recorded.list(make("one\n\ntwo\n\nthree"), reply("done"))
    assert not change.replaced
    assert recorded.active == ["one", "two", "three", "done"]


def test_a_summary_replaces_and_what_was_kept_is_the_same_message(recorded: Recorded) -> None:
    recorded.list(user("first"), reply("one"), user("second"), reply("two"))
    kept = recorded.conversation.active[2:]
    summary = reply("in short") | {SUMMARY: True}
    change = recorded.list(summary, user("second"), reply("two"))
    assert change.replaced
    assert recorded.active == ["in short", "second", "two"]
    assert recorded.conversation.active[1:] == kept
    assert recorded.order == ["first", "one", "in short", "second", "two"]


@pytest.mark.parametrize("left", [1, 2, 3])
def test_a_list_that_only_got_shorter_replaces(left: int, recorded: Recorded) -> None:
    said = [user("first"), reply("one"), user("second"), reply("two")]
    recorded.list(*said)
    change = recorded.list(*said[:left])
    assert change.replaced
    assert recorded.active == [message["content"] for message in said[:left]]
    assert recorded.order == ["first", "one", "second", "two"]


def test_a_turn_that_was_undone_is_out_of_the_conversation(recorded: Recorded) -> None:
    recorded.list(user("first"), reply("one"), user("wrong"), reply("two"))
    recorded.predict(user("right"))
    assert recorded.list(user("first"), reply("one"), user("right")).replaced
    assert recorded.active == ["first", "one", "right"]


def test_an_empty_list_is_a_conversation_without_messages(recorded: Recorded) -> None:
    assert not recorded.list().replaced
    recorded.list(user("hi"))
    assert recorded.list().replaced
    assert recorded.active == []


def test_content_parts_are_matched_by_their_text(recorded: Recorded) -> None:
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "data:x"}}]
    recorded.predict(user(parts))
    assert not recorded.list(user(parts)).added
    change = recorded.list(user("look\n[screenshot]"), reply("nice"))
    assert not change.replaced
    assert recorded.active == [parts, "nice"]


def test_the_system_prompt_stands_first_and_a_new_one_where_it_came(recorded: Recorded) -> None:
    recorded.predict(user("hi"))
    recorded.conversation.set_system({"role": "system", "content": "be kind"}, "1")
    recorded.predict(reply("hello"))
    recorded.conversation.set_system({"role": "system", "content": "be brief"}, "1")
    assert recorded.order == ["be kind", "hi", "hello", "be brief"]
    assert recorded.active == ["hi", "hello"]


# Several processes ------------------------------------------------------------------------------


def test_a_resumed_session_goes_on_with_the_messages_it_had(recorded: Recorded) -> None:
    recorded.predict(user("hi"), reply("hello"))
    recorded.list(user("hi"), reply("hello"))
    recorded.predict(user("again"), segment="2")
    loaded = [user("hi") | {"timestamp": 1}, reply("hello") | {"timestamp": 2}]
    change = recorded.list(*loaded, user("again"), segment="2")
    assert (change.added, change.dropped, change.replaced) == ([], [], False)
    assert recorded.active == ["hi", "hello", "again"]


def test_what_a_killed_process_did_not_get_stored_is_dropped(recorded: Recorded) -> None:
    recorded.list(user("hi"))
    lost = recorded.predict(reply("", "a"), result("a", "never stored"))
    recorded.predict(user("again"), segment="2")
    change = recorded.list(user("hi"), user("again"), segment="2")
    assert change.dropped == lost
    assert recorded.active == ["hi", "again"]


def test_a_prediction_dropped_for_another_process_comes_back_with_its_own_list(recorded: Recorded) -> None:
    recorded.predict(user("in one"), segment="1")
    recorded.predict(user("in two"), segment="2")
    first = recorded.list(user("in two"), segment="2")
    assert [entry.message["content"] for entry in first.dropped] == ["in one"]
    second = recorded.list(user("in one"), segment="1")
    assert second.returned == first.dropped
    assert recorded.active == ["in one"]
    assert sorted(recorded.order) == ["in one", "in two"]


def test_two_processes_that_take_turns_neither_double_nor_lose(recorded: Recorded) -> None:
    said: dict[str, list[Message]] = {"1": [], "2": []}
    for number in range(30):
        segment = "12"[number % 2]
        for message in (user(f"{segment} asks {number}"), reply(f"answer {number}")):
            recorded.predict(message, segment=segment)
            said[segment].append(message)
            recorded.list(*said[segment], segment=segment)
    assert recorded.active == [message["content"] for message in said["2"]]
    assert sorted(recorded.order) == sorted(m["content"] for messages in said.values() for m in messages)


# Whatever comes ---------------------------------------------------------------------------------


texts = st.sampled_from(["", "a", "b", "ab", "a\n\nb"])
messages = st.one_of(
    texts.map(user),
    texts.map(reply),
    st.builds(reply, texts, st.sampled_from(["x", "y"])),
    st.builds(result, st.sampled_from(["x", "y"]), texts),
    texts.map(lambda text: reply(text) | {SUMMARY: True}),
    st.sampled_from(
        [{}, {"role": None}, {"role": 1, "content": 2}, {"role": "assistant", "tool_calls": "x"}]
    ),
)
acts = st.tuples(st.sampled_from(["predict", "list"]), st.sampled_from("12"), st.lists(messages, max_size=6))


@settings(max_examples=400, deadline=None)
@given(st.lists(acts, max_size=12))
def test_whatever_is_predicted_and_listed_every_message_has_one_place(acts: list[Any]) -> None:
    recorded = Recorded()
    for act, segment, said in acts:
        if act == "predict":
            recorded.predict(*[dict(message) for message in said], segment=segment)
            continue
        change = recorded.list(*said, segment=segment)
        active, order = recorded.conversation.active, recorded.conversation.order
        assert len({id(entry) for entry in active}) == len(active)
        assert len({id(entry) for entry in order}) == len(order)
        assert {id(entry) for entry in active} <= {id(entry) for entry in order}
        assert not {id(entry) for entry in change.dropped} & {id(entry) for entry in order}
        assert all(entry.confirmed for entry in active)
        roles = [entry.message.get("role") for entry in active]
        assert [role for role in {m.get("role") for m in said} if role not in roles] == []


def test_a_long_conversation_is_followed_in_linear_time() -> None:
    def seconds(count: int) -> float:
        recorded = Recorded()
        said: list[Message] = []
        began = time.process_time()
        for number in range(count):
            recorded.predict(user(f"{number}"))
            said.append(user(f"{number}"))
            recorded.conversation.follow("1", number, said[number:])
        return time.process_time() - began

    seconds(500)
    few, many = seconds(1000), seconds(8000)
    # Eight times as many: 64 times as long if it grew with the square.
    assert many < 30 * max(few, 0.01)


def test_a_first_list_that_fits_nothing_is_followed_in_linear_time() -> None:
    recorded = Recorded()
    recorded.predict(*[user(f"said {number}") for number in range(5000)])
    began = time.process_time()
    change = recorded.list(*[user(f"said {number}") for number in range(-5000, 5000)])
    assert time.process_time() - began < 10
    assert len(change.added) == 5000 and not change.dropped
