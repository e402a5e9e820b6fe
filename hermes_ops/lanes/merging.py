"""Merging lanes one by one: gate on the lane, merge apart, gate on the result, then the branch moves.

The merge is made in a repository of its own, so the user's checkout, index and current branch stay as they
are. The target moves from the very commit that was merged into, or not at all. While somebody has it checked
out it is left alone, for its files would no longer be those of its commit: the merges wait on a branch of
their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import OpsError
from . import evidence
from .checkout import check_out, run
from .evidence import Merge
from .gate import Gated, gate, green, now
from .git import Git
from .making import integration_ref
from .register import Lane, Settings, worktrees_folder
from .repository import Repository

TRIES = 3
MERGED, WAITS, ALREADY, EMPTY = "merged", "waits", "already", "empty"
RED, CONFLICT, FAILED = "red", "conflict", "failed"


@dataclass(frozen=True)
class Outcome:
    """What became of one lane.

    state   "merged"; "waits" (on the integration branch, the target is checked out in `holder`);
            "already" (in the target); "empty" (nothing committed); "red"; "conflict"; "failed"
    gates   the records that decided, in order
    """

    lane: str
    state: str
    text: str
    commit: str = ""
    result: str = ""
    holder: Path | None = None
    gates: tuple[Gated, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def is_good(self) -> bool:
        return self.state in (MERGED, WAITS, ALREADY)


@dataclass
class _Work:
    """The merge of one lane while it goes on."""

    repository: Repository
    settings: Settings
    lane: Lane
    commit: str
    gates: list[Gated] = field(default_factory=list)

    def outcome(self, state: str, text: str, **more: object) -> Outcome:
        return Outcome(self.lane.name, state, text, self.commit, gates=tuple(self.gates), **more)


def merge(
    repository: Repository,
    settings: Settings,
    lanes: list[Lane],
    told: Callable[[Gated], None] = lambda _: None,
) -> Iterator[Outcome]:
    """Merge lanes in the order given; each outcome as it comes. The caller is `register.alone` in "merge".

    ``told`` is given each run of the gate. Raises OpsError when there is no gate or no target.
    """
    if not settings.target:
        raise OpsError(
            "no target is set; `hermes ops lanes init --target BRANCH` names the branch to merge into"
        )
    if repository.git.commit(f"refs/heads/{settings.target}") is None:
        raise OpsError(f"the target {settings.target!r} is no branch of this repository")
    for lane in lanes:
        try:
            yield _one(repository, settings, lane, told)
        except OpsError as error:
            yield Outcome(lane.name, FAILED, str(error))


def _one(repository: Repository, settings: Settings, lane: Lane, told: Callable[[Gated], None]) -> Outcome:
    git = repository.git
    commit = git.commit(lane.ref)
    if commit is None:
        return Outcome(lane.name, FAILED, f"its branch {lane.branch} is gone")
    work = _Work(repository, settings, lane, commit)
    target_ref = f"refs/heads/{settings.target}"
    if commit == lane.base:
        return work.outcome(EMPTY, "nothing is committed in it")
    if git.is_ancestor(commit, target_ref):
        return work.outcome(ALREADY, f"is in {settings.target} already")
    passed = green(repository, settings, commit)
    if passed is None:
        passed = gate(repository, settings, lane, commit, lane.base, "lane")
        told(passed)
    work.gates.append(passed)
    if passed.record.outcome != evidence.GREEN:
        return work.outcome(RED, f"its gate is {passed.record.outcome}: not merged")
    for _ in range(TRIES):
        found = _try(work, target_ref, told)
        if found is not None:
            return found
    return work.outcome(FAILED, f"{settings.target} moved during each of {TRIES} gates: try again")


def _try(work: _Work, target_ref: str, told: Callable[[Gated], None]) -> Outcome | None:
    """One attempt onto the tip of now; None when that tip moved before the branch could follow."""
    repository, settings, lane = work.repository, work.settings, work.lane
    git = repository.git
    tip = git.commit(target_ref) or ""
    waiting_ref = integration_ref(settings.target)
    waiting = _waiting(repository, waiting_ref, tip)
    if waiting and git.is_ancestor(work.commit, waiting):
        return _moved_on(work, target_ref, tip, waiting_ref, waiting, waiting)
    base = waiting if waiting and git.is_ancestor(tip, waiting) else tip
    merged = _merge_apart(work, base)
    if isinstance(merged, Outcome):
        return merged
    result = green(repository, settings, merged) or gate(repository, settings, lane, merged, base, "merge")
    told(result)
    work.gates.append(result)
    if result.record.outcome != evidence.GREEN:
        text = f"its gate is green, and {result.record.outcome} once merged into {base[:12]}: not merged"
        return work.outcome(RED, text)
    return _moved_on(work, target_ref, tip, waiting_ref, waiting, merged, base)


def _moved_on(
    work: _Work, target_ref: str, tip: str, waiting_ref: str, waiting: str, result: str, base: str = ""
) -> Outcome | None:
    """Move the target, or while it is checked out the integration branch, to `result`.

    Without `base`, `result` was merged by an earlier run and is on record.
    """
    repository, settings = work.repository, work.settings
    holder = repository.holder(target_ref)
    ref, old = (target_ref, tip) if holder is None else (waiting_ref, waiting)
    if holder is not None and (other := repository.holder(waiting_ref)) is not None:
        name = waiting_ref.removeprefix("refs/heads/")
        return work.outcome(FAILED, f"{settings.target} is checked out in {holder}, and {name} in {other}")
    if base:
        record = _record(work, base, result, ref)
        evidence.append(repository, record)
    if result != old:
        zero = "0" * len(result)
        note = f"lanes: merge {work.lane.branch}"
        moved = repository.git.run("update-ref", "-m", note, ref, result, old or zero)
        if moved.code != 0:
            if repository.git.commit(ref) != (old or None):
                return None
            return work.outcome(FAILED, f"git update-ref: {moved.why}")
    if holder is not None:
        name = waiting_ref.removeprefix("refs/heads/")
        text = f"{settings.target} is checked out in {holder}, so it was left alone: the merge is on {name}"
        return work.outcome(WAITS, text, result=result, holder=holder)
    if waiting and repository.git.is_ancestor(waiting, result) and repository.holder(waiting_ref) is None:
        repository.git.run("update-ref", "-d", waiting_ref, waiting)
    return work.outcome(MERGED, f"is in {settings.target} as {result[:12]}", result=result)


def _record(work: _Work, base: str, result: str, ref: str) -> Merge:
    lane_gate, result_gate = work.gates[0].record, work.gates[-1].record
    return Merge(
        id=f"merge-{result_gate.id}",
        lane=work.lane.name,
        commit=work.commit,
        tree=result_gate.tree,
        base=base,
        result=result,
        target=work.settings.target,
        ref=ref,
        lane_gate=lane_gate.id,
        result_gate=result_gate.id,
        at=now(),
    )


def _waiting(repository: Repository, ref: str, tip: str) -> str:
    """The tip of the integration branch; "" when there is none.

    OpsError when it cannot be built on: somebody else committed to it, or the target went another way.
    """
    git = repository.git
    waiting = git.commit(ref)
    if waiting is None or git.is_ancestor(waiting, tip):
        return waiting or ""
    name = ref.removeprefix("refs/heads/")
    if waiting not in {record.result for record in evidence.read(repository).merges()}:
        raise OpsError(f"the branch {name} has commits that lanes did not put there: land or rename it first")
    if not git.is_ancestor(tip, waiting):
        raise OpsError(
            f"the target moved on while merges wait on {name}: land them with `git merge {name}` in its "
            f"checkout, or give them up with `git branch -D {name}`, which keeps the lanes"
        )
    return waiting


def _merge_apart(work: _Work, base: str) -> str | Outcome:
    """The commit that merges the lane into `base`, made in a repository of its own; or why there is none."""
    repository = work.repository
    with run(repository, worktrees_folder(repository, work.settings)) as here:
        git = check_out(repository, base, here.checkout, writes=True)
        message = f"Merge lane {work.lane.name}"
        words = ("-c", "merge.conflictStyle=merge", *_identity(repository))
        said = git.run(
            *words, "merge", "--no-ff", "--no-edit", "--quiet", "-m", message, work.commit, timeout=900.0
        )
        if said.code == 0:
            result = git.commit("HEAD") or ""
            if git.parents(result) != [base, work.commit]:
                raise OpsError(
                    f"the merge of {work.commit[:12]} into {base[:12]} is not what git was asked for"
                )
            return result
        files = git.run("diff", "--name-only", "--diff-filter=U", "-z").out
        names = tuple(name for name in files.split("\0") if name)
        if names:
            text = (
                f"conflicts with {base[:12]} in {len(names)} file{'s' if len(names) > 1 else ''}: not merged"
            )
            return work.outcome(CONFLICT, text, files=names)
        return work.outcome(FAILED, f"git merge: {said.why}")


def _identity(repository: Repository) -> list[str]:
    """Who merges: the user of the repository, else a name of ours."""
    words: list[str] = []
    for key, otherwise in (("user.name", "hermes lanes"), ("user.email", "hermes-lanes@localhost")):
        value = Git(repository.common).run("config", "--get", key).out.strip()
        words += ["-c", f"{key}={value or otherwise}"]
    return words
