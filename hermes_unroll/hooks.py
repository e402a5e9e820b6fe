"""The one file that knows the host's hook names and keywords; it turns them into events.

Rests on the hook contract of hermes-agent 0.19: every argument is passed by keyword, any of them may
be missing, None or a live object of the host's. Nothing here changes an argument, and nothing raises.
"""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import presence, sealing, settings
from .events import EventKind, RecordKind
from .tracer import UNATTRIBUTED, LiveSession, TraceRecorder

logger = logging.getLogger(__name__)

Hook = Callable[..., None]
Call = dict[str, Any]

HOOKS: dict[str, Hook] = {}
MIDDLEWARE: dict[str, Hook] = {}
RECORDER = TraceRecorder()
COUNTS: dict[str, int] = {}

# The host runs a review of the conversation under the session's own id on a thread of this name.
BACKGROUND_THREAD = "bg-review"
# Messages with one of these flags are the host's scaffolding: it sends them but never stores them.
SCAFFOLDING = (
    "_empty_recovery_synthetic",
    "_empty_terminal_sentinel",
    "_thinking_prefill",
    "_verification_stop_synthetic",
    "_pre_verify_synthetic",
    "_kanban_stop_synthetic",
)

# What an object with token counts is asked for, in the host's convention and in OpenAI's.
USAGE = (
    *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens"),
    *("prompt_tokens", "completion_tokens", "total_tokens"),
)

_told: set[tuple[str, str]] = set()
_thread = threading.local()


def _boundary(table: dict[str, Hook], name: str) -> Callable[[Callable[[Call], None]], Hook]:
    """Register a callback that takes any keywords, never raises and says a fault once."""

    def wrap(handle: Callable[[Call], None]) -> Hook:
        @functools.wraps(handle)
        def callback(**call: Any) -> None:
            COUNTS[name] = COUNTS.get(name, 0) + 1
            try:
                handle(call)
            except Exception as error:
                fault = (name, type(error).__name__)
                if fault not in _told:
                    _told.add(fault)
                    logger.warning("hermes-unroll could not record %s: %s: %s", name, *fault[1:], error)

        table[name] = callback
        return callback

    return wrap


def _on(name: str) -> Callable[[Callable[[Call, LiveSession], None]], Hook]:
    """Register a hook that records into the session its arguments name."""

    def wrap(record: Callable[[Call, LiveSession], None]) -> Hook:
        def handle(call: Call) -> None:
            home = _home()
            with RECORDER.recording(home, _session_id(call), call.get("platform")) as session:
                if session is not None:
                    record(call, session)
            presence.on_activity(home, session)
            sealing.on_activity(home, RECORDER)

        return _boundary(HOOKS, name)(functools.wraps(record)(handle))

    return wrap


def _home() -> Path:
    from ._common.home import hermes_home

    return hermes_home()


def _session_id(call: Call) -> str:
    """Name the session a call belongs to. Calls made inside execute_code carry only a task id."""
    session_id = _name(call.get("session_id")) or _name(call.get("parent_session_id"))
    task_id = call.get("task_id")
    if session_id:
        if isinstance(task_id, str) and task_id:
            RECORDER.owner(f"task {task_id}", session_id)
        return session_id
    owner = RECORDER.owner(f"task {task_id}", "") if isinstance(task_id, str) and task_id else ""
    return owner or UNATTRIBUTED


def _name(value: Any) -> str:
    """Return what a value names something by; "" for what has no text."""
    if isinstance(value, str) or value is None:
        return value or ""
    try:
        return str(value)
    except Exception:
        return ""


def _context(call: Call, session: LiveSession) -> Call:
    """The fields that every event of a turn carries."""
    turn_id, task_id = _name(call.get("turn_id")), call.get("task_id")
    fields: Call = {}
    if turn_id:
        fields["turn"] = turn_id
        _note_rotation(turn_id, session)
    elif not _name(call.get("session_id")):
        fields["inner"] = True
        fields["task"] = task_id
    if threading.current_thread().name.startswith(BACKGROUND_THREAD) or session.is_background(turn_id):
        fields["background"] = True
        session.mark_background(turn_id)
    return fields


