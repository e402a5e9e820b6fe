"""Where Hermes keeps its data, and private directories below it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

_HOST_MODULE = "hermes_constants"
_host_is_missing = False


def hermes_home() -> Path:
    """The home of the profile this call runs in; never created, never cached.

    The host's own `get_hermes_home()` answers when its module is loaded or can be imported: inside one
    gateway the home may differ from task to task. Without the host the same rule is applied here:
    `HERMES_HOME`, else the platform's default (`~/.hermes`, on Windows `%LOCALAPPDATA%\\hermes`).
    `HOME` is only that last default, because inside a profile it may be `<profile>/home`.
    """
    host = _host_constants()
    if host is not None:
        return Path(host.get_hermes_home())
    named = os.environ.get("HERMES_HOME", "").strip()
    if named:
        return Path(named)
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", "").strip()
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "hermes"
    return Path.home() / ".hermes"


def private_dir(path: str | os.PathLike[str]) -> Path:
    """Make `path` and every missing directory above it with mode 0700; return it.

    What exists keeps its mode: a home shared by a group stays shared. Raises OSError (NotADirectoryError
    when something else stands in the way).
    """
    directory = Path(path)
    missing = []
    step = directory
    while not step.exists() and step != step.parent:
        missing.append(step)
        step = step.parent
    for step in reversed(missing):
        step.mkdir(mode=0o700, exist_ok=True)
    if not directory.is_dir():
        raise NotADirectoryError(f"{directory} is not a directory")
    return directory


def _host_constants() -> ModuleType | None:
    """The host's constants module: loaded, or imported once (it depends on the standard library alone)."""
    global _host_is_missing
    module = sys.modules.get(_HOST_MODULE)
    if module is None and not _host_is_missing:
        from importlib import import_module
        from importlib.util import find_spec

        try:
            module = import_module(_HOST_MODULE) if find_spec(_HOST_MODULE) else None
        except ImportError:
            module = None
        _host_is_missing = module is None
    return module if callable(getattr(module, "get_hermes_home", None)) else None
