"""Collecting runs of jobs: the host keeps the newest 1,000, and of a delivery only the last error."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import Unreadable
from ..host.executions import FINISHED, Execution, database, read_executions
from ..host.jobs import Job, Jobs, read_jobs
from ..host.outputs import Output, list_outputs, read_output
from ..host.profiles import Profile
from ..host.zone import zone
from .finding import Blind
from .ledger_store import sound, writing

NEAR = 5.0  # seconds within which two stamps of the host are of the same run
GONE = "it was there before and is gone; the host makes a new one with the next run of a job"
_MAX_TEXT = 1000


@dataclass(frozen=True)
class Run:
    """One run of a job; times are seconds since the epoch.

    outcome   "said", "silent", "failed", "empty", "running", "unknown" (host/outputs.py, executions)
    delivery  "sent", "failed", "local" (nothing to send, by design), "silent" (nothing was said), "unknown"
    targets   the deliver targets the job had then; () when the job was not on the list any more
    """

    profile: str
    job_id: str
    job_name: str
    execution_id: str
    source: str
    status: str
    claimed_at: float | None
    started_at: float | None
    finished_at: float | None
    error: str | None
    outcome: str
    response_chars: int
    output: str | None
    delivery: str
    delivery_error: str | None
    targets: tuple[str, ...]
    no_agent: bool


_FIELDS = tuple(Run.__dataclass_fields__)
_SELECT = f"SELECT {', '.join(_FIELDS)} FROM run"


def collect_runs(ledger: sqlite3.Connection, ledger_path: Path, profile: Profile) -> tuple[int, list[Blind]]:
    """Copy what is new or went on in a profile; how many runs that was, and what could not be read."""
    blind: list[Blind] = []
    path = database(profile.home)
    try:
        executions = read_executions(profile.home)
        if not executions and not path.exists() and _has_runs(ledger, ledger_path, profile):
            raise Unreadable(path, GONE)
    except Unreadable as error:
        return 0, [_blind(profile, "executions", error)]
    try:
        jobs: Jobs | None = read_jobs(profile.home)
    except Unreadable as error:
        jobs = None
        blind.append(_blind(profile, "jobs", error))
    with sound(ledger_path):
        known = _known(ledger, profile, executions)
        names = _names(ledger, profile)
    fresh = [one for one in executions if _went_on(one, known.get(one.id))]
    outputs = _outputs(profile, fresh, jobs, blind)
    runs = {
        one.id: _run(profile.name, one, jobs, names, outputs.get(one.id), known.get(one.id)) for one in fresh
    }
    present = {one.id for one in executions}
    for run in known.values():
        if run.execution_id not in present and run.status not in FINISHED:
            runs[run.execution_id] = replace(run, status="unknown", outcome="unknown")
    if jobs is not None:
        for run in _newest(known, runs, executions):
            job = jobs.by_id(run.job_id)
            judged = run if job is None else with_delivery(run, job)
            if judged != known.get(run.execution_id):
                runs[run.execution_id] = judged
    with sound(ledger_path), writing(ledger):
        ledger.executemany(
            f"INSERT OR REPLACE INTO run({', '.join(_FIELDS)}) VALUES({', '.join('?' * len(_FIELDS))})",
            [_values(run) for run in runs.values()],
        )
    return len(runs), blind


def stored_runs(
    ledger: sqlite3.Connection, since: float, until: float, profile: str | None, job_id: str | None
) -> list[Run]:
    """The runs claimed in [since, until), oldest first."""
    query, values = f"{_SELECT} WHERE claimed_at >= ? AND claimed_at < ?", [since, until]
    for name, value in (("profile", profile), ("job_id", job_id)):
        if value is not None:
            query, values = f"{query} AND {name} = ?", [*values, value]
    rows = ledger.execute(f"{query} ORDER BY claimed_at, execution_id", values)
    return [_read(row) for row in rows]


def with_delivery(run: Run, job: Job) -> Run:
    """A finished run, the newest of its job, with what the job's record says of its delivery.

    The host keeps the last delivery error alone, and drops it with the next delivery: one that was seen once
    stays. A record that was written after this run belongs to a later one.
    """
    if run.status not in FINISHED or run.delivery == "failed":
        return run
    end = run.finished_at
    later = end is not None and job.last_run_at is not None and job.last_run_at > end + NEAR
    if later:
        return run
    if job.last_delivery_error:
        return replace(run, delivery="failed", delivery_error=_redacted(job.last_delivery_error))
    if run.delivery != "unknown":
        return run
    begin = run.started_at if run.started_at is not None else run.claimed_at
    its_own = job.last_run_at is not None and begin is not None and job.last_run_at >= begin - NEAR
    return replace(run, delivery=_delivery(run, job, its_own))


def _delivery(run: Run, job: Job, its_own: bool) -> str:
    settled = _without_sending(run.outcome, run.targets)
    if settled is not None:
        return settled
    # "origin" without an origin goes to a home channel, or silently nowhere.
    certain = all(target != "origin" or job.origin for target in run.targets)
    return "sent" if its_own and certain and run.outcome in ("said", "failed") else "unknown"


def _without_sending(outcome: str, targets: Iterable[str]) -> str | None:
    """What is known of a delivery without looking whether it arrived."""
    targets = tuple(targets)
    if targets and all(target == "local" for target in targets):
        return "local"
    return "silent" if outcome in ("silent", "empty") else None


def _run(
    profile: str,
    execution: Execution,
    jobs: Jobs | None,
    names: Mapping[str, str],
    output: Output | None,
    before: Run | None,
) -> Run:
    job = None if jobs is None else jobs.by_id(execution.job_id)
    # Of a job that is gone its output still says what it was called and whether it was a script.
    name = output.name if output is not None else ""
    is_script = output is not None and output.no_agent
    targets = job.deliver if job is not None else before.targets if before is not None else ()
    outcome = _outcome(execution, output)
    return Run(
        profile=profile,
        job_id=execution.job_id,
        job_name=_redacted(job.name if job is not None else names.get(execution.job_id) or name),
        execution_id=execution.id,
        source=execution.source,
        status=execution.status,
        claimed_at=execution.claimed_at,
        started_at=execution.started_at,
        finished_at=execution.finished_at,
        error=_redacted(execution.error) if execution.error else None,
        outcome=outcome,
        response_chars=len(output.response) if output is not None else 0,
        output=None if output is None else output.path.name,
        delivery=_without_sending(outcome, targets) or "unknown",
        delivery_error=None,
        targets=tuple(map(_redacted, targets)),
        no_agent=job.no_agent if job is not None else is_script or (before is not None and before.no_agent),
    )


def _outcome(execution: Execution, output: Output | None) -> str:
    if execution.status not in FINISHED:
        return "running"
    told = "unknown" if output is None else output.outcome
    if execution.status == "failed":
        return told if told == "empty" else "failed"
    return told


def _went_on(execution: Execution, known: Run | None) -> bool:
    return known is None or (known.status not in FINISHED and known.status != execution.status)


def _newest(known: Mapping[str, Run], runs: Mapping[str, Run], executions: Iterable[Execution]) -> list[Run]:
    """The run of each job that finished last."""
    newest: dict[str, Run] = {}
    for execution in executions:
        run = runs.get(execution.id) or known.get(execution.id)
        if run is not None and run.status in FINISHED:
            held = newest.get(run.job_id)
            if held is None or _end(run) >= _end(held):
                newest[run.job_id] = run
    return list(newest.values())


def _end(run: Run) -> float:
    return run.finished_at or run.started_at or run.claimed_at or 0.0


def _outputs(
    profile: Profile, executions: list[Execution], jobs: Jobs | None, blind: list[Blind]
) -> dict[str, Output]:
    """The output file of each finished run: the last one written while it ran."""
    tz = zone(profile.home).tz
    wanted: dict[str, list[Execution]] = {}
    for execution in executions:
        if execution.status in FINISHED and _begin(execution) is not None and execution.finished_at:
            wanted.setdefault(execution.job_id, []).append(execution)
    found: dict[str, Output] = {}
    for job_id, runs in wanted.items():
        since = min(_begin(run) or 0.0 for run in runs) - NEAR
        job = None if jobs is None else jobs.by_id(job_id)
        prompt = None if job is None else job.prompt
        try:
            paths = list_outputs(profile.home, job_id, since)
            outputs = [read_output(path, tz, prompt) for path in paths]
        except Unreadable as error:
            blind.append(_blind(profile, f"outputs/{job_id}", error))
            continue
        for run in runs:
            begin, end = (_begin(run) or 0.0) - NEAR, (run.finished_at or 0.0) + NEAR
            own = [one for one in outputs if one.run_at is not None and begin <= one.run_at <= end]
            if own:
                found[run.id] = own[-1]
    return found


def _begin(execution: Execution) -> float | None:
    return execution.started_at if execution.started_at is not None else execution.claimed_at


def _known(ledger: sqlite3.Connection, profile: Profile, executions: Iterable[Execution]) -> dict[str, Run]:
    """The runs the ledger has of those the host still has, and those that were still running."""
    oldest = min((one.claimed_at or 0.0 for one in executions), default=float("inf"))
    marks = ", ".join("?" * len(FINISHED))
    query = (
        f"{_SELECT} WHERE profile=? AND (claimed_at >= ? OR claimed_at IS NULL OR status NOT IN ({marks}))"
    )
    rows = ledger.execute(query, (profile.name, oldest, *FINISHED))
    return {run.execution_id: run for run in map(_read, rows)}


def _has_runs(ledger: sqlite3.Connection, ledger_path: Path, profile: Profile) -> bool:
    with sound(ledger_path):
        return (
            ledger.execute("SELECT 1 FROM run WHERE profile=? LIMIT 1", (profile.name,)).fetchone()
            is not None
        )


def _names(ledger: sqlite3.Connection, profile: Profile) -> dict[str, str]:
    query = (
        "SELECT job_id, job_name, MAX(claimed_at) FROM run WHERE profile=? AND job_name<>'' GROUP BY job_id"
    )
    return {row[0]: row[1] for row in ledger.execute(query, (profile.name,))}


def _blind(profile: Profile, what: str, error: Unreadable) -> Blind:
    return Blind(f"runs/{profile.name}/{what}", f"runs of profile {profile.name}: {error}")


def _redacted(text: str) -> str:
    from .._common.redact import Redactor

    return Redactor().text(text)[:_MAX_TEXT]


def _values(run: Run) -> list[Any]:
    return [json.dumps(value) if isinstance(value, tuple) else value for value in vars(run).values()]


def _read(row: tuple[Any, ...]) -> Run:
    fields = dict(zip(_FIELDS, row, strict=True))
    fields["targets"] = tuple(json.loads(fields["targets"]))
    fields["no_agent"] = bool(fields["no_agent"])
    return Run(**fields)
