"""What would have been asked is learned from the calls of state.db: grouped, redacted, bounded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tomllib

from hermes_ops.errors import Unreadable
from hermes_ops.guard import learn as module
from hermes_ops.guard.accepted import parse_text
from hermes_ops.guard.learn import learn
from hermes_ops.guard.policy import BUILT_IN, judge
from hermes_ops.guard.verdict import Verdict
from tests.ops.guard.tool_calls import DAY, NOW, Database


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path)


def learned(tmp_path: Path, days: float = 30.0) -> module.Learned:
    return learn(tmp_path, BUILT_IN, days, NOW)


def test_calls_are_counted_by_verdict_and_grouped_by_rule(database: Database, tmp_path: Path):
    database.ran("ls -la", 5)
    database.ran("git reset --hard", 2)
    database.ran("rm -rf /")
    database.call("execute_code", {"code": "import shutil\nshutil.rmtree('/')\n"})
    found = learned(tmp_path)
    assert found.counts == {"allow": 5, "approve": 2, "block": 2} and found.calls == 9
    assert [group.verdict for group in found.groups] == sorted(
        (group.verdict for group in found.groups), key=["block", "approve"].index
    )
    [reset] = [group for group in found.groups if group.verdict == "approve"]
    assert reset.count == 2 and reset.examples == ["git reset --hard"] and reset.rule.startswith("git.")


def test_only_the_last_days_and_only_calls_of_the_agent_count(database: Database, tmp_path: Path):
    database.ran("rm -rf /", at=NOW - 40 * DAY)
    database.raw(None)
    database.raw(
        '[{"function": {"name": "terminal", "arguments": "{\\"command\\": \\"rm -rf /\\"}"}}]', role="user"
    )
    database.call("read_file", {"path": "/etc/passwd"})
    assert learned(tmp_path).calls == 0
    assert learned(tmp_path, 50).counts["block"] == 1


def test_what_is_asked_often_becomes_an_entry_that_covers_it(database: Database, tmp_path: Path):
    command = "git push --force origin 'a b'"
    database.ran(command, 4)
    database.ran("git reset --hard", 2)
    database.ran("rm -rf /", 9)
    [proposal] = learned(tmp_path).proposals
    assert proposal.count == 4 and proposal.words == ("git", "push", "--force", "origin", "a b")
    [entry] = tomllib.loads(proposal.toml())["allow"]
    assert entry["argv"] == list(proposal.words)
    policy = parse_text(proposal.toml(), tmp_path / "guard.toml")
    assert judge(BUILT_IN, command).verdict is Verdict.APPROVE
    assert judge(policy, command).verdict is Verdict.ALLOW
    assert judge(policy, "git push --force origin main").verdict is Verdict.APPROVE


def test_nothing_is_proposed_that_could_not_be_covered(database: Database, tmp_path: Path):
    database.ran("git push --force origin $BRANCH", 5)
    secret = "gh" + "p_" + "a1B2" * 9
    database.ran(f"git push --force https://x:{secret}@example.com/r", 5)
    database.ran("cd x && git push --force $(cat y)", 5)
    found = learned(tmp_path)
    assert found.counts["approve"] == 15 and found.proposals == []


def test_words_that_look_like_patterns_are_proposed_as_themselves(database: Database, tmp_path: Path):
    database.ran("git push --force origin '+refs/heads/*:refs/heads/*'", 3)
    [proposal] = learned(tmp_path).proposals
    policy = parse_text(proposal.toml(), tmp_path / "guard.toml")
    assert judge(policy, "git push --force origin '+refs/heads/*:refs/heads/*'").verdict is Verdict.ALLOW
    assert judge(policy, "git push --force origin '+refs/heads/a:refs/heads/b'").verdict is Verdict.APPROVE


def test_examples_hold_no_secret(database: Database, tmp_path: Path):
    secret = "gh" + "p_" + "a1B2" * 9
    database.ran(f"git push --force https://x:{secret}@example.com/r")
    [group] = learned(tmp_path).groups
    assert secret not in "".join(group.examples) and "git push --force" in group.examples[0]


@pytest.mark.parametrize(
    "raw",
    [
        "not json",
        "[1]",
        '"text"',
        '[{"function": {"name": "terminal", "arguments": "{"}}]',
        '[{"function": {"name": "terminal", "arguments": "[1]"}}]',
        "[" * 20_000,
        json.dumps([{"function": {"name": "terminal", "arguments": "x" * (module.LARGEST_CALLS + 1)}}]),
    ],
)
def test_a_message_that_cannot_be_read_is_counted_and_hides_no_other(
    database: Database, tmp_path: Path, raw: str
):
    database.ran("ls")
    database.raw(raw)
    database.ran("ls")
    found = learned(tmp_path)
    assert (found.calls, found.unreadable) == (2, 1)


@pytest.mark.parametrize("arguments", [{"command": 7}, {}, {"command": None}])
def test_arguments_of_the_wrong_type_are_no_calls(database: Database, tmp_path: Path, arguments: dict):
    database.call("terminal", arguments)
    assert learned(tmp_path).calls == 0


def test_arguments_that_are_an_object_already_are_read(database: Database, tmp_path: Path):
    database.raw(json.dumps([{"function": {"name": "terminal", "arguments": {"command": "rm -rf /"}}}]))
    assert learned(tmp_path).counts["block"] == 1


def test_more_messages_than_one_batch_are_all_read(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "BATCH", 3)
    database.ran("ls", 10)
    seen: list[int] = []
    assert learn(tmp_path, BUILT_IN, 30, NOW, seen.append).calls == 10
    assert seen == list(range(1, 11))


def test_what_is_kept_in_memory_is_bounded(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "_MOST_KINDS", 2)
    monkeypatch.setattr(module, "_MOST_KNOWN", 2)
    for number in range(6):
        database.ran(f"git push --force origin b{number}", 3)
    found = learned(tmp_path)
    assert found.counts["approve"] == 18
    assert len(found.proposals) == 2 and found.uncounted == 12
    assert len(found.groups[0].examples) == module.EXAMPLES


def test_without_a_database_nothing_is_known(tmp_path: Path):
    with pytest.raises(Unreadable):
        learned(tmp_path)
