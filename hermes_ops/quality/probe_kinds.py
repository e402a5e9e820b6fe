"""What each kind of probe does: a function of its options that returns None (holds) or why it does not.

None goes on beyond the probe's timeout: what may hang (a command, a regular expression) runs in a process of
its own, whose whole group is ended; what looks at many files looks at the clock between two of them.
"""

from __future__ import annotations

import json
import math
import os
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from glob import has_magic
from pathlib import Path
from typing import Any

from .._common.files import open_regular
from ..core.bounded import last_line, run
from ..core.moment import FUTURE_SLACK, span
from .probe_set import Probe

MOST_BYTES = 50_000_000  # of one file that is looked into
MOST_FILES = 100_000  # that a pattern may match
_COUNT = """
import re, sys
pattern, limit = sys.argv[1], int(sys.argv[2])
text = sys.stdin.buffer.read().decode("utf-8", "replace")
print(sum(1 for found, _ in zip(re.finditer(pattern, text, re.MULTILINE), range(limit))))
"""


class _TooSlow(Exception):
    """The time of a probe is over."""


def check(probe: Probe, home: Path, now: float) -> str | None:
    """Run one probe; why it does not hold, or None. Never raises for what it finds."""
    try:
        return _CHECKS[probe.kind](probe.options, probe.timeout, home, now)
    except _TooSlow:
        return f"looking at the files took over {probe.timeout:g} s; name fewer of them"
    except OSError as error:
        return f"{error.filename or ''}: {error.strerror or error}".lstrip(": ")


def _file_fresh(options: Mapping[str, Any], timeout: float, home: Path, now: float) -> str | None:
    path = options["path"]
    found = path.stat()
    if stat.S_ISDIR(found.st_mode):
        inside = [one.stat() for one in path.iterdir() if one.is_file() and not one.name.startswith(".")]
        if not inside:
            return f"{path} is an empty directory"
        found = max(inside, key=lambda one: one.st_mtime)
    elif not stat.S_ISREG(found.st_mode):
        return f"{path} is no file"
    age = now - found.st_mtime
    if age < -FUTURE_SLACK:
        return f"{path} is dated {span(-age)} in the future; its age cannot be known"
    if age > options["max_age_hours"] * 3600:
        return f"{path} is {span(age)} old; at most {options['max_age_hours']:g} h are wanted"
    if found.st_size < options["min_bytes"]:
        return f"{path} has {found.st_size} bytes; at least {options['min_bytes']:g} are wanted"
    return None


def _files_not_empty(options: Mapping[str, Any], timeout: float, home: Path, now: float) -> str | None:
    files = _files(options["glob"], time.monotonic() + timeout)
    if len(files) < options["min_files"]:
        return f"{options['glob']} matches {len(files)} files; at least {options['min_files']:g} are wanted"
    empty = [path.name for path in files if path.stat().st_size == 0]
    if len(empty) > options["max_empty"]:
        return f"{len(empty)} of {len(files)} files are empty: {', '.join(sorted(empty)[:5])}"
    return None


