"""Processes of kernels: memory of one with its children, ending a group, finding what has left it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

# In the environment of every kernel and of what it starts, so that it can be found again.
MARK = "HERMES_RLM_KERNEL_ID"
END_SECONDS = 1.0
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_MOST_CHILDREN = 500


def memory(pid: int) -> int | None:
    """Resident bytes of a process and its descendants; None when it cannot be known."""
    if sys.platform != "linux":
        return _memory_by_ps(pid)
    total = None
    for one in _family(pid):
        try:
            with open(f"/proc/{one}/statm", "rb") as file:
                total = (total or 0) + int(file.read().split()[1]) * _PAGE
        except (OSError, ValueError, IndexError):
            continue
    return total


def members(leader: int) -> list[str]:
    """The other live processes of a kernel's group as "name (pid)"; none where there is no /proc."""
    found = []
    for entry in os.listdir("/proc") if sys.platform == "linux" else ():
        if not entry.isdigit() or int(entry) == leader:
            continue
        try:
            with open(f"/proc/{entry}/stat", "rb") as file:
                name, _, rest = file.read().partition(b"(")[2].rpartition(b")")
        except OSError:
            continue
        fields = rest.split()
        if len(fields) > 2 and int(fields[2]) == leader and fields[0] not in (b"Z", b"X"):
            found.append(f"{name.decode('utf-8', 'replace')} ({entry})")
    return found


def _family(pid: int) -> Iterator[int]:
    """A process and its descendants, parents first."""
    waiting = [pid]
    for _ in range(_MOST_CHILDREN):
        if not waiting:
            return
        one = waiting.pop(0)
        yield one
        try:
            for task in os.listdir(f"/proc/{one}/task"):
                with open(f"/proc/{one}/task/{task}/children", "rb") as file:
                    waiting += map(int, file.read().split())
        except (OSError, ValueError):
            continue


def _memory_by_ps(pid: int) -> int | None:
    try:
        done = subprocess.run(
            ["/bin/ps", "-axo", "pid=,ppid=,rss="], capture_output=True, timeout=5, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.SubprocessError):
        return None
    rows = [tuple(map(int, line.split())) for line in done.stdout.splitlines() if len(line.split()) == 3]
    family, total = {pid}, 0
    for _ in range(8):
        family |= {child for child, parent, _ in rows if parent in family}
    for child, _, kilobytes in rows:
        total += kilobytes * 1024 if child in family else 0
    return total or None


def end_group(pid: int, number: int = signal.SIGKILL) -> None:
    """Send a signal to the process group that kernel ``pid`` leads; nothing when there is none."""
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        pass


def end_strays(kernels: set[str]) -> list[int]:
    """End processes that carry the mark of a kernel which is gone, wait for that, and return their pids.

    Only processes of this user whose environment names one of ``kernels`` are touched.
    """
    ended = []
    for pid in marked(kernels):
        try:
            os.kill(pid, signal.SIGKILL)
            ended.append(pid)
        except (ProcessLookupError, PermissionError):
            pass
    give_up = time.monotonic() + END_SECONDS
    while ended and marked(kernels) and time.monotonic() < give_up:
        time.sleep(0.01)
    return ended


def marked(kernels: set[str]) -> list[int]:
    """The pids of processes whose environment carries the mark of one of ``kernels``."""
    if not kernels:
        return []
    if sys.platform != "linux":
        return _marked_by_ps(kernels)
    marks = {f"{MARK}={kernel}".encode() for kernel in kernels}
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            environment = Path("/proc", entry, "environ").read_bytes()
        except OSError:
            continue
        if not marks.isdisjoint(environment.split(b"\0")):
            found.append(int(entry))
    return found


def _marked_by_ps(kernels: set[str]) -> list[int]:
    try:
        done = subprocess.run(
            ["/bin/ps", "-Eww", "-U", str(os.getuid()), "-o", "pid=,command="],
            capture_output=True,
            timeout=5,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return []
    marks = {f"{MARK}={kernel}".encode() for kernel in kernels}
    return [
        int(line.split()[0])
        for line in done.stdout.splitlines()
        if not marks.isdisjoint(line.split()) and int(line.split()[0]) != os.getpid()
    ]
