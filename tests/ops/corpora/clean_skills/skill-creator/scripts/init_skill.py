#!/usr/bin/env python3
"""Create the skeleton of a new skill."""
import argparse
import re
import sys
from pathlib import Path

TEMPLATE = """---
name: {name}
description: TODO what it does and when to use it.
---

# {title}

## Steps

1. TODO
"""


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("name")
    ap.add_argument("--path", required=True)
    a = ap.parse_args()
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", a.name):
        sys.exit("name: lower case, digits, hyphens")
    d = Path(a.path).expanduser() / a.name
    if d.exists():
        sys.exit(f"{d} exists")
    for sub in ("scripts", "references", "assets"):
        (d / sub).mkdir(parents=True)
    (d / "SKILL.md").write_text(TEMPLATE.format(name=a.name, title=a.name.replace("-", " ").capitalize()))
    print("created", d)


if __name__ == "__main__":
    main()
