"""Private files: atomic replace, appended lines, locks, and whether a process still lives.

Everything written here is 0600 in directories of 0700. The last component of a path is never followed when
it is a symbolic link (ELOOP): these files are never links, so a link there would send private data
elsewhere or be replaced behind its owner's back. Directories above it may be links, as a home on another
disk is.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from .home import private_dir

try:
    import fcntl
except ImportError:  # native Windows
    fcntl = None
try:
    import msvcrt
except ImportError:
    msvcrt = None

_SAFE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_CHUNK = 1 << 20
_REPLACE_TRIES = 12


def write_atomic(
    path: str | os.PathLike[str], data: bytes | str | Iterable[bytes], *, durable: bool = True
) -> Path:
    """Put `data` at `path` whole or not at all; text is written as UTF-8. Returns the path.

    Pieces are written as they come: an exception of their source leaves the old content too. A new file
    gets mode 0600, an existing one keeps its mode and, where permitted, its group and owner. Missing
    directories are made private. `durable` waits until file and directory are on the disk.
    Raises OSError; then the old content stands and no temporary file is left. On Windows a reader that holds
    the file open delays the replacement, which is tried again for about two seconds.
    """
    target = Path(path)
    pieces = (
        (data.encode("utf-8"),) if isinstance(data, str) else (data,) if isinstance(data, bytes) else data
    )
    private_dir(target.parent)
    old = _refuse_link(target)
    temporary = target.parent / f".tmp-{os.getpid()}-{os.urandom(6).hex()}"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, 0o600)
    try:
        try:
            _write_pieces(fd, pieces)
            if old is not None:
                _keep_access(fd, old)
            if durable:
                os.fsync(fd)
        finally:
            os.close(fd)
        _replace(temporary, target)
    except BaseException:
        _remove_quietly(temporary)
        raise
    if durable:
        _sync_directory(target.parent)
    return target


def open_append(path: str | os.PathLike[str]) -> int:
    """A descriptor for `append_line`: O_APPEND, new files 0600, missing directories made private.

    A line another process left unfinished is closed with a newline, so that the next one stands alone.
    """
    target = Path(path)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _SAFE
    try:
        fd = os.open(target, flags, 0o600)
    except FileNotFoundError:
        private_dir(target.parent)
        fd = os.open(target, flags, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(target))
        end = os.lseek(fd, 0, os.SEEK_END)
        if end:
            os.lseek(fd, end - 1, os.SEEK_SET)
            if os.read(fd, 1) != b"\n":
                os.write(fd, b"\n")
    except BaseException:
        os.close(fd)
        raise
    return fd


def append_line(target: int | str | os.PathLike[str], line: bytes) -> int:
    """Append one line (its newline is added when missing) and return the bytes written.

    `target` is a descriptor of `open_append` or a path. The line goes out in one os.write on O_APPEND, which
    processes sharing the file do not tear apart. If the system takes only a part (disk full, file size
    limit), the rest follows in further writes, between which a line of another process may land; if that
    fails too, a newline closes what was written and the OSError is raised. A newline inside is a ValueError.
    """
    if line.find(b"\n", 0, len(line) - 1) >= 0:
        raise ValueError("a line must not contain a newline")
    if not line.endswith(b"\n"):
        line += b"\n"
    if isinstance(target, int):
        return _append(target, line)
    fd = open_append(target)
    try:
        return _append(fd, line)
    finally:
        os.close(fd)


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file to read; a pipe or a device in its place is an OSError, not a wait without end."""
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _SAFE & ~getattr(os, "O_NOFOLLOW", 0))
    try:
        mode = os.fstat(fd).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return open(fd, "rb")
    except BaseException:
        os.close(fd)
        raise


def read_regular(path: str | os.PathLike[str], limit: int = 64_000_000) -> bytes:
    """The content of a regular file; one larger than `limit` bytes is an OSError (EFBIG)."""
    with open_regular(path) as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"larger than {limit} bytes", str(path))
    return content


