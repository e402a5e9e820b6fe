"""The kernel process: one request after another, each answered once, until the host is gone.

Death of the host is seen twice. While a cell runs, a pipe whose other end only the host holds raises
SIGKILL for the whole process group when it closes (F_SETSIG; a thread where that does not exist).
Between cells the channel ends, and the state is saved first, within a second and a half.
"""

import _signal
import _thread
import builtins
import faulthandler
import posix
import sys
from fcntl import F_GETFL, F_SETFL, F_SETOWN, fcntl
from time import sleep

from . import cell as cells
from . import figures, imports, load_package, preview
from .definitions import Definitions
from .streams import StandardStreams, private_copy
from .wire import Channel

VARIABLES_SHOWN = 60
# When the host is gone, the group ends after the first of these; the second is what a save may take of it.
LAST_SAVE_SECONDS = 1.5
LAST_SAVE_SHARE = 1.2
SALVAGE_SAVE_SECONDS = 5.0
# system() makes its caller ignore SIGINT, and user code may too; this one interrupts all the same.
INSISTING_SIGNAL = _signal.SIGUSR1
SALVAGE_SIGNAL = _signal.SIGUSR2
F_SETSIG = 10  # Linux; fcntl names it only where it exists
MODULE = type(sys)


class Lifeline:
    """Ends the process group when the host dies while a cell runs."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._flags = fcntl(descriptor, F_GETFL) | posix.O_NONBLOCK
        self._signals = sys.platform == "linux"
        self.armed = False
        if self._signals:
            fcntl(descriptor, F_SETOWN, -posix.getpid())
            fcntl(descriptor, F_SETSIG, int(_signal.SIGKILL))
        else:
            _thread.start_new_thread(self._watch, ())

    def arm(self) -> None:
        """From now on death of the host is death of the group."""
        self.armed = True
        if self._signals:
            fcntl(self._descriptor, F_SETFL, self._flags | posix.O_ASYNC)
            # It may have closed before the signal was asked for.
            try:
                gone = not posix.read(self._descriptor, 1)
            except BlockingIOError:
                gone = False
            if gone:
                end_group()

    def disarm(self) -> None:
        self.armed = False
        if self._signals:
            fcntl(self._descriptor, F_SETFL, self._flags)

    def _watch(self) -> None:
        while posix.read(self._descriptor, 1):
            pass
        while not self.armed:
            sleep(0.05)
        end_group()


def end_group() -> None:
    posix.killpg(0, _signal.SIGKILL)


class Kernel:
    """One kernel: its namespace, its channel, and an answer for every operation."""

    def __init__(self, channel: Channel, lifeline: Lifeline) -> None:
        self.channel, self.lifeline = channel, lifeline
        self.streams = StandardStreams()
        self.pid = posix.getpid()
        self.main = sys.modules["__main__"] = MODULE("__main__")
        self.main.__builtins__ = builtins
        self.cells = cells.Cells(self.main, Definitions())
        self.cell = 0
        self.tools = None
        self.autosave = self.figures = None
        self.signals = {
            _signal.SIGINT: _on_interrupt,
            INSISTING_SIGNAL: _on_interrupt,
            SALVAGE_SIGNAL: self.salvage,
        }
        self._salvaging = False

    def serve(self) -> None:
        """Answer requests until the host closes the channel."""
        while True:
            request = self.channel.receive()
            if request is None:
                self.host_is_gone()
                return
            if request["op"] == "boot":
                self._boot(request)
                continue
            reply = self._answer(request)
            if posix.getpid() != self.pid:
                # A process that a cell forked and that ran on to the end of the cell.
                self.streams.flush()
                posix._exit(0)
            reply["id"] = request["id"]
            self.channel.send(reply)

    def _answer(self, request: dict) -> dict:
        operation = _OPERATIONS[request["op"]]
        self.lifeline.arm()
        try:
            return operation(self, request)
        except KeyboardInterrupt:
            return {"ok": False, "error": "interrupted", "interrupted": True}
        except BaseException as error:  # the channel must have an answer whatever happened
            return {"ok": False, "error": f"{type(error).__name__}: {error}"[:2000]}
        finally:
            cells.Interruptible.now = False
            if posix.getpid() == self.pid:
                self.lifeline.disarm()

    # The operations: request in, reply out. Which fields they have is in kernel/channel.py of the host.

    def _boot(self, request: dict) -> None:
        self.cell = request["cell"]
        self.autosave, self.figures = request["autosave"], request["figures"]
        self.cells.script.path = request["script"]
        imports.install(request["skills"])
        if request["bridge"] is not None:
            from . import tools

            tools.connect(request)
            self.tools = tools

    def _exec(self, request: dict) -> dict:
        self._own_signals()
        self.cell = request["cell"]
        threads = _guarded(_threads, [])
        # A cell that has taken the builtins away has had them taken from itself alone.
        self.main.__builtins__ = builtins
        if self.tools is not None:
            self.tools.cell_began(self.cell)
        try:
            outcome = self.cells.run(request["code"], self.cell)
        finally:
            if self.tools is not None:
                self.tools.cell_ended()
        if posix.getpid() != self.pid:
            return self._end_of_fork(outcome)
        paths, notes = _guarded(lambda: figures.save(self.figures, self.cell), ([], []))
        self.streams.flush()
        notes = outcome.notes + notes + _guarded(lambda: _left_running(threads), [])
        notes += _guarded(self.streams.repair, [])
        reply = {"ok": outcome.error is None, "notes": notes, "figures": paths}
        reply.update(assigned=outcome.assigned, deleted=outcome.deleted)
        for name in ("value", "error"):
            if getattr(outcome, name) is not None:
                reply[name] = getattr(outcome, name)
        if outcome.interrupted:
            reply["interrupted"] = True
        return reply

    def _end_of_fork(self, outcome) -> dict:
        if outcome.error is not None:
            print(outcome.error, file=self.streams.stderr)
        return {}

    def _vars(self, request: dict) -> dict:
        self._own_signals()
        names = cells.variables(self.main.__dict__)
        newest = sorted(names, key=lambda name: -self.cells.written_by.get(name, 0))[:VARIABLES_SHOWN]
        rows = []
        for name in newest:
            cells.Interruptible.now = True
            value = self.main.__dict__.get(name)
            rows.append(preview.described(name, value, self.cells.written_by.get(name, 0)))
            cells.Interruptible.now = False
        return {"ok": True, "variables": rows, "more": len(names) - len(rows)}

    def _save(self, request: dict) -> dict:
        self._own_signals()
        saving = self._saving(request["code"])
        cells.Interruptible.now = True
        return saving.save(
            self.main.__dict__,
            self.cells.definitions,
            path=request["path"],
            key=bytes.fromhex(request["key"]),
            session=request["session"],
            name=request["name"],
            cell=self.cell,
            limit=request["limit"],
            seconds=request["seconds"],
        )

    def _restore(self, request: dict) -> dict:
        self._own_signals()
        saving = self._saving(request["code"])
        cells.Interruptible.now = True
        reply = saving.restore(
            self.main.__dict__,
            self.cells.definitions,
            path=request["path"],
            key=bytes.fromhex(request["key"]),
            overwrite=request["overwrite"],
            session=request["session"],
        )
        self.cells.written_by.update(dict.fromkeys(reply.get("restored", ()), self.cell))
        return reply

    def _saving(self, code: str):
        """Return the checkpoint code, which is loaded from where a request says, or not at all."""
        return load_package(f"{__package__}.saving", code)

    def _own_signals(self) -> None:
        """Take back the signals that a cell may have given another handler."""
        for number, handler in self.signals.items():
            if _signal.getsignal(number) != handler:
                _signal.signal(number, handler)
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, self.signals)

    # Saving without being asked.

    def salvage(self, signal=None, frame=None) -> None:
        """Save in the middle of a cell that does not stop; runs between two of its byte codes."""
        if self._salvaging or self.autosave is None or posix.getpid() != self.pid:
            return
        self._salvaging, interruptible = True, cells.Interruptible.now
        cells.Interruptible.now = False
        try:
            self.channel.send({"event": "salvaging"})
            self.channel.send({"event": "salvaged", **self._autosave(SALVAGE_SAVE_SECONDS)})
        finally:
            self._salvaging, cells.Interruptible.now = False, interruptible

    def _autosave(self, seconds: float) -> dict:
        try:
            return self._save({**self.autosave, "name": "autosave", "seconds": seconds})
        except BaseException as error:  # nobody is left to raise it to
            return {"ok": False, "error": f"{type(error).__name__}: {error}"[:500]}
        finally:
            cells.Interruptible.now = False

    def host_is_gone(self) -> None:
        """Save what can be saved in the time that is left, then end the whole group."""
        try:
            if self.autosave is not None and cells.variables(self.main.__dict__):
                watchdog = posix.fork()
                if watchdog == 0:
                    sleep(LAST_SAVE_SECONDS)
                    end_group()
                self._autosave(LAST_SAVE_SHARE)
        finally:
            end_group()


_OPERATIONS = {
    "exec": Kernel._exec,
    "vars": Kernel._vars,
    "save": Kernel._save,
    "restore": Kernel._restore,
}


def _on_interrupt(signal, frame) -> None:
    # Between cells there is nothing to interrupt, and the kernel outlives a Ctrl-C meant for others.
    if cells.Interruptible.now:
        raise KeyboardInterrupt


def _guarded(call, otherwise):
    """What a call says; ``otherwise`` when user code has broken what it relies on. The reply must go out."""
    try:
        return call()
    except BaseException:
        return otherwise


def _threads() -> list:
    """The live threads besides the main one, as far as the threading module knows them."""
    threading = sys.modules.get("threading")
    if threading is None:
        return []
    return [thread for thread in threading.enumerate() if thread is not threading.main_thread()]


def _left_running(before: list) -> list:
    new = [thread for thread in _threads() if thread not in before]
    if not new:
        return []
    names = ", ".join(str(thread.name)[:40] for thread in new[:5])
    return [f"{len(new)} thread(s) started by this cell still run: {names}"]


def leave(code=None):
    """exit() and quit() of a cell, until site brings its own."""
    raise SystemExit(code)


def main(channel: int, lifeline: int) -> None:
    """Serve requests on descriptor ``channel`` until the host closes it."""
    private = private_copy(channel), private_copy(lifeline)
    posix.close(channel)
    posix.close(lifeline)
    _signal.signal(_signal.SIGINT, _on_interrupt)
    # A crash in C code leaves its traceback where the host reads it.
    faulthandler.enable(private_copy(2))
    builtins.exit = builtins.quit = leave
    kernel = Kernel(Channel(private[0]), Lifeline(private[1]))
    kernel._own_signals()

    def in_fork() -> None:
        # A forked process has no business with the host: neither answers nor the lifeline are its own.
        for descriptor in private:
            try:
                posix.close(descriptor)
            except OSError:
                pass
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)

    posix.register_at_fork(after_in_child=in_fork)
    try:
        kernel.serve()
    except ConnectionError:
        kernel.host_is_gone()
    except OSError:
        posix.write(2, b"the kernel's channel to the host was closed by the cell\n")
        posix._exit(1)
