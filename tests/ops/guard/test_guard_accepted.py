"""The policy in force is the last one a person accepted, whatever becomes of the files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hermes_ops.errors import Unreadable
from hermes_ops.guard import accepted, accepting, decisions, policy

STRICT = "[[rule]]\nid = 'deploy'\nverdict = 'block'\nargv = 'deploy **'\nreason = 'by the pipeline'\n"
LOOSE = "mode = 'report'\nunattended = 'allow'\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "ops").mkdir()
    return tmp_path


def write(home: Path, text: str) -> None:
    policy.path_of(home).write_text(text, "utf-8")


def accept(home: Path, text: str) -> None:
    write(home, text)
    accepted.accept(home, 1000.0)


def rules(home: Path) -> list[str]:
    return [finding.rule for finding in accepted.state(home).findings]


def ids(found: policy.Policy) -> list[str]:
    return [rule.id for rule in found.written]


def test_without_a_file_the_built_in_rules_hold_and_nothing_is_wrong(home: Path):
    assert policy.current(home) is policy.BUILT_IN
    assert rules(home) == [] and accepted.is_untouched(home)


def test_a_file_that_was_never_accepted_does_nothing_and_is_told(home: Path):
    write(home, LOOSE)
    assert policy.current(home) is policy.BUILT_IN
    assert rules(home) == ["guard.policy-changed"] and not accepted.is_untouched(home)
    assert "never accepted" in accepted.state(home).findings[0].text


def test_what_is_accepted_holds(home: Path):
    accept(home, STRICT)
    assert ids(policy.current(home)) == ["policy.deploy"]
    assert accepted.state(home).accepted_at == 1000.0
    assert rules(home) == [] and accepted.is_untouched(home)


def test_a_changed_file_changes_nothing_until_it_is_accepted(home: Path):
    accept(home, STRICT)
    write(home, LOOSE)
    assert ids(policy.current(home)) == ["policy.deploy"]
    assert rules(home) == ["guard.policy-changed"] and not accepted.is_untouched(home)
    accepted.accept(home, 2000.0)
    assert policy.current(home).is_report
    assert rules(home) == []


@pytest.mark.parametrize("text", ["mode = ", "mode = 'never'", STRICT + "match = ['ls']", "\0", "[" * 5000])
def test_an_invalid_file_changes_nothing_and_is_told(home: Path, text: str):
    accept(home, STRICT)
    write(home, text)
    assert ids(policy.current(home)) == ["policy.deploy"]
    assert rules(home) == ["guard.policy-invalid"]


def test_a_file_that_is_no_text_is_invalid(home: Path):
    policy.path_of(home).write_bytes(b"\xff\xfe\x00")
    assert rules(home) == ["guard.policy-invalid"] and not accepted.is_untouched(home)


def test_a_file_that_vanished_changes_nothing_and_is_told(home: Path):
    accept(home, STRICT)
    policy.path_of(home).unlink()
    assert ids(policy.current(home)) == ["policy.deploy"]
    assert rules(home) == ["guard.policy-changed"]
    assert "is gone" in accepted.state(home).findings[0].text


def test_accepting_no_file_is_accepting_the_built_in_rules(home: Path):
    accept(home, STRICT)
    policy.path_of(home).unlink()
    accepted.accept(home, 2000.0)
    assert policy.current(home) == policy.BUILT_IN
    assert rules(home) == [] and accepted.is_untouched(home)


def tamper(home: Path, **changes: object) -> None:
    copy = accepted.copy_of(home)
    copy.write_text(json.dumps({**json.loads(copy.read_text()), **changes}))


BREAKS = {
    "text": lambda home: tamper(home, text=LOOSE),
    "seal": lambda home: tamper(home, seal="0" * 64),
    "no seal": lambda home: tamper(home, seal=None),
    "time": lambda home: tamper(home, at=5.0),
    "types": lambda home: tamper(home, text=7),
    "format": lambda home: tamper(home, format=99),
    "not json": lambda home: accepted.copy_of(home).write_text("{"),
    "a list": lambda home: accepted.copy_of(home).write_text("[]"),
    "copy gone": lambda home: accepted.copy_of(home).unlink(),
    "key gone": lambda home: accepted.key_of(home).unlink(),
    "other key": lambda home: accepted.key_of(home).write_bytes(b"x" * 32),
    "short key": lambda home: accepted.key_of(home).write_bytes(b"x"),
    "a folder": lambda home: (accepted.copy_of(home).unlink(), accepted.copy_of(home).mkdir()),
}


@pytest.mark.parametrize("how", BREAKS)
def test_a_copy_whose_seal_does_not_fit_loosens_nothing(home: Path, how: str):
    accept(home, STRICT)
    assert ids(policy.current(home)) == ["policy.deploy"]
    BREAKS[how](home)
    # A process that has read it goes on with it; a new one has the built-in rules, strict.
    assert ids(policy.current(home)) == ["policy.deploy"]
    policy._known.clear()
    assert policy.current(home) is policy.BUILT_IN
    assert "guard.policy-seal" in rules(home) and not accepted.is_untouched(home)


def test_a_copy_of_another_home_does_not_fit(home: Path, tmp_path: Path):
    other = tmp_path / "other"
    (other / "ops").mkdir(parents=True)
    accept(home, STRICT)
    accept(other, LOOSE)
    shutil.copy(accepted.copy_of(other), accepted.copy_of(home))
    policy._known.clear()
    assert policy.current(home) is policy.BUILT_IN


def test_a_broken_seal_is_mended_by_accepting_again(home: Path):
    accept(home, STRICT)
    accepted.key_of(home).write_bytes(b"damaged")
    accepted.accept(home, 2000.0)
    assert rules(home) == [] and ids(policy.current(home)) == ["policy.deploy"]


def test_key_and_copy_are_private(home: Path):
    accept(home, STRICT)
    for path in (accepted.key_of(home), accepted.copy_of(home)):
        assert path.stat().st_mode & 0o777 == 0o600
    assert accepted.folder(home).stat().st_mode & 0o777 == 0o700


def test_the_policy_in_force_is_found_without_reading_when_nothing_changed(
    home: Path, monkeypatch: pytest.MonkeyPatch
):
    accept(home, STRICT)
    first = policy.current(home)
    monkeypatch.setattr(accepted, "load", lambda home: pytest.fail("read again"))
    assert policy.current(home) is first and policy.current(str(home)) is first


def test_loading_the_accepted_copy_judges_no_example(home: Path, monkeypatch: pytest.MonkeyPatch):
    accept(home, STRICT + "match = ['deploy x']\n")
    monkeypatch.setattr("hermes_ops.guard.judge.judge.judge_shell", lambda *_, **__: pytest.fail("judged"))
    assert ids(policy.current(home)) == ["policy.deploy"]


def test_a_copy_and_key_that_vanished_together_are_told(home: Path):
    accept(home, STRICT)
    shutil.rmtree(accepted.folder(home))
    policy._known.clear()
    assert policy.current(home) is policy.BUILT_IN
    assert "guard.policy-seal" in rules(home) and not accepted.is_untouched(home)
    shutil.rmtree(home / "ops")
    assert rules(home) == ["guard.policy-seal"] and not accepted.is_untouched(home)
    (home / "ops").mkdir()
    accepted.accept(home, 2000.0)
    assert rules(home) == []


def test_how_it_was_accepted_is_sealed_and_written_down(home: Path):
    write(home, STRICT)
    first = accepted.accept(home, 1000.0, "at a terminal, under bash")
    assert accepted.read_sealed(home) == first and first.by == "at a terminal, under bash"
    [record] = list(decisions.read(home))
    assert record["answer"] == "accepted" and "at a terminal, under bash" in record["command"]
    assert accepted.accept(home, 1001.0, "x").seal != first.seal
    tamper(home, by="somebody else")
    assert "guard.policy-seal" in rules(home)


def test_an_acceptance_that_fails_leaves_no_witness(home: Path):
    write(home, STRICT)
    accepted.copy_of(home).mkdir(parents=True)
    with pytest.raises(Unreadable):
        accepted.accept(home, 1000.0)
    accepted.copy_of(home).rmdir()
    accepted.key_of(home).unlink()
    assert rules(home) == ["guard.policy-changed"]


# Who may accept


def inside(**variables: str) -> str:
    """What a process of its own says, in this environment."""
    code = "from hermes_ops.guard.accepting import inside_a_tool_call as inside; print(inside())"
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HERMES")}
    root = str(Path(__file__).resolve().parents[3])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**clean, "PYTHONPATH": root, **variables},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(bool(accepting.inside_a_tool_call()), reason="an agent runs the tests")
def test_a_process_started_by_a_tool_is_known_by_its_environment():
    assert inside() == ""
    for name in ("HERMES_SESSION_ID", "HERMES_RPC_SOCKET"):
        assert inside(**{name: "x"}).startswith(f"{name} is set")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_unsetting_the_variable_does_not_help():
    code = "from hermes_ops.guard.accepting import inside_a_tool_call as inside; print(inside())"
    parent = (
        "import os, subprocess, sys\n"
        "clean = {k: v for k, v in os.environ.items() if not k.startswith('HERMES')}\n"
        f"subprocess.run([sys.executable, '-c', {code!r}], env=clean)"
    )
    root = str(Path(__file__).resolve().parents[3])
    done = subprocess.run(
        [sys.executable, "-c", parent],
        env={**os.environ, "PYTHONPATH": root, "HERMES_SESSION_ID": "20260101_000000_abcdef"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "above this one has HERMES_SESSION_ID" in done.stdout


@pytest.mark.parametrize(
    ("words", "agent"),
    [
        (["/venv/bin/python", "/venv/bin/hermes", "-z", "go"], True),
        (["/venv/bin/python", "/venv/bin/hermes", "gateway", "run"], True),
        (["python", "-m", "hermes_cli.main", "chat"], True),
        (["/venv/bin/python", "/venv/bin/hermes", "ops", "guard", "accept"], False),
        (["/bin/bash", "-l"], False),
        (["vim", "hermes.md"], False),
    ],
)
def test_an_agent_is_known_by_its_command_line(words: list[str], agent: bool):
    assert accepting.is_agent(b"\0".join(word.encode() for word in words) + b"\0") is agent


def stand_in(folder: Path, name: str, code: str) -> Path:
    """A program of Python's that goes by a name of the host's."""
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{code}\n")
    path.chmod(0o755)
    return path


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_process_beside_an_agent_of_its_home_is_refused_without_a_terminal(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(accepting, "_INITS", frozenset())
    assert accepting.cut_off(home) == ""
    agent = subprocess.Popen(
        [stand_in(tmp_path, "hermes", "input()"), "gateway", "run"],
        stdin=subprocess.PIPE,
        env={**os.environ, "HERMES_HOME": str(home)},
    )
    try:
        give_up = time.monotonic() + 20
        while "runs beside it" not in accepting.cut_off(home):
            assert time.monotonic() < give_up, accepting.cut_off(home)
            time.sleep(0.02)
        assert "runs beside it" not in accepting.cut_off(tmp_path / "other")
    finally:
        assert agent.stdin is not None
        agent.stdin.close()
        agent.wait()


@pytest.mark.parametrize("name", ["systemd", "init", "tini"])
def test_a_process_whose_parent_has_ended_is_refused_without_a_terminal(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    real = accepting._proc
    monkeypatch.setattr(accepting, "_others", lambda: iter(()))
    monkeypatch.setattr(
        accepting, "_proc", lambda pid, what: name.encode() if what == "comm" else real(pid, what)
    )
    assert "has ended" in accepting.cut_off(home)


def test_how_names_terminal_and_programs_and_no_argument(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(accepting, "at_a_terminal", lambda: False)
    monkeypatch.setattr(accepting, "_above", lambda: iter((1, 2)))
    monkeypatch.setattr(accepting, "_proc", lambda pid, what: b"ba\x1bsh\n" if what == "comm" else b"secret")
    assert accepting.how() == "without a terminal, under bash, bash"


def test_reading_the_policy_again_stays_far_below_the_time_of_a_callback(home: Path):
    text = "".join(STRICT.replace("deploy", f"deploy-{number}") for number in range(100))
    accept(home, text)
    began = time.perf_counter()
    assert len(policy.current(home).rules) == 100
    # A hundred rules are read in some milliseconds; this tells that from a second.
    assert time.perf_counter() - began < 1.0
