"""Reminders: one text, at one instant, by a job without a model, created through the host and read back.

The host removes a one-shot once it has run and keeps nothing of a lost message: a reminder that cannot reach
anybody is refused before it is made, and `<home>/ops/reminders.json` keeps what was made.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from .. import settings
from .._common.files import open_regular, write_atomic
from ..core.action import Action, apply
from ..core.state import StateFile
from ..core.typed import typed
from ..errors import OpsError, Unreadable
from ..host.jobs import Job, read_jobs
from ..host.zone import zone
from .instants import iso

FORMAT = 1
KEPT = 90 * 86_400.0  # seconds that a reminder is listed after its time
LOOKED_UP = 14 * 86_400.0  # seconds after its time in which the logs are asked whether it arrived
SCRIPT_STAYS = 3600.0  # seconds after its time in which a late run may still need its script
LONGEST_TEXT = 3500  # characters; the smallest limit of the host's platforms is 4,000 with its own frame
MARK = "# A reminder of hermes-ops."

OPTIONS = (
    settings.Option(
        "remind.deliver", "", settings.text, "where reminders go unless --deliver says otherwise"
    ),
    settings.Option("remind.zone", "", settings.text, "your zone, when it is not the host's", ("OPS_ZONE",)),
)

# What the host's scheduler logs of a target when it has given up on it.
_NOT_DELIVERED = re.compile(
    r"no delivery target|unknown platform|not configured/enabled|failed to load gateway config"
    r"|delivery error: |^delivery to .+ (?:failed|skipped)"
)
_JOB_ID = re.compile(r"[0-9a-f]{12}")
_SCRIPT = re.compile(r"ops-remind-[0-9a-f]+\.py")
_SILENT = {"[SILENT]", "SILENT", "NO_REPLY", "NO REPLY"}


@dataclass(frozen=True)
class Reminder:
    """One reminder as it was made; times are seconds since the epoch. ``cancelled_at`` None: it was not."""

    id: str
    text: str
    at: float
    zone: str
    deliver: str
    job_id: str
    script: str
    created_at: float
    cancelled_at: float | None = None


@dataclass(frozen=True)
class Listed:
    """A reminder and what became of it.

    state  pending; late (its time has come, nothing ran it); delivered; undelivered; ran (whether it arrived
           is not known); failed (its script did not run through); cancelled; lost (its job is gone and no run
           of it is known); unknown
    """

    reminder: Reminder
    state: str
    detail: str = ""

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self.reminder), "state": self.state, "detail": self.detail}


def check_text(text: str) -> str:
    """The text as it will be delivered, or OpsError for one that the host would not deliver as it is."""
    text = text.strip().encode("utf-8", "replace").decode("utf-8")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise OpsError("the reminder has no text")
    if len(text) > LONGEST_TEXT:
        raise OpsError(f"the text has {len(text)} characters; at most {LONGEST_TEXT} fit one message")
    if "\0" in text:
        raise OpsError("the text holds a NUL character, which no message can carry")
    if text.upper().startswith("[SILENT]") or {lines[0].upper(), lines[-1].upper()} & _SILENT:
        raise OpsError(
            "the host takes this text for a sign of silence and would deliver nothing; word it differently"
        )
    if _is_gate(lines[-1]):
        raise OpsError("the host takes the last line for its wake gate and would deliver nothing")
    if re.search(r"MEDIA:\s*\S", text):
        raise OpsError("the host would take `MEDIA:` for an attachment; word it differently")
    return text


def script_text(text: str, reminder_id: str, job_note: str) -> str:
    """The source of the script that prints the text: the text is data in it, never code."""
    return (
        f"{MARK}\n"
        f"# {reminder_id}, {job_note}; removed when it is over. See `hermes ops remind list`.\n"
        "import sys\n\n"
        f"TEXT = {text!r}\n\n"
        'sys.stdout.buffer.write(TEXT.encode("utf-8") + b"\\n")\n'
    )


def refusal(home: Path, deliver: str, *, force_local: bool) -> str | None:
    """Why a reminder to `deliver` would not be heard; None when nothing speaks against it."""
    from ..install import check_target

    targets = [part.strip() for part in deliver.split(",") if part.strip()]
    if not targets:
        return "no target"
    if "local" in targets:
        if not force_local or len(targets) > 1:
            return (
                "local tells nobody: the text ends in a file of cron/output (--force-local if that is wanted)"
            )
        return None
    return check_target(home, deliver)


def this_chat() -> str | None:
    """The target of the chat that an agent's terminal runs in, as the host tells it; None elsewhere."""
    parts = [
        os.environ.get(f"HERMES_SESSION_{name}", "").strip() for name in ("PLATFORM", "CHAT_ID", "THREAD_ID")
    ]
    return ":".join(part for part in parts if part) if parts[0] and parts[1] else None


