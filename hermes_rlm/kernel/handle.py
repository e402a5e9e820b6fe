"""One kernel as the host sees it: start the process, ask it, stop what it does, end it.

A call waits on the thread that makes it, and everything happens there: output is read, tool calls from
the kernel are served, the user's stop, the time limit and the memory limit are looked at.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import process
from .capture import TAILS, Captured, Output
from .channel import HostChannel, ProtocolError, check_event, check_reply, request

CHILD = Path(__file__).parent / "child"
GRACE_SECONDS = 2.0
REPEAT_SECONDS = 0.3
SALVAGE_BEGINS_SECONDS = 0.5
SALVAGE_SECONDS = 7.0
TICK_SECONDS = 0.05
MEMORY_SECONDS = 0.5

# Loads the child package under a name of its own: what is on sys.path stays the user's.
BOOTSTRAP = """
import sys
if sys.version_info < (3, 10):
    sys.exit("kernels need Python 3.10 or later, this is %d.%d" % sys.version_info[:2])
from _frozen_importlib import module_from_spec
from _frozen_importlib_external import spec_from_file_location
folder, sys.pycache_prefix, channel, lifeline = sys.argv[1:]
sys.argv[:] = [""]
spec = spec_from_file_location(
    "_hermes_rlm_kernel", folder + "/__init__.py", submodule_search_locations=[folder]
)
spec.loader.exec_module(sys.modules.setdefault(spec.name, module_from_spec(spec)))
from _hermes_rlm_kernel.server import main
main(int(channel), int(lifeline))
"""


@dataclass(frozen=True)
class Plan:
    """What a kernel is started with."""

    kernel: str
    python: str
    cwd: str
    environment: dict[str, str]
    bytecode: Path
    spill_file: Callable[[str], Path]  # stream -> a new path
    boot: dict[str, Any]
    bridge: Any  # bridge.Bridge


@dataclass
class Watch:
    """What is looked at while a call runs."""

    seconds: float
    interrupted: Callable[[], bool] = lambda: False
    tick: Callable[[], None] = lambda: None
    serve: Callable[[str, dict[str, Any]], Any] | None = None
    cell: int | None = None
    memory_limit: int | None = None
    stops_on_memory: bool = False
    salvages: bool = False
    kills: bool = True  # False: a call that does not stop is given up, and the kernel goes on with it


@dataclass
class Answer:
    """What became of a call. Without a ``reply`` the kernel is dead, and ``death`` says how it died."""

    reply: dict[str, Any] | None = None
    stdout: Captured = field(default_factory=Captured)
    stderr: Captured = field(default_factory=Captured)
    stopped: str = ""  # "time", "user", "memory" or "host": why it was interrupted
    death: str = ""
    salvaged: dict[str, Any] | None = None
    memory: int = 0  # the most that was seen, in bytes
    keyboard_interrupt: KeyboardInterrupt | None = None  # Ctrl-C on the main thread, to be raised again


class Kernel:
    """A running kernel. Not safe for several threads: its session's lock is held around every use."""

    def __init__(self, plan: Plan) -> None:
        self.id, self.bridge = plan.kernel, plan.bridge
        self.started = time.monotonic()
        self._number = 0
        self.given_up: set[int] = set()  # requests whose answers nobody waits for any more
        self._boot: dict[str, Any] | None = plan.boot
        self._ends: list[Callable[[], None]] = []
        try:
            self._start(plan)
        except BaseException:
            self._release()
            raise

    def _start(self, plan: Plan) -> None:
        mine, theirs = socket.socketpair()
        self._ends.append(mine.close)
        self.channel = HostChannel(mine)
        lifeline, self._lifeline = os.pipe()
        self._ends.append(lambda: os.close(self._lifeline))
        outputs = []
        for stream in ("stdout", "stderr"):
            ours, kernel_end = os.pipe()
            output = Output(ours, TAILS[stream], lambda stream=stream: plan.spill_file(stream))
            self._ends.append(output.close)
            outputs.append((output, kernel_end))
        (self.stdout, out), (self.stderr, err) = outputs
        inherited = [theirs.fileno(), lifeline, *plan.bridge.child_fds()]
        try:
            self.process = subprocess.Popen(
                [
                    *(plan.python, "-I", "-S", "-c", BOOTSTRAP, str(CHILD), str(plan.bytecode)),
                    *(str(theirs.fileno()), str(lifeline)),
                ],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                cwd=plan.cwd,
                env=plan.environment,
                pass_fds=inherited,
                start_new_session=True,
            )
        finally:
            theirs.close()
            for descriptor in (lifeline, out, err):
                os.close(descriptor)
            plan.bridge.release_child_fds()
        self.pid = self.process.pid
        self._exit = _pidfd(self.pid)
        if self._exit is not None:
            self._ends.append(lambda: os.close(self._exit))

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def call(self, operation: str, watch: Watch, **fields: Any) -> Answer:
        """Send a request and wait for its answer, for the kernel's end, or until it had to be stopped."""
        self._number += 1
        messages = [request(operation, self._number, **fields)]
        if self._boot is not None:
            messages.insert(0, request("boot", 0, **self._boot))
            self._boot = None
        answer = Answer()
        wait = _Wait(self, operation, self._number, watch, answer)
        try:
            self.channel.send(*messages)
        except TimeoutError:
            wait.end("does not take calls any more and was ended")
        except OSError:
            wait.died()
        except BaseException:
            # Half a request is worse than none.
            self.end()
            raise
        wait.until_done()
        self.stdout.drain()
        self.stderr.drain()
        # What threads print during another operation waits for the next cell.
        if operation == "exec":
            answer.stdout, answer.stderr = self.stdout.take(), self.stderr.take()
        return answer

    def read_idle(self) -> None:
        """Take what threads and child processes print between cells, so that their pipe never fills."""
        self.stdout.read()
        self.stderr.read()

    def last_output(self) -> str:
        """What was printed since the last cell, by a kernel that is about to be closed."""
        self.read_idle()
        return self.stdout.take().text + self.stderr.take().text

    def end(self) -> str:
        """End the kernel's process group and return how the kernel ended; safe to call twice."""
        process.end_group(self.pid)
        try:
            code = self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "does not end, even by SIGKILL"
        return how_it_ended(code)

    def close(self) -> None:
        """End the kernel and give back its descriptors, its socket and what has left its group."""
        self.end()
        self._release()
        process.end_strays({self.id})

    def let_go(self) -> None:
        """In a forked copy of the host: close the ends by which the kernel knows that the host lives."""
        self.channel.close()
        os.close(self._lifeline)

    def _release(self) -> None:
        self.bridge.close()
        while self._ends:
            self._ends.pop()()


