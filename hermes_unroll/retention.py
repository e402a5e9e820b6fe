"""Retention: old recordings go, by age and by the room they take, the oldest first."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from . import catalog, journal, presence
from .sealing import SEALED, unrolled_dir
from .settings import Settings

DAY = 86_400.0
UNFINISHED_SECONDS = 3600.0
MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Doomed:
    """One recording to be removed, and why."""

    name: str
    paths: tuple[Path, ...]
    bytes: int
    why: str


def plan(home: Path, settings: Settings, now: float | None = None) -> list[Doomed]:
    """Return what retention removes now. Sessions being written stay, whatever their age and size."""
    now = time.time() if now is None else now
    recordings = [
        (
            entry.modified,
            entry.session_id,
            tuple(path for path in (entry.journal, entry.trace) if path),
            entry.bytes,
        )
        for entry in catalog.sessions(home)
        if entry.state != "live"
    ]
    recordings += [
        (path.stat().st_mtime, path.name, (path,), path.stat().st_size)
        for path in catalog.traces(home)
        if "_edit_" in path.name
    ]
    recordings.sort()
    total = sum(size for *_, size in recordings)
    doomed = []
    for modified, name, paths, size in recordings:
        age = (now - modified) / DAY
        if settings.max_age_days and age > settings.max_age_days:
            why = f"{age:.0f} days old; {settings.max_age_days:g} are kept"
        elif settings.max_size_mb and total > settings.max_size_mb * MEGABYTE:
            why = f"all recordings take {total / MEGABYTE:.0f} MB; {settings.max_size_mb:g} are kept"
        else:
            continue
        total -= size
        doomed.append(Doomed(name, paths, size, why))
    return doomed


def carry_out(doomed: list[Doomed]) -> int:
    """Remove what a plan names; return how many bytes. Removes only files the recorder itself writes."""
    freed = 0
    for recording in doomed:
        for path in recording.paths:
            if path.is_dir():
                _remove_journal(path)
            else:
                path.unlink(missing_ok=True)
        freed += recording.bytes
    return freed


def _remove_journal(directory: Path) -> None:
    for name in os.listdir(directory):
        if journal.SEGMENT_NAME.fullmatch(name) or name in (SEALED, "secrets"):
            (directory / name).unlink(missing_ok=True)
    try:
        directory.rmdir()
    except OSError:
        # Something of the user's lies there.
        pass


def _remove_unfinished(home: Path) -> None:
    """Remove what a killed process left of files it was writing."""
    for folder in (unrolled_dir(home), journal.journal_dir(home), presence.live_dir(home)):
        for path in folder.glob(".tmp-*"):
            try:
                if time.time() - path.stat().st_mtime > UNFINISHED_SECONDS:
                    path.unlink()
            except OSError:
                continue


def prune(home: Path, settings: Settings) -> list[Doomed]:
    """Carry out retention, and forget processes that have ended."""
    doomed = plan(home, settings)
    carry_out(doomed)
    _remove_unfinished(home)
    presence.forget_dead(home)
    return doomed
