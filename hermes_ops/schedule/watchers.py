"""The watchers checked: installed, fresh, heard by somebody, and each watched by another layer.

A watcher in the gateway's scheduler ends with the gateway; one that only others of its own layer watch ends
together with them. What ends with the machine is noticed by somebody outside alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ..core.finding import Finding, Reading
from ..core.moment import span
from ..core.watch import Context
from ..errors import OpsError, Unreadable
from ..host.jobs import Job, Jobs, read_jobs
from ..host.profiles import profiles
from ..host.zone import zone
from . import manifest
from .manifest import DAEMON, Entry

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Evidence:
    """What was found of one watcher.

    installed  True, False, or None: cannot be known from here (it is outside, or a file is unreadable)
    last_ok    its last good run, seconds since the epoch; error: what its last run said of itself
    job        the record of its job, key: its "profile/id", since: when it was made
    deaf       why nobody hears it; problem: why something could not be read
    """

    installed: bool | None
    last_ok: float | None = None
    error: str | None = None
    job: Job | None = None
    key: str | None = None
    since: float | None = None
    deaf: str | None = None
    problem: str | None = None


@dataclass(frozen=True)
class Watched:
    """A watcher, what was found of it, and who watches it."""

    entry: Entry
    evidence: Evidence
    by: tuple[Entry, ...]

    @property
    def active(self) -> bool:
        return self.evidence.installed is not False


def survey(home: Path) -> list[Watched]:
    """Every watcher of a home with its evidence. OpsError for a faulty `watchers.toml`."""
    entries = manifest.load(home)
    url = _ping_url(home)
    if url:
        entries.append(manifest.ping(url))
    return combine(entries, read_evidence(home, entries))


def combine(entries: Iterable[Entry], evidence: Mapping[str, Evidence]) -> list[Watched]:
    """Join watchers with their evidence; only those that are there can watch another."""
    entries = [_with_job(entry, evidence[entry.name]) for entry in entries]
    active = [entry for entry in entries if evidence[entry.name].installed is not False]
    return [
        Watched(entry, evidence[entry.name], tuple(one for one in active if manifest.watches(one, entry)))
        for entry in entries
    ]


def check(watched: Iterable[Watched], now: float, profile: str = "default") -> list[Finding]:
    """All that is wrong with the watchers; one that is not installed is said only where it is minimal."""
    watched = list(watched)
    found = [finding for one in watched for finding in _check_one(one, now, profile)]
    found = _by_cause(found, watched, profile)
    return found + _check_outside([one for one in watched if one.active], profile)


def _by_cause(found: list[Finding], watched: list[Watched], profile: str) -> list[Finding]:
    """One finding for what has one cause: a layer that nobody outside it watches, a file that all need."""
    problems = {one.entry.name: one.evidence.problem for one in watched}
    layers = {one.entry.name: one.entry.layer for one in watched}
    groups: dict[tuple[str, str], list[str]] = {}
    for finding in found:
        name = finding.key.partition("/")[2]
        if finding.rule == "watchers.same_layer":
            groups.setdefault((finding.rule, layers[name]), []).append(name)
        elif finding.rule == "watchers.unreadable":
            groups.setdefault((finding.rule, problems[name] or ""), []).append(name)
    shared = {key: names for key, names in groups.items() if len(names) > 1}
    joined = {(rule, name) for (rule, _), names in shared.items() for name in names}
    kept = [one for one in found if (one.rule, one.key.partition("/")[2]) not in joined]
    for (rule, cause), names in shared.items():
        first = next(one for one in found if one.rule == rule and one.key.endswith(f"/{names[0]}"))
        if rule == "watchers.same_layer":
            text = (
                f"{len(names)} watchers of the layer {cause} have no watcher elsewhere: when it ends, all end"
            )
            key = f"{profile}/layer:{cause}"
        else:
            text, key = f"{len(names)} watchers cannot be checked: {cause}", f"{profile}/all"
        kept.append(replace(first, where="watchers", text=text, key=key, evidence=(", ".join(names),)))
    return kept


def judge(
    home: Path, watched: Iterable[Watched], now: float
) -> tuple[list[Finding], list[tuple[Finding, str]]]:
    """The findings that nobody has excluded in `policy.toml`, and the excluded ones with the reason."""
    from . import policy, policy_check

    tz = zone(home).tz
    found = check(watched, now, profiles(home)[0].name)
    return policy_check.exclude(policy.load(home, tz), found, now, tz, "watchers.")


def watch(context: Context) -> Reading:
    """What is wrong with the watchers, for a watcher of its own or beside another."""
    return Reading.of(judge(context.home, survey(context.home), context.now)[0])


def read_evidence(home: Path, entries: Iterable[Entry]) -> dict[str, Evidence]:
    """What the files say of each watcher."""
    jobs: dict[str, Jobs | Unreadable] = {}
    for profile in profiles(home):
        try:
            jobs[profile.name] = read_jobs(profile.home)
        except Unreadable as error:
            jobs[profile.name] = error
    own = profiles(home)[0].name
    return {entry.name: _evidence(home, entry, jobs, own) for entry in entries}


def _evidence(home: Path, entry: Entry, jobs: Mapping[str, Jobs | Unreadable], own: str) -> Evidence:
    if entry.layer == "outside":
        return Evidence(None)
    if entry.name == DAEMON and entry.ours:
        return _daemon(home)
    if entry.ours:
        return _ours(home, entry, jobs[own], own)
    if entry.job:
        return _job_evidence(home, entry, jobs)
    return _file_evidence(home, entry)


def _ours(home: Path, entry: Entry, jobs: Jobs | Unreadable, own: str) -> Evidence:
    from ..core.run import last_run
    from ..install import script_name

    if isinstance(jobs, Unreadable):
        return Evidence(None, problem=str(jobs))
    job = next((job for job in jobs.jobs if job.no_agent and job.script == script_name(entry.name)), None)
    if job is None:
        return Evidence(False)
    last = last_run(home, entry.name)
    return Evidence(
        True,
        last_ok=last.last_ok,
        error=last.error or None,
        job=job,
        key=f"{own}/{job.id}",
        since=job.created_at,
        deaf=_deaf(home, job),
    )


def _job_evidence(home: Path, entry: Entry, jobs: Mapping[str, Jobs | Unreadable]) -> Evidence:
    profile, _, named = (entry.job or "").partition("/")
    found = jobs.get(profile)
    if isinstance(found, Unreadable):
        return Evidence(None, problem=str(found))
    job = None if found is None else next((job for job in found.jobs if named in (job.id, job.name)), None)
    if job is None:
        return Evidence(False, problem=f"there is no job {entry.job}")
    ok = job.last_run_at if job.last_status == "ok" else None
    error = job.last_error if job.last_status == "error" else None
    where = next((one.home for one in profiles(home) if one.name == profile), home)
    return Evidence(True, ok, error, job, f"{profile}/{job.id}", job.created_at, _deaf(where, job))


def _file_evidence(home: Path, entry: Entry) -> Evidence:
    if entry.file is None:
        return Evidence(None)
    path = home / Path(entry.file).expanduser()
    try:
        return Evidence(True, last_ok=path.stat().st_mtime)
    except FileNotFoundError:
        return Evidence(False, problem=f"{path} is not there")
    except OSError as error:
        return Evidence(None, problem=f"{path}: {error.strerror}")


def _daemon(home: Path) -> Evidence:
    """The supervisor's daemon by what it writes down at each look."""
    from ..liveness.memory import MemoryFile

    try:
        looked_at = MemoryFile(home).read().last_pass_at
    except OpsError as error:
        return Evidence(None, problem=str(error))
    return Evidence(looked_at is not None, last_ok=looked_at)


