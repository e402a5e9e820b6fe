"""Programs of another purpose that run commands on the side: git, tar, editors, pagers, debuggers, sed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..rules.names import names as listed
from . import commands_in_options, editors, git, interpreters, macros, other_languages, shells
from .invocation import Arg, Invocation, Stream
from .made_again import MAKERS
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


_ACTION = "--checkpoint-action"


def _tar(walk: Walk, call: Invocation) -> Stream | None:
    for _, action in commands_in_options.values(call.argv[1:], frozenset((_ACTION,))):
        if action.text.startswith("exec="):
            walk.shell(Arg(action.text[5:], False, action.taint, action.source))
    return commands_in_options.run(walk, call)


_CALLS = frozenset(("-c", "--call"))
_NPX = Wrapper("pc", frozenset(("--package", "--from", "--python", "--with", "--call")))
_PIPX = Wrapper("", frozenset(("--spec", "--python", "--pip-args", "--index-url")), verbs=frozenset(("run",)))


def _npx(walk: Walk, call: Invocation) -> Stream | None:
    begin, _ = command_start(call.argv, _PIPX if call.name == "pipx" else _NPX)
    if _called(walk, call.argv[1:begin]):
        return None
    rest = call.argv[begin:]
    if rest and (rest[0].text in walk.programs or rest[0].text in MAKERS):
        shells.exec_words(walk, call, rest)
    return None


def _called(walk: Walk, words: list[Arg]) -> bool:
    """The shell text that an option of npx or of npm exec holds; False when there is none."""
    for at, word in enumerate(words):
        if word.text in _CALLS and at + 1 < len(words):
            walk.shell(words[at + 1])
            return True
        if word.text.startswith("--call="):
            walk.shell(Arg(word.text[7:]))
            return True
    return False


def _npm(walk: Walk, call: Invocation) -> Stream | None:
    """npm exec -c TEXT. What npm exec runs otherwise is peeled off as by any wrapper."""
    words = call.argv[1:]
    if any(word.text in ("exec", "x", "dlx") for word in words[:6]):
        _called(walk, words)
    return None


_SED_EXECUTES = re.compile(r"(?:^|[;{}\n0-9$/])\s*e\s+([^\n]+)")


_SED_FLAG = re.compile(r"s([^\\])(?:\\.|(?!\1)[^\\])*\1((?:\\.|(?!\1)[^\\])*)\1[gpiI0-9]*e", re.DOTALL)


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


_CLIENT_SHELL = re.compile(
    r"^\s*(?:\\!\s*|\.shell\s|\.system\s|system\s|!\s*)(.+)"
    r"|\\(?:gx?|o|w|out|copy\s.*?\sprogram)\s*\|\s*(.+)"
    r"|^\s*\.(?:output|once|import|log|excel)\s+['\"]?\|\s*(.+)",
    re.MULTILINE,
)
_COPIED_PROGRAM = re.compile(r"(?i)\bPROGRAM\s+E?'((?:''|[^'])+)'")


def _database(walk: Walk, call: Invocation) -> Stream | None:
    """Clients of databases with a way out to the shell: \\! in psql and mysql, .shell in sqlite3."""
    texts = [word.text for word in call.argv[1:]]
    if call.stdin.text:
        texts.append(call.stdin.text)
    for text in texts:
        if len(text) > 20_000:
            continue
        if "!" in text or ".s" in text or "system" in text or "|" in text:
            for found in _CLIENT_SHELL.finditer(text):
                walk.shell(Arg(found[1] or (found[2] or found[3]).rstrip("'\"")))
        for found in _COPIED_PROGRAM.finditer(text):
            walk.shell(Arg(found[1].replace("''", "'")))
    if call.name in ("mysql", "mariadb"):
        commands_in_options.run(walk, call)
    return None


def _redis(walk: Walk, call: Invocation) -> Stream | None:
    """redis-cli eval CODE: Lua."""
    words = call.argv
    for at, word in enumerate(words[:-1]):
        if word.text.lower() in ("eval", "eval_ro"):
            interpreters.code(walk, call, "lua", words[at + 1])
            break
        if word.text == "--eval":
            interpreters.script(walk, call, "lua", words[at + 1])
    return None


def _pager(walk: Walk, call: Invocation) -> Stream | None:
    """less '+!command', man -P command, -H command; options of less in a variable."""
    words = call.argv[1:]
    kept = call.environment.get("LESS") or walk.parameter("LESS")
    if kept is not None and "+" in kept.text:
        words = [*words, Arg("+" + kept.text.partition("+")[2], False, kept.taint, kept.source)]
    for at, word in enumerate(words):
        if word.text.startswith(("+!", "+|")):
            walk.shell(Arg(word.text[2:]))
        elif call.name == "man" and word.text in ("-P", "--pager", "-H") and at + 1 < len(words):
            walk.shell(words[at + 1])
        elif call.name == "man" and word.text.startswith(("--pager=", "-P")):
            walk.shell(Arg(word.text.partition("=")[2] or word.text[2:]))
    return None


def _entr(walk: Walk, call: Invocation) -> Stream | None:
    """entr COMMAND; with -s its first word is shell text."""
    begin, _ = command_start(call.argv, Wrapper())
    if begin < len(call.argv) and any("s" in word.text for word in call.argv[1:begin]):
        return walk.shell(call.argv[begin])
    return shells.exec_words(walk, call, call.argv[begin:])


def _capsh(walk: Walk, call: Invocation) -> Stream | None:
    """capsh OPTIONS -- ARGUMENTS OF BASH."""
    for at, word in enumerate(call.argv):
        if word.text in ("--", "=="):
            return shells.exec_words(walk, call, [Arg("bash"), *call.argv[at + 1 :]])
    return None


def _coreutils(walk: Walk, call: Invocation) -> Stream | None:
    """One binary for many programs: coreutils --coreutils-prog=NAME ARGUMENTS."""
    words = call.argv[1:]
    for at, word in enumerate(words):
        option, equals, name = word.text.partition("=")
        if equals and option.startswith("--coreutils-prog"):
            return shells.exec_words(walk, call, [Arg(name), *words[at + 1 :]])
    return shells.exec_words(walk, call, words)


def _run_parts(walk: Walk, call: Invocation) -> Stream | None:
    """run-parts runs every program of a folder, or those that a pattern names, with some arguments."""
    given: list[Arg] = []
    pattern = folder = ""
    words = iter(call.argv[1:])
    for word in words:
        option, _, value = word.text.partition("=")
        if option in ("-a", "--arg"):
            given.append(Arg(value) if value else next(words, Arg("")))
        elif option == "--regex":
            pattern = value or next(words, Arg("")).text
        elif option[:1] != "-":
            folder = word.text.rstrip("/")
    name = re.sub(r"[\^$()]", "", pattern)
    if name and given:
        shells.exec_words(walk, call, [Arg(f"{folder}/{name}"), *given])
    return None


_ADDRESS = re.compile(r"(?i)(?:EXEC|SYSTEM|SHELL):((?:\\.|[^,\\])+)")


def _socat(walk: Walk, call: Invocation) -> Stream | None:
    """socat EXEC:command and SYSTEM:text."""
    for word in call.argv[1:]:
        for found in _ADDRESS.finditer(word.text[:4000]):
            walk.shell(Arg(found[1], False, word.taint, word.source))
    return None


HANDLERS = {
    **commands_in_options.HANDLERS,
    **other_languages.HANDLERS,
    **macros.HANDLERS,
    **editors.HANDLERS,
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    "git": git.git,
    **dict.fromkeys(("npx", "bunx", "pnpx", "uvx", "pipx"), _npx),
    **dict.fromkeys(("npm", "pnpm"), _npm),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(listed("psql mysql mariadb sqlite3 duckdb usql pgcli ftp bc dc"), _database),
    **dict.fromkeys(("redis-cli", "valkey-cli"), _redis),
    **dict.fromkeys(("less", "man", "more"), _pager),
    "hyperfine": _texts("--prepare", "-p", "--setup", "-s", "--cleanup", "-c", rest=True),
    **dict.fromkeys(("concurrently", "watchexec", "nodemon", "chokidar", "onchange"),
                    _texts("-x", "--exec", "-c", "--command", joined=("--exec=",), rest=True)),
    "entr": _entr,
    "capsh": _capsh,
    "coreutils": _coreutils,
    "run-parts": _run_parts,
    "socat": _socat,
}  # fmt: skip
