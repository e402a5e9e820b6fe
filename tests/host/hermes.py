"""The real Hermes Agent in a throwaway home: one-shot runs, an interactive session, the gateway.

Nothing here reads the user's own home: HOME, HERMES_HOME, TMPDIR and the XDG directories all lie
inside one temporary directory, and the only network the processes can reach is 127.0.0.1.
The `hermes` command is the one installed beside the running interpreter.
"""

from __future__ import annotations

import codecs
import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERMES = Path(sys.executable).parent / "hermes"
STARTED_LINE = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (?P<level>[A-Z]+) ")
ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[@-Z\\-_])")
PROMPT, BUSY = "❯", "Ctrl+C cancel"
CLEAR_LINE = "\x05\x15"
CURSOR_QUERY, CURSOR_ANSWER = b"\x1b[6n", b"\x1b[1;1R"
OWN_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


def available() -> bool:
    """True when a hermes command is installed beside this interpreter."""
    return HERMES.exists()


@dataclass(frozen=True)
class Run:
    """What one hermes process left: its arguments, exit code (negative = signal) and both streams."""

    arguments: tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str

    @property
    def session_id(self) -> str | None:
        """The id `chat -Q -q` prints on stderr, when it is there."""
        found = re.search(r"^session_id: (\S+)", self.stderr, re.MULTILINE)
        return found.group(1) if found else None


