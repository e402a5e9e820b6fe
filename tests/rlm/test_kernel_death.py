"""The host dies, in the middle of anything: nothing of its kernels stays. Nor when they end by themselves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hermes_rlm.kernel import pool, process, registry
from tests.rlm.conftest import Agent

ROOT = Path(__file__).resolve().parents[2]

# A host: runs one cell in a thread and says which processes it and its kernel are.
HOST = """
import json, sys, threading, time
sys.path.insert(0, sys.argv[1])
from hermes_rlm import tools
from hermes_rlm.kernel import pool
run = {tool.name: tool for tool in tools.TOOLS}["rlm_exec"].handler
run({"code": "keep = [1, 2, 3]"}, session_id="s")
kernel = next(iter(pool.POOL._live)).kernel
if sys.argv[2]:
    cell = {"code": sys.argv[2]}
    threading.Thread(target=run, args=(cell,), kwargs={"session_id": "s"}, daemon=True).start()
    time.sleep(0.7)
print(json.dumps({"pid": kernel.pid, "id": kernel.id}), flush=True)
time.sleep(60)
"""
DETACHED = "import subprocess; subprocess.Popen(['sleep', '300'], start_new_session=True)"


class Host:
    """A host process in a home; it is killed at the end of the test whatever happens."""

    def __init__(self, cell: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOST, str(ROOT), cell], stdout=subprocess.PIPE, text=True
        )
        said = json.loads(self.process.stdout.readline())
        self.kernel, self.id = said["pid"], said["id"]

    def kill(self, number: int = signal.SIGKILL) -> None:
        os.kill(self.process.pid, number)
        self.process.wait(10)
        self.process.stdout.close()


@pytest.fixture
def host(home):
    started = []

    def start(cell=""):
        started.append(Host(cell))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.kill()
        process.end_strays({one.id})


def group(leader: int) -> list[int]:
    """The live processes of a process group."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except (OSError, NotADirectoryError):
            continue
        if int(fields[2]) == leader and fields[0] != "Z":
            found.append(int(entry.name))
    return found


def wait_until_gone(leader: int, seconds: float = 2.0) -> None:
    give_up = time.monotonic() + seconds
    while group(leader):
        assert time.monotonic() < give_up, f"{group(leader)} live after {seconds} s"
        time.sleep(0.02)


linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@linux
@pytest.mark.parametrize(
    "cell",
    [
        "while True: pass",
        "import time; time.sleep(100)",
        "sum(range(10 ** 12))",
        "import subprocess; subprocess.run(['sleep', '100'])",
        "import os\nif os.fork() == 0:\n    while True: pass\nwhile True: pass",
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(1)",
    ],
    ids=["loops", "sleeps", "is in C", "waits for a child", "has forked", "ignores signals"],
)
def test_death_of_the_host_ends_the_whole_group(host, cell):
    one = host(cell)
    assert group(one.kernel)
    one.kill()
    wait_until_gone(one.kernel)


@linux
def test_an_idle_kernel_ends_with_its_host_too(host):
    one = host()
    one.kill(signal.SIGTERM)
    wait_until_gone(one.kernel)


@linux
def test_an_idle_kernel_with_a_busy_thread_and_a_child_ends_with_its_host(host):
    one = host()
    other = host(
        "import threading, subprocess\ndef spin():\n    while True: pass\n"
        "threading.Thread(target=spin, daemon=True).start()\nchild = subprocess.Popen(['sleep', '200'])"
    )
    for each in (one, other):
        each.kill()
        wait_until_gone(each.kernel)


@linux
def test_what_left_the_group_and_every_file_is_swept_at_the_next_start(host, home):
    one = host(DETACHED + "\nimport time; time.sleep(100)")
    strays = [pid for pid in process.marked({one.id}) if pid not in group(one.kernel)]
    assert len(strays) == 1
    one.kill()
    wait_until_gone(one.kernel)
    assert process.marked({one.id}) == strays

    Agent(home).run("1", session="another")
    assert process.marked({one.id}) == []
    kernels = {path.name for path in registry.temporary_base().iterdir()}
    assert kernels == {record["id"] for record in registry.live(home)}
    assert len(kernels) == 1


@linux
def test_a_kernel_that_is_reset_takes_along_what_left_its_group(agent):
    agent.run(DETACHED)
    kernel = pool.POOL.known(agent.home, "s").kernel
    give_up = time.monotonic() + 10
    # A program that has just been started has no environment to look at for a moment.
    while len(process.marked({kernel.id})) != 2:
        assert time.monotonic() < give_up
        time.sleep(0.01)
    agent.call("rlm_reset", {})
    assert process.marked({kernel.id}) == []


@linux
def test_sweeping_leaves_alone_what_is_not_of_a_dead_kernel(agent, home):
    agent.run("x = 1")
    before = agent.pid()
    assert registry.sweep(home) == []
    (registry.directory(home) / "nonsense.json").write_text('{"id": "../..", "pid": -1, "parent": "x"}')
    victim = home / "precious"
    victim.mkdir()
    record = {"id": "precious", "pid": 2**22 + 1, "start_time": 1, "parent": 2**22 + 1, "parent_start": 1}
    (registry.directory(home) / "p.json").write_text(json.dumps({**record, "directory": str(victim)}))
    registry.sweep(home)
    assert victim.is_dir()
    assert agent.pid() == before and agent.value("x") == 1


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.once
@linux
def test_200_kernels_opened_and_closed_leave_nothing(agent, home):
    agent.run("1", session="warm up")
    agent.call("rlm_reset", {}, session="warm up")
    before, threads = descriptors(), len(os.listdir("/proc/self/task"))
    ids = set()
    for number in range(200):
        session = f"session {number}"
        assert agent.run("import os; x = 1; os.getpid()", session=session)["ok"]
        ids.add(pool.POOL.known(home, session).kernel.id)
        agent.call("rlm_reset", {}, session=session)
    assert descriptors() <= before
    assert len(os.listdir("/proc/self/task")) <= threads
    assert process.marked(ids) == []
    assert list(registry.temporary_base().iterdir()) == []
    assert list(registry.directory(home).glob("*.json")) == []
    assert not list(home.rglob("*.checkpoint"))
