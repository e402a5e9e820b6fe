"""`hermes ops skills scan`: paths and addresses before an install, installed skills against their records."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import __version__
from .._common.command_line import UsageError, complain
from .._common.home import hermes_home
from .._common.redact import Redactor
from ..core.moment import show
from ..errors import OpsError
from ..host.zone import zone
from ..speak import say, say_json
from . import baseline
from .entries import FILE, Entry, Skill
from .rules import ERROR, INFO, ORDER, RULES, WARNING, Located, located, spelled

PROGRAM = "hermes ops skills scan"
MAX_LINE = 400
MAX_UNREAD = 20  # told one by one on standard error
RECORDS = frozenset(("skill.changed", "skill.not-recorded", "skill.gone", "skill.host-hash"))


@dataclass
class Scanned:
    """What was looked at: skills, findings, and one line for each thing that could not be scanned."""

    skills: list[Skill] = field(default_factory=list)
    findings: list[Located] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


def add_scan_arguments(parser: Any) -> None:
    """Add the options of `skills scan` to a parser."""
    parser.add_argument("target", nargs="*", metavar="PATH|URL", help="with --installed: names of skills")
    parser.add_argument("--installed", action="store_true", help="the skills of this home and its profiles")
    parser.add_argument("--record", action="store_true", help="with --installed: trust them as they are now")
    parser.add_argument(
        "--baseline", metavar="FILE", help="what is accepted (default: <home>/ops/skills.toml)"
    )
    parser.add_argument("--strict", action="store_true", help="exit 1 on a warning too")
    parser.add_argument("--all", action="store_true", help="show remarks and what is accepted too")
    parser.add_argument("--rules", action="store_true", help="list the rules")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="print one JSON object")
    shape.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0")


def run_scan(arguments: Any) -> int:
    """Carry out `skills scan`; returns the exit code.

    0: no error (with --strict: no warning either), 1: one, 2: usage, or something was not scanned.
    """
    try:
        return _run(arguments)
    except OpsError as error:  # of the baseline or the record: nothing was scanned
        redact = _redact()
        if arguments.json:
            say_json(_as_dict(Scanned(unread=[str(error)]), baseline.Weighed(), {}, redact))
        return complain(PROGRAM, redact(str(error)), 2)


def _run(arguments: Any) -> int:
    if arguments.rules:
        return _list_rules(arguments.json)
    if arguments.record and not arguments.installed:
        raise UsageError("--record goes with --installed")
    home = hermes_home()
    now, where = time.time(), zone(home).tz
    path = Path(os.path.expanduser(arguments.baseline)) if arguments.baseline else baseline.path_of(home)
    if arguments.baseline and not path.exists():
        raise UsageError(f"--baseline: there is no {path}")
    entries = baseline.load(path, where)
    if arguments.installed:
        scanned, record = _installed(home, tuple(arguments.target), arguments.record, entries, now)
    else:
        scanned, record = _targets(arguments.target), {}
    redact = _redact()
    if not scanned.skills:
        if arguments.json:
            say_json(_as_dict(scanned, baseline.Weighed(), record, redact))
        for line in scanned.unread:
            complain(PROGRAM, line, 2)
        return complain(PROGRAM, "nothing was scanned", 2)
    weighed = baseline.weigh(scanned.findings, entries, now)
    weighed.open.sort(key=lambda one: (ORDER.index(one.finding.severity), one.skill, one.path, one.line))
    scanned.unread += [f"{one.finding.where}: {one.finding.text}" for one in weighed.open if one.is_unread]
    if arguments.sarif:
        from .sarif import as_sarif

        places = {skill.name: skill.origin for skill in scanned.skills}
        report = as_sarif(weighed, __version__, Redactor().text, places)
        print(json.dumps(report, indent=1))
    elif arguments.json:
        say_json(_as_dict(scanned, weighed, record, redact))
    else:
        _print(scanned, weighed, record, redact, arguments.all, lambda at: show(at, where))
    for line in scanned.unread[:MAX_UNREAD]:
        complain(PROGRAM, redact(line), 2)
    if len(scanned.unread) > MAX_UNREAD:
        complain(PROGRAM, f"{len(scanned.unread) - MAX_UNREAD:,} more could not be read", 2)
    counting = {ERROR, WARNING} if arguments.strict else {ERROR}
    if any(one.finding.severity in counting for one in weighed.open):
        return 1
    return 2 if scanned.unread else 0


def _targets(targets: list[str]) -> Scanned:
    from .disk import skills_at
    from .fetch import fetch, is_address
    from .scan import scan

    if not targets:
        raise UsageError("expected a path or an address, or --installed")
    scanned = Scanned()
    for target in targets:
        hits = []
        try:
            if is_address(target):
                skills, hits = fetch(target)
            else:
                skills = skills_at(Path(os.path.expanduser(target)))
        except OpsError as error:
            scanned.unread.append(str(error))
            continue
        if not any(_holds_something(skill) for skill in skills):
            scanned.unread.append(f"{target}: there is nothing in it")
            continue
        scanned.skills += skills
        scanned.findings += (located(hit, skills[0].name, "", number) for number, hit in enumerate(hits))
        for skill in skills:
            scanned.findings += scan(skill)
    return scanned


def _holds_something(skill: Skill) -> bool:
    """Whether there is anything to scan: a file with content, or an archive with a member."""
    from .archives import Budget, unpack
    from .kinds import ARCHIVE, kind_of

    def holds(entry: Entry) -> bool:
        if entry.kind != FILE or kind_of(entry.name, entry.data[:600]).what != ARCHIVE:
            return entry.kind != FILE or entry.size > 0
        inner = unpack(entry, Budget())
        return bool(inner.entries or inner.hits)

    return any(holds(entry) for entry in skill.entries)


def _redact() -> Callable[[str], str]:
    redact = Redactor().text
    return lambda text: redact(spelled(text))


def _installed(
    home: Path, only: tuple[str, ...], should_record: bool, entries: list[baseline.Acceptance], now: float
) -> tuple[Scanned, dict[str, Any]]:
    from .installed import record_installed, scan_installed

    found = scan_installed(home, only, is_replaced=should_record)
    scanned = Scanned(found.skills, found.findings, found.unread)
    if not should_record or not found.skills:
        return scanned, {}
    weighed = baseline.weigh(found.findings, entries, now)
    refused = {
        one.skill for one in weighed.open if one.finding.severity == ERROR and one.finding.rule not in RECORDS
    }
    damaged = record_installed(home, found, refused, now)
    names = [skill.name for skill in found.skills if skill.name not in refused]
    scanned.findings = [
        one
        for one in found.findings
        if one.finding.rule not in RECORDS - {"skill.host-hash"} or one.skill in refused
    ]
    record: dict[str, Any] = {"recorded": sorted(names), "refused": sorted(refused)}
    if damaged is not None:
        record["damaged"] = str(damaged)
    return scanned, record


def _print(
    scanned: Scanned,
    weighed: baseline.Weighed,
    record: dict[str, Any],
    redact: Callable[[str], str],
    everything: bool,
    shown: Callable[[float], str],
) -> None:
    for one in weighed.open:
        if everything or one.finding.severity != INFO:
            _say_finding(one, redact)
    for entry in weighed.expired:
        over = f"accepted until {shown(entry.until)}, counts again"
        say(f"expired  {redact(entry.where)}: {over}: {redact(entry.reason)}")
    for one, entry in weighed.accepted if everything else ():
        say(f"accepted {redact(one.finding.id)}: {redact(entry.reason)} (until {shown(entry.until)})")
    for name in record.get("refused", ()):
        say(
            f"not recorded: {redact(name)} has errors; if they are right, accept them in {baseline.FILE_NAME}"
        )
    if "damaged" in record:
        say(f"the record was damaged and is set aside as {record['damaged']}: what it held is lost")
    if record:
        say(f"{_count(len(record['recorded']), 'skill')} recorded")
    say(_summary(scanned, weighed, everything))


def _say_finding(one: Located, redact: Callable[[str], str]) -> None:
    finding = one.finding
    say(f"{finding.severity:<8} {redact(finding.where)}: {finding.rule}: {_cut(redact(finding.text))}")
    for line in finding.evidence:
        say(f"         | {_cut(redact(line))}")
    say(f"         {finding.fix}")
    say(f"         id: {redact(finding.id)}")


def _summary(scanned: Scanned, weighed: baseline.Weighed, everything: bool) -> str:
    counts = {name: sum(one.finding.severity == name for one in weighed.open) for name in ORDER}
    told = ", ".join(
        _count(counts[name], label)
        for name, label in ((ERROR, "error"), (WARNING, "warning"), (INFO, "remark"))
        if counts[name]
    )
    files = sum(len(skill.entries) for skill in scanned.skills)
    named = sum(not skill.is_loose for skill in scanned.skills)
    accepted = f", {len(weighed.accepted)} accepted" if weighed.accepted else ""
    hint = " (--all shows remarks)" if counts[INFO] and not everything else ""
    return f"{_count(named, 'skill')}, {_count(files, 'file')}: {told or 'nothing found'}{accepted}{hint}"


def _as_dict(
    scanned: Scanned, weighed: baseline.Weighed, record: dict[str, Any], redact: Callable[[str], str]
) -> dict[str, Any]:
    return {
        "skills": [
            {"name": redact(skill.name), "origin": redact(skill.origin), "files": len(skill.entries)}
            for skill in scanned.skills
        ],
        "findings": [_one(one, redact) for one in weighed.open],
        "accepted": [
            {**_one(one, redact), "reason": redact(entry.reason), "until": entry.until}
            for one, entry in weighed.accepted
        ],
        "expired": [
            {"entry": entry.where, "reason": redact(entry.reason), "until": entry.until}
            for entry in weighed.expired
        ],
        "unread": [redact(line) for line in scanned.unread],
        "record": record or None,
        "errors": sum(one.finding.severity == ERROR for one in weighed.open),
        "warnings": sum(one.finding.severity == WARNING for one in weighed.open),
    }


def _one(one: Located, redact: Callable[[str], str]) -> dict[str, Any]:
    place = {"skill": redact(one.skill), "file": redact(one.path), "line": one.line or None}
    found = one.finding.as_dict()
    found["evidence"] = [redact(line) for line in one.finding.evidence]
    return {**found, "text": redact(one.finding.text), **place, "sha256": one.sha256 or None}


def _list_rules(as_json: bool) -> int:
    if as_json:
        say_json({"rules": [{"id": one.id, "text": one.text, "fix": one.fix} for one in RULES.values()]})
        return 0
    for one in RULES.values():
        say(f"{one.id:<22} {one.text}")
    return 0


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_LINE else text[: MAX_LINE - 3] + "..."
