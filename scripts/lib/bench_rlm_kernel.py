"""Figures of the kernel alone: start, round trip, memory, interrupt, a flood of output."""

from __future__ import annotations

import os
import random
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

from bench_rlm_measure import (
    NOTEBOOK_PYTHON,
    child,
    home,
    median,
    of_process,
    p,
    ratio,
    row,
    seconds,
    taking_turns,
)
from bench_rlm_sides import Echo, Notebooks, PluginKernel, bare_python, running

KERNELS = 12
COMMON = "import os, json, re, traceback, threading"
# The first import that the standard library does not have makes the kernel look for site-packages.
MISS = "try: import not_to_be_found\nexcept ImportError: pass"
STOPPED = {
    "byte code": "while True: pass",
    "re": "import re; re.match('(a+)+b', 'a' * 40)",
    "time.sleep": "import time; time.sleep(30)",
}
C_LOOP = "sum(range(10**12))"
OUTPUT = 200_000_000
FLOOD = f"for _ in range({OUTPUT // 1_000_000}): print(('x' * 99 + chr(10)) * 10_000, end='')"


def milliseconds(values: list[float]) -> list[float]:
    return [value * 1000 for value in values]


# Start ---------------------------------------------------------------------------------------


def settled(boot: Callable[[], float]) -> Callable[[], float]:
    """Let the kernel that was measured before end first; the processor goes idle meanwhile."""

    def run() -> float:
        time.sleep(0.1)
        return boot()

    return run


def task_boot() -> dict[str, Any]:
    def first(code: str) -> float:
        kernel = PluginKernel(str(NOTEBOOK_PYTHON))
        with running(kernel):
            kernel.run("1+1")
            return kernel.timed(code)

    def first_import_of_theirs() -> float:
        notebooks.ask("boot", kernel="import")
        try:
            return notebooks.ask("run", "import numpy", kernel="import")
        finally:
            notebooks.ask("close", kernel="import")

    notebooks = Notebooks()
    with running(notebooks):
        first_of_home = PluginKernel.boot()  # it writes the bytecode
        notebooks.boot()
        first("import numpy")
        return {
            "first_of_home": first_of_home,
            "bare": taking_turns(40, ours=PluginKernel.boot, theirs=bare_python),
            "notebook": taking_turns(
                8,
                ours=lambda: p([PluginKernel.boot() for _ in range(5)], 50),
                paused=settled(PluginKernel.boot),
                theirs=settled(notebooks.boot),
                patient=settled(lambda: notebooks.boot(True)),
            ),
            "import": taking_turns(
                4,
                ours=lambda: first("import numpy"),
                theirs=first_import_of_theirs,
                miss=lambda: first(MISS),
            ),
        }


def report_boot() -> None:
    found = child("bench_rlm_kernel:boot")
    bare, notebook, imports = found["bare"], found["notebook"], found["import"]
    row("kernel boot to first answer", median(milliseconds(bare["ours"])), "ms")
    row("  python -I -S -c pass", median(milliseconds(bare["theirs"])), "ms")
    row("  boot against it", ratio(bare["ours"], bare["theirs"]), "x", 2)
    row("  ipykernel, first answer", median(milliseconds(notebook["theirs"])), "ms")
    row("  ipykernel against it", ratio(notebook["theirs"], notebook["ours"]), "x", 25, at_least=True)
    row("  ipykernel by wait_for_ready against it", ratio(notebook["patient"], notebook["ours"]), "x")
    row("  losing case: after a pause of 0.1 s", median(milliseconds(notebook["paused"])), "ms")
    row("  losing case: the first kernel of a home", found["first_of_home"] * 1000, "ms")
    row("first look into site-packages", median(milliseconds(imports["miss"])), "ms")
    row("first import numpy, site-packages included", median(milliseconds(imports["ours"])), "ms")
    row("  losing case: in ipykernel", median(milliseconds(imports["theirs"])), "ms")


# Round trip ----------------------------------------------------------------------------------


