"""Long tool arguments stand once: in the reply that asked for the call. Steps refer to them."""

from __future__ import annotations

import json
from typing import Any

from .conversation import call_of
from .events import EventKind

# Shorter arguments are easier to read where they are used.
MIN_REFERRED = 256


def refer_to_arguments(steps: list[dict[str, Any]], messages: list[dict[str, Any]]) -> None:
    """Put ``args_at`` [message, call] in the place of ``args`` that the arguments text of a reply holds."""
    places: dict[str, tuple[int, int]] = {}
    for step in steps:
        if step["kind"] == EventKind.LLM_CALL and "message" in step:
            calls = messages[step["message"]].get("tool_calls")
            for number, call in enumerate(calls if isinstance(calls, list) else ()):
                if isinstance(call, dict) and isinstance(call.get("id"), str):
                    places[call["id"]] = (step["message"], number)
        elif step["kind"] in (EventKind.PRE_TOOL_CALL, EventKind.TOOL_CALL):
            place = places.get(step["tool_call_id"]) if isinstance(step.get("tool_call_id"), str) else None
            if place and _holds(messages[place[0]]["tool_calls"][place[1]], step.get("args")):
                del step["args"]
                step["args_at"] = list(place)


def _holds(call: dict[str, Any], args: Any) -> bool:
    arguments = call_of(call)[1]
    if not isinstance(arguments, str) or len(arguments) < MIN_REFERRED:
        return False
    try:
        return json.loads(arguments, parse_constant=_refuse) == args
    except (ValueError, RecursionError):
        return False


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no plain value")
