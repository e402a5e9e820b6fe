"""The last resort for programs that nobody listed: their words and their input, read as if they ran them.

Only what must never run counts. A program that is not known may do anything with a text that it is given, so
a person is asked; a command behind a program that takes nothing else is taken for what that program runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ..verdict import Found, Verdict
from . import names, reasons
from .everyday import DATA_VERBS, PROSE
from .invocation import Arg, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk

LONGEST_TEXT = 2000
MOST_ARGUMENTS = 24
MOST_TEXTS = 6
MOST_TAILS = 3
# What prose says, unlike files: "halt when done", "reboot the router".
_SPOKEN = ("power.", "processes.", "services.")
_COMMAND_ALONE = re.compile(
    r"\W*(?:sudo\s+)?(?:[\w./-]*/)?[a-z]+(?:\s+(?:-\S+|now|\+?\d+|reboot|poweroff|halt))*\W*\Z"
)
_QUOTES = " \t!'\"`[](){}<>;+"


def cast(walk: Walk, call: Invocation, is_handled: bool) -> None:
    """Look at a command by the nets that fit its program; `is_handled`: its own words were judged before."""
    name = call.name
    program = call.argv[0].text
    if not name.isascii() or ("/" in program and program[0] != "/"):
        # A look-alike has a rule of its own, and a program of the project is no stranger.
        return
    known = name in walk.programs
    words = call.argv
    if len(words) > 1 and not _is_data(call):
        if not is_handled:
            _arguments(walk, call)
        if not known:
            _tail(walk, call)
    if not known and call.stdin.text and len(call.stdin.text) <= LONGEST_TEXT:
        found = dangerous(walk, call.stdin.text)
        if found:
            walk.report([reasons.OPAQUE_INPUT.found(names.shown(call), found.why)], call)


def _is_data(call: Invocation) -> bool:
    verbs = DATA_VERBS.get(call.name)
    if verbs is None:
        return False
    return any(word.text in verbs for word in call.argv[1:4])


def _arguments(walk: Walk, call: Invocation) -> None:
    """One argument that is a whole command."""
    looked = 0
    words = call.argv
    for at in range(1, min(len(words), MOST_ARGUMENTS)):
        text = words[at].text
        if " " not in text or len(text) > LONGEST_TEXT or words[at - 1].text in PROSE:
            continue
        for candidate in _readings(text):
            looked += 1
            if looked > MOST_TEXTS:
                return
            found = dangerous(walk, candidate)
            if found:
                shown = names.printable(candidate)
                walk.report([reasons.OPAQUE_ARGUMENT.found(names.shown(call), shown)], call)
                return


def _readings(text: str) -> Iterator[str]:
    """The commands that a word may be: itself, what stands behind = or in quotes."""
    name, equals, value = text.partition("=")
    if equals and " " not in name and " " in value:
        if name not in PROSE:
            yield value.lstrip("=").strip(_QUOTES)
    else:
        yield text.strip(_QUOTES)


def _tail(walk: Walk, call: Invocation) -> None:
    """A program behind the options of another one."""
    words = call.argv
    tails = 0
    for at in range(1, min(len(words), MOST_ARGUMENTS)):
        text = words[at].text
        if " " in text or names.base(text) not in walk.programs:
            continue
        tails += 1
        if tails > MOST_TAILS:
            return
        rest = words[at:]
        found = _tried(walk, lambda rest=rest: walk.words(rest, Stream()))
        explicit = words[at - 1].text == "--" or "/" in text
        if found is None or (found.rule.startswith(_SPOKEN) and not explicit):
            continue
        before = [word for word in words[1:at] if word.text[:1] != "-"]
        if before and words[at - 1].text != "--":
            shown = names.printable(" ".join(word.text for word in rest))
            walk.report([reasons.OPAQUE_ARGUMENT.found(names.shown(call), shown)], call)
        else:
            walk.report([found], call)
        return


def dangerous(walk: Walk, text: str) -> Found | None:
    """What must never run, of a text read as shell; None when there is nothing of the kind."""
    found = _tried(walk, lambda: walk.shell(Arg(text)))
    if found is not None and found.rule.startswith(_SPOKEN) and not _COMMAND_ALONE.match(text):
        return None
    return found


def _tried(walk: Walk, judge: Callable[[], object]) -> Found | None:
    """The first blocking finding of a judgement on the side, which leaves no trace."""
    findings, files = walk.findings, walk.state.files
    walk.findings, walk.casting = [], True
    walk.state.files = dict(files)
    try:
        judge()
        return next((found for found in walk.findings if found.verdict == Verdict.BLOCK), None)
    finally:
        walk.findings, walk.casting = findings, False
        walk.state.files = files
