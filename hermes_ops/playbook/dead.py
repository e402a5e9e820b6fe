"""Is the bot dead though its process lives? The supervisor's verdict, taken apart question by question."""

from __future__ import annotations

from ..core.moment import show, span
from ..host.gateway import Gateway
from ..liveness.facts import Facts, Limits, read_facts
from ..liveness.verdict import Seen, Verdict, decide
from .tree import Case, Found, Question, no, unknown, yes

HEARTBEAT = 300.0


def is_process_gone(case: Case) -> Found:
    gateway = _gateway(case)
    seen = [f"gateway.pid: {gateway.pid}; gateway_state.json: {gateway.state}"]
    if gateway.pid is None:
        return yes("no gateway was started here, or it ended properly", seen, "hermes gateway start")
    if gateway.alive is None:
        return unknown(*seen, "whether that process is the gateway cannot be known")
    if gateway.alive:
        return no(*seen, "that process runs")
    verdict = _verdict(case)
    return yes(
        f"the process is gone, whatever gateway_state.json says ({verdict.text})",
        [*seen, *verdict.evidence],
        verdict.fix or "hermes gateway start",
    )


def is_heartbeat_old(case: Case) -> Found:
    gateway = _gateway(case)
    if gateway.heartbeat_at is None:
        return unknown("state/gateway.heartbeat does not exist")
    age = case.now - gateway.heartbeat_at
    at = show(gateway.heartbeat_at, case.context.zone.tz)
    seen = [f"state/gateway.heartbeat: {span(max(0.0, age))} old ({at})"]
    if age <= HEARTBEAT:
        return no(*seen)
    return yes(
        "the process lives and its event loop does not: it is frozen, or ends without ending",
        [*seen, *_verdict(case).evidence],
        _verdict(case).fix or "restart it through its service manager: hermes ops supervise once",
    )


def is_starting_or_kept(case: Case) -> Found:
    verdict = _verdict(case)
    if verdict.state in ("starting", "storm_backoff", "draining", "maintenance", "lingering", "config_error"):
        return yes(
            f"{verdict.state.replace('_', ' ')}: {verdict.text}", verdict.evidence, verdict.fix or "wait"
        )
    return no(f"verdict: {verdict.state}")


def is_store_unwritable(case: Case) -> Found:
    verdict = _verdict(case)
    found = [trouble for trouble in verdict.troubles if trouble.state == "store_unwritable"]
    if not found and verdict.state != "store_unwritable":
        return no("no failed write of state.db in the logs")
    return yes(
        "sessions cannot be written: it answers and forgets, or refuses",
        [*verdict.evidence, *(line for trouble in found for line in trouble.evidence)],
        "hermes ops backup recover   # saves what is there; nothing is restored by itself",
    )


def is_platform_down(case: Case) -> Found:
    gateway = _gateway(case)
    down = {
        name: facts
        for name, facts in gateway.platforms.items()
        if facts.get("state") not in ("connected", None)
    }
    if not gateway.platforms:
        return unknown("gateway_state.json names no platform")
    seen = [
        f"{name}: {facts.get('state')} {facts.get('error_message') or facts.get('error_code') or ''}".rstrip()
        for name, facts in (down or gateway.platforms).items()
    ]
    if not down:
        return no(*seen)
    return yes(
        f"not connected: {', '.join(down)}", seen, "hermes gateway status; check its token and its network"
    )


def is_scheduler_stalled(case: Case) -> Found:
    found = [one for one in _verdict(case).troubles if one.state in ("cron_stalled", "ticks_failing")]
    if not found:
        return no("the scheduler ticks")
    return yes(
        found[0].text, [line for one in found for line in one.evidence], found[0].fix or "hermes cron status"
    )


QUESTIONS: tuple[Question, ...] = (
    ("Is the process gone?", is_process_gone),
    ("Is it starting, draining, paused or ending?", is_starting_or_kept),
    ("Is its heartbeat old?", is_heartbeat_old),
    ("Can it not write its sessions?", is_store_unwritable),
    ("Is a platform not connected?", is_platform_down),
    ("Does its scheduler stand still?", is_scheduler_stalled),
)


def _facts(case: Case) -> Facts:
    return case.once("facts", lambda: read_facts(case.context.home, case.now, Limits(), None))


def _gateway(case: Case) -> Gateway:
    return _facts(case).gateway


def _verdict(case: Case) -> Verdict:
    return case.once("verdict", lambda: decide(_facts(case), Seen(), case.now, Limits()))
