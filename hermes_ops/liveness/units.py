"""Installing the supervisor: as a systemd user unit beside the gateway's, or detached where there is none.

The unit runs a script of ours that finds the plugin when it runs, so an update or a move of the plugin does
not break it. What needs root is printed, never done.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .._common.files import is_alive, read_regular, write_atomic
from ..core.typed import object_of
from ..errors import OpsError
from ..host.gateway import service_suffix
from ..launcher import is_ours, launcher_text
from .memory import MemoryFile
from .service import Machine, Run, find_units, run_command, user_bus

FORMAT = 1
RECORD = "supervise.json"
SCRIPT = "ops-supervise.py"
LOG = "supervise.log"
MAX_LOG = 1_000_000
WORDS = ("supervise", "run")
ENABLE_SECONDS = 60.0

_UNIT = """\
# {mark}: watches the gateway of {home}
[Unit]
Description=Hermes gateway supervisor (hermes-ops) for {home}
{after}StartLimitIntervalSec=0

[Service]
Type=simple
ExecStart={python} {script}
Environment="HERMES_HOME={home}"
Environment=PYTHONUNBUFFERED=1
Restart=on-failure
RestartSec=30
RestartPreventExitStatus=2
KillMode=process
TimeoutStopSec=30
UMask=0077
NoNewPrivileges=yes
MemoryMax=512M
TasksMax=64
CPUQuota=50%
Nice=5

[Install]
WantedBy=default.target
"""

_POLKIT = """\
// /etc/polkit-1/rules.d/50-hermes-ops.rules: {user} may start and restart {unit}, and nothing else
polkit.addRule(function(action, subject) {{
    var verb = action.lookup("verb");
    if (action.id == "org.freedesktop.systemd1.manage-units" &&
        subject.user == {user_text} &&
        action.lookup("unit") == {unit_text} &&
        (verb == "start" || verb == "restart")) {{
        return polkit.Result.YES;
    }}
}});
"""


@dataclass(frozen=True)
class Installed:
    """How the supervisor of a home was installed: "systemd" with its unit, or "detached"."""

    mode: str
    unit: str = ""
    path: str = ""
    respawns: tuple[float, ...] = ()


def unit_name(home: Path, user_home: Path | None = None) -> str:
    """The name of our unit, with the suffix that the host gives its own."""
    suffix = service_suffix(home, user_home)
    return f"hermes-ops-supervise{f'-{suffix}' if suffix else ''}.service"


def unit_text(home: Path, python: str, script: Path, gateway_unit: str = "") -> str:
    """The unit file. `gateway_unit` is a user unit to be started after; ours does not depend on it."""
    for path in (str(home), python, str(script)):
        if any(character in path for character in "\n\r\0"):
            raise OpsError(f"{path!r}: a unit file cannot name a path with a line break")
    return _UNIT.format(
        mark="Written by hermes-ops",
        home=_specifiers(str(home)),
        after=f"After={gateway_unit}\n" if gateway_unit else "",
        python=_argument(python),
        script=_argument(str(script)),
    )


def polkit_rule(user: str, unit: str) -> str:
    """The rule that lets `user` start and restart exactly this system unit; to be put in place by root."""
    return _POLKIT.format(user=user, unit=unit, user_text=json.dumps(user), unit_text=json.dumps(unit))


def lingers(user: str, folder: Path = Path("/var/lib/systemd/linger")) -> bool:
    """Whether the user's units run without a login."""
    return (folder / user).exists()


def script_path(home: Path) -> Path:
    return home / "ops" / "bin" / SCRIPT


def write_script(home: Path) -> Path:
    """Write the script that runs the supervisor, when it is not there as it should be."""
    path = script_path(home)
    text = launcher_text(home, WORDS)
    try:
        there = read_regular(path).decode("utf-8", "replace")
    except OSError:
        there = ""
    if there != text:
        write_atomic(path, text)
    return path


def installed(home: Path) -> Installed | None:
    """What install wrote down; None when it did not, or when that cannot be read."""
    try:
        found: Installed = object_of(Installed, read_regular(home / "ops" / RECORD))
    except (OSError, ValueError):
        return None
    return found


def record(home: Path, found: Installed) -> None:
    """Write down how the supervisor is installed."""
    data = {
        "format": FORMAT,
        "mode": found.mode,
        "unit": found.unit,
        "path": found.path,
        "respawns": list(found.respawns)[-20:],
    }
    write_atomic(home / "ops" / RECORD, json.dumps(data, sort_keys=True) + "\n", durable=False)


