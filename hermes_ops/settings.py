"""Settings: what is asked for by name, where it may stand, its default and its check.

A value is looked for in the environment, in `$HERMES_HOME/.env`, and in config.yaml under `ops:` (or
`plugins.entries.hermes-ops`), in this order. What is set and wrong is said, and the default holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._common.config import plugin_settings, read_config
from .errors import Unreadable

_MISSING = object()


@dataclass(frozen=True)
class Option:
    """One setting: `name` in config.yaml ("wallet.floor"), names in the environment, kind, default.

    ``check`` turns what was written into the value, or raises ValueError saying what was expected.
    """

    name: str
    default: Any
    check: Callable[[Any], Any]
    help: str
    variables: tuple[str, ...] = ()
    secret: bool = False


@dataclass
class Settings:
    """The values by name, where each came from ("default", a variable, "config.yaml"), and what is wrong."""

    values: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


def load(home: Path, options: Iterable[Option]) -> Settings:
    """Read `options` for a home. Never raises; `problems` says what was set and is wrong."""
    from .host.environment import lookup

    config = read_config(home)
    written = plugin_settings("hermes-ops", "ops", config)
    found = Settings(problems=[written.problem] if written.problem else [])
    for option in options:
        value, source = written.get(option.name, _MISSING), "config.yaml"
        for variable in option.variables:
            try:
                text = lookup(variable, home)
            except Unreadable as error:  # an `.env` that cannot be read is said, once
                found.problems += [str(error)] if str(error) not in found.problems else []
                text = None
            if text is not None:
                value, source = text, variable
                break
        try:
            checked = option.default if value is _MISSING or value is None else option.check(value)
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            shown = "" if option.secret else f" {said(value)!r}"
            found.problems.append(f"{source}: {option.name}{shown}: {error}; {option.default!r} holds")
            checked, source = option.default, "default"
        found.values[option.name] = checked
        found.sources[option.name] = "default" if value is _MISSING or value is None else source
    return found


def said(value: Any) -> str:
    """A value as a person may read it: no secrets, addresses without their query, at most 80 characters."""
    from .core.http import shown
    from .core.incident_text import redacted

    if isinstance(value, str) and "://" in value:
        return shown(value)[:80]
    return redacted(str(value)[:4000])[:80]


# The modules below hermes_ops that have OPTIONS.
MODULES = (
    "core.action",
    "core.alert",
    "core.incident",
    "core.run",
    "doctor",
    "guard.options",
    "guard.second",
    "guard.watch",
    "liveness.backup",
    "liveness.service",
    "quality.probes",
    "schedule.deliveries",
    "schedule.moving",
    "schedule.remind",
    "schedule.sweep",
    "spend.accounts",
    "spend.budget",
    "spend.thinking",
)


def all_options() -> list[Option]:
    """Every setting there is, by name."""
    from importlib import import_module

    modules = [import_module(f".{name}", __package__) for name in MODULES]
    return sorted((option for module in modules for option in module.OPTIONS), key=lambda one: one.name)


def unknown_names(home: Path, options: Iterable[Option]) -> list[str]:
    """What is written under `ops:` in config.yaml and is no setting, one line each with the nearest name."""
    from difflib import get_close_matches

    known = {option.name for option in options}
    problems = []
    for name in _written(plugin_settings("hermes-ops", "ops", read_config(home)).values, known):
        near = get_close_matches(name, known, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        problems.append(f"config.yaml: ops.{name} is no setting{hint}")
    return problems


def _written(values: Any, known: set[str], above: str = "") -> list[str]:
    """Dotted names of what is written and not known; what stands below a known name is its value."""
    found: list[str] = []
    for key, value in values.items():
        name = f"{above}{key}"
        if name in known:
            continue
        inner = isinstance(value, dict) and any(one.startswith(f"{name}.") for one in known)
        found += _written(value, known, f"{name}.") if inner else [name]
    return found


def number(minimum: float | None = None, maximum: float | None = None) -> Callable[[Any], float]:
    """A check: a finite number in a range."""

    def check(value: Any) -> float:
        try:
            found = float(value)
        except (TypeError, ValueError, OverflowError):
            found = float("nan")
        low = float("-inf") if minimum is None else minimum
        high = float("inf") if maximum is None else maximum
        if isinstance(value, bool) or not (low <= found <= high) or found in (float("inf"), float("-inf")):
            raise ValueError(f"expected a number{_range(minimum, maximum)}")
        return found

    return check


def text(value: Any) -> str:
    """A check: text, not empty."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("expected text")
    return value.strip()


def switch(value: Any) -> bool:
    """A check: true or false, also as yes/no, on/off, 1/0."""
    known = {
        "true": True,
        "yes": True,
        "on": True,
        "1": True,
        "false": False,
        "no": False,
        "off": False,
        "0": False,
    }
    found = known.get(str(value).strip().lower())
    if found is None:
        raise ValueError("expected true or false")
    return found


def choice(*values: str) -> Callable[[Any], str]:
    """A check: one of the named values."""

    def check(value: Any) -> str:
        found = str(value).strip().lower()
        if found not in values:
            raise ValueError(f"expected one of {', '.join(values)}")
        return found

    return check


def words(value: Any) -> tuple[str, ...]:
    """A check: a list of texts, or one text parted by commas."""
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)):
        raise ValueError("expected a list, or text parted by commas")
    return tuple(found for item in items if (found := str(item).strip()))


def _range(minimum: float | None, maximum: float | None) -> str:
    if minimum is not None and maximum is not None:
        return f" from {minimum:g} to {maximum:g}"
    if minimum is not None:
        return f" of at least {minimum:g}"
    return f" of at most {maximum:g}" if maximum is not None else ""
