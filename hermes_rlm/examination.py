"""What doctor looks at on the machine: platform, interpreter, directories, key, checkpoints, processes.

Each function adds findings and facts to a report. Nothing is changed that a kernel would not change.
"""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from . import catalog, status, tools
from ._common import files
from .settings import Settings

START_SECONDS = 20
OLDEST = (3, 10)
KEY_BYTES = 32
_ASK = "import sys; print(sys.implementation.name, *sys.version_info[:3])"
_NAMED = 5


def platform_works(report: Any) -> bool:
    """Tell whether kernels exist on this platform at all."""
    if os.name == "posix":
        return True
    report.wrong("platform", tools.UNSUPPORTED)
    return False


def interpreter(report: Any, settings: Settings) -> str:
    """Start the kernels' interpreter as a kernel is started; return its name and version, "" on failure."""
    from .kernel.environment import interpreter as choose

    path = choose(settings.python)
    remedy = "set HERMES_RLM_PYTHON to another Python" if settings.python else "set HERMES_RLM_PYTHON"
    try:
        done = subprocess.run(
            [path, "-I", "-S", "-c", _ASK],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=START_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        report.wrong("interpreter", f"{path} does not start ({type(error).__name__}); {remedy}")
        return ""
    words = done.stdout.decode("utf-8", "replace").split()
    if done.returncode or len(words) != 4 or not all(word.isdigit() for word in words[1:]):
        said = (
            done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"exit code {done.returncode}"]
        )[-1]
        report.wrong("interpreter", f"{path} is no Python that runs ({said[:200]}); {remedy}")
        return ""
    name, version = words[0], tuple(map(int, words[1:]))
    shown = f"{name} {'.'.join(words[1:])}"
    if name != "cpython" or version < OLDEST:
        least = ".".join(map(str, OLDEST))
        report.wrong("interpreter", f"{path} is {shown}; kernels need cpython {least} or later: {remedy}")
    report.facts.append(f"kernels run on {shown}: {path}")
    return shown


def home(report: Any, home: Path) -> None:
    """Try what a kernel does before it can start: write below the home."""
    if not home.is_dir():
        report.wrong("cannot write", f"{home} is no directory: start a session, or set HERMES_HOME")
        return
    directory = home / "state" / "rlm"
    places = (directory, directory.parent, home)
    there = next(path for path in places if path.is_dir())
    probe = there / f".doctor-{os.getpid()}"
    try:
        files.append_line(probe, b"x" * 4096)
        probe.unlink()
        for path in places:
            if os.path.lexists(path) and not path.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    except OSError as error:
        report.wrong(
            "cannot write", f"{error.filename or there}: {error.strerror}; kernels keep their state there"
        )


def temporary_directory(report: Any) -> None:
    """Is there a private place for sockets, and do their paths fit?"""
    from . import endpoint
    from .kernel import registry

    base = registry.temporary_base()
    try:
        found = os.lstat(base)
    except FileNotFoundError:
        found = None
    except OSError as error:
        report.wrong("temporary directory", f"{base}: {error.strerror}; set TMPDIR to a directory of yours")
        return
    fallback = "an inherited pair of sockets is used instead"
    if found is None:
        if not os.access(tempfile.gettempdir(), os.W_OK | os.X_OK):
            report.wrong("temporary directory", f"{base.parent} is not writable; {fallback}; set TMPDIR")
    elif not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        report.wrong("temporary directory", f"{base} is not a directory of yours; {fallback}; remove it")
    elif found.st_mode & 0o077:
        report.facts.append(f"{base} is open to others; the next kernel makes it private")
    path = base / ("0" * 12) / endpoint.SOCKET_NAME
    length = len(os.fsencode(path))
    if length > endpoint.PATH_BYTES:
        report.facts.append(
            f"paths of sockets would have {length} bytes, {endpoint.PATH_BYTES} are possible; {fallback}"
        )


def signing_key(report: Any, home: Path) -> None:
    """A key that others could have read or put there makes every checkpoint theirs."""
    path = home / "state" / "rlm" / "key"
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        report.wrong("signing key", f"{path}: {error.strerror}")
        return
    wrong = []
    if not stat.S_ISREG(found.st_mode):
        wrong.append("it is no regular file")
    else:
        if found.st_uid != os.geteuid():
            wrong.append(f"it belongs to user {found.st_uid}")
        if found.st_mode & 0o077:
            wrong.append(f"its mode is {stat.S_IMODE(found.st_mode):04o}, not 0600")
        if found.st_size != KEY_BYTES:
            wrong.append(f"it has {found.st_size} bytes, not {KEY_BYTES}")
    if wrong:
        report.wrong(
            "signing key",
            f"{path}: {'; '.join(wrong)}; remove it: a new one is made, older checkpoints are refused",
        )


def checkpoints(report: Any, home: Path) -> None:
    entries = catalog.checkpoints(home)
    damaged = [entry for entry in entries if entry.problem]
    for entry in damaged[:_NAMED]:
        report.wrong("damaged checkpoint", f"{entry.path}: {entry.problem}; it is never restored: remove it")
    if len(damaged) > _NAMED:
        report.wrong("damaged checkpoint", f"{len(damaged) - _NAMED} more: hermes rlm checkpoints")
    total = sum(entry.size for entry in entries)
    report.facts.append(f"{len(entries)} checkpoints, {total:,} bytes, in {home}")


def kernels(report: Any, home: Path) -> None:
    from .kernel import process

    rows = status.rows(home)
    stale = {row.kernel for row in rows if row.state == status.STALE}
    report.facts.append(f"{sum(row.state == status.LIVE for row in rows)} kernels run")
    if stale:
        report.facts.append(f"{len(stale)} registrations of ended kernels are swept when the next one starts")
    left = process.marked(stale)
    if left:
        pids = ", ".join(map(str, left[:_NAMED]))
        report.wrong(
            "leftover process",
            f"{len(left)} processes that ended kernels have started still run (pid {pids}); the next kernel "
            "that starts ends them",
        )
    for row in [row for row in rows if row.state == status.ORPHAN][:_NAMED]:
        report.wrong(
            "leftover process",
            f"kernel {row.kernel} (pid {row.pid}) runs though its host is gone; the next one that starts "
            "ends it",
        )
