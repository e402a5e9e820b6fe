"""What one tool call may cost the judges: steps, which are the same everywhere, and behind them the clock."""

from __future__ import annotations

from time import perf_counter, thread_time

# A simple command is a step; so is a finding, and so are some of the arguments of a command and some hundred
# characters of text that is read. All shell texts and all code of a tool call share them.
MOST_STEPS = 500
# What is left for the look at what the steps did not reach.
RESERVE = 100
MOST_SECONDS = 0.018
# Characters of text to be read that cost as much as a command. The text of a tool call itself is cheaper: the
# reader has bounds of its own.
CHARACTERS_A_STEP = 128
MOST_FOR_THE_TEXT = 200
RESERVE_SECONDS = 0.008
# Time in which this thread did not work is the machine's: less work than this is never cut short.
LEAST_WORK = 0.010
_BETWEEN_LOOKS = 16


class Exhausted(Exception):
    """The steps or the time of a judgement are used up."""


class Budget:
    """The steps and the time that are left. `left` are the steps until `look` must be called."""

    __slots__ = ("_beyond", "_reserve", "_until", "_worked_until", "left")

    def __init__(self, steps: int = MOST_STEPS, seconds: float = MOST_SECONDS) -> None:
        self.left = 0
        self._beyond = steps
        self._reserve = RESERVE
        self._until = perf_counter() + seconds
        self._worked_until = thread_time() + LEAST_WORK

    def spend(self, steps: int = 1) -> None:
        """Count steps; raises Exhausted when there are not so many left."""
        self.left -= steps
        if self.left < 0:
            self.look()

    def look(self) -> None:
        """Take the next steps; raises Exhausted when there are none or the time is over."""
        self._beyond += self.left
        self.left = 0
        if self._beyond < 0 or self.is_late():
            self._beyond = 0
            raise Exhausted
        self.left = min(_BETWEEN_LOOKS, self._beyond)
        self._beyond -= self.left

    def is_late(self) -> bool:
        """Whether the time is over."""
        return perf_counter() > self._until and thread_time() > self._worked_until

    def give_back(self, seconds: float) -> None:
        """Time that no text is to blame for, as that in which a module was imported."""
        self._until += seconds
        self._worked_until += seconds

    def take_reserve(self) -> None:
        """Some steps more, once, to look at what the others did not reach."""
        self.left, self._beyond, self._reserve = 0, self._reserve, 0
        self._until = max(self._until, perf_counter() + RESERVE_SECONDS)
        self._worked_until = max(self._worked_until, thread_time() + LEAST_WORK / 2)
