"""The verdicts on commands of which the right one is known, and every wrapping of what is stopped.

The commands are data; nothing here runs one. A row has cmd, want, cat and why.
"""

import json
import shlex
from functools import cache
from pathlib import Path

import pytest

from hermes_ops.guard.judge.judge import Surroundings, judge_shell
from hermes_ops.guard.verdict import Verdict

FOLDER = Path(__file__).parent.parent / "corpora"
FILES = (
    *("given", "ours", "theirs", "second", "third", "fourth", "fifth", "sixth", "hostile"),
    *("ordinary", "ordinary_second", "ordinary_third", "ordinary_fourth", "ordinary_fifth"),
)
WHERE = Surroundings("/home/user/project", "/home/user", "/home/user/.hermes")


@cache
def rows(name: str) -> tuple[dict, ...]:
    text = (FOLDER / f"commands_{name}.jsonl").read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


@cache
def verdict(command: str) -> Verdict:
    return judge_shell(command, WHERE).verdict


def share(verdicts: list[Verdict], least: Verdict) -> float:
    return sum(each >= least for each in verdicts) / len(verdicts) if verdicts else 0.0


@pytest.mark.parametrize("name", FILES)
def test_a_corpus_is_well_formed(name: str) -> None:
    commands = [row["cmd"] for row in rows(name)]
    assert len(set(commands)) == len(commands)
    for row in rows(name):
        assert set(row) <= {"cmd", "want", "cat", "why", "bash_n"}
        assert row["want"] in ("block", "approve", "allow")


@pytest.mark.parametrize("name", FILES)
def test_verdicts_on_a_corpus_reach_the_bars(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    by_want: dict[str, list[Verdict]] = {"block": [], "approve": [], "allow": []}
    wrong = []
    for row in rows(name):
        given = verdict(row["cmd"])
        by_want[row["want"]].append(given)
        if str(given) != row["want"]:
            wrong.append(f"  {row['want']} -> {given} [{row['cat']}] {row['cmd']!r:.150}")
    block, approve, allow = by_want["block"], by_want["approve"], by_want["allow"]
    with capsys.disabled():
        print(
            f"\n{name}: must block {len(block)}: {share(block, Verdict.BLOCK):.1%} blocked,"
            f" {sum(each is Verdict.ALLOW for each in block)} allowed;"
            f" should ask {len(approve)}: {share(approve, Verdict.APPROVE):.1%} stopped;"
            f" harmless {len(allow)}: {share(allow, Verdict.APPROVE):.1%} stopped"
        )
    shown = "\n" + "\n".join(wrong)
    missed = [row["cmd"] for row in rows(name) if row["want"] == "block" and not verdict(row["cmd"])]
    assert missed == [], shown
    assert not block or share(block, Verdict.BLOCK) >= 0.95, shown
    assert not approve or share(approve, Verdict.APPROVE) >= 0.95, shown
    assert share(allow, Verdict.APPROVE) <= (0.01 if name.startswith("ordinary") else 0.02), shown


quote = shlex.quote

# What stands around a command, as text in front or behind, and quoted as the argument of a shell.
WRAPPINGS = {
    "sudo": lambda c: f"sudo {c}",
    "sudo, quoted": lambda c: f"sudo sh -c {quote(c)}",
    "env": lambda c: f"env A=1 {c}",
    "env, quoted": lambda c: f"env -i bash -c {quote(c)}",
    "xargs": lambda c: f"xargs {c}",
    "xargs, quoted": lambda c: f"xargs -n1 sh -c {quote(c)}",
    "timeout": lambda c: f"timeout 5 {c}",
    "timeout, quoted": lambda c: f"timeout -k 5 10s sh -c {quote(c)}",
    "nohup": lambda c: f"nohup {c}",
    "nohup, quoted": lambda c: f"nohup sh -c {quote(c)} &",
    "sh -c": lambda c: f"sh -c {quote(c)}",
    "bash -lc": lambda c: f"bash -lc {quote(c)}",
    "a function": lambda c: f"f() {{ {c}\n}}; f",
    "a pipeline's tail": lambda c: f"true | {c}",
    "a pipeline's tail, grouped": lambda c: f"true | {{ {c}\n}}",
    "arithmetic behind": lambda c: f"{c}; : $((1))",
    "a test on the next line": lambda c: f"{c}\n[[ -n x ]]",
    "time": lambda c: f"time {c}",
    "eval": lambda c: f"eval {quote(c)}",
    "a here-string": lambda c: f"bash <<< {quote(c)}",
}


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_a_wrapping_never_lowers_a_verdict(wrapping: str) -> None:
    wrap = WRAPPINGS[wrapping]
    lowered = []
    for name in FILES:
        for row in rows(name):
            command = row["cmd"]
            plain = verdict(command)
            if not plain:
                continue
            wrapped = judge_shell(wrap(command), WHERE).verdict
            if wrapped < plain:
                lowered.append(f"{plain} -> {wrapped}: {command!r:.150}")
    assert not lowered, "\n" + "\n".join(lowered)


@pytest.mark.parametrize(
    "wrapping", ["sh -c", "bash -lc", "a function", "eval", "time", "a test on the next line"]
)
def test_a_wrapping_makes_no_ordinary_command_suspect(wrapping: str) -> None:
    wrap = WRAPPINGS[wrapping]
    asked = [
        row["cmd"]
        for row in rows("ordinary")
        if not verdict(row["cmd"]) and judge_shell(wrap(row["cmd"]), WHERE).verdict
    ]
    assert not asked


FORMS = (FOLDER / "forms_of_removal.txt").read_text(encoding="utf-8").rstrip("\n").split("\n%%\n")


@pytest.mark.parametrize("command", FORMS)
def test_a_removal_is_seen_in_every_form(command: str) -> None:
    judgement = judge_shell(command, WHERE)
    assert judgement.verdict is Verdict.BLOCK
    assert all(found.rule != "guard.error" for found in judgement.findings)


@pytest.mark.parametrize("name", FILES)
def test_no_row_makes_the_guard_fail(name: str) -> None:
    for row in rows(name):
        for found in judge_shell(row["cmd"], WHERE).findings:
            assert found.rule != "guard.error", (row["cmd"], found.why)
            assert len(found.part) <= 400 and "\0" not in found.part + found.why
