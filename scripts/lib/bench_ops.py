"""The figures of hermes_ops without the guard, their bars, and the ratio of both (up to 1.00 is within).

Compared things take turns in one run; spread is from the 5th to the 95th percentile (of fewer than 20
values the least and the most). Machines are shared: compare ratios, and run it twice before believing a miss.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
import tempfile

import bench_rlm_measure as measure

REPORTS = {
    "watchers": "bench_ops_watchers",
    "database": "bench_ops_database",
    "logs": "bench_ops_gateway",
    "register": "bench_ops_gateway",
    "days": "bench_ops_days",
    "losing": "bench_ops_losing",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only", default="", help=f"only reports whose name holds this: {', '.join(REPORTS)}"
    )
    options = parser.parse_args()
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors"
    print(f"Python {platform.python_version()}, {machine}")
    measure.heading()
    with tempfile.TemporaryDirectory(prefix="bench-ops-none-") as nowhere:
        # The host is imported for its tables and defaults: it is to find no home of anybody's.
        os.environ["HERMES_HOME"] = nowhere
        for name, module in REPORTS.items():
            if options.only in name:
                getattr(importlib.import_module(module), f"report_{name}")()
    return 0


if __name__ == "__main__":
    sys.exit(main())
