"""What the budget paused: written down before it is done, read back after, and resumed if it is still ours.

`<home>/ops/budget.json`. A pause is ours as long as the host's `paused_at` and `paused_reason` are those
that were read back; who pauses or resumes a job in between has taken it over, and it is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.action import Action, Done
from ..core.finding import Blind, Finding
from ..core.state import StateFile
from ..core.typed import typed
from ..errors import Unreadable
from ..host.jobs import Job, Jobs
from .run_costs import JOB_ID

if TYPE_CHECKING:
    from .budget_day import Candidate

FORMAT = 1
UNDER_WAY = 600.0  # seconds after which pausing that did not end is taken for broken off
KEPT_DAYS = 14
STAMP = ("paused_at", "paused_reason")  # the host's words that tell one pause from another

Apply = Callable[..., Done]
Read = Callable[[Path], Jobs]


@dataclass(frozen=True)
class _Record:
    """A paused job as it is written; ``paused_at`` and ``paused_reason`` are the host's, only compared."""

    profile: str
    home: str
    job: str
    name: str
    day: str
    at: float
    asked: bool
    status: str
    reason: str = ""
    paused_at: Any = None
    paused_reason: Any = None


@dataclass(frozen=True)
class _Day:
    """What the budget did on a day: "acting", "open" or "done", when, and which jobs it paused."""

    status: str
    at: float
    jobs: list[str]


def state_file(home: Path) -> StateFile:
    """The record of the budget of a home."""
    return StateFile(home / "ops" / "budget.json", FORMAT, lambda: {"paused": [], "days": {}}, _check)


def paused(home: Path) -> list[dict[str, Any]]:
    """The jobs that the budget paused and has not resumed: {profile, home, job, name, day, at, asked, ...}.

    Raises Unreadable when the record is damaged.
    """
    return list(state_file(home).read()["paused"])


def due(home: Path, day: str, now: float) -> list[dict[str, Any]]:
    """Those paused on another day than `day`, without what is being paused right now. Raises Unreadable."""
    return [one for one in paused(home) if one["day"] != day and not _under_way(one, now)]


@dataclass
class Paused:
    """What became of pausing: records of the paused jobs; (name, id, profile, why, fix) of what failed."""

    paused: list[dict[str, Any]] = field(default_factory=list)
    failed: list[tuple[str, str, str, str, str]] = field(default_factory=list)
    before: str = ""  # why nothing was tried: another run is at it

    def text(self) -> str:
        parts = [self.before] if self.before else []
        if self.paused:
            parts.append("paused " + ", ".join(f"{one['name']} ({one['job']})" for one in self.paused))
        if self.failed:
            parts.append("could not pause " + ", ".join(f"{name} ({job})" for name, job, *_ in self.failed))
        return "; ".join(parts)

    def failures(self) -> list[Finding]:
        return [
            Finding(
                "budget.pause_failed",
                "error",
                f"job {job} ({name})",
                f"the budget could not pause it: {why}",
                f"{profile}/{job}",
                fix=fix,
            )
            for name, job, profile, why, fix in self.failed
        ]


