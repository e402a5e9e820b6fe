"""Standard input, output and error of the kernel: descriptors 0, 1 and 2 and the objects on them.

1 and 2 are pipes to the host, so whatever writes there (print, os.write, C code, child processes) is
output and nothing else. 0 is the null device: reading meets the end of the file at once. Code in a
cell may close or replace all of it; it is put back after the cell.
"""

import posix
import sys
from _io import BufferedWriter, FileIO, TextIOWrapper, open
from fcntl import F_DUPFD_CLOEXEC, fcntl

# Private copies live up here, out of the way of code that closes or counts low descriptors.
PRIVATE_FROM = 200


def private_copy(descriptor: int) -> int:
    """Return a copy of a descriptor that programs started from here do not inherit."""
    return fcntl(descriptor, F_DUPFD_CLOEXEC, PRIVATE_FROM)


class StandardStreams:
    """sys.stdin, sys.stdout and sys.stderr as a cell finds them."""

    def __init__(self) -> None:
        self._copies = {descriptor: private_copy(descriptor) for descriptor in (0, 1, 2)}
        self._identities = {descriptor: _identity(copy) for descriptor, copy in self._copies.items()}
        for name in ("stdout", "stderr"):
            getattr(sys, name).reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
        self._keep()

    def _keep(self) -> None:
        self.stdin, self.stdout, self.stderr = sys.stdin, sys.stdout, sys.stderr
        sys.__stdin__, sys.__stdout__, sys.__stderr__ = self.stdin, self.stdout, self.stderr

    def flush(self) -> None:
        """Write out what is buffered; what cannot be written is dropped."""
        for stream in (getattr(sys, "stdout", None), getattr(sys, "stderr", None), self.stdout, self.stderr):
            try:
                stream.flush()
            except BaseException:  # a stream of user code may raise anything
                pass

    def repair(self) -> list:
        """Put back what a cell closed or replaced; return a note for each that it did."""
        notes = []
        for descriptor, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
            if _identity(descriptor) != self._identities[descriptor]:
                posix.dup2(self._copies[descriptor], descriptor)
                notes.append(f"descriptor {descriptor} was closed or redirected and has been put back")
            mine = getattr(self, name)
            if mine.closed:
                setattr(self, name, _stream(descriptor))
                setattr(sys, f"__{name}__", getattr(self, name))
                if descriptor:
                    notes.append(f"sys.{name} was closed and has been opened again")
            elif getattr(sys, name, None) is not mine:
                notes.append(f"sys.{name} was replaced and has been put back")
            setattr(sys, name, getattr(self, name))
        return notes


def _identity(descriptor: int):
    try:
        status = posix.fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_rdev


def _stream(descriptor: int):
    if descriptor == 0:
        return open(0, encoding="utf-8", errors="replace", closefd=False)
    raw = BufferedWriter(FileIO(descriptor, "wb", closefd=False))
    return TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", line_buffering=True)
