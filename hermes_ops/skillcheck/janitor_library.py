"""The skills of a home as the host finds them: which it lists, which it hides or drops, and why.

Rests on the host's `agent/skill_utils.py` (walk, frontmatter, external folders) and the listing of
`tools/skills_tool.py`: the first 4,000 characters count, the first of two equal names wins, and whatever
raises while a skill is read drops it without a word.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._common.files import read_regular
from ..host.skills import _SKIPPED as SKIPPED
from ..host.skills import _SUPPORT as SUPPORT
from . import frontmatter
from .frontmatter import CannotCheck, Frontmatter

SKILL = "SKILL.md"
LISTED_CHARACTERS = 4_000
MOST_NAME = 64
MOST_DESCRIPTION = 1_024
MOST_SKILLS = 5_000
MOST_ENTRIES = 200_000  # files and folders looked at below one root
MOST_BYTES = 4_000_000
PLATFORMS = {"macos": "darwin", "linux": "linux", "windows": "win32"}
ENVIRONMENTS = ("kanban", "docker", "s6")


@dataclass
class Skill:
    """One SKILL.md.

    text         its content with newlines as `\\n`; None when it could not be read
    unreadable   why not
    unchecked    why its frontmatter is not known
    listed_head  the frontmatter as the host's list sees it, head: as it is when the skill is loaded
    name         the name in the host's list; None: it is not in the list
    dropped      why the host drops it, hidden: why it is not shown here although nothing is wrong with it
    shadowed_by  the skill of the same name that the host lists in its place
    """

    file: Path
    root: Path
    text: str | None = None
    unreadable: str = ""
    unchecked: str = ""
    listed_head: Frontmatter = field(default_factory=Frontmatter)
    head: Frontmatter = field(default_factory=Frontmatter)
    name: Any = None
    dropped: str = ""
    hidden: str = ""
    shadowed_by: Path | None = None

    @property
    def folder(self) -> Path:
        return self.file.parent

    @property
    def label(self) -> str:
        """Its folder below the root, for a person."""
        return self.folder.relative_to(self.root).as_posix() if self.folder != self.root else self.folder.name


@dataclass
class Walked:
    """What a walk through one root found: skills in the host's order, oddities as (rule, path, text)."""

    files: list[Path] = field(default_factory=list)
    odd: list[tuple[str, Path, str]] = field(default_factory=list)
    cut: str = ""


def walk(root: Path) -> Walked:
    """Every SKILL.md below a root as the host walks: links followed, by path; a folder twice only once."""
    found = Walked()
    seen: dict[str, str] = {}
    entries = 0
    for folder, names, files in os.walk(root, followlinks=True, onerror=lambda error: _denied(found, error)):
        real = os.path.realpath(folder)
        if real in seen:
            names[:] = []
            if Path(folder).is_relative_to(seen[real]) and folder != seen[real]:
                text = "a link to a folder above it: the host lists everything below it dozens of times"
                found.odd.append(("loop", Path(folder), text))
            continue
        seen[real] = folder
        entries += len(names) + len(files)
        if entries > MOST_ENTRIES or len(found.files) >= MOST_SKILLS:
            found.cut = f"more than {MOST_ENTRIES:,} files or {MOST_SKILLS:,} skills"
            break
        has_skill = SKILL in files
        if has_skill:
            found.files.append(Path(folder, SKILL))
        elif SKILL in names:
            found.odd.append(("folder", Path(folder, SKILL), f"{SKILL} is a folder: the host sees no skill"))
        else:
            near = next((name for name in files if name.lower() == "skill.md"), None)
            if near:
                text = f"named {near}: the host looks for {SKILL} and sees no skill"
                found.odd.append(("case", Path(folder, near), text))
        names[:] = sorted(one for one in names if one not in SKIPPED and not (has_skill and one in SUPPORT))
    found.files.sort(key=str)
    return found


def _denied(found: Walked, error: OSError) -> None:
    text = f"cannot be listed ({error.strerror or error}): what is in it is not known, to the host neither"
    found.odd.append(("denied", Path(str(error.filename)), text))


def read_skill(file: Path, root: Path) -> Skill:
    """A skill with its text and frontmatter; never raises, never opens what is no regular file."""
    skill = Skill(file, root)
    try:
        if not stat.S_ISREG(os.stat(file).st_mode):
            skill.unreadable = "no regular file: the host waits or fails where it reads it"
            return skill
        raw = read_regular(file, MOST_BYTES)
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        skill.unreadable = f"not UTF-8 at byte {error.start}"
        return skill
    except FileNotFoundError:
        skill.unreadable = "a link that leads nowhere"
        return skill
    except OSError as error:
        skill.unreadable = error.strerror or type(error).__name__
        return skill
    skill.text = text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        skill.head = skill.listed_head = frontmatter.read(skill.text)
        if len(skill.text) > LISTED_CHARACTERS:
            skill.listed_head = frontmatter.read(skill.text[:LISTED_CHARACTERS])
    except CannotCheck as error:
        skill.unchecked = str(error)
    return skill


