"""Who listens on a TCP port of this machine, and which of them is a Hermes gateway of this user."""

import errno
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# Where processes and sockets are read; a system without it (macOS) is asked with lsof and ps.
PROC = Path("/proc")

_LISTEN = "0A"
_OPTIONS_WITH_VALUE = ("-X", "-W", "--check-hash-based-pycs")
_POLL_SECONDS = 0.1


@dataclass(frozen=True)
class Listener:
    """One process with the listening socket; ``pid`` is None when the system hides it from this user."""

    pid: int | None
    uid: int | None
    command: tuple[str, ...] = ()

    @property
    def is_own_gateway(self) -> bool:
        """Whether it may be ended: a gateway, started by the user of this process."""
        return self.pid is not None and self.uid == os.geteuid() and is_gateway(self.command)

    def __str__(self) -> str:
        who = "a process that this user cannot see" if self.pid is None else f"pid {self.pid}"
        command = " ".join(self.command)[:100]
        return f"{who} ({ascii(command)[1:-1]})" if command else who


def is_gateway(command: Sequence[str]) -> bool:
    """Whether an argument list is a running gateway: `hermes gateway [run|restart]` in any of its forms.

    Only the program itself counts, not words that stand behind another program. `restart` is among them
    because the host runs the gateway in that process where there is no service manager.
    """
    arguments = list(command)
    if not arguments:
        return False
    if re.fullmatch(r"(python|pypy)[\d.]*", os.path.basename(arguments[0]).lower()):
        arguments = _behind_interpreter(arguments[1:])
    if not arguments:
        return False
    program, rest = arguments[0], _without_profile(arguments[1:])
    while rest and rest[0].startswith("-"):
        rest.pop(0)
    if os.path.basename(program) == "hermes-gateway" or f"/{program}".endswith("/gateway/run.py"):
        return True
    is_hermes = (
        os.path.basename(program) == "hermes"
        or program == "hermes_cli.main"
        or f"/{program}".endswith("/hermes_cli/main.py")
    )
    if not is_hermes or rest[:1] != ["gateway"]:
        return False
    return rest[1:2] in ([], ["run"], ["restart"]) or rest[1].startswith("-")


def listeners(port: int) -> list[Listener]:
    """Processes that listen on the port, on whatever address, ordered by pid; [] when it is free."""
    found = _from_proc(port) if (PROC / "net" / "tcp").exists() else _from_lsof(port)
    return sorted(found, key=lambda listener: listener.pid or 0)


def is_free(port: int) -> bool:
    """Whether nothing answers on the port and this process could listen on it."""
    with socket.socket() as probe:
        probe.settimeout(1)
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            return False
    with socket.socket() as probe:
        # As servers do it: what is left of closed connections does not count.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return False
            raise
    return not listeners(port)


def wait_until_free(port: int, timeout: float, say=print) -> str | None:
    """Wait at most ``timeout`` seconds; return what still holds the port, or None when it is free.

    A gateway of this user that is still there after a third of the time (10 s at most) is asked to end,
    and killed after as long again. Nothing else is ever signalled.
    """
    start = time.monotonic()
    grace = min(10.0, timeout / 3)
    steps = [(grace, signal.SIGTERM), (2 * grace, signal.SIGKILL)]
    while not is_free(port):
        waited = time.monotonic() - start
        if waited >= timeout:
            return ", ".join(map(str, listeners(port))) or "something that cannot be seen"
        if steps and waited >= steps[0][0]:
            _signal_own_gateways(port, steps.pop(0)[1], say)
        time.sleep(_POLL_SECONDS)
    return None


def _signal_own_gateways(port: int, number: signal.Signals, say) -> None:
    # Looked up at this moment: a pid from before may be another process by now.
    for listener in listeners(port):
        if listener.is_own_gateway:
            say(f"{number.name} to {listener}, which still listens on port {port}")
            try:
                os.kill(listener.pid, number)
            except ProcessLookupError:
                pass


def ancestors() -> set[int]:
    """The pids above this process."""
    found: set[int] = set()
    pid = os.getppid()
    while pid > 0 and pid not in found:
        found.add(pid)
        pid = _parent_of(pid)
    return found


def command_of(pid: int) -> tuple[str, ...]:
    """The argument list of a process, () when it is gone or hidden. Without /proc it is split at blanks."""
    if (PROC / "self").exists():
        try:
            raw = (PROC / str(pid) / "cmdline").read_bytes()
        except OSError:
            return ()
        return tuple(os.fsdecode(part) for part in raw.split(b"\0") if part)
    return tuple(_output("ps", "-ww", "-o", "args=", "-p", str(pid)).split())


def _behind_interpreter(arguments: list[str]) -> list[str]:
    """The program that Python runs with its arguments: a script, or the module behind -m."""
    while arguments and arguments[0].startswith("-"):
        if arguments[0] == "-m":
            return arguments[1:]
        if arguments[0] == "-c":
            return []
        arguments = arguments[2 if arguments[0] in _OPTIONS_WITH_VALUE else 1 :]
    return arguments


def _without_profile(arguments: list[str]) -> list[str]:
    """Without -p NAME, which the host accepts anywhere and removes before it looks for a command."""
    kept: list[str] = []
    skip = False
    for argument in arguments:
        if skip or argument.startswith(("--profile=", "-p=")):
            skip = False
        elif argument in ("--profile", "-p"):
            skip = True
        else:
            kept.append(argument)
    return kept


def _from_proc(port: int) -> list[Listener]:
    owners: dict[str, int] = {}  # inode of a listening socket -> uid
    for table in ("tcp", "tcp6"):
        try:
            lines = (PROC / "net" / table).read_text("ascii").splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, lines):
            if fields[3] == _LISTEN and int(fields[1].rpartition(":")[2], 16) == port:
                owners[fields[9]] = int(fields[7])
    if not owners:
        return []
    wanted = {f"socket:[{inode}]": inode for inode in owners}
    found, seen = set(), set()
    for process in PROC.iterdir():
        if process.name.isdigit():
            for inode in _sockets_of(process) & wanted.keys():
                seen.add(wanted[inode])
                found.add(Listener(int(process.name), _uid_of(process), command_of(int(process.name))))
    return [*found, *{Listener(None, uid) for inode, uid in owners.items() if inode not in seen}]


def _sockets_of(process: Path) -> set[str]:
    links = set()
    try:
        for descriptor in os.scandir(process / "fd"):
            try:
                links.add(os.readlink(descriptor.path))
            except OSError:  # closed in between
                pass
    except OSError:  # the process of another user, or gone
        pass
    return links


def _uid_of(process: Path) -> int | None:
    try:
        return process.stat().st_uid
    except OSError:
        return None


def _from_lsof(port: int) -> list[Listener]:
    found = []
    pid = None
    # One field a line: p and the pid, then u and the uid of that process.
    for line in _output("lsof", "-nP", f"-iTCP:{port}", "-sTCP:LISTEN", "-Fpu").splitlines():
        if line.startswith("p"):
            pid = int(line[1:])
        elif line.startswith("u") and pid is not None:
            found.append(Listener(pid, int(line[1:]), command_of(pid)))
    return found


def _parent_of(pid: int) -> int:
    try:
        if (PROC / "self").exists():
            # The name in parentheses may hold anything, the fields follow the last one.
            return int((PROC / str(pid) / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[1])
        return int(_output("ps", "-o", "ppid=", "-p", str(pid)) or 0)
    except (OSError, ValueError, IndexError):
        return 0


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=10).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