def _deaf(home: Path, job: Job) -> str | None:
    """Why nobody hears what a watcher's job says; None: somebody may."""
    from ..host.delivery import parse_target, unreachable

    if set(job.deliver) == {"local"}:
        return "it delivers to local, which tells nobody"
    reasons = [
        f"{target}: {why}"
        for target in job.deliver
        if target != "local" and (why := unreachable(job, parse_target(target), home))
    ]
    heard = [target for target in job.deliver if target != "local"]
    return "; ".join(reasons) if reasons and len(reasons) == len(heard) else None


def _check_one(one: Watched, now: float, profile: str) -> list[Finding]:
    entry, evidence = one.entry, one.evidence
    where, key = f"watcher {entry.name}", f"{profile}/{entry.name}"
    install = f"hermes ops install {entry.name} --deliver TARGET"
    if entry.name == DAEMON and entry.ours:
        install = "hermes ops supervise install"
    found: list[Finding] = []

    def add(rule: str, severity: str, text: str, fix: str, *lines: str) -> None:
        found.append(Finding(f"watchers.{rule}", severity, where, text, key, lines, fix))

    if evidence.problem:
        add("unreadable", "warning", f"{entry.name} cannot be checked: {evidence.problem}", "mend the file")
    if evidence.installed is False:
        if entry.minimal:
            add("not_installed", "warning", f"{entry.name} is not installed", install)
        return found
    job = evidence.job
    if job is not None and not job.live:
        why = f" ({job.paused_reason})" if job.paused_reason else ""
        add("off", "error", f"its job is {job.state}{why}", f"hermes cron resume {job.id}", job.label)
    if evidence.deaf and job is not None:
        edit = f"hermes cron edit {job.id} --deliver TARGET"
        add("deaf", "error", f"nobody hears {entry.name}: {evidence.deaf}", edit, job.label)
    if evidence.error:
        add(
            "failing",
            "error",
            f"its last run failed: {evidence.error[:200]}",
            f"hermes ops watch {entry.name}",
        )
    stale = _stale(one, now)
    if stale and (job is None or job.live):
        add("stale", "error", stale, "hermes ops sweep" if entry.layer == "cron" else install)
    if entry.layer != "outside":
        found += _check_layers(one, where, key)
    return found


