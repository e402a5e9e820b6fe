"""Holding the evidence against the repository: logs, commits, trees, the green records behind a merge."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from . import evidence
from .evidence import GREEN, Gate, Merge
from .register import Lane, Settings
from .repository import Repository


@dataclass
class Verified:
    """What was checked. ``notes`` are no fault: commits that were thrown away, merges that never landed."""

    gates: int = 0
    merges: int = 0
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def verify(repository: Repository, settings: Settings, lanes: Iterable[Lane]) -> Verified:
    """Check every record again.

    A merge must have the parents it names, and green records of the lane's commit and of the result, each for
    the very tree that the commit has. A lane whose commits are in the target without a record was merged past
    the gate. Raises OSError when the evidence cannot be read.
    """
    found = Verified()
    records = evidence.read(repository)
    found.problems += records.problems
    gates = {gate.id: gate for gate in records.gates()}
    for gate in records.gates():
        found.gates += 1
        _check_gate(repository, gate, found)
    for merge in records.merges():
        found.merges += 1
        _check_merge(repository, merge, gates, found)
    merged = {merge.commit for merge in records.merges()}
    target = f"refs/heads/{settings.target}"
    git = repository.git
    for lane in lanes if settings.target and git.commit(target) else ():
        commit = git.commit(lane.ref)
        if commit and commit != lane.base and commit not in merged and git.is_ancestor(commit, target):
            found.problems.append(
                f"lane {lane.name}: {commit[:12]} is in {settings.target} and no merge of it is on record"
            )
    return found


def _check_gate(repository: Repository, gate: Gate, found: Verified) -> None:
    about = f"gate {gate.id} (lane {gate.lane}, {gate.commit[:12]})"
    written = evidence.log_hash(repository, gate.log)
    if written is None:
        found.problems.append(f"{about}: its log {gate.log} is gone")
    elif written != gate.log_hash:
        found.problems.append(f"{about}: its log {gate.log} was changed")
    if (gate.outcome == GREEN) != (gate.exit == 0):
        found.problems.append(f"{about}: recorded as {gate.outcome} with exit {gate.exit}")
    tree = repository.git.tree(gate.commit)
    if tree is None:
        found.notes.append(f"{about}: the commit is not in the repository any more")
    elif tree != gate.tree:
        found.problems.append(f"{about}: the commit has the tree {tree[:12]}, recorded is {gate.tree[:12]}")


def _check_merge(repository: Repository, merge: Merge, gates: dict[str, Gate], found: Verified) -> None:
    git = repository.git
    about = f"merge {merge.result[:12]} (lane {merge.lane})"
    refs = (merge.ref, f"refs/heads/{merge.target}")
    tree = git.tree(merge.result)
    is_in = tree is not None and any(git.commit(ref) and git.is_ancestor(merge.result, ref) for ref in refs)
    if not is_in:
        found.notes.append(f"{about}: is in none of its branches (a run was killed, or the branch was moved)")
    if tree is not None and git.parents(merge.result) != [merge.base, merge.commit]:
        found.problems.append(f"{about}: its parents are not the commits on record")
    for name, commit, wanted in (
        (merge.lane_gate, merge.commit, git.tree(merge.commit)),
        (merge.result_gate, merge.result, tree),
    ):
        gate = gates.get(name)
        if gate is None:
            found.problems.append(f"{about}: no record of its gate {name}")
        elif gate.outcome != GREEN or gate.commit != commit:
            found.problems.append(f"{about}: its gate {name} is {gate.outcome} for {gate.commit[:12]}")
        elif wanted is not None and gate.tree != wanted:
            found.problems.append(f"{about}: its gate {name} tested another tree than {commit[:12]} has")
        elif wanted is None and is_in:
            found.problems.append(f"{about}: {commit[:12]} is not in the repository any more")
