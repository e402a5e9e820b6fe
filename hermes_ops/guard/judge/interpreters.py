"""Interpreters of other languages: one-liners, here-documents and piped programs go to the code judge."""

from __future__ import annotations

import base64
import binascii
import re
import shlex
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

from ..code import lines
from ..code.script_values import data_address
from . import builtins, consoles, flows, names, reasons, shells
from .code_given import code, from_input, given, is_input, of_files, script
from .interpreter_options import (
    APPLESCRIPT,
    LUA,
    MONGO,
    NODE,
    PERL,
    PHP,
    PYTHON,
    RUBY,
    TCL,
    R,
    Shape,
    Words,
    read_words,
)
from .invocation import REMOTE, Arg, Invocation, Stream
from .python_modules import module

if TYPE_CHECKING:
    from .walk import Walk

# The end of the name of a file that is loaded by the name of a module.
_ENDS = {"node": (".js", ".mjs", ".cjs", ".ts", "/index.js"), "ruby": (".rb",), "lua": (".lua",)}
# A module of Perl by its name, and what it shall import.
_PLAIN_MODULE = re.compile(r"-?[\w:]+(?:=[\w:,:!/.$@%&-]*)?")


def _program(shape: Shape) -> Callable[[Walk, Invocation], Stream | None]:
    """A handler for interpreters of the usual shape: options, then a script or nothing, then arguments."""

    def handle(walk: Walk, call: Invocation) -> Stream | None:
        return run(walk, call, shape, call.argv[1:])

    return handle


def run(walk: Walk, call: Invocation, shape: Shape, words: list[Arg]) -> Stream | None:
    """Judge what an interpreter runs that is called with these words; what it prints, if that is certain."""
    read = read_words(shape, words)
    language, rest = shape.language, read.rest
    if read.module is not None:
        module(walk, call, read.module, rest)
        return None
    for path in read.loaded:
        _loaded(walk, call, language, path, rest)
    if read.code or any(not _PLAIN_MODULE.fullmatch(each.text) for each in read.used):
        return _evaluated(walk, call, language, read)
    if rest and not is_input(rest[0].text):
        if rest[0].text.startswith("data:"):
            _loaded(walk, call, language, rest[0], rest)
        else:
            if not consoles.console(walk, call, names.base(rest[0].text), rest[1:]):
                return script(walk, call, language, rest[0], rest[1:])
    elif not (read.loaded and shape is PHP):
        return from_input(walk, call, language, rest[1:])
    return None


def _evaluated(walk: Walk, call: Invocation, language: str, read: Words) -> Stream | None:
    """The code of options, with what other options put before it; what it prints, if that is certain."""
    texts = [f"use {word.text};" for word in read.used if not _PLAIN_MODULE.fullmatch(word.text)]
    texts += [word.text for word in read.code]
    taint = frozenset[str]().union(*(word.taint for word in read.code))
    source = next((word.source for word in read.code if word.source), "")
    stdin = of_files(walk, call, read.rest) if read.loops else None
    text = Arg("\n".join(texts), False, taint, source)
    about = given(walk, call, read.rest, stdin, read.loops)
    if about.printed is not None and "l" in read.flags:
        about.printed.end = "\n"
    printed = code(walk, call, language, text, about)
    if printed is None and read.shows and not any(mark in text.text for mark in (";", "\n", "//")):
        # What -p prints is the value of the expression.
        shown = Arg(f"console.log({text.text})", False, taint, source)
        printed = code(walk, call, language, shown, given(walk, call, read.rest, stdin))
    return printed


def _loaded(walk: Walk, call: Invocation, language: str, path: Arg, rest: list[Arg]) -> None:
    """A file, a module or a data: address that is run before the program."""
    text = data_address(path.text)
    if text is not None:
        code(walk, call, language, Arg(text, False, path.taint, path.source), given(walk, call, rest))
        return
    for end in ("", *_ENDS.get(language, ())):
        held = flows.file_stream(walk, path.text + end)
        if held.text is not None or held.taint:
            script(walk, call, language, Arg(path.text + end), rest)
            break


