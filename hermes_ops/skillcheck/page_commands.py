"""The commands of a page: fenced blocks, code spans, lines of prose, and what the page does not show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from ..guard.verdict import Found, Verdict
from .context import ABOUT_ATTACKS, STRONGLY
from .document import Document, Fence, inline_code
from .fold import visible
from .instructions import Topic, limited
from .judged import (
    AWAY,
    LANGUAGES,
    OPAQUE,
    PAGE,
    REMOTE,
    SHELLS,
    UNSEEN,
    code,
    hits_of,
    is_any,
    place,
    shell,
)
from .rules import ERROR, INFO, ORDER, WARNING, Hit

MAX_SNIPPETS = 400  # of one page

_COMMAND = re.compile(
    r"""(?:^|[\s:(>"'\u201c])("""
    r"""(?:sudo |curl |wget |bash |sh |zsh |nc |ncat |socat |python3? -|node -|perl -|ruby -|php -|echo |"""
    r"""printf |base64 |openssl |eval |powershell|pwsh|iwr |irm |iex |osascript |rm -|cat [~/$.]|scp |"""
    r"""rsync |tar |env *\||"""
    r"""printenv|export |git |dd )[^\n]{4,2000})""",
    re.IGNORECASE,
)
_SHELL_LINE = re.compile(
    r"^\s*(?:[$%#>] )?(?:sudo|curl|wget|bash|sh|cat|cd|git|npm|npx|pip3?|python3?|node|docker|kubectl|ssh|"
    r"scp|rm|cp|mv|mkdir|chmod|"
    r"chown|echo|export|source|apt(?:-get)?|brew|make|tar|eval|base64|nc|dd|systemctl|crontab|gh|aws|env|"
    r"printenv|openssl|\./)\b"
)
_PROMPT = re.compile(
    r"^\s*(?:\([\w.-]+\)\s*)?(?:[\w.-]+@[\w.-]+[:~/\w.-]*)?\s*[$%]\s+(?=\S)|^PS[^>\n]{0,80}>\s+"
)
_WARNS = re.compile(
    r"(?:\b(?:never|do not|don.?t|must not|avoid|refuse|nicht|niemals|jamais|nunca)\b|нельзя|никогда|не "
    r"запускай|不要|切勿)"
    r"(?:\W+\w+){0,7}?\W+(?:run|runs|running|use|execute|executes|type|paste|do|commands?|this|these|like|"
    r"such|ausf|exec|ejecut|запуск|выполн|`)|"
    r"\bdangerous|\bdestructive|\bdestroys?\b|\bwipes?\b|\bbad\b|\bunsafe\b|❌|🚫|\bcatastroph|\bdisaster|"
    r"\brefuse|\bblocked?\b|"
    r"不要|опасн|危险|gefährlich|gefahrlich|peligros|dangereu"
)  # fmt: skip

_UNRUNNABLE = re.compile(
    r"\bhxxps?:|\[\.\]|(?:^|\s)\.\.\.(?:\s|$)|https?://\.\.\.|(?:^|\s)<[a-z][a-z ]{2,30}>(?:\s|$)",
    re.IGNORECASE,
)


def page_commands(document: Document, topic: Topic) -> list[Hit]:
    """The commands of a page: fenced blocks, code spans, lines of prose, and what the page does not show."""
    hits: list[Hit] = []
    for fence in document.fences[:MAX_SNIPPETS]:
        found, lines = _fence_findings(fence)
        excused = not document.has_orders and _is_warned(document.around(fence.start, fence.end), topic)
        hits += _excused(hits_of(found, PAGE, document.path, fence.line + 1, lines), excused)
    left = MAX_SNIPPETS
    for number, line in enumerate(document.source_lines, 1):
        if left <= 0:
            break
        for command in _snippets(document, number, line):
            left -= 1
            found = [
                one for one in shell(command) if one.verdict is Verdict.BLOCK or is_any(one, REMOTE + OPAQUE)
            ]
            if found:
                start = document.start_of(number)
                near = f"{document.around(start, start)}\n{line.lower().replace(command.lower(), ' ')}"
                excused = not document.has_orders and (
                    _is_warned(near, topic) or _is_cited(line, command, topic)
                )
                hits += _excused(hits_of(found, PAGE, document.path, number, [command]), excused)
    left = MAX_SNIPPETS
    for hidden in document.hidden:
        for command in islice(_prose_commands(hidden.text), left):
            left -= 1
            line = document.line_of(hidden.start)
            hits += (
                one.at(ERROR) if one.severity == WARNING else one
                for one in hits_of(shell(command), UNSEEN, document.path, line, [command])
            )
    hits += _on_loading(document)
    hits += _over_blocks(document, topic)
    return limited(hits)


def excused(document: Document, topic: Topic, hits: Iterable[Hit]) -> Iterator[Hit]:
    """Hits on a page: remarks where the page warns of what stands there."""
    for hit in hits:
        start = document.start_of(hit.line)
        is_warned = document.is_page and _is_warned(document.around(start, start), topic)
        yield from _excused([hit], is_warned)


def _on_loading(document: Document) -> Iterator[Hit]:
    """Commands between !` and `: the host runs them while it loads the skill, where that is switched on."""
    if document.path.rpartition("/")[2] != "SKILL.md":
        return
    for number, line in enumerate(document.source_lines, 1):
        for found in re.finditer(r"!`([^`\n]+)`", line):
            inside = document.fence_at(document.start_of(number)) is not None
            worst = next(iter(hits_of(shell(found[1]), UNSEEN, document.path, number, [found[1]])), None)
            severity = worst.severity if worst and worst.severity == ERROR else INFO if inside else WARNING
            closes = line.count("`", 0, found.start() + 2) % 2 == 0
            if worst is None and (_is_harmless(found[1]) or closes):
                severity = INFO
            text = "with skills.inline_shell on, the host runs this while it loads the skill"
            text += " (meant as text: the mark ends a code span)" if closes and severity == INFO else ""
            yield Hit(
                "skill.inline-shell", severity, document.path, number, text, (visible(found[1]),), found[1]
            )


def _over_blocks(document: Document, topic: Topic) -> Iterator[Hit]:
    """What only shows when the blocks of a page are one script: a value read here and sent there."""
    pieces: list[tuple[int, str]] = []
    for fence in document.fences[:MAX_SNIPPETS]:
        if fence.language.lower() in SHELLS or fence.language == "":
            pieces.append((fence.line + 1, "\n".join(_typed(fence.code.split("\n")))))
    for number, line in enumerate(document.source_lines, 1):
        if "`" in line and document.fence_at(document.start_of(number)) is None and len(line) < 20_000:
            pieces += (
                (number, span) for span in inline_code(line) if re.search(r"[=$|] ?\S", span) and " " in span
            )
    pieces = sorted(pieces[:MAX_SNIPPETS])
    if len(pieces) < 2:
        return
    alone = {one.rule for _, piece in pieces for one in shell(piece) if is_any(one, AWAY)}
    together = "\n".join(piece for _, piece in pieces)
    if alone or not re.search(r"\$\{?\w", together):
        return
    for found in shell(together):
        if is_any(found, AWAY) and found.verdict is Verdict.BLOCK:
            line = next(
                (
                    number
                    for number, piece in pieces
                    if place(found.part, [piece])[1] and found.part.split()[0] in piece
                ),
                1,
            )
            severity = (
                INFO
                if _is_warned(document.around(document.start_of(line), document.start_of(line)), topic)
                else ERROR
            )
            text = f"{found.why} ({found.rule}), over several blocks of the page"
            yield Hit(
                "skill.command",
                severity,
                document.path,
                line,
                text,
                (visible(found.part),),
                f"{found.rule} {found.part}",
            )


def _is_harmless(command: str) -> bool:
    return (
        re.fullmatch(
            r"(?:date|pwd|whoami|uname|git (?:status|branch|log|diff|rev-parse)|ls|hostname)\b[^|;&$`<>]*",
            command.strip(),
        )
        is not None
    )


def _fence_findings(fence: Fence) -> tuple[list[Found], list[str]]:
    language = fence.language.lower()
    lines = fence.code.split("\n")
    if language in LANGUAGES:
        return code(LANGUAGES[language], fence.code), lines
    if language in SHELLS or (
        language in ("", "text", "txt", "plain", "plaintext") and any(map(_SHELL_LINE.match, lines))
    ):
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
    start = document.start_of(number)
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


def _is_cited(line: str, command: str, topic: Topic) -> bool:
    """Is a command the name of what a list of such things is about: "- `curl ... | bash`: a dropper"?

    Only in a skill about security, or where the command is spelt so that nobody can run it.
    """
    listed = re.match(rf"\s{{0,8}}(?:[-*+|]|\d+\.)\s*`\s*{re.escape(command)}", line) is not None
    return listed and (topic.is_security or topic.is_attacks or _UNRUNNABLE.search(command) is not None)


def _is_warned(near: str, topic: Topic) -> bool:
    if _WARNS.search(near) is not None:
        return True
    return (ABOUT_ATTACKS if topic.is_attacks else STRONGLY).search(near) is not None


def _excused(hits: Iterable[Hit], is_excused: bool) -> Iterator[Hit]:
    for hit in hits:
        yield hit.at(INFO) if is_excused and ORDER.index(hit.severity) < ORDER.index(INFO) else hit
