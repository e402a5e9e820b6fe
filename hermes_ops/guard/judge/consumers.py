"""Commands that take what others write: `>(...)`, coprocesses, readers of named pipes.

They stand in the text before or beside what writes to them, so they are walked when all of that is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import flows
from .invocation import Stream
from .state import fresh

if TYPE_CHECKING:
    from ..shell.tree import Script
    from .walk import Walk


@dataclass(slots=True)
class Consumer:
    """The commands, and what was written to them so far."""

    scripts: tuple[Script, ...]
    number: int
    content: Stream | None = None
    kept: bool = False  # it goes on after the command it stands in: `exec > >(...)`
    walked: bool = False  # it was looked at without what it gets

    def takes(self, content: Stream) -> None:
        self.content = content if self.content is None else flows.concatenated([self.content, content])


def settle(walk: Walk, numbers: int, output: Stream) -> Stream:
    """Walk the consumers that were opened since, with what they got; the output with theirs added."""
    for path, consumer in list(walk.consumers.items()):
        if consumer.number <= numbers or consumer.kept:
            continue
        del walk.consumers[path]
        content = consumer.content
        if content is None and consumer.walked:
            continue
        with walk.subshell():
            for script in consumer.scripts:
                printed = walk.script(script, content or flows.ANYTHING)
                if content is not None and (printed.text or printed.taint):
                    output = flows.concatenated([output, printed])
    return output


def close(walk: Walk) -> None:
    """What was written to commands that run on has come to its end."""
    for consumer in walk.consumers.values():
        consumer.kept = False
    settle(walk, 0, flows.NOTHING)


def once_more(walk: Walk, text: str) -> None:
    """A reader of a named pipe may stand before its writer: walk the text knowing what was written."""
    held = {path: walk.state.files[path] for path in walk.fifos if path in walk.state.files}
    walk.fifos.clear()
    if not held:
        return
    findings, walk.findings = walk.findings, []
    walk.state = fresh(walk.began, walk.home, walk.hermes_home)
    walk.state.files = held
    try:
        walk.run(text, Stream())
    finally:
        findings.extend(found for found in walk.findings if found not in findings)
        walk.findings = findings
