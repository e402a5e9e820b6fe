"""The rlm_* tools: what the model is told of them, and thin handlers.

A handler takes the arguments and keywords of the host and returns one JSON text; it never raises.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import hooks, reply, sessions
from . import settings as settings_
from ._common.home import hermes_home

logger = logging.getLogger(__name__)

TOOLSET = "rlm"
DEFAULT_SECONDS, MOST_SECONDS = 300, 3600
MOST_CODE = 1_000_000
VARIABLES_SHOWN = 40
UNSUPPORTED = (
    "hermes-rlm needs Linux or macOS (on Windows: WSL): kernels use process groups, signals and Unix sockets"
)


class Problem(Exception):
    """What is wrong with a call, for the model."""


@dataclass(frozen=True)
class Call:
    """One call of a tool: whose it is, in which home, under which settings."""

    session_id: str
    task_id: str
    home: Path
    settings: settings_.Settings

    @classmethod
    def of(cls, keywords: dict[str, Any]) -> Call:
        home = hermes_home()
        return cls(sessions.of_call(keywords), str(keywords.get("task_id") or ""), home, settings_.load(home))

    def session(self) -> Any:
        from .kernel.pool import POOL

        return POOL.session(self.home, self.session_id)

    def known(self) -> Any:
        from .kernel.pool import POOL

        return POOL.known(self.home, self.session_id)


def rlm_exec(arguments: dict[str, Any], call: Call) -> dict[str, Any]:
    """Run a cell in the session's kernel."""
    from .dispatch import whole_script_check

    code = arguments.get("code")
    if not isinstance(code, str) or not code.strip():
        raise Problem("code must be a text of Python code")
    if len(code) > MOST_CODE:
        raise Problem(
            f"code has {len(code):,} characters; at most {MOST_CODE:,}: read data from a file instead"
        )
    seconds = _seconds(arguments.get("timeout"))
    refusal = whole_script_check(code)
    if refusal is not None:
        raise Problem(refusal)
    session, until = call.session(), time.monotonic() + seconds
    caller = _caller(call, until)
    with session.turn(seconds, caller.interrupted):
        ran = session.run(code, max(0.1, until - time.monotonic()), call.settings, caller)
        return _ran(ran, session, call.settings, seconds)


def rlm_vars(arguments: dict[str, Any], call: Call) -> dict[str, Any]:
    """List the variables of the session's kernel."""
    session = call.known()
    if session is None or session.kernel is None:
        return {"ok": True, "note": _without_kernel(session), "variables": []}
    caller = _caller(call, time.monotonic() + 10)
    from .kernel.session import Busy

    try:
        with session.turn(0.5, caller.interrupted):
            found = session.variables(call.settings, caller)
    except Busy:
        note = f"cell {session.cell} has been running for {session.busy_seconds:.0f} s; names as of before it"
        return {"ok": True, "note": note, "names": sorted(session.names)[:200]}
    if found is None:
        return {"ok": True, "note": _without_kernel(session), "variables": []}
    if not found.get("ok"):
        return {"ok": False, "error": found.get("error")}
    rows = found["variables"][:VARIABLES_SHOWN]
    more = found["more"] + len(found["variables"]) - len(rows)
    return {"ok": True, "variables": rows, "note": f"{more} more, assigned earlier" if more else ""}


def _without_kernel(session: Any) -> str:
    if session is not None and session.pending:
        return f"there is no kernel: {session.pending}; the next rlm_exec starts one and says what is lost"
    return "no kernel runs yet; rlm_exec starts one"


def rlm_reset(arguments: dict[str, Any], call: Call) -> dict[str, Any]:
    """End the session's kernel and discard its state."""
    session = call.session()
    with session.turn(30, _interrupted()):
        had = session.reset()
    return {"ok": True, "note": "kernel ended, its state is discarded" if had else "there was no state"}


def rlm_skills(arguments: dict[str, Any], call: Call) -> dict[str, Any]:
    """List the Python-backed skills."""
    from . import skills
    from ._common.config import read_config

    return {"ok": True, **skills.report(skills.scan(call.home, read_config(call.home)))}


