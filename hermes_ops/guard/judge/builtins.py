"""The shell's own commands: what they change in the state, and the text that they run."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from . import arithmetic, conditions, decode, expand, flows, later, lines, links, names, reasons
from .invocation import OPAQUE, REMOTE, UNKNOWN, Arg, Invocation, Stream
from .state import EMPTY, Folder
from .wrappers import ASSIGNMENT

if TYPE_CHECKING:
    from .walk import Walk

NOTHING = flows.NOTHING


def quoted(text: str) -> str:
    """A word as shell text that stands for it, unless it is plain."""
    if text and not re.search(r"[^\w@%+=:,./\0-]", text):
        return text
    return "'" + text.replace("'", "'\\''") + "'"


def unescaped(text: str) -> str:
    """Text with the escapes that programs take in their own quoting: \\n, \\015, ^M."""
    return decode.escapes(text.replace("^M", "\n"))


def change_folder(walk: Walk, path: str) -> None:
    """What `cd path` does to the current folder."""
    here = walk.folder()
    if walk.links:
        path = links.through(walk, path, True)
    if path == "-":
        new: str | None = here.previous
    elif UNKNOWN in path:
        # A known beginning still says where it is: /srv/<something>.
        new = path if path.startswith("/") and path != "/" + UNKNOWN else None
    elif path.startswith("/"):
        new = posixpath.normpath(path)
        new = "/" if new == "//" else new
    elif here.path is not None:
        new = posixpath.normpath(posixpath.join(here.path, path))
    else:
        new = None
    walk.state.folders = (Folder(new, here.path, here.stack),)


def _cd(walk: Walk, call: Invocation) -> Stream:
    operands = [arg for arg in call.operands() if arg.text != "--"]
    if "-" in call.words():
        operands = [Arg("-")]
    change_folder(walk, operands[0].text if operands else walk.home)
    return NOTHING


def _pushd(walk: Walk, call: Invocation) -> Stream:
    here = walk.folder()
    operands = [arg.text for arg in call.operands() if not arg.text.startswith("+")]
    if operands:
        change_folder(walk, operands[0])
        walk.state.folders = (Folder(walk.folder().path, here.path, (here.path, *here.stack)[:16]),)
    return NOTHING


def _popd(walk: Walk, call: Invocation) -> Stream:
    here = walk.folder()
    if here.stack:
        walk.state.folders = (Folder(here.stack[0], here.path, here.stack[1:]),)
    return NOTHING


def _eval(walk: Walk, call: Invocation) -> Stream:
    words = call.argv[1:]
    if words and words[0].text == "--":
        words = words[1:]
    text = expand.joined(words)
    judge_text(walk, call, text)
    return (
        walk.shell(text, call.stdin, same=True)
        if text.known or text.text.strip(UNKNOWN + " ")
        else flows.ANYTHING
    )


def judge_text(walk: Walk, call: Invocation, text: Arg) -> None:
    """Shell text that comes from somewhere unknown is a finding by itself."""
    if text.taint & {REMOTE, OPAQUE}:
        origin(walk, call, text.taint, text.source)
    elif not text.text.strip(UNKNOWN + " \n") and UNKNOWN in text.text and not flows.completion(text):
        walk.report([reasons.OPAQUE_CODE.found(names.shown(call))], call)


def origin(walk: Walk, call: Invocation, taint: frozenset[str], source: str) -> None:
    """Report code by where it comes from."""
    if REMOTE in taint:
        if source.startswith(("/dev/tcp/", "/dev/udp/", "nc ", "ncat ", "netcat ", "socat ", "telnet ")):
            rule = reasons.REMOTE_SHELL
        else:
            rule = reasons.REMOTE_CODE
    else:
        rule = reasons.OPAQUE_CODE
    walk.report([rule.found(names.shown(call), names.printable(source))], call)


def _source(walk: Walk, call: Invocation) -> Stream:
    operands = [arg for arg in call.argv[1:] if arg.text != "--"]
    if not operands:
        return NOTHING
    path = operands[0]
    stream = flows.file_stream(walk, path.text)
    if path.text == "-":
        stream = call.stdin
    taint = stream.taint or path.taint
    if taint & {REMOTE, OPAQUE}:
        origin(walk, call, taint, stream.source or path.source)
    elif stream.text is None and stream is not flows.LOCAL:
        # A file this line makes by something that is not understood, or a process.
        if path.text.startswith("/dev/fd/") and not flows.completion(stream):
            walk.report([reasons.OPAQUE_CODE.found(names.shown(call))], call)
    elif (
        stream.text is None
        and re.match(r"(/var)?/tmp/|/dev/shm/", path.text)
        and not path.text.startswith(walk.home + "/")
    ):
        walk.report([reasons.SOURCED.found(names.shown(call))], call)
    if stream.text is not None:
        text = Arg(stream.text, False, stream.taint, stream.source)
        return walk.shell(text, call.stdin, arguments=operands[1:], same=True)
    return flows.ANYTHING


def _trap(walk: Walk, call: Invocation) -> Stream:
    words = [arg for arg in call.argv[1:] if arg.text not in ("--", "-p", "-l")]
    if len(words) >= 2 and words[0].text not in ("", "-") and not words[0].text.isdigit():
        judge_text(walk, call, words[0])
        with walk.subshell():
            walk.shell(words[0], same=True)
    return NOTHING


def _declare(walk: Walk, call: Invocation) -> Stream | None:
    """export, declare, local, readonly, typeset: assignments among the words."""
    made = False
    options = "".join(arg.text[1:] for arg in call.argv[1:] if arg.text[:1] == "-")
    names_only = "f" in options
    refers = "n" in options and call.name in ("declare", "typeset", "local")
    for arg in call.argv[1:]:
        arithmetic.subscripts(walk, arg.text)
        if not ASSIGNMENT.match(arg.text) or names_only:
            continue
        name, _, value = arg.text.partition("=")
        given = Arg(value, False, arg.taint, arg.source)
        if refers and value.isidentifier():
            walk.state.references = {**walk.state.references, name: value}
            made = True
            continue
        if name.endswith("+"):
            name = name[:-1]
            given = expand.joined([walk.parameter(name) or EMPTY, given], "")
        if "i" in options:
            number = arithmetic.evaluate(walk, value, 1)
            given = Arg(UNKNOWN if number is None else str(number))
        walk.state.assign(name, given)
        later.environment(walk, name, given)
        call.environment = {**call.environment, name: given}
        made = True
    return NOTHING if made else None


def _let(walk: Walk, call: Invocation) -> Stream:
    for word in call.words():
        arithmetic.evaluate(walk, word, 1)
    return NOTHING


def _alias(walk: Walk, call: Invocation) -> Stream:
    for arg in call.argv[1:]:
        name, equals, value = arg.text.partition("=")
        if equals and name and not name.startswith("-"):
            walk.state.aliases[name] = (value,)
            later.defined(walk, Arg(value, False, arg.taint, arg.source))
    return NOTHING


def _unalias(walk: Walk, call: Invocation) -> Stream:
    return NOTHING


def _set(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv[1:]
    if not words:
        return None
    at = 0
    while at < len(words):
        text = words[at].text
        if text[:1] not in ("-", "+") or text == "--":
            walk.state.positional = list(words[at + (text == "--") :])
            break
        # Every "o" of a bundle takes a word: `set -euo pipefail`.
        at += 1 + (text.count("o") if text != "-" else 0)
    return NOTHING


def _shift(walk: Walk, call: Invocation) -> Stream:
    count = call.argv[1].text if len(call.argv) > 1 else "1"
    number = int(count[:9]) if count.isdigit() else 1
    walk.state.positionals = tuple(words[number:] for words in walk.state.positionals)
    return NOTHING


def _unset(walk: Walk, call: Invocation) -> Stream:
    for arg in call.operands():
        arithmetic.subscripts(walk, arg.text)
        if arg.text == "IFS" or arg.text in walk.state.variables:
            walk.state.variables.pop(arg.text, None)
            walk.state.variables[arg.text] = (EMPTY,) if arg.text != "IFS" else (Arg(" \t\n"),)
    return NOTHING


def _quit(walk: Walk, call: Invocation) -> Stream:
    walk.state.quits = True
    return NOTHING


def _exec(walk: Walk, call: Invocation) -> Stream:
    """exec with redirections alone: they stay for what follows."""
    state = walk.state
    if call.stdin.piped:
        state.descriptors["0"] = call.stdin
        walk.replaced = walk.inherited
    for target in call.redirects:
        path = target.arg.text
        if path in walk.consumers:
            walk.consumers[path].kept = True
        if target.fd in ("", "1"):
            if target.writes:
                state.sink = path
            elif target.op == ">&":
                state.sink = ""
    return NOTHING


def _complete(walk: Walk, call: Invocation) -> Stream:
    """complete -C 'command', bind -x '"key": command'."""
    words = call.argv[1:]
    for at, arg in enumerate(words[:-1]):
        if (arg.text in ("-C", "-x", "-F") and call.name != "compgen") or arg.text == "-C":
            text = words[at + 1].text
            if call.name == "bind" and ":" in text:
                text = text.partition(":")[2].strip(" \"'")
            walk.shell(Arg(text), same=True)
    return NOTHING


def _history(walk: Walk, call: Invocation) -> Stream | None:
    """history -s TEXT puts a line where fc finds it; fc -e runs an editor, and the line after it."""
    words = call.argv[1:]
    texts = [word.text for word in words]
    if call.name == "history":
        if "-s" in texts:
            later.defined(walk, expand.joined(words[texts.index("-s") + 1 :]))
        return None
    if "-e" in texts[:-1]:
        editor = words[texts.index("-e") + 1]
        if editor.text != "-":
            walk.shell(editor, same=True)
    return None


def _hash(walk: Walk, call: Invocation) -> Stream:
    """hash -p /bin/rm name: the name now runs that program."""
    words = call.words()
    if len(words) >= 3 and words[0] == "-p":
        walk.state.aliases[words[2]] = (quoted(words[1]),)
    return NOTHING


HANDLERS = {
    "cd": _cd,
    "chdir": _cd,
    "pushd": _pushd,
    "popd": _popd,
    "eval": _eval,
    "source": _source,
    ".": _source,
    "trap": _trap,
    **dict.fromkeys(("export", "declare", "typeset", "local", "readonly", "setenv"), _declare),
    "alias": _alias,
    "unalias": _unalias,
    "set": _set,
    "shift": _shift,
    "let": _let,
    **dict.fromkeys(("test", "["), conditions.test),
    "read": lines.read,
    "mapfile": lines.mapfile,
    "readarray": lines.mapfile,
    "unset": _unset,
    **dict.fromkeys(("exit", "return", "break", "continue", "logout"), _quit),
    "exec": _exec,
    "complete": _complete,
    "compgen": _complete,
    "bind": _complete,
    "hash": _hash,
    "history": _history,
    "fc": _history,
}
