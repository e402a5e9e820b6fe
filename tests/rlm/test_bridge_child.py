"""The kernel's end of a bridge, in a child started as kernels are: -I -S, builtin modules."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_rlm.bridge import Bridge, CallError, Grant

CHILD = Path(__file__).parents[2] / "hermes_rlm" / "kernel" / "child"
BETWEEN = "# between cells\n"
# Runs cell 1, 2, ... of the list in argv[3] and prints what each printed or raised, as one JSON line each.
# Code that begins with BETWEEN runs while no cell does.
BOOTSTRAP = """
import importlib, io, json, sys
dumps = json.dumps
package = type(sys)("_hermes_rlm_kernel")
package.__path__ = [sys.argv[1]]
sys.modules["_hermes_rlm_kernel"] = package
tools = importlib.import_module("_hermes_rlm_kernel.tools")
boot = json.loads(sys.argv[2])
tools.connect(boot)
namespace = {}
sys.modules["__main__"].__dict__["namespace"] = namespace
for number, code in enumerate(json.loads(sys.argv[3]), 1):
    stream, sys.stdout = sys.stdout, io.StringIO()
    if not code.startswith("# between"):
        tools.cell_began(number)
    try:
        exec(code, namespace)
        outcome = sys.stdout.getvalue()
    except BaseException as error:
        outcome = type(error).__name__ + ": " + str(error)
    finally:
        tools.cell_ended()
    sys.stdout = stream
    print(dumps([number, outcome]), flush=True)
"""


def echo(tool: str, arguments: dict[str, Any]) -> Any:
    return {"tool": tool, **arguments}


def run(
    *cells: str,
    call: Callable[[str, dict[str, Any]], Any] = echo,
    pair: bool = False,
    granted: tuple[str, ...] = ("read_file", "terminal", "web_extract"),
) -> list[str]:
    """What each cell printed, or "ErrorType: text"; the bridge serves the cell that runs."""
    with tempfile.TemporaryDirectory() as temporary:
        bridge = Bridge(Grant.issue("session"), None if pair else Path(temporary) / "kernel")
        boot = {"bridge": bridge.address, "token": bridge.grant.token, "cell": 1, "tools": granted}
        command = [sys.executable, "-I", "-S", "-c", BOOTSTRAP]
        child = subprocess.Popen(
            [*command, str(CHILD), json.dumps(boot), json.dumps(cells)],
            stdout=subprocess.PIPE,
            pass_fds=bridge.child_fds(),
        )
        bridge.release_child_fds()
        outcomes: list[str] = []
        try:
            while len(outcomes) < len(cells):
                poll = select.poll()
                for fd in [child.stdout.fileno(), *bridge.readable()]:
                    poll.register(fd, select.POLLIN)
                ready = dict(poll.poll(30_000))
                assert ready, "the child does nothing"
                if ready.pop(child.stdout.fileno(), None):
                    line = child.stdout.readline()
                    assert line, "the child has ended"
                    outcomes.append(json.loads(line)[1])
                for fd in ready:
                    bridge.handle(fd, len(outcomes) + 1, call)
        finally:
            child.kill()
            child.wait()
            child.stdout.close()
            bridge.close()
        return outcomes


BOTH = pytest.mark.parametrize("pair", [False, True], ids=["socket", "pair"])


@BOTH
def test_a_tool_is_called_without_an_import_and_returns_its_value(pair):
    code = 'print(terminal("ls", timeout=3)["timeout"], terminal("ls"))'
    assert run(code, pair=pair) == ["3 {'tool': 'terminal', 'command': 'ls'}\n"]


@BOTH
def test_threads_of_the_running_cell_call_at_once_and_get_their_own_answers(pair):
    code = """
import threading
answers = {}
def work(n): answers[n] = terminal(str(n) * 5000)["command"]
threads = [threading.Thread(target=work, args=(n,)) for n in range(40)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(answers) == list(range(40)), all(answers[n] == str(n) * 5000 for n in answers))
"""
    assert run(code, pair=pair) == ["True True\n"]


@BOTH
def test_a_forked_process_of_the_running_cell_calls(pair):
    code = """