def rlm_checkpoint(arguments: dict[str, Any], call: Call) -> dict[str, Any]:
    """Save, restore, list or delete checkpoints."""
    from .checkpoint_tool import ACTIONS

    action = arguments.get("action")
    if not isinstance(action, str) or action not in ACTIONS:
        raise Problem(f"action must be one of {', '.join(ACTIONS)}")
    if not call.settings.enable_checkpoint:
        raise Problem("checkpoints are disabled by the operator (HERMES_RLM_ENABLE_CHECKPOINT=0)")
    return ACTIONS[action](arguments, call, _caller(call, time.monotonic() + DEFAULT_SECONDS))


def _ran(ran: Any, session: Any, settings: settings_.Settings, seconds: float) -> dict[str, Any]:
    """The fields of a reply to rlm_exec."""
    answer = ran.answer
    told = answer.reply or {}
    stderr = reply.output(answer.stderr)
    fields: dict[str, Any] = {
        "ok": bool(told.get("ok")) and not answer.death,
        "value": told.get("value"),
        "stdout": reply.output(answer.stdout),
        "stderr": reply.without_our_frames(stderr) if answer.death else stderr,
        "figures": told.get("figures"),
        "note": "; ".join(ran.notes + list(told.get("notes", ()))),
    }
    error = _error(ran, session, settings, seconds)
    if error or not fields["ok"]:
        fields["ok"] = bool(told.get("ok")) and not answer.death and answer.stopped != "memory"
        fields["error" if not fields["ok"] else "warning"] = error
        fields["kernel"] = {"cell": ran.cell, "assigned": list(told.get("assigned", ()))[:40]}
    used = max(answer.memory, session.memory)
    if fields["ok"] and used > settings.max_rss_mb << 20:
        fields["warning"] = _memory_warning(used, settings)
    return fields


_STOPPED = {
    "time": "timed out: exceeded {seconds:g} s",
    "user": "stopped by the user",
    "host": "stopped: the host is shutting down",
    "memory": "stopped: the kernel used more than {limit} MB (HERMES_RLM_MAX_RSS_MB)",
}


def _error(ran: Any, session: Any, settings: settings_.Settings, seconds: float) -> str:
    """What went wrong, in the order in which it matters: stopped, dead, raised."""
    answer = ran.answer
    told = answer.reply or {}
    said = []
    if answer.stopped:
        said.append(_STOPPED[answer.stopped].format(seconds=seconds, limit=settings.max_rss_mb))
    if answer.death:
        said.append(f"the kernel {answer.death}; the next call starts a new one")
        if settings.python and ran.is_first:
            said.append(f"its Python is HERMES_RLM_PYTHON={settings.python}")
        if answer.salvaged and answer.salvaged.get("ok"):
            said.append(f"saved before that: {len(answer.salvaged.get('saved', ()))} variables")
    elif answer.stopped == "memory":
        said.append(f"the kernel was ended; its variables are {'saved' if ran.saved else 'lost'}")
    elif answer.stopped and told.get("interrupted"):
        said.append("the cell was interrupted; the kernel and its variables are kept")
    elif answer.stopped:
        said.append("the cell ended by itself after it was interrupted")
    return "\n".join(filter(None, ["; ".join(said), told.get("error", "")]))


def _memory_warning(used: int, settings: settings_.Settings) -> str:
    return (
        f"the kernel uses {used >> 20:,} MB, more than {settings.max_rss_mb:,} MB (HERMES_RLM_MAX_RSS_MB); "
        "rlm_vars shows what is large: del it, or rlm_checkpoint save and rlm_reset"
    )


def _caller(call: Call, until: float) -> Any:
    """What a session needs to know of this call, taken from the host on this thread."""
    from .dispatch import HostTools, OuterCall
    from .kernel.session import Caller

    told = hooks.call_of(call.session_id)
    outer = OuterCall(
        session_id=call.session_id,
        task_id=call.task_id,
        turn_id=told.get("turn_id", ""),
        api_request_id=told.get("api_request_id", ""),
        tool_call_id=told.get("tool_call_id", ""),
    )
    tools = HostTools(
        outer,
        lambda: hooks.granted(call.session_id, outer.turn_id),
        lambda: until - time.monotonic(),
    )
    interrupted = _interrupted()
    serve = _until_stopped(tools.call, interrupted)
    return Caller(interrupted, _activity(), serve, call.task_id or None, until)


