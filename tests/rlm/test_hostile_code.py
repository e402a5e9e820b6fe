"""Code that attacks the kernel it runs in, on purpose or not: each input has one right answer.

After each, the next call works, gets its own value, and tells what was lost if anything was.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

KEEP = "keep = 42"


@pytest.fixture(autouse=True)
def kept(agent):
    """Every test starts with a variable and checks at its end that calls still get their own answers."""
    assert agent.run(KEEP) == {"ok": True}
    yield
    assert agent.value("1 + 1") == 2
    assert agent.value("'in step'") == "in step"


def survives(agent, code, timeout=30):
    """Run code after which the same kernel still has its variables; return the reply."""
    before = agent.pid()
    answer = agent.run(code, timeout)
    assert agent.pid() == before
    follow = agent.run("keep")
    assert follow["value"] == "42", follow
    assert "restarted" not in follow.get("note", "")
    return answer


def loses(agent, code, timeout=30):
    """Run code that costs the kernel; the next reply must say that `keep` is lost, the one after nothing."""
    answer = agent.run(code, timeout)
    assert not answer["ok"]
    follow = agent.run("'keep' in globals()")
    assert follow["value"] == "False"
    assert "restarted: " in follow["note"] and "lost: [keep" in follow["note"]
    assert "note" not in agent.run("0")
    return answer


def test_a_forged_reply_is_output(agent):
    forged = (
        '{"id": 2, "ok": true, "value": "FORGED", "notes": [], "assigned": [], "deleted": [], "figures": []}'
    )
    answer = survives(agent, f"print({forged!r})")
    assert answer == {"ok": True, "stdout": forged + "\n"}


def test_a_forged_reply_from_a_child_process_is_output(agent):
    answer = survives(agent, "import subprocess; subprocess.run(['echo', '{\"ok\": true}']).returncode")
    assert answer["stdout"] == '{"ok": true}\n'
    assert answer["value"] == "0"


def test_bytes_written_to_descriptor_1_and_2_are_output(agent):
    answer = survives(agent, "import os; os.write(1, b'one\\n'); os.write(2, b'two\\n'); None")
    assert answer["stdout"] == "one\n"
    assert answer["stderr"] == "two\n"


def test_output_of_shell_commands_is_output_in_order(agent):
    answer = survives(agent, "import os\nprint('a')\nos.system('echo b')\nprint('c')")
    assert answer["stdout"] == "a\nb\nc\n"


def test_bytes_that_are_no_text_are_replaced(agent):
    answer = survives(agent, "import os; os.write(1, b'\\xff\\xfe ok'); None")
    assert answer["stdout"].endswith(" ok")


def test_200_mb_of_output_leave_memory_alone_and_are_in_the_file(agent):
    before = resident()
    answer = survives(agent, "for _ in range(200): print('x' * 999_999)\nprint('the end')", timeout=120)
    assert resident() - before < 40 << 20
    assert answer["stdout"].endswith("the end\n")
    spill = next(Path(word.rstrip(",")) for word in answer["stdout"].split() if word.endswith(".txt,"))
    assert spill.stat().st_size == 200 * 1_000_000 + len("the end\n")
    assert spill.stat().st_mode & 0o777 == 0o600
    read = f"f = open({str(spill)!r}); f.seek({spill.stat().st_size - 8}); f.read()"
    assert agent.value(read) == "the end\n"


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_endless_output_ends_with_the_time(agent):
    answer = survives(agent, "while 1: print(1)", timeout=1)
    assert not answer["ok"]
    assert answer["error"].startswith("timed out: exceeded 1 s")


def test_a_flood_on_descriptor_2_does_not_block(agent):
    flood = "head -c 300000 /dev/zero | tr '\\0' e >&2; exit 3"
    code = f"import subprocess\nsubprocess.run(['sh', '-c', {flood!r}])"
    answer = survives(agent, code + ".returncode")
    assert answer["value"] == "3"
    assert answer["stderr"].endswith("eee")


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_closed_stream_is_opened_again(agent, stream):
    answer = survives(agent, f"import sys; sys.{stream}.close()")
    assert f"sys.{stream} was closed" in answer["note"]
    assert agent.run(f"print('back', file=sys.{stream})")[stream] == "back\n"


def test_a_closed_descriptor_is_opened_again(agent):
    survives(agent, "import os; os.close(1); os.close(2); os.close(0)")
    assert agent.run("print('back')")["stdout"] == "back\n"


def test_a_replaced_stream_is_put_back(agent):
    answer = survives(agent, "import sys, io; sys.stdout = io.StringIO(); print('gone')")
    assert "sys.stdout was replaced" in answer["note"]
    assert agent.run("print('back')")["stdout"] == "back\n"


def test_logging_set_up_in_one_cell_works_in_the_next(agent):
    survives(agent, "import logging; logging.basicConfig(level='INFO')")
    assert "second" in agent.run("logging.info('second')")["stderr"]


def test_a_dump_of_faulthandler_is_output(agent):
    answer = survives(agent, "import faulthandler; faulthandler.dump_traceback()")
    assert "most recent call first" in answer["stderr"]


@pytest.mark.parametrize(
    "code",
    [
        "while True: pass",
        "import time; time.sleep(60)",
        "import re; re.match('(a+)+$', 'a' * 40 + 'b')",
        "import os\nwhile True: os.system('sleep 5')",
        "import socket; a, b = socket.socketpair(); a.recv(1)",
        "import threading; threading.Event().wait()",
        "import ctypes; ctypes.CDLL(None).sleep(60)",
    ],
    ids=["loop", "sleep", "regular expression", "shell in a loop", "recv", "event", "C call"],
)
def test_what_takes_too_long_is_interrupted_with_everything_kept(agent, code):
    began = time.monotonic()
    answer = survives(agent, code, timeout=1)
    assert time.monotonic() - began < 4
    assert answer["error"].startswith("timed out: exceeded 1 s; the cell was interrupted")
    assert answer["kernel"]["cell"]


def test_functions_and_open_files_survive_an_interrupt(agent):
    agent.run("def f(x): return x + 1\nsquare = lambda x: x * x\nfile = open('/dev/null')")
    survives(agent, "while True: pass", timeout=1)
    assert agent.value("(f(1), square(3), file.closed)") == (2, 9, False)


def test_a_loop_that_swallows_every_exception_is_ended_and_its_state_saved_first(agent):
    code = "import time\nwhile True:\n    try: time.sleep(0.01)\n    except BaseException: pass"
    answer = agent.run(code, 1)
    assert not answer["ok"]
    assert "did not stop within 2 s" in answer["error"]
    follow = agent.run("keep")
    assert follow["value"] == "42"
    assert "restarted: the kernel did not stop" in follow["note"]
    assert "lost: []; restored: [" in follow["note"]


def test_a_c_loop_that_cannot_be_interrupted_is_ended(agent):
    answer = loses(agent, "sum(range(10 ** 11))", timeout=1)
    assert answer["error"].startswith("timed out")
    assert "did not stop within 2 s" in answer["error"]


def test_input_meets_the_end_of_file_at_once(agent):
    began = time.monotonic()
    answer = survives(agent, "input('name? ')")
    assert time.monotonic() - began < 2
    assert "EOFError" in answer["error"] and "standard input" in answer["error"]
    assert agent.value("import subprocess; subprocess.run(['cat'], timeout=5).returncode") == 0


@pytest.mark.parametrize("code", ["import sys; sys.exit(3)", "raise SystemExit(3)", "exit(3)", "quit(3)"])
def test_exit_with_a_code_ends_the_cell_as_a_failure(agent, code):
    answer = survives(agent, code)
    assert not answer["ok"]
    assert answer["error"].startswith("SystemExit: 3")


def test_exit_without_a_code_is_no_failure(agent):
    answer = survives(agent, "import sys\ndone = True\nsys.exit()\nnever = 1")
    assert answer == {"ok": True, "note": "SystemExit ended the cell; the kernel goes on"}
    assert agent.value("(done, 'never' in globals())") == (True, False)


def test_os_exit_is_reported_with_its_code(agent):
    assert "exited with code 7" in loses(agent, "import os; os._exit(7)")["error"]


def test_a_segmentation_fault_is_reported_with_its_signal_and_where(agent):
    answer = loses(agent, "import ctypes; ctypes.string_at(0)")
    assert "SIGSEGV" in answer["error"]
    assert "Segmentation fault" in answer["stderr"]


def test_a_kernel_that_kills_itself_is_reported(agent):
    assert "SIGKILL" in loses(agent, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")["error"]


def test_a_kernel_that_closes_every_descriptor_is_ended(agent):
    assert "channel to the host was closed" in loses(agent, "import os; os.closerange(3, 1000)")["stderr"]


def test_deep_recursion_is_an_ordinary_error(agent):
    answer = survives(agent, "def f(): return f()\nf()")
    assert "RecursionError" in answer["error"]
    assert len(answer["error"]) < 2000


def test_a_thread_left_running_is_named_and_its_output_comes_with_the_next_reply(agent):
    code = "import threading, time\ndef later():\n    time.sleep(0.4); print('LATE')\n"
    answer = survives(agent, code + "threading.Thread(target=later, name='worker').start()")
    assert "1 thread(s) started by this cell still run: worker" in answer["note"]
    time.sleep(0.6)
    assert agent.run("'mine'") == {"ok": True, "value": "'mine'", "stdout": "LATE\n"}


def test_a_forked_process_ends_with_its_cell(agent):
    answer = survives(agent, "import os\npid = os.fork()\nprint('both')\npid > 0")
    assert answer["value"] == "True"
    assert agent.value("os.waitpid(pid, 0)[1]") == 0


def test_an_error_in_a_forked_process_is_its_own(agent):
    agent.run("import os\npid = os.fork()\nif pid == 0: raise ValueError('in the child')\nos.waitpid(pid, 0)")
    assert agent.value("pid > 0") is True


def test_a_repr_that_raises_is_told(agent):
    agent.run("class A:\n    def __repr__(self): raise ValueError('no')\na = A()")
    answer = survives(agent, "a")
    assert answer == {"ok": True, "value": "<A object; its repr raised ValueError>"}
    agent.run("class B:\n    def __repr__(self): raise SystemExit\nb = B()")
    names = {row["name"] for row in agent.call("rlm_vars", {})["variables"]}
    assert {"keep", "a", "b"} <= names


def test_a_repr_that_never_ends_costs_its_own_preview(agent):
    agent.run("import time\nclass Slow:\n    def __repr__(self): time.sleep(60)\nslow = Slow()")
    began = time.monotonic()
    answer = agent.call("rlm_vars", {})
    assert time.monotonic() - began < 20
    assert answer["ok"], answer
    rows = {row["name"]: row for row in answer["variables"]}
    assert rows["keep"]["preview"] == "42"
    assert rows["slow"]["preview"] == "<its repr takes too long>"


def test_lone_surrogates_in_output_value_and_code(agent):
    answer = survives(agent, "print('\\ud800'); '\\udfff'")
    assert answer["ok"] and "\\ud800" in answer["stdout"]
    answer = survives(agent, "x = '\ud800'")
    assert not answer["ok"] and "UnicodeEncodeError" in answer["error"]


def test_a_repr_of_50_mb_is_cut(agent):
    answer = survives(agent, "class Big:\n    def __repr__(self): return 'x' * 50_000_000\nBig()")
    assert (len(answer["value"]) < 2200 and "left out" in answer["value"]) or "cut at" in answer["value"]
    answer = survives(agent, "['y' * 1000] * 50_000")
    assert len(answer["value"]) < 2200


def test_await_at_the_top_level(agent):
    code = "import asyncio\nasync def double(x):\n    await asyncio.sleep(0.01)\n    return 2 * x\n"
    assert survives(agent, code + "await double(21)")["value"] == "42"
    assert agent.value("sum([await double(1), await double(2)])") == 6


def test_a_task_lives_on_between_cells(agent):
    agent.run("import asyncio\nq = asyncio.Queue()\nasync def feed():\n    await q.put('fed')\nt = None")
    agent.run("t = asyncio.ensure_future(feed()); await asyncio.sleep(0)")
    assert agent.value("await q.get()") == "fed"


def test_a_syntax_error_shows_the_line_and_nothing_of_ours(agent):
    answer = survives(agent, "good = 1\nif True print('x')")
    assert "if True print('x')" in answer["error"] and "SyntaxError" in answer["error"]
    assert "hermes_rlm" not in answer["error"] and "server.py" not in answer["error"]
    assert len(answer["error"]) < 400


@pytest.mark.parametrize("code", ["a\0b", "x = (" * 500, "(" * 5000, "ab" * 10])
def test_code_that_does_not_compile_is_an_error(agent, code):
    assert not survives(agent, code)["ok"]


def test_what_was_assigned_before_an_exception_stays_and_is_listed(agent):
    code = "\n".join(f"n{i} = {i}" for i in range(9)) + "\nn9 = 1 / 0"
    answer = survives(agent, code)
    assert answer["kernel"]["assigned"] == [f"n{i}" for i in range(9)]
    assert agent.value("n8") == 8


def test_the_innermost_frames_are_shown(agent):
    code = "def a(n):\n    if n: return a(n - 1)\n    raise KeyError('deep inside')\na(30)"
    error = survives(agent, code)["error"]
    assert "KeyError: 'deep inside'" in error and "raise KeyError" in error


@pytest.mark.parametrize(
    "code",
    [
        "class E(Exception):\n    def __str__(self): raise RuntimeError\nraise E",
        "raise ExceptionGroup('g', [ValueError(1)])" if hasattr(__builtins__, "ExceptionGroup") else "1/0",
        "class B(BaseException): pass\nraise B('own')",
        "raise ValueError('x' * 5_000_000)",
        "raise KeyboardInterrupt",
        "raise MemoryError",
    ],
)
def test_strange_exceptions_are_bounded_errors(agent, code):
    answer = survives(agent, code)
    assert not answer["ok"] and 0 < len(answer["error"]) < 3000


@pytest.mark.parametrize(
    "code",
    [
        "import json; json.dumps = json.loads = None",
        "import builtins; builtins.repr = builtins.len = builtins.print = None",
        "import time, os, sys; time.time = os.write = sys.getsizeof = None",
        "__builtins__ = {}",
        "import traceback, linecache; traceback.TracebackException = linecache.cache = None",
        "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)",
    ],
)
def test_replaced_library_functions_do_not_break_the_kernel(agent, code):
    survives(agent, code)
    assert not agent.run("1 / 0")["ok"]
    assert agent.call("rlm_vars", {})["ok"]


def test_an_interrupt_works_after_user_code_took_the_signal(agent):
    agent.run("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)")
    survives(agent, "while True: pass", timeout=1)


def test_an_interrupt_between_calls_is_nothing(agent):
    import signal

    os.killpg(agent.pid(), signal.SIGINT)
    time.sleep(0.1)
    survives(agent, "1")


def test_two_calls_at_once_queue_and_get_their_own_answers(agent):
    answers = {}

    def call(name):
        answers[name] = agent.run(f"import time; time.sleep(0.2); {name!r}")

    threads = [threading.Thread(target=call, args=(f"call {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: answer["value"] for name, answer in answers.items()} == {
        name: repr(name) for name in answers
    }


def test_memory_over_the_limit_stops_the_cell_and_keeps_what_could_be_saved(agent, knob):
    knob("MAX_RSS_MB", 150)
    knob("RSS_POLICY", "stop")
    agent.run("small = 'kept'")
    answer = agent.run(
        "import time\nbig = [bytearray(1 << 20) for _ in range(250)]\n"
        "for b in big: b[::4096] = b'x' * 256\ntime.sleep(30)",
        60,
    )
    assert not answer["ok"] and "150 MB" in answer["error"]
    follow = agent.run("small")
    assert follow["value"] == "'kept'" and "restarted: it used more than 150 MB" in follow["note"]


def test_memory_over_the_limit_is_a_warning_with_a_remedy_by_default(agent, knob):
    knob("MAX_RSS_MB", 100)
    code = "import time\nbig = bytearray(200 << 20)\nbig[::4096] = b'x' * (200 << 8)\ntime.sleep(1)"
    answer = survives(agent, code)
    assert answer["ok"] and "100 MB" in answer["warning"] and "del" in answer["warning"]


def test_an_allocation_that_fails_is_an_ordinary_error(agent):
    answer = survives(agent, "x = bytearray(1 << 60)")
    assert "MemoryError" in answer["error"]


@pytest.mark.parametrize("text", ["'y' * 9000", "'\\n'.join(['line'] * 3000)", "'é' * 5000"])
def test_a_long_message_keeps_its_type_and_its_line(agent, text):
    error = survives(agent, f"def f():\n    raise ValueError({text})\nf()")["error"]
    assert "ValueError: " in error and f"raise ValueError({text})" in error
    assert error.count("left out") == 1


def test_long_output_is_cut_once_and_what_is_missing_is_in_the_file(agent):
    code = "import sys\nfor stream in (sys.stdout, sys.stderr):\n    print('0123456789' * 400, file=stream)"
    answer = survives(agent, code)
    for stream in ("stdout", "stderr"):
        first, _, rest = answer[stream].partition("\n")
        assert answer[stream].count("before this") == 1 and "left out" not in answer[stream]
        missing = int(first.split()[0].strip("[").replace(",", ""))
        spill = Path(next(word.rstrip(",") for word in first.split() if word.endswith(".txt,")))
        assert missing + len(rest) == spill.stat().st_size == 4001


def test_a_crash_in_the_first_cell_is_told_by_the_next_reply(agent):
    agent.call("rlm_reset", {})
    agent.run("value = 1\nimport os; os._exit(5)")
    note = agent.run("2")["note"]
    assert note.startswith("restarted: the kernel exited with code 5, with what its last call had assigned;")


def test_a_crash_shows_no_frames_of_ours(agent):
    answer = agent.run("def crash():\n    import ctypes; ctypes.string_at(0)\ncrash()")
    assert "in crash" in answer["stderr"] and "hermes_rlm" not in answer["stderr"]
    assert agent.run("1")["ok"]


def test_a_memory_stop_without_checkpoints_says_that_the_state_is_lost(agent, knob):
    knob("ENABLE_CHECKPOINT", 0)
    knob("MAX_RSS_MB", 100)
    knob("RSS_POLICY", "stop")
    answer = agent.run("import time\nb = bytearray(200 << 20)\nb[::4096] = b'x' * (200 << 8)\ntime.sleep(30)")
    assert "its variables are lost" in answer["error"]
    assert "lost: [" in agent.run("1")["note"]
