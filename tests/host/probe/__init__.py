"""Writes every hook call and every llm_request middleware call, with all its keywords, as JSON lines.

The file is named by HOOK_PROBE_LOG; without it the plugin does nothing. A line is
`{"hook", "thread", "pid", "kwargs"}`, written before the call returns. A value JSON has no form for
is written as `{"__object__": class name, "attributes": {...}}`, at last resort as its repr.
"""

from __future__ import annotations

import json
import os
import threading
from typing import Any

HOOKS = (
    "on_session_start",
    "pre_llm_call",
    "post_llm_call",
    "pre_tool_call",
    "post_tool_call",
    "transform_tool_result",
    "pre_api_request",
    "post_api_request",
    "api_request_error",
    "subagent_start",
    "subagent_stop",
    "on_session_end",
    "on_session_finalize",
    "on_session_reset",
)
MIDDLEWARE = ("llm_request",)
ATTRIBUTES = {
    "NormalizedResponse": (
        "content",
        "tool_calls",
        "finish_reason",
        "reasoning",
        "reasoning_content",
        "reasoning_details",
        "usage",
        "provider_data",
    ),
    "ToolCall": ("id", "type", "name", "arguments", "provider_data"),
}
DEPTH = 40

_writing = threading.Lock()


def register(ctx: Any) -> None:
    """Register one writer for each hook and middleware."""
    path = os.environ.get("HOOK_PROBE_LOG")
    if not path:
        return
    for name in HOOKS:
        ctx.register_hook(name, _writer(path, name))
    for name in MIDDLEWARE:
        ctx.register_middleware(name, _writer(path, name))


def _writer(path: str, name: str) -> Any:
    def write(**kwargs: Any) -> None:
        line = {
            "hook": name,
            "thread": threading.current_thread().name,
            "pid": os.getpid(),
            "kwargs": plain(kwargs),
        }
        with _writing, open(path, "a", encoding="ascii") as stream:
            stream.write(json.dumps(line) + "\n")

    return write


def plain(value: Any, depth: int = 0) -> Any:
    """`value` in the forms JSON has; see the module's docstring."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if depth > DEPTH:
        return repr(value)
    if isinstance(value, dict):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, depth + 1) for item in value]
    name = type(value).__name__
    attributes = ATTRIBUTES.get(name) or list(getattr(value, "__dict__", None) or ())
    if not attributes:
        return repr(value)
    found = {attribute: plain(getattr(value, attribute, None), depth + 1) for attribute in attributes}
    return {"__object__": name, "attributes": found}
