"""The second reader: bashlex, where it is installed and switched on, in a child that can be killed.

It may only raise a verdict: the simple commands that it sees are judged by the same rules. It is never waited
for while it starts, and at most some milliseconds for an answer; without one the first verdict stands.
"""

from __future__ import annotations

import atexit
import json
import os
import shlex
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..settings import Option, choice, load
from .judge.budget import Budget
from .judge.judge import Surroundings
from .policy import Policy, judge
from .verdict import Judgement, Verdict, judged

OPTIONS = (
    Option(
        "guard.second_reader",
        "off",
        choice("off", "bashlex"),
        "bashlex: read each command a second time, which may only raise a verdict; needs the extra `guard`",
    ),
)

WAIT = 0.02  # seconds that an answer is waited for
HANGS = 1.0  # seconds after which a command ends the child
MEGABYTES = 400
LONGEST = 8_000  # characters of a text that is given to it
LONGEST_ANSWER = 4_000_000  # bytes
BACKOFF = (
    1.0,
    5.0,
    30.0,
    300.0,
)  # seconds before the child is started again, by how often it has ended in a row
WELL = 600.0  # seconds that it must have lived to count as well again

_CHILD = Path(__file__).with_name("second_child.py")
_KEPT = ("PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LANG", "LC_ALL", "SYSTEMROOT")


@dataclass
class Child:
    """One child process and the questions to it. Its threads are daemons; all fields are behind `lock`."""

    command: list[str]
    lock: threading.Condition = field(default_factory=threading.Condition)
    process: subprocess.Popen[bytes] | None = None
    state: str = "not started"  # "starting", "ready", "ended"
    asked: int = 0
    answered: int = 0
    answer: list[list[str]] | None = None
    since: float = 0.0  # when the open question was asked, or the child began to start
    ends: int = 0
    not_before: float = 0.0
    owner: int = field(default_factory=os.getpid)

    def commands(self, text: str, wait: float = WAIT) -> list[list[str]] | None:
        """The simple commands of a text; None: none could be had in time, or it cannot be read."""
        if len(text) > LONGEST or "\0" in text:
            return None
        give_up = time.monotonic() + wait
        if not self.lock.acquire(timeout=wait):
            return None
        try:
            if self.owner != os.getpid() or not self._is_ready():
                return None
            self.asked += 1
            number, self.since = self.asked, time.monotonic()
            assert self.process is not None and self.process.stdin is not None
            try:
                self.process.stdin.write(json.dumps([number, text]).encode() + b"\n")
                self.process.stdin.flush()
            except (OSError, ValueError):
                return None
            while self.answered < number and self.state == "ready":
                left = give_up - time.monotonic()
                if left <= 0 or not self.lock.wait(left):
                    return None
            return self.answer if self.answered == number else None
        finally:
            self.lock.release()

    def end(self) -> None:
        """Kill the child, if there is one, and wait for it."""
        process = self.process
        if process is not None and self.owner == os.getpid():
            process.kill()
            process.wait()

    def _is_ready(self) -> bool:
        """Whether a question may be asked now; starts the child when it is time to. Holds the lock."""
        now = time.monotonic()
        if self.state == "ready":
            if self.answered == self.asked:
                return True
            if now - self.since > HANGS and self.process is not None:
                self.process.kill()  # the thread that reads from it sees the end
            return False
        if self.state != "starting" and now >= self.not_before:
            self.state, self.since = "starting", now
            threading.Thread(target=self._live, name="hermes-ops-second-reader", daemon=True).start()
        return False

    def _live(self) -> None:
        """Start the child and read its answers until it ends."""
        began = time.monotonic()
        try:
            process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={name: os.environ[name] for name in _KEPT if name in os.environ},
                cwd="/",
                start_new_session=True,
            )
        except (OSError, ValueError):
            self._ended(began)
            return
        assert process.stdin is not None and process.stdout is not None
        with self.lock:
            self.process, self.asked, self.answered = process, 0, 0
        try:
            # A line without an end, or what is no answer, ends the child as its own end does.
            while (line := process.stdout.readline(LONGEST_ANSWER)).endswith(b"\n"):
                with self.lock:
                    if line == b"ready\n":
                        self.state = "ready"
                    else:
                        self.answered, self.answer = _answer(line, self.asked)
                    self.lock.notify_all()
        except (OSError, ValueError, RecursionError):
            pass
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
            try:
                process.stdin.close()
            except OSError:
                pass
            self._ended(began)

    def _ended(self, began: float) -> None:
        with self.lock:
            now = time.monotonic()
            self.ends = 1 if now - began > WELL else self.ends + 1
            self.not_before = now + BACKOFF[min(self.ends, len(BACKOFF)) - 1]
            self.process, self.state = None, "ended"
            self.lock.notify_all()


