"""What arrived in each channel: runs of jobs sorted by where their words were to go.

A channel is a delivery target of a profile ("telegram:-100:17"). Pure functions over the runs of the ledger:
what a run did to a channel, when a channel began to fail, and whether its silence is longer than chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from ..core import statistics
from ..core.ledger import Run
from ..host.jobs import Job

SENT, SILENT, FAILED, UNDELIVERED, UNKNOWN = "sent", "silent", "failed", "undelivered", "unknown"
KINDS = (SENT, SILENT, FAILED, UNDELIVERED, UNKNOWN)

NOT_KNOWN = "(target not known)"  # of a run whose job was gone when the run was seen
CHANCE = 0.001  # a silence that comes up more often than this, by the channel's own history, is no news
MIN_SPOKEN = 5  # what a history needs to have a base rate
MIN_QUIET = 3
TALKATIVE = 0.8  # a script is silent when all is well, unless it speaks in most of its runs


@dataclass(frozen=True)
class Place:
    """A job as it stands now, with the profile it belongs to and the zone of that."""

    profile: str
    job: Job
    zone: tzinfo
    ours: bool = False  # a watcher of this plugin


@dataclass(frozen=True)
class Quiet:
    """A silence longer than its history explains.

    The job spoke in `spoke` of `before` runs and has been silent for the `silent` runs since `since`; with
    that base rate (the low end of its interval) so long a silence has a chance of `chance`.
    """

    since: float
    silent: int
    spoke: int
    before: int
    longest: int
    chance: float


@dataclass(frozen=True)
class Member:
    """A job of a channel: what it is now ("live", "paused since ...", "removed", ...), and how it did.

    ``expected`` is None when its schedule does not say; ``quiet`` tells of its silence, None: nothing odd.
    """

    job_id: str
    name: str
    state: str
    ours: bool
    no_agent: bool
    expected: int | None
    counts: dict[str, int]
    last_sent: float | None
    quiet: Quiet | None


@dataclass(frozen=True)
class Failing:
    """The last thing to be sent to a channel did not arrive: since when, how often, what the host said."""

    since: float
    times: int
    error: str
    jobs: tuple[str, ...]
    last_sent: float | None


@dataclass(frozen=True)
class Channel:
    """One target: its jobs, counts of the window, the last arrival on record, and what is wrong."""

    profile: str
    target: str
    members: tuple[Member, ...]
    counts: dict[str, int]
    last_sent: float | None
    failing: Failing | None
    quiet: Quiet | None

    @property
    def runs(self) -> int:
        return sum(self.counts.values())

    @property
    def expected(self) -> int | None:
        known = [one.expected for one in self.members if one.expected is not None]
        return sum(known) if known else None

    @property
    def state(self) -> str:
        """In one word or two; only "sends" is good news."""
        if self.failing:
            return "failing"
        if self.quiet:
            return "stopped"
        if self.runs == 0:
            live = any(one.state == "live" for one in self.members)
            return "no run" if live and self.expected else "nothing due" if live else "no live job"
        if self.target == "local":
            return "local only"
        if self.counts[SENT]:
            return "sends"
        if self.counts[UNKNOWN]:
            return "unknown"
        return "only silent" if self.counts[SILENT] else "only failed"


def channels(
    runs: Iterable[Run],
    places: Iterable[Place],
    since: float,
    until: float,
    due: Callable[[Place, float, float], int | None],
) -> list[Channel]:
    """Sort the runs by channel. `runs` is the whole history on record; counts are of [since, until).

    `due` counts the fires of a job in a span, None when that cannot be told.
    """
    jobs = {(one.profile, one.job.id): one for one in places}
    found: dict[tuple[str, str], list[Run]] = {}
    for run in sorted(runs, key=_at):
        if run.outcome == "running":
            continue
        for target in targets_of(run, jobs.get((run.profile, run.job_id))):
            found.setdefault((run.profile, target), []).append(run)
    for place in jobs.values():
        if place.job.live and place.job.schedule.recurring:
            for target in place.job.deliver:
                found.setdefault((place.profile, _named(target, place.job)), [])
    result = []
    for (profile, target), history in found.items():
        channel = _channel(profile, target, history, jobs, since, until, due)
        if channel.runs or any(one.state == "live" for one in channel.members) or channel.failing:
            result.append(channel)
    return sorted(result, key=lambda one: (one.profile, one.target == "local", one.target))


def targets_of(run: Run, place: Place | None) -> tuple[str, ...]:
    """The channels that a run was to speak in."""
    targets = run.targets or (place.job.deliver if place else (NOT_KNOWN,))
    return tuple(dict.fromkeys(_named(one, place.job if place else None) for one in targets))


def kind(run: Run, target: str) -> str:
    """What one run did to one of its channels."""
    if run.delivery == "failed" and concerns(run.delivery_error or "", target, run.targets):
        return UNDELIVERED
    if run.outcome in ("failed", "empty"):
        return FAILED
    if run.outcome == "silent":
        return SILENT
    return SENT if run.outcome == "said" and run.delivery in ("sent", "local", "failed") else UNKNOWN


def concerns(error: str, target: str, all_targets: Sequence[str]) -> bool:
    """Whether a delivery error is about `target`. The host joins the errors of all targets in one text.

    An error that names no target of the run is taken to be about each of them.
    """
    if len(all_targets) < 2:
        return True
    names = {one: _names(one) for one in (*all_targets, target)}
    hit = {one for one, words in names.items() if any(word in error for word in words)}
    return not hit or target in hit


def failing(history: Sequence[Run], target: str) -> Failing | None:
    """Since when nothing arrives in a channel: the newest run that was to be sent decides."""
    first, last_sent, times, jobs = None, None, 0, []
    for run in history:
        what = kind(run, target)
        if what == UNDELIVERED:
            first = run if first is None else first
            times += 1
            jobs.append(run.job_id)
            newest = run
        elif what in (SENT, FAILED) and run.delivery in ("sent", "failed"):  # "failed": for another target
            first, last_sent, times, jobs = None, _at(run), 0, []
    if first is None:
        return None
    return Failing(_at(first), times, newest.delivery_error or "", tuple(dict.fromkeys(jobs)), last_sent)


def quiet(history: Sequence[Run]) -> Quiet | None:
    """Whether a channel, or a job in it, has been silent for longer than its own history explains.

    The base rate is how often it spoke up to the last time that it did, and of that the low end of the Wilson
    interval. It is odd when the silence is the longest there was and would come up once in a thousand times.
    """
    spoken = [(run, run.outcome == "said") for run in history if run.outcome in ("said", "silent")]
    last = max((place for place, (_, spoke) in enumerate(spoken) if spoke), default=None)
    if last is None:
        return None
    before, silent = spoken[: last + 1], spoken[last + 1 :]
    spoke = sum(1 for _, one in before if one)
    if spoke < MIN_SPOKEN or len(silent) < MIN_QUIET:
        return None
    scripts = all(run.no_agent for run, _ in spoken)
    if scripts and spoke < TALKATIVE * len(before):
        return None
    longest = current = 0
    for _, one in before:
        current = 0 if one else current + 1
        longest = max(longest, current)
    low = (statistics.wilson(spoke, len(before)) or (0.0, 1.0))[0]
    chance = (1.0 - low) ** len(silent)
    if len(silent) <= longest or chance >= CHANCE:
        return None
    return Quiet(_at(before[-1][0]), len(silent), spoke, len(before), longest, chance)


def _channel(
    profile: str,
    target: str,
    history: Sequence[Run],
    jobs: dict[tuple[str, str], Place],
    since: float,
    until: float,
    due: Callable[[Place, float, float], int | None],
) -> Channel:
    by_job: dict[str, list[Run]] = {}
    for run in history:
        by_job.setdefault(run.job_id, []).append(run)
    for place in jobs.values():
        named = place.profile == profile and place.job.live and place.job.schedule.recurring
        if named and target in [_named(one, place.job) for one in place.job.deliver]:
            by_job.setdefault(place.job.id, [])
    members = tuple(
        _member(job_id, each, target, jobs.get((profile, job_id)), since, until, due)
        for job_id, each in sorted(by_job.items())
    )
    living = {one.job_id for one in members if one.state == "live"}
    live = [run for run in history if run.job_id in living]
    # A job that is over cannot mend its channel; its last failure is news for as long as the window.
    recent = [run for run in history if run.job_id in living or _at(run) >= since]
    local = target == "local"
    return Channel(
        profile,
        target,
        members,
        _counts(history, target, since, until),
        _last_sent(history, target),
        None if local else failing(recent, target),
        None if local else quiet(live),
    )


def _member(
    job_id: str,
    history: Sequence[Run],
    target: str,
    place: Place | None,
    since: float,
    until: float,
    due: Callable[[Place, float, float], int | None],
) -> Member:
    counts = _counts(history, target, since, until)
    last = _last_sent(history, target)
    if place is None:
        name, script = (history[-1].job_name, history[-1].no_agent) if history else (job_id, False)
        return Member(job_id, name or job_id, "removed", False, script, None, counts, last, None)
    job = place.job
    state = "live" if job.live else "switched off" if job.state in ("scheduled", "") else job.state
    odd = quiet(history) if job.live and target != "local" else None
    expected = due(place, since, until)
    return Member(job_id, job.name, state, place.ours, job.no_agent, expected, counts, last, odd)


def _counts(history: Iterable[Run], target: str, since: float, until: float) -> dict[str, int]:
    counts = dict.fromkeys(KINDS, 0)
    for run in history:
        if since <= _at(run) < until:
            counts[kind(run, target)] += 1
    return counts


def _last_sent(history: Iterable[Run], target: str) -> float | None:
    return max((_at(run) for run in history if kind(run, target) == SENT), default=None)


def _named(target: str, job: Job | None) -> str:
    """The channel a target means: "origin" is the chat that the job was made in, when that is known."""
    origin = job.origin if job is not None and target == "origin" else None
    if not origin or not origin.get("platform") or not origin.get("chat_id"):
        return target
    parts = [str(origin["platform"]), str(origin["chat_id"])]
    return ":".join(parts + [str(origin["thread_id"])] * bool(origin.get("thread_id")))


def _names(target: str) -> tuple[str, ...]:
    """What the host's errors call a target: "platform:chat", or the platform in quotes."""
    platform, _, rest = target.partition(":")
    chat = rest.split(":")[0]
    return (f"{platform}:{chat}",) if chat else (f"'{platform}'", f"{platform}:")


def _at(run: Run) -> float:
    return run.claimed_at or run.started_at or run.finished_at or 0.0
