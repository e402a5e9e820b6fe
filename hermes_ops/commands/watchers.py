"""`hermes ops watchers`: who watches what and whom, and what is wrong with that."""

from __future__ import annotations

import time
from typing import Any

from .._common.command_line import UsageError
from .._common.home import hermes_home
from .._common.redact import Redactor
from ..core import render
from ..core.finding import Finding
from ..core.moment import show, span
from ..host.zone import zone
from ..schedule import watchers
from ..schedule.watchers import Watched
from ..speak import say, say_json

_NO_EVENTS = {"cron": "no: it runs inside the gateway"}
COLUMNS = ("Watcher", "Watches", "Signal", "Layer", "Survives", "Last good run", "At most", "Watched by")


def add_arguments(parser: Any) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--markdown", action="store_true", help="the manifest as a Markdown table, without times"
    )


def run(arguments: Any) -> int:
    home, now = hermes_home(), time.time()
    if arguments.json and arguments.markdown:
        raise UsageError("one of --json and --markdown")
    found = watchers.survey(home)
    tz = zone(home).tz
    findings, accepted = watchers.judge(home, found, now)
    redact = Redactor()
    if arguments.json:
        say_json(redact.value(_as_dict(found, findings, accepted)))
    elif arguments.markdown:
        for line in render.as_markdown(_table(found, None, tz)).splitlines():
            say(line)
    else:
        for line in render.as_text(_table(found, now, tz)).splitlines():
            say(line)
        for finding in findings:
            say(f"{finding.severity:<8} {redact.text(finding.where)}: {redact.text(finding.text)}")
            for line in finding.evidence:
                say(f"         {redact.text(line)}")
            say(f"         {finding.fix}")
        for finding, reason in accepted:
            say(f"excluded {finding.id}: {redact.text(reason)}")
    return 1 if any(finding.severity != "info" for finding in findings) else 0


def _table(found: list[Watched], now: float | None, tz: Any) -> render.Table:
    """The manifest; without `now` it holds no times, so that the same manifest gives the same bytes."""
    rows = []
    for one in found:
        entry, evidence = one.entry, one.evidence
        if not one.active:
            seen = "not installed"
        elif now is None:
            seen = "installed"
        elif evidence.last_ok is None:
            seen = "unknown" if evidence.installed is None else "none yet"
        else:
            seen = f"{show(evidence.last_ok, tz)} ({span(max(0.0, now - evidence.last_ok))} ago)"
        rows.append(
            (
                entry.name,
                ", ".join(entry.watches),
                entry.signal,
                entry.layer,
                ", ".join(entry.survives) or _NO_EVENTS.get(entry.layer, "unknown: declare survives"),
                seen,
                "" if entry.max_age is None else span(entry.max_age),
                ", ".join(other.name for other in one.by) or "nobody",
            )
        )
    columns = (
        COLUMNS
        if now is not None
        else tuple("Installed" if name == "Last good run" else name for name in COLUMNS)
    )
    return render.Table(columns, tuple(rows), title="Who watches what")


def _as_dict(
    found: list[Watched], findings: list[Finding], accepted: list[tuple[Finding, str]]
) -> dict[str, Any]:
    rows = [
        {
            "name": one.entry.name,
            "watches": list(one.entry.watches),
            "signal": one.entry.signal,
            "layer": one.entry.layer,
            "survives": list(one.entry.survives),
            "max_age": one.entry.max_age,
            "job": one.entry.job,
            "owner": one.entry.owner,
            "installed": one.evidence.installed,
            "last_ok": one.evidence.last_ok,
            "error": one.evidence.error,
            "watched_by": [other.name for other in one.by],
        }
        for one in found
    ]
    excluded = [{**finding.as_dict(), "reason": reason} for finding, reason in accepted]
    return {"watchers": rows, "findings": [one.as_dict() for one in findings], "excluded": excluded}
