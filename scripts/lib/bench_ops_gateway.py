"""Figures of the supervisor over logs of 2 GB, and of loading the plugin into a host."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime

import bench_rlm_measure as measure
from bench_ops_place import Place, p95, place

BAR = 300.0
SIZE = 2_000_000_000
TAIL = 2_000_000  # bytes at the end of each log that are lines of the host; what is before them is a hole
PASSES, COLD, LOADS = 40, 8, 7


def report_logs() -> None:
    """A pass over the gateway's files, in the daemon that goes on and as a process of its own."""
    with place(runs=50, sessions=10, rows=100) as here:
        once = here.command("supervise", "once")
        here.run(once)
        found = {"small": ([], []), "large": ([], [])}
        for name in ("small", "large", "large", "small"):
            _write_logs(here, SIZE if name == "large" else TAIL)
            daemon, cold = found[name]
            daemon += _passes(here)
            cold += [here.run(once) for _ in range(COLD // 2)]
        shown = {name: measure.median(daemon) for name, (daemon, _) in found.items()}
        measure.row("supervisor, a pass of the daemon, logs of 2 GB", shown["large"], "ms", BAR)
        measure.row("  p95", p95(found["large"][0]), "ms", BAR)
        measure.row("  the same with logs of 2 MB", shown["small"], "ms")
        for name, size in (("large", "2 GB"), ("small", "2 MB")):
            cold = found[name][1]
            bar = BAR if name == "large" else None
            measure.row(
                f"supervise once, cold, logs of {size}", measure.median([one.wall for one in cold]), "ms", bar
            )
            measure.row("  its peak memory", max(one.memory for one in cold), "MB", 40.0 if bar else None)


def _write_logs(here: Place, size: int) -> None:
    """errors.log and agent.log, busy until this second, with lines that look like trouble and are none."""
    now = time.time()
    line = "WARNING [20261129_120000_abcdef] tools.terminal: output: Session DB append_message failed: no\n"
    stamps = [datetime.fromtimestamp(now - number / 50) for number in range(TAIL // 120)][::-1]
    text = "".join(f"{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1000:03} {line}" for at in stamps).encode()
    for name in ("errors.log", "agent.log"):
        with open(here.home.path / "logs" / name, "wb") as file:
            file.seek(max(0, size - len(text)))
            file.write(text)


def _passes(here: Place) -> list[float]:
    """Milliseconds of each pass of a supervisor that goes on, in this process."""
    from hermes_ops.liveness.service import Nobody
    from hermes_ops.liveness.supervise import RealClock, Supervisor

    told: list[object] = []

    def tell(reading: object, now: float) -> None:
        told.append(reading)

    memory = here.home.path / "ops" / "supervisor.json"
    kept = memory.read_bytes()
    supervisor = Supervisor(here.home.path, lambda gateway: Nobody(), RealClock(), tell)
    times = []
    for number in range(PASSES // 2 + 1):
        here.home.fresh()
        began = time.perf_counter()
        state = supervisor.once().state
        if number:
            times.append((time.perf_counter() - began) * 1000)
        if state != "ok":
            raise SystemExit(f"bench: the gateway was to be found working: {state}")
    memory.write_bytes(kept)
    return times


def report_register() -> None:
    """Import and register() as the host does, in a process that has it loaded."""
    _load("host")  # the first one writes the bytecode, as the first start of the host does
    measure.row(
        "import + register, host loaded", measure.median([_load("host") for _ in range(LOADS)]), "ms", 10
    )
    measure.row(
        "  losing case: without the host", measure.median([_load("alone") for _ in range(LOADS)]), "ms"
    )


def _load(host: str) -> float:
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(measure.BYTECODE)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, __file__, host]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


def load(host: str) -> float:
    """Milliseconds of one load, in this process."""
    if host == "host":
        import hermes_cli.config
        import hermes_cli.plugins  # noqa: F401
        import run_agent  # noqa: F401
    import importlib.util
    import types

    class Context:
        def __getattr__(self, name: str) -> Callable[..., None]:
            return lambda *arguments, **keywords: None

    sys.path.remove(str(measure.ROOT))
    sys.modules["hermes_plugins"] = parent = types.ModuleType("hermes_plugins")
    parent.__path__ = []
    folder = measure.ROOT / "hermes_ops"
    name = "hermes_plugins.hermes_ops"
    began = time.perf_counter()
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    module.register(Context())
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    print(load(sys.argv[1]))
