"""Comparing traces by content, and reading the other one as data."""

import json
import random
import time
from itertools import pairwise

import pytest

from hermes_unroll.diff import compare, differences, report
from hermes_unroll.generator import generate_trace_program
from hermes_unroll.reader import TraceError, read_trace
from tests.unroll.trace_samples import Session, load, long_session, run, two_turns, write_program


def trace_of(*events):
    """Build a trace of (kind, seconds, {"text" or "name", "args", "content"}) triples."""
    session = Session()
    for kind, seconds, data in events:
        if kind == "user_message":
            number = session.user(data["text"])
        elif kind == "tool_call":
            number = session.tool(f"id-{seconds}", data["name"], data["args"], data["content"])
        else:
            number = session.step(kind, name=data["name"])
        session.trace.steps[number]["offset_ms"] = round(seconds * 1000)
    return session.trace


LS = {"name": "terminal", "args": {"command": "ls"}, "content": "ok"}
RM = {"name": "terminal", "args": {"command": "rm -rf /"}, "content": "gone"}
A = trace_of(("user_message", 1.0, {"text": "deploy staging"}), ("tool_call", 2.0, LS))
B = trace_of(("user_message", 1.0, {"text": "DELETE PRODUCTION"}), ("tool_call", 2.0, RM))
C = trace_of(("user_message", 1.007, {"text": "deploy staging"}), ("tool_call", 2.013, LS))
D = trace_of(
    ("pre_tool_call", 0.5, {"name": "x"}),
    ("user_message", 1.0, {"text": "deploy staging"}),
    ("tool_call", 2.0, LS),
)


def compared(left, right):
    return compare(load(generate_trace_program(left)), load(generate_trace_program(right)))


def counts(left, right):
    found = compared(left, right)["counts"]
    return tuple(found[op] for op in ("equal", "changed", "added", "removed"))


@pytest.mark.parametrize(
    ("left", "right", "code", "told"),
    [
        (A, B, 1, "2 changed, 0 added, 0 removed, 0 the same"),
        (A, C, 0, "the same: 2 steps"),
        (A, D, 1, "0 changed, 1 added, 0 removed, 2 the same"),
        (D, A, 1, "0 changed, 0 added, 1 removed, 2 the same"),
    ],
)
def test_traces_are_told_apart_by_content_not_by_time(tmp_path, left, right, code, told):
    path, other = write_program(left, tmp_path), write_program(right, tmp_path, "other.py")
    done = run(path, "--diff", str(other))
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.splitlines()[-1] == told
    as_json = json.loads(run(path, "--diff", str(other), "--json").stdout)
    assert as_json == compared(left, right) and as_json["equal"] is (code == 0)


def test_the_report_shows_both_sides(tmp_path):
    path, other = write_program(A, tmp_path), write_program(B, tmp_path, "other.py")
    assert run(path, "--diff", str(other)).stdout.splitlines()[2:] == [
        "~ step 0 -> 0  user_message",
        '    text: "deploy staging" -> "DELETE PRODUCTION"',
        "~ step 1 -> 1  tool_call terminal",
        '    args at /command: "ls" -> "rm -rf /"',
        '    result: "ok" -> "gone"',
        "2 changed, 0 added, 0 removed, 0 the same",
    ]


def test_the_package_and_the_program_compare_alike(tmp_path):
    path, other = write_program(two_turns(), tmp_path), write_program(A, tmp_path, "other.py")
    mine = report(compare(read_trace(str(path)), read_trace(str(other))), str(path), str(other))
    assert run(path, "--diff", str(other)).stdout == mine


def test_ids_durations_and_token_counts_do_not_count():
    other = two_turns()
    for number, step in enumerate(other.steps):
        step.update(event_id=f"9:{number}", offset_ms=number, duration_ms=number, turn=7, tool_call_id="z")
        step.pop("usage", None)
    other.response_cache = {
        key: {"message": entry["message"]}
        for entry, key in zip(
            other.response_cache.values(),
            ["llm:9:4", "tool:9:5", "tool:9:6", "llm:9:8", "llm:9:10"],
            strict=True,
        )
    }
    for message in other.messages:
        message.pop("tool_call_id", None)
        for call in message.get("tool_calls", []):
            call["id"] = "z"
    other.session["session_id"] = "another"
    assert counts(two_turns(), other) == (12, 0, 0, 0)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (lambda trace: trace.messages[1].update(content="list all files"), "text"),
        (lambda trace: trace.messages[2].update(reasoning="Hm."), "reasoning"),
        (lambda trace: trace.messages[2]["tool_calls"][0]["function"].update(arguments="{}"), "tool_calls"),
        (lambda trace: trace.steps[5].update(name="shell"), "name"),
        (lambda trace: trace.steps[5].update(args={"command": "ls", "timeout": None}), "args"),
        (lambda trace: trace.steps[5].update(status="error"), "status"),
        (lambda trace: trace.steps[7].update(status_code=500), "status_code"),
        (lambda trace: trace.steps[11].update(completed=False), "completed"),
        (lambda trace: trace.response_cache["tool:1:7"].update(result="kept"), "result"),
    ],
)
def test_each_kind_of_content_counts(change, field):
    other = two_turns()
    change(other)
    comparison = compared(two_turns(), other)
    assert not comparison["equal"]
    differing = {difference["field"] for row in comparison["rows"] for difference in row["differences"]}
    assert field in differing or field == "name"


