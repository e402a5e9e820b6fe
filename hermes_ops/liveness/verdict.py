"""How the gateway is: a pure function of what was seen, of what we remember, and of the time."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..core.moment import span
from ..host.gateway import Exit, Gateway
from .facts import Facts, Limits
from .health import ESCALATE, NONE, RESTART, START, Trouble, troubles
from .service import Service

CONFIG_ERROR, PLANNED_RESTART = 78, 75
FUTURE_SLACK = 120.0
FLAP_WINDOW = 600.0
ENDED = ("asyncio.run.returned", "asyncio.run.SystemExit", "asyncio.run.exception", "gateway.exit_nonzero")

# state -> whether the gateway does its work then; None: cannot be told
STATES = {
    "ok": True,
    "draining": True,
    "platform_down": True,
    "ticks_failing": True,
    "cron_stalled": False,
    "store_unwritable": False,
    "dead": False,
    "frozen": False,
    "lingering": False,
    "config_error": False,
    "stopped": None,
    "starting": None,
    "storm_backoff": None,
    "maintenance": None,
    "unknown": None,
}


@dataclass(frozen=True)
class Seen:
    """What earlier looks left.

    last_pass_at     when the last one ended; woke_at: when we last found ourselves after a sleep
    beat             the heartbeat of the last look; beat_changed_at: when it was first seen with that value
    not_working_since  the first look of those in a row at which the gateway was not seen to work
    """

    last_pass_at: float | None = None
    woke_at: float | None = None
    beat: float | None = None
    beat_changed_at: float | None = None
    not_working_since: float | None = None


@dataclass(frozen=True)
class Verdict:
    """The state, what shows it, what is to be done, and what else is wrong.

    action    "none"; "restart" and "start" through the service manager; "escalate": only a person can help
    severity  of the message; None where there is nothing to tell
    since     when it became so, as far as files show; beat_age: of the heartbeat, in seconds
    """

    state: str
    text: str
    evidence: tuple[str, ...] = ()
    action: str = NONE
    severity: str | None = None
    fix: str = ""
    since: float | None = None
    troubles: tuple[Trouble, ...] = ()
    beat_age: float | None = None

    @property
    def works(self) -> bool | None:
        return STATES[self.state]


def decide(facts: Facts, seen: Seen, now: float, limits: Limits) -> Verdict:
    """Judge one look. Facts without `service` are judged as if there were no service manager."""
    gateway = facts.gateway
    asleep = _asleep(seen, now, limits)
    if asleep:
        return Verdict("unknown", asleep)
    if facts.lease is not None and not _drains(facts, seen, now, limits):
        lease = facts.lease
        return Verdict(
            "maintenance",
            f"{lease.reason} ({lease.owner}), for {span(lease.until - now)} more",
            since=lease.since,
        )
    if gateway.alive is False or gateway.pid is None:
        verdict = _not_running(facts, seen, now, limits)
    else:
        verdict = replace(_running(facts, seen, now, limits), beat_age=_beat_age(gateway, seen, now))
    if verdict.works is not True and gateway.unreadable:
        names = ", ".join(gateway.unreadable)
        return Verdict("unknown", f"cannot be told: {names} cannot be read", gateway.problems)
    if verdict.action != NONE and gateway.pid is None and gateway.lock_held:
        return Verdict("unknown", "a process holds gateway.lock, and no file says which", gateway.problems)
    return verdict


def woke(seen: Seen, now: float, limits: Limits) -> bool:
    """Whether the machine slept, or its clock was set, since the last look: ages mean nothing for a while."""
    if seen.last_pass_at is None:
        return False
    return not -limits.grace / 10 <= now - seen.last_pass_at <= limits.wake


def storm_backoff(starts: tuple[float, ...], newest: float, limits: Limits) -> float:
    """How long the host sleeps before it starts at all, by its own rule for respawn storms."""
    count = sum(1 for at in starts if newest - limits.storm_window <= at <= newest)
    over = count - limits.storm_starts
    return min(limits.storm_cap, 5.0 * 2 ** min(over, 6)) if over > 0 else 0.0


def started_at(gateway: Gateway) -> float | None:
    """When the running process was started; None: no file says."""
    own = [one.at for one in gateway.exits if one.tag == "gateway.start" and one.pid == gateway.pid]
    return own[-1] if own else (gateway.starts[-1] if gateway.starts else None)


def _asleep(seen: Seen, now: float, limits: Limits) -> str | None:
    if woke(seen, now, limits):
        return "our own last look is long ago or in the future: the machine slept, or its clock was set"
    if seen.woke_at is not None and 0 <= now - seen.woke_at < limits.grace:
        return f"awake for {span(now - seen.woke_at)}: ages are judged after {span(limits.grace)}"
    return None


def _drains(facts: Facts, seen: Seen, now: float, limits: Limits) -> bool:
    """Whether the lease is a drain that the living gateway carries out: it is judged as usual then."""
    marked = "drain" in facts.gateway.markers and facts.lease is not None and facts.lease.owner == "hermes"
    return marked and facts.gateway.alive is not False and _beat_age(facts.gateway, seen, now) is not None


def _running(facts: Facts, seen: Seen, now: float, limits: Limits) -> Verdict:
    gateway = facts.gateway
    ended = _ended(gateway, seen, now)
    if ended is not None:
        return _lingering(facts, ended, now, limits)
    age = _beat_age(gateway, seen, now)
    if age is None and gateway.heartbeat_at is None and gateway.state in ("running", "degraded"):
        return _without_heartbeat(facts, now, limits)
    if age is None:
        return _starting(facts, seen, now, limits)
    beat = f"heartbeat of process {gateway.pid}: {span(max(0.0, age))} old"
    if age > limits.heartbeat:
        return Verdict(
            "frozen",
            f"its process lives and its loop does not: no heartbeat for {span(age)}"
            if gateway.alive
            else f"no heartbeat for {span(age)}",
            (beat, f"gateway_state.json says {gateway.state}", "the host writes a heartbeat every 30 s"),
            RESTART,
            "error",
            since=now - age,
        )
    found = tuple(troubles(facts, started_at(gateway), now, limits))
    if found:
        worst = found[0]
        return Verdict(
            worst.state, worst.text, worst.evidence, worst.action, worst.severity, worst.fix, troubles=found
        )
    if gateway.state == "draining":
        since = gateway.state_at
        if since is not None and now - since > limits.drain:
            text = f"draining for {span(now - since)}: it takes no new turns"
            return Verdict("draining", text, (beat,), NONE, "warning", "remove .drain_request.json", since)
        return Verdict("draining", "it finishes what it does and takes no new turns", (beat,))
    return Verdict("ok", "it lives and works", (beat,))


def _without_heartbeat(facts: Facts, now: float, limits: Limits) -> Verdict:
    """A host that writes no heartbeat at all: its scheduler may still show a sign of life."""
    beat = facts.ticker.heartbeat_at if facts.ticker else None
    if beat is not None and now - beat <= limits.ticker:
        return Verdict("ok", "it writes no heartbeat; its scheduler runs", ("no state/gateway.heartbeat",))
    text = "it says that it runs, writes no heartbeat, and shows no other sign of life"
    return Verdict("unknown", text, ("no state/gateway.heartbeat", "no fresh cron/ticker_heartbeat"))


def _lingering(facts: Facts, ended: Exit | None, now: float, limits: Limits) -> Verdict:
    """A process that has shut down and does not end: a script of a job holds it."""
    gateway = facts.gateway
    if gateway.starting_pid is not None:
        return _starting(facts, Seen(), now, limits)
    evidence = (
        f"process {gateway.pid} runs, gateway.pid is gone and gateway.lock is free",
        f"gateway-exit-diag.log: {ended.tag}" if ended and ended.tag else "no heartbeat since",
        f"gateway_state.json says {gateway.state}",
    )
    if gateway.state == "stopped" and not gateway.restart_requested:
        return Verdict("stopped", "it was stopped; its process waits for the script of a job", evidence)
    age = now - ended.at if ended else limits.lingering + 1
    ending = facts.service is not None and facts.service.active == "deactivating"
    if 0 <= age <= (limits.comeback if ending else limits.lingering):
        return Verdict("starting", f"it shut down {span(age)} ago and is about to end", evidence)
    return Verdict(
        "lingering",
        f"it shut down {span(max(0.0, age))} ago and its process does not end: the script of a job holds it, "
        "and nobody answers",
        evidence,
        ESCALATE if ending else RESTART,
        "error",
        f"end process {gateway.pid}; the service manager waits for it" if ending else "",
        ended.at if ended else None,
    )


def _starting(facts: Facts, seen: Seen, now: float, limits: Limits) -> Verdict:
    """A process that runs and has not written its first heartbeat."""
    gateway = facts.gateway
    began = max(gateway.starts[-1:] + _started(gateway), default=None)
    if began is None:
        began = gateway.state_at
    if began is not None and began > now + FUTURE_SLACK:
        began = None
    if began is None:
        # Nothing says when it began: from when we saw it first.
        began = seen.not_working_since if seen.not_working_since is not None else now
    backoff = storm_backoff(gateway.starts, began, limits)
    age = max(0.0, now - began)
    process = gateway.starting_pid or gateway.pid
    evidence = (f"process {process} started {span(age)} ago and has written no heartbeat yet",)
    if age > backoff + limits.startup:
        return Verdict(
            "frozen",
            f"it hangs at its start: no heartbeat {span(age)} after it",
            evidence,
            RESTART,
            "error",
            since=began,
        )
    flaps = _flaps(gateway, now)
    told = _flapping(gateway, flaps, limits)
    if backoff and age <= backoff:
        text = f"it was started {flaps} times in ten minutes; the host waits {span(backoff)} before it starts"
        return Verdict("storm_backoff", told or text, evidence, *_escalated(told), since=began)
    return Verdict(
        "starting", told or f"it starts, for {span(age)} now", evidence, *_escalated(told), since=began
    )


def _not_running(facts: Facts, seen: Seen, now: float, limits: Limits) -> Verdict:
    gateway, service = facts.gateway, facts.service
    if gateway.starting_pid is not None:
        return _starting(facts, seen, now, limits)
    if gateway.pid is None and gateway.state is None and not gateway.starts and not (service and service.ran):
        return Verdict("unknown", "no gateway has ever run here", gateway.problems)
    code = _exit_code(facts)
    started = max(gateway.starts[-1:] + _started(gateway), default=0.0)
    # What the state file says was written before the newest start is about an earlier process.
    state = gateway.state if gateway.state_at is not None and gateway.state_at >= started else None
    evidence = (
        f"process {gateway.pid} is gone" if gateway.pid else "there is no process",
        f"gateway_state.json says {gateway.state}",
        *_last_words(gateway, service),
    )
    if code == CONFIG_ERROR or (state == "startup_failed" and not (service and service.coming)):
        why = gateway.exit_reason or "see logs/errors.log"
        return Verdict(
            "config_error",
            f"it refuses to start because of its configuration: {why[:300]}",
            evidence,
            ESCALATE,
            "critical",
            "correct the configuration, then start the gateway; a restart does not help",
        )
    told = _flapping(gateway, _flaps(gateway, now), limits)
    if service is not None and service.coming:
        since = seen.not_working_since
        hangs = since is not None and now - since > limits.comeback
        if hangs and not told:
            told = f"the service manager has tried to bring it back for {span(now - since)}"
        text = f"{service.unit} is {service.active}: the service manager brings it back"
        return Verdict("starting", told or text, evidence, *_escalated(told))
    left_at = max([one.at for one in gateway.exits[-1:]] + [gateway.state_at or 0.0])
    if (state == "stopped" and gateway.restart_requested) or code == PLANNED_RESTART:
        if 0 <= now - left_at <= limits.comeback:
            return Verdict("starting", "a planned restart: it comes back", evidence, since=left_at)
    elif state == "stopped":
        return Verdict("stopped", "it was stopped on purpose", evidence, since=gateway.state_at)
    if service is not None and service.stopped_by_hand:
        return Verdict(
            "stopped",
            f"{service.unit} is {service.active}, and only a person can have stopped it",
            evidence,
            NONE,
            "warning",
            f"start {service.unit} when that is over; `hermes ops supervise pause` says it beforehand",
        )
    return Verdict(
        "dead",
        f"its process is gone; {told}" if told else "its process is gone",
        evidence,
        RESTART if service is not None and service.active == "active" else START,
        "error",
        since=left_at or None,
    )


def _beat_age(gateway: Gateway, seen: Seen, now: float) -> float | None:
    """How old the heartbeat of this process is; None: it has written none.

    One from the future (the clock went back) is as old as it has been seen unchanged.
    """
    if gateway.heartbeat_at is None or gateway.heartbeat_pid != gateway.pid:
        return None
    age = now - gateway.heartbeat_at
    if age >= -FUTURE_SLACK:
        return age
    if seen.beat != gateway.heartbeat_at or seen.beat_changed_at is None:
        return 0.0
    return max(0.0, now - seen.beat_changed_at)


def _ended(gateway: Gateway, seen: Seen, now: float) -> Exit | None:
    """The record with which a process that still runs has shut down; None: it has not.

    Two things show it: a free lock, and a record of its end (or no gateway.pid and no heartbeat any more).
    """
    if gateway.lock_held is not False or gateway.alive is not True:
        return None
    own = [one for one in gateway.exits if one.pid == gateway.pid]
    if own and own[-1].tag in ENDED:
        return next(one for one in own if one.tag in ENDED and one.at >= _start_of(own))
    age = _beat_age(gateway, seen, now)
    if not gateway.pid_file and age is not None and age > 60:
        return Exit(now - age, "")
    return None


def _start_of(own: list[Exit]) -> float:
    return max((one.at for one in own if one.tag == "gateway.start"), default=0.0)


def _started(gateway: Gateway) -> tuple[float, ...]:
    return tuple(one.at for one in gateway.exits if one.tag == "gateway.start")[-1:]


def _exit_code(facts: Facts) -> int | None:
    """The exit code of the newest process, where a file or the service manager knows it."""
    exits = facts.gateway.exits
    newest = next((one for one in reversed(exits) if one.tag == "gateway.start"), None)
    own = [one.code for one in exits if newest and one.pid == newest.pid and one.at >= newest.at]
    codes = [code for code in own if code is not None]
    if codes:
        return codes[-1]
    service = facts.service
    return service.exit_code if service is not None and service.active in ("inactive", "failed") else None


def _last_words(gateway: Gateway, service: Service | None) -> list[str]:
    words = [f"gateway-exit-diag.log: {gateway.exits[-1].tag}"] if gateway.exits else []
    if service is not None:
        words.append(f"{service.unit}: {service.active} ({service.sub}), result {service.result}")
    return words


def _flaps(gateway: Gateway, now: float) -> int:
    return sum(1 for at in gateway.starts if now - FLAP_WINDOW <= at <= now + FUTURE_SLACK)


def _flapping(gateway: Gateway, flaps: int, limits: Limits) -> str:
    if flaps < limits.flaps:
        return ""
    why = f": {gateway.exit_reason[:200]}" if gateway.exit_reason else ""
    return f"it keeps dying: {flaps} starts in ten minutes{why}"


def _escalated(told: str) -> tuple[str, str | None]:
    return (ESCALATE, "error") if told else (NONE, None)
