"""The actions of rlm_checkpoint: save, restore, list, delete."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from . import checkpoint
from .display import duration, listed
from .kernel.session import Caller

DEFAULT_NAME = "latest"
WAIT_SECONDS = 60
LISTED = 30
REASONS_SHOWN = 12


def save(arguments: dict[str, Any], call: Any, caller: Caller) -> dict[str, Any]:
    """Save the session's variables under a name; ok only when the file is on disk and reads back."""
    name = _name(arguments)
    session = call.session()
    with session.turn(WAIT_SECONDS, caller.interrupted):
        reply = session.save(name, call.settings, caller)
    if not reply.get("ok"):
        return {"ok": False, "error": reply.get("error"), "skipped": _reasons(reply.get("skipped"))}
    return {
        "ok": True,
        "checkpoint": name,
        "path": str(checkpoint.path_of(call.home, call.session_id, name)),
        "saved": listed(reply["saved"]),
        "skipped": _reasons(reply["skipped"]),
        "size": reply["size"],
        "pruned": reply.get("pruned"),
        "note": "; ".join(reply.get("notes", ())),
    }


def restore(arguments: dict[str, Any], call: Any, caller: Caller) -> dict[str, Any]:
    """Bring variables back; newer ones stay unless overwrite."""
    name = _name(arguments)
    any_session = _flag(arguments, "allow_cross_session")
    entry = checkpoint.describe(checkpoint.path_of(call.home, call.session_id, name))
    if entry is None and any_session:
        entry = _newest(call, name)
    if entry is None:
        hint = "" if any_session else "; allow_cross_session takes one of another session"
        return {"ok": False, "error": f"this session has no checkpoint {name!r}{hint}"}
    session = call.session()
    with session.turn(WAIT_SECONDS, caller.interrupted):
        reply = session.restore(
            entry.path,
            None if any_session else call.session_id,
            _flag(arguments, "overwrite"),
            call.settings,
            caller,
        )
    if not reply.get("ok"):
        return {"ok": False, "error": reply.get("error"), "note": "; ".join(reply.get("notes", ()))}
    notes = list(reply["notes"])
    if reply["kept"]:
        notes.append(f"kept because they exist: {listed(reply['kept'])}; overwrite=true replaces them")
    return {
        "ok": True,
        "restored": listed(reply["restored"]),
        "failed": _reasons(reply["failed"]),
        "saved": _ago(reply["saved_at"]),
        "from_session": reply["session"] if reply["session"] != call.session_id else None,
        "note": "; ".join(notes),
    }


def list_(arguments: dict[str, Any], call: Any, caller: Caller) -> dict[str, Any]:
    """List this session's checkpoints, newest first; of all sessions with allow_cross_session."""
    own = checkpoint.path_of(call.home, call.session_id, DEFAULT_NAME).parent
    every = checkpoint.listing(call.home)
    found = (
        every if _flag(arguments, "allow_cross_session") else [one for one in every if one.path.parent == own]
    )
    found.sort(key=lambda entry: -entry.modified)
    rows = [
        {
            "name": entry.name or entry.path.name,
            "saved": _ago(entry.saved_at or entry.modified),
            "size": entry.size,
            "variables": listed(name for name, _ in entry.variables),
            **({"session": entry.session} if entry.path.parent != own else {}),
            **({"problem": entry.problem} if entry.problem else {}),
        }
        for entry in found[:LISTED]
    ]
    more = len(found) - len(rows)
    return {
        "ok": True,
        "checkpoints": rows,
        "note": f"{more} older ones" if more else "" if rows else "there are none",
    }


def delete(arguments: dict[str, Any], call: Any, caller: Caller) -> dict[str, Any]:
    """Delete one of this session's checkpoints."""
    name = _name(arguments)
    if checkpoint.delete(call.home, call.session_id, name):
        return {"ok": True, "note": f"checkpoint {name!r} is deleted"}
    return {"ok": False, "error": f"this session has no checkpoint {name!r}"}


ACTIONS: dict[str, Callable[[dict[str, Any], Any, Caller], dict[str, Any]]] = {
    "save": save,
    "restore": restore,
    "list": list_,
    "delete": delete,
}


def _newest(call: Any, name: str) -> checkpoint.Entry | None:
    """The newest sound checkpoint of this name of any session."""
    found = [entry for entry in checkpoint.listing(call.home) if entry.name == name and not entry.problem]
    return max(found, key=lambda entry: entry.saved_at, default=None)


def _name(arguments: dict[str, Any]) -> str:
    name = arguments.get("name")
    return name if isinstance(name, str) and name else DEFAULT_NAME


def _flag(arguments: dict[str, Any], name: str) -> bool:
    value = arguments.get(name)
    return value is True or (isinstance(value, str) and value.lower() == "true")


def _reasons(rows: Any) -> list[str]:
    """Names with why, the first ones; the others by number."""
    lines = [f"{row['name'][:80]}: {row['reason'][:160]}" for row in rows or ()]
    more = len(lines) - REASONS_SHOWN
    return [*lines[:REASONS_SHOWN], f"and {more} more"] if more > 0 else lines


def _ago(then: float) -> str:
    return f"{duration(max(0.0, time.time() - then))} ago"
