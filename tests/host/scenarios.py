"""Sessions of the real host, each a script for the model and a way to run it.

A scenario is a function of a home and a model server that returns an `Outcome`; `SCENARIOS` holds
them by name. Each starts its own script (`server.reset`) and may add configuration to the home, so
several can share a home one after the other. Session ids are those the run created, oldest first:
sub-agents and the sessions after /new are among them.
"""

from __future__ import annotations

import base64
import functools
import os
import signal
import struct
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.host.hermes import Gateway, HermesHome, Interactive, Run, end, finish
from tests.host.model_server import ModelServer, auxiliary_route
from tests.host.stored import sessions, stored_rows

NOTES = "first line\nsecond line\n"
SLOW_COMMAND = "echo $$ > begun; exec sleep 30"
INJECTING_PLUGIN = """
def register(ctx):
    ctx.register_hook("pre_llm_call", lambda **kwargs: {"context": "The weather is fine."})
"""


@dataclass(frozen=True)
class Outcome:
    """What a scenario left: the sessions it created, how they were run, and the processes' results."""

    session_ids: tuple[str, ...]
    how: str
    runs: tuple[Run, ...] = ()

    @property
    def session_id(self) -> str:
        """The first session, the one the user talked to."""
        return self.session_ids[0]


Drive = Callable[[HermesHome, ModelServer], Sequence[Run] | None]
Scenario = Callable[[HermesHome, ModelServer], Outcome]
SCENARIOS: dict[str, Scenario] = {}


def scenario(how: str) -> Callable[[Drive], Scenario]:
    """Register a function that runs hermes as a scenario under its own name."""

    def register(drive: Drive) -> Scenario:
        @functools.wraps(drive)
        def play(home: HermesHome, server: ModelServer) -> Outcome:
            known = _session_ids(home)
            runs = tuple(drive(home, server) or ())
            created = tuple(name for name in _session_ids(home) if name not in known)
            return Outcome(created, how, runs)

        SCENARIOS[drive.__name__] = play
        return play

    return register


def _session_ids(home: HermesHome) -> list[str]:
    return [row["id"] for row in sessions(home.path)] if (home.path / "state.db").exists() else []


def script(server: ModelServer, *turns: Mapping[str, Any], first: Sequence[Mapping[str, Any]] = ()) -> None:
    """Give the server these turns for the agent, after the routes in `first` and the auxiliary one."""
    server.reset([auxiliary_route(), *first, {"name": "agent", "turns": list(turns)}])


def call(name: str, arguments: Mapping[str, Any] | str, id: str) -> dict[str, Any]:
    """A tool call of a scripted turn."""
    return {"name": name, "arguments": arguments, "id": id}


def notes(home: HermesHome, name: str = "notes.txt", text: str = NOTES) -> str:
    """Write a file into the project and return its absolute path."""
    path = home.project / name
    path.write_text(text, "utf-8")
    return str(path)


def wait_until(condition: Callable[[], Any], what: str, timeout: float = 60.0) -> None:
    """Poll `condition`; TimeoutError naming `what` when it does not come true."""
    limit = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > limit:
            raise TimeoutError(f"{what} did not happen within {timeout} s")
        time.sleep(0.05)


