"""Python that does not parse, or is too long to: its calls are read one by one, wherever one can be told."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right

from ..rules.names import names
from .acts import Acts, Exhausted
from .python_names import MARK
from .python_walk import Walk
from .value import Value

# How much of a text is read: characters, calls, characters of one call and of all calls together.
LIMIT, CALLS, CALL_LENGTH, BUDGET, LOOKUPS = 100_000, 160, 2_000, 40_000, 40

_STRING = (
    r"(?:[rRbBuUfF]{1,2}(?=[\"']))?(?:\"\"\"(?:[^\\\"]|\\.|\"(?!\"\"))*\"\"\"|'''(?:[^\\']|\\.|'(?!''))*'''"
    r"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
)
_QUOTED = re.compile(rf"(?P<string>{_STRING})|(?P<comment>\#[^\n]*)|(?P<stray>[\"'])", re.DOTALL)
_TOKEN = re.compile(
    rf"(?P<string>{_STRING})|(?P<comment>\#[^\n]*)|(?P<open>[(\[{{])|(?P<close>[)\]}}])", re.DOTALL
)
_RISKY = re.compile(
    r"\b(?P<name>system|popen|run|call|check_call|check_output|Popen|getoutput|getstatusoutput|rmtree|remove|unlink"
    r"|execv[pe]{0,2}|execl[pe]{0,2}|spawn[lvpe]{0,3}|posix_spawnp?|exec|eval|terminal|write_file|write_text"
    r"|write_bytes|dup2|kill|killpg|chmod|chown|rename|replace|move|truncate|create_subprocess_(?:shell|exec)"
    r"|executescript|execute|urlopen|post|put|sendall|open|chdir)\s*\("
)
# Read first, so that no crowd of other calls hides them.
_STRONG = names(
    "system popen Popen check_call check_output getoutput getstatusoutput rmtree execv execve execvp execvpe "
    "execl execlp "
    "execle spawn spawnl spawnv spawnlp spawnvp exec eval terminal dup2 kill killpg create_subprocess_shell "
    "create_subprocess_exec write_file executescript"
)
_BEYOND = re.compile(r"\b(?:system|popen|subprocess|rmtree|unlink|exec|eval|spawn\w*|terminal)\b")
_CONSTANT = re.compile(
    rf"^[ \t]*(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*(?P<text>{_STRING}|\[[^\]\n]*\])[ \t]*(?:\#[^\n]*)?$",
    re.MULTILINE,
)
_IMPORT = re.compile(
    r"^[ \t]*((?:import|from)[ \t]+[\w.]+[^\n;(]*)|;[ \t]*((?:import|from)[ \t][^\n;(]*)", re.MULTILINE
)
_EXEC_STATEMENT = re.compile(rf"^[ \t]*exec[ \t]+(?P<text>{_STRING})", re.MULTILINE)
_DESTRUCTIVE = re.compile(
    r"\brm\s+-\w*r|\bmkfs|\bdd\s+.*of=|\b(?:shutdown|reboot|poweroff)\b|/dev/(?:sd|nvme|tcp)"
)
_PROCESSES = names(
    "system popen run call check_call check_output Popen getoutput getstatusoutput terminal execv execve "
    "execvp execvpe execl execlp execle spawnl spawnv spawnlp spawnvp posix_spawn create_subprocess_shell "
    "create_subprocess_exec"
)
_NAME = re.compile(r"(?<![\w.'\"])[A-Za-z_]\w*(?![\w('\"])")
_REMOVERS = frozenset(["rmtree", "unlink", "remove"])


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


def _start(text: str, name: int) -> int:
    """The place where the call's owner begins: `__import__("os").` before a name, or the name itself."""
    place, depth, least = name, 0, max(0, name - 200)
    while place > least:
        letter = text[place - 1]
        if letter == ")":
            depth += 1
        elif letter == "(" and depth:
            depth -= 1
        elif not depth and not (letter.isalnum() or letter in "_."):
            break
        elif letter == "\n":
            return name
        place -= 1
    return name if depth else place