def read_complete_lines(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """Yield every finished, non-empty line without its newline; a torn last line is left out.

    Memory is bounded by the longest line. Raises OSError when the file cannot be read.
    """
    with open(path, "rb", buffering=_CHUNK) as file:
        for line in file:
            if line.endswith(b"\n") and len(line) > 1:
                yield line[:-1]


def torn_tail(path: str | os.PathLike[str]) -> int:
    """How many bytes stand after the last newline: 0 when the last line is whole."""
    with open(path, "rb") as file:
        end = position = file.seek(0, os.SEEK_END)
        while position:
            start = max(0, position - _CHUNK)
            file.seek(start)
            found = file.read(position - start).rfind(b"\n")
            if found >= 0:
                return end - (start + found + 1)
            position = start
        return end


class FileLock:
    """A lock between processes on a small file that stays where it is, naming its holder.

    The system drops the lock when the holder dies (flock, or a locked byte on Windows), so a stale lock
    does not exist; a forked child that lives on keeps it. It does not count: the same object cannot take
    it twice, and two objects exclude each other also inside one process.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._fd: int | None = None

    @property
    def held(self) -> bool:
        return self._fd is not None

    def acquire(self, timeout: float = 0.0) -> bool:
        """Take the lock, trying for `timeout` seconds (0: once). True when it is ours.

        Raises OSError when the file cannot be locked at all, RuntimeError when this object holds it already.
        """
        if self._fd is not None:
            raise RuntimeError(f"{self.path} is already locked by this object")
        give_up = time.monotonic() + timeout
        pause = 0.005
        while True:
            self._fd = self._try()
            if self._fd is not None:
                return True
            left = give_up - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(pause, left))
            pause = min(pause * 2, 0.1)

    def release(self) -> None:
        """Give the lock back; does nothing when it is not held."""
        fd, self._fd = self._fd, None
        if fd is None:
            return
        try:
            os.ftruncate(fd, 0)
            _unlock_descriptor(fd)
        finally:
            os.close(fd)

    def holder(self) -> int | None:
        """The process id the last holder wrote; None when it gave the lock back or the file is unreadable."""
        try:
            with open(self.path, "rb") as file:
                return int(file.read(32))
        except (OSError, ValueError):
            return None

    def __enter__(self) -> FileLock:
        if not self.acquire():
            raise BlockingIOError(errno.EWOULDBLOCK, f"locked by process {self.holder()}", str(self.path))
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.release()

    def _try(self) -> int | None:
        private_dir(self.path.parent)
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | _SAFE, 0o600)
        try:
            if _lock_descriptor(fd):
                os.ftruncate(fd, 0)
                os.lseek(fd, 0, os.SEEK_SET)
                _write_all(fd, b"%d\n" % os.getpid())
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        return None


def process_start_time(pid: int | None = None) -> int | str | None:
    """When a process (default: this one) started, to tell it from a later one with the same id.

    Linux: clock ticks since boot, as the host writes them; macOS: the text of `ps -o lstart`; None when it
    cannot be known (other systems, no such process). Only equality of two values means anything.
    """
    pid = os.getpid() if pid is None else pid
    if sys.platform == "linux":
        fields = _linux_stat(pid)
        return int(fields[19]) if fields else None
    if sys.platform == "darwin":
        return _ps_start(pid)
    return None


def is_alive(pid: int, start_time: int | str | None) -> bool | None:
    """Whether the process that had `pid` and started at `start_time` still runs; None: cannot be known.

    A zombie is dead. Without a start time a running `pid` may be a later process, so the answer is None;
    a `pid` nobody has is False either way.
    """
    if not isinstance(pid, int) or isinstance(pid, bool) or pid <= 0:
        return None
    if sys.platform == "linux":
        fields = _linux_stat(pid)
        if fields is None:
            return None if _exists(pid) else False
        if fields[0] in ("Z", "X", "x"):
            return False
        started: int | str | None = int(fields[19])
    elif os.name == "posix":
        if not _exists(pid):
            return False
        started = process_start_time(pid)
    else:
        # os.kill(pid, 0) is no probe on Windows: it ends the process.
        return True if pid == os.getpid() else None
    if start_time is None or started is None:
        return None
    return str(started) == str(start_time)


_WINDOWS_LOCK_BYTE = 1 << 30  # far behind the text, which stays readable while that byte is locked


def _refuse_link(target: Path) -> os.stat_result | None:
    """The stat of what stands at `target`, None when nothing does; a link or a non-file is an OSError."""
    try:
        old = os.lstat(target)
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(old.st_mode):
        raise OSError(errno.ELOOP, "refusing to write to a symbolic link", str(target))
    if not stat.S_ISREG(old.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(target))
    return old


def _write_pieces(fd: int, pieces: Iterable[bytes]) -> None:
    waiting: list[bytes] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _CHUNK:
            _write_all(fd, b"".join(waiting))
            waiting, size = [], 0
    _write_all(fd, b"".join(waiting))


def _write_all(fd: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]


def _append(fd: int, line: bytes) -> int:
    written = os.write(fd, line)
    try:
        while written < len(line):
            written += os.write(fd, line[written:])
    except OSError:
        try:
            os.write(fd, b"\n")
        except OSError:
            pass
        raise
    return written


def _keep_access(fd: int, old: os.stat_result) -> None:
    if hasattr(os, "fchown"):
        new = os.fstat(fd)
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
            try:
                os.fchown(fd, old.st_uid if os.geteuid() == 0 else -1, old.st_gid)
            except OSError:
                pass
    if hasattr(os, "fchmod"):
        os.fchmod(fd, stat.S_IMODE(old.st_mode))


def _replace(temporary: Path, target: Path) -> None:
    for attempt in range(_REPLACE_TRIES):
        try:
            os.replace(temporary, target)
            return
        except PermissionError:
            if os.name != "nt" or attempt == _REPLACE_TRIES - 1:
                raise
            time.sleep(min(0.01 * 2**attempt, 0.25) * (0.5 + os.urandom(1)[0] / 255))


def _sync_directory(directory: Path) -> None:
    """Make the new name durable; some file systems and Windows cannot, which is not a failure."""
    if os.name == "nt":
        return
    try:
        fd = os.open(directory, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return
    try:
        os.fsync(fd)
    except OSError:
        pass
    finally:
        os.close(fd)


def _remove_quietly(path: Path) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass


def _lock_descriptor(fd: int) -> bool:
    try:
        if fcntl is not None:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        elif msvcrt is not None:
            os.lseek(fd, _WINDOWS_LOCK_BYTE, os.SEEK_SET)
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        else:
            raise OSError(errno.ENOSYS, "this system has no file locks")
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES, errno.EDEADLK):
            return False
        raise
    return True


def _unlock_descriptor(fd: int) -> None:
    if fcntl is not None:
        fcntl.flock(fd, fcntl.LOCK_UN)
    else:
        os.lseek(fd, _WINDOWS_LOCK_BYTE, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)


def _linux_stat(pid: int) -> list[str] | None:
    """The fields of /proc/<pid>/stat from the state on; the name before them may hold spaces and brackets."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].decode("ascii").split()
    except OSError:
        return None
    return fields if len(fields) > 19 and fields[19].isdigit() else None


def _ps_start(pid: int) -> str | None:
    import subprocess

    try:
        done = subprocess.run(
            ["/bin/ps", "-o", "lstart=", "-p", str(pid)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=5,
            env={"LC_ALL": "C", "TZ": "UTC"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return " ".join(done.stdout.decode("ascii", "replace").split()) or None


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
