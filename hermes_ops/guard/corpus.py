"""A corpus of commands with the verdicts that are wanted, and how the guard's own verdicts compare.

One JSON object per line: {"cmd": "...", "want": "block"|"approve"|"allow"}; other fields are passed over. The
commands are judged, never run.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._common.files import open_regular
from ..errors import OpsError, Unreadable
from .verdict import Judgement

WANTS = ("block", "approve", "allow")
LONGEST_LINE = 4_000_000
# Loads what judging loads when it is first needed.
WARM = "python3 -c 'print(1)' | sh; perl -e 'print 1'; psql -c 'select 1'"

Judge = Callable[[str], Judgement]


@dataclass(frozen=True, slots=True)
class Row:
    """One command and the verdict that is wanted."""

    cmd: str
    want: str


@dataclass(frozen=True, slots=True)
class Judged:
    """What came out for one row: the verdict, the weightiest rule, the time in microseconds."""

    row: Row
    got: str
    rule: str
    us: int

    def as_dict(self) -> dict[str, Any]:
        return {"cmd": self.row.cmd, "want": self.row.want, "got": self.got, "rule": self.rule, "us": self.us}


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar on a share of the rows of one want: kept when it is at least `least`, or at most `most`."""

    want: str
    what: str
    share: float
    least: float | None = None
    most: float | None = None

    @property
    def is_kept(self) -> bool:
        return not (
            (self.least is not None and self.share < self.least)
            or (self.most is not None and self.share > self.most)
        )

    def as_dict(self) -> dict[str, Any]:
        limit = {"at_least": self.least} if self.least is not None else {"at_most": self.most}
        return {"want": self.want, "what": self.what, "share": self.share, **limit, "kept": self.is_kept}


@dataclass(frozen=True)
class Score:
    """Counts by want and verdict, the bars, and the times: 50th, 95th and 99th percentile and the longest."""

    counts: dict[str, dict[str, int]]
    bars: tuple[Bar, ...]
    us: dict[str, int]

    @property
    def is_kept(self) -> bool:
        return all(bar.is_kept for bar in self.bars)

    def as_dict(self) -> dict[str, Any]:
        rates = {
            want: {got: count / max(1, sum(row.values())) for got, count in row.items()}
            for want, row in self.counts.items()
        }
        bars = [bar.as_dict() for bar in self.bars]
        return {
            "rows": sum(sum(row.values()) for row in self.counts.values()),
            "counts": self.counts,
            "rates": rates,
            "us": self.us,
            "bars": bars,
            "kept": self.is_kept,
        }


def read(path: Path) -> Iterator[Row]:
    """The rows of a file; OpsError names the line of one that is none. Empty lines are passed over."""
    try:
        with open_regular(path) as file:
            number = 0
            while raw := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(raw) > LONGEST_LINE:
                    raise OpsError(f"{path}, line {number}: longer than {LONGEST_LINE} bytes")
                if raw.strip():
                    yield _row(raw, f"{path}, line {number}")
    except OSError as error:
        raise Unreadable(path, error.strerror or type(error).__name__) from None


def judge_all(rows: Iterable[Row], judge: Judge) -> Iterator[Judged]:
    """Judge each row; what is loaded at the first judgement is not counted."""
    judge(WARM)
    for row in rows:
        before = time.perf_counter_ns()
        judgement = judge(row.cmd)
        took = time.perf_counter_ns() - before
        yield Judged(row, str(judgement.verdict), judgement.rule, round(took / 1000))


def score(judged: Sequence[Judged], *, ordinary: bool = False) -> Score:
    """Count and hold against the bars. `ordinary`: the rows to allow are everyday work, with a lower bar."""
    counts: dict[str, dict[str, int]] = {}
    for one in judged:
        row = counts.setdefault(one.row.want, dict.fromkeys(WANTS, 0))
        row[one.got] += 1
    return Score(counts, tuple(_bars(counts, ordinary)), _times(sorted(one.us for one in judged)))


def _bars(counts: dict[str, dict[str, int]], ordinary: bool) -> Iterator[Bar]:
    def share(want: str, *got: str) -> float:
        return sum(counts[want][one] for one in got) / sum(counts[want].values())

    if "block" in counts:
        yield Bar("block", "allowed", share("block", "allow"), most=0.0)
        yield Bar("block", "blocked", share("block", "block"), least=0.95)
    if "approve" in counts:
        yield Bar("approve", "stopped", share("approve", "block", "approve"), least=0.95)
    if "allow" in counts:
        yield Bar("allow", "stopped", share("allow", "block", "approve"), most=0.01 if ordinary else 0.02)


def _times(us: list[int]) -> dict[str, int]:
    if not us:
        return {}
    found = {f"p{part}": us[min(len(us) - 1, len(us) * part // 100)] for part in (50, 95, 99)}
    return {**found, "max": us[-1]}


def _row(raw: bytes, where: str) -> Row:
    try:
        data = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise OpsError(f'{where}: not JSON; expected {{"cmd": "...", "want": "..."}}') from None
    if not isinstance(data, dict):
        raise OpsError(f'{where}: expected an object like {{"cmd": "...", "want": "..."}}')
    cmd, want = data.get("cmd"), data.get("want")
    if not isinstance(cmd, str):
        raise OpsError(f"{where}: cmd: expected text")
    if want not in WANTS:
        raise OpsError(f"{where}: want: expected one of {', '.join(WANTS)}")
    return Row(cmd, want)
