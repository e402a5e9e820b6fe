"""What a file would run once it is written: scripts of jobs, startup files, hooks, cron tables, units."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

PYTHON_SUFFIXES = (".py", ".pyw")
SHELL_SUFFIXES = (".sh", ".bash", ".zsh", ".ksh")
_STARTUP = frozenset(
    {
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
        ".kshrc",
        ".xprofile",
        ".xinitrc",
        ".xsession",
    }
)
_STARTUP_PATHS = re.compile(r"/etc/(?:profile|bash\.bashrc|rc\.local|zsh/\w+|profile\.d/[^/]+)$")
_GIT_HOOK = re.compile(r"/(?:\.git|\.husky|\.githooks)/(?:hooks/)?[a-z-]+$|/hooks/(?:pre|post)-[a-z-]+$")
_CRON = re.compile(r"/(?:etc/crontab|etc/cron\.d/[^/]+|var/spool/cron/(?:crontabs/)?[^/]+)$")
_CRON_SCRIPT = re.compile(r"/etc/cron\.(?:hourly|daily|weekly|monthly)/[^/]+$")
_CRON_FIELDS = re.compile(r"[ \t]*(?:@\w+|(?:[\d*/,a-zA-Z-]+[ \t]+){4}[\d*/,a-zA-Z-]+)[ \t]+(.*)")
_UNIT = re.compile(r"/systemd/.*\.(?:service|timer|socket|path)$")
_UNIT_COMMAND = re.compile(
    r"[ \t]*Exec(?:Start|StartPre|StartPost|Stop|StopPost|Reload|Condition)[ \t]*=[ \t]*[-@:+!|]*(.*)"
)
# As the host's parser of patches has them.
_PATCH_HEADER = re.compile(
    r"^\*\*\*[^\S\n]*(Update|Add|Delete|Move(?=[^\S\n]+File:.+->.))[^\S\n]+File:[^\S\n]*(.+)", re.MULTILINE
)
_PATCH_BOUND = re.compile(r"\*\*\* ?(?:Begin|End) Patch")
_PATCH_BEGINS = ("*** Begin Patch", "***Begin Patch")
_ADDED = re.compile(r"^\+(.*)", re.MULTILINE)
# Lines of a table whose commands are taken out, more than a judgement has steps for; the others stand as they
# are behind them.
_MOST_COMMANDS = 1_000
_PYTHON_LINE = re.compile(r"#!.*\bpython[\d.]*\b")
_SHELL_LINE = re.compile(r"#!.*\b(?:ba|z|da|k|a)?sh\b")


def is_run(path: str, hermes_home: str) -> bool:
    """Is a file with this absolute path one that will run by itself when its time comes?"""
    return _kind(path, hermes_home) is not None


def is_table(path: str, hermes_home: str) -> bool:
    """Is it a file of which only some lines run?"""
    return _kind(path, hermes_home) in ("table", "unit")


def codes(path: str, content: str, hermes_home: str) -> list[tuple[str, str]]:
    """The texts that a file with this absolute path would run when its time comes, each with its language.

    Another file is nothing that runs by itself, whatever is in it.
    """
    kind = _kind(path, hermes_home)
    if kind == "script":
        return [(script_language(path), content)]
    if kind == "startup":
        return [("shell", content)]
    if kind == "hook":
        language = _by_first_line(content)
        return [(language, content)] if language else []
    if kind == "table":
        system = "/etc/" in path
        return _script(content.split("\n"), _CRON_FIELDS, lambda command: _without_user(command, system))
    if kind == "unit":
        lines = content.replace("\\\n", " ").replace("\r", "\n").split("\n")
        return _script(lines, _UNIT_COMMAND)
    return []


def _kind(path: str, hermes_home: str) -> str | None:
    if _below(path, os.path.join(hermes_home, "scripts")):
        return "script"
    if os.path.basename(path) in _STARTUP or _STARTUP_PATHS.search(path):
        return "startup"
    if _GIT_HOOK.search(path) or _CRON_SCRIPT.search(path):
        return "hook"
    if _CRON.search(path):
        return "table"
    return "unit" if _UNIT.search(path) else None


def script_language(path: str) -> str:
    """How the host's scheduler runs a script: by its suffix alone."""
    return "shell" if path.lower().endswith((".sh", ".bash")) else "python"


