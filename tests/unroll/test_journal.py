"""The journal: private, chained, each text once, readable whatever happened; verify finds alterations."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_unroll import catalog, cli, journal, sealing, slash, verification
from tests.unroll.host_driver import Host, call

SESSION = "20260101_000000_abc123"


def record_one(host: Host, session_id: str = SESSION) -> Path:
    """Record a short session with one long text; return its only segment."""
    chat = host.chat(session_id)
    chat.start()
    chat.turn("hello", (call("call_0", command="ls"), "a file\n" * 60))
    (segment,) = host.segments(session_id)
    return segment


def lines_of(segment: Path) -> list[bytes]:
    return segment.read_bytes().splitlines(keepends=True)


def verified(host: Host, session_id: str = SESSION) -> verification.Verified:
    return verification.verify(catalog.find(host.home, session_id))


# What is written --------------------------------------------------------------------------------


def test_every_line_follows_the_one_before_it(host: Host) -> None:
    segment = record_one(host)
    chain = journal.CHAIN_START
    for number, line in enumerate(lines_of(segment), 1):
        stored, _, body = line.rstrip(b"\n").partition(b" ")
        chain = journal.chain_next(chain, body)
        assert stored.decode() == chain
        assert json.loads(body)["n"] == number
    reader = journal.SegmentReader(segment)
    assert len(list(reader)) == reader.count == number
    assert (reader.chain, reader.problem) == (chain, None)


def test_a_journal_is_private(host: Host) -> None:
    record_one(host)
    host.program(SESSION)
    for path in [host.home / "traces", *(host.home / "traces").rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_a_header_says_who_wrote_the_segment(host: Host) -> None:
    header = journal.read_header(record_one(host))
    assert (header["k"], header["format"], header["pid"]) == ("segment", journal.FORMAT, os.getpid())
    assert (header["session_id"], header["home"]) == (SESSION, str(host.home))
    assert journal.is_live(host.segments(SESSION)[0]) in (True, None)


def test_times_never_run_backwards(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = host.chat()
    chat.turn("before")
    monkeypatch.setattr(journal.time, "time", lambda: 1000.0)
    chat.turn("after the clock was set back")
    times = [event.time for event in host.events(SESSION)]
    assert times == sorted(times)
    assert times[0] > 1_600_000_000


def test_a_long_text_is_stored_once_however_often_it_comes(host: Host) -> None:
    text = "a long text, and no other like it; " * 100
    chat = host.chat()
    used = call("call_0", command=text)
    chat.turn(text, (used, text), say=text, answer=text)
    chat.turn(text, (used, text), answer=text)
    written = b"".join(path.read_bytes() for path in host.segments(SESSION))
    # In the arguments, which are a text of their own, and as itself.
    assert written.count(text.encode()) == 2


def test_a_request_costs_what_is_new_in_it(host: Host) -> None:
    chat = host.chat()
    chat.start()
    for number in range(30):
        chat.messages.append({"role": "user", "content": f"{number} " + "said before. " * 500})
    chat.turn("first")
    size = sum(sealing.sizes(host.directory(SESSION)).values())
    assert size > 30 * 6500
    chat.turn("second")
    assert sum(sealing.sizes(host.directory(SESSION)).values()) - size < 6000


def test_another_process_refers_to_what_the_first_one_stored(host: Host) -> None:
    chat = host.chat()
    text = "a long text of the system prompt; " * 50
    chat.system = text
    chat.turn("hello " * 100)
    size = sum(sealing.sizes(host.directory(SESSION)).values())
    host.new_process()
    resumed = host.chat()
    resumed.system = text
    resumed.messages = [dict(message) for message in chat.messages]
    resumed.turn("again")
    assert len(host.segments(SESSION)) == 2
    assert text.encode() not in host.segments(SESSION)[1].read_bytes()
    assert sum(sealing.sizes(host.directory(SESSION)).values()) - size < 4500
    assert host.session(SESSION).damage == []


def test_names_that_look_alike_have_places_of_their_own(tmp_path: Path) -> None:
    names = ["a/b", "a_b", "a\\b", "a b", "a:b", "A_b", "a_b ", "", ".", "..", "a" * 64, "a" * 65, "\ud83d"]
    places = {journal.session_dir(tmp_path, name) for name in names}
    assert len(places) == len(names)
    for place in places:
        assert place.parent == journal.journal_dir(tmp_path)
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}-[0-9a-f]{8}", place.name)


def test_the_key_of_a_home_is_made_once_and_a_broken_one_is_told(tmp_path: Path) -> None:
    key = journal.load_key(tmp_path)
    assert len(key) == 32
    assert journal.load_key(tmp_path) == key
    assert stat.S_IMODE((tmp_path / "traces" / ".key").stat().st_mode) == 0o600
    (tmp_path / "traces" / ".key").write_bytes(key[:31])
    with pytest.raises(journal.JournalError, match="32 bytes"):
        journal.load_key(tmp_path)


def test_what_cannot_be_recorded_is_told_once_and_the_host_goes_on(host: Host, faults: Any) -> None:
    (host.home / "traces").write_text("no directory")
    host.chat().turn("hello")
    host.chat().turn("again")
    told = faults.take()
    assert len(told) == len(set(told)) and any("could not record pre_llm_call" in text for text in told)


def test_a_journal_that_was_removed_is_begun_anew(host: Host, faults: Any) -> None:
    segment = record_one(host)
    segment.unlink()
    chat = host.chat()
    chat.ask("lost with it")
    assert len(faults.take()) == 1
    chat.ask("recorded")
    said = [event.data["content"] for event in host.events(SESSION, "user_message")]
    assert said == ["recorded"]
    assert host.session(SESSION).damage == []


# Secrets ----------------------------------------------------------------------------------------


def test_processes_agree_on_the_number_of_a_secret(tmp_path: Path) -> None:
    path, key = tmp_path / "secrets", b"k" * 32
    children = []
    for child in range(4):
        pid = os.fork()
        if pid == 0:
            try:
                numbers = journal.SecretNumbers(path, key)
                given = {
                    f"{kind} {n}": numbers(kind, f"secret {n}") for n in range(25) for kind in ("a", "b")
                }
                (tmp_path / f"child {child}").write_text(json.dumps(given))
            finally:
                os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)
    given = [json.loads((tmp_path / f"child {child}").read_text()) for child in range(4)]
    assert given[0] == given[1] == given[2] == given[3]
    assert sorted(given[0].values()) == sorted([*range(1, 26)] * 2)
    later = journal.SecretNumbers(path, key)
    assert later("a", "secret 3") == given[0]["a 3"]
    assert later("a", "a new one") == 26
    assert b"secret" not in path.read_bytes()


def test_a_torn_line_of_the_secrets_file_harms_no_other(tmp_path: Path) -> None:
    path = tmp_path / "secrets"
    numbers = journal.SecretNumbers(path, b"k" * 32)
    assert [numbers("token", text) for text in ("x", "y", "x")] == [1, 2, 1]
    path.write_bytes(path.read_bytes() + b"token 12ab")
    others = [journal.SecretNumbers(path, b"k" * 32) for _ in range(2)]
    assert others[0]("token", "z") == others[1]("token", "z")
    assert (others[0]("token", "y"), others[1]("token", "x")) == (2, 1)


def test_a_secret_that_cannot_be_numbered_is_left_out_and_the_rest_is_recorded(host: Host) -> None:
    host.directory(SESSION).mkdir(parents=True)
    (host.directory(SESSION) / "secrets").mkdir()
    secret = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    host.chat().turn("hello", (call("call_0", command=f"use {secret}"), "fine"))
    assert all(secret.encode() not in data for _, data in host.everything_written())
    (event,) = host.events(SESSION, "tool_call")
    assert event.data["result"] == "fine"
    assert event.data["args"] == {"command": "<redaction failed>"}
    assert "could not be redacted and were left out" in slash.run("")


# What is read -----------------------------------------------------------------------------------


def test_a_line_that_was_changed_ends_the_segment_and_is_told(host: Host) -> None:
    segment = record_one(host)
    lines = lines_of(segment)
    for place in (0, 3, len(lines) - 2):
        changed = lines[:]
        changed[place] = changed[place].replace(b'"n":', b'"n": ')
        segment.write_bytes(b"".join(changed))
        reader = journal.SegmentReader(segment)
        assert len(list(reader)) == place
        assert reader.problem == f"0001.jsonl: line {place + 1} does not follow the chain"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_bytes_in_a_journal_are_read_or_told(data: st.DataObject, tmp_path: Path) -> None:
    bodies = st.sampled_from(
        [b"{}", b"[1]", b"1", b"[" * 3000, b'{"k":"lineage"', b'{"pid":[]}', b"\xff" * 9]
    )
    lines = bodies.map(lambda body: b"0" * 16 + b" " + body + b"\n")
    junk = st.binary(max_size=200) | st.lists(lines, max_size=3).map(b"".join)
    home = tmp_path / "junk"
    directory = journal.journal_dir(home) / "s-00000000"
    directory.mkdir(parents=True, exist_ok=True)
    for name in ("0001.jsonl", "0002.jsonl"):
        (directory / name).write_bytes(data.draw(junk))
    for path in journal.segment_paths(directory):
        journal.read_header(path)
        assert journal.is_live(path) in (True, False, None)
    journal.known_references(directory)
    assert len(catalog.sessions(home)) == 1
    try:
        journal.load_session(directory)
    except journal.JournalError:
        pass


def test_other_files_in_a_journal_are_left_alone(host: Host) -> None:
    segment = record_one(host)
    for name in ("1.jsonl", "0002.jsonl.bak", "notes.txt", "00x1.jsonl", "0001.json"):
        (segment.parent / name).write_text("mine")
    assert journal.segment_paths(segment.parent) == [segment]
    assert host.session(SESSION).damage == []


def test_a_text_that_is_missing_is_marked_and_told(host: Host) -> None:
    segment = record_one(host)
    chain, kept = journal.CHAIN_START, []
    for line in lines_of(segment):
        body = line.rstrip(b"\n").partition(b" ")[2]
        if not body.startswith(b'{"k":"text"'):
            chain = journal.chain_next(chain, body)
            kept.append(chain.encode() + b" " + body + b"\n")
    segment.write_bytes(b"".join(kept))
    session = host.session(SESSION)
    assert len(session.damage) == 1 and "a text that is referred to is missing" in session.damage[0]
    (event,) = host.events(SESSION, "tool_call")
    assert event.data["result"].startswith("<missing text ")
    assert host.replay(SESSION)["messages"]


def test_segments_are_merged_in_order_of_time(host: Host) -> None:
    first = host.chat()
    first.ask("one")
    host.new_process()
    host.chat().ask("two")
    session = host.session(SESSION)
    times = [event.time for event in session.events]
    assert times == sorted(times)
    assert {event.segment for event in session.events} == {"1", "2"}
    assert len({event.event_id for event in session.events}) == len(times)


def test_a_damaged_journal_is_listed_verified_and_compiled_as_far_as_it_goes(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    host.fire("subagent_start", parent_session_id=SESSION, child_session_id="child", child_goal="x")
    record_one(host, "child")
    (segment,) = host.segments("child")
    data = segment.read_bytes()
    assert b'{"k":"lineage"' in data
    segment.write_bytes(data.replace(b'"parent":"', b'"parent:"', 1))
    for command in (["list"], ["list", "child", "--lineage", "logical"], ["doctor"]):
        assert cli.main(command) in (0, 1)
        assert "Traceback" not in capsys.readouterr().err
    assert cli.main(["list", "--json"]) == 0
    assert {row["session_id"] for row in json.loads(capsys.readouterr().out)["sessions"]} == {
        SESSION,
        "child",
    }
    assert not verified(host, "child").ok


# Verify -----------------------------------------------------------------------------------------


def test_an_untouched_session_is_verified(host: Host) -> None:
    record_one(host)
    assert (verified(host).ok, verified(host).notes[-1]) == (True, "not compiled yet")
    host.program(SESSION)
    assert verified(host).ok
    assert verified(host).notes[-1] == "trace agrees with its journal"
    host.chat().ask("later")
    found = verified(host)
    assert found.ok and "newer records" in found.notes[-1]


def test_every_changed_byte_of_a_journal_is_found(host: Host) -> None:
    segment = record_one(host)
    host.program(SESSION)
    data = segment.read_bytes()
    for place in range(0, len(data), 23):
        segment.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        assert not verified(host).ok, place
    segment.write_bytes(data)
    assert verified(host).ok


@pytest.mark.parametrize(
    "way", ["line removed", "lines swapped", "line doubled", "end cut", "line added", "emptied"]
)
def test_lines_that_were_moved_are_found(way: str, host: Host) -> None:
    segment = record_one(host)
    host.program(SESSION)
    lines = lines_of(segment)
    changed = {
        "line removed": lines[:3] + lines[4:],
        "lines swapped": [*lines[:3], lines[4], lines[3], *lines[5:]],
        "line doubled": [*lines[:4], *lines[3:]],
        "end cut": lines[:-2],
        "line added": [*lines, lines[-1]],
        "emptied": [],
    }[way]
    segment.write_bytes(b"".join(changed))
    assert not verified(host).ok


def test_a_segment_from_another_journal_is_found(host: Host) -> None:
    segment = record_one(host)
    host.program(SESSION)
    other = record_one(host, "another")
    segment.write_bytes(other.read_bytes())
    found = verified(host)
    assert not found.ok
    assert any("not the one it was compiled from" in note for note in found.notes)


@pytest.mark.parametrize("find", [b"'hello'", b"# Session: ", b"TIMELINE = ", b"def replay"])
def test_a_changed_program_is_found(find: bytes, host: Host) -> None:
    record_one(host)
    program = host.program(SESSION)
    data = program.read_bytes()
    assert find in data
    program.write_bytes(data.replace(find, find[:-1] + b"X", 1))
    found = verified(host)
    assert not found.ok
    assert any(note.startswith("trace: ") for note in found.notes)


def test_verify_on_the_command_line_exits_with_1_for_an_alteration(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    segment = record_one(host)
    record_one(host, "another")
    assert cli.main(["verify"]) == 0
    segment.write_bytes(segment.read_bytes().replace(b"hello", b"HELLO"))
    assert cli.main(["verify"]) == 1
    assert cli.main(["verify", "another"]) == 0
    capsys.readouterr()
    assert cli.main(["verify", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["schema"] == 1
    assert {row["session_id"]: row["ok"] for row in answer["sessions"]} == {SESSION: False, "another": True}
