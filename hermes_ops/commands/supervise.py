"""`hermes ops supervise`: run, once, install, uninstall, pause, resume, status."""

from __future__ import annotations

import argparse
import getpass
import signal
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from .. import launcher, settings
from .._common.command_line import UsageError
from .._common.files import is_alive
from .._common.home import hermes_home
from ..core.incident_text import seconds
from ..core.moment import show, span
from ..errors import OpsError
from ..liveness import lease as leases
from ..liveness import supervise, units
from ..liveness.facts import Facts, read_facts
from ..liveness.memory import Memory, MemoryFile
from ..liveness.service import OPTIONS, Nobody, ServiceManager, detect
from ..liveness.verdict import Verdict, decide
from ..speak import say, say_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    verbs = parser.add_subparsers(dest="supervise_verb", metavar="VERB")
    verbs.add_parser("status", help="how the gateway is, and who watches it (the default)", add_help=True)
    verbs.add_parser("run", help="watch until ended; what the unit runs")
    verbs.add_parser("once", help="one pass; exit code 1 when the gateway does not work")
    for verb, text in (("install", "install and start the supervisor"), ("uninstall", "stop and remove it")):
        verbs.add_parser(verb, help=text).add_argument(
            "--dry-run", action="store_true", help="only say what would be done"
        )
    pause = verbs.add_parser("pause", help="keep the supervisor away for a time")
    pause.add_argument("--reason", required=True, help="what is being done")
    pause.add_argument("--for", dest="time", default="30m", help="90m, 4h; at most 24h (30m)")
    verbs.add_parser("resume", help="end the pause")
    for verb in verbs.choices.values():
        # Without this the default of the verb would undo a --json before it.
        verb.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="as one JSON object")


def run(arguments: argparse.Namespace) -> int:
    home = hermes_home()
    verb = arguments.supervise_verb or "status"
    if sys.platform == "win32" and verb in ("run", "once", "install"):
        raise OpsError(
            "the supervisor does not run on native Windows; use WSL, or the host's own service there"
        )
    known = settings.load(home, OPTIONS)
    for problem in known.problems:
        supervise.to_stderr(f"hermes ops: {problem}")
    if verb == "run":
        return _run(home, known.values)
    if verb == "once":
        return _once(home, known.values, arguments.json)
    if verb in ("install", "uninstall"):
        return _units(home, verb, arguments.dry_run, arguments.json)
    if verb == "pause":
        return _pause(home, arguments)
    if verb == "resume":
        return _resume(home, arguments.json)
    return _status(home, known.values, arguments.json)


def _run(home: Path, values: dict[str, Any]) -> int:
    clock = supervise.RealClock()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, clock.stop)
    held = supervise.lock(home)
    if not held.acquire():
        return supervise.ANOTHER_RUNS
    try:
        gateway = read_facts(home, time.time(), supervise.rules_of(values)[1]).gateway
        try:
            detect(home, values, gateway)
        except OpsError as error:
            # Two owners. Exit code 2: the unit does not start it again until somebody has chosen one.
            raise UsageError(str(error)) from None
        return supervise.make(home, values, clock, supervise.to_stderr).run()
    finally:
        held.release()


def _once(home: Path, values: dict[str, Any], as_json: bool) -> int:
    held = supervise.lock(home)
    if held.acquire():
        try:
            clock = supervise.RealClock()
            verdict = supervise.make(home, values, clock, supervise.to_stderr).once(alone=True)
        finally:
            held.release()
    else:
        verdict = _judge(home, values, MemoryFile(home).read())[1]
    if as_json:
        say_json(_verdict(verdict))
    else:
        _say_verdict(verdict)
    return 0 if _fine(verdict) else 1


def _units(home: Path, verb: str, dry_run: bool, as_json: bool) -> int:
    if verb == "install":
        lost = None if dry_run else launcher.problem(home)
        if lost:
            raise OpsError(lost)
        lines = units.install(home, dry_run=dry_run)
    else:
        word = "would remove" if dry_run else "removed"
        lines = [f"{word} {line}" for line in units.uninstall(home, dry_run=dry_run)] or [
            "nothing is installed"
        ]
    if as_json:
        say_json({"done": lines, "dry_run": dry_run})
    else:
        for line in lines:
            say(line)
    return 0


