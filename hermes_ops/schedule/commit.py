"""Committing one generated file in the repository it lies in: that file alone, only when it changed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..errors import OpsError

TIMEOUT = 120.0


def work_tree(path: Path) -> Path:
    """The top of the git work tree that a file lies in. OpsError outside of one, or without git."""
    folder = path.parent
    if not folder.is_dir():
        raise OpsError(f"{folder} is not a directory, so {path.name} cannot be committed there")
    code, out, said = _git(folder, "rev-parse", "--is-inside-work-tree", "--show-toplevel")
    lines = out.splitlines()
    if code != 0 or lines[:1] != ["true"] or len(lines) < 2:
        raise OpsError(
            f"{folder} is not inside a git work tree ({said or 'git says no'}); leave out --commit"
        )
    return Path(lines[1])


def commit(path: Path, message: str) -> str | None:
    """Commit a file as it is on the disk; returns the short commit id, None when nothing changed.

    Other files, staged or not, stay as they are; nothing is pushed. Hooks of the repository run.
    Raises OpsError with what git said.
    """
    folder, name = path.parent, f"./{path.name}"
    work_tree(path)
    code, out, said = _git(folder, "status", "--porcelain", "--ignored", "--", name)
    if code != 0:
        raise OpsError(f"git status of {path}: {said}")
    if not out.strip():
        return None
    if out.startswith("!!"):
        raise OpsError(f"{path} is ignored by git; write it elsewhere, or leave out --commit")
    new = out.startswith("??")
    if new:
        _must(folder, path, "add", "--", name)
    code, _, said = _git(folder, "commit", "--quiet", "--only", "--message", message, "--", name)
    if code != 0:
        if new:
            _git(folder, "rm", "--cached", "--quiet", "--force", "--", name)
        raise OpsError(f"{path} is written but not committed: git commit: {said}")
    return _git(folder, "rev-parse", "--short", "HEAD")[1].strip()


def _must(folder: Path, path: Path, *arguments: str) -> None:
    code, _, said = _git(folder, *arguments)
    if code != 0:
        raise OpsError(f"{path} is written but not committed: git {arguments[0]}: {said}")


def _git(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout, and the last line of stderr of `git ARGUMENTS` in a folder; asks nobody anything."""
    import subprocess

    variables = {name: value for name, value in os.environ.items() if not _elsewhere(name)}
    variables |= {"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true", "LC_ALL": "C"}
    command: Sequence[str] = ("git", "-C", str(folder), "--literal-pathspecs", *arguments)
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=variables,
            timeout=TIMEOUT,
        )
    except FileNotFoundError:
        raise OpsError("git is not installed, so nothing can be committed") from None
    except subprocess.TimeoutExpired:
        raise OpsError(f"git {arguments[0]} did not end within {TIMEOUT:g} s") from None
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    return done.returncode, done.stdout, lines[-1] if lines else ""


def _elsewhere(name: str) -> bool:
    """Whether a variable would lead git to another repository, index or author than the folder's own."""
    return name in {
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_NAMESPACE",
        "GIT_PREFIX",
    }
