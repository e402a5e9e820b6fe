"""What a doctor says, and what it asks of every install: is a copy there, enabled, and the only one?"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .copies import Copy


@dataclass
class Report:
    """What doctor found. ``status`` is fine, or the first thing that is wrong.

    ``works`` says in two words what is fine: "recording works".
    """

    works: str
    status: str = "fine"
    findings: list[tuple[str, str]] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    line: str = ""

    @property
    def ok(self) -> bool:
        return self.status == "fine"

    def wrong(self, status: str, text: str) -> None:
        if self.ok:
            self.status = status
        self.findings.append((status, text))

    def lines(self) -> list[str]:
        said = [f"{self.status}: {self.works}" if self.ok else f"not fine: {self.status}"]
        said += [f"  {status}: {text}" for status, text in self.findings]
        said += [f"  {fact}" for fact in self.facts]
        return [*said, f"For a bug report: {self.line}"]

    def as_dict(self) -> dict[str, Any]:
        findings = [{"status": status, "text": text} for status, text in self.findings]
        return {"status": self.status, "findings": findings, "facts": self.facts, "line": self.line}


def examine_installation(
    report: Report, plugin: str, found: list[Copy], here: Path, *, is_config_known: bool
) -> None:
    """Add what the host would make of the copies of a plugin; ``here`` is the folder of this one."""
    if os.environ.get("HERMES_SAFE_MODE", "").lower() in ("1", "true", "yes", "on"):
        report.wrong("safe mode", "HERMES_SAFE_MODE is set: the host loads no plugins; unset it")
    if not found:
        report.wrong(
            "not installed",
            f"the host finds no {plugin} (this one lies at {here}); see `hermes plugins install`",
        )
        return
    for copy in found:
        state = "active" if copy.active else "hidden by a later copy" if copy.hidden else "not enabled"
        report.facts.append(f"copy ({copy.kind}, {copy.key}, {state}): {copy.path}")
    if len([copy for copy in found if copy.enabled and not copy.disabled]) > 1:
        paths = " and ".join(copy.path for copy in found)
        report.wrong("two copies", f"installed more than once, only one works: {paths}; remove all but one")
    if is_config_known and not any(copy.active for copy in found):
        command = f"hermes plugins enable {plugin} --no-allow-tool-override"
        report.wrong("disabled", f"installed, but not enabled: {command}")
