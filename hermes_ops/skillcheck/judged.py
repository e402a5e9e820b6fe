"""Commands and code of a skill, judged by the command guard and weighed by where they stand.

The guard answers what an agent may run; here it is asked what a skill wants run. A person asks nobody while
she reads, so what the guard would only ask about counts little in a page, and more in a script.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from ..guard.verdict import Found, Verdict
from .fold import visible
from .hosts import weight_of_source
from .instructions import limited
from .rules import ERROR, INFO, WARNING, Hit

PAGE, SCRIPT, UNSEEN = (
    "page",
    "script",
    "unseen",
)  # where a command stands; unseen: hidden, decoded, run on loading

# A person's machine as the guard should picture it; nothing is looked up on this one.
HOME, HERMES_HOME = "/home/person", "/home/person/.hermes"

MAX_FOUND = 100  # findings of the guard on one piece, the weightiest first
MAX_CODE = 400_000  # characters of one script

_SHELLS_LIST = """
    sh bash zsh ksh dash fish shell console terminal shell-session shellsession sh-session
"""
SHELLS = frozenset(_SHELLS_LIST.split())
LANGUAGES = {
    **dict.fromkeys(("python", "py", "python3", "ipython"), "python"),
    **dict.fromkeys(("js", "javascript", "node", "ts", "typescript", "mjs", "cjs", "jsx", "tsx"), "node"),
    **dict.fromkeys(("ruby", "rb"), "ruby"),
    **dict.fromkeys(("perl", "pl"), "perl"),
    **dict.fromkeys(("powershell", "ps1", "pwsh", "posh"), "powershell"),
    **dict.fromkeys(("bat", "cmd", "batch"), "cmd"),
    **dict.fromkeys(("applescript", "osascript"), "applescript"),
    **dict.fromkeys(("make", "makefile"), "make"),
    **{name: name for name in ("php", "lua", "awk", "r", "tcl")},
}

_DECODES = re.compile(
    r"base64|\bb64|xxd|openssl enc|\brev\b|\btr\b.{0,40}\||gunzip|zcat|\\x[0-9a-f]{2}|unhex|fromhex|rot13|"
    r"fromcharcode|atob\(|frombase64|"
    r"unescape|\bhex\b|codecs|marshal|zlib|-enc(?:odedcommand)?\b|chr\(",
    re.IGNORECASE,
)
REMOTE = ("remote.", "code.remote", "packages.from-address")
OPAQUE = ("opaque.code", "code.opaque")
_LETTERS = ("obfuscation.look-alike", "obfuscation.invisible")
_HARDWARE = ("disk.", "power.", "code.machine-off")
AWAY = ("exfiltration.", "reverse-shell.", "code.secret-sent", "code.reverse-shell")
_READS = ("secrets.", "code.secret-read")
_GUARDED = ("guard.", "services.protection-off", "code.guard")


def shell(text: str) -> list[Found]:
    """What the guard finds in shell text."""
    from ..guard.judge.judge import Surroundings, judge_shell

    return list(judge_shell(text[:MAX_CODE], Surroundings(None, HOME, HERMES_HOME)).findings)


def code(language: str, text: str) -> list[Found]:
    """What the guard finds in code of another language; [] for one that it does not know."""
    from ..guard.code.judge import judge_code

    return judge_code(language, text[:MAX_CODE], shell, HOME)


def script(path: str, language: str, text: str) -> list[Hit]:
    """A whole script: `language` is "shell" or one of LANGUAGES' values."""
    found = shell(text) if language == "shell" else code(language, text)
    lines = text.split("\n")
    return limited(hits_of(found, SCRIPT, path, 1, lines))


def unseen(path: str, line: int, command: str) -> list[Hit]:
    """A command that a reader does not see: decoded, or run by itself."""
    return limited(hits_of(shell(command), UNSEEN, path, line, [command]))


