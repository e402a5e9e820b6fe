"""Running the host's own command, `hermes`: found, started without a shell, bounded in time and output."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..errors import OpsError, Unreadable

if TYPE_CHECKING:
    import subprocess

MAX_OUTPUT = 1_000_000  # bytes kept of each stream; what comes after is read and dropped
_GRACE = 3.0  # seconds between asking the group to end and ending it
_DRAIN = 1.0  # seconds for output that is still on its way once the process has ended

# Of the session or job we run in; a process of its own must not take itself for a part of that.
_NOT_PASSED_ON = (
    "HERMES_SESSION_",
    "HERMES_CRON_SESSION",
    "HERMES_CRON_AUTO_DELIVER_",
    "HERMES_INTERACTIVE",
    "HERMES_QUIET",
    "HERMES_RPC_",
)


@dataclass(frozen=True)
class Said:
    """What a `hermes` process left: exit code (None: it was ended at its time limit) and both streams."""

    code: int | None
    stdout: str
    stderr: str


def find_hermes() -> list[str]:
    """How to start it: beside this Python, on PATH, or `python -m hermes_cli.main`; OpsError when nowhere."""
    folder = Path(sys.executable).parent if sys.executable else None
    beside = shutil.which("hermes", path=str(folder)) if folder else None
    found = beside or shutil.which("hermes")
    if found:
        return [found]
    from importlib.util import find_spec

    try:
        importable = find_spec("hermes_cli.main") is not None
    except (ImportError, ValueError):
        importable = False
    if importable and sys.executable:
        return [sys.executable, "-m", "hermes_cli.main"]
    raise OpsError("the command `hermes` is neither beside this Python, nor on PATH, nor importable here")


def run_hermes(home: Path, arguments: Sequence[str], timeout: float = 60.0, stdin: str | None = None) -> Said:
    """Run `hermes ARGUMENTS` for `home`, in a process group of its own that is ended at `timeout`.

    Its exit code is not proof of anything (`cron pause nosuchjob` is 0): read back what should have changed.
    Raises OpsError when it cannot be started.
    """
    return run([*find_hermes(), *arguments], environment(home), timeout, stdin)


def environment(home: Path) -> dict[str, str]:
    """The environment of a `hermes` for `home`: ours, without what belongs to the session we may run in.

    What another home's `.env` put into ours is left out: no profile acts with the keys of another.
    """
    from .._common.home import hermes_home
    from .environment import variables

    found = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_PASSED_ON)}
    own = hermes_home()
    if os.path.realpath(own) != os.path.realpath(home):
        try:
            foreign = variables(own)
        except Unreadable:
            foreign = {}
        found = {name: value for name, value in found.items() if foreign.get(name) != value}
    found.update({"HERMES_HOME": str(home), "PYTHONIOENCODING": "utf-8:backslashreplace", "NO_COLOR": "1"})
    return found


def run(command: Sequence[str], variables: dict[str, str], timeout: float, stdin: str | None = None) -> Said:
    """Run a program (no shell) in a process group of its own; see `run_hermes`."""
    import subprocess

    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=variables,
            start_new_session=os.name == "posix",
        )
    except (OSError, ValueError) as error:
        raise OpsError(f"{command[0]} cannot be started: {error}") from error
    kept: list[bytearray] = [bytearray(), bytearray()]
    threads = [
        _thread(_keep, stream, into)
        for stream, into in ((process.stdout, kept[0]), (process.stderr, kept[1]))
    ]
    if stdin is not None:
        _thread(_feed, process.stdin, stdin.encode("utf-8", "replace"))
    code: int | None
    try:
        code = process.wait(timeout)
    except subprocess.TimeoutExpired:
        code = None
    except BaseException:
        _end(process)
        raise
    if code is None:
        _end(process)
    # A child that lives on may hold the streams open for ever: it is not waited for, and not ended.
    give_up = time.monotonic() + _DRAIN
    for thread in threads:
        thread.join(max(0.0, give_up - time.monotonic()))
    texts = [bytes(part).decode("utf-8", "replace") for part in kept]
    return Said(code, texts[0], texts[1])


def _thread(target: Any, *arguments: Any) -> Any:
    import threading

    thread = threading.Thread(target=target, args=arguments, daemon=True)
    thread.start()
    return thread


def _keep(stream: IO[bytes], into: bytearray) -> None:
    with stream:
        while chunk := os.read(stream.fileno(), 65_536):
            into += chunk[: max(0, MAX_OUTPUT - len(into))]


def _feed(stream: IO[bytes], content: bytes) -> None:
    try:
        with stream:
            stream.write(content)
    except OSError:
        pass  # it ended, or wants no more


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the whole group: ask, then kill. The leader is not reaped before, so the number is its own."""
    import signal
    import subprocess

    if os.name != "posix":
        process.kill()
        process.wait()
        return
    for number, patience in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, number)
        except (ProcessLookupError, PermissionError):
            pass
        if patience is None:
            process.wait()
            return
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            continue
        # The leader has gone on asking; whoever of its group has not must go too.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        return
