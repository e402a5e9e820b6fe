"""`<home>/ops/skills/recorded.json`: the files of installed skills as somebody trusted them.

The names alone stand in `<home>/ops/skills-recorded.json` too, so that a record which is emptied, cut or
removed is noticed. Whoever can rewrite both files can rewrite what is trusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..core.state import StateFile
from ..core.typed import typed
from .entries import FILE, LINK, Entry, Skill
from .rules import ERROR, WARNING, Hit

FORMAT = 1
MAX_NAMED = 20  # files of one skill that are named one by one


@dataclass(frozen=True)
class Record:
    """One skill: when it was recorded (seconds since the epoch), what each file held."""

    at: float
    files: Mapping[str, str]


def state(home: Path) -> StateFile:
    """The state file of a home."""
    return StateFile(home / "ops" / "skills" / "recorded.json", FORMAT, lambda: {"skills": {}}, _records)


def read(home: Path) -> dict[str, Record]:
    """What is recorded, by skill; {} before anything was. Raises Unreadable for a damaged file."""
    return _records(state(home).read())


def names_state(home: Path) -> StateFile:
    """The state file that keeps the names of what was recorded."""
    path = home / "ops" / "skills-recorded.json"
    return StateFile(path, FORMAT, lambda: {"names": []}, lambda data: typed(list[str], data["names"]))


def is_emptied(home: Path, known: Mapping[str, Record]) -> bool:
    """Whether there is a record that holds nothing."""
    return not known and state(home).path.exists()


def lost(home: Path, known: Mapping[str, Record]) -> set[str]:
    """Names that were recorded and that the record does not hold. Raises Unreadable for a damaged file."""
    return set(typed(list[str], names_state(home).read()["names"])) - set(known)


def record(home: Path, skills: list[Skill], forget: set[str], now: float) -> Path | None:
    """Record skills as they are now, and forget those of `forget`.

    Returns where a damaged file went, if there was one: what was recorded before is then lost, and said.
    """
    with state(home).changing() as opened:
        known = opened.data["skills"]
        for name in forget:
            known.pop(name, None)
        for skill in skills:
            known[skill.name] = {"at": now, "files": prints(skill)}
        names, damaged = sorted(known), opened.damaged
    with names_state(home).changing() as opened:
        opened.data["names"] = names
    return damaged


def prints(skill: Skill) -> dict[str, str]:
    """What identifies each file of a skill: the hash of a file, the target of a link."""
    return {entry.path: _print(entry) for entry in skill.entries}


def compare(skill: Skill, known: Record) -> Iterator[Hit]:
    """What differs from the record, file by file."""
    now = prints(skill)
    differing = [
        *(
            ("changed", path)
            for path in sorted(now)
            if path in known.files and now[path] != known.files[path]
        ),
        *(("added", path) for path in sorted(now) if path not in known.files),
        *(("removed", path) for path in sorted(known.files) if path not in now),
    ]
    for what, path in differing[:MAX_NAMED]:
        before, after = known.files.get(path, "nothing"), now.get(path, "nothing")
        evidence = (f"recorded {before[:24]}", f"now {after[:24]}")
        yield Hit(
            "skill.changed", ERROR, path, 0, f"{what} since it was recorded", evidence, f"{what} {after}"
        )
    if len(differing) > MAX_NAMED:
        text = f"{len(differing) - MAX_NAMED} more files changed since it was recorded"
        yield Hit("skill.changed", ERROR, "", 0, text, match=f"more {len(differing)}")


def not_recorded(known: Mapping[str, Record], *, was_recorded: bool = False) -> Hit:
    """The finding on a skill that has no record; nothing but a remark before anything was recorded."""
    if was_recorded:
        text = "its record is gone: whether it changed is not known"
        return Hit("skill.not-recorded", WARNING, "", 0, text, match="lost")
    severity = WARNING if known else "info"
    text = "it was not there when skills were recorded" if known else "nothing is recorded yet"
    return Hit("skill.not-recorded", severity, "", 0, text, match="new")


def _print(entry: Entry) -> str:
    if entry.kind == FILE:
        return entry.sha256
    if entry.kind == LINK:
        return f"link to {entry.note}"
    return f"{entry.kind} {entry.note}" if not entry.sha256 else entry.sha256


def _records(data: Mapping[str, object]) -> dict[str, Record]:
    return typed(dict[str, Record], data["skills"])
