"""Values and namespaces that fight being saved, restored and shown: each costs itself, nothing in silence."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hermes_rlm import reply
from hermes_rlm.kernel import pool as pool_
from hermes_rlm.kernel import process
from tests.rlm.conftest import Agent, end_kernels
from tests.rlm.test_kernel_death import wait_until_gone

SLOW = (
    "import time\nclass Slow:\n    def __reduce__(self): time.sleep(100)\n"
    "slow = Slow(); keep = [1]; later = {'a': 2}"
)


def test_a_restore_never_reverts_what_was_changed_in_place(agent):
    agent.run("results = [1]; nested = {'a': [1]}\nclass P: pass\np = P(); p.n = 1")
    agent.call("rlm_checkpoint", {"action": "save"})
    agent.run("results.append(2); nested['a'].append(2); p.n = 2")
    answer = agent.call("rlm_checkpoint", {"action": "restore"})
    assert answer["note"].startswith("kept because they exist: [")
    assert "restored" not in answer or answer["restored"] == "[]"
    assert agent.value("results, nested, p.n") == ([1, 2], {"a": [1, 2]}, 2)


def test_a_kernel_that_dies_of_what_comes_back_is_told_and_followed_by_an_empty_one(agent):
    agent.run("import os\nos.environ['HERE'] = '1'\nkeep = 1")
    agent.run(
        "class H:\n    def __getstate__(self): return {'a': 1}\n"
        "    def __setstate__(self, state):\n        if 'HERE' not in os.environ: os._exit(9)\nx = H()"
    )
    agent.evict()
    answer = agent.run("1 + 1")
    assert answer["value"] == "2"
    assert "lost: [os, keep, H, x]" in answer["note"] and "exited with code 9" in answer["note"]
    assert "rlm_checkpoint restore name=autosave-previous" in answer["note"]
    assert "note" not in agent.run("2")


def test_a_cell_that_deletes_sys_stdout_is_answered_and_loses_nothing(agent):
    answer = agent.run("import sys\nkeep = 1\ndel sys.stdout")
    assert answer["ok"], answer
    assert agent.run("print('back')")["stdout"] == "back\n"
    agent.evict()
    assert agent.value("keep") == 1


@pytest.mark.parametrize(
    "code",
    [
        "import threading; threading.enumerate = None",
        "class K:\n    def __str__(self): raise ValueError\nglobals()[K()] = 1",
        "globals()['__builtins__'] = {}",
        "import sys; sys.modules['threading'] = 5",
    ],
)
def test_a_broken_library_or_namespace_costs_no_reply_and_no_state(agent, code):
    agent.run("keep = 1")
    assert agent.run(code)["ok"]
    assert agent.run("keep")["value"] == "1"
    assert agent.call("rlm_vars", {})["ok"]
    agent.evict()
    answer = agent.run("keep")
    assert answer.get("value") == "1", answer


def test_names_made_by_a_thread_between_cells_are_saved_told_and_journalled(agent):
    agent.run("__import__('threading').Timer(0.2, lambda: globals().update(late=[1])).start()")
    time.sleep(0.4)
    agent.evict()
    answer = agent.run("late")
    assert answer["value"] == "[1]" and "restored: [late]" in answer["note"]
    agent.run("__import__('threading').Timer(0.2, lambda: globals().update(more=2)).start()")
    time.sleep(0.4)
    agent.run("0")
    os.kill(agent.pid(), signal.SIGKILL)
    time.sleep(0.1)
    assert "lost: [late, more]" in agent.run("0")["note"]


def test_names_with_underscores_are_variables(agent):
    agent.run("__q__ = 5; _hidden = 6")
    agent.evict()
    assert agent.value("__q__, _hidden") == (5, 6)


@pytest.mark.once
def test_a_slow_value_costs_its_own_name_in_an_eviction_within_the_callers_time(agent, knob):
    knob("MAX_KERNELS", 1)
    agent.run(SLOW)
    began = time.monotonic()
    assert agent.run("1", timeout=4, session="other")["value"] == "1"
    assert time.monotonic() - began < 9
    answer = agent.run("keep, later")
    assert answer["value"] == "([1], {'a': 2})" and "lost: [slow]" in answer["note"]


@pytest.mark.once
def test_a_slow_value_costs_its_own_name_in_a_salvage(agent):
    agent.run(SLOW)
    began = time.monotonic()
    agent.run("while True:\n    try: time.sleep(0.01)\n    except BaseException: pass", 1)
    assert time.monotonic() - began < 12
    answer = agent.run("keep, later")
    assert answer["value"] == "([1], {'a': 2})" and "lost: [slow]" in answer["note"]


def test_a_value_over_the_limit_costs_its_own_name(agent):
    agent.run("big = bytearray(530 << 20); small = 7")
    agent.evict()
    answer = agent.run("small")
    assert answer["value"] == "7" and "lost: [big]" in answer["note"]


def test_an_exception_that_takes_for_ever_to_say_what_it_is_can_be_interrupted(agent):
    agent.run("import time, threading\nlock = threading.Lock()\nkeep = 1")
    agent.run("class E(Exception):\n    def __str__(self): time.sleep(60); return 'x'")
    before = agent.pid()
    assert not agent.run("raise E", timeout=1)["ok"]
    assert agent.pid() == before and agent.value("keep") == 1


@pytest.mark.once
def test_a_restore_that_takes_for_ever_is_bounded_and_its_file_kept(agent):
    agent.run(
        "import os, time\nos.environ['HERE'] = '1'\nclass H:\n    def __getstate__(self): return {'a': 1}\n"
        "    def __setstate__(self, state):\n        if 'HERE' not in os.environ: time.sleep(100)\n"
        "x = H(); keep = 1"
    )
    agent.evict()
    began = time.monotonic()
    answer = agent.run("1 + 1", timeout=2)
    assert time.monotonic() - began < 20
    assert answer["value"] == "2" and "autosave-previous brings it back" in answer["note"]


@pytest.mark.once
def test_rlm_vars_never_ends_a_kernel(agent):
    agent.run(
        "import signal, time\nclass Stubborn:\n    def __repr__(self):\n"
        "        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())\n        time.sleep(1000)\n"
    )
    agent.run("s = Stubborn(); keep = 1")
    before = agent.pid()
    answer = agent.call("rlm_vars", {})
    assert not answer["ok"] and "takes for ever" in answer["error"]
    assert agent.pid() == before


@pytest.mark.parametrize("error", ["SystemExit", "GeneratorExit", "KeyError", "MemoryError"])
@pytest.mark.parametrize("field", ["shape", "nbytes", "__len__", "__repr__"])
def test_a_value_that_raises_costs_its_own_field_in_rlm_vars(agent, field, error):
    method = f"def {field}(self): raise {error}"
    decorated = method if field.startswith("__") else f"@property\n    {method}"
    agent.run(f"keep = 1\nclass V:\n    {decorated}\nv = V()")
    answer = agent.call("rlm_vars", {})
    assert answer["ok"], answer
    rows = {row["name"]: row for row in answer["variables"]}
    assert rows["keep"]["preview"] == "1" and rows["v"]["type"] == "V"


def test_a_container_that_changes_while_it_is_shown_is_still_a_value(agent):
    agent.run(
        "import threading\nd = {}\ndef churn():\n    n = 0\n    while go:\n        d[n % 100] = n; n += 1\n"
        "        if n % 3 == 0: d.pop((n * 7) % 100, None)\n"
        "go = True; threading.Thread(target=churn, daemon=True).start()"
    )
    for _ in range(50):
        assert agent.run("d")["ok"]
    agent.run("go = False")


def test_two_hosts_of_one_session_never_show_each_others_values(agent):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from hermes_rlm import tools\n"
        "from hermes_rlm.kernel.pool import POOL\n"
        "run = {t.name: t for t in tools.TOOLS}['rlm_exec'].handler\n"
        "run({'code': 'k = \"B\"; only_b = 1'}, session_id='s')\n"
        "sys.stdin.readline(); POOL.end_all('its place was needed', 10); print('saved', flush=True)"
    )
    agent.run("k = 'A'")
    root = str(Path(__file__).resolve().parents[2])
    other = subprocess.Popen(
        [sys.executable, "-c", code, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    agent.evict()
    assert "saved" in other.communicate("go\n", timeout=30)[0]
    answer = agent.run("globals().get('k')")
    assert answer.get("value") != "'B'"
    assert "lost: [k" in answer["note"] and "autosave-previous" in answer["note"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_death_of_the_host_ends_the_group_whatever_the_namespace_holds(home):
    cell = (
        "class K:\n    def __str__(self): raise ValueError\n    __repr__ = __str__\nglobals()[K()] = 1\n"
        "import subprocess; child = subprocess.Popen(['sleep', '95'])"
    )
    host = (
        "import sys; sys.path.insert(0, sys.argv[1]); from hermes_rlm import tools\n"
        "from hermes_rlm.kernel.pool import POOL\n"
        "run = {t.name: t for t in tools.TOOLS}['rlm_exec'].handler\n"
        "run({'code': sys.argv[2]}, session_id='s')\n"
        "kernel = next(iter(POOL._live)).kernel\nprint(kernel.pid, kernel.id, flush=True)\nsys.stdin.read()"
    )
    root = str(Path(__file__).resolve().parents[2])
    started = subprocess.Popen(
        [sys.executable, "-c", host, root, cell], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        pid, kernel = started.stdout.readline().split()
        started.kill()
        started.wait(10)
        wait_until_gone(int(pid))
    finally:
        process.end_strays({kernel})
        started.stdin.close()
        started.stdout.close()


def test_half_a_secret_is_not_shown_at_a_cut(agent):
    secret = "gh" + "p_" + "a1B2c3D4" * 5
    for offset in range(40):
        shown = agent.run(f"print('x' * 50, {secret!r}, 'z' * {2950 + offset})")["stdout"]
        # Only the host masks; a part of a secret is what it would not know.
        assert secret in shown or "B2c3D4" not in shown


def test_the_path_of_the_whole_output_survives_any_cut(agent):
    answer = agent.run("print('\\x01' * 20000)\nimport sys; print('\\x02' * 20000, file=sys.stderr)")
    for stream in ("stdout", "stderr"):
        first = answer[stream].split("\n")[0]
        assert "all of it is in" in first and first.endswith("open() it in a cell]")


def test_a_death_between_calls_is_told_by_rlm_vars_without_taking_it_from_the_next_cell(agent):
    agent.run("keep = 1")
    agent.run("import os; os._exit(4)")
    assert "exited with code 4" in agent.call("rlm_vars", {})["note"]
    assert "exited with code 4" in agent.run("1")["note"]


@pytest.mark.parametrize("python", ["/bin/true", "/bin/cat"])
def test_a_wrong_interpreter_is_named(agent, knob, python):
    knob("PYTHON", python)
    answer = agent.run("1", timeout=3)
    assert not answer["ok"] and f"HERMES_RLM_PYTHON={python}" in answer["error"]


def test_a_setting_that_is_not_accepted_is_named_once_in_a_reply(agent, knob):
    knob("PYTHON", "/nonexistent/python")
    knob("MAX_KERNELS", "many")
    note = agent.run("1")["note"]
    assert "HERMES_RLM_PYTHON" in note and "HERMES_RLM_MAX_KERNELS" in note and "default" in note
    assert "note" not in agent.run("2")


def test_a_registry_that_cannot_be_written_costs_no_kernel(agent):
    state = agent.home / "state" / "rlm"
    state.mkdir(parents=True)
    (state / "kernels").write_text("in the way")
    assert agent.run("1 + 1")["value"] == "2"
    agent.call("rlm_reset", {})
    end_kernels()
    assert Agent(agent.home).run("2")["ok"]


def test_a_reply_never_loses_the_line_that_says_where_the_rest_is():
    line = "[17,001 bytes before this; all of it is in /" + "p" * 300 + ".txt, open() it in a cell]"
    text = reply.text({"ok": True, "stdout": line + "\n" + "\x01" * 3000, "stderr": "\x02" * 3000})
    assert line in text and len(text) <= reply.LIMIT


def test_huge_timeouts_are_refused_in_one_line(agent):
    answer = agent.call("rlm_exec", {"code": "1", "timeout": 10**400})
    assert answer["error"] == "timeout must be a number of seconds up to 3600"


def test_the_pool_still_answers(agent):
    assert pool_.POOL.overview() == []


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_programs_that_outlive_an_interrupt_are_named(agent):
    note = agent.run("import subprocess; subprocess.run('sleep 60 & wait', shell=True)", timeout=1)["note"]
    assert "still running: [sleep (" in note


def test_a_host_that_shuts_down_stops_its_cells_and_they_are_saved(agent, monkeypatch):
    import threading
    from concurrent.futures import thread

    agent.run("x = 1")
    answers = []
    call = threading.Thread(target=lambda: answers.append(agent.run("y = 2\nwhile True: pass")))
    call.start()
    time.sleep(0.4)
    monkeypatch.setattr(thread, "_shutdown", True)
    call.join(5)
    assert answers[0]["error"].startswith("stopped: the host is shutting down")
    monkeypatch.setattr(thread, "_shutdown", False)
    agent.run(
        "import time\nclass Slow:\n    def __reduce__(self): time.sleep(0.5); return (int, ())\ns = Slow()"
    )
    monkeypatch.setattr(thread, "_shutdown", True)
    pool_.POOL.end_all("the host ended", 5)
    monkeypatch.setattr(thread, "_shutdown", False)
    assert agent.value("x, y") == (1, 2)


def test_the_kernel_of_a_scheduled_run_ends_with_it_and_others_stay(agent):
    from hermes_rlm import hooks

    agent.run("x = 1", session="cron_1")
    agent.run("x = 1", session="chat")
    hooks.on_session_end(session_id="chat", platform="cli")
    hooks.on_session_end(session_id="cron_1", platform="cron")
    give_up = time.monotonic() + 10
    while len(pool_.POOL.overview()) > 1 and time.monotonic() < give_up:
        time.sleep(0.02)
    assert [row["session"] for row in pool_.POOL.overview()] == ["chat"]


@pytest.mark.parametrize(
    "name",
    ["DB_PASS", "SMTP_PASS", "ADMIN_PWD", "MYSQL_PWD", "X_PIN", "RESTIC_PW", "GH_PAT", "A_SECRET", "MYKEY"],
)
def test_variables_that_are_called_like_secrets_stay_in_the_host(agent, monkeypatch, name):
    monkeypatch.setenv(name, "opaque")
    monkeypatch.setenv("OLDPWD", "/somewhere")
    assert agent.value(f"import os; os.environ.get({name!r}), os.environ.get('OLDPWD')") == (
        None,
        "/somewhere",
    )


def test_a_kernel_that_takes_no_calls_any_more_is_ended_and_told(agent, monkeypatch):
    from hermes_rlm.kernel import channel

    monkeypatch.setattr(channel, "SEND_SECONDS", 0.5)
    agent.run("keep = 1")
    os.kill(agent.pid(), signal.SIGSTOP)
    began = time.monotonic()
    answer = agent.run("x = 1 # " + "y" * 900_000, timeout=20)
    assert time.monotonic() - began < 10
    assert "does not take calls any more" in answer["error"]
    assert "lost: [keep]" in agent.run("1")["note"]


def test_memory_that_was_taken_quickly_is_warned_of_by_a_later_cell(agent, knob):
    knob("MAX_RSS_MB", 100)
    agent.run("big = bytearray(200 << 20); big[::4096] = b'x' * (200 << 8)")
    time.sleep(2.5)
    assert "more than 100 MB" in agent.run("1")["warning"]
