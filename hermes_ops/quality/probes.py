"""Declared checks against an accepted baseline: what held then has to hold now.

Three-way: against the baseline a probe is new, the same, mended, broken, or gone. A probe that was removed
or renamed is a regression like one that fails, and only `accept` moves the baseline.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import settings
from .._common.files import FileLock, read_regular, write_atomic
from .._common.home import private_dir
from ..core.finding import Finding, Reading
from ..core.typed import decoded, typed
from ..errors import OpsError
from .probe_kinds import check
from .probe_set import FILE, Probe, load

if TYPE_CHECKING:
    from ..core.watch import Context

OPTIONS = (
    settings.Option("probes.holds", 1, settings.number(1, 100), "runs in a row that a probe must fail in"),
)
FORMAT = 1
BASELINE = "probes-baseline.json"
REPORT = "probes-last.json"
EXAMPLE = """\
# Checks that hold when all is well. `hermes ops probes run` shows them, `accept` takes what holds now as the
# baseline, and the probes watcher tells of what no longer does. Relative paths are below HERMES_HOME.

[[probe]]
id = "jobs-readable"
kind = "json_keys"
title = "the job list can be read"
path = "cron/jobs.json"
keys = ["jobs"]

# [[probe]]
# id = "digest-fresh"
# kind = "file_fresh"            # a file, or the newest file of a folder
# title = "the digest was written today"
# path = "cron/output/JOB"
# max_age_hours = 26
# min_bytes = 500

# [[probe]]
# id = "guard-silent"
# kind = "command"               # no shell; expect = "silent", "output" or "any"
# title = "the disk check has nothing to say"
# argv = ["/usr/bin/env", "python3", "scripts/disk_check.py"]
# timeout = 20

# Further kinds: files_not_empty (glob, max_empty), text_match (path, pattern, min_count, max_count),
# no_secrets (glob, newest).
"""


@dataclass(frozen=True)
class Result:
    """One probe of this run beside the baseline.

    ``problem`` is why it does not hold, None when it does. ``change``: same, new, mended, broken, gone.
    """

    id: str
    kind: str
    title: str
    problem: str | None
    change: str

    @property
    def regression(self) -> bool:
        return self.change in ("broken", "gone")

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "kind": self.kind,
            "title": self.title,
            "holds": self.problem is None,
            "problem": self.problem,
            "change": self.change,
        }


@dataclass(frozen=True)
class Baseline:
    """What was accepted: when (seconds since the epoch), and id -> (title, whether it held)."""

    accepted_at: float
    probes: dict[str, tuple[str, bool]]


def run(home: Path, now: float, told: Callable[[Probe], None] | None = None) -> list[Result]:
    """Run the whole set and keep its report. Raises OpsError when the set or the baseline is not valid."""
    probes = load(home)
    baseline = read_baseline(home)
    problems: list[tuple[Probe, str | None]] = []
    for probe in probes:
        if told is not None:
            told(probe)
        problems.append((probe, check(probe, home, now)))
    results = compare(problems, baseline)
    report = {"format": FORMAT, "checked_at": now, "probes": [result.as_dict() for result in results]}
    write_atomic(private_dir(home / "ops") / REPORT, json.dumps(report, sort_keys=True) + "\n", durable=False)
    return results


def compare(problems: list[tuple[Probe, str | None]], baseline: Baseline | None) -> list[Result]:
    """Put what was found beside what was accepted."""
    accepted = baseline.probes if baseline else {}
    results = []
    for probe, problem in problems:
        if probe.id not in accepted:
            change = "new"
        elif accepted[probe.id][1] == (problem is None):
            change = "same"
        else:
            change = "broken" if problem else "mended"
        results.append(Result(probe.id, probe.kind, probe.title, problem, change))
    there = {probe.id for probe, _ in problems}
    for name, (title, _) in accepted.items():
        if name not in there:
            gone = "it was accepted and is not in the set any more"
            results.append(Result(name, "", title, gone, "gone"))
    return results


def accept(home: Path, results: list[Result], now: float, *, failing: bool = False) -> int:
    """Take this run as the baseline; returns how many probes it has.

    A probe that does not hold is refused unless `failing`: to freeze a failure is a decision.
    """
    bad = [result.id for result in results if result.problem and result.change != "gone"]
    if bad and not failing:
        raise OpsError(f"these do not hold now: {', '.join(bad)}; mend them, or accept with --failing")
    kept = {
        result.id: [result.title, result.problem is None] for result in results if result.change != "gone"
    }
    data = {"format": FORMAT, "accepted_at": now, "probes": kept}
    with FileLock(private_dir(home / "ops") / "probes.lock"):
        write_atomic(home / "ops" / BASELINE, json.dumps(data, sort_keys=True, indent=1) + "\n")
    return len(kept)


def read_baseline(home: Path) -> Baseline | None:
    """The accepted baseline, None when nothing was accepted yet. A damaged one is an OpsError, never none."""
    path = home / "ops" / BASELINE
    try:
        data = decoded(read_regular(path))
        written = typed(int, data["format"])
        if written != FORMAT:
            raise OpsError(f"{path} has format {written}; this version reads {FORMAT}: update hermes-ops")
        probes = typed(dict[str, tuple[str, bool]], data["probes"])
        return Baseline(typed(float, data["accepted_at"]), probes)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise OpsError(
            f"{path} cannot be read ({type(error).__name__}); `hermes ops probes accept` replaces it"
        ) from None


def write_example(home: Path) -> Path:
    """Write a set to start from. Raises OpsError when there is one."""
    path = private_dir(home / "ops") / FILE
    if path.exists():
        raise OpsError(f"{path} is there already")
    return write_atomic(path, EXAMPLE)


def watch(context: Context) -> Reading:
    """What does not hold. A home without a set has nothing declared, and nothing to say."""
    if not (context.state / FILE).exists() and not (context.state / BASELINE).exists():
        return Reading()
    holds = int(settings.load(context.home, OPTIONS)["probes.holds"])
    return Reading.of(
        Finding(
            f"probe.{result.change if result.regression else 'fails'}",
            "error" if result.regression else "warning",
            f"probe {result.id}",
            f"{result.title}: {result.problem}",
            result.id,
            fix=f"hermes ops probes run {result.id}",
            holds=holds,
        )
        for result in run(context.home, context.now)
        if result.problem
    )
