"""Making and removing lanes, so that a run killed between two steps leaves something that can be finished."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import OpsError
from . import evidence, register
from .checkout import RUNS, clear_dead
from .evidence import Removed
from .gate import now
from .git import Git
from .register import Lane, Register
from .repository import Repository

_PATIENCE = 120.0


@dataclass(frozen=True)
class Uncommitted:
    """Files of a lane's worktree that are in no commit; `known` is False when the worktree cannot be read."""

    changed: int = 0
    untracked: int = 0
    known: bool = True

    @property
    def any(self) -> bool:
        return self.changed + self.untracked > 0


@dataclass
class Pruned:
    """What pruning cleared away, and what it left because somebody's work is in it."""

    runs: list[str] = field(default_factory=list)
    lanes: list[str] = field(default_factory=list)
    branches: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def make(repository: Repository, name: str, base: str) -> Lane:
    """A branch `lane/<name>` at `base`, and a worktree of it; without `base` at the target, else at HEAD.

    A lane of the name whose making was cut short is made anew. Raises OpsError when there is one already, or
    git refuses; ValueError for a name that cannot be one.
    """
    with register.alone(repository, "make", _PATIENCE):
        return _make(repository, name, register.slug(name), base)


def _make(repository: Repository, name: str, part: str, base: str) -> Lane:
    with register.changing(repository) as known:
        if name in known.lanes:
            old = known.lanes[name]
            if old.state != "making":
                raise OpsError(f"there is a lane {name!r} already, in {old.path}")
            _undo(repository, old)
            del known.lanes[name]
        start = base or known.settings.target or "HEAD"
        commit = Git(repository.top).commit(start)
        if commit is None:
            raise OpsError(f"{start!r} is no commit here; --base names where the lane begins")
        path = register.worktrees_folder(repository, known.settings) / part
        lane = Lane(name, f"lane/{part}", str(path), commit, now(), "making")
        if repository.git.commit(lane.ref) is not None:
            raise OpsError(f"the branch {lane.branch} is there already and belongs to no lane")
        if os.path.lexists(path):
            raise OpsError(f"{path} is there already")
        known.lanes[name] = lane
    _parent(path)
    repository.git.must(
        "worktree", "add", "--quiet", "--no-track", "-b", lane.branch, str(path), commit, timeout=900.0
    )
    lane = replace(lane, state="ready")
    with register.changing(repository) as known:
        known.lanes[name] = lane
    return lane


def remove(repository: Repository, name: str, *, force: bool = False) -> str:
    """Remove a lane's worktree and branch; returns the commit its branch pointed at.

    Without `force`, OpsError when files are not committed or commits are not in the target.
    """
    with register.alone(repository, "make", _PATIENCE):
        return _remove(repository, name, force)


def _remove(repository: Repository, name: str, force: bool) -> str:
    known = register.read(repository)
    lane = known.lane(name)
    commit = repository.git.commit(lane.ref)
    if not force:
        why = _work_in(repository, known, lane, commit)
        if why:
            raise OpsError(f"lane {name!r} {why}; --force removes it all the same")
    with register.changing(repository) as changed:
        changed.lanes[name] = replace(lane, state="removing")
    _remove_worktree(repository, lane)
    if commit is not None:
        repository.git.must("update-ref", "-d", lane.ref, commit)
    evidence.append(repository, Removed(f"removed-{now()}", name, commit or "", force, now()))
    with register.changing(repository) as changed:
        changed.lanes.pop(name, None)
    _drop_empty(register.worktrees_folder(repository, known.settings))
    return commit or ""


def prune(repository: Repository) -> Pruned:
    """Clear away what killed runs left, and finish what they had begun; never a lane with work in it."""
    with register.alone(repository, "make", _PATIENCE):
        return _prune(repository)


def _prune(repository: Repository) -> Pruned:
    known = register.read(repository)
    worktrees = register.worktrees_folder(repository, known.settings)
    found = Pruned(runs=clear_dead(repository, worktrees))
    for lane in known.lanes.values():
        try:
            if lane.state == "making":
                _undo(repository, lane)
                with register.changing(repository) as changed:
                    changed.lanes.pop(lane.name, None)
                found.lanes.append(lane.name)
            elif lane.state == "removing":
                _remove(repository, lane.name, False)
                found.lanes.append(lane.name)
            elif repository.git.commit(lane.ref) is None and not os.path.lexists(lane.path):
                with register.changing(repository) as changed:
                    changed.lanes.pop(lane.name, None)
                found.lanes.append(lane.name)
        except OpsError as error:
            found.left.append(str(error))
    found.branches += _landed(repository, known)
    _drop_empty(worktrees)
    return found


