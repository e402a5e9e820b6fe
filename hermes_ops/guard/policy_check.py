"""Whether a policy says what its writer meant: its examples are judged, never run, and its ids are known."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from ..errors import OpsError
from .judge.invocation import Invocation
from .judge.judge import Surroundings, judge_shell
from .policy import Policy, judge
from .policy_rules import Allow, Rule
from .rules.rule import Family
from .verdict import Found, Judgement, Verdict

_SHOWN = 120


def check(policy: Policy, path: Path, home: Path) -> list[str]:
    """Judge every example with the policy. OpsError for the first that comes out otherwise than it says.

    Returns remarks: what is allowed to be so, but should be looked at.
    """
    _known_rules(policy, path)
    user = str(Path.home())
    surroundings = Surroundings(cwd=f"{user}/project", home=user, hermes_home=str(home))
    for rule in policy.written:
        _check_rule(policy, rule, f"{path}: [[rule]] {rule.id}", surroundings)
    for entry in policy.allows:
        _check_allow(policy, entry, surroundings)
    return _remarks(policy)


def _known_rules(policy: Policy, path: Path) -> None:
    if not policy.off:
        return
    from .built_in import ALWAYS_ASKED, MADE, verdicts

    known = verdicts()
    for rule in policy.off:
        if rule.startswith(MADE):
            continue
        if rule not in known:
            near = get_close_matches(rule, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise OpsError(f"{path}: [[off]] {rule}: there is no such built-in rule{hint}")
        if rule in ALWAYS_ASKED:
            raise OpsError(f"{path}: [[off]] {rule}: it is asked when the guard itself fails, so it stays on")
        if Verdict.APPROVE not in known[rule]:
            raise OpsError(
                f"{path}: [[off]] {rule}: it blocks what must never run; only a rule that asks can be off"
            )


def _check_rule(policy: Policy, rule: Rule, where: str, surroundings: Surroundings) -> None:
    for command in rule.match:
        judgement = judge(policy, command, surroundings)
        if all(found.rule != rule.id for found in judgement.findings):
            raise OpsError(f"{where}: match {_cut(command)}: the rule is silent; it {_came_out(judgement)}")
        if judgement.verdict < rule.verdict:
            raise OpsError(f"{where}: match {_cut(command)}: it {_came_out(judgement)}, not {rule.verdict}")
    for command in rule.not_match:
        judgement = judge(policy, command, surroundings)
        if any(found.rule == rule.id for found in judgement.findings):
            raise OpsError(f"{where}: not_match {_cut(command)}: the rule says {rule.verdict}")


def _check_allow(policy: Policy, entry: Allow, surroundings: Surroundings) -> None:
    for command in entry.match:
        if not any(entry.covers(one) for one in invocations(command, surroundings)):
            raise OpsError(f"{entry.where}: match {_cut(command)}: the entry does not cover it")
        judgement = judge(policy, command, surroundings)
        if judgement.verdict is not Verdict.ALLOW:
            raise OpsError(f"{entry.where}: match {_cut(command)}: it {_came_out(judgement)}")
    for command in entry.not_match:
        if any(entry.covers(one) for one in invocations(command, surroundings)):
            raise OpsError(f"{entry.where}: not_match {_cut(command)}: the entry covers it")


def invocations(command: str, surroundings: Surroundings | None = None) -> list[Invocation]:
    """Every command that a text would run, as the rules see it."""
    seen: list[Invocation] = []

    def note(invocation: Invocation) -> Iterable[Found]:
        seen.append(invocation)
        return ()

    judge_shell(command, surroundings, extra=(Family("reading", frozenset(), note),))
    return seen


def _remarks(policy: Policy) -> list[str]:
    remarks = []
    if policy.is_report:
        remarks.append("mode is report: nothing is stopped, everything is only written down")
    if policy.unattended != "block":
        remarks.append(
            f"unattended is {policy.unattended}: where nobody can be asked a question stops nothing"
        )
    remarks += [f"{rule.id} has no example under match" for rule in policy.written if not rule.match]
    remarks += [
        f"allowance for {' '.join(entry.argv.words)} has no example under match"
        for entry in policy.allows
        if not entry.match
    ]
    return remarks


def _came_out(judgement: Judgement) -> str:
    by = f" by {judgement.rule}" if judgement.rule else ""
    return f"comes out {judgement.verdict}{by}"


def _cut(command: str) -> str:
    line = " ".join(command.split())
    return repr(line if len(line) <= _SHOWN else line[: _SHOWN - 3] + "...")
