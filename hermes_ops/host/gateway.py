"""The gateway as its files show it: pid, heartbeat, state, markers. Facts only; the verdict is liveness/.

Units: `start_time` is kernel ticks in gateway.pid, gateway.lock and gateway_state.json, but seconds since the
epoch in the heartbeat; the two are never compared.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from .._common.files import is_alive, open_regular
from . import halves

MAX_BYTES = 1_000_000
LOG_BYTES = 64_000
MAX_RECORDS = 24
PID_MARKER_SECONDS = 60.0  # the host's own limit for planned-stop and takeover markers
MARKERS = {
    "planned_stop": ".gateway-planned-stop.json",
    "takeover": ".gateway-takeover.json",
    "drain": ".drain_request.json",
    "update": ".update_pending.json",
    "update_claimed": ".update_pending.claimed.json",
    "update_exit_code": ".update_exit_code",
    "clean_shutdown": ".clean_shutdown",
}
_TORN_TRIES, _TORN_PAUSE = 3, 0.02
_PROFILE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_UNIT = re.compile(r"[\w.@:\\-]+\.service")


class Exit(NamedTuple):
    """A record of gateway-exit-diag.log: "gateway.start", "asyncio.run.returned", "atexit.hook", ...

    ``code`` is the exit code that "asyncio.run.SystemExit" names (75: restart me, 78: bad configuration).
    """

    at: float
    tag: str
    pid: int | None = None
    code: int | None = None


@dataclass(frozen=True)
class Marker:
    """A marker file: when it was written, what it holds, and whether the host would still honour it."""

    at: float
    content: Mapping[str, Any]
    valid: bool = True


@dataclass(frozen=True)
class Gateway:
    """What the files of one home say about its gateway; times are seconds since the epoch, None: not there.

    pid               of gateway.pid, else of gateway_state.json; alive True/False/None (cannot be known)
    start_ticks       the kernel's start time written beside the pid
    pid_file          whether gateway.pid exists (a gateway that has shut down has removed it)
    lock_held         whether somebody holds gateway.lock; None: cannot be known
    heartbeat_at      `updated_at` of state/gateway.heartbeat, with its pid
    state             gateway_state of the file ("running" may be a lie), exit_reason, restart_requested
    platforms         name -> {state, error_code, error_message, updated_at}
    starts            the newest starts (gateway-starts.log), oldest first
    exits             the newest records of gateway-exit-diag.log, oldest first
    starting_pid      a process that has started and not yet written gateway.pid (back-off, imports)
    deleted           files of the store that the process holds open although they were deleted
    markers           name of MARKERS -> the marker files that exist
    problems          what could not be read or understood; unreadable: those files of pid, state and
                      heartbeat that are there and could not be opened, so that nothing is known of them
    """

    home: Path
    pid: int | None = None
    alive: bool | None = None
    start_ticks: int | None = None
    pid_file: bool = False
    lock_held: bool | None = None
    heartbeat_at: float | None = None
    heartbeat_pid: int | None = None
    state: str | None = None
    state_at: float | None = None
    exit_reason: str | None = None
    restart_requested: bool = False
    active_agents: int | None = None
    platforms: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    starts: tuple[float, ...] = ()
    exits: tuple[Exit, ...] = ()
    starting_pid: int | None = None
    deleted: tuple[str, ...] = ()
    markers: Mapping[str, Marker] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


def read_gateway(home: Path) -> Gateway:
    """Read every file; a torn one is read again, and what stays unreadable is in `problems`. Never raises."""
    problems: list[str] = []
    unreadable: list[str] = []
    pid_record = _mapping(home / "gateway.pid", problems, unreadable)
    state = _mapping(home / "gateway_state.json", problems, unreadable) or {}
    heartbeat = _mapping(home / "state" / "gateway.heartbeat", problems, unreadable) or {}
    exits = _exits(home / "logs" / "gateway-exit-diag.log", problems)
    records = [pid_record or {}, state]
    if not any(_whole(record.get("pid")) for record in records):
        # Both are gone or damaged; the lock file holds the same record.
        records.append(_mapping(home / "gateway.lock", [], unreadable) or {})
    pid, start_ticks, living = _process(records)
    platforms = state.get("platforms")
    return Gateway(
        home=home,
        pid=pid,
        alive=living,
        start_ticks=start_ticks,
        pid_file=pid_record is not None,
        lock_held=_lock_held(home / "gateway.lock", pid if living else None),
        heartbeat_at=instant(heartbeat.get("updated_at")),
        heartbeat_pid=_whole(heartbeat.get("pid")),
        state=_text(state.get("gateway_state")),
        state_at=instant(state.get("updated_at")),
        exit_reason=_text(state.get("exit_reason")),
        restart_requested=bool(state.get("restart_requested")),
        active_agents=_whole(state.get("active_agents")),
        platforms={
            str(name): platform
            for name, platform in (platforms if isinstance(platforms, dict) else {}).items()
            if isinstance(platform, dict)
        },
        starts=_starts(home / "gateway-starts.log", problems),
        exits=exits,
        starting_pid=_starting(exits, pid if living else None),
        deleted=_deleted(home, pid) if living and pid else (),
        markers=_markers(home, problems),
        problems=tuple(problems),
        unreadable=tuple(unreadable),
    )


def alive(pid: int, start: object) -> bool | None:
    """Whether the process that the host wrote down as (pid, start_time) still runs; None: cannot be known.

    On Linux the host writes kernel ticks, elsewhere hundredths of seconds since the epoch.
    """
    if sys.platform == "darwin":
        from .._common.files import process_start_time

        began = process_start_time(pid)
        if began is None:
            return is_alive(pid, None)
        try:
            at = datetime.strptime(f"{began} +0000", "%a %b %d %H:%M:%S %Y %z").timestamp()
        except ValueError:
            return None
        return abs(at - start / 100) <= 2 if isinstance(start, int) else None
    return is_alive(pid, start if isinstance(start, int) else None)


def process_facts(pid: int) -> dict[str, str]:
    """What tells who looks after a process: marks in its environment, its unit, its parent's name, its TZ.

    Keys that are there: TZ, INVOCATION_ID, XPC_SERVICE_NAME, HERMES_S6_SUPERVISED_CHILD,
    HERMES_GATEWAY_EXTERNAL_SUPERVISOR, unit, scope ("user" or "system"), parent. Linux only; {} elsewhere.
    """
    facts: dict[str, str] = {}
    marks = (
        "TZ",
        "INVOCATION_ID",
        "XPC_SERVICE_NAME",
        "HERMES_S6_SUPERVISED_CHILD",
        "HERMES_GATEWAY_EXTERNAL_SUPERVISOR",
    )
    for setting in _bytes(Path(f"/proc/{pid}/environ")).split(b"\0"):
        name, _, value = setting.decode("utf-8", "replace").partition("=")
        if name in marks:
            facts[name] = value
    for line in _bytes(Path(f"/proc/{pid}/cgroup")).decode("utf-8", "replace").splitlines():
        parts = line.rpartition(":")[2].strip("/").split("/")
        units = [part for part in parts if _UNIT.fullmatch(part) and not part.startswith("user@")]
        if units:
            facts["unit"] = units[-1]
            facts["scope"] = "user" if any(part.startswith("user@") for part in parts) else "system"
    parent = _bytes(Path(f"/proc/{pid}/stat")).rpartition(b")")[2].split()
    if len(parent) > 1:
        name = _bytes(Path(f"/proc/{parent[1].decode()}/comm")).decode("utf-8", "replace").strip()
        if name:
            facts["parent"] = name
    return facts


def service_suffix(home: Path, user_home: Path | None = None) -> str:
    """What the host adds to the names of its units for a home: "" for the default one, the profile's name,
    else eight hex digits of a hash of the path."""
    here = home.resolve()
    native = ((user_home or Path.home()) / ".hermes").resolve()
    if here.is_relative_to(native):
        root = native
    else:
        root = here.parent.parent if here.parent.name == "profiles" else here
    if here == root:
        return ""
    if here.parent == root / "profiles" and _PROFILE.fullmatch(here.name):
        return here.name
    return hashlib.sha256(str(here).encode()).hexdigest()[:8]


def _process(records: list[Mapping[str, Any]]) -> tuple[int | None, int | None, bool | None]:
    """The pid, start and life of the first record whose process runs, else of the first one with a pid."""
    found = []
    for record in records:
        pid = _whole(record.get("pid"))
        if pid is not None and pid > 0:
            start = _whole(record.get("start_time"))
            found.append((pid, start, alive(pid, start)))
    living = [one for one in found if one[2]]
    return (living or found or [(None, None, None)])[0]


def _starting(exits: tuple[Exit, ...], running: int | None) -> int | None:
    """The process of the newest start, while it runs and has written nothing since."""
    newest = next((one for one in reversed(exits) if one.tag == "gateway.start"), None)
    if newest is None or newest.pid in (None, running):
        return None
    if exits[-1].pid == newest.pid and exits[-1] is not newest:
        return None
    began = _began_at(newest.pid)
    # A process that began after the record was written is a later one with the same number.
    return newest.pid if began is not None and began <= newest.at + 1 else None


def _began_at(pid: int) -> float | None:
    """When a running process began, seconds since the epoch, to about a second; None: unknown, or gone."""
    if is_alive(pid, None) is False:
        return None
    fields = _bytes(Path(f"/proc/{pid}/stat")).rpartition(b")")[2].split()
    up = _bytes(Path("/proc/uptime")).split()
    try:
        return time.time() - float(up[0]) + int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (IndexError, ValueError):
        return None


def _lock_held(path: Path, pid: int | None) -> bool | None:
    """Whether gateway.lock is locked, without taking it: a gateway that starts meanwhile would give up."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return False
    except OSError:
        return None
    if sys.platform == "linux":
        try:
            table = Path("/proc/locks").read_text("ascii", "replace")
        except OSError:
            return None
        device = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}"
        for line in table.splitlines():
            parts = line.split()
            if len(parts) < 6 or parts[1] != "FLOCK" or not parts[5].endswith(f":{found.st_ino}"):
                continue
            # Some file systems show another device here than in stat.
            if parts[5] == f"{device}:{found.st_ino}" or parts[4] == str(pid):
                return True
        return False
    return _try_shared(path) if pid is not None else None


