"""The watch table: every job of every profile as it was decided. The same schedule gives the same bytes.

Nothing of a run is in it and no time of writing, so that a file of it changes when somebody changed a job,
and then only. The watcher compares with the acknowledged schedule (diff.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._common.redact import Redactor
from ..core.finding import Blind, Finding, Reading
from ..core.moment import show
from ..core.watch import Context
from ..errors import OpsError, Unreadable
from ..host.schedules import due_times
from . import manifest, notes
from .declared import Declared, Schedules
from .diff import Change, difference
from .wording import in_words

if TYPE_CHECKING:
    from ..core import render

COLUMNS = ("Job", "Schedule", "Runs", "Delivers to", "Model", "State", "Watched by", "Owner and notes", "Id")
NOBODY = "nobody"


@dataclass(frozen=True)
class Row:
    """One job of the table, all of it text for a person. ``written`` is the schedule as the host has it."""

    job: Declared
    words: str
    written: str
    runs: str
    deliver: str
    model: str
    watched_by: str
    note: str

    def as_dict(self) -> dict[str, Any]:
        return {
            **self.job.as_dict(),
            "schedule_words": self.words,
            "runs": self.runs,
            "watched_by": self.watched_by,
            "note": self.note,
        }


@dataclass(frozen=True)
class Section:
    """The jobs of one profile, sorted, with the zone in which their times are."""

    profile: str
    zone: str
    zone_problem: str | None
    rows: tuple[Row, ...]


def sections(
    found: Sequence[Schedules], watchers: Sequence[manifest.Entry] | None, noted: Mapping[str, notes.Note]
) -> list[Section]:
    """The table as data; ``watchers`` are those that are there, None: not known. Raises Unreadable."""
    redact = Redactor().text
    result = []
    for schedules in found:
        if schedules.problem is not None:
            raise schedules.problem
        pairs = sorted(schedules.pairs(), key=lambda pair: (pair[0].name.casefold(), pair[0].id))
        rows = [_row(declared, schedules, job, watchers, noted, redact) for declared, job in pairs]
        zone = schedules.zone
        result.append(Section(schedules.profile.name, zone.name, zone.problem, tuple(rows)))
    return result


def as_table(section: Section) -> render.Table:
    """One profile for the renderers."""
    from ..core import render

    rows = tuple(_cells(row) for row in section.rows)
    return render.Table(COLUMNS, rows, title=f"Profile {section.profile}, times in {section.zone}")


def as_text(found: Sequence[Section]) -> str:
    from ..core import render

    return "\n\n".join(render.as_text(as_table(section)) for section in found) + "\n"


def as_markdown(found: Sequence[Section]) -> str:
    """The page for a repository; a fixed end of line and no time of writing."""
    from ..core import render

    parts = ["# Watch table", "", INTRODUCTION]
    for section in found:
        parts += ["", render.as_markdown(as_table(section)).strip()]
        parts += ["", *_summary(section)]
    return "\n".join(parts).rstrip() + "\n"


def as_html(found: Sequence[Section]) -> str:
    """One page that needs nothing from outside."""
    from ..core import render

    inner = [(f"Profile {section.profile}", render.as_html(as_table(section))) for section in found]
    return render.page("Watch table", INTRODUCTION, inner)


def as_json(found: Sequence[Section]) -> dict[str, Any]:
    return {
        "profiles": [
            {
                "profile": section.profile,
                "zone": section.zone,
                "zone_problem": section.zone_problem,
                "jobs": [row.as_dict() for row in section.rows],
            }
            for section in found
        ]
    }


INTRODUCTION = (
    "What runs when, where it speaks, and who notices when it does not. Written by `hermes ops table`."
)


def timeline(
    found: Sequence[Schedules], now: float, hours: float = 24.0
) -> list[tuple[float, str, Declared]]:
    """What is due in the next hours: (time, the time in its profile's zone, job), by time.

    A job that is due more than ten times is told once with its number of runs.
    """
    due = []
    for schedules in found:
        for declared, job in schedules.pairs():
            if declared.state != "on":
                continue
            anchor = job.last_run_at or job.created_at
            times = due_times(job.schedule, now, now + hours * 3600, schedules.zone.tz, anchor)
            if len(times) > 10:
                text = f"{show(times[0], schedules.zone.tz)} and {len(times) - 1} times after"
                due.append((times[0], text, declared))
            else:
                due += [(time, show(time, schedules.zone.tz), declared) for time in times]
    return sorted(due, key=lambda item: (item[0], item[2].key))


def active_watchers(home: Path) -> list[manifest.Entry]:
    """The watchers that are there, for the column of who watches."""
    from .watchers import survey

    return [one.entry for one in survey(home) if one.active]


def watch(context: Context) -> Reading:
    """A finding for each job that is not as it was acknowledged, one while nobody has acknowledged any."""
    profile = context.profiles[0].name
    try:
        found = difference(context.home, context.now)
    except Unreadable as error:
        return Reading.of(
            blind=[Blind(f"schedule.snapshot:{profile}", str(error), "schedule.changed:", fix=ACCEPT)]
        )
    blind = [
        Blind(f"schedule.unread:{name}/", str(error), f"schedule.changed:{name}/", fix="see the file")
        for name, error in found.unread
    ]
    if found.snapshot is None:
        text = "nobody has acknowledged the schedule yet, so no change of it can be told"
        first = Finding(
            "schedule.unacknowledged", "info", "schedule", text, f"{profile}/", (), ACCEPT, remind=None
        )
        return Reading.of([first], blind)
    when = show(found.snapshot.at, context.zone.tz)
    return Reading.of([_finding(change, when) for change in found.surprises], blind)


ACCEPT = 'hermes ops diff --accept --reason "..."'


def _finding(change: Change, when: str) -> Finding:
    shown = "; ".join(change.lines)
    return Finding(
        rule="schedule.changed",
        severity="warning",
        where=change.where,
        text=f"changed since {when} and not announced: {shown[:400]}",
        key=change.key,
        evidence=change.lines,
        fix=f"`hermes ops diff`, then `{ACCEPT}`, or undo it",
    )


def shown(text: str) -> str:
    """A name as it may be shown."""
    return Redactor().text(text)


def _row(
    declared: Declared,
    schedules: Schedules,
    job: Any,
    watchers: Sequence[manifest.Entry] | None,
    noted: Mapping[str, notes.Note],
    redact: Callable[[str], str],
) -> Row:
    note = noted.get(declared.key, notes.Note())
    there = watchers or ()
    names = manifest.watching_job(there, declared.key, declared.name)
    own = next((entry for entry in there if entry.job == declared.key), None)
    if own is not None:
        above = {entry.name for entry in there if manifest.watches(entry, own)}
        names = sorted(above | set(names) - {own.name})
    if note.watcher:
        names = [*names, note.watcher]
    model = declared.model or ("none" if declared.mode == "script" else "default")
    if declared.provider and declared.mode != "script":
        model = f"{model} at {declared.provider}"
    written = declared.schedule.partition(" ")[2] if declared.schedule.startswith("cron ") else ""
    return Row(
        job=declared,
        words=redact(in_words(job.schedule, schedules.zone.tz)),
        written=written,
        runs=redact(_runs(declared)),
        deliver=redact(", ".join(declared.deliver)),
        model=redact(model),
        watched_by=redact(", ".join(names) or (NOBODY if watchers is not None else "unknown")),
        note=redact(note.text),
    )


def _runs(job: Declared) -> str:
    gone = "" if len(job.script_hash) == 16 or not job.script else f" ({job.script_hash})"
    text = {"script": f"script {job.script}{gone}", "agent": "agent"}.get(job.mode)
    text = text or f"agent after {job.script}{gone}"
    return text + ("" if job.repeat is None else f", {job.repeat} times")


def _cells(row: Row) -> tuple[str, ...]:
    words = row.words if not row.written or row.written in row.words else f"{row.words} ({row.written})"
    name = Redactor().text(row.job.name)
    return (
        name,
        words,
        row.runs,
        row.deliver,
        row.model,
        row.job.state,
        row.watched_by,
        row.note,
        row.job.id,
    )


def _summary(section: Section) -> list[str]:
    agents = sum(1 for row in section.rows if row.job.mode != "script" and row.job.state == "on")
    unwatched = sum(1 for row in section.rows if row.watched_by == NOBODY and row.job.state == "on")
    line = f"{_jobs(len(section.rows))}; {_jobs(agents)} with a model; {_jobs(unwatched)} watched by nobody."
    return [line, *([f"The zone may be wrong: {section.zone_problem}."] if section.zone_problem else [])]


def _jobs(count: int) -> str:
    return f"{count} job" if count == 1 else f"{count} jobs"


def from_file(path: Path, home: Path) -> Schedules:
    """The jobs of a jobs.json that lies elsewhere; zone and scripts are those of `home`.

    Raises Unreadable naming the file, OpsError when it is none.
    """
    from ..host.jobs import read_jobs_file
    from ..host.profiles import Profile
    from ..host.zone import zone
    from .declared import declare_all

    if not path.is_file():
        raise OpsError(f"{path}: there is no such file")
    profile, here = Profile("default", home), zone(home)
    jobs = read_jobs_file(path)
    return Schedules(profile, here, jobs, declare_all(jobs, profile))