def _until_stopped(
    call: Callable[[str, dict[str, Any]], Any], interrupted: Callable[[], bool]
) -> Callable[[str, dict[str, Any]], Any]:
    """Serve calls so that a stop which ends one of them ends the cell, instead of becoming its value."""
    from .bridge import CallError

    def serve(tool: str, arguments: dict[str, Any]) -> Any:
        value = call(tool, arguments)
        if interrupted():
            raise CallError(f"stopped by the user while {tool} ran")
        return value

    return serve


def _interrupted() -> Callable[[], bool]:
    """The host's flag for the user's stop; it is one of this thread."""
    module = sys.modules.get("tools.interrupt")
    return getattr(module, "is_interrupted", None) or (lambda: False)


def _activity() -> Callable[[], None]:
    """Keep the gateway from taking a long call for a hanging one."""
    touch = getattr(sys.modules.get("tools.environments.base"), "touch_activity_if_due", None)
    if touch is None:
        return lambda: None
    now = time.monotonic()
    state = {"last_touch": now, "start": now}
    return lambda: touch(state, "rlm_exec running")


def _seconds(value: Any) -> float:
    if value in (None, "", 0):
        return DEFAULT_SECONDS
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        seconds = -1.0
    if isinstance(value, bool) or not 0 < seconds <= MOST_SECONDS:
        raise Problem(f"timeout must be a number of seconds up to {MOST_SECONDS}")
    return seconds


@dataclass(frozen=True)
class Tool:
    """A tool as it is registered."""

    run: Callable[[dict[str, Any], Call], dict[str, Any]]
    description: str
    parameters: dict[str, Any]
    feature: str = ""  # the field of Settings that switches it

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def schema(self) -> dict[str, Any]:
        """The function object that the host sends to the model."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters}

    def handler(self, arguments: Any, **keywords: Any) -> str:
        """Run the tool for the host; every failure is a reply."""
        try:
            if sys.platform == "win32":
                raise Problem(UNSUPPORTED)
            return reply.text(self.run(arguments if isinstance(arguments, dict) else {}, Call.of(keywords)))
        except Exception as error:
            from .kernel.session import Busy

            if not isinstance(error, (Problem, Busy)):
                logger.exception("%s failed", self.name)
            shown = str(error) if isinstance(error, (Problem, Busy)) else f"{type(error).__name__}: {error}"
            return reply.text({"ok": False, "error": shown})


def _object(required: tuple[str, ...] = (), **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


TOOLS = (
    Tool(
        rlm_exec,
        "Run Python in this session's persistent kernel, like a notebook cell: variables, imports and files "
        "stay for later calls; the last expression comes back as `value`. Load data once, bind results to "
        "names, and print short summaries, never whole data. read_file, write_file, search_files, patch, "
        "terminal, web_search and web_extract are functions in it that return Python values. Top-level "
        "await works. Long output is cut and kept in a file that the reply names.",
        _object(
            ("code",),
            code={"type": "string", "description": "Python source"},
            timeout={"type": "integer", "description": "seconds, default 300; then the cell is interrupted"},
        ),
    ),
    Tool(
        rlm_vars,
        "List the kernel's variables: name, type, size, short preview, and the cell that assigned each.",
        _object(),
    ),
    Tool(rlm_reset, "End the kernel and discard all its variables, for good.", _object()),
    Tool(
        rlm_skills,
        "List skills that are Python modules importable in rlm_exec, and why others are not.",
        _object(),
        "enable_python_skills",
    ),
    Tool(
        rlm_checkpoint,
        "Save the kernel's variables to disk under a name, restore them, list or delete checkpoints. The "
        "reply names what could not be saved and why. restore keeps newer values unless overwrite is true.",
        _object(
            ("action",),
            action={"type": "string", "enum": ["save", "restore", "list", "delete"]},
            name={"type": "string", "description": 'default "latest"; "autosave" is made by itself'},
            overwrite={"type": "boolean"},
            allow_cross_session={"type": "boolean", "description": "also those of other sessions"},
        ),
        "enable_checkpoint",
    ),
)
