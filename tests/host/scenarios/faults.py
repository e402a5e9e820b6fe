"""Sessions in which the model, a tool or the provider fails."""

from __future__ import annotations

from collections.abc import Sequence

from tests.host.hermes import HermesHome, Run
from tests.host.model_server import ModelServer
from tests.host.scenarios.core import call, notes, scenario, script, session_ids

BLOCKING_PLUGIN = """
def block(**kwargs):
    if kwargs["tool_name"] == "terminal":
        return {"action": "block", "message": "No commands today."}


def register(ctx):
    ctx.register_hook("pre_tool_call", block)
"""


@scenario("chat -Q -q")
def failing_tool(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """A file that is not there, then an answer."""
    path = str(home.project / "absent.txt")
    script(
        server,
        {"tool_calls": [call("read_file", {"path": path}, "call_a")]},
        {"text": "There is no such file."},
    )
    return [home.chat("Read absent.txt.")]


@scenario("chat -Q -q")
def repeated_failure(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """The same failing call four times: the host appends a warning to the later results."""
    arguments = {"path": str(home.project / "absent.txt")}
    failing = [{"tool_calls": [call("read_file", arguments, f"call_{number}")]} for number in range(4)]
    script(server, *failing, {"text": "I give up."})
    return [home.chat("Read absent.txt.")]


@scenario("chat -Q -q, with a plugin that blocks the terminal")
def blocked_tool(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """A pre_tool_call hook refuses one of two calls."""
    path = notes(home)
    home.write_plugin("blocks-commands", BLOCKING_PLUGIN)
    calls = [call("terminal", {"command": "date"}, "call_a"), call("read_file", {"path": path}, "call_b")]
    script(server, {"tool_calls": calls}, {"text": "I may only read."})
    return [home.chat("Run and read.")]


@scenario("chat -Q -q")
def retried_error(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """HTTP 500, then a rate limit with Retry-After, then an answer."""
    script(
        server,
        {"status": 500, "message": "it broke"},
        {"status": 429, "message": "slow down", "headers": {"Retry-After": "1"}},
        {"text": "At last."},
    )
    return [home.chat("Try.")]


@scenario("chat -Q -q")
def fatal_error(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """HTTP 400: the host does not try again and gives up the turn."""
    script(server, {"status": 400, "message": "this request is not accepted"})
    return [home.chat("Try.")]


@scenario("chat -Q -q, then chat -Q -q --resume in a new process")
def fatal_error_after_tool(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """The error comes after a tool ran; the next turn in a new process succeeds."""
    path = notes(home)
    script(
        server,
        {"tool_calls": [call("read_file", {"path": path}, "call_a")]},
        {"status": 400, "message": "this request is not accepted"},
        {"text": "Now it works."},
    )
    first = home.chat("Try.")
    session_id = first.session_id or session_ids(home)[-1]
    return [first, home.chat("Again.", resume=session_id)]


@scenario("chat -Q -q")
def unknown_tool(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """A tool that does not exist, a misspelt one, then an answer."""
    path = notes(home)
    script(
        server,
        {"text": "Trying.", "tool_calls": [call("fly_to_the_moon", {"speed": 1}, "call_a")]},
        {"tool_calls": [call("Read_File", {"path": path}, "call_b")]},
        {"text": "I cannot fly."},
    )
    return [home.chat("Fly.")]


@scenario("chat -Q -q")
def malformed_arguments(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """Arguments that are not JSON, three times in a row, then an answer; also empty arguments."""
    broken = {"text": "Trying.", "tool_calls": [call("read_file", '{"path": nonsense}', "call_a")]}
    empty = {"tool_calls": [call("todo", "", "call_b")]}
    script(server, broken, broken, broken, empty, {"text": "I cannot write JSON."})
    return [home.chat("Read.")]


@scenario("chat -Q -q")
def repeated_ids(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """The id call_0 twice in one reply and again in the next; one call is an exact copy."""
    paths = notes(home, "one.txt", "one\n"), notes(home, "two.txt", "two\n")
    twice = [call("read_file", {"path": path}, "call_0") for path in paths]
    script(
        server,
        {"tool_calls": twice},
        {"tool_calls": [twice[1], twice[1]]},
        {"text": "One and two."},
    )
    return [home.chat("Read both.")]


@scenario("chat -Q -q")
def empty_reply(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """An empty reply after a tool: the host asks once more with messages it does not store."""
    path = notes(home)
    script(server, {"tool_calls": [call("read_file", {"path": path}, "call_a")]}, {}, {"text": "Two lines."})
    return [home.chat("How many lines?")]


@scenario("chat -Q -q")
def truncated_reply(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """A reply that stops at the length limit: the host asks for the rest and stores both parts."""
    script(server, {"text": "The first half and", "finish_reason": "length"}, {"text": " the second half."})
    return [home.chat("Tell me both halves.")]
