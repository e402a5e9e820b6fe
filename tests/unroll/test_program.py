"""What a program gives when it replays: the result, its parts, ranges, substitutions, misses."""

import json
import re
from pathlib import Path

import pytest

from hermes_unroll.generator import generate_trace_program
from tests.unroll.trace_samples import Session, load, long_session, run, two_turns, write_program

CONTRACT = Path(__file__).parents[2] / "docs" / "EXECUTION_CONTRACT.md"


@pytest.fixture(scope="module")
def program():
    return load(generate_trace_program(two_turns()))


def keys_of_table(heading):
    """Return the first column of the first table under a heading of the contract."""
    section = re.split(rf"^#+ {heading}$", CONTRACT.read_text("utf-8"), flags=re.M)[1]
    table = re.search(r"(^\|.*\n)+", section, re.M).group()
    return re.findall(r"^\| `([^`]+)` \|", table, re.M)


def test_stdout_is_one_json_object_and_stderr_the_summary(tmp_path):
    done = run(write_program(two_turns(), tmp_path))
    assert done.returncode == 0
    assert done.stdout.endswith("}\n") and done.stdout.count("\n") == 1
    assert json.loads(done.stdout)["session_id"] == "20260102_030405_abcdef"
    assert "replayed 12 of 12 steps in " in done.stderr
    assert re.search(r"^ +3 +\+300 ms +812 ms +[0-9.]+ ms +post_api_request$", done.stderr, re.M)
    assert re.search(
        r'^ +1 +\+100 ms +unknown +[0-9.]+ ms +user_message "list the files"$', done.stderr, re.M
    )


def test_result_has_the_keys_of_the_contract_and_no_other(program):
    result = program["replay"]()
    assert list(result) == keys_of_table("The result")
    assert list(result["timing_log"][0]) == keys_of_table("An entry of timing_log")
    assert list(result["usage"]) == keys_of_table("usage")
    assert list(result["reasoning_blocks"][0]) == keys_of_table("An entry of reasoning_blocks")
    assert result["schema"] == program["FORMAT"] == 1


def test_steps_have_the_fields_of_the_contract_and_no_other(program):
    results = {"1:7": "nothing"}
    edited = program["replay"](edit=(1, "hi"), allow_destructive=False)
    changed = program["replay"](arguments={"1:6": {"command": "ls -a"}}, results=results)
    extra = set()
    for entry in edited["steps"] + changed["steps"]:
        extra |= set(entry) - set(program["TIMELINE"][entry["step"]])
    assert extra == set(keys_of_table("An entry of steps"))


def test_program_has_the_names_of_the_contract(program):
    assert keys_of_table("The file") == [name for name in program if name in program["DATA_NAMES"]]
    assert set(keys_of_table("The file")) == set(program["DATA_NAMES"])


def test_contract_names_every_flag(tmp_path):
    told = set(re.findall(r"--[a-z-]+", run(write_program(two_turns(), tmp_path), "--help").stdout)) - {
        "--help"
    }
    table = re.search(r"^\| flag \|.*\n(^\|.*\n)+", CONTRACT.read_text("utf-8"), re.M).group()
    assert told == set(re.findall(r"`(--[a-z-]+)", table))


def test_messages_are_the_recorded_ones(program):
    result = program["replay"]()
    assert result["messages"] == two_turns().messages
    assert result["messages_count"] == 8
    assert [message["role"] for message in result["messages"]] == (
        ["system", "user", "assistant", "tool", "tool", "assistant", "user", "assistant"]
    )


def test_parallel_tools_keep_the_order_of_the_conversation():
    session = Session()
    session.user("both")
    session.reply("", ("a", "slow", {}), ("b", "fast", {}))
    session.tool("a", "slow", {}, "A")
    session.tool("b", "fast", {}, "B")
    first, second = session.trace.steps[2:]
    session.trace.steps[2:] = [second, first]
    messages = load(generate_trace_program(session.trace))["replay"]()["messages"]
    assert [message["content"] for message in messages] == ["both", "", "A", "B"]


def test_messages_of_any_range_come_in_the_order_of_the_conversation():
    trace = long_session(100, 100)
    program = load(generate_trace_program(trace))
    for first, last in ((0, 99), (7, 8), (15, 33), (63, 64), (90, 99)):
        assert program["replay"](first, last)["messages"] == trace.messages[first : last + 1]


