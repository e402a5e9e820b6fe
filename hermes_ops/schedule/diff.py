"""What changed since the acknowledged schedule, in the terms in which people decide it.

What a run or a tick changes is not looked at. A profile that cannot be read has no changes, never "all
removed". A one-shot whose time has come is gone because it ran: that is expected, and is told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timezone, tzinfo
from pathlib import Path
from types import MappingProxyType
from typing import Any

from .._common.redact import Redactor
from ..errors import Unreadable
from ..host.schedules import Schedule
from .declared import Declared, Schedules, read_all
from .snapshot import Snapshot, load
from .wording import in_words


@dataclass(frozen=True)
class Change:
    """One job that is not as it was acknowledged.

    kind      "added", "removed", "changed" or "zone" (of a whole profile; then ``job_id`` is "")
    lines     what is different: "schedule 06:00 -> 05:30", "paused"
    expected  why it is no surprise ("it ran at its time"), None when it is one
    """

    profile: str
    job_id: str
    name: str
    kind: str
    lines: tuple[str, ...]
    expected: str | None = None

    @property
    def key(self) -> str:
        return f"{self.profile}/{self.job_id}" if self.job_id else f"{self.profile}/"

    @property
    def where(self) -> str:
        """For a person."""
        if not self.job_id:
            return f"profile {self.profile}"
        of = "" if self.profile == "default" else f" of {self.profile}"
        return f"job {self.job_id} ({self.name}){of}"

    def as_dict(self) -> dict[str, Any]:
        return {
            "profile": self.profile,
            "job": self.job_id or None,
            "name": self.name,
            "kind": self.kind,
            "lines": list(self.lines),
            "expected": self.expected,
        }


@dataclass(frozen=True)
class Difference:
    """All changes since the snapshot (None: nobody accepted one yet), and what could not be read."""

    snapshot: Snapshot | None
    changes: tuple[Change, ...]
    unread: tuple[tuple[str, Unreadable], ...]

    @property
    def surprises(self) -> tuple[Change, ...]:
        """The changes that are not expected."""
        return tuple(change for change in self.changes if change.expected is None)


def difference(home: Path, now: float) -> Difference:
    """Compare what stands with what was acknowledged. Raises Unreadable for the snapshot itself."""
    from .remind import announced

    found = compare(load(home), read_all(home), now, announced(home))
    return found if found.snapshot is None else _with_actions(found, home)


def compare(
    snapshot: Snapshot | None,
    found: Iterable[Schedules],
    now: float,
    announced: Mapping[str, bool] = MappingProxyType({}),
) -> Difference:
    """The changes of every profile that could be read.

    ``announced`` are the keys of jobs that were set up here as reminders; True: and cancelled here.
    """
    redactor = Redactor()
    changes: list[Change] = []
    unread: list[tuple[str, Unreadable]] = []
    read = []
    for schedules in found:
        name = schedules.profile.name
        read.append(name)
        known = {} if snapshot is None else snapshot.of(name)
        problem = schedules.problem or _vanished(schedules, known)
        if problem is not None:
            unread.append((name, problem))
        elif snapshot is not None:
            changes += _zone_change(snapshot, schedules)
            now_there = {job.key: job for job in schedules.declared}
            changes += _profile_changes(known, now_there, now, announced, schedules.zone.tz)
    if snapshot is not None:
        for name in sorted({job.profile for job in snapshot.jobs.values()} - set(read)):
            gone = snapshot.of(name).values()
            changes += [_change(job, "removed", (f"the profile {name} is gone",)) for job in gone]
    clean = [replace(change, lines=tuple(redactor.text(line) for line in change.lines)) for change in changes]
    clean = [replace(change, name=redactor.text(change.name)) for change in clean]
    return Difference(snapshot, tuple(sorted(clean, key=lambda change: change.key)), tuple(unread))


def field_changes(old: Declared, new: Declared, zone: tzinfo) -> list[str]:
    """What is different between two states of a job, one line each."""
    lines = []
    if old.name != new.name:
        lines.append(f"renamed: {old.name} -> {new.name}")
    if old.schedule != new.schedule:
        lines.append(f"schedule: {_schedule(old, zone)} -> {_schedule(new, zone)}")
    if old.state != new.state:
        lines.append(_STATES.get((old.state, new.state), f"state: {old.state} -> {new.state}"))
    for label, value in _FIELDS:
        if value(old) != value(new):
            lines.append(f"{label}: {value(old)} -> {value(new)}")
    if old.prompt_hash != new.prompt_hash:
        lines.append(f"prompt: {_prompt(old)} -> {_prompt(new)}")
    if old.script == new.script and old.script_hash != new.script_hash:
        lines.append(f"content of {new.script}: {old.script_hash} -> {new.script_hash}")
    return lines


_STATES = {("on", "paused"): "paused", ("paused", "on"): "resumed"}


def _set(values: tuple[str, ...] | None) -> str:
    return "default" if values is None else ", ".join(values) or "none"


_FIELDS: tuple[tuple[str, Callable[[Declared], str]], ...] = (
    ("mode", lambda job: job.mode),
    ("deliver", lambda job: _set(job.deliver)),
    ("origin", lambda job: job.origin or "none"),
    ("model", lambda job: job.model or "default"),
    ("provider", lambda job: job.provider or "default"),
    ("base_url", lambda job: job.base_url or "default"),
    ("script", lambda job: job.script or "none"),
    ("skills", lambda job: _set(job.skills)),
    ("context_from", lambda job: _set(job.context_from)),
    ("toolsets", lambda job: _set(job.toolsets)),
    ("workdir", lambda job: job.workdir or "none"),
    ("runs", lambda job: "no end" if job.repeat is None else str(job.repeat)),
)


def _profile_changes(
    old: dict[str, Declared],
    new: dict[str, Declared],
    now: float,
    announced: Mapping[str, bool],
    zone: tzinfo,
) -> list[Change]:
    changes = []
    for key in old.keys() & new.keys():
        lines = field_changes(old[key], new[key], zone)
        if lines:
            ran = new[key].state == "off" and old[key].schedule == new[key].schedule
            expected = _ran(old[key], now) if ran else None
            changes.append(_change(new[key], "changed", lines, expected))
    removed = [old[key] for key in old.keys() - new.keys()]
    added = [new[key] for key in new.keys() - old.keys()]
    for before, after in _replaced(removed, added):
        removed.remove(before)
        added.remove(after)
        lines = (f"made anew: {before.id} -> {after.id}", *field_changes(before, after, zone))
        changes.append(_change(after, "changed", lines))
    for job in removed:
        limit = f"; it had a limit of {job.repeat} runs and may have reached it" if job.repeat else ""
        expected = "a reminder that was cancelled" if announced.get(job.key) else _ran(job, now)
        changes.append(_change(job, "removed", (f"removed{limit}",), expected))
    for job in added:
        expected = "a reminder made with `hermes ops remind`" if job.key in announced else None
        changes.append(_change(job, "added", (_added(job, zone),), expected))
    return changes


def _with_actions(found: Difference, home: Path) -> Difference:
    """Add to each change what hermes ops itself did to the job since then, as it wrote it down."""
    from ..core.action import journal
    from ..core.moment import parse

    try:
        done = journal(home, 1000)
    except Unreadable:
        return found
    redact = Redactor().text
    since = found.snapshot.at if found.snapshot else 0.0
    lines: dict[str, str] = {}
    for entry in done:
        at = parse(entry.get("at"), timezone.utc)
        if entry.get("ok") and at is not None and at >= since:
            reason = f" ({entry['reason']})" if entry.get("reason") else ""
            lines[str(entry.get("job_id"))] = redact(f"done by hermes ops: {entry.get('verb')}{reason}")
    changes = [
        replace(change, lines=(*change.lines, lines[change.job_id])) if change.job_id in lines else change
        for change in found.changes
    ]
    return replace(found, changes=tuple(changes))


def _replaced(removed: list[Declared], added: list[Declared]) -> list[tuple[Declared, Declared]]:
    """Jobs that were removed and made again: the same name, once on each side."""
    pairs = []
    for before in removed:
        same = [job for job in added if job.name == before.name]
        if len(same) == 1 and len([job for job in removed if job.name == before.name]) == 1:
            pairs.append((before, same[0]))
    return pairs


def _ran(job: Declared, now: float) -> str | None:
    """Why a one-shot is gone without anybody having removed it."""
    return "a one-shot whose time has come" if job.run_at is not None and job.run_at <= now else None


def _vanished(schedules: Schedules, known: dict[str, Declared]) -> Unreadable | None:
    """The job list of a profile that had jobs is not there any more: the host never does that."""
    jobs = schedules.jobs
    if jobs is None or jobs.jobs or not known or jobs.path.exists():
        return None
    return Unreadable(jobs.path, f"is not there, and {len(known)} acknowledged jobs were in it")


def _zone_change(snapshot: Snapshot, schedules: Schedules) -> list[Change]:
    name, zone = schedules.profile.name, schedules.zone.name
    before = snapshot.zones.get(name)
    if before is None or before == zone:
        return []
    line = f"zone: {before} -> {zone}; every cron expression now means another time"
    return [Change(name, "", name, "zone", (line,))]


def _change(job: Declared, kind: str, lines: Iterable[str], expected: str | None = None) -> Change:
    return Change(job.profile, job.id, job.name, kind, tuple(lines), expected)


def _added(job: Declared, zone: tzinfo) -> str:
    what = "script" if job.mode == "script" else "agent"
    return f"added: {what}, {_schedule(job, zone)}, to {_set(job.deliver)}, {job.state}"


def _prompt(job: Declared) -> str:
    return f"{job.prompt_hash[:8]} ({job.prompt_chars} characters)" if job.prompt_hash else "none"


def _schedule(job: Declared, zone: tzinfo) -> str:
    return words_of(job.schedule, job.run_at, zone)


def words_of(written: str, run_at: float | None, zone: tzinfo) -> str:
    """The words for a schedule as `declared.written` wrote it, with the expression beside them."""
    kind, _, rest = written.partition(" ")
    if kind == "cron":
        words = in_words(Schedule("cron", expr=rest), zone)
        return words if words.startswith("cron ") else f"{words} ({rest})"
    if kind == "every" and rest.removesuffix("m").replace(".", "", 1).isdecimal():
        return in_words(Schedule("interval", minutes=float(rest.removesuffix("m"))), zone)
    return in_words(Schedule("once", run_at=run_at), zone) if kind == "once" else written
