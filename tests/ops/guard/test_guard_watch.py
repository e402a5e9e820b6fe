"""The guard's watcher: silent when the guard is on by an accepted policy, else one finding for each fault."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from hermes_ops._common import config
from hermes_ops.core.finding import Reading
from hermes_ops.core.watch import Context
from hermes_ops.guard import accepted, decisions, policy, watch

pytest.importorskip("yaml", reason="without PyYAML the config is unknown, and whether the guard is on too")

NOW = 1_800_000_000.0


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "ops").mkdir()
    enable(tmp_path, "[hermes-ops]")
    return tmp_path


def enable(home: Path, enabled: str, disabled: str = "[]") -> None:
    (home / "config.yaml").write_text(f"plugins: {{enabled: {enabled}, disabled: {disabled}}}\n")
    config._cache.clear()


def look(home: Path) -> Reading:
    return watch.watch(Context(home, NOW))


def ids(home: Path) -> list[str]:
    return [finding.id for finding in look(home).findings]


def log(home: Path, *records: dict | str) -> None:
    path = decisions.directory(home) / decisions.NAME
    path.parent.mkdir(exist_ok=True)
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    path.write_text("".join(f"{line}\n" for line in lines))


def block(at: float = NOW - 60, rule: str = "files.root", answer: str = "block") -> dict:
    return {"at": at, "answer": answer, "tool": "terminal", "rules": [rule], "command": "x"}


def test_all_is_well_without_a_policy_and_with_an_accepted_one(home: Path):
    assert look(home) == Reading()
    policy.path_of(home).write_text("unattended = 'ask'\n")
    accepted.accept(home, NOW)
    found = look(home)
    assert found.findings == () and found.blind == ()


def test_every_acceptance_is_told_once_and_how_it_was_made(home: Path):
    policy.path_of(home).write_text("unattended = 'ask'\n")
    accepted.accept(home, NOW, "without a terminal, under sh")
    [first] = look(home).events
    assert first.id.startswith("guard.accepted:default/") and "without a terminal, under sh" in first.text
    assert look(home).events == (first,)
    # A second one hides no first one, and the copy is told without the log.
    accepted.accept(home, NOW + 1, "at a terminal")
    assert len(look(home).events) == 2 and first in look(home).events
    (decisions.directory(home) / decisions.NAME).unlink()
    [last] = look(home).events
    assert "at a terminal" in last.text and last.id != first.id


def test_a_policy_that_stops_nothing_is_told(home: Path):
    policy.path_of(home).write_text("mode = 'report'\n")
    accepted.accept(home, NOW)
    assert ids(home) == ["guard.report-mode:default/mode"]


def test_a_policy_that_vanished_with_all_of_its_files_is_told(home: Path):
    policy.path_of(home).write_text("unattended = 'ask'\n")
    accepted.accept(home, NOW)
    shutil.rmtree(home / "ops")
    assert ids(home) == ["guard.policy-seal:default/policy"]


def test_a_profile_that_is_used_without_the_guard_is_told(home: Path):
    other = home / "profiles" / "work"
    other.mkdir(parents=True)
    assert look(home) == Reading()
    (other / "state.db").touch()
    [finding] = look(home).findings
    assert (finding.id, finding.severity) == ("guard.off:work/plugin", "warning")
    assert "profile work" in finding.where and "hermes -p work plugins enable" in finding.fix
    enable(other, "[hermes-ops]")
    assert look(home) == Reading()
    (other / "config.yaml").write_text("a: [")
    config._cache.clear()
    assert [blind.covers for blind in look(home).blind] == ["guard.off:work/plugin"]


def test_a_policy_that_is_not_the_accepted_one_is_told(home: Path):
    policy.path_of(home).write_text("mode = 'report'\n")
    assert ids(home) == ["guard.policy-changed:default/policy"]
    policy.path_of(home).write_text("mode = ")
    assert ids(home) == ["guard.policy-invalid:default/policy"]
    accepted.folder(home).mkdir()
    accepted.key_of(home).write_bytes(b"x" * 32)
    assert ids(home) == ["guard.policy-seal:default/policy", "guard.policy-invalid:default/policy"]


def test_the_policy_of_every_profile_is_looked_at(home: Path):
    other = home / "profiles" / "work"
    (other / "ops").mkdir(parents=True)
    policy.path_of(other).write_text("mode = 'report'\n")
    [finding] = look(home).findings
    assert finding.id == "guard.policy-changed:work/policy" and "profile work" in finding.where


@pytest.mark.parametrize(
    ("enabled", "disabled", "off"),
    [
        ("[hermes-ops]", "[]", False),
        ("[suite/hermes_ops]", "[]", False),
        ("[other]", "[]", True),
        ("[]", "[]", True),
        ("[hermes-ops]", "[hermes-ops]", True),
        ("text", "[]", True),
    ],
)
def test_a_plugin_that_the_host_is_not_told_to_load_is_told(
    home: Path, enabled: str, disabled: str, off: bool
):
    enable(home, enabled, disabled)
    found = look(home)
    assert [finding.id for finding in found.findings] == (["guard.off:plugin"] if off else [])
    if disabled != "[]":
        assert "plugins.disabled" in found.findings[0].text


def test_a_config_that_cannot_be_read_leaves_it_unknown(home: Path):
    (home / "config.yaml").write_text("a: [")
    config._cache.clear()
    [blind] = look(home).blind
    assert blind.covers == "guard.off:plugin" and ids(home) == []


def test_a_burst_of_blocks_is_one_finding(home: Path):
    log(
        home,
        *[block() for _ in range(19)],
        block(answer="ask"),
        block(NOW - 4000),
        block(rule="guard.canary"),
    )
    assert ids(home) == []
    odd = [block(at=float("nan")), block(at=10**400), block(rule="x") | {"rules": 5}, "[" * 100_000]
    log(home, *[block() for _ in range(19)], "no json", '{"answer": "block"}', *odd, block(rule="b.c"))
    [finding] = look(home).findings
    assert finding.id == "guard.burst:default/blocks"
    assert "20 calls" in finding.text and finding.evidence == ("by rule: files.root 19, b.c 1",)


def test_the_number_of_a_burst_is_a_setting(home: Path):
    (home / "config.yaml").write_text("plugins: {enabled: [hermes-ops]}\nops: {guard: {burst: 2}}\n")
    config._cache.clear()
    log(home, block(), block())
    assert ids(home) == ["guard.burst:default/blocks"]


def test_only_the_end_of_a_long_log_is_read(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(watch, "TAIL", 1000)
    log(home, *[block() for _ in range(500)])
    assert ids(home) == []


def test_a_log_that_cannot_be_written_is_told(home: Path):
    path = decisions.directory(home) / decisions.NAME
    path.mkdir(parents=True)
    found = look(home)
    assert [finding.id for finding in found.findings] == ["guard.log-unwritable:default/log"]
    assert [blind.covers for blind in found.blind] == ["guard.burst:default/"]
    path.rmdir()
    path.symlink_to(home / "elsewhere")
    assert ids(home) == ["guard.log-unwritable:default/log"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_told(home: Path):
    decisions.directory(home).mkdir()
    decisions.directory(home).chmod(0o500)
    try:
        assert "guard.log-unwritable:default/log" in ids(home)
    finally:
        decisions.directory(home).chmod(0o700)