def test_context_step_replaces_the_conversation():
    session = Session()
    session.step("system_prompt", {"role": "system", "content": "S"})
    session.user("long story")
    session.reply("long answer")
    session.user("and then?")
    session.trace.messages.append({"role": "user", "content": "summary"})
    session.step("context", reason="compaction", messages=[0, 4, 3])
    session.reply("the end")
    program = load(generate_trace_program(session.trace))
    assert [m["content"] for m in program["replay"]()["messages"]] == ["S", "summary", "and then?", "the end"]
    assert [m["content"] for m in program["replay"](0, 3)["messages"]] == [
        "S",
        "long story",
        "long answer",
        "and then?",
    ]


def test_steps_without_a_message_stay_outside_the_conversation():
    session = Session()
    session.user("hi")
    for kind, key in (("llm_call", "llm"), ("tool_call", "tool")):
        number = session.step(kind, background=True, name=None, args=None)
        session.trace.response_cache[f"{key}:1:{number + 1}"] = {
            "result": {"content": "review", "reasoning": "hm"}
        }
    result = load(generate_trace_program(session.trace))["replay"]()
    assert [message["content"] for message in result["messages"]] == ["hi"]
    assert [step["kind"] for step in result["steps"]] == ["user_message", "llm_call", "tool_call"]
    assert result["response_cache"]["llm:1:2"] == {"message": {"content": "review", "reasoning": "hm"}}
    assert result["reasoning_blocks"] == [{"step": 1, "event_id": "1:2", "text": "hm"}]


def test_steps_and_timing_log_share_their_index(program):
    result = program["replay"](3, 8)
    assert [step["step"] for step in result["steps"]] == [3, 4, 5, 6, 7, 8]
    for step, timing in zip(result["steps"], result["timing_log"], strict=True):
        assert (step["step"], step["kind"]) == (timing["step"], timing["kind"])
        assert step["replay_duration_ms"] == timing["replay_duration_ms"] >= 0
        assert timing["original_offset_ms"] == step["offset_ms"] == step["step"] * 100
        assert timing["delta_ms"] == pytest.approx(timing["replay_offset_ms"] - timing["original_offset_ms"])
    offsets = [timing["replay_offset_ms"] for timing in result["timing_log"]]
    assert offsets == sorted(offsets)


def test_durations_are_recorded_or_null_never_derived():
    session = Session()
    session.user("go", offset_ms=None)
    for name in "abc":
        session.tool(name, "sleep", {}, "ok", offset_ms=5000)
    session.step("post_api_request", usage=None, duration_ms=0)
    result = load(generate_trace_program(session.trace))["replay"]()
    assert [timing["duration_ms"] for timing in result["timing_log"]] == [None, None, None, None, 0]
    assert result["timing_log"][0]["original_offset_ms"] is None
    assert result["timing_log"][0]["delta_ms"] is None


def test_usage_is_summed_over_the_range(program):
    whole = program["replay"]()["usage"]
    assert whole == {
        "input_tokens": 100,
        "output_tokens": 7,
        "cache_read_tokens": 50,
        "cache_write_tokens": 0,
        "reasoning_tokens": None,
        "api_calls": 1,
        "errors": 1,
    }
    none = program["replay"](8, 11)["usage"]
    assert none == dict.fromkeys(whole, 0)


def test_unknown_usage_is_null_and_partly_known_is_summed():
    session = Session()
    session.step("post_api_request", usage=None)
    usage = load(generate_trace_program(session.trace))["replay"]()["usage"]
    assert usage["input_tokens"] is None and usage["api_calls"] == 1
    session.step("post_api_request", usage={"input_tokens": 3})
    session.step("post_api_request", usage={"input_tokens": 4, "output_tokens": None})
    usage = load(generate_trace_program(session.trace))["replay"]()["usage"]
    assert (usage["input_tokens"], usage["output_tokens"], usage["api_calls"]) == (7, None, 3)


def test_reasoning_is_given_per_reply(program):
    assert program["replay"]()["reasoning_blocks"] == [
        {"step": 4, "event_id": "1:5", "text": "They want a listing."}
    ]
    assert program["replay"](5)["reasoning_blocks"] == []


