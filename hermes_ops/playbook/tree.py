"""A decision tree as a list of questions, asked in order until one names the cause.

Each question is a function that looks at the host's files and answers yes (this is it), no, or unknown,
with what it saw. What cannot be read is unknown, never no.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.watch import Context
from ..errors import Unreadable

YES, NO, UNKNOWN = "yes", "no", "unknown"


@dataclass(frozen=True)
class Found:
    """An answer: what was seen (value, file, row), and for a yes the cause and the next commands."""

    answer: str
    evidence: tuple[str, ...] = ()
    cause: str = ""
    commands: tuple[str, ...] = ()


@dataclass(frozen=True)
class Node:
    """A question with its answer."""

    question: str
    found: Found

    def as_dict(self) -> dict[str, Any]:
        return {
            "question": self.question,
            "answer": self.found.answer,
            "evidence": list(self.found.evidence),
            "cause": self.found.cause or None,
            "commands": list(self.found.commands),
        }


@dataclass
class Case:
    """What is asked about: the context, the subject (a session, a job) and what was read so far."""

    context: Context
    subject: str | None = None
    read: dict[str, Any] = field(default_factory=dict)

    @property
    def now(self) -> float:
        return self.context.now

    def once(self, name: str, read: Callable[[], Any]) -> Any:
        """What `read` gives, read once for all questions."""
        if name not in self.read:
            self.read[name] = read()
        return self.read[name]


Question = tuple[str, Callable[[Case], Found]]


@dataclass(frozen=True)
class Walk:
    """The nodes that were asked, in order; the causes among them; whether something could not be told."""

    nodes: tuple[Node, ...]

    @property
    def causes(self) -> list[Node]:
        return [node for node in self.nodes if node.found.answer == YES]

    @property
    def unknown(self) -> list[Node]:
        return [node for node in self.nodes if node.found.answer == UNKNOWN]

    def lines(self) -> list[str]:
        """For a person: each question with its evidence, then the cause and what to do."""
        said = []
        for number, node in enumerate(self.nodes, 1):
            said.append(f"{number}. {node.question} {node.found.answer}")
            said += [f"     {line}" for line in node.found.evidence]
        for node in self.causes:
            said.append(f"Cause: {node.found.cause}")
            said += [f"  next: {command}" for command in node.found.commands]
        if not self.causes:
            left = f"; {len(self.unknown)} could not be told" if self.unknown else ""
            said.append(f"No cause is found among {len(self.nodes)}{left}.")
        return said

    def as_dict(self) -> dict[str, Any]:
        return {
            "nodes": [node.as_dict() for node in self.nodes],
            "causes": [node.found.cause for node in self.causes],
            "unknown": len(self.unknown),
        }


def walk(questions: Sequence[Question], case: Case, *, every: bool = False) -> Walk:
    """Ask in order, until the first yes unless `every`."""
    nodes = []
    for question, ask in questions:
        try:
            found = ask(case)
        except Unreadable as error:
            found = Found(UNKNOWN, (str(error),))
        nodes.append(Node(question, found))
        if found.answer == YES and not every:
            break
    return Walk(tuple(nodes))


def no(*evidence: str) -> Found:
    return Found(NO, evidence)


def unknown(*evidence: str) -> Found:
    return Found(UNKNOWN, evidence)


def yes(cause: str, evidence: Sequence[str], *commands: str) -> Found:
    return Found(YES, tuple(evidence), cause, commands)
