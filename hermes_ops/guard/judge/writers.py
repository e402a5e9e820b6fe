"""Programs that write their input, or text of their own, to a file: the file holds it from there on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import decode, flows, outputs
from .invocation import UNKNOWN, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk

_INPUTS = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))


def _dd(walk: Walk, call: Invocation) -> None:
    source, target = call.stdin, ""
    for word in call.words():
        name, _, value = word.partition("=")
        if name == "if" and value not in _INPUTS:
            source = flows.file_stream(walk, value)
        elif name == "of":
            target = value
    _keep(walk, target, source)


def _keep(walk: Walk, path: str, content: Stream) -> None:
    if path and path != UNKNOWN and (content.text is not None or content.taint):
        flows.remember(walk, path, content)


def _sponge(walk: Walk, call: Invocation) -> None:
    for argument in call.operands():
        _keep(walk, argument.text, call.stdin)


_VALUED = frozenset(("-m", "-o", "-g", "-S", "--mode", "--owner", "--group"))


def _copied(walk: Walk, call: Invocation) -> None:
    """install and cp of what comes in on stdin."""
    operands = list(call.operands(_VALUED))
    if len(operands) == 2 and operands[0].text in _INPUTS and operands[0].text != "-":
        _keep(walk, operands[1].text, call.stdin)


_WRITES = re.compile(r"(?:^|[;{}/0-9$]|\s)w\s+(\S+)")


def _sed(walk: Walk, call: Invocation) -> None:
    """sed 'w FILE' writes the lines it reads; sed -i writes what it makes of a file."""
    operands = [argument for argument in call.operands(frozenset(("-e", "-f"))) if argument.text]
    scripts = [word.text for word in call.argv[1:] if " " in word.text or "w" in word.text]
    for script in scripts[:4]:
        found = _WRITES.search(script[:1000])
        if found:
            source = flows.file_stream(walk, operands[-1].text) if len(operands) > 1 else call.stdin
            _keep(walk, found[1], source)
    if walk.state.files and any(word.startswith(("-i", "--in-place")) for word in call.words()):
        _in_place(walk, call)


def _in_place(walk: Walk, call: Invocation) -> None:
    argv = [word for word in call.argv if not word.text.startswith(("-i", "--in-place"))]
    for word in argv[2:]:
        if flows.file_stream(walk, word.text).text is not None:
            printed = outputs.output(walk, Invocation(call.name, [*argv], cwd=call.cwd, home=call.home))
            if printed.text is not None:
                flows.remember(walk, word.text, printed)


_AWK_PRINT = re.compile(r"print(?:f)?\s*\(?\s*\"((?:\\.|[^\"\\])*)\"\s*\)?\s*>>?\s*\"([^\"]+)\"")


def _awk(walk: Walk, call: Invocation) -> None:
    for word in call.words()[:6]:
        if ">" in word and "print" in word:
            for found in _AWK_PRINT.finditer(word[:4000]):
                _keep(walk, found[2], Stream(decode.escapes(found[1]) + "\n", True))


def _xxd(walk: Walk, call: Invocation) -> None:
    """xxd -r IN OUT."""
    operands = list(call.operands(frozenset(("-c", "-g", "-l", "-o", "-s", "-n"))))
    if len(operands) != 2 or not call.has("r", "-revert"):
        return
    source = call.stdin if operands[0].text in _INPUTS else flows.file_stream(walk, operands[0].text)
    recoder = decode.RECODERS.get("xxd")
    if source.text is not None and recoder is not None:
        options = [word for word in call.words() if word[:1] == "-" and word != "-"]
        text = recoder(options, source.text)
        if text is not None:
            _keep(walk, operands[1].text, Stream(text, True, source.taint, source.source))


WRITERS = {
    "dd": _dd,
    "sponge": _sponge,
    **dict.fromkeys(("install", "cp"), _copied),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    "xxd": _xxd,
}
