"""Loops without an end that start the script they stand in again and again."""

from __future__ import annotations

from ..shell.tree import Command, Compound, Param, Pipeline, Script, Simple

_TRUE = frozenset((":", "true"))
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh"))


def multiplies(node: Compound) -> bool:
    """Does a loop that never ends start `$0` in the background?"""
    if not node.bodies or not _endless(node):
        return False
    return any(item.after == "&" and _is_itself(item.command) for item in node.bodies[-1].items)


def _endless(node: Compound) -> bool:
    if node.kind == "for((":
        return True
    if node.kind not in ("while", "until"):
        return False
    word = _only_word(node.bodies[0])
    return word in _TRUE if node.kind == "while" else word == "false"


def _only_word(script: Script) -> str | None:
    if len(script.items) != 1 or type(script.items[0].command) is not Simple:
        return None
    words = script.items[0].command.words
    return words[0].literal() if words else None


def _is_itself(command: Command) -> bool:
    if type(command) is Pipeline:
        return any(_is_itself(each) for each in command.commands)
    if type(command) is not Simple:
        return False
    words = command.words
    if len(words) > 1 and words[0].literal() in _SHELLS:
        words = words[1:]
    parts = words[0].parts if words else ()
    return len(words) == 1 and len(parts) == 1 and type(parts[0]) is Param and parts[0].name == "0"
