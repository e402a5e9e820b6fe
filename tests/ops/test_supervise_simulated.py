"""A thousand simulated days of the supervisor, with everything going wrong that is known to go wrong.

The gateway writes the real files (see simulated_gateway); reading, judging, planning, remembering and the
incident engine are the real ones. The simulation must be able to fail: the same days with one safeguard
taken out have to break a promise.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

import pytest

from hermes_ops.core.finding import DAY, Reading
from hermes_ops.core.incident import Incidents, Message
from hermes_ops.host import gateway as host_gateway
from hermes_ops.host import logs
from hermes_ops.liveness import health, lease, verdict
from hermes_ops.liveness.facts import Limits, read_facts
from hermes_ops.liveness.memory import MemoryFile
from hermes_ops.liveness.plan import Rules
from hermes_ops.liveness.supervise import WATCHER, Supervisor
from tests.ops.simulated_gateway import ZONE, Manager, World, make_world

HOUR = 3600.0
INTERVAL = 60.0
TOLD_WITHIN = 600.0
DAYS = 1000


@dataclass
class Simulation:
    """A world with a supervisor; `broken` collects the promises that were not kept."""

    world: World
    rules: Rules = field(default_factory=Rules)
    limits: Limits = field(default_factory=Limits)
    broken: list[str] = field(default_factory=list)
    passes: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    messages: list[tuple[float, Message]] = field(default_factory=list)
    bad_since: float | None = None
    answered_at: float = -1.0
    outage_messages: dict[float, list[Message]] = field(default_factory=dict)
    running: str = ""

    def __post_init__(self) -> None:
        self.manager = Manager(self.world)
        self.incidents = Incidents(self.world.home)
        self.file = MemoryFile(self.world.home)
        self.new_supervisor()

    def new_supervisor(self) -> None:
        """As after a restart of the supervisor: all that is left is on the disk."""
        self.supervisor = Supervisor(
            self.world.home,
            lambda gateway: self.manager,
            self,
            self.tell,
            rules=self.rules,
            limits=self.limits,
            look=lambda home, now, limits: read_facts(home, now, limits, ZONE),
        )

    def now(self) -> float:
        return self.world.now

    def wait(self, seconds: float) -> bool:
        return True

    def tell(self, reading: Reading, now: float) -> bool | None:
        answer: list[bool] = []

        def deliver(messages: list[Message]) -> bool:
            arrived = self.world.dice.random() > 0.05
            if arrived:
                self.messages += [(self.world.t, message) for message in messages]
                self.answered_at = self.world.t
            answer.append(arrived)
            return arrived

        self.incidents.update(WATCHER, reading, now, deliver)
        return answer[-1] if answer else None

    # Time

    def run(self, seconds: float) -> None:
        """Let the supervisor look every minute for so long."""
        for _ in range(max(1, round(seconds / INTERVAL))):
            self.world.advance(INTERVAL)
            self.look()

    def look(self) -> None:
        calls, said = len(self.world.manager_calls), len(self.messages)
        before = self.supervisor.memory.outage
        self.supervisor.once()
        self.passes += 1
        outage = self.supervisor.memory.outage or before
        if outage is not None:
            told = [message for _, message in self.messages[said:]]
            self.outage_messages.setdefault(outage.since, []).extend(told)
        for at, truth, excuse in self.world.manager_calls[calls:]:
            self.answered_at = at
            if truth == "works" or excuse:
                self.broken.append(f"healthy restarted: {self.running}, {excuse or truth}")
            hour = [one for one, _, _ in self.world.manager_calls if at - HOUR < one <= at]
            if len(hour) > 3:
                self.broken.append(f"cap: {len(hour)} restarts in an hour, {self.running}")
        self.watch_outage()

    def watch_outage(self) -> None:
        world = self.world
        if world.excuse or (world.works() and not world.told_only()):
            self.bad_since = None
            return
        if self.bad_since is None:
            self.bad_since = world.t
        elif world.t - self.bad_since > TOLD_WITHIN and self.answered_at < self.bad_since:
            outage = self.supervisor.memory.outage
            if outage is None or not self.outage_messages.get(outage.since):
                self.broken.append(f"missed: {self.running}")
                self.answered_at = world.t

    def settle(self) -> None:
        """Run until all is well and nothing is left to be told."""
        for _ in range(300):
            self.run(INTERVAL)
            memory = self.supervisor.memory
            quiet = memory.outage is None and memory.telling <= 0 and memory.pending_at is None
            if quiet and memory.wanted_since is None and self.world.works():
                return
        self.broken.append(f"never settles: {self.running}")

    def skip(self, seconds: float) -> None:
        """Healthy hours, in which every look is like the last: what they leave is written at once."""
        self.world.advance(seconds)
        self.world.touch_store()
        memory = self.file.read()
        self.file.write(replace(memory, last_pass_at=self.world.now - INTERVAL), durable=False)
        self.look()

    def check_messages(self) -> None:
        """Few messages: for each outage, and for each day."""
        for since, said in self.outage_messages.items():
            if len(said) > 5:
                self.broken.append(f"budget: {len(said)} messages for the outage at {since}")
            handed = [one for one in said if one.incident.startswith("gateway.handed_over")]
            if len(handed) > 1:
                self.broken.append("handed over twice")
        days = Counter(int(at // DAY) for at, _ in self.messages)
        if days and max(days.values()) > 20:
            self.broken.append(f"budget: {max(days.values())} messages in a day")


Fault = Callable[[Simulation, World, random.Random], None]


def dead(sim: Simulation, world: World, dice: random.Random) -> None:
    world.kill()


def dead_and_pid_reused(sim: Simulation, world: World, dice: random.Random) -> None:
    # Another process has the number now: it began later.
    world.kill()
    one = world.process
    alive = host_gateway.alive
    host_gateway.alive = lambda pid, start: (pid == one.pid and start == one.ticks + 7) or alive(pid, start)
    try:
        sim.run(8 * 60)
    finally:
        host_gateway.alive = alive


def dead_whatever_is_started(sim: Simulation, world: World, dice: random.Random) -> None:
    until = world.t + dice.uniform(0.5, 3) * HOUR
    world.start = lambda w: w.launch(
        ready=1, dies_at=w.t + dice.uniform(0.05, 9) if w.t < until else None, reason="no module named x"
    )
    world.kill()
    while world.t < until:
        sim.run(300)
        if dice.random() < 0.3:
            sim.new_supervisor()
    world.start = None
    if not world.process.alive:
        world.launch()  # a person has mended it


def frozen(sim: Simulation, world: World, dice: random.Random) -> None:
    world.process.freezes_at = world.t


def frozen_for_a_moment(sim: Simulation, world: World, dice: random.Random) -> None:
    world.process.freezes_at = world.t
    world.excuse = "frozen for less than the limit"
    sim.run(dice.uniform(60, 200))
    world.process.freezes_at = None
    world.excuse = ""


def freezes_again_and_again(sim: Simulation, world: World, dice: random.Random) -> None:
    until = world.t + dice.uniform(1, 4) * HOUR
    world.start = lambda w: w.launch(ready=5, freezes_at=w.t + 240 if w.t < until else None)
    world.process.freezes_at = world.t
    while world.t < until:
        sim.run(300)
    world.start = None
    if world.process.freezes_at is not None:
        world.kill()
        world.launch()


def slow_start(sim: Simulation, world: World, dice: random.Random) -> None:
    world.stop()
    world.excuse = "a slow start"
    world.launch(ready=dice.uniform(100, 290))
    sim.run(300)
    world.excuse = ""


def start_that_hangs(sim: Simulation, world: World, dice: random.Random) -> None:
    world.stop()
    world.launch(ready=1e9)


def start_storm(sim: Simulation, world: World, dice: random.Random) -> None:
    world.excuse = "the host waits out a storm of starts"
    for _ in range(dice.randrange(6, 12)):
        world.kill()
        world.launch(ready=1e9)
        world.advance(10)
    ready = verdict.storm_backoff(tuple(world.starts), world.starts[-1], Limits()) + dice.uniform(10, 280)
    world.process.ready_at = world.t + ready
    sim.run(ready + 60)
    world.excuse = ""


def keeps_dying_under_a_manager_that_revives(sim: Simulation, world: World, dice: random.Random) -> None:
    until = world.t + dice.uniform(0.5, 2) * HOUR
    world.revives = True
    world.start = lambda w: w.launch(
        ready=1e9, dies_at=w.t + dice.uniform(0.05, 20) if w.t < until else None, reason="port in use"
    )
    world.process.dies_at = world.t + 1
    while world.t < until:
        sim.run(300)
    world.start, world.revives = None, False
    world.kill()
    world.launch()


def maintenance(sim: Simulation, world: World, dice: random.Random) -> None:
    length = dice.uniform(0.3, 1.5) * HOUR
    given_back = dice.random() < 0.6
    lease.pause(world.home, "restoring a copy", length, "anna", world.now)
    world.excuse = "maintenance"
    sim.run(60)
    world.kill()
    sim.run(length * 0.8 if given_back else length - 120)
    if given_back:
        world.launch()
        sim.run(120)
        lease.resume(world.home)
    else:
        # Forgotten: once the lease is over the gateway is watched again.
        world.advance(120)
    world.excuse = ""


def update_of_the_host(sim: Simulation, world: World, dice: random.Random) -> None:
    marker = world.home / ".update_pending.json"
    marker.write_text("{}")
    os.utime(marker, (world.now, world.now))
    world.excuse = "an update"
    world.kill()
    sim.run(dice.uniform(120, 1500))
    world.launch()
    sim.run(60)
    marker.unlink()
    world.excuse = ""


def sleep_and_wake(sim: Simulation, world: World, dice: random.Random) -> None:
    world.excuse = "asleep, or just awake"
    seconds = dice.uniform(0.2, 40) * HOUR
    world.asleep_until = world.t + seconds + dice.uniform(0, 110)
    world.advance(seconds)
    sim.look()
    sim.run(240)
    world.excuse = ""


def clock_is_set(sim: Simulation, world: World, dice: random.Random) -> None:
    world.excuse = "the clock was set"
    world.offset += dice.choice([-1, 1]) * dice.uniform(200, 30_000)
    sim.run(600)
    world.excuse = ""


def store_refuses_writes(sim: Simulation, world: World, dice: random.Random) -> None:
    one = world.process
    one.store_fails = True
    sim_end = world.t + 3 * HOUR
    while world.process is one and world.t < sim_end:
        for name in ("errors.log", "agent.log"):
            world.log(
                "WARNING [20260101_000000_abcdef] run_agent: Session DB append_message failed: "
                "unable to open database file",
                name,
            )
        if dice.random() < 0.2:
            world.rotate()
        sim.run(60)
    world.touch_store()


def store_fails_in_the_repeated_hour(sim: Simulation, world: World, dice: random.Random) -> None:
    """Failed writes in the first 02:30 of a night in which the clocks go back, and none after them.

    An hour later by the sun it is 02:30 once more, and the old lines look as if they were new.
    """
    for _ in range(3):
        world.log("WARNING run_agent: Session DB append_message failed: disk I/O error")
        world.advance(5)
    world.touch_store()  # the next write works, and is the last of this night
    sim.run(3500)
    world.log("WARNING gateway.run: something harmless")
    sim.run(600)


def one_failed_write(sim: Simulation, world: World, dice: random.Random) -> None:
    """One event, in two files and by two loggers, in a gateway that has nothing to write after it."""
    world.excuse = "one failed write"
    world.advance(10)
    for name in ("errors.log", "agent.log"):
        world.log("WARNING run_agent: Session DB append_message failed: disk I/O error", name)
        world.log(
            "WARNING gateway.session: Session DB transcript append failed for s1 (failure_count=1)", name
        )
    sim.run(360)
    world.excuse = ""


def text_that_looks_fatal(sim: Simulation, world: World, dice: random.Random) -> None:
    text = "Session DB append_message failed: unable to open database file"
    for _ in range(dice.randrange(3, 6)):
        world.log(f"INFO gateway.run: inbound: {text}", "agent.log")
        world.log(f"WARNING [s] tools.terminal: output: run_agent: {text}")
        world.log(f"WARNING tools.terminal: {text}")
        sim.run(60)
    for _ in range(dice.randrange(3, 6)):
        world.log("WARNING tools.terminal: it printed\n" + _forged(world))
        world.advance(dice.uniform(1, 20))
        world.touch_store()  # the turn that said so is stored
        sim.run(60)


def _forged(world: World) -> str:
    stamp = datetime.fromtimestamp(world.now, ZONE).strftime("%Y-%m-%d %H:%M:%S,100")
    return f"{stamp} WARNING run_agent: Session DB append_message failed: unable to open database file"


def bad_configuration(sim: Simulation, world: World, dice: random.Random) -> None:
    world.stop()
    one = world.launch(ready=1, dies_at=world.t + 3, exit_code=78, reason="telegram: token refused")
    calls = len(world.manager_calls)
    until = world.t + dice.uniform(0.5, 3) * HOUR
    while world.t < until:
        sim.run(600)
    if len(world.manager_calls) > calls:
        sim.broken.append("restarted in spite of exit code 78")
    assert not one.alive
    world.launch()


def lingers_after_sigterm(sim: Simulation, world: World, dice: random.Random) -> None:
    one = world.process
    one.shut_at = world.t
    world.diagnose("asyncio.run.returned", success=False)
    world.diagnose("gateway.exit_nonzero")


def planned_stop(sim: Simulation, world: World, dice: random.Random) -> None:
    world.excuse = "stopped on purpose"
    world.stop()
    sim.run(dice.uniform(0.1, 1) * HOUR)
    world.launch()
    sim.run(120)
    world.excuse = ""


def planned_restart(sim: Simulation, world: World, dice: random.Random) -> None:
    world.excuse = "a planned restart"
    world.process.dies_at, world.process.exit_code = world.t, 75
    world.advance(dice.uniform(10, 50))
    world.launch()
    sim.run(240)
    world.excuse = ""


def scheduler_stalls(sim: Simulation, world: World, dice: random.Random) -> None:
    world.process.ticker_dead = True


def ticks_fail(sim: Simulation, world: World, dice: random.Random) -> None:
    one = world.process
    one.ticks_fail = True
    sim.run(dice.uniform(900, 5000))
    one.ticks_fail = False


def platform_is_down(sim: Simulation, world: World, dice: random.Random) -> None:
    one = world.process
    one.platform_down = True
    sim.run(dice.uniform(900, 5000))
    one.platform_down = False


def rotation(sim: Simulation, world: World, dice: random.Random) -> None:
    world.log("WARNING gateway.run: something harmless")
    world.rotate()
    sim.run(120)


FAULTS: tuple[tuple[float, Fault], ...] = (
    (6, dead),
    (3, dead_and_pid_reused),
    (0.7, dead_whatever_is_started),
    (6, frozen),
    (5, frozen_for_a_moment),
    (0.7, freezes_again_and_again),
    (5, slow_start),
    (3, start_that_hangs),
    (3, start_storm),
    (0.7, keeps_dying_under_a_manager_that_revives),
    (2, maintenance),
    (2, update_of_the_host),
    (8, sleep_and_wake),
    (3, clock_is_set),
    (4, store_refuses_writes),
    (3, one_failed_write),
    (5, text_that_looks_fatal),
    (0.7, bad_configuration),
    (4, lingers_after_sigterm),
    (2, planned_stop),
    (3, planned_restart),
    (3, scheduler_stalls),
    (1, ticks_fail),
    (1, platform_is_down),
    (3, rotation),
)


@contextmanager
def simulation(seed: int, **safeguards: object) -> Iterator[Simulation]:
    """A simulated machine on a disk in memory where there is one."""
    memory = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="hermes-ops-", dir=memory if memory.is_dir() else None))
    patch = pytest.MonkeyPatch()
    try:
        yield Simulation(make_world(folder, seed, patch), **safeguards)
    finally:
        patch.undo()
        shutil.rmtree(folder, ignore_errors=True)


def live(sim: Simulation, days: float, faults: tuple[tuple[float, Fault], ...], every: float) -> None:
    """So many days with a fault every so many hours, or until a promise is broken."""
    world, dice = sim.world, sim.world.dice
    weights, kinds = zip(*faults, strict=True)
    end = world.t + days * DAY
    nights = repeated_hours(world.now, world.now + days * DAY)
    while world.t < end and not sim.broken:
        pause = dice.uniform(0.2, 1.8) * every * HOUR
        if nights and world.now + pause + 12 * HOUR > nights[0]:
            sim.skip(nights.pop(0) - world.now)
            fault = store_fails_in_the_repeated_hour
        else:
            sim.skip(pause)
            fault = dice.choices(kinds, weights)[0]
        sim.running = fault.__name__
        sim.faults[fault.__name__] += 1
        fault(sim, world, dice)
        sim.settle()
        if dice.random() < 0.1:
            sim.new_supervisor()
        sim.check_messages()


def repeated_hours(since: float, until: float) -> list[float]:
    """The first 02:30 of each night in which the clocks go back."""
    found = []
    for year in (2026, 2027, 2028, 2029):
        sunday = next(day for day in range(31, 24, -1) if datetime(year, 10, day).weekday() == 6)
        at = datetime(year, 10, sunday, 2, 30, tzinfo=ZONE, fold=0).timestamp()
        if since < at < until:
            found.append(at)
    return found


@pytest.mark.once
def test_a_thousand_days_miss_no_outage_restart_nothing_healthy_and_stay_quiet() -> None:
    with simulation(seed=7) as sim:
        live(sim, DAYS, FAULTS, every=60)
        assert sim.broken == []
        assert sum(sim.faults.values()) > 300 and min(sim.faults[fault.__name__] for _, fault in FAULTS) > 0
        assert sim.faults["store_fails_in_the_repeated_hour"] == 2


def broken_by(*faults: Fault, days: float = 60, **safeguards: object) -> str:
    """The first promise that is broken with these safeguards, under these faults alone; "" for none."""
    with simulation(seed=11, **safeguards) as sim:
        live(sim, days, tuple((1, fault) for fault in faults), every=20)
        return sim.broken[0] if sim.broken else ""


def test_without_the_cap_it_restarts_too_often() -> None:
    assert broken_by(dead_whatever_is_started, rules=Rules(cap=1_000_000)).startswith("cap: 4 restarts")


def test_a_cap_that_is_not_on_disk_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(sim: Simulation) -> None:
        sim.file = MemoryFile(sim.world.home)
        (sim.world.home / "ops" / "supervisor.json").unlink(missing_ok=True)
        keep(sim)

    keep = Simulation.new_supervisor
    monkeypatch.setattr(Simulation, "new_supervisor", forget)
    assert broken_by(dead_whatever_is_started).startswith("cap: 4 restarts")


def test_without_the_guard_for_sleep_a_gateway_that_wakes_is_restarted() -> None:
    assert broken_by(sleep_and_wake, limits=Limits(wake=1e12, grace=0)).startswith("healthy restarted")


def test_without_the_wait_for_a_storm_one_that_backs_off_is_restarted() -> None:
    assert broken_by(start_storm, limits=Limits(storm_cap=0)).startswith("healthy restarted: start_storm")


def test_with_the_later_of_two_hours_old_lines_look_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = logs._readings
    monkeypatch.setattr(logs, "_readings", lambda moment, zone: (max(readings(moment, zone)),) * 2)
    found = broken_by(rotation, days=320)
    assert found.startswith("healthy restarted: store_fails_in_the_repeated_hour")


def test_markers_matched_anywhere_let_a_chat_restart_the_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    def anywhere(record: logs.Record, markers: tuple[tuple[str, str, str], ...]) -> bool:
        return any(text in record.message for _, _, text in markers)

    monkeypatch.setattr(health, "_is", anywhere)
    assert broken_by(text_that_looks_fatal).startswith("healthy restarted: text_that_looks_fatal")


def test_an_event_counted_twice_restarts_a_gateway_for_one_failed_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(health, "SAME_EVENT", 0.0)
    assert broken_by(one_failed_write).startswith("healthy restarted: one_failed_write")


def test_without_the_markers_of_the_host_it_is_restarted_while_it_is_updated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lease, "HOST_LEASES", {})
    assert broken_by(update_of_the_host).startswith("healthy restarted: update_of_the_host")


def test_without_limits_of_age_a_frozen_gateway_is_missed() -> None:
    blind = Limits(heartbeat=1e9, ticker=1e9, ticks=1e9)
    assert broken_by(frozen, limits=blind) == "missed: frozen"


def test_without_hysteresis_a_flapping_gateway_uses_up_the_messages() -> None:
    rules = Rules(quiet=0, quiet_again=0, again=0, fresh=1e9)
    assert broken_by(freezes_again_and_again, rules=rules).startswith("budget: ")
