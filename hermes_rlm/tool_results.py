"""What the host's tools answer, as values a program can use; what is a failure of a call and what is not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from .bridge import CallError

# The host's marks of a terminal command that was not run, whatever exit code stands beside them.
_NOT_RUN = ("blocked", "pending_approval", "error", "disabled")
_MATCH_ROW = re.compile(r"  (\d+): ?(.*)")


def value_of(tool: str, answer: Any) -> Any:
    """Return the value of a tool's answer, the host's JSON text. Raises CallError with the host's message.

    A plugin may have replaced the answer by any text: what is no JSON object is the value as it is.
    """
    found = decoded(answer)
    if not isinstance(found, dict):
        return found
    return _VALUES.get(tool, _plain)(found)


def decoded(answer: Any) -> Any:
    """Return the JSON a tool answered; a hint that the host puts behind it becomes its field "hint".

    Text that is no JSON is returned as it is.
    """
    if not isinstance(answer, str):
        return answer
    try:
        value, end = json.JSONDecoder().raw_decode(answer)
    except (ValueError, RecursionError):
        return answer
    rest = answer[end:].strip()
    if rest and isinstance(value, dict):
        value.setdefault("hint", rest.strip("[]"))
    return value


def message_of(found: dict[str, Any]) -> str:
    """The host's reason for a failure, with the files it suggests instead."""
    message = str(
        found.get("error") or found.get("message") or found.get("hint") or "the host gave no reason"
    )
    similar = found.get("similar_files")
    return f"{message} (similar: {', '.join(map(str, similar))})" if similar else message


def _plain(found: dict[str, Any]) -> dict[str, Any]:
    if found.get("error") or found.get("success") is False:
        raise CallError(message_of(found))
    return found


def _terminal(found: dict[str, Any]) -> dict[str, Any]:
    """A command that ran is a result, with any exit code; one that did not run is an error."""
    status, code = found.get("status"), found.get("exit_code")
    if status == "pending_approval":
        raise CallError(f"pending approval: {found.get('description')}; the command was not run")
    if status in _NOT_RUN or code is None or (code == -1 and found.get("error")):
        raise CallError(message_of(found))
    return {name: value for name, value in found.items() if value is not None}


def _search(found: dict[str, Any]) -> dict[str, Any]:
    """Matches always as a list: the host puts more than a few into one text grouped by path."""
    text = found.pop("matches_text", None)
    found.pop("matches_format", None)
    if text is not None:
        found["matches"] = _matches(str(text))
    elif not any(name in found for name in ("matches", "files", "counts", "error")):
        found["matches"] = []
    return _plain(found)


def _matches(text: str) -> list[dict[str, Any]]:
    matches, path = [], ""
    for line in text.split("\n"):
        row = _MATCH_ROW.fullmatch(line)
        if row:
            matches.append({"path": path, "line": int(row[1]), "content": row[2]})
        else:
            path = line
    return matches


_VALUES: dict[str, Callable[[dict[str, Any]], Any]] = {"terminal": _terminal, "search_files": _search}
