"""Sessions that go well: text, tools, reasoning, pictures, large results."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from tests.host.hermes import Gateway, HermesHome, Interactive, Run
from tests.host.model_server import ModelServer
from tests.host.scenarios.core import call, notes, png, scenario, script

INJECTING_PLUGIN = """
def register(ctx):
    ctx.register_hook("pre_llm_call", lambda **kwargs: {"context": "The weather is fine."})
"""


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


@scenario("POST /v1/chat/completions of the gateway")
def client_history(home: HermesHome, server: ModelServer) -> None:
    """The client brings a conversation of its own, of which the host stores only the new turn."""
    script(server, {"text": "It is noon."})
    messages = [
        {"role": "system", "content": "Be exact."},
        {"role": "user", "content": "Good day."},
        {"role": "assistant", "content": "Good day to you."},
        {"role": "user", "content": "What time is it?"},
    ]
    with Gateway(home) as gateway:
        gateway.request("POST", "/v1/chat/completions", {"model": "hermes-agent", "messages": messages})


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


@scenario("chat -Q -q")
def turn_budget(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """Three results, each within the limit, together over the limit of a turn."""
    path = notes(home, "large.txt", "".join(f"line {number} of a large file\n" for number in range(1100)))
    home.configure({"model": {"context_length": 64000}})
    calls = [call("terminal", {"command": f"cat {path} # {number}"}, f"call_{number}") for number in range(3)]
    script(server, {"tool_calls": calls}, {"text": "It is large."})
    return [home.chat("Show large.txt three times.")]


@scenario("chat -Q -q, then chat -Q -q --resume, with a plugin that injects context")
def injected_context(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """A pre_llm_call hook adds text to what the model is sent."""
    home.write_plugin("injects-context", INJECTING_PLUGIN)
    script(server, {"text": "Then let us go out."}, {"text": "Yes."})
    first = home.chat("What shall we do?")
    return [first, home.chat("Really?", resume=first.session_id)]
