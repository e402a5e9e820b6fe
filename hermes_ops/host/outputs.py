"""What a run of a job left in `cron/output/<job>/`: the prompt told apart from the answer.

An existing file proves that the job ran, never that it said something.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Output:
    """One output file, read.

    outcome   "said" (there is an answer to deliver), "silent", "failed", "empty" (the host counts an empty
              answer of an agent as an error), "unknown" (a shape that is not the host's)
    response  the answer alone, "" unless said; never the prompt
    error     the error text of a failed run
    prompt    what the agent was given, "" for scripts
    run_at    the time in the file's name, seconds since the epoch (the name is in the home's zone)
    """

    path: Path
    job_id: str
    run_at: float | None
    outcome: str
    response: str = ""
    error: str = ""
    prompt: str = ""
    size: int = 0


def list_outputs(home: Path, job_id: str, since: float = 0.0) -> list[Path]:
    """The finished output files of a job by time of their name, oldest first; the host's temporary ones are not."""
    raise NotImplementedError


def read_output(path: Path, zone_tz: object = None) -> Output:
    """Read one file, at most 1 MB of it; a zero-byte file is an agent's job whose script said nothing (silent).

    ``zone_tz`` is the tzinfo of the home, for `run_at`. Raises Unreadable.
    """
    raise NotImplementedError
