"""The judgement of a text: read it, walk it, fall back on the lexical view where it cannot be read."""

from __future__ import annotations

from dataclasses import dataclass

from ..verdict import Judgement


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known about where the text would run. `cwd` None: not known; `hermes_home`: the host's home."""

    cwd: str | None = None
    home: str = ""  # the home of the user; "" is looked up
    hermes_home: str = ""
    is_container: bool = False  # the terminal backend is an isolated container


def judge_shell(text: str, surroundings: Surroundings | None = None) -> Judgement:
    """Judge a shell command line or script of any length. Never raises, never runs anything.

    Bounded: a text over the reader's limits is judged by its lexical view.
    """
    raise NotImplementedError
