"""Code files: judged as a whole by the command guard, and what runs of them without being called."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice

from . import judged
from .flows import flows
from .fold import visible
from .languages import SHELL, language_of
from .rules import ERROR, INFO, ORDER, WARNING, Hit

MAX_VALUES = 400

_COMMAND_KEYS_LIST = """
    run command cmd script exec entrypoint execstart execstartpre execstartpost before_script
    after_script shell install preinstall postinstall prepare start build test
"""
_COMMAND_KEYS = frozenset(_COMMAND_KEYS_LIST.split())
_LIFECYCLE_LIST = """
    preinstall install postinstall prepare prepublish prepublishonly prepack postprepare
"""
_LIFECYCLE = frozenset(_LIFECYCLE_LIST.split())
_EXECSTART = re.compile(r"^\s*(?:Exec\w*|RUN|CMD|ENTRYPOINT)(?:\s*=\s*[-@:+!]*|\s+)(.+)$", re.MULTILINE)
_YAML_COMMAND = re.compile(
    r"^([ \t]*)(?:-[ \t]+)?[\"']?([\w-]+)[\"']?:[ \t]*([|>][+-]?\d?|\S.*)$", re.MULTILINE
)
_GIT_RUNS = re.compile(
    r"^\s*(?:fsmonitor|sshcommand|hookspath|pager|editor|askpass|helper|textconv|clean|smudge|"
    r"program)\s*=\s*(.+)$",
    re.IGNORECASE | re.MULTILINE,
)
_STARTUP = frozenset(("sitecustomize.py", "usercustomize.py"))
_SVG = re.compile(
    r"<script\b|\bon(?:load|error|click|mouseover|begin)\s*=|javascript:|<foreignObject\b", re.IGNORECASE
)


def scripts(path: str, text: str) -> list[Hit]:
    """What the code of a file would do; [] for a file that is no code."""
    language = language_of(path, text)
    name = path.rpartition("/")[2].lower()
    hits: list[Hit] = []
    if language == SHELL or language in judged.LANGUAGES.values():
        hits += judged.script(path, language, text)
    if language and language != SHELL and not any(hit.severity == ERROR for hit in hits):
        hits += flows(path, text)
    for line, command in _commands(path, name, text):
        hits += (
            hit
            for hit in judged.script(path, SHELL, command)
            for hit in [_moved(hit, line)]
            if hit.severity != INFO
        )
    hits += _by_itself(path, name, text)
    return hits


def _moved(hit: Hit, line: int) -> Hit:
    return Hit(hit.rule, hit.severity, hit.path, line, hit.text, hit.evidence, hit.match)


def _commands(path: str, name: str, text: str) -> Iterator[tuple[int, str]]:
    """Commands that stand in files of other tools, with their lines."""
    if name.endswith((".json", ".ipynb")):
        yield from _json_commands(name, text)
    elif name.endswith((".yml", ".yaml")):
        yield from _yaml_commands(text)
    elif (
        name.endswith((".service", ".desktop", ".timer"))
        or name.startswith(("dockerfile", "containerfile"))
        or name.endswith(".dockerfile")
    ):
        for found in _EXECSTART.finditer(text.replace("\\\n", "  ")):
            yield text.count("\n", 0, max(0, text.find(found[1][:40]))) + 1, found[1]
    elif name in ("justfile", "taskfile", "procfile", "crontab"):
        for number, line in enumerate(text.split("\n")[:MAX_VALUES], 1):
            command = (
                line.partition(":")[2]
                if name == "procfile"
                else " ".join(line.split()[5:])
                if name == "crontab"
                else line
            )
            if command.strip():
                yield number, command.strip().lstrip("@-")


def _json_commands(name: str, text: str) -> Iterator[tuple[int, str]]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return
    for value in islice(_json_texts(name, data), MAX_VALUES):
        yield text.count("\n", 0, max(0, text.find(value[:30]))) + 1, value


def _json_texts(name: str, data: object) -> Iterator[str]:
    """The texts that are commands: under a key that says so, or in a cell of a notebook."""
    for key, value in _values(data, "", 0):
        if name.endswith(".ipynb"):
            lines = value.split("\n") if key == "source" else []
            yield from (one.lstrip("! ") for one in lines if one.lstrip().startswith(("!", "%%bash", "%%sh")))
        elif key.lower() in _COMMAND_KEYS or key.startswith("scripts."):
            yield value


def _values(data: object, key: str, depth: int) -> Iterator[tuple[str, str]]:
    """Texts of decoded JSON with the key they stand under; a command and its arguments as one."""
    if depth > 40:
        return
    if isinstance(data, str):
        yield key, data
    elif isinstance(data, list):
        if key == "source" and all(isinstance(one, str) for one in data):
            yield key, "".join(data)
        else:
            for one in data[:5000]:
                yield from _values(one, key, depth + 1)
    elif isinstance(data, dict):
        command, arguments = data.get("command"), data.get("args")
        if isinstance(command, str) and isinstance(arguments, list):
            import shlex

            yield "command", f"{command} {' '.join(shlex.quote(str(one)) for one in arguments[:50])}"
        for name, value in list(data.items())[:5000]:
            yield from _values(value, f"scripts.{name}" if key == "scripts" else str(name), depth + 1)


def _yaml_commands(text: str) -> Iterator[tuple[int, str]]:
    lines = text.split("\n")
    count = 0
    for found in _YAML_COMMAND.finditer(text):
        if found[2].lower() not in _COMMAND_KEYS:
            continue
        count += 1
        if count > MAX_VALUES:
            return
        number = text.count("\n", 0, found.start()) + 1
        if found[3][0] not in "|>":
            yield number, found[3].strip().strip("\"'")
            continue
        block = []
        for line in lines[number : number + 400]:
            if line.strip() and len(line) - len(line.lstrip()) <= len(found[1]):
                break
            block.append(line.strip())
        yield number, "\n".join(block)


def _by_itself(path: str, name: str, text: str) -> Iterator[Hit]:
    """What runs when a tool is started in the folder, or something is installed from it."""

    def hit(severity: str, line: int, what: str, shown: str) -> Hit:
        return Hit("skill.runs-by-itself", severity, path, line, what, (visible(shown),), shown[:200])

    if name.endswith(".pth"):
        for number, line in enumerate(text.split("\n"), 1):
            if line.startswith(("import ", "import\t")):
                yield hit(ERROR, number, "Python runs this line whenever it starts", line)
    if name in _STARTUP:
        yield hit(WARNING, 1, "Python imports it whenever it starts beside it", name)
    if name == "package.json":
        yield from _lifecycle(path, text)
    if "/.git/" in f"/{path}" and name == "config":
        for found in _GIT_RUNS.finditer(text):
            yield hit(
                ERROR, text.count("\n", 0, found.start()) + 1, "git runs this in the folder", found[0].strip()
            )
    if "/.git/hooks/" in f"/{path}" and not name.endswith(".sample"):
        yield hit(ERROR, 1, "git runs this hook in the folder", name)
    if "/.vscode/" in f"/{path}" and re.search(r'"runOn"\s*:\s*"folderOpen"', text):
        yield hit(WARNING, 1, "an editor runs a task of it when it opens the folder", "runOn: folderOpen")
    if name.endswith(".svg"):
        found = _SVG.search(text)
        if found:
            yield hit(WARNING, text.count("\n", 0, found.start()) + 1, "a drawing with code in it", found[0])


def _lifecycle(path: str, text: str) -> Iterator[Hit]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return
    written = data.get("scripts") if isinstance(data, dict) else None
    for key, value in written.items() if isinstance(written, dict) else ():
        if key in _LIFECYCLE and isinstance(value, str):
            worst = [hit.severity for hit in judged.unseen(path, 1, value)]
            severity = min(worst, key=ORDER.index, default=INFO)
            line = text.count("\n", 0, max(0, text.find(f'"{key}"'))) + 1
            shown = f"{key}: {value}"
            yield Hit(
                "skill.runs-by-itself",
                severity,
                path,
                line,
                "npm runs this when it installs",
                (visible(shown),),
                shown[:200],
            )
