"""Commands for later or for another terminal: cron, at, tmux, screen, script, watch, sandboxes, daemons."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from ..rules.names import names as listed
from . import builtins, flows, names, reasons, shells
from .invocation import Arg, Invocation, Stream
from .wrappers import Wrapper, command_start

if TYPE_CHECKING:
    from .walk import Walk


def _watch(walk: Walk, call: Invocation) -> Stream | None:
    begin, _ = command_start(call.argv, Wrapper("nqs", frozenset(("--interval", "--equexit"))))
    return shells.joined_command(walk, call, call.argv[begin:])


def _flock(walk: Walk, call: Invocation) -> Stream | None:
    words = call.argv
    begin, _ = command_start(
        words, Wrapper("wE", frozenset(("--timeout", "--wait", "--conflict-exit-code")), 1)
    )
    rest = words[begin:]
    if rest and words[begin - 1].text in ("-c", "--command"):
        return walk.shell(rest[0], call.stdin)
    return shells.exec_words(walk, call, rest) if rest else None


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


_NEW_SHELLS = listed(
    "new-session new new-window neww split-window splitw respawn-pane run-shell run if-shell popup "
    "display-popup pipe-pane pipep"
)


# Characters of a command in the argument of another; taking text apart into words is slow.
LONGEST = 4_000
# Commands of tmux that hold another one behind some words of their own.
_LATER = {"set-hook": 1, "bind-key": 1, "bind": 1, "confirm-before": 0, "confirm": 0}


def _terminal(walk: Walk, call: Invocation) -> Stream | None:
    """tmux and screen: new sessions with a command, keys sent to a shell."""
    words = call.argv[1:]
    texts = [word.text for word in words]
    if call.name == "screen":
        if "exec" in texts and "-X" in texts[: texts.index("exec")]:
            inner = words[texts.index("exec") + 1 :]
            if inner and not inner[0].text.strip(".!|:"):
                inner = inner[1:]
            shells.exec_words(walk, call, inner)
            return None
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
    elif verb in _LATER:
        begin, _ = command_start(words, Wrapper("tTNpc", operands=_LATER[verb]), at + 1)
        inner = " ".join(word.text for word in words[begin:])
        if len(inner) > LONGEST:
            walk.report([reasons.LIMIT.found(names.shown(call), f"{len(inner)} characters")], call)
            inner = inner[:LONGEST].rpartition(" ")[0]
        try:
            rest = [Arg(text) for text in shlex.split(inner)] if " " in inner else words[begin:]
        except ValueError:
            rest = words[begin:]
        if rest:
            walk.words([Arg("tmux"), *rest], Stream())
    elif verb in _NEW_SHELLS:
        begin, _ = command_start(words, Wrapper("cDeFfnstxylpEhw"), at + 1)
        rest = words[begin:]
        if len(rest) == 1:
            walk.shell(rest[0])
        elif rest:
            shells.exec_words(walk, call, rest)
    return None


def _script(walk: Walk, call: Invocation) -> Stream | None:
    """script -c TEXT; on a Mac the command stands behind the file."""
    begin, _ = command_start(call.argv, Wrapper("EIOBmoTtc", frozenset(("--command",)), 1))
    words = call.argv[1:begin]
    for at, word in enumerate(words):
        text = word.text
        if text in ("-c", "--command") or re.fullmatch(r"-[aefq]*c", text):
            return walk.shell(words[at + 1], call.stdin) if at + 1 < len(words) else None
        if text.startswith("--command="):
            return walk.shell(Arg(text[10:]), call.stdin)
        if re.match(r"-[aefq]*c.", text):
            return walk.shell(Arg(text.partition("c")[2]), call.stdin)
    return shells.exec_words(walk, call, call.argv[begin:]) if begin < len(call.argv) else None


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


_BWRAP_TWO = listed("--bind --ro-bind --dev-bind --symlink --setenv --bind-try --ro-bind-try --file")


_BWRAP_ONE = listed("--dev --proc --tmpfs --dir --chdir --uid --gid --hostname --unsetenv --mqueue")


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
    "watch": _watch,
    "script": _script,
    "flock": _flock,
    "crontab": _crontab,
    **dict.fromkeys(("at", "batch"), _at),
    **dict.fromkeys(("tmux", "screen"), _terminal),
    **dict.fromkeys(
        ("xterm", "gnome-terminal", "konsole", "xfce4-terminal", "kitty", "alacritty", "wezterm", "urxvt"),
        _window,
    ),
    "bwrap": _bwrap,
    **dict.fromkeys(("nix-shell", "nix", "guix"), _nix),
    "start-stop-daemon": _daemon,
}