def test_result_carries_the_record(program):
    result, trace = program["replay"](), two_turns()
    for key in ("session_id", "model", "provider", "started_at", "original_duration_ms", "end", "inexact"):
        assert result[key] == trace.session[key]
    assert result["cost"] == trace.cost
    assert result["state_graph"] == trace.state_graph
    assert result["dependencies"] == trace.dependencies
    assert (result["from_step"], result["to_step"], result["edits"], result["saved"]) == (
        None,
        None,
        [],
        None,
    )
    assert result["response_cache"]["tool:1:7"] == {"result": "done"}
    assert result["response_cache"]["llm:1:9"] == {"message": trace.messages[5]}


def test_range_is_inclusive_and_leaves_the_rest_out(program):
    result = program["replay"](from_step=4, to_step=5)
    assert [entry["step"] for entry in result["timing_log"]] == [4, 5]
    assert [message["role"] for message in result["messages"]] == ["assistant", "tool"]
    assert (result["from_step"], result["to_step"]) == (4, 5)
    assert [step["step"] for step in program["replay"](from_step=11)["steps"]] == [11]
    assert program["replay"](to_step=0)["state"] == {"steps": 1, "messages": 1}


def test_stop_at_bounds_execution(program):
    result = program["replay"](2, stop_at=3)
    assert [step["step"] for step in result["steps"]] == [2, 3, 4]
    assert (result["from_step"], result["to_step"]) == (2, 4)
    assert [step["step"] for step in program["replay"](2, 3, stop_at=9)["steps"]] == [2, 3]


@pytest.mark.parametrize(
    "bounds", [(5, 4), (-1, None), (None, -1), (12, None), (None, 12), (True, None), ("1", None)]
)
def test_impossible_range_is_a_usage_error(program, bounds):
    with pytest.raises(program["UsageError"]):
        program["replay"](*bounds)


def test_session_without_steps_replays_to_nothing():
    program = load(generate_trace_program(Session().trace))
    assert program["replay"]()["state"] == {"steps": 0, "messages": 0}
    with pytest.raises(program["UsageError"], match="no steps"):
        program["replay"](0)


def test_destructive_calls_are_skipped_without_breaking_the_conversation(program):
    result = program["replay"]()
    assert result["skipped"] == [6]
    assert result["steps"][6]["skipped"] == "destructive"
    assert "skipped" not in result["steps"][5]
    assert result["messages"] == two_turns().messages
    consented = program["replay"](allow_destructive=True)
    assert consented["skipped"] == [] and consented["messages"] == result["messages"]


def test_dispatched_arguments_decide_whether_a_call_is_skipped(program):
    result = program["replay"](arguments={"1:6": {"command": "rm -rf /"}, "1:7": {"command": "ls"}})
    assert result["skipped"] == [5]


def test_tagged_arguments_are_judged_by_their_value():
    session = Session()
    session.tool("c", "terminal", {"__unroll__": "dict", "v": [["command", "rm -rf /"], [1, 2]]}, "gone")
    assert load(generate_trace_program(session.trace))["replay"]()["skipped"] == [0]


def test_substituted_arguments_serve_the_recorded_result_as_stale(program):
    result = program["replay"](arguments={"1:6": {"command": "ls -a"}})
    step = result["steps"][5]
    assert step["args"] == {"command": "ls -a"} and step["stale"] is True and step["substituted"] == ["args"]
    assert result["stale"] == [5, 8]
    assert result["messages"] == two_turns().messages
    assert program["TIMELINE"][5]["args"] == {"command": "ls"}


def test_substituted_result_becomes_message_and_cached_result(program):
    result = program["replay"](results={"1:6": {"files": ["ä"]}})
    assert result["messages"][3]["content"] == '{"files": ["ä"]}'
    assert result["messages"][3]["tool_call_id"] == "c1"
    assert result["response_cache"]["tool:1:6"] == {"result": {"files": ["ä"]}}
    assert result["stale"] == [8] and result["steps"][5]["substituted"] == ["result"]
    assert program["replay"]()["messages"] == two_turns().messages


