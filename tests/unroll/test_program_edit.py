"""--edit: another text in the place of a user message, and the copy that keeps it."""

import ast
import json
import os
import stat

import pytest

from hermes_unroll.generator import generate_trace_program, verify_program
from hermes_unroll.reader import read_trace
from tests.unroll.trace_samples import Session, load, run, two_turns, write_program


def edited(path, text, *more):
    done = run(path, "--edit", text, *more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def copies(folder):
    return sorted(item for item in folder.iterdir() if "_edit_" in item.name)


def test_edit_replays_from_the_message_on_and_keeps_what_was_before(tmp_path):
    path = write_program(two_turns(), tmp_path)
    result = edited(path, "9 and the directories?")
    assert [step["step"] for step in result["steps"]] == [9, 10, 11]
    assert result["from_step"] == 9
    assert result["messages_count"] == 8
    before = two_turns().messages
    assert (
        result["messages"] == before[:6] + [{"role": "user", "content": "and the directories?"}] + before[7:]
    )
    assert result["stale"] == [10]
    assert result["steps"][0]["edited"] is True and result["steps"][1]["stale"] is True


def test_every_later_answer_is_stale(tmp_path):
    assert edited(write_program(two_turns(), tmp_path), "1 x y")["stale"] == [4, 5, 6, 8, 10]


def test_saved_copy_replays_the_edited_text_with_the_same_marks(tmp_path):
    path = write_program(two_turns(), tmp_path)
    source = path.read_bytes()
    result = edited(path, "1 list  the\n'directories' \U0001f600 ")
    (copy,) = copies(tmp_path)
    assert result["saved"] == str(copy) and path.read_bytes() == source
    replayed = json.loads(run(copy).stdout)
    assert replayed["messages"] == result["messages"]
    assert replayed["messages"][1]["content"] == "list  the\n'directories' \U0001f600 "
    assert replayed["stale"] == result["stale"] and replayed["edits"] == result["edits"]
    assert [step["step"] for step in replayed["steps"]] == list(range(12))
    assert load(copy.read_bytes())["replay"]()["stale"] == result["stale"]


def test_saved_copy_says_that_it_is_one_and_verifies(tmp_path):
    path = write_program(two_turns(), tmp_path)
    edited(path, "1 other text")
    (copy,) = copies(tmp_path)
    program = copy.read_bytes()
    assert b"\n# Edited: step 1 of trace.py; answers after it are stale\n# Session: " in program
    assert verify_program(program) is None and program.isascii()
    data = read_trace(str(copy))
    source = read_trace(str(path))
    assert data["EDITS"] == [
        {"step": 1, "event_id": "1:2", "source": "trace.py", "source_digest": source["DIGEST"]}
    ]
    assert data["DIGEST"] != source["DIGEST"]
    changed = [name for name in data if data[name] != source[name]]
    assert changed == ["CONVERSATION_HISTORY", "EDITS", "DIGEST"]


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_saved_copy_is_private_even_under_a_generous_umask(tmp_path):
    path = write_program(two_turns(), tmp_path)
    before = os.umask(0)
    try:
        edited(path, "1 x y")
    finally:
        os.umask(before)
    assert stat.S_IMODE(copies(tmp_path)[0].stat().st_mode) == 0o600


def test_copies_never_overwrite_one_another(tmp_path):
    program = load(generate_trace_program(two_turns()))
    program["PROGRAM"] = str(write_program(two_turns(), tmp_path))
    program["time"] = type(
        "Clock", (), {"strftime": lambda *_: "_edit_20260102_030405", "gmtime": lambda: None}
    )
    paths = [program["save_edit"]((1, f"text {number}")) for number in range(3)]
    assert [os.path.basename(path) for path in paths] == [
        "trace_edit_20260102_030405.py",
        "trace_edit_20260102_030405_1.py",
        "trace_edit_20260102_030405_2.py",
    ]
    assert [read_trace(path)["CONVERSATION_HISTORY"][1]["content"] for path in paths] == [
        "text 0",
        "text 1",
        "text 2",
    ]


def test_a_link_in_the_way_is_not_followed(tmp_path):
    target = tmp_path / "precious"
    target.write_text("keep")
    program = load(generate_trace_program(two_turns()))
    (tmp_path / "t.py").symlink_to(target)
    assert program["write_new"](str(tmp_path / "t"), b"x") == str(tmp_path / "t_1.py")
    assert target.read_text() == "keep"


def test_an_edited_copy_can_be_edited_again(tmp_path):
    edited(write_program(two_turns(), tmp_path), "9 second")
    (first,) = copies(tmp_path)
    result = edited(first, "1 first")
    second = next(copy for copy in copies(tmp_path) if copy != first)
    replayed = json.loads(run(second).stdout)
    assert [replayed["messages"][index]["content"] for index in (1, 6)] == ["first", "second"]
    assert [edit["step"] for edit in replayed["edits"]] == [9, 1]
    assert replayed["edits"][1]["source"] == first.name
    assert replayed["stale"] == [4, 5, 6, 8, 10] == result["stale"]
    assert verify_program(second.read_bytes()) is None


def test_edit_replaces_all_parts_of_a_message_and_the_sent_form(tmp_path):
    session = Session()
    parts = [{"type": "text", "text": "look\n" * 40}, {"type": "image_url", "image_url": {"url": "x"}}]
    session.step("user_message", {"role": "user", "content": parts, "api_content": "look", "name": "ann"})
    session.reply("I see.")
    path = write_program(session.trace, tmp_path)
    message = {"role": "user", "content": "new text", "name": "ann"}
    assert edited(path, "0 new text")["messages"][0] == message
    assert read_trace(str(copies(tmp_path)[0]))["CONVERSATION_HISTORY"][0] == message


def test_edit_of_a_message_that_a_context_step_keeps(tmp_path):
    session = Session()
    session.user("old")
    session.reply("answer")
    session.step("context", reason="compaction", messages=[0])
    result = edited(write_program(session.trace, tmp_path), "0 new text")
    assert [message["content"] for message in result["messages"]] == ["new text"]


def test_edit_goes_with_a_bound(tmp_path):
    path = write_program(two_turns(), tmp_path)
    assert [step["step"] for step in edited(path, "1 x y", "--stop-at", "2")["steps"]] == [1, 2]
    assert [step["step"] for step in edited(path, "1 x y", "--to", "4")["steps"]] == [1, 2, 3, 4]


def test_a_wrong_edit_saves_nothing(tmp_path):
    path = write_program(two_turns(), tmp_path)
    for text in ("4 x", "1 ", "99 x", "", "1"):
        assert run(path, "--edit", text).returncode == 2
    session = Session()
    session.step("user_message", background=True, content="review this")
    other = write_program(session.trace, tmp_path, "review.py")
    assert "no user message" in run(other, "--edit", "0 x y").stderr
    assert copies(tmp_path) == []


def test_edit_through_replay_writes_no_file(tmp_path):
    program = load(generate_trace_program(two_turns()))
    result = program["replay"](edit=(1, "other"))
    assert result["messages"][1]["content"] == "other" and result["saved"] is None
    assert program["replay"]()["messages"][1]["content"] == "list the files"
    with pytest.raises(program["UsageError"], match="no text"):
        program["replay"](edit=(1, "  "))


def test_a_copy_that_cannot_be_written_is_exit_1(tmp_path):
    path = write_program(two_turns(), tmp_path, "t" * 240 + ".py")
    done = run(path, "--edit", "1 x y")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1].startswith("error: cannot save the edit beside ")