def _note_rotation(turn_id: str, session: LiveSession) -> None:
    """A turn that goes on under another session id: the host has rotated it."""
    before = RECORDER.owner(f"turn {turn_id}", session.session_id)
    if before != session.session_id and not session.told("predecessor", before):
        session.note(RecordKind.LINEAGE, {"predecessor": before, "reason": "rotated"})


def _pick(source: Any, *names: str) -> Call:
    """Copy the named fields that are there, from a mapping or an object."""
    return {name: value for name in names if (value := _get(source, name)) is not None}


def _get(source: Any, name: str) -> Any:
    if isinstance(source, dict):
        return source.get(name)
    try:
        return getattr(source, name, None)
    except Exception:  # a property of the host's may raise anything
        return None


def _milliseconds(seconds: Any) -> float | None:
    return round(seconds * 1000, 3) if type(seconds) in (int, float) else None


# The session ---------------------------------------------------------------------------------


@_on("on_session_start")
def on_session_start(call: Call, session: LiveSession) -> None:
    session.note(RecordKind.SESSION, _pick(call, "model", "platform"))


@_on("on_session_end")
def on_session_end(call: Call, session: LiveSession) -> None:
    """The host calls the end of a turn the end of the session."""
    session.event(
        EventKind.TURN_END,
        _context(call, session)
        | _pick(call, "completed", "interrupted", "failed", "reason", "turn_exit_reason"),
    )
    session.forget_objects()
    if session.ended:
        # The end was announced before the last turn was over.
        session.flush()
        sealing.on_end(session)


@_boundary(HOOKS, "on_session_finalize")
def on_session_finalize(call: Call) -> None:
    session_id = call.get("session_id")
    if not isinstance(session_id, str) or not session_id:
        return
    _thread.finalized = session_id
    with RECORDER.recording(_home(), session_id, call.get("platform")) as session:
        if session is None:
            return
        session.event(EventKind.SESSION_END, _pick(call, "reason", "new_session_id"))
        session.forget_objects()
        session.ended = True
    sealing.on_end(session)


@_on("on_session_reset")
def on_session_reset(call: Call, session: LiveSession) -> None:
    """A new session takes the place of another; the CLI names the old one only in the finalize before."""
    before = call.get("old_session_id") or getattr(_thread, "finalized", None)
    if before and before != session.session_id:
        session.note(RecordKind.LINEAGE, {"predecessor": before, **_pick(call, "reason")})


@_on("pre_llm_call")
def pre_llm_call(call: Call, session: LiveSession) -> None:
    context = _context(call, session)
    session.event(
        EventKind.USER_MESSAGE,
        context | _pick(call, "is_first_turn", "sender_id", "model", "platform"),
        {"content": call.get("user_message")},
    )
    _history(call, session, context)


@_on("post_llm_call")
def post_llm_call(call: Call, session: LiveSession) -> None:
    _history(call, session, _context(call, session))


def _history(call: Call, session: LiveSession, context: Call) -> None:
    """Record the message list as the host stores it; a background review has one of its own."""
    messages = call.get("conversation_history")
    if not isinstance(messages, list) or context.get("background"):
        return
    session.history([message for message in messages if not _is_scaffolding(message)])


def _is_scaffolding(message: Any) -> bool:
    return type(message) is dict and any(flag in message and message[flag] for flag in SCAFFOLDING)


@_boundary(HOOKS, "pre_gateway_dispatch")
def pre_gateway_dispatch(call: Call) -> None:
    """Remember which chat a message is from: /unroll is answered before the host binds a session to it."""
    chat = _get(_get(call.get("event"), "source"), "chat_id")
    settings.CHAT.set(str(chat) if chat else "")


# The model -----------------------------------------------------------------------------------


