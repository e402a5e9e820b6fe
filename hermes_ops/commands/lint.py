"""`hermes ops lint`: whether prompts and settings of jobs survive a session without history."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import __version__
from .._common.command_line import UsageError, complain
from .._common.home import hermes_home
from .._common.redact import Redactor
from ..schedule.lint.languages import LANGUAGES
from ..schedule.lint.rules import INFO, RULES, Allowance, Hit, errors
from ..schedule.lint.targets import MAX_FILE, Linted, Target, decode, lint_jobs, lint_text, read_file
from ..speak import say, say_json

PROGRAM = "hermes ops lint"
MAX_TEXT = 300  # characters of a line of output that come from a prompt


def add_arguments(parser: Any) -> None:
    parser.add_argument("job", nargs="*", help="job ids or names; `-` reads a prompt from standard input")
    parser.add_argument(
        "--prompt-file", action="append", default=[], metavar="FILE", help="lint a file (may be repeated)"
    )
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="RULE[=REASON]",
        help="accept a rule, by id, name or kind (may be repeated)",
    )
    parser.add_argument(
        "--lang", default=",".join(LANGUAGES), help="languages of the wording rules: %(default)s"
    )
    parser.add_argument("--strict", action="store_true", help="warnings count too")
    parser.add_argument("--all", action="store_true", help="show remarks and what is allowed too")
    parser.add_argument("--rules", action="store_true", help="list the rules")
    parser.add_argument(
        "--acknowledge", action="store_true", help="take the prompts as they are now for acknowledged"
    )
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--text", action="store_true", help="lines of text (the default)")
    shape.add_argument("--json", action="store_true", help="print one JSON object")
    shape.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0")


def run(arguments: Any) -> int:
    if arguments.rules:
        return _list_rules(arguments.json)
    allow = [_allowance(text) for text in arguments.allow]
    languages = _languages(arguments.lang)
    if arguments.acknowledge:
        return _acknowledge(arguments)
    linted = _lint(arguments, languages, allow)
    redact = Redactor().text
    if arguments.sarif:
        from ..schedule.lint.sarif import as_sarif

        print(json.dumps(as_sarif(linted.targets, __version__, redact), indent=1))
    elif arguments.json:
        say_json(_as_dict(linted, redact))
    else:
        _print(linted, redact, arguments.all, arguments.strict)
    for profile, error in linted.unreadable:
        complain(PROGRAM, f"profile {profile}: {error}", 1)
    bad = any(errors(target.hits, strict=arguments.strict) for target in linted.targets)
    return 1 if bad or linted.unreadable else 0


def _lint(arguments: Any, languages: tuple[str, ...], allow: list[Allowance]) -> Linted:
    named = [name for name in arguments.job if name != "-"]
    texts = [(path, read_file(Path(path))) for path in arguments.prompt_file]
    if "-" in arguments.job:
        texts.append(("-", decode("standard input", sys.stdin.buffer.read(MAX_FILE + 1))))
    linted = Linted()
    if named or not texts:
        linted = lint_jobs(hermes_home(), time.time(), named, languages=languages, allow=allow)
    linted.targets += (lint_text(name, text, languages=languages, allow=allow) for name, text in texts)
    return linted


def _print(linted: Linted, redact: Callable[[str], str], everything: bool, strict: bool) -> None:
    counts: Counter[str] = Counter()
    for target in linted.targets:
        for hit in target.hits:
            counts["allowed" if hit.allowed is not None else hit.severity] += 1
            if everything or (hit.allowed is None and hit.severity != INFO):
                _print_hit(target, hit, redact)
    what = f"{len(linted.targets)} prompt{'s' if len(linted.targets) != 1 else ''}"
    told = ", ".join(
        f"{counts[name]} {label if counts[name] != 1 else label.rstrip('s')}"
        for name, label in (
            ("error", "errors"),
            ("warning", "warnings"),
            ("info", "remarks"),
            ("allowed", "allowed"),
        )
        if counts[name]
    )
    verdict = any(errors(target.hits, strict=strict) for target in linted.targets)
    hidden = " (--all shows remarks)" if counts["info"] and not everything else ""
    unread = ", ".join(profile for profile, _ in linted.unreadable)
    fine = f"nothing is known of the jobs of profile {unread}" if unread else "fine"
    say(f"{what}: {told or 'nothing found'}{hidden}; {'will not survive' if verdict else fine}")


def _print_hit(target: Target, hit: Hit, redact: Callable[[str], str]) -> None:
    place = target.name if hit.line is None else f"{target.name}:{hit.line}:{hit.column}"
    name = f" ({redact(target.job.name)})" if target.job is not None else ""
    say(f"{place}{name}: {hit.severity} {hit.rule.id} {hit.rule.name}: {_cut(redact(hit.text))}")
    if hit.allowed is not None:
        say(f"    allowed: {_cut(redact(hit.allowed))}")
    else:
        say(f"    instead: {_cut(redact(hit.instead))}")


def _as_dict(linted: Linted, redact: Callable[[str], str]) -> dict[str, Any]:
    return {
        "targets": [
            {
                "name": target.name,
                "profile": target.profile or None,
                "job": target.job.id if target.job is not None else None,
                "job_name": redact(target.job.name) if target.job is not None else None,
                "findings": [
                    {
                        "rule": hit.rule.id,
                        "name": hit.rule.name,
                        "kind": hit.rule.kind,
                        "severity": hit.severity,
                        "line": hit.line,
                        "column": hit.column,
                        "text": redact(hit.text),
                        "excerpt": redact(hit.excerpt),
                        "instead": redact(hit.instead),
                        "allowed": None if hit.allowed is None else redact(hit.allowed),
                    }
                    for hit in target.hits
                ],
            }
            for target in linted.targets
        ],
        "unreadable": [{"profile": name, "why": str(error)} for name, error in linted.unreadable],
        "errors": sum(len(errors(target.hits)) for target in linted.targets),
    }


def _acknowledge(arguments: Any) -> int:
    from ..schedule.lint.watch import acknowledge, fingerprint

    named = [name for name in arguments.job if name != "-"]
    linted = lint_jobs(hermes_home(), time.time(), named)
    seen = {
        target.name: fingerprint(target.job.prompt)
        for target in linted.targets
        if target.job is not None and target.job.prompt and not target.job.no_agent
    }
    before = acknowledge(hermes_home(), seen)
    if arguments.json:
        say_json({"acknowledged": sorted(seen), "changed": sorted(before)})
    else:
        say(f"{len(seen)} prompt{'s' if len(seen) != 1 else ''} acknowledged, {len(before)} had changed")
    for profile, error in linted.unreadable:
        complain(PROGRAM, f"profile {profile}: {error}", 1)
    return 1 if linted.unreadable else 0


def _list_rules(as_json: bool) -> int:
    if as_json:
        say_json(
            {
                "rules": [
                    {
                        "id": one.id,
                        "name": one.name,
                        "severity": one.severity,
                        "text": one.text,
                        "instead": one.instead,
                    }
                    for one in RULES.values()
                ]
            }
        )
        return 0
    for one in RULES.values():
        say(f"{one.id}  {one.severity:<7}  {one.name:<22}  {one.text}")
    return 0


def _allowance(text: str) -> Allowance:
    rule, _, reason = text.partition("=")
    allowance = Allowance(rule.strip().lower(), reason.strip() or "--allow")
    if not allowance.known:
        raise UsageError(
            f"--allow {rule!r}: no rule of that id, name or kind; `{PROGRAM} --rules` lists them"
        )
    return allowance


def _languages(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name for part in text.split(",") if (name := part.strip().lower())))
    wrong = [name for name in names if name not in LANGUAGES]
    if wrong or not names:
        raise UsageError(f"--lang {text!r}: expected some of {','.join(LANGUAGES)}")
    return names


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "\u2026"
