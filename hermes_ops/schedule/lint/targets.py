"""What is linted: the jobs of all profiles, single ones, files, standard input."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..._common.files import open_regular
from ...errors import OpsError, Unreadable
from ...host.jobs import Job, find, read_jobs
from ...host.profiles import Profile, profiles
from .job import lint_job
from .languages import LANGUAGES
from .prompt import lint_prompt
from .rules import Allowance, Hit
from .structure import surroundings

MAX_FILE = 2_000_000


@dataclass(frozen=True)
class Target:
    """One prompt that was linted: a job of a profile, or a file ("-" for standard input)."""

    name: str
    hits: tuple[Hit, ...]
    profile: str = ""
    job: Job | None = None
    path: Path | None = None


@dataclass
class Linted:
    """What came of it, and what could not be read."""

    targets: list[Target] = field(default_factory=list)
    unreadable: list[tuple[str, Unreadable]] = field(default_factory=list)


def lint_jobs(
    home: Path,
    now: float,
    named: Sequence[str] = (),
    *,
    languages: Sequence[str] = LANGUAGES,
    allow: Iterable[Allowance] = (),
) -> Linted:
    """Lint the jobs of every profile, or those named by id, beginning of an id, or name.

    Without names those are left out that are over (a one-shot that ran). A profile whose job list cannot be
    read is told in `unreadable`. Raises OpsError for a name that is in no profile, or in two.
    """
    allow, linted = list(allow), Linted()
    lists = []
    for profile in profiles(home):
        try:
            lists.append((profile, read_jobs(profile.home)))
        except Unreadable as error:
            linted.unreadable.append((profile.name, error))
    chosen = [_find(name, lists, linted) for name in named]
    for profile, jobs in lists:
        around = surroundings(profile, jobs, now)
        for job in jobs.jobs:
            if (profile.name, job.id) in chosen or (not named and not over(job)):
                hits = lint_job(job, around, languages=languages, allow=allow)
                linted.targets.append(Target(f"{profile.name}/{job.id}", tuple(hits), profile.name, job))
    return linted


def lint_text(
    name: str, text: str, *, languages: Sequence[str] = LANGUAGES, allow: Iterable[Allowance] = ()
) -> Target:
    """Lint a prompt that is no job's; ``name`` is its path, or "-"."""
    hits = lint_prompt(text, languages=languages, allow=allow)
    return Target(name, tuple(hits), path=None if name == "-" else Path(name))


def read_file(path: Path) -> str:
    """The text of a file; OpsError when it is not there, is no text, or is larger than MAX_FILE bytes."""
    try:
        with open_regular(path) as file:
            raw = file.read(MAX_FILE + 1)
    except OSError as error:
        raise OpsError(f"{path}: {error.strerror or type(error).__name__}") from None
    return decode(str(path), raw)


def decode(name: str, raw: bytes) -> str:
    """UTF-8 text with or without a mark at its beginning; OpsError otherwise."""
    if len(raw) > MAX_FILE:
        raise OpsError(f"{name}: larger than {MAX_FILE} bytes, which is no prompt")
    try:
        return raw.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise OpsError(f"{name}: not UTF-8 at byte {error.start}") from None


def over(job: Job) -> bool:
    """Whether a job is done for good: a one-shot that ran."""
    return job.state == "completed" and job.schedule.kind == "once"


def _find(name: str, lists: Sequence[tuple[Profile, object]], linted: Linted) -> tuple[str, str]:
    found, why = [], None
    for profile, jobs in lists:
        try:
            found.append((profile.name, find(jobs, name).id))  # type: ignore[arg-type]
        except OpsError as error:
            why = why or error
    if len(found) == 1:
        return found[0]
    if found:
        raise OpsError(
            f"{name!r} is a job of {', '.join(profile for profile, _ in found)}; name it by its id"
        )
    if why is not None:
        raise why
    raise (
        linted.unreadable[0][1] if linted.unreadable else OpsError(f"no job {name!r}: there are no profiles")
    )
