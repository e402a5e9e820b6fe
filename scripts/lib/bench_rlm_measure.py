"""How the figures of hermes_rlm are taken and printed: compared things take turns, rows show the spread."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK_PYTHON = ROOT / ".venv-bench" / "bin" / "python"
BYTECODE = Path(tempfile.gettempdir()) / f"hermes-bench-bytecode-{os.getuid()}"
sys.path.insert(0, str(ROOT))


def seconds(action: Callable[[], object]) -> float:
    """Run ``action`` and return how long it took."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def taking_turns(rounds: int, **sides: Callable[[], float]) -> dict[str, list[float]]:
    """Run each side once a round and return what it measured, so that noise of the machine hits all."""
    measured: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds):
        names = list(sides)
        # Who goes first changes: the first of a round runs with colder caches.
        for name in names[number % len(names) :] + names[: number % len(names)]:
            measured[name].append(sides[name]())
    return measured


def p(values: Iterable[float], percent: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def ratio(ours: list[float], theirs: list[float]) -> dict[str, Any]:
    """The ratio of the medians, with the spread of the ratios round by round."""
    pairs = [one / other for one, other in zip(ours, theirs, strict=False)]
    return {"figure": p(ours, 50) / p(theirs, 50), "spread": _spread(pairs), "n": len(pairs)}


def median(values: list[float]) -> dict[str, Any]:
    return {"figure": p(values, 50), "spread": _spread(values), "n": len(values)}


def _spread(values: list[float]) -> str:
    """From the 5th to the 95th percentile; of few values the least and the most."""
    low, high = (5, 95) if len(values) >= 20 else (0, 100)
    return f"{_short(p(values, low))}..{_short(p(values, high))}"


def _short(value: float) -> str:
    """Three digits that say something, without an exponent."""
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def heading() -> None:
    print(f"{'':<47} {'figure':>9} {'':<3} {'spread':>15} {'n':>5}  {'bar':>7} {'ratio':>5}")


def row(
    what: str,
    figure: float | dict[str, Any] | None,
    unit: str,
    bar: float | None = None,
    at_least: bool = False,
) -> None:
    """Print a figure, its spread and n, the bar, and the ratio to it: up to 1.00 is within the bar.

    ``figure``: a number, what `median` or `ratio` returned, or None when it could not be measured.
    ``at_least``: the bar is a lower one.
    """
    if figure is None:
        print(f"{what:<47} not measured", flush=True)
        return
    found = figure if isinstance(figure, dict) else {"figure": figure}
    value = found["figure"]
    shown = f"{value:,.0f}" if abs(value) >= 1000 or type(value) is int else f"{value:.3f}"
    line = f"{what:<47} {shown:>9} {unit:<3} {found.get('spread', ''):>15} {found.get('n', ''):>5}"
    if bar is not None:
        reached = bar / value if at_least else value / bar
        sign = ">" if at_least else "<"
        line += f"  {sign + format(bar, 'g'):>7} {reached:>5.2f}{' MISS' if reached > 1 else ''}"
    print(line.rstrip(), flush=True)


def child(task: str, *arguments: object, host: bool = False) -> dict[str, Any]:
    """Run a task (``module:function``) in a process of its own with a fresh Hermes home; what it returned.

    With ``host`` the plugin is enabled in that home, as a user has it.
    """
    with tempfile.TemporaryDirectory(prefix="bench-rlm-") as place:
        home, temporary = Path(place, "home"), Path(place, "t")
        (home / "plugins").mkdir(parents=True)
        temporary.mkdir()
        configuration: dict[str, Any] = {
            "security": {"allow_lazy_installs": False, "tirith_enabled": False},
            "terminal": {"backend": "local"},
            # Nobody is there to be asked; both tools under comparison are let through by the same check.
            "approvals": {"mode": "off"},
        }
        if host:
            configuration["plugins"] = {"enabled": ["hermes-rlm"]}
            (home / "plugins" / "hermes_rlm").symlink_to(ROOT / "hermes_rlm")
        (home / "config.yaml").write_text(json.dumps(configuration), "utf-8")
        # No keys, and no way out of this machine.
        names = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TZ")
        environment = {name: os.environ[name] for name in names if name in os.environ}
        for name in ("http_proxy", "https_proxy"):
            environment[name] = environment[name.upper()] = "http://127.0.0.1:9"
        environment.update(
            no_proxy="127.0.0.1,localhost",
            HOME=str(home),
            HERMES_HOME=str(home),
            TMPDIR=str(temporary),
            PYTHONPYCACHEPREFIX=str(BYTECODE),
        )
        answer, said = Path(place, "answer.json"), Path(place, "said.txt")
        with said.open("wb") as output:
            done = subprocess.run(
                [sys.executable, str(Path(__file__).with_name("bench_rlm.py")), "--task", str(answer), task]
                + [str(argument) for argument in arguments],
                cwd=temporary,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        if done.returncode:
            sys.stderr.write(said.read_text("utf-8", "replace")[-4000:])
            raise SystemExit(f"bench: {task} failed with {done.returncode}")
        return json.loads(answer.read_text("utf-8"))


def home() -> Path:
    """The Hermes home of a task."""
    return Path(os.environ["HERMES_HOME"])


def of_process(pid: int) -> dict[str, float]:
    """Resident and proportional memory of a process in MB (10^6 bytes)."""
    found = {}
    with open(f"/proc/{pid}/smaps_rollup") as file:
        for line in file:
            name, _, rest = line.partition(":")
            if name in ("Rss", "Pss"):
                found[name.lower()] = int(rest.split()[0]) * 1024 / 1e6
    return found
