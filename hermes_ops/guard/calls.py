"""From a tool call to the texts that it would run, and the files that it would write."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from . import line_editing, links, written
from .blast import is_remote
from .inputs import input_language
from .remembered import Inputs
from .surroundings import Process
from .written import Change

SHELL, PYTHON = "shell", "python"
_MOST_READ = 2_000_000  # bytes of a file on the disk; the judges have limits of their own, and say so
_MOST_TABLE = 200_000  # characters of a file of which only some lines run
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
    `kept` is what is remembered of a process's input when it is let through. `unread` says what of the call
    is not in `codes`, `keys` which key in it does what only a terminal could tell.
    """

    codes: tuple[Code, ...] = ()
    writes: tuple[Write, ...] = ()
    shown: str = ""
    process: str = ""
    content: str = ""
    excess: int = 0
    kept: str = ""
    unread: str = ""
    keys: str = ""

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
    data = str(args["data"]) + ("\n" if args["action"] == "submit" else "")
    before = INPUTS.before(session)
    texts = line_editing.views(before, data)
    what = f"input of {found.command or 'a process'}"
    return Call(
        tuple(Code(language, text, what) for text in texts),
        shown=str(args["data"]),
        process=session,
        kept=texts[0] if found.is_terminal else before + data,
        unread="what it was given before is too much to be kept" if INPUTS.is_lost(session) else "",
        keys=line_editing.untold(data),
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
    return Call((code,), shown=content, unread=_too_long(content))


def _write_file(args: dict[str, Any], place: _Place) -> Call | None:
    path, content = args.get("path"), args.get("content")
    if not isinstance(path, str) or not path:
        return None
    text = content if isinstance(content, str) else ""
    return _written([Change(path, "write", text)], place, text)


def _patch(args: dict[str, Any], place: _Place) -> Call | None:
    changes: list[Change] = []
    path, new, patch = args.get("path"), args.get("new_string"), args.get("patch")
    text = new if isinstance(new, str) else ""
    excess = 0
    if isinstance(path, str) and path:
        changes.append(Change(path, "write", text))
    if isinstance(patch, str) and patch:
        found, excess = written.patched(patch, _MOST_CHANGES)
        changes += found
        text = f"{text}\0{patch}" if text else patch
    return _written(changes, place, text, excess) if changes else None


def _skill_manage(args: dict[str, Any], place: _Place) -> Call | None:
    path = args.get("file_path")
    key = {"write_file": "file_content", "patch": "new_string"}.get(str(args.get("action")))
    content = args.get(key) if key else None
    if not isinstance(path, str) or not isinstance(content, str):
        return None
    language = written.skill_language(path, content)
    return Call((Code(language, content, f"the script {path}"),), shown=content) if language else None


def _written(changes: list[Change], place: _Place, content: str, excess: int = 0) -> Call:
    """The call that makes some changes. A file that is moved is judged by where it ends."""
    texts: dict[str, list[str]] = {}
    given: dict[str, list[Change]] = {}
    writes: list[Write] = []
    unread = ""
    for change in changes:
        path = _full(change.path, place.cwd)
        given.setdefault(path, []).append(change)
        writes.append(Write(change.path, change.action))
        if change.action != "write":
            continue
        if change.source and _is_folder(path, place):
            # What is moved to a folder lands in it.
            inside = os.path.basename(change.source)
            writes.append(Write(os.path.join(change.path, inside)))
            path = os.path.join(path, inside)
        for where, home in _homes(path, place):
            if not written.is_run(where, home):
                continue
            for text in _contents(change, given, place.cwd):
                long = _too_long(text, where, home)
                unread = unread or long
                for language, code in written.codes(where, text[:_MOST_TABLE] if long else text, home):
                    texts.setdefault(language, []).append(code)
    names = ", ".join(change.path for change in changes)
    return Call(
        tuple(
            Code(language, "\n".join(dict.fromkeys(found)), f"what {names} would run")
            for language, found in texts.items()
        ),
        tuple(writes),
        shown=names,
        content=content,
        excess=excess,
        unread=unread,
    )


def _homes(path: str, place: _Place) -> Iterable[tuple[str, str]]:
    """A file by its name and by what it really is, each with the host's home."""
    named = (path, place.hermes_home)
    return dict.fromkeys((named, (links.real(path), links.real(place.hermes_home))))


def _is_folder(path: str, place: _Place) -> bool:
    """Is it a folder, or one of those where files lie that run by themselves?"""
    if links.are_followed() and not is_remote(path):
        return os.path.isdir(path)
    return not written.is_run(path, place.hermes_home) and written.is_run(f"{path}/a", place.hermes_home)


def _contents(change: Change, given: dict[str, list[Change]], cwd: str | None) -> list[str]:
    """What a file gets: its new lines; of one that is moved, what it holds and what the patch gave it."""
    if not change.source:
        return [change.content()]
    source = _full(change.source, cwd)
    before = _content(source) if links.are_followed() else None
    texts = [each.content() for each in given.get(source, ()) if each.action == "write"]
    return [text for text in (*texts, before) if text]


def _full(path: str, cwd: str | None) -> str:
    """The path of a file as the host finds it, where what ".." means is told by the folders there are."""
    expanded = os.path.expanduser(path)
    joined = expanded if cwd is None else os.path.join(cwd, expanded)
    return links.real(joined) if ".." in joined else os.path.normpath(joined)


def _too_long(text: str, path: str = "", home: str = "") -> str:
    """What to say of a text of which not all is judged, "" when all is."""
    some = bool(path) and written.is_table(path, home)
    if len(text) < (_MOST_TABLE if some else _MOST_READ):
        return ""
    return f"{len(text)} characters"


def _content(path: str) -> str | None:
    from .._common.files import open_regular

    try:
        with open_regular(path) as file:
            return file.read(_MOST_READ).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


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
