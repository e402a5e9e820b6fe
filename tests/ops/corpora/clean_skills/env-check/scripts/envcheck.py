#!/usr/bin/env python3
"""Compare the environment with .env.example. Shows names only."""
import os
import sys


def names(path):
    for line in open(path, encoding="utf-8"):
        line = line.strip()
        if not line or line.startswith("#") or "=" not in line:
            continue
        yield line.split("=", 1)[0].removeprefix("export ").strip()


def main():
    bad = 0
    for n in names(sys.argv[1] if len(sys.argv) > 1 else ".env.example"):
        v = os.environ.get(n)
        state = "missing" if v is None else "empty" if v == "" else "set"
        bad += state != "set"
        print(f"{state:8} {n}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
