"""What a background process does with its input: which language a shell or an interpreter reads from it."""

from __future__ import annotations

import os

from .code.judge import language_of
from .shell.lexical import pieces

# Programs that run what they read. A script or code given to them leaves their input to the script.
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash"})
# Of the languages whose interpreters run what they read; the others take it as data.
READ = frozenset(("python", "node", "perl", "ruby", "php", "lua", "powershell", "cmd", "r", "tcl", "mongo"))
DATABASES = frozenset({"psql", "mysql", "mariadb", "sqlite3", "sqlcmd", "clickhouse-client", "duckdb"})
# Programs that give their input on to a shell somewhere, unless a command follows the place.
ELSEWHERE = frozenset({"ssh", "mosh", "su", "machinectl", "nsenter", "chroot"})
WRAPPERS = frozenset(
    {
        "sudo",
        "doas",
        "env",
        "nice",
        "ionice",
        "nohup",
        "time",
        "timeout",
        "stdbuf",
        "setsid",
        "exec",
        "command",
    }
    | {"unbuffer", "rlwrap", "script", "docker", "podman", "kubectl", "lxc", "uv", "poetry"}
)
_CODE = {"python": "cm", "perl": "eE", "ruby": "e", "node": "ep", "php": "rf", "lua": "e"}
_MOST = 4_000


def input_language(command: str) -> str:
    """The language that the process of a command reads from its input; "" when it takes it as data."""
    commands = [words for words in pieces(command[:_MOST], _MOST) if words]
    return _language(commands[-1]) if commands else ""


def _language(words: list[str]) -> str:
    wrapped = False
    for at, word in enumerate(words):
        name, rest = os.path.basename(word).lower(), words[at + 1 :]
        if name in SHELLS:
            return "" if _given(rest, "c", keep="is") else "shell"
        language = language_of(name)
        if language in READ:
            return "" if _given(rest, _CODE.get(language, ""), keep="i") else language
        if name in DATABASES:
            return "sql"
        if name in ELSEWHERE:
            return "shell" if sum(not one.startswith("-") for one in rest) <= 1 else _language(rest)
        if name in WRAPPERS:
            wrapped = True
        elif not wrapped and not word.startswith("-") and "=" not in word:
            return ""
    # `sudo -i` and `script` start a shell without naming it.
    return "shell" if wrapped and ({"-i", "-s"} & set(words) or words[0] == "script") else ""


def _given(arguments: list[str], code: str, keep: str) -> bool:
    """Was the program given a script or code? An option in `keep` makes it read its input all the same."""
    script = False
    for argument in arguments:
        if argument == "-":
            return False
        if argument.startswith("-") and not argument.startswith("--"):
            if set(argument[1:]) & set(keep):
                return False
            script = script or bool(set(argument[1:]) & set(code))
        elif not argument.startswith("-"):
            script = True
    return script