def _pause(home: Path, arguments: argparse.Namespace) -> int:
    try:
        length = seconds(arguments.time)
    except ValueError as error:
        raise UsageError(f"--for: {error}") from None
    lease = leases.pause(home, arguments.reason, length, _owner(), time.time())
    if arguments.json:
        say_json({"lease": asdict(lease)})
    else:
        say(f"paused for {span(length)}, until {show(lease.until, _zone(home))}: {lease.reason}")
    return 0


def _resume(home: Path, as_json: bool) -> int:
    lease = leases.resume(home)
    if as_json:
        say_json({"lease": asdict(lease) if lease else None})
    else:
        say(f"resumed; the pause of {lease.owner} was: {lease.reason}" if lease else "there was no pause")
    return 0


def _status(home: Path, values: dict[str, Any], as_json: bool) -> int:
    memory = MemoryFile(home).read()
    facts, verdict, manager = _judge(home, values, memory)
    now = time.time()
    watched = bool(memory.pid) and is_alive(memory.pid or 0, memory.started) is not False
    fresh = memory.last_pass_at is not None and now - memory.last_pass_at <= max(600.0, 5 * memory.interval)
    lasts = facts.lease
    if as_json:
        say_json(
            {
                **_verdict(verdict),
                "manager": manager.name,
                "supervisor": {
                    "running": watched and fresh,
                    "pid": memory.pid,
                    "last_pass": memory.last_pass_at,
                    "restarts": list(memory.restarts),
                },
                "lease": asdict(lasts) if lasts else None,
                "problems": list(facts.problems),
            }
        )
    else:
        zone = _zone(home)
        _say_verdict(verdict)
        say(f"service manager: {manager.name}")
        if watched and fresh:
            say(
                f"supervisor: process {memory.pid}, last look {span(max(0.0, now - memory.last_pass_at))} ago"
            )
        elif memory.last_pass_at is not None:
            say(f"supervisor: not running, last look {show(memory.last_pass_at, zone)}")
        else:
            say("supervisor: not running; hermes ops supervise install")
        for at in memory.restarts[-3:]:
            say(f"restarted {show(at, zone)}")
        if lasts is not None:
            say(f"paused until {show(lasts.until, zone)} by {lasts.owner}: {lasts.reason}")
        for problem in facts.problems:
            say(f"unreadable: {problem}")
    return 0 if _fine(verdict) and watched and fresh else 1


def _judge(home: Path, values: dict[str, Any], memory: Memory) -> tuple[Facts, Verdict, ServiceManager]:
    """Look without remembering or doing anything."""
    now = time.time()
    limits = supervise.rules_of(values)[1]
    facts = read_facts(home, now, limits)
    try:
        manager = detect(home, values, facts.gateway)
    except OpsError as error:
        manager = Nobody(str(error))
    seen = replace(memory.seen, last_pass_at=None, woke_at=None)
    verdict = decide(facts, seen, now, limits)
    if verdict.works is not True:
        facts = replace(facts, service=manager.state())
        verdict = decide(facts, seen, now, limits)
    return facts, verdict, manager


def _fine(verdict: Verdict) -> bool:
    return verdict.severity is None and verdict.works is not False and verdict.state != "unknown"


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "state": verdict.state,
        "text": verdict.text,
        "evidence": list(verdict.evidence),
        "action": verdict.action,
        "fix": verdict.fix,
        "troubles": [asdict(trouble) for trouble in verdict.troubles],
    }


def _say_verdict(verdict: Verdict) -> None:
    say(f"{verdict.state}: {verdict.text}")
    for line in verdict.evidence:
        say(f"  {line}")
    for trouble in verdict.troubles[1:]:
        say(f"also {trouble.state}: {trouble.text}")
    if verdict.fix:
        say(f"  fix: {verdict.fix}")


def _owner() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "somebody"


def _zone(home: Path) -> Any:
    from ..host.zone import zone

    return zone(home).tz
