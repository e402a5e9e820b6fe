"""The job list, `cron/jobs.json`, read by ourselves: the host's own loader rewrites the file."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .._common.files import open_regular
from ..errors import OpsError, Unreadable
from . import halves
from .schedules import Schedule, parse
from .zone import host_time

JOB_ID = re.compile(r"[0-9a-f]{12}")
_MAX_BYTES = 64_000_000
_NONE = object()
_PAUSES = (0.05, 0.15, 0.3)  # seconds to wait for somebody who writes the file in place


@dataclass(frozen=True)
class Job:
    """One job. Times are seconds since the epoch, None when absent or unreadable.

    ``name`` is never empty (falls back as the host's list does, then to the script, then to the id).
    ``deliver`` are the targets one by one ("telegram:-100:17"); none written means ("local",).
    ``raw`` is the record as it stands. ``problems`` are faults of the record, one line each.
    A record without an id gets "unknown-<its place in the list>", which no command takes.
    """

    id: str
    name: str
    prompt: str
    schedule: Schedule
    enabled: bool
    state: str
    no_agent: bool
    script: str | None
    deliver: tuple[str, ...]
    model: str | None = None
    provider: str | None = None
    model_snapshot: str | None = None
    provider_snapshot: str | None = None
    skills: tuple[str, ...] = ()
    context_from: tuple[str, ...] = ()
    toolsets: tuple[str, ...] | None = None
    workdir: str | None = None
    origin: Mapping[str, Any] | None = None
    repeat_times: int | None = None
    repeat_completed: int = 0
    created_at: float | None = None
    next_run_at: float | None = None
    last_run_at: float | None = None
    last_status: str | None = None
    last_error: str | None = None
    last_delivery_error: str | None = None
    paused_at: float | None = None
    paused_reason: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def live(self) -> bool:
        """Whether the host would run it at its time; what it goes by is `enabled`, not the state "paused"."""
        return self.enabled and self.state not in ("completed", "error")

    @property
    def label(self) -> str:
        """For a person: "job 06c6883b7ddd (morning digest)"."""
        return f"job {self.id} ({self.name})"


@dataclass(frozen=True)
class Jobs:
    """The job list of one profile: the file it came from, the jobs in its order, when it was written."""

    path: Path
    jobs: tuple[Job, ...]
    updated_at: float | None = None
    problems: tuple[str, ...] = ()

    def by_id(self, job_id: str) -> Job | None:
        return next((job for job in self.jobs if job.id == job_id), None)


def read_jobs(home: Path) -> Jobs:
    """Read `<home>/cron/jobs.json`: envelope or bare list, BOM, raw control characters.

    No file is no jobs, in a home that never ran any. A file that is gone, cannot be read, or is torn even
    after a short wait for the host to finish replacing it, raises Unreadable naming it.
    """
    path = home / "cron" / "jobs.json"
    found = read_jobs_file(path)
    if not found.jobs and not path.exists() and _has_run_jobs(home):
        raise Unreadable(path, "it is gone, though jobs have run here")
    return found


def _has_run_jobs(home: Path) -> bool:
    """Whether a job left its outputs: with the last job the host removes them, and keeps an empty list."""
    try:
        with os.scandir(home / "cron" / "output") as entries:
            return any(entry.is_dir() for entry in entries)
    except OSError:
        return False


def read_jobs_file(path: Path) -> Jobs:
    """Read a job list that lies anywhere; the same as `read_jobs`."""
    data = _load(path)
    if data is _NONE:
        return Jobs(path, ())
    updated_at = None
    if isinstance(data, dict):
        updated_at = host_time(data.get("updated_at"))
        data = data.get("jobs", [])
    if not isinstance(data, list):
        raise Unreadable(path, f"a list of jobs was expected, found {_kind(data)}; the host stops on it too")
    problems = [
        f"record {place} is {_kind(record)}, not a mapping: the host's scheduler stops on it"
        for place, record in enumerate(data, 1)
        if not isinstance(record, dict)
    ]
    jobs = [read_job(record, place) for place, record in enumerate(data, 1) if isinstance(record, dict)]
    seen: dict[str, int] = {}
    for job in jobs:
        seen[job.id] = seen.get(job.id, 0) + 1
    twice = {job_id: count for job_id, count in seen.items() if count > 1}
    problems += [f"the id {job_id} stands {count} times" for job_id, count in twice.items()]
    return Jobs(
        path,
        tuple(
            replace(job, problems=(*job.problems, f"its id stands {twice[job.id]} times in the list"))
            if job.id in twice
            else job
            for job in jobs
        ),
        updated_at,
        tuple(problems),
    )


def read_job(record: Mapping[str, Any], place: int = 1) -> Job:
    """Read one record, whatever it holds; `place` (from 1) names one that has no id."""
    problems: list[str] = []
    job_id = _text(record.get("id"))
    if not job_id and (job_id := _text(record.get("job_id"))):
        problems.append("its id stands under job_id; the host moves it on its next tick")
    if not job_id:
        job_id = f"unknown-{place}"
        problems.append("it has no id; the host gives it one on its next tick")
    elif not JOB_ID.fullmatch(job_id):
        problems.append(f"its id {job_id[:40]!r} is not one of the host's (12 hex digits)")
    enabled = bool(record.get("enabled", True))
    state = _text(record.get("state")) or ("scheduled" if enabled else "paused")
    if enabled and state == "paused":
        problems.append('its state is "paused" and it is enabled: the host runs it')
    for key in ("next_run_at", "last_run_at", "created_at", "paused_at"):
        if record.get(key) is not None and host_time(record[key]) is None:
            problems.append(f"its {key} {str(record[key])[:40]!r} is no time; the host drops it")
    origin = record.get("origin")
    if origin is not None and not isinstance(origin, dict):
        problems.append(f"its origin is {_kind(origin)}, which the host ignores")
    toolsets = record.get("enabled_toolsets")
    if isinstance(toolsets, str) and toolsets:
        problems.append("its enabled_toolsets is a string: the host reads it letter by letter")
    prompt = "" if record.get("prompt") is None else str(record["prompt"])
    skills = _texts(record.get("skills") if record.get("skills") is not None else record.get("skill"))
    script = _text(record.get("script")) or None
    written = record.get("repeat")
    repeat: Mapping[str, Any] = written if isinstance(written, dict) else {}
    return Job(
        id=job_id,
        name=_name(record, prompt, skills, script, job_id),
        prompt=prompt,
        schedule=_schedule(record),
        enabled=enabled,
        state=state,
        no_agent=bool(record.get("no_agent")),
        script=script,
        deliver=_targets(record.get("deliver")),
        model=_optional(record.get("model")),
        provider=_optional(record.get("provider")),
        model_snapshot=_optional(record.get("model_snapshot")),
        provider_snapshot=_optional(record.get("provider_snapshot")),
        skills=skills,
        context_from=_texts(record.get("context_from")),
        toolsets=_texts(toolsets) if toolsets else None,
        workdir=_optional(record.get("workdir")),
        origin=origin if isinstance(origin, dict) else None,
        repeat_times=_count(repeat.get("times")),
        repeat_completed=_count(repeat.get("completed")) or 0,
        created_at=host_time(record.get("created_at")),
        next_run_at=host_time(record.get("next_run_at")),
        last_run_at=host_time(record.get("last_run_at")),
        last_status=_optional(record.get("last_status")),
        last_error=_optional(record.get("last_error")),
        last_delivery_error=_optional(record.get("last_delivery_error")),
        paused_at=host_time(record.get("paused_at")),
        paused_reason=_optional(record.get("paused_reason")),
        raw=record,
        problems=tuple(problems),
    )


def find(jobs: Jobs, named: str) -> Job:
    """The job of that id, unique beginning of an id, or name; OpsError naming the candidates otherwise."""
    named = named.strip()
    exact = [job for job in jobs.jobs if job.id == named]
    if exact:
        return exact[0]
    folded = named.casefold()
    found = [job for job in jobs.jobs if job.name.casefold() == folded] if named else []
    if not found and len(named) >= 3:
        found = [job for job in jobs.jobs if job.id.startswith(named)]
    if len(found) == 1:
        return found[0]
    if found:
        raise OpsError(f"{named!r} is more than one: {_listed(found)}; name it by its id")
    if not jobs.jobs:
        raise OpsError(f"no job {named!r}: {jobs.path} holds no jobs")
    from difflib import get_close_matches

    names = {job.name.casefold(): job for job in jobs.jobs}
    names.update({job.id: job for job in jobs.jobs})
    near = [names[name] for name in get_close_matches(folded, names, n=3)]
    raise OpsError(
        f"no job {named!r} in {jobs.path}; {'near it' if near else 'there are'}: "
        f"{_listed(near or list(jobs.jobs))}"
    )


def _load(path: Path) -> Any:
    """The content of the file, _NONE when there is no file. What does not parse is read again for a while."""
    for pause in (*_PAUSES, None):
        try:
            with open_regular(path) as file:
                raw = file.read(_MAX_BYTES + 1)
            if len(raw) > _MAX_BYTES:
                raise Unreadable(path, f"larger than {_MAX_BYTES} bytes")
            # strict=False is how the host reads control characters that stand bare in a text.
            text = raw.decode("utf-8-sig")
            found = json.loads(text, strict=False)
            return halves.mended(found) if halves.may_hold(text) else found
        except FileNotFoundError:
            return _NONE
        except OSError as error:
            why, cause = error.strerror or type(error).__name__, error
        except UnicodeDecodeError as error:
            why, cause = f"not UTF-8 at byte {error.start}", error
        except json.JSONDecodeError as error:
            why, cause = f"no JSON from line {error.lineno} on ({error.msg}); the host stops on it too", error
        except RecursionError as error:
            why, cause = "nested too deeply", error
        except ValueError as error:
            why, cause = f"no JSON ({error})", error
        if pause is None:
            raise Unreadable(path, why) from cause
        time.sleep(pause)
    return _NONE


def _schedule(record: Mapping[str, Any]) -> Schedule:
    schedule = parse(record.get("schedule"))
    shown = _text(record.get("schedule_display"))
    return replace(schedule, display=shown or schedule.display or "?")


def _name(
    record: Mapping[str, Any], prompt: str, skills: Sequence[str], script: str | None, job_id: str
) -> str:
    name = _text(record.get("name"))
    if name:
        return name
    return (prompt or (skills[0] if skills else "") or script or job_id)[:50].strip() or "cron job"


def _targets(deliver: Any) -> tuple[str, ...]:
    """The delivery targets: the host takes a text, a text parted by commas, or a list of either."""
    if isinstance(deliver, (list, tuple)):
        deliver = ",".join(str(part) for part in deliver)
    parts = tuple(part for text in str(deliver or "").split(",") if (part := text.strip()))
    return parts or ("local",)


def _text(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _optional(value: Any) -> str | None:
    return _text(value) or None


def _texts(value: Any) -> tuple[str, ...]:
    """One text or several, empty and repeated ones left out."""
    if value is None or isinstance(value, (bool, int, float)):
        return ()
    items = [value] if isinstance(value, str) else list(value)
    return tuple(dict.fromkeys(text for item in items if (text := _text(item))))


def _count(value: Any) -> int | None:
    usable = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e15
    return int(value) if usable else None


def _kind(value: Any) -> str:
    return "null" if value is None else f"a {type(value).__name__}"


def _listed(jobs: Sequence[Job]) -> str:
    shown = ", ".join(f"{job.id} ({job.name})" for job in jobs[:8])
    return f"{shown}, and {len(jobs) - 8} more" if len(jobs) > 8 else shown
