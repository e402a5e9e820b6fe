"""The guard's policy: what a person adds to the built-in rules, in `<home>/ops/guard.toml`.

    mode = "enforce"            # or "report": write down what would have been stopped, stop nothing
    unattended = "block"        # where nobody can be asked: "block", "ask" (the host decides) or "allow"

    [[rule]]                    # stops more than the built-in rules
    id = "production-namespace"
    verdict = "block"           # or "approve"
    argv = "kubectl ** -n production **"      # or a list of words; path = ["/srv/data/**"] beside or instead
    reason = "production is changed by its pipeline"
    safer = "open a merge request"
    match = ["kubectl delete pod x -n production"]        # judged when the policy is accepted
    not_match = ["kubectl get pods -n staging"]

    [[allow]]                   # a command that need not be asked about; never undoes a block
    argv = ["git", "push", "--force-with-lease", "origin", "agent/*"]
    reason = "these branches are the agent's own"
    match = ["git push --force-with-lease origin agent/fix"]

    [[off]]                     # a built-in rule that asks, switched off; one that blocks cannot be
    rule = "git.reset-hard"
    reason = "the checkout is disposable"

The file does nothing by itself: the policy in force is the last one that was accepted (accepted.py).
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core import toml_file
from ..errors import OpsError
from .policy_paths import ANY, fault
from .policy_rules import FAMILY, Allow, Pattern, Rule, allowance_fault
from .rules.rule import Family
from .verdict import Found, Judgement, Verdict

if TYPE_CHECKING:
    from .judge.budget import Budget
    from .judge.invocation import Invocation
    from .judge.judge import Surroundings

MODES = ("enforce", "report")
UNATTENDED = ("block", "ask", "allow")
_VERDICTS = {"block": Verdict.BLOCK, "approve": Verdict.APPROVE}
_ID = re.compile(rf"(?:{FAMILY}\.)?([a-z0-9]+(?:-[a-z0-9]+)*)")
_MOST_WORDS, _LONGEST_WORD = 200, 1_000

Stat = tuple[int, int, int] | None


@dataclass(frozen=True)
class Policy:
    """What holds beside the built-in rules. Without a file of a person: nothing, and everything enforced.

    rules   [[rule]] as the judge takes them, in the order of the file; `written` are the same as written
    allows  [[allow]]
    off     ids of built-in rules whose questions are not asked, each with the reason
    """

    mode: str = "enforce"
    unattended: str = "block"
    rules: tuple[Family, ...] = ()
    allows: tuple[Allow, ...] = ()
    off: Mapping[str, str] = field(default_factory=dict)
    written: tuple[Rule, ...] = ()

    @property
    def is_report(self) -> bool:
        """Whether nothing is stopped, and only written down."""
        return self.mode == "report"

    def allowed(self, invocation: Invocation) -> bool:
        """Whether a command need not be asked about. What must never run stays blocked all the same."""
        return any(entry.covers(invocation) for entry in self.allows)

    def settle(self, judgement: Judgement) -> Judgement:
        """A judgement without the questions that are switched off."""
        if not self.off:
            return judgement
        kept = tuple(
            found
            for found in judgement.findings
            if found.verdict is not Verdict.APPROVE or found.rule not in self.off
        )
        return Judgement(kept, judgement.unread)


BUILT_IN = Policy()


def judge(
    policy: Policy, text: str, surroundings: Surroundings | None = None, budget: Budget | None = None
) -> Judgement:
    """Judge shell text by the built-in rules and a policy. Never raises, never runs anything.

    `budget` is what the texts of a tool call share.
    """
    from .judge.judge import judge_shell

    def unseen(text: str) -> list[Found]:
        from .policy_unseen import findings

        return findings(policy.written, text, surroundings)

    return policy.settle(
        judge_shell(
            text,
            surroundings,
            extra=policy.rules,
            allowed=policy.allowed,
            budget=budget,
            unseen=unseen if policy.written else None,
        )
    )


def path_of(home: Path) -> Path:
    return home / "ops" / "guard.toml"


_known: dict[str, tuple[tuple[Stat, Stat], Policy]] = {}


def current(hermes_home: str | os.PathLike[str]) -> Policy:
    """The policy in force in a home; two stats when nothing has changed. Never raises.

    The accepted copy is read again when it has changed. One that cannot be read, or whose seal does not fit,
    changes nothing in this process: the last good policy holds, else what is built in.
    """
    home = os.fspath(hermes_home)
    mark = (_stat(f"{home}/ops/guard/accepted.json"), _stat(f"{home}/ops/guard/key"))
    known = _known.get(home)
    if known is not None and known[0] == mark:
        return known[1]
    from .accepted import load

    loaded = load(Path(home))
    found = loaded.policy or (known[1] if known is not None else BUILT_IN)
    _known[home] = (mark, found)
    return found


def parse(content: dict[str, Any], path: Path) -> Policy:
    """Check a parsed file as a whole, without judging its examples. OpsError names the wrong entry."""
    toml_file.known(content, ("mode", "unattended", "rule", "allow", "off"), str(path))
    written = tuple(_rule(table, where) for table, where in toml_file.tables(content, "rule", path))
    for number, rule in enumerate(written, 1):
        if any(rule.id == other.id for other in written[: number - 1]):
            raise OpsError(f"{path}: [[rule]] no. {number}: id: {rule.id} is there twice")
    return Policy(
        toml_file.choice(content, "mode", str(path), MODES, "enforce"),
        toml_file.choice(content, "unattended", str(path), UNATTENDED, "block"),
        tuple(rule.family() for rule in written),
        tuple(_allow(table, where) for table, where in toml_file.tables(content, "allow", path)),
        dict(_off(table, where) for table, where in toml_file.tables(content, "off", path)),
        written,
    )


def _rule(table: dict[str, Any], where: str) -> Rule:
    keys = ("id", "verdict", "argv", "path", "reason", "safer", "match", "not_match")
    toml_file.known(table, keys, where)
    written = toml_file.text(table, "id", where, required=True) or ""
    named = _ID.fullmatch(written)
    if named is None:
        raise OpsError(
            f"{where}: id: expected words of small letters and digits joined by -, not {written!r}"
        )
    verdict = toml_file.choice(table, "verdict", where, _VERDICTS, None)
    paths = toml_file.texts(table, "path", where)
    for pattern in paths:
        wrong = fault(pattern)
        if wrong:
            raise OpsError(f"{where}: path: {wrong}")
    argv = None if "argv" not in table and paths else _pattern(table, where)
    return Rule(
        f"{FAMILY}.{named[1]}",
        _VERDICTS[verdict],
        toml_file.text(table, "reason", where, required=True) or "",
        toml_file.text(table, "safer", where) or "",
        argv,
        paths,
        _commands(table, "match", where),
        _commands(table, "not_match", where),
    )


def _allow(table: dict[str, Any], where: str) -> Allow:
    toml_file.known(table, ("argv", "reason", "match", "not_match"), where)
    pattern = _pattern(table, where)
    wide = allowance_fault(pattern.words)
    if wide:
        raise OpsError(f"{where}: argv: {wide}")
    return Allow(
        where,
        pattern,
        toml_file.text(table, "reason", where, required=True) or "",
        _commands(table, "match", where),
        _commands(table, "not_match", where),
    )


def _off(table: dict[str, Any], where: str) -> tuple[str, str]:
    toml_file.known(table, ("rule", "reason"), where)
    rule = toml_file.text(table, "rule", where, required=True) or ""
    if rule.startswith(f"{FAMILY}."):
        raise OpsError(f"{where}: rule: {rule} is a rule of this file: take it out")
    return rule, toml_file.text(table, "reason", where, required=True) or ""


def _pattern(table: dict[str, Any], where: str) -> Pattern:
    written = table.get("argv")
    if isinstance(written, str):
        try:
            words = shlex.split(written)
        except ValueError as error:
            raise OpsError(f"{where}: argv: {error} in {written!r}") from None
    elif isinstance(written, list) and all(isinstance(word, str) for word in written):
        words = list(written)
    else:
        raise OpsError(f"{where}: argv: expected the words of a command, as one text or a list of texts")
    if not words or all(word == ANY for word in words):
        raise OpsError(f"{where}: argv: expected at least a program")
    if len(words) > _MOST_WORDS or any(len(word) > _LONGEST_WORD for word in words):
        raise OpsError(f"{where}: argv: over {_MOST_WORDS} words, or one over {_LONGEST_WORD} characters")
    return Pattern(tuple(words))


def _commands(table: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
    """Examples, kept as they are written: a line break in a command means something."""
    value = table.get(key, [])
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) and item.strip() for item in items):
        raise OpsError(f"{where}: {key}: expected commands, each a text")
    return tuple(items)


def _stat(path: str) -> Stat:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
