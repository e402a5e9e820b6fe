"""The watcher of the guard: is it on, is its policy the one that was accepted, does something hammer at it?

A healthy look reads a few small files and the end of the log; rules and readers are loaded only to check a
policy that was changed.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from .. import settings
from .._common.config import read_config
from ..core.finding import HOUR, Blind, Finding, Reading
from ..core.watch import Context
from ..host.profiles import Profile

PLUGIN = "hermes-ops"
FOLDERS = (PLUGIN, "hermes_ops")
TAIL = 1_000_000  # bytes of the log that are looked at
OPTIONS = (
    settings.Option(
        "guard.burst",
        20,
        settings.number(1),
        "blocked calls in an hour that the watcher tells",
    ),
)


def watch(context: Context) -> Reading:
    """Everything that is wrong about the guard of each profile now."""
    reading = _is_off(context.home)
    limit = settings.load(context.home, OPTIONS)["guard.burst"]
    for profile in context.profiles:
        reading += Reading.of(_policy(profile), _blind_log(profile, limit, context.now))
        reading += Reading.of([*_burst(profile, limit, context.now), *_unwritable(profile)])
    return reading


def _is_off(home: Path) -> Reading:
    """The plugin lies in the home or is called by its jobs, and the host is not told to load it."""
    read = read_config(home)
    if not read.known:
        text = f"whether the guard is on is not known: {read.problem}"
        return Reading.of(blind=[Blind("guard.config", text, "guard.off:", 2)])
    enabled, disabled = _names(read.get("plugins.enabled")), _names(read.get("plugins.disabled"))
    if any(name.rpartition("/")[2] in FOLDERS for name in enabled - disabled):
        return Reading()
    named = [name for name in disabled if name.rpartition("/")[2] in FOLDERS]
    what = (
        f"{named[0]} stands in plugins.disabled" if named else f"{PLUGIN} does not stand in plugins.enabled"
    )
    fix = f"hermes plugins enable {PLUGIN} --no-allow-tool-override"
    text = f"no command is judged: {what} of config.yaml"
    return Reading.of([Finding("guard.off", "error", "the guard", text, "plugin", fix=fix)])


def _policy(profile: Profile) -> Iterable[Finding]:
    from .accepted import is_untouched, state

    if is_untouched(profile.home):
        return ()
    return [
        Finding(
            found.rule,
            found.severity,
            _where("the guard's policy", profile),
            found.text,
            f"{profile.name}/policy",
            found.evidence,
            found.fix,
        )
        for found in state(profile.home).findings
    ]


def _burst(profile: Profile, limit: float, now: float) -> Iterator[Finding]:
    try:
        blocked = _blocked(profile.home, now)
    except OSError:
        return
    if sum(blocked.values()) < limit:
        return
    most = ", ".join(f"{rule} {count}" for rule, count in blocked.most_common(3))
    yield Finding(
        "guard.burst",
        "warning",
        _where("the guard", profile),
        f"{sum(blocked.values())} calls were blocked in the last hour",
        f"{profile.name}/blocks",
        (f"by rule: {most}",),
        "hermes ops guard log",
    )


def _blind_log(profile: Profile, limit: float, now: float) -> Iterator[Blind]:
    try:
        _blocked(profile.home, now)
    except OSError as error:
        text = f"the log of the guard cannot be read: {error.strerror or type(error).__name__}"
        yield Blind(f"guard.log/{profile.name}", text, f"guard.burst:{profile.name}/")


def _unwritable(profile: Profile) -> Iterator[Finding]:
    from .decisions import NAME, directory

    path, what = directory(profile.home) / NAME, "file"
    if os.path.lexists(path):
        sound = path.is_file() and not path.is_symlink()
    else:
        what = "folder"
        path = next(one for one in (path.parent, path.parent.parent, profile.home) if os.path.lexists(one))
        sound = path.is_dir()
    if sound and os.access(path, os.W_OK):
        return
    yield Finding(
        "guard.log-unwritable",
        "warning",
        _where("the guard", profile),
        f"decisions cannot be written down: {path} is no {what} that can be written",
        f"{profile.name}/log",
        fix=f"look at {path}",
    )


def _blocked(home: Path, now: float) -> Counter[str]:
    """Rules of the calls blocked within an hour, from the end of the log; doctor's own do not count."""
    from .decisions import NAME, directory

    found: Counter[str] = Counter()
    for line in _tail(directory(home) / NAME):
        if b'"block"' not in line:
            continue
        try:
            record = json.loads(line)
            at, rules = float(record["at"]), record.get("rules") or ["unknown"]
            if record["answer"] == "block" and now - HOUR < at <= now + HOUR and rules != ["guard.canary"]:
                found[str(rules[0])] += 1
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, IndexError):
            continue
    return found


def _tail(path: Path) -> list[bytes]:
    from .._common.files import open_regular

    try:
        with open_regular(path) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL))
            lines = file.read(TAIL).splitlines()
    except FileNotFoundError:
        return []
    return lines[1:] if size > TAIL else lines


def _names(value: object) -> set[str]:
    return {str(item) for item in value} if isinstance(value, (list, tuple, set)) else set()


def _where(what: str, profile: Profile) -> str:
    return what if profile.name == "default" else f"{what} of profile {profile.name}"
