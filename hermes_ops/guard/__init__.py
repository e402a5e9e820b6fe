"""The command guard: reads what a tool call would run, judges it, and answers the host."""

from __future__ import annotations

import threading
from typing import Any

# The tools whose calls are judged; a call of another one costs a look into this set.
TOOLS = frozenset(
    ("terminal", "execute_code", "rlm_exec", "process", "cronjob", "write_file", "patch", "skill_manage")
)
_is_warming = False


def pre_tool_call(tool_name: Any = "", **told: Any) -> dict[str, str] | None:
    """The callback that the host is given; the guard is loaded by the first call that it judges."""
    if not isinstance(tool_name, str) or tool_name not in TOOLS:
        return None
    try:
        from .hook import judged_call
    except (Exception, SystemExit) as error:  # a broken installation must not let everything through
        return _not_loaded(tool_name, error)
    return judged_call(tool_name, told)


def pre_llm_call(**_: Any) -> None:
    """Load the guard beside the first question to a model, whose answer takes longer than that."""
    global _is_warming
    if _is_warming:
        return
    _is_warming = True
    threading.Thread(target=_warm_up, name="hermes-ops-guard", daemon=True).start()


def _warm_up() -> None:
    try:
        from .hook import warm_up
    except (Exception, SystemExit):  # said when a call is judged
        return
    warm_up()


def _not_loaded(tool_name: str, error: BaseException) -> dict[str, str]:
    import logging

    logging.getLogger(__name__).warning("hermes-ops: the guard cannot be loaded", exc_info=True)
    why = f"hermes-ops: the guard cannot be loaded ({type(error).__name__}), so nothing can be judged."
    try:
        from . import presence

        if presence.look().who == presence.NOBODY:
            return {"action": "block", "message": f"BLOCKED: {why} Nobody can be asked here."}
    except Exception:  # then the host finds out who is there
        pass
    return {"action": "approve", "message": why, "rule_key": f"hermes-ops:guard.error:{tool_name}"}
