"""The guard's settings in config.yaml; what decides over commands stands in the accepted policy instead."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..settings import Option, Settings, load
from .decisions import MOST_BYTES

SMART = ("ask", "trust")


def _smart(value: Any) -> str:
    if value not in SMART:
        raise ValueError("expected ask or trust")
    return str(value)


def _bytes(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 10_000:
        raise ValueError("expected a number of bytes of at least 10000")
    return value


OPTIONS = (
    Option(
        "guard.smart",
        "ask",
        _smart,
        "in the host's smart mode: ask a person as well, or trust the model that the host asks first",
    ),
    Option("guard.log_bytes", MOST_BYTES, _bytes, "size at which the log of decisions is begun anew"),
)

_known: dict[str, tuple[tuple[int, ...], Settings]] = {}


def current(home: Path) -> Settings:
    """The settings of a home, read again when config.yaml has changed."""
    key = str(home)
    mark = _mark(home / "config.yaml")
    known = _known.get(key)
    if known is None or known[0] != mark:
        known = _known[key] = (mark, load(home, OPTIONS))
    return known[1]


def _mark(path: Path) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size, found.st_ino
