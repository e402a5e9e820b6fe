"""What the host makes of the name and the frontmatter of a skill, told as findings."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..core.finding import DAY, Finding
from .janitor_library import LISTED_CHARACTERS, MOST_DESCRIPTION, MOST_NAME, Skill, platforms

# What the host's own editor of skills refuses (tools/skill_manager_tool.py).
MOST_EDITABLE = 100_000
_PLATFORM_NAMES = frozenset(
    ("macos", "linux", "windows", "darwin", "win32", "cygwin", "freebsd", "android", "termux", "aix")
)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def finding(
    skill: Skill, rule: str, severity: str, text: str, key: str = "", fix: str = "", line: int = 0
) -> Finding:
    """A finding about a skill; ``key`` tells it from others of its rule, ``line`` is of SKILL.md."""
    where = f"{skill.label}:{line}" if line else skill.label
    return Finding(
        f"skills.{rule}",
        severity,
        where,
        text,
        f"{skill.label}/{key}" if key else skill.label,
        (str(skill.file),),
        fix,
        remind=30 * DAY,
    )


def of_name(
    skill: Skill, names: Mapping[str, Sequence[Path]], shadows: Collection[Path]
) -> Iterator[Finding]:
    """Whether the host lists a skill, and loads it by its name.

    ``names`` are the files that each name means; ``shadows`` those that are not listed for want of a name of
    their own, and told so themselves.
    """
    if skill.dropped:
        text = f"{skill.dropped}: the host leaves this skill out without a word"
        yield finding(skill, "dropped", "error", text)
    elif skill.shadowed_by is not None:
        text = (
            f"another skill has the name {_name_of(skill)!r}: the host lists {skill.shadowed_by.parent} "
            "in its place, and refuses to load either by that name"
        )
        yield finding(skill, "shadowed", "error", text, fix="rename or remove one of the two")
    elif skill.hidden:
        yield finding(skill, "hidden", "info", f"not shown here: {skill.hidden}")
    elif isinstance(skill.name, str):
        others = [path for path in names.get(skill.name, ()) if path != skill.file and path not in shadows]
        others = [path for path in others if not _same(path, skill.file)]
        if others:
            text = (
                f"the name {skill.name!r} also means {others[0]}{_more(others)}: the host refuses to load it"
            )
            yield finding(skill, "ambiguous", "error", text, fix="rename one, so that each name is unique")


def _same(one: Path, other: Path) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _more(paths: Sequence[Path]) -> str:
    return f" and {len(paths) - 1} more" if len(paths) > 1 else ""


def _name_of(skill: Skill) -> str:
    return str(skill.listed_head.values.get("name", skill.folder.name))[:MOST_NAME]


def of_head(skill: Skill) -> Iterator[Finding]:
    """What the host makes of the frontmatter although it keeps the skill."""
    if skill.text is None:
        return
    if skill.unchecked:
        text = f"its frontmatter cannot be checked: {skill.unchecked}"
        yield finding(skill, "unchecked", "warning", text, "frontmatter")
        return
    head, listed = skill.head, skill.listed_head
    if head.shape == "none":
        text = "no frontmatter: the host takes the folder for the name and the first line for the description"
        yield finding(skill, "frontmatter", "error", text, "none", "begin the file with `---`")
    elif head.shape == "open":
        text = "the frontmatter has no closing line of `---`: the host reads none of it"
        yield finding(skill, "frontmatter", "error", text, "open", "close it with a line of `---`")
    elif head.shape == "other":
        yield finding(skill, "frontmatter", "error", f"the frontmatter is {head.problem}", "other")
    elif head.shape == "split":
        text = f"the frontmatter is no YAML ({head.problem}): the host takes every value for bare text"
        yield finding(skill, "frontmatter", "warning", text, "split", "quote the value")
    elif listed.shape == "open":
        text = (
            f"the frontmatter ends behind the {LISTED_CHARACTERS:,} characters that the host's list reads: "
            "it lists the skill without name, description and platforms"
        )
        yield finding(skill, "frontmatter", "error", text, "long", "shorten it")
    if head.shape in ("yaml", "split"):
        yield from _of_fields(skill)
    if len(skill.text) > MOST_EDITABLE:
        text = f"{len(skill.text):,} characters; over {MOST_EDITABLE:,} the agent cannot edit it any more"
        yield finding(skill, "long", "info", text)


def _of_fields(skill: Skill) -> Iterator[Finding]:
    values = skill.head.values
    name, description = values.get("name"), values.get("description")
    if "name" not in values:
        text = f"no name: the host takes the folder's, {skill.folder.name!r}"
        yield finding(skill, "name", "warning", text, "none", f"add `name: {skill.folder.name}`")
    elif isinstance(name, str) and not name.strip():
        yield finding(skill, "name", "error", "its name is empty", "empty")
    elif isinstance(name, str) and len(name) > MOST_NAME:
        text = f"a name of {len(name)} characters: the host lists it cut at {MOST_NAME}, and finds the whole"
        yield finding(skill, "name", "error", text, "long", f"at most {MOST_NAME} characters")
    elif isinstance(name, str) and name != skill.folder.name:
        text = f"named {name!r} in a folder {skill.folder.name!r}: both names mean it"
        yield finding(skill, "name", "info", text, "folder")
    if not description:
        text = "no description: the host shows the first line of the text in its place"
        yield finding(
            skill, "description", "warning", text, "none", "add `description:`, when to use the skill"
        )
    elif isinstance(description, (list, dict)):
        text = "its description is a list or mapping, not a text"
        yield finding(skill, "description", "warning", text, "type")
    elif isinstance(description, str) and len(description) > MOST_DESCRIPTION:
        text = f"a description of {len(description):,} characters: the host cuts it at {MOST_DESCRIPTION:,}"
        yield finding(skill, "description", "warning", text, "long")
    wanted = platforms(values)
    unknown = [one for one in wanted if one not in _PLATFORM_NAMES]
    if unknown:
        where = "everywhere" if len(unknown) == len(wanted) else "where no other is named"
        text = f"the platform {unknown[0]!r} is none that the host knows: it hides the skill {where}"
        severity = "error" if len(unknown) == len(wanted) else "warning"
        yield finding(skill, "platforms", severity, text, fix="write a list of macos, linux, windows")
    for variable in _variables(values):
        if not _VARIABLE.fullmatch(variable):
            text = f"{variable!r} is no name of a variable: the host never asks for it"
            yield finding(skill, "variable", "warning", text, variable)


def _variables(values: Mapping[Any, Any]) -> Iterator[str]:
    """Names that `required_environment_variables` and `prerequisites.env_vars` ask for."""
    wanted = values.get("required_environment_variables")
    for item in [wanted] if isinstance(wanted, dict) else wanted if isinstance(wanted, list) else []:
        name = item.get("name") or item.get("env_var") if isinstance(item, dict) else item
        if isinstance(name, str) and name.strip():
            yield name.strip()
    needs = values.get("prerequisites")
    names = needs.get("env_vars") if isinstance(needs, dict) else None
    for name in [names] if isinstance(names, str) else names if isinstance(names, list) else []:
        if str(name).strip():
            yield str(name).strip()
