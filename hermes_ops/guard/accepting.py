"""Who accepts a policy: a person, as far as that can be told, and what is kept of how it was done.

The host marks the environment of what its tools start. On Linux the processes above this one are looked at
as well, and without a terminal also whether this one was cut off from whoever started it, and whether an
agent of the same home runs beside it. Whatever gets past that leaves an acceptance that the watcher tells.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

# Of the host: in the environment of what its tools start, and of nothing that a person starts.
TOOL_MARKS = (
    "HERMES_SESSION_ID",
    "HERMES_RPC_SOCKET",
    "HERMES_RPC_DIR",
    "HERMES_RPC_TOKEN",
    "HERMES_REAL_HOME",
)
# Programs that take in processes whose parent has ended.
_INITS = frozenset(
    b"systemd init launchd tini dumb-init docker-init catatonit runit s6-svscan openrc-init".split()
)
_MOST_ANCESTORS = 64
_MOST_NAMED = 4


def inside_a_tool_call() -> str:
    """Why this process seems to be started by an agent, "" when nothing says so."""
    found = next((name for name in TOOL_MARKS if os.environ.get(name)), None)
    if found:
        return f"{found} is set, as the host sets it for what its tools start"
    for pid in _above():
        mark = next(
            (name for name in TOOL_MARKS if f"\0{name}=".encode() in b"\0" + _proc(pid, "environ")), None
        )
        if mark:
            return f"process {pid} above this one has {mark}, as the host sets it for what its tools start"
        if is_agent(_proc(pid, "cmdline")):
            return f"process {pid} above this one is a hermes"
    return ""


def cut_off(home: Path) -> str:
    """Why nobody can tell who started a process without a terminal, "" when that can be told.

    Its parent has ended, or an agent of the same home runs in the same control group, and may have started
    it and let it go.
    """
    parent = os.getppid()
    if _proc(parent, "comm").strip() in _INITS:
        return "the process that started this one has ended"
    mine = _proc(os.getpid(), "cgroup")
    for pid in _others():
        if is_agent(_proc(pid, "cmdline")) and _proc(pid, "cgroup") == mine and _is_of(pid, home):
            return f"an agent of this home runs beside it (process {pid})"
    return ""


def at_a_terminal() -> bool:
    """Whether this process is in the foreground of a terminal."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def how() -> str:
    """How this process came to accept, for the record: with a terminal or not, and the programs above it."""
    where = "at a terminal" if at_a_terminal() else "without a terminal"
    names = []
    for pid in _above():
        name = _proc(pid, "comm").decode("utf-8", "replace").strip()
        names.append("".join(letter for letter in name if letter.isprintable())[:20] or "?")
        if len(names) == _MOST_NAMED:
            break
    return f"{where}, under {', '.join(names)}" if names else where


def is_agent(cmdline: bytes) -> bool:
    """Whether a command line is a hermes that runs an agent, and not only `hermes ops ...`."""
    words = cmdline.split(b"\0")
    for place, word in enumerate(words[:4]):
        if os.path.basename(word) in (b"hermes", b"hermes-agent") or word == b"hermes_cli.main":
            return b"ops" not in words[place + 1 : place + 4]
    return False


def _is_of(pid: int, home: Path) -> bool:
    """Whether a process is of a home, as far as its environment tells."""
    found = dict(part.partition(b"=")[::2] for part in _proc(pid, "environ").split(b"\0"))
    named = found.get(b"HERMES_HOME") or os.path.join(found.get(b"HOME", b""), b".hermes")
    return os.path.realpath(named) == os.path.realpath(os.fsencode(home))


def _proc(pid: int, name: str) -> bytes:
    """A file of /proc, b"" where there is none or it is somebody else's."""
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read(1_000_000)
    except OSError:
        return b""


def _others() -> Iterator[int]:
    """Every other process; none where there is no /proc."""
    try:
        names = os.listdir("/proc")
    except OSError:
        return
    yield from (int(name) for name in names if name.isdecimal() and int(name) != os.getpid())


def _above() -> Iterator[int]:
    """The processes above this one, the nearest first; none where there is no /proc."""
    pid = os.getppid()
    for _ in range(_MOST_ANCESTORS):
        if pid < 1:
            return
        yield pid
        pid = _parent(pid)


def _parent(pid: int) -> int:
    fields = _proc(pid, "stat").rpartition(b")")[2].split()
    return int(fields[1]) if len(fields) > 1 and fields[1].isdigit() else 0