_AWK_VALUED = frozenset(("-i", "-l", "-M", "--include", "--load"))
_AWK_ASSIGNS = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<value>.*)", re.DOTALL)


def _awk(walk: Walk, call: Invocation) -> Stream | None:
    """awk OPTIONS [PROGRAM] [NAME=VALUE | FILE]..."""
    words = call.argv[1:]
    sources: list[Arg] = []
    assigned: list[tuple[str, Arg]] = []
    at = 0
    while at < len(words):
        word = words[at]
        text = word.text
        if text[:1] != "-" or text == "-":
            break
        at += 1
        if text == "--":
            break
        name, value = text[:2], text[2:]
        if text.startswith("--"):
            name, _, value = text.partition("=")
        kind = _AWK_KINDS.get(name)
        if kind is None and name not in _AWK_VALUED:
            continue
        if not value and at < len(words):
            value, word = words[at].text, words[at]
            at += 1
        given_word = Arg(value, False, word.taint, word.source)
        if kind == "file":
            sources.append(_awk_file(walk, call, given_word))
        elif kind == "text":
            sources.append(given_word)
        elif kind == "separator":
            assigned.append(("FS", given_word))
        elif kind == "variable" and (found := _AWK_ASSIGNS.fullmatch(value)):
            assigned.append((found["name"], Arg(found["value"], False, word.taint, word.source)))
    if not sources and at < len(words):
        sources.append(words[at])
        at += 1
    operands = words[at:]
    files = []
    for word in operands:
        found = _AWK_ASSIGNS.fullmatch(word.text)
        if found is None:
            files.append(word)
        else:
            assigned.append((found["name"], Arg(found["value"], False, word.taint, word.source)))
    about = given(walk, call, operands, of_files(walk, call, files), True, tuple(assigned))
    # For several lines of input it prints as often.
    once = len(sources) == 1 and (about.stdin.text or "").count("\n") <= 1
    printed = None
    for source in sources:
        if source.text or source.taint:
            printed = code(walk, call, "awk", source, about)
    return printed if once else None


_AWK_KINDS = {
    **dict.fromkeys(("-f", "-E", "--file", "--exec"), "file"),
    **dict.fromkeys(("-e", "--source"), "text"),
    **dict.fromkeys(("-v", "--assign"), "variable"),
    **dict.fromkeys(("-F", "--field-separator"), "separator"),
}


def _awk_file(walk: Walk, call: Invocation, path: Arg) -> Arg:
    """A program file of awk: its text as far as the line tells, nothing for another one."""
    stream = call.stdin if is_input(path.text) else flows.file_stream(walk, path.text)
    if stream.text is None and not stream.taint & {REMOTE}:
        return Arg("")
    return Arg(stream.text or "", False, stream.taint, stream.source)


def _powershell(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv[1:]
    for at, word in enumerate(words):
        option = word.text.lower().lstrip("-/")
        if word.text[:1] not in ("-", "/"):
            if at == 0 or words[at - 1].text[:1] != "-" or " " in word.text:
                code(walk, call, "powershell", _rest(words[at:]))
                return _said(_rest(words[at:]))
            continue
        rest = words[at + 1 :]
        if rest and option and ("command".startswith(option) or option == "c"):
            code(walk, call, "powershell", _rest(rest))
            return _said(_rest(rest))
        if rest and option and (option == "ec" or "encodedcommand".startswith(option)):
            decoded = _utf16(rest[0].text)
            if decoded is None:
                walk.report([reasons.OPAQUE_CODE.found(names.shown(call))], call)
            else:
                code(walk, call, "powershell", Arg(decoded))
            return None
    return from_input(walk, call, "powershell")


_SAID = re.compile(
    r"\s*(?:(?:Write-Output|Write-Host|echo)\s+)?(?:\"([^\"$`]*)\"|'([^']*)')\s*;?\s*", re.IGNORECASE
)
_ECHOED = re.compile(r"\s*@?echo[ .](?P<text>[^%^&|<>]*)", re.IGNORECASE)


def _said(text: Arg) -> Stream | None:
    """What PowerShell prints of one text."""
    found = _SAID.fullmatch(text.text)
    if found is None:
        return None
    return Stream((found[1] or found[2] or "") + "\n", True, text.taint, text.source)


def _utf16(text: str) -> str | None:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4)).decode("utf-16-le")
    except (binascii.Error, ValueError):
        return None


