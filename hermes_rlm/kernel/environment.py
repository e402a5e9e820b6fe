"""What a kernel is started in: its working directory, its interpreter, its environment variables."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from . import process

# Words in the names of variables that hold secrets; the host strips by names as well.
_SECRET_WORDS = (
    *("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTH"),
    *("CREDS", "DSN", "WEBHOOK", "COOKIE", "BEARER", "PRIVATE"),
)
_SECRET_PARTS = frozenset(("PASS", "USERPASS", "PWD", "PW", "PIN", "PAT", "SAS"))
_NO_SECRETS = ("PWD", "OLDPWD")
# The host's state (yolo, interactive, cron, session) is not that of a hermes started from a cell.
_OF_THE_HOST = ("HERMES_", "_HERMES_")
_PASSED_ON = ("HERMES_PROFILE", "HERMES_CONFIG", "HERMES_ENV")
_cleaned: tuple[tuple[tuple[str, str], ...], dict[str, str]] = ((), {})


def variables(kernel: str, home: Path, depth: int) -> dict[str, str]:
    """The environment of a kernel: most of the host's, and the mark by which it is found again.

    Left out are variables whose name or value tells of a secret, unless the host passes them on to
    execute_code too (``terminal.env_passthrough``), and the host's own HERMES_* state.
    """
    return {
        "MPLBACKEND": "Agg",
        **_for_kernels(os.environ),
        "HERMES_HOME": str(home),
        "HERMES_RLM_DEPTH": str(depth),
        process.MARK: kernel,
    }


def interpreter(configured: str) -> str:
    """The kernel's Python: HERMES_RLM_PYTHON, else the host's own."""
    return configured or sys.executable or shutil.which("python3") or "python3"


def working_directory(task_id: str | None) -> str:
    """Where the session works: its terminal's directory, TERMINAL_CWD, the host's directory, home."""
    for candidate in (*_terminal_directories(task_id), os.environ.get("TERMINAL_CWD"), _own_directory()):
        directory = os.path.expanduser(candidate) if candidate else ""
        if os.path.isabs(directory) and os.path.isdir(directory) and os.access(directory, os.X_OK):
            return directory
    return os.path.expanduser("~") if os.path.isdir(os.path.expanduser("~")) else "/"


def _terminal_directories(task_id: str | None) -> Iterator[str | None]:
    """Where the session's terminal is, by both keys that the host may have filed it under."""
    read = getattr(sys.modules.get("tools.terminal_tool"), "get_session_cwd", None)
    current = getattr(sys.modules.get("tools.approval"), "get_current_session_key", None)
    try:
        for key in (current(default="") if current else "", task_id):
            found = read(key) if read and key else None
            yield found if isinstance(found, str) else None
    except Exception:  # a host's internals may change
        return


def _own_directory() -> str | None:
    try:
        return os.getcwd()
    except OSError:
        return None


def _for_kernels(environment: Mapping[str, str]) -> dict[str, str]:
    global _cleaned
    items = tuple(environment.items())
    if _cleaned[0] != items:
        passed = _passed_on()
        kept = {name: value for name, value in items if passed(name) or not _stays_here(name, value)}
        _cleaned = items, kept
    return _cleaned[1]


def _stays_here(name: str, value: str) -> bool:
    if name.startswith(_OF_THE_HOST) and name not in _PASSED_ON:
        return True
    words = name.upper()
    if any(word in words for word in _SECRET_WORDS) or _SECRET_PARTS.intersection(words.split("_")):
        return name not in _NO_SECRETS
    from .._common.redact import RedactionError, Redactor

    try:
        return Redactor().text(value) != value
    except RedactionError:
        return True


def _passed_on() -> Callable[[str], bool]:
    passthrough = sys.modules.get("tools.env_passthrough")
    ask = getattr(passthrough, "is_env_passthrough", None)

    def passed(name: str) -> bool:
        try:
            return bool(ask and ask(name))
        except Exception:  # a host's internals may change
            return False

    return passed