def _try_shared(path: Path) -> bool | None:
    try:
        import fcntl

        with open_regular(path) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            fcntl.flock(file, fcntl.LOCK_UN)
    except BlockingIOError:
        return True
    except (ImportError, OSError):
        return None
    return False


def _deleted(home: Path, pid: int) -> tuple[str, ...]:
    """Files of state.db that a process writes to although nobody else can see them any more."""
    names = set()
    store = str(home.resolve() / "state.db")
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                target = os.readlink(f"/proc/{pid}/fd/{fd}")
            except OSError:
                continue
            if target.startswith(store) and target.endswith(" (deleted)"):
                names.add(Path(target.removesuffix(" (deleted)")).name)
    except OSError:
        return ()
    return tuple(sorted(names))


def _markers(home: Path, problems: list[str]) -> dict[str, Marker]:
    found: dict[str, Marker] = {}
    for name, file in MARKERS.items():
        try:
            changed_at = os.stat(f"{home}/{file}").st_mtime
        except OSError:
            continue
        path = home / file
        plain = name in ("update_exit_code", "clean_shutdown")
        content = {} if plain else _mapping(path, []) or {}
        at = instant(content.get("written_at")) or instant(content.get("requested_at")) or changed_at
        epoch, current = content.get("epoch"), _instantiation() if name == "drain" else ""
        found[name] = Marker(at, content, not (epoch and current and epoch != current))
    return found


