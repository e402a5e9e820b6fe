"""Who starts and ends the gateway: systemd, launchd, commands of the user's own, or nobody we may ask.

The gateway is only ever restarted through its service manager. Two owners of one process fight, so where a
second one is found `detect` refuses.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .._common.files import read_regular
from ..errors import OpsError
from ..host.gateway import Gateway, process_facts, service_suffix
from ..settings import Option, choice, number, switch

COMMAND_SECONDS = 120.0
LEGACY = "hermes.service"
MANAGERS = ("auto", "systemd", "launchd", "command", "none")
OTHER_SUPERVISORS = ("supervisord", "s6-supervise", "runsv", "circusd", "PM2", "pm2")
_GATEWAY_START = re.compile(r"hermes_cli[./]main(\.py)?.* gateway|gateway/run\.py|\bhermes gateway ")
_HOME_LINE = re.compile(r'^Environment="?HERMES_HOME=(?P<home>[^"\r\n]+)"?\s*$', re.MULTILINE)


def argument_list(value: Any) -> tuple[str, ...]:
    """A check: a command as a list of arguments. A text is refused, because no shell would read it."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(part, str) and part for part in value):
        raise ValueError(
            'expected a list of arguments like ["/usr/local/bin/restart-gateway"], without a shell'
        )
    if not value or "\0" in "".join(value):
        raise ValueError("expected at least the program")
    return tuple(value)


OPTIONS = (
    Option("supervise.manager", "auto", choice(*MANAGERS), "who starts and ends the gateway"),
    Option(
        "supervise.restart_command", (), argument_list, "arguments of the command that restarts the gateway"
    ),
    Option("supervise.start_command", (), argument_list, "arguments of the command that starts it"),
    Option("supervise.restart", True, switch, "whether to restart at all; false: only tell"),
    Option("supervise.interval", 60.0, number(10, 300), "seconds between two looks"),
    Option("supervise.heartbeat", 300.0, number(90, 3600), "seconds without a heartbeat that mean frozen"),
    Option("supervise.cooldown", 600.0, number(60, 86_400), "seconds between two restarts"),
    Option("supervise.restarts_per_hour", 3.0, number(0, 20), "restarts within any hour"),
)


@dataclass(frozen=True)
class Service:
    """What a service manager says of the gateway's unit; None: it does not say.

    active        "active", "activating", "deactivating", "reloading", "inactive", "failed"
    sub, result   as systemd says ("auto-restart"; "exit-code", "oom-kill", "start-limit-hit", ...)
    exit_code     of the last main process
    revives       whether the manager starts it again by itself whatever it ended with
    ran           whether it has run since the machine started
    """

    unit: str
    active: str | None = None
    sub: str | None = None
    result: str | None = None
    exit_code: int | None = None
    main_pid: int | None = None
    revives: bool = False
    ran: bool | None = None

    @property
    def coming(self) -> bool:
        """Whether the manager is at work on it."""
        return self.active in ("activating", "reloading", "deactivating") or self.sub == "auto-restart"

    @property
    def stopped_by_hand(self) -> bool:
        """Whether only a person can have stopped it: one that revives stays down for no other reason."""
        by_itself = ("start-limit-hit", "resources", "oom-kill", "protocol")
        down = self.active in ("inactive", "failed") and self.sub != "auto-restart"
        return down and self.revives and self.ran is True and self.result not in by_itself


@dataclass(frozen=True)
class Outcome:
    """What became of a request to the manager; ``detail`` is what it said."""

    ok: bool
    detail: str = ""


class ServiceManager(Protocol):
    """What is asked for a restart. ``can`` is False where there is nobody to ask."""

    name: str
    can: bool

    def state(self) -> Service | None: ...
    def restart(self) -> Outcome: ...
    def start(self) -> Outcome: ...


class Systemd:
    """A unit of systemd; ``scope`` is "user" or "system".

    Requests do not wait (`--no-block`): the old process may need its whole time to end, and whether the new
    one works is seen from its heartbeat.
    """

    can = True

    def __init__(self, unit: str, scope: str, run: Run | None = None) -> None:
        self.unit, self.scope = unit, scope
        self._run = run or run_command
        self.name = f"systemd {scope} unit {unit}"

    def state(self) -> Service | None:
        wanted = "ActiveState,SubState,Result,ExecMainStatus,MainPID,Restart,ExecMainStartTimestampMonotonic"
        done = self._systemctl("show", self.unit, "--no-pager", f"--property={wanted}", timeout=10.0)
        if not done.ok:
            return None
        said = dict(line.partition("=")[::2] for line in done.detail.splitlines())
        if not said.get("ActiveState"):
            return None
        return Service(
            self.unit,
            said["ActiveState"],
            said.get("SubState"),
            said.get("Result"),
            _number(said.get("ExecMainStatus")),
            _number(said.get("MainPID")) or None,
            said.get("Restart") == "always",
            bool(_number(said.get("ExecMainStartTimestampMonotonic"))),
        )

    def restart(self) -> Outcome:
        return self._systemctl("restart", "--no-block", self.unit)

    def start(self) -> Outcome:
        return self._systemctl("start", "--no-block", self.unit)

    def _systemctl(self, *arguments: str, timeout: float = COMMAND_SECONDS) -> Outcome:
        scope = ["--user"] if self.scope == "user" else []
        return self._run(["systemctl", *scope, "--no-ask-password", *arguments], timeout, user_bus())


