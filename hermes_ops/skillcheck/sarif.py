"""Findings of a scan as SARIF 2.1.0, for editors and code review."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from .baseline import Weighed
from .rules import RULES, Located, spelled

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_ORDER = {rule_id: index for index, rule_id in enumerate(RULES)}


def as_sarif(
    weighed: Weighed, version: str, redact: Callable[[str], str], places: dict[str, str]
) -> dict[str, Any]:
    """One run with all rules and every finding; what is accepted is there as suppressed, with its reason.

    ``places`` maps a skill to the folder or address that its files lie below.
    """
    results = [_result(one, redact, places) for one in weighed.open]
    for one, entry in weighed.accepted:
        result = _result(one, redact, places)
        result["suppressions"] = [{"kind": "external", "justification": redact(entry.reason)}]
        results.append(result)
    driver = {
        "name": "hermes ops skills scan",
        "semanticVersion": version,
        "rules": [_rule(rule.id, rule.text, rule.fix) for rule in RULES.values()],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _uri(origin: str, path: str, redact: Callable[[str], str]) -> str:
    """Where a file lies as a URI: bytes that may not stand in one are percent signs."""
    plain = redact("/".join(part for part in (origin, path) if part))
    scheme = re.match(r"https?://", plain)
    begins = scheme[0] if scheme else "file://" if plain.startswith("/") else ""
    rest = plain[len(scheme[0]) :] if scheme else plain
    return begins + quote(rest.encode("utf-8", _names_bytes(rest)), safe="/:@!$&'()*+,;=~")


def _names_bytes(text: str) -> str:
    """The error handler that gives the bytes of a name of a file back."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return "replace"
    return "surrogateescape"


def _rule(rule_id: str, text: str, fix: str) -> dict[str, Any]:
    name = "".join(part.capitalize() for part in rule_id.replace("-", ".").split("."))
    return {"id": rule_id, "name": name, "shortDescription": {"text": text}, "help": {"text": fix}}


def _result(one: Located, redact: Callable[[str], str], places: dict[str, str]) -> dict[str, Any]:
    finding = one.finding
    shown = "; ".join((finding.text, *finding.evidence))
    place: dict[str, Any] = {
        "artifactLocation": {"uri": _uri(places.get(one.skill, one.skill), one.path, redact)}
    }
    if one.line:
        place["region"] = {"startLine": one.line}
    return {
        "ruleId": finding.rule,
        "ruleIndex": _ORDER[finding.rule],
        "level": _LEVELS[finding.severity],
        "message": {"text": spelled(redact(f"{shown}; {finding.fix}" if finding.fix else shown))},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"finding/v1": finding.id},
    }
