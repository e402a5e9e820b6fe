"""Whether a gateway that lives also works: its store, its scheduler, its platforms. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..core.moment import span
from ..host.logs import Record
from .facts import Facts, Limits

NONE, RESTART, START, ESCALATE = "none", "restart", "start", "escalate"

# What the host writes when a session cannot be stored: logger, level, beginning of the message. The end is
# the cause. Matched by all three, so that no text of a chat or a tool can be taken for one.
WRITE_FAILURES = (
    ("run_agent", "WARNING", "Session DB append_message failed"),
    ("run_agent", "WARNING", "Session DB creation failed"),
    ("gateway.session", "WARNING", "Session DB transcript append failed"),
    ("gateway.session", "WARNING", "Session DB transcript pending queue full"),
    ("agent.conversation_loop", "WARNING", "Session DB update_system_prompt failed"),
)
# What it writes when its own repair has failed.
STORE_BROKEN = (
    ("hermes_state", "ERROR", "state.db schema repair could not recover"),
    ("hermes_state", "ERROR", "In-place FTS rebuild failed"),
    ("hermes_state", "ERROR", "In-place FTS rebuild made no progress"),
)
# Causes that a new process meets again.
OUTSIDE = (
    "disk is full",
    "no space left",
    "readonly",
    "read-only",
    "locked",
    "quota exceeded",
    "permission denied",
)
SAME_EVENT = 1.0  # seconds within which two records are one failed write
DOWN = ("fatal", "retrying", "disconnected", "paused", "connecting")


@dataclass(frozen=True)
class Trouble:
    """Something that is wrong with a gateway whose process lives.

    ``state`` is the verdict it would give, ``key`` what it is about ("" the gateway as a whole).
    """

    state: str
    rule: str
    key: str
    severity: str
    text: str
    evidence: tuple[str, ...] = ()
    fix: str = ""
    action: str = NONE


def troubles(facts: Facts, started_at: float | None, now: float, limits: Limits) -> list[Trouble]:
    """All that is wrong with a gateway whose heartbeat is fresh, the gravest first."""
    store = _store(facts, started_at, now, limits)
    return [*store, *_scheduler(facts, started_at, now, limits), *_platforms(facts, started_at, now, limits)]


def failed_writes(records: Sequence[Record]) -> list[Record]:
    """The records of failed writes, one for each event, whatever files and loggers wrote it down."""
    found: list[Record] = []
    for record in sorted(records, key=lambda record: record.at):
        if _is(record, WRITE_FAILURES) and (not found or record.at - found[-1].at >= SAME_EVENT):
            found.append(record)
    return found


def _store(facts: Facts, started_at: float | None, now: float, limits: Limits) -> list[Trouble]:
    gateway = facts.gateway
    if gateway.deleted:
        names = ", ".join(gateway.deleted)
        return [
            Trouble(
                "store_unwritable",
                "gateway.store",
                "",
                "critical",
                f"the gateway writes into {names}, which was deleted or replaced under it: "
                "what it stores now is lost when it ends",
                (f"process {gateway.pid} holds {names} (deleted)",),
                "hermes backup --quick, then a restart of the gateway; restore nothing before",
                RESTART,
            )
        ]
    # What an earlier process met says nothing about this one.
    since = max(now - limits.markers, started_at or 0.0)
    window = [record for record in facts.records if since <= record.at <= now + SAME_EVENT]
    broken = [record for record in window if _is(record, STORE_BROKEN)]
    if broken:
        return [
            Trouble(
                "store_unwritable",
                "gateway.store",
                "",
                "critical",
                "state.db is damaged and the host's own repair has failed",
                tuple(_shown(record) for record in broken[-3:]),
                "hermes ops backup list, and `hermes sessions repair` on a stopped gateway; "
                "keep the damaged file",
                ESCALATE,
            )
        ]
    failures = failed_writes(window)
    if len(failures) < limits.failures:
        return []
    newest = failures[-1]
    if facts.store_written_at is not None and facts.store_written_at > newest.at + SAME_EVENT:
        return []
    outside = any(cause in newest.message.lower() for cause in OUTSIDE)
    return [
        Trouble(
            "store_unwritable",
            "gateway.store",
            "",
            "critical" if outside else "error",
            f"the gateway cannot store sessions: {len(failures)} failed writes in "
            f"{span(now - failures[0].at)} and none that worked since",
            tuple(_shown(record) for record in failures[-3:]),
            "make room, or give back the permission: a restart does not help" if outside else "",
            ESCALATE if outside else RESTART,
        )
    ]


def _scheduler(facts: Facts, started_at: float | None, now: float, limits: Limits) -> list[Trouble]:
    ticker, gateway = facts.ticker, facts.gateway
    if ticker is None or facts.other_scheduler or gateway.state == "draining":
        return []
    beats = [at for at in (ticker.heartbeat_at, started_at) if at is not None and at <= now]
    if not beats:
        return []
    silent = now - max(beats)
    if silent > limits.ticker:
        worth = silent > limits.ticker_restart
        return [
            Trouble(
                "cron_stalled",
                "gateway.cron",
                "",
                "error",
                f"the gateway lives and its scheduler does not: no loop for {span(silent)}, so no job starts",
                (f"cron/ticker_heartbeat is {span(silent)} old; the host's loop takes 60 s",),
                "" if worth else "restarted when it lasts longer than " + span(limits.ticker_restart),
                RESTART if worth else NONE,
            )
        ]
    worked = [at for at in (ticker.success_at, started_at) if at is not None and at <= now]
    failing = now - max(worked) if worked else 0.0
    if failing <= limits.ticks:
        return []
    return [
        Trouble(
            "ticks_failing",
            "gateway.ticks",
            "",
            "error",
            f"the scheduler runs and fails every time: no tick has worked for {span(failing)}",
            (f"cron/ticker_last_success is {span(failing)} old",),
            'look for "Cron tick error" in logs/errors.log (jobs.json?); a restart does not help',
        )
    ]


def _platforms(facts: Facts, started_at: float | None, now: float, limits: Limits) -> list[Trouble]:
    from ..host.gateway import instant

    found = []
    for name, platform in sorted(facts.gateway.platforms.items()):
        state, since = platform.get("state"), instant(platform.get("updated_at"))
        if state not in DOWN or since is None or now - since <= limits.platform:
            continue
        # The file keeps platforms of earlier processes that this one does not serve.
        if started_at is None or since < started_at:
            continue
        why = platform.get("error_message") or platform.get("error_code") or "no reason given"
        retried = "the host tries again by itself" if state in ("retrying", "connecting") else ""
        found.append(
            Trouble(
                "platform_down",
                "gateway.platform",
                name,
                "warning" if state == "paused" else "error",
                f"platform {name} is {state} for {span(now - since)}: {str(why)[:200]}",
                (f"gateway_state.json: platforms.{name}.state = {state}",),
                retried or f"mend what it says, then `/platform resume {name}` in a chat that works",
            )
        )
    return found


def _is(record: Record, markers: tuple[tuple[str, str, str], ...]) -> bool:
    return any(
        record.logger == logger and record.level == level and record.message.startswith(text)
        for logger, level, text in markers
    )


def _shown(record: Record) -> str:
    return f"errors.log: {record.level} {record.logger}: {record.message[:200]}"