@scenario("chat -Q -q")
def single_turn(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """One question, one answer."""
    script(server, {"text": "Hello there."})
    return [home.chat("Say hello.")]


@scenario("chat -Q -q, then chat -Q -q --resume in a new process")
def resumed(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """A second process goes on with the session of the first; both use a tool."""
    path = notes(home)
    script(
        server,
        {"text": "I read it.", "tool_calls": [call("read_file", {"path": path}, "call_a")]},
        {"text": "It has two lines."},
        {"tool_calls": [call("read_file", {"path": path, "offset": 2}, "call_b")]},
        {"text": "The second is: second line."},
    )
    first = home.chat("How many lines?")
    return [first, home.chat("And the second?", resume=first.session_id)]


@scenario("chat in a terminal")
def interactive(home: HermesHome, server: ModelServer) -> None:
    """Three messages in one process, one with a tool."""
    path = notes(home)
    script(
        server,
        {"text": "First answer."},
        {"tool_calls": [call("read_file", {"path": path}, "call_a")]},
        {"text": "Second answer."},
        {"text": "Third answer."},
    )
    with Interactive(home) as session:
        session.wait_until_idle()
        session.ask("One.", "First answer.")
        session.ask("Two.", "Second answer.")
        session.ask("Three.", "Third answer.")
        session.quit()


@scenario("chat -Q -q")
def parallel_tools(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """Two calls in one reply, which the host runs at the same time."""
    paths = notes(home, "one.txt", "one\n"), notes(home, "two.txt", "two\n")
    calls = [call("read_file", {"path": path}, f"call_{index}") for index, path in enumerate(paths)]
    script(server, {"text": "Both.", "tool_calls": calls}, {"text": "One and two."})
    return [home.chat("Read both.")]


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


@scenario("chat -Q -q")
def text_with_tools(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """Text beside a call, surrounded by blanks; arguments with odd spacing and key order."""
    path = notes(home)
    arguments = '{"path" :  "' + path + '", "limit": 1,\n "offset": 1}'
    script(
        server,
        {"text": "\n  Let me look.  \n", "tool_calls": [call("read_file", arguments, "call_a")]},
        {"text": "  Done: ünïcödé 😀.\n"},
    )
    return [home.chat("  Look at the first line.  ")]


@scenario("chat -Q -q")
def agent_owned_tool(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """A tool the agent loop answers by itself, for which fewer hooks fire."""
    item = {"id": "1", "content": "look", "status": "pending"}
    script(server, {"tool_calls": [call("todo", {"todos": [item]}, "call_a")]}, {"text": "Noted."})
    return [home.chat("Note it.")]


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
    session_id = first.session_id or _session_ids(home)[-1]
    return [first, home.chat("Again.", resume=session_id)]


@scenario("chat -Q -q")
def reasoning(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """Reasoning before a tool call, before a text, and inline in a text."""
    path = notes(home)
    read = [call("read_file", {"path": path}, "call_a")]
    again = [call("read_file", {"path": path, "limit": 1}, "call_b")]
    script(
        server,
        {"reasoning": "I must read the file first.", "tool_calls": read},
        {"text": "<think>Once more, briefly.</think>Reading again.", "tool_calls": again},
        {"reasoning": "Two lines.\nSo the answer is two.", "text": "Two.", "usage": {"reasoning_tokens": 12}},
    )
    return [home.chat("How many lines?")]


@scenario("chat -Q -q --image, with a model that is said to see images")
def image(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """A user message of text and an image part, and a second turn after it."""
    picture = home.project / "dot.png"
    picture.write_bytes(png())
    home.configure({"model": {"supports_vision": True}})
    script(server, {"text": "A red dot."}, {"text": "It was red."})
    first = home.chat("What is this?", "--image", str(picture))
    return [first, home.chat("Which colour?", resume=first.session_id)]


@scenario("POST /v1/chat/completions of the gateway")
def api_server(home: HermesHome, server: ModelServer) -> None:
    """Two requests through the gateway: plain text with a tool, then content parts with an image."""
    path = notes(home)
    home.configure({"model": {"supports_vision": True}})
    script(
        server,
        {"tool_calls": [call("read_file", {"path": path}, "call_a")]},
        {"text": "Two lines."},
        {"text": "A red dot."},
    )
    parts = [
        {"type": "text", "text": "What is this?"},
        {
            "type": "image_url",
            "image_url": {"url": "data:image/png;base64," + base64.b64encode(png()).decode()},
        },
    ]
    with Gateway(home) as gateway:
        for content in ("How many lines?", parts):
            body = {"model": "hermes-agent", "messages": [{"role": "user", "content": content}]}
            gateway.request("POST", "/v1/chat/completions", body)


@scenario("-z")
def execute_code(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """A program that calls two tools from inside the sandbox."""
    path = notes(home)
    code = (
        "from hermes_tools import read_file, terminal\n"
        f"print(read_file(path={path!r})['total_lines'])\n"
        "print(terminal(command='echo inner')['output'])\n"
    )
    script(
        server, {"tool_calls": [call("execute_code", {"code": code}, "call_a")]}, {"text": "It printed 2."}
    )
    return [home.one_shot("Count the lines by program.")]


def _delegate(home: HermesHome, server: ModelServer, goals: Sequence[str]) -> Sequence[Run]:
    path = notes(home)
    arguments: dict[str, Any] = {"goal": goals[0], "context": "none"}
    if len(goals) > 1:
        arguments = {"tasks": [{"goal": goal, "context": "none"} for goal in goals]}
    children = [
        {
            "name": goal,
            "when": {"last_user": goal, "has_tools": True},
            "turns": [{"tool_calls": [call("read_file", {"path": path}, "call_child")]}],
        }
        for goal in goals
    ]
    for number, child in enumerate(children):
        child["turns"].append({"text": f"Child {number} says two."})
    answers = [
        {"tool_calls": [call("delegate_task", arguments, "call_parent")]},
        {"text": "The children said two."},
    ]
    parent = {"name": "parent", "when": {"last_user": "Ask somebody"}, "turns": answers}
    script(server, first=[parent, *children])
    return [home.one_shot("Ask somebody to count.")]


@scenario("-z")
def delegate_one(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """One sub-agent that uses a tool, run to its end within the parent's turn."""
    return _delegate(home, server, ["COUNT-ALPHA"])


@scenario("-z")
def delegate_two(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """Two sub-agents at the same time."""
    return _delegate(home, server, ["COUNT-ALPHA", "COUNT-BETA"])


@scenario("chat in a terminal, Ctrl-C")
def interrupted_tool(home: HermesHome, server: ModelServer) -> None:
    """Ctrl-C while the first of two commands runs, then one more turn."""
    calls = [
        call("terminal", {"command": SLOW_COMMAND}, "call_a"),
        call("terminal", {"command": "date"}, "call_b"),
    ]
    script(server, {"text": "Starting.", "tool_calls": calls}, {"text": "Still here."})
    with Interactive(home) as session:
        session.wait_until_idle()
        session.send_line("Run it.")
        wait_until(_begun(home), "the command")
        session.interrupt()
        wait_until(_stored(home, "Operation interrupted."), "the end of the turn")
        session.wait_until_idle()
        session.ask("Are you there?", "Still here.")
        session.quit()


@scenario("chat in a terminal, Ctrl-C")
def interrupted_stream(home: HermesHome, server: ModelServer) -> None:
    """Ctrl-C while the answer is being streamed, then one more turn."""
    long = "One two three four five. " * 20
    script(server, {"text": long, "wait_between": 0.3}, {"text": "Still here."})
    with Interactive(home) as session:
        session.wait_until_idle()
        session.send_line("Count.")
        session.wait_for("One two three")
        session.interrupt()
        wait_until(_stored(home, "One two three"), "the end of the turn")
        session.wait_until_idle()
        session.ask("Are you there?", "Still here.")
        session.quit()


def _begun(home: HermesHome) -> Callable[[], bool]:
    return (home.project / "begun").exists


def _stored(home: HermesHome, text: str) -> Callable[[], bool]:
    """A condition: the newest session has an assistant row that contains `text`."""

    def condition() -> bool:
        rows = stored_rows(home.path, _session_ids(home)[-1])
        return any(row["role"] == "assistant" and text in (row["content"] or "") for row in rows)

    return condition


def _signalled(home: HermesHome, server: ModelServer, number: int, *arguments: str) -> Sequence[Run]:
    script(
        server, {"text": "Starting.", "tool_calls": [call("terminal", {"command": SLOW_COMMAND}, "call_a")]}
    )
    (home.project / "begun").unlink(missing_ok=True)
    process = home.start(*arguments)
    try:
        wait_until(_begun(home), "the command")
        os.kill(process.pid, number)
        return [finish(process, 60)]
    finally:
        end(process)
        _end_slow_command(home)


def _end_slow_command(home: HermesHome) -> None:
    """The command runs in a session of its own and outlives a killed host."""
    try:
        os.kill(int((home.project / "begun").read_text("utf-8")), signal.SIGKILL)
    except (OSError, ValueError):
        pass


@scenario("chat -Q -q, SIGINT")
def sigint(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """SIGINT to a quiet run while a command runs."""
    return _signalled(home, server, signal.SIGINT, "chat", "-Q", "-q", "Run it.")


@scenario("chat -q, SIGTERM")
def sigterm(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """SIGTERM while a command runs."""
    return _signalled(home, server, signal.SIGTERM, "chat", "-q", "Run it.")


@scenario("chat -Q -q, SIGKILL")
def sigkill(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """SIGKILL while a command runs: no hook comes after it."""
    return _signalled(home, server, signal.SIGKILL, "chat", "-Q", "-q", "Run it.")


@scenario("chat -Q -q")
def compaction(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """The conversation is compacted in place between two model calls of one turn.

    The model reports 100,000 prompt tokens after the sixth call, which passes the threshold.
    """
    path = notes(home)
    home.configure({"compression": {"protect_first_n": 1, "protect_last_n": 3, "in_place": True}})
    turns: list[dict[str, Any]] = [
        {
            "text": f"Step {number}.",
            "tool_calls": [call("read_file", {"path": path, "limit": number}, f"call_{number}")],
        }
        for number in range(1, 8)
    ]
    turns[6]["usage"] = {"prompt_tokens": 100_000}
    script(server, *turns, {"text": "All steps done."})
    return [home.chat("Take seven steps.")]


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


@scenario("chat in a terminal, /new")
def new_session(home: HermesHome, server: ModelServer) -> None:
    """A turn, /new, and a turn of the next session in the same process."""
    home.configure({"approvals": {"destructive_slash_confirm": False}})
    script(server, {"text": "First answer."}, {"text": "Second answer."})
    with Interactive(home) as session:
        session.wait_until_idle()
        session.ask("One.", "First answer.")
        session.ask("/new", "New session started")
        session.ask("Two.", "Second answer.")
        session.quit()


@scenario("chat in a terminal, with skills.creation_nudge_interval 2")
def background_review(home: HermesHome, server: ModelServer) -> None:
    """A turn with three tool calls, after which the host reviews it on a thread of its own."""
    path = notes(home)
    home.configure({"skills": {"creation_nudge_interval": 2}})
    turns = [
        {"tool_calls": [call("read_file", {"path": path, "limit": number}, f"call_{number}")]}
        for number in (1, 2, 3)
    ]
    review = {
        "name": "review",
        "when": {"last_user": "Review the conversation above"},
        "turns": [
            {
                "tool_calls": [
                    call("skills_list", {}, "call_review"),
                    call("read_file", {"path": path}, "call_no"),
                ]
            },
            {"text": "Nothing to save."},
        ],
    }
    script(server, *turns, {"text": "All read."}, first=[review])
    with Interactive(home) as session:
        session.wait_until_idle()
        session.ask("Read it three times.", "All read.")
        wait_until(lambda: sum(r.route == "review" for r in list(server.requests)) >= 2, "the review")
        time.sleep(1)
        session.quit()


@scenario("chat -Q -q")
def large_result(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """A result over the host's limit, which it replaces by a preview and a file name."""
    path = notes(home, "large.txt", "".join(f"line {number} of a large file\n" for number in range(3000)))
    home.configure({"model": {"context_length": 64000}})
    script(
        server,
        {"tool_calls": [call("terminal", {"command": f"cat {path}"}, "call_a")]},
        {"text": "It is large."},
    )
    return [home.chat("Show large.txt.")]


@scenario("chat -Q -q, then chat -Q -q --resume, with a plugin that injects context")
def injected_context(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """A pre_llm_call hook adds text to what the model is sent."""
    home.write_plugin("injects-context", INJECTING_PLUGIN)
    script(server, {"text": "Then let us go out."}, {"text": "Yes."})
    first = home.chat("What shall we do?")
    return [first, home.chat("Really?", resume=first.session_id)]


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


def png() -> bytes:
    """A picture of 8 by 8 red pixels."""
    rows = (b"\0" + b"\xff\0\0" * 8) * 8

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
