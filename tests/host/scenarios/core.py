"""What every scenario is made of: the outcome, the registry, scripts and files."""

from __future__ import annotations

import functools
import struct
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.host.hermes import HermesHome, Run
from tests.host.model_server import ModelServer, auxiliary_route
from tests.host.stored import sessions

NOTES = "first line\nsecond line\n"


@dataclass(frozen=True)
class Outcome:
    """What a scenario left: the sessions it created, how they were run, and the processes' results."""

    session_ids: tuple[str, ...]
    how: str
    runs: tuple[Run, ...] = ()

    @property
    def session_id(self) -> str:
        """The first session, the one the user talked to."""
        return self.session_ids[0]


Drive = Callable[[HermesHome, ModelServer], Sequence[Run] | None]
Scenario = Callable[[HermesHome, ModelServer], Outcome]
SCENARIOS: dict[str, Scenario] = {}


def scenario(how: str) -> Callable[[Drive], Scenario]:
    """Register a function that runs hermes as a scenario under its own name."""

    def register(drive: Drive) -> Scenario:
        @functools.wraps(drive)
        def play(home: HermesHome, server: ModelServer) -> Outcome:
            known = session_ids(home)
            runs = tuple(drive(home, server) or ())
            created = tuple(name for name in session_ids(home) if name not in known)
            return Outcome(created, how, runs)

        SCENARIOS[drive.__name__] = play
        return play

    return register


def session_ids(home: HermesHome) -> list[str]:
    """The ids of all sessions of a home, oldest first."""
    return [row["id"] for row in sessions(home.path)] if (home.path / "state.db").exists() else []


def script(server: ModelServer, *turns: Mapping[str, Any], first: Sequence[Mapping[str, Any]] = ()) -> None:
    """Give the server these turns for the agent, after the routes in `first` and the auxiliary one."""
    server.reset([auxiliary_route(), *first, {"name": "agent", "turns": list(turns)}])


def call(name: str, arguments: Mapping[str, Any] | str, id: str) -> dict[str, Any]:
    """A tool call of a scripted turn."""
    return {"name": name, "arguments": arguments, "id": id}


def notes(home: HermesHome, name: str = "notes.txt", text: str = NOTES) -> str:
    """Write a file into the project and return its absolute path."""
    path = home.project / name
    path.write_text(text, "utf-8")
    return str(path)


def wait_until(condition: Callable[[], Any], what: str, timeout: float = 60.0) -> None:
    """Poll `condition`; TimeoutError naming `what` when it does not come true."""
    limit = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > limit:
            raise TimeoutError(f"{what} did not happen within {timeout} s")
        time.sleep(0.05)


def png() -> bytes:
    """A picture of 8 by 8 red pixels."""
    rows = (b"\0" + b"\xff\0\0" * 8) * 8

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )
