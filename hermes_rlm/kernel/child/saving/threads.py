"""A call on a thread of its own.

Built on `_thread` alone: a save may run inside a signal handler while the interrupted code holds locks
of `threading` or `concurrent.futures`.
"""

from _thread import allocate_lock, start_new_thread


class Background:
    """Runs a function at once on another thread; on this one when the system gives no thread.

    Only one thread may wait for it.
    """

    def __init__(self, function, *arguments) -> None:
        self._value = self._error = None
        self._has_ended = False
        self._running = allocate_lock()
        self._running.acquire()
        try:
            start_new_thread(self._run, (function, arguments))
        except RuntimeError:
            self._run(function, arguments)

    def _run(self, function, arguments) -> None:
        try:
            self._value = function(*arguments)
        except BaseException as error:  # it is raised where somebody waits for it
            self._error = error
        finally:
            self._has_ended = True
            self._running.release()

    def finish(self) -> None:
        """Block until the function has ended, however it ended."""
        # The lock is not given back: an interrupt between taking and giving would leave it locked anyway.
        if not self._has_ended:
            self._running.acquire()

    def wait(self):
        """Return what the function returned, or raise what it raised."""
        self.finish()
        if self._error is not None:
            raise self._error
        return self._value