def test_stale_reaches_whatever_depends_however_far():
    session = Session()
    session.user("go")
    session.tool("a", "read", {}, "1")
    session.reply("2", needs=(1,))
    session.tool("b", "read", {}, "3", needs=(2,))
    session.tool("c", "read", {}, "4", needs=(0,))
    session.reply("5", needs=(3, 4))
    program = load(generate_trace_program(session.trace))
    assert program["replay"](results={"1:2": "x"})["stale"] == [2, 3, 5]
    assert program["replay"](results={"1:5": "x"})["stale"] == [5]
    assert program["replay"](results={"1:2": "x", "1:4": "y"})["stale"] == [2, 5]
    assert program["replay"](arguments={"1:4": {}})["stale"] == [3, 5]
    assert program["replay"](arguments={"1:4": {}}, results={"1:4": "y"})["stale"] == [5]


def test_repeated_calls_are_served_in_order():
    session = Session()
    for text in ("ONE", "TWO", "THREE"):
        session.tool("call_0", "read", {"path": "x"}, text)
    program = load(generate_trace_program(session.trace))
    assert [message["content"] for message in program["replay"]()["messages"]] == ["ONE", "TWO", "THREE"]
    assert [message["content"] for message in program["replay"](1, 1)["messages"]] == ["TWO"]


def miss(trace, *bounds):
    program = load(generate_trace_program(trace))
    with pytest.raises(program["ReplayError"]) as caught:
        program["replay"](*bounds)
    assert not isinstance(caught.value, program["UsageError"]) and "\n" not in str(caught.value)
    return str(caught.value)


def test_cache_miss_names_the_key_the_nearest_and_the_first_difference():
    session = Session()
    session.tool("a", "read_file", {"path": "src/main.py", "limit": 10}, "1")
    session.tool("b", "terminal", {"command": "cat src/main.py"}, "2")
    session.tool("c", "read_file", {"path": "docs/plan.md", "limit": 10}, "3")
    session.tool("d", "read_file", {"path": "src/main.py", "limit": 20}, "4")
    del session.trace.response_cache["tool:1:1"]
    text = miss(session.trace)
    assert "step 0" in text and "no 'tool:1:1'" in text
    assert "nearest recorded is 'tool:1:4' (step 3)" in text
    assert "first differs at /args/limit: 10 asked, 20 recorded" in text
    assert load(generate_trace_program(session.trace))["replay"](1)["messages_count"] == 3


def test_cache_miss_says_when_the_nearest_asks_the_same_and_which_key_is_left_over():
    session = Session()
    session.reply("one")
    session.reply("two")
    session.trace.response_cache["llm:1:2x"] = session.trace.response_cache.pop("llm:1:2")
    text = miss(session.trace)
    assert "nearest recorded is 'llm:1:1' (step 0), which asks the same" in text
    assert "'llm:1:2x' belongs to no step" in text


def test_cache_miss_without_anything_near():
    session = Session()
    session.tool("a", "read_file", {}, "1")
    session.trace.response_cache.clear()
    assert "nothing is recorded for another tool_call" in miss(session.trace)


def test_each_response_is_served_once():
    session = Session()
    session.tool("a", "read_file", {}, "1")
    session.trace.steps.append(dict(session.trace.steps[0]))
    assert "'tool:1:1' was served already" in miss(session.trace)


def test_a_cache_entry_that_refers_to_nothing_is_a_miss():
    session = Session()
    session.reply("x")
    session.trace.response_cache["llm:1:1"] = {"message": 7}
    assert "no 'llm:1:1'" in miss(session.trace)


def test_a_thousand_steps_replay(tmp_path):
    trace = long_session(1000, 2000)
    done = run(write_program(trace, tmp_path))
    result = json.loads(done.stdout)
    assert done.returncode == 0 and len(result["steps"]) == len(result["timing_log"]) == 1000
    assert result["messages"] == trace.messages
    assert "... and 960 more; --steps lists all" in done.stderr


def test_a_line_of_ten_megabytes_replays(tmp_path):
    session = Session()
    text = "\"quoted' \\ " * 900_000 + "\u2028\ud83d\x00"
    session.user("read it")
    session.tool("c", "read_file", {"path": "x"}, text)
    done = run(write_program(session.trace, tmp_path), "--from", "1")
    assert done.returncode == 0
    assert json.loads(done.stdout)["messages"][0]["content"] == text


def test_replaying_is_linear_and_so_is_staleness():
    import time

    def spent(steps):
        program = load(generate_trace_program(long_session(steps, 100)))
        start = time.process_time()
        assert program["replay"](results={"1:4": "x"})["stale"]
        return time.process_time() - start

    spent(100)
    small, large = spent(400), spent(6400)
    assert large < 16 * 6 * small + 0.5
