"""Recorded sessions of the real host: every hook call in order, and what the host stored.

The files are written by tests/host/probe/record.py. A line is one call,
`{"hook", "thread", "process", "kwargs"}`; the middleware stands under the name `llm_request`. The last
line holds `how`, `sessions`, `stored` (messages by session id, as tests/host/stored.py gives them)
and `raw_rows` (rows by session id, those out of the conversation included).
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

FIXTURES = Path(__file__).parent / "fixtures" / "hook_streams"
MIDDLEWARE = frozenset({"llm_request"})


@dataclass(frozen=True)
class HookCall:
    """One call of a hook or middleware; `process` counts from 1 in order of appearance."""

    hook: str
    thread: str
    process: int
    kwargs: dict[str, Any]

    @property
    def is_middleware(self) -> bool:
        return self.hook in MIDDLEWARE


@dataclass(frozen=True)
class HookStream:
    """One recorded scenario."""

    name: str
    how: str
    calls: tuple[HookCall, ...]
    sessions: dict[str, dict[str, Any]]
    stored: dict[str, list[dict[str, Any]]]
    raw_rows: dict[str, list[dict[str, Any]]]

    @property
    def session_id(self) -> str:
        """The first session: the one the user talked to."""
        return next(iter(self.stored))

    def named(self, *hooks: str) -> list[HookCall]:
        """The calls of these hooks, in order."""
        return [call for call in self.calls if call.hook in hooks]


def names() -> list[str]:
    """The names of all recorded scenarios."""
    return sorted(path.stem for path in FIXTURES.glob("*.jsonl"))


def load(name: str) -> HookStream:
    """Read one scenario; every call gives fresh objects, so a test may change them."""
    *lines, last = (json.loads(line) for line in (FIXTURES / f"{name}.jsonl").open(encoding="ascii"))
    calls = tuple(
        HookCall(line["hook"], line["thread"], line["process"], _revived(line["kwargs"])) for line in lines
    )
    return HookStream(name, last["how"], calls, last["sessions"], last["stored"], last["raw_rows"])


def as_stored(message: dict[str, Any]) -> dict[str, Any]:
    """A message of a hook's conversation_history in the form of `HookStream.stored`.

    What is left out is what the host keeps beside the conversation or does not keep: finish_reason,
    tool_name, timestamps, keys with a leading underscore. Arguments are parsed where they parse.
    """
    result = {"role": message["role"], "content": message.get("content")}
    if message.get("tool_call_id") is not None:
        result["tool_call_id"] = message["tool_call_id"]
    if message.get("tool_calls"):
        result["tool_calls"] = [_call(call) for call in message["tool_calls"]]
    for key in ("reasoning", "reasoning_content", "reasoning_details"):
        if message.get(key) is not None:
            result[key] = message[key]
    return result


def _call(call: dict[str, Any]) -> dict[str, Any]:
    arguments = call["function"]["arguments"]
    try:
        arguments = json.loads(arguments)
    except ValueError:
        pass
    return {"id": call["id"], "name": call["function"]["name"], "arguments": arguments}


def _revived(kwargs: dict[str, Any]) -> dict[str, Any]:
    values = {key: _object(value) for key, value in kwargs.items()}
    for key, value in values.items():
        if isinstance(value, dict) and set(value) == {"__same_as__"}:
            values[key] = copy.deepcopy(values[value["__same_as__"]])
    return values


def _object(value: Any) -> Any:
    """JSON back to what the hook was given: `{"__object__", "attributes"}` becomes an object."""
    if isinstance(value, list):
        return [_object(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) != {"__object__", "attributes"}:
        return {key: _object(item) for key, item in value.items()}
    attributes = {key: _object(item) for key, item in value["attributes"].items()}
    result = type(value["__object__"], (SimpleNamespace,), {})(**attributes)
    if value["__object__"] == "ToolCall":
        result.function = result
    return result
