"""The skills of a home and its profiles, each under a name of its own, and what is known of them already."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .._common.config import read_config
from ..errors import Unreadable
from ..host.profiles import Profile, profiles
from . import host_hashes, recorded
from .disk import folder_skills, loose_files
from .entries import MANIFEST, Skill
from .frontmatter import CannotCheck, read
from .janitor_library import walk
from .janitor_roots import roots_of
from .rules import INFO, Hit, Located, located
from .scan import scan


@dataclass
class Installed:
    """What a scan of a home found: skills, findings, and what could not be read."""

    skills: list[Skill] = field(default_factory=list)
    findings: list[Located] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    recorded: dict[str, recorded.Record] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    is_emptied: bool = False


def scan_installed(home: Path, only: tuple[str, ...] = (), *, is_replaced: bool = False) -> Installed:
    """Scan the skills of a home and of its profiles, and compare them with their records.

    ``only`` names skills ("default/deploy", "deploy") to look at; then nothing is said of others.
    Raises Unreadable when the record is damaged; not when it is replaced anyway (``is_replaced``).
    """
    found = _beginning(home, is_replaced)
    seen: set[str] = set()
    for profile in profiles(home):
        roots = roots_of(profile.home)
        if roots.unknown:
            found.unread.append(f"{roots.unknown}: skills outside of {profile.home / 'skills'} are not known")
        found.findings += () if only else _settings(profile)
        for number, root in enumerate(roots.paths):
            real = os.path.realpath(root)
            if real not in seen and root.is_dir():
                seen.add(real)
                _scan_root(found, profile.name if number == 0 else str(root), root, only)
    if not only:
        _gone(found)
    return found


def _beginning(home: Path, is_replaced: bool) -> Installed:
    try:
        known = recorded.read(home)
        return Installed(
            recorded=known, lost=recorded.lost(home, known), is_emptied=recorded.is_emptied(home, known)
        )
    except Unreadable:
        if not is_replaced:
            raise
        return Installed()


def record_installed(
    home: Path, found: Installed, refused: set[str], now: float | None = None
) -> Path | None:
    """Record what was found, without the skills of `refused`; those that are gone are forgotten.

    Returns where a damaged record went, if there was one.
    """
    names = {skill.name for skill in found.skills}
    gone = {one.skill for one in found.findings if one.finding.rule == "skill.gone"} - names
    skills = [skill for skill in found.skills if skill.name not in refused]
    return recorded.record(home, skills, gone, time.time() if now is None else now)


def _scan_root(found: Installed, label: str, root: Path, only: tuple[str, ...]) -> None:
    known = host_hashes.kept(root)
    if known.problem:
        found.unread.append(known.problem)
    walked = walk(root)
    if walked.cut:
        found.unread.append(f"{root}: {walked.cut}: the rest was not looked at")
    for file in walked.files:
        folder = file.parent
        below = folder.relative_to(root).as_posix() if folder != root else folder.name
        name = f"{label}/{below}"
        if only and not {name, below, folder.name}.intersection(only):
            continue
        try:
            skill = next(iter(folder_skills(folder.resolve(), name, only_own=True)), None)
        except (Unreadable, OSError) as error:
            found.unread.append(str(error))
            continue
        if skill is None:
            continue
        skill.name, skill.origin = name, str(folder)
        _take(found, skill)
        found.findings += _extra(skill, host_hashes.disagreement(folder, below, _written_name(skill), known))
    if not only:
        loose = loose_files(root, f"{label}/(files outside of skills)")
        if loose is not None:
            _take(found, loose)


def _settings(profile: Profile) -> Iterator[Located]:
    """What the host is told to do about skills, where that is known: remarks on one profile."""
    config = read_config(profile.home)
    if config.known and config.get("skills.guard_agent_created") is not True:
        text = "skills.guard_agent_created is off: the host does not scan skills that the agent writes"
        yield located(Hit("skill.unguarded", INFO, "", 0, text, match="off"), profile.name, "", 0)
    if config.known and config.get("skills.inline_shell") is True:
        text = "skills.inline_shell is on: the host runs commands in skills while it loads them"
        yield located(Hit("skill.inline-shell", INFO, "", 0, text, match="on"), profile.name, "", 0)


def _take(found: Installed, skill: Skill) -> None:
    found.skills.append(skill)
    found.findings += scan(skill)
    known = found.recorded.get(skill.name)
    if known is not None:
        found.findings += _extra(skill, recorded.compare(skill, known))
    else:
        was_recorded = found.is_emptied or skill.name in found.lost
        hit = recorded.not_recorded(found.recorded, was_recorded=was_recorded)
        found.findings += _extra(skill, iter((hit,)))


def _extra(skill: Skill, hits: Iterator[Hit]) -> list[Located]:
    sums = {entry.path: entry.sha256 for entry in skill.entries}
    return [located(hit, skill.name, sums.get(hit.path, ""), 0) for hit in hits]


def _gone(found: Installed) -> None:
    names = {skill.name for skill in found.skills}
    for name in sorted(set(found.recorded) - names):
        hit = Hit("skill.gone", INFO, "", 0, "it was recorded and is not there any more", match="gone")
        found.findings.append(located(hit, name, "", 0))


def _written_name(skill: Skill) -> str:
    """The name in the frontmatter, by which the host lists what it brought; else that of the folder."""
    manifest = skill.entry(MANIFEST)
    folder = skill.name.rpartition("/")[2]
    if manifest is None:
        return folder
    try:
        values = read(manifest.data.decode("utf-8", "replace").replace("\r\n", "\n")).values
    except CannotCheck:
        return folder
    return str(values.get("name") or folder)
