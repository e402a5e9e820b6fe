"""What the host knows of where a call would run: working directory, backend, background processes.

Every function reads what the host keeps in memory and changes nothing; what cannot be read is None or "".
"""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple

from . import presence
from .judge.judge import Surroundings

# The tools that work where the terminal does; the others work on this machine, whatever the backend is.
IN_BACKEND = frozenset(("terminal", "execute_code", "process", "write_file", "patch"))
_MOST_DETECTED = 20_000  # characters up to which the host's detector is asked what it would say


class Backend(NamedTuple):
    """Where the terminal tool runs commands. `isolated`: the host asks about nothing there."""

    kind: str = "local"
    isolated: bool = False


def surroundings(args: dict[str, Any], task_id: str, hermes_home: str, backend: Backend) -> Surroundings:
    """Where a call with these arguments would run."""
    cwd = working_directory(args.get("workdir"), task_id, backend)
    home = os.path.expanduser("~")
    return Surroundings(cwd=cwd, home=home, hermes_home=hermes_home, is_container=backend.isolated)


def backend() -> Backend:
    """The terminal's backend; a local one when the host does not say."""
    terminal = sys.modules.get("tools.terminal_tool")
    if terminal is None:
        return Backend()
    try:
        config = terminal._get_env_config()
        kind = str(config.get("env_type") or "local")
        if kind == "local":
            return Backend()
        shared = bool(terminal._docker_has_host_access(config))
        return Backend(
            kind, bool(presence.gate()._should_skip_container_guards(kind, has_host_access=shared))
        )
    except Exception:  # a host of another version, or a setting it cannot read
        return Backend()


def working_directory(workdir: object, task_id: str, backend: Backend) -> str | None:
    """The directory a command would run in, as the terminal tool finds it; None when not known."""
    known = _session_directory(task_id)
    if known is None and backend.kind == "local":
        known = _default_directory()
    if not isinstance(workdir, str) or not workdir.strip():
        return known if known is None or os.path.isabs(known) else None
    given = os.path.expanduser(workdir) if backend.kind == "local" else workdir
    if os.path.isabs(given):
        return given
    return os.path.join(known, given) if known is not None and os.path.isabs(known) else None


def _session_directory(task_id: str) -> str | None:
    """The directory the session is in after its last command, or that was registered for it."""
    terminal = sys.modules.get("tools.terminal_tool")
    if terminal is None:
        return None
    try:
        key = presence.gate().get_current_session_key(default="") or task_id
        found = terminal.get_session_cwd(key) or terminal.resolve_task_overrides(task_id).get("cwd")
        found = found or terminal.get_session_cwd(task_id)
    except Exception:  # a host of another version
        return None
    return found if isinstance(found, str) and found else None


def _default_directory() -> str | None:
    try:
        return os.path.abspath(os.path.expanduser(os.environ.get("TERMINAL_CWD") or os.getcwd()))
    except OSError:  # it was removed
        return None


class Process(NamedTuple):
    """A background process of the host: the command it was started with, where, and if at a terminal."""

    command: str
    cwd: str | None
    is_terminal: bool = False


def process(session_id: str) -> Process | None:
    """A running background process by the host's id. None: there is none, so it takes no input.

    A host whose registry cannot be read gives a process whose command is "".
    """
    module = sys.modules.get("tools.process_registry")
    if module is None:
        return None
    try:
        found = module.process_registry._running.get(session_id)
        if found is None:
            return None
        return Process(str(found.command), found.cwd, getattr(found, "_pty", None) is not None)
    except Exception:  # a host of another version
        return Process("", None, True)


def host_asks(tool: str, text: str, here: presence.Presence, backend: Backend, smart: str) -> bool:
    """Will the host's own gate ask the person who is here about this same text?

    In its smart mode a model may answer in the person's place; `smart` "trust" takes that for an answer.
    """
    if not here.person or here.bypassed or backend.isolated:
        return False
    if not here.reachable and not (tool == "terminal" and presence.asks_itself()):
        return False
    try:
        approval = presence.gate()
        if approval._get_approval_mode() != "manual" and smart != "trust":
            return False
        key = approval.get_current_session_key()
        if tool in ("execute_code", "rlm_exec"):
            return here.who == presence.CHAT and not approval.is_approved(key, "execute_code")
        if tool != "terminal" or len(text) > _MOST_DETECTED:
            return False
        if approval._command_matches_permanent_allowlist(text):
            return False
        dangerous, pattern, _ = approval.detect_dangerous_command(text)
        return bool(dangerous) and not approval.is_approved(key, pattern)
    except Exception:  # a host of another version: better asked twice than not at all
        return False
