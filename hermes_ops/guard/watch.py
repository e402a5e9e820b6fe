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
from typing import TYPE_CHECKING, Any

from .. import settings
from .._common.config import read_config
from ..core.finding import HOUR, Blind, Event, Finding, Reading
from ..core.watch import Context
from ..errors import OpsError
from ..host.profiles import Profile
from .decisions import NAME, directory

if TYPE_CHECKING:
    from .accepted import Sealed

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
    reading = Reading()
    limit = settings.load(context.home, OPTIONS)["guard.burst"]
    for profile in context.profiles:
        reading += _is_off(profile, context)
        reading += Reading.of(_policy(profile), _blind_log(profile, limit, context.now))
        reading += Reading.of([*_burst(profile, limit, context.now), *_unwritable(profile)])
        reading += Reading.of(events=_acceptances(profile))
    return reading


def _is_off(profile: Profile, context: Context) -> Reading:
    """The host of a profile is not told to load the plugin, whose watcher runs here all the same.

    Of a profile that is not the watcher's own it counts once somebody has worked in it.
    """
    is_own = profile.home == context.home
    if not is_own and not _is_used(profile.home):
        return Reading()
    read = read_config(profile.home)
    key = "plugin" if is_own else f"{profile.name}/plugin"
    if not read.known:
        text = f"whether the guard is on is not known: {read.problem}"
        name = "guard.config" if is_own else f"guard.config/{profile.name}"
        return Reading.of(blind=[Blind(name, text, f"guard.off:{key}", 2)])
    enabled, disabled = _names(read.get("plugins.enabled")), _names(read.get("plugins.disabled"))
    if any(name.rpartition("/")[2] in FOLDERS for name in enabled - disabled):
        return Reading()
    named = [name for name in disabled if name.rpartition("/")[2] in FOLDERS]
    what = (
        f"{named[0]} stands in plugins.disabled" if named else f"{PLUGIN} does not stand in plugins.enabled"
    )
    chosen = "" if is_own else f"-p {profile.name} "
    fix = f"hermes {chosen}plugins enable {PLUGIN} --no-allow-tool-override"
    text = f"no command is judged: {what} of config.yaml"
    # A profile may be meant to be without the guard; the home whose watcher this is was meant to have it.
    severity = "error" if is_own else "warning"
    return Reading.of([Finding("guard.off", severity, _where("the guard", profile), text, key, fix=fix)])


def _is_used(home: Path) -> bool:
    """Whether somebody has worked in a profile: the host makes its database then."""
    return (home / "state.db").exists()


def _policy(profile: Profile) -> Iterable[Finding]:
    from .accepted import is_untouched, state

    sealed = _sealed(profile)
    report = _report_mode(profile) if sealed is not None and _is_report(sealed.text) else []
    if is_untouched(profile.home):
        return report
    return report + [
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


def _sealed(profile: Profile) -> Sealed | None:
    """The accepted copy; None without one, and for one that is damaged, which is a finding of its own."""
    from .accepted import read_sealed

    try:
        return read_sealed(profile.home)
    except OpsError:
        return None


def _is_report(text: str) -> bool:
    import tomllib

    try:
        return tomllib.loads(text).get("mode") == "report"
    except (ValueError, RecursionError):
        return False


def _report_mode(profile: Profile) -> list[Finding]:
    return [
        Finding(
            "guard.report-mode",
            "warning",
            _where("the guard", profile),
            "nothing is stopped: the accepted policy says mode = report, so decisions are only written down",
            f"{profile.name}/mode",
            fix='mode = "enforce" in ops/guard.toml, then hermes ops guard accept',
        )
    ]


def _acceptances(profile: Profile) -> list[Event]:
    """Every acceptance of a policy, each told once: of the copy in force, and those in the log."""
    from .accepted import ACCEPTED, SEAL_SHOWN, described

    found: dict[str, str] = {}
    try:
        for record in _records(profile.home, b'"accepted"'):
            seal = record.get("seal")
            if record.get("answer") == ACCEPTED and isinstance(seal, str):
                found[seal[:SEAL_SHOWN]] = str(record.get("command", ""))
    except OSError:
        pass  # the log is blind by itself
    sealed = _sealed(profile)
    if sealed is not None:
        found[sealed.seal[:SEAL_SHOWN]] = described(sealed)
    where = _where("the guard's policy", profile)
    said = "look at hermes ops guard, if that was not you"
    return [
        Event(f"guard.accepted:{profile.name}/{seal}", f"{where} was accepted ({how}): {said}", "warning")
        for seal, how in found.items()
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
    found: Counter[str] = Counter()
    for record in _records(home, b'"block"'):
        try:
            at, rules = float(record["at"]), record.get("rules") or ["unknown"]
            if record["answer"] == "block" and now - HOUR < at <= now + HOUR and rules != ["guard.canary"]:
                found[str(rules[0])] += 1
        except (ValueError, TypeError, KeyError, OverflowError, IndexError):
            continue
    return found


def _records(home: Path, holding: bytes) -> Iterator[dict[str, Any]]:
    """The decisions at the end of the log whose line holds something. Raises OSError."""
    for line in _tail(directory(home) / NAME):
        if holding not in line:
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


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
