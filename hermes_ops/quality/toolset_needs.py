"""What a prompt needs, as data: `toolset_needs.toml` says which words ask for which kind of tool."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Need:
    """One kind of thing a prompt asks for: any one of ``tools`` does it, ``toolset`` is what to add."""

    name: str
    toolset: str
    tools: frozenset[str]
    phrases: tuple[str, ...]


@cache
def needs() -> tuple[Need, ...]:
    """The shipped map, in its order."""
    import tomllib

    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return tuple(
        Need(
            one["name"],
            one["toolset"],
            frozenset(one["tools"].split()),
            tuple(one["phrases"].strip("\n").split("\n")),
        )
        for one in table["need"]
    )
