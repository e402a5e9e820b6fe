"""Interpreters of other languages: one-liners, here-documents and piped programs go to the code judge."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..code.judge import judge_code
from . import builtins, flows, names, reasons
from .invocation import OPAQUE, REMOTE, UNKNOWN, Arg, Invocation, Stream

if TYPE_CHECKING:
    from .walk import Walk


LONGEST_CODE = 50_000


def code(walk: Walk, call: Invocation, language: str, text: Arg) -> None:
    """Judge code of another language; shell text it would run is judged by this walk."""
    if text.taint & {REMOTE, OPAQUE}:
        builtins.origin(walk, call, text.taint, text.source)
    elif text.text == UNKNOWN:
        walk.report([reasons.OPAQUE_CODE.found(names.shown(call))], call)
        return
    source = text.text.replace(UNKNOWN, "_") if UNKNOWN in text.text else text.text
    if len(source) > LONGEST_CODE and language != "python":
        # Python's judge has a bound of its own; of the others the rest is asked about, unseen.
        walk.report([reasons.LIMIT.found(names.shown(call), f"{len(source)} characters of {language}")], call)
        source = source[:LONGEST_CODE]
    found = judge_code(language, source, walk.captured, walk.home, walk.folder().path, walk.hermes_home)
    if found:
        walk.report(found, call)


def _program(
    language: str, inline: str, valued: str = "", long: tuple[str, ...] = (), modules: str = ""
) -> Callable[[Walk, Invocation], Stream | None]:
    """A handler for interpreters of the usual shape: options, then a script or nothing, then arguments.

    `inline`: short options whose value is code; `valued`: short ones that take another word; `long`: long
    options whose value is code; `modules`: a short option that names a module and ends the options.
    """

    def handle(walk: Walk, call: Invocation) -> Stream | None:
        words = call.argv[1:]
        at = 0
        found = False
        while at < len(words):
            text = words[at].text
            if text in ("-", "/dev/stdin") or text[:1] != "-":
                break
            at += 1
            if text == "--":
                break
            if text.startswith("--"):
                name, equals, value = text.partition("=")
                if name in long:
                    given = Arg(value, False, words[at - 1].taint) if equals else _next(words, at)
                    at += not equals
                    if given is not None:
                        code(walk, call, language, given)
                        found = True
                continue
            if text in long:
                given = _next(words, at)
                at += 1
                if given is not None:
                    code(walk, call, language, given)
                    found = True
                continue
            for place, letter in enumerate(text[1:], 2):
                if letter in inline:
                    given = (
                        Arg(text[place:], False, words[at - 1].taint)
                        if place < len(text)
                        else _next(words, at)
                    )
                    at += place >= len(text)
                    if given is not None:
                        code(walk, call, language, given)
                        found = True
                    break
                if letter in modules:
                    return None
                if letter in valued:
                    at += place >= len(text)
                    break
        if found:
            return None
        if at < len(words) and words[at].text not in ("-", "/dev/stdin"):
            script(walk, call, language, words[at])
        else:
            from_input(walk, call, language)
        return None

    return handle


def _next(words: list[Arg], at: int) -> Arg | None:
    return words[at] if at < len(words) else None


def script(walk: Walk, call: Invocation, language: str, path: Arg) -> None:
    """A script file: judged when this line wrote it, reported when it came from somewhere unknown."""
    stream = flows.file_stream(walk, path.text)
    taint = stream.taint or path.taint
    if stream.text is not None:
        code(walk, call, language, Arg(stream.text, False, stream.taint, stream.source))
    elif taint & {REMOTE, OPAQUE}:
        builtins.origin(walk, call, taint, stream.source or path.source)


def from_input(walk: Walk, call: Invocation, language: str) -> None:
    """A program on stdin."""
    stdin = call.stdin
    if not stdin.piped:
        return
    if stdin.text is not None:
        code(walk, call, language, Arg(stdin.text, False, stdin.taint, stdin.source))
        whole, newline, last = stdin.text.rpartition("\n")
        if newline and last.strip():
            # A last line without an end may be the broken end of a here-document, which is no code.
            code(walk, call, language, Arg(whole, False, stdin.taint, stdin.source))
    elif stdin.taint & {REMOTE, OPAQUE}:
        builtins.origin(walk, call, stdin.taint, stdin.source)
    elif stdin is not flows.LOCAL:
        walk.report([reasons.OPAQUE_CODE.found(names.shown(call))], call)


def _awk(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv[1:]
    at = 0
    has_file = False
    while at < len(words):
        text = words[at].text
        if text[:1] != "-" or text == "-":
            break
        at += 1
        if text == "--":
            break
        if text in ("-f", "--file") and at < len(words):
            script(walk, call, "awk", words[at])
            has_file = True
            at += 1
        elif text in ("-e", "--source") and at < len(words):
            code(walk, call, "awk", words[at])
            has_file = True
            at += 1
        elif text in ("-F", "-v", "-i", "-l", "--assign", "--field-separator", "--include", "--load"):
            at += 1
    if not has_file and at < len(words):
        code(walk, call, "awk", words[at])
    return None


def _powershell(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv[1:]
    for at, word in enumerate(words):
        option = word.text.lower().lstrip("-/")
        if word.text[:1] not in ("-", "/"):
            if at == 0 or words[at - 1].text[:1] != "-" or " " in word.text:
                code(walk, call, "powershell", _rest(words[at:]))
                return None
            continue
        rest = words[at + 1 :]
        if rest and option and ("command".startswith(option) or option == "c"):
            code(walk, call, "powershell", _rest(rest))
            return None
        if rest and option and (option == "ec" or "encodedcommand".startswith(option)):
            decoded = _utf16(rest[0].text)
            if decoded is None:
                walk.report([reasons.OPAQUE_CODE.found(names.shown(call))], call)
            else:
                code(walk, call, "powershell", Arg(decoded))
            return None
    from_input(walk, call, "powershell")
    return None


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
            return None
    return None


def _make(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv[1:]
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
                code(walk, call, "make", Arg(held.text, False, held.taint, held.source))
                break
    return None


def _makefile(walk: Walk, call: Invocation, path: Arg) -> None:
    if path.text in ("-", "/dev/stdin"):
        from_input(walk, call, "make")
    else:
        script(walk, call, "make", path)


def _deno(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv[1:]
    if words and words[0].text == "eval":
        given = next((word for word in words[1:] if not word.text.startswith("-")), None)
        if given is not None:
            code(walk, call, "node", given)
    elif words and words[0].text == "run":
        path = next((word for word in words[1:] if not word.text.startswith("-")), None)
        if path is not None and path.text == "-":
            from_input(walk, call, "node")
        elif path is not None:
            script(walk, call, "node", path)
            if path.text.startswith(("http://", "https://")):
                builtins.origin(walk, call, frozenset((REMOTE,)), path.text)
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


_python = _program("python", "c", "WXQ", modules="m")
_node = _program("node", "ep", "rCL", ("--eval", "--print", "-pe"))
_perl = _program("perl", "eE", "IMmCDx")
_ruby = _program("ruby", "e", "IrECKTWFx")
_php = _program("php", "rRBE", "cdfSt")
_lua = _program("lua", "e", "l")
_r = _program("r", "e", "", ("-e",))
_osascript = _program("applescript", "e", "ls")
_tcl = _program("tcl", "")


HANDLERS: dict[str, Callable[[Walk, Invocation], Stream | None]] = {
    **dict.fromkeys(
        (*["python", "python2", "python3", "pypy", "pypy3", "ipython", "ipython3", "micropython"],
         *(f"python3.{minor}" for minor in range(6, 16)), "python2.7"), _python),
    **dict.fromkeys(("node", "nodejs", "bun", "tsx", "ts-node", "qjs", "electron"), _node),
    "deno": _deno,
    **dict.fromkeys(("perl", "perl5", "raku"), _perl),
    **dict.fromkeys(("ruby", "jruby", "irb"), _ruby),
    **dict.fromkeys(("php", "php7", "php8", "php8.1", "php8.2", "php8.3"), _php),
    **dict.fromkeys(("lua", "luajit", "lua5.1", "lua5.3", "lua5.4"), _lua),
    **dict.fromkeys(("Rscript", "R"), _r),
    "osascript": _osascript,
    **dict.fromkeys(("tclsh", "wish"), _tcl),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys(("powershell", "pwsh"), _powershell),
    "cmd": _cmd,
    **dict.fromkeys(("make", "gmake", "bmake"), _make),
    "expect": _expect,
}  # fmt: skip
