"""A clean checkout of exactly one commit, in a repository of its own.

The objects are the user's, tags and the target branch are copied, everything else is fresh: no configuration,
hooks, filters or merge drivers that a lane may have written into the repository it shares with the user, and
nothing a gate does with git (a commit, a checkout, a reset) reaches the user's branches or index.

A run is a folder `_runs/<id>` with a lock that the system drops when its process dies, so what a killed run
left is told from one at work.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .._common.files import FileLock, is_alive, process_start_time, write_atomic
from .._common.home import private_dir
from ..errors import OpsError
from . import register
from .git import Git
from .repository import Repository

RUNS = "_runs"
CHECKOUT_SECONDS = 900.0
_PATIENCE = 60.0
_LOCK = "lock"
_GROUP = "group.json"


@dataclass(frozen=True)
class Run:
    """One gate or merge at work: its id, its folder, and the checkout it works in."""

    id: str
    folder: Path

    @property
    def checkout(self) -> Path:
        return self.folder / "checkout"

    def began(self, pid: int) -> None:
        """Note the process group of the gate, so that what outlives a killed run can be ended."""
        group = {"format": 1, "pid": pid, "started": process_start_time(pid)}
        write_atomic(self.folder / _GROUP, json.dumps(group), durable=False)


@contextmanager
def run(repository: Repository, worktrees: Path) -> Iterator[Run]:
    """A new run; its folder is gone when the block ends. What killed runs left is cleared away before."""
    clear_dead(repository, worktrees)
    name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(4)}"
    made = Run(name, worktrees / RUNS / name)
    lock = FileLock(made.folder / _LOCK)
    with register.alone(repository, "runs", _PATIENCE):
        private_dir(made.folder)
        lock.acquire()
    try:
        yield made
    finally:
        _remove(made.folder)
        lock.release()


def check_out(
    repository: Repository, commit: str, folder: Path, kept: Sequence[str] = (), *, writes: bool = False
) -> Git:
    """Make a repository at `folder` and check `commit` out in it; the result is git in it.

    Tags, and the refs in `kept`, are there under their names, for a gate that asks what changed since. With
    `writes` new objects go straight to the user's store; they belong to no branch until one is moved.
    Raises OpsError when that cannot be done.
    """
    source = repository.git
    objects = Path(source.must("rev-parse", "--path-format=absolute", "--git-path", "objects"))
    extra = {"GIT_OBJECT_DIRECTORY": str(objects)} if writes else {}
    folder.mkdir(mode=0o700)
    git = Git(folder, extra)
    kind = source.must("rev-parse", "--show-object-format")
    Git(folder).must("init", "--quiet", "--template=", f"--object-format={kind}")
    (folder / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (folder / ".git" / "objects" / "info" / "alternates").write_bytes(os.fsencode(objects) + b"\n")
    refs = source.must("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags", *kept)
    (folder / ".git" / "packed-refs").write_text(
        f"# pack-refs with: sorted\n{refs}\n" if refs else "", "utf-8"
    )
    shallow = repository.common / "shallow"
    if shallow.is_file():
        shutil.copyfile(shallow, folder / ".git" / "shallow")
    git.must("checkout", "--quiet", "--detach", commit, "--", timeout=CHECKOUT_SECONDS)
    if git.commit("HEAD") != commit:
        raise OpsError(f"the checkout of {commit[:12]} has another commit in it")
    return git


def changed_files(git: Git) -> int:
    """How many files of a checkout's commit differ from it; files that are not in it do not count."""
    return len(
        [one for one in git.must("status", "--porcelain", "-z", "--untracked-files=no").split("\0") if one]
    )


def clear_dead(repository: Repository, worktrees: Path) -> list[str]:
    """End and remove what killed runs left; returns their ids. A run at work is left alone."""
    with register.alone(repository, "runs", _PATIENCE):
        return _clear_dead(worktrees)


def _clear_dead(worktrees: Path) -> list[str]:
    try:
        names = sorted(os.listdir(worktrees / RUNS))
    except (FileNotFoundError, NotADirectoryError):
        return []
    cleared = []
    for name in names:
        folder = worktrees / RUNS / name
        lock = FileLock(folder / _LOCK)
        if not folder.is_dir() or not lock.acquire():
            continue
        try:
            _end_group(folder / _GROUP)
            _remove(folder)
            cleared.append(name)
        finally:
            lock.release()
    return cleared


def _end_group(file: Path) -> None:
    """End the group of a gate that outlived its run, if its leader is the process that was noted."""
    try:
        group = json.loads(file.read_bytes())
        pid, started = group["pid"], group["started"]
    except (OSError, ValueError, KeyError, TypeError):
        return
    if isinstance(pid, int) and pid > 1 and is_alive(pid, started):
        try:
            os.killpg(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass


def _remove(folder: Path) -> None:
    """Remove a folder of ours; folders that a gate made unwritable are made writable first."""
    for above, names, _ in os.walk(folder):
        for name in names:
            path = os.path.join(above, name)
            if not os.path.islink(path) and not os.access(path, os.W_OK | os.X_OK | os.R_OK):
                try:
                    os.chmod(path, 0o700)
                except OSError:
                    pass  # of another user: what can be removed is removed
    shutil.rmtree(folder, ignore_errors=True)
