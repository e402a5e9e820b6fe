"""What a kernel is started in: its working directory, its interpreter, its environment variables."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from . import process

# Words in the names of variables that hold secrets; the host strips by names as well.
_SECRET_WORDS = (
    *("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTH"),
    *("DSN", "WEBHOOK", "COOKIE", "BEARER", "PRIVATE"),
)
_INTERNAL = ("HERMES_RLM_", "HERMES_RPC_")
_cleaned: tuple[tuple[tuple[str, str], ...], dict[str, str]] = ((), {})


def variables(kernel: str, home: Path, depth: int) -> dict[str, str]:
    """The environment of a kernel: the host's without secrets, and the mark by which it is found again.

    Left out are variables whose name or value tells of a secret, unless the host passes them on to
    execute_code too (``terminal.env_passthrough``).
    """
    return {
        "MPLBACKEND": "Agg",
        **_without_secrets(os.environ),
        "HERMES_HOME": str(home),
        "HERMES_RLM_DEPTH": str(depth),
        process.MARK: kernel,
    }


def interpreter(configured: str) -> str:
    """The kernel's Python: HERMES_RLM_PYTHON, else the host's own."""
    return configured or sys.executable or shutil.which("python3") or "python3"


def working_directory(task_id: str | None) -> str:
    """Where the session works: its terminal's directory, TERMINAL_CWD, the host's directory, home."""
    for candidate in (_terminal_directory(task_id), os.environ.get("TERMINAL_CWD"), _own_directory()):
        directory = os.path.expanduser(candidate) if candidate else ""
        if os.path.isabs(directory) and os.path.isdir(directory) and os.access(directory, os.X_OK):
            return directory
    return os.path.expanduser("~") if os.path.isdir(os.path.expanduser("~")) else "/"


def _terminal_directory(task_id: str | None) -> str | None:
    terminal = sys.modules.get("tools.terminal_tool")
    read = getattr(terminal, "get_session_cwd", None)
    try:
        found = read(task_id) if read and task_id else None
    except Exception:  # a host's internals may change
        return None
    return found if isinstance(found, str) else None


def _own_directory() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None


def _without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    global _cleaned
    items = tuple(environment.items())
    if _cleaned[0] != items:
        passed = _passed_on()
        kept = {name: value for name, value in items if passed(name) or not _is_secret(name, value)}
        _cleaned = items, kept
    return _cleaned[1]


def _is_secret(name: str, value: str) -> bool:
    if name.startswith(_INTERNAL):
        return True
    if any(word in name.upper() for word in _SECRET_WORDS):
        return True
    from .._common.redact import RedactionError, Redactor

    try:
        return Redactor().text(value) != value
    except RedactionError:
        return True


def _passed_on():
    passthrough = sys.modules.get("tools.env_passthrough")
    ask = getattr(passthrough, "is_env_passthrough", None)

    def passed(name: str) -> bool:
        try:
            return bool(ask and ask(name))
        except Exception:  # a host's internals may change
            return False

    return passed
