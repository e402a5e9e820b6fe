"""A scripted OpenAI-compatible model on 127.0.0.1.

    python tests/host/model_server.py --script script.json --port-file port

A script is `{"model": str, "context_length": int, "routes": [ROUTE, ...]}`; in Python the routes are
given to `ModelServer` as the same plain data. Every chat completion goes to the first route whose
`when` holds, and takes the next turn of that route:

    ROUTE = {"name": str, "when": {CONDITION: value, ...}, "turns": [TURN, ...], "repeat": bool}

Conditions, all of which must hold: `has_tools` (bool), `stream` (bool), `model` (equal),
`last_user`, `system` and `any_text` (contained in the text of the last user message, of the system
messages, of any message). A route with `repeat` starts again when its turns are used up; without it
the request is refused with HTTP 400, so that a script which is too short cannot pass unnoticed.

Turn keys, all optional: `text`, `reasoning` (sent as reasoning_content), `tool_calls` (a list of
`{"name", "arguments": dict or raw str, "id"}`), `usage` (`prompt_tokens`, `completion_tokens`,
`cached_tokens`, `reasoning_tokens`), `finish_reason`, `status` with `message` and `headers` (an HTTP
error), `wait` (seconds before the answer), `wait_between` (seconds between stream chunks) and
`drop_after` (cut the connection after that many stream chunks; 0 gives no answer at all).

A client that calls a model without tools for its own purposes (titles, summaries, approvals) uses the
same endpoint: put `auxiliary_route()` first.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

CONDITIONS = ("has_tools", "stream", "model", "last_user", "system", "any_text")
USAGE_KEYS = ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")
TEXT_PIECE = 24
ARGUMENT_PIECE = 48


class ScriptError(ValueError):
    """A script that cannot be played: says which key is wrong and lists the valid ones."""


def _checked(kind: str, data: Mapping[str, Any], allowed: Sequence[str]) -> dict[str, Any]:
    unknown = sorted(set(data) - set(allowed))
    if unknown:
        raise ScriptError(f"{kind}: unknown key {', '.join(unknown)}; valid are {', '.join(allowed)}")
    return dict(data)


@dataclass(frozen=True)
class Turn:
    """One scripted answer."""

    text: str | None = None
    reasoning: str | None = None
    tool_calls: Sequence[Mapping[str, Any]] = ()
    usage: Mapping[str, int] = field(default_factory=dict)
    finish_reason: str | None = None
    status: int | None = None
    message: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    wait_between: float = 0.0
    drop_after: int | None = None

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Turn:
        turn = cls(**_checked("turn", data, [item.name for item in fields(cls)]))
        for call in turn.tool_calls:
            _checked("tool call", call, ("name", "arguments", "id"))
        _checked("usage", turn.usage, USAGE_KEYS)
        return turn


@dataclass(frozen=True)
class Route:
    """Turns for the requests that meet every condition in `when`."""

    turns: Sequence[Turn]
    name: str = ""
    when: Mapping[str, Any] = field(default_factory=dict)
    repeat: bool = False

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Route:
        values = _checked("route", data, ("name", "when", "turns", "repeat"))
        values["when"] = _checked("when", values.get("when", {}), CONDITIONS)
        values["turns"] = tuple(Turn.from_data(turn) for turn in values.get("turns", ()))
        return cls(**values)

    def accepts(self, body: Mapping[str, Any]) -> bool:
        """True when the request body meets every condition."""
        facts = {
            "has_tools": bool(body.get("tools")),
            "stream": bool(body.get("stream")),
            "model": body.get("model"),
        }
        messages = body.get("messages") or []
        for condition, wanted in self.when.items():
            if condition in facts:
                if facts[condition] != wanted:
                    return False
            elif wanted not in _text_for(condition, messages):
                return False
        return True


@dataclass(frozen=True)
class Request:
    """One received chat completion: parsed body, headers (lower-case names), route taken, turn number.

    `route` is None when no route or no turn was left; `turn` counts from 0 within the route.
    """

    body: dict[str, Any]
    headers: dict[str, str]
    route: str | None
    turn: int | None


def auxiliary_route(text: str = "A short title", **turn: Any) -> dict[str, Any]:
    """The route for calls without tools; it answers all of them alike."""
    turns = [{"text": text, **turn}]
    return {"name": "auxiliary", "when": {"has_tools": False}, "turns": turns, "repeat": True}


def message_text(message: Mapping[str, Any]) -> str:
    """The text of one chat message, text parts of a content list joined by newlines."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _text_for(condition: str, messages: Sequence[Mapping[str, Any]]) -> str:
    if condition == "any_text":
        chosen = list(messages)
    elif condition == "system":
        chosen = [m for m in messages if m.get("role") in ("system", "developer")]
    else:
        chosen = [m for m in messages if m.get("role") == "user"][-1:]
    return "\n".join(message_text(message) for message in chosen)


