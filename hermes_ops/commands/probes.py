"""`hermes ops probes`: run the declared checks, compare them with the baseline, accept a new one."""

from __future__ import annotations

import sys
import time
from typing import Any

from .._common.command_line import UsageError
from .._common.home import hermes_home
from ..core.moment import show
from ..host.zone import zone
from ..quality import probes
from ..speak import say, say_json


def add_arguments(parser: Any) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        choices=("run", "check", "accept", "list", "init"),
        default="run",
        help="run: all, exit 1 when one does not hold (default); check: exit 1 only for what held in the "
        "baseline; accept: take this run as the baseline; init: write a set to start from",
    )
    parser.add_argument("id", nargs="?", help="show only this probe")
    parser.add_argument("--failing", action="store_true", help="accept: also probes that do not hold")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Any) -> int:
    home, now = hermes_home(), time.time()
    if arguments.action == "init":
        say(f"Wrote {probes.write_example(home)}; edit it, then: hermes ops probes run")
        return 0
    if arguments.action == "list":
        return _list(home, arguments.json)
    results = probes.run(home, now, _progress())
    if arguments.id is not None and arguments.action != "accept":
        results = [result for result in results if result.id == arguments.id]
        if not results:
            raise UsageError(f"no probe is called {arguments.id!r}; see `hermes ops probes list`")
    if arguments.action == "accept":
        count = probes.accept(home, results, now, failing=arguments.failing)
        say_json({"accepted": count}) if arguments.json else say(f"Accepted {count} probes as the baseline.")
        return 0
    only_regressions = arguments.action == "check"
    bad = [result for result in results if result.regression or (result.problem and not only_regressions)]
    if arguments.json:
        say_json({"probes": [result.as_dict() for result in results], "bad": len(bad)})
        return 1 if bad else 0
    for result in results if not only_regressions else bad:
        state = "holds" if result.problem is None else "FAILS"
        change = "" if result.change == "same" else f" ({result.change})"
        say(
            f"{state}{change}  {result.id}: {result.title}"
            + (f": {result.problem}" if result.problem else "")
        )
    if not only_regressions:
        say(f"{sum(result.problem is None for result in results)} of {len(results)} hold.")
    if probes.read_baseline(home) is None:
        say("No baseline is accepted yet: hermes ops probes accept")
        return 1 if only_regressions or bad else 0
    return 1 if bad else 0


def _list(home: Any, as_json: bool) -> int:
    from ..quality.probe_set import load

    declared, baseline = load(home), probes.read_baseline(home)
    if as_json:
        rows = [{"id": probe.id, "kind": probe.kind, "title": probe.title} for probe in declared]
        say_json({"probes": rows, "accepted_at": baseline.accepted_at if baseline else None})
        return 0
    for probe in declared:
        say(f"{probe.id}  {probe.kind}  {probe.title}")
    at = show(baseline.accepted_at, zone(home).tz) if baseline else "never"
    say(f"Baseline accepted: {at}")
    return 0


def _progress() -> Any:
    if not sys.stderr.isatty():
        return None
    return lambda probe: print(f"\r\x1b[K{probe.id}\r", end="", file=sys.stderr, flush=True)
