"""The database of the agent's conversations, changed by statements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..judge.invocation import Invocation
from ..verdict import Found
from .files import AGENT_STATE
from .hermes_state import Part, part_of
from .names import names
from .paths import locate
from .rule import Family

_CHANGES = re.compile(
    r"(?:\A|;)\s*(?:with\b.*?\)\s*)?(?:insert|update|delete|replace|drop|alter|create\s+trigger|\.restore|\.import)\b",
    re.IGNORECASE | re.DOTALL,
)
_VALUED = names("-separator -cmd -init -newline -nullvalue")
_LONGEST = 20_000


def _statements(invocation: Invocation, operands: list[str]) -> Iterator[str]:
    yield from operands
    words = invocation.words()
    yield from (words[at + 1] for at, word in enumerate(words[:-1]) if word == "-cmd")
    if invocation.stdin.text:
        yield invocation.stdin.text


def _check(invocation: Invocation) -> Iterable[Found]:
    operands = [argument.text for argument in invocation.operands(_VALUED)]
    if not operands or invocation.has("", "-readonly"):
        return ()
    path = operands[0].removeprefix("file:").partition("?")[0]
    where = locate(path, invocation.cwd, invocation.home, invocation.hermes_home)
    if part_of(where.path, invocation.home, invocation.hermes_home) is not Part.STATE:
        return ()
    if any(_CHANGES.search(text[:_LONGEST]) for text in _statements(invocation, operands[1:])):
        return (AGENT_STATE.found(invocation.part, path),)
    return ()


FAMILY = Family(
    "agent-records",
    names("sqlite3 sqlite litecli sqlcipher"),
    _check,
    examples=(
        ("sqlite3 ~/.hermes/state.db 'drop table sessions'", AGENT_STATE.id),
        ("sqlite3 ~/.hermes/state.db 'select 1; delete from sessions where 1'", AGENT_STATE.id),
    ),
    silent=(
        "sqlite3 ~/.hermes/state.db 'select count(*) from sessions'",
        "sqlite3 ~/.hermes/state.db .schema",
        "sqlite3 app.db 'insert into t values (1)'",
    ),
)