import os
reading, writing = os.pipe()
pid = os.fork()
if pid == 0:
    os.write(writing, terminal("from the fork")["command"].encode())
    os._exit(0)
os.waitpid(pid, 0)
print(os.read(reading, 100), terminal("from the parent")["command"])
"""
    assert run(code, pair=pair) == ["b'from the fork' from the parent\n"]


def test_a_process_of_multiprocessing_calls():
    code = """
import multiprocessing
context = multiprocessing.get_context("fork")
queue = context.Queue()
process = context.Process(target=lambda: queue.put(terminal("forked")["command"]))
process.start(); print(queue.get()); process.join()
"""
    assert run(code) == ["forked\n"]


LEFT_OVER = """
import threading
go, done, said = threading.Event(), threading.Event(), []
def work():
    go.wait()
    try: said.append(terminal("late"))
    except ToolError as error: said.append(str(error))
    done.set()
thread = threading.Thread(target=work); thread.start()
"""


def test_a_thread_left_over_from_an_earlier_cell_is_refused_before_anything_is_sent():
    calls = []
    outcomes = run(
        LEFT_OVER,
        'go.set(); done.wait(); print(said[0]); print(terminal("own")["command"])',
        call=lambda tool, arguments: calls.append(arguments) or echo(tool, arguments),
    )
    assert outcomes[1].startswith("this thread was started by an earlier cell")
    assert outcomes[1].endswith("own\n")
    assert calls == [{"command": "own"}]


def test_a_process_forked_by_a_thread_left_over_is_refused_too():
    fork = """
import os, threading
go, done, said = threading.Event(), threading.Event(), []
def work():
    go.wait()
    reading, writing = os.pipe()
    if os.fork() == 0:
        try: text = str(terminal("late"))
        except ToolError as error: text = str(error)
        os.write(writing, text.encode()); os._exit(0)
    said.append(os.read(reading, 500).decode()); done.set()
threading.Thread(target=work).start()
"""
    assert run(fork, "go.set(); done.wait(); print(said[0])")[1].startswith("this thread was started by")


def test_a_new_thread_that_is_given_the_number_of_an_ended_one_may_call():
    # CPython on Linux gives the number of an ended thread to the next one; where it does not, the loop
    # ends without a match and the thread is simply a new one.
    reuse = """
old = thread.ident
go.set(); thread.join()
for _ in range(50):
    seen = []
    def fresh(): seen.append((threading.get_ident(), terminal("fresh")["command"]))
    new = threading.Thread(target=fresh); new.start(); new.join()
    assert seen[0][1] == "fresh"
    if seen[0][0] == old: break
print("reused", seen[0][0] == old)
"""
    outcome = run(LEFT_OVER, reuse)[1]
    assert outcome == "reused True\n" if sys.platform == "linux" else outcome.startswith("reused")


def test_a_call_while_no_cell_runs_is_refused_before_anything_is_sent():
    calls = []
    outcomes = run(
        LEFT_OVER,
        BETWEEN + "go.set(); done.wait(); print(said[0])",
        BETWEEN + "terminal('x')",
        call=lambda tool, arguments: calls.append(tool),
    )
    assert outcomes[1].startswith("no cell is running")
    assert outcomes[2].startswith("ToolError: no cell is running")
    assert calls == []


def test_an_error_of_the_host_is_a_tool_error_with_its_text_and_details():
    def refuse(tool: str, arguments: dict[str, Any]) -> Any:
        raise CallError("BLOCKED: no", budget={"calls": 1})

    code = """
try: terminal("x")
except ToolError as error: print(error, error.details, isinstance(error, RuntimeError), type(error))
"""
    shown = "BLOCKED: no {'budget': {'calls': 1}} True <class 'ToolError'>\n"
    assert run(code, call=refuse) == [shown]


def test_a_call_costs_no_file_descriptor():
    code = """
