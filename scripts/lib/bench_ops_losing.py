"""Where the watchers cost the most: many jobs, everything wrong at once, the first look, after an update."""

from __future__ import annotations

import json
import shutil

import bench_rlm_measure as measure
from bench_ops_place import Cost, Place, place
from bench_ops_watchers import SETTINGS

from hermes_ops.core.watch import WATCHERS
from tests.ops import healthy_home

JOBS, PROMPT, ROUNDS = 1000, 10_000, 3
MANY = ("table", "sweep", "deliveries", "policy", "watchers", "budget", "wallet", "supervisor")


def report_losing() -> None:
    _beginnings()
    _many_jobs()


def _beginnings() -> None:
    """The first look at a home of 30 jobs, the run after an update, a config.yaml with all defaults."""
    with place() as here:
        here.configure(SETTINGS)
        here.quiet("sweep")
        costs = []
        for _ in range(ROUNDS):
            for path in (here.home.path / "ops").glob("ledger.db*"):
                path.unlink()
            costs.append(here.quiet("sweep"))
        _row("sweep, the first look ever", costs)
        costs = []
        for _ in range(ROUNDS):
            for path in list((here.home.path / "plugins" / "hermes-ops").rglob("__pycache__")):
                shutil.rmtree(path)
            costs.append(here.quiet("sweep"))
        _row("sweep, no bytecode yet", costs)
        (here.home.path / "config.yaml").write_text(_whole_config(), "utf-8")
        size = (here.home.path / "config.yaml").stat().st_size / 1000
        _row(f"sweep, config.yaml of {size:.0f} kB", [here.quiet("sweep") for _ in range(ROUNDS)])


def _whole_config() -> str:
    """All defaults of the host written out, and what a healthy home has."""
    import yaml
    from hermes_cli.config import DEFAULT_CONFIG

    return yaml.safe_dump({**DEFAULT_CONFIG, **yaml.safe_load(healthy_home.CONFIG + SETTINGS)})


def _many_jobs() -> None:
    prompt = healthy_home.DIGEST * (PROMPT // len(healthy_home.DIGEST) + 1)
    with place(jobs=JOBS - len(WATCHERS), prompt=prompt[:PROMPT]) as here:
        here.configure(SETTINGS)
        print(f"{JOBS:,} jobs with prompts of {PROMPT / 1000:g} kB")
        for name in MANY:
            here.quiet(name)
            _row(name, [here.quiet(name) for _ in range(ROUNDS)])
        _row("lint, every prompt read anew", [here.quiet("lint")])
        _row(
            "hermes ops table, as HTML",
            [here.run(here.command("table", "--format", "html")) for _ in range(ROUNDS)],
        )
        _break_all(here)
        _row("sweep, all wrong, first run", [here.run(here.watcher("sweep"))])
        _row("sweep, all wrong, later", [here.run(here.watcher("sweep")) for _ in range(ROUNDS)])


def _break_all(here: Place) -> None:
    """Every job was made for a model that is not the default one any more: the host skips its runs."""
    path = here.home.path / "cron" / "jobs.json"
    data = json.loads(path.read_text("utf-8"))
    for job in data["jobs"]:
        job["model_snapshot"] = "vendor/another"
    path.write_text(json.dumps(data), "utf-8")


def _row(what: str, costs: list[Cost]) -> None:
    measure.row(f"  losing case: {what}", measure.median([cost.wall for cost in costs]), "ms")
    measure.row("    its peak memory", max(cost.memory for cost in costs), "MB")
