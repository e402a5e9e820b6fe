"""The supervisor's passes: what it does, what it remembers, what it says, and whom it asks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hermes_ops._common.files import process_start_time
from hermes_ops.core.alert import Sent
from hermes_ops.core.finding import Reading
from hermes_ops.core.watch import Context
from hermes_ops.errors import OpsError
from hermes_ops.host.gateway import Gateway
from hermes_ops.liveness import guard, units
from hermes_ops.liveness.facts import read_facts
from hermes_ops.liveness.memory import Memory, MemoryFile, Outage, as_data, from_data
from hermes_ops.liveness.plan import Rules
from hermes_ops.liveness.service import (
    Command,
    Launchd,
    Machine,
    Nobody,
    Outcome,
    Service,
    Systemd,
    argument_list,
    detect,
    find_units,
    run_command,
)
from hermes_ops.liveness.supervise import Supervisor, lock, through_incidents
from tests.ops.simulated_gateway import ZONE, Manager, World, make_world

REPOSITORY = Path(__file__).resolve().parents[2]


class Told:
    """A `tell` that keeps what it was given."""

    def __init__(self) -> None:
        self.readings: list[Reading] = []

    def __call__(self, reading: Reading, now: float) -> bool | None:
        self.readings.append(reading)
        return True

    def rules(self) -> list[tuple[str, str]]:
        return [(one.rule, one.severity) for reading in self.readings[-1:] for one in reading.findings]

    def events(self) -> list[str]:
        return [event.id.split(":")[0] for reading in self.readings for event in reading.events]


class WorldClock:
    def __init__(self, world: World) -> None:
        self.world = world

    def now(self) -> float:
        return self.world.now

    def wait(self, seconds: float) -> bool:
        return True


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return make_world(tmp_path, 1, monkeypatch)


@pytest.fixture
def told() -> Told:
    return Told()


def supervisor(world: World, told: Told, manager: object = None, rules: Rules | None = None) -> Supervisor:
    asked = manager or Manager(world)
    return Supervisor(
        world.home,
        lambda gateway: asked,
        WorldClock(world),
        told,
        rules=rules,
        look=lambda home, now, limits: read_facts(home, now, limits, ZONE),
    )


def passes(one: Supervisor, world: World, count: int) -> list[str]:
    states = []
    for _ in range(count):
        world.advance(60)
        states.append(one.once().state)
    return states


def test_a_healthy_gateway_is_watched_without_a_word(world: World, told: Told) -> None:
    assert set(passes(supervisor(world, told), world, 10)) == {"ok"}
    assert told.readings == [] and world.manager_calls == []


def test_a_dead_gateway_is_restarted_at_the_second_look_and_is_over_once_it_has_worked(
    world: World, told: Told
) -> None:
    one = supervisor(world, told)
    passes(one, world, 1)
    world.kill()
    assert passes(one, world, 1) == ["dead"] and world.manager_calls == []
    passes(one, world, 1)
    assert len(world.manager_calls) == 1 and told.rules() == [("gateway.down", "error")]
    passes(one, world, 4)
    assert told.rules() == [("gateway.down", "error")]  # it has to work for a while first
    passes(one, world, 3)
    assert told.rules() == [] and len(world.manager_calls) == 1


def test_what_recovers_before_the_second_look_is_nothing(world: World, told: Told) -> None:
    one = supervisor(world, told)
    passes(one, world, 1)
    world.kill()
    passes(one, world, 1)
    world.launch()
    passes(one, world, 8)
    assert world.manager_calls == [] and all(not reading.findings for reading in told.readings)


def test_the_first_restart_that_does_not_help_is_told_and_the_cap_calls_a_person_once(
    world: World, told: Told
) -> None:
    world.start = lambda w: w.launch(ready=1, dies_at=w.t + 2)
    world.kill()
    one = supervisor(world, told)
    passes(one, world, 7)
    assert told.rules() == [("gateway.down", "critical")] and len(world.manager_calls) == 1
    passes(one, world, 60)
    assert told.events() == ["gateway.handed_over"] * told.events().count("gateway.handed_over")
    ids = {event.id for reading in told.readings for event in reading.events}
    assert len(ids) == 1  # the incident engine says an event once
    first = world.manager_calls[0][0]
    assert len([at for at, _, _ in world.manager_calls if at - first < 3600]) == 3
    passes(one, world, 65)
    assert len(world.manager_calls) in (4, 5)  # once an hour after that


def test_a_new_supervisor_has_the_restarts_of_the_old_one(world: World, told: Told) -> None:
    world.start = lambda w: w.launch(ready=1, dies_at=w.t + 2)
    world.kill()
    for _ in range(50):
        passes(supervisor(world, told), world, 1)
    assert len(world.manager_calls) == 3


def test_a_manager_that_refuses_has_failed_at_once(world: World, told: Told) -> None:
    class Refuses(Manager):
        def start(self) -> Outcome:
            return Outcome(False, "Interactive authentication required")

    world.kill()
    one = supervisor(world, told, Refuses(world))
    passes(one, world, 2)
    (finding,) = told.readings[-1].findings
    assert finding.severity == "critical" and "Interactive authentication required" in finding.fix


def test_where_nobody_can_be_asked_it_is_told_and_nothing_is_done(world: World, told: Told) -> None:
    world.kill()
    one = supervisor(world, told, Nobody())
    passes(one, world, 30)
    (finding,) = told.readings[-1].findings
    assert finding.severity == "critical" and "no service manager" in finding.fix
    assert MemoryFile(world.home).read().restarts == ()
    no_restarts = supervisor(world, told, rules=Rules(cap=0))
    passes(no_restarts, world, 3)
    assert world.manager_calls == []


def test_a_second_owner_that_appears_while_it_runs_ends_the_restarts(world: World, told: Told) -> None:
    def find(gateway: Gateway) -> Manager:
        if world.process.pid != first:
            raise OpsError("two units start this gateway")
        return Manager(world)

    first = world.process.pid
    one = Supervisor(world.home, find, WorldClock(world), told)
    passes(one, world, 2)
    world.launch()
    passes(one, world, 2)
    world.kill()
    passes(one, world, 5)
    assert world.manager_calls == [] and "two units" in told.readings[-1].findings[0].fix


def test_the_end_of_a_pause_is_told_unless_somebody_ended_it(world: World, told: Told) -> None:
    from hermes_ops.liveness import lease

    one = supervisor(world, told)
    passes(one, world, 1)
    lease.pause(world.home, "restore", 300, "anna", world.now)
    world.kill()
    assert set(passes(one, world, 4)) == {"maintenance"}
    passes(one, world, 4)
    assert told.events()[0] == "gateway.lease" and len(world.manager_calls) == 1
    lease.pause(world.home, "restore", 3000, "anna", world.now)
    passes(one, world, 2)
    said = len(told.events())
    lease.resume(world.home)
    passes(one, world, 4)
    assert len(told.events()) == said


def test_a_damaged_memory_is_set_aside_told_and_counts_as_a_restart(world: World, told: Told) -> None:
    one = supervisor(world, told)
    passes(one, world, 1)
    path = world.home / "ops" / "supervisor.json"
    path.write_text('{"format": 1, "restarts": "no list"}')
    world.kill()
    passes(one, world, 3)
    assert told.events()[0] == "gateway.memory"
    assert (world.home / "ops" / "supervisor.json.damaged-1").exists()
    assert world.manager_calls == []  # the cooldown runs from now
    passes(one, world, 10)
    assert len(world.manager_calls) == 1


def test_without_a_place_for_its_memory_it_restarts_nothing(
    world: World, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = []
    monkeypatch.setattr("hermes_ops.core.alert.send", lambda home, text, **more: sent.append(text) or [])
    path = world.home / "ops" / "supervisor.json"
    path.mkdir(parents=True)
    world.kill()
    assert set(passes(supervisor(world, told), world, 3)) == {"unknown"}
    assert world.manager_calls == [] and sent and "restarts nothing" in sent[0]


def test_memory_survives_json() -> None:
    memory = Memory(
        restarts=(1.0, 2.0), outage=Outage(1.0, "gateway.down", "dead", "x", ("a",)), pending_at=5.0
    )
    assert from_data(json.loads(json.dumps(as_data(memory)))) == memory
    for wrong in ({"restarts": ["x"]}, {"restarts": [-1]}, {"outage": {}}, {"last_pass_at": 1e300}):
        with pytest.raises((ValueError, TypeError, KeyError)):
            from_data({**as_data(memory), **wrong})


def test_messages_go_by_the_alert_channels_and_are_said_again_when_none_takes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hermes_ops.core.finding import Finding

    answers = [[Sent("telegram", False, "timed out")], [Sent("telegram", True, "")]]
    texts = []

    def send(home: Path, text: str, **more: object) -> list[Sent]:
        texts.append((text, more["severity"]))
        return answers[len(texts) - 1]

    monkeypatch.setattr("hermes_ops.core.alert.send", send)
    log: list[str] = []
    tell = through_incidents(tmp_path, log.append)
    reading = Reading.of([Finding("gateway.down", "error", "gateway (default)", "dead: x", "default")])
    assert [tell(reading, now) for now in (1000.0, 1060.0, 1120.0)] == [False, True, None]
    assert texts == [("error: gateway (default): dead: x", "error")] * 2
    assert "telegram: timed out" in log


# Who is asked

UNIT = """[Service]
ExecStart=/venv/bin/python -m hermes_cli.main gateway run
Environment="HERMES_HOME={home}"
"""
DEFAULTS = {
    "supervise.manager": "auto",
    "supervise.restart": True,
    "supervise.restart_command": (),
    "supervise.start_command": (),
}


def machine(tmp_path: Path, **other: object) -> Machine:
    folders = (tmp_path / "user", tmp_path / "system")
    for folder in folders:
        folder.mkdir(exist_ok=True)
    return replace(Machine(tmp_path, folders[:1], folders[1:], True, False), **other)


def write_unit(folder: Path, name: str, home: Path) -> None:
    (folder / name).write_text(UNIT.format(home=home))


def test_units_are_found_by_name_by_home_and_by_the_old_name(tmp_path: Path) -> None:
    home, there = tmp_path / ".hermes", machine(tmp_path)
    write_unit(tmp_path / "user", "hermes-gateway.service", home)
    write_unit(tmp_path / "user", "hermes-gateway-other.service", tmp_path / "other")
    write_unit(tmp_path / "system", "hermes-gateway-named.service", home)
    (tmp_path / "system" / "hermes.service").write_text("ExecStart=/usr/bin/hermes gateway run\n")
    (tmp_path / "user" / "hermes.service").write_text("ExecStart=/usr/bin/something-else\n")
    names = [(unit.name, unit.scope) for unit in find_units(home, there)]
    assert names == [
        ("hermes-gateway.service", "user"),
        ("hermes-gateway-named.service", "system"),
        ("hermes.service", "system"),
    ]
    profile = home / "profiles" / "coder"
    write_unit(tmp_path / "user", "hermes-gateway-coder.service", profile)
    assert [unit.name for unit in find_units(profile, there)] == ["hermes-gateway-coder.service"]


def test_the_installed_unit_is_asked(tmp_path: Path) -> None:
    home, there = tmp_path / ".hermes", machine(tmp_path)
    assert isinstance(detect(home, DEFAULTS, Gateway(home), there, {}), Nobody)
    write_unit(tmp_path / "system", "hermes-gateway.service", home)
    found = detect(home, DEFAULTS, Gateway(home), there, {})
    assert isinstance(found, Systemd) and (found.unit, found.scope) == ("hermes-gateway.service", "system")
    # Where systemd does not run its units are only files.
    assert isinstance(detect(home, DEFAULTS, Gateway(home), replace(there, systemd=False), {}), Nobody)
    off = {**DEFAULTS, "supervise.restart": False}
    assert isinstance(detect(home, off, Gateway(home), there, {}), Nobody)


def test_two_owners_are_refused(tmp_path: Path) -> None:
    home, there = tmp_path / ".hermes", machine(tmp_path)
    command = {**DEFAULTS, "supervise.restart_command": ("/bin/restart",)}
    assert isinstance(detect(home, command, Gateway(home), there, {}), Command)
    for process, name in (
        ({"HERMES_S6_SUPERVISED_CHILD": "1"}, "s6"),
        ({"HERMES_GATEWAY_EXTERNAL_SUPERVISOR": "true"}, "an external supervisor"),
        ({"parent": "supervisord"}, "supervisord"),
        ({"parent": "PM2 v5.3: God"}, "PM2"),
    ):
        with pytest.raises(OpsError, match=f"{name} looks after this gateway"):
            detect(home, DEFAULTS, Gateway(home), there, process)
        told_only = {**DEFAULTS, "supervise.manager": "none"}
        assert isinstance(detect(home, told_only, Gateway(home), there, process), Nobody)
    write_unit(tmp_path / "user", "hermes-gateway.service", home)
    with pytest.raises(OpsError, match="a second owner"):
        detect(home, command, Gateway(home), there, {})
    named = {**command, "supervise.manager": "command"}
    assert isinstance(detect(home, named, Gateway(home), there, {}), Command)
    write_unit(tmp_path / "system", "hermes-gateway.service", home)
    with pytest.raises(OpsError, match="two units start this gateway"):
        detect(home, DEFAULTS, Gateway(home), there, {})


@pytest.mark.parametrize("manager", ["systemd", "launchd", "command"])
def test_a_manager_that_is_not_there_is_said(tmp_path: Path, manager: str) -> None:
    with pytest.raises(OpsError):
        detect(
            tmp_path / "h",
            {**DEFAULTS, "supervise.manager": manager},
            Gateway(tmp_path),
            machine(tmp_path),
            {},
        )


def test_launchd_is_asked_by_its_label(tmp_path: Path) -> None:
    home = tmp_path / ".hermes" / "profiles" / "coder"
    agents = tmp_path / "Library" / "LaunchAgents"
    agents.mkdir(parents=True)
    (agents / "ai.hermes.gateway-coder.plist").touch()
    found = detect(home, DEFAULTS, Gateway(home), machine(tmp_path, systemd=False, darwin=True), {})
    assert isinstance(found, Launchd) and found.label == "ai.hermes.gateway-coder"
    asked = []

    def run(arguments: list[str], timeout: float, environment: object) -> Outcome:
        asked.append(list(arguments))
        return Outcome("user/501" in arguments[-1], "state = running\n\tpid = 77\n\tlast exit code = 78\n")

    job = Launchd("ai.hermes.gateway", 501, run)
    assert job.restart().ok and asked[-1] == ["launchctl", "kickstart", "-k", "user/501/ai.hermes.gateway"]
    assert job.state() == Service("ai.hermes.gateway", "active", exit_code=78, main_pid=77)


def test_systemd_is_asked_without_waiting_and_its_answer_is_read() -> None:
    asked = []

    def run(arguments: list[str], timeout: float, environment: object) -> Outcome:
        asked.append(list(arguments))
        return Outcome(
            True,
            "ActiveState=failed\nSubState=failed\nResult=exit-code\nExecMainStatus=78\nMainPID=0\n"
            "Restart=always\nExecMainStartTimestampMonotonic=123",
        )

    unit = Systemd("hermes-gateway.service", "user", run)
    assert unit.state() == Service(
        "hermes-gateway.service", "failed", "failed", "exit-code", 78, None, True, True
    )
    unit.restart()
    assert asked[-1] == [
        "systemctl",
        "--user",
        "--no-ask-password",
        "restart",
        "--no-block",
        "hermes-gateway.service",
    ]
    Systemd("hermes-gateway.service", "system", run).start()
    assert asked[-1][1:4] == ["--no-ask-password", "start", "--no-block"]
    assert Systemd("x", "user", lambda *_: Outcome(False, "no bus")).state() is None


def test_a_command_is_an_argument_list_and_meets_no_shell(tmp_path: Path) -> None:
    assert argument_list(["/bin/x", "a b"]) == ("/bin/x", "a b")
    for wrong in ("/bin/x --now", [], [1], ["a", ""], ["a\0"]):
        with pytest.raises(ValueError):
            argument_list(wrong)
    target = tmp_path / "said"
    script = "import sys; open(sys.argv[1], 'w').write(sys.argv[2]); print('done')"
    done = run_command([sys.executable, "-c", script, str(target), "$(touch x); `id`"], 10, {})
    assert done == Outcome(True, "done") and target.read_text() == "$(touch x); `id`"
    assert run_command(["/nowhere/at-all"], 1, {}).ok is False
    assert run_command([sys.executable, "-c", "import sys; print('no'); sys.exit(3)"], 10, {}) == Outcome(
        False, "no"
    )


def test_a_command_that_hangs_is_ended_and_one_that_leaves_a_child_is_not_waited_for() -> None:
    assert (
        "not done after" in run_command([sys.executable, "-c", "import time; time.sleep(60)"], 0.3, {}).detail
    )
    code = (
        "import subprocess, sys; "
        "print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).pid, flush=True)"
    )
    done = run_command([sys.executable, "-c", code], 10, {})
    os.kill(int(done.detail), signal.SIGKILL)
    assert done.ok


# Two of ours, and who watches us


def command(home: Path, *words: str, **more: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "hermes_ops", "supervise", *words],
        cwd=REPOSITORY,
        env={**os.environ, "HERMES_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


@pytest.fixture
def running(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    process = command(tmp_path, "run")
    limit = time.monotonic() + 20
    while not (tmp_path / "ops" / "supervisor.json").exists() and time.monotonic() < limit:
        time.sleep(0.05)
    yield process
    if process.poll() is None:
        process.kill()
    process.communicate()


def test_two_at_once_are_one_and_the_lock_of_a_dead_one_is_free(
    tmp_path: Path, running: subprocess.Popen[str]
) -> None:
    second = command(tmp_path, "run")
    assert second.communicate(timeout=20) == ("", "") and second.returncode == 3
    # Somebody who only looks is not in the way, and finds the supervisor.
    status = command(tmp_path, "status", "--json")
    said = json.loads(status.communicate(timeout=20)[0])
    assert said["supervisor"]["running"] is True and said["supervisor"]["pid"] == running.pid
    assert guard.watch(Context(tmp_path, time.time())) == Reading()
    running.kill()
    running.wait()
    held = lock(tmp_path)
    assert held.acquire()
    held.release()


def test_it_refuses_to_run_beside_another_owner(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text('{"ops": {"supervise": {"manager": "command"}}}')
    process = command(tmp_path, "run")
    said = process.communicate(timeout=20)[1]
    # 2 is what the unit does not restart on.
    assert process.returncode == 2 and "restart_command is not set" in said and "Traceback" not in said


def test_it_ends_when_it_is_asked_to(tmp_path: Path, running: subprocess.Popen[str]) -> None:
    running.send_signal(signal.SIGTERM)
    assert running.wait(10) == 0


def remember(home: Path, **values: object) -> None:
    (home / "ops").mkdir(exist_ok=True)
    MemoryFile(home).write(Memory(**values), durable=False)


def test_the_guard_says_when_nobody_watches(tmp_path: Path) -> None:
    (finding,) = guard.watch(Context(tmp_path, 1e9)).findings
    assert finding.rule == "supervisor.missing" and "hermes ops supervise install" in finding.fix


def test_the_guard_sees_one_that_hangs_and_one_that_is_gone(tmp_path: Path) -> None:
    mine = {"pid": os.getpid(), "started": process_start_time()}
    remember(tmp_path, last_pass_at=1e9 - 100, **mine)
    assert guard.watch(Context(tmp_path, 1e9)) == Reading()
    remember(tmp_path, last_pass_at=1e9 - 700, **mine)
    assert guard.watch(Context(tmp_path, 1e9)).findings[0].rule == "supervisor.hangs"
    remember(tmp_path, last_pass_at=1e9 - 100, pid=os.getpid(), started=1)
    units.record(tmp_path, units.Installed("systemd", "hermes-ops-supervise.service"))
    (finding,) = guard.watch(Context(tmp_path, 1e9)).findings
    assert finding.rule == "supervisor.down" and "cannot bring a dead gateway back" in finding.text
    assert finding.fix == "systemctl --user restart hermes-ops-supervise.service"
    # `supervise once` under somebody's own timer leaves no process.
    remember(tmp_path, last_pass_at=1e9 - 100)
    assert guard.watch(Context(tmp_path, 1e9)) == Reading()


def test_the_guard_starts_a_detached_one_again_a_few_times_and_never_inside_a_unit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spawned = []
    monkeypatch.setattr(units, "spawn", lambda home: spawned.append(home) or 4711)
    monkeypatch.setattr(guard, "process_facts", lambda pid: {})
    remember(tmp_path, last_pass_at=1e9, pid=os.getpid(), started=1)
    units.record(tmp_path, units.Installed("detached"))
    readings = [guard.watch(Context(tmp_path, 1e9 + 300 * n)) for n in range(4)]
    assert [len(one.events) for one in readings] == [1, 1, 1, 0] and len(spawned) == 3
    assert "started 3 times within an hour" in readings[3].findings[0].text
    assert len(guard.watch(Context(tmp_path, 1e9 + 4000)).events) == 1
    monkeypatch.setattr(guard, "process_facts", lambda pid: {"unit": "hermes-gateway.service"})
    assert guard.watch(Context(tmp_path, 1e9 + 9000)).findings[0].rule == "supervisor.down"
    assert len(spawned) == 4
