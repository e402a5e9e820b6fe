"""A run of lanes that is killed at any step leaves a state from which the next run goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_ops.core import state
from hermes_ops.lanes import evidence, gate, register
from hermes_ops.lanes import git as lanes_git
from tests.ops.lanes_repository import Checkout, plain_environment

ROOT = Path(__file__).resolve().parents[2]
CHANGING = ("init", "checkout", "merge", "worktree", "update-ref")


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # the disk is not what these tests are about
    made = Checkout(tmp_path / "project")
    made.init()
    return made


def killed_behind(step: int, run: Callable[[], object]) -> bool:
    """Do `run` in a child that ends without a word behind its `step`-th change of anything on the disk.

    False when it makes fewer. Between two changes it makes no difference where a run is killed.
    """
    sys.stdout.flush()
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    try:
        taken = 0

        def counted(function: Callable) -> Callable:
            def call(*arguments, **options):
                nonlocal taken
                answer = function(*arguments, **options)
                changes = not isinstance(arguments[0], lanes_git.Git) or (
                    arguments[1] in CHANGING and "list" not in arguments
                )
                taken += changes
                if changes and taken == step:
                    os._exit(9)
                return answer

            return call

        lanes_git.Git.run = counted(lanes_git.Git.run)
        evidence.append = counted(evidence.append)
        gate.write_atomic = counted(gate.write_atomic)
        state.write_atomic = counted(state.write_atomic)
        run()
    finally:
        os._exit(0)


def test_a_merge_that_is_killed_anywhere_is_finished_by_the_next(user):
    user.away()
    for step in range(1, 40):
        name = f"lane {step}"
        user.lane(name, **{f"file{step}": "x\n"})
        was, before = user.git("rev-parse", "main"), user.seen()
        was_killed = killed_behind(step, lambda name=name: user.run("merge", name))
        now = user.git("rev-parse", "main")
        if now != was:
            merge = evidence.read(user.repository).merges()[-1]
            assert (merge.result, merge.base) == (now, was)
        assert user.seen() == before
        assert user.run("merge", name) == 0
        assert f"file{step}.txt" in user.git("ls-tree", "--name-only", "main").split()
        assert not list(user.lanes.glob("_runs/*"))
        if not was_killed:
            break
    assert step > 10
    assert user.run("verify") == 0
    assert user.git("fsck", "--connectivity-only", "--no-dangling") == ""


def test_merges_that_wait_survive_kills_too(user):
    for step in range(10, 40):
        name = f"lane {step}"
        user.lane(name, **{f"file{step}": "x\n"})
        before = user.seen()
        was_killed = killed_behind(step, lambda name=name: user.run("merge", name))
        assert user.run("merge", name) == 0
        assert user.seen() == before
        assert f"file{step}.txt" in user.git("ls-tree", "--name-only", "hermes-lanes/main").split()
        if not was_killed:
            break
    assert user.run("verify") == 0


def test_making_a_lane_that_is_killed_anywhere_is_done_anew_or_pruned(user):
    for step in range(1, 10):
        was_killed = killed_behind(step, lambda step=step: user.run("new", f"lane {step}"))
        if not was_killed:
            break
        if step % 2:
            assert user.run("prune") == 0
        known = register.read(user.repository).lanes.get(f"lane {step}")
        if known is None or known.state == "making":
            assert user.run("new", f"lane {step}") == 0
        assert (user.lanes / register.slug(f"lane {step}") / "notes.txt").exists()
    assert step > 3
    assert all(lane.state == "ready" for lane in register.read(user.repository).lanes.values())


def test_a_worktree_made_by_half_is_made_anew(user):
    assert killed_behind(1, lambda: user.run("new", "half"))
    user.git("branch", "lane/half")
    (user.lanes / "half").mkdir(parents=True)
    (user.lanes / "half" / "notes.txt").write_text("by half")
    assert user.run("new", "half") == 0
    assert (user.lanes / "half" / "notes.txt").read_text() == "one\n"


def test_a_lane_made_by_half_with_commits_on_its_branch_is_left(user, capsys):
    assert killed_behind(1, lambda: user.run("new", "half"))
    commit = user.git("commit-tree", "main^{tree}", "-p", "main", "-m", "work")
    user.git("branch", "lane/half", commit)
    assert user.run("prune") == 1
    assert user.run("new", "half") == 1
    assert user.git("rev-parse", "lane/half") == commit


def test_removing_a_lane_that_is_killed_anywhere_is_finished_by_prune(user):
    for step in range(1, 10):
        user.lane(f"lane {step}")
        was_killed = killed_behind(step, lambda step=step: user.run("remove", f"lane {step}"))
        assert user.run("prune") == 0
        known = register.read(user.repository).lanes
        assert f"lane {step}" not in known and user.git("branch", "--list", "lane/*") == ""
        assert user.git("worktree", "list").count("\n") == 0
        if not was_killed:
            break
    assert step > 3


def test_a_removal_cut_short_takes_no_new_work_with_it(user, capsys):
    path = user.lane("one")
    assert killed_behind(1, lambda: user.run("remove", "one"))
    user.write("new.txt", "x\n", path)
    assert user.run("prune") == 1
    assert (path / "new.txt").exists()


def test_a_line_of_evidence_that_was_torn_is_told_and_the_next_follows(user):
    user.lane("one", a="x\n")
    assert user.run("gate") == 0
    file = user.state / "evidence.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:80])
    assert user.run("gate") == 0
    found = evidence.read(user.repository)
    assert len(found.gates()) == 2
    assert [problem for problem in found.problems if "is no record" not in problem] == []
    assert len(found.problems) == 1


def test_a_gate_whose_run_is_killed_is_ended_by_prune_and_not_on_record(user, tmp_path):
    user.write(
        "gate.py",
        f"import os, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)\n",
    )
    user.commit("gate")
    user.init(gate=f"{sys.executable} -S gate.py")
    user.lane("one", a="x\n")
    hermes = tmp_path / "hermes"
    hermes.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "hermes_ops", "lanes", "--repo", str(user.path), "gate"],
        env=plain_environment() | {"PYTHONPATH": str(ROOT), "HERMES_HOME": str(hermes)},
        stdout=subprocess.DEVNULL,
    )
    try:
        waited(lambda: list(user.lanes.glob("_runs/*/group.json")) and (tmp_path / "pid").exists())
        waited(lambda: (tmp_path / "pid").read_text() != "")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    orphan = int((tmp_path / "pid").read_text())
    os.kill(orphan, 0)
    assert user.run("prune", "--json") == 0
    waited(lambda: not running(orphan))
    assert user.records() == [] and not user.lanes.joinpath("_runs").exists()


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def waited(true: Callable[[], object]) -> None:
    for _ in range(600):
        if true():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come to that")


def test_a_damaged_register_is_set_aside_and_said(user, capsys):
    user.lane("one")
    (user.state / "lanes.json").write_text("{")
    assert user.run("list") == 1
    assert user.run("new", "two") == 1
    assert (user.state / "lanes.json.damaged-1").exists()
    assert "set aside" in capsys.readouterr().err
