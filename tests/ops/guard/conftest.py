"""The guard asks the host it runs in; where these tests load the host, others must not find it loaded."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution

import pytest


@pytest.fixture(scope="module", autouse=True)
def _host_is_left_behind() -> Iterator[None]:
    before = set(sys.modules)
    yield
    try:
        tops = set((distribution("hermes-agent").read_text("top_level.txt") or "").split())
    except PackageNotFoundError:
        return
    for name in [name for name in sys.modules if name.partition(".")[0] in tops and name not in before]:
        del sys.modules[name]
