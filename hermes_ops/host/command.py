"""Running the host's own command, `hermes`: found, started without a shell, bounded in time and output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Said:
    """What a `hermes` process left: exit code (None: it was ended at its time limit) and both streams."""

    code: int | None
    stdout: str
    stderr: str


def find_hermes() -> list[str]:
    """How to start it: beside this Python, on PATH, or `python -m hermes_cli.main`; OpsError when nowhere."""
    raise NotImplementedError


def run_hermes(home: Path, arguments: Sequence[str], timeout: float = 60.0, stdin: str | None = None) -> Said:
    """Run `hermes ARGUMENTS` for `home`, in a process group of its own that is ended at `timeout`.

    Its exit code is not proof of anything (`cron pause nosuchjob` is 0): read back what should have changed.
    Raises OpsError when it cannot be started.
    """
    raise NotImplementedError
