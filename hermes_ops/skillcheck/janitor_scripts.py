"""The scripts of a skill: whether Python compiles them and bash parses them. None of them is run.

Python files are compiled in a child with limits, because a file can be nested so deeply that compiling it
ends the process; what ended it "cannot be checked", and a new child goes on with the next.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .._common.files import read_regular
from ..core import bounded
from .janitor_library import SKILL, SKIPPED

MOST_SCRIPTS = 2_000  # of one skill
MOST_BYTES = 2_000_000
COMPILE_SECONDS = 20.0
PARSE_SECONDS = 5.0
_MOST_DEPTH = 12
_KINDS = {".py": "python", ".sh": "bash", ".bash": "bash"}
_SHEBANG = re.compile(rb"#![ \t]*(\S+)(?:[ \t]+(?:-S[ \t]+)?(\S+))?")

_COMPILE = """
import json, sys, warnings
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, ValueError, OSError):
    pass
warnings.simplefilter("ignore")
for number, path in enumerate(json.load(sys.stdin)):
    print(json.dumps(["begins", number]), flush=True)
    try:
        with open(path, "rb") as file:
            compile(file.read(), path, "exec", dont_inherit=True)
        said = ["compiles"]
    except SyntaxError as error:
        said = ["broken", error.lineno or 0, str(error.msg)]
    except ValueError as error:
        said = ["broken", 0, str(error)]
    except (RecursionError, MemoryError, OverflowError):
        said = ["unchecked", "nested too deeply to compile"]
    except OSError as error:
        said = ["unchecked", error.strerror or "cannot be read"]
    print(json.dumps(["ends", number, *said]), flush=True)
"""


@dataclass(frozen=True)
class Checked:
    """What became of one script.

    outcome  "broken" (does not compile), "unchecked" (cannot be told)
    line     where, from 1; 0 when that is not known
    """

    path: Path
    outcome: str
    text: str
    line: int = 0


def check(folders: Sequence[Path]) -> tuple[int, list[Checked]]:
    """How many scripts these skills have, and those that do not compile or cannot be checked."""
    python: list[Path] = []
    bash: list[Path] = []
    found: list[Checked] = []
    count = 0
    for folder in folders:
        for number, path in enumerate(_files(folder)):
            if number >= MOST_SCRIPTS:
                found.append(Checked(folder, "unchecked", f"more than {MOST_SCRIPTS:,} scripts: the rest"))
                break
            kind = _kind(path, found)
            count += kind != ""
            if kind:
                (python if kind == "python" else bash).append(path)
    found += compile_python(python)
    found += parse_bash(bash)
    return count, sorted(found, key=lambda one: str(one.path))


def compile_python(files: Sequence[Path]) -> Iterator[Checked]:
    """Those that do not compile by this Python, or cannot be checked."""
    waiting = list(files)
    while waiting:
        argv = [sys.executable, "-I", "-S", "-c", _COMPILE]
        names = json.dumps([os.fspath(path) for path in waiting]).encode()
        code, said = bounded.run(argv, COMPILE_SECONDS, None, names, 4_000_000)
        begun, answers = _answers(said)
        for number, answer in sorted(answers.items()):
            if answer[0] == "broken":
                yield Checked(waiting[number], "broken", f"Python {_version()}: {answer[2]}", answer[1])
            elif answer[0] == "unchecked":
                yield Checked(waiting[number], "unchecked", answer[1])
        done = len(answers)
        if done == len(waiting):
            return
        if begun < done:
            yield from (Checked(path, "unchecked", "the compiler did not start") for path in waiting[done:])
            return
        why = "takes too long to compile" if code is None else "compiling it ends the process"
        yield Checked(waiting[done], "unchecked", why)
        waiting = waiting[done + 1 :]


def parse_bash(files: Sequence[Path]) -> Iterator[Checked]:
    """Those that `bash -n` refuses, or that cannot be checked. Each is given on standard input."""
    program = shutil.which("bash")
    for path in files:
        if program is None:
            yield Checked(path, "unchecked", "there is no bash here")
            continue
        try:
            content = read_regular(path, MOST_BYTES)
        except OSError as error:
            yield Checked(path, "unchecked", error.strerror or type(error).__name__)
            continue
        argv = ["/usr/bin/env", "-i", "LC_ALL=C", program, "--noprofile", "--norc", "-n"]
        code, said = bounded.run(argv, PARSE_SECONDS, None, content, 20_000)
        if code is None:
            yield Checked(path, "unchecked", "takes too long to parse")
        elif code != 0:
            text = said.decode("utf-8", "replace")
            place = re.search(r"line (\d+): ([^\n]*)", text)
            what = place[2] if place else bounded.last_line(text)
            yield Checked(path, "broken", f"bash: {what[:200]}", int(place[1]) if place else 0)


def _answers(said: bytes) -> tuple[int, dict[int, list]]:
    """How many files were begun, and what was said of those that ended."""
    begun, answers = 0, {}
    for line in said.splitlines():
        try:
            word, number, *rest = json.loads(line)
        except (ValueError, TypeError):
            continue
        if word == "begins":
            begun = number + 1
        else:
            answers[number] = rest
    return begun, answers


def _files(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Every file of a skill; a skill below it has its own, links to folders are not followed."""
    try:
        with os.scandir(folder) as opened:
            entries = sorted(opened, key=lambda entry: entry.name)
    except OSError:
        return
    if depth and any(entry.name == SKILL for entry in entries):
        return
    for entry in entries:
        try:
            is_folder = entry.is_dir(follow_symlinks=False)
        except OSError:
            continue
        if is_folder and entry.name not in SKIPPED and depth < _MOST_DEPTH:
            yield from _files(Path(entry.path), depth + 1)
        elif not is_folder:
            yield Path(entry.path)


def _kind(path: Path, found: list[Checked]) -> str:
    """ "python", "bash", or "" for what is no script of either; by its first line, else by its name."""
    named = _KINDS.get(path.suffix, "")
    try:
        information = os.stat(path)
    except OSError:
        if named:
            found.append(Checked(path, "unchecked", "a link that leads nowhere, or no permission"))
        return ""
    if not stat.S_ISREG(information.st_mode):
        if named and not stat.S_ISDIR(information.st_mode):
            found.append(Checked(path, "unchecked", "no regular file"))
        return ""
    if path.suffix and not named:
        return ""
    if named and information.st_size > MOST_BYTES:
        found.append(Checked(path, "unchecked", f"larger than {MOST_BYTES:,} bytes"))
        return ""
    try:
        with open(path, "rb") as file:
            first = file.readline(200)
    except OSError as error:
        if named:
            found.append(Checked(path, "unchecked", error.strerror or type(error).__name__))
        return ""
    shebang = _SHEBANG.match(first.removeprefix(b"\xef\xbb\xbf"))
    if not shebang:
        return named
    words = [Path(os.fsdecode(word)).name for word in shebang.groups() if word]
    program = words[-1] if words[0] == "env" else words[0]
    if information.st_size > MOST_BYTES:
        return ""
    if re.fullmatch(r"python(?:3(?:\.\d+)?)?|pypy3?", program):
        return "python"
    if program in ("uv", "uvx"):
        return named
    return "bash" if program in ("bash", "sh", "dash") else ""


def _version() -> str:
    return f"{sys.version_info[0]}.{sys.version_info[1]}"
