"""Stands in for the host: fires the recorder's hooks as the host does, and replays what was recorded.

`Host` is one home with the processes that use it; `Chat` is one conversation, with the live message list that
the host hands to its hooks. A hook that raises is a failed test: the host would only log it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hermes_unroll import compiler, hooks, journal, sealing
from hermes_unroll.events import TraceEvent, TraceSession
from hermes_unroll.trace import Trace
from tests.unroll.hook_streams import HookStream, as_stored

SCHEMA = "hermes.observer.v1"
SYSTEM = "You are a test agent."


class Host:
    """One home and the process that runs in it now."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._threads: dict[str, ThreadPoolExecutor] = {}

    # Hooks ------------------------------------------------------------------------------------

    def fire(self, hook: str, *, thread: str | None = None, **kwargs: Any) -> None:
        """Call a hook or middleware; `thread` names the thread that does, as the host's threads are named."""
        table = hooks.MIDDLEWARE if hook in hooks.MIDDLEWARE else hooks.HOOKS
        kwargs = {"telemetry_schema_version": SCHEMA, **kwargs}
        if thread is None:
            assert table[hook](**kwargs) is None
        else:
            assert self._on(thread).submit(table[hook], **kwargs).result() is None

    def _on(self, thread: str) -> ThreadPoolExecutor:
        if thread not in self._threads:
            self._threads[thread] = ThreadPoolExecutor(1, initializer=_take_name, initargs=(thread,))
        return self._threads[thread]

    def new_process(self) -> None:
        """Go on as another process would: without anything the recorder remembered."""
        self.stop()
        forget_everything()

    def stop(self) -> None:
        for pool in self._threads.values():
            pool.shutdown()
        self._threads.clear()

    def play(self, stream: HookStream) -> None:
        """Fire a recorded stream of the real host, each call on a thread of its recorded name."""
        process = 1
        for call in stream.calls:
            if call.process != process:
                self.new_process()
                process = call.process
            if call.hook in hooks.HOOKS or call.hook in hooks.MIDDLEWARE:
                self.fire(call.hook, thread=call.thread, **call.kwargs)

    def chat(self, session_id: str = "20260101_000000_abc123", **facts: Any) -> Chat:
        return Chat(self, session_id, **facts)

    # What was recorded --------------------------------------------------------------------------

    def directory(self, session_id: str) -> Path:
        return journal.session_dir(self.home, session_id)

    def segments(self, session_id: str) -> list[Path]:
        return journal.segment_paths(self.directory(session_id))

    def session(self, session_id: str) -> TraceSession:
        return journal.load_session(self.directory(session_id))

    def events(self, session_id: str, *kinds: str) -> list[TraceEvent]:
        """The events of a journal, of these kinds or all, in order."""
        return [event for event in self.session(session_id).events if not kinds or event.kind in kinds]

    def trace(self, session_id: str) -> Trace:
        return compiler.compile_session(self.session(session_id))

    def program(self, session_id: str) -> Path:
        """Seal a session's journal; return the path of its program."""
        return sealing.seal(self.home, self.directory(session_id))

    def programs(self) -> list[Path]:
        return sorted(sealing.unrolled_dir(self.home).glob("*"))

    def replay(self, session_id: str, *arguments: str) -> dict[str, Any]:
        """What the program of a session prints."""
        return replay(self.program(session_id), *arguments)

    def everything_written(self) -> Iterator[tuple[str, bytes]]:
        """Name and content of every file below the home."""
        for path in sorted(self.home.rglob("*")):
            if path.is_file():
                yield str(path.relative_to(self.home)), path.read_bytes()


