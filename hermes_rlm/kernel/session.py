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
from . import process, registry
from .capture import prune
from .handle import Answer, Kernel, Watch
from .launch import launch

AUTOSAVE_SECONDS = 20.0
SAVE_SECONDS = 120.0
# More than a save may take of its time, for the disk; then it is interrupted.
SAVE_MARGIN = 3.0
RESTORE_SECONDS = 60.0
RESTORE_AT_LEAST = 10.0
PROBLEMS_SHOWN = 3
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


@dataclass(frozen=True)
class Saved:
    """The autosave of a kernel: when it was made (0.0: there was nothing to save), and which names it had."""

    at: float
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ended:
    """The kernel that was: why it ended, the autosave that has its state, whether it died in a cell."""

    reason: str
    saved: Saved | None = None
    in_cell: bool = False
    error: str = ""  # why there is no autosave of it


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
        self._told_settings = False
        self._save_error = ""
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
        is_first = self.kernel is None
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
        ran = Ran(number, answer, time.monotonic() - began, notes, is_first)
        self._note(ran, at, code)
        self._after(ran, settings)
        if answer.keyboard_interrupt is not None:
            raise answer.keyboard_interrupt
        return ran

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
        notes = self._ensure(settings, caller)
        path = checkpoint.path_of(self.home, self.id, name)
        watch = Watch(SAVE_SECONDS + SAVE_MARGIN, caller.interrupted, caller.tick)
        fields = self._saving(path)
        answer = self._kernel.call("save", watch, name=name, seconds=SAVE_SECONDS, **fields)
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

    def end(self, reason: str, settings: Settings | None, seconds: float | None = None) -> bool:
        """Save the state (with ``settings``) and end the kernel; True when nothing is lost by it."""
        if self.kernel is None:
            return True
        saved = (
            self._autosave(seconds or AUTOSAVE_SECONDS) if settings and settings.enable_checkpoint else None
        )
        self._close(Ended(reason, saved, error=self._save_error))
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
        self._told_settings = False
        self._save_error = ""
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
        return notes + self._late_output() + self._settings_notes(settings)

    def _launch(self, settings: Settings, caller: Caller) -> None:
        self._make_room(self, caller)
        try:
            self.kernel, self._directory = launch(
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

    def _settings_notes(self, settings: Settings) -> list[str]:
        """Once per session, which settings are not what they should be."""
        told, self._told_settings = self._told_settings, True
        return [] if told else [f"setting: {problem}" for problem in settings.problems[:PROBLEMS_SHOWN]]

    def _take_up(self, settings: Settings, caller: Caller) -> list[str]:
        """Bring back the state of the kernel before this one where it is all there, and say so."""
        ended, is_new = self._ended, self._is_new
        self._ended, self._is_new = None, False
        if ended is None and not is_new:
            return []
        saved = ended.saved if ended is not None else None
        before = list(dict.fromkeys([*self._known_names(), *(saved.names if saved else ())]))
        self.names.clear()
        in_cell = ended is not None and ended.in_cell
        if not before and not in_cell:
            return []
        elsewhere = self._elsewhere() if ended is None else ""
        if elsewhere:
            # The other kernel has its variables: they are not lost, and the next process is told too.
            return [f"restarted: {elsewhere}; not here: {listed(before)}"]
        reason = ended.reason if ended is not None else "the host that ran it ended"
        if in_cell and saved is None:
            reason += ", with what its last call had assigned"
        if not before:
            return [self._loss(reason, before, [], "")]
        if not settings.enable_checkpoint:
            return [self._loss(reason, before, [], "checkpoints are off")]
        entry = checkpoint.describe(self._autosave_path)
        if entry is None or entry.problem:
            why = entry.problem if entry else ended.error if ended else ""
            return [self._loss(reason, before, [], why or "")]
        if not self._is_current(entry, ended):
            behind = max(0, self._journal.last - entry.cell)
            why = f"the autosave is from {_age(entry)} ago, {behind} call(s) older"
            return [self._loss(reason, before, [], f"{why}: {self._set_aside()}")]
        reply = self._restore(self._autosave_path, self.id, True, settings, caller)
        if reply.get("ok"):
            return [self._loss(reason, before, reply["restored"], f"saved {_age(entry)} ago")]
        if caller.interrupted():
            raise Busy("stopped by the user while the session's state was coming back")
        return [self._loss(reason, before, [], f"{reply.get('error', '')}; {self._set_aside()}")]

    def _is_current(self, entry: checkpoint.Entry, ended: Ended | None) -> bool:
        """Whether an autosave has the state of the kernel that was, and not an older one or another's."""
        if ended is None:
            return entry.cell >= self._journal.last
        return ended.saved is not None and ended.saved.at == entry.saved_at

    def _late_output(self) -> list[str]:
        text, self._unread = self._unread.strip(), ""
        return [f"printed before it ended: {text[-LATE_CHARACTERS:]}"] if text else []

    def _elsewhere(self) -> str:
        """Which other process has a kernel of this session now; "" when none has."""
        for record in registry.live(self.home):
            if record["session"] == self.id and record["id"] != self._kernel.id:
                return f"another process ({record['parent']}) has this session's kernel, this one is new"
        return ""

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
            saved = self._saved(answer.salvaged) if answer.salvaged else None
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
        fields = self._saving(self._autosave_path)
        try:
            answer = self._kernel.call(
                "save", watch, name=checkpoint.AUTOSAVE, seconds=float(seconds), **fields
            )
        except OSError:
            return None
        return self._saved(answer.reply or {})

    def _saved(self, reply: dict[str, Any]) -> Saved | None:
        """What a kernel has saved of itself, from its reply or its last event; nothing is no checkpoint."""
        self._save_error = str(reply.get("error", ""))
        if not reply.get("ok"):
            return None
        names = (*reply["saved"], *(row["name"] for row in reply["skipped"]))
        if not names:
            checkpoint.delete(self.home, self.id, checkpoint.AUTOSAVE)
            return Saved(0.0)
        checkpoint.prune(self.home, self._autosave_path)
        entry = checkpoint.describe(self._autosave_path)
        return Saved(entry.saved_at, names) if entry is not None else None

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
        self.memory = process.memory(self._kernel.pid) or 0
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


_STOPPED = {
    "time": "it took too long and was stopped",
    "user": "stopped by the user",
    "host": "the host is shutting down",
}


def _age(entry: checkpoint.Entry) -> str:
    return duration(max(0.0, time.time() - entry.saved_at))
