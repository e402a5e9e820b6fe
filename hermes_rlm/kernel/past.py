"""What a session had: its journal, its variables, its autosave, and what is said when a kernel ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import cells, checkpoint
from ..display import duration, listed
from . import registry

SAVING = Path(__file__).parent / "child" / "saving"


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


class Past:
    """The past of one session, over all its kernels and processes."""

    def __init__(self, home: Path, session_id: str) -> None:
        self.home, self.id = home, session_id
        self.names: dict[str, int] = {}  # variable -> the cell that assigned it last
        self.journal = cells.CellJournal(home, session_id)
        self.save_error = ""

    @property
    def autosave(self) -> Path:
        return checkpoint.path_of(self.home, self.id, checkpoint.AUTOSAVE)

    @property
    def figures(self) -> Path:
        return self.journal.directory / "figures"

    def save_fields(self, path: Path) -> dict[str, Any]:
        """The fields of a request that saves to ``path``, but for name and seconds. Raises OSError."""
        return {
            "code": str(SAVING),
            "path": str(path),
            "key": checkpoint.signing_key(self.home).hex(),
            "session": self.id,
            "limit": checkpoint.LIMIT_BYTES,
        }

    def ran(self, number: int, at: float, code: str, reply: dict[str, Any], stopped: bool) -> None:
        """Write down a cell and what it did to the names."""
        assigned, deleted = reply.get("assigned", []), reply.get("deleted", [])
        self.names.update(dict.fromkeys(assigned, number))
        for name in deleted:
            self.names.pop(name, None)
        self._write(
            cells.Cell(
                number=number,
                at=at,
                ok=bool(reply.get("ok")),
                code=code,
                assigned=tuple(assigned),
                deleted=tuple(deleted),
                event="interrupted" if stopped else "",
            )
        )

    def restored(self, reply: dict[str, Any]) -> None:
        """Write down the names that a restore brought."""
        names = tuple(reply.get("restored") or ())
        if names:
            self.names.update(dict.fromkeys(names, self.journal.last))
            # Numbers of another session's cells mean nothing here.
            as_of = int(reply["cell"]) if reply["session"] == self.id else 0
            self._event("restored", assigned=names, as_of=as_of)

    def saved(self, reply: dict[str, Any]) -> Saved | None:
        """What a kernel has saved of itself, from its reply or its last event; nothing is no checkpoint."""
        self.save_error = str(reply.get("error", ""))
        if not reply.get("ok"):
            return None
        names = (*reply["saved"], *(row["name"] for row in reply["skipped"]))
        if not names:
            checkpoint.delete(self.home, self.id, checkpoint.AUTOSAVE)
            return Saved(0.0)
        checkpoint.prune(self.home, self.autosave)
        entry = checkpoint.describe(self.autosave)
        return Saved(entry.saved_at, names) if entry is not None else None

    def forget(self) -> bool:
        """Make a reset final, also for later processes; False when there was nothing to forget."""
        automatic = (checkpoint.AUTOSAVE, checkpoint.SET_ASIDE)
        removed = any([checkpoint.delete(self.home, self.id, name) for name in automatic])
        had = removed or bool(self.known_names())
        self.names.clear()
        return had

    def was_reset(self) -> None:
        """Write down that everything before is gone."""
        self._event("reset")
        self.journal.close()

    def known_names(self) -> list[str]:
        """The variables this session had, from memory or from its journal."""
        if self.names or not self.journal.last:
            return list(self.names)
        try:
            return cells.names_after(self.journal.entries())
        except OSError:
            return []

    def take_up(
        self, ended: Ended | None, kernel: str, restore: Callable[[], dict[str, Any]] | None
    ) -> list[str]:
        """Bring back with ``restore`` what the kernel before had, where all of it is there, and say so.

        ``ended`` is that kernel's end, None when no kernel of this process was the last; ``kernel`` the id of
        the new one; ``restore`` is None where checkpoints are off.
        """
        saved = ended.saved if ended is not None else None
        before = list(dict.fromkeys([*self.known_names(), *(saved.names if saved else ())]))
        self.names.clear()
        in_cell = ended is not None and ended.in_cell
        if not before and not in_cell:
            return []
        elsewhere = self._elsewhere(kernel) if ended is None else ""
        if elsewhere:
            # The other kernel has its variables: they are not lost, and the next process is told too.
            return [f"restarted: {elsewhere}; not here: {listed(before)}"]
        reason = ended.reason if ended is not None else "the host that ran it ended"
        if in_cell and saved is None:
            reason += ", with what its last call had assigned"
        restored, remark = self._bring_back(ended, restore) if before else ([], "")
        lost = tuple(name for name in before if name not in restored)
        if lost:
            self._event("lost", deleted=lost)
        line = f"restarted: {reason}; lost: {listed(lost)}; restored: {listed(restored)}"
        return [f"{line} ({remark})" if remark else line]

    def _bring_back(
        self, ended: Ended | None, restore: Callable[[], dict[str, Any]] | None
    ) -> tuple[Iterable[str], str]:
        """Restore the autosave if it has the last state; the names that came back, and a remark."""
        if restore is None:
            return [], "checkpoints are off"
        entry = checkpoint.describe(self.autosave)
        if entry is None:
            return [], ended.error if ended is not None else ""
        if entry.problem:
            return [], entry.problem
        age = duration(max(0.0, time.time() - entry.saved_at))
        if not self._is_current(entry, ended):
            behind = max(0, self.journal.last - entry.cell)
            return [], f"the autosave is from {age} ago, {behind} call(s) older: {self._set_aside()}"
        reply = restore()
        if reply.get("ok"):
            return reply["restored"], f"saved {age} ago"
        return [], f"{reply.get('error', '')}; {self._set_aside()}"

    def _is_current(self, entry: checkpoint.Entry, ended: Ended | None) -> bool:
        """Whether an autosave has the state of the kernel that was, and not an older one or another's."""
        if ended is None:
            return entry.cell >= self.journal.last
        return ended.saved is not None and ended.saved.at == entry.saved_at

    def _elsewhere(self, kernel: str) -> str:
        """Which other process has a kernel of this session now; "" when none has."""
        for record in registry.live(self.home):
            if record["session"] == self.id and record["id"] != kernel:
                return f"another process ({record['parent']}) has this session's kernel, this one is new"
        return ""

    def _set_aside(self) -> str:
        """Keep an autosave that is not restored from being overwritten by the next; say where it is."""
        name = checkpoint.set_aside(self.home, self.id)
        return f"rlm_checkpoint restore name={name} brings it back"

    def _event(self, event: str, **fields: Any) -> None:
        self._write(cells.Cell(self.journal.last, time.time(), event=event, **fields))

    def _write(self, cell: cells.Cell) -> None:
        """Write to the journal; a full disk must not cost the answer."""
        try:
            self.journal.append(cell)
        except OSError:
            pass
