"""The second reader: a child that is never waited for, is ended when it hangs, and raises verdicts only."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hermes_ops.guard import second
from hermes_ops.guard.judge.judge import Surroundings
from hermes_ops.guard.policy import BUILT_IN
from hermes_ops.guard.second import Child
from hermes_ops.guard.verdict import Found, Verdict, judged

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the second reader needs a POSIX system")

WHERE = Surroundings("/home/user/project", "/home/user", "/home/user/.hermes")
# Stands for bashlex, whose licence keeps it out of what is installed for the tests: it reads words, and hangs
# and grows when it is told to.
STAND_IN = """
class Node:
    def __init__(self, kind, **more):
        self.kind = kind
        self.__dict__.update(more)

def parse(text):
    if text == "hang":
        while True:
            pass
    if text == "grow":
        return [b"x" * 10_000_000_000]
    if text == "fail":
        raise AttributeError("as bashlex does")
    commands = []
    for line in text.split(";"):
        words = [Node("word", word=word, parts=[]) for word in line.split()]
        commands.append(Node("command", parts=words))
    return [Node("list", parts=commands)]
"""


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    (tmp_path / "bashlex.py").write_text(STAND_IN, "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(second, "HANGS", 0.3)
    monkeypatch.setattr(second, "BACKOFF", (0.05, 60.0))
    made = Child(second.child_command())
    yield made
    made.end()


def wait_for(condition: Callable[[], object], timeout: float = 20.0) -> None:
    give_up = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < give_up, "it did not come true"
        time.sleep(0.01)


def ready(child: Child) -> None:
    wait_for(lambda: child.commands("true") == [["true"]])


def pid_of(child: Child) -> int:
    assert child.process is not None
    return child.process.pid


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_it_is_started_by_the_first_question_and_not_waited_for(child: Child) -> None:
    assert child.state == "not started"
    assert child.commands("echo a") is None
    ready(child)
    assert child.commands("git push; rm -rf x", 5.0) == [["git", "push"], ["rm", "-rf", "x"]]


def test_what_it_cannot_read_is_no_answer_and_ends_nothing(child: Child) -> None:
    ready(child)
    pid = pid_of(child)
    assert child.commands("fail", 5.0) is None
    assert child.commands("grow", 5.0) is None
    assert child.commands("x" * (second.LONGEST + 1), 5.0) is None
    assert child.commands("echo b", 5.0) == [["echo", "b"]]
    assert pid_of(child) == pid


def test_a_command_on_which_it_hangs_ends_it_and_it_is_started_again_later(child: Child) -> None:
    ready(child)
    pid = pid_of(child)
    assert child.commands("hang", 0.02) is None
    # While it hangs nobody waits for it.
    assert child.commands("echo c", 5.0) is None
    wait_for(lambda: child.state == "ended")
    assert not runs(pid)
    ready(child)
    assert pid_of(child) != pid
    # The second time in a row it waits longer.
    assert child.commands("hang", 0.02) is None
    wait_for(lambda: child.state == "ended")
    assert child.not_before - time.monotonic() > 50
    assert child.commands("true") is None and child.state == "ended"


def test_a_child_that_does_not_even_end_itself_is_killed(child: Child) -> None:
    ready(child)
    pid = pid_of(child)
    os.kill(pid, 19)  # SIGSTOP: it neither answers nor sees its alarm
    assert child.commands("echo d", 0.02) is None
    wait_for(lambda: child.commands("echo d") is None and child.state == "ended")
    assert not runs(pid)


def test_it_ends_when_its_stdin_does(child: Child) -> None:
    ready(child)
    pid = pid_of(child)
    assert child.process is not None and child.process.stdin is not None
    child.process.stdin.close()
    wait_for(lambda: not runs(pid))


NO_ANSWERS = (
    "[1, [5, null]]",
    "[1, 5]",
    "[1, [[]]]",
    '[1, [["a", 1]]]',
    "[1, null, null]",
    "[true, null]",
    "[999, null]",
    "7",
    "nonsense",
    "[" * 200_000,
)


@pytest.mark.parametrize("answer", NO_ANSWERS, ids=lambda answer: answer[:20])
def test_an_answer_that_is_none_ends_the_child_and_raises_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: str
) -> None:
    monkeypatch.setattr(second, "BACKOFF", (60.0,))
    script, said = tmp_path / "odd.py", tmp_path / "said"
    said.write_text(answer)
    script.write_text(
        f"print('ready', flush=True)\ninput()\nprint(open({str(said)!r}).read(), flush=True)\ninput()\n"
    )
    child = Child([sys.executable, str(script)])
    child.commands("x")
    wait_for(lambda: child.state == "ready")
    assert child.commands("x", 5.0) is None
    wait_for(lambda: child.state == "ended")
    assert child.process is None and child.answer is None


def test_an_answer_without_an_end_is_not_read_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(second, "BACKOFF", (60.0,))
    monkeypatch.setattr(second, "LONGEST_ANSWER", 100_000)
    script = tmp_path / "endless.py"
    script.write_text(
        "import sys\nprint('ready', flush=True)\nwhile True:\n    sys.stdout.write('x' * 65536)\n"
    )
    child = Child([sys.executable, str(script)])
    child.commands("x")
    wait_for(lambda: child.state == "ended")
    assert child.process is None


def test_it_is_given_no_secret_of_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SOME_API_KEY", "value")
    script = tmp_path / "tell.py"
    script.write_text(
        "import os, json\nprint('ready', flush=True)\n"
        "while line := input():\n"
        "    print(json.dumps([json.loads(line)[0], [sorted(os.environ)]]), flush=True)\n"
    )
    child = Child([sys.executable, str(script)])
    wait_for(lambda: child.commands("x"))
    [names] = child.commands("x", 5.0) or [["SOME_API_KEY"]]
    child.end()
    assert "PATH" in names and "SOME_API_KEY" not in names


def test_without_bashlex_nothing_is_read_and_nothing_left_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bashlex.py").write_text("raise ImportError", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    child = Child(second.child_command())
    assert child.commands("true") is None
    wait_for(lambda: child.state == "ended")
    assert child.process is None


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What the second reader sees from now on."""
    commands: list[list[str]] = []

    class Seeing:
        def commands(self, text: str, wait: float = 0) -> list[list[str]]:
            return commands

    monkeypatch.setattr(second, "_child", Seeing)
    monkeypatch.setattr(second, "is_on", lambda home: True)
    return commands