def _quoted_spans(text: str) -> tuple[list[int], list[int], bool]:
    """Where strings and comments begin and end, and whether all quotes are closed; no places when not."""
    starts, ends = [], []
    for match in _QUOTED.finditer(text):
        if match.lastgroup == "stray":
            return [], [], False
        starts.append(match.start())
        ends.append(match.end())
    return starts, ends, True


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
    text = code[:LIMIT].replace("\0", MARK)
    if len(code) > LIMIT and (len(code) > 8 * LIMIT or _BEYOND.search(code, LIMIT)):
        acts.part = f"{len(code):,} characters of Python"
        acts.report("code.unread")
    calls = list(_RISKY.finditer(text))
    walk = Walk(acts, steps)
    if calls:
        _prepare(walk, text)
    starts, ends, sound = _quoted_spans(text) if calls else ([], [], True)
    budget, count, begun, behind, lookups = BUDGET, 0, 0, 0, LOOKUPS
    acts.unsure = True
    for match in sorted(calls, key=lambda call: call["name"] not in _STRONG):
        place = bisect_right(starts, match.start()) - 1
        if (place >= 0 and match.start() < ends[place] and sound) or behind > match.start() >= begun:
            continue
        count += 1
        if count > CALLS or budget <= 0:
            if match["name"] in _STRONG:
                acts.report("code.unread")
            return
        start = _start(text, match.start())
        line = text.rfind("\n", 0, start) + 1
        acts.part = text[line : line + 160].split("\n")[0].strip().replace(MARK, "?")
        end = _end(text, match.end())
        budget -= (end if end > 0 else match.end() + CALL_LENGTH) - start
        snippet = text[start:end] if end > 0 else text[start : start + 400]
        try:
            if lookups > 0 and end > 0 and match["name"] in _STRONG:
                lookups -= _bind_arguments(walk, text[: match.start()], text[match.end() : end - 1])
            value = walk.expression_text(snippet) if end > 0 else None
        except (Exhausted, RecursionError):
            return
        if value is None:
            _loose(acts, match["name"], snippet)
        else:
            begun, behind = start, end


def _bind_arguments(walk: Walk, before: str, arguments: str) -> int:
    """Bind the names among arguments to what they were last assigned; how many were looked for."""
    names_in = [name for name in dict.fromkeys(_NAME.findall(arguments)) if name not in walk.scopes[0]][:4]
    for name in names_in:
        pattern = re.compile(rf"^[ \t]*{name}[ \t]*=(?!=)[ \t]*([^\n]{{1,300}})$", re.MULTILINE)
        assigned = pattern.findall(before[-16_000:])
        if assigned:
            value = walk.expression_text(assigned[-1])
            if value is not None:
                walk.bind(name, value)
    return len(names_in)


def _prepare(walk: Walk, text: str) -> None:
    """Imports and names bound to literals, as far as they stand on lines of their own."""
    try:
        for _, match in zip(range(100), _IMPORT.finditer(text), strict=False):
            walk.text((match[1] or match[2]).strip())
        for _, match in zip(range(200), _CONSTANT.finditer(text), strict=False):
            value = walk.expression_text(match["text"])
            if value is not None:
                walk.bind(match["name"], value)
        for _, match in zip(range(50), _EXEC_STATEMENT.finditer(text), strict=False):
            for literal in _literals(match["text"]):
                walk.text(literal)
    except (Exhausted, RecursionError):
        return


def _loose(acts: Acts, name: str, snippet: str) -> None:
    """A call whose arguments cannot be told: its literals as commands or paths."""
    literals = _literals(snippet)
    before = len(acts.found)
    if name in _REMOVERS:
        for literal in literals:
            acts.remove(Value(literal), tree=name == "rmtree")
    elif name in _PROCESSES:
        for literal in literals[:8]:
            acts.run(Value(literal))
        if len(literals) > 1:
            acts.run_words([Value(literal) for literal in literals[:32]])
    if (
        len(acts.found) == before
        and (name in _PROCESSES or name in ("exec", "eval"))
        and _DESTRUCTIVE.search(snippet)
    ):
        acts.report("code.unread")
