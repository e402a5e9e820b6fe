"""Writing a checkpoint file: beside the old one, read back and hashed on the way, then put in its place."""

import hashlib
import json
import os

from .format import (
    CHUNK,
    FORMAT,
    LENGTH_BYTES,
    MAGIC,
    SIGNATURE_BYTES,
    CheckpointError,
    read_exactly,
    signature,
)
from .threads import Background

TEMPORARY = ".saving-"

# Kept free of records, so that there is room to say which were skipped.
MANIFEST_ROOM = 4096
_HASHED_AT_ONCE = 2
_READ = 256 << 10


class OverLimit(CheckpointError):
    """A record, or the checkpoint, would be larger than allowed."""


def over_limit() -> OverLimit:
    return OverLimit("there is no room for it below the limit of a checkpoint")


class WriteFailed(CheckpointError):
    """The system did not take the data."""


class CheckpointFile:
    """A new checkpoint. As a context manager it leaves nothing behind unless `commit` was reached.

    It is also the file object a pickler writes to. Data is collected to whole chunks; while one is written,
    the ones before are read back, compared and hashed on other threads.
    """

    def __init__(self, path: str, key: bytes, limit: int) -> None:
        self._key, self._limit = key, limit
        self._parent, self._name = os.path.split(os.path.abspath(path))
        self._directory = self._file = None  # descriptors
        self._temporary: str | None = f"{TEMPORARY}{os.getpid()}-{os.urandom(8).hex()}"
        self._pieces: list = []  # of the chunk that is not full yet
        self._on_disk = 0  # a multiple of CHUNK until the end
        self._digests: list = []  # one Background per chunk on disk
        self.position = 0

    def __enter__(self):
        """Create the temporary file in the checkpoint's directory, which is made (0700) when missing."""
        try:
            self._directory = _open_directory(self._parent)
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(self._temporary, flags, 0o600, dir_fd=self._directory)
            os.fchmod(self._file, 0o600)  # whatever the umask is
            self.write(MAGIC)
            return self
        except BaseException as error:
            self.close()
            if isinstance(error, OSError):
                raise WriteFailed(f"no checkpoint can be made in {self._parent}: {error.strerror}") from error
            raise

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def write(self, data) -> int:
        """Take bytes (or a buffer, which is copied). Raises OverLimit or WriteFailed."""
        view = memoryview(data).cast("B")
        if len(view) > self.room:
            raise over_limit()
        return self._take(data)

    def _take(self, data) -> int:
        view = memoryview(data).cast("B")
        start = 0
        while start < len(view):
            part = view[start : start + CHUNK - self.position % CHUNK]
            # Mutable buffers may change before they are hashed, and a short slice would keep all of it alive.
            self._pieces.append(part if type(data) is bytes and len(part) == CHUNK else bytes(part))
            start += len(part)
            self.position += len(part)
            if self.position % CHUNK == 0:
                self._flush()
        return start

    @property
    def room(self) -> int:
        """How many bytes of records may still be written."""
        return self._limit - MANIFEST_ROOM - self.position

    def _flush(self) -> None:
        """Write the collected pieces, which are a whole chunk or the end of the file."""
        if not self._pieces:
            return
        data = self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        if len(self._digests) >= _HASHED_AT_ONCE:
            self._digests[-_HASHED_AT_ONCE].wait()
        written = self._put(data)
        self._digests.append(Background(_digest_read_back, self._file, self._on_disk, data))
        # Last and without a call between: a pickler deep in recursion may fail anywhere above.
        self._pieces, self._on_disk = [], self._on_disk + written

    def _put(self, data) -> int:
        """Write at the end of what is on disk."""
        view, done = memoryview(data), 0
        try:
            while done < len(view):
                done += os.pwrite(self._file, view[done:], self._on_disk + done)
        except OSError as error:
            raise WriteFailed(f"the checkpoint could not be written: {error.strerror or error}") from error
        return done

    def rewind(self, position: int) -> None:
        """Forget everything written behind ``position``."""
        whole = min(position, self._on_disk) // CHUNK
        for task in self._digests[whole:]:
            task.wait()
        del self._digests[whole:]
        if position < self._on_disk:
            self._pieces = [read_exactly(self._file, whole * CHUNK, position - whole * CHUNK)]
            self._on_disk = whole * CHUNK
            os.ftruncate(self._file, self._on_disk)
        else:
            self._pieces = [b"".join(self._pieces)[: position - self._on_disk]]
        self.position = position

    def read(self, offset: int, length: int) -> bytes:
        """Return what was written at ``offset``, from the disk as far as it is there."""
        stored = max(0, min(length, self._on_disk - offset))
        data = read_exactly(self._file, offset, stored)
        if stored == length:
            return data
        waiting = b"".join(self._pieces)
        start = offset + stored - self._on_disk
        return data + waiting[start : start + length - stored]

    def commit(self, manifest: dict) -> int:
        """Add the manifest, sign, reach the disk, take the old file's place; return the size.

        Raises CheckpointError; then the old file stands.
        """
        text = json.dumps({**manifest, "format": FORMAT}, sort_keys=True).encode("utf-8")
        if self.position + len(text) + LENGTH_BYTES + SIGNATURE_BYTES > self._limit:
            raise over_limit()
        self._take(text + len(text).to_bytes(LENGTH_BYTES, "big"))
        self._flush()
        length = self.position
        signed = signature(self._key, length, [task.wait() for task in self._digests])
        try:
            self._put(signed)
            os.fsync(self._file)
            if read_exactly(self._file, length, len(signed)) != signed:
                raise _changed()
            os.replace(self._temporary, self._name, src_dir_fd=self._directory, dst_dir_fd=self._directory)
            self._temporary = None
            os.fsync(self._directory)
        except OSError as error:
            raise WriteFailed(f"the checkpoint could not be written: {error.strerror or error}") from error
        return length + len(signed)

    def close(self) -> None:
        """Remove the temporary file if it has not taken the checkpoint's place."""
        temporary, self._temporary = self._temporary, None
        if self._file is not None:
            for task in self._digests[-_HASHED_AT_ONCE:]:
                task.finish()  # they read from the descriptor
            os.close(self._file)
            self._file = None
        if self._directory is not None:
            if temporary is not None:
                try:
                    os.unlink(temporary, dir_fd=self._directory)
                except OSError:  # never created; else pruned by age
                    pass
            os.close(self._directory)
            self._directory = None


def _digest_read_back(descriptor: int, offset: int, data) -> bytes:
    """Return the SHA-256 of what the file holds at ``offset``, which must be ``data``."""
    digest = hashlib.sha256()
    view, stored = memoryview(data), bytearray(_READ)
    for start in range(0, len(view), _READ):
        part = view[start : start + _READ]
        if len(part) < len(stored):
            stored = bytearray(len(part))
        read = os.preadv(descriptor, [stored], offset + start)
        if read != len(part) or stored != part:
            raise _changed()
        digest.update(stored)
    return digest.digest()


def _changed() -> WriteFailed:
    return WriteFailed("the checkpoint could not be written: it does not read back as it was written")


def _open_directory(path: str) -> int:
    """Open the directory a checkpoint is written to; a link or somebody else's is refused."""
    missing = []
    step = path
    while not os.path.lexists(step):
        missing.append(step)
        step = os.path.dirname(step)
    for step in reversed(missing):
        try:
            os.mkdir(step, 0o700)
        except FileExistsError:  # another kernel was faster
            pass
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    if os.fstat(descriptor).st_uid != os.geteuid():
        os.close(descriptor)
        raise CheckpointError(f"refused: the directory {path} belongs to somebody else")
    return descriptor
