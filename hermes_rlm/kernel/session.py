"""The kernel of one session over its whole life: started when needed, saved and ended, started again.

Nothing that was there may go missing in silence: whenever a kernel begins where another has been, the
first reply says what is lost and what came back.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import cells, checkpoint
from ..display import duration, listed
from ..settings import Settings
from . import registry
from .capture import prune
from .handle import Answer, Kernel, Watch
from .launch import launch

AUTOSAVE_SECONDS = 20.0
RESTORE_SECONDS = 60.0
SAVING = Path(__file__).parent / "child" / "saving"
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


@dataclass
class Ran:
    """A cell that was run: the kernel's answer, and what is to be said besides."""

    cell: int
    answer: Answer
    seconds: float
    notes: list[str] = field(default_factory=list)
    saved: bool = True  # False: the kernel was ended for its memory, and its state is lost


@dataclass(frozen=True)
class Ended:
    """The kernel that was: why it ended, whether its state is in the autosave, whether it died in a cell."""

    reason: str
    saved: bool = False
    in_cell: bool = False


class SessionKernel:
    """One session's kernel. Calls queue on its lock; what is read without it is only for display."""

    def __init__(self, home: Path, session_id: str, make_room: Callable[[SessionKernel, Any], None]) -> None:
        self.home, self.id = home, session_id
        self.kernel: Kernel | None = None
        self.names: dict[str, int] = {}  # variable -> the cell that assigned it last
        self.cell = 0
        self.busy_since: float | None = None
        self.last_used = time.monotonic()
        self.memory = 0
        self.left: Callable[[SessionKernel], None] = lambda session: None
        self._lock = threading.Lock()
        self._make_room = make_room
        self._journal = cells.CellJournal(home, session_id)
        self._directory: Path | None = None
        self._ended: Ended | None = None
        self._unread = ""  # what the kernel before printed after its last cell
        self._is_new = True  # no kernel of this session was started by this process

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
        notes = self._ensure(settings, caller)
        self.cell = number = max(self.cell, self._journal.last) + 1
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
        ran = Ran(number, answer, time.monotonic() - began, notes)
        self._note(ran, at, code)
        self._after(ran, settings)
        if answer.keyboard_interrupt is not None:
            raise answer.keyboard_interrupt
        return ran

    def variables(self, settings: Settings, caller: Caller, seconds: float = 3.0) -> dict[str, Any] | None:
        """Ask a running kernel for its variables; None when there is no kernel."""
        if self.kernel is None:
            return None
        watch = Watch(seconds, caller.interrupted, caller.tick, salvages=settings.enable_checkpoint)
        answer = self._kernel.call("vars", watch)
        return self._checked(answer, settings)

    def save(self, name: str, settings: Settings, caller: Caller, seconds: float = 300.0) -> dict[str, Any]:
        """Save the variables under ``name``; the kernel's reply, which says ok only of what is on disk."""
        notes = self._ensure(settings, caller)
        path = checkpoint.path_of(self.home, self.id, name)
        watch = Watch(seconds, caller.interrupted, caller.tick)
        answer = self._kernel.call("save", watch, name=name, **self._saving(path))
        reply = self._checked(answer, settings)
        if reply.get("ok"):
            reply["pruned"] = [entry.name for entry in checkpoint.prune(self.home, path)]
        return {**reply, "notes": notes}

    def restore(
        self, path: Path, session: str | None, overwrite: bool, settings: Settings, caller: Caller
    ) -> dict[str, Any]:
        """Bring variables back from a checkpoint; ``session`` None takes one of any session."""
        notes = self._ensure(settings, caller)
        reply = self._restore(path, session, overwrite, settings, caller)
        return {**reply, "notes": notes}

    def end(self, reason: str, settings: Settings | None) -> bool:
        """Save the state (with ``settings``) and end the kernel; True when nothing is lost by it."""
        if self.kernel is None:
            return True
        saved = not self.names or (settings is not None and self._autosave(settings))
        self._close(Ended(reason, saved))
        return saved

    def reset(self) -> bool:
        """End the kernel and forget its state for good; False when there was nothing to forget."""
        had = self.kernel is not None or self._ended is not None
        self._close(None)
        self._unread = ""
        automatic = (checkpoint.AUTOSAVE, checkpoint.SET_ASIDE)
        removed = any([checkpoint.delete(self.home, self.id, name) for name in automatic])
        known = bool(self._known_names())
        if had or removed or known:
            self._write(cells.Cell(self._journal.last, time.time(), event="reset"))
            self._journal.close()
        self.names.clear()
        return had or removed or known

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

    def _ensure(self, settings: Settings, caller: Caller) -> list[str]:
        """Have a kernel. Returns what the caller must know of the one before."""
        if self.kernel is not None and not self.kernel.alive:
            self._close(Ended(f"the kernel {self.kernel.end()} between two calls"))
        if self.kernel is not None:
            return []
        self._make_room(self, caller)
        try:
            launched = launch(
                self.home,
                self.id,
                settings,
                task_id=caller.task_id,
                cell=self._journal.last,
                figures=self._figures,
                autosave=self._saving(self._autosave_path) if settings.enable_checkpoint else None,
            )
        except BaseException:
            self.left(self)
            raise
        self.kernel, self._directory = launched
        ended, is_new = self._ended, self._is_new
        try:
            return self._take_up(settings, caller) + self._late_output()
        except BaseException:
            # Stopped while the state was coming back: the next call begins anew.
            self._close(ended)
            self._is_new = is_new
            raise

    def _take_up(self, settings: Settings, caller: Caller) -> list[str]:
        """Bring back the state of the kernel before this one where it is all there, and say so."""
        ended, is_new = self._ended, self._is_new
        self._ended, self._is_new = None, False
        before = self._known_names() if is_new or ended is not None else []
        self.names.clear()
        in_cell = ended is not None and ended.in_cell
        if not before and not in_cell:
            return []
        reason = ended.reason if ended is not None else self._elsewhere()
        if in_cell and not ended.saved:
            reason += ", with what its last call had assigned"
        if not before:
            return [self._loss(reason, before, [], "")]
        if not settings.enable_checkpoint:
            return [self._loss(reason, before, [], "checkpoints are off")]
        path = self._autosave_path
        entry = checkpoint.describe(path)
        if entry is None or entry.problem:
            return [self._loss(reason, before, [], entry.problem if entry else "")]
        behind = self._journal.last - entry.cell
        if behind > 0 and not (ended is not None and ended.saved):
            why = f"the autosave is from {_age(entry)} ago, {behind} call(s) older"
            return [self._loss(reason, before, [], f"{why}: {self._set_aside()}")]
        reply = self._restore(path, self.id, True, settings, caller)
        if reply.get("ok"):
            return [self._loss(reason, before, reply["restored"], f"saved {_age(entry)} ago")]
        if caller.interrupted():
            raise Busy("stopped by the user while the session's state was coming back")
        return [self._loss(reason, before, [], f"{reply.get('error', '')}; {self._set_aside()}")]

    def _late_output(self) -> list[str]:
        text, self._unread = self._unread.strip(), ""
        return [f"printed before it ended: {text[-LATE_CHARACTERS:]}"] if text else []

    def _elsewhere(self) -> str:
        """Why this process has no kernel for a session that had one."""
        for record in registry.live(self.home):
            if record["session"] == self.id and record["id"] != self._kernel.id:
                return f"another process ({record['parent']}) has this session's kernel, this one is new"
        return "the host that ran it ended"

    def _set_aside(self) -> str:
        """Keep an autosave that is not restored from being overwritten by the next; say where it is."""
        name = checkpoint.set_aside(self.home, self.id)
        return f"rlm_checkpoint restore name={name} brings it back"

    def _loss(self, reason: str, before: Iterable[str], restored: list[str], remark: str) -> str:
        """Write down what is lost and return the line that tells of it."""
        lost = [name for name in before if name not in restored]
        if lost:
            self._write(cells.Cell(self._journal.last, time.time(), deleted=tuple(lost), event="lost"))
        line = f"restarted: {reason}; lost: {listed(lost)}; restored: {listed(restored)}"
        return f"{line} ({remark})" if remark else line

    def _restore(
        self, path: Path, session: str | None, overwrite: bool, settings: Settings, caller: Caller
    ) -> dict[str, Any]:
        fields = self._saving(path)
        watch = Watch(RESTORE_SECONDS, caller.interrupted, caller.tick)
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
        restored = reply.get("restored") or []
        for name in restored:
            self.names[name] = self._journal.last
        if restored:
            event = cells.Cell(
                self._journal.last,
                time.time(),
                assigned=tuple(restored),
                event="restored",
                # Numbers of another session's cells mean nothing here.
                as_of=int(reply["cell"]) if reply["session"] == self.id else 0,
            )
            self._write(event)
        return reply

    # What a call leaves.

    def _note(self, ran: Ran, at: float, code: str) -> None:
        reply = ran.answer.reply or {}
        assigned, deleted = reply.get("assigned", []), reply.get("deleted", [])
        for name in assigned:
            self.names[name] = ran.cell
        for name in deleted:
            self.names.pop(name, None)
        if reply.get("figures"):
            prune(self._figures, FIGURES_KEPT, "*.png")
        self._write(
            cells.Cell(
                number=ran.cell,
                at=at,
                ok=bool(reply.get("ok")),
                code=code,
                assigned=tuple(assigned),
                deleted=tuple(deleted),
                event="interrupted" if ran.answer.stopped else "",
            )
        )

    def _after(self, ran: Ran, settings: Settings) -> None:
        answer = ran.answer
        if answer.death:
            salvaged = bool(answer.salvaged and answer.salvaged.get("ok"))
            self._close(Ended(f"the kernel {answer.death}", salvaged, in_cell=True))
            return
        registry.touch(self.home, self._kernel.id)
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

    def _autosave(self, settings: Settings) -> bool:
        if not settings.enable_checkpoint or not self._kernel.alive:
            return False
        path = self._autosave_path
        watch = Watch(AUTOSAVE_SECONDS)
        try:
            answer = self._kernel.call("save", watch, name=checkpoint.AUTOSAVE, **self._saving(path))
        except OSError:
            return False
        if not (answer.reply or {}).get("ok"):
            return False
        checkpoint.prune(self.home, path)
        return True

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
        self._journal.close()
        self.left(self)

    def _look_at_memory(self, settings: Settings) -> None:
        from .process import memory

        self.memory = memory(self._kernel.pid) or 0
        if self.memory > settings.max_rss_mb << 20 and settings.rss_policy == "stop":
            self.end(f"it used more than {settings.max_rss_mb} MB", settings)

    # Files.

    @property
    def _autosave_path(self) -> Path:
        return checkpoint.path_of(self.home, self.id, checkpoint.AUTOSAVE)

    @property
    def _figures(self) -> Path:
        return self._journal.directory / "figures"

    def _saving(self, path: Path) -> dict[str, Any]:
        return {
            "code": str(SAVING),
            "path": str(path),
            "key": checkpoint.signing_key(self.home).hex(),
            "session": self.id,
            "limit": checkpoint.LIMIT_BYTES,
        }

    def _known_names(self) -> list[str]:
        """The variables this session had, from memory or from its journal."""
        if self.names or not self._journal.last:
            return list(self.names)
        try:
            return cells.names_after(self._journal.entries())
        except OSError:
            return []

    def _write(self, cell: cells.Cell) -> None:
        """Write to the journal; a full disk must not cost the answer."""
        try:
            self._journal.append(cell)
        except OSError:
            pass


_STOPPED = {"time": "it took too long and was stopped", "user": "stopped by the user"}


def _age(entry: checkpoint.Entry) -> str:
    return duration(max(0.0, time.time() - entry.saved_at))
