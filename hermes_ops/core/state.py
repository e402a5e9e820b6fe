"""Our own small state files: JSON with a `format`, changed under a lock, written whole, never lost silently.

A damaged file is renamed `<name>.damaged-<n>` and the caller is told; an older format is brought up by
numbered functions; a newer one is refused. What cannot be read at all (permission, disk) is Unreadable.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .._common.files import FileLock, open_regular, write_atomic
from ..errors import OpsError, Unreadable
from .typed import decoded

MAX_BYTES = 50_000_000
LOCK_SECONDS = 30.0


@dataclass
class Opened:
    """A state file in the hands of whoever changes it.

    data     its content, to be changed in place; without "format"
    damaged  where the damaged content went, when there was one: say so
    fresh    nothing (usable) was there before
    durable  set to False for a change that may be lost with the power: saves the wait for the disk
    """

    data: dict[str, Any]
    damaged: Path | None = None
    fresh: bool = False
    durable: bool = field(default=True)


@dataclass(frozen=True)
class StateFile:
    """One state file: where it is, the format this version writes, what stands in a new one.

    ``migrations`` turn the data of format n into that of n + 1. ``check`` raises ValueError, TypeError or
    KeyError when data of the current format is not what it should be; that counts as damage.
    """

    path: Path
    format: int
    new: Callable[[], dict[str, Any]]
    check: Callable[[dict[str, Any]], object] = lambda data: None
    migrations: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = field(default_factory=dict)

    def read(self) -> dict[str, Any]:
        """The content for a report, without a lock; what is new when there is no file.

        Raises Unreadable for a damaged or unreadable file, OpsError for a newer format. Changes nothing.
        """
        raw = self._bytes()
        if raw is None:
            return self.new()
        try:
            return self._parse(raw)
        except _Damage as damage:
            raise Unreadable(self.path, f"damaged ({damage}); it is set aside at the next change") from None

    @contextmanager
    def changing(self, timeout: float = LOCK_SECONDS) -> Iterator[Opened]:
        """Hold the lock, give the content, write it back when the block ends without an exception.

        Content that did not change is not written. Raises Unreadable (cannot be read, written, or locked
        within `timeout` seconds), OpsError for a newer format.
        """
        lock = FileLock(self.path.with_name(self.path.name + ".lock"))
        try:
            ours = lock.acquire(timeout)
        except OSError as error:
            raise Unreadable(lock.path, error.strerror or str(error)) from None
        if not ours:
            raise Unreadable(self.path, f"locked by process {lock.holder()} for over {timeout:g} s")
        try:
            raw = self._bytes()
            opened = self._open(raw)
            yield opened
            after = _dump({**opened.data, "format": self.format})
            if after != raw:
                self._write(after, opened.durable)
        finally:
            lock.release()

    def _open(self, raw: bytes | None) -> Opened:
        if raw is None:
            return Opened(self.new(), fresh=True)
        try:
            return Opened(self._parse(raw))
        except _Damage:
            return Opened(self.new(), damaged=set_aside(self.path), fresh=True)

    def _parse(self, raw: bytes) -> dict[str, Any]:
        try:
            data = decoded(raw)
        except ValueError:
            raise _Damage("not JSON") from None
        if not isinstance(data, dict):
            raise _Damage("not an object")
        found = data.pop("format", None)
        if not isinstance(found, int) or isinstance(found, bool) or found < 1:
            raise _Damage("no format number")
        if found > self.format:
            raise OpsError(
                f"{self.path}: written by a newer hermes-ops (format {found}, this one knows {self.format}): "
                "update this copy of the plugin"
            )
        try:
            for number in range(found, self.format):
                data = self.migrations[number](data)
            self.check(data)
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError) as error:
            raise _Damage(f"{type(error).__name__}: {error}") from None
        return data

    def _bytes(self) -> bytes | None:
        try:
            with open_regular(self.path) as file:
                raw = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unreadable(self.path, error.strerror or str(error)) from None
        if len(raw) > MAX_BYTES:
            raise Unreadable(self.path, f"larger than {MAX_BYTES} bytes")
        return raw

    def _write(self, content: bytes, durable: bool) -> None:
        try:
            write_atomic(self.path, content, durable=durable)
        except OSError as error:
            raise Unreadable(self.path, f"cannot be written: {error.strerror or error}") from None


def set_aside(path: Path) -> Path:
    """Rename a damaged file to the first free `<name>.damaged-<n>` beside it; returns the new path.

    The caller holds the lock of the file. Raises Unreadable when it cannot be renamed.
    """
    number = 1
    while os.path.lexists(target := path.with_name(f"{path.name}.damaged-{number}")):
        number += 1
    try:
        os.rename(path, target)
    except OSError as error:
        raise Unreadable(path, f"damaged, and cannot be renamed: {error.strerror or error}") from None
    return target


class _Damage(Exception):
    """The content is not what this file should hold."""


def _dump(data: dict[str, Any]) -> bytes:
    return (json.dumps(data, sort_keys=True, allow_nan=False, separators=(",", ":")) + "\n").encode("ascii")
