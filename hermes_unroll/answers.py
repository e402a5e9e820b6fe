"""RESPONSE_CACHE: the recorded answer of every step that had one; messages by reference."""

from __future__ import annotations

from typing import Any

from .conversation import SPILLED
from .events import EventKind

_NOTE = "[Tool loop warning"


def response_cache(
    steps: list[dict[str, Any]], messages: list[dict[str, Any]], results: dict[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return the cache: ``llm:<event id>`` or ``tool:<event id>`` -> {"message": index, "result": value}.

    Either key may be missing: a result that is the message's content stands there alone. ``results``
    holds what tools returned, and replies that are in no message, by event id. A step whose stored
    message differs from what its tool returned is given a ``note`` that says why.
    """
    cache: dict[str, dict[str, Any]] = {}
    for step in steps:
        event_id, index = step["event_id"], step.get("message")
        if step["kind"] == EventKind.LLM_CALL:
            cache[f"llm:{event_id}"] = (
                {"result": results.get(event_id)} if index is None else {"message": index}
            )
        elif step["kind"] == EventKind.TOOL_CALL:
            cache[f"tool:{event_id}"] = answer = {} if index is None else {"message": index}
            stored = None if index is None else messages[index].get("content")
            if index is None or (event_id in results and results[event_id] != stored):
                answer["result"] = results.get(event_id)
                if index is not None:
                    step["note"] = _difference(stored)
    return cache


def _difference(stored: Any) -> str:
    if isinstance(stored, str) and SPILLED in stored:
        return "the host moved the result to a file and stored a preview"
    if isinstance(stored, str) and _NOTE in stored:
        return "the host added a note to the result"
    return "the host stored another text than the tool returned"
