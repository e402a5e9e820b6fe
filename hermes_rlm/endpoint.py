"""Where a kernel reaches the bridge: a Unix socket in a private directory, or a pair it inherits.

Over the pair, which serves where a path is too long for a socket, a kernel makes one more pair per
call and sends an end of it. So either way the parent gets one connection per call, and threads and
forked processes of a kernel never share one.
"""

from __future__ import annotations

import array
import contextlib
import os
import socket
import stat
import sys
from pathlib import Path

SOCKET_NAME = "bridge.sock"
# Bytes of a path that fit into sockaddr_un with its closing zero.
PATH_BYTES = (108 if sys.platform == "linux" else 104) - 1
BACKLOG = 128


class BridgeError(Exception):
    """The bridge cannot be set up where it was asked to be."""


class PathEndpoint:
    """A listening Unix socket, 0600, in a directory of ours, 0700."""

    def __init__(self, directory: Path) -> None:
        private_directory(directory)
        self.path = directory / SOCKET_NAME
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._listener.bind(os.fspath(self.path))
        except OSError as error:
            self._listener.close()
            raise BridgeError(f"{self.path}: {error.strerror or error}") from error
        os.chmod(self.path, 0o600)
        self._listener.listen(BACKLOG)
        self._listener.setblocking(False)
        self.address = {"path": os.fspath(self.path)}
        self.child_fds: tuple[int, ...] = ()

    def fileno(self) -> int:
        return self._listener.fileno()

    def accept(self) -> socket.socket | None:
        """Return the next connection, non-blocking; None when there is none."""
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return None
        connection.setblocking(False)
        return connection

    def release_child_fds(self) -> None:
        """Nothing is inherited over a path."""

    def close(self) -> None:
        """Remove socket and directory (when nothing else is in it); close the descriptor."""
        self._listener.close()
        with contextlib.suppress(OSError):
            self.path.unlink()
        with contextlib.suppress(OSError):
            self.path.parent.rmdir()


class PairEndpoint:
    """Two connected datagram sockets; the child's end is inherited under the same number."""

    def __init__(self) -> None:
        self._mailbox, self._child = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._mailbox.setblocking(False)
        self.address = {"fd": self._child.fileno()}
        self.child_fds = (self._child.fileno(),)

    def fileno(self) -> int:
        return self._mailbox.fileno()

    def accept(self) -> socket.socket | None:
        """Return the next connection that was sent, non-blocking; None when there is none."""
        room = socket.CMSG_SPACE(array.array("i").itemsize * 2)
        try:
            _, messages, _, _ = self._mailbox.recvmsg(1, room)
        except OSError:
            return None
        received = [fd for *_, data in messages for fd in _descriptors(data)]
        if len(received) == 1:
            return _stream_socket(received[0])
        for fd in received:
            os.close(fd)
        return None

    def release_child_fds(self) -> None:
        """Close the child's end here, once the child has been started."""
        self._child.close()

    def close(self) -> None:
        self._mailbox.close()
        self._child.close()


def open_endpoint(directory: Path | None) -> PathEndpoint | PairEndpoint:
    """Return a socket in `directory`, or a pair without one or where its path would be too long.

    Raises BridgeError when the directory is not ours alone or the socket cannot be made.
    """
    if directory is None or len(os.fsencode(directory / SOCKET_NAME)) > PATH_BYTES:
        return PairEndpoint()
    return PathEndpoint(directory)


def private_directory(directory: Path) -> None:
    """Make `directory` and the one above it with mode 0700 where missing; refuse what others can change.

    The directory itself must be real, ours and 0700. The one above must be real, ours or root's, and
    either not writable by others or sticky as /tmp is. Raises BridgeError with the reason.
    """
    for step in (directory.parent, directory):
        try:
            os.mkdir(step, 0o700)
        except FileExistsError:
            pass
        except OSError as error:
            raise BridgeError(f"{step}: {error.strerror}") from error
        _check_owner(step, os.lstat(step), exact=step == directory)


def _check_owner(directory: Path, found: os.stat_result, *, exact: bool) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise BridgeError(f"{directory} is a symbolic link; expected a directory of this user's alone")
    if not stat.S_ISDIR(found.st_mode):
        raise BridgeError(f"{directory} is not a directory")
    if found.st_uid != os.geteuid() and (exact or found.st_uid != 0):
        raise BridgeError(f"{directory} belongs to user {found.st_uid}, not to {os.geteuid()}")
    mode = stat.S_IMODE(found.st_mode)
    if exact and mode & 0o077:
        raise BridgeError(f"{directory} has mode {mode:04o}; expected 0700")
    if mode & 0o022 and not mode & stat.S_ISVTX:
        raise BridgeError(f"{directory} has mode {mode:04o}: others can replace what is in it")


def _descriptors(data: bytes) -> list[int]:
    """The descriptors of one SCM_RIGHTS message."""
    numbers = array.array("i")
    numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
    return list(numbers)


def _stream_socket(fd: int) -> socket.socket | None:
    """Return a descriptor that was sent as a socket, or close it when it is none of the expected kind."""
    try:
        connection = socket.socket(fileno=fd)
    except OSError:
        os.close(fd)
        return None
    if (connection.family, connection.type) != (socket.AF_UNIX, socket.SOCK_STREAM):
        connection.close()
        return None
    connection.set_inheritable(False)
    connection.setblocking(False)
    return connection
