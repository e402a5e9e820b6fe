"""Figures of checkpoints: saving and restoring one large value, beside plain pickle in the same kernel."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from bench_rlm_measure import NOTEBOOK_PYTHON, child, home, median, ratio, row, seconds, taking_turns
from bench_rlm_sides import PluginKernel, running

# Each makes about 100 MB of pickle in `data`; rows are what makes a pickle slow.
VALUES = {
    "bytes": "import os; data = os.urandom(100_000_000)",
    "list of dicts": (
        "data = [{'id': n, 'name': f'customer {n}', 'city': f'city {n % 997}', 'total': n * 0.25,"
        " 'open': n % 3 == 0} for n in range({rows})]"
    ),
    "numpy array": "import numpy; data = numpy.random.default_rng(1).random(12_500_000)",
}
ROWS = 1_700_000
ROUNDS = {"bytes": 6, "list of dicts": 2, "numpy array": 6}

# What a program would do by itself; both end with how long they took.
DUMP = """
import os, pickle, time
_began = time.perf_counter()
with open({path!r}, "wb") as _file:
    pickle.dump(data, _file, protocol=5)
    _file.flush()
    {sync}
round(time.perf_counter() - _began, 6)
"""
LOAD = """
del data
_began = time.perf_counter()
with open({path!r}, "rb") as _file:
    data = pickle.load(_file)
round(time.perf_counter() - _began, 6)
"""


# What a save is asked for besides its place.
SAVE = {"session": "bench", "name": "n", "limit": 500 << 20, "seconds": 120.0}
PROCESSOR = "import time; time.process_time()"


def task_saving(kind: str) -> dict[str, Any]:
    """Save and restore by request, as the tool does; plain pickle in cells of the same kernel."""
    from hermes_rlm.kernel.past import SAVING

    place = home() / "state"
    place.mkdir(mode=0o700)
    named = {"code": str(SAVING), "path": str(place / "checkpoint"), "key": os.urandom(32).hex()}
    plain = str(place / "pickle")
    kernel = PluginKernel(str(NOTEBOOK_PYTHON))

    def save() -> float:
        return seconds(lambda: kernel.ask("save", **named, **SAVE))

    def restore() -> float:
        kernel.run("del data")
        return seconds(lambda: kernel.ask("restore", **named, overwrite=True, session="bench"))

    processor: dict[str, list[float]] = {}

    def settled(name: str, action: Callable[[], float]) -> Callable[[], float]:
        """Time an action; what one side has left to be written to the disk must not be the other's time."""

        def run() -> float:
            os.sync()
            before = kernel.value(PROCESSOR)
            taken = action()
            processor.setdefault(name, []).append(kernel.value(PROCESSOR) - before)
            return taken

        return run

    def dump(sync: str = "") -> float:
        return kernel.value(DUMP.format(path=plain, sync=sync))

    with running(kernel):
        kernel.run(VALUES[kind].replace("{rows}", str(ROWS)))
        dump()
        save()
        rounds = ROUNDS[kind]
        found = taking_turns(
            rounds,
            save=settled("save", save),
            dump=settled("dump", dump),
            dump_to_disk=settled("dump_to_disk", lambda: dump("os.fsync(_file.fileno())")),
        )
        found |= taking_turns(
            rounds,
            restore=settled("restore", restore),
            load=settled("load", lambda: kernel.value(LOAD.format(path=plain))),
        )
        size = os.path.getsize(named["path"])
    return {**found, "size": size, "processor": processor}


def task_small() -> dict[str, Any]:
    """A session of ten small variables, saved and restored."""
    from hermes_rlm.kernel.past import SAVING

    place = home() / "state"
    place.mkdir(mode=0o700)
    named = {"code": str(SAVING), "path": str(place / "checkpoint"), "key": os.urandom(32).hex()}
    kernel = PluginKernel()
    with running(kernel):
        kernel.run("\n".join(f"name_{number} = list(range({number}))" for number in range(10)))
        first = seconds(lambda: kernel.ask("save", **named, **SAVE))
        times = [seconds(lambda: kernel.ask("save", **named, **SAVE)) for _ in range(10)]
        restored = [
            seconds(lambda: kernel.ask("restore", **named, overwrite=True, session="bench"))
            for _ in range(10)
        ]
    return {"first": first, "save": times, "restore": restored}


def report_saving() -> None:
    for kind in VALUES:
        found = child("bench_rlm_saving:saving", kind)
        row(f"save {found['size'] / 1e6:.0f} MB, {kind}", median(found["save"]), "s")
        row("  against pickle.dump and flush", ratio(found["save"], found["dump"]), "x", 2)
        row("  against the same and fsync", ratio(found["save"], found["dump_to_disk"]), "x")
        used = found["processor"]
        row("  losing case: processor time", ratio(used["save"], used["dump"]), "x")
        row(f"restore {found['size'] / 1e6:.0f} MB, {kind}", median(found["restore"]), "s")
        row("  against pickle.load", ratio(found["restore"], found["load"]), "x", 2)
        row("  losing case: processor time", ratio(used["restore"], used["load"]), "x")
    small = child("bench_rlm_saving:small")
    row("losing case: save ten small variables", median([one * 1000 for one in small["save"]]), "ms")
    row("  the first time", small["first"] * 1000, "ms")
    row("  restore them", median([one * 1000 for one in small["restore"]]), "ms")
