"""Doctor: can kernels work here, and what is to be done where they cannot?"""

from __future__ import annotations

import importlib
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import __version__, examination
from . import settings as settings_of
from ._common import config, copies
from ._common.report import Report, examine_installation
from ._common.terminal import printable

TOOLSET = "rlm"
# What of the host the plugin calls, and what is lost without it.
HOST_FUNCTIONS = (
    (
        "tools.approval",
        "check_execute_code_guard",
        "scripts are not checked, and refused where a person decides",
    ),
    ("model_tools", "handle_function_call", "kernels cannot call the host's tools"),
    ("tools.interrupt", "is_interrupted", "a stop by the user does not reach a running cell"),
)


def examine(home: Path) -> Report:
    """Examine one home: is a copy loaded, are its tools offered, can a kernel start and save?"""
    report = Report("kernels work")
    found = copies.find(home, "hermes-rlm")
    here = Path(__file__).resolve().parent
    known = config.read_config(home).known
    examine_installation(report, "hermes-rlm", found, here, is_config_known=known)
    read = config.read_config(home)
    if not read.known:
        report.wrong("config", f"the host's config cannot be read: {read.problem}; mend it")
    _visibility(report, read)
    _host_functions(report)
    interpreter = ""
    if examination.platform_works(report):
        wanted = _settings(report, home)
        interpreter = examination.interpreter(report, wanted)
        examination.home(report, home)
        examination.temporary_directory(report)
        examination.signing_key(report, home)
        examination.checkpoints(report, home)
        examination.kernels(report, home)
    report.line = _bug_report(report, found, interpreter)
    return report


def _visibility(report: Report, read: config.HostConfig) -> None:
    """Is the toolset offered to the model, and on which platforms is it not?"""
    disabled = read.get("agent.disabled_toolsets")
    if isinstance(disabled, (list, tuple)) and TOOLSET in disabled:
        report.wrong(
            "tools hidden",
            f"agent.disabled_toolsets of the host's config names {TOOLSET!r}: take it out to offer the tools",
        )
    chosen, seen = read.get("platform_toolsets"), read.get("known_plugin_toolsets")
    if not isinstance(chosen, Mapping) or not isinstance(seen, Mapping):
        return
    hidden = [
        str(name)
        for name, toolsets in seen.items()
        if _names(toolsets, TOOLSET) and name in chosen and not _names(chosen[name], TOOLSET)
    ]
    if hidden:
        report.facts.append(f"tools switched off with `hermes tools` on: {', '.join(sorted(hidden))}")


def _names(toolsets: Any, name: str) -> bool:
    return isinstance(toolsets, (list, tuple)) and name in toolsets


def _host_functions(report: Report) -> None:
    """Inside the host: does it still have what the plugin calls? Elsewhere nothing can be said."""
    if "hermes_cli" not in sys.modules:
        report.facts.append(
            "not run by the host: what it has to offer is not checked; use `hermes rlm doctor`"
        )
        return
    for module, name, loss in HOST_FUNCTIONS:
        try:
            found = getattr(importlib.import_module(module), name, None)
        except Exception as error:  # a host's module may fail in any way when it is imported
            found, loss = None, f"{loss} ({type(error).__name__}: {error})"
        if not callable(found):
            report.wrong(
                "host changed", f"{module}.{name} is missing: {loss}; look for an update of hermes-rlm"
            )


def _settings(report: Report, home: Path) -> settings_of.Settings:
    wanted = settings_of.load(home)
    for problem in wanted.problems:
        report.wrong("settings", problem)
    for row in settings_of.describe(home):
        if row.knob.kind == "flag" and not row.value:
            report.facts.append(f"off by {row.knob.name}=0 ({row.source}): {row.knob.does}")
        elif row.source != "default":
            report.facts.append(f"{row.knob.name}={settings_of.shown(row.knob, row.value)} ({row.source})")
    return wanted


def _bug_report(report: Report, found: list[copies.Copy], interpreter: str) -> str:
    """One line without paths, ids or names of the user's."""
    host = "unknown"
    try:
        from importlib.metadata import version

        host = version("hermes-agent")
    except Exception:
        pass
    kinds = "+".join(f"{copy.kind}{'' if copy.active else '(inactive)'}" for copy in found) or "none"
    return printable(
        f"hermes-rlm {__version__}, hermes-agent {host}, Python {platform.python_version()}, "
        f"kernels {interpreter or 'unknown'}, {platform.system()} {platform.machine()}, "
        f"status {report.status}, copies {kinds}"
    )
