"""What the guard would have asked about in the last weeks, from the calls that state.db remembers.

Nothing is written and nothing is run: the calls are judged once more, grouped by rule, and for what is asked
often an [[allow]] entry is proposed as text.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from ..core.finding import DAY
from ..host.database import columns, reading
from . import TOOLS, calls, message
from .hook import judge
from .judge.invocation import Invocation
from .judge.judge import Surroundings
from .policy import Policy
from .policy_rules import Allow, Pattern
from .verdict import Judgement, Verdict

BATCH = 100  # rows of one query: nothing is held in the database between two
LARGEST_CALLS = 500_000  # characters of the tool calls of one message
EXAMPLES = 3
OFTEN = 3  # times that a command is asked about before an allowance is proposed
PROPOSED = 10
_MOST_KINDS = 5_000  # different commands that are counted for proposals
_MOST_KNOWN = 4_000  # judgements that are kept for commands that come again

# The input of a process depends on the process, a job's script on what it was then.
_TOOLS = TOOLS - {"process", "cronjob"}

Progress = Callable[[int], None]


@dataclass
class Group:
    """One rule: how often it would have stopped a call, and the first commands, redacted."""

    rule: str
    verdict: str
    why: str
    count: int = 0
    examples: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Proposal:
    """An allowance for a command that was asked about often."""

    words: tuple[str, ...]
    count: int
    rules: tuple[str, ...]

    def toml(self) -> str:
        """The entry as TOML text; the reason is for a person to write."""
        words = ", ".join(map(_quoted, self.words))
        return (
            f"[[allow]]  # asked {self.count} times: {', '.join(self.rules)}\n"
            f'argv = [{words}]\nreason = "say why"\n'
        )


@dataclass
class Learned:
    """`calls` that the guard judges, by verdict; groups, the weightiest and most frequent first."""

    days: float
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("allow", "approve", "block"), 0))
    groups: list[Group] = field(default_factory=list)
    proposals: list[Proposal] = field(default_factory=list)
    unreadable: int = 0  # messages whose calls are no JSON, or too long
    uncounted: int = 0  # commands beyond what is counted for proposals

    @property
    def calls(self) -> int:
        return sum(self.counts.values())


def learn(
    home: Path, policy: Policy, days: float, now: float, progress: Progress = lambda _: None
) -> Learned:
    """Judge the calls of the last days. Memory is bounded whatever the database holds. Raises Unreadable."""
    found = Learned(days)
    groups: dict[str, Group] = {}
    asked: Counter[tuple[str, ...]] = Counter()
    rules_of: dict[tuple[str, ...], tuple[str, ...]] = {}
    known: dict[bytes, tuple[Judgement, tuple[tuple[str, ...], ...]]] = {}
    user = str(Path.home())
    for tool, args, cwd in _calls(home / "state.db", now - days * DAY, found):
        where = Surroundings(cwd=cwd, home=user, hermes_home=str(home))
        call = calls.read(tool, args, hermes_home=str(home), cwd=cwd)
        if call is None:
            continue
        exact = json.dumps([tool, cwd, args], sort_keys=True)
        key = hashlib.sha256(exact.encode("utf-8", "surrogatepass")).digest()
        if key not in known:
            if len(known) >= _MOST_KNOWN:
                del known[next(iter(known))]
            known[key] = _judged(call, where, policy)
        judgement, commands = known[key]
        found.counts[str(judgement.verdict)] += 1
        progress(found.calls)
        shown = ""
        for one in {one.rule: one for one in judgement.findings}.values():
            group = groups.setdefault(one.rule, Group(one.rule, str(one.verdict), one.why))
            group.count += 1
            if len(group.examples) < EXAMPLES:
                shown = shown or message.command(call.shown)
                if shown not in group.examples:
                    group.examples.append(shown)
        if judgement.verdict is Verdict.APPROVE:
            for words in commands:
                if words in asked or len(asked) < _MOST_KINDS:
                    asked[words] += 1
                    rules_of[words] = tuple(dict.fromkeys(one.rule for one in judgement.findings))[:3]
                else:
                    found.uncounted += 1
    order = {"block": 0, "approve": 1}
    found.groups = sorted(groups.values(), key=lambda one: (order.get(one.verdict, 2), -one.count, one.rule))
    often = [(words, count) for words, count in asked.most_common() if count >= OFTEN]
    found.proposals = [Proposal(words, count, rules_of[words]) for words, count in often[:PROPOSED]]
    return found


class _Asking(Policy):
    """A policy that notes the commands which are asked about and which no allowance covers."""

    asked: list[Invocation]

    def allowed(self, invocation: Invocation) -> bool:
        if super().allowed(invocation):
            return True
        self.asked.append(invocation)
        return False


def _judged(
    call: calls.Call, where: Surroundings, policy: Policy
) -> tuple[Judgement, tuple[tuple[str, ...], ...]]:
    """The judgement of a call, and the words of the commands in it that an allowance could cover."""
    asking = _Asking(**{one.name: getattr(policy, one.name) for one in fields(Policy)})
    object.__setattr__(asking, "asked", [])
    judgement = judge(call, where, asking)
    return judgement, tuple(dict.fromkeys(words for one in asking.asked if (words := _words(one))))


def _words(invocation: Invocation) -> tuple[str, ...]:
    """The argv of an allowance for exactly this command, () when none could cover it or it holds a secret."""
    words = (invocation.name, *(arg.text for arg in invocation.arguments))
    exact = tuple(_literal(word) for word in words)
    text = " ".join(words)
    if not text.isprintable() or len(text) > 200 or message.redacted(text) != text:
        return ()
    return exact if Allow("", Pattern(exact), "").covers(invocation) else ()


def _literal(word: str) -> str:
    """A word as a pattern that matches it alone."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in word)


