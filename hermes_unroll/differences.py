"""Where the host's store holds a message in another form than the conversation, and why."""

from __future__ import annotations

from typing import Any

from .conversation import LONG_RESULT, SHORT_RESULT, SPILLED, Entry


def stored_otherwise(
    order: list[Entry], results: dict[str, Any], given: set[int], platform: Any
) -> list[dict[str, Any]]:
    """Return {what, message, why} for each message, by index, that the store holds in another form.

    ``results`` are what tools returned, by event id; ``given`` the ids of entries a client brought along.
    """
    notes = []
    for index, entry in enumerate(order):
        why = _why(entry, results, id(entry) in given)
        if entry.message.get("role") == "system" and platform == "subagent":
            why = "the host stores a sub-agent's system prompt without the task it was sent with"
        if why:
            notes.append({"what": "message", "message": index, "why": why})
    return notes


def _why(entry: Entry, results: dict[str, Any], given: bool) -> str | None:
    content = entry.message.get("content")
    if isinstance(content, list):
        return "the host stores the text parts of this message and a word for each image"
    if "live_content" in entry.message:
        return "the host changed this message after storing it: live_content is what the model saw"
    if given:
        return "the client brought this message with its first request: the host does not store it"
    result = results.get(entry.step["event_id"]) if entry.step else None
    if not isinstance(content, str) or not isinstance(result, str) or SPILLED in result:
        return None
    if SPILLED in content and SHORT_RESULT < len(result) <= LONG_RESULT:
        return (
            "the host moved this result to a file: it stores the preview where that alone was too long, "
            "the whole where only the request was"
        )
    return None
