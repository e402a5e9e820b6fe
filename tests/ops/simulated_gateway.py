"""A gateway that is simulated: it writes the files that the real one writes, in a time that is passed in.

Only the kernel is replaced (which processes live, when they began, who holds the lock). Everything above
reads real files.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hermes_ops.host import gateway as host_gateway
from hermes_ops.liveness.service import Outcome, Service

ZONE = ZoneInfo("Europe/Berlin")
BOOT = 1_767_225_600.0  # 2026-01-01 00:00 UTC


@dataclass
class Process:
    """One process of the gateway; times are of the true clock."""

    pid: int
    ticks: int
    began: float
    ready_at: float
    dies_at: float | None = None
    freezes_at: float | None = None
    exit_code: int | None = None
    shut_at: float | None = None  # it has shut down and does not end: a script holds it
    store_fails: bool = False
    ticker_dead: bool = False
    ticks_fail: bool = False
    platform_down: bool = False
    alive: bool = True
    ready: bool = False
    reason: str = ""


@dataclass
class World:
    """The machine: true time `t`, its clock `t + offset`, one gateway, and what happens to the next ones."""

    home: Path
    dice: random.Random
    t: float = BOOT
    offset: float = 0.0
    process: Process | None = None
    next_pid: int = 1000
    revives: bool = False
    start: Callable[[World], Process] | None = None
    excuse: str = ""
    asleep_until: float = 0.0
    manager_calls: list[tuple[float, str, str]] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)
    _exits: list[str] = field(default_factory=list)
    _state: dict[str, object] = field(default_factory=dict)
    _beat: float = 0.0
    _written: dict[str, str] = field(default_factory=dict)

    @property
    def now(self) -> float:
        return self.t + self.offset

    # What happens to the gateway

    def launch(self, *, ready: float | None = None, **what: object) -> Process:
        """Start a process, as a service manager or a person does."""
        self.next_pid += self.dice.randrange(1, 50)
        ready = self.dice.uniform(2, 20) if ready is None else ready
        process = Process(self.next_pid, int(self.t * 100), self.t, self.t + ready)
        for name, value in what.items():
            setattr(process, name, value)
        self.process = process
        self.starts = [*self.starts, self.now][-40:]
        self.diagnose("gateway.start")
        return process

    def launch_again(self) -> None:
        """Start the next process as this world has it: healthy, unless a fault says otherwise."""
        if self.start is not None:
            self.start(self)
        else:
            self.launch()

    def diagnose(self, tag: str, **more: object) -> None:
        pid = self.process.pid if self.process else 1
        at = datetime.fromtimestamp(self.now, timezone.utc).isoformat()
        self._exits = [*self._exits, json.dumps({"ts": at, "tag": tag, "pid": pid, **more})][-60:]

    def kill(self) -> None:
        """It dies as by SIGKILL: no file is changed."""
        if self.process:
            self.process.alive = False

    def stop(self) -> None:
        """A planned stop, as by the host's own command."""
        self.set_state("stopped")
        (self.home / "gateway.pid").unlink(missing_ok=True)
        self._written.pop("gateway.pid", None)
        self.diagnose("asyncio.run.returned", success=True)
        self.diagnose("atexit.hook")
        self.kill()

    def set_state(self, state: str, **more: object) -> None:
        process = self.process
        updated = datetime.fromtimestamp(self.now, timezone.utc).isoformat()
        platform = "retrying" if process and process.platform_down else "connected"
        old = self._state.get("platforms", {}).get("telegram", {})
        since = old.get("updated_at") if old.get("state") == platform else updated
        self._state = {
            "pid": process.pid if process else None,
            "kind": "hermes-gateway",
            "argv": ["hermes", "gateway", "run"],
            "start_time": process.ticks if process else None,
            "gateway_state": state,
            "exit_reason": process.reason or None if process else None,
            "restart_requested": False,
            "active_agents": 0,
            "platforms": {
                "telegram": {
                    "state": platform,
                    "error_code": None,
                    "error_message": None,
                    "updated_at": since,
                }
            },
            "updated_at": updated,
            **more,
        }

    def log(self, line: str, name: str = "errors.log") -> None:
        """Write a line to a log, in local time without zone."""
        path = self.home / "logs" / name
        stamp = datetime.fromtimestamp(self.now, ZONE).isoformat(" ", "milliseconds")[:23].replace(".", ",")
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{stamp} {line}\n")
        os.utime(path, (self.now, self.now))

    def rotate(self, name: str = "errors.log") -> None:
        path = self.home / "logs" / name
        if path.exists():
            path.replace(path.with_name(name + ".1"))

    def touch_store(self) -> None:
        path = self.home / "state.db"
        path.touch()
        os.utime(path, (self.now, self.now))

    # What is true

    def works(self) -> bool:
        one = self.process
        return bool(
            one
            and one.alive
            and one.ready
            and one.shut_at is None
            and not one.store_fails
            and not one.ticker_dead
            and not (one.freezes_at is not None and self.t >= one.freezes_at)
        )

    def told_only(self) -> bool:
        """Whether something is wrong that no restart helps."""
        one = self.process
        return bool(one and one.alive and (one.ticks_fail or one.platform_down))

    # Time

    def advance(self, seconds: float) -> None:
        """Let time pass and write what the gateway has written meanwhile."""
        end = self.t + seconds
        while True:
            one = self.process
            coming = [
                at
                for at in (
                    one.dies_at if one and one.alive else None,
                    one.ready_at if one and one.alive and not one.ready else None,
                )
                if at is not None and at <= end
            ]
            if not coming or one is None:
                break
            self.t = max(self.t, min(coming))
            if one.dies_at is not None and self.t >= one.dies_at:
                self._die(one)
                if self.revives:
                    self.t = min(end, self.t + 5)
                    self.launch_again()
            else:
                self._become_ready(one)
        self.t = end
        self.write()

    def _become_ready(self, one: Process) -> None:
        one.ready = True
        self._beat = self.now
        self.set_state("running")

    def _die(self, one: Process) -> None:
        one.alive = False
        if one.exit_code is not None:
            self.set_state(
                "startup_failed" if one.exit_code == 78 else "stopped", restart_requested=one.exit_code == 75
            )
            self.diagnose("asyncio.run.SystemExit", code=one.exit_code)
            (self.home / "gateway.pid").unlink(missing_ok=True)
            self._written.pop("gateway.pid", None)

    def write(self) -> None:
        """Write the files as they stand now; those that did not change are left alone."""
        one = self.process
        if one and one.alive and one.ready:
            frozen = one.freezes_at is not None and self.t >= one.freezes_at
            if one.shut_at is None and not frozen and self.t >= self.asleep_until:
                self._beat = self.now - self.dice.uniform(0, 29)
            if one.shut_at is None:
                record = {"pid": one.pid, "kind": "hermes-gateway", "start_time": one.ticks}
                self._put("gateway.pid", json.dumps(record))
                self._put("gateway.lock", json.dumps(record))
            elif (self.home / "gateway.pid").exists():
                (self.home / "gateway.pid").unlink()
                self._written.pop("gateway.pid", None)
            down = self._state["platforms"]["telegram"]["state"] != "connected"
            if down != one.platform_down:
                self.set_state("running")
            beat = {
                "pid": one.pid,
                "updated_at": datetime.fromtimestamp(self._beat, timezone.utc).isoformat(),
                "monotonic": self.t,
                "start_time": one.began,
            }
            self._put("state/gateway.heartbeat", json.dumps(beat))
            if not one.ticker_dead and not frozen and one.shut_at is None and self.t >= self.asleep_until:
                self._put("cron/ticker_heartbeat", repr(self.now))
                if not one.ticks_fail:
                    self._put("cron/ticker_last_success", repr(self.now))
        if self._state:
            self._put("gateway_state.json", json.dumps(self._state))
        self._put("gateway-starts.log", "".join(f"{at!r}\n" for at in self.starts))
        self._put("logs/gateway-exit-diag.log", "".join(line + "\n" for line in self._exits))

    def _put(self, name: str, text: str) -> None:
        if self._written.get(name) != text:
            self._written[name] = text
            with open(self.home / name, "w", encoding="utf-8") as file:
                file.write(text)

    # The kernel

    def alive(self, pid: int, start: object) -> bool | None:
        one = self.process
        return bool(one and one.alive and one.pid == pid and (start is None or start == one.ticks))

    def began_at(self, pid: int) -> float | None:
        one = self.process
        return one.began + self.offset if one and one.alive and one.pid == pid else None

    def lock_held(self, path: Path, pid: int | None) -> bool | None:
        one = self.process
        return bool(one and one.alive and one.ready and one.shut_at is None)