def test_a_program_changed_since_it_started_is_not_edited(tmp_path):
    program = load(generate_trace_program(two_turns()))
    session = Session()
    session.user("another session")
    program["PROGRAM"] = str(write_program(session.trace, tmp_path))
    with pytest.raises(program["ReplayError"], match="has changed since"):
        program["save_edit"]((1, "x"))
    program["PROGRAM"] = str(tmp_path / "gone.py")
    with pytest.raises(program["ReplayError"], match="cannot read this program"):
        program["save_edit"]((1, "x"))


def test_edit_works_on_a_file_reformatted_by_hand(tmp_path):
    path = write_program(two_turns(), tmp_path)
    program = path.read_text()
    body = ast.unparse(
        ast.parse(program.partition("EDITS = ")[0].partition('"""\n\n')[2].partition("\n\n")[2])
    )
    head, tail = program.partition('"""\n\n')[0], "EDITS = " + program.partition("EDITS = ")[2]
    path.write_text(
        head + '"""\n\nfrom __future__ import annotations\n' + body.replace("[{", "[\n\t{") + "\n" + tail
    )
    assert edited(path, "9 other")["messages"][6]["content"] == "other"
    assert read_trace(str(copies(tmp_path)[0]))["CONVERSATION_HISTORY"][6]["content"] == "other"
