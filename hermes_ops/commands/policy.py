"""`hermes ops policy`: jobs against the delivery policy; `policy init` writes a first one."""

from __future__ import annotations

import time
from typing import Any

from .._common.command_line import complain
from .._common.home import hermes_home
from .._common.redact import Redactor
from ..core.finding import Finding
from ..schedule import policy_check, policy_start
from ..schedule.declared import read_all
from ..schedule.policy_check import Checked
from ..speak import say, say_json

PROGRAM = "hermes ops policy"


def add_arguments(parser: Any) -> None:
    parser.add_argument("verb", nargs="?", choices=("check", "init"), default="check", help="default: check")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Any) -> int:
    home = hermes_home()
    if arguments.verb == "init":
        found = read_all(home)
        for one in found:
            if one.problem is not None:
                raise one.problem
        path = policy_start.write(home, [job for one in found for job in one.declared])
        if arguments.json:
            say_json({"path": str(path)})
        else:
            say(f"{path} is written: uncomment what is right, then `{PROGRAM}`")
        return 0
    checked = policy_check.examine(home, time.time())
    serious = any(finding.severity != "info" for finding in checked.findings) or bool(checked.blind)
    if arguments.json:
        say_json(_as_dict(checked))
    else:
        _print(checked)
    return 1 if serious else 0


def _print(checked: Checked) -> None:
    redact = Redactor().text
    undeclared = [one for one in checked.findings if one.rule == policy_check.UNDECLARED]
    for finding in checked.findings:
        if finding not in undeclared:
            _say_finding(finding, redact)
    if undeclared:
        shown = "; ".join(redact(finding.where) for finding in undeclared[:10])
        more = f"; and {len(undeclared) - 10} more" if len(undeclared) > 10 else ""
        say(f"info     undeclared: {shown}{more}")
        say(
            f"         {undeclared[0].fix if len(undeclared) == 1 or not checked.policy.written else DECLARE}"
        )
    for finding, reason in checked.accepted:
        say(f"excluded {finding.id}: {redact(reason)}")
    for blind in checked.blind:
        complain(PROGRAM, blind.text, 1)
    if checked.messages is None and not any(blind.key.startswith("policy.ledger") for blind in checked.blind):
        say("messages are not counted yet: no watcher has collected runs")
    declared = sum(one.kind is not None for one in checked.classified)
    if not checked.findings and not checked.blind:
        say(f"{declared} of {len(checked.classified)} jobs have a kind, and all keep to the policy")


DECLARE = "declare them in ops/policy.toml"


def _say_finding(finding: Finding, redact: Any) -> None:
    say(f"{finding.severity:<8} {redact(finding.where)}: {redact(finding.text)}")
    if finding.fix:
        say(f"         {finding.fix}")


def _as_dict(checked: Checked) -> dict[str, Any]:
    redact = Redactor().value
    jobs = [
        {
            "profile": one.job.profile,
            "job": one.job.id,
            "name": one.job.name,
            "kind": one.kind.name if one.kind else None,
            "how": one.how,
            "most_messages": None
            if checked.messages is None
            else checked.messages.get(one.job.key, (0, ""))[0],
        }
        for one in checked.classified
    ]
    accepted = [{**finding.as_dict(), "reason": reason} for finding, reason in checked.accepted]
    return redact(
        {
            "policy": checked.policy.written,
            "jobs": jobs,
            "findings": [finding.as_dict() for finding in checked.findings],
            "excluded": accepted,
            "blind": [blind.text for blind in checked.blind],
        }
    )
