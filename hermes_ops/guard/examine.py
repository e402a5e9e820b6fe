"""Whether the guard is live, proved through the host's own resolver and not by looking at our files.

In a process of the host plugins are discovered, and the host is asked what it would do with a harmless
command that a built-in rule always blocks, and with one that is always allowed. Nothing is run.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._common import copies
from .._common.config import read_config
from .._common.report import Report
from ..errors import OpsError
from .rules.canary import CANARY, RULE

PLUGIN = "hermes-ops"
MARKER = "hermes_ops_probe"
ALLOWED = f"echo {CANARY}"  # mentions the canary, and runs nothing of that name
SECONDS = 60.0
_TRUE = ("1", "true", "yes", "on")
ENABLE = f"hermes plugins enable {PLUGIN} --no-allow-tool-override"


@dataclass(frozen=True)
class Probe:
    """What the host answered: `live`, or why the guard is off; `path` is the copy that answered."""

    live: bool
    reason: str = ""
    fix: str = ""
    path: str = ""


def examine(report: Report, home: Path) -> None:
    """Add to a doctor's report whether the guard is live, and what is wrong about its policy."""
    for where, probe in probes(home):
        if probe.live:
            report.facts.append(f"guard: live {where} ({probe.path})")
        else:
            report.wrong("guard off", f"{where}: {probe.reason}" + (f": {probe.fix}" if probe.fix else ""))
    from .accepted import state

    found = state(home)
    for finding in found.findings:
        report.wrong(finding.rule.removeprefix("guard.").replace("-", " "), f"{finding.text}: {finding.fix}")
    policy = found.policy
    entries = f"rules {len(policy.rules)}, allowances {len(policy.allows)}, off {len(policy.off)}"
    held = "accepted" if found.accepted_at is not None else "built in"
    report.facts.append(f"guard policy: {held}, {policy.mode}, unattended {policy.unattended}; {entries}")


def probes(home: Path) -> list[tuple[str, Probe]]:
    """The proof in a fresh process of the host; and in this one, when it is one of the host."""
    found = [("in a fresh process of the host", fresh(home))]
    if "hermes_cli.plugins" in sys.modules:
        found.append(("in this process", here(home)))
    return found


def quick(home: Path) -> Probe:
    """The proof in this process when it is one of the host, else in a fresh one."""
    return here(home) if "hermes_cli.plugins" in sys.modules else fresh(home)


def here(home: Path) -> Probe:
    """Ask the host in whose process this runs. Never raises."""
    off = _switched_off(home)
    if off is not None:
        return off
    try:
        from hermes_cli import plugins

        plugins.discover_plugins()
        action, said = plugins.get_pre_tool_call_directive("terminal", {"command": CANARY})
        # A question of another plugin would be put to a person: it is taken as it is, and not asked.
        answer = (
            said if action == "approve" else plugins.resolve_pre_tool_block("terminal", {"command": CANARY})
        )
        allowed = plugins.get_pre_tool_call_directive("terminal", {"command": ALLOWED})
    except (Exception, SystemExit) as error:  # whatever a plugin raises
        return Probe(False, f"the host could not be asked ({type(error).__name__}: {error})")
    if action == "block" and isinstance(answer, str) and RULE.id in answer:
        if allowed[0] is not None and PLUGIN in str(allowed[1]):
            return Probe(
                False, f"it stops what it should allow: {allowed[1]}", "hermes ops guard status --self-test"
            )
        return Probe(True, path=_live_copy())
    return _why_not(home, action, answer)


def fresh(home: Path) -> Probe:
    """Ask a fresh process of the host, by `hermes ops guard probe` in it. Never raises."""
    off = _switched_off(home)
    if off is not None:
        return off
    from ..host.command import run_hermes

    try:
        said = run_hermes(home, ["ops", "guard", "probe", "--json"], SECONDS)
    except OpsError as error:
        return Probe(False, f"not known: {error}")
    if said.code is None:
        return Probe(False, f"not known: hermes did not answer within {SECONDS:g} s")
    for line in reversed(said.stdout.splitlines()):
        try:
            data = json.loads(line)
            return Probe(**data[MARKER])
        except (ValueError, TypeError, KeyError):
            continue
    last = (said.stderr.strip() or said.stdout.strip() or "nothing").splitlines()[-1]
    return Probe(
        False, f"the host does not load this plugin's command (exit code {said.code}, it said: {last[:200]})"
    )


def answer(home: Path) -> dict[str, Any]:
    """What `hermes ops guard probe --json` prints for `fresh`."""
    return {MARKER: asdict(here(home))}


def _switched_off(home: Path) -> Probe | None:
    """A reason that needs no question."""
    if os.environ.get("HERMES_SAFE_MODE", "").strip().lower() in _TRUE:
        return Probe(False, "HERMES_SAFE_MODE is set, so the host loads no plugins", "unset it")
    read, found = read_config(home), copies.find(home, PLUGIN)
    if not found:
        return Probe(False, f"the host finds no {PLUGIN} in {home}", "hermes plugins install")
    if read.known and not any(copy.active for copy in found):
        return Probe(False, "installed, but not enabled", ENABLE)
    return None


def _why_not(home: Path, action: str | None, said: str | None) -> Probe:
    """Why the canary was not blocked by us."""
    if action is not None:
        text = " ".join(str(said).split())[:240]
        if PLUGIN in text:
            return Probe(False, f"it answers, and does not judge ({action}: {text})", "hermes logs")
        return Probe(
            False,
            f"another plugin answers before it ({action}: {text}), so its own answer does not count",
            "load hermes-ops first, or disable the other",
        )
    path = _live_copy()
    if not path:
        return Probe(False, "the host has not loaded it", "hermes plugins list; hermes logs")
    if os.path.realpath(path) != os.path.realpath(Path(__file__).resolve().parents[1]):
        return Probe(False, f"another copy is loaded, {path}", "remove one of the two", path)
    from .policy import current

    if current(home).is_report:
        text = "mode is report in the accepted policy: decisions are written down and nothing is stopped"
        return Probe(False, text, 'mode = "enforce" in ops/guard.toml, then hermes ops guard accept', path)
    return Probe(
        False, "it is loaded, and does not block what it always blocks", "hermes ops guard log", path
    )


def _live_copy() -> str:
    """The folder of the copy that registered in this process, "" when none did."""
    from ..registration import MARKER as registered

    return str(getattr(sys.modules.get(registered), "path", ""))
