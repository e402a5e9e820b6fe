"""One run of a watcher: as its job under the host's cron, or by hand.

Under cron what is printed is what the host delivers, and whether it arrived is known only in the next run,
from the job's `last_delivery_error`. Such a run ends with exit code 0 whatever it found: the host delivers
anything else as a failure of the script, every time.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from .. import settings
from .._common.files import FileLock, is_alive, read_regular, write_atomic
from .._common.home import private_dir
from ..errors import OpsError, Unreadable
from .finding import DAY, HOUR, Blind, Finding, Reading
from .incident import Incidents, Message
from .incident_text import redacted
from .typed import object_of
from .watch import Context, Watcher

OPTIONS = (
    settings.Option(
        "ping_url",
        "",
        settings.text,
        "asked for after every run that worked, so that somebody outside notices when they end;"
        " {watcher} stands for the watcher's name",
        ("OPS_PING_URL",),
        secret=True,
    ),
)
FORMAT = 1
STAMP_SLACK = 1.0  # seconds; the host's stamp of a run may be cut to whole ones
UNNOTED = 6 * HOUR  # between two messages where it cannot be noted that one was said
LEFTOVER = HOUR  # age of a temporary file of a process that is gone
LONGEST_WAIT = 0.2  # seconds that a second run of the same watcher waits for the first


@dataclass(frozen=True)
class Outcome:
    """What one run saw and said; ``ran`` is False when another run of the same watcher was under way."""

    ran: bool
    reading: Reading
    messages: tuple[Message, ...]
    error: str | None = None


def look(watcher: Watcher, home: Path, now: float) -> Outcome:
    """Let a watcher look, for somebody who asks: no incident opens or ends by it, nothing counts as told."""
    reading, error = _read(watcher, home, now)
    return Outcome(True, reading, (), error)


def run(watcher: Watcher, home: Path, now: float, say: Callable[[str], None]) -> Outcome:
    """Run a watcher as its job does and say what is new; whether it arrived is settled in the next run."""
    lock = FileLock(_directory(home) / f"{watcher.name}.lock")
    if not lock.acquire(LONGEST_WAIT):
        return Outcome(False, Reading(), ())
    try:
        incidents = Incidents(home)
        undelivered = _settle(incidents, watcher, home, now)
        reading, error = _read(watcher, home, now)
        if undelivered is not None:
            reading += Reading.of([undelivered])
        messages = incidents.update(watcher.name, reading, now, _speaker(say))
        if undelivered is not None and messages:
            _say_elsewhere(home, messages)
        record(home, watcher.name, now, error)
        _tidy(home, now)
        if error is None:
            _ping(home, watcher.name)
        return Outcome(True, reading, tuple(messages), error)
    finally:
        lock.release()


def record(home: Path, name: str, now: float, error: str | None) -> None:
    """Keep when a watcher ran, and when it last ran without an error of its own."""
    path = _directory(home) / f"{name}.json"
    ok_at = now if error is None else last_run(home, name).last_ok
    data = {"format": FORMAT, "last_run": now, "last_ok": ok_at, "error": error}
    write_atomic(path, json.dumps(data) + "\n", durable=False)


@dataclass(frozen=True)
class LastRun:
    """When a watcher ran last, and last without an error of its own (None: never, or not known)."""

    last_run: float | None = None
    last_ok: float | None = None
    error: str | None = None


def last_run(home: Path, name: str) -> LastRun:
    """The last run of a watcher; all of it None when it never ran or that cannot be read."""
    try:
        found: LastRun = object_of(LastRun, read_regular(home / "ops" / "watchers" / f"{name}.json"))
    except (OSError, ValueError):
        return LastRun()
    return found


def _read(watcher: Watcher, home: Path, now: float) -> tuple[Reading, str | None]:
    """Let the watcher look. What goes wrong in it is a blindness with its reason, never silence."""
    context = Context(home, now)
    try:
        return import_module(f"..{watcher.module}", __package__).watch(context), None
    except (OpsError, OSError) as error:
        why = str(error)
    except Exception as error:  # a fault of ours: said once, with its place kept for a report
        why = f"{type(error).__name__}: {error}"
        _keep_traceback(home, watcher.name)
    finally:
        context.close()
    why = _clean(why)
    text = f"the {watcher.name} watcher cannot tell: {why}"
    fix = f"hermes ops watch {watcher.name}"
    return Reading.of(blind=[Blind(f"watcher.{watcher.name}", text, fix=fix)]), why


def _speaker(say: Callable[[str], None]) -> Callable[[list[Message]], bool | None]:
    def deliver(messages: list[Message]) -> bool | None:
        for message in messages:
            say(message.text)
        return None

    return deliver


def _settle(incidents: Incidents, watcher: Watcher, home: Path, now: float) -> Finding | None:
    """Find out whether what the job's last runs printed has arrived; the finding when it has not."""
    try:
        said_at = incidents.unsettled(watcher.name)
    except OpsError:
        return None  # nothing is known of earlier messages; `update` sets a damaged file aside and says so
    if said_at is None:
        return None
    from ..host.jobs import read_jobs
    from ..install import installed_job

    job_id = installed_job(home, watcher.name)
    try:
        job = read_jobs(home).by_id(job_id) if job_id else None
    except Unreadable:
        return None
    # The host stamps a run when it is over; an older stamp says nothing of what was said since.
    while job is not None and said_at is not None and (job.last_run_at or 0.0) >= said_at - STAMP_SLACK:
        incidents.settle(watcher.name, job.last_delivery_error is None, said_at)
        later = incidents.unsettled(watcher.name)
        said_at = later if later != said_at else None
    if job is None or job.last_delivery_error is None:
        return None
    targets = ", ".join(job.deliver)
    return Finding(
        "ops.undelivered",
        "critical",
        job.label,
        f"what the {watcher.name} watcher said did not reach {targets}: {job.last_delivery_error}",
        f"default/{job.id}",
        fix=f"mend the target, or `hermes ops install {watcher.name} --deliver TARGET`",
    )


