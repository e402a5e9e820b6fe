"""Why did the same thing come twice? Two jobs, two gateways, a run too many, two targets, or no news."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from pathlib import Path

from ..core.finding import DAY
from ..core.ledger import Run
from ..core.moment import show
from ..errors import Unreadable
from ..host import schedules
from ..host.executions import read_executions
from ..host.jobs import Job, read_jobs
from ..host.outputs import read_output
from .missing import job_of, runs_of
from .tree import Case, Found, Question, no, unknown, yes

LOOK_BACK = 7 * DAY


def are_two_jobs(case: Case) -> Found:
    job = job_of(case)
    twins = [
        other
        for other in read_jobs(case.context.home).jobs
        if other.id != job.id and other.live and _does(other) == _does(job) and _does(job) != ("", None)
    ]
    for profile in case.context.profiles:
        if profile.home != case.context.home:
            twins += [
                other for other in _jobs_elsewhere(profile.home) if other.live and _does(other) == _does(job)
            ]
    if not twins:
        return no("no other live job has the same prompt or script")
    seen = [f"{other.label}: {other.schedule.display}, deliver {', '.join(other.deliver)}" for other in twins]
    return yes(f"{len(twins) + 1} live jobs do the same", seen, f"hermes cron pause {twins[0].id}")


def are_two_schedulers(case: Case) -> Found:
    job = job_of(case)
    found = [one for one in read_executions(case.context.home, case.now - LOOK_BACK) if one.job_id == job.id]
    slots: dict[float, set[int]] = defaultdict(set)
    for one in found:
        if one.claimed_at is not None and one.pid is not None:
            due = schedules.previous_due(job.schedule, one.claimed_at, case.context.zone.tz, job.created_at)
            if due is not None:
                slots[due].add(one.pid)
    twice = {due: pids for due, pids in slots.items() if len(pids) > 1}
    if not twice:
        return no(f"{len(found)} runs within 7 days, none due once and run by two processes")
    due, pids = max(twice.items())
    return yes(
        "two processes ran the same due time: two gateways, or a run by hand beside the scheduler's",
        [f"due {show(due, case.context.zone.tz)}: processes {', '.join(map(str, sorted(pids)))}"],
        "hermes gateway list   # one of them should go",
    )


def is_run_too_often(case: Case) -> Found:
    job, runs = job_of(case), runs_of(case, case.now - LOOK_BACK)
    by_slot: dict[float, list[Run]] = defaultdict(list)
    for run in runs:
        if run.claimed_at is not None:
            due = schedules.previous_due(job.schedule, run.claimed_at, case.context.zone.tz, job.created_at)
            by_slot[due or 0.0].append(run)
    twice = [(due, found) for due, found in by_slot.items() if due and len(found) > 1]
    if not twice:
        return no(f"{len(runs)} runs within 7 days, each of a due time of its own")
    due, found = max(twice, key=lambda pair: pair[0])
    seen = [
        f"{show(run.claimed_at, case.context.zone.tz)}: source {run.source}, {run.status}" for run in found
    ]
    return yes(
        f"it ran {len(found)} times for the one due at {show(due, case.context.zone.tz)}",
        seen,
        "a run by hand (source direct) counts beside the scheduled one",
    )


def is_delivered_twice(case: Case) -> Found:
    targets = job_of(case).deliver
    seen = [f"jobs.json deliver: {', '.join(targets)}"]
    doubled = sorted({target for target in targets if targets.count(target) > 1})
    platforms = {target for target in targets if ":" not in target}
    covered = [target for target in targets if ":" in target and target.split(":")[0] in platforms]
    if "all" in targets and len(targets) > 1:
        return yes("`all` and single targets: the single ones get it twice", seen, _edit(case))
    if doubled:
        return yes(f"the same target is written twice: {', '.join(doubled)}", seen, _edit(case))
    if covered:
        return yes(
            f"{covered[0]} may be the home channel of its platform, which is a target too", seen, _edit(case)
        )
    return no(*seen)


def is_same_text(case: Case) -> Found:
    texts = []
    for run in runs_of(case, case.now - LOOK_BACK)[-6:]:
        if run.outcome == "said" and run.output:
            try:
                texts.append((run, " ".join(read_output(Path(run.output)).response.split())))
            except Unreadable:
                continue
    same = [(before, after) for (before, a), (after, b) in pairwise(texts) if a == b and a]
    if len(texts) < 2:
        return unknown("fewer than two answers of it are kept")
    if not same:
        return no(f"its last {len(texts)} answers all differ")
    zone = case.context.zone.tz
    return yes(
        "it says the same again: it should wake only when something changed",
        [f"{show(before.claimed_at, zone)} and {show(after.claimed_at, zone)}" for before, after in same],
        "hermes ops gate write NAME -- COMMAND   # a gate in front of it; see docs/ops/gate.md",
    )


QUESTIONS: tuple[Question, ...] = (
    ("Do two jobs do the same?", are_two_jobs),
    ("Did two processes run it?", are_two_schedulers),
    ("Did it run twice for one due time?", is_run_too_often),
    ("Does it go to one place twice?", is_delivered_twice),
    ("Does it say the same again?", is_same_text),
)


def _does(job: Job) -> tuple[str, str | None]:
    return (" ".join(job.prompt.split()), job.script)


def _jobs_elsewhere(home: Path) -> tuple[Job, ...]:
    return read_jobs(home).jobs


def _edit(case: Case) -> str:
    return f"hermes cron edit {job_of(case).id} --deliver TARGET"
