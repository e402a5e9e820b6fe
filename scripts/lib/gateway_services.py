"""The ways a gateway is kept running: launchd, a systemd user unit, or as PID 1 of a container."""

import os
import pwd
import shutil
import signal
import subprocess
import time
from pathlib import Path

from gateway_listeners import command_of, is_gateway

NAMES = ("launchd", "systemd", "pid1")

_POLL_SECONDS = 0.2


class ServiceError(Exception):
    """The service cannot be stopped or started; the text is one line."""


def find(manager: str, label: str) -> "Launchd | Systemd | Container":
    """The service ``label`` under the named manager, or "auto": the one this machine has.

    Raises ServiceError when it is not there: what cannot be started again must not be stopped.
    """
    if manager == "auto":
        manager = _present()
    service = {"launchd": Launchd, "systemd": Systemd, "pid1": Container}[manager](label)
    service.check()
    return service


def _present() -> str:
    if is_gateway(command_of(1)):
        return "pid1"
    if shutil.which("launchctl"):
        return "launchd"
    if shutil.which("systemctl"):
        return "systemd"
    raise ServiceError("no launchctl, no systemctl, and PID 1 is no gateway: start the gateway by hand")


class Launchd:
    """A launchd agent of this user. Stopping unloads it, because a loaded one is started again at once."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.plist = _plist(label)
        self.domain = self._find_domain()

    def __str__(self) -> str:
        return f"launchd agent {self.domain}/{self.label}"

    def check(self) -> None:
        """Raise ServiceError unless the agent can be loaded again."""
        if not self.plist.is_file():
            raise ServiceError(f"there is no {self.plist}, so launchd could not start {self.label} again")

    def holds_this_process(self) -> bool:
        """Whether stopping it ends this process: launchd ends the process group only."""
        return False

    def plan(self) -> list[list[str]]:
        """The commands of stop and start."""
        return [self._bootout, self._bootstrap, self._kickstart]

    def stop(self, timeout: float) -> None:
        """Unload the agent; one that is not loaded is fine."""
        deadline = time.monotonic() + timeout
        done = _run(self._bootout, timeout)
        while self._is_loaded():
            if time.monotonic() >= deadline:
                raise ServiceError(f"{self.label} is still loaded after {timeout:g} s: {_said(done)}")
            time.sleep(_POLL_SECONDS)

    def start(self, timeout: float) -> None:
        """Load and start the agent. Right after an unload launchd may refuse for a moment."""
        deadline = time.monotonic() + timeout
        while (done := _run(self._bootstrap, timeout)).returncode != 0 and not self._is_loaded():
            if time.monotonic() >= deadline:
                raise ServiceError(f"launchctl bootstrap failed: {_said(done)}")
            time.sleep(_POLL_SECONDS)
        _must(self._kickstart, timeout)

    @property
    def _bootout(self) -> list[str]:
        return ["launchctl", "bootout", f"{self.domain}/{self.label}"]

    @property
    def _bootstrap(self) -> list[str]:
        return ["launchctl", "bootstrap", self.domain, str(self.plist)]

    @property
    def _kickstart(self) -> list[str]:
        return ["launchctl", "kickstart", f"{self.domain}/{self.label}"]

    def _find_domain(self) -> str:
        """The domain that has the agent, else the one that exists: a desktop session's, or that of ssh."""
        desktop, background = f"gui/{os.getuid()}", f"user/{os.getuid()}"
        for domain in (desktop, background):
            if self._is_there(f"{domain}/{self.label}"):
                return domain
        return desktop if self._is_there(desktop) else background

    def _is_loaded(self) -> bool:
        return self._is_there(f"{self.domain}/{self.label}")

    def _is_there(self, target: str) -> bool:
        return _run(["launchctl", "print", target], 10).returncode == 0