@_boundary(MIDDLEWARE, "llm_request")
def llm_request(call: Call) -> None:
    """Read the request that goes to the provider: the only place where the tool schemas are whole."""
    request = call.get("request")
    if not isinstance(request, dict):
        return
    with RECORDER.recording(_home(), _session_id(call), call.get("platform")) as session:
        if session is None:
            return
        context = _context(call, session)
        if not context.get("background"):
            _tool_schemas(request.get("tools"), session, context)
            parameters = {
                name: value
                for name, value in request.items()
                if name not in ("messages", "input", "instructions", "system", "tools", "model")
            }
            session.parameters = session.clean(parameters)


def _tool_schemas(tools: Any, session: LiveSession, context: Call) -> None:
    if not isinstance(tools, list) or not tools:
        return
    schemas = session.clean(tools)
    if not session.told("tool_schemas", schemas):
        session.event(EventKind.TOOL_SCHEMAS, context | {"tool_count": len(tools)}, {"tools": tools})


def _shortened_schemas(request: Any, session: LiveSession, context: Call) -> None:
    """Take the tool schemas of a request no middleware has shown; the host may have cut them."""
    tools = _get(_get(request, "body"), "tools")
    if isinstance(tools, list) and tools and not session.told("shortened_schemas", session.clean(tools)):
        _tool_schemas(tools, session, context)
        why = "the host gave only its shortened request payload"
        session.event(EventKind.INEXACT, context | {"what": "tool_schemas", "why": why})


@_on("pre_api_request")
def pre_api_request(call: Call, session: LiveSession) -> None:
    context = _context(call, session)
    sent = call.get("request_messages")
    sent = sent if isinstance(sent, list) else []
    system = [message for message in sent if _get(message, "role") in ("system", "developer")]
    if not context.get("background"):
        _system_prompt(system, session, context)
        if isinstance(call.get("conversation_history"), list):
            _history(call, session, context)
        else:
            session.history([message for message in sent if message not in system])
    parameters = session.take_parameters()
    if parameters is None and not context.get("background"):
        _shortened_schemas(call.get("request"), session, context)
    request_id = call.get("api_request_id")
    history = call.get("conversation_history")
    unstored = [item for item in history if _is_scaffolding(item)] if isinstance(history, list) else []
    session.event(
        EventKind.PRE_API_REQUEST,
        context
        | _pick(
            call, "model", "provider", "base_url", "api_mode", "platform", "api_call_count", "message_count"
        )
        | _pick(call, "tool_count", "approx_input_tokens", "request_char_count", "max_tokens", "started_at")
        | {"attempt": session.attempt(request_id), "parameters": parameters},
        {"unstored": unstored} if unstored else None,
    )
    if not sent and call.get("request") is not None:
        session.event(
            EventKind.INEXACT,
            context | {"what": "request_messages", "why": "the host gave only its shortened request payload"},
            {"request": call["request"]},
        )


def _system_prompt(system: list[Any], session: LiveSession, context: Call) -> None:
    for message in system:
        content = _get(message, "content")
        if not session.told("system_prompt", session.text(content)):
            session.event(EventKind.SYSTEM_PROMPT, context, {"content": content})


def _usage(usage: Any) -> Any:
    """Return token counts as a mapping; a host may hand over the provider's object."""
    return usage if isinstance(usage, dict) else _pick(usage, *USAGE) or None


