"""Skills that bring Python: ``<skill>/SKILL.md`` with ``<skill>/python/<module>/__init__.py``.

`scan` finds them where the host finds its skills, below ``$HERMES_HOME/skills`` and the folders of
``skills.external_dirs``. The whole python/ folder goes on the kernel's path, behind the standard library
and site-packages. So what one name in it would break (a module of Python, a module of another skill, a
link that leaves the skill) costs the skill all of its modules.
"""

from __future__ import annotations

import json
import keyword
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ._common.config import HostConfig

# Directory entries looked at in one scan; what is deeper or later is not searched, and that is said.
MAX_ENTRIES = 50_000
MAX_MODULE_ENTRIES = 2_000
REPORT_CHARS = 6_000
DESCRIPTION_BYTES = 160

_HEAD_BYTES = 65_536
_NAME_CHARS = 64
_DESCRIPTION_CHARS = 1024

# The host's rules for folders that hold no skills (agent.skill_utils).
_NO_SKILLS = frozenset(
    (
        *(".git", ".github", ".hub", ".archive", ".venv", "venv", "node_modules", "site-packages"),
        *("__pycache__", ".tox", ".nox", ".pytest_cache", ".mypy_cache", ".ruff_cache"),
    )
)
_SUPPORT_OF_A_SKILL = frozenset({"references", "templates", "assets", "scripts", "python"})

# The kernel's Python may be another version than this one.
_STANDARD_ONCE = frozenset(
    (
        *("asynchat", "asyncore", "binhex", "distutils", "imp", "smtpd"),
        *("aifc", "audioop", "cgi", "cgitb", "chunk", "crypt", "imghdr", "lib2to3", "mailcap", "msilib"),
        *("nis", "nntplib", "ossaudiodev", "pipes", "sndhdr", "spwd", "sunau", "telnetlib", "uu", "xdrlib"),
        *("annotationlib", "compression", "tomllib"),
    )
)
STANDARD = frozenset(sys.stdlib_module_names) | frozenset(sys.builtin_module_names) | _STANDARD_ONCE
# Imported by the interpreter itself, or taken by the kernel.
_RESERVED = frozenset({"__main__", "sitecustomize", "usercustomize", "_hermes_rlm_kernel"})
# Beside the modules, not among them: nobody imports these, and every skill may have them.
_BESIDE = frozenset({"setup", "conftest", "test", "tests"})


@dataclass(frozen=True)
class Skill:
    """One module of one skill, or one reason why there is none.

    name         of the skill, from SKILL.md, else of its folder
    module       what to import; "" when no module can be named
    description  one line from SKILL.md
    path         the folder of the skill
    directory    its python/ folder
    problem      why it cannot be imported, or None
    """

    name: str
    module: str
    description: str
    path: str
    directory: str
    problem: str | None = None

    @property
    def import_line(self) -> str:
        """How a cell imports it."""
        return f"import {self.module}"


def scan(home: str | os.PathLike[str], config: HostConfig) -> list[Skill]:
    """All Python-backed skills, usable and refused, in the order in which they claim module names.

    Never raises. Skills of the home come first, then those of each external folder, each sorted by path.
    """
    switched_off = _names(config.get("skills.disabled"))
    found: list[Skill] = []
    taken: dict[str, str] = {}  # importable name -> name of the skill that has it
    search = _Search()
    for root in roots(home, config):
        for folder in search.folders_with_python(root):
            found += _modules_of(folder, switched_off, taken)
    for folder in sorted(search.without_skill_file):
        reason = "no SKILL.md beside python/"
        found.append(Skill(_folder_name(folder), "", "", folder, os.path.join(folder, "python"), reason))
    if search.cut_at:
        reason = f"more than {MAX_ENTRIES} files and folders in the skill folders; the rest was not searched"
        found.append(Skill(_folder_name(search.cut_at), "", "", search.cut_at, "", reason))
    return found


