"""Programs that run a command for everything they find or read: find, fd, xargs, parallel."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..rules import artefacts
from ..rules.names import names as listed
from . import answers, carriers, danger, decode, flows, names, shells
from .commands_in_options import MOST_WORDS, values
from .invocation import FOUND, FOUND_ALL, UNKNOWN, Arg, Invocation, Stream
from .wrappers import Wrapper, command_start

if TYPE_CHECKING:
    from .walk import Walk

_XARGS = Wrapper(
    "ILnPsEdaJR",
    frozenset(
        (
            "--arg-file",
            "--delimiter",
            "--max-args",
            "--max-procs",
            "--max-lines",
            "--max-chars",
            "--process-slot-var",
        )
    ),
)


_PLACE = re.compile(r"\{[./#%0-9]*\}")
_PARALLEL = Wrapper(
    "jISaNnLPCsl",
    frozenset(
        f"--{name}"
        for name in listed(
            "jobs arg-file colsep delay joblog max-args max-procs results retries sshlogin timeout workdir "
            "env tagstring halt tmpdir load memfree nice basefile sqlmaster block recstart recend"
        )
    ),
)


MOST_LINES = 12
MOST_ROOTS = 3


def _xargs(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv
    begin, _ = command_start(words, _XARGS)
    options = _split(word.text for word in words[1:begin])
    replacement = ""
    stdin = call.stdin
    separator: str | None = None
    for at, option in enumerate(options):
        after = options[at + 1] if at + 1 < len(options) else ""
        if option == "-I" or option == "-J":
            replacement = after
        elif option.startswith(("-I", "-J")):
            replacement = option[2:]
        elif option in ("-i", "--replace"):
            replacement = "{}"
        elif option.startswith("--replace="):
            replacement = option[10:]
        elif option in ("-d", "--delimiter"):
            separator = _delimiter(after)
        elif option.startswith("--delimiter="):
            separator = _delimiter(option[12:])
        elif option in ("-0", "--null") or re.fullmatch(r"-[0rtp]*0[0rtp]*", option):
            separator = decode.ZERO
        elif option in ("-a", "--arg-file"):
            stdin = flows.file_stream(walk, after)
        elif option.startswith("--arg-file="):
            stdin = flows.file_stream(walk, option[11:])
    command = words[begin:] or [Arg(":" if call.redirects else "echo")]
    # Redirections are the command's as well.
    connected = [
        target
        for target in call.redirects
        if target.arg.text.startswith(("/dev/tcp/", "/dev/udp/")) or (target.writes and len(command) == 1)
    ]
    if connected:
        walk.words(command, Stream(), redirects=connected)
    text = stdin.text
    unknown_too = text is not None and UNKNOWN in text
    lines: list[list[str]]
    if text is None:
        lines = []
    elif replacement:
        split = text.split(separator) if separator else text.splitlines()
        lines = [[line] for line in _most([line.strip() for line in split if line.strip()])]
    elif separator:
        lines = [[piece.strip("\n") for piece in text.split(separator) if piece.strip("\n")]]
    else:
        lines = [[_unquoted(piece) for piece in _XARGS_WORD.findall(text)]]
    # What xargs reads is no input of its command, but the words may be meant so: here-documents behind them.
    inner = stdin if text is not None else Stream()
    if not lines:
        if replacement:
            unknown = Arg(UNKNOWN, False, stdin.taint, stdin.source)
            return walk.words(_replaced(command, replacement, unknown), inner)
        if stdin.taint:
            command = [*command, Arg(UNKNOWN, False, stdin.taint, stdin.source)]
        return walk.words(command, inner, appended=stdin.piped or call.appended)
    # Without the words too: a here-document behind xargs is meant for the command as often as for xargs.
    bare = walk.words(command, inner)
    if bare.text and bare.text == text:
        return bare
    outputs = [bare] if bare.text and bare.text.strip() else []
    for line in lines:
        given = [Arg(piece, _is_glob(piece), stdin.taint, stdin.source) for piece in line]
        if replacement:
            outputs.append(walk.words(_replaced(command, replacement, given[0]), inner))
        else:
            more = unknown_too and any(piece.endswith(UNKNOWN) for piece in line)
            outputs.append(walk.words([*command, *given], inner, appended=more))
    return flows.concatenated(outputs)


def _split(options: Iterable[str]) -> list[str]:
    """Options one by one, each with its value as a word of its own: -0I%, -d, and -n1."""
    split = []
    for option in options:
        found = _CLUSTER.fullmatch(option)
        if found is None:
            split.append(option)
            continue
        split.extend(f"-{letter}" for letter in found[1])
        if found[2]:
            split.append(f"-{found[2]}")
        if found[3]:
            split.append(found[3])
    return split


_CLUSTER = re.compile(r"-([0rtpxo]*)(?:([IJdEnLPsaR])(.*))?", re.DOTALL)


def _delimiter(text: str) -> str:
    return text.encode().decode("unicode_escape", "replace") if "\\" in text else text


_XARGS_WORD = re.compile(r"""(?:[^\s'"\\]|\\[\s\S]|'[^'\n]*'?|"[^"\n]*"?)+""")
_XARGS_QUOTED = re.compile(r"""\\([\s\S])|'([^'\n]*)'?|"([^"\n]*)"?""")


def _unquoted(word: str) -> str:
    """A word as xargs takes it, quotes and backslashes taken away."""
    return _XARGS_QUOTED.sub(lambda found: found[1] or found[2] or found[3] or "", word)


def _is_glob(text: str) -> bool:
    """Names come from elsewhere: where one is a pattern, it stood for what it matches before."""
    return "*" in text or "?" in text


def _most(lines: list[str]) -> list[str]:
    """The lines that are looked at one by one: of too many the most dangerous, and an unknown one."""
    kept, more = danger.most(lines, MOST_LINES)
    return [*kept, UNKNOWN] if more else kept


def _replaced(command: list[Arg], mark: str, value: Arg) -> list[Arg]:
    if not mark:
        return command
    return [
        Arg(
            word.text.replace(mark, value.text),
            word.glob or value.glob,
            word.taint | value.taint,
            word.source or value.source,
        )
        if mark in word.text
        else word
        for word in command
    ]


def _parallel(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv
    marks = [at for at, word in enumerate(words) if word.text in (":::", ":::+", "::::")]
    end = marks[0] if marks else len(words)
    begin, _ = command_start(words[:end], _PARALLEL)
    command = words[begin:end]
    values: list[Arg] = []
    if marks and words[marks[0]].text != "::::":
        values = [word for word in words[marks[0] + 1 :] if word.text not in (":::", ":::+", "::::")]
    elif not marks and call.stdin.text is not None:
        options = [word.text for word in words[1:begin]]
        by_zero = "--null" in options or any(re.fullmatch(r"-\w*0\w*", option) for option in options)
        pieces = call.stdin.text.split(decode.ZERO) if by_zero else call.stdin.text.splitlines()
        values = [Arg(piece, False, call.stdin.taint, call.stdin.source) for piece in pieces if piece.strip()]
    if not command:
        # Without a command every value is a command line.
        for value in _most_values(values):
            walk.shell(value)
        if not values and call.stdin.piped:
            shells.from_input(walk, call, [], False)
        return flows.ANYTHING
    text = " ".join(word.text for word in command)
    glob = any(word.glob for word in command)
    if not values:
        named = [word for word in command if not _PLACE.search(word.text)]
        walk.words(named, Stream(), appended=call.stdin.piped)
        values = [Arg(UNKNOWN, False, call.stdin.taint, call.stdin.source)]
    for value in _most_values(values):
        if _PLACE.search(text):
            line = _PLACE.sub(lambda _, value=value: value.text, text)
        else:
            line = f"{text} {value.text}"
        walk.shell(Arg(line, glob, value.taint, value.source))
    return flows.ANYTHING


def _most_values(values: list[Arg]) -> list[Arg]:
    if len(values) <= MOST_LINES:
        return values
    ranked = sorted(values, key=danger.of_value, reverse=True)
    return [*ranked[:MOST_LINES], Arg(UNKNOWN, False, ranked[0].taint, ranked[0].source)]


_FIND_EXEC = frozenset(("-exec", "-execdir", "-ok", "-okdir"))


_JUDGED_WITH_FIND = listed("rm unlink shred srm chmod chown chgrp chattr setfacl mv truncate")


def _find(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv
    if not any(word.text in _FIND_EXEC for word in words):
        return None
    roots, name = answers.found(words)
    at = 0
    while at < len(words):
        if words[at].text not in _FIND_EXEC:
            at += 1
            continue
        end = at + 1
        while (
            end < len(words)
            and words[end].text != ";"
            and not (words[end].text == "+" and words[end - 1].text == "{}")
        ):
            end += 1
        command = words[at + 1 : end]
        if command and names.base(command[0].text) in _JUDGED_WITH_FIND:
            # What happens to the files is judged with find itself, where the folders and tests stand.
            outer = walk.wrappers
            walk.wrappers = (*outer, "find")
            try:
                walk.words(_replaced(command, "{}", Arg(UNKNOWN)), Stream(), appended=True)
            finally:
                walk.wrappers = outer
        else:
            for root in sorted(roots, key=danger.of_value, reverse=True)[:MOST_ROOTS]:
                walk.words(_replaced(command, "{}", _below(root, name, words)), Stream())
        at = end + 1
    return None


# Tests and options that leave all files of a folder.
_KEEPS_ALL = listed("-type -xtype -maxdepth -mindepth -depth -d -xdev -mount -follow -print -P -L -H")


def _below(root: Arg, name: str | None, words: list[Arg]) -> Arg:
    """What find puts in the place of {}: the root itself too, unless a test may have left it out."""
    if name is None:
        return root
    first = next(at for at, word in enumerate(words) if word.text in _FIND_EXEC)
    tests = {word.text for word in words[1:first] if word.text[:1] == "-" and word.text[1:2].isalpha()}
    text = root.text.rstrip("/") + "/" + UNKNOWN + (f"/{name}" if name else "")
    return Arg(text, root.glob, root.taint, root.source or (FOUND_ALL if tests <= _KEEPS_ALL else FOUND))


_FD_VALUED = frozenset(
    f"-{name}"
    for name in listed("t e E d c S o j -type -extension -exclude -max-depth -changed-within -size -owner")
)
_FD_RUNS = frozenset(("-x", "--exec", "-X", "--exec-batch"))
_EVERYTHING = frozenset(("", ".", ".*", "^"))


# A cluster of letters without a value, one of them -x or -X with what is glued to it.
_FD_GLUED = re.compile(r"(?:--exec(?:-batch)?=|-[HIusigFaLlp0q1]*[xX]=?)(.*)", re.DOTALL)
_FD_ENDING = re.compile(r"\\(\.\w{1,12})\$", re.ASCII)


def _fd_command(words: list[Arg]) -> tuple[int, list[Arg]]:
    """Where the option stands by which fd runs a command, 0 for nowhere, and the command."""
    for at, word in enumerate(words[1:], 1):
        if word.text in _FD_RUNS:
            return at, words[at + 1 :]
        found = _FD_GLUED.fullmatch(word.text)
        if found is not None:
            glued = [Arg(found[1], word.glob, word.taint, word.source)] if found[1] else []
            return at, [*glued, *words[at + 1 :]]
    return 0, []


def _fd_junk(pattern: str) -> str:
    """The pattern of find for a regular expression that stands for artefacts alone; "" for any other.

    A plain word is found within other names too, unless it is one that no name of another kind holds.
    """
    found = _FD_ENDING.fullmatch(pattern)
    whole = _FD_WHOLE.fullmatch(pattern)
    name = f"*{found[1]}" if found else whole[1] or whole[2] if whole else ""
    return name if name and artefacts.is_junk_pattern(name) else ""


_FD_WHOLE = re.compile(r"\^([\w-]{1,40})\$|(?=[^_]{0,40}_)([\w-]{1,40})", re.ASCII)


def _fd(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv
    at, command = _fd_command(words)
    if not at:
        return None
    operands = list(Invocation("fd", words[:at]).operands(_FD_VALUED))
    narrowed = bool(operands) and operands[0].text not in _EVERYTHING
    options = [word.text for word in words[1:at] if word.text[:1] == "-"]
    narrowed = narrowed or any(
        option[:2] in ("-e", "-E", "-S", "-t") or option[:3] == "--e" for option in options
    )
    # Of names that only a build leaves the rules are told, as of those that find turns up.
    name = _fd_junk(operands[0].text) if operands else ""
    if not any(_FD_PLACE.search(word.text) for word in command):
        command = [*command, Arg("{}")]
    for root in operands[1:][:MOST_ROOTS] or [Arg(".")]:
        found = Arg(root.text.rstrip("/") + "/" + (UNKNOWN if narrowed else "*"), not narrowed)
        if name:
            found = Arg(f"{found.text}/{name}", False, source=FOUND)
        replaced = [_replaced([word], "{}", found)[0] for word in command]
        walk.words(replaced, Stream())
    return None


_FD_PLACE = re.compile(r"\{[./]*\}")


def _archives(walk: Walk, call: Invocation) -> Stream | None:
    """tar --remove-files -T LIST: the list is what is read, and the rules have it as the input."""
    words = call.argv[1:]
    if any(word.text.startswith("--rem") for word in words[:MOST_WORDS]):
        for _, named in values(words, _LISTS, "T"):
            if named.text != "-":
                call.stdin = flows.file_stream(walk, named.text)
    return carriers.HANDLERS[call.name](walk, call)


def _zip(walk: Walk, call: Invocation) -> Stream | None:
    """zip -TT COMMAND: by what the archive is tested."""
    words = call.argv
    for at, word in enumerate(words[:MOST_WORDS]):
        if word.text == "-TT" and at + 1 < len(words):
            walk.shell(words[at + 1])
        elif word.text.startswith("-TT"):
            walk.shell(Arg(word.text[3:], False, word.taint, word.source))
    return carriers.HANDLERS[call.name](walk, call)


_LISTS = frozenset(("--files-from",))


HANDLERS = {
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _archives),
    "zip": _zip,
    "xargs": _xargs,
    "gxargs": _xargs,
    "parallel": _parallel,
    **dict.fromkeys(("find", "gfind", "bfs"), _find),
    **dict.fromkeys(("fd", "fdfind"), _fd),
}