class Systemd:
    """A systemd unit of this user."""

    def __init__(self, label: str) -> None:
        self.unit = label if label.endswith(".service") else f"{label}.service"
        # Missing in cron jobs and after su, and systemctl --user finds its bus by it.
        runtime = f"/run/user/{os.getuid()}"
        if os.path.isdir(runtime):
            os.environ.setdefault("XDG_RUNTIME_DIR", runtime)

    def __str__(self) -> str:
        return f"systemd user unit {self.unit}"

    def check(self) -> None:
        """Raise ServiceError unless the unit is known to the user's systemd."""
        state = _run(["systemctl", "--user", "show", "--property=LoadState", "--value", self.unit], 10)
        if state.stdout.strip() != "loaded":
            raise ServiceError(f"the user's systemd has no unit {self.unit}: {_said(state)}")

    def holds_this_process(self) -> bool:
        """Whether stopping it ends this process: systemd ends all of the unit's control group."""
        try:
            return f"/{self.unit}" in Path("/proc/self/cgroup").read_text("utf-8", "replace")
        except OSError:
            return False

    def plan(self) -> list[list[str]]:
        """The commands of stop and start."""
        return [self._command(verb) for verb in ("stop", "reset-failed", "start")]

    def stop(self, timeout: float) -> None:
        """Stop the unit and wait for it."""
        _must(self._command("stop"), timeout)

    def start(self, timeout: float) -> None:
        """Start the unit, also after too many starts in a row."""
        _run(self._command("reset-failed"), timeout)
        _must(self._command("start"), timeout)

    def _command(self, verb: str) -> list[str]:
        return ["systemctl", "--user", verb, self.unit]


class Container:
    """A gateway as the first process of a container; whoever runs the container starts it again.

    Its end is the end of every process in the container, this one among them: the last that is seen of a
    restart from inside is the stop.
    """

    def __init__(self, label: str, pid: int = 1) -> None:
        self.label = label
        self.pid = pid

    def __str__(self) -> str:
        return f"the gateway as pid {self.pid}"

    def check(self) -> None:
        """Raise ServiceError unless the process is a gateway: anything else there is not to be signalled."""
        if not is_gateway(command_of(self.pid)):
            raise ServiceError(f"pid {self.pid} is no Hermes gateway")

    def holds_this_process(self) -> bool:
        """False: its end reaches this process wherever it is, so there is nothing to refuse."""
        return False

    def plan(self) -> list[list[str]]:
        """The commands of stop and start."""
        return [["kill", "-TERM", str(self.pid)]]

    def stop(self, timeout: float) -> None:
        """Ask the gateway to end. It exits with 1 on this signal, which restart policies act on."""
        self.check()
        try:
            os.kill(self.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
        except PermissionError:
            raise ServiceError(f"pid {self.pid} belongs to another user") from None

    def start(self, timeout: float) -> None:
        """Nothing to do: the container's restart policy starts it."""


def _plist(label: str) -> Path:
    # Inside a profile HOME may be the profile's own; the agents are in the account's.
    homes = [Path.home(), Path(pwd.getpwuid(os.getuid()).pw_dir)]
    paths = [home / "Library" / "LaunchAgents" / f"{label}.plist" for home in homes]
    return next((path for path in paths if path.is_file()), paths[0])


def _run(command: list[str], timeout: float) -> subprocess.CompletedProcess:
    try:
        return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=timeout)
    except subprocess.TimeoutExpired:
        raise ServiceError(f"{' '.join(command)} did not end within {timeout:g} s") from None
    except OSError as error:
        raise ServiceError(f"{command[0]} cannot be run: {error.strerror}") from None


def _must(command: list[str], timeout: float) -> None:
    done = _run(command, timeout)
    if done.returncode != 0:
        raise ServiceError(f"{' '.join(command)} failed: {_said(done)}")


def _said(done: subprocess.CompletedProcess) -> str:
    text = " ".join((done.stderr or done.stdout).split())
    return text[:300] or f"exit code {done.returncode}"