def create(
    home: Path, text: str, at: float, zone_name: str, deliver: str, now: float, *, dry_run: bool = False
) -> Reminder:
    """Make a reminder and verify it: the host's job must be due at exactly `at`. OpsError when it is not.

    Nothing of it is left when it fails. With `dry_run` nothing is written.
    """
    from secrets import token_hex

    text = check_text(text)
    host = zone(home)
    reminder_id = token_hex(4)
    script = f"ops-remind-{reminder_id}.py"
    made = Reminder(reminder_id, text, float(int(at)), zone_name, deliver, "", script, now)
    due = iso(made.at, host.tz)
    if dry_run:
        return made
    path = home / "scripts" / script
    write_atomic(path, script_text(text, reminder_id, f"due {due}"))
    try:
        kept = replace(made, job_id=_create_job(home, made, due))
        try:
            with _file(home).changing() as opened:
                opened.data["reminders"].append(asdict(kept))
        except BaseException:
            _remove_job(home, kept.job_id, "it could not be written down")
            raise
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return kept


def cancel(home: Path, named: str, now: float) -> Reminder:
    """Remove a pending reminder by its id (or a unique beginning) or its job's. OpsError when it is over."""
    found = [one for one in listed(home, now) if _is_called(one.reminder, named)]
    pending = [one for one in found if one.state in ("pending", "late")]
    if not found:
        raise OpsError(f"no reminder is called {named!r}; see `hermes ops remind list`")
    if len(pending) > 1:
        raise OpsError(f"{named!r} is {', '.join(one.reminder.id for one in pending)}; give more of the id")
    if not pending:
        raise OpsError(f"reminder {found[0].reminder.id} cannot be cancelled any more: {found[0].state}")
    reminder = pending[0].reminder
    done = apply(Action("remove", home, reminder.job_id, reason="hermes ops remind cancel"))
    if read_jobs(home).by_id(reminder.job_id) is not None:
        raise OpsError(f"the host did not remove job {reminder.job_id}: {done.detail}")
    (home / "scripts" / reminder.script).unlink(missing_ok=True)
    with _file(home).changing() as opened:
        for entry in opened.data["reminders"]:
            if entry["id"] == reminder.id:
                entry["cancelled_at"] = now
    return reminder


def _is_called(reminder: Reminder, named: str) -> bool:
    """By its id, its job's, or a beginning that is long enough to be meant."""
    return named in (reminder.id, reminder.job_id) or (len(named) >= 3 and reminder.id.startswith(named))


def listed(home: Path, now: float) -> list[Listed]:
    """The reminders of a home with what became of each, the next one first. Raises Unreadable."""
    from ..host.executions import read_executions

    reminders = _reminders(home)
    if not reminders:
        return []
    jobs = {job.id: job for job in read_jobs(home).jobs}
    try:
        since = min(one.created_at for one in reminders)
        runs = {run.job_id: run for run in read_executions(home, since)}
        problem = ""
    except Unreadable as error:
        runs, problem = {}, str(error)
    found = [_became(one, jobs.get(one.job_id), runs.get(one.job_id), problem, now) for one in reminders]
    found = _with_delivery(home, found, now)
    return sorted(found, key=lambda one: (one.state not in ("pending", "late"), abs(one.reminder.at - now)))


def clean(home: Path, now: float) -> list[str]:
    """Remove the scripts of reminders that are over, forget those of 90 days ago; returns the files."""
    removed = []
    gone: set[str] = set()
    for one in listed(home, now):
        script = home / "scripts" / one.reminder.script
        over = one.state not in ("pending", "late") and now - one.reminder.at > SCRIPT_STAYS
        if over and script.is_file() and is_ours(script):
            script.unlink()
            removed.append(one.reminder.script)
        if over and now - one.reminder.at > KEPT:
            gone.add(one.reminder.id)
    if gone:
        with _file(home).changing() as opened:
            kept = [entry for entry in opened.data["reminders"] if entry["id"] not in gone]
            opened.data["reminders"] = kept
    return removed


def announced(home: Path) -> dict[str, bool]:
    """The jobs of reminders, "profile/id" -> whether it was cancelled: what was done here is no surprise."""
    from ..host.profiles import profiles

    try:
        own = profiles(home)[0].name
        return {f"{own}/{one.job_id}": one.cancelled_at is not None for one in _reminders(home)}
    except OpsError:
        return {}


def is_ours(script: Path) -> bool:
    """Tell whether a script is one that `script_text` made."""
    try:
        with open_regular(script) as file:
            return file.readline(len(MARK) + 2).decode("utf-8", "replace").rstrip("\n") == MARK
    except OSError:
        return False


