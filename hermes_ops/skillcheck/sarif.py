"""Findings of a scan as SARIF 2.1.0, for editors and code review."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .baseline import Weighed
from .rules import RULES, Located

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


def _rule(rule_id: str, text: str, fix: str) -> dict[str, Any]:
    name = "".join(part.capitalize() for part in rule_id.replace("-", ".").split("."))
    return {"id": rule_id, "name": name, "shortDescription": {"text": text}, "help": {"text": fix}}


def _result(one: Located, redact: Callable[[str], str], places: dict[str, str]) -> dict[str, Any]:
    finding = one.finding
    shown = "; ".join((finding.text, *finding.evidence))
    uri = "/".join(part for part in (places.get(one.skill, one.skill), one.path) if part)
    place: dict[str, Any] = {"artifactLocation": {"uri": redact(uri)}}
    if one.line:
        place["region"] = {"startLine": one.line}
    return {
        "ruleId": finding.rule,
        "ruleIndex": _ORDER[finding.rule],
        "level": _LEVELS[finding.severity],
        "message": {"text": redact(f"{shown}; {finding.fix}" if finding.fix else shown)},
        "locations": [{"physicalLocation": place}],
        "partialFingerprints": {"finding/v1": finding.id},
    }