def list_as_host(skills: Iterable[Skill], disabled: frozenset[str] = frozenset()) -> None:
    """Decide what the host's list makes of each skill, in the order given: sets name, dropped, hidden, ..."""
    first: dict[Any, Path] = {}
    for skill in skills:
        above = next((part for part in skill.file.parts if part in SKIPPED), None)
        if above is not None:
            skill.dropped = f"below a folder named {above}, which the host skips"
        elif skill.unreadable:
            skill.dropped = skill.unreadable
        elif not skill.unchecked:
            _list_one(skill, first, disabled)


def _list_one(skill: Skill, first: dict[Any, Path], disabled: frozenset[str]) -> None:
    values = skill.listed_head.values
    skill.hidden = hidden_by(values)
    if skill.hidden:
        return
    name = values.get("name", skill.folder.name)
    if not isinstance(name, str):
        skill.dropped = f"its name is {_a(name)}, the host needs a text"
        return
    name = name[:MOST_NAME]
    if name in first:
        skill.shadowed_by = first[name]
        return
    if name in disabled:
        skill.hidden = "disabled in config.yaml"
        return
    description = values.get("description", "")
    if description and not hasattr(description, "__len__"):
        skill.dropped = f"its description is {_a(description)}, the host needs a text"
        return
    if isinstance(description, dict) and len(description) > MOST_DESCRIPTION:
        skill.dropped = "its description is a mapping"
        return
    first[name] = skill.file
    skill.name = name


def hidden_by(values: Any) -> str:
    """Why the host does not show a skill on this machine: its `platforms`, or its `environments`; "" else."""
    wanted = _texts(values.get("platforms"))
    if wanted and not any(runs_here(one) for one in wanted):
        return f"for the platforms {', '.join(wanted)} alone"
    tags = _texts(values.get("environments"))
    known = [tag for tag in tags if tag]
    if known and all(tag in ENVIRONMENTS and not _environment(tag) for tag in known):
        return f"for the environments {', '.join(known)} alone"
    return ""


def runs_here(platform: str) -> bool:
    """Whether a `platforms` entry means this machine."""
    return sys.platform.startswith(PLATFORMS.get(platform, platform))


def platforms(values: Any) -> list[str]:
    """The `platforms` of a skill as the host compares them."""
    return _texts(values.get("platforms"))


def _texts(value: Any) -> list[str]:
    if not value:
        return []
    return [str(one).lower().strip() for one in (value if isinstance(value, list) else [value])]


def _environment(tag: str) -> bool:
    """Whether the host takes an environment for active, as far as that shows from outside; kanban never."""
    if tag == "kanban":
        return bool(os.environ.get("HERMES_KANBAN_TASK") or os.environ.get("HERMES_KANBAN_BOARD"))
    if tag == "docker":
        return os.path.exists("/.dockerenv") or os.path.exists("/run/.containerenv")
    return os.path.isdir("/run/s6") or os.path.isdir("/package/admin/s6-overlay")


def _a(value: Any) -> str:
    names = {"NoneType": "empty", "bool": "yes or no", "int": "a number", "float": "a number"}
    name = type(value).__name__
    return names.get(name, {"list": "a list", "dict": "a mapping", "date": "a date"}.get(name, f"a {name}"))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def loose_files(root: Path) -> dict[str, list[Path]]:
    """Markdown files that the host takes for a skill when it is asked for their name, by that name.

    It looks for `<name>.md` anywhere below a root, links not followed, not in a skill's support folders.
    """
    found: dict[str, list[Path]] = {}
    entries = 0
    for folder, names, files in os.walk(root):
        entries += len(names) + len(files)
        if entries > MOST_ENTRIES:
            break
        if SKILL in files:
            names[:] = [name for name in names if name not in SUPPORT]
        for name in files:
            if name.endswith(".md") and name != SKILL:
                found.setdefault(name[:-3], []).append(Path(folder, name))
    return found


def meanings(skills: Iterable[Skill], loose: dict[str, list[Path]]) -> dict[str, list[Path]]:
    """Every file that the host finds when it is asked to load a name; it refuses where there are two.

    A skill answers to the name of its folder and to the one in its frontmatter, a loose file to its own.
    """
    found: dict[str, list[Path]] = {}
    for skill in skills:
        for name in dict.fromkeys((skill.folder.name, _text(skill.head.values.get("name")))):
            if name:
                found.setdefault(name, []).append(skill.file)
    for name in loose.keys() & found.keys():
        found[name] += loose[name]
    return found
