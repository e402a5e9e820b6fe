"""Variables of a home: the process environment, then `<home>/.env`.

The host strips provider keys and bot tokens from the environment of its cron scripts, so whoever runs
under cron has to read `.env`.
"""

from __future__ import annotations

from pathlib import Path


def variables(home: Path) -> dict[str, str]:
    """What `<home>/.env` sets, read as the host reads it (export, quotes, comments, BOM); {} without it."""
    raise NotImplementedError


def lookup(name: str, home: Path) -> str | None:
    """The value of `name`: the process environment, else `.env`; None when unset or empty."""
    raise NotImplementedError
