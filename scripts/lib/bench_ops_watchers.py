"""Figures of the watchers: what a healthy run costs as the process that the host's cron starts."""

from __future__ import annotations

import sys

import bench_rlm_measure as measure
from bench_ops_place import Cost, p95, place

from hermes_ops.core.watch import WATCHERS

WALL, MEMORY = 300.0, 40.0
ROUNDS = 20
BUSY = 1.4
# Caps that nobody reaches, so that what is spent is summed up and nothing is said.
SETTINGS = """\
ops:
  budget: {cap_usd: 100000}
  thinking: {cap_usd: 100000, cap_thinking_usd: 100000}
"""
FLOORS = {
    "python -I -S -c pass": ["-I", "-S", "-c", "pass"],
    'python -c "import sqlite3, json"': ["-c", "import sqlite3, json"],
}


def report_watchers() -> None:
    """Every watcher in a home of 30 jobs, 1,000 runs and a state.db of 500 sessions."""
    with place() as here:
        names = [watcher.name for watcher in WATCHERS]
        here.configure(SETTINGS)
        for _ in range(2):
            for name in names:
                here.quiet(name)  # writes bytecode, and takes in what is there
        costs: dict[str, list[Cost]] = {name: [] for name in (*FLOORS, *names)}
        for number in range(ROUNDS):
            order = list(costs)
            for name in order[number % len(order) :] + order[: number % len(order)]:
                floor = FLOORS.get(name)
                cost = here.run([sys.executable, *floor]) if floor else here.quiet(name)
                costs[name].append(cost)
        asked = {name: len(here.audit(name)["sockets"]) for name in names}
        print(
            f"{f'watcher, cold, n = {ROUNDS}':<34} {'least':>5} {'p50':>5} {'p95':>5} {'CPU':>5} ms"
            f" {'peak':>5} MB   {'p50':>5} {'p95':>5} {'peak':>5} of {WALL:g} ms, {MEMORY:g} MB"
        )
        for name, found in costs.items():
            _line(name, found, asked.get(name))
        floor = [cost.wall for cost in costs[next(iter(FLOORS))]]
        if measure.p(floor, 50) > BUSY * min(floor):
            # A process that waits for nobody takes as long as it computes, where nothing else does.
            times = f"{measure.p(floor, 50):.0f} ms and at the least {min(floor):.0f} ms"
            print(f"  busy machine: a bare Python took {times}; the time of the processor says more")
        offline = sum(count for name, count in asked.items() if name != "wallet")
        measure.row("socket calls of all watchers but the wallet", offline, "", 1)
        measure.row("  socket calls of the wallet, one provider", asked["wallet"], "")


def _line(name: str, costs: list[Cost], sockets: int | None) -> None:
    wall = [cost.wall for cost in costs]
    middle, high = measure.p(wall, 50), p95(wall)
    cpu, memory = measure.p([cost.cpu for cost in costs], 50), max(cost.memory for cost in costs)
    line = f"  {name:<32} {min(wall):>5.0f} {middle:>5.0f} {high:>5.0f} {cpu:>5.0f}    {memory:>5.1f}   "
    if sockets is not None:
        reached = (middle / WALL, high / WALL, memory / MEMORY)
        line += " " + " ".join(f"{one:>5.2f}" for one in reached)
        over = [what for what, one in zip(("p50", "p95", "peak"), reached, strict=True) if one > 1]
        line += f" MISS: {', '.join(over)}" if over else ""
    print(line, flush=True)
