"""Throwaway homes for the figures of hermes_ops, and commands run in them as cold processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import bench_rlm_measure as measure

from tests.ops import audited_process, healthy_home

RUNNER = Path(__file__).with_name("bench_ops_runner.py")
NAMES = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "TZ")


@dataclass(frozen=True)
class Cost:
    """What one process took: milliseconds of the clock and of the processor, peak memory in MB (10^6)."""

    wall: float
    cpu: float
    memory: float
    said: str


@dataclass(frozen=True)
class Place:
    """A healthy home in a temporary directory, with a provider that tells a balance on loopback."""

    root: Path
    home: healthy_home.HealthyHome

    def watcher(self, name: str) -> list[str]:
        """The command line of a watcher's job: the host's Python and the wrapper script."""
        return [sys.executable, str(self.home.script(name))]

    def command(self, *words: str) -> list[str]:
        """`hermes ops ...` without the host, from the installed folder."""
        return [sys.executable, str(self.home.path / "plugins" / "hermes-ops" / "__main__.py"), *words]

    def run(self, command: list[str], codes: tuple[int, ...] = (0,)) -> Cost:
        """Run a command cold. Raises SystemExit when it ends with another code."""
        self.home.fresh()
        said = self.root / "said"
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(RUNNER), str(said), *command],
            cwd=self.home.path / "scripts",
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        wall, cpu, memory, code = done.stdout.split()
        text = said.read_text("utf-8", "replace")
        if int(code) not in codes:
            raise SystemExit(f"bench: {' '.join(command)} ended with {code}: {text[-2000:]}")
        return Cost(float(wall) * 1000, float(cpu) * 1000, int(memory) / 1e6, text)

    def quiet(self, name: str) -> Cost:
        """Run a watcher that is to find nothing. Raises SystemExit when it does, or cannot look."""
        cost = self.run(self.watcher(name))
        wrong = cost.said or self.home.last_run(name)["error"] or self.home.found_by(name)
        if wrong:
            raise SystemExit(f"bench: the {name} watcher was to find nothing: {str(wrong)[:2000]}")
        return cost

    def audit(self, name: str) -> dict[str, Any]:
        """What a run of a watcher asked the system for; see tests/ops/audited_process.py."""
        report = self.root / "report.json"
        self.run([sys.executable, audited_process.__file__, str(report), str(self.home.script(name))])
        return json.loads(report.read_text("utf-8"))

    def configure(self, text: str) -> None:
        """Write the settings of `ops:` behind what config.yaml has from the start."""
        (self.home.path / "config.yaml").write_text(healthy_home.CONFIG + text, "utf-8")

    def environment(self) -> dict[str, str]:
        found = {name: os.environ[name] for name in NAMES if name in os.environ}
        return found | {"HERMES_HOME": str(self.home.path), "HOME": str(self.root), "TMPDIR": str(self.root)}


class Balance:
    """A provider on loopback that tells the same balance each time."""

    def __init__(self) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = json.dumps({"data": {"balance": 20.0}}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def lines(self) -> str:
        """What `.env` needs for it."""
        url = f"http://127.0.0.1:{self._server.server_address[1]}/balance"
        known = {
            "PROVIDER": "json",
            "BALANCE_URL": url,
            "JSON_PATH": "data.balance",
            "API_KEY": "key-of-the-bench",
        }
        return "".join(f"WALLET_{name}={value}\n" for name, value in known.items())

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def place(
    *, jobs: int = 18, runs: int = 1000, sessions: int = 500, rows: int = 5000, days: float = 60, **more: Any
) -> Iterator[Place]:
    """A home with `jobs` beside the watchers' own, a state.db of the host's tables, the plugin copied in."""
    import ops_database

    root = Path(tempfile.mkdtemp(prefix="bench-ops-"))
    provider = Balance()
    try:
        now = time.time()
        ops_database.build(root / "home", now, sessions, rows, days)
        home = healthy_home.make(root / "home", now, jobs=jobs, runs=runs, link=False, **more)
        with (home.path / ".env").open("a", encoding="utf-8") as file:
            file.write(provider.lines)
        yield Place(root, home)
    finally:
        provider.close()
        shutil.rmtree(root, ignore_errors=True)


def p95(values: list[float]) -> float:
    """The 95th percentile; of fewer than 20 values the largest."""
    return measure.p(values, 95) if len(values) >= 20 else max(values)
