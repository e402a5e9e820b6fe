"""The supervisor: looks at the gateway again and again, restarts it where that helps, and says so.

It runs outside the gateway, so that it lives when the gateway does not. It never touches the gateway's
process itself: restarts go through the service manager. It never restores anything.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from .._common.files import FileLock, process_start_time
from .._common.home import private_dir
from ..core.finding import SEVERITIES, Event, Reading
from ..errors import OpsError
from ..host.gateway import Gateway
from .facts import Facts, Limits, read_facts
from .health import NONE, START
from .memory import Memory, MemoryFile, not_after
from .plan import NEVER, Rules, plan, reading, refused
from .service import Nobody, Outcome, ServiceManager, detect
from .verdict import Verdict, decide, woke

WATCHER = "gateway"
ANOTHER_RUNS = 3
TELL_AGAIN = 3  # looks after the last thing to tell in which the incident engine is asked all the same
COMPLAIN_EVERY = 3600.0

# Gives True (arrived), False (did not), None (not known).
Tell = Callable[[Reading, float], bool | None]


class Clock(Protocol):
    """The time, and waiting for it."""

    def now(self) -> float: ...
    def wait(self, seconds: float) -> bool:
        """Wait; True when it is time to end."""
        ...


class RealClock:
    """The machine's clock; `stop` ends a wait."""

    def __init__(self) -> None:
        self._stop = threading.Event()

    def now(self) -> float:
        return time.time()

    def wait(self, seconds: float) -> bool:
        return self._stop.wait(seconds)

    def stop(self, *_: object) -> None:
        self._stop.set()


