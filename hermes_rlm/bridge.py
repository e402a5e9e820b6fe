"""The parent's end of tool calls from one kernel: who may call, one request, one answer.

The kernel runs code of the model's with the user's rights; what it may reach through the bridge is decided
here and in `dispatch`: token, running cell and budget here, tools and arguments there. A request is one
line of JSON, {"token", "cell", "tool", "args"} and no other field; the answer is one line, {"result"} or
{"error"} with details. Nothing waits for a client: what has not arrived is looked at again when poll says so.
"""

from __future__ import annotations

import contextlib
import json
import logging
import secrets
import select
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .budget import Budget
from .endpoint import BridgeError as BridgeError
from .endpoint import open_endpoint

logger = logging.getLogger(__name__)

REQUEST_BYTES = 32 << 20
ARRIVAL_SECONDS = 10.0
WRITE_SECONDS = 5.0
CONNECTIONS = 16
CHUNK = 1 << 18
FIELDS = {"token": str, "cell": int, "tool": str, "args": dict}

Call = Callable[[str, dict[str, Any]], Any]


class CallError(Exception):
    """A call that is refused or failed: the message becomes the kernel's ToolError, `details` go with it."""

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message, self.details = message, details


class Refused(CallError):
    """A call that ends before the host is asked; it costs nothing of the budget."""


@dataclass(frozen=True)
class Grant:
    """What a kernel was given: its token, whose kernel it is, how deep in a tree of agents, what it may use.

    Depth and budget live here, in the parent: no field of a request and no variable of the kernel's
    environment changes them.
    """

    token: str
    session_id: str
    depth: int
    budget: Budget

    @classmethod
    def issue(cls, session_id: str, depth: int = 0) -> Grant:
        """Return a grant with a fresh token and the default budget."""
        return cls(secrets.token_urlsafe(32), session_id, depth, Budget())


@dataclass
class _Connection:
    """One client: what has arrived of its request, and until when all of it must have."""

    socket: socket.socket
    deadline: float
    arrived: bytearray = field(default_factory=bytearray)
    searched: int = 0


