"""A log of calls in JSON lines, as a proxy or a script of one's own may write: its tokens by job and day.

For a look beside the host's own numbers; nothing is paused by it. A line is an object with a time (`ts`,
`time` or `timestamp`: ISO, without offset in the home's zone; or seconds since the epoch) and counts
(`total_tokens`, or `prompt_tokens` and `completion_tokens`), with the job in `job_id`.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, tzinfo
from pathlib import Path
from typing import Any

from .._common.command_line import UsageError, say, say_json
from .._common.files import read_regular
from ..core.moment import FUTURE_SLACK, day, parse
from ..core.watch import Context
from ..errors import OpsError, Unreadable
from ..settings import Settings
from .budget_day import BAD_SHARE
from .run_costs import JOB_ID

MOST_BYTES = 200_000_000
NO_JOB = "(no job)"


@dataclass
class Counted:
    """The tokens of one day by job; `bad` lines could not be read, `future` ones lie ahead of the clock.

    ``refused`` are job ids that no job of the host can have: counted, and never put in a command.
    """

    day: str
    tokens: int = 0
    lines: int = 0
    bad: int = 0
    future: int = 0
    jobs: dict[str, int] = field(default_factory=dict)
    refused: dict[str, int] = field(default_factory=dict)

    @property
    def loud(self) -> bool:
        """Whether so much of it is bad that its sums are no ground to act on."""
        return self.bad > self.lines * BAD_SHARE


def count(lines: Iterable[bytes], label: str, zone: tzinfo, now: float) -> Counted:
    """Sum the lines of one day ("2026-11-29") in `zone`."""
    counted = Counted(label)
    for line in lines:
        if not line.strip():
            continue
        counted.lines += 1
        read = _line(line, zone)
        if read is None:
            counted.bad += 1
            continue
        at, tokens, job = read
        if at > now + FUTURE_SLACK:
            counted.future += 1
        elif day(at, zone) == label:
            counted.tokens += tokens
            kind = counted.jobs if job is None or JOB_ID.fullmatch(job) else counted.refused
            kind[job or NO_JOB] = kind.get(job or NO_JOB, 0) + tokens
    return counted


def report(arguments: argparse.Namespace, context: Context, settings: Settings) -> int:
    """`hermes ops budget --log FILE [--day DATE]`."""
    if not arguments.log or arguments.verb != "status":
        raise UsageError("--day goes with --log FILE, and neither with a verb")
    try:
        label = date.fromisoformat(arguments.day).isoformat() if arguments.day else ""
    except ValueError:
        raise UsageError(f"--day: {arguments.day!r} is no date like 2026-11-29") from None
    zone = context.zone
    counted = count(_lines(Path(arguments.log)), label or day(context.now, zone.tz), zone.tz, context.now)
    cap = settings["budget.cap_tokens"]
    over = cap is not None and counted.tokens >= cap
    if arguments.json:
        say_json({**vars(counted), "zone": zone.name, "cap_tokens": cap, "over": over, "loud": counted.loud})
        return 1 if over or counted.loud else 0
    if counted.loud:
        say(f"{counted.bad} of {counted.lines} lines hold no usable numbers: no ground to act on the sums.")
    of_cap = f" of {cap:,.0f}" if cap is not None else ""
    say(f"{counted.day} ({zone.name}): {counted.tokens:,}{of_cap} tokens in {arguments.log}")
    for job, tokens in sorted(counted.jobs.items(), key=lambda one: (-one[1], one[0])):
        say(f"  {job}: {tokens:,}")
    for job, tokens in sorted(counted.refused.items(), key=lambda one: (-one[1], one[0])):
        say(f"  {job[:60]!r} is no job id of the host: {tokens:,}")
    say(f"{counted.lines} lines, {counted.bad} bad, {counted.future} ahead of the clock")
    return 1 if over or counted.loud else 0


def _line(line: bytes, zone: tzinfo) -> tuple[float, int, str | None] | None:
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    at = _time(next((data[key] for key in ("ts", "time", "timestamp") if key in data), None), zone)
    tokens = _tokens(data)
    job = data.get("job_id")
    if at is None or tokens is None or not (job is None or isinstance(job, str)):
        return None
    return at, tokens, job or None


def _time(value: Any, zone: tzinfo) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            at = float(value)
        except OverflowError:
            return None
        return at if math.isfinite(at) and 0 <= at < 1e11 else None
    return parse(value, zone)


def _tokens(data: dict[str, Any]) -> int | None:
    if "total_tokens" in data:
        return _count(data["total_tokens"])
    parts = [_count(data[key]) for key in ("prompt_tokens", "completion_tokens") if key in data]
    return sum(part for part in parts if part is not None) if parts and None not in parts else None


def _count(value: Any) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 10**15 else None


def _lines(path: Path) -> list[bytes]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise OpsError(f"{path}: larger than {MOST_BYTES:,} bytes; give it in parts")
        return read_regular(path, MOST_BYTES).splitlines()
    except OSError as error:
        raise Unreadable(path, error.strerror or str(error)) from None
