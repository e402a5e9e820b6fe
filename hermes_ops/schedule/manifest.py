"""Who watches what: our own watchers, and those that people declare in `<home>/ops/watchers.toml`.

[[watcher]]
name = "phone"
watches = ["watcher:sweep"]      # see TARGETS
layer = "outside"                # cron, service or outside
signal = "a call when the ping is late"
max_age = "26h"
survives = ["gateway restart", "reboot"]
job = "default/06c6883b7ddd"     # its job, for layer cron
file = "/var/lib/x/last-ok"      # whose time of change shows that it ran
owner = "anna"
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..core import toml_file
from ..core.watch import WATCHERS
from ..errors import OpsError

LAYERS = ("cron", "service", "outside")
EVENTS = ("gateway restart", "reboot")
DAEMON = "daemon"
PING = "ping"
TARGETS = "watcher:NAME, watchers, layer:cron, jobs, job:PROFILE/ID, or any word for what is no watcher"
_KEYS = ("name", "watches", "layer", "signal", "max_age", "survives", "job", "file", "owner")
_WATCHES = {
    "wallet": ("balance", "burn"),
    "supervisor": (f"watcher:{DAEMON}",),
    "sweep": ("jobs",),
    "deliveries": ("jobs",),
    "budget": ("spending",),
    "thinking": ("reasoning tokens",),
    "lint": ("prompts",),
    "policy": ("delivery policy",),
    "watchers": ("watchers",),
    "table": ("schedule",),
    "probes": ("declared checks",),
    "backup": ("state.db",),
}


@dataclass(frozen=True)
class Entry:
    """One watcher.

    watches   what it looks at; "watcher:x", "watchers", "layer:cron", "jobs", "job:..." name other watchers
    signal    how it says that something is wrong
    max_age   seconds after which its last good run is too old; None: its runs leave no trace here
    layer     what keeps it alive: "cron" (the gateway's scheduler), "service" (systemd), "outside"
    survives  after which of EVENTS it goes on by itself
    job       its job, "profile/id"; file: what it touches; both None for what cannot be checked from here
    minimal   whether an installation without it lacks something
    """

    name: str
    watches: tuple[str, ...]
    signal: str
    max_age: float | None
    layer: str
    survives: tuple[str, ...] = ()
    job: str | None = None
    file: str | None = None
    owner: str | None = None
    ours: bool = False
    minimal: bool = False


def built_in() -> list[Entry]:
    """Our watchers: one job each, and the supervisor's daemon beside them."""
    entries = [
        Entry(
            name=watcher.name,
            watches=_WATCHES.get(watcher.name, (watcher.summary,)),
            signal=f"a message of its job ({watcher.schedule})",
            max_age=watcher.period + min(watcher.period, 6 * 3600.0) + 600.0,
            layer="cron",
            ours=True,
            minimal=watcher.minimal,
        )
        for watcher in WATCHERS
    ]
    daemon = Entry(
        name=DAEMON,
        watches=("gateway", "layer:cron"),
        signal="an alert that does not go through the gateway",
        max_age=600.0,
        layer="service",
        survives=EVENTS,
        ours=True,
        minimal=True,
    )
    return [*entries, daemon]


def ping(url: str) -> Entry:
    """Whoever answers the ping URL: it notices when our watchers end, with this machine or alone."""
    from urllib.parse import urlsplit

    host = urlsplit(url).hostname or "the ping URL"
    return Entry(
        PING, ("watchers",), f"an alert of {host} when pings end", None, "outside", EVENTS, ours=True
    )


def load(home: Path) -> list[Entry]:
    """All watchers of a home: ours, and those of `watchers.toml`. OpsError names the entry at fault."""
    ours = built_in()
    path = home / "ops" / "watchers.toml"
    content = toml_file.read(path)
    if content is None:
        return ours
    toml_file.known(content, ("watcher",), str(path))
    theirs = [_entry(table, where) for table, where in toml_file.tables(content, "watcher", path)]
    _check_names([*ours, *theirs], path)
    return [*ours, *theirs]


def watches(one: Entry, other: Entry) -> bool:
    """Tell whether `one` would notice that `other` has stopped."""
    if one.name == other.name:
        return False
    for target in one.watches:
        kind, _, rest = target.partition(":")
        if (
            (kind == "watcher" and rest == other.name)
            or target == "watchers"
            or (kind == "layer" and rest == other.layer)
            or (target == "jobs" and other.layer == "cron" and (other.ours or other.job is not None))
            or (kind == "job" and rest == other.job)
        ):
            return True
    return False


def watching_job(entries: Iterable[Entry], key: str, name: str) -> list[str]:
    """The watchers that look whether the job `profile/id` runs, by name."""
    own = {f"job:{key}", f"job:{key.partition('/')[2]}", f"job:{name}", "jobs"}
    return sorted(entry.name for entry in entries if own & set(entry.watches))


def _entry(table: dict[str, object], where: str) -> Entry:
    toml_file.known(table, _KEYS, where)
    name = toml_file.text(table, "name", where, required=True) or ""
    found = toml_file.texts(table, "watches", where)
    if not found:
        raise OpsError(f"{where}: watches: expected {TARGETS}")
    for target in found:
        kind, colon, rest = target.partition(":")
        if kind == "layer" and colon and rest not in LAYERS:
            raise OpsError(f"{where}: watches: there is no layer {rest!r}; there are {', '.join(LAYERS)}")
    survives = toml_file.texts(table, "survives", where)
    for event in survives:
        if event not in EVENTS:
            raise OpsError(f"{where}: survives: expected one of {', '.join(EVENTS)}")
    job = toml_file.text(table, "job", where)
    return Entry(
        name=name,
        watches=found,
        signal=toml_file.text(table, "signal", where) or "not said",
        max_age=toml_file.seconds(table, "max_age", where, None),
        layer=toml_file.choice(table, "layer", where, LAYERS, None),
        survives=survives,
        job=job if job is None or "/" in job else f"default/{job}",
        file=toml_file.text(table, "file", where),
        owner=toml_file.text(table, "owner", where),
    )


def _check_names(entries: list[Entry], path: Path) -> None:
    names = [entry.name for entry in entries] + [PING]
    for entry in entries:
        if names.count(entry.name) > 1:
            raise OpsError(f"{path}: two watchers are called {entry.name!r}; ours are {_ours(entries)}")
        for target in entry.watches:
            kind, colon, rest = target.partition(":")
            if kind == "watcher" and colon and rest not in names:
                raise OpsError(f"{path}: {entry.name} watches {target!r}, but no watcher has that name")


def _ours(entries: list[Entry]) -> str:
    return ", ".join(entry.name for entry in entries if entry.ours)
