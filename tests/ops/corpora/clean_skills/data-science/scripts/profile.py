#!/usr/bin/env python3
"""Print a quick profile of a CSV file: types, gaps, extremes."""
import argparse
import csv
import statistics
import sys


def column_type(values):
    for kind in (int, float):
        try:
            [kind(v) for v in values if v]
            return kind.__name__
        except ValueError:
            continue
    return "text"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--delimiter", default=",")
    args = parser.parse_args()
    with open(args.file, newline="", encoding="utf-8") as handle:
        rows = list(csv.DictReader(handle, delimiter=args.delimiter))
    if not rows:
        print("empty", file=sys.stderr)
        return 1
    for name in rows[0]:
        values = [row[name] for row in rows]
        gaps = sum(not v for v in values)
        kind = column_type(values)
        extra = ""
        if kind != "text":
            numbers = [float(v) for v in values if v]
            extra = f"min={min(numbers)} median={statistics.median(numbers)} max={max(numbers)}"
        print(f"{name:20} {kind:6} gaps={gaps:5} {extra}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
