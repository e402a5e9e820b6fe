"""Calls from a kernel, made through the host's own dispatch on the thread of the running tool call.

That thread carries the turn: the host's context variables and its thread-local approval callbacks. So
hooks, middleware and approvals see these calls as they see the agent's own. Nothing of the host's
is swapped or silenced around them.
"""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from .bridge import CallError, Refused
from .file_reading import as_first_reader, read_text
from .tool_arguments import TOOLS
from .tool_results import value_of

logger = logging.getLogger(__name__)

# The host refuses foreground commands with a longer timeout; its own constant is asked for first.
FOREGROUND_SECONDS = 600


@dataclass(frozen=True)
class OuterCall:
    """The identifiers of the rlm_exec call whose cell makes the calls; "" where the host gave none."""

    session_id: str
    task_id: str
    turn_id: str = ""
    api_request_id: str = ""
    tool_call_id: str = ""


class HostTools:
    """The host's tools for one cell; its `call` is what a bridge is given.

    `granted` names the tools of the session's latest model request, None when that is unknown;
    `remaining` is the number of seconds the cell may still run.
    """

    def __init__(
        self,
        outer: OuterCall,
        granted: Callable[[], Collection[str] | None],
        remaining: Callable[[], float],
    ) -> None:
        self._outer, self._granted, self._remaining = outer, granted, remaining
        self._calls = 0

    def call(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Make one call and return its value.

        Raises Refused when the host is not asked at all, CallError with the message of the host.
        """
        self._permit(tool)
        arguments = TOOLS[tool].checked(tool, arguments)
        if tool == "read_file":
            return self._read_file(**arguments)
        if tool == "terminal":
            arguments["timeout"] = self._command_seconds(arguments.get("timeout"))
        if tool == "search_files":
            with as_first_reader(self._outer.task_id or "default"):
                return value_of(tool, self._dispatch(tool, arguments))
        return value_of(tool, self._dispatch(tool, arguments))

    def _permit(self, tool: str) -> None:
        if tool not in TOOLS:
            raise Refused(f"{tool!r} is not a tool of kernels; they have {', '.join(TOOLS)}")
        granted = self._granted()
        if granted is None:
            raise Refused(f"{tool} is refused: which tools this session has is not known")
        if tool not in granted:
            available = [name for name in TOOLS if name in granted]
            raise Refused(
                f"{tool} is not among the tools of this session; of the kernel's tools it has "
                + (", ".join(available) or "none")
            )

    def _read_file(self, path: str, offset: int = 1, limit: int | None = None) -> Any:
        if offset < 1 or (limit is not None and limit < 1):
            raise Refused("read_file: offset and limit count lines from 1")

        def page(first: int, count: int) -> Any:
            if self._remaining() <= 0:
                raise CallError(f"the cell's time ended while {path} was read")
            with as_first_reader(self._outer.task_id or "default"):
                return self._dispatch("read_file", {"path": path, "offset": first, "limit": count})

        return read_text(path, offset, limit, page)

    def _command_seconds(self, asked: float | None) -> int:
        """Seconds a command may take: what was asked for, at most what the cell has left."""
        left = self._remaining()
        if left <= 0:
            raise Refused("terminal is refused: the cell has no time left")
        if asked is None:
            asked = _foreground_seconds()
        elif not math.isfinite(asked) or asked <= 0:
            raise Refused("terminal: timeout must be a positive number of seconds")
        return max(1, math.floor(min(asked, left)))

    def _dispatch(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Hand one call to the host; its answer is a text of JSON, whatever happened."""
        from model_tools import handle_function_call

        self._calls += 1
        outer = self._outer
        return handle_function_call(
            tool,
            arguments,
            task_id=outer.task_id or None,
            session_id=outer.session_id,
            turn_id=outer.turn_id,
            api_request_id=outer.api_request_id,
            tool_call_id=f"{outer.tool_call_id}:b{self._calls}",
        )


def whole_script_check(code: str) -> str | None:
    """Ask the host's guard of whole scripts, as its execute_code does; return why `code` is refused.

    None means it may run. A kernel is always local, whatever backend the terminal has. Where a person
    is asked, this waits for the answer. A host without the guard is not trusted where approvals would
    be asked for or denied (gateway, ask mode, cron).
    """
    try:
        from tools.approval import check_execute_code_guard
    except ImportError:
        if _needs_approval():
            return (
                "BLOCKED: this version of the host has no check for whole scripts, and this session needs one"
            )
        logger.warning("the host has no check for whole scripts; code in kernels runs without one")
        return None
    try:
        verdict = check_execute_code_guard(code, "local")
    except Exception as error:
        logger.warning("the host's check of a script failed", exc_info=True)
        return f"BLOCKED: the host's check of the script failed: {type(error).__name__}: {error}"
    if not verdict.get("approved"):
        # A pending approval repeats the whole script after this heading.
        message = str(verdict.get("message") or "BLOCKED by the host's check of whole scripts")
        message = message.partition("**Code:**")[0].strip()
        return f"{message} The code was not run." if verdict.get("status") == "pending_approval" else message
    if verdict.get("user_approved"):
        _clear_stale_interrupt()
    return None


def _clear_stale_interrupt() -> None:
    """Forget an interrupt that was set while the person was asked: it must not stop what they approved."""
    try:
        from tools.interrupt import clear_current_thread_interrupt
    except ImportError:
        return
    clear_current_thread_interrupt()


def _needs_approval() -> bool:
    """True in a gateway, in ask mode and in cron, by what the host's own approvals look at."""
    if any(_is_on(name) for name in ("HERMES_CRON_SESSION", "HERMES_GATEWAY_SESSION", "HERMES_EXEC_ASK")):
        return True
    try:
        from gateway.session_context import get_session_env
    except ImportError:
        return bool(os.environ.get("HERMES_SESSION_PLATFORM"))
    return bool(get_session_env("HERMES_SESSION_PLATFORM", ""))


def _is_on(name: str) -> bool:
    return os.environ.get(name, "").strip().lower() not in ("", "0", "false", "no", "off")


def _foreground_seconds() -> int:
    try:
        from tools.terminal_tool import FOREGROUND_MAX_TIMEOUT
    except ImportError:
        return FOREGROUND_SECONDS
    return int(FOREGROUND_MAX_TIMEOUT)
