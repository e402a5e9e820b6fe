"""The settings of a job: can the host run it as it is, and does the agent get what the prompt counts on?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from ..._common.config import HostConfig, read_config
from ...host.delivery import parse_target, unreachable
from ...host.jobs import Job, Jobs
from ...host.profiles import Profile
from ...host.schedules import next_due, period, previous_due
from ...host.skills import Skills, why_unreadable
from ...host.toolsets import Toolsets, read_toolsets
from ...host.zone import zone
from ..job_faults import default_model, drift_fault, record_faults, schedule_fault, script_fault
from .paths import missing, needed_paths
from .rules import RULES, Hit
from .text import read_prompt

OFTEN = 900.0  # seconds between two runs below which an agent without a script in front is too often
OLD = 0.5  # share of a job's period by which the text of `context_from` may be older than its run


@dataclass(frozen=True)
class Surroundings:
    """What the settings of the jobs of one profile are held against."""

    profile: Profile
    jobs: Jobs
    config: HostConfig
    zone: tzinfo
    now: float
    toolsets: Toolsets
    skills: Skills
    missing: Callable[[str], bool] = missing

    @property
    def home(self) -> Path:
        return self.profile.home


def surroundings(profile: Profile, jobs: Jobs, now: float) -> Surroundings:
    """Read what belongs to a profile; its config and skills are looked at when they are asked for."""
    config = read_config(profile.home)
    return Surroundings(
        profile,
        jobs,
        config,
        zone(profile.home).tz,
        now,
        read_toolsets(config),
        Skills(profile.home, config),
    )


def check_structure(job: Job, around: Surroundings) -> list[Hit]:
    """What is wrong with the settings of a job. Faults of the prompt's wording are not looked at here."""
    hits = [*_runs(job, around), *_delivers(job, around), *_context(job, around)]
    if not job.no_agent:
        hits += [*_agent(job, around), *_toolsets(job, around), *_paths(job, around)]
    return hits


def _runs(job: Job, around: Surroundings) -> Iterator[Hit]:
    fault = schedule_fault(job)
    if fault and fault.rule != "broken":
        yield hit("J116", fault.text, fix=fault.fix)
    elif fault and job.state == "error":
        yield hit("J116", f"{fault.text}: {job.last_error or 'no reason given'}", fix=fault.fix)
    fault = script_fault(job, around.home)
    if fault:
        yield hit("J101", fault.text, fix=fault.fix)
    for fault in record_faults(job):
        yield hit("J118", fault.text, fix=fault.fix)
    if job.no_agent and not job.script:
        yield hit("J102")
    if job.no_agent and job.prompt.strip():
        yield hit("J103")
    if not job.no_agent and not (job.prompt.strip() or job.skills or job.script):
        yield hit("J104")
    if job.workdir and not Path(job.workdir).expanduser().is_dir():
        yield hit("J114", f"workdir {job.workdir} is not there: the job runs without it")


def _agent(job: Job, around: Surroundings) -> Iterator[Hit]:
    for name in job.skills:
        found = around.skills.find(name)
        if found is not None and not found:
            yield hit("J105", f"skill {name!r} is not installed: the host skips it in every run", key=name)
        elif found is not None and len(found) > 1:
            text = f"skill {name!r} is {len(found)} skills ({_listed(found)}): the host loads none of them"
            yield hit("J105", text, fix="name it by its path below skills/", key=name)
        elif found and (why := why_unreadable(found[0])):
            text = f"skill {name!r} cannot be read ({found[0]}: {why}): the host skips it in every run"
            yield hit("J105", text, key=name)
    fault = drift_fault(job, default_model(around.config.values)) if around.config.known else None
    if fault:
        yield hit("J112", fault.text, fix=fault.fix)
    elif not job.model:
        yield hit("J113")
    every = period(job.schedule, around.now, around.zone) if job.schedule.readable else None
    if every is not None and every < OFTEN and not job.script:
        yield hit(
            "J117", f"an agent runs every {every / 60:.0f} minutes, whether there is something to do or not"
        )


def _delivers(job: Job, around: Surroundings) -> Iterator[Hit]:
    for text in job.deliver:
        why = unreachable(job, parse_target(text), around.home)
        if why:
            yield hit("J108", f"deliver {text!r}: {why}", key=text)


def _context(job: Job, around: Surroundings) -> Iterator[Hit]:
    for job_id in job.context_from:
        source = around.jobs.by_id(job_id)
        if job_id == job.id:
            yield hit("J106", "`context_from` names the job itself: it reads its own last answer", key=job_id)
        elif source is None:
            yield hit("J106", f"`context_from` names {job_id}, and there is no such job", key=job_id)
        elif not source.live and source.schedule.kind != "once":
            yield hit(
                "J107",
                f"{source.label} of `context_from` does not run: its text stays the old one",
                key=job_id,
            )
        else:
            why = _runs_later(job, source, around)
            if why:
                yield hit("J107", why, key=job_id)


def _runs_later(job: Job, source: Job, around: Surroundings) -> str | None:
    """Why the text of `source` is old when `job` runs; None when it is fresh, or when nobody can tell."""
    if not (
        job.schedule.recurring
        and source.schedule.recurring
        and job.schedule.readable
        and source.schedule.readable
    ):
        return None
    mine = next_due(job.schedule, around.now, around.zone, job.last_run_at or job.created_at)
    if mine is None:
        return None
    theirs = previous_due(source.schedule, mine, around.zone, source.last_run_at or source.created_at)
    every = period(source.schedule, around.now, around.zone)
    if theirs is None or every is None:
        return None
    if theirs == mine and job.schedule.kind == source.schedule.kind == "cron":
        return (
            f"{source.label} of `context_from` starts at the same minute: its text is that of the run before"
        )
    after = next_due(source.schedule, mine, around.zone, source.last_run_at or source.created_at)
    age = mine - theirs
    if job.schedule.kind == source.schedule.kind == "cron" and after is not None and age > OLD * every:
        hours = age / 3600
        return (
            f"{source.label} of `context_from` runs later: its text is {hours:.0f} h old when this job starts"
        )
    return None


def _toolsets(job: Job, around: Surroundings) -> Iterator[Hit]:
    if job.toolsets is None:
        yield hit("J111")
    for name in job.toolsets or ():
        known = around.toolsets.known(name)
        if known is False:
            near = around.toolsets.near(name)
            fix = f"did you mean {near!r}?" if near else ""
            yield hit(
                "J109", f"toolset {name!r}: the host does not know it, it gives no tool", fix=fix, key=name
            )
        elif known is None:
            yield hit(
                "J110",
                f"toolset {name!r}: not one of the host's own; a plugin's or an MCP server's?",
                key=name,
            )


def _paths(job: Job, around: Surroundings) -> Iterator[Hit]:
    if around.config.get("terminal.backend", "local") not in (None, "", "local"):
        return  # the agent's files are elsewhere
    prompt = read_prompt(job.prompt)
    for named in needed_paths(prompt):
        if around.missing(named.path):
            line, column = prompt.position(named.start)
            yield hit("J115", f"{named.path}: not there", line=line, column=column, key=named.path)


def hit(
    rule: str,
    text: str = "",
    *,
    fix: str = "",
    key: str = "",
    line: int | None = None,
    column: int | None = None,
) -> Hit:
    """A hit of a rule with the rule's own words where none are given."""
    found = RULES[rule]
    return Hit(found, text or found.text, line, column, "", fix or found.instead, key=key)


def _listed(paths: list[Path]) -> str:
    return ", ".join(str(path.parent) for path in paths[:3])