def _calls(path: Path, since: float, found: Learned) -> Iterator[tuple[str, dict[str, Any], str | None]]:
    """The tool calls since an instant, the oldest first: tool, arguments, the directory of the session."""
    last = 0
    while True:
        with reading(path) as connection:
            has_cwd = "cwd" in columns(connection, "sessions")
            rows = connection.execute(
                f"""SELECT m.id, m.tool_calls, length(m.tool_calls) > ? AS too_long,
                    {"s.cwd" if has_cwd else "NULL"} AS cwd
                FROM messages m LEFT JOIN sessions s ON s.id = m.session_id
                WHERE m.id > ? AND m.timestamp >= ? AND m.role = 'assistant' AND m.tool_calls IS NOT NULL
                ORDER BY m.id LIMIT ?""",
                (LARGEST_CALLS, last, since, BATCH),
            )
            batch = [(row["id"], None if row["too_long"] else row["tool_calls"], row["cwd"]) for row in rows]
        if not batch:
            return
        last = batch[-1][0]
        for _, raw, cwd in batch:
            try:
                yield from _in_message(raw, cwd if isinstance(cwd, str) and cwd else None)
            except (ValueError, TypeError, AttributeError, RecursionError):
                found.unreadable += 1


def _in_message(raw: str | None, cwd: str | None) -> Iterator[tuple[str, dict[str, Any], str | None]]:
    """The calls of one message; ValueError and the like when it is not what the host writes."""
    if raw is None:
        raise ValueError("too long")
    for call in json.loads(raw):
        function = call.get("function") or call
        name, arguments = function.get("name"), function.get("arguments")
        if name not in _TOOLS:
            continue
        args = json.loads(arguments) if isinstance(arguments, str) else arguments
        if not isinstance(args, dict):
            raise ValueError("no arguments")
        workdir = args.get("workdir")
        yield name, args, workdir if isinstance(workdir, str) and workdir.startswith("/") else cwd


def _quoted(word: str) -> str:
    """A word as a basic string of TOML, whose escapes are those of JSON."""
    return json.dumps(word, ensure_ascii=False).replace("\x7f", "\\u007f")
