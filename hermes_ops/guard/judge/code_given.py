"""What the walk knows of the surroundings of code is handed to the judge of code."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..code.given import Given
from ..code.judge import judge_code, load
from ..code.printing import Printed
from ..verdict import Verdict
from . import builtins, flows, names, reasons
from .invocation import OPAQUE, REMOTE, UNKNOWN, Arg, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk

LONGEST_CODE = 50_000
# What code costs of the budget of the call, by itself and for its characters.
_STEPS, _CHARACTERS_A_STEP = 8, 100
_INPUTS = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))
_OPAQUE = frozenset((OPAQUE,))
_CONSUMED = Stream()
_HELP = frozenset(("--help", "-h"))
_PARSES = re.compile(
    r"\b(?:ArgumentParser|OptionParser|docopt|click\.command|typer\.Typer|parseArgs|yargs|commander)\b"
)
AWKS = frozenset(("awk", "gawk", "mawk", "nawk", "original-awk", "goawk"))


def is_input(path: str) -> bool:
    """Is it a name for what comes in on stdin?"""
    return path in _INPUTS or (path.startswith(("/dev/", "/proc/")) and posixpath.normpath(path) in _INPUTS)


def incoming(walk: Walk, call: Invocation) -> Stream:
    """The input of a command; what nobody can know of it is marked."""
    stdin = call.stdin if call.stdin.piped else walk.state.descriptors.get("0", call.stdin)
    if stdin.piped and stdin.text is None and not stdin.taint and stdin is not flows.LOCAL:
        return Stream(None, True, _OPAQUE, stdin.source or "the input")
    return stdin


def of_files(walk: Walk, call: Invocation, paths: Sequence[Arg]) -> Stream:
    """What a program reads that takes its input from files, or from stdin where none is named."""
    if not paths:
        return incoming(walk, call)
    streams = [
        incoming(walk, call) if is_input(path.text) else flows.file_stream(walk, path.text)
        for path in paths[:8]
    ]
    known = [stream for stream in streams if stream.text is not None or stream.taint]
    return flows.concatenated(known) if known else flows.LOCAL


def given(
    walk: Walk,
    call: Invocation,
    argv: Sequence[Arg] | None = None,
    stdin: Stream | None = None,
    records: bool = False,
    assigned: tuple[tuple[str, Arg], ...] = (),
) -> Given:
    """The surroundings of code that a command runs. `stdin`: instead of the input of the command."""

    lines = records and call.name not in AWKS

    def variable(name: str) -> Arg | None:
        if name in call.environment:
            return call.environment[name]
        value = walk.lookup(name)
        return value if isinstance(value, Arg) else None

    def held(path: str) -> Stream | None:
        files = walk.state.files
        return (
            (files.get(path) or files.get(walk.state.file_key(path, walk.folder().path))) if files else None
        )

    def keep(path: str, content: Stream) -> None:
        flows.remember(walk, path, content)

    return Given(
        None if argv is None else tuple(argv),
        call.appended and argv is not None,
        incoming(walk, call) if stdin is None else stdin,
        records,
        assigned,
        variable,
        held,
        keep,
        None if lines else Printed(),
    )


def code(walk: Walk, call: Invocation, language: str, text: Arg, about: Given | None = None) -> Stream | None:
    """Judge code of another language, whose shell text is judged by this walk; what it prints, if certain."""
    if text.taint & {REMOTE, OPAQUE}:
        builtins.origin(walk, call, text.taint, text.source)
    elif text.text == UNKNOWN:
        walk.report([reasons.OPAQUE_CODE.found(names.shown(call))], call)
        return None
    source = text.text
    if len(source) > LONGEST_CODE and language != "python":
        # Python's judge has a bound of its own; of the others the rest is asked about, unseen.
        walk.report([reasons.LIMIT.found(names.shown(call), f"{len(source)} characters of {language}")], call)
        source = source[:LONGEST_CODE]
    walk.spend(_STEPS + len(source) // _CHARACTERS_A_STEP)
    about = given(walk, call) if about is None else about
    walk.budget.give_back(load(language))
    found = judge_code(
        language, source, walk.captured, walk.home, walk.folder().path, walk.hermes_home, about
    )
    if found:
        walk.report(found, call)
    printed = about.printed
    if printed is None or not printed.text:
        return None
    return Stream(printed.text, True, text.taint | printed.taint, text.source or printed.source)


def script(
    walk: Walk, call: Invocation, language: str, path: Arg, argv: Sequence[Arg] | None = None
) -> Stream | None:
    """A script file: judged when this line wrote it, reported when it came from somewhere unknown."""
    if is_input(path.text):
        return from_input(walk, call, language, argv)
    stream = flows.file_stream(walk, path.text)
    taint = stream.taint or path.taint
    if stream.text is not None:
        text = Arg(stream.text, False, stream.taint, stream.source)
        before = len(walk.findings)
        output = code(walk, call, language, text, given(walk, call, argv))
        if argv and argv[0].text in _HELP and len(argv) == 1 and _PARSES.search(stream.text):
            # The parser of the arguments prints how the script is used and ends it.
            walk.findings[before:] = [
                found for found in walk.findings[before:] if found.verdict is Verdict.BLOCK
            ]
        return output
    if taint & {REMOTE, OPAQUE}:
        builtins.origin(walk, call, taint, stream.source or path.source)
    return None


def from_input(
    walk: Walk, call: Invocation, language: str, argv: Sequence[Arg] | None = None
) -> Stream | None:
    """A program on stdin; what it prints, if that is certain."""
    stdin = call.stdin
    if not stdin.piped:
        return None
    if stdin.text is not None:
        about = given(walk, call, argv, _CONSUMED)
        printed = code(walk, call, language, Arg(stdin.text, False, stdin.taint, stdin.source), about)
        whole, newline, last = stdin.text.rpartition("\n")
        if newline and last.strip():
            # A last line without an end may be the broken end of a here-document, which is no code.
            about = given(walk, call, argv, _CONSUMED)
            code(walk, call, language, Arg(whole, False, stdin.taint, stdin.source), about)
        return printed
    if stdin.taint & {REMOTE, OPAQUE}:
        builtins.origin(walk, call, stdin.taint, stdin.source)
    elif stdin is not flows.LOCAL:
        walk.report([reasons.OPAQUE_CODE.found(names.shown(call))], call)
    return None