def hits_of(found: Iterable[Found], where: str, path: str, first: int, lines: list[str]) -> Iterator[Hit]:
    text = "\n".join(lines)
    for one in islice(found, MAX_FOUND):
        rule, severity = _weight(one, where, text)
        if severity:
            number, line = place(one.part, lines)
            shown = visible(line.strip() or one.part)
            part = visible(one.part, 120)
            evidence = (shown,) if not part or part in shown else (shown, f"understood as: {part}")
            yield Hit(
                rule,
                severity,
                path,
                first + number,
                f"{one.why} ({one.rule})",
                evidence,
                f"{one.rule} {one.part}",
                is_unread=one.rule == "guard.error",
            )


def _weight(found: Found, where: str, text: str) -> tuple[str, str]:
    """Rule and severity of a finding of the guard; severity "" when nothing is said of it there."""
    if is_any(found, REMOTE):
        grave = weight_of_source(found.part, found.why, text)
        if found.verdict is Verdict.BLOCK or (where == UNSEEN and grave == WARNING):
            grave = ERROR
        return "skill.remote-code", grave
    if found.rule == "guard.error":
        return "skill.unread", WARNING
    if found.verdict is Verdict.BLOCK:
        if is_any(found, _GUARDED):
            return "skill.protection", ERROR
        if is_any(found, _HARDWARE) or _is_an_uninstall(found) or _is_an_own_key(found, text):
            return "skill.command", {PAGE: INFO, SCRIPT: WARNING}.get(where, ERROR)
        is_backup = where != UNSEEN and _is_a_backup(found, text)
        return "skill.command", INFO if is_backup else ERROR
    if is_any(found, OPAQUE):
        if where != UNSEEN and not _DECODES.search(text):
            return "skill.obscured", INFO
        return "skill.obscured", ERROR if where == UNSEEN else WARNING
    if is_any(found, _LETTERS):
        return "skill.obscured", WARNING
    if is_any(found, AWAY + _GUARDED):
        rule = "skill.protection" if is_any(found, _GUARDED) else "skill.command"
        return rule, INFO if where == PAGE else WARNING
    if is_any(found, _READS):
        return "skill.credentials", "" if where == PAGE else INFO
    return "skill.command", "" if where == PAGE else INFO


def _is_an_uninstall(found: Found) -> bool:
    """A folder deep in the system goes, as when a package's data are removed; no whole part of it."""
    paths = re.findall(r"(?<!\S)/[\w.@-]+/[\w.@-]+/[\w.@/-]+", found.part)
    return found.rule == "files.system-removal" and bool(paths) and "*" not in found.part


_SOME_HOST = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|(?<![\w.$}/])[\w-]+(?:\.[\w-]+)+:(?=[~/\w$])|\d+\.\d+\.\d+\.\d+|\w://(?![$…])|"
    r"=[\"']?(?:[\w-]+\.)+[a-z]{2,12}[\"']?(?:\s|$)",
    re.IGNORECASE | re.MULTILINE,
)


def _is_a_backup(found: Found, text: str) -> bool:
    """A whole home goes to a place that the user names elsewhere; the skill names no host of its own."""
    return (
        found.rule == "exfiltration.sent"
        and "(all that is in it)" in found.why
        and found.part.startswith("rsync ")
        and _SOME_HOST.search(f"{found.part}\n{text}") is None
    )


def _is_an_own_key(found: Found, text: str) -> bool:
    """A public key from a file is added; a key written out, or fetched, is somebody else's."""
    foreign = re.search(
        r"ssh-(?:rsa|ed25519|dss)\s+AAAA[\w+/]{40}|ecdsa-sha2\S+\s+AAAA[\w+/]{40}|https?://|curl|wget", text
    )
    return found.rule == "writes.accounts" and "authorized_keys" in found.why + found.part and foreign is None


def is_any(found: Found, beginnings: tuple[str, ...]) -> bool:
    return found.rule.startswith(beginnings)


def place(part: str, lines: list[str]) -> tuple[int, str]:
    """The line that holds a part of a command, by its longest word; the first line when none does."""
    words = sorted(
        (word for word in re.split(r"[\s\"'|;&()<>]+", part) if len(word) > 2), key=len, reverse=True
    )
    for word in words[:4]:
        for number, line in enumerate(lines):
            if word in line and not line.lstrip().startswith("#!"):
                return number, line
    return 0, next((line for line in lines if line.strip()), "")