def task_trip() -> dict[str, Any]:
    echo, kernel, notebooks = Echo(), PluginKernel(), Notebooks()
    found = {}
    with running(echo, kernel, notebooks):
        for _ in range(200):
            echo.trip()
            kernel.timed("1+1")
        ours, bare = lambda: kernel.timed("1+1"), echo.trip
        found["bare"] = taking_turns(3000, ours=ours, theirs=bare)
        if hasattr(os, "sched_setaffinity"):
            everywhere = os.sched_getaffinity(0)
            for name, where in (("apart", max(everywhere)), ("together", min(everywhere))):
                os.sched_setaffinity(0, {min(everywhere)})
                for pid in (kernel.kernel.pid, echo.pid):
                    os.sched_setaffinity(pid, {where})
                found[name] = taking_turns(1000, ours=ours, theirs=bare)
            for pid in (0, kernel.kernel.pid, echo.pid):
                os.sched_setaffinity(pid, everywhere)
        notebooks.ask("boot")
        blocks = {
            "ours": lambda: p([kernel.timed("1+1") for _ in range(10)], 50),
            "theirs": lambda: p([notebooks.ask("run", "1+1") for _ in range(10)], 50),
        }
        found["notebook"] = taking_turns(16, **blocks)
        for number in range(1000):
            kernel.run(f"name_{number} = {number}")
        found["crowded"] = taking_turns(200, ours=ours)
    return found


def report_trip() -> None:
    found = child("bench_rlm_kernel:trip")
    bare, notebook = found["bare"], found["notebook"]
    row("warm `1+1`, kernel, p50", median(milliseconds(bare["ours"])), "ms")
    row("  p99", p(milliseconds(bare["ours"]), 99), "ms", 2)
    # A pipe between two processors takes longer than one between processes that take turns on one.
    apart = found.get("apart")
    if apart is None:
        row("  bare pipe echo", median(milliseconds(bare["theirs"])), "ms")
        row("  kernel against it", ratio(bare["ours"], bare["theirs"]), "x", 4)
    else:
        row("  kernel on another processor", median(milliseconds(apart["ours"])), "ms")
        row("  bare pipe echo, on another processor", median(milliseconds(apart["theirs"])), "ms")
        row("  kernel against it", ratio(apart["ours"], apart["theirs"]), "x", 4)
        together = found["together"]
        row("  losing case: both ends on one processor", ratio(together["ours"], together["theirs"]), "x")
        row("    kernel", median(milliseconds(together["ours"])), "ms")
        row("    bare pipe echo", median(milliseconds(together["theirs"])), "ms")
    row("  ipykernel", median(milliseconds(notebook["theirs"])), "ms")
    row("  ipykernel against it", ratio(notebook["theirs"], notebook["ours"]), "x", 25, at_least=True)
    row("  losing case: with 1,000 variables", median(milliseconds(found["crowded"]["ours"])), "ms")


# Memory --------------------------------------------------------------------------------------


def task_memory() -> dict[str, Any]:
    kernels = [PluginKernel() for _ in range(KERNELS)]
    notebooks = Notebooks()
    with running(*kernels, notebooks):
        for kernel in kernels:
            kernel.run("1+1")
        found = {"idle": [of_process(kernel.kernel.pid) for kernel in kernels]}
        for kernel in kernels:
            kernel.run(COMMON)
        found["imported"] = [of_process(kernel.kernel.pid) for kernel in kernels]
        names = [str(number) for number in range(KERNELS)]
        for name in names:
            notebooks.ask("boot", kernel=name)
        found["notebook"] = [of_process(notebooks.ask("pid", kernel=name)) for name in names]
    return found


def report_memory() -> None:
    if sys.platform != "linux":
        row("memory of kernels", None, "MB")
        return
    found = child("bench_rlm_kernel:memory")

    def resident(state: str) -> dict[str, Any]:
        return median([memory["rss"] for memory in found[state]])

    def proportional(state: str) -> float:
        return sum(memory["pss"] for memory in found[state])

    row("idle kernel, resident", resident("idle"), "MB", 11)
    row("  ipykernel", resident("notebook"), "MB")
    row(f"{KERNELS} idle kernels, proportional", proportional("idle"), "MB", 70)
    row(f"  {KERNELS} of ipykernel", proportional("notebook"), "MB")
    row(f"  losing case: after {COMMON[:23]} ...", proportional("imported"), "MB")


