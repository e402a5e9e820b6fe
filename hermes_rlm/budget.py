"""What the calls of one kernel may use up, counted in the parent where the kernel cannot reach it."""

from __future__ import annotations

import threading
from dataclasses import dataclass

CALLS_PER_CELL = 1_000


@dataclass(frozen=True)
class Breach:
    """A refused reservation: how many calls the cell has used, and how many it may."""

    calls: int
    limit: int

    @property
    def message(self) -> str:
        return (
            f"the cell has used its budget of {self.limit:,} tool calls ({self.calls:,} made);"
            " go on in a new cell, or do the work with fewer calls"
        )

    def as_dict(self) -> dict[str, int]:
        """The same as plain data, for a program: {"calls": used, "limit": allowed}."""
        return {"calls": self.calls, "limit": self.limit}


class Budget:
    """Tool calls per cell: `reserve` before a call, `settle` after it.

    A reserved call counts as used until it is settled, so calls that run at the same time cannot pass
    the limit together; one that never reached the host is given back. Safe for several threads.
    """

    def __init__(self, calls: int = CALLS_PER_CELL) -> None:
        self._limit = calls
        self._lock = threading.Lock()
        self._cell: int | None = None
        self._used = 0

    def reserve(self, cell: int) -> Breach | None:
        """Take one call of `cell`, whose count starts when its number is first seen; or say what is spent."""
        with self._lock:
            if cell != self._cell:
                self._cell, self._used = cell, 0
            if self._used >= self._limit:
                return Breach(self._used, self._limit)
            self._used += 1
            return None

    def settle(self, cell: int, *, made: bool) -> None:
        """End a reservation of `cell`: the call was made, or it is given back."""
        with self._lock:
            if cell == self._cell and not made:
                self._used -= 1
