"""Python that does not parse, or is too long to: its calls are read one by one, wherever one can be told."""

from __future__ import annotations

import ast
import re

from .acts import Acts
from .python_expressions import MARK, Exhausted
from .python_walk import Walk
from .value import Value

# How many calls of one text are read, and how long one may be.
CALLS, CALL_LENGTH = 200, 4_000

_STRING = (
    r"(?:[rRbBuUfF]{0,2})(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
)
_TOKEN = re.compile(
    rf"(?P<string>{_STRING})|(?P<comment>\#[^\n]*)|(?P<open>[(\[{{])|(?P<close>[)\]}}])", re.DOTALL
)
_RISKY = re.compile(
    r"(?:\b[A-Za-z_][\w.]*(?:\([^()\n]{0,200}\))?\.)?\b(?P<name>system|popen|run|call|check_call|check_output|Popen"
    r"|getoutput|getstatusoutput|rmtree|remove|unlink|execv[pe]{0,2}|execl[pe]{0,2}|spawn\w*|exec|eval|terminal"
    r"|write_file|write_text|write_bytes|dup2|kill|killpg|chmod|chown|rename|replace|move|truncate|create_subprocess"
    r"_shell|create_subprocess_exec|executescript|execute|urlopen|post|put|sendall|open|system_raw)\s*\("
)
_CONSTANT = re.compile(
    rf"^[ \t]*(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*(?P<text>{_STRING}|\[[^\]\n]*\])[ \t]*(?:\#[^\n]*)?$",
    re.MULTILINE,
)
_IMPORT = re.compile(
    r"^[ \t]*((?:import|from)[ \t]+[\w.]+[^\n;(]*)$|;[ \t]*((?:import|from)[ \t]+[\w.][^\n;(]*)", re.MULTILINE
)
_EXEC_STATEMENT = re.compile(rf"^[ \t]*exec[ \t]+(?P<text>{_STRING})", re.MULTILINE)
_DESTRUCTIVE = re.compile(
    r"\brm\s+-\w*r|\bmkfs|\bdd\s+.*of=|\b(?:shutdown|reboot|poweroff)\b|/dev/(?:sd|nvme|tcp)"
)
_NOT_ALONE = frozenset(["run", "call", "kill", "open", "replace", "remove", "execute", "post", "put", "move"])


def _end(text: str, start: int) -> int:
    """The place behind the bracket that closes the one before `start`; -1 when it cannot be told."""
    depth = 1
    for match in _TOKEN.finditer(text, start, start + CALL_LENGTH):
        if match.lastgroup == "open":
            depth += 1
        elif match.lastgroup == "close":
            depth -= 1
            if depth == 0:
                return match.end()
    return -1


def _spans(text: str) -> tuple[list[tuple[int, int]], bool]:
    """Where strings and comments are, and whether all quotes are closed."""
    spans, last, sound = [], 0, True
    for match in _TOKEN.finditer(text):
        if match.lastgroup in ("string", "comment"):
            between = text[last : match.start()]
            sound = sound and "'" not in between and '"' not in between
            spans.append(match.span())
            last = match.end()
    rest = text[last:]
    return spans, sound and "'" not in rest and '"' not in rest


def _literals(text: str) -> list[str]:
    """The string literals of a piece of text, decoded."""
    found = []
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "string":
            try:
                value = ast.literal_eval(re.sub(r"\A[fF]|(?<=\A[rR])[fF]", "", match.group()))
            except (SyntaxError, ValueError, MemoryError):
                value = match.group().strip("'\"")
            found.append(value.decode("latin-1") if isinstance(value, bytes) else str(value))
    return found


def judge_text(code: str, acts: Acts, steps: int) -> None:
    """Read the calls of Python text that is not read as a whole."""
    text = code.replace("\0", MARK)
    walk = Walk(acts, steps)
    spans, sound = _spans(text)
    _prepare(walk, text)
    place = 0
    count = 0
    for match in _RISKY.finditer(text):
        start = match.start()
        while place < len(spans) and spans[place][1] <= start:
            place += 1
        inside = place < len(spans) and spans[place][0] <= start < spans[place][1]
        if inside and sound:
            continue
        count += 1
        if count > CALLS:
            return
        line = text.rfind("\n", 0, start) + 1
        acts.part = text[line : line + 160].split("\n")[0].strip().replace(MARK, "?")
        end = _end(text, match.end())
        snippet = text[start:end] if end > 0 else text[start : start + 400]
        try:
            value = walk.expression_text(snippet) if end > 0 else None
        except (Exhausted, RecursionError):
            return
        if value is None:
            _loose(acts, match, snippet)


def _prepare(walk: Walk, text: str) -> None:
    """Imports and names bound to literals, as far as they stand on lines of their own."""
    try:
        for count, match in enumerate(_IMPORT.finditer(text)):
            if count > 200:
                break
            walk.text((match[1] or match[2]).strip())
        for count, match in enumerate(_CONSTANT.finditer(text)):
            if count > 300:
                break
            value = walk.expression_text(match["text"])
            if value is not None:
                walk.bind(match["name"], value)
        for match in _EXEC_STATEMENT.finditer(text):
            for literal in _literals(match["text"]):
                walk.text(literal)
    except (Exhausted, RecursionError):
        return


def _loose(acts: Acts, match: re.Match[str], snippet: str) -> None:
    """A call whose arguments cannot be told: its literals as commands or paths."""
    name = match["name"]
    literals = _literals(snippet)
    before = len(acts.found)
    if name in ("rmtree", "unlink", "remove"):
        for literal in literals:
            acts.remove(Value(literal), tree=name == "rmtree")
    elif name not in ("open", "replace", "post", "put", "execute", "eval", "exec"):
        for literal in literals:
            acts.run(Value(literal))
        if len(literals) > 1:
            acts.run_words([Value(literal) for literal in literals])
    if len(acts.found) == before and name not in _NOT_ALONE and _DESTRUCTIVE.search(snippet):
        acts.report("code.unread")
