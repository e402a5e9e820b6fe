"""Doctor asks the host whether the guard is live, and says why when it is not."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

import pytest

from hermes_ops import guard
from hermes_ops._common import config, copies
from hermes_ops._common.report import Report
from hermes_ops.guard import accepted, examine, policy
from hermes_ops.guard.examine import Probe
from hermes_ops.guard.rules.canary import CANARY
from hermes_ops.host import command
from hermes_ops.host.command import Said
from hermes_ops.registration import MARKER

HERE = str(Path(examine.__file__).resolve().parents[1])
OURS = ("block", f"BLOCKED by hermes-ops: {CANARY}. Why: it is (guard.canary).")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which one copy is installed and enabled."""
    (tmp_path / "ops").mkdir()
    monkeypatch.delenv("HERMES_SAFE_MODE", raising=False)
    active = copies.Copy("folder", "hermes-ops", HERE, True, False)
    monkeypatch.setattr(copies, "find", lambda home, name: [active])
    config._cache.clear()
    return tmp_path


class Host(types.ModuleType):
    """The host's resolver: what its hooks answer to the canary and to the command that mentions it."""

    def __init__(self, canary: tuple, mention: tuple = (None, None)) -> None:
        super().__init__("hermes_cli.plugins")
        self.answers = {CANARY: canary, examine.ALLOWED: mention}
        self.asked: list[str] = []

    def discover_plugins(self) -> None:
        pass

    def get_pre_tool_call_directive(self, tool: str, args: dict) -> tuple:
        assert tool == "terminal"
        return self.answers[args["command"]]

    def resolve_pre_tool_block(self, tool: str, args: dict) -> str | None:
        self.asked.append(args["command"])
        action, said = self.answers[args["command"]]
        return said if action == "block" else None


def hosted(monkeypatch: pytest.MonkeyPatch, host: Host, path: str | None = HERE) -> Host:
    package = types.ModuleType("hermes_cli")
    package.plugins = host
    monkeypatch.setitem(sys.modules, "hermes_cli", package)
    monkeypatch.setitem(sys.modules, "hermes_cli.plugins", host)
    if path is None:
        monkeypatch.delitem(sys.modules, MARKER, raising=False)
    else:
        marker = types.ModuleType(MARKER)
        marker.path = path
        monkeypatch.setitem(sys.modules, MARKER, marker)
    return host


def test_our_own_block_proves_it_live(home: Path, monkeypatch: pytest.MonkeyPatch):
    host = hosted(monkeypatch, Host(OURS))
    assert examine.here(home) == Probe(True, path=HERE)
    assert host.asked == [CANARY]


@pytest.mark.parametrize(
    ("canary", "mention", "said"),
    [
        ((None, None), (None, None), "does not block what it always blocks"),
        (
            ("block", "no commands today"),
            (None, None),
            "another plugin answers before it (block: no commands today)",
        ),
        (("approve", "really?"), (None, None), "another plugin answers before it (approve: really?)"),
        (("block", "hermes-ops: the guard failed"), (None, None), "it answers, and does not judge"),
        (OURS, ("approve", "hermes-ops asks"), "it stops what it should allow"),
    ],
)
def test_any_other_answer_is_off_with_the_reason(
    home: Path, monkeypatch: pytest.MonkeyPatch, canary: tuple, mention: tuple, said: str
):
    host = hosted(monkeypatch, Host(canary, mention))
    probe = examine.here(home)
    assert not probe.live and said in probe.reason
    # A question of somebody else is not put to a person.
    assert host.asked == ([] if canary[0] == "approve" else [CANARY])


def test_a_plugin_that_ends_the_process_is_told(home: Path, monkeypatch: pytest.MonkeyPatch):
    host = hosted(monkeypatch, Host(OURS))

    def ends(tool: str, args: dict) -> tuple:
        raise SystemExit(3)

    monkeypatch.setattr(host, "get_pre_tool_call_directive", ends)
    probe = examine.here(home)
    assert not probe.live and "could not be asked (SystemExit: 3)" in probe.reason


