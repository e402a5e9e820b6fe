"""The working tree that a git command works on, and whether it is one that must not be cleaned."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from ..judge.invocation import UNKNOWN, Arg, Invocation
from ..verdict import Verdict
from .names import names
from .paths import Place
from .removal import is_vital, located, removal
from .rule import block
from .verbs import has, plain

CLEANED = block(
    "git.system-cleaned",
    "empties a home, the system or the agent's state of all that a repository does not hold",
    "name the one folder that is meant",
)

_TREE, _GIT_FOLDER = "--work-tree", "--git-dir"
_SETTING = "core.worktree="
# What stands for all of the tree.
_WHOLE = names(". ./ * :/ :")


def folders(invocation: Invocation, verb_at: int) -> tuple[str, str]:
    """The folder that git is started in and the working tree, as far as the options before the verb tell."""
    here = invocation.cwd or "."
    given = invocation.environment.get("GIT_WORK_TREE")
    tree = given.text if given is not None else ""
    words = invocation.words()[:verb_at]
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        if word == "-C":
            here = _joined(here, after)
        elif word == _TREE:
            tree = after
        elif word.startswith(_TREE + "="):
            tree = word.partition("=")[2]
        elif word == "-c" and after.lower().startswith(_SETTING):
            tree = after[len(_SETTING) :]
    return here, _joined(here, tree) if tree else here


def _joined(folder: str, path: str) -> str:
    return path if path.startswith("~") else posixpath.join(folder, path)


def cleans(invocation: Invocation, verb: str, rest: Sequence[Arg]) -> bool:
    """Does `git clean` or `git rm -r` empty a home, a folder that the system needs, or the agent's state?"""
    arguments = list(rest)
    here, tree = folders(invocation, len(invocation.arguments) - len(arguments) - 1)
    if verb == "rm" and not has(arguments, "r"):
        return False
    paths = [each.text for each in plain(arguments, names("-e --exclude"))]
    if verb == "clean" and not paths:
        paths = ["."] if tree == here else [tree]
    return any(
        _is_held(
            invocation, tree if path in _WHOLE and tree != here else _joined(here, path.rstrip("*") or ".")
        )
        for path in paths
        if UNKNOWN not in path
    )


def _is_held(invocation: Invocation, path: str) -> bool:
    where = located(invocation, Arg(path))
    rule = removal(where, True, invocation)
    if rule is None or rule.verdict is not Verdict.BLOCK:
        return False
    return where.place is not Place.SYSTEM or is_vital(where)
