"""Links and bind mounts that this line makes: what a path through one of them leads to."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from . import flows
from .invocation import UNKNOWN, Arg, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk

_DEEPEST = 4
_TARGET = re.compile(r"-[bdfFiLnPrsTv]*t|--target-directory")
_LN_VALUED = frozenset(("-S", "--suffix"))
_MOUNT_VALUED = frozenset(("-o", "-t", "--options", "--types", "-O", "-L", "-U"))


def made(walk: Walk, call: Invocation) -> None:
    """`ln -s TARGET NAME`: NAME leads to TARGET from here on."""
    if not call.has("s", "--symbolic"):
        return
    operands = list(call.operands(_LN_VALUED))
    folder = next((value for value in _targets(call)), None)
    if folder is not None:
        operands = [arg for arg in operands if arg.text != folder]
    elif len(operands) == 1:
        folder = "."
    if folder is not None:
        for arg in operands:
            _add(walk, arg.text, posixpath.join(folder, posixpath.basename(arg.text.rstrip("/"))))
    elif len(operands) >= 2:
        name = operands[-1].text
        for arg in operands[:-1]:
            _add(walk, arg.text, name)
            _add(walk, arg.text, posixpath.join(name, posixpath.basename(arg.text.rstrip("/"))))


def _targets(call: Invocation) -> list[str]:
    words = call.words()
    found = [words[at + 1] for at, word in enumerate(words[:-1]) if _TARGET.fullmatch(word)]
    return found + [word.partition("=")[2] for word in words if word.startswith("--target-directory=")]


def _add(walk: Walk, target: str, name: str) -> None:
    if UNKNOWN in target[:1] or UNKNOWN in name or not target or not name:
        return
    key = walk.state.file_key(name, walk.folder().path)
    if not target.startswith("/"):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(key), target))
    if target != key:
        walk.links[key] = target


def mounted(walk: Walk, call: Invocation) -> Stream:
    """`mount --bind FOLDER PLACE`: what is in PLACE is what is in FOLDER."""
    words = call.words()
    operands = [arg.text for arg in call.operands(_MOUNT_VALUED)]
    options = ",".join(words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-o", "--options"))
    binds = bool({"--bind", "--rbind", "-B", "-R"} & set(words)) or "bind" in options.split(",")
    if call.name == "mount" and binds and len(operands) == 2:
        _add(walk, operands[0], operands[1])
        walk.mounts.add(walk.state.file_key(operands[1], walk.folder().path))
    elif call.name == "umount":
        for operand in operands:
            walk.links.pop(walk.state.file_key(operand, walk.folder().path), None)
    return flows.ANYTHING


def through(walk: Walk, text: str, follows: bool = False) -> str:
    """The path behind the links on the way; `follows`: also behind a link that it ends with."""
    for _ in range(_DEEPEST):
        further = _once(walk, text, follows)
        if further is None:
            break
        text = further
    return text


def _once(walk: Walk, text: str, follows: bool) -> str | None:
    if not text or text[0] == "-":
        return None
    cwd = walk.folder().path
    pieces = text.split("/")
    for end in range(len(pieces), 0, -1):
        key = walk.state.file_key("/".join(pieces[:end]) or "/", cwd)
        target = walk.links.get(key)
        if target is None:
            continue
        if end < len(pieces) or follows or key in walk.mounts:
            return "/".join([target.rstrip("/"), *pieces[end:]]) or "/"
    return None


def resolved(walk: Walk, words: list[Arg]) -> list[Arg]:
    """The words of a command, with the paths that go through a link."""
    found = words
    if words[0].text == "umount":
        return found
    for at, word in enumerate(words[1:], 1):
        text = through(walk, word.text)
        if text != word.text:
            found = words.copy() if found is words else found
            found[at] = Arg(text, word.glob, word.taint, word.source)
    return found