def skill_language(path: str, content: str) -> str:
    """The language of a file of a skill when it is a script, else ""."""
    lower = path.lower()
    if lower.endswith(SHELL_SUFFIXES):
        return "shell"
    if lower.endswith(PYTHON_SUFFIXES):
        return "python"
    return _by_first_line(content) if content.startswith("#!") else ""


class Change(NamedTuple):
    """A file that a call changes: its path as given, "write", "delete" or "move", and what it is given.

    `text` is the content, or the lines of a patch about the file. `source` is the file that it was before.
    """

    path: str
    action: str
    text: str = ""
    source: str = ""
    is_patch: bool = False

    def content(self) -> str:
        """The content, or the new lines that a patch gives the file."""
        return "\n".join(_ADDED.findall(self.text)) if self.is_patch else self.text


def patched(patch: str, most: int = 200) -> tuple[list[Change], int]:
    """The changes of a patch of several files as the host's parser reads them, and how many are left out.

    A move is a change of both paths. After `most` changes reading ends; a line ends at a newline alone.
    """
    start, end = _patch_bounds(patch)
    changes: list[Change] = []
    headers = _PATCH_HEADER.finditer(patch, start, end)
    header = next(headers, None)
    while header is not None:
        if len(changes) >= most:
            return changes, patch.count("\n***", header.start(), end) + 1
        found, header = header, next(headers, None)
        changes += _changes(
            found[1], found[2].strip(), patch[found.end() : header.start() if header else end]
        )
    return changes, 0


def _changes(verb: str, target: str, lines: str) -> Iterator[Change]:
    if not target:
        return
    if verb != "Move":
        yield Change(target, "delete" if verb == "Delete" else "write", lines, is_patch=True)
        return
    arrow = target.find("->", 1)
    if arrow > 0:
        old, new = target[:arrow].strip(), target[arrow + 2 :].strip()
        yield Change(old, "move")
        if new:
            yield Change(new, "write", source=old)


def _patch_bounds(patch: str) -> tuple[int, int]:
    """Where the lines of a patch begin and end: after the last beginning before the first end."""
    start = at = 0
    while found := _PATCH_BOUND.search(patch, at):
        begin = patch.rfind("\n", at, found.start()) + 1 or at
        at = patch.find("\n", found.end())
        line = patch[begin:at] if at >= 0 else patch[begin:]
        if not any(mark in line for mark in _PATCH_BEGINS):
            return start, begin
        if at < 0:
            return len(patch), len(patch)
        start = at = at + 1
    return start, len(patch)


def _script(
    lines: list[str], form: re.Pattern[str], command: Callable[[str], str] = str
) -> list[tuple[str, str]]:
    """The commands of the lines that have a form; what comes behind the limit stands as it is."""
    commands: list[str] = []
    for number, line in enumerate(lines):
        found = form.match(line)
        if found is None:
            continue
        if len(commands) >= _MOST_COMMANDS:
            commands += lines[number:]
            break
        commands.append(command(found[1]))
    text = "\n".join(each for each in commands if each.strip())
    return [("shell", text)] if text else []


def _by_first_line(content: str) -> str:
    first = content.partition("\n")[0]
    if _PYTHON_LINE.match(first):
        return "python"
    return "shell" if _SHELL_LINE.match(first) or not first.startswith("#!") else ""


def _without_user(command: str, system: bool) -> str:
    """A line of a system's cron table names the user before the command."""
    return command.partition(" ")[2] if system else command


def _below(path: str, directory: str) -> bool:
    return path.startswith(os.path.normpath(directory) + os.sep)
