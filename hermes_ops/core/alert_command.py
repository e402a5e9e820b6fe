"""Running the program that takes an alert: without a shell, bounded in time, its output not kept."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence

TAIL = 2000


def run(
    argv: Sequence[str], text: str, timeout: float, variables: Mapping[str, str]
) -> tuple[int | None, str]:
    """Its exit code (None: ended at `timeout`, with its whole process group) and the end of what it said.

    It is not waited for longer than it lives: a child that it left behind may hold its output open.
    Raises OSError when it cannot be started.
    """
    deadline = time.monotonic() + timeout
    process = subprocess.Popen(
        list(argv),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **variables},
        start_new_session=True,
    )
    assert process.stdin is not None and process.stdout is not None
    tail = b""
    try:
        taken = _give(process.stdin.fileno(), text.encode("utf-8", "replace"), process, deadline)
        process.stdin.close()
        with selectors.DefaultSelector() as ready:
            os.set_blocking(process.stdout.fileno(), False)
            ready.register(process.stdout, selectors.EVENT_READ)
            open_still = True
            while taken and process.poll() is None and time.monotonic() < deadline:
                if not open_still:
                    time.sleep(0.02)
                elif ready.select(0.05):
                    piece = os.read(process.stdout.fileno(), 65536)
                    open_still = bool(piece)
                    tail = (tail + piece)[-TAIL:]
        code = process.poll()
        if code is not None:
            tail = (tail + _rest(process.stdout.fileno()))[-TAIL:]
        return code, tail.decode("utf-8", "replace").strip()
    finally:
        _end(process)
        process.stdout.close()


def _give(fd: int, data: bytes, process: subprocess.Popen[bytes], deadline: float) -> bool:
    """Write to its standard input as fast as it reads; a program that does not want it is left in peace."""
    os.set_blocking(fd, False)
    view = memoryview(data)
    while view and process.poll() is None:
        if time.monotonic() >= deadline:
            return False
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:
            time.sleep(0.02)
        except BrokenPipeError:
            break
    return True


def _rest(fd: int) -> bytes:
    try:
        return os.read(fd, 65536)
    except BlockingIOError:
        return b""


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (OSError, AttributeError):
            process.kill()
        process.wait()