def test_it_raises_a_verdict(seen: list[list[str]]) -> None:
    seen.append(["rm", "-rf", "/"])
    raised = second.raised(judged([]), "whatever", WHERE, BUILT_IN)
    assert raised.verdict is Verdict.BLOCK


def test_it_never_lowers_one(seen: list[list[str]]) -> None:
    first = judged([Found("a.b", Verdict.APPROVE, "because")])
    assert second.raised(first, "whatever", WHERE, BUILT_IN) is first
    seen.append(["ls"])
    assert second.raised(first, "whatever", WHERE, BUILT_IN) is first


def test_words_that_it_sees_are_words_and_not_code(seen: list[list[str]]) -> None:
    seen.append(["echo", "; rm -rf /", "| sh"])
    assert second.raised(judged([]), "whatever", WHERE, BUILT_IN).verdict is Verdict.ALLOW


def test_what_it_does_not_expand_is_left_to_the_first_reader(seen: list[list[str]]) -> None:
    seen.append(["rm", "-rf", "./$OUT"])
    seen.append(["eval", "`x`"])
    assert second.raised(judged([]), "whatever", WHERE, BUILT_IN).verdict is Verdict.ALLOW


def test_it_is_off_until_the_setting_says_otherwise(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    assert second.try_out(tmp_path) == "off"
    assert second.is_on(tmp_path) is False
    (tmp_path / "config.yaml").write_text("ops: {guard: {second_reader: bashlex}}\n", "utf-8")
    wait_for(lambda: second.is_on(tmp_path))


def test_a_report_says_whether_it_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, child: Child
) -> None:
    pytest.importorskip("yaml")
    (tmp_path / "config.yaml").write_text("ops: {guard: {second_reader: bashlex}}\n", "utf-8")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert second.try_out(tmp_path).startswith("not working: bashlex is not installed")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: True)
    assert second.try_out(tmp_path, 20.0) == "bashlex, answers"