class _Wait:
    """One wait for an answer: everything that can happen meanwhile."""

    def __init__(self, kernel: Kernel, operation: str, number: int, watch: Watch, answer: Answer) -> None:
        self.kernel, self.operation, self.number = kernel, operation, number
        self.watch, self.answer = watch, answer
        self.done = False
        now = time.monotonic()
        self._deadline = now + watch.seconds
        self._next_memory = now + MEMORY_SECONDS
        self._stopped_at = self._repeat_at = self._kill_at = 0.0
        self._insisted = False
        self._salvage = ""  # "", "asked", "begun", "done"

    def until_done(self) -> None:
        poll = select.poll()
        for stream in (self.kernel.channel, self.kernel.stdout.descriptor, self.kernel.stderr.descriptor):
            poll.register(stream, select.POLLIN)
        if self.kernel._exit is not None:
            poll.register(self.kernel._exit, select.POLLIN)
        bridged: set[int] = set()
        while not self.done:
            try:
                now_bridged = set(self.kernel.bridge.readable())
                for descriptor in bridged - now_bridged:
                    _unregister(poll, descriptor)
                for descriptor in now_bridged - bridged:
                    poll.register(descriptor, select.POLLIN)
                bridged = now_bridged
                ready = poll.poll(TICK_SECONDS * 1000)
                self._handle(poll, ready, bridged)
                if not self.done:
                    self._look_around()
            except KeyboardInterrupt as interrupt:
                if self.answer.keyboard_interrupt is not None:
                    self._kill()
                self.answer.keyboard_interrupt = interrupt
                self._stop("user")

    def _handle(self, poll: Any, ready: list[tuple[int, int]], bridged: set[int]) -> None:
        kernel, gone = self.kernel, False
        # Output first: it may be what keeps the kernel from answering.
        for descriptor, _ in ready:
            for output in (kernel.stdout, kernel.stderr):
                if descriptor == output.descriptor and not output.read():
                    _unregister(poll, descriptor)
        for descriptor, _ in ready:
            if descriptor == kernel.channel.fileno():
                gone = not self._receive() or gone
            elif descriptor == kernel._exit:
                gone = True
            elif descriptor in bridged and not self.done:
                serve = self._serve if self.watch.serve and not self.answer.stopped else None
                kernel.bridge.handle(descriptor, self.watch.cell if serve else None, serve)
        if gone and not self.done:
            self._receive()
            if not self.done:
                self.died()

    def _serve(self, tool: str, arguments: dict[str, Any]) -> Any:
        """Serve a call; a stop that came meanwhile reaches the kernel before the answer does."""
        assert self.watch.serve is not None
        try:
            return self.watch.serve(tool, arguments)
        finally:
            if self.watch.interrupted():
                self._stop("user")

    def _receive(self) -> bool:
        """Take the messages that are there; False when there will be no more."""
        try:
            messages = self.kernel.channel.receive()
            for message in messages or ():
                self._take(message)
        except ProtocolError as error:
            self.end(f"was ended because it broke its protocol ({error})")
            return True
        return messages is not None

    def end(self, death: str) -> None:
        """End a kernel that cannot be talked to."""
        self.answer.reply, self.done = None, True
        self.kernel.end()
        self.answer.death = death

    def _take(self, message: dict[str, Any]) -> None:
        if "id" not in message:
            check_event(message)
            if message["event"] == "salvaged":
                self.answer.salvaged, self._salvage = message, "done"
            else:
                self._salvage = "begun"
                self._kill_at = time.monotonic() + SALVAGE_SECONDS
            return
        if message["id"] in self.kernel.given_up:
            self.kernel.given_up.discard(message["id"])
            return
        if message["id"] != self.number or self.done:
            raise ProtocolError(f"an answer to {message['id']!r}, which was not asked")
        check_reply(self.operation, message)
        self.answer.reply, self.done = message, True

    def died(self) -> None:
        """The kernel is gone, or has closed its end of the channel."""
        self.done = True
        try:
            code = self.kernel.process.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            self.kernel.end()
            self.answer.death = "closed its channel to the host and was ended"
            return
        self.kernel.end()
        self.answer.death = how_it_ended(code)

    def _look_around(self) -> None:
        now = time.monotonic()
        if self.kernel._exit is None and not self.kernel.alive:
            self.died()
        elif not self.answer.stopped:
            self.watch.tick()
            if self.watch.interrupted():
                self._stop("user")
            elif self.operation == "exec" and _host_ends():
                # Only cells: the save of a kernel's state is what a host that ends waits for.
                self._stop("host")
            elif now > self._deadline:
                self._stop("time")
            elif self.watch.memory_limit and now > self._next_memory:
                self._next_memory = now + MEMORY_SECONDS
                self._look_at_memory(self.watch.memory_limit)
        else:
            self._climb(now)

    def _look_at_memory(self, limit: int) -> None:
        used = process.memory(self.kernel.pid) or 0
        self.answer.memory = max(self.answer.memory, used)
        if used > limit and self.watch.stops_on_memory:
            self._stop("memory")

    def _stop(self, reason: str) -> None:
        """Begin to interrupt the call: the group gets SIGINT, again during the grace period."""
        if self.answer.stopped:
            return
        self.answer.stopped = reason
        self._stopped_at = time.monotonic()
        self._interrupt()

    def _interrupt(self) -> None:
        """Send SIGINT to the group, so that what the kernel waits for ends too."""
        process.end_group(self.kernel.pid, signal.SIGINT)
        self._insisted = False
        self._repeat_at = time.monotonic() + REPEAT_SECONDS

    def _repeat(self) -> None:
        """Interrupt again: first the kernel alone, a tick later the group.

        Inside system() SIGINT is lost on the kernel; the other signal is seen when system() returns. Not
        both at once: Python may then forget signals that come later.
        """
        if self._insisted:
            self._interrupt()
        else:
            _signal_one(self.kernel.pid, signal.SIGUSR1)
            self._insisted = True

    def _climb(self, now: float) -> None:
        """The rest of the ladder: repeat, let it save its state, end it."""
        if now < self._stopped_at + GRACE_SECONDS:
            if now > self._repeat_at:
                self._repeat()
        elif self.watch.salvages and self._salvage in ("", "asked") and now < self._salvage_until(now):
            _signal_one(self.kernel.pid, signal.SIGUSR2)
        elif not self.watch.salvages or self._salvage == "done" or now > self._kill_at:
            self._kill()

    def _salvage_until(self, now: float) -> float:
        """Until when the kernel is asked to save its state; from the first question on."""
        if not self._salvage:
            self._salvage, self._kill_at = "asked", now + SALVAGE_BEGINS_SECONDS
        return self._kill_at

    def _kill(self) -> None:
        if self.done:
            return
        self.done = True
        if not self.watch.kills:
            self.kernel.given_up.add(self.number)
            return
        self.kernel.end()
        self.answer.death = f"did not stop within {GRACE_SECONDS:g} s of being interrupted and was ended"


def how_it_ended(code: int) -> str:
    """Say how a process ended, from its return code as subprocess gives it."""
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _host_ends() -> bool:
    """Whether the host's interpreter has begun to shut down; it waits for this thread to end."""
    return bool(getattr(sys.modules.get("concurrent.futures.thread"), "_shutdown", False))


def _pidfd(pid: int) -> int | None:
    opens = getattr(os, "pidfd_open", None)
    try:
        return opens(pid) if opens else None
    except OSError:
        return None


def _signal_one(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def _unregister(poll: Any, descriptor: int) -> None:
    try:
        poll.unregister(descriptor)
    except KeyError:
        pass
