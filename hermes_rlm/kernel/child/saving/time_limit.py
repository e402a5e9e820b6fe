"""A time limit for a save, shared out so that one value that takes for ever costs only itself."""

import _signal
import _thread
from time import monotonic

_MAIN = _thread.get_ident()
_REPEAT_SECONDS = 0.1
_PARTS = 3


class TooSlow(BaseException):
    """A value took more than its share of the time."""


class Shares:
    """Hands out the time of a save: a value may take a third of what is left, at the end all of it.

    Works by SIGALRM, so only on the main thread; on others nothing is limited.
    """

    def __init__(self, seconds: "float | None") -> None:
        self.are_whole = False
        self._until = None if seconds is None or _thread.get_ident() != _MAIN else monotonic() + seconds

    def __enter__(self):
        """Begin the share of one value. Raises TooSlow when no time is left."""
        self._running = False
        if self._until is None:
            return self
        left = self._until - monotonic()
        if left <= 0.01:
            raise TooSlow("there was no time left")
        share = left if self.are_whole else left / _PARTS
        self._before = _signal.signal(_signal.SIGALRM, self._end)
        self._share, self._running = share, True
        # Again and again: the value's own code may swallow it.
        _signal.setitimer(_signal.ITIMER_REAL, share, _REPEAT_SECONDS)
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._running:
            self._running = False
            _signal.setitimer(_signal.ITIMER_REAL, 0)
            _signal.signal(_signal.SIGALRM, self._before or _signal.SIG_DFL)

    def _end(self, number: int, frame: object) -> None:
        if self._running:
            raise TooSlow(f"it took longer than {self._share:.1f} s")
