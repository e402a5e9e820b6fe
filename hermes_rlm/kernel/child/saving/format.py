"""The checkpoint file: opening it safely, its manifest, and its signature. Nothing here unpickles.

    b"hermes-rlm-checkpoint\\n"  records  manifest (JSON)  its length (8 bytes)  signature (32 bytes)

The signature is HMAC-SHA256 over the signed length and the SHA-256 of every 4 MiB of what stands before it.
"""

import errno
import hashlib
import hmac
import json
import os
import stat

from .threads import Background

MAGIC = b"hermes-rlm-checkpoint\n"
FORMAT = 1
CHUNK = 4 << 20
LENGTH_BYTES = 8
SIGNATURE_BYTES = 32
KINDS = ("module", "definition", "value", "attributes")

_READ = 1 << 20
_THREADS = 4
_MANIFEST_LIMIT = 256 << 20


class CheckpointError(Exception):
    """A checkpoint could not be written or is refused; the text says why and is made for the reader."""


def open_private(path: str) -> int:
    """Open a checkpoint for reading and return its descriptor.

    Raises CheckpointError when there is none or it is a symbolic link, no regular file, owned by somebody
    else, or open to others; OSError for what the system reports.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK  # a FIFO must not block
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise CheckpointError("there is no such checkpoint") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise CheckpointError("refused: the file is a symbolic link") from None
        raise
    try:
        _check_status(os.fstat(descriptor))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _check_status(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise CheckpointError("refused: it is not a regular file")
    if status.st_uid != os.geteuid():
        raise CheckpointError(f"refused: the file belongs to user {status.st_uid}, not to {os.geteuid()}")
    if status.st_mode & 0o077:
        mode = stat.S_IMODE(status.st_mode)
        raise CheckpointError(f"refused: its mode {mode:04o} lets others in; 0600 is expected")


def read_manifest(descriptor: int) -> dict:
    """Return the manifest, its shape checked, its signature not.

    Raises CheckpointError when the file is no checkpoint, is damaged, or has another format.
    """
    size = os.fstat(descriptor).st_size
    footer = LENGTH_BYTES + SIGNATURE_BYTES
    if os.pread(descriptor, len(MAGIC), 0) != MAGIC:
        raise CheckpointError("refused: it is not a checkpoint of this plugin")
    length = int.from_bytes(os.pread(descriptor, LENGTH_BYTES, max(0, size - footer)), "big")
    start = size - footer - length
    if length > _MANIFEST_LIMIT or start < len(MAGIC):
        raise altered()
    try:
        manifest = json.loads(read_exactly(descriptor, start, length))
    except (ValueError, RecursionError, OSError):
        raise altered() from None
    if not isinstance(manifest, dict) or type(manifest.get("format")) is not int:
        raise altered()
    if manifest["format"] != FORMAT:
        age = "older" if manifest["format"] < FORMAT else "newer"
        raise CheckpointError(
            f"refused: format {manifest['format']} is {age} than format {FORMAT}, which this version reads"
        )
    if not _is_plausible(manifest, start):
        raise altered()
    return manifest


def _is_plausible(manifest: dict, end: int) -> bool:
    texts = all(isinstance(manifest.get(field), str) for field in ("session", "name", "python"))
    numbers = type(manifest.get("saved_at")) in (int, float) and type(manifest.get("cell")) is int
    records, skipped = manifest.get("records"), manifest.get("skipped")
    if not (texts and numbers and isinstance(records, list) and isinstance(skipped, list)):
        return False
    return all(_is_record(record, end) for record in records)


def _is_record(record: object, end: int) -> bool:
    if not isinstance(record, dict) or record.get("kind") not in KINDS:
        return False
    names, offset, length = record.get("names"), record.get("offset"), record.get("length")
    for texts in (names, record.get("types")):
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            return False
    if len(names) != len(record["types"]) or type(offset) is not int or type(length) is not int:
        return False
    return len(MAGIC) <= offset and 0 <= length <= end - offset


def altered() -> CheckpointError:
    return CheckpointError("refused: the file is damaged or was altered (its signature does not fit)")


def signature(key: bytes, length: int, digests: list) -> bytes:
    """Return the signature of ``length`` bytes whose 4 MiB pieces have these SHA-256 digests."""
    return hmac.digest(key, length.to_bytes(LENGTH_BYTES, "big") + b"".join(digests), "sha256")


def verify(descriptor: int, key: bytes) -> None:
    """Raise CheckpointError unless the file was signed with this key and is unchanged since."""
    length = os.fstat(descriptor).st_size - SIGNATURE_BYTES
    if length < len(MAGIC):
        raise altered()
    expected = signature(key, length, digests_on_disk(descriptor, length))
    if not hmac.compare_digest(expected, os.pread(descriptor, SIGNATURE_BYTES, length)):
        raise altered()


def digests_on_disk(descriptor: int, length: int) -> list:
    """Return the SHA-256 of every 4 MiB of a file's first ``length`` bytes, read by several threads."""
    found = [b""] * -(-length // CHUNK)
    count = max(1, min(_THREADS, os.cpu_count() or 1, len(found)))
    stopped: list = []

    def hash_every(first: int) -> None:
        for index in range(first, len(found), count):
            if stopped:
                return
            start = index * CHUNK
            found[index] = _digest_on_disk(descriptor, start, min(length, start + CHUNK))

    others = [Background(hash_every, first) for first in range(1, count)]
    try:
        hash_every(0)
    except BaseException:
        stopped.append(True)
        raise
    finally:
        for other in others:  # the descriptor must not be closed under them
            other.finish()
    for other in others:
        other.wait()
    return found


def _digest_on_disk(descriptor: int, start: int, end: int) -> bytes:
    digest = hashlib.sha256()
    while start < end:
        data = os.pread(descriptor, min(_READ, end - start), start)
        if not data:
            raise altered()
        digest.update(data)
        start += len(data)
    return digest.digest()


def read_exactly(descriptor: int, offset: int, length: int) -> bytes:
    """Return ``length`` bytes from ``offset`` on. Raises CheckpointError when the file ends before."""
    parts = []
    while length:
        data = os.pread(descriptor, min(length, 1 << 30), offset)
        if not data:
            raise altered()
        parts.append(data)
        offset, length = offset + len(data), length - len(data)
    return b"".join(parts)
