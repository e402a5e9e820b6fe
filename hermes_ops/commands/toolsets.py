"""`hermes ops toolsets`: what prompts ask for against the tools that their jobs have."""

from __future__ import annotations

from typing import Any

from .._common.command_line import complain
from .._common.home import hermes_home
from .._common.redact import Redactor
from ..quality.toolsets import Audit, Audited, as_findings, audit_all
from ..speak import say, say_json

PROGRAM = "hermes ops toolsets"


def add_arguments(parser: Any) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--all", action="store_true", help="show remarks (what is given in vain) of every job"
    )


def run(arguments: Any) -> int:
    audited = audit_all(hermes_home())
    redact = Redactor().text
    findings = [finding for one in audited.jobs for finding in as_findings(one)]
    if arguments.json:
        say_json(_as_dict(audited, redact))
    else:
        shown = 0
        for finding in findings:
            if finding.severity != "info" or arguments.all:
                say(f"{finding.severity:<8} {redact(finding.where)}: {redact(finding.text)}")
                if finding.fix:
                    say(f"         {redact(finding.fix)}")
                shown += 1
        remarks = len(findings) - shown
        more = f"; {_count(remarks, 'remark')} (--all shows them)" if remarks else ""
        serious = sum(finding.severity != "info" for finding in findings)
        counts = f"{_count(len(audited.jobs), 'agent job')}, {_count(serious, 'finding')}{more}"
        if audited.unreadable:
            unread = ", ".join(profile for profile, _ in audited.unreadable)
            counts += f"; nothing is known of the jobs of profile {unread}"
        say(f"{counts}; toolsets by the {audited.source}")
    for profile, error in audited.unreadable:
        complain(PROGRAM, f"profile {profile}: {error}", 1)
    return 1 if audited.unreadable or any(finding.severity != "info" for finding in findings) else 0


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _as_dict(audited: Audited, redact: Any) -> dict[str, Any]:
    return {
        "source": audited.source,
        "jobs": [_job(one, redact) for one in audited.jobs],
        "unreadable": [{"profile": name, "why": str(error)} for name, error in audited.unreadable],
    }


def _job(one: Audit, redact: Any) -> dict[str, Any]:
    return {
        "profile": one.profile,
        "job": one.job.id,
        "job_name": redact(one.job.name),
        "toolsets": list(one.job.toolsets) if one.job.toolsets is not None else None,
        "tools": sorted(one.given.names),
        "complete": one.given.complete,
        "asks_for": [
            {"name": asked.name, "toolset": asked.toolset, "words": redact(asked.words), "line": asked.line}
            for asked in one.asked
        ],
        "suggested": list(one.suggested),
        "findings": [
            {**finding.as_dict(), "text": redact(finding.text), "where": redact(finding.where)}
            for finding in as_findings(one)
        ],
    }
