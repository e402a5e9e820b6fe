"""The figures of hermes_rlm, their bars, and the ratio of both (up to 1.00 is within the bar).

Compared things take turns in one run; spread is from the 5th to the 95th percentile (of fewer than 20
values the least and the most). Machines are shared: compare ratios, and run it twice before believing a miss.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import sys
from pathlib import Path

import bench_rlm_measure as measure

REPORTS = {
    "register": "bench_rlm_host",
    "boot": "bench_rlm_kernel",
    "trip": "bench_rlm_kernel",
    "handler": "bench_rlm_host",
    "memory": "bench_rlm_kernel",
    "bridge": "bench_rlm_host",
    "interrupt": "bench_rlm_kernel",
    "saving": "bench_rlm_saving",
    "output": "bench_rlm_kernel",
    "context": "bench_rlm_context",
}


def run_task(answer: str, task: str, *arguments: str) -> None:
    """Run one task and leave what it returns in a file; the process ends without the host's farewell."""
    module, _, name = task.partition(":")
    found = getattr(importlib.import_module(module), f"task_{name}")(*arguments)
    Path(answer).write_text(json.dumps(found), "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", default="", help=f"only reports whose name holds this: {', '.join(REPORTS)}"
    )
    parser.add_argument("--task", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        run_task(*options.task)
        return 0
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    print(f"Python {platform.python_version()}, {machine}")
    measure.heading()
    for name, module in REPORTS.items():
        if options.only in name:
            getattr(importlib.import_module(module), f"report_{name}")()
    return 0


if __name__ == "__main__":
    sys.exit(main())