class HermesHome:
    """A HERMES_HOME with a working offline configuration, removed by `close()`.

    `config` is merged over the defaults, key by key at every depth; `configure()` merges more later.
    `path` is HERMES_HOME, `project` the working directory of every process.
    """

    def __init__(
        self,
        model_url: str,
        *,
        model: str = "scripted-model",
        context_length: int = 131072,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="hermes-test-"))
        self.path = self.root / "hermes-home"
        self.project = self.root / "project"
        for directory in (self.path, self.project, self.root / "user-home", self.root / "tmp"):
            directory.mkdir(mode=0o700)
        self._certificate = _one_certificate(self.root / "certificate.pem")
        self.variables: dict[str, str] = {}
        self.config: dict[str, Any] = {
            "_config_version": 33,
            "model": {
                "default": model,
                "provider": "custom",
                "base_url": model_url,
                "api_key": "key-of-the-scripted-model",
                "context_length": context_length,
            },
            "agent": {"environment_probe": False},
            "approvals": {"mode": "manual"},
            "display": {"show_reasoning": False},
            "model_catalog": {"enabled": False},
            "plugins": {"enabled": [], "disabled": []},
            "security": {"allow_lazy_installs": False, "tirith_enabled": False},
            "terminal": {"backend": "local"},
            "updates": {"check": False},
        }
        self.configure(config or {})

    def __enter__(self) -> HermesHome:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the temporary directory."""
        shutil.rmtree(self.root, ignore_errors=True)

    def configure(self, config: Mapping[str, Any]) -> None:
        """Merge `config` into the configuration and write config.yaml (JSON is YAML)."""
        self.config = _merged(self.config, config)
        target = self.path / "config.yaml"
        target.write_text(json.dumps(self.config, indent=1), "utf-8")
        target.chmod(0o600)

    def install(self, folder: Path, name: str | None = None, *, link: bool = False) -> Path:
        """Put a plugin folder into plugins/ by copy or symlink, enable it under its manifest name.

        Returns the installed path. `name` is the directory's name, by default that of `folder`.
        """
        target = self.path / "plugins" / (name or folder.name)
        target.parent.mkdir(exist_ok=True)
        if link:
            target.symlink_to(folder.resolve(), target_is_directory=True)
        else:
            shutil.copytree(folder, target, ignore=shutil.ignore_patterns("__pycache__"))
        self.enable(manifest_name(folder))
        return target

    def write_plugin(self, name: str, code: str) -> None:
        """Add a plugin whose `__init__.py` is `code`, and enable it."""
        folder = self.path / "plugins" / name
        folder.mkdir(parents=True)
        (folder / "plugin.yaml").write_text(f"name: {name}\nversion: 1.0.0\nkind: standalone\n", "utf-8")
        (folder / "__init__.py").write_text(code, "utf-8")
        self.enable(name)

    def enable(self, *keys: str) -> None:
        """Add plugin keys to plugins.enabled."""
        enabled = self.config["plugins"]["enabled"]
        self.configure({"plugins": {"enabled": enabled + [key for key in keys if key not in enabled]}})

    def environment(self) -> dict[str, str]:
        """The whole environment of a hermes process; `variables` are added last."""
        dead = f"http://127.0.0.1:{_closed_port()}"
        home = str(self.root / "user-home")
        return {
            "PATH": f"{HERMES.parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": home,
            "HERMES_HOME": str(self.path),
            "TMPDIR": str(self.root / "tmp"),
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLUMNS": "160",
            "LINES": "50",
            "TZ": "UTC",
            "http_proxy": dead,
            "https_proxy": dead,
            "HTTP_PROXY": dead,
            "HTTPS_PROXY": dead,
            "no_proxy": "127.0.0.1,localhost",
            "NO_PROXY": "127.0.0.1,localhost",
            **({"SSL_CERT_FILE": str(self._certificate)} if self._certificate else {}),
            **self.variables,
        }

    def start(self, *arguments: str, **popen: Any) -> subprocess.Popen[str]:
        """Start `hermes ARGUMENTS` in a process group of its own; the caller ends it."""
        options: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
            "encoding": "utf-8",
            "errors": "replace",
            "start_new_session": True,
            "cwd": self.project,
            "env": self.environment(),
            **popen,
        }
        return subprocess.Popen([str(HERMES), *arguments], **options)

    def run(self, *arguments: str, timeout: float = 90.0) -> Run:
        """Run `hermes ARGUMENTS` to its end; TimeoutError with its output when it takes too long."""
        return finish(self.start(*arguments), timeout)

    def one_shot(self, prompt: str, *options: str, timeout: float = 90.0) -> Run:
        """`hermes -z PROMPT`: approvals bypassed, delegation synchronous, no on_session_finalize."""
        return self.run("-z", prompt, *options, timeout=timeout)

    def chat(
        self, prompt: str, *options: str, resume: str | None = None, quiet: bool = True, timeout: float = 90.0
    ) -> Run:
        """`hermes chat [-Q] -q PROMPT [--resume ID]`."""
        quietly = ["-Q"] if quiet else []
        resumed = ["--resume", resume] if resume else []
        return self.run("chat", *quietly, "-q", prompt, *resumed, *options, timeout=timeout)

    def logs(self) -> list[str]:
        """WARNING and worse of agent.log and errors.log: each distinct first line once."""
        found: dict[str, None] = {}
        for name in ("agent.log", "errors.log"):
            log = self.path / "logs" / name
            if log.exists():
                for line in log.read_text("utf-8", "replace").splitlines():
                    started = STARTED_LINE.match(line)
                    if started and started["level"] in ("WARNING", "ERROR", "CRITICAL"):
                        found[line] = None
        return list(found)


class Interactive:
    """A live `hermes chat` in a pseudo-terminal.

    `output` is everything shown so far without escape sequences. `wait_for` looks only at what came
    after the last match, so that the same text can be awaited once per turn.
    """

    def __init__(self, home: HermesHome, *options: str) -> None:
        self._terminal, child_side = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", OWN_TERMINAL, str(HERMES), "chat", *options],
            stdin=child_side,
            stdout=child_side,
            stderr=child_side,
            start_new_session=True,
            cwd=home.project,
            env=home.environment(),
        )
        os.close(child_side)
        self.output = ""
        self._seen = 0
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Interactive:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _read(self) -> None:
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        raw = ""
        while True:
            try:
                data = os.read(self._terminal, 65536)
            except OSError:
                break
            if not data:
                break
            if CURSOR_QUERY in data:
                os.write(self._terminal, CURSOR_ANSWER)
            raw += decode(data)
            with self._changed:
                self.output = ESCAPES.sub("", raw)
                self._changed.notify_all()

    def wait_for(self, text: str, timeout: float = 60.0) -> None:
        """Wait until `text` is shown; TimeoutError with the last of the output when it is not."""
        with self._changed:
            if not self._changed.wait_for(lambda: self.output.find(text, self._seen) >= 0, timeout):
                raise TimeoutError(f"no {text!r} after {timeout} s; last output:\n{self.output[-2000:]}")
            self._seen = self.output.find(text, self._seen) + len(text)

    def send(self, keys: str) -> None:
        """Type `keys` as they are."""
        os.write(self._terminal, keys.encode())

    def send_line(self, text: str, timeout: float = 20.0) -> None:
        """Type a line, wait for its echo, and press Enter.

        The host throws away what is typed in the moment after an interrupt, so a line without an
        echo is typed again. Enter is a write of its own: together they would be taken for a paste.
        """
        limit = time.monotonic() + timeout
        while True:
            start = len(self.output)
            self.send(text)
            with self._changed:
                echoed = self._changed.wait_for(lambda: text in self.output[start:], 2.0)  # noqa: B023
            if echoed:
                break
            if time.monotonic() > limit:
                raise TimeoutError(f"{text!r} was not echoed; last output:\n{self.output[-2000:]}")
            self.send(CLEAR_LINE)
        time.sleep(0.1)
        self.send("\r")

    def ask(self, line: str, answer: str, timeout: float = 60.0) -> None:
        """Type a line, wait for `answer` and then for the idle prompt."""
        self.send_line(line)
        self.wait_for(answer, timeout)
        self.wait_until_idle(timeout)

    def wait_until_idle(self, timeout: float = 60.0) -> None:
        """Wait until the newest prompt is one that takes a new message."""
        with self._changed:
            if not self._changed.wait_for(self._is_idle, timeout):
                raise TimeoutError(f"still busy after {timeout} s; last output:\n{self.output[-2000:]}")

    def _is_idle(self) -> bool:
        newest = self.output.rfind(PROMPT)
        return newest >= 0 and BUSY not in self.output[newest : newest + 80]

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self.send("\x03")

    def quit(self, timeout: float = 30.0) -> int:
        """Type /quit and return the exit code."""
        self.send_line("/quit")
        return self.process.wait(timeout)

    def close(self) -> None:
        """End the process, by signal when it still runs, and release the terminal."""
        end(self.process)
        os.close(self._terminal)
        self._reader.join(5)


class Gateway:
    """`hermes gateway run` with the API server platform, started on entry and stopped by pid on exit."""

    key = "key-of-the-test-gateway"

    def __init__(self, home: HermesHome, *, timeout: float = 60.0) -> None:
        self.home = home
        self.port = _closed_port()
        self._timeout = timeout
        home.configure(
            {
                "platforms": {
                    "api_server": {
                        "enabled": True,
                        "extra": {"host": "127.0.0.1", "port": self.port, "key": self.key},
                    }
                }
            }
        )

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Gateway:
        self._output = (self.home.root / "gateway.out").open("w", encoding="utf-8")
        self.process = self.home.start("gateway", "run", stdout=self._output, stderr=subprocess.STDOUT)
        limit = time.monotonic() + self._timeout
        while True:
            try:
                self.request("GET", "/health", timeout=5)
                return self
            except (OSError, ValueError):
                if self.process.poll() is not None or time.monotonic() > limit:
                    self.__exit__()
                    raise RuntimeError(f"the gateway did not start:\n{self.said()[-2000:]}") from None
                time.sleep(0.2)

    def __exit__(self, *exception: object) -> None:
        end(self.process)
        self._output.close()

    def said(self) -> str:
        """What the gateway process printed."""
        return (self.home.root / "gateway.out").read_text("utf-8", "replace")

    def request(
        self, method: str, path: str, body: Any = None, timeout: float = 60.0
    ) -> tuple[Any, dict[str, str]]:
        """One authenticated request: the parsed JSON answer and its headers (lower-case names)."""
        request = urllib.request.Request(
            self.url + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"},
            method=method,
        )
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with direct.open(request, timeout=timeout) as answer:
            return json.load(answer), {name.lower(): value for name, value in answer.headers.items()}


def finish(process: subprocess.Popen[str], timeout: float = 90.0) -> Run:
    """Wait for a process of `HermesHome.start`; past the time end its group and raise TimeoutError."""
    arguments = tuple(str(part) for part in process.args[1:])
    try:
        stdout, stderr = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        end(process)
        stdout, stderr = process.communicate(timeout=10)
        raise TimeoutError(
            f"hermes {arguments} ran over {timeout} s:\n{stdout[-1000:]}\n{stderr[-1000:]}"
        ) from None
    return Run(arguments, process.returncode, stdout, stderr)


def end(process: subprocess.Popen[Any], patience: float = 8.0) -> None:
    """End a process we started: SIGTERM, then SIGKILL to its group."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait(patience)


def manifest_name(folder: Path) -> str:
    """The `name:` of a plugin folder's manifest."""
    text = (folder / "plugin.yaml").read_text("utf-8")
    found = re.search(r"^name:\s*['\"]?([^'\"\s#]+)", text, re.MULTILINE)
    if not found:
        raise ValueError(f"{folder}/plugin.yaml has no name")
    return found.group(1)


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(base)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = _merged(result[key], value) if both else value
    return result


def _one_certificate(target: Path) -> Path | None:
    """A bundle of one authority: an agent reads it twenty times before its first word, and needs none here.

    None where there is no bundle to take it from.
    """
    try:
        import certifi
    except ImportError:
        return None
    whole, end = Path(certifi.where()).read_text("ascii"), "-----END CERTIFICATE-----"
    first = whole[whole.index("-----BEGIN") : whole.index(end)] + end
    target.write_text(first + "\n", "ascii")
    return target


def _closed_port() -> int:
    """A loopback port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
