"""The copies of a plugin that a host of a home would find, and which of them it would load.

Rests on how hermes-agent 0.19 discovers plugins: `plugins/<dir>` with a manifest has the manifest's name
as its key; `plugins/<dir>/<dir>` under a directory without a manifest has `<dir>/<dir>`; an entry point
has its own name. A plugin is enabled when its key or name is listed and neither is disabled, and a
later source takes the place of an equal key.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import config
from .files import read_regular

ENTRY_POINTS = "hermes_agent.plugins"


@dataclass(frozen=True)
class Copy:
    """One copy: how it is installed ("folder", "repository", "pip"), its key, its state."""

    kind: str
    key: str
    path: str
    enabled: bool
    disabled: bool
    hidden: bool = False  # a later copy of the same key takes its place

    @property
    def active(self) -> bool:
        return self.enabled and not self.disabled and not self.hidden


def find(home: Path, name: str) -> list[Copy]:
    """Return all copies of the plugin ``name`` in the order in which the host comes to them."""
    settings = config.read_config(home)
    enabled = _names(settings.get("plugins.enabled"))
    disabled = _names(settings.get("plugins.disabled"))
    found = [
        Copy(kind, key, path, bool({key, name} & enabled), bool({key, name} & disabled))
        for kind, key, path in (*_folders(home / "plugins", name), *_entry_points(name))
    ]
    last = {copy.key: copy for copy in found}
    return [
        copy
        if last[copy.key] is copy
        else Copy(copy.kind, copy.key, copy.path, copy.enabled, copy.disabled, True)
        for copy in found
    ]


def _names(value: Any) -> set[str]:
    return {str(item) for item in value} if isinstance(value, (list, tuple, set)) else set()


def _folders(plugins: Path, plugin: str) -> Iterator[tuple[str, str, str]]:
    for directory in _subdirectories(plugins):
        name = _manifest_name(directory)
        if name == plugin:
            yield "folder", plugin, str(directory)
        elif name is None:
            for inner in _subdirectories(directory):
                if _manifest_name(inner) == plugin:
                    yield "repository", f"{directory.name}/{inner.name}", str(inner)


def _subdirectories(directory: Path) -> list[Path]:
    try:
        return [directory / name for name in sorted(os.listdir(directory)) if (directory / name).is_dir()]
    except OSError:
        return []


def _manifest_name(directory: Path) -> str | None:
    """Return the name in a plugin's manifest ("" for one without a name), None where there is no manifest."""
    for name in ("plugin.yaml", "plugin.yml"):
        try:
            text = read_regular(directory / name, 1_000_000).decode("utf-8", "replace")
        except OSError:
            continue
        match = re.search(r"^name:\s*['\"]?([^'\"\s#]+)", text, re.MULTILINE)
        return match[1] if match else ""
    return None


def _entry_points(plugin: str) -> Iterator[tuple[str, str, str]]:
    """Entry points of the Python that asks: of the host's, when the host or its Python runs this."""
    from importlib.metadata import entry_points
    from importlib.util import find_spec

    for point in entry_points(group=ENTRY_POINTS):
        if point.name == plugin:
            try:
                spec = find_spec(point.value.partition(":")[0])
            except (ImportError, ValueError):
                spec = None
            origin = os.path.dirname(spec.origin) if spec and spec.origin else point.value
            yield "pip", point.name, origin
