"""The kernel of one session over its whole life: started when needed, saved and ended, started again.

Nothing that was there may go missing in silence: whenever a kernel begins where another has been, the
first reply says what is lost and what came back.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import checkpoint
from ..display import listed
from ..settings import Settings
from . import process, registry
from .capture import prune
from .handle import Answer, Kernel, Watch
from .launch import launch
from .past import Ended, Past, Saved

AUTOSAVE_SECONDS = 20.0
SAVE_SECONDS = 120.0
# More than a save may take of its time, for the disk; then it is interrupted.
SAVE_MARGIN = 3.0
RESTORE_SECONDS = 60.0
RESTORE_AT_LEAST = 10.0
PROBLEMS_SHOWN = 3
FIGURES_KEPT = 200
LATE_CHARACTERS = 400


class Busy(Exception):
    """The session runs another call, or all kernels do."""


@dataclass
class Caller:
    """Who calls: how to see the user's stop, how to show activity, how to reach the host's tools."""

    interrupted: Callable[[], bool] = lambda: False
    tick: Callable[[], None] = lambda: None
    serve: Callable[[str, dict[str, Any]], Any] | None = None
    task_id: str | None = None
    until: float | None = None  # time.monotonic() at which the call's time is over

    @property
    def seconds(self) -> float:
        """How long the call may still take."""
        return float("inf") if self.until is None else max(0.0, self.until - time.monotonic())


@dataclass
class Ran:
    """A cell that was run: the kernel's answer, and what is to be said besides."""

    cell: int
    answer: Answer
    seconds: float
    notes: list[str] = field(default_factory=list)
    is_first: bool = False  # the kernel was started for it
    saved: bool = True  # False: the kernel was ended for its memory, and its state is lost


