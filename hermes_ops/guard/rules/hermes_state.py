"""The parts of the host's home: what keeps the agent in check, what it lives by, and what is free."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import lru_cache

from .. import links
from .names import names
from .paths import components
from .secrets import below_hermes

PLUGIN_NAMES = frozenset({"hermes-ops", "hermes_ops"})
_INSTALLED = frozenset({"plugins", "site-packages", "dist-packages"})
# Changing one of them changes what may run, or who is asked.
CONTROLS = frozenset({"config.yaml", "config.yml", "shell-hooks-allowlist.json", "plugins.lock"}) | {
    ".hermes-ops-guard.json"  # says that a policy of the guard was accepted
}
_STATE_FILES = frozenset(
    {
        ".env",
        "auth.json",
        ".anthropic_oauth.json",
        "state.db",
        "state.db-wal",
        "state.db-shm",
        "SOUL.md",
        "pairing",
    }
)
_STATE_FOLDERS = names(
    "plugins skills memories sessions cron profiles hermes-agent hooks ops credentials checkpoints kanban"
)


class Part(Enum):
    """What a path below the host's home is."""

    GUARD = "the guard, its policy, or a setting that decides what may run"
    STATE = "what the agent lives by"
    PLUGIN = "a plugin of the agent"
    CODE = "code that the agent's host runs by itself"
    KEPT = "one of the agent's own records"
    FREE = "a file of the agent"


def part_of(path: str, home: str, hermes_home: str) -> Part | None:
    """What a path is to the host, by its name or by what it really is; None when it is nothing to it."""
    found = part_named(path, home, hermes_home)
    if found not in (None, Part.FREE, Part.KEPT) or not links.are_followed():
        return found
    really = part_named(links.real(path, last=False), links.real(home), links.real(hermes_home))
    return found if really is None or really is Part.FREE else really


def part_named(path: str, home: str, hermes_home: str) -> Part | None:
    """What a path is to the host by its name alone."""
    return (_part_again if len(path) < _LONG else _part)(path, home, hermes_home)


def _part(path: str, home: str, hermes_home: str) -> Part | None:
    parts = components(path)
    if not PLUGIN_NAMES.isdisjoint(parts):
        at = next(index for index, part in enumerate(parts) if part in PLUGIN_NAMES)
        if not _INSTALLED.isdisjoint(parts[:at]):
            return Part.GUARD
    below = below_hermes(parts, home, hermes_home)
    return None if below is None else _below(below)


# Several rules ask about the same path; a cache of long ones would only take room.
_LONG = 200
_part_again = lru_cache(maxsize=1024)(_part)


def _below(below: Sequence[str]) -> Part:
    if not below:
        return Part.STATE
    first = below[0]
    if first in CONTROLS:
        return Part.GUARD
    if first == "plugins":
        return Part.STATE if len(below) == 1 else Part.PLUGIN
    if first == "ops":
        return Part.GUARD if len(below) == 1 or below[1].startswith("guard") else Part.KEPT
    if first in _STATE_FILES or (len(below) == 1 and first in _STATE_FOLDERS):
        return Part.STATE
    if first in ("hermes-agent", "hooks", "cron"):
        return Part.CODE
    if first == "profiles" and len(below) == 2:
        return Part.STATE
    return Part.KEPT if first in _STATE_FOLDERS else Part.FREE