class Chat:
    """One conversation. The messages are the host's own objects, marked when they are stored."""

    def __init__(self, host: Host, session_id: str, **facts: Any) -> None:
        self.host = host
        self.session_id = session_id
        self.facts = {"model": "gpt-4o", "platform": "cli", **facts}
        self.provider = {
            "provider": "openai",
            "base_url": "http://127.0.0.1:9/v1",
            "api_mode": "chat_completions",
        }
        self.tools: list[Any] = [tool_schema("terminal")]
        self.system = SYSTEM
        self.messages: list[dict[str, Any]] = []
        self.thread: str | None = None
        self._turn = 0
        self._requests = 0

    @property
    def turn_id(self) -> str:
        return f"{self.session_id}:{self.session_id}:{self._turn:08x}"

    @property
    def request_id(self) -> str:
        return f"{self.turn_id}:api:{self._requests}"

    @property
    def stored(self) -> list[dict[str, Any]]:
        """What the host's store holds, in the form of hook_streams.as_stored."""
        return [as_stored(message) for message in self.messages]

    def _ids(self) -> dict[str, Any]:
        return {"session_id": self.session_id, "task_id": self.session_id, "turn_id": self.turn_id}

    def _call(self) -> dict[str, Any]:
        return {**self._ids(), **self.facts, **self.provider, "api_call_count": self._requests} | {
            "api_request_id": self.request_id
        }

    def _fire(self, hook: str, **kwargs: Any) -> None:
        self.host.fire(hook, thread=self.thread, **kwargs)

    def _store(self, message: dict[str, Any]) -> None:
        self.messages.append(message | {"_db_persisted": True})

    # One hook each ------------------------------------------------------------------------------

    def start(self) -> None:
        self._fire("on_session_start", session_id=self.session_id, **self.facts)

    def ask(self, text: Any) -> None:
        """Begin a turn with what the user says."""
        self._turn, self._requests = self._turn + 1, 0
        message = {"role": "user", "content": text}
        self.messages.append(message)
        self._fire(
            "pre_llm_call",
            **self._ids(),
            **self.facts,
            user_message=text,
            conversation_history=list(self.messages),
            is_first_turn=len(self.messages) == 1,
            sender_id="",
        )
        message["_db_persisted"] = True

    def request(self, *, again: bool = False, max_tokens: Any = None) -> None:
        """Send a request to the model; `again` is a retry, which keeps the id of the first attempt."""
        if not again:
            self._requests += 1
        sent = [{"role": "system", "content": self.system}] + [_sent(message) for message in self.messages]
        body = {"model": self.facts["model"], "messages": sent, "tools": self.tools, "timeout": 60}
        self._fire("llm_request", **self._call(), request=body, original_request=body)
        self._fire(
            "pre_api_request",
            **self._call(),
            user_message=self.messages[-1].get("content"),
            conversation_history=list(self.messages),
            request_messages=sent,
            message_count=len(sent),
            tool_count=len(self.tools),
            approx_input_tokens=10,
            request_char_count=40,
            max_tokens=max_tokens,
            started_at=time.time(),
            middleware_trace=[],
            request={"method": "POST", "body": {"_truncated": True}},
        )

    def reply(
        self, content: Any = None, *calls: dict[str, Any], usage: Any = None, reasoning: str | None = None
    ) -> None:
        """The model answers; the message is stored when the answer has been read."""
        self._fire(
            "post_api_request",
            **self._call(),
            api_duration=0.5,
            started_at=time.time(),
            ended_at=time.time(),
            finish_reason="tool_calls" if calls else "stop",
            message_count=len(self.messages) + 1,
            response_model=self.facts["model"],
            response={"_truncated": True},
            usage=usage,
            assistant_message=SimpleNamespace(
                content=content,
                tool_calls=[
                    SimpleNamespace(id=call["id"], name=call["name"], arguments=call["arguments"])
                    for call in calls
                ]
                or None,
                finish_reason="tool_calls" if calls else "stop",
                reasoning=None,
                reasoning_content=reasoning,
                usage=None,
                provider_data=None,
            ),
            assistant_content_chars=len(content or ""),
            assistant_tool_call_count=len(calls),
        )
        message = {"role": "assistant", "content": (content or "").strip(), "reasoning": reasoning}
        if reasoning is not None:
            message["reasoning_content"] = reasoning
        if calls:
            message["tool_calls"] = [
                {
                    "id": call["id"],
                    "call_id": call["id"],
                    "response_item_id": None,
                    "type": "function",
                    "function": {"name": call["name"], "arguments": call["arguments"]},
                }
                for call in calls
            ]
        self._store(message)

    def error(
        self, status: int = 500, *, retryable: bool = True, retry: int = 0, message: str = "boom"
    ) -> None:
        self._fire(
            "api_request_error",
            **self._call(),
            api_duration=0.1,
            started_at=time.time(),
            ended_at=time.time(),
            status_code=status,
            retry_count=retry,
            max_retries=3,
            retryable=retryable,
            reason="server_error",
            error={"type": "APIError", "message": message},
            request={"_truncated": True},
        )

    def before_tool(self, call: dict[str, Any]) -> None:
        self._fire("pre_tool_call", **self._tool(call), middleware_trace=[])

    def tool(self, call: dict[str, Any], result: Any, *, store: bool = True, **outcome: Any) -> None:
        """A tool returns; `outcome` says duration_ms, status, error_type where they are not 5, ok, None."""
        outcome = {"duration_ms": 5, "status": "ok", "error_type": None, "error_message": None, **outcome}
        self._fire("post_tool_call", **self._tool(call), result=result, **outcome, middleware_trace=[])
        if store:
            self._store(
                {
                    "role": "tool",
                    "content": result,
                    "name": call["name"],
                    "tool_name": call["name"],
                    "tool_call_id": call["id"],
                }
            )

    def _tool(self, call: dict[str, Any]) -> dict[str, Any]:
        ids = self._ids() | {"api_request_id": self.request_id}
        return ids | {"tool_name": call["name"], "args": call["args"], "tool_call_id": call["id"]}

    def answered(self) -> None:
        self._fire(
            "post_llm_call",
            **self._ids(),
            **self.facts,
            user_message="",
            assistant_response=self.messages[-1].get("content"),
            conversation_history=list(self.messages),
        )

    def turn_end(self, *, completed: bool = True, interrupted: bool = False, **more: Any) -> None:
        self._fire(
            "on_session_end",
            **self._ids(),
            **self.facts,
            completed=completed,
            interrupted=interrupted,
            **more,
        )

    def finalize(self, reason: str = "shutdown", **more: Any) -> None:
        self._fire(
            "on_session_finalize",
            session_id=self.session_id,
            platform=self.facts["platform"],
            reason=reason,
            **more,
        )

    # A turn -------------------------------------------------------------------------------------

    def turn(self, text: Any, *uses: tuple[dict[str, Any], Any], say: str = "", answer: str = "done") -> None:
        """One ordinary turn: a question, each tool in a request of its own, an answer."""
        self.ask(text)
        for call, result in uses:
            self.request()
            self.reply(say, call)
            self.before_tool(call)
            self.tool(call, result)
        self.request()
        self.reply(answer)
        self.answered()
        self.turn_end()


