"""Assignments and redirections of a command: the values they give, the files and streams they connect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..shell.tree import Assignment, Redirect
from . import arithmetic, expand, flows, links
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
    if value.glob:
        value = Arg(value.text, False, value.taint, value.source, value.variable)
    if assignment.index is not None:
        earlier = walk.lookup(assignment.name)
        elements = dict(earlier) if isinstance(earlier, dict) else {}
        key = _key(walk, expand.one(walk, assignment.index).text.strip("\"'"), elements)
        if assignment.appends and key in elements:
            value = expand.joined([elements[key], value], "")
        elements[key] = value
        return elements
    if assignment.appends:
        earlier = walk.parameter(assignment.name)
        if earlier is not None:
            return expand.joined([earlier, value], "")
    return value


def _key(walk: Walk, key: str, elements: dict[str, Arg]) -> str:
    """The key of an element: a number where it is arithmetic."""
    if key in elements or key.isdigit() or any(not each.isdigit() for each in elements):
        return key
    number = arithmetic.evaluate(walk, key) if not key.isidentifier() or walk.parameter(key) else None
    return key if number is None else str(number)


def to(walk: Walk, target: str, value: Arg, also: bool = False) -> None:
    """Give a variable or, as `name[key]`, an element a value, as printf -v and read do."""
    name, bracket, key = target.partition("[")
    if not bracket:
        walk.state.assign(name, value, also)
        return
    arithmetic.subscripts(walk, target)
    earlier = walk.lookup(name)
    elements = dict(earlier) if isinstance(earlier, dict) else {}
    elements[_key(walk, key.rstrip("]").strip("\"'"), elements)] = value
    walk.state.assign(name, elements)


def redirected(walk: Walk, redirects: Sequence[Redirect], stdin: Stream) -> tuple[list[Target], Stream]:
    """The files a command is connected with, and what it gets on its input."""
    targets: list[Target] = []
    for redirect in redirects:
        op = redirect.op
        document = redirect.document
        if document is not None:
            if document.quoted:
                given = Stream(expand.filled(walk, document.body), True, walk.ambient, walk.ambient_source)
            else:
                given = flows.known(expand.one(walk, document.word))
        else:
            argument = expand.one(walk, redirect.target)
            if op != "<<<":
                stdin = _connected(walk, redirect, argument, targets, stdin)
                continue
            given = flows.known(Arg(argument.text + "\n", False, argument.taint, argument.source))
        if redirect.fd in ("", "0"):
            stdin = given
        else:
            walk.state.descriptors[_number(walk, redirect.fd)] = given
    return targets, stdin


def _connected(walk: Walk, redirect: Redirect, argument: Arg, targets: list[Target], stdin: Stream) -> Stream:
    """A redirection to a file or another descriptor; what the command now gets on its input."""
    op = redirect.op
    fd = _number(walk, redirect.fd) if redirect.fd else ""
    descriptors = walk.state.descriptors
    opened = descriptors.get(f">{argument.text}") if op == ">&" else None
    if walk.links:
        argument = Arg(links.through(walk, argument.text), argument.glob, argument.taint, argument.source)
    if opened is not None:
        # What goes to a descriptor goes to the file that was opened for it.
        op, argument = ">>", Arg(opened.source, False, argument.taint)
    targets.append(Target(op, argument, fd))
    if op in ("<", "<>", "<&") and fd in ("", "0"):
        return flows.read(walk, op, argument)
    if not fd:
        return stdin
    text = argument.text
    if text != UNKNOWN and targets[-1].writes:
        descriptors[f">{fd}"] = Stream(source=text)
    if text.startswith(("/dev/tcp/", "/dev/udp/")):
        descriptors[fd] = Stream(None, True, frozenset((REMOTE,)), text.replace(UNKNOWN, "?"))
    elif op in ("<", "<>", "<&"):
        descriptors[fd] = flows.read(walk, op, argument)
    return stdin


def _number(walk: Walk, fd: str) -> str:
    """The number of a descriptor; `{name}` gets a new one, which the variable then holds."""
    if fd.isdigit():
        return fd
    value = walk.parameter(fd)
    if value is not None and value.text.isdigit() and int(value.text[:9]) >= _FIRST_NAMED:
        return value.text
    walk.numbers += 1
    number = str(_FIRST_NAMED + walk.numbers)
    walk.state.assign(fd, Arg(number))
    return number


_FIRST_NAMED = 300
