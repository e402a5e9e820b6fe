"""Where the skills of a home lie: its own folder, and `skills.external_dirs` as the host resolves them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._common.config import FILE_NAME, lookup, read_config
from .._common.files import read_regular
from . import small_yaml
from .frontmatter import CannotCheck, load_yaml


@dataclass
class Roots:
    """The folders the host looks for skills in, in its order.

    missing   external folders that are configured and not there
    disabled  names of skills that are switched off
    unknown   why config.yaml is not known; then there may be more folders. "" when it is
    """

    paths: list[Path] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    disabled: frozenset[str] = frozenset()
    unknown: str = ""


def roots_of(home: Path) -> Roots:
    """The skill folders of one home; `<home>/skills` first, whether it is there or not."""
    settings, unknown = _settings(home)
    found = Roots([home / "skills"], disabled=frozenset(_names(settings.get("disabled"))), unknown=unknown)
    local = os.path.realpath(home / "skills")
    seen = {local}
    for item in _list(settings.get("external_dirs")):
        text = str(item).strip()
        if not text:
            continue
        path = Path(os.path.expanduser(os.path.expandvars(text)))
        real = os.path.realpath(path if path.is_absolute() else home / path)
        if real in seen:
            continue
        if os.path.isdir(real):
            seen.add(real)
            found.paths.append(Path(real))
        else:
            found.missing.append(text)
    return found


def _settings(home: Path) -> tuple[dict[str, Any], str]:
    config = read_config(home)
    if config.known:
        return _mapping(lookup(config.values, "skills")), ""
    # PyYAML may be missing outside the host; the few lines that matter here are read without it.
    path = home / FILE_NAME
    try:
        values = load_yaml(read_regular(path, 2_000_000).decode("utf-8-sig").replace("\r\n", "\n"))
    except (small_yaml.Broken, CannotCheck, UnicodeDecodeError, OSError):
        return {}, config.problem or f"{path}: cannot be read"
    return _mapping(lookup(values, "skills")), ""


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return [value] if isinstance(value, str) else value if isinstance(value, list) else []


def _names(value: Any) -> Iterable[str]:
    return {str(one).strip() for one in _list(value)} - {""}
