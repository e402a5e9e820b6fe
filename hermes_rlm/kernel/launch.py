"""Start a kernel for a session: its directory, its bridge, its process, its registration."""

from __future__ import annotations

import os
import secrets
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

from .. import skills
from .._common import files
from .._common.config import read_config
from ..bridge import Bridge, BridgeError, Grant
from ..settings import Settings
from ..tool_arguments import TOOLS
from . import environment, registry
from .capture import spill_name
from .handle import Kernel, Plan


class Launched(NamedTuple):
    """A kernel and its temporary directory; None where there could be none."""

    kernel: Kernel
    directory: Path | None


def launch(
    home: Path,
    session_id: str,
    settings: Settings,
    *,
    task_id: str | None,
    cell: int,
    figures: Path,
    autosave: dict[str, Any] | None,
) -> Launched:
    """Start a kernel and register it; whatever fails leaves nothing behind.

    ``cell`` is the number of the session's last cell, ``figures`` where drawings go, ``autosave`` what the
    kernel needs to save itself when its host dies (None: it must not). Raises OSError.
    """
    kernel_id = secrets.token_hex(6)
    with ExitStack() as undo:
        directory = _directory(kernel_id)
        undo.callback(registry.leave, home, kernel_id, directory)
        grant = Grant.issue(session_id)
        bridge = _bridge(grant, directory)
        undo.callback(bridge.close)
        boot = {
            "session": session_id,
            "cell": cell,
            "bridge": bridge.address,
            "token": grant.token,
            "tools": list(TOOLS),
            "skills": _skills(home) if settings.enable_python_skills else [],
            "figures": str(figures),
            "script": str(directory / "script.py") if directory else None,
            "autosave": autosave,
        }
        state = home / "state" / "rlm"
        kernel = Kernel(
            Plan(
                kernel=kernel_id,
                python=environment.interpreter(settings.python),
                cwd=environment.working_directory(task_id),
                environment=environment.variables(kernel_id, home, grant.depth),
                bytecode=home / "cache" / "rlm" / "bytecode",
                spill_file=lambda stream: spill_name(state / "spill", kernel_id, stream),
                boot=boot,
                bridge=bridge,
            )
        )
        undo.callback(kernel.close)
        with suppress(OSError):  # a full disk; other processes do not see this kernel then
            registry.enter(home, _record(kernel, home, session_id, directory, grant))
        undo.pop_all()
    return Launched(kernel, directory)


def _directory(kernel_id: str) -> Path | None:
    try:
        return registry.make_directory(kernel_id)
    except OSError:
        return None


def _bridge(grant: Grant, directory: Path | None) -> Bridge:
    """The bridge in the kernel's directory, or over an inherited pair where that is not to be trusted."""
    try:
        return Bridge(grant, directory)
    except BridgeError:
        return Bridge(grant, None)


def _skills(home: Path) -> list[str]:
    return skills.directories(skills.scan(home, read_config(home)))


def _record(
    kernel: Kernel, home: Path, session_id: str, directory: Path | None, grant: Grant
) -> dict[str, Any]:
    return {
        "id": kernel.id,
        "session": session_id,
        "home": str(home),
        "pid": kernel.pid,
        "start_time": files.process_start_time(kernel.pid),
        "parent": os.getpid(),
        "parent_start": files.process_start_time(),
        "started_at": time.time(),
        "python": str(kernel.process.args[0]),
        "directory": str(directory or ""),
        "depth": grant.depth,
    }