def _stale(one: Watched, now: float) -> str | None:
    entry, evidence = one.entry, one.evidence
    if entry.max_age is None or (evidence.installed is None and evidence.last_ok is None):
        return None
    if evidence.last_ok is None:
        if evidence.since is not None and now - evidence.since <= entry.max_age:
            return None
        return f"{entry.name} has not had one good run"
    age = now - evidence.last_ok
    if age > entry.max_age:
        return f"the last good run of {entry.name} was {span(age)} ago, more than {span(entry.max_age)}"
    return None


def _check_layers(one: Watched, where: str, key: str) -> list[Finding]:
    layers = {other.layer for other in one.by}
    name, layer = one.entry.name, one.entry.layer
    if not one.by:
        text = f"nobody watches {name}"
    elif layers == {layer}:
        others = ", ".join(other.name for other in one.by)
        text = f"only {others} watch{'es' if len(one.by) == 1 else ''} {name}, and all of them are {layer}"
    else:
        return []
    fix = "hermes ops supervise install" if layer == "cron" else "declare who does in ops/watchers.toml"
    return [
        Finding(
            "watchers.same_layer" if one.by else "watchers.unwatched", "warning", where, text, key, (), fix
        )
    ]


def _check_outside(active: list[Watched], profile: str) -> list[Finding]:
    """One finding for all watchers above whom there is nobody outside this machine."""
    by_name = {one.entry.name: one for one in active}
    alone = [
        name
        for name, one in by_name.items()
        if one.entry.layer != "outside"
        and not any(by_name[up].entry.layer == "outside" for up in _above(by_name, name))
    ]
    if not alone:
        return []
    circle = [name for name in alone if name in _above(by_name, name)]
    lines = [f"they watch each other in a circle: {', '.join(circle)}"] if circle else []
    text = f"nobody outside this machine watches {', '.join(alone)}"
    fix = "set ops.ping_url to a service that calls you, or declare who does in ops/watchers.toml"
    key = f"{profile}/all"
    return [Finding("watchers.no_outside", "warning", "watchers", text, key, tuple(lines), fix, remind=None)]


def _above(by_name: Mapping[str, Watched], name: str) -> set[str]:
    """Those who watch it, those who watch them, and so on."""
    found: set[str] = set()
    waiting = [other.name for other in by_name[name].by]
    while waiting:
        up = waiting.pop()
        if up not in found and up in by_name:
            found.add(up)
            waiting += [other.name for other in by_name[up].by]
    return found


def _with_job(entry: Entry, evidence: Evidence) -> Entry:
    return replace(entry, job=evidence.key) if evidence.key else entry


def _time(value: object) -> float | None:
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _ping_url(home: Path) -> str:
    from .. import settings
    from ..core import run

    try:
        return settings.load(home, run.OPTIONS)["ping_url"]
    except OpsError:
        return ""