def roots(home: str | os.PathLike[str], config: HostConfig) -> list[str]:
    """The folders that hold skills, as the host reads skills.external_dirs: ~, $VAR, relative to the home."""
    listed = config.get("skills.external_dirs")
    if isinstance(listed, str):
        listed = [listed]
    found = [os.path.join(home, "skills")]
    for entry in listed if isinstance(listed, list) else []:
        text = str(entry).strip()
        if text:
            found.append(os.path.join(home, os.path.expanduser(os.path.expandvars(text))))
    return found


def directories(skills: Iterable[Skill]) -> list[str]:
    """The python/ folders for the end of the kernel's path, each once."""
    return list(dict.fromkeys(skill.directory for skill in skills if skill.problem is None))


def report(skills: Iterable[Skill]) -> dict[str, Any]:
    """What rlm_skills answers, in at most REPORT_CHARS of JSON.

    {"skills": [{"import", "skill", "does"?}], "refused"?: [{"skill", "module"?, "reason"}],
     "more"?: {"skills"?: number left out, "refused"?: number left out}, "note"? when there is nothing}
    """
    skills = list(skills)
    usable = [_usable_entry(skill) for skill in skills if skill.problem is None]
    refused = [_refused_entry(skill) for skill in skills if skill.problem is not None]
    # Reasons get what the importable ones leave, and a quarter in any case.
    reserve = min(_length(refused), REPORT_CHARS // 4)
    shown_usable = _fitting(usable, REPORT_CHARS - 200 - reserve)
    shown_refused = _fitting(refused, REPORT_CHARS - 200 - _length(shown_usable))
    answer: dict[str, Any] = {"skills": shown_usable}
    if shown_refused:
        answer["refused"] = shown_refused
    left_out = {"skills": len(usable) - len(shown_usable), "refused": len(refused) - len(shown_refused)}
    more = {kind: number for kind, number in left_out.items() if number}
    if more:
        answer["more"] = more
    if not skills:
        answer["note"] = "no skill has a python/<module>/__init__.py beside its SKILL.md"
    return answer


def _usable_entry(skill: Skill) -> dict[str, str]:
    entry = {"import": skill.import_line, "skill": skill.name}
    if skill.description:
        entry["does"] = _cut(skill.description, DESCRIPTION_BYTES)
    return entry


def _refused_entry(skill: Skill) -> dict[str, str]:
    entry = {"skill": skill.name, "module": skill.module, "reason": skill.problem or ""}
    return {key: _cut(value, 200) for key, value in entry.items() if value}


def _fitting(entries: list[dict[str, str]], room: int) -> list[dict[str, str]]:
    shown = []
    for entry in entries:
        room -= len(json.dumps(entry)) + 2
        if room < 0:
            break
        shown.append(entry)
    return shown


def _length(entries: list[dict[str, str]]) -> int:
    return sum(len(json.dumps(entry)) + 2 for entry in entries)


class _Search:
    """The walk through all roots: every folder once, links followed as the host does, bounded."""

    def __init__(self) -> None:
        self.without_skill_file: set[str] = set()
        self.cut_at = ""
        self._left = MAX_ENTRIES
        self._seen: set[tuple[int, int]] = set()

    def folders_with_python(self, root: str) -> list[str]:
        """Folders below ``root`` that have SKILL.md and python/, sorted."""
        found = []
        level = [root]
        # Level by level: a pile of files deep in one skill does not hide the next skill.
        while level and not self.cut_at:
            below: list[str] = []
            for folder in level:
                subfolders, files = self._look(folder)
                if self.cut_at:
                    break
                has_skill = "SKILL.md" in files
                if has_skill and "python" in subfolders:
                    found.append(folder)
                above, kind = os.path.split(os.path.dirname(folder))
                if "__init__.py" in files and kind == "python":
                    self.without_skill_file.add(above)
                    continue
                skipped = _NO_SKILLS | _SUPPORT_OF_A_SKILL if has_skill else _NO_SKILLS
                below += [os.path.join(folder, name) for name in sorted(subfolders) if name not in skipped]
            level = below
        return sorted(found)

    def _look(self, folder: str) -> tuple[list[str], set[str]]:
        """Names of the subfolders, and those of the other entries that matter here."""
        subfolders: list[str] = []
        files: set[str] = set()
        try:
            itself = os.stat(folder)
            if (itself.st_dev, itself.st_ino) in self._seen:
                return [], set()
            self._seen.add((itself.st_dev, itself.st_ino))
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._left -= 1
                    if self._left < 0:
                        self.cut_at = folder
                        break
                    if entry.name in ("SKILL.md", "__init__.py"):
                        files.add(entry.name)
                    elif _is_folder(entry):
                        subfolders.append(entry.name)
        except (OSError, ValueError):
            # Not there, not readable, not a folder: the host passes over it, too.
            pass
        return subfolders, files


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself, or into a folder that is shut
        return False


def _modules_of(folder: str, switched_off: set[str], taken: dict[str, str]) -> list[Skill]:
    """The modules of one skill. Names of an accepted python/ folder are added to ``taken``."""
    directory = os.path.join(folder, "python")
    try:
        name, description = read_front(os.path.join(folder, "SKILL.md"))
    except (OSError, ValueError) as error:
        reason = f"SKILL.md cannot be read ({_reason(error)})"
        return [Skill(_folder_name(folder), "", "", folder, directory, reason)]
    name = name or _folder_name(folder)

    def skill(module: str, problem: str | None) -> Skill:
        return Skill(name, module, description, folder, directory, problem)

    try:
        packages, others, hint = _importable(directory)
    except (OSError, ValueError) as error:
        return [skill("", f"python/ cannot be read ({_reason(error)})")]
    if name in switched_off:
        return [skill("", "switched off by skills.disabled in config.yaml")]
    inside = os.path.join(os.path.realpath(folder), "")
    if not os.path.realpath(directory).startswith(inside):
        return [skill("", "python/ is a link that leaves the skill")]
    if not packages:
        return [skill("", hint)]
    own = {module: _fault_of_name(module) for module in packages}
    culprits = {
        module: fault
        for module in (*packages, *others)
        if (fault := _fault_of_folder(module, directory, inside, taken))
    }
    if culprits:
        culprit, fault = next(iter(culprits.items()))
        elsewhere = f"the same python/ folder has {culprit}, which is refused: {fault}"
        return [skill(_plain(module, _NAME_CHARS), culprits.get(module, elsewhere)) for module in packages]
    if any(fault is None for fault in own.values()):
        taken.update(dict.fromkeys((*packages, *others), name))
    return [skill(_plain(module, _NAME_CHARS), fault) for module, fault in own.items()]


def _importable(directory: str) -> tuple[list[str], list[str], str]:
    """Names that the folder makes importable: packages, other modules; and what to say if no package is."""
    packages, others, bare = [], [], []
    with os.scandir(directory) as entries:
        for number, entry in enumerate(entries):
            if number >= MAX_MODULE_ENTRIES:
                raise ValueError(f"more than {MAX_MODULE_ENTRIES} entries")
            if entry.name.startswith(".") or entry.name == "__pycache__" or _stem(entry.name) in _BESIDE:
                continue
            if not _is_folder(entry):
                others.append(_stem(entry.name))
            elif os.path.isfile(os.path.join(directory, entry.name, "__init__.py")):
                packages.append(entry.name)
            else:
                bare.append(entry.name)
    others = sorted({stem for stem in others if stem and not stem.startswith("__")})
    if bare:
        hint = f"python/{_plain(min(bare), _NAME_CHARS)} has no __init__.py"
    elif others:
        hint = f"python/ has no package: move {others[0]} to python/{others[0]}/__init__.py"
    else:
        hint = "python/ holds no module: put one at python/<module>/__init__.py"
    return sorted(packages), others, hint


def _stem(file_name: str) -> str:
    """The name under which Python imports a file or folder, or ""."""
    stem, dot, _ = file_name.partition(".")
    if not dot or file_name.endswith((".so", ".pyd")) or file_name in (f"{stem}.py", f"{stem}.pyc"):
        return stem
    return ""


def _fault_of_name(module: str) -> str | None:
    if not module.isidentifier():
        return "the name is not a Python identifier, so it cannot be imported"
    if keyword.iskeyword(module):
        return "the name is a keyword of Python"
    return None


def _fault_of_folder(module: str, directory: str, inside: str, taken: dict[str, str]) -> str | None:
    """Why a python/ folder with this name in it is not put on the path at all."""
    if module in _RESERVED:
        return "the name is taken by Python or the kernel"
    if module in STANDARD:
        return "the name is that of a module of the standard library"
    if module in taken:
        return f"skill {taken[module]} already has a module of that name"
    path = os.path.join(directory, module)
    files = (os.path.join(path, "__init__.py"), f"{path}.py")
    if any(os.path.exists(file) and not os.path.realpath(file).startswith(inside) for file in files):
        return "it is a link that leaves the skill"
    return None


# SKILL.md

_FRONT = re.compile(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_BLOCK = re.compile(r"[|>][0-9+-]{0,2}(?:[ \t]+#.*)?")
_KEY = re.compile(r"(name|description)[ \t]*:(?:[ \t]+(.*))?")


def read_front(path: str) -> tuple[str, str]:
    """``name`` and ``description`` of a SKILL.md, each one line, "" when missing.

    Two keys of plain text need no YAML library, which the host has and other callers may not: plain, quoted,
    folded (>) and literal (|) values are read. Raises OSError, or ValueError when it is not a text file.
    """
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    with open(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ValueError("not a file")
        raw = file.read(_HEAD_BYTES)
    if b"\0" in raw:
        raise ValueError("not a text file")
    text = raw.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    front = _FRONT.match(text)
    values = dict(_front_values(front[1].split("\n"))) if front else {}
    name, description = (values.get(key, "") for key in ("name", "description"))
    return _plain(name, _NAME_CHARS), _plain(description, _DESCRIPTION_CHARS)


def _front_values(lines: list[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines):
        key = _KEY.fullmatch(line)
        if not key:
            continue
        rest = []
        for following in lines[number + 1 :]:
            if following.strip() and not following.startswith((" ", "\t")):
                break
            rest.append(following.strip())
        first = (key[2] or "").strip()
        if _BLOCK.fullmatch(first):
            yield key[1], " ".join(rest)
        else:
            yield key[1], _scalar(" ".join([first, *rest]).strip())


def _scalar(text: str) -> str:
    """A plain or quoted YAML text, without its comment."""
    if text.startswith("'"):
        closed = re.match(r"'((?:''|[^'])*)'", text)
        return closed[1].replace("''", "'") if closed else text
    if text.startswith('"'):
        closed = re.match(r'"((?:\\.|[^"\\])*)"', text)
        return re.sub(r"\\(.)", lambda m: " " if m[1] in "nrt" else m[1], closed[1]) if closed else text
    return "" if text.startswith("#") else re.split(r"[ \t]#", text, maxsplit=1)[0]


# Small texts


def _names(value: Any) -> set[str]:
    if isinstance(value, str):
        value = [value]
    return {str(item).strip() for item in value} if isinstance(value, (list, tuple)) else set()


def _folder_name(folder: str) -> str:
    return _plain(os.path.basename(folder), _NAME_CHARS)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _plain(text: str, most: int) -> str:
    """One line without control characters, at most ``most`` characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: 4 * most]).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _cut(text: str, most: int) -> str:
    """The text in at most ``most`` bytes of UTF-8, the cut marked."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= most:
        return raw.decode("utf-8")
    return raw[: most - 3].decode("utf-8", "ignore") + "…"
