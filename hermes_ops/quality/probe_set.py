"""The declared checks of `<home>/ops/probes.toml`, validated as a whole before the first one runs.

    [[probe]]
    id = "digest-fresh"
    kind = "file_fresh"
    title = "the morning digest was written"
    path = "cron/output/06c6883b7ddd"
    max_age_hours = 26

Relative paths are below the home; `~` is the user's own home. A set with one fault does not run at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ..core import toml_file
from ..errors import OpsError

FILE = "probes.toml"
LONGEST = 600.0  # seconds that one probe may be given
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_COMMON = ("id", "kind", "title", "timeout")


@dataclass(frozen=True)
class Probe:
    """One declared check; ``options`` are those of its kind, defaults filled in. ``timeout`` in seconds."""

    id: str
    kind: str
    title: str
    timeout: float
    options: Mapping[str, Any]


def load(home: Path) -> list[Probe]:
    """Read and validate the set of a home. Raises OpsError naming the probe and the key."""
    path = home / "ops" / FILE
    raw = toml_file.read(path)
    if raw is None:
        raise OpsError(f"{path} does not exist; `hermes ops probes init` writes one to start from")
    toml_file.known(raw, ("probe",), str(path))
    rows = raw.get("probe", [])
    if not isinstance(rows, list) or not rows:
        raise OpsError(f"{path}: there is no [[probe]] in it, so nothing would be checked")
    probes = [_probe(row, f"{path}: probe {number}", home) for number, row in enumerate(rows, 1)]
    seen: set[str] = set()
    for probe in probes:
        if probe.id in seen:
            raise OpsError(f"{path}: two probes are called {probe.id!r}")
        seen.add(probe.id)
    return probes


def _probe(row: Any, where: str, home: Path) -> Probe:
    if not isinstance(row, dict):
        raise OpsError(f"{where}: expected a [[probe]] table")
    name = row.get("id")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise OpsError(f"{where}: id {name!r}: expected up to 64 of a-z, 0-9, dot, dash, underscore")
    where = f"{where} ({name})"
    kind = row.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise OpsError(
            f"{where}: kind {kind!r} is not known{_near(kind, KINDS)}; there are: {', '.join(KINDS)}"
        )
    known = KINDS[kind]
    for key in row:
        if key not in known and key not in _COMMON:
            raise OpsError(f"{where}: {key!r} is no key of {kind}{_near(key, (*known, *_COMMON))}")
    timeout = row.get("timeout", 30.0)
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 < timeout <= LONGEST:
        raise OpsError(f"{where}: timeout {timeout!r}: expected seconds, more than 0 and at most {LONGEST:g}")
    options = {}
    for key, (default, check) in known.items():
        if key not in row and default is REQUIRED:
            raise OpsError(f"{where}: {key} is missing")
        value = row.get(key, default)
        try:
            options[key] = check(value, home) if key in row else value
        except ValueError as error:
            raise OpsError(f"{where}: {key} {repr(value)[:80]}: {error}") from None
    title = row.get("title", name)
    if not isinstance(title, str) or not title.strip():
        raise OpsError(f"{where}: title: expected text")
    return Probe(name, kind, title.strip(), float(timeout), options)


def _near(name: Any, known: Any) -> str:
    near = get_close_matches(str(name), [str(one) for one in known], 1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def _is_text(value: Any) -> bool:
    """Text that can be a path or an argument of a process; a NUL cannot."""
    return isinstance(value, str) and bool(value) and "\0" not in value


def _path(value: Any, home: Path) -> Path:
    if not _is_text(value) or not value.strip():
        raise ValueError("expected a path")
    if value.startswith("~"):
        try:
            return Path(value).expanduser()
        except RuntimeError:
            raise ValueError("there is no such user") from None
    return home / value


def _glob(value: Any, home: Path) -> str:
    return str(_path(value, home))


def _amount(minimum: float) -> Callable[[Any, Path], float]:
    def check(value: Any, home: Path) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not minimum <= value <= 1e15:
            raise ValueError(f"expected a number of at least {minimum:g}")
        return value

    return check


def _pattern(value: Any, home: Path) -> str:
    if not _is_text(value):
        raise ValueError("expected a regular expression")
    try:
        re.compile(value)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"not a regular expression: {error}") from None
    return value


def _names(value: Any, home: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(map(_is_text, value)):
        raise ValueError("expected a list of texts, not empty")
    return tuple(value)


def _expectation(value: Any, home: Path) -> str:
    if value not in ("silent", "output", "any"):
        raise ValueError('expected "silent", "output" or "any"')
    return value


REQUIRED = object()
_Key = tuple[Any, Callable[[Any, Path], Any]]
KINDS: dict[str, dict[str, _Key]] = {
    "file_fresh": {
        "path": (REQUIRED, _path),
        "max_age_hours": (24, _amount(0)),
        "min_bytes": (1, _amount(0)),
    },
    "files_not_empty": {
        "glob": (REQUIRED, _glob),
        "max_empty": (0, _amount(0)),
        "min_files": (1, _amount(0)),
    },
    "json_keys": {"path": (REQUIRED, _path), "keys": (REQUIRED, _names), "min_items": (0, _amount(0))},
    "text_match": {
        "path": (REQUIRED, _path),
        "pattern": (REQUIRED, _pattern),
        "min_count": (1, _amount(0)),
        "max_count": (None, _amount(0)),
    },
    "command": {
        "argv": (REQUIRED, _names),
        "expect": ("silent", _expectation),
        "exit_code": (0, _amount(0)),
        "cwd": (None, _path),
    },
    "no_secrets": {"glob": (REQUIRED, _glob), "newest": (200, _amount(1)), "min_files": (1, _amount(0))},
}