def _instantiation() -> str:
    """What the host stamps drain requests with: the boot, and when the first process started."""
    boot = _bytes(Path("/proc/sys/kernel/random/boot_id")).decode("ascii", "replace").strip()
    fields = _bytes(Path("/proc/1/stat")).rpartition(b")")[2].split()
    first = fields[19].decode("ascii", "replace") if len(fields) > 19 else ""
    return f"{boot}:{first}" if boot or first else ""


def _starts(path: Path, problems: list[str]) -> tuple[float, ...]:
    starts = []
    for line in _tail(path, problems)[-MAX_RECORDS:]:
        try:
            starts.append(float(line))
        except ValueError:
            continue
    return tuple(sorted(starts))


def _exits(path: Path, problems: list[str]) -> tuple[Exit, ...]:
    exits = []
    for line in _tail(path, problems)[-MAX_RECORDS:]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            continue
        at = instant(record.get("ts")) if isinstance(record, dict) else None
        tag = _text(record.get("tag")) if at is not None else None
        if at is not None and tag is not None:
            exits.append(Exit(at, tag, _whole(record.get("pid")), _whole(record.get("code"))))
    return tuple(exits)


def _tail(path: Path, problems: list[str]) -> list[str]:
    try:
        with open_regular(path) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - LOG_BYTES))
            data = file.read(LOG_BYTES)
    except FileNotFoundError:
        return []
    except OSError as error:
        problems.append(f"{path}: {error.strerror}")
        return []
    if size > LOG_BYTES:
        data = data.partition(b"\n")[2]
    return data.decode("utf-8", "replace").splitlines()


def _mapping(path: Path, problems: list[str], unreadable: list[str] | None = None) -> dict[str, Any] | None:
    """The JSON object of a file; None when there is no file, or nothing can be made of it (a problem)."""
    why = ""
    for attempt in range(_TORN_TRIES):
        if attempt:
            time.sleep(_TORN_PAUSE)
        try:
            with open_regular(path) as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            problems.append(f"{path}: {error.strerror}")
            if unreadable is not None:
                unreadable.append(str(path))
            return None
        if len(data) > MAX_BYTES:
            problems.append(f"{path}: larger than {MAX_BYTES} bytes")
            return None
        try:
            found = halves.mended(json.loads(data))
        except (ValueError, RecursionError):
            why = "empty" if not data.strip(b"\0 \r\n\t") else "not JSON"
            continue
        if isinstance(found, dict):
            return found
        if _whole(found) is not None:
            return {"pid": found}
        why = f"expected an object, found {type(found).__name__}"
    problems.append(f"{path}: {why}")
    return None


def _bytes(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            return file.read(MAX_BYTES)
    except OSError:
        return b""


def instant(text: object) -> float | None:
    """Seconds since the epoch of an ISO time with its offset; a time without one says nothing certain."""
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
        return found.timestamp() if found.tzinfo else None
    except (ValueError, OverflowError):
        return None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