def uncommitted(lane: Lane, *, deleted: bool = True) -> Uncommitted:
    """Files of a lane that no gate will see. Runs no filter that a lane may have set up.

    Without `deleted`, files that are missing do not count.
    """
    if lane.state == "removing" and not os.path.lexists(os.path.join(lane.path, ".git")):
        return Uncommitted()
    if not os.path.isdir(lane.path):
        return Uncommitted(known=False)
    git = Git(Path(lane.path)).without_filters()
    names: set[str] = set()
    which = "--diff-filter=ACDMRTUX" if deleted else "--diff-filter=ACMRTUX"
    for words in (("diff-files",), ("diff-index", "--cached", "HEAD")):
        said = git.run(*words, "--name-only", "-z", which)
        if said.code != 0:
            return Uncommitted(known=False)
        names |= set(said.out.split("\0")) - {""}
    said = git.run("ls-files", "--others", "--exclude-standard", "-z")
    if said.code != 0:
        return Uncommitted(known=False)
    return Uncommitted(len(names), len(set(said.out.split("\0")) - {""}))


def integration_ref(target: str) -> str:
    """The branch that merges wait on while somebody has the target checked out."""
    return f"refs/heads/hermes-lanes/{target}"


def _work_in(repository: Repository, known: Register, lane: Lane, commit: str | None) -> str:
    """Why a lane should not be removed; "" when nothing of it would be lost."""
    if os.path.isdir(lane.path):
        files = uncommitted(lane, deleted=lane.state != "removing")
        if not files.known:
            return f"has a worktree that git cannot read ({lane.path})"
        if files.any:
            return f"has {files.changed + files.untracked} files that are not committed"
    if commit is None or commit == lane.base:
        return ""
    git, target = repository.git, known.settings.target
    held = [ref for ref in (f"refs/heads/{target}", integration_ref(target)) if target and git.commit(ref)]
    if any(git.is_ancestor(commit, ref) for ref in held):
        return ""
    return f"has commits that are in no target ({commit[:12]} on {lane.branch})"


def _undo(repository: Repository, lane: Lane) -> None:
    """Take back a lane whose making was cut short; OpsError when something was committed in it."""
    commit = repository.git.commit(lane.ref)
    if commit is not None and commit != lane.base:
        raise OpsError(
            f"lane {lane.name!r} was never finished, and {lane.branch} has commits: remove it by hand"
        )
    _remove_worktree(repository, lane)
    if commit is not None:
        repository.git.must("update-ref", "-d", lane.ref, commit)


def _remove_worktree(repository: Repository, lane: Lane) -> None:
    """Remove a lane's worktree, also one that git or a killed run has made or removed by half."""
    if os.path.isdir(lane.path) and not os.path.lexists(os.path.join(lane.path, ".git")):
        shutil.rmtree(lane.path)
    if _is_known(repository, lane):
        repository.git.must("worktree", "remove", "--force", "--force", lane.path, timeout=900.0)
    elif os.path.lexists(lane.path):
        raise OpsError(f"{lane.path} is no worktree of this repository any more: remove it by hand")


def _is_known(repository: Repository, lane: Lane) -> bool:
    """Whether git has a worktree at a lane's path."""
    real = os.path.realpath(lane.path)
    return any(os.path.realpath(one.path) == real for one in repository.worktrees())


def _landed(repository: Repository, known: Register) -> list[str]:
    """Remove the integration branch once the target holds all of it."""
    target, git = known.settings.target, repository.git
    ref = integration_ref(target)
    tip = git.commit(ref) if target else None
    if tip is None or not git.is_ancestor(tip, f"refs/heads/{target}") or repository.holder(ref):
        return []
    git.must("update-ref", "-d", ref, tip)
    return [ref.removeprefix("refs/heads/")]


def _parent(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise OpsError(
            f"{path.parent} cannot be made ({error.strerror}); `init --worktrees DIR` names another place"
        ) from None


def _drop_empty(worktrees: Path) -> None:
    for folder in (worktrees / RUNS, worktrees):
        try:
            folder.rmdir()
        except OSError:
            pass
