"""What a kernel prints: the end of it in memory, all of it in a file when it is long."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .._common.home import private_dir

# What a reply shows of each stream; more than that goes to a file as well.
TAILS = {"stdout": 3000, "stderr": 1200}
WORD_BYTES = 200
SPILL_LIMIT = 512 << 20
SPILLS_KEPT = 40
_CHUNK = 1 << 18
_READS = 64


@dataclass(frozen=True)
class Captured:
    """The output of a cell: its end as text, how many bytes came before it, and where all of it is."""

    text: str = ""
    left_out: int = 0
    spill: Path | None = None
    problem: str | None = None


class Output:
    """One output pipe of a kernel, read without waiting. Memory is bounded, whatever is printed."""

    def __init__(self, descriptor: int, tail: int, spill_file: Callable[[], Path]) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self._kept = tail
        self._spill_file = spill_file
        self._tail = bytearray()
        self._total = 0
        self._spill: Path | None = None
        self._file = -1
        self._problem: str | None = None

    def read(self, reads: int = _READS) -> bool:
        """Take what is there, at most ``reads`` pieces; False when nothing can come any more."""
        for _ in range(reads):
            try:
                data = os.read(self.descriptor, _CHUNK)
            except BlockingIOError:
                return True
            except OSError:
                return False
            if not data:
                return False
            self._add(data)
        return True

    def drain(self) -> None:
        """Take all that has been written so far, also by those who go on writing."""
        self.read(1024)

    def take(self) -> Captured:
        """Return what has come since the last time, and begin anew."""
        if not self._total:
            return _NOTHING
        tail = bytes(self._tail[-self._kept :])
        if len(tail) < self._total:
            tail = _whole_words(tail)
        shown, left_out = tail.decode("utf-8", "replace"), self._total - len(tail)
        captured = Captured(shown, left_out, self._spill, self._problem)
        self._end_spill()
        self._tail.clear()
        self._total, self._spill, self._problem = 0, None, None
        return captured

    def close(self) -> None:
        self._end_spill()
        os.close(self.descriptor)

    def _add(self, data: bytes) -> None:
        before, self._total = self._total, self._total + len(data)
        if self._total > self._kept and self._file < 0 and self._problem is None and before <= self._kept:
            self._begin_spill()
        if self._file >= 0:
            self._write(data, before)
        self._tail += data
        if len(self._tail) > 4 * self._kept:
            del self._tail[: -self._kept]

    def _begin_spill(self) -> None:
        try:
            self._spill = self._spill_file()
            private_dir(self._spill.parent)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file = os.open(self._spill, flags, 0o600)
        except OSError as error:
            self._spill, self._problem = None, f"the whole output could not be kept: {error.strerror}"
            return
        self._write(bytes(self._tail), 0)
        prune(self._spill.parent)

    def _write(self, data: bytes, before: int) -> None:
        room = SPILL_LIMIT - before
        if room < len(data):
            self._problem = f"the file ends after {SPILL_LIMIT >> 20} MiB"
        view = memoryview(data)[: max(room, 0)]
        try:
            while view:
                view = view[os.write(self._file, view) :]
        except OSError as error:
            self._problem = f"the file is not whole: {error.strerror}"
            self._end_spill()

    def _end_spill(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


_NOTHING = Captured()


def spill_name(directory: Path, kernel: str, stream: str) -> Path:
    """A new file for the whole output of one cell; the names sort by time."""
    return directory / f"{time.strftime('%Y%m%d-%H%M%S')}-{time.monotonic_ns()}-{kernel}-{stream}.txt"


def prune(directory: Path, keep: int = SPILLS_KEPT, pattern: str = "*.txt") -> None:
    """Remove all but the newest files of a directory, by default all but the newest spill files."""
    files = sorted(directory.glob(pattern), key=_written, reverse=True)
    for path in files[keep:]:
        try:
            path.unlink()
        except OSError:
            pass


def _written(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def _whole_words(data: bytes) -> bytes:
    """Begin a cut text behind its first blank: half a secret would not be recognised as one."""
    blank = next((at for at in range(min(len(data), WORD_BYTES)) if data[at] in b" \t\r\n"), WORD_BYTES)
    data = data[blank:]
    while data and data[0] & 0xC0 == 0x80:
        data = data[1:]
    return data
