"""The messages between host and kernel, and the host's end of the channel.

One JSON object a line over a socket pair. Every request has an ``id`` and is answered once, with the
same id; ``boot`` has no answer. A message without an id is an event. Whatever does not fit its shape
ends the kernel: its process runs user code, which may write anywhere.
"""

from __future__ import annotations

import json
import select
import socket
import time
from typing import Any

MAX_MESSAGE = 64 << 20
SEND_SECONDS = 5.0
_CHUNK = 1 << 18

_NAMES = [str]
_SKIPPED = [{"name": str, "reason": str, "type?": str}]
_VARIABLE = {
    "name": str,
    "type": str,
    "preview": str,
    "cell?": int,
    "size?": int,
    "len?": int,
    "shape?": str,
}
_SAVE = {
    "code": str,
    "path": str,
    "key": str,
    "session": str,
    "name": str,
    "limit": int,
    "seconds": float,
}
_SAVED = {"saved": _NAMES, "skipped": _SKIPPED, "size": int}

# Field -> type; "?" marks a field that may be missing, a list holds the type of its items, None may be null.
REQUESTS: dict[str, dict[str, Any]] = {
    "boot": {
        "session": str,
        "cell": int,
        "bridge": (dict, None),
        "token": str,
        "tools": _NAMES,
        "skills": _NAMES,
        "figures": (str, None),
        "script": (str, None),
        "autosave": (dict, None),
    },
    "exec": {"cell": int, "code": str},
    "vars": {},
    "save": _SAVE,
    "restore": {"code": str, "path": str, "key": str, "overwrite": bool, "session": (str, None)},
}
REPLIES: dict[str, dict[str, Any]] = {
    "exec": {
        "notes": _NAMES,
        "assigned": _NAMES,
        "deleted": _NAMES,
        "figures": _NAMES,
        "value?": str,
    },
    "vars": {"variables": [_VARIABLE], "more": int},
    "save": _SAVED,
    "restore": {
        "restored": _NAMES,
        "kept": _NAMES,
        "failed": [{"name": str, "reason": str}],
        "saved_at": float,
        "cell": int,
        "session": str,
    },
}
_EVERY_REPLY = {"id": int, "ok": bool, "error?": str, "interrupted?": bool}
EVENTS: dict[str, dict[str, Any]] = {
    "salvaging": {},
    "salvaged": {"ok": bool, "error?": str, "saved?": _NAMES, "skipped?": _SKIPPED, "size?": int},
}


class ProtocolError(Exception):
    """The other side sent what no message looks like."""


def request(operation: str, number: int, **fields: Any) -> dict[str, Any]:
    """Return a checked request. Raises ProtocolError when fields are missing, wrong or too many."""
    message = {"id": number, "op": operation, **fields}
    fault = mismatch(fields, REQUESTS[operation])
    if fault:
        raise ProtocolError(f"request {operation}: {fault}")
    return message


def check_reply(operation: str, reply: dict[str, Any]) -> None:
    """Raise ProtocolError unless ``reply`` answers ``operation``; a failure may leave out its results."""
    shape = REPLIES[operation]
    if reply.get("ok") is not True:
        shape = {name.rstrip("?") + "?": kind for name, kind in shape.items()}
    fault = mismatch(reply, {**_EVERY_REPLY, **shape})
    if fault:
        raise ProtocolError(f"reply to {operation}: {fault}")


def check_event(event: dict[str, Any]) -> None:
    """Raise ProtocolError unless ``event`` is one of EVENTS."""
    name = event.get("event")
    if name not in EVENTS:
        raise ProtocolError(f"an unknown event {str(name)[:40]!r}")
    fault = mismatch(event, {"event": str, **EVENTS[name]})
    if fault:
        raise ProtocolError(f"event {name}: {fault}")


def mismatch(value: dict[str, Any], shape: dict[str, Any]) -> str | None:
    """Say what in ``value`` does not fit ``shape``; None when all does."""
    known = 0
    for name, kind in shape.items():
        plain = name.rstrip("?")
        if plain in value:
            known += 1
            if not _fits(value[plain], kind):
                return f"{plain} is not what it must be"
        elif plain == name:
            return f"{plain} is missing"
    if known != len(value):
        known_names = {name.rstrip("?") for name in shape}
        return f"{next(str(name) for name in value if name not in known_names)[:40]} is not known"
    return None


def _fits(value: Any, kind: Any) -> bool:
    if isinstance(kind, type):
        # True is an int for Python, but not for a message.
        return type(value) is kind or (kind is float and type(value) is int)
    if isinstance(kind, tuple):
        return any(value is None if one is None else _fits(value, one) for one in kind)
    if isinstance(kind, dict):
        return type(value) is dict and mismatch(value, kind) is None
    return type(value) is list and all(_fits(item, kind[0]) for item in value)


class HostChannel:
    """The host's end: sends requests, collects the messages that have arrived."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._pending = bytearray()

    def fileno(self) -> int:
        return self._connection.fileno()

    def send(self, *messages: dict[str, Any]) -> None:
        """Send requests in one piece. Raises OSError: the kernel is gone, or (TimeoutError) stuck."""
        data = memoryview("".join(json.dumps(message) + "\n" for message in messages).encode("ascii"))
        give_up = time.monotonic() + SEND_SECONDS
        while data:
            try:
                data = data[self._connection.send(data, socket.MSG_DONTWAIT) :]
            except BlockingIOError:
                if time.monotonic() > give_up:
                    raise TimeoutError from None
                poll = select.poll()
                poll.register(self._connection, select.POLLOUT)
                poll.poll(100)

    def receive(self) -> list[dict[str, Any]] | None:
        """Return the messages that are there now, without waiting; None when the kernel closed its end."""
        try:
            data = self._connection.recv(_CHUNK, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return []
        except OSError:
            return None
        if not data:
            return None
        self._pending += data
        if len(self._pending) > MAX_MESSAGE:
            raise ProtocolError(f"a message of more than {MAX_MESSAGE >> 20} MiB")
        *lines, rest = bytes(self._pending).split(b"\n") if b"\n" in data else [bytes(self._pending)]
        if lines:
            self._pending = bytearray(rest)
        return [_parsed(line) for line in lines]

    def close(self) -> None:
        self._connection.close()


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise ProtocolError(f"a line that is no message: {line[:60]!r}")
    return message