def _json_keys(options: Mapping[str, Any], timeout: float, home: Path, now: float) -> str | None:
    path = options["path"]
    try:
        data = json.loads(_bounded(path).decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        return f"{path} is no JSON: {error}"
    for dotted in options["keys"]:
        value = data
        for part in dotted.split("."):
            if not isinstance(value, dict) or part not in value:
                return f"{path} has no {dotted}"
            value = value[part]
        count = len(value) if isinstance(value, (list, dict, str)) else None
        if options["min_items"] and (count is None or count < options["min_items"]):
            has = "is no list" if count is None else f"has {count} items"
            return f"{dotted} of {path} {has}; at least {options['min_items']:g} are wanted"
        if isinstance(value, float) and not math.isfinite(value):
            return f"{dotted} of {path} is no finite number"
    return None


def _text_match(options: Mapping[str, Any], timeout: float, home: Path, now: float) -> str | None:
    path, most = options["path"], options["max_count"]
    limit = int(max(options["min_count"], most or 0)) + 1
    argv = [sys.executable, "-I", "-S", "-c", _COUNT, options["pattern"], str(limit)]
    code, said = run(argv, timeout, None, _bounded(path))
    output = said.decode("utf-8", "replace")
    if code is None:
        return f"matching {path} took over {timeout:g} s; simplify the pattern"
    if code or not output.strip().isdigit():
        return f"the pattern cannot be matched against {path}: {last_line(output)}"
    count = int(output)
    if count < options["min_count"]:
        return f"the pattern matches {count} times in {path}; at least {options['min_count']:g} are wanted"
    if most is not None and count > most:
        return f"the pattern matches more than {most:g} times in {path}"
    return None


def _command(options: Mapping[str, Any], timeout: float, home: Path, now: float) -> str | None:
    cwd = options["cwd"] or home
    code, said = run(list(options["argv"]), timeout, cwd, b"")
    output = said.decode("utf-8", "replace")
    name = Path(options["argv"][0]).name
    if code is None:
        return f"{name} took over {timeout:g} s and was ended"
    if code != options["exit_code"]:
        return f"{name} ended with code {code}, not {options['exit_code']:g}: {last_line(output)}"
    if options["expect"] == "silent" and output.strip():
        return f"{name} should say nothing, and said: {last_line(output)}"
    if options["expect"] == "output" and not output.strip():
        return f"{name} should say something, and said nothing"
    return None


def _no_secrets(options: Mapping[str, Any], timeout: float, home: Path, now: float) -> str | None:
    from .._common.redact import Redactor

    deadline = time.monotonic() + timeout
    files = sorted(_files(options["glob"], deadline), key=lambda path: path.stat().st_mtime, reverse=True)
    if len(files) < options["min_files"]:
        return f"{options['glob']} matches {len(files)} files; at least {options['min_files']:g} are wanted"
    redactor = Redactor()
    for path in files[: int(options["newest"])]:
        _in_time(deadline)
        found = redactor.find(_bounded(path).decode("utf-8", "replace"))
        if found:
            kinds = ", ".join(sorted({one.kind for one in found})[:4])
            return f"{path} holds what looks like a secret ({kinds})"
    return None


_CHECKS = {
    "file_fresh": _file_fresh,
    "files_not_empty": _files_not_empty,
    "json_keys": _json_keys,
    "text_match": _text_match,
    "command": _command,
    "no_secrets": _no_secrets,
}


def _files(pattern: str, deadline: float) -> list[Path]:
    """The regular files of a pattern, looked for until `deadline` (monotonic). OSError for over MOST_FILES.

    `**` stands for any folders below; links are not followed for it, since they may lead round in a circle.
    Temporary files and folders, whose names begin with a dot, are matched by a dot alone.
    """
    found: dict[str, None] = {}
    root = Path(pattern).anchor
    waiting = [(root, _parts(pattern[len(root) :]))]
    while waiting:
        folder, (part, *below) = waiting.pop()
        if part == "**":
            waiting += [(one.path, [part, *below]) for one in _entries(folder, "*", deadline) if _is_own(one)]
            waiting.append((folder, below))
            continue
        here = [os.path.join(folder, part)]
        if has_magic(part):
            here = [one.path for one in _entries(folder, part, deadline)]
        if below:
            waiting += [(path, below) for path in here if os.path.isdir(path)]
        else:
            found |= dict.fromkeys(path for path in here if os.path.isfile(path))
        if len(found) > MOST_FILES:
            raise OSError(0, f"more than {MOST_FILES:,} files match", pattern)
    return list(map(Path, found))


def _parts(pattern: str) -> list[str]:
    """The parts of a pattern; `**` behind `**` adds nothing, at the end it stands for all that is below."""
    parts = [part for part in pattern.split("/") if part]
    parts = [part for i, part in enumerate(parts) if part != "**" or parts[i - 1 : i] != ["**"]]
    return [*parts, "*"] if parts[-1:] in ([], ["**"]) else parts


def _is_own(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _entries(folder: str, part: str, deadline: float) -> Iterator[os.DirEntry[str]]:
    """What of a folder a part of a pattern matches; nothing of one that cannot be read."""
    try:
        entries = os.scandir(folder or ".")
    except OSError:
        return
    with entries:
        for entry in entries:
            _in_time(deadline)
            hidden = entry.name.startswith(".") and not part.startswith(".")
            if not hidden and fnmatchcase(entry.name, part):
                yield entry


def _in_time(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise _TooSlow


def _bounded(path: Path) -> bytes:
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(0, "no regular file", str(path))
    with open_regular(path) as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise OSError(0, f"larger than {MOST_BYTES:,} bytes", str(path))
    return content


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")
