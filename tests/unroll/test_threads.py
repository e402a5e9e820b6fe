"""Several threads record several sessions at once: nothing lost, nothing in the wrong place.

SOAK=10 makes ten times as many events; scripts/soak-journal does that.
"""

from __future__ import annotations

import os
import threading
from collections import Counter

import pytest

from hermes_unroll import journal
from tests.unroll.host_driver import Host, call

SOAK = int(os.environ.get("SOAK", "1"))
EVENTS = 20_000 * SOAK
THREADS = 8
SESSIONS = 4


def together(*work: object) -> None:
    """Run each on a thread of its own, all at the same time; raise what one of them raises."""
    start, errors = threading.Barrier(len(work)), []

    def run(function: object) -> None:
        try:
            start.wait()
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(function,)) for function in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.mark.once
def test_eight_threads_on_four_sessions_lose_nothing_and_mix_nothing(host: Host) -> None:
    long_text = "a text long enough to be stored once " * 10
    each = EVENTS // THREADS // 2

    def thread(number: int) -> None:
        session_id = f"session {number % SESSIONS}"
        ids = {"session_id": session_id, "task_id": f"task {number}", "turn_id": f"turn {number}"}
        for count in range(each):
            mark = f"{session_id}/{number}/{count}"
            ids["tool_call_id"] = mark
            host.fire("pre_tool_call", **ids, tool_name="terminal", args={"mark": mark})
            result = long_text + str(count // 50) if count % 2 else mark
            host.fire("post_tool_call", **ids, tool_name="terminal", args={"mark": mark}, result=result)

    together(*(lambda number=number: thread(number) for number in range(THREADS)))
    found: Counter[str] = Counter()
    for number in range(SESSIONS):
        session_id = f"session {number}"
        session = host.session(session_id)
        assert session.damage == []
        assert len(session.chain) == 1
        events = [event for event in session.events if event.kind in ("pre_tool_call", "tool_call")]
        assert len(events) == EVENTS // SESSIONS
        found.update(f"{event.kind} {event.data['args']['mark']}" for event in events)
        for event in events:
            mark = event.data["args"]["mark"]
            assert mark.startswith(f"{session_id}/")
            assert event.data["tool_call_id"] == mark
            if event.kind == "tool_call":
                count = int(mark.rpartition("/")[2])
                assert event.data["result"] == (long_text + str(count // 50) if count % 2 else mark)
        numbers = [event.number for event in session.events]
        assert numbers == sorted(set(numbers))
        # Each thread's own events keep their order.
        own: dict[str, list[int]] = {}
        for event in events:
            thread_name, _, count = event.data["args"]["mark"].rpartition("/")
            own.setdefault(thread_name, []).append(int(count))
        assert all(counts == sorted(counts) for counts in own.values())
    assert len(found) == EVENTS
    assert set(found.values()) == {1}


def test_conversations_on_their_own_threads_replay_as_they_were(host: Host) -> None:
    chats = [host.chat(f"20260101_00000{number}_abc123") for number in range(6)]

    def talk(number: int) -> None:
        chat = chats[number]
        chat.start()
        for turn in range(8):
            used = call("call_0", command=f"echo {number} {turn}")
            chat.turn(f"{number} asks {turn}", (used, f"{number} {turn}"), answer=f"{number} answers {turn}")

    together(*(lambda number=number: talk(number) for number in range(len(chats))))
    for chat in chats:
        trace = host.trace(chat.session_id)
        contents = [message["content"] for message in trace.messages if message["role"] != "system"]
        assert contents == [message["content"] for message in chat.stored]
        assert all("message" in step for step in trace.steps if step["kind"] in ("llm_call", "tool_call"))


def test_one_session_announced_by_many_threads_at_once_has_one_segment(host: Host) -> None:
    def announce() -> None:
        host.fire("on_session_start", session_id="one", model="gpt-4o", platform="cli")

    together(*[announce] * 16)
    assert len(host.segments("one")) == 1
    assert len(host.events("one", "session")) == 16


def test_threads_agree_on_the_number_of_a_secret(host: Host) -> None:
    numbers = journal.SecretNumbers(host.home / "secrets", b"k" * 32)
    given: list[tuple[str, int]] = []

    def thread() -> None:
        for count in range(60):
            secret = f"secret {count % 20}"
            given.append((secret, numbers("token", secret)))

    together(*[thread] * 4)
    assert len(set(given)) == 20
    assert sorted(number for _, number in set(given)) == list(range(1, 21))


def test_a_home_that_many_threads_use_first_gets_one_key(host: Host) -> None:
    keys: list[bytes] = []
    together(*[lambda: keys.append(journal.load_key(host.home))] * 16)
    assert len(set(keys)) == 1
    assert len(keys[0]) == 32
