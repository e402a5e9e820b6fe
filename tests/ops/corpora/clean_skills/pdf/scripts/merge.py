#!/usr/bin/env python3
"""merge.py OUT IN [IN ...]"""
import sys
from pathlib import Path

from pypdf import PdfReader, PdfWriter


def main(argv):
    if len(argv) < 2:
        sys.exit(__doc__)
    out, inputs = Path(argv[0]), [Path(p) for p in argv[1:]]
    if out.exists():
        sys.exit(f"{out} exists already")
    w = PdfWriter()
    for p in inputs:
        r = PdfReader(p)
        if r.is_encrypted:
            sys.exit(f"{p} is encrypted")
        for page in r.pages:
            w.add_page(page)
    with out.open("wb") as f:
        w.write(f)
    print(f"{out}: {len(w.pages)} pages")


if __name__ == "__main__":
    main(sys.argv[1:])