class Launchd:
    """A job of launchd, by label. Written to launchctl's documentation; not run on macOS by its authors."""

    can = True

    def __init__(self, label: str, uid: int, run: Run | None = None) -> None:
        self.label = label
        self._run = run or run_command
        self._domains = (f"gui/{uid}", f"user/{uid}")
        self.name = f"launchd job {label}"

    def state(self) -> Service | None:
        for domain in self._domains:
            done = self._run(["launchctl", "print", f"{domain}/{self.label}"], 10.0, {})
            if done.ok:
                running = re.search(r"^\s*state = running", done.detail, re.MULTILINE) is not None
                pid = re.search(r"^\s*pid = (\d+)", done.detail, re.MULTILINE)
                code = re.search(r"^\s*last exit code = (\d+)", done.detail, re.MULTILINE)
                return Service(
                    self.label,
                    "active" if running else "inactive",
                    exit_code=int(code[1]) if code else None,
                    main_pid=int(pid[1]) if pid else None,
                )
        return None

    def restart(self) -> Outcome:
        return self._kickstart("-k")

    def start(self) -> Outcome:
        return self._kickstart()

    def _kickstart(self, *options: str) -> Outcome:
        done = Outcome(False, "no domain of launchd knows the job")
        for domain in self._domains:
            done = self._run(
                ["launchctl", "kickstart", *options, f"{domain}/{self.label}"], COMMAND_SECONDS, {}
            )
            if done.ok:
                break
        return done


class Command:
    """A pair of commands of the user's own, as argument lists."""

    can = True

    def __init__(self, restart: Sequence[str], start: Sequence[str] = (), run: Run | None = None) -> None:
        self._restart, self._start = list(restart), list(start or restart)
        self._run = run or run_command
        self.name = f"command {self._restart[0]}"

    def state(self) -> Service | None:
        return None

    def restart(self) -> Outcome:
        return self._run(self._restart, COMMAND_SECONDS, {})

    def start(self) -> Outcome:
        return self._run(self._start, COMMAND_SECONDS, {})


class Nobody:
    """No service manager: what is wrong is told, and a person restarts."""

    can = False

    def __init__(self, why: str = "no service manager") -> None:
        self.name = why

    def state(self) -> Service | None:
        return None

    def restart(self) -> Outcome:
        return Outcome(False, self.name)

    def start(self) -> Outcome:
        return Outcome(False, self.name)


Run = Callable[[Sequence[str], float, Mapping[str, str]], Outcome]


def run_command(arguments: Sequence[str], timeout: float, environment: Mapping[str, str]) -> Outcome:
    """Run a program in a session of its own, without a shell; `detail` is the end of what it printed.

    What it starts in the background may go on: only the program itself is waited for, and its group is
    ended when the time is over.
    """
    import signal
    import subprocess
    import tempfile

    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                list(arguments),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env={**os.environ, **environment},
            )
        except OSError as error:
            return Outcome(False, f"{arguments[0]}: {error.strerror or error}")
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except OSError:
                process.kill()
            process.wait()
            return Outcome(False, f"{arguments[0]}: not done after {timeout:.0f} s")
        size = output.seek(0, os.SEEK_END)
        output.seek(max(0, size - 4000))
        said = output.read().decode("utf-8", "replace").strip()
    return Outcome(True, said) if code == 0 else Outcome(False, said or f"{arguments[0]}: exit code {code}")


def user_bus() -> dict[str, str]:
    """The variables that `systemctl --user` needs and that a login without a session does not set."""
    if not hasattr(os, "getuid"):
        return {}
    runtime = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    found = {"XDG_RUNTIME_DIR": runtime} if Path(runtime).is_dir() else {}
    if "DBUS_SESSION_BUS_ADDRESS" not in os.environ and Path(runtime, "bus").exists():
        found["DBUS_SESSION_BUS_ADDRESS"] = f"unix:path={runtime}/bus"
    return found


@dataclass(frozen=True)
class Unit:
    """A unit file that starts the gateway of a home."""

    name: str
    scope: str
    path: Path


