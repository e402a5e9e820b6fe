"""Code of script languages other than Python, judged by the calls it spells out."""

from __future__ import annotations

from ..verdict import Found
from .acts import Acts
from .judge import Shell
from .lines import judge_applescript, judge_make, judge_tcl
from .script_acts import script_acts
from .windows import PowerShell, judge_cmd


def judge_script(
    language: str,
    code: str,
    shell: Shell,
    home: str = "",
    cwd: str | None = None,
    hermes_home: str = "",
    argv: tuple[str, ...] = (),
) -> list[Found]:
    """What a script would do that should be stopped.

    `language`: "perl", "ruby", "node", "php", "lua", "awk", "r", "powershell", "cmd", "make", "tcl" or
    "applescript". Never raises, never runs anything.
    """
    acts = Acts(shell, home, cwd, hermes_home)
    acts.part = " ".join(code.split())[:160]
    if language == "powershell":
        PowerShell(acts).judge(code)
    elif language == "cmd":
        judge_cmd(code, acts)
    elif language == "make":
        judge_make(code, acts)
    elif language == "tcl":
        judge_tcl(code, acts)
    elif language == "applescript":
        judge_applescript(code, acts)
    else:
        script_acts(language, code, acts, argv)
    return acts.found
