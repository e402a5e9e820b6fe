"""A thousand simulated days with faults, as the tests live through them: what was missed, done and said."""

from __future__ import annotations

import time
from collections import Counter

import bench_rlm_measure as measure

DAYS, SEED = 1000, 7
DAY = 86_400.0
BUDGET = 20  # lines a watcher may say in a day
WALLETS = (
    (1, 485, 2.8 * 3600.0),
    (2, 485, 2.8 * 3600.0),
    (3, 30, 1800.0),
)  # seed, days, seconds between looks


def report_days() -> None:
    _supervisor()
    _wallet()


def _supervisor() -> None:
    from tests.ops import test_supervise_simulated as simulated

    began = time.perf_counter()
    with simulated.simulation(SEED) as life:
        simulated.live(life, DAYS, simulated.FAULTS, every=60)
    broken = Counter(text.partition(":")[0] for text in life.broken)
    days = Counter(int(at // DAY) for at, _ in life.messages)
    print(
        f"supervisor, {DAYS} simulated days: {sum(life.faults.values())} faults of"
        f" {len(simulated.FAULTS)} kinds,"
        f" {life.passes} passes, {len(life.world.manager_calls)} restarts, {len(life.messages)} messages;"
        f" {time.perf_counter() - began:.0f} s"
    )
    measure.row("outages not told or answered in 10 minutes", broken["missed"], "", 1)
    measure.row("healthy gateways restarted", broken["healthy restarted"], "", 1)
    measure.row(
        "other promises broken", len(life.broken) - broken["missed"] - broken["healthy restarted"], "", 1
    )
    measure.row("most messages in a day", max(days.values()), "", BUDGET)
    measure.row("most messages for one outage", max(map(len, life.outage_messages.values())), "", 5)
    # What the same days bring to light with a safeguard taken out; if nothing, the figures above say nothing.
    blind = simulated.Limits(heartbeat=1e9, ticker=1e9, ticks=1e9)
    hasty = simulated.Limits(wake=1e12, grace=0)
    for what, fault, limits in (
        ("without limits of age", simulated.frozen, blind),
        ("without the guard for sleep", simulated.sleep_and_wake, hasty),
    ):
        print(f"  losing case, {what}: {simulated.broken_by(fault, limits=limits) or 'nothing is broken'}")


def _wallet() -> None:
    from tests.ops import test_wallet_days as simulated

    began = time.perf_counter()
    told: Counter[str] = Counter()
    lines, most, broken = 0, 0, 0
    for seed, days, period in WALLETS:
        try:
            _, _, found, rises, said = simulated.live(seed, days, period)
        except AssertionError:
            broken += 1
            continue
        told.update(found, rises=rises)
        lines += len(said)
        # By the watcher's own clock, which is set wrong now and then.
        most = max(most, *(sum(0 <= other - at < DAY for other in said) for at in said))
    days = sum(days for _, days, _ in WALLETS)
    print(
        f"wallet, {days} simulated days: {told['low']} times low, {told['burn']} burns, {told['burst']} of"
        f" them after a sleep, {told['rises']} rises, {lines} lines; {time.perf_counter() - began:.0f} s"
    )
    measure.row("lives in which it lied or was silent", broken, "", 1)
    measure.row("lines a day, on average", lines / days, "", 3)
    measure.row("most lines within a day", most, "", BUDGET)
