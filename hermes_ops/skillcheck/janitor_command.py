"""`hermes ops skills janitor`: what is broken in the skills that are there; silent when nothing is."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from .._common.command_line import UsageError, complain
from .._common.home import hermes_home
from ..core.finding import Finding
from ..speak import say, say_json

PROGRAM = "hermes ops skills janitor"
_ORDER = {"critical": 0, "error": 1, "warning": 2, "info": 3}


def add_janitor_arguments(parser: Any) -> None:
    """Add the options of `skills janitor` to a parser."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--skills-dir",
        action="append",
        default=[],
        metavar="DIR",
        help="check the skills below DIR and no others (may be repeated)",
    )
    where.add_argument("--profile", metavar="NAME", help="only this profile")
    parser.add_argument("--home", metavar="DIR", help="the home of Hermes (default: HERMES_HOME, ~/.hermes)")
    parser.add_argument("--no-scripts", action="store_true", help="compile no scripts")
    parser.add_argument("--all", action="store_true", help="show remarks too")
    parser.add_argument("--strict", action="store_true", help="exit 1 on a warning too")
    parser.add_argument("--quiet", action="store_true", help="findings alone, no counts and no next steps")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run_janitor(arguments: Any) -> int:
    """Carry out `skills janitor`; returns the exit code.

    0: no error (with --strict: no warning either), 1: one, or something that could not be read.
    Raises OpsError when nothing was checked, UsageError for a profile that is none.
    """
    from . import janitor

    home = Path(os.path.abspath(os.path.expanduser(arguments.home))) if arguments.home else hermes_home()
    with_scripts = not arguments.no_scripts
    if arguments.skills_dir:
        folders = [Path(os.path.expanduser(text)) for text in arguments.skills_dir]
        cleaned = janitor.of_folders(folders, home, scripts=with_scripts)
    else:
        cleaned = janitor.of_homes(_homes(home, arguments.profile), scripts=with_scripts)
    findings = sorted(cleaned.findings, key=lambda one: (_ORDER[one.severity], one.where, one.rule))
    accepted = _accepted(home, findings)
    findings = [one for one in findings if one.id not in accepted]
    serious = [one for one in findings if one.severity != "info"]
    remarks = len(findings) - len(serious)
    counts = f"{_count(cleaned.skills, 'skill')}, {_count(cleaned.scripts, 'script')}"
    if arguments.json:
        say_json(
            {
                "skills": cleaned.skills,
                "scripts": cleaned.scripts,
                "findings": [one.as_dict() for one in findings],
                "accepted": [{"id": name, "reason": reason} for name, reason in sorted(accepted.items())],
                "blind": [{"key": one.key, "text": one.text} for one in cleaned.blind],
            }
        )
    else:
        shown = findings if arguments.all else serious
        for one in shown:
            _print(one, arguments.quiet)
        if not arguments.quiet:
            more = (
                f"; {_count(remarks, 'remark')} (--all shows them)" if remarks and not arguments.all else ""
            )
            summary = f"{counts}: {_count(len(serious), 'finding') if serious else 'nothing found'}{more}"
            if shown:
                say(summary)
            elif sys.stderr.isatty():
                complain(PROGRAM, summary, 0)
    for one in cleaned.blind:
        complain(PROGRAM, one.text, 1)
    counted = {"error", "critical", "warning"} if arguments.strict else {"error", "critical"}
    return 1 if cleaned.blind or any(one.severity in counted for one in serious) else 0


def _homes(home: Path, name: str | None) -> list[tuple[str, Path]]:
    from ..host.profiles import profiles

    every = profiles(home)
    chosen = [one for one in every if name is None or one.name == name]
    if not chosen:
        raise UsageError(f"no profile {name!r}; there are: {', '.join(one.name for one in every)}")
    return [(one.name, one.home) for one in chosen]


def _accepted(home: Path, findings: list[Finding]) -> dict[str, str]:
    import time

    from ..core import suppress
    from ..core.finding import sort

    rules = suppress.load(home / "ops")
    return {one.id: reason for one, reason in sort(findings, rules, time.time()).accepted}


def _print(one: Finding, quiet: bool) -> None:
    say(f"{one.severity:<8} {one.where}: {one.text}")
    if one.fix and not quiet:
        say(f"         {one.fix}")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
