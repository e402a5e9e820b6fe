"""Findings as SARIF 2.1.0, for editors and code review."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .rules import RULES, Hit, Rule
from .targets import Target

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def as_sarif(targets: Iterable[Target], version: str, redact: Callable[[str], str]) -> dict[str, Any]:
    """One run with all rules and every hit; what was allowed is there as suppressed, with its reason."""
    order = {rule_id: index for index, rule_id in enumerate(RULES)}
    results = [_result(target, hit, order[hit.rule.id], redact) for target in targets for hit in target.hits]
    driver = {
        "name": "hermes ops lint",
        "semanticVersion": version,
        "rules": [_rule(rule) for rule in RULES.values()],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}],
    }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": "".join(part.capitalize() for part in rule.name.replace("-", ".").split(".")),
        "shortDescription": {"text": rule.text},
        "help": {"text": rule.instead},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(target: Target, hit: Hit, index: int, redact: Callable[[str], str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": hit.rule.id,
        "ruleIndex": index,
        "level": _LEVELS[hit.severity],
        "message": {"text": redact(f"{hit.text}; instead: {hit.instead}")},
        "locations": [_location(target, hit, redact)],
    }
    if hit.allowed is not None:
        result["suppressions"] = [{"kind": "inSource", "justification": redact(hit.allowed)}]
    return result


def _location(target: Target, hit: Hit, redact: Callable[[str], str]) -> dict[str, Any]:
    if target.job is not None:
        name = redact(f"{target.job.name} ({target.name})")
        return {"logicalLocations": [{"name": name, "fullyQualifiedName": target.name, "kind": "resource"}]}
    uri = target.path.as_posix() if target.path is not None else "stdin"
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if hit.line is not None:
        place["region"] = {"startLine": hit.line, "startColumn": hit.column or 1}
    return {"physicalLocation": place}
