"""The nightly watcher: errors of live jobs, and prompts that changed since somebody acknowledged them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from ...core.finding import Blind, Event, Finding, Reading
from ...core.state import StateFile
from ...core.typed import typed
from ...core.watch import Context
from ...errors import Unreadable
from ...host.jobs import Job, read_jobs
from .job import lint_job
from .rules import Hit, errors
from .structure import surroundings

RULE = "lint.error"
# The sweep tells these of every job at the same hour; telling them twice helps nobody.
SWEPT = frozenset({"J101", "J102", "J112", "J116", "J118"})
FORMAT = 1


def watch(context: Context) -> Reading:
    """Errors of the live jobs of every profile, key profile/job/rule; an event for each changed prompt.

    A prompt seen for the first time counts as acknowledged.
    """
    findings: list[Finding] = []
    blind: list[Blind] = []
    seen: dict[str, str] = {}
    labels: dict[str, str] = {}
    read: set[str] = set()
    for profile in context.profiles:
        try:
            jobs = read_jobs(profile.home)
        except Unreadable as error:
            text = f"the jobs of profile {profile.name} cannot be read: {error}"
            blind.append(Blind(f"lint.jobs:{profile.name}", text, f"{RULE}:{profile.name}/"))
            continue
        read.add(profile.name)
        around = surroundings(profile, jobs, context.now)
        for job in jobs.jobs:
            key = f"{profile.name}/{job.id}"
            if not job.no_agent and job.prompt:
                seen[key], labels[key] = fingerprint(job.prompt), job.label
            if job.live:
                findings += job_findings(profile.name, job, lint_job(job, around))
    try:
        known, damaged = take_in(context.home, seen, read)
    except Unreadable as error:
        blind.append(
            Blind("lint.prompts", f"which prompts are acknowledged is unknown: {error}", "lint.prompt:")
        )
        return Reading.of(findings, blind)
    events = changed(known, seen, labels)
    if damaged is not None:
        text = f"{damaged} was damaged and is set aside: every prompt counts as acknowledged from now on"
        events.append(Event(f"lint.damaged:{damaged.name}", text, "warning"))
    return Reading.of(findings, blind, events)


def job_findings(profile: str, job: Job, hits: list[Hit]) -> list[Finding]:
    """One finding for each rule that a job breaks, its places as evidence."""
    by_rule: dict[str, list[Hit]] = {}
    for found in errors(hits):
        if found.rule.id not in SWEPT:
            by_rule.setdefault(found.rule.id, []).append(found)
    where = job.label if profile == "default" else f"{job.label} of profile {profile}"
    return [
        Finding(
            RULE,
            "error",
            where,
            f"{rule_id} {group[0].text}" + (f" (and {len(group) - 1} more)" if len(group) > 1 else ""),
            f"{profile}/{job.id}/{rule_id}",
            tuple(_place(one) for one in group[:5]),
            f"{group[0].instead}; see hermes ops lint {job.id}",
            remind=7 * 86_400.0,
        )
        for rule_id, group in by_rule.items()
    ]


def changed(known: Mapping[str, str], seen: Mapping[str, str], labels: Mapping[str, str]) -> list[Event]:
    """An event for each prompt that is not the acknowledged one, under one id until it changes again."""
    return [
        Event(
            f"lint.prompt:{key}:{found}",
            f"the prompt of {labels[key]} is not the one that was acknowledged; look at it, then"
            f" hermes ops lint --acknowledge {key.rpartition('/')[2]}",
            "warning",
        )
        for key, found in seen.items()
        if known.get(key, found) != found
    ]


def fingerprint(prompt: str) -> str:
    """What tells prompts apart."""
    return hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def take_in(home: Path, seen: Mapping[str, str], read: set[str]) -> tuple[dict[str, str], Path | None]:
    """Note new prompts, forget those of jobs that are gone.

    Returns the acknowledged ones, and where a damaged state went, if there was one.
    """
    with _state(home).changing() as opened:
        prompts: dict[str, str] = opened.data["prompts"]
        for key in [key for key in prompts if key not in seen and key.partition("/")[0] in read]:
            del prompts[key]
        for key, found in seen.items():
            prompts.setdefault(key, found)
        return dict(prompts), opened.damaged


def acknowledge(home: Path, seen: Mapping[str, str]) -> list[str]:
    """Take the prompts as they are for acknowledged; returns the keys of those that had changed."""
    with _state(home).changing() as opened:
        prompts: dict[str, str] = opened.data["prompts"]
        before = [key for key, found in seen.items() if prompts.get(key, found) != found]
        prompts.update(seen)
    return before


def _state(home: Path) -> StateFile:
    def check(data: dict[str, object]) -> None:
        typed(dict[str, str], data["prompts"])

    return StateFile(home / "ops" / "lint.json", FORMAT, lambda: {"prompts": {}}, check)


def _place(found: Hit) -> str:
    if found.line is None:
        return found.text
    return f"line {found.line}, column {found.column}: {found.excerpt or found.text}"
