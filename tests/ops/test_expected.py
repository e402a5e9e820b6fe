"""A simulated host that is always right, up or down, never has a run that counts as missed."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo

import pytest

from hermes_ops.host.jobs import Job, read_job
from hermes_ops.host.schedules import next_due
from hermes_ops.schedule.expected import DOWN, LATE, MISSED, ON_TIME, PENDING, Attempt, Due, alive, dues

DAY = 86_400.0
CRONS = (
    "*/5 * * * *",
    "*/30 * * * *",
    "0 6 * * *",
    "0 */2 * * *",
    "15 9-17 * * 1-5",
    "0 3 * * 0",
    "*/7 2 * * *",
)
ZONES = (
    ("Europe/Berlin", "2026-03-28"),
    ("Europe/Berlin", "2026-10-24"),
    ("America/New_York", "2026-10-31"),
    ("Australia/Lord_Howe", "2026-04-04"),
    ("Asia/Kolkata", "2026-06-01"),
)


@dataclass
class Planned:
    job: Job
    next: float
    busy_until: float = 0.0


def simulate(
    chosen: random.Random, jobs: list[Job], begin: float, end: float, zone: tzinfo, down: tuple[float, float]
) -> list[Attempt]:
    """The host's own loop: every minute what is due starts once, and is planned anew from its end."""
    planned = [Planned(job, next_due(job.schedule, begin, zone, begin) or end) for job in jobs]
    runs: list[Attempt] = []
    tick = begin + chosen.uniform(0, 60)
    while tick < end:
        if not down[0] <= tick < down[1]:
            for one in planned:
                if one.next > tick:
                    continue
                if one.busy_until > tick:
                    one.next = next_due(one.job.schedule, tick, zone, tick) or end
                    continue
                claimed = tick + chosen.uniform(0, 3)
                finished = claimed + chosen.choice((1.0, 20.0, 90.0, 700.0))
                runs.append(Attempt(f"r{len(runs)}", one.job.id, "completed", claimed, finished))
                one.busy_until = finished
                one.next = next_due(one.job.schedule, finished, zone, finished) or end
        tick += 60 + chosen.uniform(0, 2)
    return [run if (run.end or 0) < end else replace(run, status="running", end=None) for run in runs]


def random_jobs(chosen: random.Random) -> list[Job]:
    found = []
    for number in range(4):
        schedule = (
            {"kind": "interval", "minutes": chosen.choice((5, 30, 240))}
            if chosen.random() < 0.3
            else {"kind": "cron", "expr": chosen.choice(CRONS)}
        )
        found.append(read_job({"id": f"{number:012x}", "schedule": schedule}))
    return found


def judged(seed: int, *, with_downtime: bool) -> Counter[str]:
    chosen = random.Random(seed)
    name, day = chosen.choice(ZONES)
    zone = ZoneInfo(name)
    begin = datetime.fromisoformat(day).replace(tzinfo=zone).timestamp() + chosen.uniform(0, DAY / 2)
    end = begin + 2 * DAY
    hole = begin + chosen.uniform(0.2, 1.2) * DAY
    down = (hole, hole + chosen.uniform(0.2, 14) * 3600) if with_downtime else (0.0, 0.0)
    jobs = random_jobs(chosen)
    runs = simulate(chosen, jobs, begin, end, zone, down)
    working = alive(runs, end - 20, begin, end)
    verdicts: Counter[str] = Counter()
    for job in jobs:
        found = dues(job, [run for run in runs if run.job_id == job.id], begin, end, zone, working)
        verdicts.update(due.verdict for due in found)
        assert_sound(found, job, down)
    return verdicts


def assert_sound(found: list[Due], job: Job, down: tuple[float, float]) -> None:
    for due in found:
        where = f"{job.schedule.display} at {due.at}: {due.verdict}"
        assert due.verdict != MISSED, where
        if due.verdict in (DOWN, LATE):
            assert down[0] - 900 <= due.at <= down[1] + 60, where


@pytest.mark.once
@pytest.mark.parametrize("seed", range(25))
def test_a_host_that_is_up_has_every_run(seed: int) -> None:
    verdicts = judged(seed, with_downtime=False)
    assert set(verdicts) <= {ON_TIME, PENDING}


@pytest.mark.once
@pytest.mark.parametrize("seed", range(40, 75))
def test_a_host_that_was_down_has_a_gap_and_no_missed_run(seed: int) -> None:
    verdicts = judged(seed, with_downtime=True)
    assert set(verdicts) <= {ON_TIME, PENDING, LATE, DOWN}


@pytest.mark.parametrize("seed", range(100, 110))
def test_a_run_that_is_taken_out_is_missed(seed: int) -> None:
    chosen = random.Random(seed)
    zone = ZoneInfo("Europe/Berlin")
    begin = datetime(2026, 6, 1, 0, 30, tzinfo=zone).timestamp()
    end = begin + 3 * DAY
    lost = read_job({"id": "0" * 12, "schedule": {"kind": "cron", "expr": chosen.choice(CRONS[1:4])}})
    other = read_job({"id": "1" * 12, "schedule": {"kind": "cron", "expr": "*/5 * * * *"}})
    runs = [
        run
        for run in simulate(chosen, [lost, other], begin, end, zone, (0.0, 0.0))
        if run.job_id != other.id or (run.end or 0) - run.begin < 100
    ]
    mine = [run for run in runs if run.job_id == lost.id]
    taken = chosen.choice(mine[:-1])
    kept = [run for run in runs if run is not taken]
    working = alive(kept, end - 20, begin, end)
    found = dues(lost, [run for run in mine if run is not taken], begin, end, zone, working)
    missed = [due for due in found if due.verdict == MISSED]
    assert len(missed) == 1 and 0 <= taken.begin - missed[0].at < 130
