"""Append-only segments per session and process; what was recorded survives kill -9.

    $HERMES_HOME/traces/journal/<session>/0001.jsonl    one segment: one process's events
    $HERMES_HOME/traces/journal/<session>/secrets       which placeholder number a secret has
    $HERMES_HOME/traces/.key                            keys the fingerprints below

A line is ``<chain> <json>``: 16 hex digits that hash the chain value before and the JSON, then one
record. The JSON is UTF-8 (ASCII where a lone surrogate stands). Long texts and messages are
records of their own, named by a keyed hash of what the host handed over, so that what was stored
once is only referred to afterwards, by this process and by the next one.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ._common import files
from ._common.home import private_dir
from .events import RecordKind, TraceEvent, TraceSession

FORMAT = 1
SEGMENT_NAME = re.compile(r"\d{4,}\.jsonl")
# Shorter texts cost less where they stand than a reference does.
MIN_SHARED_TEXT = 256
CHAIN_DIGITS = 16
CHAIN_START = "0" * CHAIN_DIGITS
TEXT_REFERENCE = "__text__"
_KNOWN_REFERENCE = re.compile(rb'\{"k":"(?:text|message)","n":\d+,"ref":"([0-9a-f]{16})"')


class JournalError(Exception):
    """A journal that cannot be read or written."""


def traces_dir(home: Path) -> Path:
    return home / "traces"


def journal_dir(home: Path) -> Path:
    return traces_dir(home) / "journal"


def session_dir(home: Path, session_id: str, patterns: tuple[str, ...] = ()) -> Path:
    """Where the journal of a session is: a readable part and a hash, so no id can name another's place.

    An id that holds a secret, by the rules or by ``patterns``, has no readable part.
    """
    from ._common.redact import Redactor

    readable = re.sub(r"[^A-Za-z0-9_-]+", "_", session_id)[:64].strip("_")
    if not readable or Redactor(custom_patterns=patterns).find(session_id):
        readable = "session"
    digest = hashlib.sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return journal_dir(home) / f"{readable}-{digest}"


def load_key(home: Path) -> bytes:
    """Return this home's fingerprint key, made on first use: hashes of short secrets cannot be guessed."""
    path = traces_dir(home) / ".key"
    for _ in range(50):
        try:
            key = path.read_bytes()
            if len(key) == 32:
                return key
            if time.time() - path.stat().st_mtime > 1.0:
                break
            # Another process has created it and is about to write.
            time.sleep(0.002)
        except FileNotFoundError:
            private_dir(path.parent)
            try:
                with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as new:
                    new.write(os.urandom(32))
            except FileExistsError:
                continue
    raise JournalError(f"{path} does not hold 32 bytes; remove it to get a new key")


def fingerprint(data: bytes, key: bytes) -> str:
    """Name a text or message: 16 hex digits of keyed BLAKE2b."""
    return hashlib.blake2b(data, key=key, digest_size=8).hexdigest()