class SessionKernel:
    """One session's kernel. Calls queue on its lock; what is read without it is only for display."""

    def __init__(self, home: Path, session_id: str, make_room: Callable[[SessionKernel, Any], None]) -> None:
        self.home, self.id = home, session_id
        self.kernel: Kernel | None = None
        self.past = Past(home, session_id)
        self.cell = 0
        self.busy_since: float | None = None
        self.last_used = time.monotonic()
        self.memory = 0
        self.left: Callable[[SessionKernel], None] = lambda session: None
        self._lock = threading.Lock()
        self._make_room = make_room
        self._directory: Path | None = None
        self._ended: Ended | None = None
        self._told_settings = False
        self._owed: list[str] = []  # what the next reply must say
        self._unread = ""  # what the kernel before printed after its last cell
        self._is_new = True  # no kernel of this session was started by this process

    @property
    def names(self) -> dict[str, int]:
        """The variables of the session, with the cell that assigned each last."""
        return self.past.names

    # Taking turns.

    @contextmanager
    def turn(self, seconds: float, interrupted: Callable[[], bool]) -> Any:
        """Hold the session for one call. Raises Busy when it is not free in time or the user stops."""
        give_up = time.monotonic() + seconds
        while not self._lock.acquire(timeout=0.1):
            if interrupted():
                raise Busy("stopped by the user while an earlier call of this session was running")
            if time.monotonic() > give_up:
                raise Busy(f"an earlier call of this session has been running for {self.busy_seconds:.0f} s")
        try:
            self.busy_since = time.monotonic()
            yield
        finally:
            self.last_used, self.busy_since = time.monotonic(), None
            self._lock.release()

    @contextmanager
    def turn_if_idle(self) -> Any:
        """Hold the session if nobody does; yields whether it is held."""
        held = self._lock.acquire(blocking=False)
        try:
            yield held
        finally:
            if held:
                self._lock.release()

    @property
    def busy_seconds(self) -> float:
        since = self.busy_since
        return time.monotonic() - since if since is not None else 0.0

    @property
    def idle_seconds(self) -> float:
        return 0.0 if self.busy_since is not None else time.monotonic() - self.last_used

    # The operations; each is called with the turn held.

    def run(self, code: str, seconds: float, settings: Settings, caller: Caller) -> Ran:
        """Run one cell, on a kernel started for it when there is none. Raises OSError and Busy."""
        is_first = self.kernel is None
        self._ensure(settings, caller)
        self.cell = number = max(self.cell, self.past.journal.last) + 1
        began, at = time.monotonic(), time.time()
        watch = Watch(
            seconds=seconds,
            interrupted=caller.interrupted,
            tick=caller.tick,
            serve=caller.serve,
            cell=number,
            memory_limit=settings.max_rss_mb << 20,
            stops_on_memory=settings.rss_policy == "stop",
            salvages=settings.enable_checkpoint,
        )
        answer = self._kernel.call("exec", watch, cell=number, code=code)
        ran = Ran(number, answer, time.monotonic() - began, is_first=is_first)
        reply = answer.reply or {}
        if reply.get("figures"):
            prune(self.past.figures, FIGURES_KEPT, "*.png")
        self.past.ran(number, at, code, reply, bool(answer.stopped))
        self._after(ran, settings)
        if answer.keyboard_interrupt is not None:
            raise answer.keyboard_interrupt
        ran.notes[:0] = self._said()
        return ran

    def _said(self) -> list[str]:
        """Take what the reply that is made now must say."""
        notes, self._owed = self._owed, []
        return notes

    def variables(self, settings: Settings, caller: Caller, seconds: float = 3.0) -> dict[str, Any] | None:
        """Ask a running kernel for its variables; None when there is no kernel."""
        if self.kernel is None:
            return None
        answer = self._kernel.call("vars", Watch(seconds, caller.interrupted, caller.tick, kills=False))
        if answer.reply is None and not answer.death:
            return {"ok": False, "error": "a variable takes for ever to say what it is; the kernel goes on"}
        return self._checked(answer, settings)

    def save(self, name: str, settings: Settings, caller: Caller) -> dict[str, Any]:
        """Save the variables under ``name``; the kernel's reply, which says ok only of what is on disk."""
        self._ensure(settings, caller)
        path = checkpoint.path_of(self.home, self.id, name)
        watch = Watch(SAVE_SECONDS + SAVE_MARGIN, caller.interrupted, caller.tick)
        fields = self.past.save_fields(path)
        answer = self._kernel.call("save", watch, name=name, seconds=SAVE_SECONDS, **fields)
        reply = self._checked(answer, settings)
        if reply.get("ok"):
            reply["pruned"] = [entry.name for entry in checkpoint.prune(self.home, path)]
        return {**reply, "notes": self._said()}

    def restore(
        self, path: Path, session: str | None, overwrite: bool, settings: Settings, caller: Caller
    ) -> dict[str, Any]:
        """Bring variables back from a checkpoint; ``session`` None takes one of any session."""
        self._ensure(settings, caller)
        reply = self._restore(path, session, overwrite, settings, caller)
        return {**reply, "notes": self._said()}

    def end(self, reason: str, settings: Settings | None, seconds: float | None = None) -> bool:
        """Save the state (with ``settings``) and end the kernel; True when nothing is lost by it."""
        if self.kernel is None:
            return True
        saved = (
            self._autosave(seconds or AUTOSAVE_SECONDS) if settings and settings.enable_checkpoint else None
        )
        self._close(Ended(reason, saved, error=self.past.save_error))
        return saved is not None

    @property
    def pending(self) -> str:
        """Why there is no kernel where one was; "" when there is one, or was none."""
        ended = self._ended
        return ended.reason if ended is not None and self.kernel is None else ""

    def reset(self) -> bool:
        """End the kernel and forget its state for good; False when there was nothing to forget."""
        had = self.kernel is not None or self._ended is not None
        self._close(None)
        self._unread = ""
        self._owed.clear()
        had = self.past.forget() or had
        if had:
            self.past.was_reset()
        return had

    def look_after(self, settings: Settings) -> None:
        """Between calls: take output, notice a death, keep to the idle and the memory limit."""
        kernel = self.kernel
        if kernel is None:
            return
        kernel.read_idle()
        if not kernel.alive:
            self._close(Ended(f"the kernel {kernel.end()} between two calls"))
        elif self.idle_seconds > settings.idle_seconds:
            self.end(f"idle for {settings.idle_seconds} s", settings)
        else:
            self._look_at_memory(settings)

    # Starting, and what was before.

    @property
    def _kernel(self) -> Kernel:
        assert self.kernel is not None
        return self.kernel

    def _ensure(self, settings: Settings, caller: Caller) -> None:
        """Have a kernel. What is to be said of the one before is owed to the next reply."""
        if self.kernel is not None and not self.kernel.alive:
            self._close(Ended(f"the kernel {self.kernel.end()} between two calls"))
        if self.kernel is not None:
            return
        self._launch(settings, caller)
        ended, is_new = self._ended, self._is_new
        try:
            notes = self._take_up(settings, caller)
        except BaseException:
            # Stopped while the state was coming back: the next call begins anew.
            self._close(ended)
            self._is_new = is_new
            raise
        if self.kernel is None:
            # It died of what came back, and the notes say so; this one begins empty.
            self._launch(settings, caller)
            self._ended = None
        self._owed += notes + self._late_output() + self._settings_notes(settings)

    def _launch(self, settings: Settings, caller: Caller) -> None:
        self._make_room(self, caller)
        try:
            self.kernel, self._directory = launch(
                self.home,
                self.id,
                settings,
                task_id=caller.task_id,
                cell=self.past.journal.last,
                figures=self.past.figures,
                autosave=self.past.save_fields(self.past.autosave) if settings.enable_checkpoint else None,
            )
        except BaseException:
            self.left(self)
            raise

    def _settings_notes(self, settings: Settings) -> list[str]:
        """Once per session, which settings are not what they should be."""
        told, self._told_settings = self._told_settings, True
        return [] if told else [f"setting: {problem}" for problem in settings.problems[:PROBLEMS_SHOWN]]

    def _take_up(self, settings: Settings, caller: Caller) -> list[str]:
        """Bring back the state of the kernel before this one, if there was one, and say so."""
        ended, is_new = self._ended, self._is_new
        self._ended, self._is_new = None, False
        if ended is None and not is_new:
            return []

        def restore() -> dict[str, Any]:
            reply = self._restore(self.past.autosave, self.id, True, settings, caller)
            if not reply.get("ok") and caller.interrupted():
                raise Busy("stopped by the user while the session's state was coming back")
            return reply

        return self.past.take_up(ended, self._kernel.id, restore if settings.enable_checkpoint else None)

    def _late_output(self) -> list[str]:
        text, self._unread = self._unread.strip(), ""
        return [f"printed before it ended: {text[-LATE_CHARACTERS:]}"] if text else []

    def _restore(
        self, path: Path, session: str | None, overwrite: bool, settings: Settings, caller: Caller
    ) -> dict[str, Any]:
        fields = self.past.save_fields(path)
        seconds = min(RESTORE_SECONDS, max(RESTORE_AT_LEAST, caller.seconds))
        watch = Watch(seconds, caller.interrupted, caller.tick)
        answer = self._kernel.call(
            "restore",
            watch,
            code=fields["code"],
            path=fields["path"],
            key=fields["key"],
            overwrite=overwrite,
            session=session,
        )
        reply = self._checked(answer, settings)
        self.past.restored(reply)
        return reply

    # What a call leaves.

    def _after(self, ran: Ran, settings: Settings) -> None:
        answer = ran.answer
        if answer.death:
            saved = self.past.saved(answer.salvaged) if answer.salvaged else None
            self._close(Ended(f"the kernel {answer.death}", saved, in_cell=True))
            return
        registry.touch(self.home, self._kernel.id)
        if answer.stopped and (running := process.members(self._kernel.pid)):
            ran.notes.append(f"still running: {listed(running)}")
        if answer.stopped == "memory":
            ran.saved = self.end(f"it used more than {settings.max_rss_mb} MB", settings)

    def _checked(self, answer: Answer, settings: Settings) -> dict[str, Any]:
        """The reply of an operation that is no cell, as a dict that says what went wrong."""
        if answer.reply is None:
            self._close(Ended(f"the kernel {answer.death}"))
        if answer.keyboard_interrupt is not None:
            raise answer.keyboard_interrupt
        if answer.reply is not None:
            if answer.stopped and not answer.reply["ok"]:
                answer.reply["error"] = _STOPPED[answer.stopped]
            return answer.reply
        return {"ok": False, "error": f"the kernel {answer.death}"}

    def _autosave(self, seconds: float) -> Saved | None:
        """Save the kernel's state under the name for it; None when it could not be saved."""
        if not self._kernel.alive:
            return None
        watch = Watch(seconds + SAVE_MARGIN)
        fields = self.past.save_fields(self.past.autosave)
        try:
            answer = self._kernel.call(
                "save", watch, name=checkpoint.AUTOSAVE, seconds=float(seconds), **fields
            )
        except OSError:
            return None
        return self.past.saved(answer.reply or {})

    def _close(self, ended: Ended | None) -> None:
        kernel, self.kernel = self.kernel, None
        self._ended = ended
        self.memory = 0
        if kernel is None:
            return
        kernel.end()
        self._unread = kernel.last_output()
        kernel.close()
        registry.leave(self.home, kernel.id, self._directory)
        self.past.journal.close()
        self.left(self)

    def _look_at_memory(self, settings: Settings) -> None:
        self.memory = process.memory(self._kernel.pid) or 0
        if self.memory > settings.max_rss_mb << 20 and settings.rss_policy == "stop":
            self.end(f"it used more than {settings.max_rss_mb} MB", settings)


_STOPPED = {
    "time": "it took too long and was stopped",
    "user": "stopped by the user",
    "host": "the host is shutting down",
}
