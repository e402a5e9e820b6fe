"""Toolsets: which names the host knows, which tools each gives, and which tools a job ends up with.

The host is asked when its module can be imported; elsewhere a dated table answers. A name that may be a
plugin's or an MCP server's is "cannot tell", not wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType

from .._common.config import HostConfig
from .jobs import Job
from .toolset_table import (
    CRON_DEFAULT,
    EVERYTHING,
    HOST,
    INCLUDES,
    LEGACY,
    NEVER_IN_CRON,
    TOOLS,
)

_NO_MCP = "no_mcp"


@dataclass(frozen=True)
class Toolsets:
    """The toolsets as they are known here.

    source   "host", or "table of <version>"
    names    every name there is
    servers  the MCP servers that config.yaml switches on; None when the config is unknown
    certain  whether a name that is not there does not exist: no plugin can have brought it
    disabled, default  toolsets that config.yaml takes from every agent; those of a job that names none
    """

    source: str
    names: frozenset[str]
    resolve: Callable[[str], frozenset[str]]
    servers: frozenset[str] | None
    certain: bool
    disabled: frozenset[str] = frozenset()
    default: tuple[str, ...] = CRON_DEFAULT

    def known(self, name: str) -> bool | None:
        """Whether the host takes `name`: True, False, or None when that cannot be told here."""
        if name in self.names or name in EVERYTHING or name in LEGACY or name == _NO_MCP:
            return True
        if self.servers is not None and name in self.servers:
            return True
        if self.near(name):
            return False  # a slip of the pen rather than a plugin called almost like a toolset
        return False if self.certain and self.servers is not None else None

    def near(self, name: str) -> str | None:
        """The toolset whose name is almost `name`."""
        from difflib import get_close_matches

        found = get_close_matches(name.lower(), sorted(self.names), 1, 0.8)
        return found[0] if found else None

    def tools(self, name: str) -> frozenset[str] | None:
        """The tools of a toolset, of what it includes too; None when that cannot be told (an MCP server)."""
        if name == _NO_MCP:
            return frozenset()
        if name in EVERYTHING:
            return frozenset().union(*map(self.resolve, self.names))
        if name in self.names:
            return self.resolve(name)
        if name in LEGACY:
            return frozenset(LEGACY[name].split())
        return None


@dataclass(frozen=True)
class JobTools:
    """The tools of a job's agent. ``restricted``: the job names its toolsets.

    by_toolset  name as written -> its tools, None for one that cannot be told
    names       all tools together, without those that scheduled agents never get
    complete    whether `names` is all: no toolset that cannot be told, no MCP server
    """

    restricted: bool
    by_toolset: dict[str, frozenset[str] | None]
    names: frozenset[str]
    complete: bool


def read_toolsets(config: HostConfig) -> Toolsets:
    """The toolsets of the host of this process and a home's config; the dated table without a host."""
    servers, plugins, disabled, default = _from_config(config)
    host = _host_module()
    if host is None:
        return Toolsets(
            f"table of {HOST}", frozenset(TOOLS) | frozenset(INCLUDES), _from_table, servers, not plugins,
            disabled, default,
        )  # fmt: skip
    # Plugins register their toolsets where the host loads them: there a name is known or it is wrong.
    live = "tools.registry" in sys.modules and "hermes_cli.plugins" in sys.modules
    names = frozenset(host.get_toolset_names() if live else host.TOOLSETS)

    def resolve(name: str) -> frozenset[str]:
        return frozenset(
            host.resolve_toolset(name) if live else host.resolve_toolset(name, include_registry=False)
        )

    return Toolsets("host", names, resolve, servers, live or not plugins, disabled, default)


def job_tools(job: Job, toolsets: Toolsets) -> JobTools:
    """The tools with which the agent of a job starts, by the host's rule for scheduled agents."""
    restricted = bool(job.toolsets)
    names = [name for name in job.toolsets or toolsets.default if name != _NO_MCP]
    by_toolset = {
        name: toolsets.tools(name) if toolsets.known(name) else _unknown(toolsets, name) for name in names
    }
    found = frozenset().union(*(tools for tools in by_toolset.values() if tools))
    for name in (*NEVER_IN_CRON, *sorted(toolsets.disabled)):
        if not name.startswith("hermes-"):
            found -= toolsets.tools(name) or frozenset()
    alone = _NO_MCP in (job.toolsets or ()) or toolsets.servers == frozenset()
    return JobTools(restricted, by_toolset, found, alone and None not in by_toolset.values())


def _unknown(toolsets: Toolsets, name: str) -> frozenset[str] | None:
    return frozenset() if toolsets.known(name) is False else None


def _from_table(name: str) -> frozenset[str]:
    found = set(TOOLS.get(name, "").split())
    for part in INCLUDES.get(name, "").split():
        found |= {part[1:]} if part.startswith("+") else _from_table(part)
    return frozenset(found)


def _host_module() -> ModuleType | None:
    """The host's module of toolsets: loaded, or importable (it needs the standard library alone)."""
    module = sys.modules.get("toolsets")
    if module is None:
        from importlib import import_module
        from importlib.util import find_spec

        try:
            # Other software has modules of that name: it is the host's where the host's constants are too.
            if find_spec("hermes_constants") is None or find_spec("toolsets") is None:
                return None
            module = import_module("toolsets")
        except (ImportError, ValueError):
            return None
    wanted = ("resolve_toolset", "get_toolset_names", "TOOLSETS")
    return module if all(hasattr(module, name) for name in wanted) else None


def _from_config(
    config: HostConfig,
) -> tuple[frozenset[str] | None, bool, frozenset[str], tuple[str, ...]]:
    """MCP servers that are on (None: unknown), whether plugins are, disabled toolsets, toolsets for cron."""
    if not config.known:
        return None, True, frozenset(), CRON_DEFAULT
    servers = config.get("mcp_servers")
    on = frozenset(
        str(name)
        for name, server in (servers.items() if isinstance(servers, dict) else ())
        if isinstance(server, dict)
        and str(server.get("enabled", True)).strip().lower() not in ("false", "0", "no", "off")
    )
    plugins = bool(_texts(config.get("plugins.enabled")))
    default = tuple(_texts(config.get("platform_toolsets.cron"))) or CRON_DEFAULT
    return on, plugins, frozenset(_texts(config.get("agent.disabled_toolsets"))), default


def _texts(value: object) -> list[str]:
    items: Iterable[object] = [value] if isinstance(value, str) else value if isinstance(value, list) else ()
    return [text for item in items if (text := str(item).strip())]
