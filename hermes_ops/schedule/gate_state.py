"""What a gate remembers, `<home>/ops/gates/NAME.json`: the last text it let through, its last runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .._common.command_line import UsageError
from ..core.state import StateFile
from ..core.typed import typed
from ..errors import OpsError

FORMAT = 1
REMEMBERED = 10  # runs; when the text was different in all of them, the gate is of no use
RESERVED = ("list", "reset", "write")

BASELINE, SAME, CHANGED, FAILED = "baseline", "same", "changed", "failed"


@dataclass(frozen=True)
class Gate:
    """One gate. ``text`` is the last text as it was printed, ``compared`` is what of it is compared.

    ``outcomes`` are those of the last REMEMBERED runs, oldest first: baseline, same, changed, failed.
    ``failure`` is what the last failure said, told at ``failure_told_at``; None since it worked again.
    """

    name: str
    text: str | None = None
    compared: str | None = None
    changed_at: float | None = None
    ran_at: float | None = None
    outcomes: tuple[str, ...] = ()
    failure: str | None = None
    failure_told_at: float | None = None

    @property
    def always_changing(self) -> bool:
        """Whether the text was another one in every remembered run that gave one."""
        found = [outcome for outcome in self.outcomes if outcome != FAILED]
        return len(found) >= REMEMBERED and set(found) == {CHANGED}

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "ran_at": self.ran_at,
            "changed_at": self.changed_at,
            "outcomes": list(self.outcomes),
            "always_changing": self.always_changing,
            "failure": self.failure,
        }


def check_name(name: str) -> str:
    """A name that can be a file's; UsageError for another."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", name) or name in RESERVED:
        raise UsageError(
            f"{name[:70]!r} cannot be the name of a gate: at most 64 letters, digits, dots, dashes and"
            f" underscores, and none of {', '.join(RESERVED)}"
        )
    return name


def state_file(home: Path, name: str) -> StateFile:
    """The file of a gate, for `changing`; its data is what `read` takes and `written` gives."""
    return StateFile(home / "ops" / "gates" / f"{name}.json", FORMAT, dict, lambda data: read(name, data))


def read(name: str, data: dict[str, Any]) -> Gate:
    """A gate from the data of its file; {} is one that never ran."""
    if not data:
        return Gate(name)
    gate: Gate = typed(Gate, {**data, "name": name})
    return replace(gate, outcomes=gate.outcomes[-REMEMBERED:])


def written(gate: Gate) -> dict[str, Any]:
    """The data of a gate's file."""
    return {
        "text": gate.text,
        "compared": gate.compared,
        "changed_at": gate.changed_at,
        "ran_at": gate.ran_at,
        "outcomes": list(gate.outcomes),
        "failure": gate.failure,
        "failure_told_at": gate.failure_told_at,
    }


def all_gates(home: Path) -> Iterator[Gate | tuple[str, str]]:
    """Every gate by name; one that cannot be read is (name, why)."""
    for path in sorted((home / "ops" / "gates").glob("*.json")):
        try:
            yield read(path.stem, state_file(home, path.stem).read())
        except OpsError as error:
            yield path.stem, str(error)


def reset(home: Path, name: str) -> bool:
    """Forget a gate, so that its next run is the first; False when there was none."""
    file = state_file(home, check_name(name))
    try:
        file.path.unlink()
    except FileNotFoundError:
        return False
    return True
