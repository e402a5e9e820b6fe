"""Code of script languages other than Python, judged by the calls it spells out."""

from __future__ import annotations

import re

from ..verdict import Found
from .acts import Acts, Exhausted
from .given import NOTHING_GIVEN, Given
from .judge import Shell
from .lines import judge_applescript, judge_make, judge_tcl
from .script_acts import script_acts
from .windows import judge_cmd, judge_powershell

# Lines of commands are read up to here; behind it these words are for a person to look at.
LIMIT = 10_000
_RISKY = re.compile(
    r"\b(?:rm|rd|ri|del|rmdir|remove-item|iex|invoke-expression|exec|spawn|file delete|do shell script"
    r"|format|curl|wget)\b",
    re.IGNORECASE,
)
_LINES = {
    "powershell": judge_powershell,
    "cmd": judge_cmd,
    "make": judge_make,
    "tcl": judge_tcl,
    "applescript": judge_applescript,
}


def judge_script(
    language: str,
    code: str,
    shell: Shell,
    home: str = "",
    cwd: str | None = None,
    hermes_home: str = "",
    given: Given = NOTHING_GIVEN,
) -> list[Found]:
    """What a script would do that should be stopped.

    `language`: "perl", "ruby", "node", "php", "lua", "awk", "r", "powershell", "cmd", "make", "tcl" or
    "applescript". Never raises, never runs anything.
    """
    acts = Acts(shell, home, cwd, hermes_home, given)
    acts.part = " ".join(code.split())[:160]
    judge = _LINES.get(language)
    if judge is None:
        script_acts(language, code, acts)
    else:
        try:
            judge(code[:LIMIT], acts)
        except (Exhausted, RecursionError):
            acts.report("code.unread")
        if _RISKY.search(code, LIMIT):
            acts.report("code.unread")
    return acts.found
