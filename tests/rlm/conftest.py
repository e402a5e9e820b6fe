"""A home of its own for every test, and the tools of the plugin as an agent calls them."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_rlm import hooks, tools
from hermes_rlm.kernel import pool as pool_

HOST_TOOLS = ("read_file", "write_file", "search_files", "patch", "terminal", "web_search", "web_extract")


class Agent:
    """Calls the tools of one process in one home; every answer is the parsed reply."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.tools = {tool.name: tool for tool in tools.TOOLS}

    def call(self, tool: str, arguments: Any, session: str = "s", **keywords: Any) -> dict[str, Any]:
        told = {"session_id": session, "task_id": session, **keywords}
        hooks.llm_request({"tools": [{"function": {"name": name}} for name in HOST_TOOLS]}, **told)
        text = self.tools[tool].handler(arguments, **told)
        assert len(text) <= 8000
        text.encode("utf-8")
        return json.loads(text)

    def run(self, code: str, timeout: float = 30, session: str = "s") -> dict[str, Any]:
        return self.call("rlm_exec", {"code": code, "timeout": timeout}, session)

    def value(self, code: str, session: str = "s") -> Any:
        """The value of a cell that must succeed, read back from its repr."""
        import ast

        answer = self.run(code, session=session)
        assert answer["ok"], answer
        return ast.literal_eval(answer["value"])

    def pid(self, session: str = "s") -> int:
        found = pool_.POOL.known(self.home, session)
        assert found is not None and found.kernel is not None
        return found.kernel.pid

    def evict(self, session: str = "s") -> None:
        """What the cap on kernels does to the one that was idle longest."""
        found = pool_.POOL.known(self.home, session)
        assert found is not None
        give_up = time.monotonic() + 30
        while not pool_.POOL._evict(found):  # the keeper may be looking after it right now
            assert time.monotonic() < give_up
            time.sleep(0.02)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A Hermes home and a temporary directory of this test alone; its kernels are ended."""
    for name in [name for name in os.environ if name.startswith("HERMES_")]:
        monkeypatch.delenv(name)
    place, temporary = tmp_path / "home", tmp_path / "t"
    place.mkdir()
    temporary.mkdir()
    monkeypatch.setenv("HERMES_HOME", str(place))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    yield place
    end_kernels()


def end_kernels() -> None:
    """End every kernel of this process without saving, also those of a failed test."""
    with pool_.POOL._lock:
        sessions = list(pool_.POOL._sessions.values())
        pool_.POOL._sessions.clear()
    for session in sessions:
        with session.turn(10, lambda: False):
            session.end("the test is over", None)


@pytest.fixture
def agent(home: Path) -> Agent:
    return Agent(home)


@pytest.fixture
def knob(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, object], None]:
    """`knob("MAX_KERNELS", 2)` sets HERMES_RLM_MAX_KERNELS."""
    return lambda name, value: monkeypatch.setenv(f"HERMES_RLM_{name}", str(value))


@pytest.fixture(autouse=True)
def default_interrupt() -> Iterator[None]:
    """Kernels must work when the host was started with SIGINT ignored or not; tests do not change it."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)
    assert sys.stdout is not None