import os
before = os.listdir("/dev/fd")
for _ in range(50): terminal("x")
try: terminal("x", timeout=float("nan"))
except ToolError: pass
print(os.listdir("/dev/fd") == before)
"""
    for pair in (False, True):
        assert run(code, pair=pair) == ["True\n"]


@BOTH
def test_programs_that_a_cell_starts_inherit_nothing_of_the_bridge(pair):
    code = """
import os, subprocess, sys
print(subprocess.check_output(["/bin/sh", "-c", "ls /dev/fd | wc -l; env"], close_fds=False).decode())
"""
    descriptors, environment = run(code, pair=pair)[0].split("\n", 1)
    assert int(descriptors) == 4  # three standard ones and the listed directory
    assert "TOKEN" not in environment.upper()


@BOTH
def test_large_arguments_and_answers_arrive_whole(pair):
    code = 'print(terminal("é" * 3_000_000)["command"] == "é" * 3_000_000)'
    assert run(code, pair=pair) == ["True\n"]


def test_arguments_are_sent_as_the_plain_data_they_stand_for():
    code = """
import enum, pathlib
class Kind(str, enum.Enum): A = "a"
class Number(int): pass
print(terminal(Kind.A, timeout=Number(2), workdir=pathlib.Path("/tmp")))
print(web_extract("u")["urls"], web_extract(("u", "v"))["urls"], read_file(pathlib.Path("x"), limit=None))
"""
    assert run(code)[0].splitlines() == [
        "{'tool': 'terminal', 'command': 'a', 'timeout': 2, 'workdir': '/tmp'}",
        "['u'] ['u', 'v'] {'tool': 'read_file', 'path': 'x', 'offset': 1}",
    ]


@pytest.mark.parametrize(
    "call, error",
    [
        (
            "terminal(b'ls')",
            "ToolError: terminal: command must be text, a number or a list of text, not bytes",
        ),
        ("terminal('ls', timeout=float('inf'))", "ToolError: terminal: timeout must be a finite number"),
        ("terminal('ls', background=True)", "TypeError: terminal() got an unexpected keyword argument"),
        ("read_file({})", "ToolError: read_file: path must be text"),
        ("write_file('a', 'b')", "NameError"),
    ],
)
def test_a_wrong_call_is_refused_by_name(call, error):
    assert run(call)[0].startswith(error)


def test_the_functions_are_no_variables_of_the_users():
    assert run("read_file = 1; del read_file; print(read_file.__name__, ToolError.__name__)") == [
        "read_file ToolError\n"
    ]


def test_user_code_that_replaces_modules_does_not_break_calls():
    code = """
import socket, json, threading
socket.socket = json.dumps = json.loads = threading.get_ident = None
import sys; sys._getframe = sys._current_frames = None
print(terminal("ls")["command"])
"""
    assert run(code, 'print(terminal("ls")["command"])') == ["ls\n", "ls\n"]


def test_a_bridge_that_is_gone_is_a_tool_error():
    code = """
import _hermes_rlm_kernel.tools as tools
tools._link.address = {"path": "/nonexistent/bridge.sock"}
terminal("ls")
"""
    assert run(code)[0].startswith("ToolError: the host cannot be reached")


def test_a_host_that_closes_without_an_answer_is_a_tool_error():
    def interrupted(tool: str, arguments: dict[str, Any]) -> Any:
        raise SystemExit

    with pytest.raises(SystemExit):
        run('terminal("ls")', call=interrupted)
    code = """
import socket, threading, _hermes_rlm_kernel.tools as tools
server = socket.socket(socket.AF_UNIX); path = tools._link.address["path"] + "2"
server.bind(path); server.listen()
def close(): connection = server.accept()[0]; connection.recv(1 << 16); connection.close()
threading.Thread(target=close).start()
tools._link.address = {"path": path}
terminal("ls")
"""
    assert run(code)[0] == "ToolError: the host closed the connection without an answer"
