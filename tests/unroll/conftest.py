"""Fixtures of the recorder's tests: a throwaway home, and a recorder that remembers nothing."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_unroll import registration, sealing
from tests.unroll.host_driver import Host, forget_everything


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A throwaway HERMES_HOME, without settings of the machine's."""
    for name in list(os.environ):
        if name.startswith(("HERMES_", "UNROLL_")):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HERMES_HOME", str(home))
    return home


@pytest.fixture(autouse=True)
def fresh_recorder(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every test finds the recorder as a new process does, and leaves it so."""
    for name in (registration.MARKER, "hermes_cli.plugins", "hermes_cli.config", "gateway.session_context"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    forget_everything()
    yield
    forget_everything()
    sys.modules.pop(registration.MARKER, None)


@pytest.fixture
def start_child() -> Any:
    """The real sealing.start_child, for the tests that are about it."""
    return _START_CHILD


_START_CHILD = sealing.start_child


@pytest.fixture(autouse=True)
def children(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """No background compiler is started; what would be is listed here."""
    asked: list[list[str]] = []
    monkeypatch.setattr(sealing, "start_child", lambda home, arguments: asked.append(arguments))
    return asked


class Faults(logging.Handler):
    """The faults the recorder told of: a hook that could not be recorded, a journal not compiled."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(record.getMessage())

    def take(self) -> list[str]:
        """Return what was told so far and forget it: the test expects it."""
        told, self.told = self.told, []
        return told


@pytest.fixture(autouse=True)
def faults() -> Iterator[Faults]:
    """A fault that a test does not take fails it."""
    logger = logging.getLogger("hermes_unroll")
    handler = Faults()
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)
    assert not handler.told


@pytest.fixture
def host(home: Path) -> Iterator[Host]:
    """The host, in a throwaway home."""
    host = Host(home)
    yield host
    host.stop()