def _answer(line: bytes, asked: int) -> tuple[int, list[list[str]] | None]:
    """The number and the commands in an answer. ValueError or RecursionError for what is none."""
    found = json.loads(line)
    if not isinstance(found, list) or len(found) != 2 or type(found[0]) is not int or found[0] > asked:
        raise ValueError("no answer")
    number, commands = found
    if commands is None:
        return number, None
    if isinstance(commands, list) and all(
        isinstance(words, list) and words and all(isinstance(word, str) for word in words)
        for words in commands
    ):
        return number, commands
    raise ValueError("no commands")


def raised(
    judgement: Judgement, text: str, surroundings: Surroundings, policy: Policy, seconds: float = WAIT
) -> Judgement:
    """A judgement with what the second reader adds, when it is on and answers in time. Never lowered.

    All of it takes at most `seconds`, and the steps of one text; what was found until then counts.
    """
    if judgement.verdict is Verdict.BLOCK or not is_on(Path(surroundings.hermes_home)):
        return judgement
    budget = Budget(seconds=seconds)
    commands = _child().commands(text, min(WAIT, seconds))
    found = list(judgement.findings)
    for words in commands or ():
        if any("$" in word or "`" in word for word in words):
            continue  # bashlex expands nothing; what such a word becomes the first reader knows better
        second = judge(policy, shlex.join(words), surroundings, budget)
        if second.unread == "limit":
            break
        if second.verdict > judgement.verdict:
            found += [one for one in second.findings if one.verdict > judgement.verdict]
    return judged(found, judgement.unread) if len(found) > len(judgement.findings) else judgement


_settings: dict[str, tuple[Any, bool]] = {}
_reading = threading.Lock()
_only: Child | None = None


def is_on(home: Path) -> bool:
    """Whether the setting says so, as far as is known now; a changed config.yaml is read beside."""
    if os.name != "posix":
        return False
    key = str(home)
    try:
        found = os.stat(f"{key}/config.yaml")
        mark: Any = (found.st_mtime_ns, found.st_size, found.st_ino)
    except OSError:
        mark = None
    known = _settings.get(key)
    if known is None or known[0] != mark:
        if _reading.acquire(blocking=False):
            threading.Thread(target=_read_setting, args=(home, mark), daemon=True).start()
        return known is not None and known[1]
    return known[1]


def try_out(home: Path, wait: float = 5.0) -> str:
    """What the second reader does here, in words: for a report, which may wait."""
    if load(home, OPTIONS)["guard.second_reader"] == "off":
        return "off"
    if os.name != "posix":
        return "not available on this system"
    from importlib.util import find_spec

    if find_spec("bashlex") is None:
        return "not working: bashlex is not installed beside this Python (the extra `guard`)"
    child = Child(child_command())
    give_up = time.monotonic() + wait
    try:
        while time.monotonic() < give_up:
            if child.commands("echo it works") == [["echo", "it", "works"]]:
                return "bashlex, answers"
            if child.state == "ended":
                break
            time.sleep(0.02)
        return "not working: its process does not answer"
    finally:
        child.end()


def child_command(script: Path = _CHILD) -> list[str]:
    """How the child is started; -P keeps the modules beside it from hiding those of Python."""
    return [sys.executable, "-P", "-B", str(script), str(HANGS), str(MEGABYTES)]


def _read_setting(home: Path, mark: Any) -> None:
    try:
        _settings[str(home)] = (mark, load(home, OPTIONS)["guard.second_reader"] == "bashlex")
    finally:
        _reading.release()


def _child() -> Child:
    """The child of this process; a forked process has one of its own."""
    global _only
    if _only is None or _only.owner != os.getpid():
        _only = Child(child_command())
        atexit.register(_only.end)
    return _only
