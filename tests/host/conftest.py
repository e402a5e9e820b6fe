"""Fixtures of the tests that run the real Hermes Agent; without it they are skipped.

A run of the host takes seconds, so `play` runs a scenario once per session and shares the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.host import hermes
from tests.host.hermes import HermesHome
from tests.host.model_server import ModelServer
from tests.host.recordings import UNROLL, Recording, recordings
from tests.host.scenarios import SCENARIOS, Outcome, Scenario

PROBE = Path(__file__).parent / "probe"


@dataclass(frozen=True)
class Played:
    """A scenario that was run: its home (still there), its outcome, the model it talked to."""

    home: HermesHome
    outcome: Outcome
    server: ModelServer

    @property
    def hooks(self) -> Path:
        """The file the probe plugin wrote."""
        return self.home.root / "hooks.jsonl"


Play = Callable[..., Played]
Record = Callable[[str | Scenario], list[Recording]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what is marked `host` when no hermes is installed beside this interpreter."""
    if not hermes.available():
        for item in items:
            if item.get_closest_marker("host"):
                item.add_marker(pytest.mark.skip(reason="hermes-agent is not installed"))


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A scripted model without a script: give it one with `reset`."""
    with ModelServer() as server:
        yield server


@pytest.fixture
def home(model: ModelServer) -> Iterator[HermesHome]:
    """A fresh home that talks to `model`."""
    with HermesHome(model.url) as fresh:
        yield fresh


@pytest.fixture(scope="session")
def play() -> Iterator[Play]:
    """`play(scenario, *plugin_folders, link=False) -> Played`, each combination run once.

    A scenario is given by its name, or as a function when only one test file needs it.
    """
    played: dict[tuple[object, ...], Played] = {}
    with ExitStack() as stack:

        def run(scenario: str | Scenario, *folders: Path, link: bool = False) -> Played:
            key = (scenario, link, *folders)
            drive = SCENARIOS[scenario] if isinstance(scenario, str) else scenario
            if key not in played:
                server = stack.enter_context(ModelServer())
                home = stack.enter_context(HermesHome(server.url))
                home.variables["HOOK_PROBE_LOG"] = str(home.root / "hooks.jsonl")
                for folder in folders:
                    home.install(folder, link=link)
                played[key] = Played(home, drive(home, server), server)
            return played[key]

        yield run


@pytest.fixture(scope="session")
def record(play: Play) -> Record:
    """`record(scenario) -> [Recording, ...]`: played with hermes_unroll enabled, compiled and replayed.

    The recordings are those of the scenario's own sessions, in the order of its outcome.
    """
    recorded: dict[str | Scenario, list[Recording]] = {}

    def run(scenario: str | Scenario) -> list[Recording]:
        if scenario not in recorded:
            played = play(scenario, UNROLL)
            found = recordings(played.home)
            recorded[scenario] = [found[session_id] for session_id in played.outcome.session_ids]
        return recorded[scenario]

    return run