def install(
    home: Path,
    *,
    dry_run: bool = False,
    machine: Machine | None = None,
    run: Run | None = None,
    user: str | None = None,
    python: str | None = None,
) -> list[str]:
    """Install and start the supervisor of `home`; returns what was done, or would be, line by line.

    Raises OpsError when systemd refuses.
    """
    machine, run = machine or Machine.here(), run or run_command
    user, python = user or _user(), python or sys.executable
    script = script_path(home)
    if not machine.systemd:
        return _install_detached(home, script, dry_run, machine)
    units = find_units(home, machine)
    beside = next((unit.name for unit in units if unit.scope == "user"), "")
    name = unit_name(home, machine.user_home)
    path = machine.user_units[0] / name
    text = unit_text(home, python, script, beside)
    said = [
        f"{'would write' if dry_run else 'wrote'} {script}",
        f"{'would write' if dry_run else 'wrote'} {path}",
    ]
    if dry_run:
        said += ["", *text.splitlines(), ""]
    else:
        write_script(home)
        write_atomic(path, text)
        for arguments in (["daemon-reload"], ["enable", name], ["restart", name]):
            done = run(["systemctl", "--user", *arguments], ENABLE_SECONDS, user_bus())
            if not done.ok:
                raise OpsError(f"systemctl --user {' '.join(arguments)}: {done.detail[:300] or 'refused'}")
        record(home, Installed("systemd", name, str(path)))
        said.append(f"started {name}: systemctl --user status {name}")
    if not lingers(user):
        said.append(f"it ends with your last login until root runs: loginctl enable-linger {user}")
    if not units:
        said.append(
            "no unit starts this gateway, so nothing can be restarted, only told: hermes gateway install"
        )
    for unit in units:
        if unit.scope == "system" and user != "root":
            said += [
                "",
                f"as root, let {user} restart {unit.name}:",
                *polkit_rule(user, unit.name).splitlines(),
            ]
    return said


def uninstall(
    home: Path, *, dry_run: bool = False, machine: Machine | None = None, run: Run | None = None
) -> list[str]:
    """Stop and remove what install made; returns what was done. The supervisor's memory stays."""
    machine, run = machine or Machine.here(), run or run_command
    said = []
    name = unit_name(home, machine.user_home)
    path = machine.user_units[0] / name
    if path.exists():
        if not dry_run:
            run(["systemctl", "--user", "disable", "--now", name], ENABLE_SECONDS, user_bus())
            path.unlink(missing_ok=True)
            run(["systemctl", "--user", "daemon-reload"], ENABLE_SECONDS, user_bus())
        said.append(f"unit {path}")
    pid = _running(home)
    if pid is not None:
        if not dry_run:
            _end(pid)
        said.append(f"process {pid}")
    script = script_path(home)
    if script.is_file() and is_ours(read_regular(script).decode("utf-8", "replace")):
        if not dry_run:
            script.unlink()
        said.append(f"script {script}")
    if not dry_run:
        (home / "ops" / RECORD).unlink(missing_ok=True)
    return said


def spawn(home: Path, python: str | None = None) -> int:
    """Start the supervisor detached, in a session of its own, with nothing of ours held open; its pid.

    A cron run that left its own stdout to a child would not end before the child.
    """
    import subprocess

    script = write_script(home)
    log = home / "ops" / LOG
    too_long = log.exists() and log.stat().st_size > MAX_LOG
    fd = os.open(log, os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if too_long else os.O_APPEND), 0o600)
    try:
        process = subprocess.Popen(
            [python or sys.executable, str(script)],
            stdin=subprocess.DEVNULL,
            stdout=fd,
            stderr=fd,
            start_new_session=True,
            close_fds=True,
            cwd="/",
            env={**os.environ, "HERMES_HOME": str(home)},
        )
    finally:
        os.close(fd)
    # It outlives us on purpose; nobody is to warn that it was not waited for.
    process.returncode = 0
    return process.pid


def _install_detached(home: Path, script: Path, dry_run: bool, machine: Machine) -> list[str]:
    said = [f"{'would write' if dry_run else 'wrote'} {script}"]
    why = "macOS: a LaunchAgent may run it" if machine.darwin else "systemd does not run here"
    if dry_run:
        return [*said, f"would start it detached ({why})"]
    write_script(home)
    record(home, Installed("detached"))
    pid = _running(home)
    if pid is None:
        pid = spawn(home)
        said.append(f"started it detached as process {pid} ({why}); its log is {home / 'ops' / LOG}")
    else:
        said.append(f"it runs already, as process {pid}")
    said.append(
        "after a restart of the machine the supervisor watcher starts it again, once the gateway runs: "
        "hermes ops install supervisor --deliver TARGET"
    )
    return said


def _running(home: Path) -> int | None:
    """The process of a supervisor that runs, by its own memory."""
    try:
        memory = MemoryFile(home).read()
    except OpsError:
        return None
    if memory.pid is None or memory.pid == os.getpid():
        return None
    return memory.pid if is_alive(memory.pid, memory.started) else None


def _end(pid: int) -> None:
    import signal

    try:
        os.kill(pid, signal.SIGTERM)
    except OSError:
        pass


def _user() -> str:
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        return os.environ.get("USER", "")


def _specifiers(text: str) -> str:
    """A text inside the quotes of a unit file: `%` would be expanded, quotes and backslashes end it."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")


def _argument(text: str) -> str:
    return f'"{_specifiers(text).replace("$", "$$")}"'


def in_a_unit(process: Mapping[str, str]) -> bool:
    """Whether a process with these facts is inside a unit of systemd, with which its children end."""
    return "unit" in process or bool(process.get("INVOCATION_ID"))
