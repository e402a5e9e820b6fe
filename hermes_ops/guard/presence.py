"""Who would answer a question of the guard here, and what becomes of a verdict because of that."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

from .verdict import Verdict

TERMINAL, CHAT, NOBODY, UNKNOWN = "terminal", "chat", "nobody", "unknown"
ALLOW, ASK, BLOCK = "allow", "ask", "block"

CRON_SESSION = "cron_"
_TRUE = frozenset({"1", "true", "yes", "on"})
# Callbacks with which the host answers in a person's place, by the module they are from.
_AUTOMATIC = frozenset({"tools.delegate_tool", "agent.background_review"})


@dataclass(frozen=True, slots=True)
class Presence:
    """Who is there: at this "terminal", in a "chat", "nobody", or "unknown" when the host cannot be asked.

    `reason` says why nobody is, or why the person that is there is not `reachable`: the host's gate would
    answer in their place. `bypassed`: prompts are switched off (yolo, `approvals.mode: off`).
    """

    who: str
    reason: str = ""
    bypassed: bool = False
    reachable: bool = True

    @property
    def person(self) -> bool:
        return self.who in (TERMINAL, CHAT)


def answer(
    verdict: Verdict,
    presence: Presence,
    unattended: str = BLOCK,
    *,
    approved: bool = False,
    withheld: bool = False,
) -> str:
    """What to do: "allow", "ask" (give the host's gate the word) or "block".

    `unattended` is what becomes of an ask where nobody can be asked. `approved`: a person has already said
    yes to exactly this, for the session or always. `withheld`: the host will ask the same person itself.
    A block is a block everywhere; yolo without a person is nobody.
    """
    if verdict is Verdict.BLOCK:
        return BLOCK
    if verdict is Verdict.ALLOW or approved:
        return ALLOW
    if presence.who == NOBODY:
        return unattended if unattended in (ALLOW, ASK) else BLOCK
    if presence.person and (presence.bypassed or withheld):
        return ALLOW
    return ASK if presence.reachable else BLOCK


def look(session_id: str = "") -> Presence:
    """See who is there, in the order in which the host's own gate would. Never raises."""
    try:
        return _look(session_id)
    except Exception as error:  # the boundary to a host of another version
        return Presence(UNKNOWN, f"the host could not be asked ({type(error).__name__})")


def is_cron(session_id: str) -> bool:
    """Is this call a scheduled job's? By its session, never by what the process has in its environment.

    The host leaves HERMES_CRON_SESSION set for the rest of the process after the first job. A call from
    inside a script has no session id; then the one bound in this context counts.
    """
    return (session_id or context_variable("_SESSION_ID")).startswith(CRON_SESSION)


def context_variable(name: str) -> str:
    """A session variable as it is bound in this context; "" when it is not, whatever the environment says."""
    module = sys.modules.get("gateway.session_context")
    variable = getattr(module, name, None)
    value = variable.get() if variable is not None else ""
    return value if isinstance(value, str) else ""


def gate() -> Any:
    """The host's module of approvals. Raises ImportError without the host."""
    module = sys.modules.get("tools.approval")
    if module is None:
        from importlib import import_module

        module = import_module("tools.approval")
    return module


def asks_itself() -> bool:
    """Does the host ask about commands of its own accord in this process, whatever else it takes it for?"""
    return _set("HERMES_EXEC_ASK")


def approved_before(rule_key: str) -> bool:
    """Has a person answered "session" or "always" to this key of ours?"""
    try:
        approval = gate()
        return bool(approval.is_approved(approval.get_current_session_key(), f"plugin_rule:{rule_key}"))
    except Exception:  # a host that keeps its answers elsewhere: its gate knows them
        return False


def _look(session_id: str) -> Presence:
    approval = gate()
    bypassed = bool(approval.is_approval_bypass_active())
    if is_cron(session_id):
        return Presence(NOBODY, "a scheduled job", bypassed)
    interactive = bool(approval._is_interactive_cli())
    in_gateway = bool(approval._is_gateway_approval_context())
    asks_chat = in_gateway or (interactive and asks_itself())
    if _notifies(approval):
        if asks_chat or bypassed:
            return Presence(CHAT, "", bypassed)
        reason = "a scheduled job has run in this process, and the host takes every session for one since"
        return Presence(CHAT, reason, bypassed, reachable=False)
    if asks_chat:
        return Presence(NOBODY, "a request without a chat to ask in", bypassed)
    if not interactive:
        return Presence(NOBODY, "no terminal and no chat belong to this session", bypassed)
    return _at_terminal(bypassed)


def _at_terminal(bypassed: bool) -> Presence:
    callback = _prompt_callback()
    if callback is None:
        if _is_terminal(sys.stdin) and _is_terminal(sys.stdout):
            return Presence(TERMINAL, "", bypassed)
        return Presence(NOBODY, "no terminal is attached", bypassed)
    if getattr(callback, "__module__", "") in _AUTOMATIC:
        return Presence(NOBODY, "a sub-agent, which cannot ask", bypassed)
    if getattr(getattr(callback, "__self__", None), "_app", True) is None:
        # `chat -q` gives the agent the prompt of the terminal's screen and starts no screen.
        return Presence(NOBODY, "a single query at the command line takes no answers", bypassed)
    return Presence(TERMINAL, "", bypassed)


def _notifies(approval: Any) -> bool:
    with approval._lock:
        return approval._gateway_notify_cbs.get(approval.get_current_session_key()) is not None


def _prompt_callback() -> Any:
    module = sys.modules.get("tools.terminal_tool")
    return module._get_approval_callback() if module is not None else None


def _is_terminal(stream: Any) -> bool:
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError, OSError):
        return False


def _set(variable: str) -> bool:
    return os.environ.get(variable, "").strip().lower() in _TRUE
