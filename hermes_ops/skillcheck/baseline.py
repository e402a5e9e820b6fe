"""`<home>/ops/skills.toml`: findings that somebody has looked at and accepts, each with a reason and an end.

[[accept]]
finding = "skill.remote-code:deploy/SKILL.md/1a2b3c4d5e6f"   # the id that the scan prints
reason = "the installer of our own tool"
until = 2027-03-31

[[accept]]                                               # or: a rule in one file of a skill, as it is now
rule = "skill.compiled"
skill = "default/media/ffmpeg"
file = "bin/ffmpeg"                                      # optional; without it any file with that hash
sha256 = "9f86d081884c"                                  # at least the first 12 digits
reason = "built by us, see the release"
until = 2027-03-31
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path
from typing import Any

from ..core import toml_file
from ..errors import OpsError
from .rules import RULES, Located

FILE_NAME = "skills.toml"
KEYS = ("finding", "rule", "skill", "file", "sha256", "reason", "until")


@dataclass(frozen=True)
class Acceptance:
    """One entry: a finding by id, or a rule in a skill with the hash of the file it holds for."""

    where: str
    reason: str
    until: float
    finding: str = ""
    rule: str = ""
    skill: str = ""
    file: str = ""
    sha256: str = ""

    def covers(self, one: Located) -> bool:
        """Whether it is about a finding, its time apart."""
        if self.finding:
            return one.finding.id == self.finding
        return (
            one.finding.rule == self.rule
            and one.skill == self.skill
            and (not self.file or one.path == self.file)
            and bool(one.sha256)
            and one.sha256.startswith(self.sha256)
        )


@dataclass
class Weighed:
    """Findings that count, findings that are accepted with the reason, entries whose time is over."""

    open: list[Located] = field(default_factory=list)
    accepted: list[tuple[Located, Acceptance]] = field(default_factory=list)
    expired: list[Acceptance] = field(default_factory=list)


def path_of(home: Path) -> Path:
    """Where the file of a home lies."""
    return home / "ops" / FILE_NAME


def load(path: Path, zone: tzinfo | None = None) -> list[Acceptance]:
    """The entries of the file; [] without it. Unreadable, or OpsError naming the entry that is wrong."""
    content = toml_file.read(path)
    if content is None:
        return []
    toml_file.known(content, ("accept",), str(path))
    return [_entry(table, where, zone) for table, where in toml_file.tables(content, "accept", path)]


def weigh(found: Iterable[Located], entries: Iterable[Acceptance], now: float) -> Weighed:
    """Part findings by what is accepted; an entry whose time is over accepts nothing and is named."""
    entries, result = list(entries), Weighed()
    for one in found:
        covering = [entry for entry in entries if entry.covers(one)]
        holding = next((entry for entry in covering if now < entry.until), None)
        if holding is not None:
            result.accepted.append((one, holding))
            continue
        result.open.append(one)
        result.expired += [entry for entry in covering if entry not in result.expired]
    return result


def _entry(table: dict[str, Any], where: str, zone: tzinfo | None) -> Acceptance:
    toml_file.known(table, KEYS, where)
    texts = {key: toml_file.text(table, key, where) or "" for key in KEYS if key != "until"}
    reason = toml_file.text(table, "reason", where, required=True) or ""
    until = toml_file.until(table, "until", where, zone)
    if until is None:
        raise OpsError(f"{where}: until: expected a date; what is accepted is looked at again then")
    if texts["finding"]:
        extra = [key for key in ("rule", "skill", "file", "sha256") if texts[key]]
        if extra:
            raise OpsError(f"{where}: {extra[0]}: an entry names a finding, or a rule in a skill, not both")
        return Acceptance(where, reason, until, texts["finding"])
    for key in ("rule", "skill", "sha256"):
        if not texts[key]:
            raise OpsError(f"{where}: {key}: expected; or a finding by its id")
    if texts["rule"] not in RULES:
        raise OpsError(f"{where}: rule: there is no {texts['rule'][:60]!r}; known: {', '.join(RULES)}")
    sha256 = texts["sha256"].lower()
    if not re.fullmatch(r"[0-9a-f]{12,64}", sha256):
        raise OpsError(
            f"{where}: sha256: expected at least the first 12 hexadecimal digits of the file's hash"
        )
    return Acceptance(where, reason, until, "", texts["rule"], texts["skill"], texts["file"], sha256)