class ModelServer:
    """The scripted model as a context manager; `url` is the base URL clients are given.

    `requests` holds every chat completion in order of arrival. `reset(routes)` forgets them and
    starts the script again, with other routes when given.
    """

    def __init__(
        self,
        routes: Sequence[Mapping[str, Any]] = (),
        *,
        model: str = "scripted-model",
        context_length: int = 131072,
        port: int = 0,
    ) -> None:
        self.model = model
        self.context_length = context_length
        self.requests: list[Request] = []
        self._arrived = threading.Condition()
        self._stopping = threading.Event()
        self._calls_made = 0
        self.reset(routes)
        self._http = _Server(("127.0.0.1", port), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def port(self) -> int:
        return self._http.server_address[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def reset(self, routes: Sequence[Mapping[str, Any]] | None = None) -> None:
        """Forget the requests and start the script again, or start another one."""
        with self._arrived:
            if routes is not None:
                self.routes = [Route.from_data(route) for route in routes]
            self._next_turn = [0] * len(self.routes)
            self.requests.clear()
            self._calls_made = 0

    def wait_for_requests(self, count: int, timeout: float = 30.0) -> list[Request]:
        """Wait until `count` requests have arrived and return them; TimeoutError when they do not."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self.requests) >= count, timeout):
                raise TimeoutError(f"{len(self.requests)} of {count} requests after {timeout} s")
            return list(self.requests)

    def pause(self, seconds: float) -> None:
        """Sleep, but not past the end of the server."""
        self._stopping.wait(seconds)

    def take(self, body: dict[str, Any], headers: dict[str, str]) -> Turn:
        """Record a request and choose its turn."""
        with self._arrived:
            turn, route, number = _refusal("no route accepts this request"), None, None
            for index, candidate in enumerate(self.routes):
                if not candidate.accepts(body):
                    continue
                number = self._next_turn[index]
                if candidate.repeat and candidate.turns:
                    number %= len(candidate.turns)
                name = candidate.name or str(index)
                if number < len(candidate.turns):
                    turn, route = candidate.turns[number], name
                    self._next_turn[index] = number + 1
                else:
                    turn, number = _refusal(f"route {name} has no turn left"), None
                break
            self.requests.append(Request(body, headers, route, number))
            self._arrived.notify_all()
            return turn

    def call_id(self) -> str:
        """An id for a tool call that was scripted without one, unique since the last reset."""
        with self._arrived:
            self._calls_made += 1
            return f"call_{self._calls_made:04d}"


def _refusal(message: str) -> Turn:
    return Turn(status=400, message=f"script: {message}")


def _usage(turn: Turn) -> dict[str, Any]:
    prompt = turn.usage.get("prompt_tokens", 1000)
    completion = turn.usage.get("completion_tokens", 50)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": turn.usage.get("cached_tokens", 0)},
        "completion_tokens_details": {"reasoning_tokens": turn.usage.get("reasoning_tokens", 0)},
    }


def _wire_calls(turn: Turn, server: ModelServer) -> list[dict[str, Any]]:
    calls = []
    for call in turn.tool_calls:
        arguments = call.get("arguments", {})
        calls.append(
            {
                "id": call["id"] if "id" in call else server.call_id(),
                "type": "function",
                "function": {
                    "name": call["name"],
                    "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
                },
            }
        )
    return calls


def _pieces(text: str, size: int) -> Iterator[str]:
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _deltas(turn: Turn, calls: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The streamed form of an answer: role, reasoning, text, then each tool call in pieces."""
    yield {"role": "assistant", "content": ""}
    for piece in _pieces(turn.reasoning or "", TEXT_PIECE):
        yield {"reasoning_content": piece}
    for piece in _pieces(turn.text or "", TEXT_PIECE):
        yield {"content": piece}
    for index, call in enumerate(calls):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        yield {"tool_calls": [{"index": index, **call, "function": {"name": name, "arguments": ""}}]}
        for piece in _pieces(arguments, ARGUMENT_PIECE):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    owner: ModelServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        owner = self.server.owner
        if not self.path.rstrip("/").endswith("/models"):
            self._answer(404, {"error": {"message": f"no such path: {self.path}"}})
            return
        card = {"id": owner.model, "object": "model", "context_length": owner.context_length}
        self._answer(200, {"object": "list", "data": [card]})

    def do_POST(self) -> None:
        owner = self.server.owner
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.path.rstrip("/").endswith("/chat/completions"):
            self._answer(404, {"error": {"message": f"no such path: {self.path}"}})
            return
        try:
            body = json.loads(raw)
        except ValueError:
            self._answer(400, {"error": {"message": "the body is not JSON"}})
            return
        turn = owner.take(body, {name.lower(): value for name, value in self.headers.items()})
        owner.pause(turn.wait)
        if turn.drop_after == 0:
            self._cut()
        elif turn.status is not None:
            kind = "rate_limit_error" if turn.status == 429 else "scripted_error"
            error = {"message": turn.message or f"scripted HTTP {turn.status}", "type": kind}
            self._answer(turn.status, {"error": error}, turn.headers)
        elif body.get("stream"):
            self._stream(turn, body)
        else:
            self._whole(turn, body)

    def _whole(self, turn: Turn, body: Mapping[str, Any]) -> None:
        calls = _wire_calls(turn, self.server.owner)
        message: dict[str, Any] = {"role": "assistant", "content": turn.text}
        if turn.reasoning is not None:
            message["reasoning_content"] = turn.reasoning
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": _finish(turn, calls)}
        frame = self._frame("chat.completion", body)
        self._answer(200, {**frame, "choices": [choice], "usage": _usage(turn)})

    def _stream(self, turn: Turn, body: Mapping[str, Any]) -> None:
        calls = _wire_calls(turn, self.server.owner)
        frame = self._frame("chat.completion.chunk", body)
        chunks = [
            {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
            for delta in _deltas(turn, calls)
        ]
        last = {"index": 0, "delta": {}, "finish_reason": _finish(turn, calls)}
        chunks.append({**frame, "choices": [last]})
        if (body.get("stream_options") or {}).get("include_usage"):
            chunks.append({**frame, "choices": [], "usage": _usage(turn)})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for number, chunk in enumerate(chunks):
                if number == turn.drop_after:
                    self._cut()
                    return
                self._event(json.dumps(chunk))
                self.server.owner.pause(turn.wait_between)
            self._event("[DONE]")
            self.wfile.write(b"0\r\n\r\n")
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _frame(self, kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
        number = len(self.server.owner.requests)
        model = body.get("model", self.server.owner.model)
        return {"id": f"chatcmpl-{number:04d}", "object": kind, "created": int(time.time()), "model": model}

    def _event(self, data: str) -> None:
        payload = f"data: {data}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(payload), payload))
        self.wfile.flush()

    def _answer(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        payload = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        for name, header in (headers or {}).items():
            self.send_header(name, str(header))
        self.end_headers()
        self.wfile.write(payload)

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


def _finish(turn: Turn, calls: Sequence[object]) -> str:
    return turn.finish_reason or ("tool_calls" if calls else "stop")


def main() -> None:
    """Serve a script until interrupted."""
    parser = argparse.ArgumentParser(description="Serve a scripted OpenAI-compatible model on 127.0.0.1.")
    parser.add_argument("--script", type=Path, required=True, help="JSON file: model, context_length, routes")
    parser.add_argument("--port", type=int, default=0, help="0 chooses a free port")
    parser.add_argument("--port-file", type=Path, help="file the port number is written to")
    options = parser.parse_args()
    script = json.loads(options.script.read_text("utf-8"))
    _checked("script", script, ("model", "context_length", "routes"))
    with ModelServer(port=options.port, **script) as server:
        if options.port_file:
            options.port_file.write_text(f"{server.port}\n", "utf-8")
        print(f"serving {server.url}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
