"""Notebook cells: `!command`, `%magic` and `%%magic` turned into calls, and what magics run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..rules.names import names
from .sql import sql_findings
from .value import Value

if TYPE_CHECKING:
    from .python_walk import Walk

_SHELL_LINE = re.compile(r"^(\s*)!{1,2}\s*(.*)$")
_SHELL_VALUE = re.compile(r"^(\s*[A-Za-z_][\w., \[\]'\"]*=\s*)(!|%sx |%system )\s*(.+)$")
_MAGIC_VALUE = re.compile(r"^(\s*[A-Za-z_][\w., ]*=\s*)%(\w+)\s*(.*)$")
_MAGIC_LINE = re.compile(r"^(\s*)%(\w+)\s*(.*)$")
_HELP_LINE = re.compile(r"^(\s*)\?{0,2}[\w.%]+\?{0,2}\s*$")
_CELL = re.compile(r"\A(?:\s*(?:#[^\n]*)?\n)*\s*%%(\w+|!)[ \t]*([^\n]*)\n?(.*)\Z", re.DOTALL)
_FIELD = re.compile(r"\{([A-Za-z_][\w.]*(?:\[[\w'\"]+\])?)\}")

_SHELLS = frozenset(["bash", "sh", "zsh", "system", "sx", "!", "shell", "cmd"])
_SAME_CODE = names("time timeit prun capture memit mprun lprun python python3 pypy px snakeviz")
_ALIASES = names("rm mv cp rmdir mkdir ls ll cat man less more lf lk ldir lx")
_INSTALLERS = frozenset(["pip", "conda", "mamba", "micromamba", "uv"])


def cell_magic(code: str) -> tuple[str, str, str] | None:
    """(name, line, body) of a `%%name line` cell; None when it is none."""
    match = _CELL.match(code) if "%%" in code else None
    return (match[1], match[2], match[3]) if match else None


def _text(command: str) -> str:
    """An expression for a command line with its {name} fields filled in."""
    pieces = _FIELD.split(command)
    parts = [repr(piece) if place % 2 == 0 else f"str({piece})" for place, piece in enumerate(pieces)]
    return " + ".join(part for part in parts if part != "''") or "''"


def translated(code: str) -> str:
    """The code with its notebook lines as calls of get_ipython(), as a notebook would run them."""
    lines = code.split("\n")
    result: list[str] = []
    place = 0
    while place < len(lines):
        line = lines[place]
        place += 1
        bare = line.lstrip()
        if (
            not bare.startswith(("!", "%", "?"))
            and "!" not in line
            and "%" not in line
            and not bare.endswith("?")
        ):
            result.append(line)
            continue
        joined = 0
        while line.endswith("\\") and place < len(lines) and bare[:1] in "!%":
            line = line[:-1] + lines[place]
            place, joined = place + 1, joined + 1
        if match := _SHELL_LINE.match(line):
            line = f"{match[1]}get_ipython().system({_text(match[2])})"
        elif match := _SHELL_VALUE.match(line):
            line = f"{match[1]}get_ipython().getoutput({_text(match[3])})"
        elif (match := _MAGIC_VALUE.match(line)) or (match := _MAGIC_LINE.match(line)):
            line = f"{match[1]}get_ipython().run_line_magic({match[2]!r}, {_text(match[3])})"
        elif "?" in line and (match := _HELP_LINE.match(line)):
            line = f"{match[1]}pass"
        result.append(line)
        result.extend([""] * joined)
    return "\n".join(result)


def run_magic(walk: Walk, name: str, line: str, cell: str | None) -> None:
    """What a magic does with its line and the body of its cell."""
    body = cell if cell is not None else line
    acts = walk.acts
    if name in _SHELLS:
        acts.run(Value(body if cell is None else body or line))
    elif name == "script":
        words = line.split()
        if words and cell is not None:
            acts.run_words([Value(word) for word in words], None, Value(cell))
    elif name in _SAME_CODE:
        if not walk.text(translated(body)) and cell is None:
            walk.text(translated(line))
    elif name in ("perl", "ruby", "javascript", "js"):
        from .scripts import script_acts

        script_acts({"javascript": "node", "js": "node"}.get(name, name), body, acts)
    elif name in ("writefile", "file"):
        words = [word for word in line.split() if not word.startswith("-")]
        if words:
            acts.write(Value(words[-1].strip("'\"")), Value(cell or ""))
    elif name in ("cd", "pushd"):
        acts.change_folder(Value(line.strip().strip("'\"") or "~"))
    elif name in _ALIASES or name in _INSTALLERS:
        acts.run(Value(f"{name} {line}"))
    elif name in ("env", "set_env"):
        key, equals, value = line.partition("=")
        if equals:
            walk.exported(Value(key.strip()), Value(value.strip()))
    elif name in ("sql", "sqlite", "bigquery"):
        acts.add(sql_findings(body))
    elif name == "run" and line.strip():
        acts.run(Value(f"python3 {line}"))