@dataclass
class Resumed:
    """What became of resuming: the records that are resumed, texts for a person, and what failed."""

    resumed: list[dict[str, Any]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    failed: list[tuple[dict[str, Any], str]] = field(default_factory=list)
    blind: list[Blind] = field(default_factory=list)

    def failures(self) -> list[Finding]:
        return [
            Finding(
                "budget.resume_failed",
                "error",
                f"job {one['job']} ({one['name']})",
                f"paused for the budget of {one['day']} and could not be resumed: {why}",
                f"{one['profile']}/{one['job']}",
                fix=Action("resume", Path(one["home"]), one["job"]).command(),
            )
            for one, why in self.failed
        ]


def pause(
    home: Path,
    day: str,
    now: float,
    chosen: Sequence[Candidate],
    most: int,
    reason: str,
    *,
    asked: bool = False,
    apply: Apply | None = None,
    read: Read | None = None,
) -> Paused:
    """Pause jobs, at most `most` on one day, and keep which. A pause that fails is not kept, and tried again.

    `asked` says that a person asked for it, until tomorrow: then it is resumed without `ops.budget.act` too.
    Another process that comes meanwhile does nothing. Raises Unreadable when the record cannot be written:
    then nothing was paused.
    """
    apply, read = apply or _apply(), read or _read()
    with state_file(home).changing() as opened:
        _recover(opened.data, day, now, read)
        last = opened.data["days"].get(day, {})
        if last.get("status") == "done":
            return Paused()
        if last.get("status") == "acting":
            return Paused(before="another run is pausing now")
        mine = {one["job"] for one in opened.data["paused"]}
        before = last.get("jobs", [])
        wanted = [one for one in chosen if one.placed.job.id not in mine][: max(0, most - len(before))]
        if not wanted:
            return Paused()
        records = [_intended(one, day, now, reason, asked) for one in wanted]
        opened.data["paused"] += records
        opened.data["days"][day] = {"status": "acting", "at": now, "jobs": before}
    result = Paused()
    for one in records:
        why = _pause_one(one, apply, read, home)
        if why is None:
            result.paused.append(one)
        else:
            fix = Action("pause", Path(one["home"]), one["job"]).command()
            result.failed.append((one["name"], one["job"], one["profile"], why, fix))
    with state_file(home).changing() as opened:
        ours = [(one["profile"], one["job"], one["at"]) for one in records]
        others = [o for o in opened.data["paused"] if (o["profile"], o["job"], o["at"]) not in ours]
        opened.data["paused"] = others + result.paused
        jobs = before + [one["job"] for one in result.paused]
        opened.data["days"][day] = {"status": "open" if result.failed else "done", "at": now, "jobs": jobs}
        _forget(opened.data)
    return result


def resume(
    home: Path,
    records: Sequence[dict[str, Any]],
    *,
    dry_run: bool = False,
    apply: Apply | None = None,
    read: Read | None = None,
) -> Resumed:
    """Resume the jobs of `records` that are still paused as we left them; the others are left as they are."""
    apply, read = apply or _apply(), read or _read()
    result = Resumed()
    over = []
    for one in records:
        name = f"{one['name']} ({one['job']})"
        try:
            job = read(Path(one["home"])).by_id(one["job"])
        except Unreadable as error:
            key, covers = f"jobs:{one['profile']}", f"budget.resume_failed:{one['profile']}/"
            result.blind.append(Blind(key, f"cannot resume {name}: {error}", covers))
            continue
        taken = _taken_over(one, job)
        if taken is not None:
            over.append(one)
            result.texts.append(f"{name} is {taken}, and left alone")
            continue
        as_left = {"state": "paused", **_stamp(job)}
        reason = f"hermes ops budget: paused on {one['day']}"
        action = Action("resume", Path(one["home"]), one["job"], {"expect": as_left}, reason)
        done = apply(action, dry_run=dry_run, state_home=home)
        why = None if dry_run else _not_resumed(done, one, read)
        if not done.ok or why is not None:
            result.failed.append((one, why or done.detail))
            continue
        over.append(one)
        result.resumed.append(one)
        result.texts.append(
            done.detail if dry_run else f"resumed {name}, paused for the budget of {one['day']}"
        )
    if over and not dry_run:
        gone = [(one["profile"], one["job"], one["at"]) for one in over]
        with state_file(home).changing() as opened:
            kept = [o for o in opened.data["paused"] if (o["profile"], o["job"], o["at"]) not in gone]
            opened.data["paused"] = kept
    return result


def repair(home: Path, day: str, now: float) -> Path:
    """Set a damaged record aside and begin a new one in which today's pausing is done; returns where it went.

    Raises Unreadable when it cannot be.
    """
    file = state_file(home)
    with file.changing() as opened:
        if opened.damaged is not None:
            opened.data["days"][day] = {"status": "done", "at": now, "jobs": []}
    return opened.damaged or file.path


def _intended(one: Candidate, day: str, now: float, reason: str, asked: bool) -> dict[str, Any]:
    return {
        "profile": one.placed.profile,
        "home": str(one.placed.home),
        "job": one.placed.job.id,
        "name": one.placed.job.name,
        "day": day,
        "at": now,
        "reason": reason,
        "asked": asked,
        "status": "pausing",
        "paused_at": None,
        "paused_reason": None,
    }


def _pause_one(record: dict[str, Any], apply: Apply, read: Read, home: Path) -> str | None:
    """Pause one job and note what was read back; why it did not work, or None."""
    target = Path(record["home"])
    try:
        before = read(target).by_id(record["job"])
        if before is None or not before.live:
            return "it is gone or does not run any more"
        done = apply(Action("pause", target, record["job"], reason=record["reason"]), state_home=home)
        job = read(target).by_id(record["job"])
    except Unreadable as error:
        return str(error)
    if not done.ok:
        return done.detail
    if not done.changed:
        return "somebody else paused it just now"
    if job is None or job.state != "paused" or job.enabled:
        return f"read back, it is {'gone' if job is None else job.state}"
    record.update(status="paused", **_stamp(job))
    return None


def _taken_over(record: dict[str, Any], job: Job | None) -> str | None:
    """What somebody else has done with a job since, or None when it is paused as we left it."""
    if job is None:
        return "removed"
    if job.live or job.state != "paused":
        return "resumed by somebody else" if job.live else f"{job.state} now"
    if record["status"] == "pausing":  # broken off before it was read back
        return None if _by_us(record, job) else "paused by somebody else"
    if _stamp(job) != {name: record[name] for name in STAMP}:
        return "paused anew by somebody else"
    return None


def _not_resumed(done: Done, record: dict[str, Any], read: Read) -> str | None:
    if not done.ok:
        return done.detail
    try:
        job = read(Path(record["home"])).by_id(record["job"])
    except Unreadable as error:
        return str(error)
    if job is None or not job.live or job.next_run_at is None:
        return f"read back, it is {'gone' if job is None else job.state}"
    return None


def _recover(data: dict[str, Any], day: str, now: float, read: Read) -> None:
    """Settle what a process that was ended in the middle left behind: paused by us, or never paused."""
    for label, one in data["days"].items():
        if one["status"] == "acting" and not 0 <= now - one["at"] <= UNDER_WAY:
            one["status"] = "open"
            for record in [r for r in data["paused"] if r["status"] == "pausing" and r["day"] == label]:
                try:
                    job = read(Path(record["home"])).by_id(record["job"])
                except Unreadable:
                    continue
                if job is not None and not job.live and job.state == "paused" and _by_us(record, job):
                    record.update(status="paused", **_stamp(job))
                    one["jobs"].append(record["job"])
                else:
                    data["paused"].remove(record)


def _stamp(job: Job) -> dict[str, Any]:
    """What the host wrote of a pause, as it stands in the record of the job."""
    return {name: job.raw.get(name) for name in STAMP}


def _under_way(record: dict[str, Any], now: float) -> bool:
    return record["status"] == "pausing" and 0 <= now - record["at"] <= UNDER_WAY


def _by_us(record: dict[str, Any], job: Job) -> bool:
    """Whether a pause found after a broken-off run is the one that was intended."""
    if job.paused_reason not in (None, record["reason"]):
        return False
    return job.paused_at is not None and -2.0 <= job.paused_at - record["at"] <= UNDER_WAY


def _forget(data: dict[str, Any]) -> None:
    for label in sorted(data["days"])[:-KEPT_DAYS]:
        del data["days"][label]


def _check(data: dict[str, Any]) -> None:
    """Raise unless this is a record of ours; a job id that is none would end up in a command."""
    for one in typed(list[_Record], data["paused"]):
        if not JOB_ID.fullmatch(one.job) or "\0" in one.home:
            raise ValueError("a paused job that is none")
    for one in typed(dict[str, _Day], data["days"]).values():
        if one.status not in ("acting", "open", "done"):
            raise ValueError("a day that is none")


def _apply() -> Apply:
    from ..core.action import apply

    return apply


def _read() -> Read:
    from ..host.jobs import read_jobs

    return read_jobs
