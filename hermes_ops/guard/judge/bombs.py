"""What starts itself, or anything, again and again without an end, and so fills the machine."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from ..rules.names import names as listed
from ..shell.tree import Command, Compound, Item, Param, Pipeline, Script, Simple, Word

_TRUE = frozenset((":", "true"))
_SHELLS = listed("sh bash dash zsh ksh")
# Words that may stand before the program that they start.
_STARTERS = _SHELLS | listed("exec nohup setsid command . source time")
_ITSELF = frozenset(("0", "BASH_SOURCE"))
_ALL_ARGUMENTS = frozenset(("@", "*"))
_FOREVER = re.compile(r"\s*(?:for\s*\(\([^;]*;\s*(?:1|true)?\s*;|while\s*\(\(\s*(?:1|true)\s*\)\))")
_LOOPS = frozenset(("while", "until", "for(("))
_GROUPS = frozenset(("group", "subshell"))
_RUNNING = _LOOPS | _GROUPS | {"for"}
_ENDS = re.compile(r"\b(?:exit|return)\b")
_LONGEST_HEAD = 200
_DEEPEST = 8


def multiplies(node: Compound, text: str, zeroth: str) -> bool:
    """Does a loop that never ends start its own script, or wait for nothing that it starts?"""
    if not node.bodies or node.kind not in _LOOPS:
        return False
    items = node.bodies[-1].items
    if not any(item.after == "&" for item in items):
        return False
    endless = _endless(node, text[node.span[0] : node.span[0] + _LONGEST_HEAD])
    if (endless or node.kind == "for((") and any(_starts_itself(item, zeroth) for item in items):
        return True
    return endless and all(item.after == "&" for item in items)


def _endless(node: Compound, head: str) -> bool:
    if _FOREVER.match(head):
        return True
    if node.kind == "for((":
        return False
    word = _only_word(node.bodies[0])
    return word in _TRUE if node.kind == "while" else word == "false"


def _only_word(script: Script) -> str | None:
    if len(script.items) != 1 or type(script.items[0].command) is not Simple:
        return None
    words = script.items[0].command.words
    return words[0].literal() if words else None


def _starts_itself(item: Item, zeroth: str) -> bool:
    return item.after == "&" and _is_itself(item.command, zeroth)


def restarts(script: Script, text: str, zeroth: str) -> bool:
    """Does a script start itself twice over, at once and whatever happens?"""
    if not ("$0" in text or "${0" in text or "BASH_SOURCE" in text or posixpath.basename(zeroth) in text):
        return False
    ends = _ENDS.search(text)
    starts, together = _starts(script.items, ends.start() if ends else len(text), zeroth, _DEEPEST)
    return starts > 1 and together


def _starts(items: Sequence[Item], end: int, zeroth: str, deepest: int) -> tuple[int, bool]:
    """How often a list starts its script, and whether it does so without waiting. Not behind `end`."""
    count, together = 0, False
    after = ""
    for item in items:
        sure = after not in ("&&", "||")
        after = item.after
        if not sure or not deepest:
            continue
        command = item.command
        pipeline = command.commands if type(command) is Pipeline else (command,)
        before = count
        for part in pipeline:
            if type(part) is Compound and part.bodies and part.kind in _RUNNING:
                loops = part.kind not in _GROUPS
                if loops and any(_starts_itself(each, zeroth) for each in part.bodies[-1].items):
                    return 2, True
                for body in () if loops else part.bodies:
                    more, background = _starts(body.items, end, zeroth, deepest - 1)
                    count += more
                    together = together or background
            elif part.span[0] < end and _is_itself(part, zeroth):
                count += 1
        if count > before and (item.after == "&" or len(pipeline) > 1):
            together = True
    return count, together


def _is_itself(command: Command, zeroth: str) -> bool:
    """Is a command the script that it stands in, with no arguments but those that the script was given?"""
    if type(command) is Pipeline:
        return any(_is_itself(each, zeroth) for each in command.commands)
    if type(command) is not Simple or command.assignments:
        return False
    words = command.words
    at = 0
    while at < len(words) - 1 and words[at].literal() in _STARTERS:
        at += 1
    if not words or not all(_is_parameter(word, _ALL_ARGUMENTS) for word in words[at + 1 :]):
        return False
    name = words[at].literal()
    if name is None:
        return _is_parameter(words[at], _ITSELF)
    return posixpath.normpath(name) == posixpath.normpath(zeroth)


def _is_parameter(word: Word, names: frozenset[str]) -> bool:
    parts = word.parts
    return len(parts) == 1 and type(parts[0]) is Param and parts[0].name in names