def _create_job(home: Path, made: Reminder, due: str) -> str:
    arguments = {
        "name": f"reminder {made.id}: {' '.join(made.text.split())[:40]}",
        "schedule": due,
        "deliver": made.deliver,
        "script": made.script,
        "no_agent": True,
    }
    done = apply(Action("create", home, None, arguments, "hermes ops remind"))
    if not done.job_id:
        raise OpsError(f"the host made no job: {done.detail}")
    job = read_jobs(home).by_id(done.job_id)
    wrong = None if done.ok else done.detail
    wrong = wrong or ("the host does not list it" if job is None else _differs(job, made))
    if wrong:
        _remove_job(home, done.job_id, "not what was asked for")
        raise OpsError(f"job {done.job_id} was not what was asked for ({wrong}), so it was removed")
    return done.job_id


def _remove_job(home: Path, job_id: str, why: str) -> None:
    apply(Action("remove", home, job_id, reason=f"hermes ops remind: {why}"))


def _differs(job: Job, made: Reminder) -> str | None:
    """What of a job is not as it was asked for; None: all is."""
    if job.next_run_at is None or abs(job.next_run_at - made.at) >= 1.0:
        return f"its next run is {job.raw.get('next_run_at')}"
    if not job.no_agent or job.script != made.script:
        return f"it runs {job.script or 'an agent'}"
    wanted = {part.strip() for part in made.deliver.split(",") if part.strip()}
    return None if set(job.deliver) == wanted else f"it delivers to {', '.join(job.deliver)}"


def _became(reminder: Reminder, job: Job | None, run: Any, problem: str, now: float) -> Listed:
    if reminder.cancelled_at is not None:
        return Listed(reminder, "cancelled")
    if job is not None and job.live and job.last_run_at is None:
        late = now - reminder.at > 180.0
        detail = "its time has come and the scheduler has not run it" if late else ""
        return Listed(reminder, "late" if late else "pending", detail)
    if job is not None and not job.live and run is None:
        return Listed(reminder, "lost", f"its job is {job.state}")
    if run is not None:
        if run.status == "completed":
            return Listed(reminder, "ran")
        if run.status in ("claimed", "running"):
            return Listed(reminder, "pending", "it is running")
        return Listed(reminder, "failed", run.error or run.status)
    if problem:
        return Listed(reminder, "unknown", problem)
    if now < reminder.at:
        return Listed(reminder, "lost", "somebody removed its job before its time")
    if now - reminder.at > 86_400.0 * 7:
        return Listed(reminder, "unknown", "the host has forgotten its runs of that time")
    return Listed(reminder, "lost", "its job is gone and no run of it is known")


def _with_delivery(home: Path, found: list[Listed], now: float) -> list[Listed]:
    """Tell by the host's logs whether what ran has arrived: with the job went what its record said of it."""
    from ..host.logs import recent

    ran = [one for one in found if one.state == "ran" and now - one.reminder.at < LOOKED_UP]
    if not ran:
        return found
    since = min(one.reminder.created_at for one in ran)  # somebody may have run it before its time
    records = []
    for name in ("agent.log", "errors.log"):
        try:
            records += recent(home / "logs" / name, since)
        except Unreadable:
            continue
    told: dict[str, str | None] = {}  # job id -> what failed, None: it was delivered
    for record in records:
        said = re.match(r"Job '([0-9a-f]{12})': (.+)", record.message) if "cron" in record.logger else None
        if said and _NOT_DELIVERED.search(said[2]):
            told[said[1]] = said[2]
        elif said and said[2].startswith("delivered to "):
            told.setdefault(said[1], None)
    return [_told(one, told) for one in found]


def _told(one: Listed, told: Mapping[str, str | None]) -> Listed:
    job_id = one.reminder.job_id
    if one.state != "ran" or job_id not in told:
        return one
    why = told[job_id]
    return replace(one, state="delivered" if why is None else "undelivered", detail=why or "")


def _is_gate(line: str) -> bool:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("wakeAgent", True) is False


def _file(home: Path) -> StateFile:
    return StateFile(home / "ops" / "reminders.json", FORMAT, lambda: {"reminders": []}, _read)


def _read(data: dict[str, Any]) -> list[Reminder]:
    found: list[Reminder] = typed(list[Reminder], data["reminders"])
    for one in found:
        # Both end up in commands and in the name of a file that is removed.
        if not _JOB_ID.fullmatch(one.job_id) or not _SCRIPT.fullmatch(one.script):
            raise ValueError(f"reminder {one.id[:20]!r} is none")
    return found


def _reminders(home: Path) -> Iterable[Reminder]:
    return _read(_file(home).read())
