"""Delivery targets of jobs: what they mean on this home, and whether they can be reached at all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .jobs import Job


@dataclass(frozen=True)
class Target:
    """``text`` as written; platform, chat and thread when it names them ("local", "origin", "all" do not)."""

    text: str
    platform: str
    chat: str | None = None
    thread: str | None = None


def parse_target(text: str) -> Target:
    """Read "local", "origin", "all", "<platform>", "<platform>:<chat>[:<thread>]"."""
    raise NotImplementedError


def unreachable(job: Job, target: Target, home: Path) -> str | None:
    """Why `target` cannot be delivered to, as far as files tell; None: nothing speaks against it.

    Platform unknown to the host, not configured or not enabled, no home channel, `origin` without an origin.
    Nothing is sent. When the config is unknown the answer is None.
    """
    raise NotImplementedError
