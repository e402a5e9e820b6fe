"""What is to be done and said about a verdict: a pure function of the verdict, the memory and the time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..core.finding import Blind, Event, Finding, Reading
from ..core.moment import span
from .facts import Facts, Limits
from .health import ESCALATE, NONE, RESTART, START
from .lease import Lease
from .memory import Memory, Outage, not_after
from .verdict import Verdict, woke

HOUR = 3600.0
UNJUDGED = ("unknown", "maintenance", "starting", "storm_backoff")
RULES_OF_STATES = {"store_unwritable": "gateway.store", "cron_stalled": "gateway.cron"}
DOWN_RULE = "gateway.down"
NEVER = 1_000_000  # looks in a row after which a blindness that is none would be told


@dataclass(frozen=True)
class Rules:
    """When to act, seconds unless said otherwise.

    confirm    a trouble must be seen for so long, in more than one look, before anything is done
    cooldown   between two restarts; `cap` restarts within any hour, then a person is called
    after_cap  between two attempts once a person was called
    settle     a restart that leaves the gateway down for so long has failed
    patience   one that leaves it starting for so long has failed too
    quiet      it must work for so long until the outage is over; `quiet_again`: after it failed again
    again      what fails within so long after an outage is the same trouble again
    fresh      a heartbeat older than this is no sign of health while an outage lasts
    """

    confirm: float = 45.0
    cooldown: float = 600.0
    cap: int = 3
    after_cap: float = HOUR
    settle: float = 150.0
    patience: float = 700.0
    quiet: float = 300.0
    quiet_again: float = 1800.0
    again: float = 2 * HOUR
    fresh: float = 90.0


@dataclass(frozen=True)
class Plan:
    """What to do ("none", "restart", "start"), what to remember before it is done, and the events of it."""

    act: str
    memory: Memory
    events: tuple[Event, ...] = ()


def plan(
    verdict: Verdict, facts: Facts, memory: Memory, now: float, rules: Rules, limits: Limits, helpless: str
) -> Plan:
    """Decide. `helpless` says why nobody can be asked for a restart, "" when somebody can."""
    memory = _remember(verdict, facts, memory, now, limits)
    events = _lease_events(facts, memory, now)
    memory = replace(memory, lease=_own_lease(facts, now))
    if verdict.state in ("unknown", "maintenance"):
        return Plan(NONE, memory, events)
    memory = _settled(verdict, facts, memory, now, rules)
    memory = _outage(verdict, memory, now, rules)
    act = NONE
    outage = memory.outage
    wants = verdict.action in (RESTART, START) and _confirmed(memory, now, rules)
    if outage is not None and wants and memory.pending_at is None:
        memory, act, handed_over = _restart(verdict, facts, memory, outage, now, rules, helpless)
        events += handed_over
    return Plan(act, memory, events)


def reading(
    verdict: Verdict, facts: Facts, memory: Memory, name: str, now: float, events: tuple[Event, ...] = ()
) -> Reading:
    """What is to be told: the outage, what else is wrong, and what happened once. `name`: of the profile."""
    findings = []
    covered = None
    if memory.outage is not None:
        findings.append(_outage_finding(memory.outage, name, now))
        covered = memory.outage.rule
    if not verdict.troubles and verdict.severity is not None and verdict.action == NONE:
        rule = f"gateway.{verdict.state}"
        findings.append(
            Finding(
                rule, verdict.severity, _where(name), verdict.text, name, verdict.evidence, verdict.fix, 2, 2
            )
        )
    for trouble in verdict.troubles:
        key = f"{name}/{trouble.key}" if trouble.key else name
        if trouble.rule == covered:
            continue
        findings.append(
            Finding(
                trouble.rule,
                trouble.severity,
                _where(name),
                trouble.text,
                key,
                trouble.evidence,
                trouble.fix,
                2,
                2,
            )
        )
    blind = []
    if verdict.state in UNJUDGED:
        # Nothing is known of what was wrong before, so nothing of it is over.
        blind.append(Blind(f"gateway.unjudged:{name}", verdict.text, "gateway.", NEVER))
    if facts.problems:
        text = "; ".join(facts.problems)[:500]
        fix = "give the supervisor's user the right to read it"
        blind.append(Blind(f"gateway.files:{name}", text, "gateway.files", 3, fix))
    return Reading.of(findings, blind, events)


def _remember(verdict: Verdict, facts: Facts, memory: Memory, now: float, limits: Limits) -> Memory:
    if woke(memory.seen, now, limits):
        memory = replace(not_after(memory, now), woke_at=now, wanted_since=None, not_working_since=None)
    beat = facts.gateway.heartbeat_at
    if beat != memory.beat or memory.beat_changed_at is None:
        memory = replace(memory, beat=beat, beat_changed_at=now)
    works = verdict.works is True or verdict.state in ("maintenance", "stopped", "unknown")
    wanted = verdict.action != NONE
    ended = not wanted and works and verdict.state != "unknown"
    return replace(
        memory,
        not_working_since=None if works else _first(memory.not_working_since, now),
        wanted_since=_first(memory.wanted_since, now) if wanted else None if ended else memory.wanted_since,
        state=verdict.state,
        text=verdict.text,
        evidence=verdict.evidence,
    )


def _settled(verdict: Verdict, facts: Facts, memory: Memory, now: float, rules: Rules) -> Memory:
    """Whether the last restart has shown its effect."""
    asked = memory.pending_at
    if asked is None:
        return memory
    gateway = facts.gateway
    if verdict.works is True and verdict.action == NONE:
        fresh = (
            gateway.heartbeat_at is None or gateway.heartbeat_at > asked or gateway.pid != memory.pending_pid
        )
        return replace(memory, pending_at=None, pending_pid=None) if fresh else memory
    limit = rules.patience if verdict.state in ("starting", "storm_backoff") else rules.settle
    if now - asked < limit:
        return memory
    outage = memory.outage
    if outage is not None:
        outage = replace(outage, failed=outage.failed + 1)
    return replace(memory, pending_at=None, pending_pid=None, outage=outage)


def _outage(verdict: Verdict, memory: Memory, now: float, rules: Rules) -> Memory:
    """Open, follow and close the outage."""
    outage = memory.outage
    if verdict.action != NONE:
        if outage is None:
            if not _confirmed(memory, now, rules):
                return memory
            began = min(at for at in (verdict.since, memory.wanted_since, now) if at is not None)
            rule = RULES_OF_STATES.get(verdict.state, DOWN_RULE)
            outage = _opened(memory.last_outage, began, rule, verdict, rules)
        relapsed = outage.healthy_since is not None
        return replace(
            memory,
            outage=replace(
                outage,
                state=verdict.state,
                text=verdict.text,
                evidence=verdict.evidence,
                fix=verdict.fix,
                person=outage.person or verdict.action == ESCALATE,
                healthy_since=None,
                relapses=outage.relapses + relapsed,
            ),
        )
    if outage is None:
        return memory
    if verdict.state == "stopped":
        return replace(_closed(memory, outage, now), pending_at=None, pending_pid=None)
    if verdict.works is not True or memory.pending_at is not None:
        return memory
    if verdict.beat_age is not None and verdict.beat_age > rules.fresh:
        # A loop that has just frozen looks alive until its heartbeat is old.
        return replace(memory, outage=replace(outage, healthy_since=None))
    outage = replace(outage, healthy_since=_first(outage.healthy_since, now))
    quiet = rules.quiet_again if outage.relapses else rules.quiet
    if now - (outage.healthy_since or now) >= quiet:
        return _closed(memory, outage, now)
    return replace(memory, outage=outage)


def _opened(last: Outage | None, began: float, rule: str, verdict: Verdict, rules: Rules) -> Outage:
    """A new outage; one soon after the last takes over what was tried and said then."""
    fresh = Outage(began, rule, verdict.state, verdict.text)
    if last is None or last.closed_at is None or began - last.closed_at >= rules.again:
        return fresh
    return replace(
        fresh,
        restarts=last.restarts,
        failed=last.failed,
        handed_over_at=last.handed_over_at,
        relapses=last.relapses + 1,
    )


def _closed(memory: Memory, outage: Outage, now: float) -> Memory:
    return replace(memory, outage=None, last_outage=replace(outage, closed_at=now))


def _restart(
    verdict: Verdict, facts: Facts, memory: Memory, outage: Outage, now: float, rules: Rules, helpless: str
) -> tuple[Memory, str, tuple[Event, ...]]:
    """The gate before a restart: cooldown, the cap of any hour, and what comes after the cap."""
    if helpless:
        return replace(memory, outage=replace(outage, helpless=helpless)), NONE, ()
    last = max(memory.restarts, default=None)
    within_hour = sum(1 for at in memory.restarts if at > now - HOUR)
    if within_hour >= rules.cap and outage.handed_over_at is None:
        outage = replace(outage, handed_over_at=now)
        text = (
            f"gateway: restarted {rules.cap} times within an hour and it still does not work "
            f"({outage.state}: {outage.text}). A person has to look: `hermes ops explain dead`. "
            f"From now on it is tried once in {span(rules.after_cap)}"
        )
        event = Event(f"gateway.handed_over:{outage.since:.0f}", text, "critical")
        return replace(memory, outage=outage), NONE, (event,)
    pause = rules.after_cap if outage.handed_over_at is not None else rules.cooldown
    if within_hour >= rules.cap or (last is not None and now - last < pause):
        return memory, NONE, ()
    memory = replace(
        memory,
        restarts=(*memory.restarts, now),
        pending_at=now,
        pending_pid=facts.gateway.pid,
        outage=replace(outage, restarts=outage.restarts + 1),
    )
    return memory, verdict.action, ()


def refused(memory: Memory, detail: str) -> Memory:
    """The memory after the service manager refused a restart: it has failed at once."""
    outage = memory.outage
    if outage is not None:
        outage = replace(outage, failed=outage.failed + 1, fix=f"the service manager said: {detail[:300]}")
    return replace(memory, pending_at=None, pending_pid=None, outage=outage)


def _outage_finding(outage: Outage, name: str, now: float) -> Finding:
    tried = ""
    if outage.restarts:
        tried = f"; restarted {outage.restarts} time{'s' if outage.restarts > 1 else ''}"
        tried += f", {outage.failed} without success" if outage.failed else ""
    if outage.healthy_since is not None:
        text = f"works again for {span(now - outage.healthy_since)}; it was {outage.state}{tried}"
    else:
        text = f"{outage.state}: {outage.text}{tried}"
    grave = outage.failed or outage.helpless or outage.person or outage.handed_over_at is not None
    fix = outage.fix
    if outage.helpless and not fix:
        fix = f"restart it by hand ({outage.helpless})"
    return Finding(
        outage.rule, "critical" if grave else "error", _where(name), text, name, outage.evidence, fix
    )


def _lease_events(facts: Facts, memory: Memory, now: float) -> tuple[Event, ...]:
    """That a pause has ended by itself is told: whoever asked for it may still be at work."""
    lease = memory.lease
    if lease is None or facts.lease is not None or facts.written_lease is None:
        return ()
    if facts.written_lease.since != lease.since:
        return ()
    text = (
        f"the maintenance pause of {lease.owner} ({lease.reason}) has ended by itself: "
        "the gateway is watched again"
    )
    return (Event(f"gateway.lease:{lease.since:.0f}", text, "warning"),)


def _own_lease(facts: Facts, now: float) -> Lease | None:
    lease = facts.written_lease
    return lease if lease is not None and lease.active(now) else None


def _confirmed(memory: Memory, now: float, rules: Rules) -> bool:
    return memory.wanted_since is not None and now - memory.wanted_since >= rules.confirm


def _first(at: float | None, now: float) -> float:
    return now if at is None else at


def _where(name: str) -> str:
    return f"gateway ({name})"
