"""`hermes ops guard`: each verb says what it should, in text and JSON, with its exit code."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tomllib

from hermes_ops import cli
from hermes_ops._common import config
from hermes_ops.guard import accepted, accepting, decisions, examine, policy
from hermes_ops.guard.examine import Probe
from hermes_ops.guard.verdict import Found, Verdict
from tests.ops.guard.tool_calls import Database

ROOT = Path(__file__).resolve().parents[3]
RULE = """
[[rule]]
id = "deploy"
verdict = "block"
argv = "deploy **"
reason = "by the pipeline"
match = ["deploy site"]
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home in which the guard is live, and a person's own terminal."""
    (tmp_path / "ops").mkdir()
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    for name in accepting.TOOL_MARKS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(accepting, "_above", lambda: iter(()))
    monkeypatch.setattr(accepting, "cut_off", lambda home: "")
    monkeypatch.setattr(examine, "quick", lambda home: Probe(True, path="/p"))
    monkeypatch.setattr("hermes_ops.guard.explain.host_says", lambda text: None)
    config._cache.clear()
    return tmp_path


@pytest.fixture
def ops(home: Path, capsys: pytest.CaptureFixture[str]):
    """Run `hermes ops guard WORDS`: exit code, stdout, stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        code = cli.main(["guard", *words])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def data(answer: tuple[int, str, str]) -> dict:
    return json.loads(answer[1])


# status


def test_status_is_the_default_and_fine_when_the_guard_is_live(ops):
    code, out, _ = ops()
    assert code == 0
    assert out.splitlines()[0] == "live"
    assert "policy: built in, enforce, unattended block" in out and "second reader: off" in out
    found = data(ops("status", "--json"))
    assert found["live"] is True and found["policy"]["mode"] == "enforce" and found["schema"] == 1


def test_status_says_why_the_guard_is_off(ops, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(examine, "quick", lambda home: Probe(False, "it is not enabled", "enable it"))
    code, out, _ = ops("status")
    assert code == 1 and out.startswith("OFF: it is not enabled; enable it")


def test_status_tells_a_changed_policy_and_what_was_decided(ops, home: Path):
    policy.path_of(home).write_text(RULE)
    block = Found("files.root", Verdict.BLOCK, "x")
    for _ in range(3):
        decisions.decided(home, "block", "terminal", "rm -rf /", [block], ms=1.5)
    canary = Found("guard.canary", Verdict.BLOCK, "x")
    decisions.decided(home, "block", "terminal", "hermes-ops-guard-canary", [canary], ms=900)
    code, out, _ = ops("status")
    assert code == 1 and "was never accepted" in out
    assert "last 24 h: block 3; slowest 1.5 ms" in out and "by rule: files.root 3" in out
    found = data(ops("status", "--json"))
    assert found["findings"][0]["rule"] == "guard.policy-changed"
    assert [one["answers"] for one in found["decided"]] == [{"block": 3}, {"block": 3}]


def test_the_self_test_judges_the_examples_of_the_rules(ops):
    code, out, _ = ops("status", "--self-test")
    assert ", 0 came out wrong" in out, out
    assert code == 0
    assert data(ops("status", "--self-test", "--json"))["self_test"]["examples"] > 50


def test_a_self_test_that_fails_is_told(ops, monkeypatch: pytest.MonkeyPatch):
    from dataclasses import replace

    from hermes_ops.guard import built_in
    from hermes_ops.guard.rules.canary import FAMILY

    wrong = replace(FAMILY, examples=(("ls", "guard.canary"),), silent=("hermes-ops-guard-canary",))
    monkeypatch.setattr(built_in, "FAMILIES", (wrong,))
    code, out, _ = ops("status", "--self-test")
    assert code == 1 and " examples, 2 came out wrong" in out


# explain


def test_explain_shows_reading_runs_verdict_and_a_safer_way(ops):
    code, out, _ = ops("explain", "cd x && git reset --hard")
    assert code == 1
    assert "as it is read:" in out and "what would run:" in out and "verdict: approve" in out
    assert ops("explain", "ls -la")[0] == 0


def test_explain_reads_stdin_and_other_languages(ops, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("rm -rf /"))
    assert data(ops("explain", "-", "--json"))["verdict"] == "block"
    found = data(ops("explain", "import shutil; shutil.rmtree('/')", "--language", "python", "--json"))
    assert (found["language"], found["verdict"]) == ("python", "block")


def test_explain_says_when_code_does_not_parse(ops):
    code, out, _ = ops("explain", "--language", "python", "def (")
    assert code == 0 and "not all of it could be read: it does not parse" in out
    assert (
        "longer than" in data(ops("explain", "--language", "python", "x = 1\n" * 20_000, "--json"))["unread"]
    )
    for sound in ("x = 1", "%%bash\nls", "!ls\nx = 1"):
        assert data(ops("explain", "--language", "python", sound, "--json"))["unread"] == ""


def test_explain_judges_in_the_directory_it_is_told(ops, tmp_path: Path):
    assert data(ops("explain", "rm -rf *", "--cwd", "/", "--json"))["verdict"] == "block"
    assert data(ops("explain", "rm -rf *", "--cwd", "/tmp/scratch", "--json"))["verdict"] != "block"


def test_explain_shows_no_secret(ops):
    secret = "gh" + "p_" + "a1B2" * 9
    for words in ((), ("--json",)):
        _, out, _ = ops("explain", f"git push --force https://x:{secret}@example.com/r", *words)
        assert secret not in out


def test_explain_goes_by_the_accepted_policy(ops, home: Path):
    policy.path_of(home).write_text(RULE)
    assert ops("explain", "deploy site")[0] == 0
    assert ops("accept", "--yes")[0] == 0
    assert data(ops("explain", "deploy site", "--json"))["rule"] == "policy.deploy"


# test


def corpus(tmp_path: Path, *rows: tuple[str, str]) -> str:
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps({"cmd": cmd, "want": want, "cat": "x"}) + "\n" for cmd, want in rows))
    return str(path)


GOOD = (("rm -rf /", "block"), ("git reset --hard", "approve"), ("ls", "allow"), ("echo 'rm -rf /'", "allow"))


def test_test_scores_a_corpus(ops, tmp_path: Path):
    path = corpus(tmp_path, *GOOD)
    code, out, _ = ops("test", path)
    assert code == 0 and out.count("kept: ") == 4 and "NOT KEPT" not in out
    found = data(ops("test", path, "--json"))
    assert [row["got"] for row in found["rows"]] == ["block", "approve", "allow", "allow"]
    assert found["rows"][0].keys() == {"cmd", "want", "got", "rule", "us"}
    assert found["summary"]["kept"] is True and set(found["summary"]["us"]) == {"p50", "p95", "p99", "max"}


def test_test_fails_when_a_bar_falls_short_and_names_the_rows(ops, tmp_path: Path):
    code, out, _ = ops("test", corpus(tmp_path, *GOOD, ("ls -la", "block")))
    assert code == 1
    assert "block   came out allow" in out and "ls -la" in out and "NOT KEPT" in out


def test_test_gives_commands_back_as_they_stand(ops, tmp_path: Path):
    command = "curl -H 'Authorization: Bearer " + "gh" + "p_" + "a1B2" * 9 + "' https://example.com"
    assert data(ops("test", corpus(tmp_path, (command, "allow")), "--json"))["rows"][0]["cmd"] == command


def test_a_bad_or_empty_corpus_is_an_error_of_one_line(ops, tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"cmd": "ls", "want": "allow"}\nnonsense\n')
    code, _, err = ops("test", str(path))
    assert code == 1 and "line 2: not JSON" in err and err.count("\n") == 1
    path.write_text("\n")
    assert ops("test", str(path))[0] == 1
    assert ops("test", str(tmp_path / "none"))[0] == 1


# learn


def test_learn_shows_groups_and_entries_that_can_be_accepted(ops, home: Path):
    database = Database(home)
    now = time.time()
    database.ran("git push --force origin main", 4, at=now - 3600)
    database.ran("ls", 3, at=now - 3600)
    code, out, _ = ops("learn")
    assert code == 0 and out.startswith(
        "7 calls in 30 days: 3 allowed, 4 would have been asked about, 0 blocked"
    )
    entry = out[out.index("[[allow]]") :]
    assert tomllib.loads(entry)["allow"][0]["argv"] == ["git", "push", "--force", "origin", "main"]
    found = data(ops("learn", "--days", "7", "--json"))
    assert found["groups"][0]["count"] == 4 and found["proposals"][0]["count"] == 4
    assert sorted(path.name for path in (home / "ops").iterdir()) == []


def test_learn_refuses_days_that_are_none(ops):
    assert ops("learn", "--days", "0")[0] == 2
    assert ops("learn", "--days", "nan")[0] == 2


# accept


def test_accept_shows_the_difference_and_seals_the_policy(ops, home: Path):
    policy.path_of(home).write_text(RULE)
    code, out, _ = ops("accept", "--yes")
    assert code == 0 and '+id = "deploy"' in out and "accepted; sha256" in out
    assert [rule.id for rule in policy.current(home).written] == ["policy.deploy"]
    policy.path_of(home).write_text(RULE.replace("block", "approve"))
    found = data(ops("accept", "--yes", "--json"))
    assert '-verdict = "block"' in found["difference"] and found["result"] == "accepted"
    assert data(ops("accept", "--json"))["result"] == "nothing has changed"


def test_accept_needs_a_person_or_yes(ops, home: Path, monkeypatch: pytest.MonkeyPatch):
    policy.path_of(home).write_text(RULE)
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    code, _, err = ops("accept")
    assert code == 1 and "add --yes" in err
    assert policy.current(home) is policy.BUILT_IN


@pytest.mark.skipif(bool(accepting.inside_a_tool_call()), reason="an agent runs the tests")
@pytest.mark.parametrize(("typed", "taken"), [("y\n", True), ("yes\n", True), ("n\n", False), ("\n", False)])
def test_accept_asks_the_person_at_the_terminal(home: Path, typed: str, taken: bool):
    policy.path_of(home).write_text(RULE)
    control, terminal = pty.openpty()
    os.write(control, typed.encode())
    clean = {name: value for name, value in os.environ.items() if not name.startswith("HERMES")}
    done = subprocess.run(
        [sys.executable, "-m", "hermes_ops", "guard", "accept"],
        stdin=terminal,
        capture_output=True,
        text=True,
        env={**clean, "HERMES_HOME": str(home), "PYTHONPATH": str(ROOT)},
        timeout=60,
    )
    os.close(control)
    os.close(terminal)
    assert done.returncode == (0 if taken else 1), done.stderr
    assert accepted.copy_of(home).exists() is taken


@pytest.mark.parametrize("name", ["HERMES_SESSION_ID", "HERMES_RPC_SOCKET"])
def test_accept_refuses_an_agent_even_with_yes(ops, home: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    policy.path_of(home).write_text("mode = 'report'\n")
    monkeypatch.setenv(name, "x")
    code, _, err = ops("accept", "--yes")
    assert code == 1 and "only a person accepts a policy" in err and name in err
    assert not accepted.copy_of(home).exists()


def test_accept_refuses_a_process_that_was_cut_off(ops, home: Path, monkeypatch: pytest.MonkeyPatch):
    policy.path_of(home).write_text("mode = 'report'\n")
    monkeypatch.setattr(accepting, "cut_off", lambda home: "the process that started this one has ended")
    monkeypatch.setattr(accepting, "at_a_terminal", lambda: False)
    code, _, err = ops("accept", "--yes")
    assert code == 1 and "has ended" in err and not accepted.copy_of(home).exists()
    monkeypatch.setattr(accepting, "at_a_terminal", lambda: True)
    assert ops("accept", "--yes")[0] == 0


def test_an_acceptance_stands_in_the_log_and_is_no_call(ops, home: Path):
    policy.path_of(home).write_text(RULE)
    assert ops("accept", "--yes")[0] == 0
    assert "accepted" in ops("log")[1] and "last 24 h: nothing" in ops("status")[1]


def test_accept_refuses_a_policy_whose_example_fails(ops, home: Path):
    policy.path_of(home).write_text(RULE + 'not_match = ["deploy site"]\n')
    code, _, err = ops("accept", "--yes")
    assert code == 1 and "policy.deploy: not_match 'deploy site'" in err
    assert not accepted.copy_of(home).exists()


# log


def test_log_shows_the_last_decisions(ops, home: Path):
    assert "No decision" in ops("log")[1]
    asked = Found("git.x", Verdict.APPROVE, "x")
    for number in range(5):
        decisions.decided(home, "ask", "terminal", f"git push {number}", [asked])
    out = ops("log", "--tail", "2")[1]
    assert out.count("\n") == 2 and "git push 4" in out and "git.x" in out
    assert len(data(ops("log", "--json"))["decisions"]) == 5
    assert ops("log", "--tail", "0")[0] == 2


def test_probe_is_for_processes_of_the_host(ops, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delitem(sys.modules, "hermes_cli.plugins", raising=False)
    assert ops("probe")[0] == 1
