"""Commands and code of a skill, judged by the command guard and weighed by where they stand.

The guard answers what an agent may run; here it is asked what a skill wants run. A person asks nobody while
she reads, so what the guard would only ask about counts little in a page, and more in a script.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..guard.verdict import Found, Verdict
from .document import Document, Fence, inline_code
from .fold import visible
from .hosts import weight_of_source
from .instructions import Topic, limited
from .phrases import ABOUT_ATTACKS, STRONGLY
from .rules import ERROR, INFO, ORDER, WARNING, Hit

PAGE, SCRIPT, UNSEEN = "page", "script", "unseen"  # where a command stands; unseen: hidden, decoded, run on loading

# A person's machine as the guard should picture it; nothing is looked up on this one.
HOME, HERMES_HOME = "/home/person", "/home/person/.hermes"

MAX_SNIPPETS = 400  # of one file
MAX_CODE = 400_000  # characters of one script

SHELLS = frozenset("sh bash zsh ksh dash fish shell console terminal shell-session shellsession sh-session".split())
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

_COMMAND = re.compile(
    r"""(?:^|[\s:(>"'\u201c])((?:sudo |curl |wget |bash |sh |zsh |nc |ncat |socat |python3? -|node -|perl -|ruby -|php -|echo |printf |base64 |"""
    r"""openssl |eval |powershell|pwsh|iwr |irm |iex |osascript |rm -|cat [~/$.]|scp |rsync |tar |env *\||printenv|export |git |dd )"""
    r"""[^\n]{4,2000})""",
    re.IGNORECASE,
)
_SHELL_LINE = re.compile(
    r"^\s*(?:[$%#>] )?(?:sudo|curl|wget|bash|sh|cat|cd|git|npm|npx|pip3?|python3?|node|docker|kubectl|ssh|scp|rm|cp|mv|mkdir|chmod|"
    r"chown|echo|export|source|apt(?:-get)?|brew|make|tar|eval|base64|nc|dd|systemctl|crontab|gh|aws|env|printenv|openssl|\./)\b"
)
_PROMPT = re.compile(r"^\s*(?:\([\w.-]+\)\s*)?(?:[\w.-]+@[\w.-]+[:~/\w.-]*)?\s*[$%]\s+(?=\S)|^PS[^>\n]{0,80}>\s+")
_WARNS = re.compile(
    r"(?:\b(?:never|do not|don.?t|must not|avoid|refuse|nicht|niemals|jamais|nunca)\b|нельзя|никогда|не запускай|不要|切勿)"
    r"(?:\W+\w+){0,7}?\W+(?:run|runs|running|use|execute|executes|type|paste|do|commands?|this|these|like|such|ausf|exec|ejecut|запуск|выполн|`)|"
    r"\bdangerous|\bdestructive|\bdestroys?\b|\bwipes?\b|\bbad\b|\bunsafe\b|❌|🚫|\bcatastroph|\bdisaster|\brefuse|\bblocked?\b|"
    r"不要|опасн|危险|gefährlich|gefahrlich|peligros|dangereu"
)  # fmt: skip
_REMOTE = ("remote.", "code.remote")
_OPAQUE = ("opaque.code", "code.opaque", "obfuscation.", "obscured.")
_HARDWARE = ("disk.", "processes.machine", "code.machine-off", "power.", "processes.power")
_READS = ("secrets.", "reading.", "code.secret-read")
_GUARDED = ("protection.", "self.", "guard.", "hermes.")


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
    return limited(_hits(found, SCRIPT, path, 1, lines))


def page(document: Document, topic: Topic) -> list[Hit]:
    """The commands of a page: fenced blocks, code spans, lines of prose, and what the page does not show."""
    hits: list[Hit] = []
    for fence in document.fences[:MAX_SNIPPETS]:
        found, lines = _fence_findings(fence)
        excused = _is_warned(document.around(fence.start, fence.end), topic)
        hits += _excused(_hits(found, PAGE, document.path, fence.line + 1, lines), excused)
    left = MAX_SNIPPETS
    for number, line in enumerate(document.source_lines, 1):
        if left <= 0:
            break
        for command in _snippets(document, number, line):
            left -= 1
            found = [one for one in shell(command) if one.verdict is Verdict.BLOCK or _is(one, _REMOTE + _OPAQUE)]
            if found:
                start = document._line_starts[number - 1]
                near = f"{document.around(start, start)}\n{line.lower().replace(command.lower(), ' ')}"
                excused = _is_warned(near, topic)
                hits += _excused(_hits(found, PAGE, document.path, number, [command]), excused)
    for hidden in document.hidden[:MAX_SNIPPETS]:
        for command in _prose_commands(hidden.text):
            line = document.line_of(hidden.start)
            hits += (one.at(ERROR) if one.severity == WARNING else one for one in _hits(shell(command), UNSEEN, document.path, line, [command]))
    hits += _on_loading(document)
    return limited(hits)


def unseen(path: str, line: int, command: str) -> list[Hit]:
    """A command that a reader does not see: decoded, or run by itself."""
    return limited(_hits(shell(command), UNSEEN, path, line, [command]))


def _on_loading(document: Document) -> Iterator[Hit]:
    """Commands between !` and `: the host runs them while it loads the skill, where that is switched on."""
    if document.path.rpartition("/")[2] != "SKILL.md":
        return
    for number, line in enumerate(document.source_lines, 1):
        for found in re.finditer(r"!`([^`\n]+)`", line):
            inside = document.fence_at(document._line_starts[number - 1]) is not None
            worst = next(iter(_hits(shell(found[1]), UNSEEN, document.path, number, [found[1]])), None)
            severity = worst.severity if worst and worst.severity == ERROR else INFO if inside else WARNING
            if worst is None and _is_harmless(found[1]):
                severity = INFO
            text = "with skills.inline_shell on, the host runs this while it loads the skill"
            yield Hit("skill.inline-shell", severity, document.path, number, text, (visible(found[1]),), found[1])


def _is_harmless(command: str) -> bool:
    return re.fullmatch(r"(?:date|pwd|whoami|uname|git (?:status|branch|log|diff|rev-parse)|ls|hostname)\b[^|;&$`<>]*", command.strip()) is not None


def _fence_findings(fence: Fence) -> tuple[list[Found], list[str]]:
    language = fence.language.lower()
    lines = fence.code.split("\n")
    if language in LANGUAGES:
        return code(LANGUAGES[language], fence.code), lines
    if language in SHELLS or (language in ("", "text", "txt", "plain", "plaintext") and any(map(_SHELL_LINE.match, lines))):
        typed = _typed(lines)
        return shell("\n".join(typed)), typed
    return [], lines


def _typed(lines: list[str]) -> list[str]:
    """Of a session the lines that somebody typed, prompts removed; every line where there are no prompts."""
    if not any(_PROMPT.match(line) for line in lines):
        return lines
    kept, goes_on = [], False
    for line in lines:
        found = _PROMPT.match(line)
        kept.append(line[found.end() :] if found else line if goes_on else "")
        goes_on = bool(kept[-1]) and line.endswith("\\")
    return kept


def _snippets(document: Document, number: int, line: str) -> Iterator[str]:
    start = document._line_starts[number - 1] if number <= len(document._line_starts) else 0
    if start < document.body_start or document.fence_at(start) is not None or len(line) > 20_000:
        return
    for span in inline_code(line):
        if " " in span or "/" in span:
            yield span
    yield from _prose_commands(re.sub(r"`[^`]*`", " ", re.sub(r"<!--.*?-->", " ", line)))


def _prose_commands(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        found = _COMMAND.search(line)
        if found and re.search(r"[|$`><;&]| -\w|~/|://", found[1]):
            yield found[1].rstrip("\"'\u201d).")


def _hits(found: Iterable[Found], where: str, path: str, first: int, lines: list[str]) -> Iterator[Hit]:
    for one in found:
        rule, severity = _weight(one, where, "\n".join(lines))
        if severity:
            number, line = _place(one.part, lines)
            shown = visible(line.strip() or one.part)
            part = visible(one.part, 120)
            evidence = (shown,) if not part or part in shown else (shown, f"understood as: {part}")
            yield Hit(rule, severity, path, first + number, f"{one.why} ({one.rule})", evidence, f"{one.rule} {one.part}")


def _weight(found: Found, where: str, text: str) -> tuple[str, str]:
    """Rule and severity of a finding of the guard; severity "" when nothing is said of it there."""
    if _is(found, _REMOTE):
        grave = weight_of_source(found.part) if re.search(r"\w\.\w", found.part) else weight_of_source(text)
        if found.verdict is Verdict.BLOCK or (where == UNSEEN and grave == WARNING):
            grave = ERROR
        return "skill.remote-code", grave
    if found.verdict is Verdict.BLOCK:
        if _is(found, _HARDWARE):
            return "skill.command", {PAGE: INFO, SCRIPT: WARNING}.get(where, ERROR)
        return "skill.command", ERROR
    if _is(found, _OPAQUE):
        return "skill.obscured", ERROR if where == UNSEEN else WARNING
    if _is(found, _GUARDED):
        return "skill.protection", WARNING
    if _is(found, _READS):
        return "skill.credentials", "" if where == PAGE else INFO
    return "skill.command", "" if where == PAGE else INFO


def _is(found: Found, beginnings: tuple[str, ...]) -> bool:
    return found.rule.startswith(beginnings)


def _is_warned(near: str, topic: Topic) -> bool:
    if _WARNS.search(near) is not None:
        return True
    return (ABOUT_ATTACKS if topic.is_attacks else STRONGLY).search(near) is not None


def _excused(hits: Iterable[Hit], is_excused: bool) -> Iterator[Hit]:
    for hit in hits:
        yield hit.at(INFO) if is_excused and ORDER.index(hit.severity) < ORDER.index(INFO) else hit


def _place(part: str, lines: list[str]) -> tuple[int, str]:
    """The line that holds a part of a command, by its longest word; the first line when none does."""
    words = sorted((word for word in re.split(r"[\s\"'|;&()<>]+", part) if len(word) > 2), key=len, reverse=True)
    for word in words[:4]:
        for number, line in enumerate(lines):
            if word in line and not line.lstrip().startswith("#!"):
                return number, line
    return 0, next((line for line in lines if line.strip()), "")
