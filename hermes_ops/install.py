"""Installing the watchers: one wrapper script and one job each, created through the host and read back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ._common.command_line import UsageError
from ._common.files import FileLock, read_regular, write_atomic
from ._common.home import private_dir
from .core.action import Action, Done, apply
from .core.typed import decoded, typed
from .core.watch import WATCHERS, Watcher
from .errors import OpsError
from .host.delivery import parse_target, unreachable
from .host.jobs import Job, Jobs, read_jobs
from .host.schedules import Schedule
from .host.zone import zone
from .launcher import is_ours, launcher_text

FORMAT = 1
PATIENCE = 120.0  # seconds to wait for another install
CREATED = "created"
CHANGED = "changed"
KEPT = "as it was"


@dataclass(frozen=True)
class Step:
    """What was done (or would be) for one watcher; ``ok`` False with the reason in ``detail``."""

    watcher: str
    what: str
    job_id: str | None
    detail: str
    ok: bool = True

    def as_dict(self) -> dict[str, Any]:
        return {
            "watcher": self.watcher,
            "what": self.what,
            "job": self.job_id,
            "detail": self.detail,
            "ok": self.ok,
        }


def script_name(watcher: str) -> str:
    """The file of a watcher in `scripts/`; a dash, so that no module can have its name."""
    return f"ops-{watcher}.py"


def installed(home: Path) -> dict[str, str]:
    """watcher -> job id, as install wrote them down; {} when nothing is installed or that is unreadable."""
    return _record(home, "jobs")


def _record(home: Path, kind: str) -> dict[str, str]:
    """ "jobs": watcher -> job id; "scripts": watcher -> SHA-256 of the script as it was written."""
    try:
        noted: dict[str, str] = typed(dict[str, str], decoded(read_regular(_record_path(home)))[kind])
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return noted


def installed_job(home: Path, watcher: str) -> str | None:
    """The id of a watcher's job."""
    return installed(home).get(watcher)


def named(names: Iterable[str], *, minimal: bool) -> list[Watcher]:
    """The watchers to install: those named, or the minimal ones, or all. UsageError names the unknown one."""
    wanted = list(names)
    known = {watcher.name: watcher for watcher in WATCHERS}
    for name in wanted:
        if name not in known:
            raise UsageError(f"no watcher is called {name!r}; there are: {', '.join(known)}")
    if wanted:
        return [known[name] for name in dict.fromkeys(wanted)]
    return [watcher for watcher in WATCHERS if watcher.minimal or not minimal]


def check_target(home: Path, deliver: str) -> str | None:
    """Why a target of new jobs cannot be reached, as far as the host's files tell; None when it can."""
    probe = _probe_job(deliver)
    reasons = []
    for text in deliver.split(","):
        if text.strip() == "origin":
            return "origin is the chat a job was made in, and a job made from here has none"
        why = unreachable(probe, parse_target(text.strip()), home)
        if why:
            reasons.append(f"{text.strip()}: {why}")
    return "; ".join(reasons) or None


def install(
    home: Path, watchers: Iterable[Watcher], deliver: str, *, dry_run: bool = False
) -> Iterator[Step]:
    """Install watchers one by one; what is as it should be is left alone. Yields a step for each."""
    with _alone(home, dry_run):
        for watcher in watchers:
            # Read anew each time: the host's list is what counts, whoever changed it meanwhile.
            step = _install_one(home, watcher, deliver, _job_of(read_jobs(home), watcher), dry_run)
            if step.ok and step.job_id and not dry_run:
                _note(home, watcher, step.job_id)
            yield step


def uninstall(home: Path, *, dry_run: bool = False) -> Iterator[Step]:
    """Remove the jobs and scripts that install made, also those it lost track of. Yields a step for each.

    While a job stands its script stays: without it the host would deliver a failure at every run.
    """
    with _alone(home, dry_run):
        kept = set()
        for watcher in WATCHERS:
            # One by one: a job made twice by hand is ours as well.
            for job in jobs_of(read_jobs(home), watcher):
                done = apply(Action("remove", home, job.id, reason="hermes ops uninstall"), dry_run=dry_run)
                kept |= set() if done.ok else {watcher.name}
                yield Step(watcher.name, "remove job", job.id, done.detail, done.ok)
        used = {job.script for job in read_jobs(home).jobs} if not dry_run else set()
        for watcher, path in scripts(home).items():
            if watcher in kept or path.name in used:
                yield Step(watcher, "remove script", None, f"{path} stays: a job still runs it", False)
                continue
            if _is_edited(home, watcher, path):
                yield Step(watcher, "remove script", None, f"{path} stays: somebody has edited it", False)
                continue
            if not dry_run:
                path.unlink()
            yield Step(watcher, "remove script", None, str(path))
        if not dry_run:
            _forget(home, kept)


def scripts(home: Path) -> dict[str, Path]:
    """watcher -> our script of it in `scripts/`."""
    paths = {watcher.name: home / "scripts" / script_name(watcher.name) for watcher in WATCHERS}
    return {name: path for name, path in paths.items() if path.is_file() and is_ours(_text(path))}


def jobs_of(jobs: Jobs, watcher: Watcher) -> list[Job]:
    """The jobs that run a watcher's script; more than one is one too many."""
    return [job for job in jobs.jobs if job.no_agent and job.script == script_name(watcher.name)]


