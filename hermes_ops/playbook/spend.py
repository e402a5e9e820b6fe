"""Where does the money go? Balance, top-ups, one session, auxiliary calls, jobs on a dear model."""

from __future__ import annotations

from itertools import pairwise

from ..core.finding import DAY
from ..core.ledger import Spent
from ..errors import OpsError, Unreadable
from ..host.jobs import read_jobs
from .tree import Case, Found, Question, no, unknown, yes

BIG_SHARE = 0.5
AUXILIARY_SHARE = 0.3
JOBS_SHARE = 0.5


def is_blind(case: Case) -> Found:
    """Without two snapshots nothing can be said of a day."""
    taken = case.context.ledger().snapshots()
    if len(taken) >= 2 and case.now - taken[-1] < DAY:
        return no(f"{len(taken)} snapshots of usage, the last at {_shown(case, taken[-1])}")
    seen = [f"snapshots of usage in the ledger: {len(taken)}"]
    if taken:
        seen.append(f"the last at {_shown(case, taken[-1])}")
    return yes(
        "spending cannot be told by day: the ledger has no two snapshots within a day",
        seen,
        "hermes ops install wallet --deliver TARGET   # then ask again tomorrow",
    )


def is_topped_up(case: Case) -> Found:
    """A balance that rose hides what was spent."""
    rises = []
    for provider, account in _accounts(case):
        readings = case.context.ledger().balances(provider, account, case.now - DAY)
        for before, after in pairwise(readings):
            if after.amount > before.amount:
                rises.append(f"{provider}: +{after.amount - before.amount:.2f} at {_shown(case, after.at)}")
    if not _accounts(case):
        return unknown("no balance was ever read: hermes ops wallet")
    return no(*rises) if rises else no("no top-up within 24 h")


def is_one_session(case: Case) -> Found:
    spent = _spent(case, "root", "job")
    whole = sum(one.usd for one in spent)
    if not spent or whole <= 0:
        return unknown("no priced use within 24 h is in the ledger")
    top = spent[0]
    seen = [f"{one.group[0]}: {_cost(one)}, {one.calls} calls" for one in spent[:3]]
    if top.usd / whole < BIG_SHARE:
        return no(*seen, f"the largest has {top.usd / whole:.0%} of {whole:.2f} USD")
    job = top.group[1]
    command = f"hermes cron pause {job}" if job else "hermes ops explain slow " + str(top.group[0])
    return yes(f"{top.group[0]} alone spends {top.usd / whole:.0%} of {whole:.2f} USD in 24 h", seen, command)


def is_auxiliary(case: Case) -> Found:
    spent = _spent(case, "task")
    whole = sum(one.usd for one in spent)
    rest = [one for one in spent if one.group[0]]
    if whole <= 0:
        return unknown("no priced use within 24 h is in the ledger")
    seen = [f"{one.group[0]}: {_cost(one)}, {one.calls} calls" for one in rest[:4]]
    share = sum(one.usd for one in rest) / whole
    if share < AUXILIARY_SHARE:
        return no(*seen, f"auxiliary calls are {share:.0%}")
    return yes(
        f"auxiliary calls are {share:.0%} of what is spent",
        seen,
        "set auxiliary.<task>.provider and .model to a cheap one; see hermes ops thinking",
    )


def is_jobs(case: Case) -> Found:
    spent = _spent(case, "job")
    whole = sum(one.usd for one in spent)
    jobs = [one for one in spent if one.group[0]]
    if whole <= 0:
        return unknown("no priced use within 24 h is in the ledger")
    share = sum(one.usd for one in jobs) / whole
    seen = [f"{_named(case, str(one.group[0]))}: {_cost(one)}" for one in jobs[:4]]
    if share < JOBS_SHARE:
        return no(*seen, f"jobs are {share:.0%}")
    return yes(
        f"scheduled jobs spend {share:.0%}; the dearest is {_named(case, str(jobs[0].group[0]))}",
        seen,
        "hermes ops schedule; hermes ops budget",
    )


QUESTIONS: tuple[Question, ...] = (
    ("Is spending not measured at all?", is_blind),
    ("Was the balance topped up meanwhile?", is_topped_up),
    ("Does one session or job spend most of it?", is_one_session),
    ("Do auxiliary calls?", is_auxiliary),
    ("Do scheduled jobs?", is_jobs),
)


def _spent(case: Case, *by: str) -> list[Spent]:
    return case.once(
        "spent " + " ".join(by), lambda: case.context.ledger().spent(by, case.now - DAY, case.now)
    )


def _cost(one: Spent) -> str:
    """What is known of a sum; a plan and an unknown price are not 0.00."""
    if one.usd > 0:
        return f"{one.usd:.2f} USD{' or more' if one.unknown_calls else ''}"
    if one.unknown_calls:
        return "no known price"
    return f"in a plan: {one.included_tokens:,} tokens" if one.included_tokens else "0.00 USD"


def _accounts(case: Case) -> list[tuple[str, str]]:
    return case.once("accounts", lambda: case.context.ledger().accounts())


def _named(case: Case, job_id: str) -> str:
    try:
        job = read_jobs(case.context.home).by_id(job_id)
    except (OpsError, Unreadable):
        job = None
    return job.label if job else f"job {job_id}"


def _shown(case: Case, at: float) -> str:
    from ..core.moment import show

    return show(at, case.context.zone.tz)
