"""Work that may never end, in a process that is ended at a time limit: commands, patterns of people."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import OpsError

if TYPE_CHECKING:
    import subprocess

MOST_OUTPUT = 100_000
_READ_GRACE = 1.0  # seconds to read what a process that ended has left in its pipe


def run(
    argv: Sequence[str], timeout: float, cwd: Path | None, stdin: bytes, most: int = MOST_OUTPUT
) -> tuple[int | None, bytes]:
    """Exit code (None: ended at its time limit) and the first `most` bytes said on both streams. No shell.

    The end of the process itself counts, not that of a child of it which holds the pipe; what is left of
    its group is ended. Raises OSError when it cannot be started.
    """
    import subprocess

    process = subprocess.Popen(
        argv,
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    said = bytearray()
    threads = [
        threading.Thread(target=_feed, args=(process, stdin), daemon=True),
        threading.Thread(target=_drain, args=(process, said, most), daemon=True),
    ]
    for thread in threads:
        thread.start()
    try:
        code: int | None = process.wait(timeout)
    except subprocess.TimeoutExpired:
        code = None
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()
    for thread in threads:
        thread.join(_READ_GRACE)
    return code, bytes(said)


def evaluate(code: str, value: Any, timeout: float, most: int = 32_000_000) -> Any:
    """What a piece of Python prints as JSON, given `value` as JSON on standard input.

    It sees the standard library alone. TimeoutError at the limit, OpsError when it failed.
    """
    argv = [sys.executable, "-I", "-S", "-c", code]
    ended, said = run(argv, timeout, None, json.dumps(value).encode(), most)
    if ended is None:
        raise TimeoutError
    try:
        return json.loads(said)
    except ValueError:
        raise OpsError(last_line(said.decode("utf-8", "replace"))) from None


def last_line(output: str) -> str:
    """The last line of an output that says something, at most 200 characters of it."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no output"


def _feed(process: subprocess.Popen[bytes], stdin: bytes) -> None:
    try:
        with process.stdin as pipe:
            pipe.write(stdin)
    except OSError:
        pass


def _drain(process: subprocess.Popen[bytes], said: bytearray, most: int) -> None:
    with process.stdout as pipe:
        while block := pipe.read1(65_536):
            said += block[: most - len(said)]