def test_a_volatile_id_in_a_result_is_named_by_its_path():
    other = two_turns()
    other.messages[3]["content"] = '{"id": 8, "output": "a.py"}'
    (row,) = [row for row in compared(two_turns(), other)["rows"] if row["op"] == "changed"]
    assert row["differences"] == [{"field": "result", "path": "/id", "left": "7", "right": "8"}]
    assert "    result at /id: 7 -> 8\n" in report(compared(two_turns(), other), "a", "b")


def test_differences_are_paths_and_types_count():
    left = {"a": [1, {"b/c~": 1}], "same": [1, 2], "gone": None}
    right = {"a": [1.0, {"b/c~": True}, 3], "same": [1, 2], "new": None}
    found = {path: (repr(one), repr(other)) for path, one, other in differences(left, right)}
    assert found == {
        "/a/0": ("1", "1.0"),
        "/a/1/b~1c~0": ("1", "True"),
        "/a/2": ("nothing", "3"),
        "/gone": ("None", "nothing"),
        "/new": ("nothing", "None"),
    }


def test_a_long_text_is_shown_where_it_differs():
    session, other = Session(), Session()
    session.user("x" * 5000 + "left" + "y" * 5000)
    other.user("x" * 5000 + "right" + "y" * 5000)
    (row,) = compared(session.trace, other.trace)["rows"]
    (difference,) = row["differences"]
    assert difference["left"].startswith('..."' + "x" * 20 + "lefty") and len(difference["left"]) < 100


def test_a_step_that_differs_everywhere_shows_a_bounded_number_of_places():
    left, right = (
        trace_of(("tool_call", 1, {**LS, "args": {str(n): n + add for n in range(500)}})) for add in (0, 1)
    )
    assert len(compared(left, right)["rows"][0]["differences"]) == 20


def test_stream_deltas_do_not_count():
    session, other = Session(), Session()
    for side, pieces in ((session, ["Hel", "lo"]), (other, ["Hello"])):
        side.user("hi")
        for piece in pieces:
            side.step("on_stream_delta", text=piece)
        side.reply("Hello")
    assert counts(session.trace, other.trace) == (2, 0, 0, 0)


def test_insertions_and_removals_among_equal_steps_are_found():
    def steps(*names):
        return trace_of(*[("pre_tool_call", number, {"name": name}) for number, name in enumerate(names)])

    assert counts(steps(*"pxpypzp"), steps(*"ppxpypzp")) == (7, 0, 1, 0)
    assert counts(steps(*"pxpypzp"), steps(*"xpypzp")) == (6, 0, 0, 1)
    assert counts(steps(*"aaaa"), steps(*"aaaaaa")) == (4, 0, 2, 0)
    assert counts(steps(*"abc"), steps()) == (0, 0, 0, 3)
    assert counts(steps(*"abcdef"), steps(*"defabc"))[0] == 3


def test_rows_rise_and_name_every_step_once():
    rows = compared(long_session(40, 100), two_turns())["rows"]
    for side, count in (("left", 40), ("right", 12)):
        numbers = [row[side] for row in rows if row[side] is not None]
        assert sorted(numbers) == list(range(count)) and all(one < other for one, other in pairwise(numbers))


def test_comparing_is_near_linear():
    def spent(steps):
        left, right = (load(generate_trace_program(long_session(steps, 100))) for _ in range(2))
        for number, message in enumerate(right["CONVERSATION_HISTORY"]):
            if number % 2:
                message["content"] += " changed"
        start = time.process_time()
        assert compare(left, right)["counts"]["changed"] >= steps // 3
        return time.process_time() - start

    spent(100)
    small, large = spent(400), spent(6400)
    assert large < 16 * 6 * small + 0.5


def test_many_repeated_steps_are_compared_as_fast():
    def spent(steps):
        chosen = random.Random(steps)
        kinds = [[{"kind": chosen.choice("abc"), "event_id": "x"} for _ in range(steps)] for _ in range(2)]
        left, right = ({"TIMELINE": side, "CONVERSATION_HISTORY": [], "RESPONSE_CACHE": {}} for side in kinds)
        start = time.process_time()
        assert compare(left, right)["counts"]["equal"] > steps // 4
        return time.process_time() - start

    spent(100)
    small, large = spent(400), spent(6400)
    assert large < 16 * 6 * small + 0.5


def test_other_is_read_and_never_run(tmp_path):
    path, other = write_program(A, tmp_path), write_program(C, tmp_path, "other.py")
    sentinel = tmp_path / "ran"
    other.write_bytes(
        other.read_bytes().replace(b"import sys\n", f"open({str(sentinel)!r}, 'w')\nimport sys\n".encode())
    )
    assert run(path, "--diff", str(other)).returncode == 0
    assert not sentinel.exists()


