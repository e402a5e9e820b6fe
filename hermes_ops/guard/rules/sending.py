"""What all rules about sending share: credentials in words, files and what is piped in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..judge.invocation import KEPT, SECRET, UNKNOWN, Arg, Invocation
from ..verdict import Found
from .rule import block
from .secrets import secret_of

SENT = block(
    "exfiltration.sent",
    "hands credentials to the network",
    "send only the one value that the service needs, in its header",
)


ENVIRONMENT_SENT = block(
    "exfiltration.environment", "hands the whole environment, with its keys, to the network"
)


def secret(invocation: Invocation, path: str, whole: bool = False) -> str | None:
    return secret_of(path, invocation.cwd, invocation.home, invocation.hermes_home, whole)


def sent(source: str, part: str) -> Found:
    rule = ENVIRONMENT_SENT if "environment" in source and "/" not in source else SENT
    return rule.found(part, source)


def from_input(invocation: Invocation) -> Iterator[Found]:
    """Credentials on stdin, of a program that sends what it reads."""
    stdin = invocation.stdin
    if SECRET in stdin.taint or KEPT in stdin.taint:
        yield sent(stdin.source or "what is piped in", invocation.part)
        return
    for target in invocation.redirects:
        if target.op == "<" and target.fd in ("", "0"):
            held = secret(invocation, target.arg.text)
            if held:
                yield SENT.found(invocation.part, held)


def tainted(invocation: Invocation, arguments: Iterable[Arg]) -> Iterator[Found]:
    """Words that hold credentials; one that a store keeps may be a field of what is said to log in."""
    for argument in arguments:
        if SECRET in argument.taint or (KEPT in argument.taint and argument.text == UNKNOWN):
            yield sent(argument.source or "a credential", invocation.part)
