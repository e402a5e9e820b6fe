"""Programs of another purpose that run commands on the side: git, tar, editors, pagers, debuggers, sed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import git, shells
from .invocation import Arg, Invocation, Stream
from .wrappers import Wrapper, command_start

if TYPE_CHECKING:
    from .walk import Walk


def _texts(*options: str, joined: tuple[str, ...] = (), rest: bool = False):
    """A handler for programs that give the value of some options to a shell.

    `joined`: beginnings of words that carry the text behind them; `rest`: the operands are shell text too.
    """

    def handle(walk: Walk, call: Invocation) -> Stream | None:
        words = call.argv[1:]
        for at, word in enumerate(words):
            if word.text in options and at + 1 < len(words):
                walk.shell(words[at + 1])
            else:
                for beginning in joined:
                    if word.text.startswith(beginning) and len(word.text) > len(beginning):
                        walk.shell(Arg(word.text[len(beginning) :], False, word.taint, word.source))
                        break
        if rest:
            operands = [word for word in words if not word.text.startswith("-")]
            for operand in operands:
                if " " in operand.text:
                    walk.shell(operand)
            if operands and " " not in operands[0].text:
                first = words.index(operands[0])
                shells.joined_command(walk, call, words[first:])
        return None

    return handle


def _tar(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv[1:]
    for at, word in enumerate(words):
        text = word.text
        name, _, value = text.partition("=")
        after = words[at + 1].text if at + 1 < len(words) else ""
        if name == "--checkpoint-action" or (len(name) > 14 and "--checkpoint-action".startswith(name)):
            action = value or after
            if action.startswith("exec="):
                walk.shell(Arg(action[5:], False, word.taint, word.source))
        elif name in (
            "--to-command",
            "--use-compress-program",
            "--rsh-command",
            "--info-script",
            "--new-volume-script",
        ):
            walk.shell(Arg(value or after, False, word.taint, word.source))
        elif text in ("-I", "-F"):
            walk.shell(Arg(after))
    return None


_EDITOR_COMMAND = re.compile(
    r"^\s*(?::*\s*)?(?:silent!?\s+)?(?:!|r\s*!|%?w\s*!|call system\(|terminal\s)(.*)", re.DOTALL
)


def _editor(walk: Walk, call: Invocation) -> Stream | None:
    """vim -c ':!command', +'!command', --cmd; ex and ed with !command on the input."""
    words = call.argv[1:]
    scripts: list[str] = []
    for at, word in enumerate(words):
        if word.text in ("-c", "--cmd", "-S") and at + 1 < len(words):
            scripts.append(words[at + 1].text)
        elif word.text.startswith("+") and len(word.text) > 1:
            scripts.append(word.text[1:])
        elif word.text.startswith("-c") and len(word.text) > 2:
            scripts.append(word.text[2:])
    if call.stdin.text:
        scripts.extend(call.stdin.text.splitlines()[:50])
    for script in scripts:
        for line in re.split(r"\n|(?<!\|)\|(?!\|)", script):
            found = _EDITOR_COMMAND.match(line)
            if found:
                walk.shell(Arg(found[1].strip("'\")")))
    return None


def _debugger(walk: Walk, call: Invocation) -> Stream | None:
    """gdb --args COMMAND and -ex 'shell COMMAND'."""
    words = call.argv[1:]
    for at, word in enumerate(words):
        after = words[at + 1].text if at + 1 < len(words) else ""
        if word.text in ("--args", "-args"):
            shells.exec_words(walk, call, words[at + 1 :])
            break
        if word.text in ("-ex", "-iex", "--eval-command", "-o", "-O"):
            found = re.match(r"\s*(?:shell|!|platform shell|make)\s*(.*)", after, re.DOTALL)
            if found:
                walk.shell(Arg(found[1]))
    if call.name == "lldb" and any(word.text == "--" for word in words):
        at = next(i for i, word in enumerate(words) if word.text == "--")
        shells.exec_words(walk, call, words[at + 1 :])
    return None


def _npx(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv[1:]
    for at, word in enumerate(words):
        if word.text in ("-c", "--call") and at + 1 < len(words):
            walk.shell(words[at + 1])
            return None
        if word.text.startswith("--call="):
            walk.shell(Arg(word.text[7:]))
            return None
    begin, _ = command_start(
        call.argv, Wrapper("pc", frozenset(("--package", "--from", "--python", "--with")))
    )
    rest = call.argv[begin:]
    if rest and rest[0].text in walk.programs:
        shells.exec_words(walk, call, rest)
    return None


_SED_EXECUTES = re.compile(r"(?:^|[;{}\n0-9$/])\s*e\s+([^\n]+)")


_SED_FLAG = re.compile(r"s(.)(?:\\.|(?!\1).)*\1((?:\\.|(?!\1).)*)\1[gpiI0-9]*e", re.DOTALL)


def _sed(walk: Walk, call: Invocation) -> Stream | None:
    """GNU sed: `e command` and `s///e` run commands."""
    scripts = [
        word.text
        for word in call.argv[1:]
        if not word.text.startswith("-") or word.text.startswith("--expression=")
    ]
    for script in scripts[:4]:
        if len(script) > 2000 or ("e" not in script):
            continue
        found = _SED_EXECUTES.search(script)
        if found and not re.match(r"s.", script):
            walk.shell(Arg(found[1]))
        found = _SED_FLAG.fullmatch(script.strip())
        if found:
            walk.shell(Arg(found[2]))
    return None


def _split(walk: Walk, call: Invocation) -> Stream | None:
    return _texts("--filter", "--compress-program", joined=("--filter=", "--compress-program="))(walk, call)


_CLIENT_SHELL = re.compile(r"^\s*(?:\\!|\.shell|\.system|system|!|\\o\s*\|)\s*(.+)", re.MULTILINE)


def _database(walk: Walk, call: Invocation) -> Stream | None:
    """Clients of databases with a way out to the shell: \\! in psql and mysql, .shell in sqlite3."""
    texts = [word.text for word in call.argv[1:]]
    if call.stdin.text:
        texts.append(call.stdin.text)
    for text in texts:
        if len(text) < 20000 and ("!" in text or ".s" in text or "system" in text):
            for found in _CLIENT_SHELL.finditer(text):
                walk.shell(Arg(found[1]))
    return None


def _rsync(walk: Walk, call: Invocation) -> Stream | None:
    return _texts("-e", "--rsh", "--rsync-path", joined=("--rsh=", "--rsync-path="))(walk, call)


def _options(walk: Walk, call: Invocation) -> Stream | None:
    """scp and sftp: -o ProxyCommand=TEXT, -S PROGRAM."""
    words = call.argv[1:]
    for at, word in enumerate(words):
        after = words[at + 1].text if at + 1 < len(words) else ""
        given = after if word.text == "-o" else word.text[2:] if word.text.startswith("-o") else ""
        found = re.match(r"(?i)(?:ProxyCommand|LocalCommand)[ =](.*)", given)
        if found:
            walk.shell(Arg(found[1]))
    return None


def _pager(walk: Walk, call: Invocation) -> Stream | None:
    """less '+!command', man -P command, -H command."""
    words = call.argv[1:]
    for at, word in enumerate(words):
        if word.text.startswith(("+!", "+|")):
            walk.shell(Arg(word.text[2:]))
        elif call.name == "man" and word.text in ("-P", "--pager", "-H") and at + 1 < len(words):
            walk.shell(words[at + 1])
        elif call.name == "man" and word.text.startswith(("--pager=", "-P")):
            walk.shell(Arg(word.text.partition("=")[2] or word.text[2:]))
    return None


HANDLERS = {
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    "git": git.git,
    **dict.fromkeys(("vim", "vi", "nvim", "ex", "ed", "view", "vimdiff"), _editor),
    **dict.fromkeys(("gdb", "lldb"), _debugger),
    **dict.fromkeys(("npx", "bunx", "pnpx", "uvx", "pipx"), _npx),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("split", "sort"), _split),
    **dict.fromkeys(("psql", "mysql", "mariadb", "sqlite3", "gnuplot", "ftp", "bc", "dc"), _database),
    "rsync": _rsync,
    **dict.fromkeys(("scp", "sftp"), _options),
    **dict.fromkeys(("less", "man", "more"), _pager),
    "hyperfine": _texts("--prepare", "-p", "--setup", "-s", "--cleanup", "-c", rest=True),
    **dict.fromkeys(("concurrently", "watchexec", "nodemon", "chokidar", "onchange"),
                    _texts("-x", "--exec", "-c", "--command", joined=("--exec=",), rest=True)),
    "zip": _texts("-TT", "--unzip-command"),
}  # fmt: skip  # fmt: skip
