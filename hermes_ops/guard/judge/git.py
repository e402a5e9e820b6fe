"""What git runs besides itself: aliases, foreach, bisect, filters, pagers and other helpers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..rules.git import SECRET_ADDED
from ..rules.names import names as listed
from ..rules.sending import SENT
from . import flows, names, shells
from .invocation import Arg, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk

_RUN_KEYS = re.compile(
    r"(?i)(?:core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy)|sequence\.editor|pager\.\S+|diff\.external"
    r"|(?:diff|merge)(?:tool)?\.\S+\.(?:cmd|command|driver|textconv)|filter\.\S+\.(?:clean|smudge|process)"
    r"|credential\.(?:\S+\.)?helper|man\.\S+\.cmd|browser\.\S+\.cmd|sendemail\.\S*cmd|gpg\.(?:\S+\.)?program|uploadpack\.packobjectshook|interactive\.difffilter)$"
)


_CONNECTS = listed("clone fetch pull push ls-remote remote submodule archive fetch-pack send-pack")
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
    elif key.lower().startswith("include") and key.lower().endswith(".path"):
        _included(walk, value)
    elif _RUN_KEYS.match(key):
        walk.shell(Arg(text.lstrip("!"), False, value.taint, value.source))


_SECTION = re.compile(r"\s*\[\s*([\w.-]+)(?:\s+\"([^\"]*)\")?\s*\]\s*(.*)")
_ENTRY = re.compile(r"\s*([\w-]+)\s*=\s*(.*)")
MOST_LINES = 200


def configured(walk: Walk, text: Arg) -> None:
    """The settings of a configuration file of git that are commands."""
    section = ""
    for line in text.text.replace("\\\n", "").splitlines()[:MOST_LINES]:
        found = _SECTION.match(line)
        if found:
            section = f"{found[1]}.{found[2]}" if found[2] else found[1]
            line = found[3]
        entry = _ENTRY.match(line)
        if entry and section:
            value = entry[2].strip()
            if value[:1] == value[-1:] == '"' and len(value) > 1:
                value = value[1:-1].replace('\\"', '"')
            setting(walk, f"{section}.{entry[1]}", Arg(value, False, text.taint, text.source))


_FILES = (".git/config", "~/.gitconfig", "~/.config/git/config", "/etc/gitconfig")
_PARAMETER = re.compile(r"'([^'=]+)(?:=|'=')([^']*)'")


def _environment(walk: Walk, call: Invocation) -> None:
    """What variables and the configuration files that this line wrote give to git."""
    for name, value in call.environment.items():
        if name.startswith("GIT_CONFIG_KEY_"):
            given = call.environment.get(name.replace("_KEY_", "_VALUE_"))
            if given is not None:
                setting(walk, value.text, given)
        elif name == "GIT_CONFIG_PARAMETERS":
            for found in _PARAMETER.finditer(value.text):
                setting(walk, found[1], Arg(found[2], False, value.taint, value.source))
    if walk.state.files:
        named = [call.environment.get(f"GIT_CONFIG{kind}") for kind in ("_GLOBAL", "_SYSTEM", "")]
        for path in (*_FILES, *(value.text for value in named if value is not None)):
            _included(walk, Arg(path))


def _included(walk: Walk, path: Arg) -> None:
    """Another configuration file, as far as this line wrote it."""
    text = walk.home + path.text[1:] if path.text.startswith("~/") else path.text
    held = flows.file_stream(walk, text)
    if held.text is not None:
        configured(walk, Arg(held.text, False, held.taint, held.source))


def _transport(walk: Walk, words: list[Arg]) -> None:
    """ext::COMMAND, where "% " is a blank inside a word."""
    for word in words:
        before, found, text = word.text.partition("ext::")
        if found and (not before or before[-1] in "='\""):
            walk.shell(Arg(text.replace("% ", "\\ ").replace("%%", "%"), False, word.taint, word.source))


def git(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv[1:]
    if call.environment or walk.state.files:
        _environment(walk, call)
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
    if verb in _CONNECTS:
        _transport(walk, rest)
    texts = [word.text for word in rest]
    if verb in aliases and not aliases[verb].text.startswith("!"):
        return walk.words(
            [Arg("git"), *(Arg(word) for word in aliases[verb].text.split()), *rest], call.stdin
        )
    if verb == "push":
        _pushed(walk, call)
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


def _pushed(walk: Walk, call: Invocation) -> None:
    """Credentials that this line has put under version control go to the server."""
    added = next((found for found in walk.findings if found.rule == SECRET_ADDED.id), None)
    if added is not None and not call.has("n", "--dry-run"):
        walk.report([SENT.found(names.shown(call), "what was added before")], call)


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
        elif word.text.startswith("-x") and len(word.text) > 5:
            walk.shell(Arg(word.text.removeprefix("-x")))
