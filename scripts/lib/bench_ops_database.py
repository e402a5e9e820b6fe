"""Figures on a state.db of 100,000 sessions, 1,000,000 usage rows: the first look, later ones, the costs."""

from __future__ import annotations

import time

import bench_rlm_measure as measure
import ops_database
from bench_ops_place import Cost, Place, place
from bench_ops_watchers import SETTINGS

WALLET, COSTS, COSTS_MEMORY = 500.0, 3.0, 150.0
ROUNDS, SLOW_ROUNDS = 10, 3
MOVED = 500  # rows: all ten of each of the 50 newest sessions


def report_database() -> None:
    began = time.perf_counter()
    with place(sessions=ops_database.SESSIONS, rows=ops_database.ROWS, days=ops_database.DAYS) as here:
        here.configure(SETTINGS)
        size = (here.home.path / "state.db").stat().st_size / 1e6
        print(
            f"state.db of 100,000 sessions, 1,000,000 usage rows, {size:.0f} MB; made in"
            f" {time.perf_counter() - began:.0f} s"
        )
        first = here.quiet("wallet")
        measure.row("  losing case: wallet, the first look ever", first.wall / 1000, "s")
        measure.row("    its peak memory", first.memory, "MB")
        ledger = (here.home.path / "ops" / "ledger.db").stat().st_size / 1e6
        measure.row("    the ledger it makes", ledger, "MB")
        _later(here)
        _costs(here)
        _row("  losing case: costs of 365 days as JSON", [_cost(here, "--days", "365", "--json")])
        _row("  losing case: backup, copies all of it", [here.quiet("backup")])


def _later(here: Place) -> None:
    """What the watchers that ask the ledger take when 50 sessions have moved since the run before."""
    found: dict[str, list[Cost]] = {name: [] for name in ("wallet", "budget", "thinking", "sweep")}
    for name in found:
        here.quiet(name)  # its own first run
    for _ in range(ROUNDS):
        for name, costs in found.items():
            ops_database.grow(here.home.path, time.time(), MOVED)
            costs.append(here.quiet(name))
    bars = {"wallet": WALLET}
    for name, costs in found.items():
        wall = measure.median([cost.wall for cost in costs])
        measure.row(f"{name}, 50 sessions moved", wall, "ms", bars.get(name))
        measure.row("  its time of the processor", measure.p([cost.cpu for cost in costs], 50), "ms")
        measure.row("  its peak memory", max(cost.memory for cost in costs), "MB")


def _costs(here: Place) -> None:
    page = here.root / "costs.html"
    forms = {
        "text": (),
        "JSON": ("--json",),
        "page": ("--out", str(page)),
        "page, from state.db alone": ("--db", str(here.home.path / "state.db"), "--out", str(page)),
    }
    for name, words in forms.items():
        _row(f"costs, {name}", [_cost(here, *words) for _ in range(SLOW_ROUNDS)], COSTS, COSTS_MEMORY)
    measure.row("  size of the page", page.stat().st_size / 1000, "kB")


def _cost(here: Place, *words: str) -> Cost:
    return here.run(here.command("costs", *words))


def _row(what: str, costs: list[Cost], bar: float | None = None, memory_bar: float | None = None) -> None:
    measure.row(what, measure.median([cost.wall / 1000 for cost in costs]), "s", bar)
    measure.row("    its time of the processor", measure.p([cost.cpu / 1000 for cost in costs], 50), "s")
    measure.row("    its peak memory", max(cost.memory for cost in costs), "MB", memory_bar)
