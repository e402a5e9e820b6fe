"""The delivery policy as data, `<home>/ops/policy.toml`: what kind each job is, where it speaks, how often.

    [targets]
    alert = ["telegram:-100:17"]        # where alerts go

    [kinds.digest]                      # changes a built-in kind, see KINDS
    messages_per_day = 2

    [[job]]
    id = "06c6883b7ddd"                 # or name = "morning *", a pattern; profile = "work" for another
    kind = "digest"                     # collector, alert, digest, one-shot
    target = "telegram:-100:5"          # a digest's own
    messages_per_day = 3

    [[exclude]]                         # a documented exception
    what = "policy.budget:default/06c6883b7ddd"   # the id or rule of a finding, or a beginning ending in *
    reason = "the feed is busy in December"
    until = 2026-12-31
    owner = "anna"

What kind a job is is declared, never guessed: a job that nobody declared is said to be undeclared. Two things
are known without a declaration: a one-shot by its schedule, and our own watchers by their scripts.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from datetime import tzinfo
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from ..core import toml_file
from ..core.finding import Suppression
from ..errors import OpsError
from .declared import Declared

MODES = ("any", "script")
DELIVERS = ("local", "alert", "own", "somebody", "any")
BY_SCHEDULE = "its schedule is once"
OURS = "a watcher of hermes-ops"


@dataclass(frozen=True)
class Kind:
    """What one kind of job owes.

    deliver           "local" (tells nobody), "alert" (the alert targets), "own" (a target of its own, not
                      that of alerts and of no other digest), "somebody" (anything that is not local), "any"
    mode              "script": no model writes what is said; "any"
    messages_per_day  None: no limit
    """

    name: str
    deliver: str
    mode: str
    messages_per_day: int | None


KINDS = {
    kind.name: kind
    for kind in (
        Kind("collector", "local", "any", 0),
        Kind("alert", "alert", "script", 12),
        Kind("digest", "own", "any", 4),
        Kind("one-shot", "somebody", "script", 1),
    )
}


@dataclass(frozen=True)
class Declaration:
    """One [[job]]: which jobs it names, and what they are."""

    where: str
    profile: str
    id: str | None
    name: str | None
    kind: str
    target: str | None
    messages_per_day: int | None

    def names(self, job: Declared) -> bool:
        """Tell whether it is about a job."""
        if job.profile != self.profile:
            return False
        if self.id is not None:
            return job.id == self.id
        return fnmatchcase(job.name.casefold(), (self.name or "").casefold())


@dataclass(frozen=True)
class Exclusion:
    """One [[exclude]]: a finding that somebody accepts, why, and until when (seconds since the epoch)."""

    where: str
    suppression: Suppression
    owner: str | None


@dataclass(frozen=True)
class Policy:
    """The whole file; ``written`` is False when there is none and only what is built in holds."""

    kinds: dict[str, Kind]
    alert_targets: tuple[str, ...] = ()
    declarations: tuple[Declaration, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    written: bool = True


@dataclass(frozen=True)
class Classified:
    """A job with its kind; None: nobody declared it. ``conflict`` names declarations that disagree."""

    job: Declared
    kind: Kind | None
    target: str | None = None
    how: str = "undeclared"
    conflict: tuple[str, ...] = ()


def path_of(home: Path) -> Path:
    return home / "ops" / "policy.toml"


def load(home: Path, zone: tzinfo) -> Policy:
    """The policy of a home; the built-in one without a file. OpsError names the entry that is wrong."""
    path = path_of(home)
    content = toml_file.read(path)
    return Policy(dict(KINDS), written=False) if content is None else parse(content, path, zone)


def parse(content: dict[str, Any], path: Path, zone: tzinfo) -> Policy:
    """Check a parsed file as a whole. ``zone`` is where dates end."""
    toml_file.known(content, ("targets", "kinds", "job", "exclude"), str(path))
    targets = _table(content, "targets", path)
    toml_file.known(targets, ("alert",), f"{path}: [targets]")
    kinds = dict(KINDS)
    for name, table in _table(content, "kinds", path).items():
        kinds[name] = _kind(name, table, f"{path}: [kinds.{name}]")
    return Policy(
        kinds,
        toml_file.texts(targets, "alert", f"{path}: [targets]"),
        tuple(_declaration(table, where, kinds) for table, where in toml_file.tables(content, "job", path)),
        tuple(_exclusion(table, where, zone) for table, where in toml_file.tables(content, "exclude", path)),
    )


def classify(
    policy: Policy, jobs: Sequence[Declared], ours: Container[str] = (), reminders: Container[str] = ()
) -> list[Classified]:
    """The kind of each job. ``ours`` are the keys of our own watchers' jobs, which are alerts."""
    return [_classify(policy, job, ours, reminders) for job in jobs]