HEAD = b'#!/usr/bin/env python3\n"""x"""\nFORMAT = 1\n'
DIGEST = b'DIGEST = "' + b"0" * 64 + b'"\n'
UNREADABLE = {
    "empty": (b"", "no DIGEST line"),
    "text": (b"hello\n", "no DIGEST line"),
    "of an earlier tool": (
        b"SESSION_ID = 'x'\nTIMELINE = [{'kind': 'llm_call'}]\nRESPONSE_CACHE = {}\n",
        "an earlier tool",
    ),
    "binary": (bytes(range(256)), "no DIGEST line"),
    "without FORMAT": (b"TIMELINE = []\n" + DIGEST, "no FORMAT line"),
    "of a later format": (b"FORMAT = 2\nNOVEL = []\n" + DIGEST, "it has FORMAT 2; this program reads 1"),
    "without parts": (HEAD + b"TIMELINE = []\n" + DIGEST, "it lacks RECORDER"),
    "with a call": (HEAD + b"TIMELINE = list()\n" + DIGEST, "no literal"),
    "with an import": (HEAD + b"import os\n" + DIGEST, "no literal"),
    "with an f-string": (HEAD + b"TIMELINE = f'{x}'\n" + DIGEST, "no literal"),
    "with bytes": (HEAD + b"TIMELINE = b'x'\n" + DIGEST, "no literal"),
    "with a subscript": (HEAD + b"TIMELINE = 'x'[0]\n" + DIGEST, "no literal"),
    "with a sum": (HEAD + b"TIMELINE = 1+1\n" + DIGEST, "no literal"),
    "with a chain of sums": (HEAD + b"TIMELINE = " + b"1+" * 3_000_000 + b"1\n" + DIGEST, "no literal"),
    "with a chain of signs": (HEAD + b"TIMELINE = " + b"-" * 3_000_000 + b"1\n" + DIGEST, "no literal"),
    "with a chain of subscripts": (
        HEAD + b"TIMELINE = s" + b"[0]" * 2_000_000 + b"\n" + DIGEST,
        "no literal",
    ),
    "with a chain of nots": (HEAD + b"TIMELINE = " + b"not " * 1_000_000 + b"1\n" + DIGEST, "no literal"),
    "with deep brackets": (
        HEAD + b"TIMELINE = " + b"[" * 1_000_000 + b"]" * 1_000_000 + b"\n" + DIGEST,
        "nested",
    ),
    "with a syntax error": (HEAD + b"TIMELINE = [\n" + DIGEST, "no readable trace"),
    "with a text that does not end": (HEAD + b"TIMELINE = 'x\n" + DIGEST, "no literal"),
    "with an escaping text": (HEAD + b"TIMELINE = '''a'b''' 1+1 ''\n" + DIGEST, "no literal"),
    "with a name twice": (HEAD + b"COST = {}\nCOST = {}\n" + DIGEST, "assigns COST once more"),
    "with another encoding": (b"# coding: utf-7\n" + HEAD + b"TIMELINE = +AGEAYg-\n" + DIGEST, "no literal"),
    "not UTF-8": (HEAD + b"TIMELINE = '\xff'\n" + DIGEST, "no readable trace"),
    "with NUL": (HEAD + b"TIMELINE = '\x00'\n" + DIGEST, "no readable trace"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_what_is_no_trace_is_refused_with_one_line(tmp_path, case):
    text, told = UNREADABLE[case]
    other = tmp_path / "other.py"
    other.write_bytes(text)
    with pytest.raises(TraceError) as caught:
        read_trace(str(other))
    assert told in str(caught.value) and str(caught.value).isprintable() and len(str(caught.value)) < 400


def test_an_unreadable_side_is_exit_2(tmp_path):
    path = write_program(A, tmp_path)
    other = tmp_path / "other.py"
    for text, told in UNREADABLE.values():
        other.write_bytes(text)
        done = run(path, "--diff", str(other))
        assert (done.returncode, done.stdout) == (2, "")
        assert told in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (b"TIMELINE = [", b"TIMELINE = 5\nCOST = [", "assigns COST once more"),
        (b"'kind': 'user_message', ", b"", "step 0 of TIMELINE has no kind"),
        (
            b"CONVERSATION_HISTORY = [\n",
            b"CONVERSATION_HISTORY = [\n 1,",
            "CONVERSATION_HISTORY is no list of dicts",
        ),
        (b"RESPONSE_CACHE = {", b"RESPONSE_CACHE = {[]: 1,", "unhashable"),
    ],
)
def test_a_trace_of_another_shape_is_refused(tmp_path, old, new, told):
    path = write_program(A, tmp_path)
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    with pytest.raises(TraceError, match=told):
        read_trace(str(path))


def test_size_is_limited(tmp_path):
    path = write_program(A, tmp_path)
    with pytest.raises(TraceError, match="the limit is 1000"):
        read_trace(str(path), max_bytes=1000)


def test_a_name_of_a_file_cannot_command_the_terminal(tmp_path):
    with pytest.raises(TraceError) as caught:
        read_trace(str(tmp_path / "\x1b[31m\nx"))
    assert str(caught.value).isprintable()
