"""The supervisor and a real gateway: what it writes is read, and what happens to it is seen and mended.

The service manager is a script that ends the gateway it knows by its number and starts another, as a user's
own would. Time is passed in where a limit would have to be waited for: ages are real relative to it.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hermes_ops.core.finding import Reading
from hermes_ops.host.gateway import Gateway as Seen
from hermes_ops.host.gateway import read_gateway
from hermes_ops.host.ticker import read_ticker
from hermes_ops.liveness.facts import Limits, read_facts
from hermes_ops.liveness.health import STORE_BROKEN, WRITE_FAILURES
from hermes_ops.liveness.service import Command, Nobody
from hermes_ops.liveness.supervise import Supervisor
from hermes_ops.liveness.verdict import Seen as Remembered
from hermes_ops.liveness.verdict import Verdict, decide
from tests.host.hermes import HERMES, Gateway, HermesHome
from tests.host.model_server import ModelServer
from tests.host.ops_host import Host
from tests.host.scenarios.core import wait_until

pytestmark = pytest.mark.host

RESTART = '''
"""Ends the gateway whose number stands in a file, starts another one, and writes down that it did."""
import os, signal, subprocess, sys
folder, hermes = sys.argv[1:]
pid = int(open(folder + "/pid").read())
with open(folder + "/calls", "a") as calls:
    calls.write(f"restart {pid}\\n")
try:
    os.kill(pid, signal.SIGKILL)
except ProcessLookupError:
    pass
quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
new = subprocess.Popen([hermes, "gateway", "run"], start_new_session=True, cwd=folder, **quiet)
with open(folder + "/pid", "w") as file:
    file.write(str(new.pid))
'''


@dataclass
class Machine:
    """One home whose gateway is looked after by a supervisor that asks a script for restarts."""

    home: HermesHome
    supervisor: Supervisor
    told: list[Reading]
    offset: float = 0.0

    def now(self) -> float:
        return time.time() + self.offset

    def wait(self, seconds: float) -> bool:
        return True

    def seen(self) -> Seen:
        return read_gateway(self.home.path)

    def judge(self) -> Verdict:
        """The verdict now, without remembering or doing anything."""
        now = self.now()
        return decide(read_facts(self.home.path, now, Limits()), Remembered(), now, Limits())

    def look(self, later: float = 60.0) -> Verdict:
        """A pass of the supervisor, so much later than the last."""
        self.offset += later
        return self.supervisor.once()

    def calls(self) -> list[str]:
        path = self.home.root / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def findings(self) -> list[str]:
        return [finding.rule for reading in self.told[-1:] for finding in reading.findings]

    def know(self, pid: int) -> None:
        (self.home.root / "pid").write_text(str(pid))

    def known(self) -> int:
        return int((self.home.root / "pid").read_text())


def until(condition: Callable[[], bool], what: str) -> None:
    wait_until(condition, what, 30)


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with ModelServer() as model, HermesHome(model.url) as home:
        (home.root / "restart.py").write_text(RESTART)
        with Gateway(home) as gateway:
            told: list[Reading] = []
            manager = Command(
                [sys.executable, str(home.root / "restart.py"), str(home.root), str(HERMES)],
                run=lambda words, timeout, more: _run(words, home),
            )
            one = Machine(home, None, told)  # type: ignore[arg-type]
            one.supervisor = Supervisor(
                home.path, lambda seen: manager, one, lambda reading, now: told.append(reading) or True
            )
            one.know(gateway.process.pid)
            until(lambda: read_ticker(home.path).heartbeat_at is not None, "the scheduler's first loop")
            try:
                yield one
            finally:
                try:
                    os.killpg(one.known(), signal.SIGKILL)
                except ProcessLookupError:
                    pass


@pytest.fixture(scope="module")
def begun(machine: Machine) -> Path:
    """A file with the number of the process of the script `long.py`, once it runs."""
    path = machine.home.root / "begun"
    (machine.home.path / "scripts").mkdir(exist_ok=True)
    script = f"import os, time; open({str(path)!r}, 'w').write(str(os.getpid())); time.sleep(120)\n"
    (machine.home.path / "scripts" / "long.py").write_text(script)
    return path


def _run(words: object, home: HermesHome) -> object:
    from hermes_ops.liveness.service import run_command

    return run_command(words, 60, home.environment())


def test_what_the_real_gateway_writes_is_read(machine: Machine) -> None:
    seen = machine.seen()
    pid = machine.known()
    assert (seen.pid, seen.alive, seen.pid_file, seen.lock_held) == (pid, True, True, True)
    assert (seen.state, seen.heartbeat_pid, seen.restart_requested) == ("running", pid, False)
    assert seen.platforms["api_server"]["state"] == "connected"
    assert 0 <= time.time() - seen.heartbeat_at < 60 and len(seen.starts) == 1
    assert seen.exits[-1].tag == "gateway.start" and seen.exits[-1].pid == pid
    assert (seen.problems, seen.unreadable, seen.starting_pid, seen.deleted) == ((), (), None, ())


def test_a_healthy_gateway_is_ok_and_nothing_is_said(machine: Machine) -> None:
    machine.offset = 0.0
    assert [machine.look(0).state, machine.look(1).state] == ["ok", "ok"]
    assert machine.told == [] and machine.calls() == []


def test_the_markers_are_what_this_host_writes() -> None:
    spec = importlib.util.find_spec("run_agent")
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent
    for logger, level, text in (*WRITE_FAILURES, *STORE_BROKEN):
        source = (folder / (logger.replace(".", "/") + ".py")).read_text("utf-8")
        assert text in source, text
        before = source[: source.index(text)].rstrip().removesuffix('"').rstrip()
        assert before.endswith(f"logger.{level.lower()}("), text
        assert "logger = logging.getLogger(__name__)" in source


def test_a_stopped_process_is_frozen_and_restarted_for_real(machine: Machine, begun: Path) -> None:
    frozen = machine.known()
    os.kill(frozen, signal.SIGSTOP)
    with Host(machine.home) as host:  # the next gateway is to run a long script at once
        job = {"schedule": "every 1h", "script": "long.py", "no_agent": True, "deliver": "local"}
        host.ask("cron.jobs.trigger_job", host.ask("create", name="long", **job))
    machine.offset = 0.0
    assert machine.judge().state == "ok"  # its heartbeat is still young
    for step in (100, 100, 140):
        verdict = machine.look(step)
    assert verdict.state == "frozen" and machine.calls() == []
    machine.look()
    assert machine.calls() == [f"restart {frozen}"] and machine.findings() == ["gateway.down"]
    until(lambda: machine.seen().heartbeat_pid == machine.known() != frozen, "the new gateway's heartbeat")
    machine.offset = 0.0
    assert machine.judge().state == "ok"


def test_one_that_shut_down_during_a_long_script_lingers_and_is_replaced(
    machine: Machine, begun: Path
) -> None:
    until(lambda: begun.exists() and begun.read_text() != "", "the script of the job")
    os.kill(machine.known(), signal.SIGTERM)
    until(lambda: machine.seen().exits[-1].tag == "gateway.exit_nonzero", "the shutdown of the gateway")
    seen = machine.seen()
    assert (seen.alive, seen.lock_held, seen.pid_file, seen.state) == (True, False, False, "running")
    machine.offset = 0.0
    assert machine.judge().state == "starting"  # it may end in a moment
    machine.offset = 45.0
    verdict = machine.judge()
    assert (verdict.state, verdict.action) == ("lingering", "restart"), verdict
    # The memory of the tests before is that of another day.
    (machine.home.path / "ops" / "supervisor.json").unlink()
    before = len(machine.calls())
    assert [machine.look(0).state, machine.look(60).state] == ["lingering", "lingering"]
    assert len(machine.calls()) == before + 1
    os.kill(int(begun.read_text()), signal.SIGKILL)  # the host leaves it to itself
    until(lambda: machine.seen().heartbeat_pid == machine.known(), "the new gateway's heartbeat")
    assert machine.seen().pid != seen.pid


def test_after_the_restarts_the_gateway_is_well_and_the_rest_is_silence(machine: Machine) -> None:
    machine.offset = 0.0
    verdict = machine.judge()
    assert (verdict.state, verdict.troubles) == ("ok", ())
    (machine.home.path / "ops" / "supervisor.json").unlink()
    machine.told.clear()
    before = machine.calls()
    assert [machine.look(0).state, machine.look(1).state] == ["ok", "ok"]
    assert machine.told == [] and machine.calls() == before


def test_a_killed_gateway_is_dead_though_its_file_says_running(machine: Machine) -> None:
    pid, before = machine.known(), machine.calls()
    os.kill(pid, signal.SIGKILL)
    until(lambda: machine.seen().alive is False, "the end of the process")
    seen = machine.seen()
    assert (seen.state, seen.pid_file) == ("running", True)
    machine.offset = 0.0
    verdict = machine.judge()
    assert (verdict.state, verdict.action) == ("dead", "start")
    # Nobody to ask: it is only told.
    alone = Supervisor(machine.home.path, lambda seen: Nobody(), machine, lambda reading, now: True)
    assert alone.once().state in ("dead", "unknown") and machine.calls() == before
