"""Read-only view of the host's config.yaml: the value, and whether it is known at all."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .files import read_regular
from .home import hermes_home

FILE_NAME = "config.yaml"

# Keys of plugins.entries.<name> that belong to the host, not to the plugin.
HOST_ENTRY_KEYS = frozenset(
    {"settings", "llm", "allow_tool_override", "granted_capabilities", "capabilities_consent"}
)

# The host merges a managed file and environment variables into its config; a change of those alone
# does not touch config.yaml, so what the host said is asked again after this many seconds.
HOST_RECHECK_SECONDS = 30.0

_MAX_BYTES = 8_000_000
# No config is nested deeper; a list in a list in a list ... overflows the stack of the C reader.
_DEEPEST = 400
_INDICATORS = re.compile(r"(?:[-?:][ \t]+){2,}")
_MISSING = object()


class HostConfig:
    """One reading of config.yaml.

    values   nested dict, not to be changed: the host hands out its own cached object
    known    False when the file is there and could not be read; what is asked for is then unknown, and
             `get` answers from the last good reading of this process, else with the default
    source   "host" (its loader: defaults, managed file and ${VAR} merged in), "yaml" (the file itself),
             "absent" (no file: nothing is set) or "unreadable"
    problem  one line saying what is wrong and where, or None; never a value of the file
    """

    __slots__ = ("known", "path", "problem", "source", "values")

    def __init__(
        self,
        path: Path,
        values: Mapping[str, Any],
        source: str,
        known: bool = True,
        problem: str | None = None,
    ) -> None:
        self.path = path
        self.values = values
        self.source = source
        self.known = known
        self.problem = problem

    def get(self, dotted: str, default: Any = None) -> Any:
        """The value under `a.b.c`, or `default` when a part is missing; a set null is None.

        A key may itself hold dots ("plugins.entries.some.name"): the longest key that exists wins.
        """
        return lookup(self.values, dotted, default)

    def __repr__(self) -> str:
        return f"HostConfig({str(self.path)!r}, source={self.source!r}, known={self.known}, {self.problem!r})"


class PluginSettings:
    """The settings of one plugin; the same fields as HostConfig, `values` holding only its own keys."""

    __slots__ = ("known", "problem", "source", "values")

    def __init__(self, values: dict[str, Any], source: str, known: bool, problem: str | None) -> None:
        self.values = values
        self.source = source
        self.known = known
        self.problem = problem

    def get(self, dotted: str, default: Any = None) -> Any:
        """The value under `a.b.c`, or `default` when a part is missing."""
        return lookup(self.values, dotted, default)


def read_config(home: str | os.PathLike[str] | None = None) -> HostConfig:
    """The config of `home` (default: the home of this call). Never raises; costs one stat when unchanged.

    Inside the host its own loader is asked. Elsewhere config.yaml is parsed with PyYAML when that can be
    imported; when it cannot, the config is unknown, not default.
    """
    here = hermes_home()
    path = (here if home is None else Path(home)) / FILE_NAME
    host = sys.modules.get("hermes_cli.config") if path.parent == here else None
    signature = _signature(path)
    now = time.monotonic()
    cached = _cache.get((str(path), host is not None))
    fresh = cached is not None and cached[0] == signature
    if fresh and (host is None or now - cached[1] < HOST_RECHECK_SECONDS):
        return cached[2]
    config = _read(path, signature, host)
    _cache[(str(path), host is not None)] = (signature, now, config)
    if config.known:
        _last_good[str(path)] = config.values
    return config


def plugin_settings(plugin: str, section: str, config: HostConfig | None = None) -> PluginSettings:
    """What the user set for `plugin` ("hermes-unroll"), which may also own a top-level `section` ("unroll").

    Merged key by key, later ones winning: the top-level section, then `plugins.entries.<name>`, then
    `plugins.entries.<name>.settings`. `<name>` is the plugin's name with dashes or underscores, alone or
    behind the folder of a whole-repository install ("suite/hermes_unroll"). The host's own keys of an entry
    are left out. A layer that is not a mapping is ignored and named in `problem`.
    """
    config = read_config() if config is None else config
    values: dict[str, Any] = {}
    problems = [config.problem] if config.problem else []
    for name, layer in _layers(config, plugin, section):
        if isinstance(layer, Mapping):
            values = merge(values, layer)
        elif layer is not None:
            problems.append(f"{FILE_NAME}: {name} must be a mapping, found {type(layer).__name__}")
    return PluginSettings(values, config.source, config.known, "; ".join(problems) or None)


def lookup(values: Any, dotted: str, default: Any = None) -> Any:
    """Walk nested mappings along a dotted path; see HostConfig.get."""
    found = _walk(values, dotted.split("."))
    return default if found is _MISSING else found


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """A new dict: `over` wins, mappings are merged, an empty section (null) leaves a mapping alone."""
    result = dict(base)
    for key, value in over.items():
        old = result.get(key)
        if isinstance(value, Mapping):
            result[key] = merge(old if isinstance(old, Mapping) else {}, value)
        elif not (isinstance(old, Mapping) and value is None):
            result[key] = value
    return result


# path and whether the host answered -> (signature of the file, monotonic time, reading)
_cache: dict[tuple[str, bool], tuple[tuple[int, ...] | None, float, HostConfig]] = {}
_last_good: dict[str, Mapping[str, Any]] = {}


def _signature(path: Path) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError):
        return ()
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _read(path: Path, signature: tuple[int, ...] | None, host: Any) -> HostConfig:
    if host is not None:
        values = _host_values(host)
        if values is not None:
            # The host serves its last good config, or defaults, when the file is broken, and does not say so.
            broken = _host_cannot_read(host, signature) and _parse(path).problem
            if broken:
                return HostConfig(path, values, "unreadable", False, broken)
            return HostConfig(path, values, "host")
    if signature is None:
        return HostConfig(path, {}, "absent")
    config = _parse(path)
    if not config.known and str(path) in _last_good:
        return HostConfig(path, _last_good[str(path)], config.source, False, config.problem)
    return config


def _host_values(host: Any) -> Mapping[str, Any] | None:
    load = getattr(host, "load_config_readonly", None) or getattr(host, "load_config", None)
    if load is None:
        return None
    try:
        values = load()
    except Exception:  # the host's loader runs its own migrations; whatever it raises, the file is next
        return None
    return values if isinstance(values, Mapping) else None


def _host_cannot_read(host: Any, signature: tuple[int, ...] | None) -> bool:
    """Whether the host's raw reader gave nothing for a file that has something in it."""
    if signature is None or signature[1:2] == (0,):
        return False
    try:
        return not host.read_raw_config()
    except Exception:
        return True


