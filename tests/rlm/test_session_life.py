"""A session's state over the lives of its kernels: what comes back, what is lost, and that both are said."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from hermes_rlm import checkpoint, settings
from hermes_rlm.kernel import pool as pool_
from tests.rlm.conftest import Agent, end_kernels


@pytest.fixture
def session(agent):
    agent.run("x = 1")
    return pool_.POOL.known(agent.home, "s")


def test_eviction_keeps_the_state_and_says_so_once(agent):
    agent.run("import math\nx = [1, 2]\ndef double(n): return 2 * n\nclass P: pass\np = P(); p.a = 5")
    before = agent.pid()
    agent.evict()
    answer = agent.run("(x, double(4), p.a, math.floor(2.5))")
    assert answer["value"] == "([1, 2], 8, 5, 2)"
    assert agent.pid() != before
    assert answer["note"].startswith(
        "restarted: its place was needed by another session; lost: []; restored: ["
    )
    assert "ago)" in answer["note"]
    assert "note" not in agent.run("x")


def test_what_could_not_be_saved_is_named_as_lost(agent):
    agent.run("import threading\nx = 1\nlock = threading.Lock()\ngen = (i for i in range(3))")
    agent.evict()
    note = agent.run("x")["note"]
    assert "lost: [lock, gen]" in note and "restored: [" in note


def test_names_deleted_before_are_not_lost(agent):
    agent.run("x = 1; y = 2")
    agent.run("del y")
    agent.evict()
    assert "lost: []; restored: [x] (" in agent.run("x")["note"]


def test_old_state_is_never_presented_as_current(agent):
    agent.run("version = 'OLD'")
    agent.evict()
    agent.run("version = 'NEW'\nresults = [1]")
    agent.run("import os; os._exit(1)")
    answer = agent.run("'version' in globals()")
    assert answer["value"] == "False"
    assert "lost: [version, results" in answer["note"]
    assert "older: rlm_checkpoint restore name=autosave-previous brings it back" in answer["note"]
    restored = agent.call("rlm_checkpoint", {"action": "restore", "name": "autosave-previous"})
    assert restored["ok"] and agent.value("version") == "OLD"


def test_a_reset_is_final(agent):
    agent.run("secret = 'must be gone'")
    agent.evict()
    assert agent.value("secret") == "must be gone"
    assert agent.call("rlm_reset", {}) == {"ok": True, "note": "kernel ended, its state is discarded"}
    answer = agent.run("'secret' in globals()")
    assert answer == {"ok": True, "value": "False"}
    end_kernels()
    assert Agent(agent.home).run("'secret' in globals()") == {"ok": True, "value": "False"}


def test_reset_without_a_kernel_says_so(agent):
    assert agent.call("rlm_reset", {})["note"] == "there was no state"


def test_the_state_comes_back_in_another_process(agent):
    agent.run("x = {'a': 1}")
    pool_.POOL.end_all("the host ended", 10)
    end_kernels()
    answer = Agent(agent.home).run("x")
    assert answer["value"] == "{'a': 1}"
    assert "restarted: the host that ran it ended; lost: []; restored: [x]" in answer["note"]


def test_a_kernel_killed_between_calls_is_noticed(agent):
    agent.run("x = 1")
    os.kill(agent.pid(), 9)
    time.sleep(0.1)
    answer = agent.run("2")
    assert answer["value"] == "2"
    assert "restarted: the kernel was ended by SIGKILL between two calls; lost: [x]" in answer["note"]


def test_an_idle_kernel_is_ended_after_the_time_and_comes_back(agent, session, knob, monkeypatch):
    knob("IDLE_SECONDS", 1)
    session.last_used = time.monotonic() - 5
    give_up = time.monotonic() + 10
    while session.kernel is not None and time.monotonic() < give_up:
        time.sleep(0.05)
    assert session.kernel is None
    answer = agent.run("x")
    assert answer["value"] == "1" and "restarted: idle for 1 s; lost: []; restored: [x]" in answer["note"]


@pytest.mark.once
def test_a_busy_kernel_is_never_idle(agent, knob):
    knob("IDLE_SECONDS", 1)
    assert agent.run("import time; time.sleep(3); 'done'", 20)["value"] == "'done'"


def test_the_memory_limit_holds_between_calls_too(agent, session, knob):
    knob("MAX_RSS_MB", 100)
    knob("RSS_POLICY", "stop")
    agent.run(
        "import threading, time\nheld = []\ndef grow():\n    time.sleep(0.3)\n"
        "    block = bytearray(200 << 20)\n    block[::4096] = b'x' * (200 << 8)\n    held.append(block)\n"
        "threading.Thread(target=grow, daemon=True).start()"
    )
    give_up = time.monotonic() + 15
    while session.kernel is not None and time.monotonic() < give_up:
        time.sleep(0.05)
    assert session.kernel is None
    assert "restarted: it used more than 100 MB" in agent.run("x")["note"]


def test_the_cap_ends_the_kernel_that_was_idle_longest(agent, knob):
    knob("MAX_KERNELS", 2)
    for name in ("a", "b"):
        agent.run(f"who = {name!r}", session=name)
    agent.run("who", session="a")
    agent.run("1", session="c")
    live = {row["session"] for row in pool_.POOL.overview()}
    assert live == {"a", "c"}
    assert agent.run("who", session="b")["value"] == "'b'"


def test_a_busy_kernel_is_not_ended_for_another(agent, knob):
    knob("MAX_KERNELS", 2)
    answers = {}

    def work(name):
        answers[name] = agent.run(f"import time; time.sleep(1.5); {name!r}", session=name)

    threads = [threading.Thread(target=work, args=(name,)) for name in ("a", "b")]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    began = time.monotonic()
    assert agent.run("1", session="c")["value"] == "1"
    assert time.monotonic() - began > 0.5
    for thread in threads:
        thread.join()
    assert {name: answer["value"] for name, answer in answers.items()} == {"a": "'a'", "b": "'b'"}


@pytest.mark.once
def test_a_long_call_of_one_session_does_not_hold_up_others(agent):
    thread = threading.Thread(target=agent.run, args=("import time; time.sleep(2)",), kwargs={"session": "a"})
    thread.start()
    time.sleep(0.2)
    began = time.monotonic()
    assert agent.run("1", session="b")["value"] == "1"
    assert time.monotonic() - began < 1.5
    thread.join()


@pytest.mark.once
def test_when_all_kernels_stay_busy_the_answer_says_what_to_do(agent, knob, monkeypatch):
    knob("MAX_KERNELS", 1)
    monkeypatch.setattr(pool_, "ROOM_SECONDS", 0.3)
    thread = threading.Thread(target=agent.run, args=("import time; time.sleep(2)",), kwargs={"session": "a"})
    thread.start()
    time.sleep(0.3)
    answer = agent.run("1", session="b")
    assert not answer["ok"] and "HERMES_RLM_MAX_KERNELS" in answer["error"]
    thread.join()


@pytest.mark.once
def test_variables_are_answered_while_a_call_runs(agent):
    agent.run("x = 1")
    thread = threading.Thread(target=agent.run, args=("import time; time.sleep(2)",))
    thread.start()
    time.sleep(0.3)
    answer = agent.call("rlm_vars", {})
    assert answer["ok"] and "has been running for" in answer["note"] and "x" in answer["names"]
    thread.join()


def test_sessions_with_similar_ids_are_distinct(agent):
    ids = ["telegram:dm:42", "telegram_dm_42", "a" * 100, "a" * 101, "../../x", "x\0y", "\ud800"]
    for number, name in enumerate(ids):
        agent.run(f"mine = {number}", session=name)
    for number, name in enumerate(ids):
        assert agent.value("mine", session=name) == number
    for name in ids:
        agent.evict(name)
    for number, name in enumerate(ids):
        assert agent.value("mine", session=name) == number


def test_homes_are_distinct(agent, tmp_path, monkeypatch):
    agent.run("who = 'first'")
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.setenv("HERMES_HOME", str(other))
    second = Agent(other)
    assert second.value("'who' in globals()") is False
    second.run("who = 'second'")
    monkeypatch.setenv("HERMES_HOME", str(agent.home))
    assert agent.value("who") == "first"
    assert agent.value("import os; os.environ['HERMES_HOME']") == str(agent.home)


def test_a_restore_that_fails_leaves_the_file_and_says_why(agent):
    agent.run("x = 1")
    agent.evict()
    path = checkpoint.path_of(agent.home, "s", "autosave")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    note = agent.run("'x' in globals()")["note"]
    assert "lost: [x]" in note and "altered" in note
    assert path.read_bytes() == data


def test_without_checkpoints_an_eviction_loses_the_state_and_says_so(agent, knob):
    knob("ENABLE_CHECKPOINT", 0)
    agent.run("x = 1")
    agent.evict()
    answer = agent.run("'x' in globals()")
    assert answer["value"] == "False" and "lost: [x]" in answer["note"]
    assert not list(agent.home.rglob("*.checkpoint"))


def test_the_journal_numbers_cells_across_kernels(agent):
    agent.run("x = 1")
    agent.evict()
    agent.run("y = 2")
    rows = {row["name"]: row for row in agent.call("rlm_vars", {})["variables"]}
    assert rows["y"]["cell"] == 2


def test_a_journal_that_cannot_be_written_costs_no_answer(agent, session):
    directory = session.past.journal.directory
    session.past.journal.close()
    for file in directory.iterdir():
        file.unlink()
    directory.rmdir()
    directory.write_text("in the way")
    assert agent.run("x") == {"ok": True, "value": "1"}


def test_settings_are_read_for_every_call(agent, knob):
    assert settings.load(agent.home).max_kernels == 12
    knob("MAX_KERNELS", 3)
    assert settings.load(agent.home).max_kernels == 3


def test_a_finished_session_is_saved_and_ended(agent):
    from hermes_rlm import hooks

    agent.run("x = 1")
    hooks.on_session_finalize(session_id="s", reason="shutdown")
    assert pool_.POOL.overview() == []
    assert agent.value("x") == 1
    hooks.on_session_finalize(session_id=None, reason="shutdown")
    hooks.on_session_finalize(session_id="unknown", reason="new_session")


def test_ctrl_c_on_the_main_thread_stops_the_cell_keeps_its_variables_and_is_raised_again(agent):
    agent.run("x = 1")
    before = agent.pid()
    threading.Timer(0.5, lambda: signal.raise_signal(signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        agent.run("y = 2\nwhile True: pass")
    assert time.monotonic() - began < 5
    assert agent.pid() == before
    assert agent.value("(x, y)") == (1, 2)
    agent.evict()
    assert agent.value("(x, y)") == (1, 2)


def test_a_second_ctrl_c_does_not_wait(agent):
    agent.run("import time\nx = 1")
    for seconds in (0.3, 0.8):
        threading.Timer(seconds, lambda: signal.raise_signal(signal.SIGINT)).start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        agent.run("sum(range(10 ** 11))")
    assert time.monotonic() - began < 2
    assert "restarted: the kernel did not stop" in agent.run("1")["note"]


def test_the_users_stop_ends_a_cell_within_half_a_second(agent, monkeypatch):
    import types

    stop = threading.Event()
    module = types.ModuleType("tools.interrupt")
    module.is_interrupted = stop.is_set
    monkeypatch.setitem(sys.modules, "tools.interrupt", module)
    agent.run("x = 1")
    before, answers = agent.pid(), []
    thread = threading.Thread(target=lambda: answers.append(agent.run("y = 2\nwhile True: pass")))
    thread.start()
    time.sleep(0.5)
    stop.set()
    thread.join(2)
    stop.clear()
    assert answers[0]["error"].startswith("stopped by the user; the cell was interrupted")
    assert agent.pid() == before and agent.value("(x, y)") == (1, 2)


def test_an_autosave_that_was_not_restored_is_not_replaced_by_the_next(agent):
    agent.run("version = 'OLD'")
    agent.evict()
    agent.run("version = 'NEW'")
    agent.run("import os; os._exit(1)")
    agent.run("other = 1")
    agent.evict()
    assert agent.run("other")["value"] == "1"
    names = {row["name"] for row in agent.call("rlm_checkpoint", {"action": "list"})["checkpoints"]}
    assert names == {"autosave", "autosave-previous"}
    agent.call("rlm_checkpoint", {"action": "restore", "name": "autosave-previous"})
    assert agent.value("version, other") == ("OLD", 1)
    agent.call("rlm_reset", {})
    assert not list(agent.home.rglob("*.checkpoint"))


def test_a_stop_while_the_state_comes_back_loses_nothing(agent, monkeypatch):
    agent.run("x = 1\nclass Slow:\n    def __setstate__(self, state): import time; time.sleep(2)\n")
    agent.run("s = Slow(); s.a = 1")
    agent.evict()
    threading.Timer(0.6, lambda: signal.raise_signal(signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        agent.run("x")
    answer = agent.run("x, s.__class__.__name__")
    assert answer["value"] == "(1, 'Slow')"
    assert "restarted: its place was needed by another session; lost: []" in answer["note"]


def test_a_session_that_lives_in_another_process_is_said_to(agent):
    import subprocess

    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); from hermes_rlm import tools\n"
        "run = {t.name: t for t in tools.TOOLS}['rlm_exec'].handler\n"
        "print(run({'code': 'x = 1'}, session_id='s'), flush=True); sys.stdin.read()"
    )
    root = str(Path(__file__).resolve().parents[2])
    other = subprocess.Popen(
        [sys.executable, "-c", code, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert '"ok":true' in other.stdout.readline()
        note = agent.run("'x' in globals()")["note"]
        assert f"another process ({other.pid}) has this session's kernel" in note and "not here: [x]" in note
    finally:
        other.communicate("", timeout=20)


def test_a_kernel_that_cannot_be_started_leaves_nothing(agent, tmp_path, knob):
    from hermes_rlm.kernel import registry

    before = len(os.listdir("/proc/self/fd"))
    for program in ("#!/bin/sh\nexit 3\n", "not a program"):
        broken = tmp_path / "python"
        broken.write_text(program)
        broken.chmod(0o755)
        knob("PYTHON", broken)
        answer = agent.run("1")
        assert not answer["ok"], answer
    (agent.home / "state").rename(agent.home / "gone")
    (agent.home / "state").write_text("in the way")
    answer = agent.run("1")
    assert not answer["ok"] and "state" in answer["error"]
    assert list(registry.temporary_base().iterdir()) == []
    assert len(os.listdir("/proc/self/fd")) <= before


def test_a_long_call_keeps_the_hosts_activity_mark_fresh(agent, monkeypatch):
    import types

    touched = []
    module = types.ModuleType("tools.environments.base")
    module.touch_activity_if_due = lambda state, label: touched.append((label, dict(state)))
    monkeypatch.setitem(sys.modules, "tools.environments.base", module)
    agent.run("import time; time.sleep(0.5)")
    assert len(touched) >= 3
    assert touched[0][0] == "rlm_exec running" and set(touched[0][1]) == {"last_touch", "start"}


LATE = (
    "import threading, time\ndef late():\n    time.sleep(0.3); print('LATE')\n"
    "x = threading.Thread(target=late); x.start(); y = 1"
)


def test_late_output_waits_for_the_next_cell_whatever_comes_between(agent):
    agent.run(LATE)
    time.sleep(0.5)
    agent.call("rlm_vars", {})
    agent.call("rlm_checkpoint", {"action": "save"})
    assert agent.run("y") == {"ok": True, "value": "1", "stdout": "LATE\n"}


def test_late_output_of_a_kernel_that_was_ended_is_told_by_the_next(agent):
    agent.run(LATE)
    time.sleep(0.5)
    agent.evict()
    note = agent.run("y")["note"]
    assert note.endswith("printed before it ended: LATE")


def test_a_restart_line_that_no_reply_carried_is_said_by_the_next(agent):
    agent.run("x = 1")
    agent.evict()
    threading.Timer(0.8, lambda: signal.raise_signal(signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        agent.run("while True: pass")
    answer = agent.run("x")
    assert answer["value"] == "1" and answer["note"].startswith("restarted: its place was needed")
    assert "note" not in agent.run("x")
