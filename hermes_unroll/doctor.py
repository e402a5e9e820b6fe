"""Doctor: does recording work here, and what is to be done where it does not?"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path

from . import __version__, catalog, journal, presence
from . import settings as settings_of
from ._common import config, copies, files
from ._common.home import private_dir
from ._common.report import Report, examine_installation
from .tracer import UNATTRIBUTED

IMPORT_SECONDS = 20
_FAILED = re.compile(r"Failed to load plugin '[^']*hermes[-_]unroll'?: (.*)")
_IMPORT = """
import importlib.util, sys, types
sys.modules["hermes_plugins"] = parent = types.ModuleType("hermes_plugins")
parent.__path__ = []
name = "hermes_plugins.hermes_unroll"
spec = importlib.util.spec_from_file_location(name, sys.argv[1] + "/__init__.py",
                                              submodule_search_locations=[sys.argv[1]])
module = importlib.util.module_from_spec(spec)
sys.modules[name] = module
spec.loader.exec_module(module)
importlib.import_module(name + ".registration")
"""


def examine(home: Path) -> Report:
    """Examine one home: is a copy loaded, do hooks fire, is anything kept from being recorded?"""
    report = Report("recording works")
    found = copies.find(home, "hermes-unroll")
    here = Path(__file__).resolve().parent
    known = config.read_config(home).known
    examine_installation(report, "hermes-unroll", found, here, is_config_known=known)
    _imports(report, home, found)
    _settings(report, home)
    _writing(report, home)
    _activity(report, home, found)
    report.line = _bug_report(report, found)
    return report


def _imports(report: Report, home: Path, found: list[copies.Copy]) -> None:
    for copy in found:
        if copy.active and os.path.isdir(copy.path):
            problem = _import_problem(copy.path)
            if problem:
                report.wrong("broken import", f"{copy.path} cannot be imported: {problem}; install it again")
    if not any(status == "broken import" for status, _ in report.findings):
        failure = _logged_failure(home)
        if failure:
            report.facts.append(f"the host's log tells of an earlier failure to load it: {failure}")


def _import_problem(path: str) -> str | None:
    """Import a copy in a process of its own, as the host does; return what went wrong."""
    command = [sys.executable, "-I", "-c", _IMPORT, path]
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=IMPORT_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"the attempt failed ({type(error).__name__})"
    if done.returncode == 0:
        return None
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}"


def _logged_failure(home: Path) -> str | None:
    try:
        with open(home / "logs" / "agent.log", "rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - 256 * 1024))
            text = log.read().decode("utf-8", "replace")
    except OSError:
        return None
    failures = _FAILED.findall(text)
    return failures[-1][:200] if failures else None


def _settings(report: Report, home: Path) -> None:
    wanted = settings_of.load(home)
    for problem in wanted.problems:
        report.wrong("settings", problem)
    if not wanted.record and not wanted.problems:
        report.wrong("recording off", "unroll.record is false in this profile's config")
    problem = _pattern_problem(wanted)
    if problem:
        report.wrong("settings", f"nothing is recorded: {problem}")
    for name, values in (
        ("platforms", wanted.exclude_platforms),
        ("chats", wanted.exclude_chats),
        ("sessions", wanted.exclude_sessions),
    ):
        if values:
            report.facts.append(f"{name} not recorded: {len(values)}")


def _writing(report: Report, home: Path) -> None:
    """Try what a hook does before it can record: read the key, write a file beside the journals."""
    if not home.is_dir():
        report.wrong("cannot write", f"{home} is no directory: start a session, or set HERMES_HOME")
        return
    if not (home / "traces").is_symlink() and not (home / "traces").exists():
        return
    try:
        journal.load_key(home)
        probe = private_dir(journal.journal_dir(home)) / f".doctor-{os.getpid()}"
        files.append_line(probe, b"x" * 4096)
        probe.unlink()
    except (OSError, journal.JournalError) as error:
        report.wrong("cannot write", f"nothing can be recorded: {error}")


def _pattern_problem(wanted: settings_of.Settings) -> str | None:
    from ._common.redact import RedactionError, Redactor

    try:
        Redactor(custom_patterns=wanted.custom_patterns)
    except RedactionError as error:
        return str(error)
    return None


def _activity(report: Report, home: Path, found: list[copies.Copy]) -> None:
    entries = catalog.sessions(home)
    processes = presence.read(home)
    alive = [record for record in processes if record["alive"] is not False]
    report.facts.append(f"{len(entries)} sessions recorded in {home}, {len(alive)} processes recording now")
    recorded = [entry for entry in entries if entry.journal]
    if recorded:
        latest = recorded[-1]
        ago = max(0.0, time.time() - latest.modified)
        report.facts.append(f"last event {_duration(ago)} ago, in session {latest.session_id}")
    elif not processes and any(copy.active for copy in found):
        report.wrong("never fired", "enabled, but no hook has fired yet: start a session, then ask again")
    for record in alive[:5]:
        counts = record.get("counts") or {}
        report.facts.append(
            f"process {record['pid']}: {sum(counts.values())} hook calls, copy {record.get('path')}"
        )
    if journal.session_dir(home, UNATTRIBUTED).is_dir():
        report.facts.append(f"events that name no session are kept as {UNATTRIBUTED!r}")
    for entry in entries:
        if entry.state in ("refused", "damaged"):
            report.wrong(entry.state, f"{entry.session_id}: {entry.problem}")
    pending = [entry for entry in entries if entry.state == "pending"]
    if pending:
        report.facts.append(f"{len(pending)} sessions wait to be compiled: hermes unroll compile --pending")


def _duration(seconds: float) -> str:
    for limit, unit in ((120, 1), (7200, 60), (172_800, 3600)):
        if seconds < limit:
            return f"{seconds / unit:.0f} {'s' if unit == 1 else 'min' if unit == 60 else 'h'}"
    return f"{seconds / 86_400:.0f} days"


def _bug_report(report: Report, found: list[copies.Copy]) -> str:
    """One line without paths, ids or names of the user's."""
    host = "unknown"
    try:
        from importlib.metadata import version

        host = version("hermes-agent")
    except Exception:
        pass
    kinds = "+".join(f"{copy.kind}{'' if copy.active else '(inactive)'}" for copy in found) or "none"
    return (
        f"hermes-unroll {__version__}, hermes-agent {host}, Python {platform.python_version()}, "
        f"{platform.system()} {platform.machine()}, status {report.status}, copies {kinds}"
    )