def _parse(path: Path) -> HostConfig:
    """Read the file without the host; any failure becomes a HostConfig with a problem."""
    try:
        import yaml
    except ImportError:
        return _unreadable(path, "PyYAML is not importable here; install it or run inside Hermes")
    try:
        values = load_yaml(read_regular(path, _MAX_BYTES).decode("utf-8-sig"))
        if values is None:
            values = {}
        if not isinstance(values, dict):
            return _unreadable(path, f"expected a mapping, found {type(values).__name__}")
        return HostConfig(path, _expand(values, {}), "yaml")
    except FileNotFoundError:
        return HostConfig(path, {}, "absent")
    except OSError as error:
        return _unreadable(path, error.strerror or type(error).__name__)
    except UnicodeDecodeError as error:
        return _unreadable(path, f"not UTF-8 at byte {error.start}")
    except RecursionError:
        return _unreadable(path, "nested too deeply")
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        return _unreadable(path, f"{where}{error.problem or error.context}")
    except (yaml.YAMLError, ValueError, TypeError, OverflowError) as error:
        return _unreadable(path, f"not valid YAML ({type(error).__name__})")


def load_yaml(text: str) -> Any:
    """A YAML document by PyYAML's safe loader, in C where that is there.

    Raises RecursionError for one nested deeper than the loader in C can take, which would end the process,
    ImportError without PyYAML, and what PyYAML raises.
    """
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    if _may_be_deep(text) and _is_deep(yaml.parse(text, Loader=loader)):
        raise RecursionError
    return yaml.load(text, Loader=loader)


def _may_be_deep(text: str) -> bool:
    """Whether a text has enough brackets, or indicators in a row, to be nested deeper than is read."""
    if text.count("[") + text.count("{") > _DEEPEST:
        return True
    return any(len(found[0].split()) > _DEEPEST // 4 for found in _INDICATORS.finditer(text))


def _is_deep(events: Iterable[Any]) -> bool:
    """Whether a document is nested deeper than the C reader, which knows no bound, should be given.

    Its parser gives one event after the other and does not nest itself.
    """
    depth = 0
    for event in events:
        name = type(event).__name__
        if name in ("SequenceStartEvent", "MappingStartEvent"):
            depth += 1
            if depth > _DEEPEST:
                return True
        elif name in ("SequenceEndEvent", "MappingEndEvent"):
            depth -= 1
    return False


def _unreadable(path: Path, why: str) -> HostConfig:
    return HostConfig(path, {}, "unreadable", False, f"{path}: {' '.join(why.split())}")


def _expand(value: Any, done: dict[int, Any]) -> Any:
    """Replace ${VAR} in strings as the host does; an unset variable stays as written.

    `done` keeps shared anchors shared, so aliases of aliases cannot grow.
    """
    if isinstance(value, str):
        if "${" not in value:
            return value
        return re.sub(r"\$\{([^}]+)\}", lambda m: os.environ.get(m.group(1), m.group(0)), value)
    if not isinstance(value, (dict, list)):
        return value
    if id(value) not in done:
        copy: Any = {} if isinstance(value, dict) else []
        done[id(value)] = copy
        if isinstance(value, dict):
            copy.update((key, _expand(item, done)) for key, item in value.items())
        else:
            copy.extend(_expand(item, done) for item in value)
    return done[id(value)]


def _walk(node: Any, parts: list[str]) -> Any:
    if not parts:
        return node
    if not isinstance(node, Mapping):
        return _MISSING
    for size in range(len(parts), 0, -1):
        key = ".".join(parts[:size])
        if key in node:
            found = _walk(node[key], parts[size:])
            if found is not _MISSING:
                return found
    return _MISSING


def _layers(config: HostConfig, plugin: str, section: str) -> list[tuple[str, Any]]:
    layers: list[tuple[str, Any]] = [(section, config.values.get(section))]
    entries = config.get("plugins.entries")
    if not isinstance(entries, Mapping):
        return layers
    names = (plugin.replace("-", "_"), plugin.replace("_", "-"))
    mine = [key for key in entries if isinstance(key, str) and key.rsplit("/", 1)[-1] in names]
    # The plain name is what the documentation tells people to write, so it wins over an install's folder.
    for key in sorted(mine, key=lambda key: ("/" not in key, key == plugin, key)):
        name, entry = f"plugins.entries.{key}", entries[key]
        if not isinstance(entry, Mapping):
            layers.append((name, entry))
            continue
        layers.append((name, {key: entry[key] for key in entry if key not in HOST_ENTRY_KEYS}))
        layers.append((f"{name}.settings", entry.get("settings")))
    return layers