@contextmanager
def _alone(home: Path, dry_run: bool) -> Iterator[None]:
    """Two installs at once would each make every job."""
    if dry_run:
        yield
        return
    lock = FileLock(private_dir(home / "ops") / "install.lock")
    if not lock.acquire(PATIENCE):
        raise OpsError(f"another install or uninstall of ours has been at work here for {PATIENCE:g} s")
    try:
        yield
    finally:
        lock.release()


def _note(home: Path, watcher: Watcher, job_id: str) -> None:
    """Write down the job and the script of a watcher, when that is news."""
    jobs, hashes = _record(home, "jobs"), _record(home, "scripts")
    new = {**jobs, watcher.name: job_id}, {**hashes, watcher.name: _hash(home, watcher.name)}
    if new != (jobs, hashes):
        _write_record(home, *new)


def _forget(home: Path, kept: set[str]) -> None:
    jobs, hashes = (
        {name: value for name, value in _record(home, kind).items() if name in kept}
        for kind in ("jobs", "scripts")
    )
    if jobs:
        _write_record(home, jobs, hashes)
    else:
        _record_path(home).unlink(missing_ok=True)


def _hash(home: Path, watcher: str) -> str:
    return sha256(read_regular(home / "scripts" / script_name(watcher), 1_000_000)).hexdigest()


def _is_edited(home: Path, watcher: str, path: Path) -> bool:
    """Whether a script of ours is no longer as it was written; one of which nothing is noted may be old."""
    noted = _record(home, "scripts").get(watcher)
    return noted is not None and noted != _hash(home, watcher)


def _install_one(home: Path, watcher: Watcher, deliver: str, job: Job | None, dry_run: bool) -> Step:
    changed = _write_script(home, watcher, dry_run)
    if job is None:
        wanted = {
            "name": f"ops {watcher.name}",
            "schedule": watcher.schedule,
            "deliver": deliver,
            "script": script_name(watcher.name),
            "no_agent": True,
        }
        done = apply(Action("create", home, None, wanted, "hermes ops install"), dry_run=dry_run)
        return _verified(home, watcher, CREATED, done, dry_run)
    edits = _differences(home, watcher, deliver, job)
    if not edits:
        paused = "" if job.live else f"; it is {job.state}: hermes cron resume {job.id}"
        return Step(watcher.name, CHANGED if changed else KEPT, job.id, f"{job.schedule.display}{paused}")
    done = apply(Action("edit", home, job.id, edits, "hermes ops install"), dry_run=dry_run)
    return _verified(home, watcher, CHANGED, done, dry_run)


def _verified(home: Path, watcher: Watcher, what: str, done: Done, dry_run: bool) -> Step:
    """A step of a job that was created or edited: read back, with the time of its next run."""
    if dry_run or not done.ok:
        return Step(watcher.name, what, done.job_id, done.detail, done.ok)
    job = read_jobs(home).by_id(done.job_id or "")
    if job is None or job.next_run_at is None:
        why = "the host did not give it a next run" if job else "the host does not list it"
        return Step(watcher.name, what, done.job_id, f"{why}; see `hermes cron list`", False)
    from .core.moment import show

    return Step(watcher.name, what, job.id, f"next run {show(job.next_run_at, zone(home).tz)}")


def _differences(home: Path, watcher: Watcher, deliver: str, job: Job) -> dict[str, Any]:
    wanted = {}
    if job.deliver != tuple(part.strip() for part in deliver.split(",")):
        wanted["deliver"] = deliver
    if _cadence(job) != watcher.schedule:
        wanted["schedule"] = watcher.schedule
    return wanted


def _cadence(job: Job) -> str:
    """The schedule of a job in the form in which the registry of watchers has it."""
    if job.schedule.kind == "interval":
        return f"every {job.schedule.minutes:g}m"
    return job.schedule.expr


def _job_of(jobs: Jobs, watcher: Watcher) -> Job | None:
    return next(iter(jobs_of(jobs, watcher)), None)


def _write_script(home: Path, watcher: Watcher, dry_run: bool) -> bool:
    """Write the wrapper unless it is there already; returns whether it changed."""
    path = home / "scripts" / script_name(watcher.name)
    text = launcher_text(home, ["watch", watcher.name, "--scheduled"])
    try:
        there = _text(path)
    except FileNotFoundError:
        there = None
    if there == text:
        return False
    if there is not None and (not is_ours(there) or _is_edited(home, watcher.name, path)):
        why = "somebody has edited it" if is_ours(there) else "it is not ours"
        raise OpsError(f"{path}: {why}; move it away, then install again")
    if not dry_run:
        write_atomic(path, text)
    return True


def _text(path: Path) -> str:
    return read_regular(path, 1_000_000).decode("utf-8", "replace")


def _probe_job(deliver: str) -> Job:
    schedule = Schedule("interval", minutes=5.0)
    return Job("0" * 12, "probe", "", schedule, True, "scheduled", True, None, (deliver,))


def _record_path(home: Path) -> Path:
    return home / "ops" / "install.json"


def _write_record(home: Path, jobs: dict[str, str], scripts: dict[str, str]) -> None:
    data = {"format": FORMAT, "jobs": jobs, "scripts": scripts}
    write_atomic(_record_path(home), json.dumps(data, sort_keys=True) + "\n")