# Interrupt -----------------------------------------------------------------------------------


def task_interrupt() -> dict[str, Any]:
    kernel, notebooks = PluginKernel(), Notebooks()
    phase = random.Random(1)

    def stop(code: str) -> float:
        """From the user's stop, at any moment of the wait, until the next cell has its answer."""
        pressed = time.perf_counter() + 0.15 + phase.random() * 0.1
        answer = kernel.run(code, interrupted=lambda: time.perf_counter() > pressed)
        if answer.stopped != "user" or answer.death or not answer.reply.get("interrupted"):
            raise RuntimeError(f"{code!r} was not interrupted: {answer}")
        kernel.run("1+1")
        return time.perf_counter() - pressed

    found = {}
    with running(kernel, notebooks):
        notebooks.ask("boot")
        for name, code in STOPPED.items():
            found[name] = taking_turns(
                10,
                ours=lambda code=code: stop(code),
                theirs=lambda code=code: notebooks.ask("interrupt", code, 0.15),
            )
    return found


def task_killed() -> dict[str, Any]:
    """A loop in C that looks at no signal, by the tool as an agent calls it; the kernel is replaced."""
    from hermes_rlm import tools
    from hermes_rlm.kernel import handle

    run = tools.TOOLS[0].handler
    told = {"session_id": "bench", "task_id": "bench"}
    limit = 0.3
    grace = handle.GRACE_SECONDS + handle.SALVAGE_BEGINS_SECONDS
    times = []
    for _ in range(2):
        run({"code": "kept = 1"}, **told)
        taken = seconds(lambda: run({"code": C_LOOP, "timeout": limit}, **told))
        taken += seconds(lambda: run({"code": "1+1"}, **told))
        times.append(taken - limit)
    return {"times": times, "grace": grace}


def report_interrupt() -> None:
    found = child("bench_rlm_kernel:interrupt")
    for name, times in found.items():
        row(f"stop of {name} to usable again", median(milliseconds(times["ours"])), "ms", 200)
        row("  losing case: ipykernel, told at once", median(milliseconds(times["theirs"])), "ms")
    killed = child("bench_rlm_kernel:killed")
    grace = killed["grace"]
    row(f"losing case: {C_LOOP}, kernel replaced", median(killed["times"]), "s")
    row(f"  beyond the {grace:g} s it is given", median([one - grace for one in killed["times"]]), "s")


# Output --------------------------------------------------------------------------------------


def task_output() -> dict[str, Any]:
    """The memory is that of this process, which stands for the host."""
    kernel = PluginKernel()
    with running(kernel):
        kernel.run("print(1)")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        taken = kernel.timed(FLOOD)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        small = kernel.timed("print('x' * 2000)")
    kept = sum(path.stat().st_size for path in (home() / "state").glob("*-stdout.txt"))
    unit = 1 if sys.platform == "darwin" else 1024
    return {"seconds": taken, "memory": grown * unit / 1e6, "kept": kept / 1e6, "small": small}


def task_bare_output() -> dict[str, Any]:
    """The same from an interpreter into a file, read by nobody."""
    import subprocess

    with open(home() / "flood", "wb") as file:
        taken = seconds(
            lambda: subprocess.run([sys.executable, "-I", "-S", "-c", FLOOD], stdout=file, check=True)
        )
    os.unlink(home() / "flood")
    return {"seconds": taken}


def report_output() -> None:
    found, bare = child("bench_rlm_kernel:output"), child("bench_rlm_kernel:bare_output")
    row(f"print of {OUTPUT // 1_000_000} MB in a cell, all kept in a file", found["seconds"], "s")
    row("  the host's memory grows by", found["memory"], "MB")
    row("  in the file", found["kept"], "MB")
    row("  losing case: python > file", bare["seconds"], "s")