def _say_elsewhere(home: Path, messages: list[Message]) -> None:
    """Where the target of the job cannot be reached, the alert channels may."""
    from . import alert

    alert.send(home, "\n".join(message.text for message in messages), severity="critical")


def _ping(home: Path, name: str) -> None:
    """Tell somebody outside that this ran, where that is wanted; a failure of theirs is not ours."""
    url = settings.load(home, OPTIONS)["ping_url"]
    if url:
        from .http import request

        try:
            request(url.replace("{watcher}", name), timeout=5.0)
        except OpsError:
            pass


def _clean(text: str) -> str:
    """A reason as one line without secrets; redacted before it is cut."""
    return " ".join(redacted(text).split())[:300]


def _keep_traceback(home: Path, name: str) -> None:
    import traceback

    text = redacted(traceback.format_exc()[-20_000:])
    try:
        write_atomic(_directory(home) / f"{name}.traceback", text, durable=False)
    except OSError:
        pass


def _tidy(home: Path, now: float) -> None:
    """Remove what a process that was killed in the middle of a write has left."""
    for folder in (home / "ops", home / "ops" / "watchers"):
        for path in folder.glob(".tmp-*"):
            try:
                pid = int(path.name.split("-")[1])
                if is_alive(pid, None) is False and now - path.stat().st_mtime > LEFTOVER:
                    path.unlink()
            except (OSError, ValueError, IndexError):
                continue


def _directory(home: Path) -> Path:
    return private_dir(home / "ops" / "watchers")


def as_job(name: str, home: Path) -> None:
    """Run a watcher as its job does. What keeps it from even saying so in an incident is said once a day."""
    from .watch import watcher

    # Text the host cannot decode would be a failed run, and the message lost.
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    found = watcher(name)
    try:
        if found is None:
            raise OpsError(f"no watcher is called {name!r} any more: hermes ops install")
        run(found, home, time.time(), print)
    except Exception as error:
        if not isinstance(error, OpsError):
            _keep_traceback(home, name)
        period = found.period if found is not None else DAY
        if _is_due(home / "ops" / "watchers" / f"{name}.broken", time.time(), period):
            print(f"the {name} watcher cannot run: {_clean(str(error))}. See hermes ops doctor")


def _is_due(mark: Path, now: float, period: float) -> bool:
    """Whether a day has passed since this was last so; then it is noted as being so now.

    Where nothing can be noted (a full disk), by the clock: in one run of every six hours.
    """
    try:
        if 0 <= now - mark.stat().st_mtime < DAY:
            return False
    except OSError:
        pass
    try:
        private_dir(mark.parent)
        mark.touch(mode=0o600)
        os.utime(mark, (now, now))
    except OSError:
        return now % UNNOTED < min(period, UNNOTED)
    return True