@_on("post_api_request")
def post_api_request(call: Call, session: LiveSession) -> None:
    context = _context(call, session)
    duration = _milliseconds(call.get("api_duration"))
    session.event(
        EventKind.POST_API_REQUEST,
        context
        | _pick(call, "model", "provider", "base_url", "api_mode", "api_call_count", "finish_reason")
        | _pick(
            call, "response_model", "message_count", "assistant_content_chars", "assistant_tool_call_count"
        )
        | {"duration_ms": duration, "usage": _usage(call.get("usage"))},
    )
    reply = call.get("assistant_message")
    shortened = _get(call.get("response"), "assistant_message")
    calls = _get(reply, "tool_calls") or _get(shortened, "tool_calls") or []
    if reply is None and shortened is None:
        return
    if reply is None or (calls and not _get(reply, "tool_calls")):
        session.event(
            EventKind.INEXACT,
            context | {"what": "llm_call", "why": "the host gave only its shortened response payload"},
        )
        reply = shortened if reply is None else reply
    session.reply(
        context
        | _pick(call, "model", "provider", "base_url", "api_mode", "response_model", "api_call_count")
        | _pick(reply, "reasoning_details", "provider_data")
        | {"finish_reason": _get(reply, "finish_reason") or call.get("finish_reason")},
        {"content": _get(reply, "content"), **_pick(reply, "reasoning", "reasoning_content")},
        [_tool_call(item) for item in calls],
    )


def _tool_call(item: Any) -> Call:
    function = _get(item, "function")
    return {
        "id": _get(item, "id"),
        "name": _get(item, "name") if function is None else _get(function, "name"),
        "arguments": _get(item, "arguments") if function is None else _get(function, "arguments"),
    }


@_on("api_request_error")
def api_request_error(call: Call, session: LiveSession) -> None:
    session.event(
        EventKind.API_REQUEST_ERROR,
        _context(call, session)
        | _pick(call, "model", "provider", "base_url", "api_mode", "api_call_count", "status_code", "reason")
        | _pick(call, "retry_count", "max_retries", "retryable", "error")
        | {"duration_ms": _milliseconds(call.get("api_duration"))},
    )


@_on("on_stream_delta")
def on_stream_delta(call: Call, session: LiveSession) -> None:
    """Hosts after 0.19 stream the reply; its whole text comes with post_api_request."""
    delta = call.get("delta")
    if isinstance(delta, str) and delta:
        session.delta(delta, _context(call, session) | {"stream": call.get("kind") or "text"})


# Tools ---------------------------------------------------------------------------------------


@_on("pre_tool_call")
def pre_tool_call(call: Call, session: LiveSession) -> None:
    name, args = call.get("tool_name"), call.get("args")
    context = _context(call, session) | {"name": name, "tool_call_id": call.get("tool_call_id")}
    session.event(EventKind.PRE_TOOL_CALL, context | session.arguments(call.get("tool_call_id"), args))
    if name == "skill_view" and isinstance(args, dict):
        session.event(
            EventKind.SKILL_VIEW,
            context | {"name": None, "skill": args.get("name"), "file_path": args.get("file_path")},
        )


@_on("post_tool_call")
def post_tool_call(call: Call, session: LiveSession) -> None:
    session.event(
        EventKind.TOOL_CALL,
        _context(call, session)
        | {"name": call.get("tool_name")}
        | _pick(call, "tool_call_id", "duration_ms", "status", "error_type", "error_message")
        | session.arguments(call.get("tool_call_id"), call.get("args")),
        {"result": call.get("result")},
    )


# Children ------------------------------------------------------------------------------------


@_on("subagent_start")
def subagent_start(call: Call, session: LiveSession) -> None:
    session.event(
        EventKind.SUBAGENT_START,
        {"turn": _name(call.get("parent_turn_id")) or None}
        | _pick(call, "child_session_id", "child_subagent_id", "parent_subagent_id", "child_role"),
        {"child_goal": call.get("child_goal")},
    )
    child = call.get("child_session_id")
    if isinstance(child, str) and child:
        with RECORDER.recording(_home(), child, "subagent") as recorded:
            if recorded is not None:
                recorded.note(RecordKind.LINEAGE, {"parent": session.session_id, **_pick(call, "child_role")})


@_on("subagent_stop")
def subagent_stop(call: Call, session: LiveSession) -> None:
    session.event(
        EventKind.SUBAGENT_STOP,
        {"turn": _name(call.get("parent_turn_id")) or None}
        | _pick(call, "child_session_id", "child_role", "child_status", "duration_ms"),
        {"child_summary": call.get("child_summary")},
    )