class Manager:
    """A service manager of the simulated machine: it does what it is asked, and writes down when."""

    can = True
    name = "simulated manager"

    def __init__(self, world: World) -> None:
        self.world = world

    def state(self) -> Service | None:
        if not self.world.revives:
            return None
        one = self.world.process
        active = "active" if one and one.alive else "activating"
        sub = "running" if one and one.alive else "auto-restart"
        return Service("hermes-gateway.service", active, sub, "exit-code", 1, None, True, True)

    def restart(self) -> Outcome:
        world = self.world
        # What was true at the moment of the request, for whoever judges it afterwards.
        truth = "works" if world.works() else "down"
        world.manager_calls.append((world.t, truth, world.excuse))
        world.kill()
        world.launch_again()
        return Outcome(True)

    start = restart


def make_world(home: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> World:
    """A machine with a healthy gateway, and the kernel that the reader of its files asks."""
    for folder in ("state", "cron", "logs", "ops"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    world = World(home, random.Random(seed))
    monkeypatch.setattr(host_gateway, "alive", world.alive)
    monkeypatch.setattr(host_gateway, "_began_at", world.began_at)
    monkeypatch.setattr(host_gateway, "_lock_held", world.lock_held)
    monkeypatch.setattr(host_gateway, "_deleted", lambda home, pid: ())
    world.launch()
    world.touch_store()
    world.advance(60)
    return world
