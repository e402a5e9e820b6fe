"""What hermes_rlm promises in the one-shot modes of the real host, and its commands there."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.host.hermes import HermesHome, Run, end, finish
from tests.host.kernels import (
    REPLY_LIMIT,
    TOOLS,
    Agent,
    cell,
    processes,
    remains,
    warnings,
    witnessed,
    witnessed_home,
)
from tests.host.model_server import ModelServer
from tests.host.recordings import UNROLL, recordings
from tests.host.scenarios.core import call, notes, session_ids, wait_until

pytestmark = pytest.mark.host

DESCRIPTIONS_LIMIT = 2800
IDS = ("sum", "tools", "long", "vars", "skills", "save", "resumed", "one shot", "lone")
USES_TOOLS = """
import json
text = read_file({path!r})
told = terminal("echo from the kernel")
try:
    terminal("echo forbidden")
except ToolError as error:
    refusal = str(error)
text, told["output"], refusal
"""
LONE = """
try:
    terminal("true")
except ToolError as error:
    refusal = str(error)
word, refusal
"""
ESCAPED = "print('\\x00\\u20ac\"' * 40000)\n'\\x01\\\\' * 40000"


@dataclass(frozen=True)
class Played:
    """Runs one after the other in a home, by name; `wire` are the rlm_* functions of the first request."""

    home: HermesHome
    agent: Agent
    runs: dict[str, Run]
    wire: dict[str, dict[str, Any]]

    @property
    def session_id(self) -> str:
        return self.runs["chat"].session_id or ""


@pytest.fixture(scope="module")
def played() -> Iterator[Played]:
    """A quiet chat and its resumption, then `-z` and the resumption of that with the toolset rlm alone."""
    with ModelServer() as server, witnessed_home(server, UNROLL) as home:
        path = notes(home)
        runs: dict[str, Run] = {}
        agent = Agent(server)

        def play(name: str, run: Callable[[], Run], *calls: dict[str, Any]) -> None:
            agent.will(*calls)
            runs[name] = run()

        play(
            "chat",
            lambda: home.chat("Go."),
            cell("import math\nnumbers = list(range(10))\nsum(numbers)", "sum"),
            cell(USES_TOOLS.format(path=path), "tools"),
            cell(ESCAPED, "long"),
            call("rlm_vars", {}, "vars"),
            call("rlm_skills", {}, "skills"),
            call("rlm_checkpoint", {"action": "save", "name": "../../kept"}, "save"),
        )
        wire = {
            tool["function"]["name"]: tool["function"]
            for tool in server.requests[0].body["tools"]
            if tool["function"]["name"].startswith("rlm_")
        }
        first = runs["chat"].session_id
        play(
            "chat again",
            lambda: home.chat("Go on.", resume=first),
            cell("math.floor(numbers[-1])", "resumed"),
        )
        play("one shot", lambda: home.one_shot("Go."), cell("word = 'kept'\nword", "one shot"))
        wait_until(lambda: not processes(home), "the end of the kernel that -z has left")
        second = session_ids(home)[-1]
        play(
            "one shot again",
            lambda: home.chat("Go on.", "-t", "rlm", resume=second),
            cell(LONE, "lone"),
            call("terminal", {"command": "true"}, "lone terminal"),
        )
        yield Played(home, agent, runs, wire)


def test_the_model_is_told_of_every_tool(played: Played) -> None:
    assert sorted(played.wire) == sorted(TOOLS)
    for function in played.wire.values():
        assert function["description"] and function["parameters"]["type"] == "object"
    assert "code" in played.wire["rlm_exec"]["parameters"]["properties"]
    assert played.wire["rlm_exec"]["parameters"]["required"] == ["code"]
    assert len(json.dumps(list(played.wire.values()))) <= DESCRIPTIONS_LIMIT


@pytest.mark.parametrize("id", IDS)
def test_every_reply_is_one_short_json_text(played: Played, id: str) -> None:
    text = played.agent.text(id)
    assert len(text) <= REPLY_LIMIT and json.loads(text)["ok"] is True


def test_long_output_is_cut_and_kept_in_a_file(played: Played) -> None:
    text = played.agent.text("long")
    assert len(text) > REPLY_LIMIT / 2
    [spilled] = played.home.path.glob("state/rlm/spill/*")
    assert str(spilled) in json.loads(text)["stdout"]
    assert spilled.read_text("utf-8") == '\x00\u20ac"' * 40000 + "\n"


def test_runs_end_as_they_do_without_kernels(played: Played) -> None:
    assert [run.returncode for run in played.runs.values()] == [0] * 4
    assert [run.stdout for run in played.runs.values()] == ["Done.\n"] * 4
    assert played.runs["one shot"].stderr == ""


def test_a_cell_has_the_tools_of_the_session(played: Played) -> None:
    value = played.agent.reply("tools")["value"]
    assert value == repr(("first line\nsecond line\n", "from the kernel", "The witness says no."))


def test_variables_are_listed_with_their_cells(played: Played) -> None:
    listed = {row["name"]: row for row in played.agent.reply("vars")["variables"]}
    assert (listed["numbers"]["type"], listed["numbers"]["cell"], listed["text"]["cell"]) == ("list", 1, 2)


@pytest.mark.parametrize("id, value", [("resumed", "9"), ("lone", "'kept'")])
def test_a_resumed_session_has_its_variables_and_says_where_from(played: Played, id: str, value: str) -> None:
    assert value in played.agent.reply(id).get("value", ""), played.agent.reply(id)
    assert played.agent.reply(id)["note"].startswith(
        "restarted: the host that ran it ended; lost: []; restored: ["
    )


def test_a_tool_that_the_session_lacks_is_refused_in_a_kernel(played: Played) -> None:
    assert "terminal is not among the tools of this session" in played.agent.reply("lone")["value"]
    assert "terminal" not in [row["tool_name"] for row in witnessed(played.home, "pre_tool_call")[-2:]]


def test_hooks_see_calls_from_a_kernel_as_the_agents_own(played: Played) -> None:
    before = {told["tool_call_id"]: told for told in witnessed(played.home, "pre_tool_call")}
    outer, inner = before["tools"], [before[f"tools:b{number}"] for number in (1, 2, 3)]
    assert [told["tool_name"] for told in inner] == ["read_file", "terminal", "terminal"]
    for told in inner:
        for name in ("session_id", "task_id", "turn_id", "api_request_id"):
            assert told[name] == outer[name] != ""
    assert outer["session_id"] == played.session_id
    after = {told["tool_call_id"]: told["status"] for told in witnessed(played.home, "post_tool_call")}
    assert after["tools:b1"] == after["tools:b2"] == after["tools"] == "ok"
    assert after["tools:b3"] == "blocked"


def test_traces_hold_cells_and_the_calls_made_in_them(played: Played) -> None:
    recording = recordings(played.home)[played.session_id]
    assert recording.messages == recording.stored
    calls = [(step["name"], step.get("tool_call_id")) for step in recording.steps("tool_call")]
    assert ("rlm_exec", "tools") in calls and ("rlm_checkpoint", "save") in calls
    assert ("read_file", "tools:b1") in calls and ("terminal", "tools:b2") in calls


def test_nothing_is_left_of_kernels(played: Played) -> None:
    assert (processes(played.home), remains(played.home), warnings(played.home)) == ([], [], [])


# A stop --------------------------------------------------------------------------------------


def test_an_interrupt_ends_a_quiet_chat_with_its_kernel_and_the_variables_come_back() -> None:
    with ModelServer() as server, witnessed_home(server) as home:
        agent = Agent(server)
        agent.will(cell("kept = 'before the stop'\nopen('begun', 'w').close()\nwhile True: pass", "stopped"))
        process = home.start("chat", "-Q", "-q", "Run it.")
        try:
            wait_until((home.project / "begun").exists, "the cell")
            process.send_signal(signal.SIGINT)
            run = finish(process, 20)
        finally:
            end(process)
        assert (run.returncode, processes(home), remains(home)) == (130, [], [])
        [session_id] = session_ids(home)
        agent.will(cell("kept", "resumed"))
        home.chat("Go on.", resume=session_id)
        assert agent.reply("resumed")["value"] == "'before the stop'"
        assert (remains(home), warnings(home)) == ([], [])


# Commands ------------------------------------------------------------------------------------


def test_commands_tell_what_a_session_left(played: Played) -> None:
    home = played.home
    assert (
        home.run("rlm").stdout
        == f"No kernel runs in {home.path}; the first rlm_exec of a session starts one.\n"
    )
    listed = json.loads(home.run("rlm", "checkpoints", "--json").stdout)["checkpoints"]
    assert (played.session_id, "../../kept", None) in [
        (entry["session"], entry["name"], entry["problem"]) for entry in listed
    ]


def test_export_gives_a_script_that_makes_the_variables_again(played: Played) -> None:
    run = played.home.run("rlm", "export", played.session_id)
    assert run.returncode == 0
    made: dict[str, Any] = {}
    exec(run.stdout.split("text = read_file")[0], made)
    assert made["numbers"] == list(range(10))


def test_doctor_finds_kernels_working(played: Played) -> None:
    run = played.home.run("rlm", "doctor")
    assert run.returncode == 0, run.stdout + run.stderr
