"""Compound commands: every branch runs, and after it all may be as before or as the branch left it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..shell.tree import Arithmetic, Compound, Param, Part, Script, Substitution
from . import arithmetic, assignments, bombs, conditions, consumers, expand, flows, names, reasons
from .invocation import UNKNOWN, Arg, Invocation, Stream, Target
from .state import UNSET, Snapshot, capped

if TYPE_CHECKING:
    from .walk import Walk

# A loop over this many known words is walked word by word, so that what it builds up is known.
MOST_ROUNDS = 8
LONGEST_LOOP = 4000


def compound(walk: Walk, node: Compound, stdin: Stream) -> Stream:
    """Walk a compound command; its output."""
    targets: list[Target] = []
    numbers = walk.numbers
    if node.redirects:
        targets, stdin = assignments.redirected(walk, node.redirects, stdin)
        for target in targets:
            if target.writes or target.arg.text.startswith(("/dev/tcp/", "/dev/udp/")):
                walk.judge(Invocation("{", [Arg("{")], targets, stdin, {}))
                break
    kind = node.kind
    if kind == "group":
        output = walk.script(node.bodies[0], stdin) if node.bodies else flows.NOTHING
    elif kind == "subshell":
        with walk.subshell():
            output = flows.concatenated([walk.script(body, stdin, True) for body in node.bodies])
    elif kind == "coproc":
        output = _coprocess(walk, node, stdin)
    elif kind == "for" or kind == "select":
        output = _each(walk, node, stdin)
    elif kind == "[[" or kind == "((":
        conditions.walk_operands(walk, [expand.one(walk, word).text for word in node.words])
        inside(walk, node.parts)
        if kind == "((":
            arithmetic.evaluate(walk, walk.text[node.span[0] + 2 : node.span[1] - 2])
        for body in node.bodies:
            walk.script(body, stdin)
        return flows.NOTHING
    else:
        output = _branches(walk, node, stdin)
    if targets:
        output = flows.written(walk, targets, output)
    if walk.consumers:
        output = consumers.settle(walk, numbers, output)
    return output


def _coprocess(walk: Walk, node: Compound, stdin: Stream) -> Stream:
    """coproc: what is written to ${NAME[1]} is its input, and ${NAME[0]} gives its output."""
    with walk.subshell():
        output = flows.concatenated([walk.script(body, stdin) for body in node.bodies])
    walk.numbers += 1
    number = walk.numbers
    path, reads, writes = f"/dev/fd/{62 + number}", str(500 + 2 * number), str(501 + 2 * number)
    walk.consumers[path] = consumers.Consumer(node.bodies, number, kept=True, walked=True)
    walk.state.descriptors[f">{writes}"] = Stream(source=path)
    walk.state.descriptors[reads] = output
    walk.state.variables[node.name or "COPROC"] = ({"0": Arg(reads), "1": Arg(writes)},)
    return flows.NOTHING


def inside(walk: Walk, parts: Sequence[Part]) -> None:
    """Walk what an arithmetic command holds: `(( $(command) ))` runs it."""
    for part in parts:
        kind = type(part)
        if kind is Substitution:
            walk.substitution(part)
        elif kind is Arithmetic:
            expand.computed(walk, part)
        elif kind is Param and (part.argument is not None or part.index is not None):
            expand.value_of(walk, part)


def _branches(walk: Walk, node: Compound, stdin: Stream) -> Stream:
    """if, while, until, case, for ((: every body runs, or does not."""
    for word in node.words:
        expand.one(walk, word)
    if node.kind == "for((":
        _count(walk, node)
    if bombs.multiplies(node, walk.text, walk.state.zeroth):
        walk.findings.append(reasons.FORK_BOMB.found(names.printable(walk.text[slice(*node.span)])))
    for patterns in node.patterns:
        for word in patterns:
            expand.one(walk, word)
    inside(walk, node.parts)
    bodies = node.bodies
    state = walk.state
    outputs: list[Stream] = []
    looping = node.kind in ("while", "until", "for((")
    results = []
    start = 0
    if node.kind in ("if", "while", "until") and bodies:
        outputs.append(walk.script(bodies[0], stdin))
        start = 1
    before = state.snapshot()
    for body in bodies[start:]:
        state.restore(before)
        outputs.append(walk.script(body, stdin))
        if looping and _grew(walk, before):
            outputs.append(walk.script(body, stdin))
        results.append(state.snapshot())
    # An if with an else leaves no way around its branches.
    if results and node.kind == "if" and len(bodies) % 2 == 1:
        state.restore(results[0])
    else:
        state.restore(before)
    for result in results:
        state.merge(result)
    state.quits = False
    return flows.concatenated(outputs)


_COUNT = re.compile(r"-?\d+")
_COUNTED = re.compile(r"([A-Za-z_]\w*)\s*(?:[-+*/%]?=(?!=)|\+\+|--)|(?:\+\+|--)\s*([A-Za-z_]\w*)")


def _count(walk: Walk, node: Compound) -> None:
    """The head of `for ((`: what it sets is another number in every round."""
    head, _, _ = walk.text[node.span[0] : node.span[1]].partition("))")
    for found in _COUNTED.finditer(head[:400]):
        walk.state.assign(found[1] or found[2], UNSET)
    arithmetic.names_in(walk, head.partition("((")[2])


def _grew(walk: Walk, before: Snapshot) -> bool:
    """Does a loop build a value up? Then what it holds after more rounds is not known."""
    grew = False
    for name, values in walk.state.variables.items():
        earlier = before.variables.get(name)
        if earlier is values or not earlier:
            continue
        old, new = earlier[0], values[-1]
        if isinstance(old, dict) or isinstance(new, dict) or not old.text or old.text == new.text:
            continue
        if old.text in new.text or (_COUNT.fullmatch(old.text) and _COUNT.fullmatch(new.text)):
            walk.state.assign(name, Arg(UNKNOWN, False, new.taint, new.source), also=True)
            grew = True
    return grew


def _each(walk: Walk, node: Compound, stdin: Stream) -> Stream:
    """for and select: the body runs with every word."""
    values = walk.every(lambda: expand.words(walk, node.words) if node.words else walk.positional())
    name = node.name
    body = node.bodies[-1] if node.bodies else Script()
    if not values:
        # An empty list is also what an unread or unknown list looks like: the body is judged all the same.
        values = [UNSET]
    if len(values) <= MOST_ROUNDS and len(walk.text) < LONGEST_LOOP:
        outputs = []
        for value in values:
            walk.state.variables[name] = (value,)
            outputs.append(walk.script(body, stdin))
        walk.state.quits = False
        return flows.concatenated(outputs)
    walk.state.variables[name] = (values[0],)
    for value in values[1:]:
        if value not in walk.state.variables[name]:
            walk.state.variables[name] += (value,)
    walk.state.variables[name] = capped(walk.state.variables[name])
    output = walk.script(body, stdin)
    walk.state.quits = False
    return output
