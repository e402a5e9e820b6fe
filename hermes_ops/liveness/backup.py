"""Daily copies of state.db, made by SQLite's own backup and opened before they count.

The copy of each profile is one consistent state even while a gateway writes. Old copies go after
`ops.backup.keep_days`, but never the newest good one. A copy that does not verify is kept under another
name and takes no good one's place. Nothing here ever restores: `quarantine` saves what is there, and says
what a person would do next.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .. import settings
from .._common.files import FileLock
from .._common.home import private_dir
from ..core.finding import Blind, Finding, Reading
from ..core.moment import span
from ..errors import OpsError, Unreadable
from ..host.profiles import FOLDER, Profile

if TYPE_CHECKING:
    from ..core.watch import Context

OPTIONS = (
    settings.Option("backup.keep_days", 2.0, settings.number(0.04, 3650), "days that copies are kept"),
    settings.Option(
        "backup.stale_hours", 26.0, settings.number(1, 8760), "age of the newest good copy that is told"
    ),
)
DATABASE = "state.db"
SPARE = 1.1  # the room a copy must find, as a multiple of the database
DAMAGED = ".damaged"
_STAMP = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True)
class Copy:
    """A copy: its profile, when it was made (seconds since the epoch), its size, whether it verified."""

    path: Path
    profile: str
    made_at: float
    size: int
    good: bool


def folder(state: Path, profile: str) -> Path:
    """Where the copies of a profile lie, below our state."""
    return state / "backups" / profile


def copies(state: Path, profile: str) -> list[Copy]:
    """The copies of a profile, oldest first."""
    found = []
    for path in sorted(folder(state, profile).glob("state-*.db*")):
        try:
            made = time.strptime(path.name.split("-", 1)[1].split(".")[0], _STAMP)
            size = path.stat().st_size
        except (ValueError, IndexError, OSError):
            continue
        if path.name.endswith((".db", f".db{DAMAGED}")):
            found.append(Copy(path, profile, _epoch(made), size, path.suffix == ".db"))
    return found


def back_up(
    state: Path, profile: Profile, now: float, progress: Callable[[int, int], None] | None = None
) -> Copy | None:
    """Copy a profile's state.db and verify the copy; None when the profile has no database.

    `progress` is told pages left and pages in all. Raises Unreadable (locked, damaged, no room).
    """
    source = profile.home / DATABASE
    if not source.exists():
        return None
    target = private_dir(folder(state, profile.name)) / time.strftime(f"state-{_STAMP}.db", time.gmtime(now))
    _check_room(source, target.parent)
    partial = target.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    try:
        _copy(source, partial, progress)
        problem = verify(partial)
        final = target if problem is None else Path(f"{target}{DAMAGED}")
        os.replace(partial, final)
    except BaseException:
        for leftover in (partial, Path(f"{partial}-journal"), Path(f"{partial}-wal"), Path(f"{partial}-shm")):
            leftover.unlink(missing_ok=True)
        raise
    if problem is not None:
        raise Unreadable(source, f"its copy does not verify ({problem}); kept as {final.name}")
    return Copy(final, profile.name, now, final.stat().st_size, True)


def verify(path: Path) -> str | None:
    """Open a copy and check it; the problem, or None when it is whole and holds sessions."""
    import sqlite3

    from ..host.database import columns, reading

    try:
        with reading(path) as connection:
            answer = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if answer != "ok":
                return str(answer)
            return None if columns(connection, "sessions") else "it has no table of sessions"
    except (Unreadable, sqlite3.Error) as error:
        return error.why if isinstance(error, Unreadable) else str(error)


def prune(state: Path, profile: str, keep_days: float, now: float) -> list[Path]:
    """Remove copies older than `keep_days`, the newest good one never; returns what went."""
    found = copies(state, profile)
    good = [copy for copy in found if copy.good]
    newest = good[-1].path if good else None
    gone = []
    for copy in found:
        if copy.path != newest and now - copy.made_at > keep_days * 86_400:
            copy.path.unlink(missing_ok=True)
            gone.append(copy.path)
    return gone


def quarantine(state: Path, profile: Profile, now: float) -> tuple[Path, list[str]]:
    """Copy a profile's database as it is, with its journal files, to a safe place; then say the next steps.

    The original is not moved, changed or deleted. Raises OpsError when there is nothing to save or no room.
    """
    source = profile.home / DATABASE
    parts = [Path(f"{source}{suffix}") for suffix in ("", "-wal", "-shm", "-journal")]
    there = [part for part in parts if part.exists()]
    if not there:
        raise OpsError(f"{source} does not exist; there is nothing to save")
    _check_room(source if source.exists() else there[0], private_dir(state))
    target = private_dir(state / "quarantine" / time.strftime(f"{profile.name}-{_STAMP}", time.gmtime(now)))
    for part in there:
        shutil.copyfile(part, target / part.name)
        os.chmod(target / part.name, 0o600)
    return target, next_steps(state, profile, target)


def next_steps(state: Path, profile: Profile, saved: Path) -> list[str]:
    """What a person does to go back to the newest good copy; none of it is done here."""
    good = [copy for copy in copies(state, profile.name) if copy.good]
    source = profile.home / DATABASE
    steps = ["hermes gateway stop", "hermes sessions repair   # first: it may be enough"]
    if good:
        # Journal files of the old database beside another one would be played into it.
        steps += [
            f"mv {source} {source}-wal {source}-shm {saved}/   # keep them; ignore those that do not exist",
            f"cp {good[-1].path} {source}",
        ]
    else:
        steps.append("# there is no good copy to go back to")
    return [*steps, "hermes gateway start", "hermes ops doctor"]


def run(
    state: Path, profiles: list[Profile], now: float, keep_days: float
) -> Iterator[Copy | Finding | Blind]:
    """Back up every profile: a Copy for each that worked, a Finding or Blind for each that did not."""
    lock = FileLock(private_dir(state) / "backup.lock")
    if not lock.acquire():
        return
    try:
        for profile in profiles:
            try:
                copy = back_up(state, profile, now)
            except Unreadable as error:
                yield _failed(profile, error)
                continue
            if copy is not None:
                prune(state, profile.name, keep_days, now)
                yield copy
    finally:
        lock.release()


def watch(context: Context) -> Reading:
    """Make the day's copies; what failed, and profiles whose newest good copy is too old."""
    wanted = settings.load(context.home, OPTIONS)
    profiles = context.profiles
    findings: list[Finding] = []
    blind: list[Blind] = []
    for result in run(context.state, profiles, context.now, wanted["backup.keep_days"]):
        if isinstance(result, Finding):
            findings.append(result)
        elif isinstance(result, Blind):
            blind.append(result)
    gone = gone_databases(context.home, profiles)
    findings += [_gone(context.state, profile) for profile in gone]
    for profile in [*profiles, *(one for one in gone if one not in profiles)]:
        stale = _stale(context.state, profile, context.now, wanted["backup.stale_hours"])
        if stale is not None and all(finding.id != f"backup.failed:{stale.key}" for finding in findings):
            findings.append(stale)
    return Reading.of(findings, blind)


