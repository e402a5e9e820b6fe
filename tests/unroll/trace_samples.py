"""Sample traces for the tests of the generated program, built as compile builds them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hermes_unroll.generator import generate_trace_program
from hermes_unroll.trace import Trace
from hermes_unroll.values import encode


class Session:
    """Collects steps and messages, and gives the Trace of them."""

    def __init__(self, **session: Any) -> None:
        self.trace = Trace(
            session={
                "session_id": "20260102_030405_abcdef",
                "trace_id": "0a1b2c3d",
                "model": "local/model-1",
                "provider": "openrouter",
                "platform": "cli",
                "started_at": "2026-01-02T03:04:05.678Z",
                "ended_at": "2026-01-02T03:04:09.000Z",
                "end": "observed",
                "original_duration_ms": 3322,
                "parent_session_id": None,
                "children": [],
                "tags": [],
                "active_skills": [],
                "recorder": "0.1.0",
                "inexact": [],
                **session,
            },
            cost={"model": "local/model-1", "cost_usd": 0.01234, "status": "estimated"},
            provider_config={
                "provider": "openrouter",
                "base_url": "http://127.0.0.1:9/v1",
                "model": "local/model-1",
            },
            chain={"1": {"events": 9, "head": "ab" * 32}},
        )

    def step(self, kind: str, message: dict[str, Any] | None = None, **fields: Any) -> int:
        """Add a step, with the message it puts into the conversation; return its number."""
        number = len(self.trace.steps)
        step = {
            "kind": kind,
            "event_id": f"1:{number + 1}",
            "offset_ms": number * 100,
            "duration_ms": None,
            **fields,
        }
        if message is not None:
            step["message"] = len(self.trace.messages)
            self.trace.messages.append(message)
            key = {"llm_call": "llm:", "tool_call": "tool:"}.get(kind)
            if key:
                self.trace.response_cache[key + step["event_id"]] = {"message": step["message"]}
        self.trace.steps.append(step)
        self.trace.state_graph.setdefault("nodes", []).append({"id": number, "kind": kind})
        self.trace.dependencies[number] = []
        return number

    def user(self, text: Any, **fields: Any) -> int:
        return self.step("user_message", {"role": "user", "content": text}, **fields)

    def reply(
        self, text: str, *calls: tuple[str, str, dict[str, Any]], needs: tuple[int, ...] = (), **extra: Any
    ) -> int:
        """Add an assistant's message; a call is (id, name, args)."""
        message: dict[str, Any] = {"role": "assistant", "content": text, **extra}
        if calls:
            message["tool_calls"] = [
                {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
                for call_id, name, args in calls
            ]
        number = self.step(
            "llm_call", message, model="local/model-1", provider="openrouter", finish_reason="stop"
        )
        self.trace.dependencies[number] = list(needs)
        return number

    def tool(
        self, call_id: str, name: str, args: Any, result: Any, needs: tuple[int, ...] = (), **fields: Any
    ) -> int:
        message = {"role": "tool", "content": result, "tool_call_id": call_id, "name": name}
        fields = {
            "name": name,
            "args": args,
            "tool_call_id": call_id,
            "status": "ok",
            "error_type": None,
            **fields,
        }
        number = self.step("tool_call", message, **fields)
        self.trace.dependencies[number] = list(needs)
        return number


def two_turns() -> Trace:
    """A session of two turns with two tools, one of them destructive, and token counts.

    Steps: 0 system, 1 user, 2 request, 3 response, 4 reply, 5 ls, 6 rm, 7 error, 8 reply, 9 user,
    10 reply, 11 end.
    """
    session = Session()
    session.step("system_prompt", {"role": "system", "content": "You are terse.\nAnswer in one line.\n"})
    session.user("list the files")
    session.step("pre_api_request", model="local/model-1", api_call_count=1, attempt=1)
    usage = {"input_tokens": 100, "output_tokens": 7, "cache_read_tokens": 50, "cache_write_tokens": 0}
    session.step("post_api_request", usage=usage, duration_ms=812, finish_reason="tool_calls")
    calls = [("c1", "terminal", {"command": "ls"}), ("c2", "terminal", {"command": "rm -rf build"})]
    session.reply("Let me look.", *calls, needs=(1,), reasoning="They want a listing.")
    session.tool(
        "c1", "terminal", {"command": "ls"}, '{"output": "a.py", "id": 7}', needs=(4,), duration_ms=31
    )
    session.tool("c2", "terminal", {"command": "rm -rf build"}, "done", needs=(4,))
    session.step("api_request_error", status_code=429, reason="rate_limit", retryable=True)
    session.reply("One file: a.py", needs=(1, 5, 6))
    session.user("thanks")
    session.reply("You are welcome.", needs=(9,))
    session.step("turn_end", completed=True, interrupted=False)
    return session.trace


def long_session(steps: int, text_bytes: int) -> Trace:
    """A session of many turns, each of a user message, a reply that calls a tool, its result and a reply."""
    session = Session(session_id="long")
    session.step("system_prompt", {"role": "system", "content": "Be useful.\n" * 400})
    line = "%06d the quick brown fox jumps over the lazy dog, and comes back later\n"
    while len(session.trace.steps) + 4 <= steps:
        number = len(session.trace.steps)
        body = "".join(line % (number * 1000 + n) for n in range(text_bytes // 75))
        session.user(f"please read file {number}")
        args = {"path": f"src/module_{number}.py", "offset": number, "limit": 200}
        session.reply("I will read it.", (f"call_{number}", "read_file", args), needs=(number,))
        session.tool(f"call_{number}", "read_file", args, body, needs=(number + 1,), duration_ms=12)
        session.reply(f"It has {text_bytes // 75} lines.", needs=(number, number + 2))
    while len(session.trace.steps) < steps:
        session.step("pre_api_request", model="local/model-1")
    return session.trace


def write_program(trace: Trace, folder: Path, name: str = "trace.py") -> Path:
    path = folder / name
    path.write_bytes(generate_trace_program(trace))
    return path


def load(program: bytes, name: str = "trace") -> dict[str, Any]:
    """Run a program as an import would, and return its names."""
    names: dict[str, Any] = {"__name__": name, "__file__": f"/nowhere/{name}.py"}
    exec(compile(program, f"{name}.py", "exec"), names)
    return names


def run(
    path: Path, *arguments: str, python: str = sys.executable, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a program as a person does; its output is text in ASCII or UTF-8."""
    return subprocess.run(
        [python, "-I", "-S", str(path), *arguments],
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )


def every_value() -> Trace:
    """A session whose messages, arguments and results hold every kind of value that can be recorded."""
    deep: list[Any] = []
    for _ in range(400):
        deep = [deep]
    odd = {
        "texts": [
            "\x00\x1b",
            "\u2028\ufeff",
            "\ud83d",
            "\U0001f600 天",
            "'\"\\",
            "{{x}}",
            "line\n" * 60,
            "\r\n\t",
        ],
        "numbers": [
            0,
            -1,
            10**40,
            10**4500,
            1.5,
            -0.0,
            1e300,
            5e-324,
            float("nan"),
            float("-inf"),
            True,
            None,
        ],
        "others": [b"\x00\xff", (1, 2), {3}, {4: "x"}, {"__unroll__": "float"}, object, deep],
        "{{key}}": {"": [], "\ud800": {}},
    }
    session = Session(session_id="id \ud83d\n", model="model\n# coding: utf-7", tags=["天", "é"])
    session.user("Съешь ещё этих мягких французских булок \U0001f600\ud83d\n" * 5)
    session.reply("天地", ("c", "terminal", {"command": "echo é"}), reasoning="\u202e")
    session.tool("c", "terminal", encode(odd), "é\x00" * 200)
    session.reply("x\n" * 200)
    session.trace.tool_schemas = [encode(odd)]
    return session.trace