def test_a_guard_that_ends_the_process_while_it_is_loaded_is_a_question(monkeypatch: pytest.MonkeyPatch):
    class Ending:
        """Finds the guard, and ends the process instead of loading it."""

        def find_spec(self, name: str, path: object = None, target: object = None) -> None:
            if name == "hermes_ops.guard.hook":
                raise SystemExit(3)

    monkeypatch.delitem(sys.modules, "hermes_ops.guard.hook", raising=False)
    monkeypatch.delattr("hermes_ops.guard.hook", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Ending(), *sys.meta_path])
    answer = guard.pre_tool_call("terminal", args={"command": "ls"})
    assert answer is not None and answer["action"] in ("approve", "block")
    assert "cannot be loaded (SystemExit)" in answer["message"]


def test_another_plugin_that_asks_about_everything_is_not_our_fault(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    hosted(monkeypatch, Host(OURS, ("approve", "I always ask")))
    assert examine.here(home).live


def test_a_plugin_that_was_not_loaded_or_another_copy_is_told(home: Path, monkeypatch: pytest.MonkeyPatch):
    hosted(monkeypatch, Host((None, None)), None)
    assert "has not loaded it" in examine.here(home).reason
    hosted(monkeypatch, Host((None, None)), "/elsewhere/hermes_ops")
    assert "another copy is loaded, /elsewhere/hermes_ops" in examine.here(home).reason


def test_report_mode_is_off(home: Path, monkeypatch: pytest.MonkeyPatch):
    policy.path_of(home).write_text("mode = 'report'\n")
    accepted.accept(home, 1.0)
    hosted(monkeypatch, Host((None, None)))
    assert "mode is report" in examine.here(home).reason


def test_a_host_that_raises_is_no_proof(home: Path, monkeypatch: pytest.MonkeyPatch):
    host = hosted(monkeypatch, Host(OURS))
    monkeypatch.setattr(host, "discover_plugins", lambda: 1 / 0)
    assert "could not be asked (ZeroDivisionError" in examine.here(home).reason


@pytest.mark.parametrize("ask", [examine.here, examine.fresh])
def test_what_needs_no_question_is_said_without_one(home: Path, monkeypatch: pytest.MonkeyPatch, ask):
    monkeypatch.setattr(command, "run_hermes", lambda *_, **__: pytest.fail("started"))
    monkeypatch.setenv("HERMES_SAFE_MODE", "1")
    assert "HERMES_SAFE_MODE" in ask(home).reason
    monkeypatch.delenv("HERMES_SAFE_MODE")
    off = copies.Copy("folder", "hermes-ops", HERE, True, True)
    monkeypatch.setattr(copies, "find", lambda home, name: [off])
    assert ask(home) == Probe(False, "installed, but not enabled", examine.ENABLE)
    monkeypatch.setattr(copies, "find", lambda home, name: [])
    assert "finds no hermes-ops" in ask(home).reason


@pytest.mark.parametrize(
    ("said", "live", "reason"),
    [
        (Said(0, 'noise\n{"hermes_ops_probe": {"live": true, "path": "/p"}, "schema": 1}\n', ""), True, ""),
        (Said(1, '{"hermes_ops_probe": {"live": false, "reason": "r"}}', ""), False, "r"),
        (
            Said(2, "", "usage\ninvalid choice: 'ops'"),
            False,
            "does not load this plugin's command (exit code 2",
        ),
        (Said(0, "{}", ""), False, "does not load this plugin's command"),
        (Said(0, '{"hermes_ops_probe": {"unknown": 1}}', ""), False, "does not load this plugin's command"),
        (Said(None, "", ""), False, "did not answer within"),
    ],
)
def test_the_answer_of_a_fresh_process(
    home: Path, monkeypatch: pytest.MonkeyPatch, said: Said, live: bool, reason: str
):
    monkeypatch.setattr(command, "run_hermes", lambda *_, **__: said)
    probe = examine.fresh(home)
    assert probe.live is live and reason in probe.reason


def test_a_report_tells_both_processes_and_the_policy(home: Path, monkeypatch: pytest.MonkeyPatch):
    answer = json.dumps({"hermes_ops_probe": {"live": True, "path": "/p"}})
    monkeypatch.setattr(command, "run_hermes", lambda *_, **__: Said(0, answer, ""))
    hosted(monkeypatch, Host(("block", "mine")))
    policy.path_of(home).write_text("mode = 'report'\n")
    report = Report("it works")
    examine.examine(report, home)
    assert report.facts[0] == "guard: live in a fresh process of the host (/p)"
    assert [status for status, _ in report.findings] == ["guard off", "policy changed"]
    assert report.facts[-1].startswith("guard policy: built in, enforce, unattended block; rules 0")