def _rest(words: list[Arg]) -> Arg:
    return Arg(
        " ".join(word.text for word in words), False, frozenset().union(*(word.taint for word in words))
    )


def _cmd(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv[1:]
    for at, word in enumerate(words):
        if word.text.lower() in ("/c", "/k", "//c", "/r") and at + 1 < len(words):
            text = _rest(words[at + 1 :])
            code(walk, call, "cmd", text)
            # A backslash at the end of a drive is an escape for the shell: C:\ came as C: with what follows.
            drives = re.sub(r"(?<!\w)([A-Za-z]):(?![\\/\w])", r"\1:\\ ", text.text)
            if drives != text.text:
                code(walk, call, "cmd", Arg(drives, False, text.taint, text.source))
            found = _ECHOED.fullmatch(text.text)
            return Stream(found["text"] + "\n", True, text.taint, text.source) if found else None
    return None


def _make(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv[1:]
    for first, second in pairwise(words):
        if first.text in ("-C", "--directory") and second.known:
            # Its recipes run in that folder.
            with walk.subshell():
                walk.shell(Arg(f"cd {shlex.quote(second.text)}"), same=True)
                return _recipes(walk, call, words)
    return _recipes(walk, call, words)


def _recipes(walk: Walk, call: Invocation, words: list[Arg]) -> Stream | None:
    for at, word in enumerate(words):
        text = word.text
        if text in ("-f", "--file", "--makefile") and at + 1 < len(words):
            _makefile(walk, call, words[at + 1])
        elif text.startswith(("--file=", "--makefile=")):
            _makefile(walk, call, Arg(text.partition("=")[2]))
        elif re.match(r"-f.", text):
            _makefile(walk, call, Arg(text[2:]))
        elif text.startswith(("--eval=", "-E")) and len(text) > 2:
            code(walk, call, "make", Arg(text.partition("=")[2] or text[2:]))
        elif text in ("--eval", "-E") and at + 1 < len(words):
            code(walk, call, "make", words[at + 1])
        elif text.startswith(("SHELL=", ".SHELLFLAGS=")):
            walk.shell(Arg(text.partition("=")[2]))
    if not any(word.text.startswith(("-f", "--file", "--makefile")) for word in words):
        for name in ("Makefile", "makefile", "GNUmakefile"):
            held = flows.file_stream(walk, name)
            if held.text is not None:
                wanted, dry = _asked_for(words)
                text = held.text if wanted is None else lines.makefile_of(held.text, wanted, dry)
                code(walk, call, "make", Arg(text, False, held.taint, held.source))
                break
    return None


def _asked_for(words: list[Arg]) -> tuple[set[str] | None, bool]:
    """The targets that make is given, None when one of them is not known; and whether it only shows."""
    plain = [word for word in words if word.text[:1] != "-" and "=" not in word.text]
    options = {word.text for word in words}
    dry = not options.isdisjoint(("-n", "--dry-run", "--just-print", "--recon"))
    return ({word.text for word in plain} if all(word.known for word in plain) else None), dry


def _makefile(walk: Walk, call: Invocation, path: Arg) -> None:
    if path.text in ("-", "/dev/stdin"):
        from_input(walk, call, "make")
    else:
        script(walk, call, "make", path)


def _deno(walk: Walk, call: Invocation) -> Stream | None:
    """deno eval CODE, deno run FILE; bun run FILE."""
    words = call.argv[1:]
    verb = words[0].text if words else ""
    if verb not in ("eval", "run"):
        return run(walk, call, NODE, words)
    at = next((at for at, word in enumerate(words[1:], 1) if word.text[:1] != "-" or word.text == "-"), 0)
    rest = words[at + 1 :]
    if at and verb == "eval":
        return code(walk, call, "node", words[at], given(walk, call, rest))
    if at:
        script(walk, call, "node", words[at], rest)
        if words[at].text.startswith(("http://", "https://")):
            builtins.origin(walk, call, frozenset((REMOTE,)), words[at].text)
    return None


def _expect(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv[1:]
    for at, word in enumerate(words):
        if word.text == "-c" and at + 1 < len(words):
            for spawned in re.findall(r"(?:spawn|exec|system)\s+([^;\n]+)", words[at + 1].text):
                walk.shell(Arg(spawned))
    if call.stdin.text:
        for spawned in re.findall(r"(?:spawn|exec|system)\s+([^;\n]+)", call.stdin.text):
            walk.shell(Arg(spawned))
    return None


def _ipython(walk: Walk, call: Invocation) -> Stream | None:
    """ipython: as python, and lines of code in its settings."""
    consoles.settings(walk, call)
    run(walk, call, PYTHON, call.argv[1:])
    return None


def _mixed(walk: Walk, call: Invocation) -> Stream | None:
    """xonsh: what reads as Python is Python, the rest is shell."""
    for at, word in enumerate(call.argv[1:-1], 1):
        if word.text == "-c":
            code(walk, call, "python", call.argv[at + 1], given(walk, call, call.argv[at + 2 :]))
    return shells.shell(walk, call)


_PYTHONS = [
    f"{name}{version}{kind}"
    for name in ("python", "pypy", "ipython", "pythonw", "graalpy", "jython", "bpython", "micropython")
    for version in ("", "2", "2.7", "3", *(f"3.{minor}" for minor in range(6, 16)))
    for kind in ("", "-dbg", "t", "d", "td", "m", "dm")
]

HANDLERS: dict[str, Callable[[Walk, Invocation], Stream | None]] = {
    **consoles.HANDLERS,
    **dict.fromkeys(_PYTHONS, _program(PYTHON)),
    **dict.fromkeys(("ipython", "ipython3"), _ipython),
    **dict.fromkeys(("node", "nodejs", "tsx", "ts-node", "esr", "swc-node", "qjs", "gjs", "electron", "zx",
                     "coffee"), _program(NODE)),
    **dict.fromkeys(("deno", "bun"), _deno),
    **dict.fromkeys(("mongosh", "mongo"), _program(MONGO)),
    **dict.fromkeys(("perl", "perl5", "raku", "rakudo", *(f"perl5.{minor}" for minor in range(20, 44))),
                    _program(PERL)),
    **dict.fromkeys(("ruby", "jruby", "irb", "truffleruby", *(f"ruby{major}.{minor}" for major in (2, 3)
                                                              for minor in range(8))), _program(RUBY)),
    **dict.fromkeys(("php", "php-cgi", *(f"php{version}" for version in (7, 8)),
                     *(f"php{major}.{minor}" for major in (7, 8) for minor in range(6))), _program(PHP)),
    **dict.fromkeys(("lua", "luajit", *(f"lua5.{minor}" for minor in range(1, 6))), _program(LUA)),
    **dict.fromkeys(("Rscript", "R", "littler"), _program(R)),
    "osascript": _program(APPLESCRIPT),
    **dict.fromkeys(("tclsh", "wish", *(f"tclsh8.{minor}" for minor in range(4, 8)), "tclsh9.0"),
                    _program(TCL)),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk", "original-awk", "goawk"), _awk),
    **dict.fromkeys(("powershell", "pwsh"), _powershell),
    "cmd": _cmd,
    **dict.fromkeys(("make", "gmake", "bmake"), _make),
    "expect": _expect,
    "xonsh": _mixed,
    **dict.fromkeys(("nu", "elvish", "osh", "oils-for-unix", "ion", "murex", "pdksh", "oksh", "loksh"),
                    shells.shell),
}  # fmt: skip
