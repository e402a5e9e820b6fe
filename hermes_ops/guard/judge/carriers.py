"""Programs of another purpose that run commands on the side: find -exec, xargs, git aliases, tar, editors, cron."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import builtins, decode, flows, git, interpreters, shells
from .invocation import UNKNOWN, Arg, Invocation, Stream
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
_PARALLEL = Wrapper(
    "jISaNnLPCsl",
    frozenset(
        f"--{name}" for name in
        ["jobs", "arg-file", "colsep", "delay", "joblog", "max-args", "max-procs", "results", "retries", "sshlogin", "timeout", "workdir", "env", "tagstring", "halt", "tmpdir", "load", "memfree", "nice", "basefile", "sqlmaster", "pipe-part", "block", "recstart", "recend"]
    ),
)  # fmt: skip
MOST_LINES = 8


def _xargs(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv
    begin, _ = command_start(words, _XARGS)
    options = [word.text for word in words[1:begin]]
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
        elif option == "-d":
            separator = after.encode().decode("unicode_escape", "replace") if "\\" in after else after
        elif option in ("-0", "--null") or re.fullmatch(r"-[0rtp]*0[0rtp]*", option):
            separator = decode.ZERO
        elif option in ("-a", "--arg-file"):
            stdin = flows.file_stream(walk, after)
        elif option.startswith("--arg-file="):
            stdin = flows.file_stream(walk, option[11:])
    command = words[begin:] or [Arg("echo")]
    text = stdin.text
    lines: list[list[str]]
    if text is None or UNKNOWN in text:
        lines = []
    elif replacement:
        lines = [[line.strip()] for line in text.splitlines() if line.strip()][:MOST_LINES]
    elif separator:
        lines = [[piece.strip("\n") for piece in text.split(separator) if piece.strip("\n")]]
    else:
        lines = [[piece.strip("'\"") for piece in text.split()]]
    # What xargs reads is no input of its command, but the words may be meant so: here-documents behind them.
    inner = stdin if text is not None else Stream()
    if not lines:
        if replacement:
            unknown = Arg(UNKNOWN, False, stdin.taint, stdin.source)
            return walk.words(_replaced(command, replacement, unknown), inner)
        if stdin.taint:
            command = [*command, Arg(UNKNOWN, False, stdin.taint, stdin.source)]
        return walk.words(command, inner, appended=stdin.piped)
    output = None
    if command[0].text in shells.SHELLS or command[0].text in interpreters.HANDLERS:
        walk.words(command, inner)
    for line in lines:
        given = [Arg(piece, False, stdin.taint, stdin.source) for piece in line]
        if replacement:
            output = walk.words(_replaced(command, replacement, given[0]), inner)
        else:
            output = walk.words([*command, *given], inner)
    return output


def _replaced(command: list[Arg], mark: str, value: Arg) -> list[Arg]:
    if not mark:
        return command
    return [
        Arg(
            word.text.replace(mark, value.text),
            word.glob,
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
        values = [
            Arg(line, False, call.stdin.taint, call.stdin.source)
            for line in call.stdin.text.splitlines()
            if line
        ]
    if not command:
        # Without a command every value is a command line.
        for value in values[:MOST_LINES]:
            walk.shell(value)
        if not values and call.stdin.piped:
            shells.from_input(walk, call, [], False)
        return flows.ANYTHING
    text = " ".join(word.text for word in command)
    glob = any(word.glob for word in command)
    if not values:
        unknown = Arg(UNKNOWN, False, call.stdin.taint, call.stdin.source)
        values = [unknown]
    for value in values[:MOST_LINES]:
        if re.search(r"\{[./#%0-9]*\}", text):
            line = re.sub(r"\{[./#%0-9]*\}", lambda _, value=value: value.text, text)
        else:
            line = f"{text} {value.text}"
        walk.shell(Arg(line, glob, value.taint, value.source))
    return flows.ANYTHING


_FIND_EXEC = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_FIND_TESTS = frozenset(
    [
        "-name",
        "-iname",
        "-path",
        "-ipath",
        "-regex",
        "-iregex",
        "-type",
        "-mtime",
        "-mmin",
        "-atime",
        "-ctime",
        "-newer",
        "-size",
        "-user",
        "-group",
        "-perm",
        "-empty",
        "-lname",
        "-links",
        "-inum",
        "-samefile",
        "-nouser",
        "-nogroup",
        "-xtype",
        "-wholename",
        "-mindepth",
        "-cmin",
        "-amin",
    ]
)


def _find(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv
    if not any(word.text in _FIND_EXEC for word in words):
        return None
    roots: list[Arg] = []
    at = 1
    while at < len(words) and words[at].text[:1] not in ("-", "(", "!"):
        roots.append(words[at])
        at += 1
    if not roots:
        # Options -H -L -P stand before the roots.
        while at < len(words) and words[at].text in ("-H", "-L", "-P"):
            at += 1
        while at < len(words) and words[at].text[:1] not in ("-", "(", "!"):
            roots.append(words[at])
            at += 1
    roots = roots or [Arg(".")]
    tested = any(word.text in _FIND_TESTS for word in words)
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
        for root in roots[:3]:
            walk.words(_replaced(command, "{}", _below(root, tested)), Stream())
        at = end + 1
    return None


def _below(root: Arg, tested: bool) -> Arg:
    """What find puts in the place of {}: the root itself too, unless a test may have left it out."""
    if not tested:
        return root
    text = root.text.rstrip("/") + "/" + UNKNOWN
    return Arg(text, root.glob, root.taint, root.source)


def _fd(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv
    for at, word in enumerate(words):
        if word.text in ("-x", "--exec", "-X", "--exec-batch"):
            command = words[at + 1 :]
            if not any(re.search(r"\{[./]*\}", each.text) for each in command):
                command = [*command, Arg("./" + UNKNOWN)]
            walk.words(_replaced(command, "{}", Arg("./" + UNKNOWN)), Stream())
            break
    return None


def _watch(walk: Walk, call: Invocation) -> Stream | None:
    begin, _ = command_start(call.argv, Wrapper("nqs", frozenset(("--interval", "--equexit"))))
    return shells.joined_command(walk, call, call.argv[begin:])


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


def _flock(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv
    begin, _ = command_start(
        words, Wrapper("wE", frozenset(("--timeout", "--wait", "--conflict-exit-code")), 1)
    )
    rest = words[begin:]
    for at, word in enumerate(words):
        if word.text in ("-c", "--command") and at + 1 < len(words):
            return walk.shell(words[at + 1], call.stdin)
    return shells.exec_words(walk, call, rest) if rest else None


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


_CRON_LINE = re.compile(r"\s*(?:@\w+|(?:[\d*/,A-Za-z-]+\s+){5})\s*(.*)")


def _crontab(walk: Walk, call: Invocation) -> Stream | None:
    """Lines for crontab: their commands are judged as if they ran now."""
    words = [word.text for word in call.argv[1:]]
    text = call.stdin.text
    if "-" not in words:
        path = next((word for word in words if not word.startswith("-")), "")
        text = flows.file_stream(walk, path).text if path else text
    for line in (text or "").splitlines()[:50]:
        found = _CRON_LINE.match(line)
        if found and not line.lstrip().startswith("#"):
            walk.shell(Arg(found[1]))
    return None


def _at(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv[1:]
    for at, word in enumerate(words[:-1]):
        if word.text == "-f":
            held = flows.file_stream(walk, words[at + 1].text)
            if held.text is not None:
                walk.shell(Arg(held.text, False, held.taint, held.source))
    if call.stdin.piped and not any(word.text in ("-l", "-r", "-d", "-c") for word in words):
        shells.from_input(walk, call, [], False)
    return None


def _terminal(walk: Walk, call: Invocation) -> Stream | None:
    """tmux and screen: new sessions with a command, keys sent to a shell."""
    words = call.argv[1:]
    texts = [word.text for word in words]
    if call.name == "screen":
        if "stuff" in texts:
            for word in words[texts.index("stuff") + 1 :]:
                walk.shell(Arg(builtins.unescaped(word.text)))
            return None
        begin, _ = command_start(call.argv, Wrapper("cehprsStTX"))
        if not any(text in ("-r", "-x", "-ls", "-list", "-X") for text in texts):
            shells.exec_words(walk, call, call.argv[begin:])
        return None
    verb = next((text for text in texts if not text.startswith("-")), "")
    if verb not in texts:
        return None
    at = texts.index(verb)
    if verb in ("send-keys", "send", "send-key"):
        begin, _ = command_start(words, Wrapper("tcN"), at + 1)
        keys: list[str] = []
        for word in words[begin:]:
            text = word.text
            if text in ("Enter", "C-m", "KPEnter", "C-j"):
                keys.append("\n")
            elif text == "Space":
                keys.append(" ")
            elif not re.fullmatch(r"C-\w|M-\w|Escape|Tab|BSpace|Up|Down|Left|Right|-l", text):
                keys.append(text)
        if keys:
            walk.shell(Arg("".join(keys)))
    elif verb in ("new-session", "new", "new-window", "neww", "split-window", "splitw", "respawn-pane", "run-shell",
                  "run", "if-shell", "popup", "display-popup"):  # fmt: skip
        begin, _ = command_start(words, Wrapper("cDeFfnstxylpEhw"), at + 1)
        rest = words[begin:]
        if len(rest) == 1:
            walk.shell(rest[0])
        elif rest:
            shells.exec_words(walk, call, rest)
    return None


def _script(walk: Walk, call: Invocation) -> Stream | None:
    """script -c TEXT; on a Mac the command stands behind the file."""
    words = call.argv[1:]
    for at, word in enumerate(words):
        text = word.text
        if text in ("-c", "--command") or re.fullmatch(r"-[aefq]*c", text):
            return walk.shell(words[at + 1], call.stdin) if at + 1 < len(words) else None
        if text.startswith("--command="):
            return walk.shell(Arg(text[10:]), call.stdin)
        if re.match(r"-[aefq]*c.", text):
            return walk.shell(Arg(text.partition("c")[2]), call.stdin)
    begin, _ = command_start(call.argv, Wrapper("EIOBmoTt", operands=1))
    return shells.exec_words(walk, call, call.argv[begin:]) if begin < len(call.argv) else None


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


def _window(walk: Walk, call: Invocation) -> Stream | None:
    """xterm -e command, gnome-terminal -- command."""
    words = call.argv[1:]
    for at, word in enumerate(words):
        if word.text in ("-e", "--", "-x", "--command", "--execute", "start"):
            rest = words[at + 1 :]
            if len(rest) == 1:
                walk.shell(rest[0])
            else:
                shells.exec_words(walk, call, rest)
            break
        if word.text.startswith("--command="):
            walk.shell(Arg(word.text[10:]))
    return None


_BWRAP_TWO = frozenset(
    ("--bind", "--ro-bind", "--dev-bind", "--symlink", "--setenv", "--bind-try", "--ro-bind-try", "--file")
)
_BWRAP_ONE = frozenset(
    (
        "--dev",
        "--proc",
        "--tmpfs",
        "--dir",
        "--chdir",
        "--uid",
        "--gid",
        "--hostname",
        "--unsetenv",
        "--mqueue",
    )
)


def _bwrap(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv
    at = 1
    while at < len(words) and words[at].text.startswith("-"):
        text = words[at].text
        at += 3 if text in _BWRAP_TWO else 2 if text in _BWRAP_ONE else 1
        if text == "--":
            break
    return shells.exec_words(walk, call, words[at:])


def _nix(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv[1:]
    for at, word in enumerate(words):
        if word.text in ("--run", "--command", "-c") and at + 1 < len(words):
            if call.name == "nix-shell":
                walk.shell(words[at + 1])
            else:
                shells.exec_words(walk, call, words[at + 1 :])
            break
    return None


def _daemon(walk: Walk, call: Invocation) -> Stream | None:
    """start-stop-daemon --exec PROGRAM -- arguments."""
    words = call.argv[1:]
    rest: list[Arg] = []
    program: Arg | None = None
    for at, word in enumerate(words):
        if word.text in ("--exec", "-x", "--startas", "-a") and at + 1 < len(words):
            program = words[at + 1]
        elif word.text == "--":
            rest = words[at + 1 :]
            break
    return shells.exec_words(walk, call, [program, *rest]) if program is not None else None


HANDLERS = {
    "xargs": _xargs,
    "gxargs": _xargs,
    "parallel": _parallel,
    **dict.fromkeys(("find", "gfind"), _find),
    **dict.fromkeys(("fd", "fdfind"), _fd),
    "watch": _watch,
    "script": _script,
    "flock": _flock,
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    "git": git.git,
    **dict.fromkeys(("vim", "vi", "nvim", "ex", "ed", "view", "vimdiff"), _editor),
    **dict.fromkeys(("gdb", "lldb"), _debugger),
    "crontab": _crontab,
    **dict.fromkeys(("at", "batch"), _at),
    **dict.fromkeys(("tmux", "screen"), _terminal),
    **dict.fromkeys(("npx", "bunx", "pnpx", "uvx", "pipx"), _npx),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("split", "sort"), _split),
    **dict.fromkeys(("psql", "mysql", "mariadb", "sqlite3", "gnuplot", "ftp", "bc", "dc"), _database),
    "rsync": _rsync,
    **dict.fromkeys(("scp", "sftp"), _options),
    **dict.fromkeys(("less", "man", "more"), _pager),
    **dict.fromkeys(
        ("xterm", "gnome-terminal", "konsole", "xfce4-terminal", "kitty", "alacritty", "wezterm", "urxvt"), _window
    ),
    "bwrap": _bwrap,
    **dict.fromkeys(("nix-shell", "nix", "guix"), _nix),
    "start-stop-daemon": _daemon,
    "hyperfine": _texts("--prepare", "-p", "--setup", "-s", "--cleanup", "-c", joined=("--prepare=", "--setup="), rest=True),
    **dict.fromkeys(("concurrently", "watchexec", "nodemon", "chokidar", "onchange"),
                    _texts("-x", "--exec", "-c", "--command", joined=("--exec=",), rest=True)),
    "zip": _texts("-TT", "--unzip-command"),
}  # fmt: skip