@dataclass(frozen=True)
class Machine:
    """Where units lie and whether systemd runs; tests give their own."""

    user_home: Path
    user_units: tuple[Path, ...]
    system_units: tuple[Path, ...]
    systemd: bool
    darwin: bool

    @classmethod
    def here(cls) -> Machine:
        user_home = Path.home()
        try:
            import pwd

            user_home = Path(pwd.getpwuid(os.getuid()).pw_dir)
        except (ImportError, KeyError):
            pass
        config = Path(os.environ.get("XDG_CONFIG_HOME") or user_home / ".config")
        homes = dict.fromkeys((user_home / ".config", config, Path.home() / ".config"))
        return cls(
            user_home,
            (*(home / "systemd" / "user" for home in homes), Path("/etc/systemd/user")),
            (Path("/etc/systemd/system"), Path("/lib/systemd/system")),
            Path("/run/systemd/system").is_dir(),
            sys.platform == "darwin",
        )


def find_units(home: Path, machine: Machine) -> list[Unit]:
    """The unit files that start the gateway of `home`, the user's first.

    By the host's name for them, by the HERMES_HOME inside, and by the name of old installs.
    """
    suffix = service_suffix(home, machine.user_home)
    named = f"hermes-gateway{f'-{suffix}' if suffix else ''}.service"
    found: dict[tuple[str, str], Unit] = {}
    for scope, folders in (("user", machine.user_units), ("system", machine.system_units)):
        for folder in folders:
            paths = [folder / named, *sorted(folder.glob("hermes-gateway*.service")), folder / LEGACY]
            for path in paths:
                if (path.name, scope) not in found and _starts_gateway(path, home, named):
                    found[path.name, scope] = Unit(path.name, scope, path)
    return list(found.values())


def _starts_gateway(path: Path, home: Path, named: str) -> bool:
    try:
        text = read_regular(path).decode("utf-8", "replace")
    except OSError:
        return False
    if not _GATEWAY_START.search(text):
        return False
    written = _HOME_LINE.search(text)
    if written is not None:
        return Path(written["home"].strip()).resolve() == home.resolve()
    return path.name == named or (path.name == LEGACY and named == "hermes-gateway.service")


def detect(
    home: Path,
    settings: Mapping[str, Any],
    gateway: Gateway,
    machine: Machine | None = None,
    process: Mapping[str, str] | None = None,
) -> ServiceManager:
    """The service manager of the gateway of `home`.

    `settings` are those of OPTIONS, `process` the facts of the running gateway's process. Raises OpsError
    when two would manage it: two units, a unit and a command, or another supervisor.
    """
    machine = machine or Machine.here()
    wanted, command = settings["supervise.manager"], settings["supervise.restart_command"]
    if wanted == "none" or not settings["supervise.restart"]:
        return Nobody("restarts are switched off (ops.supervise)")
    if process is None:
        process = process_facts(gateway.pid) if gateway.pid and gateway.alive else {}
    units = find_units(home, machine) if machine.systemd else []
    if wanted in ("auto", "systemd") and len(units) > 1:
        running = [unit for unit in units if unit.name == process.get("unit")]
        if len(running) != 1:
            names = ", ".join(f"{unit.name} ({unit.scope})" for unit in units)
            raise OpsError(f"two units start this gateway: {names}; they would fight, so remove one of them")
        units = running
    if wanted in ("auto", "command") and command:
        if units and wanted == "auto":
            raise OpsError(
                f"{units[0].name} manages this gateway, and ops.supervise.restart_command would be a second "
                "owner: remove one of them, or name the one that counts in ops.supervise.manager"
            )
        return Command(command, settings["supervise.start_command"])
    if wanted == "command":
        raise OpsError("ops.supervise.manager is command, and ops.supervise.restart_command is not set")
    if units:
        return Systemd(units[0].name, units[0].scope)
    if wanted == "systemd":
        raise OpsError(f"no unit of systemd starts the gateway of {home}: hermes gateway install")
    other = _other_supervisor(process)
    if other:
        raise OpsError(
            f"{other} looks after this gateway already, and two supervisors would fight: end one, or set "
            "ops.supervise.manager to none to be told only"
        )
    if machine.darwin and wanted in ("auto", "launchd"):
        suffix = service_suffix(home, machine.user_home)
        label = f"ai.hermes.gateway{f'-{suffix}' if suffix else ''}"
        if (machine.user_home / "Library" / "LaunchAgents" / f"{label}.plist").exists():
            return Launchd(label, os.getuid())
    if wanted == "launchd":
        raise OpsError(f"launchd has no job for the gateway of {home}: hermes gateway install")
    return Nobody()


def _other_supervisor(process: Mapping[str, str]) -> str | None:
    """Who else, by the marks of the gateway's own process, would start it again."""
    if process.get("HERMES_S6_SUPERVISED_CHILD"):
        return "s6"
    if str(process.get("HERMES_GATEWAY_EXTERNAL_SUPERVISOR", "")).lower() in ("1", "true", "yes", "on"):
        return "an external supervisor"
    parent = process.get("parent", "")
    return next((name for name in OTHER_SUPERVISORS if parent.split(" ")[0] == name), None)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None
