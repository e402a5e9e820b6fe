"""From a tool call to the texts that it would run, and the files that it would write."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import written
from .inputs import input_language
from .surroundings import Process

SHELL, PYTHON = "shell", "python"
_MOST_INPUT = 8_000  # characters of a process's input that are kept
_MOST_PROCESSES = 64
_MOST_CODE = 120_000  # characters of a file; the judges say of a text of this length that it is too long
_MOST_CHANGES = 200  # files of one patch


@dataclass(frozen=True, slots=True)
class Code:
    """A text that would run: "shell" or a language of code.judge, and what it is ("the script x.sh")."""

    language: str
    text: str
    what: str = ""


@dataclass(frozen=True, slots=True)
class Write:
    """A file that would be changed, by its path as given, and how: "write", "delete" or "move"."""

    path: str
    action: str = "write"


@dataclass(frozen=True, slots=True)
class Call:
    """What a tool call would do. `shown` is what a person is shown of it; `process` is whose input it is.

    `content` is what would be written; `excess` is how many files of a patch were too many to look at.
    """

    codes: tuple[Code, ...] = ()
    writes: tuple[Write, ...] = ()
    shown: str = ""
    process: str = ""
    content: str = ""
    excess: int = 0

    @property
    def exact(self) -> str:
        """All that makes this call another one than a similar one."""
        texts = (code.text for code in self.codes)
        return "\0".join((self.shown, self.content, *texts, *(write.action for write in self.writes)))


def read(
    tool: str,
    args: dict[str, Any],
    *,
    hermes_home: str = "",
    cwd: str | None = None,
    process: Callable[[str], Process | None] = lambda _: None,
) -> Call | None:
    """The texts and files of a call; None when it is nothing that the guard judges.

    `process` tells what a background process is. Arguments of the wrong type are the host's to refuse.
    """
    reader = _READERS.get(tool)
    return reader(args, _Place(hermes_home, cwd, process)) if reader is not None else None


@dataclass(frozen=True, slots=True)
class _Place:
    hermes_home: str
    cwd: str | None
    process: Callable[[str], Process | None] = field(repr=False)


def _terminal(args: dict[str, Any], _: _Place) -> Call | None:
    command = args.get("command")
    return Call((Code(SHELL, command),), shown=command) if isinstance(command, str) else None


def _python(args: dict[str, Any], _: _Place) -> Call | None:
    code = args.get("code")
    return Call((Code(PYTHON, code),), shown=code) if isinstance(code, str) else None


def _process(args: dict[str, Any], place: _Place) -> Call | None:
    if args.get("action") not in ("write", "submit") or args.get("data") is None:
        return None
    session = str(args.get("session_id") or "")
    found = place.process(session)
    if found is None:
        return None
    language = input_language(found.command) if found.command else SHELL
    if not language:
        return None
    data = str(args["data"])
    text = INPUTS.before(session) + data + ("\n" if args["action"] == "submit" else "")
    return Call(
        (Code(language, text, f"input of {found.command or 'a process'}"),), shown=data, process=session
    )


def _cronjob(args: dict[str, Any], place: _Place) -> Call | None:
    if args.get("action") not in ("create", "update"):
        return None
    script = args.get("script")
    if not isinstance(script, str) or not script.strip():
        return None
    path = os.path.join(place.hermes_home, "scripts", os.path.expanduser(script.strip()))
    content = _content(path)
    if content is None:
        # The host takes a path; a text that is none may be code all the same.
        return Call((Code(SHELL, script),), shown=script) if set(script) & set("\n ;|&") else None
    code = Code(written.script_language(path), content, f"the script {script.strip()}")
    return Call((code,), shown=content)


def _write_file(args: dict[str, Any], place: _Place) -> Call | None:
    path, content = args.get("path"), args.get("content")
    if not isinstance(path, str) or not path:
        return None
    return _written([(path, "write", content if isinstance(content, str) else "")], place)


def _patch(args: dict[str, Any], place: _Place) -> Call | None:
    changes: list[tuple[str, str, str]] = []
    path, new, patch = args.get("path"), args.get("new_string"), args.get("patch")
    if isinstance(path, str) and path:
        changes.append((path, "write", new if isinstance(new, str) else ""))
    if isinstance(patch, str) and patch:
        changes += written.patched(patch)
    return _written(changes, place) if changes else None


def _skill_manage(args: dict[str, Any], place: _Place) -> Call | None:
    path = args.get("file_path")
    key = {"write_file": "file_content", "patch": "new_string"}.get(str(args.get("action")))
    content = args.get(key) if key else None
    if not isinstance(path, str) or not isinstance(content, str):
        return None
    language = written.skill_language(path, content)
    return Call((Code(language, content, f"the script {path}"),), shown=content) if language else None


def _written(changes: list[tuple[str, str, str]], place: _Place) -> Call:
    texts: dict[str, list[str]] = {}
    for path, action, content in changes[:_MOST_CHANGES]:
        full = _full(path, place.cwd)
        if action == "write" and content:
            for language, text in written.codes(full, content[:_MOST_CODE], place.hermes_home):
                texts.setdefault(language, []).append(text)
    names = ", ".join(path for path, _, _ in changes[:_MOST_CHANGES])
    return Call(
        tuple(
            Code(language, "\n".join(found), f"what {names} would run") for language, found in texts.items()
        ),
        tuple(Write(path, action) for path, action, _ in changes[:_MOST_CHANGES]),
        shown=names,
        content="\0".join(content for _, _, content in changes),
        excess=max(0, len(changes) - _MOST_CHANGES),
    )


def _full(path: str, cwd: str | None) -> str:
    expanded = os.path.expanduser(path)
    return os.path.normpath(expanded if cwd is None else os.path.join(cwd, expanded))


def _content(path: str) -> str | None:
    from .._common.files import open_regular

    try:
        with open_regular(path) as file:
            return file.read(_MOST_CODE).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


class Inputs:
    """What was let through to the input of each background process, so that a text in pieces is judged whole.

    Bounded: of a process the end of its input is kept, and only the last processes are known.
    """

    def __init__(self) -> None:
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def before(self, process: str) -> str:
        """What the process has been given so far, from the beginning of a line."""
        with self._lock:
            return self._texts.get(process, "")

    def let_through(self, process: str, text: str) -> None:
        """Remember `text`, all that the process has been given."""
        if len(text) > _MOST_INPUT:
            text = text[-_MOST_INPUT:]
            text = text.partition("\n")[2] or text
        with self._lock:
            self._texts[process] = text
            self._texts.move_to_end(process)
            while len(self._texts) > _MOST_PROCESSES:
                self._texts.popitem(last=False)


INPUTS = Inputs()

_READERS: dict[str, Callable[[dict[str, Any], _Place], Call | None]] = {
    "terminal": _terminal,
    "execute_code": _python,
    "rlm_exec": _python,
    "process": _process,
    "cronjob": _cronjob,
    "write_file": _write_file,
    "patch": _patch,
    "skill_manage": _skill_manage,
}