class Bridge:
    """One kernel's bridge. Used by one thread at a time: the one that waits for the kernel's cell.

    Poll the descriptors of `readable()` for input and pass each ready one to `handle`. `clock` counts
    seconds and only moves forward.
    """

    def __init__(
        self, grant: Grant, directory: Path | None, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.grant = grant
        self._clock = clock
        self._endpoint = open_endpoint(directory)
        self._connections: dict[int, _Connection] = {}

    @property
    def address(self) -> dict[str, Any]:
        """What the kernel is told: {"path": ...} or {"fd": ...}."""
        return self._endpoint.address

    def child_fds(self) -> tuple[int, ...]:
        """The descriptors the kernel must inherit under the same numbers."""
        return self._endpoint.child_fds

    def release_child_fds(self) -> None:
        """Close the parent's copies of them; call it once the kernel has started."""
        self._endpoint.release_child_fds()

    def readable(self) -> list[int]:
        """The descriptors to poll now, after dropping clients whose request did not arrive in time."""
        now = self._clock()
        for fd, connection in list(self._connections.items()):
            if connection.deadline <= now:
                self._refuse(fd, f"the request did not arrive within {ARRIVAL_SECONDS:g} seconds")
        waiting = [self._endpoint.fileno()] if len(self._connections) < CONNECTIONS else []
        return waiting + list(self._connections)

    def handle(self, fd: int, cell: int | None, call: Call) -> None:
        """Read what `fd` has; when that completes a request, run `call` on this thread and answer.

        `cell` is the number of the running cell, None when there is none. Exceptions of `call` become
        the answer; those that are no Exception (KeyboardInterrupt) pass through after the client is dropped.
        """
        if fd == self._endpoint.fileno():
            fd = self._accept()
        connection = self._connections.get(fd)
        if connection is None:
            return
        try:
            line = _receive(connection)
        except _Gone:
            self._drop(fd)
        except _TooLarge:
            self._refuse(fd, f"the request is larger than {REQUEST_BYTES >> 20} MiB")
        else:
            if line is not None:
                self._serve(fd, line, cell, call)

    def close(self) -> None:
        """Drop every client and remove socket, directory and descriptors; may be called again."""
        for fd in list(self._connections):
            self._drop(fd)
        self._endpoint.close()

    def _accept(self) -> int:
        connection = self._endpoint.accept()
        if connection is None:
            return -1
        self._connections[connection.fileno()] = _Connection(connection, self._clock() + ARRIVAL_SECONDS)
        return connection.fileno()

    def _serve(self, fd: int, line: bytes, cell: int | None, call: Call) -> None:
        began = self._clock()
        try:
            self._answer(fd, self._outcome(line, cell, call))
        finally:
            self._drop(fd)
            # Nobody read from the others meanwhile: that time is not theirs.
            for other in self._connections.values():
                other.deadline += self._clock() - began

    def _outcome(self, line: bytes, cell: int | None, call: Call) -> bytes:
        """The answer to one request line."""
        try:
            request = _parsed(line)
            self._check(request, cell)
            return _encoded({"result": self._metered(request, call)})
        except CallError as error:
            return _encoded({"error": error.message, **error.details})
        except Exception as error:
            logger.warning("a call from a kernel failed: %s", error, exc_info=True)
            return _encoded({"error": f"{type(error).__name__}: {error}"})

    def _check(self, request: dict[str, Any], cell: int | None) -> None:
        """Refuse a request of the wrong client, shape or cell."""
        token = request.get("token")
        given = token.encode("utf-8", "surrogatepass") if isinstance(token, str) else b""
        if not secrets.compare_digest(given, self.grant.token.encode()):
            raise CallError("the token is missing or not this kernel's")
        unknown = [name for name in request if name not in FIELDS]
        if unknown:
            raise CallError(f"unknown field {unknown[0]!r}: a request has {', '.join(FIELDS)} and no other")
        for name, kind in FIELDS.items():
            if type(request.get(name)) is not kind:
                raise CallError(f"field {name!r} must be {_KINDS[kind]}")
        if cell is None or request["cell"] != cell:
            raise CallError("the cell that made this call has ended")

    def _metered(self, request: dict[str, Any], call: Call) -> Any:
        budget, cell = self.grant.budget, request["cell"]
        breach = budget.reserve(cell)
        if breach is not None:
            raise CallError(breach.message, budget=breach.as_dict())
        made = True
        try:
            return call(request["tool"], request["args"])
        except Refused:
            made = False
            raise
        finally:
            budget.settle(cell, made=made)

    def _refuse(self, fd: int, message: str) -> None:
        """Say why, as far as it goes through at once, and drop the client."""
        with contextlib.suppress(OSError):
            self._connections[fd].socket.send(_encoded({"error": message}), _AT_ONCE)
        self._drop(fd)

    def _answer(self, fd: int, answer: bytes) -> None:
        """Send an answer; a client that has not read it after `WRITE_SECONDS` goes without."""
        client, rest = self._connections[fd].socket, memoryview(answer)
        until = time.monotonic() + WRITE_SECONDS
        while rest:
            try:
                rest = rest[client.send(rest, _AT_ONCE) :]
            except BlockingIOError:
                if not _writable(client, until - time.monotonic()):
                    logger.info("a client of a kernel's bridge did not read its answer; dropped")
                    return
            except OSError:
                return

    def _drop(self, fd: int) -> None:
        connection = self._connections.pop(fd, None)
        if connection is not None:
            connection.socket.close()


class _Gone(Exception):
    """The client has closed its end before its request was whole."""


class _TooLarge(Exception):
    """The request goes on beyond what a request may have."""


_KINDS = {str: "text", int: "a whole number", dict: "an object"}
# The client may hold the same open socket (a pair it sent) and make it blocking: each call says so itself.
_AT_ONCE = socket.MSG_DONTWAIT | getattr(socket, "MSG_NOSIGNAL", 0)


def _receive(connection: _Connection) -> bytes | None:
    """Read what has arrived; return the request line once it is whole. Raises _Gone, _TooLarge."""
    while True:
        try:
            data = connection.socket.recv(CHUNK, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return None
        except OSError:
            raise _Gone from None
        if not data:
            raise _Gone
        connection.arrived += data
        end = connection.arrived.find(b"\n", connection.searched)
        if end >= 0 and end < REQUEST_BYTES:
            return bytes(connection.arrived[:end])
        if end >= 0 or len(connection.arrived) > REQUEST_BYTES:
            raise _TooLarge
        connection.searched = len(connection.arrived)


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        request = json.loads(line.decode("utf-8"))
    except RecursionError:
        raise CallError("the request is nested too deeply") from None
    except ValueError as error:
        raise CallError(f"the request is not JSON: {str(error)[:200]}") from None
    if not isinstance(request, dict):
        raise CallError("the request must be a JSON object")
    return request


def _encoded(answer: dict[str, Any]) -> bytes:
    """One line of JSON; ASCII only where a text holds a lone surrogate, which UTF-8 has no bytes for."""
    try:
        return json.dumps(answer, ensure_ascii=False).encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        return json.dumps(answer).encode("ascii") + b"\n"


def _writable(client: socket.socket, seconds: float) -> bool:
    poll = select.poll()
    poll.register(client, select.POLLOUT)
    return seconds > 0 and bool(poll.poll(seconds * 1000))
