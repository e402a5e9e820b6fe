"""The plugin behind ten functions, for cases that were written without knowing it.

    start(**environment)      a throwaway home, kept as HOME, and the plugin loaded
    run, reset, save, restore, pid, evict, stop_all, register, norm

Needs the real host where a case uses it. `norm` turns a reply into {ok, value, out, err, note, raw}: the
value as its repr, stdout and stderr together, the error's text, and notes with warnings.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

HOST_TOOLS = ("read_file", "write_file", "search_files", "patch", "terminal", "web_search", "web_extract")
CONFIG = {
    "_config_version": 33,
    "approvals": {"mode": "manual"},
    "security": {"allow_lazy_installs": False, "tirith_enabled": False},
    "terminal": {"backend": "local"},
}

HOME = ""
_tools: dict[str, Any] = {}


def start(**environment: str) -> None:
    """Make a throwaway home and load the plugin; further variables are set first."""
    global HOME
    HOME = os.path.realpath(tempfile.mkdtemp(prefix="kernel-case-"))
    Path(HOME, "config.yaml").write_text(json.dumps(CONFIG), "utf-8")
    os.environ.update({"HERMES_HOME": HOME, "HERMES_SAFE_MODE": "", **environment})
    from hermes_rlm import tools

    _tools.update({tool.name: tool.handler for tool in tools.TOOLS})


def _call(tool: str, arguments: dict[str, Any], session: str) -> dict[str, Any]:
    from hermes_rlm import hooks

    told = {"session_id": session, "task_id": session}
    hooks.llm_request({"tools": [{"function": {"name": name}} for name in HOST_TOOLS]}, **told)
    hooks.pre_tool_call(tool, tool_call_id="call_1", **told)
    return norm(_tools[tool](arguments, **told))


def run(code: str, session: str = "s", timeout: float = 30) -> dict[str, Any]:
    return _call("rlm_exec", {"code": code, "timeout": timeout}, session)


def reset(session: str = "s") -> dict[str, Any]:
    return _call("rlm_reset", {}, session)


def save(session: str = "s", name: str = "latest") -> dict[str, Any]:
    answer = _call("rlm_checkpoint", {"action": "save", "name": name}, session)
    told = json.loads(answer["raw"])
    return {
        **answer,
        "checkpoint": told.get("path"),
        "pruned": told.get("pruned"),
        "error": told.get("error"),
    }


def restore(session: str = "s", name: str = "latest") -> dict[str, Any]:
    answer = _call("rlm_checkpoint", {"action": "restore", "name": name}, session)
    return {**answer, "error": json.loads(answer["raw"]).get("error")}


def pid(session: str = "s") -> int | None:
    """The process of the session's kernel, None when it has none."""
    from hermes_rlm.kernel.pool import POOL

    found = POOL.known(Path(HOME), session)
    return found.kernel.pid if found is not None and found.kernel is not None else None


def evict(session: str = "s") -> dict[str, Any]:
    """What the cap on kernels does to the one that was idle longest."""
    from hermes_rlm.kernel.pool import POOL

    found = POOL.known(Path(HOME), session)
    return {"ok": bool(found is not None and POOL._evict(found))}


def stop_all() -> None:
    """End every kernel, saving nothing, and remove the home."""
    import shutil

    from hermes_rlm.kernel.pool import POOL

    POOL.end_all("the case is over", -1)
    shutil.rmtree(HOME, ignore_errors=True)


def register(ctx: Any) -> None:
    import hermes_rlm

    hermes_rlm.register(ctx)


def norm(raw: str) -> dict[str, Any]:
    """A reply as a case reads it."""
    told = json.loads(raw)
    notes = [told.get("note", ""), told.get("warning", "")]
    return {
        "ok": told.get("ok") is True,
        "value": told.get("value"),
        "out": told.get("stdout", "") + told.get("stderr", ""),
        "err": told.get("error", ""),
        "note": "\n".join(filter(None, notes)),
        "raw": raw,
    }