class Supervisor:
    """Looks, decides, acts and tells, one pass at a time.

    manager  asked for restarts; `find_manager(gateway)` is asked again whenever another process runs
    tell     takes what is to be said
    look     reads the facts; tests give their own
    memory   as the last pass left it
    """

    def __init__(
        self,
        home: Path,
        find_manager: Callable[[Gateway], ServiceManager],
        clock: Clock,
        tell: Tell,
        *,
        rules: Rules | None = None,
        limits: Limits | None = None,
        look: Callable[[Path, float, Limits], Facts] = read_facts,
        log: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.home, self.clock = home, clock
        self.rules, self.limits = rules or Rules(), limits or Limits()
        self._find_manager, self._look, self._tell, self._log = find_manager, look, tell, log
        self._file = MemoryFile(home)
        self._manager: ServiceManager | None = None
        self._manager_of: int | None = None
        self._complained_at: float | None = None
        self._interval = 60.0
        self.memory = Memory()

    def once(self, *, alone: bool = False) -> Verdict:
        """One pass: look, decide, restart when it is due, tell what is new. Never raises for what it sees.

        `alone`: nobody looks regularly, so a long time since the last look is no sign of a sleep. What is
        seen then is seen for the first time, and needs a second look before anything is done.
        """
        now = self.clock.now()
        try:
            opened = self._file.open(now)
        except OpsError as error:
            return self._without_memory(error, now)
        memory = opened.memory
        if alone and woke(memory.seen, now, self.limits):
            memory = replace(not_after(memory, now), last_pass_at=None, wanted_since=None)
        facts, verdict = self._judge(memory, now)
        done = plan(verdict, facts, memory, now, self.rules, self.limits, self._helpless())
        events = done.events
        if opened.damaged is not None:
            events += (
                Event(
                    f"gateway.memory:{opened.damaged.name}",
                    f"the supervisor's memory was damaged and set aside as {opened.damaged}; it starts anew",
                    "warning",
                ),
            )
        memory = done.memory
        try:
            if done.act != NONE:
                # On the disk before it is done: a restart that we do not survive still counts.
                self._file.write(memory, durable=True)
                memory = self._act(done.act, memory)
            memory = self._say(
                reading(verdict, facts, memory, profile_name(self.home), now, events), memory, now
            )
            self.memory = self._signed(memory, alone)
            self._file.write(self.memory, durable=memory.outage is not None)
        except OpsError as error:
            return self._without_memory(error, now)
        return verdict

    def run(self) -> int:
        """Pass after pass until the clock says stop. Returns the exit code."""
        said = ""
        while True:
            verdict = self.once()
            if verdict.state != said:
                said = verdict.state
                self._log(f"{verdict.state}: {verdict.text}")
            if self.clock.wait(self._interval):
                return 0

    def every(self, seconds: float) -> Supervisor:
        """Set the pause between two passes; a gap of three of them is a sleep of the machine."""
        self._interval = seconds
        self.limits = replace(self.limits, wake=max(self.limits.wake, 3 * seconds))
        return self

    def _judge(self, memory: Memory, now: float) -> tuple[Facts, Verdict]:
        facts = self._look(self.home, now, self.limits)
        gateway = facts.gateway
        if self._manager is None or (gateway.alive and gateway.pid != self._manager_of):
            self._manager, self._manager_of = self._manager_for(gateway), gateway.pid
        verdict = decide(facts, memory.seen, now, self.limits)
        if verdict.works is not True and verdict.state not in ("unknown", "maintenance"):
            # Asking the service manager costs a process, so it is asked only when something is not right.
            facts = replace(facts, service=self._manager.state())
            verdict = decide(facts, memory.seen, now, self.limits)
        return facts, verdict

    def _manager_for(self, gateway: Gateway) -> ServiceManager:
        try:
            return self._find_manager(gateway)
        except OpsError as error:
            return Nobody(str(error))

    def _helpless(self) -> str:
        manager = self._manager
        if manager is None or not manager.can:
            return manager.name if manager else "no service manager"
        return "restarts are switched off" if self.rules.cap < 1 else ""

    def _act(self, act: str, memory: Memory) -> Memory:
        manager = self._manager or Nobody()
        outcome: Outcome = manager.start() if act == START else manager.restart()
        self._log(f"{act} asked of {manager.name}: {'accepted' if outcome.ok else outcome.detail}")
        return memory if outcome.ok else refused(memory, outcome.detail)

    def _say(self, found: Reading, memory: Memory, now: float) -> Memory:
        judged = not any(blind.holds == NEVER for blind in found.blind)
        busy = bool(found.findings or found.events or len(found.blind) > (not judged))
        if not busy and memory.telling <= 0:
            return memory
        try:
            arrived = self._tell(found, now)
        except OpsError as error:
            self._log(str(error))
            arrived = False
        again = busy or arrived is False or not judged
        return replace(memory, telling=TELL_AGAIN if again else memory.telling - 1)

    def _signed(self, memory: Memory, alone: bool) -> Memory:
        return replace(
            memory,
            pid=None if alone else os.getpid(),
            started=None if alone else process_start_time(),
            interval=self._interval,
            last_pass_at=self.clock.now(),
            manager=self._manager.name if self._manager else "",
        )

    def _without_memory(self, error: OpsError, now: float) -> Verdict:
        """Where nothing can be remembered nothing is done: no cap would hold. It is told, not every time."""
        text = f"the supervisor cannot keep its memory, so it restarts nothing: {error}"
        self._log(text)
        last = self._complained_at
        if last is None or not 0 <= now - last < COMPLAIN_EVERY:
            self._complained_at = now
            from ..core.alert import send

            send(self.home, text, severity="critical")
        return Verdict("unknown", text, severity="critical")


def through_incidents(home: Path, log: Callable[[str], None]) -> Tell:
    """Tell by the incident engine and the alert channels, which do not need the gateway."""

    def tell(found: Reading, now: float) -> bool | None:
        from ..core import alert
        from ..core.incident import Incidents, Message

        answer: list[bool] = []

        def deliver(messages: list[Message]) -> bool:
            for message in messages:
                log(message.text)
            severity = max((message.severity for message in messages), key=SEVERITIES.index)
            sent = alert.send(home, "\n".join(message.text for message in messages), severity=severity)
            for one in sent:
                if not one.ok:
                    log(f"{one.channel}: {one.detail}")
            # Without any channel the log is all there is.
            answer.append(not sent or any(one.ok for one in sent))
            return answer[-1]

        Incidents(home).update(WATCHER, found, now, deliver)
        return answer[-1] if answer else None

    return tell


def rules_of(settings: Mapping[str, Any]) -> tuple[Rules, Limits]:
    """The rules and limits as the settings have them."""
    rules = Rules(cooldown=settings["supervise.cooldown"], cap=int(settings["supervise.restarts_per_hour"]))
    return rules, Limits(heartbeat=settings["supervise.heartbeat"])


def make(home: Path, settings: Mapping[str, Any], clock: Clock, log: Callable[[str], None]) -> Supervisor:
    """The supervisor of a home with its real service manager and alert channels."""
    rules, limits = rules_of(settings)
    return Supervisor(
        home,
        lambda gateway: detect(home, settings, gateway),
        clock,
        through_incidents(home, log),
        rules=rules,
        limits=limits,
        log=log,
    ).every(settings["supervise.interval"])


def lock(home: Path) -> FileLock:
    """The lock that one supervisor of a home holds; the system drops it when its holder dies."""
    return FileLock(private_dir(home / "ops") / "supervisor.lock")


def to_stderr(text: str) -> None:
    """One line for the journal or the log file, redacted."""
    from ..core.incident_text import clean

    print(clean(text, 1000), file=sys.stderr, flush=True)


def profile_name(home: Path) -> str:
    """ "default", or the folder below profiles/."""
    return home.name if home.parent.name == "profiles" else "default"
