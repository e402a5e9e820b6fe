"""The user's repository as lanes see it: where state is kept, and which branches are checked out where."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ..errors import OpsError
from .git import Git

FOLDER = "hermes-lanes"


@dataclass(frozen=True)
class Worktree:
    """One checkout of the repository; `branch` is a full ref name, "" when HEAD is detached."""

    path: Path
    branch: str


@dataclass(frozen=True)
class Repository:
    """A repository.

    top     its main checkout; for a bare repository, itself
    common  its git directory, the same for every linked worktree
    """

    top: Path
    common: Path

    @property
    def git(self) -> Git:
        return Git(self.common)

    @property
    def state(self) -> Path:
        """Where lanes keep what they know of this repository."""
        return self.common / FOLDER

    @property
    def worktrees_folder(self) -> Path:
        """Where lanes lie unless told otherwise: beside the checkout, so that no tool of it walks into them,
        and none of theirs finds its settings above itself."""
        return self.top.parent / f"{self.top.name.removesuffix('.git') or 'repository'}.lanes"

    def unfit(self, folder: Path) -> str:
        """Why lanes cannot lie in a folder, "" when they can; it need not be there yet."""
        real = Path(os.path.realpath(folder))
        for inside in (self.top, self.common, *(one.path for one in self.worktrees())):
            if real.is_relative_to(os.path.realpath(inside)):
                return f"lies in {inside}, whose tools would walk into the lanes"
        if real.exists() and not real.is_dir():
            return "is no folder"
        ground = next(one for one in (real, *real.parents) if one.exists())
        if not ground.is_dir():
            return f"cannot be made: {ground} is no folder"
        if _is_made_up(ground):
            return "is a file system of the kernel, which keeps no files"
        if not os.access(ground, os.W_OK | os.X_OK):
            return f"cannot be written: {ground} may not be changed"
        return ""

    def worktrees(self) -> list[Worktree]:
        """Every checkout, the main one first."""
        found = []
        for block in self.git.must("worktree", "list", "--porcelain").split("\n\n"):
            fields = dict(line.split(" ", 1) for line in block.splitlines() if " " in line)
            if "worktree" in fields:
                found.append(Worktree(Path(fields["worktree"]), fields.get("branch", "")))
        return found

    def holder(self, ref: str) -> Path | None:
        """The checkout that has a branch checked out, or rebases or bisects it; None when there is none."""
        for one in self.worktrees():
            if one.branch == ref or ref in _in_work(one.path):
                return one.path
        return None


def _is_made_up(folder: Path) -> bool:
    """Whether a folder belongs to the kernel; os.access says of them that they can be written."""
    return any(folder.is_relative_to(one) for one in ("/proc", "/sys", "/dev/fd"))


def open_repository(path: Path) -> Repository:
    """The repository that a path lies in, the same from each of its worktrees. OpsError outside of one."""
    if not path.is_dir():
        raise OpsError(f"{path} is no directory; --repo names a git repository")
    said = Git(path).run("rev-parse", "--path-format=absolute", "--git-common-dir", "--is-bare-repository")
    lines = said.out.splitlines()
    if said.code != 0 or len(lines) != 2:
        raise OpsError(f"{path} is not in a git repository ({said.why})")
    common = Path(os.path.realpath(lines[0]))
    first = Git(common).must("worktree", "list", "--porcelain").splitlines()[0]
    top = Path(first.removeprefix("worktree "))
    return Repository(common if top == common else top, common)


def _in_work(worktree: Path) -> set[str]:
    """The branches that a rebase or bisection of a checkout will come back to."""
    folder = worktree / ".git"
    try:
        if folder.is_file():
            folder = Path(folder.read_text("utf-8").removeprefix("gitdir:").strip())
        names = set()
        for name in ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"):
            file = folder / name
            if file.is_file():
                text = file.read_text("utf-8", "replace").strip()
                names |= {text, f"refs/heads/{text}"}
        return names
    except OSError:
        return set()