def unused(policy: Policy, jobs: Sequence[Declared]) -> list[Declaration]:
    """Declarations of jobs that are not there."""
    return [one for one in policy.declarations if not any(one.names(job) for job in jobs)]


def _classify(policy: Policy, job: Declared, ours: Container[str], reminders: Container[str]) -> Classified:
    found = [one for one in policy.declarations if one.names(job)]
    # A declaration by id is about this job; a pattern may take in more than was meant.
    found = [one for one in found if one.id is not None] or found
    kinds = {(one.kind, one.target, one.messages_per_day) for one in found}
    if len(kinds) > 1:
        return Classified(job, None, how="declared twice", conflict=tuple(one.where for one in found))
    if found:
        one = found[0]
        kind = policy.kinds[one.kind]
        if one.messages_per_day is not None:
            kind = replace(kind, messages_per_day=one.messages_per_day)
        return Classified(job, kind, one.target, "declared")
    if job.key in ours:
        return Classified(job, policy.kinds["alert"], how=OURS)
    if job.key in reminders:
        # Where it may go was decided when it was made.
        return Classified(job, replace(policy.kinds["one-shot"], deliver="any"), how="a reminder of ours")
    if job.schedule.startswith("once "):
        return Classified(job, policy.kinds["one-shot"], how=BY_SCHEDULE)
    return Classified(job, None)


def _kind(name: str, table: Any, where: str) -> Kind:
    if not isinstance(table, dict):
        raise OpsError(f"{where}: expected a table")
    toml_file.known(table, ("deliver", "mode", "messages_per_day"), where)
    base = KINDS.get(name)
    if base is None and "deliver" not in table:
        raise OpsError(f"{where}: a kind of your own needs deliver, one of {', '.join(DELIVERS)}")
    base = base or Kind(name, "somebody", "any", None)
    return Kind(
        name,
        toml_file.choice(table, "deliver", where, DELIVERS, base.deliver),
        toml_file.choice(table, "mode", where, MODES, base.mode),
        toml_file.number(table, "messages_per_day", where, base.messages_per_day),
    )


def _declaration(table: dict[str, Any], where: str, kinds: dict[str, Kind]) -> Declaration:
    toml_file.known(table, ("id", "name", "profile", "kind", "target", "messages_per_day"), where)
    job_id, name = toml_file.text(table, "id", where), toml_file.text(table, "name", where)
    if (job_id is None) == (name is None):
        raise OpsError(f"{where}: expected either id or name")
    return Declaration(
        where,
        toml_file.text(table, "profile", where) or "default",
        job_id,
        name,
        toml_file.choice(table, "kind", where, kinds, None),
        toml_file.text(table, "target", where),
        toml_file.number(table, "messages_per_day", where, None),
    )


def _exclusion(table: dict[str, Any], where: str, zone: tzinfo) -> Exclusion:
    toml_file.known(table, ("what", "reason", "until", "owner"), where)
    what = toml_file.text(table, "what", where, required=True) or ""
    if "*" in what[:-1] or what == "*":
        raise OpsError(f'{where}: what: a "*" may only end it, behind at least one character')
    if not what.startswith(("policy.", "watchers.")):
        raise OpsError(
            f'{where}: what: begins with "policy." or "watchers."; others go into ops/suppress.toml'
        )
    reason = toml_file.text(table, "reason", where, required=True) or ""
    suppression = Suppression(what, reason, toml_file.until(table, "until", where, zone))
    return Exclusion(where, suppression, toml_file.text(table, "owner", where))


def _table(content: dict[str, Any], key: str, path: Path) -> dict[str, Any]:
    found = content.get(key, {})
    if not isinstance(found, dict):
        raise OpsError(f"{path}: {key}: expected a table")
    return found
