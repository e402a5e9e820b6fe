"""What a hook recorded is there after kill -9: nothing whose hook returned is lost, nothing is doubled.

SOAK=10 makes ten times as many kills; scripts/soak-journal does that.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hermes_unroll import compiler, journal
from hermes_unroll.reader import resolve_arguments
from hermes_unroll.trace import Trace
from tests.unroll.host_driver import Chat, Host, call, forget_everything

SOAK = int(os.environ.get("SOAK", "1"))
KILLS = 200 * SOAK
KILLS_PER_HOME = 20
SESSIONS = ("20260101_000000_aaaaaa", "20260101_000000_bbbbbb")
PLANTED = re.compile(r"<planted [0-9a-z.]+>")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def planting(chat: Chat, name: str, report: Callable[[str], None]) -> Iterator[None]:
    """Go through turns, a hook at a time; each carries a mark of its own, reported when it has returned."""
    number = 0

    def mark() -> str:
        nonlocal number
        number += 1
        return f"<planted {name}.{number}>"

    chat.start()
    while True:
        text = mark()
        chat.ask(f"{text} asks")
        report(text)
        yield
        for retry in range(2):
            text = mark()
            chat.request(again=retry > 0, max_tokens=text)
            report(text)
            yield
            if retry == 0:
                text = mark()
                chat.error(message=text)
                report(text)
                yield
        used = [call(f"call_{place}", command="x" * 300, note=mark()) for place in range(2)]
        text = mark()
        chat.reply(text, *used)
        report(text)
        yield
        for tool in used:
            chat.before_tool(tool)
            report(tool["args"]["note"])
            yield
            text = mark()
            chat.tool(tool, text + " result" * 60)
            report(text)
            yield
        chat.request()
        text = mark()
        chat.reply(text)
        report(text)
        chat.answered()
        text = mark()
        chat.turn_end(reason=text)
        report(text)
        yield


def record_until_killed(home: Path, name: str, sessions: tuple[str, ...], pipe: int) -> None:
    """Never returns: records until it is killed, and reports what it has recorded."""
    try:
        signal.alarm(60)
        os.environ["HERMES_HOME"] = str(home)
        forget_everything()
        host = Host(home)

        def report(text: str) -> None:
            os.write(pipe, text.encode())

        streams = [
            planting(host.chat(session_id), f"{name}{place}", report)
            for place, session_id in enumerate(sessions)
        ]
        while True:
            for stream in streams:
                next(stream)
    except BaseException as error:
        os.write(pipe, f"!{type(error).__name__}: {error}".encode())
    finally:
        os._exit(1)


def kill_one(home: Path, names: list[str], sessions: tuple[str, ...], seconds: float) -> set[str]:
    """Fork a recorder per name, kill them after a while, and return what they had reported."""
    reading, writing = os.pipe()
    children = []
    for name in names:
        pid = os.fork()
        if pid == 0:
            record_until_killed(home, name, sessions, writing)
        children.append(pid)
    os.close(writing)
    # The moment counts from the first hook that returned: nothing recorded would prove nothing.
    told = os.read(reading, 1)
    time.sleep(seconds)
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    for pid in children:
        os.waitpid(pid, 0)
    while True:
        more = os.read(reading, 1 << 20)
        if not more:
            break
        told += more
    os.close(reading)
    text = told.decode()
    assert "!" not in text, text
    return set(PLANTED.findall(text))


def traces_of(home: Path) -> list[Trace]:
    sessions = []
    for session_id in SESSIONS:
        # Killed before its first hook returned, a session has nothing to load.
        with contextlib.suppress(journal.JournalError):
            sessions.append(journal.load_session(journal.session_dir(home, session_id)))
    assert not any(session.damage for session in sessions)
    traces = [compiler.compile_session(session) for session in sessions]
    for trace in traces:
        resolve_arguments(trace.steps, trace.messages)
    return traces


def in_timeline(trace: Trace) -> Counter[str]:
    """How many steps carry each mark. The start of a tool carries that of the reply that asked for it."""
    found: Counter[str] = Counter()
    for step in trace.steps:
        if step["kind"] == "context":
            continue
        texts = [repr(step)]
        message = trace.messages[step["message"]] if "message" in step else {}
        texts.append(repr(message.get("content")))
        if step["kind"] == "llm_call":
            texts.append(repr(trace.response_cache[f"llm:{step['event_id']}"].get("result", {})))
        if step["kind"] == "tool_call":
            texts = [
                repr(trace.response_cache[f"tool:{step['event_id']}"].get("result", message.get("content")))
            ]
        own = PLANTED.findall(" ".join(texts))
        found.update(set(own[:1] if step["kind"] == "llm_call" else own))
    return found


def assert_kept(home: Path, reported: set[str]) -> None:
    counts = Counter()
    for trace in traces_of(home):
        counts += in_timeline(trace)
        ids = [step["event_id"] for step in trace.steps]
        assert len(ids) == len(set(ids))
    assert reported <= set(counts)
    assert {text: count for text, count in counts.items() if count > 1} == {}


@pytest.mark.once
def test_every_hook_that_returned_is_in_the_trace_once_after_kill_9(tmp_path: Path) -> None:
    chance = random.Random(20260101)
    reported: set[str] = set()
    everything = 0
    for number in range(KILLS):
        home = tmp_path / str(number // KILLS_PER_HOME)
        reported |= kill_one(home, [f"{number}k"], SESSIONS, chance.uniform(0, 0.025))
        if number % KILLS_PER_HOME == KILLS_PER_HOME - 1 or number == KILLS - 1:
            assert_kept(home, reported)
            everything += len(reported)
            reported = set()
    assert everything > KILLS


def test_two_processes_on_one_session_lose_and_double_nothing(tmp_path: Path) -> None:
    chance = random.Random(20260102)
    for number in range(10 * SOAK):
        home = tmp_path / str(number)
        names = [f"{number}a", f"{number}b"]
        reported = kill_one(home, names, SESSIONS, 0.02 + chance.uniform(0, 0.03))
        assert reported
        assert_kept(home, reported)


# Power ------------------------------------------------------------------------------------------


@pytest.fixture
def recorded(host: Host) -> Path:
    """A segment of one turn with a long result."""
    chat = host.chat(SESSIONS[0])
    chat.start()
    chat.turn("hello", (call("call_0", command="ls"), "a file\n" * 60), answer="one file \U0001f600")
    (segment,) = host.segments(SESSIONS[0])
    return segment


def test_a_segment_cut_at_any_byte_keeps_every_whole_line(recorded: Path) -> None:
    data = recorded.read_bytes()
    lines = data.splitlines(keepends=True)
    assert len(lines) > 12
    start = len(data) - sum(map(len, lines[-4:]))
    compiled: set[int] = set()
    for end in range(len(data) - 1, start - 1, -1):
        recorded.write_bytes(data[:end])
        reader = journal.SegmentReader(recorded)
        # A line that lacks only its line end is whole.
        count = data[:end].count(b"\n") + (data[end : end + 1] == b"\n")
        assert len(list(reader)) == count
        assert reader.problem is None
        if count not in compiled or end % 50 == 0:
            compiled.add(count)
            compiler.compile_session(journal.load_session(recorded.parent))
    assert len(compiled) == 5


def test_a_text_that_was_cut_is_written_again_by_the_next_process(host: Host, recorded: Path) -> None:
    data = recorded.read_bytes()
    start = data.rindex(b"\n", 0, data.index(b'{"k":"text"')) + 1
    recorded.write_bytes(data[: start + 300])
    host.new_process()
    host.chat(SESSIONS[0]).turn("again", (call("call_0", command="ls"), "a file\n" * 60))
    session = host.session(SESSIONS[0])
    assert session.damage == []
    assert "a file\n" * 60 in [event.data.get("result") for event in session.events]


def test_a_text_behind_a_damaged_line_is_written_again_by_the_next_process(
    host: Host, recorded: Path
) -> None:
    data = recorded.read_bytes()
    place = data.index(b"hello")
    recorded.write_bytes(data[:place] + b"HELLO" + data[place + 5 :])
    host.new_process()
    host.chat(SESSIONS[0]).turn("again", (call("call_0", command="ls"), "a file\n" * 60))
    session = host.session(SESSIONS[0])
    assert len(session.damage) == 1 and "does not follow the chain" in session.damage[0]
    assert "a file\n" * 60 in [event.data.get("result") for event in session.events]


def test_a_segment_cut_anywhere_in_its_first_line_costs_nothing_but_itself(
    host: Host, recorded: Path
) -> None:
    data = recorded.read_bytes()
    for end in (0, 1, 16, 17, 60, data.index(b"\n") - 1):
        recorded.write_bytes(data[:end])
        with pytest.raises(journal.JournalError, match="no readable journal"):
            host.session(SESSIONS[0])
        assert journal.is_live(recorded) is False
    host.new_process()
    host.chat(SESSIONS[0]).turn("again")
    trace = host.trace(SESSIONS[0])
    assert [message["content"] for message in trace.messages][1:] == ["again", "done"]
    assert trace.session["damage"] == []


def test_a_process_that_comes_after_a_torn_line_writes_none_of_its_own_onto_it(
    host: Host, recorded: Path
) -> None:
    recorded.write_bytes(recorded.read_bytes()[:-5])
    host.new_process()
    host.chat(SESSIONS[0]).turn("again")
    assert [path.name for path in host.segments(SESSIONS[0])] == ["0001.jsonl", "0002.jsonl"]
    assert host.session(SESSIONS[0]).damage == []
    assert "again" in [message["content"] for message in host.trace(SESSIONS[0]).messages]


def test_a_disk_that_is_full_costs_the_event_and_not_the_next_one(
    host: Host, monkeypatch: pytest.MonkeyPatch, faults: object
) -> None:
    chat = host.chat(SESSIONS[0])
    chat.ask("first")
    real = os.write

    def full(descriptor: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", real)
        real(descriptor, bytes(data)[:20])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    chat.ask("second")
    assert ["No space left on device" in told for told in faults.take()] == [True]
    chat.ask("third")
    session = host.session(SESSIONS[0])
    assert session.damage == []
    said = [event.data["content"] for event in session.events if event.kind == "user_message"]
    assert said == ["first", "third"]
    assert len(host.segments(SESSIONS[0])) == 2
    lost = [note["why"] for note in host.trace(SESSIONS[0]).session["inexact"] if note["what"] == "events"]
    assert lost == ["2 events could not be written"]


def test_a_disk_without_a_byte_left_leaves_no_empty_segments(
    host: Host, monkeypatch: pytest.MonkeyPatch, faults: object
) -> None:
    chat = host.chat(SESSIONS[0])
    chat.ask("first")

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "write", full)
        for number in range(5):
            chat.ask(f"lost {number}")
    faults.take()
    assert len(host.segments(SESSIONS[0])) == 1
    chat.ask("again")
    assert len(host.segments(SESSIONS[0])) == 2
    notes = [note["why"] for note in host.trace(SESSIONS[0]).session["inexact"] if note["what"] == "events"]
    assert len(notes) == 1 and notes[0].endswith("events could not be written")


def test_a_forked_child_writes_a_segment_of_its_own(host: Host) -> None:
    chat = host.chat(SESSIONS[0])
    chat.ask("parent")
    pid = os.fork()
    if pid == 0:
        try:
            chat.ask("child")
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    chat.ask("parent again")
    session = host.session(SESSIONS[0])
    assert session.damage == []
    said = [
        (event.segment, event.data["content"]) for event in session.events if event.kind == "user_message"
    ]
    assert sorted(said) == [("1", "parent"), ("1", "parent again"), ("2", "child")]
    assert threading.active_count() >= 1
