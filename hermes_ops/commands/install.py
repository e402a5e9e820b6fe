"""`hermes ops install [WATCHER ...] --deliver TARGET`: scripts and jobs of the watchers."""

from __future__ import annotations

from typing import Any

from .. import install as installing
from .. import launcher
from .._common.command_line import UsageError
from .._common.home import hermes_home
from ..errors import OpsError
from ..speak import say, say_json


def add_arguments(parser: Any) -> None:
    parser.add_argument("watchers", nargs="*", metavar="WATCHER", help="only these (default: all)")
    parser.add_argument(
        "--deliver", metavar="TARGET", help='who is told: "telegram:CHAT[:THREAD]", ...; "local" tells nobody'
    )
    parser.add_argument("--minimal", action="store_true", help="the wallet and the supervisor alone")
    parser.add_argument("--anyway", action="store_true", help="also when the target cannot be reached now")
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, do nothing")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Any) -> int:
    home = hermes_home()
    if not arguments.deliver:
        raise UsageError('say who is told with --deliver, as in `cron create` ("local" tells nobody)')
    watchers = installing.named(arguments.watchers, minimal=arguments.minimal)
    why = installing.check_target(home, arguments.deliver)
    if why and not arguments.anyway:
        raise OpsError(f"nothing would arrive: {why}; mend that, or --anyway")
    lost = None if arguments.dry_run else launcher.problem(home)
    if lost:
        raise OpsError(lost)
    steps = []
    for step in installing.install(home, watchers, arguments.deliver, dry_run=arguments.dry_run):
        steps.append(step)
        if not arguments.json:
            job = f"job {step.job_id}" if step.job_id else "no job yet"
            failed = "" if step.ok else "FAILED  "
            would = "would be " if arguments.dry_run and step.what != installing.KEPT else ""
            say(f"{step.watcher:<12}{would}{step.what}  {failed}{job}  {step.detail}")
    first = _first_snapshot(home, steps, arguments.dry_run)
    if arguments.json:
        rows = [step.as_dict() for step in steps]
        data = {"home": str(home), "dry_run": arguments.dry_run, "steps": rows, "target_problem": why}
        say_json({**data, "first_snapshot": first})
    elif not arguments.dry_run:
        say(f"Looking after {home}; told: {arguments.deliver}.")
        if arguments.deliver == "local":
            say("`local` tells nobody: look with `hermes ops status`.")
        if why:
            say(f"Not reachable now: {why}")
        if first:
            say(f"Usage up to now is noted ({first} rows); days are counted from here on.")
        say("Try it: hermes ops doctor; hermes ops test-alert")
    return 0 if all(step.ok for step in steps) else 1


def _first_snapshot(home: Any, steps: list[Any], dry_run: bool) -> int:
    """Note today's totals, so that the first scheduled run of a watcher has something to count from."""
    if dry_run or not any(step.ok for step in steps):
        return 0
    import time

    from ..core.ledger import Ledger

    ledger = Ledger.open(home)
    try:
        collected = ledger.collect(time.time())
    finally:
        ledger.close()
    return collected.usage_rows if collected.first else 0
