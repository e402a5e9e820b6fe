"""Shells: the text of `-c`, of a script this line wrote, of a here-document or of a pipe is judged."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..rules.names import names as listed
from . import builtins, commands_in_options, flows, names, reasons
from .invocation import OPAQUE, REMOTE, SHELL, UNKNOWN, Arg, Invocation, Stream
from .state import EMPTY

if TYPE_CHECKING:
    from .walk import Walk

SHELLS = listed("sh bash zsh dash ksh ksh93 mksh ash rbash fish tcsh csh yash hush rksh")
_VALUED = frozenset(("--rcfile", "--init-file"))
_FIRST = frozenset(("--init-command",))
_SHELL_OUTPUT = frozenset((SHELL,))


def shell(walk: Walk, call: Invocation) -> Stream:
    """`sh -c TEXT name arguments`, `sh FILE arguments`, `sh -s arguments` or text on the input."""
    words = call.argv[1:]
    at = 0
    text: Arg | None = None
    takes_text = reads = interactive = only_reads = False
    if call.name == "fish":
        for _, first in commands_in_options.values(words, _FIRST, "C"):
            walk.shell(first, call.stdin)
    while at < len(words):
        word = words[at].text
        if word == "--":
            at += 1
            break
        if word == "-":
            # It ends the options of some shells, of others not.
            at += 1
            continue
        if word[:1] not in ("-", "+"):
            break
        if word in _VALUED:
            if at + 1 < len(words):
                script(walk, call, words[at + 1], [])
            at += 2
            continue
        if word.startswith("--command"):
            takes_text = True
        elif word[0] == "-" and word[1:2] != "-":
            takes_text = takes_text or "c" in word
            reads = reads or "s" in word
            interactive = interactive or "i" in word
        if word[1:2] != "-" and "n" in word:
            only_reads = word[0] == "-"
        at += 1
        if word[1:2] != "-":
            # Each o of a bundle takes a word of its own: -euo pipefail.
            at += sum(letter in ("C" if call.name == "fish" else "oO") for letter in word[1:])
    if only_reads:
        return flows.ANYTHING
    if takes_text:
        if at >= len(words):
            return flows.ANYTHING
        text = words[at]
        arguments = words[at + 2 :]
        if call.appended:
            arguments = [*arguments, Arg(UNKNOWN)]
        builtins.judge_text(walk, call, text)
        zeroth = words[at + 1].text if at + 1 < len(words) else call.name
        return walk.shell(text, call.stdin, arguments=arguments, zeroth=zeroth, dialect=call.name)
    if at < len(words) and not reads:
        if flows.descriptor(walk, words[at].text) == "0":
            return from_input(walk, call, [], interactive)
        return script(walk, call, words[at], words[at + 1 :])
    return from_input(walk, call, words[at:], interactive)


def script(walk: Walk, call: Invocation, path: Arg, arguments: list[Arg]) -> Stream:
    """Run a script file: judged when this line wrote it, reported when it came from somewhere unknown."""
    stream = flows.file_stream(walk, path.text)
    taint = stream.taint or path.taint
    if taint & {REMOTE, OPAQUE}:
        builtins.origin(walk, call, taint, stream.source or path.source)
    elif stream.text is None and path.text.startswith("/dev/fd/") and stream is not flows.LOCAL:
        walk.report([reasons.OPAQUE_CODE.found(names.shown(call))], call)
    if stream.text is not None:
        text = Arg(stream.text, False, stream.taint, stream.source)
        return walk.shell(text, call.stdin, arguments=arguments, zeroth=path.text, dialect=call.name)
    return flows.ANYTHING


def executed(walk: Walk, call: Invocation) -> Stream | None:
    """A file of this line that is run by its path: by the interpreter its first line names."""
    path = call.argv[0]
    held = flows.file_stream(walk, path.text)
    if held is flows.LOCAL:
        return None
    found = re.match(r"#!\s*\S*?(?:env(?:\s+-S)?\s+)?([\w.]+)(?:\s|$)", held.text or "")
    program = found[1] if found else "sh"
    return walk.words([Arg(program), *call.argv], call.stdin)


def from_input(walk: Walk, call: Invocation, arguments: list[Arg], interactive: bool) -> Stream:
    """Text that comes in on stdin."""
    stdin = call.stdin
    if not stdin.piped:
        return flows.ANYTHING
    if stdin.taint & {REMOTE, OPAQUE}:
        builtins.origin(walk, call, stdin.taint, stdin.source)
    elif stdin.text is None and stdin is not flows.LOCAL:
        walk.report([reasons.OPAQUE_CODE.found(names.shown(call))], call)
    if stdin.text is not None:
        text = Arg(stdin.text, False, stdin.taint, stdin.source)
        return walk.shell(text, arguments=arguments, dialect=call.name)
    # What such a shell prints is the answer to commands from elsewhere.
    return Stream(None, True, stdin.taint | _SHELL_OUTPUT, stdin.source or call.name)


def joined_command(walk: Walk, call: Invocation, words: list[Arg], place: str = "") -> Stream:
    """Words that the far side joins with blanks and gives to a shell: ssh, watch, su."""
    if not words:
        return flows.ANYTHING
    taint = frozenset().union(*(word.taint for word in words))
    source = next((word.source for word in words if word.source), "")
    text = " ".join(word.text for word in words)
    if call.appended:
        text += " " + UNKNOWN
    return walk.shell(Arg(text, False, taint, source), call.stdin, place)


def exec_words(
    walk: Walk, call: Invocation, words: list[Arg], place: str = "", appended: bool = False
) -> Stream:
    """Words that are run as a command of their own, without a shell."""
    if not words:
        return flows.ANYTHING
    return walk.words(words, call.stdin, appended or call.appended, place)


def _su(walk: Walk, call: Invocation) -> Stream | None:
    """su, runuser, sg: `-c TEXT` in any place; else a shell that reads stdin."""
    words = call.argv[1:]
    for at, word in enumerate(words):
        text = word.text
        if text in ("-c", "--command", "--session-command") or (
            text[:1] == "-" and text[1:2] != "-" and text.endswith("c") and len(text) < 5
        ):
            given = words[at + 1] if at + 1 < len(words) else EMPTY
        elif text.startswith(("--command=", "--session-command=")):
            given = Arg(text.partition("=")[2], False, word.taint, word.source)
        elif text.startswith("-c") and len(text) > 2:
            given = Arg(text[2:], False, word.taint, word.source)
        else:
            continue
        builtins.judge_text(walk, call, given)
        walk.wrappers = (*walk.wrappers, "su")
        return walk.shell(given, call.stdin)
    if call.stdin.piped:
        walk.wrappers = (*walk.wrappers, "su")
        return from_input(walk, call, [], False)
    return None


HANDLERS = {**dict.fromkeys(SHELLS, shell), "su": _su, "runuser": _su, "sg": _su, "newgrp": _su}
