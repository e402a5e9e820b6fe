"""Assignments and redirections of a command: the values they give, the files and streams they connect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..shell.tree import Assignment, Redirect
from . import expand, flows
from .invocation import REMOTE, UNKNOWN, Arg, Stream, Target
from .state import Value

if TYPE_CHECKING:
    from .walk import Walk


def assigned(walk: Walk, assignment: Assignment) -> Value:
    """The value an assignment gives, with += and elements worked in."""
    if assignment.array is not None:
        value = expand.array(walk, assignment.array)
        if assignment.appends:
            earlier = walk.lookup(assignment.name)
            elements = list(earlier.values()) if isinstance(earlier, dict) else [earlier] if earlier else []
            elements.extend(value.values())
            value = {str(number): element for number, element in enumerate(elements)}
        return value
    value = expand.one(walk, assignment.value)
    if assignment.index is not None:
        earlier = walk.lookup(assignment.name)
        elements = dict(earlier) if isinstance(earlier, dict) else {}
        key = expand.one(walk, assignment.index).text.strip("\"'")
        if assignment.appends and key in elements:
            value = expand.joined([elements[key], value], "")
        elements[key] = value
        return elements
    if assignment.appends:
        earlier = walk.parameter(assignment.name)
        if earlier is not None:
            return expand.joined([earlier, value], "")
    return value


def redirected(walk: Walk, redirects: Sequence[Redirect], stdin: Stream) -> tuple[list[Target], Stream]:
    """The files a command is connected with, and what it gets on its input."""
    targets: list[Target] = []
    for redirect in redirects:
        op = redirect.op
        document = redirect.document
        if document is not None:
            if document.quoted:
                stdin = Stream(expand.filled(walk, document.body), True, walk.ambient, walk.ambient_source)
            else:
                stdin = flows.known(expand.one(walk, document.word))
            continue
        argument = expand.one(walk, redirect.target)
        if op == "<<<":
            stdin = flows.known(Arg(argument.text + "\n", False, argument.taint, argument.source))
            continue
        opened = walk.state.descriptors.get(f">{argument.text}") if op == ">&" else None
        if opened is not None:
            # What goes to a descriptor goes to the file that was opened for it.
            op, argument = ">>", Arg(opened.source, False, argument.taint)
        elif redirect.fd and op in (">", ">>", ">|", "<>") and argument.text != UNKNOWN:
            walk.state.descriptors[f">{redirect.fd}"] = Stream(source=argument.text)
        targets.append(Target(op, argument, redirect.fd))
        if op in ("<", "<>", "<&") and redirect.fd in ("", "0"):
            stdin = flows.read(walk, op, argument)
        elif redirect.fd and argument.text.startswith(("/dev/tcp/", "/dev/udp/")):
            walk.state.descriptors[redirect.fd] = Stream(
                None, True, frozenset((REMOTE,)), argument.text.replace(UNKNOWN, "?")
            )
    return targets, stdin