def chain_next(chain: str, body: bytes) -> str:
    return hashlib.blake2b(chain.encode("ascii") + body, digest_size=CHAIN_DIGITS // 2).hexdigest()


def dump(record: dict[str, Any]) -> bytes:
    """Serialise one record on one line."""
    try:
        return _COMPACT(record).encode("utf-8")
    except UnicodeEncodeError:
        return _ASCII(record).encode("ascii")


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode
_ASCII = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode


class Segment:
    """One process's part of a session's journal, open for appending. The caller holds the session's lock."""

    def __init__(self, directory: Path, header: dict[str, Any]) -> None:
        private_dir(directory)
        self.directory = directory
        self.pid = os.getpid()
        self.path, descriptor = self._create(directory)
        os.close(descriptor)
        self.label = str(int(self.path.stem))
        self._number = 0
        self._chain = CHAIN_START
        self._lines: list[bytes] = []
        self.unwritten = 0
        self._clock = (time.time(), time.monotonic())
        self.add(
            RecordKind.SEGMENT,
            {
                "format": FORMAT,
                "pid": self.pid,
                "start_time": files.process_start_time(self.pid),
                **header,
            },
        )

    @staticmethod
    def _create(directory: Path) -> tuple[Path, int]:
        number = max((int(name.stem) for name in segment_paths(directory)), default=0) + 1
        while True:
            path = directory / f"{number:04d}.jsonl"
            try:
                return path, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
            except FileExistsError:
                number += 1

    def now(self) -> float:
        """Epoch seconds that never run backwards within this segment."""
        wall, monotonic = self._clock
        return round(wall + time.monotonic() - monotonic, 6)

    def add(self, kind: str, data: dict[str, Any], *, time: float | None = None) -> int:
        """Queue one record and return its number. flush() writes what is queued at once."""
        self._number += 1
        record = {"k": kind, "n": self._number}
        if kind not in (RecordKind.TEXT, RecordKind.MESSAGE):
            record["t"] = self.now() if time is None else time
            self.unwritten += kind != RecordKind.SEGMENT
        record.update(data)
        body = dump(record)
        self._chain = chain_next(self._chain, body)
        self._lines.append(self._chain.encode("ascii") + b" " + body + b"\n")
        return self._number

    def flush(self) -> None:
        """Append the queued records with one write. Raises FileNotFoundError when the segment is gone."""
        if not self._lines:
            return
        data, self._lines = b"".join(self._lines), []
        # No O_CREAT: a segment without its header would be no journal.
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        finally:
            os.close(descriptor)
        self.unwritten = 0

    def discard_if_empty(self) -> None:
        """Remove a segment of which not a byte could be written."""
        try:
            if self.path.stat().st_size == 0:
                self.path.unlink()
        except OSError:
            pass


def segment_paths(directory: Path) -> list[Path]:
    """Return the segments of a session's journal, oldest first."""
    try:
        names = [name for name in os.listdir(directory) if SEGMENT_NAME.fullmatch(name)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [directory / name for name in sorted(names, key=lambda name: int(name.partition(".")[0]))]


def known_references(directory: Path) -> set[str]:
    """Return the fingerprints of all texts and messages that a reader of a journal finds.

    A line that is torn or behind a damaged one is not found, so what it holds is not known.
    """
    known: set[str] = set()
    for path in segment_paths(directory):
        chain = CHAIN_START
        try:
            with open(path, "rb") as source:
                for line in source:
                    body = line[CHAIN_DIGITS + 1 :].rstrip(b"\n")
                    chain = chain_next(chain, body)
                    if not line.startswith(chain.encode("ascii")):
                        break
                    match = _KNOWN_REFERENCE.match(body)
                    if match:
                        known.add(match[1].decode("ascii"))
        except OSError:
            continue
    return known


class SegmentReader:
    """Reads a segment record by record. After that, ``count`` and ``chain`` say how far it is whole, and
    ``marked`` is the chain value after ``mark`` records.

    A torn last line (a process killed while writing) is left out and is no damage. Reading stops at
    the first line that does not follow the chain; ``problem`` says so.
    """

    def __init__(self, path: Path, mark: int | None = None) -> None:
        self.path = path
        self._mark = mark
        self.marked: str | None = None  # the chain value after so many records
        self.count = 0
        self.chain = CHAIN_START
        self.torn = 0
        self.problem: str | None = None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        with open(self.path, "rb") as source:
            for line in source:
                body = line[CHAIN_DIGITS + 1 :].rstrip(b"\n")
                chain = chain_next(self.chain, body)
                record = _parsed(body) if line.startswith(chain.encode("ascii") + b" ") else None
                if record is None:
                    self.torn = 0 if line.endswith(b"\n") else len(line)
                    if not self.torn:
                        self.problem = f"{self.path.name}: line {self.count + 1} does not follow the chain"
                    return
                self.chain = chain
                self.count += 1
                if self.count == self._mark:
                    self.marked = chain
                yield record


def _parsed(body: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(body)
    except ValueError:
        return None
    return record if isinstance(record, dict) and {"k", "n"} <= record.keys() else None


def read_header(path: Path) -> dict[str, Any] | None:
    """Return the segment record of a segment, None where there is no whole one yet."""
    with open(path, "rb") as source:
        line = source.readline()
    if not line.endswith(b"\n"):
        return None
    try:
        header = json.loads(line[CHAIN_DIGITS + 1 :])
    except (ValueError, RecursionError):
        return None
    return header if isinstance(header, dict) else None


def is_live(path: Path) -> bool | None:
    """Tell whether the process that writes a segment still runs; None when that cannot be known."""
    header = read_header(path)
    if not header or not isinstance(header.get("pid"), int):
        return False
    return files.is_alive(header["pid"], header.get("start_time"))


class SecretNumbers:
    """The number of each secret within one journal, agreed between processes through an append-only file.

    The file holds ``kind tag`` lines, the tag a keyed hash; a secret's number is the place of its
    line among those of its kind, so whoever appends first decides for all.
    """

    def __init__(self, path: Path, key: bytes) -> None:
        self._path = path
        self._key = key
        self._numbers: dict[tuple[str, str], int] = {}
        self._counts: dict[str, int] = {}
        self._offset = 0
        self._lock = threading.Lock()

    def __call__(self, kind: str, secret: str) -> int:
        name = (kind, fingerprint(secret.encode("utf-8", "surrogatepass"), self._key))
        with self._lock:
            if name not in self._numbers:
                self._read_on()
            if name not in self._numbers:
                files.append_line(self._path, f"{kind} {name[1]}\n".encode("ascii"))
                self._read_on()
            return self._numbers[name]

    def _read_on(self) -> None:
        try:
            with open(self._path, "rb") as source:
                source.seek(self._offset)
                complete = source.read().rpartition(b"\n")[0]
        except FileNotFoundError:
            return
        if not complete:
            return
        self._offset += len(complete) + 1
        for line in complete.split(b"\n"):
            kind, _, tag = line.decode("ascii", "replace").partition(" ")
            if (kind, tag) not in self._numbers:
                self._counts[kind] = self._counts.get(kind, 0) + 1
                self._numbers[kind, tag] = self._counts[kind]


def load_session(directory: Path, known: dict[str, dict[str, Any]] | None = None) -> TraceSession:
    """Read all segments of a session, merged by time, texts resolved.

    ``known`` is the chain of a trace compiled before (segment -> events, head); what of it the journal
    does not hold any more is listed in ``lost``.

    Raises JournalError when there is no readable segment. Damage (a line off the chain, a text or
    message that is referred to and missing) is listed in ``damage``; what is whole is returned.
    """
    segments: list[list[TraceEvent]] = []
    texts: dict[str, str] = {}
    messages: dict[str, dict[str, Any]] = {}
    chain: dict[str, dict[str, Any]] = {}
    damage: list[str] = []
    held: set[str] = set()
    for path in segment_paths(directory):
        label = str(int(path.stem))
        end = (known or {}).get(label, {})
        reader = SegmentReader(path, end.get("events"))
        events: list[TraceEvent] = []
        try:
            for record in reader:
                kind, number = record.pop("k"), record.pop("n")
                if kind == RecordKind.TEXT:
                    texts[record["ref"]] = record["s"]
                elif kind == RecordKind.MESSAGE:
                    messages[record["ref"]] = record["m"]
                else:
                    events.append(TraceEvent(kind, label, number, record.pop("t", 0.0), record))
        except OSError as error:
            damage.append(f"{path.name}: {error.strerror or error}")
        if reader.problem:
            damage.append(reader.problem)
        if reader.marked is not None and reader.marked == end.get("head"):
            held.add(label)
        if events:
            chain[label] = {"events": reader.count, "head": reader.chain}
            segments.append(events)
    if not segments:
        raise JournalError(f"no readable journal in {directory}")
    missing: set[str] = set()
    for holder in (*messages.values(), *(event.data for events in segments for event in events)):
        _resolve(holder, texts, missing)
    header = segments[0][0].data
    session = TraceSession(
        session_id=str(header.get("session_id", directory.name)),
        home=str(header.get("home", "")),
        # Times within a segment never run backwards, so a stable merge keeps each segment's own order.
        events=list(heapq.merge(*segments, key=lambda event: event.time)),
        messages=messages,
        chain=chain,
        damage=damage,
        lost=sorted(set(known or ()) - held),
    )
    session.damage += [f"a text that is referred to is missing: {name}" for name in sorted(missing)]
    return session


def _resolve(holder: Any, texts: dict[str, str], missing: set[str]) -> None:
    """Put texts in the place of references, within a container."""
    for place, value in holder.items() if type(holder) is dict else enumerate(holder):
        kind = type(value)
        if kind is dict and len(value) == 1 and TEXT_REFERENCE in value:
            name = value[TEXT_REFERENCE]
            if name not in texts:
                missing.add(str(name))
            holder[place] = texts.get(name, f"<missing text {name}>")
        elif kind is dict or kind is list:
            _resolve(value, texts, missing)
