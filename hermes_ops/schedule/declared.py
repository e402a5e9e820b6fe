"""What people decided about each job, apart from what a run changes; table and diff are made of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from .._common.files import open_regular
from ..errors import Unreadable
from ..host.jobs import Job, Jobs, read_jobs
from ..host.profiles import Profile, profiles
from ..host.schedules import Schedule
from ..host.zone import Zone, zone

MISSING = "missing"
UNREADABLE = "unreadable"
OUTSIDE = "outside scripts/"
_LARGEST_SCRIPT = 16_000_000  # bytes of a script that are hashed


@dataclass(frozen=True)
class Declared:
    """One job as it was decided. Nothing here changes by a run, a tick or an edit of something else.

    schedule     "cron 0 6 * * 1-5", "every 30m", "once 2026-12-01T16:30:00Z", "invalid: ..."
    state        "on", "paused", "off" (completed or disabled), "error" (the host cannot compute its next run)
    mode         "agent", "agent after a script", "script"
    script_hash  of the content of the script, or MISSING, UNREADABLE, OUTSIDE; "" without a script
    prompt_hash  of the prompt, which itself is kept nowhere; "" without one
    repeat       how many runs are wanted, None: no end
    """

    profile: str
    id: str
    name: str
    schedule: str
    state: str
    mode: str
    deliver: tuple[str, ...]
    model: str | None
    provider: str | None
    base_url: str | None
    script: str | None
    script_hash: str
    prompt_hash: str
    prompt_chars: int
    skills: tuple[str, ...]
    context_from: tuple[str, ...]
    toolsets: tuple[str, ...] | None
    workdir: str | None
    origin: str | None
    repeat: int | None

    @property
    def key(self) -> str:
        """profile/id, the end of the ids of findings."""
        return f"{self.profile}/{self.id}"

    @property
    def label(self) -> str:
        """For a person: "job 06c6883b7ddd (morning digest)", and its profile unless that is the default."""
        return f"job {self.id} ({self.name})" + ("" if self.profile == "default" else f" of {self.profile}")

    @property
    def run_at(self) -> float | None:
        """When a one-shot is due, seconds since the epoch; None for what recurs."""
        if not self.schedule.startswith("once "):
            return None
        try:
            return datetime.fromisoformat(self.schedule[5:].replace("Z", "+00:00")).timestamp()
        except ValueError:
            return None

    def as_dict(self) -> dict[str, Any]:
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()
        }


@dataclass(frozen=True)
class Schedules:
    """The jobs of one profile as they stand: declared, the host's records beside, zone, or why not."""

    profile: Profile
    zone: Zone
    jobs: Jobs | None
    declared: tuple[Declared, ...] = ()
    problem: Unreadable | None = None

    def pairs(self) -> Iterator[tuple[Declared, Job]]:
        """Each declared job with its record."""
        yield from zip(self.declared, self.jobs.jobs if self.jobs else (), strict=True)


def read_all(home: Path) -> list[Schedules]:
    """Every profile that `home` looks at; one that cannot be read has a `problem` and hides no other."""
    found = []
    for profile in profiles(home):
        here = zone(profile.home)
        try:
            jobs = read_jobs(profile.home)
        except Unreadable as error:
            found.append(Schedules(profile, here, None, problem=error))
        else:
            found.append(Schedules(profile, here, jobs, declare_all(jobs, profile)))
    return found


def declare_all(jobs: Jobs, profile: Profile) -> tuple[Declared, ...]:
    """What was decided about each job, in the order of the file; ids are made unique."""
    found: list[Declared] = []
    seen: dict[str, int] = {}
    for job in jobs.jobs:
        seen[job.id] = seen.get(job.id, 0) + 1
        number = seen[job.id]
        found.append(declare(job, profile, job.id if number == 1 else f"{job.id}#{number}"))
    return tuple(found)


def declare(job: Job, profile: Profile, job_id: str | None = None) -> Declared:
    """What was decided about one job."""
    return Declared(
        profile=profile.name,
        id=job_id or job.id,
        name=job.name,
        schedule=written(job.schedule),
        state=state(job),
        mode="script" if job.no_agent else "agent after a script" if job.script else "agent",
        deliver=tuple(sorted(job.deliver)),
        model=job.model,
        provider=job.provider,
        base_url=_text(job.raw.get("base_url")),
        script=job.script,
        script_hash=script_hash(profile.home, job.script),
        prompt_hash=_hash(job.prompt.encode("utf-8", "surrogatepass")) if job.prompt else "",
        prompt_chars=len(job.prompt),
        skills=job.skills,
        context_from=job.context_from,
        toolsets=None if job.toolsets is None else tuple(sorted(job.toolsets)),
        workdir=job.workdir,
        origin=_origin(job),
        repeat=job.repeat_times if job.schedule.recurring else None,
    )


def written(schedule: Schedule) -> str:
    """A schedule as exactly one text; a one-shot as an instant in UTC, whatever zone it was written in."""
    if schedule.kind == "cron":
        return f"cron {' '.join(schedule.expr.split())}"
    if schedule.kind == "interval":
        return f"every {schedule.minutes:g}m"
    if schedule.kind == "once" and schedule.run_at is not None:
        at = datetime.fromtimestamp(schedule.run_at, timezone.utc)
        return f"once {at.isoformat().replace('+00:00', 'Z')}"
    return f"invalid: {schedule.problem or 'no schedule'}"


def state(job: Job) -> str:
    """on, paused, off, or error."""
    if job.live:
        return "on"
    return job.state if job.state in ("paused", "error") else "off"


def script_hash(home: Path, script: str | None) -> str:
    """The hash of a script's content, or why there is none. The host runs only what lies in `scripts/`."""
    if not script:
        return ""
    folder = (home / "scripts").resolve()
    try:
        path = (folder / Path(script).expanduser()).resolve()
        if not path.is_relative_to(folder):
            return OUTSIDE
        with open_regular(path) as file:
            return _hash(file.read(_LARGEST_SCRIPT))
    except FileNotFoundError:
        return MISSING
    except (OSError, ValueError, RuntimeError):
        return UNREADABLE


def _origin(job: Job) -> str | None:
    """Where `origin` leads, which is a part of the decision only when it is among the targets."""
    if "origin" not in job.deliver or not job.origin:
        return None
    parts = [job.origin.get(name) for name in ("platform", "chat_id", "thread_id")]
    return ":".join(str(part) for part in parts if part is not None) or None


def _hash(content: bytes) -> str:
    from hashlib import sha256

    return sha256(content).hexdigest()[:16]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
