"""Cost per successful run, per role: what a result costs, with how sure that is.

A success is a run that completed and said something, unless it is known that it did not arrive; the host
tells of the newest delivery alone, so successes whose arrival nobody saw are counted (`unseen`). Runs that
were silent on purpose are counted apart: they cost, they are neither success nor failure. Failed runs,
empty answers and answers that did not arrive are failures. The interval is a bootstrap over whole runs: the
calls of a run depend on each other. A role with under 20 runs or 5 successes is not told from chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

from .._common.terminal import printable
from ..core import statistics, toml_file
from ..errors import OpsError
from .run_costs import RunCost

MIN_RUNS = 20
MIN_SUCCESSES = 5
ROLES_FORMAT = 1

SUCCESS = "success"
SILENT = "silent"
FAILED = "failed"
EMPTY = "empty"
UNDELIVERED = "undelivered"
UNJUDGED = "unjudged"  # what became of the run is not known: it is in no ratio
VERDICTS = (SUCCESS, SILENT, FAILED, EMPTY, UNDELIVERED, UNJUDGED)

OK = "ok"
NO_SUCCESS = "no success yet"
CANNOT_TELL = "cannot tell"
GONE = "a job that is gone"


@dataclass(frozen=True)
class Role:
    """A role: its name and the patterns (of job names or ids, `*` and `?`) that belong to it."""

    name: str
    patterns: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What the runs of one role came to.

    counts       runs by verdict
    unseen       successes of which nobody saw whether they arrived
    usd          the known cost of all of them, silent and failed ones too; lower_bound: there is more
    state        "ok", "no success yet", "cannot tell": only for "ok" are there figures per success
    per_success  the cost of all runs but the unjudged divided by successes, with its interval
    rate         Wilson interval of successes among runs that are judged and were not silent
    differs      whether the share of successes differs from that of all other roles, with Holm's correction;
                 None: not compared
    """

    role: str
    jobs: tuple[str, ...]
    counts: Mapping[str, int]
    usd: float
    tokens: int
    lower_bound: bool
    state: str
    unseen: int = 0
    per_success: float | None = None
    interval: tuple[float, float] | None = None
    rate: tuple[float, float] | None = None
    p_value: float | None = None
    differs: bool | None = None

    @property
    def successes(self) -> int:
        return self.counts[SUCCESS]

    @property
    def judged(self) -> int:
        """Runs that were to say something and of which it is known what became of it."""
        return sum(self.counts[verdict] for verdict in (SUCCESS, FAILED, EMPTY, UNDELIVERED))


@dataclass
class _Sample:
    jobs: set[str] = field(default_factory=set)
    runs: list[tuple[RunCost, str]] = field(default_factory=list)


def verdict(cost: RunCost) -> str:
    """What became of one run."""
    run = cost.run
    if run is None or run.outcome in ("running", "unknown"):
        return UNJUDGED
    if run.outcome in ("failed", "empty"):
        return run.outcome
    if run.status not in ("completed", ""):
        return FAILED if run.status == "failed" else UNJUDGED
    if run.outcome == "silent":
        return SILENT
    return UNDELIVERED if run.delivery == "failed" else SUCCESS


def role_of(job_id: str, job_name: str, roles: Sequence[Role]) -> str:
    """The first role with a pattern that fits the name (without regard to case) or the id; else the job."""
    name = job_name.casefold()
    for role in roles:
        if any(fnmatchcase(name, pattern.casefold()) or pattern == job_id for pattern in role.patterns):
            return role.name
    return f"{job_name or GONE} ({job_id})"


def outcomes(costs: Iterable[RunCost], roles: Sequence[Role], names: Mapping[str, str]) -> list[Outcome]:
    """One outcome per role, the most expensive first. `names` are job id -> name for runs that have none."""
    samples: dict[str, _Sample] = {}
    for cost in costs:
        name = names.get(cost.job_id) or (cost.run.job_name if cost.run else "")
        sample = samples.setdefault(role_of(cost.job_id, name, roles), _Sample())
        sample.jobs.add(cost.job_id)
        sample.runs.append((cost, verdict(cost)))
    found = [_outcome(role, sample) for role, sample in samples.items()]
    return sorted(_compared(found), key=lambda one: (-one.usd, one.role))


def _outcome(role: str, sample: _Sample) -> Outcome:
    counts = {kind: sum(1 for _, judged in sample.runs if judged == kind) for kind in VERDICTS}
    usd = math.fsum(cost.usd for cost, _ in sample.runs)
    lower = any(cost.lower_bound for cost, _ in sample.runs)
    tokens = sum(cost.tokens for cost, _ in sample.runs)
    unseen = sum(
        1 for cost, judged in sample.runs if judged == SUCCESS and cost.run and cost.run.delivery == "unknown"
    )
    known = Outcome(role, tuple(sorted(sample.jobs)), counts, usd, tokens, lower, OK, unseen)
    known = replace(known, rate=statistics.wilson(known.successes, known.judged))
    if known.successes == 0:
        return replace(known, state=NO_SUCCESS)
    if known.judged < MIN_RUNS or known.successes < MIN_SUCCESSES:
        return replace(known, state=CANNOT_TELL)
    pairs = [(cost.usd, judged == SUCCESS) for cost, judged in sample.runs if judged != UNJUDGED]
    return replace(known, per_success=_ratio(pairs), interval=statistics.bootstrap(pairs, _ratio))


def _ratio(pairs: Sequence[tuple[float, bool]]) -> float:
    """Cost of all runs over the number of successes; ZeroDivisionError without one."""
    return sum(usd for usd, _ in pairs) / sum(success for _, success in pairs)


def _compared(found: Sequence[Outcome]) -> list[Outcome]:
    """Test each role with enough runs against all others of those together, corrected for how many tests."""
    tested = [one for one in found if one.state == OK]
    if len(tested) < 2:
        return list(found)
    successes, judged = sum(one.successes for one in tested), sum(one.judged for one in tested)
    p_values = {
        one.role: p
        for one in tested
        if (
            p := statistics.two_proportions(
                one.successes, one.judged, successes - one.successes, judged - one.judged
            )
        )
        is not None
    }
    holds = dict(zip(p_values, statistics.holm(list(p_values.values())), strict=True))
    return [
        replace(one, p_value=p_values[one.role], differs=holds[one.role]) if one.role in p_values else one
        for one in found
    ]


def read_roles(home: Path) -> list[Role]:
    """The roles of `<home>/ops/roles.toml`, in the order they are written; [] without the file.

    Raises OpsError naming the key that is wrong, Unreadable when the file cannot be read.
    """
    path = home / "ops" / "roles.toml"
    data = toml_file.read(path) or {}
    toml_file.known(data, ("format", "roles"), str(path))
    if data.get("format", ROLES_FORMAT) != ROLES_FORMAT:
        raise OpsError(f"{path}: format: expected {ROLES_FORMAT}, found {data['format']!r}")
    roles = data.get("roles", {})
    if not isinstance(roles, dict):
        raise OpsError(f'{path}: roles: expected a table of lists, like media = ["*digest*"]')
    for name, patterns in roles.items():
        texts = isinstance(patterns, list) and all(isinstance(one, str) and one.strip() for one in patterns)
        if not texts or not patterns:
            raise OpsError(
                f'{path}: roles.{printable(name)[:60]}: expected a list of patterns, like ["*digest*"]'
            )
    return [Role(name, tuple(patterns)) for name, patterns in roles.items()]