def call(call_id: str, name: str = "terminal", /, **args: Any) -> dict[str, Any]:
    """A tool call as the model makes it."""
    return {"id": call_id, "name": name, "args": args, "arguments": json.dumps(args)}


def tool_schema(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"command": {"type": "string"}}}
    return {"type": "function", "function": {"name": name, "description": "run", "parameters": parameters}}


def replay(program: Path, *arguments: str, environment: dict[str, str] | None = None) -> dict[str, Any]:
    """Run a program with a bare interpreter; return the object it prints."""
    done = run(program, *arguments, environment=environment)
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return json.loads(done.stdout)


def run(
    program: Path, *arguments: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a program without site packages, and without the environment unless one is given."""
    flags = ["-I", "-S"] if environment is None else ["-S"]
    return subprocess.run(
        [sys.executable, *flags, str(program), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment,
        timeout=60,
    )


def conversation(result: dict[str, Any]) -> list[dict[str, Any]]:
    """The replayed messages in the form of what the host stores: its system prompt is no row."""
    return [as_stored(message) for message in result["messages"] if message["role"] != "system"]


def forget_everything() -> None:
    """Reset what the recorder's modules remember within a process."""
    from hermes_unroll import presence, settings
    from hermes_unroll._common import config

    hooks.RECORDER.__init__()
    settings.CHAT.set("")
    hooks.COUNTS.clear()
    hooks._told.clear()
    hooks._thread.__dict__.clear()
    presence._written.clear()
    presence._facts.clear()
    sealing._swept.clear()
    config._cache.clear()
    config._last_good.clear()


def _take_name(name: str) -> None:
    import threading

    threading.current_thread().name = name


def _sent(message: dict[str, Any]) -> dict[str, Any]:
    """A message in the form in which the host sends it."""
    names = ("role", "content", "tool_calls", "tool_call_id")
    return {name: message[name] for name in names if name in message}
