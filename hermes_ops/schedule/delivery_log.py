"""What the host's log says of deliveries: the record of a job keeps the newest one alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from .._common.redact import Redactor
from ..core.ledger import Run
from ..errors import Unreadable
from ..host.logs import Record

LOG_BYTES = 1_000_000
SLACK = 5.0  # seconds by which the log and the run's own stamps may differ

_JOB = re.compile(r"Job '([0-9a-f]{12})': (.*)")
_FAILED = re.compile(r"Delivery failed for job ([0-9a-f]{12}): (.*)")
_LOST = re.compile(r"deliver|unknown platform|not configured")
_MIRROR = "delivery mirror"  # a copy into a session's transcript, not the delivery


def with_log(home: Path, runs: Iterable[Run]) -> list[Run]:
    """Runs with what the log of `home` knows of deliveries that nobody saw; unread when there are none.

    At most the last megabyte is read. A log that cannot be read leaves them as they are.
    """
    found = list(runs)
    open_ends = [run.claimed_at for run in found if _is_open(run) and run.claimed_at is not None]
    if not open_ends:
        return found
    from ..host.logs import recent

    try:
        records = recent(home / "logs" / "agent.log", min(open_ends) - SLACK, LOG_BYTES)
    except Unreadable:
        return found
    return told(found, records)


def told(runs: Iterable[Run], records: Iterable[Record]) -> list[Run]:
    """Settle the deliveries that are unknown by the lines that were logged while the runs lasted."""
    lines: dict[str, list[tuple[float, str | None]]] = {}  # job -> (time, what failed; None: it arrived)
    for record in records:
        read = _read(record)
        if read is not None:
            lines.setdefault(read[0], []).append((record.at, read[1]))
    return [_settled(run, lines.get(run.job_id, [])) if _is_open(run) else run for run in runs]


def _is_open(run: Run) -> bool:
    return run.delivery == "unknown" and run.outcome in ("said", "failed")


def _read(record: Record) -> tuple[str, str | None] | None:
    if "cron" not in record.logger:
        return None
    failed = _FAILED.match(record.message)
    if failed:
        return failed[1], failed[2]
    job = _JOB.match(record.message)
    if job is None or job[2].startswith(_MIRROR):
        return None
    if job[2].startswith("delivered to "):
        return job[1], None
    lost = record.level in ("WARNING", "ERROR", "CRITICAL") and _LOST.search(job[2])
    return (job[1], job[2]) if lost else None


def _settled(run: Run, lines: list[tuple[float, str | None]]) -> Run:
    if run.claimed_at is None or run.finished_at is None:
        return run
    own = [why for at, why in lines if run.claimed_at - SLACK <= at <= run.finished_at + SLACK]
    if not own:
        return run
    errors = [why for why in own if why is not None]
    if errors:
        return replace(run, delivery="failed", delivery_error=Redactor().text("; ".join(errors))[:1000])
    return replace(run, delivery="sent")
