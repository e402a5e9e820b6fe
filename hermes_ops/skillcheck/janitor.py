"""What is broken in the skills of a home: files that are not there, scripts that no longer compile,
frontmatter that the host drops or cuts, and names that stand for more than one skill.

Every rule about frontmatter and names is the host's; nothing is a finding because of taste.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.finding import Blind, Finding, Reading
from ..errors import OpsError, Unreadable
from . import janitor_paths, janitor_scripts
from .janitor_heads import finding, of_head, of_name
from .janitor_library import Skill, list_as_host, loose_files, meanings, read_skill, walk
from .janitor_roots import roots_of

if TYPE_CHECKING:
    from ..core.watch import Context

_ODD = {"folder": "warning", "case": "warning", "loop": "info", "denied": "error"}


@dataclass
class Cleaned:
    """What one run found. ``blind`` is what could not be known at all."""

    skills: int = 0
    scripts: int = 0
    findings: list[Finding] = field(default_factory=list)
    blind: list[Blind] = field(default_factory=list)


def watch(context: Context) -> Reading:
    """The watcher: findings that are no remarks; a home without any skill is a blindness."""
    try:
        found = of_homes([(profile.name, profile.home) for profile in context.profiles])
    except OpsError as error:
        return Reading.of(blind=[Blind("skills", str(error))])
    return Reading.of((one for one in found.findings if one.severity != "info"), found.blind)


def of_homes(homes: Iterable[tuple[str, Path]], user: Path | None = None, scripts: bool = True) -> Cleaned:
    """Check the skills of profiles, given as (name, home), each with the external folders of its config.

    Raises OpsError when no skill at all was found, Unreadable when `<home>/skills` of the first is missing.
    """
    found = Cleaned()
    done: set[str] = set()
    for number, (profile, home) in enumerate(homes):
        roots = roots_of(home)
        if not roots.paths[0].is_dir():
            if number == 0 and len(roots.paths) == 1:
                raise Unreadable(roots.paths[0], f"{_why_no_folder(roots.paths[0])}: this home has no skills")
            roots.paths = roots.paths[1:]
        found.findings += (
            Finding(
                "skills.root",
                "error",
                f"profile {profile}",
                f"skills.external_dirs names {text!r}, which is not there: the host skips it without a word",
                f"{profile}/{text}",
                fix="correct or remove the entry in config.yaml",
            )
            for text in roots.missing
        )
        if roots.unknown:
            text = f"profile {profile}: skills.external_dirs is not known: {roots.unknown}"
            found.blind.append(Blind(f"skills.config:{profile}", text))
        prefix = "" if profile == "default" else f"{profile}/"
        _check(found, roots.paths, home, user, roots.disabled, done, prefix, scripts)
    return _counted(found, "any profile")


def of_folders(
    folders: Sequence[Path], home: Path, user: Path | None = None, scripts: bool = True
) -> Cleaned:
    """Check the skills below given folders, as if the host had these and no others.

    Raises Unreadable for a folder that is not there, OpsError when there is no skill in any.
    """
    for folder in folders:
        if not folder.is_dir():
            raise Unreadable(folder, _why_no_folder(folder))
    found = Cleaned()
    _check(found, [folder.resolve() for folder in folders], home, user, frozenset(), set(), "", scripts)
    return _counted(found, ", ".join(map(str, folders)))


def _why_no_folder(path: Path) -> str:
    """What a path is that should be a folder and is none."""
    if path.exists():
        return "not a directory"
    return "a link that leads nowhere" if path.is_symlink() else "no such directory"


def _counted(found: Cleaned, where: str) -> Cleaned:
    if found.skills == 0 and not found.findings:
        raise OpsError(f"no skill was found in {where}: nothing was checked")
    return found


def _check(
    found: Cleaned,
    roots: Sequence[Path],
    home: Path,
    user: Path | None,
    disabled: frozenset[str],
    done: set[str],
    prefix: str,
    with_scripts: bool,
) -> None:
    """Check one library; `done` holds skills whose content another profile's run has looked at already."""
    skills: list[Skill] = []
    loose: dict[str, list[Path]] = {}
    for root in roots:
        walked = walk(root)
        skills += (read_skill(file, root) for file in walked.files)
        for name, files in loose_files(root).items():
            loose.setdefault(name, []).extend(files)
        for rule, path, text in walked.odd:
            where = f"{prefix}{_below(path, root)}"
            found.findings.append(Finding(f"skills.{rule}", _ODD[rule], where, text, where))
        if walked.cut:
            found.blind.append(
                Blind(f"skills.cut:{root}", f"{root}: {walked.cut}; the rest was not looked at")
            )
    list_as_host(skills, disabled)
    found.skills += len(skills)
    names = meanings(skills, loose)
    shadows = {skill.file for skill in skills if skill.shadowed_by is not None}
    for skill in skills:
        found.findings += (_placed(one, prefix) for one in of_name(skill, names, shadows))
        found.findings += (_placed(one, prefix) for one in of_head(skill))
    fresh = [skill for skill in skills if _is_new(skill, done)]
    places = (home, user or janitor_paths.user_home())
    for skill in fresh:
        found.findings += (_placed(one, prefix) for one in _of_body(skill, *places))
    if with_scripts:
        count, checked = janitor_scripts.check([skill.folder for skill in fresh])
        found.scripts += count
        found.findings += (_of_script(one, skills, prefix) for one in checked)


def _is_new(skill: Skill, done: set[str]) -> bool:
    real = os.path.realpath(skill.file)
    is_new = real not in done
    done.add(real)
    return is_new


def _placed(one: Finding, prefix: str) -> Finding:
    return Finding(
        one.rule,
        one.severity,
        f"{prefix}{one.where}",
        one.text,
        f"{prefix}{one.key}",
        one.evidence,
        one.fix,
        remind=one.remind,
    )


_KINDS = {
    "package": ("error", "is not in the skill"),
    "outside": ("warning", "is not there"),
    "escapes": ("warning", "leads out of the skill by a link: the host refuses to load it"),
    "place": ("info", "is not there"),
}


def _of_body(skill: Skill, home: Path, user: Path) -> Iterator[Finding]:
    if skill.text is None or skill.hidden.startswith("for the platforms"):
        return
    body = skill.head.body if skill.head.body else skill.text
    first = skill.text.count("\n") - body.count("\n") + 1
    for one in janitor_paths.missing(body, first, janitor_paths.Places(skill.folder, user, home)):
        severity, text = _KINDS[one.kind]
        yield finding(skill, "path", severity, f"{one.path} {text}", one.path, line=one.line)


def _of_script(one: janitor_scripts.Checked, skills: Sequence[Skill], prefix: str) -> Finding:
    skill = max(
        (one_ for one_ in skills if one.path.is_relative_to(one_.folder)), key=lambda s: len(s.folder.parts)
    )
    name = one.path.relative_to(skill.folder).as_posix()
    if one.outcome == "unchecked":
        return _placed(
            finding(skill, "unchecked", "warning", f"{name} cannot be checked: {one.text}", name), prefix
        )
    is_template = name.split("/")[0] in ("templates", "assets")
    place = f"{name}:{one.line}" if one.line else name
    text = f"{place} does not compile: {one.text}"
    return _placed(finding(skill, "script", "info" if is_template else "error", text, name), prefix)


def _below(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) and path != root else str(path)
