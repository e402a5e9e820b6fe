"""What a file would run once it is written: scripts of jobs, startup files, hooks, cron tables, units."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

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
_PATCH_HEADER = re.compile(r"[ \t]*\*\*\*\s*(Update|Add|Delete|Move)\s+File:\s*(.+)")
_PYTHON_LINE = re.compile(r"#!.*\bpython[\d.]*\b")
_SHELL_LINE = re.compile(r"#!.*\b(?:ba|z|da|k|a)?sh\b")


def codes(path: str, content: str, hermes_home: str) -> list[tuple[str, str]]:
    """The texts that a file with this absolute path would run when its time comes, each with its language.

    Another file is nothing that runs by itself, whatever is in it.
    """
    if _below(path, os.path.join(hermes_home, "scripts")):
        return [(script_language(path), content)]
    if os.path.basename(path) in _STARTUP or _STARTUP_PATHS.search(path):
        return [("shell", content)]
    if _GIT_HOOK.search(path) or _CRON_SCRIPT.search(path):
        language = _by_first_line(content)
        return [(language, content)] if language else []
    if _CRON.search(path):
        found = map(_CRON_FIELDS.match, content.splitlines())
        system = "/etc/" in path
        return _script(_without_user(match[1], system) for match in found if match)
    if _UNIT.search(path):
        found = map(_UNIT_COMMAND.match, content.splitlines())
        return _script(match[1] for match in found if match)
    return []


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


def patched(patch: str) -> list[tuple[str, str, str]]:
    """The changes of a patch text of several files: path, "write", "delete" or "move", and the new lines.

    A move is a change of both paths. Read as generously as the host's own parser reads it.
    """
    changes: list[tuple[str, str, list[str]]] = []
    for line in patch.splitlines():
        header = _PATCH_HEADER.match(line) if "File:" in line else None
        if header is None:
            if changes and line.startswith("+"):
                changes[-1][2].append(line[1:])
            continue
        verb, target = header[1], header[2].strip()
        if verb == "Move":
            old, _, new = (part.strip() for part in target.partition("->"))
            changes.append((old, "move", []))
            if new:
                changes.append((new, "write", []))
        else:
            changes.append((target, "delete" if verb == "Delete" else "write", []))
    return [(path, action, "\n".join(lines)) for path, action, lines in changes]


def _script(commands: Iterable[str]) -> list[tuple[str, str]]:
    text = "\n".join(command for command in commands if command.strip())
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
