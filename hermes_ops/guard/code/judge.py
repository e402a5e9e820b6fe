"""The judgement of code in a language other than shell."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from ..verdict import Found
from .given import NOTHING_GIVEN, Given

# Judges shell text that the code would run; given to the functions here so that they need not know the walk.
Shell = Callable[[str], list[Found]]

# What languages and their interpreters are called, by the name used here.
LANGUAGES = {
    "python": "python python2 python3 pypy pypy3 ipython ipython3 bpython micropython",
    "perl": "perl perl5",
    "ruby": "ruby jruby irb",
    "node": "node nodejs deno bun javascript js typescript ts-node tsx",
    "php": "php php-cgi",
    "lua": "lua luajit",
    "awk": "awk gawk mawk nawk",
    "powershell": "powershell pwsh powershell.exe pwsh.exe",
    "cmd": "cmd cmd.exe",
    "sql": "sql",
    "applescript": "applescript osascript",
    "make": "make gmake",
    "r": "r rscript",
    "tcl": "tcl tclsh expect wish",
    "mongo": "mongo mongosh",
}
_NAMES = {name: language for language, names in LANGUAGES.items() for name in names.split()}


def language_of(program: str) -> str:
    """The language that a program of this name interprets ("python3.12" -> "python"), "" for none."""
    name = program.rpartition("/")[2].lower()
    return _NAMES.get(name) or _NAMES.get(name.rstrip("0123456789.-"), "")


_LOADED: set[str] = set()


def load(language: str) -> float:
    """Import the judge of a language unless it is there; the seconds that took."""
    name = language_of(language)
    if not name or name in _LOADED:
        return 0.0
    started = perf_counter()
    if name == "python":
        from . import python  # noqa: F401
    elif name == "sql":
        from . import sql
    else:
        from . import scripts, sql  # noqa: F401
    _LOADED.add(name)
    return perf_counter() - started


def judge_code(
    language: str,
    code: str,
    shell: Shell,
    home: str = "",
    cwd: str | None = None,
    hermes_home: str = "",
    given: Given = NOTHING_GIVEN,
) -> list[Found]:
    """What code of a language would do that should be stopped.

    `language`: a key of LANGUAGES, or a name from its values; of another one nothing is said. `code` may hold
    UNKNOWN for pieces that are not known. `given`: its arguments, its input, its environment. Never raises;
    bounded in time.
    """
    name = language_of(language)
    if name == "python":
        from .python import judge_python

        found = judge_python(code, shell, home, cwd, hermes_home, given)
    elif name == "sql":
        from .sql import sql_findings

        found = sql_findings(code)
    elif name:
        from .scripts import judge_script
        from .sql import mongo_findings

        script = "node" if name == "mongo" else name
        found = judge_script(script, code, shell, home, cwd, hermes_home, given)
        found += mongo_findings(code) if name == "mongo" else []
    else:
        found = []
    return list(dict.fromkeys(found))
