"""What git runs besides itself: aliases, foreach, bisect, filters, pagers and other helpers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import shells
from .invocation import Arg, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk

_RUN_KEYS = re.compile(
    r"(?i)(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy)|sequence\.editor|pager\.\S+|diff\.external"
    r"|(?:diff|merge)(?:tool)?\.\S+\.(?:cmd|command|driver|textconv)|filter\.\S+\.(?:clean|smudge|process)"
    r"|credential\.(?:\S+\.)?helper|gpg\.(?:\S+\.)?program|uploadpack\.packobjectshook|interactive\.difffilter)$"
)


_FILTERS = (
    "--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter",
    "--parent-filter", "--tag-name-filter", "--setup",
)  # fmt: skip


def setting(walk: Walk, key: str, value: Arg) -> None:
    """A setting of git that is a command."""
    text = value.text
    if key.lower().startswith("alias."):
        if text.startswith("!"):
            walk.shell(Arg(text[1:] + ' "$@"', False, value.taint, value.source))
        elif text and not text.startswith("\0"):
            walk.shell(Arg("git " + text, False, value.taint, value.source))
    elif _RUN_KEYS.match(key):
        walk.shell(Arg(text.lstrip("!"), False, value.taint, value.source))


def git(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv[1:]
    at = 0
    aliases: dict[str, Arg] = {}
    while at < len(words) and words[at].text.startswith("-"):
        text = words[at].text
        if text == "-c" and at + 1 < len(words):
            key, _, value = words[at + 1].text.partition("=")
            given = Arg(value, False, words[at + 1].taint, words[at + 1].source)
            setting(walk, key, given)
            if key.startswith("alias."):
                aliases[key[6:]] = given
        at += (
            2
            if text in ("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env")
            else 1
        )
    if at >= len(words):
        return None
    verb = words[at].text
    rest = words[at + 1 :]
    texts = [word.text for word in rest]
    if verb in aliases and not aliases[verb].text.startswith("!"):
        return walk.words(
            [Arg("git"), *(Arg(word) for word in aliases[verb].text.split()), *rest], call.stdin
        )
    if verb == "config":
        _config(walk, rest)
    elif verb == "submodule" and "foreach" in texts:
        command = [
            word for word in rest[texts.index("foreach") + 1 :] if word.text not in ("--recursive", "--quiet")
        ]
        shells.joined_command(walk, call, command)
    elif verb == "bisect" and texts[:1] == ["run"]:
        shells.exec_words(walk, call, rest[1:])
    elif verb in (
        "rebase",
        "filter-branch",
        "difftool",
        "grep",
        "mergetool",
        "clone",
        "fetch",
        "push",
        "archive",
    ):
        _options(walk, verb, rest)
    return None


def _config(walk: Walk, rest: list[Arg]) -> None:
    operands = [word for word in rest if not word.text.startswith("-") or word.text == "-"]
    if operands and operands[0].text == "set":
        operands = operands[1:]
    # `-f FILE` and `--file FILE` name a file before the key.
    if len(operands) > 2 and any(word.text in ("-f", "--file", "--blob") for word in rest):
        operands = operands[1:]
    if len(operands) >= 2:
        setting(walk, operands[0].text, operands[1])


def _options(walk: Walk, verb: str, rest: list[Arg]) -> None:
    runs = {
        "rebase": ("--exec", "-x"),
        "filter-branch": _FILTERS,
        "difftool": ("-x", "--extcmd"),
        "grep": ("-O", "--open-files-in-pager"),
        "clone": ("-u", "--upload-pack", "-c", "--config"),
        "fetch": ("--upload-pack",),
        "push": ("--receive-pack", "--exec"),
        "archive": ("--exec",),
        "mergetool": (),
    }[verb]  # fmt: skip
    for at, word in enumerate(rest):
        name, equals, value = word.text.partition("=")
        if name in runs:
            given = Arg(value, False, word.taint) if equals and name.startswith("--") else None
            if given is None and at + 1 < len(rest):
                given = rest[at + 1]
            if given is None:
                continue
            if name in ("-c", "--config"):
                key, _, text = given.text.partition("=")
                setting(walk, key, Arg(text))
            else:
                walk.shell(given)
        elif word.text.startswith(("ext::", "-x")) and len(word.text) > 5:
            walk.shell(Arg(word.text.removeprefix("ext::").removeprefix("-x")))
