"""What the host tells in hooks and middleware: which call is being made, which tools a session has.

Tool handlers get neither; both are needed to make calls from a kernel look like the agent's own.
Nothing here is imported that the hooks do not need: they run for every tool call of the host.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

KEPT = 512
_IDENTIFIERS = ("session_id", "task_id", "turn_id", "api_request_id", "tool_call_id")

_lock = threading.Lock()
_calls: OrderedDict[tuple[Any, str], dict[str, str]] = OrderedDict()
_granted: OrderedDict[tuple[str, str], frozenset[str]] = OrderedDict()


def pre_tool_call(tool_name: str = "", **told: Any) -> None:
    """Note the identifiers of a call of one of our tools, for its handler on the same thread."""
    if not str(tool_name).startswith("rlm_"):
        return
    found = {name: str(told.get(name) or "") for name in _IDENTIFIERS}
    _keep(_calls, (threading.get_ident(), found["session_id"]), found)


def call_of(session_id: str) -> dict[str, str]:
    """The identifiers of the call that runs on this thread; {} when the host told none."""
    with _lock:
        return dict(_calls.get((threading.get_ident(), session_id), {}))


def llm_request(request: Any = None, **told: Any) -> None:
    """Note the names of the tools in a model request: they are what the session has."""
    try:
        names = frozenset(_names(request.get("tools") or ()))
    except (AttributeError, TypeError):
        return
    session = str(told.get("session_id") or "")
    _keep(_granted, (session, str(told.get("turn_id") or "")), names)
    _keep(_granted, (session, ""), names)


def granted(session_id: str, turn_id: str = "") -> frozenset[str] | None:
    """The tools of a turn's latest model request, else of the session's; None when there was none."""
    with _lock:
        found = _granted.get((session_id, turn_id))
        return found if found is not None else _granted.get((session_id, ""))


def on_session_finalize(session_id: Any = None, reason: str = "", **_: Any) -> None:
    """Save and end the kernel of a session that is over; at the host's end before it goes on, else aside."""
    if session_id:
        _end(str(session_id), "its session ended", wait=reason == "shutdown")


def on_session_end(session_id: Any = None, platform: Any = None, **_: Any) -> None:
    """End the kernel of a scheduled run, whose session nobody goes on with; others end only a turn here."""
    if session_id and platform == "cron":
        _end(str(session_id), "its scheduled run ended", wait=False)


def subagent_stop(child_session_id: Any = None, **_: Any) -> None:
    """End the kernel of a sub-agent that has finished."""
    if child_session_id:
        _end(str(child_session_id), "its sub-agent finished", wait=False)


def _end(session_id: str, reason: str, wait: bool) -> None:
    # Without the pool there is no kernel, and importing it only to find that out is not free.
    pool = sys.modules.get(f"{__package__}.kernel.pool")
    if pool is None:
        return
    from ._common.home import hermes_home

    home = hermes_home()
    if pool.POOL.known(home, session_id) is None:
        return
    arguments = (home, session_id, reason)
    if wait:
        pool.POOL.end_session(*arguments)
    else:
        threading.Thread(target=pool.POOL.end_session, args=arguments, name="hermes-rlm-end").start()


def _keep(table: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    with _lock:
        table[key] = value
        table.move_to_end(key)
        while len(table) > KEPT:
            table.popitem(last=False)


def _names(tools: Any) -> Any:
    for tool in tools:
        function = tool.get("function") if isinstance(tool, dict) else None
        yield str((function or tool).get("name", ""))


HOOKS: dict[str, Callable[..., None]] = {
    "pre_tool_call": pre_tool_call,
    "on_session_end": on_session_end,
    "on_session_finalize": on_session_finalize,
    "subagent_stop": subagent_stop,
}
MIDDLEWARE: dict[str, Callable[..., None]] = {"llm_request": llm_request}
