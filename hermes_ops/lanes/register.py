"""What lanes remember of a repository, in its common git directory: the gate, the target, and each lane."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._common.files import FileLock
from ..core.state import StateFile
from ..core.typed import typed
from ..errors import OpsError
from .repository import Repository

FILE_NAME = "lanes.json"
MOST_NAME = 80
_OPERATORS = frozenset("();<>|&")


@dataclass(frozen=True)
class Command:
    """What a gate runs: an argument list, or with `shell` one text for /bin/sh."""

    argv: tuple[str, ...]
    shell: bool = False

    @property
    def line(self) -> list[str]:
        return ["/bin/sh", "-c", self.argv[0]] if self.shell else list(self.argv)

    @property
    def text(self) -> str:
        return self.argv[0] if self.shell else shlex.join(self.argv)

    @property
    def hash(self) -> str:
        """Tells one command from another."""
        return hashlib.sha256(json.dumps([self.shell, *self.argv]).encode()).hexdigest()


@dataclass(frozen=True)
class Settings:
    """What the orchestrator has fixed. ``command`` None: no gate yet. ``timeout`` is in seconds."""

    command: Command | None = None
    target: str = ""
    timeout: float = 900.0
    keep_env: tuple[str, ...] = ()
    worktrees: str = ""


@dataclass(frozen=True)
class Lane:
    """One writer's branch and worktree.

    state  "making" and "removing" are steps that did not end: `new` or `prune` finish them
    """

    name: str
    branch: str
    path: str
    base: str
    at: str
    state: str = "ready"

    @property
    def ref(self) -> str:
        return f"refs/heads/{self.branch}"


@dataclass
class Register:
    """The whole of it; changed inside `changing`."""

    settings: Settings
    lanes: dict[str, Lane]

    def lane(self, name: str) -> Lane:
        """The lane of a name. OpsError naming those there are."""
        if name in self.lanes:
            return self.lanes[name]
        raise OpsError(f"no lane {name!r}; there are: {', '.join(self.lanes) or 'none'}")

    def chosen(self, names: list[str]) -> list[Lane]:
        """The lanes of these names in this order, or all as they were made. OpsError without any."""
        if not self.lanes:
            raise OpsError("there are no lanes; `hermes ops lanes new NAME` makes one")
        return [self.lane(name) for name in dict.fromkeys(names)] if names else list(self.lanes.values())


def command_of(text: str, shell: bool) -> Command:
    """A gate as it is written on a command line. ValueError when it is empty, or needs a shell undeclared."""
    if not text.strip():
        raise ValueError("expected a command")
    if shell:
        return Command((text,), True)
    words = shlex.split(text)
    reader = shlex.shlex(text, posix=True, punctuation_chars=True)
    reader.whitespace_split = True
    if any(set(word) <= _OPERATORS for word in reader if word) or re.match(r"[A-Za-z_]\w*=", words[0]):
        raise ValueError(f"{text!r} is written for a shell: add --shell to have /bin/sh run it")
    return Command(tuple(words))


def slug(name: str) -> str:
    """The part of a branch and folder that stands for a lane's name; names that differ have different ones.

    ValueError for a name that is empty, too long, or holds characters that do not show.
    """
    plain = unicodedata.normalize("NFC", name)
    if not plain.strip() or plain != plain.strip() or len(plain) > MOST_NAME or not plain.isprintable():
        raise ValueError(f"{name[:MOST_NAME]!r}: expected a name of 1 to {MOST_NAME} characters that show")
    found = re.sub(r"[^\w-]+", "-", plain.lower()).strip("-_")
    if found == plain:
        return found
    return f"{found or 'lane'}-{hashlib.sha256(plain.encode()).hexdigest()[:8]}"


def read(repository: Repository) -> Register:
    """The register as it is. Unreadable when the file is damaged."""
    return _register(_file(repository).read())


@contextmanager
def changing(repository: Repository) -> Iterator[Register]:
    """The register to be changed, under its lock; written when the block ends without an exception."""
    with _file(repository).changing() as opened:
        if opened.damaged is not None:
            raise OpsError(
                f"the register of lanes was damaged and is set aside as {opened.damaged}: mend it and put it "
                f"back as {repository.state / FILE_NAME}; branches and worktrees are as they were"
            )
        register = _register(opened.data)
        yield register
        opened.data.clear()
        opened.data.update(_dump(register))


@contextmanager
def alone(repository: Repository, what: str, patience: float = 0.0) -> Iterator[None]:
    """Keep other runs from doing the same ("merge", "make") to a repository. OpsError when one is at it."""
    lock = FileLock(repository.state / f"{what}.lock")
    if not lock.acquire(patience):
        raise OpsError(
            f"process {lock.holder() or 'unknown'} is at the lanes of this repository; try again later"
        )
    try:
        yield
    finally:
        lock.release()


def worktrees_folder(repository: Repository, settings: Settings) -> Path:
    """Where lanes and runs of gates lie."""
    return Path(settings.worktrees) if settings.worktrees else repository.worktrees_folder


def _file(repository: Repository) -> StateFile:
    return StateFile(repository.state / FILE_NAME, 1, lambda: _dump(Register(Settings(), {})), _register)


def _register(data: dict[str, Any]) -> Register:
    lanes = [typed(Lane, one) for one in data["lanes"]]
    return Register(typed(Settings, data["settings"]), {lane.name: lane for lane in lanes})


def _dump(register: Register) -> dict[str, Any]:
    return {
        "settings": json.loads(json.dumps(asdict(register.settings))),
        "lanes": [asdict(lane) for lane in register.lanes.values()],
    }
