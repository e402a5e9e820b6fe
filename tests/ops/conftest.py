"""Fixtures of the tests of hermes_ops."""

from __future__ import annotations

import pytest


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list of jobs that is torn is read again at once: for tests of what is said when it stays torn."""
    monkeypatch.setattr("hermes_ops.host.jobs._PAUSES", (0.0, 0.0, 0.0))
