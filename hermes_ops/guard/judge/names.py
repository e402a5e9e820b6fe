"""The name of the program a command word stands for, also when a glob or an unset variable hides it."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache

from .invocation import UNKNOWN, Arg, Invocation

_FOLDERS = ("/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin")
# Well-known programs in the order in which a glob that fits several of them is taken for one.
WELL_KNOWN = tuple(
    [
        "rm",
        "dd",
        "mkfs",
        "mkfs.ext4",
        "shred",
        "wipefs",
        "chmod",
        "chown",
        "mv",
        "nc",
        "ncat",
        "curl",
        "wget",
        "bash",
        "sh",
        "zsh",
        "dash",
        "python3",
        "python",
        "perl",
        "ruby",
        "node",
        "php",
        "cat",
        "cp",
        "ln",
        "tee",
        "find",
        "sudo",
        "su",
        "shutdown",
        "reboot",
        "poweroff",
        "halt",
        "kill",
        "killall",
        "pkill",
        "truncate",
        "unlink",
        "rmdir",
        "env",
        "xargs",
        "ssh",
        "scp",
        "tar",
        "base64",
        "awk",
        "sed",
        "git",
        "docker",
        "crontab",
        "systemctl",
        "init",
        "mount",
        "umount",
        "passwd",
        "useradd",
    ]
)
_LONGEST_GLOB = 256
# Variables that ordinary scripts keep a tool in, by the ending of their name.
_TOOLS = {
    "PYTHON": "python3", "PY": "python3", "PYTHON3": "python3", "PIP": "pip", "NODE": "node", "NPM": "npm",
    "CC": "gcc", "CXX": "g++", "LD": "ld", "AR": "ar", "STRIP": "strip", "MAKE": "make", "CMAKE": "cmake",
    "NINJA": "ninja", "EDITOR": "editor", "VISUAL": "editor", "PAGER": "pager", "BROWSER": "browser",
    "GIT": "git",
    "DOCKER": "docker", "COMPOSE": "docker-compose", "KUBECTL": "kubectl", "GO": "go", "CARGO": "cargo",
    "JAVA": "java", "MVN": "mvn", "GRADLE": "gradle", "GRADLEW": "gradle", "PHP": "php", "RUBY": "ruby",
    "PERL": "perl", "AWK": "awk", "SED": "sed", "GREP": "grep", "TAR": "tar", "JQ": "jq", "FFMPEG": "ffmpeg",
    "UV": "uv", "POETRY": "poetry", "PYTEST": "pytest", "SHELL": "sh", "BASH": "bash", "CHROME": "chrome",
    "CLANG": "clang", "RUSTC": "rustc", "TERRAFORM": "terraform", "HELM": "helm", "PSQL": "psql",
    "VENV_PYTHON": "python3",
}  # fmt: skip


@lru_cache(maxsize=512)
def globbed(pattern: str) -> str | None:
    """The program a glob in the place of a command may match, the dangerous ones first; None for none.

    UNKNOWN for one that is too long to be tried.
    """
    if len(pattern) > _LONGEST_GLOB:
        return UNKNOWN
    folder, slash, name = pattern.rpartition("/")
    if slash:
        folder = folder.replace("//", "/") or "/"
        if not any(fnmatchcase(known, folder) for known in _FOLDERS):
            return None
    elif "*" in name and not name.strip("*?"):
        return None
    for program in WELL_KNOWN:
        if fnmatchcase(program, name):
            return f"{folder}/{program}" if slash else program
    return None


def of_variable(word: Arg) -> str | None:
    """The tool that a variable of unknown value usually holds: "python3" for `"$PYTHON"`; None for others."""
    name = word.variable
    if not name or word.taint:
        return None
    tool = _TOOLS.get(name.upper())
    if tool is not None:
        return tool
    upper = name.upper()
    for ending in ("_BIN", "_CMD", "_EXE", "_PATH", "BIN", "CMD"):
        if upper.endswith(ending) and len(upper) > len(ending):
            tool = upper[: -len(ending)].rstrip("_").lower()
            return _TOOLS.get(tool.upper(), tool) if tool.isalnum() else None
    return None


def hidden(text: str) -> str | None:
    """The program in a folder that is not known: "pytest" for `$VENV/bin/pytest`; None without one."""
    name = text.rpartition("/")[2]
    if "/" in text and name and UNKNOWN not in name:
        return name
    return None


def base(text: str) -> str:
    """The name of a program without its folder, and without the ending that Windows programs have."""
    name = text.rpartition("/")[2] if "/" in text else text
    if name.endswith((".exe", ".EXE")):
        name = name[:-4].rpartition("\\")[2]
    return name


_SEEN = 400  # characters, or words, that are looked at for the few that are shown


def shown(call: Invocation) -> str:
    """A command as it may be shown in one short line."""
    return printable(" ".join([*call.wrappers, *[arg.text[:_SEEN] for arg in call.argv[:_SEEN]]]))


def printable(text: str) -> str:
    """A piece of a command, short and on one line; what is not known is shown as an ellipsis."""
    text = " ".join(text[:_SEEN].replace(UNKNOWN, "…").split())
    if not text.isprintable():
        text = "".join([letter if letter.isprintable() else "?" for letter in text])
    return text if len(text) <= 120 else text[:117] + "..."