def gone_databases(home: Path, profiles: list[Profile]) -> list[Profile]:
    """The profiles of which there are copies and no database, also those whose folder is gone."""
    state = home / "ops"
    there = {profile.name for profile in profiles}
    names = sorted(path.name for path in (state / "backups").glob("*") if path.is_dir())
    every = profiles + [Profile(name, home / FOLDER / name) for name in names if name not in there]
    return [one for one in every if copies(state, one.name) and not (one.home / DATABASE).exists()]


def _gone(state: Path, profile: Profile) -> Finding:
    newest = copies(state, profile.name)[-1]
    return Finding(
        "backup.gone",
        "error",
        str(profile.home / DATABASE),
        f"it is gone: there are copies of it, the newest {newest.path.name}",
        profile.name,
        fix="hermes ops backup list",
    )


def _stale(state: Path, profile: Profile, now: float, hours: float) -> Finding | None:
    source = profile.home / DATABASE
    made = copies(state, profile.name)
    good = [copy for copy in made if copy.good]
    if not (made or source.exists()) or (good and now - good[-1].made_at <= hours * 3600):
        return None
    age = f"the newest good copy is {span(now - good[-1].made_at)} old" if good else "there is no good copy"
    return Finding("backup.stale", "error", str(source), age, profile.name, fix="hermes ops backup run")


def _failed(profile: Profile, error: Unreadable) -> Finding | Blind:
    if "locked" in error.why:
        return Blind(f"backup:{profile.name}", str(error), f"backup.failed:{profile.name}", holds=2)
    return Finding(
        "backup.failed",
        "error",
        error.source,
        f"no copy was made: {error.why}",
        profile.name,
        fix="hermes ops backup recover   # saves what is there, then says what to do",
    )


def _copy(source: Path, target: Path, progress: Callable[[int, int], None] | None) -> None:
    import sqlite3

    from ..host.database import reading

    def told(status: int, remaining: int, total: int) -> None:
        if progress is not None:
            progress(remaining, total)

    with reading(source, timeout=10.0) as connection:
        is_wal = connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
        fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.close(fd)
        copy = sqlite3.connect(target)
        try:
            # One step reads one state, and writers of a WAL database are not kept waiting by it; with a
            # rollback journal they are, so that is left between steps.
            connection.backup(copy, pages=-1 if is_wal else 2000, progress=told, sleep=0.01)
            # A copy that says WAL would leave files beside it whenever it is looked at.
            copy.execute("PRAGMA journal_mode=DELETE")
        finally:
            copy.close()


def _check_room(source: Path, directory: Path) -> None:
    wal = Path(f"{source}-wal")
    need = (source.stat().st_size + (wal.stat().st_size if wal.exists() else 0)) * SPARE
    free = shutil.disk_usage(directory).free
    if free < need:
        raise Unreadable(
            source, f"a copy needs {need / 1e6:,.0f} MB and {directory} has {free / 1e6:,.0f} MB free"
        )


def _epoch(stamp: time.struct_time) -> float:
    from calendar import timegm

    return float(timegm(stamp))
