"""The jobs held against the delivery policy, and the policy's own exceptions held against the clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path

from ..core.finding import DAY, Blind, Finding, Reading
from ..core.moment import day, show
from ..core.watch import WATCHERS, Context
from ..errors import OpsError
from ..host.zone import zone as zone_of
from . import policy as rules
from .declared import Declared, Schedules, read_all
from .policy import Classified, Policy
from .remind import announced

DAYS = 7  # whole days behind us whose messages are counted
UNDECLARED = "policy.undeclared"


@dataclass(frozen=True)
class Checked:
    """All that was looked at.

    findings  what is wrong and not excluded; accepted: what is excluded, with the reason
    blind     what could not be read
    messages  by job key, the most messages of one of the counted days; None: the ledger could not be read
    """

    policy: Policy
    classified: tuple[Classified, ...]
    findings: tuple[Finding, ...]
    accepted: tuple[tuple[Finding, str], ...]
    blind: tuple[Blind, ...]
    messages: Mapping[str, tuple[int, str]] | None


def examine(home: Path, now: float) -> Checked:
    """Read and check everything. OpsError for a faulty policy.toml."""
    zone = zone_of(home).tz
    policy = rules.load(home, zone)
    found = read_all(home)
    blind = [
        Blind(f"policy.jobs:{one.profile.name}/", str(one.problem), f"policy.jobs:{one.profile.name}/")
        for one in found
        if one.problem is not None
    ]
    messages, problem = count_messages(home, now, zone)
    if problem:
        blind.append(
            Blind("policy.ledger:", f"messages of jobs are not counted: {problem}", "policy.budget:")
        )
    jobs = [job for one in found for job in one.declared]
    ours = _ours(found)
    classified = rules.classify(policy, jobs, ours, announced(home))
    told = check(policy, classified, messages, all_read=not any(one.problem for one in found))
    kept, accepted = exclude(policy, told, now, zone)
    kept = _together(policy, kept, [one.job for one in classified if one.how == rules.OURS], ours)
    return Checked(policy, tuple(classified), tuple(kept), tuple(accepted), tuple(blind), messages)


def watch(context: Context) -> Reading:
    """What the policy forbids and jobs do, and exceptions that are over; nothing without a policy."""
    if not rules.path_of(context.home).exists():
        return Reading()
    checked = examine(context.home, context.now)
    return Reading.of(checked.findings, checked.blind)


def check(
    policy: Policy,
    classified: Sequence[Classified],
    messages: Mapping[str, tuple[int, str]] | None,
    *,
    all_read: bool = True,
) -> list[Finding]:
    """The findings, exclusions not yet applied. Jobs that do not run are asked nothing."""
    live = [one for one in classified if one.job.state == "on"]
    found = [finding for one in live for finding in _check_one(policy, one, messages)]
    found += _shared(live)
    if all_read:
        for one in rules.unused(policy, [each.job for each in classified]):
            named = one.id or one.name or ""
            text = f"there is no job {named!r} in profile {one.profile}"
            found.append(
                Finding(
                    "policy.unused", "info", one.where, text, f"{one.profile}/{named}", (), "remove the entry"
                )
            )
    return found


def exclude(
    policy: Policy, findings: Iterable[Finding], now: float, zone: tzinfo, about: str = "policy."
) -> tuple[list[Finding], list[tuple[Finding, str]]]:
    """Part findings by the documented exclusions; those that are over or match nothing are findings too.

    ``about`` is how the exclusions begin that these findings are to be held against.
    """
    exclusions = [one for one in policy.exclusions if one.suppression.pattern.startswith(about)]
    open_now: list[Finding] = []
    accepted: list[tuple[Finding, str]] = []
    used: set[str] = set()
    for finding in findings:
        covering = next((one for one in exclusions if one.suppression.covers(finding, now)), None)
        if covering is None:
            open_now.append(finding)
        else:
            accepted.append((finding, covering.suppression.reason))
        used |= {one.where for one in exclusions if _matches(one.suppression.pattern, finding)}
    for one in exclusions:
        what, until = one.suppression.pattern, one.suppression.until
        owner = f", {one.owner}" if one.owner else ""
        key = f"default/{what}"
        if until is not None and until <= now:
            text = f"the exclusion of {what} ended {show(until, zone)} ({one.suppression.reason}{owner})"
            fix = "remove it, or give it a new date with a reason that holds"
            open_now.append(Finding("policy.exclusion_over", "warning", one.where, text, key, (), fix))
        elif one.where not in used:
            text = f"the exclusion of {what} matches nothing ({one.suppression.reason}{owner})"
            open_now.append(Finding("policy.exclusion_idle", "info", one.where, text, key, (), "remove it"))
    return open_now, accepted


def count_messages(
    home: Path, now: float, zone: tzinfo
) -> tuple[Mapping[str, tuple[int, str]] | None, str | None]:
    """By job key the most messages of one of the last days, with that day; or None and why not."""
    if not (home / "ops" / "ledger.db").exists():
        return None, None
    from ..core.ledger import Ledger

    try:
        ledger = Ledger.open(home)
        try:
            runs = ledger.runs(now - DAYS * DAY, now)
        finally:
            ledger.close()
    except OpsError as error:
        return None, str(error)
    counted: Counter[tuple[str, str]] = Counter()
    for run in runs:
        at = run.finished_at or run.started_at or run.claimed_at
        # Of older runs the host no longer says whether what they said was sent.
        spoke = run.delivery == "sent" or (run.delivery == "unknown" and run.outcome in ("said", "failed"))
        if at is not None and spoke:
            counted[f"{run.profile}/{run.job_id}", day(at, zone)] += 1
    most: dict[str, tuple[int, str]] = {}
    for (key, when), number in sorted(counted.items()):
        if number > most.get(key, (0, ""))[0]:
            most[key] = (number, when)
    return most, None


def _check_one(
    policy: Policy, one: Classified, messages: Mapping[str, tuple[int, str]] | None
) -> list[Finding]:
    job, kind = one.job, one.kind
    if kind is None:
        if one.conflict:
            text = f"declared differently by {' and '.join(one.conflict)}"
            return [Finding("policy.conflict", "warning", job.label, text, job.key, (), "keep one of them")]
        text = "nobody declared what kind of job this is"
        fix = f'[[job]] id = "{job.id}", kind = ... in ops/policy.toml' if policy.written else INIT
        return [Finding(UNDECLARED, "info", job.label, text, job.key, (), fix, remind=None)]
    found = []
    # What is known by the schedule alone may be meant so.
    severity = "info" if one.how == rules.BY_SCHEDULE else "warning"
    wrong = _wrong_target(policy, one)
    if wrong:
        fix = f"hermes cron edit {job.id} --deliver TARGET, or declare another kind"
        found.append(
            Finding(
                "policy.deliver", severity, job.label, f"{_a(kind.name)} {wrong}", job.key, (one.how,), fix
            )
        )
    if kind.mode == "script" and job.mode != "script":
        text = f"{_a(kind.name)} that a model writes: {job.mode}"
        fix = "make it a script without an agent: what it says must not depend on a model"
        found.append(Finding("policy.mode", severity, job.label, text, job.key, (one.how,), fix))
    number, when = (messages or {}).get(job.key, (0, ""))
    limit = kind.messages_per_day
    if limit is not None and number > limit:
        text = f"{number} messages on {when}; {_a(kind.name)} has {limit} a day"
        fix = "let it say less, or give it messages_per_day with a reason"
        found.append(Finding("policy.budget", "warning", job.label, text, job.key, (one.how,), fix))
    return found


def _wrong_target(policy: Policy, one: Classified) -> str | None:
    targets, kind = set(one.job.deliver), one.kind
    shown = ", ".join(one.job.deliver)
    heard = targets - {"local"}
    if kind is None or kind.deliver == "any":
        return None
    if kind.deliver == "local":
        return f"delivers to {shown}; it is to be silent (local)" if heard else None
    if not heard:
        return "delivers to local, where nobody sees it"
    if kind.deliver == "alert" and policy.alert_targets and not heard <= set(policy.alert_targets):
        return f"delivers to {shown}, not to {', '.join(policy.alert_targets)}"
    if kind.deliver == "own":
        if one.target and heard != {one.target}:
            return f"delivers to {shown}, not to its own target {one.target}"
        if heard & set(policy.alert_targets):
            return f"delivers to {shown}, where alerts go"
    return None


def _shared(live: Sequence[Classified]) -> list[Finding]:
    """Digests that speak in one place: nobody sees that one of them is missing."""
    by_target: dict[str, list[Classified]] = {}
    for one in live:
        if one.kind is not None and one.kind.deliver == "own":
            for target in set(one.job.deliver) - {"local"}:
                by_target.setdefault(target, []).append(one)
    found = []
    for target, those in sorted(by_target.items()):
        for one in those if len(those) > 1 else ():
            others = ", ".join(other.job.label for other in those if other is not one)
            text = f"shares {target} with {others}"
            fix = "give each digest a target of its own"
            key = f"{one.job.key}/{target}"
            found.append(Finding("policy.shared", "info", one.job.label, text, key, (), fix))
    return found


def _together(
    policy: Policy, findings: list[Finding], jobs: Sequence[Declared], ours: Mapping[str, str]
) -> list[Finding]:
    """One finding for those of our watchers that speak in the same wrong place: one command mends them."""
    places = {job.key: job.deliver for job in jobs}
    groups: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        if finding.rule == "policy.deliver" and finding.key in places:
            groups.setdefault(places[finding.key], []).append(finding)
    left = [one for one in findings if not any(one in group for group in groups.values())]
    for place, group in groups.items():
        names = [ours[one.key] for one in group]
        named = "" if len(names) == len(WATCHERS) else f" {' '.join(names)}"
        fix = f"hermes ops install{named} --deliver {','.join(policy.alert_targets) or 'TARGET'}"
        one = replace(group[0], fix=fix)
        if len(group) > 1:
            key = f"{one.key.partition('/')[0]}/watchers/{','.join(place)}"
            where = f"{len(names)} watchers of hermes ops"
            one = replace(one, where=where, key=key, evidence=(*one.evidence, ", ".join(names)))
        left.append(one)
    return left


def _ours(found: Sequence[Schedules]) -> dict[str, str]:
    """The names of our watchers by the keys of their jobs."""
    from ..install import script_name

    scripts = {script_name(watcher.name): watcher.name for watcher in WATCHERS}
    first = found[0].declared if found else ()
    return {job.key: scripts[job.script] for job in first if job.mode == "script" and job.script in scripts}


def _matches(pattern: str, finding: Finding) -> bool:
    if pattern.endswith("*"):
        return finding.id.startswith(pattern[:-1])
    return pattern in (finding.rule, finding.id)


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}".replace("an one", "a one")


INIT = "hermes ops policy init"
