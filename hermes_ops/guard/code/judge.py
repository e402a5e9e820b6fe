"""The judgement of code in a language other than shell."""

from __future__ import annotations

from collections.abc import Callable

from ..verdict import Found

# Judges shell text that the code would run; given to the functions here so that they need not know the walk.
Shell = Callable[[str], list[Found]]


def judge_code(language: str, code: str, shell: Shell, home: str = "", cwd: str | None = None) -> list[Found]:
    """What code of a language would do that should be stopped.

    `language`: "python", "perl", "ruby", "node", "php", "lua", "awk", "powershell", "cmd", "sql",
    "applescript", "make", "r" or "tcl"; of another one nothing is said. Never raises; bounded in time.
    """
    raise NotImplementedError
