"""All kernels of this process: one per session, at most so many, looked after between calls."""

from __future__ import annotations

import atexit
import os
import threading
import time
from pathlib import Path
from typing import Any

from .. import settings as settings_
from . import registry
from .session import Busy, Caller, SessionKernel

ROOM_SECONDS = 10.0
LOOK_SECONDS = 1.0
EVICTION_SECONDS = 20.0
EXIT_SECONDS = 8.0
SESSIONS_KEPT = 512
UNUSED_SECONDS = 60.0


class Pool:
    """The sessions of a process. Its lock is never held while a kernel is asked anything."""

    def __init__(self) -> None:
        self._sessions: dict[tuple[str, str], SessionKernel] = {}
        self._live: set[SessionKernel] = set()
        self._lock = threading.Lock()
        self._keeper: threading.Thread | None = None
        self._swept: set[Path] = set()

    def session(self, home: Path, session_id: str) -> SessionKernel:
        """The session of this id in this home; none is ever shared."""
        with self._lock:
            key = (str(home), session_id)
            found = self._sessions.get(key)
            if found is None:
                if len(self._sessions) >= SESSIONS_KEPT:
                    self._drop_sessions_without_kernel()
                found = self._sessions[key] = SessionKernel(home, session_id, self._make_room)
                found.left = self._left
            return found

    def _drop_sessions_without_kernel(self) -> None:
        """Forget sessions that are only remembered; their journals say what they had."""
        for key, session in list(self._sessions.items()):
            # One that was handed out just now is about to be used.
            if session.kernel is None and session not in self._live and session.idle_seconds > UNUSED_SECONDS:
                del self._sessions[key]

    def known(self, home: Path, session_id: str) -> SessionKernel | None:
        """The session if this process has had a kernel for it."""
        with self._lock:
            return self._sessions.get((str(home), session_id))

    def overview(self) -> list[dict[str, Any]]:
        """The kernels of this process: session, home, state, cell, seconds, names, rss. Waits for none."""
        with self._lock:
            live = sorted(self._live, key=lambda session: session.id)
        return [
            {
                "session": session.id,
                "home": str(session.home),
                "state": "busy" if session.busy_since is not None else "idle",
                "cell": session.cell,
                "seconds": session.busy_seconds or session.idle_seconds,
                "names": list(session.names),
                "rss": session.memory,
            }
            for session in live
        ]

    def end_session(self, home: Path, session_id: str, reason: str) -> None:
        """Save and end the kernel of a session that is over, unless it is busy."""
        session = self.known(home, session_id)
        if session is None:
            return
        with session.turn_if_idle() as held:
            if held:
                session.end(reason, settings_.load(home))

    def end_all(self, reason: str, seconds: float) -> None:
        """Save and end every kernel; when the time is up, end them without saving."""
        give_up = time.monotonic() + seconds
        with self._lock:
            live = list(self._live)
        for session in live:
            with session.turn_if_idle() as held:
                if held:
                    left = give_up - time.monotonic()
                    session.end(reason, settings_.load(session.home) if left > 0 else None, left)

    def forget(self) -> None:
        """In a forked copy of the host: let go of kernels that belong to the original."""
        live, self._live, self._sessions = self._live, set(), {}
        self._lock, self._keeper = threading.Lock(), None
        for session in live:
            if session.kernel is not None:
                session.kernel.let_go()

    def _make_room(self, session: SessionKernel, caller: Caller) -> None:
        """Count a session in, ending the kernel that was idle longest when there are too many.

        Raises Busy when all others stay busy for ROOM_SECONDS.
        """
        limit = settings_.load(session.home).max_kernels
        self._begin(session.home)
        give_up = time.monotonic() + ROOM_SECONDS
        while True:
            with self._lock:
                if session in self._live or len(self._live) < limit:
                    self._live.add(session)
                    return
                others = sorted(self._live, key=lambda other: other.last_used)
            seconds = min(EVICTION_SECONDS, max(1.0, caller.seconds))
            if not any(self._evict(other, seconds) for other in others):
                if caller.interrupted() or time.monotonic() > give_up:
                    raise Busy(
                        f"all {limit} kernels are busy; try again later, or raise HERMES_RLM_MAX_KERNELS"
                    )
                time.sleep(0.1)

    def _evict(self, session: SessionKernel, seconds: float = EVICTION_SECONDS) -> bool:
        if session.busy_since is not None:
            return False
        with session.turn_if_idle() as held:
            if not held or session.kernel is None:
                return False
            reason = "its place was needed by another session"
            session.end(reason, settings_.load(session.home), seconds)
            return True

    def _left(self, session: SessionKernel) -> None:
        with self._lock:
            self._live.discard(session)

    def _begin(self, home: Path) -> None:
        """Once per process the keeper starts, once per home what dead kernels left is swept."""
        with self._lock:
            sweep = home not in self._swept
            self._swept.add(home)
            if self._keeper is None:
                atexit.register(self.end_all, "the host ended", EXIT_SECONDS)
                self._keeper = threading.Thread(target=self._keep, name="hermes-rlm-keeper", daemon=True)
                self._keeper.start()
        if sweep:
            registry.sweep(home)

    def _keep(self) -> None:
        while True:
            time.sleep(LOOK_SECONDS)
            with self._lock:
                live = list(self._live)
            for session in live:
                with session.turn_if_idle() as held:
                    if held:
                        self._look_after(session)

    def _look_after(self, session: SessionKernel) -> None:
        try:
            session.look_after(settings_.load(session.home))
        except Exception:  # one broken kernel must not leave the others without a keeper
            import logging

            logging.getLogger(__name__).exception("the kernel of session %s", session.id)


POOL = Pool()
os.register_at_fork(after_in_child=POOL.forget)
