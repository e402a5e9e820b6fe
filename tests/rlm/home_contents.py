"""Puts into a home what its kernels would leave there: journals, checkpoints, registrations."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from hermes_rlm import checkpoint
from hermes_rlm._common import files
from hermes_rlm.cells import Cell, CellJournal
from hermes_rlm.kernel import registry
from hermes_rlm.kernel.child.definitions import Definitions
from hermes_rlm.kernel.child.saving import save


def record(home: Path, session: str, *sources: str) -> None:
    journal = CellJournal(home, session)
    for number, source in enumerate(sources, 1):
        name = source.split(" ")[0]
        journal.append(Cell(number, 1.7e9 + number, True, source, (name,)))
    journal.close()


def save_checkpoint(home: Path, session: str, name: str, **values: Any) -> Path:
    path = checkpoint.path_of(home, session, name)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    key = checkpoint.signing_key(home)
    reply = save(
        dict(values),
        Definitions(),
        path=str(path),
        key=key,
        session=session,
        name=name,
        cell=1,
        limit=1 << 20,
        hidden=frozenset(),
    )
    assert reply["ok"], reply
    return path


def register(home: Path, session: str, **facts: Any) -> None:
    own = files.process_start_time()
    record = {
        "id": f"k{abs(hash(session)) % 10**8}",
        "session": session,
        "home": str(home),
        "pid": os.getpid(),
        "start_time": own,
        "parent": os.getpid(),
        "parent_start": own,
        "started_at": time.time() - 100,
        "python": "/usr/bin/python3",
        "directory": "",
        "depth": 0,
        **facts,
    }
    registry.enter(home, record)
