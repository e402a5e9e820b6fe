"""A healthy run of a watcher is a cold process many times a day: it opens no socket, and imports little."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hermes_ops.core.watch import WATCHERS
from tests.ops import audited_process, healthy_home

# What asks somebody outside, by what is set: the wallet its provider.
NETWORK = ("wallet",)
LOCAL = tuple(watcher.name for watcher in WATCHERS if watcher.name not in NETWORK)
HEAVY = (
    "asyncio",
    "concurrent.futures",
    "email",
    "hermes_cli",
    "html",
    "http.client",
    "logging",
    "multiprocessing",
    "socket",
    "ssl",
    "subprocess",
    "unittest",
    "urllib.request",
    "xml",
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> healthy_home.HealthyHome:
    return healthy_home.make(tmp_path_factory.mktemp("healthy") / "home", time.time())


def run(home: healthy_home.HealthyHome, script: Path, report: Path) -> tuple[Any, dict[str, Any]]:
    """Run a script in a process of its own, as the host starts it, under audit."""
    home.fresh()
    environment = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    environment |= {"HERMES_HOME": str(home.path), "HOME": str(home.path.parent)}
    done = subprocess.run(
        [sys.executable, audited_process.__file__, str(report), str(script), "refuse"],
        cwd=script.parent,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return done, json.loads(report.read_text("utf-8")) if report.exists() else {}


@pytest.mark.parametrize("name", LOCAL)
def test_a_healthy_run_is_silent_offline_and_light(
    name: str, home: healthy_home.HealthyHome, tmp_path: Path
) -> None:
    done, report = run(home, home.script(name), tmp_path / "report.json")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    last = home.last_run(name)
    assert last["last_run"] > home.now and last["error"] is None
    assert home.found_by(name) == []
    assert (report["sockets"], report["processes"]) == ([], [])
    assert "hermes_ops.core.run" in report["modules"]
    assert [module for module in HEAVY if module in report["modules"]] == []


@pytest.mark.parametrize(
    ("code", "seen"),
    [
        ("import socket; socket.socket()", "sockets"),
        ("import socket; socket.getaddrinfo('127.0.0.1', 1)", "sockets"),
        ("import sys, subprocess; subprocess.run([sys.executable, '-c', ''])", "processes"),
    ],
)
def test_the_audit_sees_what_it_is_to_see(
    code: str, seen: str, home: healthy_home.HealthyHome, tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"try:\n    {code}\nexcept PermissionError:\n    pass\n", "utf-8")
    done, report = run(home, script, tmp_path / "report.json")

    assert done.returncode == 0, done.stderr
    assert report[seen] and {"socket", "subprocess"} & set(report["modules"])
