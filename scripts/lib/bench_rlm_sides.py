"""The things that are compared: a kernel of the plugin, ipykernel, a bare interpreter, a bare pipe."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench_rlm_measure import NOTEBOOK_PYTHON, home

ECHO = "import os\nwhile True:\n    data = os.read(0, 65536)\n    if not data: break\n    os.write(1, data)"


def bare_python() -> float:
    """Seconds from the start to the end of an interpreter that does nothing."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", "pass"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    process.wait()
    return time.perf_counter() - began


class Echo:
    """A Python process that writes back what it reads from a pipe: the least a round trip can take."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        assert self._process.stdin and self._process.stdout
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        self.pid = self._process.pid

    def trip(self, message: bytes = b"x" * 60) -> float:
        began = time.perf_counter()
        os.write(self._in, message)
        os.read(self._out, 65536)
        return time.perf_counter() - began

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


class PluginKernel:
    """A kernel as the plugin starts it, without its session: no journal, no registry, no tool's reply."""

    def __init__(self, python: str = sys.executable) -> None:
        from hermes_rlm.bridge import Bridge, Grant
        from hermes_rlm.kernel import environment, registry
        from hermes_rlm.kernel.handle import Kernel, Plan
        from hermes_rlm.tool_arguments import TOOLS

        name = secrets.token_hex(6)
        self._directory = registry.make_directory(name)
        bridge = Bridge(Grant.issue("bench"), self._directory)
        self.cell = 0
        self.kernel = Kernel(
            Plan(
                kernel=name,
                python=python,
                cwd=os.getcwd(),
                environment=environment.variables(name, home(), 0),
                bytecode=home() / "cache" / "rlm" / "bytecode",
                spill_file=lambda stream: home() / "state" / f"{time.monotonic_ns()}-{stream}.txt",
                boot={
                    "session": "bench",
                    "cell": 0,
                    "bridge": bridge.address,
                    "token": bridge.grant.token,
                    "tools": list(TOOLS),
                    "skills": [],
                    "figures": str(home() / "state" / "figures"),
                    "script": str(self._directory / "script.py"),
                    "autosave": None,
                },
                bridge=bridge,
            )
        )

    @classmethod
    def boot(cls) -> float:
        """Seconds from nothing to the first answer; the kernel is closed afterwards."""
        began = time.perf_counter()
        kernel = cls()
        kernel.run("1+1")
        taken = time.perf_counter() - began
        kernel.close()
        return taken

    def run(self, code: str, **watch: Any) -> Any:
        """Run a cell; its Answer. Raises RuntimeError when it fails without having been stopped."""
        from hermes_rlm.kernel.handle import Watch

        self.cell += 1
        answer = self.kernel.call(
            "exec", Watch(**{"seconds": 120, "cell": self.cell, **watch}), cell=self.cell, code=code
        )
        if not (answer.reply or {}).get("ok") and not answer.stopped:
            raise RuntimeError(f"{code[:60]!r}: {(answer.reply or {}).get('error') or answer.death}")
        return answer

    def timed(self, code: str) -> float:
        began = time.perf_counter()
        self.run(code)
        return time.perf_counter() - began

    def value(self, code: str) -> float:
        """The number that a cell ends with."""
        return float(self.run(code).reply["value"])

    def ask(self, operation: str, **fields: Any) -> dict[str, Any]:
        """Make another request than a cell; its reply. Raises RuntimeError unless it is ok."""
        from hermes_rlm.kernel.handle import Watch

        answer = self.kernel.call(operation, Watch(300), **fields)
        if not (answer.reply or {}).get("ok"):
            raise RuntimeError(f"{operation}: {(answer.reply or {}).get('error') or answer.death}")
        return answer.reply

    def close(self) -> None:
        import shutil

        self.kernel.close()
        shutil.rmtree(self._directory, ignore_errors=True)


class Notebooks:
    """ipykernel, in its own Python; every operation of bench_rlm_notebook.Notebook by name."""

    def __init__(self) -> None:
        place = home()
        self._process = subprocess.Popen(
            [str(NOTEBOOK_PYTHON), str(Path(__file__).with_name("bench_rlm_notebook.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={
                **{name: os.environ[name] for name in ("PATH", "TMPDIR", "HOME") if name in os.environ},
                "IPYTHONDIR": str(place / "ipython"),
                "JUPYTER_RUNTIME_DIR": str(place / "jupyter"),
                "JUPYTER_CONFIG_DIR": str(place / "jupyter"),
            },
        )

    def ask(self, operation: str, *arguments: Any, kernel: str = "one") -> Any:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps({"kernel": kernel, "do": operation, "with": arguments}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the driver of ipykernel ended during {operation}")
        return json.loads(line)

    def boot(self, patient: bool = False) -> float:
        """Seconds from nothing to the first answer; the kernel is closed afterwards."""
        taken = self.ask("boot", patient, kernel="booted")
        self.ask("close", kernel="booted")
        return taken

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@contextlib.contextmanager
def running(*sides: Any) -> Iterator[None]:
    """Close what was started, whatever happens."""
    try:
        yield
    finally:
        for side in reversed(sides):
            side.close()
