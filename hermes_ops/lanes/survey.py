"""Where each lane stands: its commits, its files that are in none, its gate, and whether it is merged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from . import evidence
from .evidence import Gate
from .making import Uncommitted, integration_ref, uncommitted
from .register import Lane, Settings
from .repository import Repository


@dataclass(frozen=True)
class Standing:
    """One lane.

    commit    of its branch; None when the branch is gone
    ahead     commits since its base; None when that cannot be counted
    gate      "green" or another outcome, of exactly this commit and command; "stale" (an older commit was
              gated), "none"
    merged    "target", "waits" (on the integration branch), ""
    """

    lane: Lane
    commit: str | None
    ahead: int | None
    files: Uncommitted
    gate: str
    record: Gate | None
    merged: str


def survey(repository: Repository, settings: Settings, lanes: Iterable[Lane]) -> list[Standing]:
    """Look at lanes; changes nothing."""
    gates = evidence.read(repository).gates()
    return [_standing(repository, settings, lane, gates) for lane in lanes]


def _standing(repository: Repository, settings: Settings, lane: Lane, gates: list[Gate]) -> Standing:
    git = repository.git
    commit = git.commit(lane.ref)
    ahead = None
    if commit is not None and git.commit(lane.base) is not None:
        ahead = git.count(lane.base, commit)
    files = uncommitted(lane)
    mine = [one for one in gates if one.lane == lane.name and one.subject == "lane"]
    wanted = settings.command.hash if settings.command else None
    exact = [one for one in mine if one.commit == commit and one.command_hash == wanted]
    state = exact[-1].outcome if exact else "stale" if mine else "none"
    merged = ""
    if commit is not None and commit != lane.base and settings.target:
        places = (("target", f"refs/heads/{settings.target}"), ("waits", integration_ref(settings.target)))
        held = (word for word, ref in places if git.commit(ref) and git.is_ancestor(commit, ref))
        merged = next(held, "")
    return Standing(lane, commit, ahead, files, state, exact[-1] if exact else None, merged)
