"""The commands of the corpora, as text to read. They are never run."""

from __future__ import annotations

import json
from pathlib import Path

CORPORA = Path(__file__).parents[1] / "corpora"


def commands() -> list[str]:
    """Every command of every corpus, each once."""
    found: dict[str, None] = {}
    for path in sorted(CORPORA.glob("commands_*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            if line.strip():
                found[json.loads(line)["cmd"]] = None
    return list(found)
