"""One job, linted: its wording and its settings together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...host.jobs import Job
from .languages import LANGUAGES
from .prompt import Given, lint_prompt
from .rules import Allowance, Hit, allowances
from .structure import Surroundings, check_structure


def lint_job(
    job: Job,
    around: Surroundings,
    *,
    languages: Sequence[str] = LANGUAGES,
    allow: Iterable[Allowance] = (),
) -> list[Hit]:
    """What is wrong with a job: the prompt by its lines, then the settings.

    What a script or `context_from` puts before the prompt, and what a skill adds, counts as given. The prompt
    of a job without agent is not read.
    """
    allow = list(allow)
    hits: list[Hit] = []
    if not job.no_agent and job.prompt.strip():
        given = Given(
            before=bool(job.script or job.context_from),
            workdir=bool(job.workdir),
        )
        hits = lint_prompt(job.prompt, languages=languages, given=given, allow=allow)
    written = [one for one in allowances(job.prompt) if one.reason] + allow
    settings = [_allowed(found, written) for found in check_structure(job, around)]
    used = {one for one in written for found in settings if one.covers(found.rule)}
    stale = {one.offset for one in used if one.offset is not None}
    return [found for found in hits if not _unused(found, job, stale)] + settings


def _allowed(found: Hit, allow: Sequence[Allowance]) -> Hit:
    reason = next((one.reason for one in allow if one.covers(found.rule)), None)
    return found if reason is None else replace(found, allowed=reason)


def _unused(found: Hit, job: Job, used: set[int]) -> bool:
    """Whether an allowance that the wording did not need was needed by the settings."""
    if found.rule.id != "L003" or found.line is None or found.column is None:
        return False
    lines = job.prompt.split("\n")
    offset = sum(len(line) + 1 for line in lines[: found.line - 1]) + found.column - 1
    return offset in used
