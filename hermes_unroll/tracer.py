"""TraceRecorder: the sessions this process records, each with its own journal segment.

State is keyed by home and session id; there is no current session. What a session keeps in memory
is bounded: fingerprints of what is stored already, never texts, except the host's own message
objects while a turn runs. The sessions themselves are bounded too: the one unused for longest is
dropped and opens a new segment when it is heard of again.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import journal, settings
from .conversation import SUMMARY
from .events import EventKind, RecordKind
from .values import encode

MAX_LIVE_SESSIONS = 64
MAX_KNOWN = 20_000
MAX_OWNERS = 4_000
UNATTRIBUTED = "unattributed"
# Hooks give arguments as text and as an object; the object of a longer text is not stored again.
MIN_SHARED_ARGUMENTS = 256
# Streamed text is written in pieces of at least this many characters, and held back up to this many.
MIN_STREAMED = 512
MAX_HELD = 8_192
# How soon a running session follows a decision that another process has written down.
DECISION_SECONDS = 2.0
WITHHELD = "<not recorded: recording was off>"
KEPT_BEHIND = 256


class LiveSession:
    """One session while this process records it. Use it inside TraceRecorder.recording(), which locks."""

    def __init__(self, home: Path, session_id: str, key: bytes, patterns: tuple[str, ...]) -> None:
        from ._common.redact import Redactor

        self.home = home
        self.session_id = session_id
        self.lock = threading.RLock()
        self.directory = journal.session_dir(home, session_id, patterns)
        self.events = 0
        self.last_event = 0.0
        self.lost = 0  # events that could not be written
        self.off = False
        self.ended = False
        self.platform: str | None = None
        self.chat: tuple[str, ...] = ()
        self.parameters: dict[str, Any] | None = None
        self.forced_off = False
        self.decided_at = 0.0
        self._was_off = False
        self._dry = False  # nothing is stored, only compared with what is
        self._request: tuple[Any, int] = (None, 0)
        self._background: set[str] = set()
        self._key = key
        self._redactor = Redactor(
            custom_patterns=patterns, number=journal.SecretNumbers(self.directory / "secrets", key)
        )
        self._segment: journal.Segment | None = None
        self._header: dict[str, Any] = {}
        self._reset_memory()

    def _reset_memory(self) -> None:
        self._stored: set[str] | None = None
        self._texts: dict[tuple[int, int], Any] = {}
        self._messages: dict[int, str] = {}
        self._history: list[tuple[Any, int, Any, Any, str]] = []
        self._told: dict[str, Any] = {}
        self._stream: tuple[str, dict[str, Any]] | None = None
        self._arguments: dict[str, tuple[int, str]] = {}

    @property
    def redaction_failures(self) -> int:
        return self._redactor.failures

    def switch(self, allowed: bool) -> None:
        """Record from now on, or do not. What was said in between stays out, in later lists too."""
        self._was_off = self._was_off or (self.off and allowed)
        self.off = not allowed

    def decide(self, wanted: settings.Settings) -> None:
        """Follow the user's decisions as they stand now: another process may have changed them."""
        if not self.decided_at:
            # Only what an earlier process left out is not known here.
            self._was_off = wanted.was_off(self.session_id, self.chat)
        self.decided_at = time.monotonic()
        allowed = not self.forced_off and wanted.records(self.session_id, self.platform, self.chat)
        if allowed == self.off:
            self.switch(allowed)

    def describe(self, header: dict[str, Any]) -> None:
        """Set what the next segment's header says about the recorder."""
        self._header = header

    # What one hook records ------------------------------------------------------------------

    def event(self, kind: str, data: dict[str, Any], texts: dict[str, Any] | None = None) -> int:
        """Record one event and return its number in this segment.

        ``data`` may hold anything; ``texts`` are top-level fields that may be long: stored once and
        referred to, at their own cost.
        """
        record = self._fields({name: value for name, value in data.items() if value is not None})
        for name, value in (texts or {}).items():
            record[name] = self.text(value)
        self._end_stream()
        self.events += 1
        return self._open().add(kind, record)

    def note(self, kind: str, data: dict[str, Any]) -> None:
        """Record something that is no event of its own (see RecordKind)."""
        self._open().add(kind, self._fields(data))

    def delta(self, text: str, data: dict[str, Any]) -> None:
        """Record streamed text, coalesced into whole lines: a secret is seen whole or not at all.

        The line being streamed is held back until its end, until the session's next event or until it
        is longer than MAX_HELD; then its last word and some text before that, which may name it, stay.
        """
        if self._stream and self._stream[1] != data:
            self._end_stream()
        held = (self._stream[0] if self._stream else "") + text
        whole, newline, rest = held.rpartition("\n")
        if len(held) > MAX_HELD:
            before, space, word = held.rpartition(" ")
            before = self._redactor.text(before)
            place = before.rfind(" ", 0, max(0, len(before) - KEPT_BEHIND)) + 1
            whole, newline, rest = (
                (before[:place], "", before[place:] + space + word) if place else (held, "", "")
            )
        elif len(whole) < MIN_STREAMED or whole.count("-----BEGIN") != whole.count("-----END"):
            whole, newline, rest = "", "", held
        self._stream = (rest, data) if rest else None
        if whole:
            self._add_stream(whole + newline, data)

    def _end_stream(self) -> None:
        if self._stream:
            (text, data), self._stream = self._stream, None
            self._add_stream(text, data)

    def _add_stream(self, text: str, data: dict[str, Any]) -> None:
        self.events += 1
        self._open().add(EventKind.STREAM_DELTA, self._fields(data | {"text": text}))

    def told(self, name: str, value: Any) -> bool:
        """Tell whether this fact is the one this segment recorded last under that name, and remember it."""
        if self._told.get(name) == value:
            return True
        self._told[name] = value
        return False

    def clean(self, value: Any) -> Any:
        """Return the redacted JSON-like form of any value, long texts shared."""
        return self._share(self._redacted(value))

    def _fields(self, data: dict[str, Any]) -> dict[str, Any]:
        """Clean a record field by field, so that one that cannot be redacted costs only itself."""
        return {name: self._field(name, value) for name, value in data.items()}

    def _field(self, name: str, value: Any) -> Any:
        return self._share(self._redacted(value, name))

    def _redacted(self, value: Any, name: str = "") -> Any:
        return self._redactor.value(encode(value, self._redactor.value, name), name)

    def text(self, value: Any) -> Any:
        """Return the redacted form of a text field: the text itself, or a reference to it when it is long."""
        if type(value) is not str:
            return self.clean(value)
        if len(value) < journal.MIN_SHARED_TEXT:
            return self.clean(value)
        known = (hash(value), len(value))
        if self._dry and known not in self._texts:
            return self.clean(value)
        if known not in self._texts:
            _bound(self._texts)
            self._texts[known] = self.clean(value)
        return self._texts[known]

    def _share(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return self._reference(value) if len(value) >= journal.MIN_SHARED_TEXT else value
        if kind is dict:
            return {name: self._share(item) for name, item in value.items()}
        if kind is list:
            return [self._share(item) for item in value]
        return value

    def _reference(self, text: str) -> dict[str, str]:
        reference = journal.fingerprint(text.encode("utf-8", "surrogatepass"), self._key)
        if reference not in self._known() and not self._dry:
            self._open().add(RecordKind.TEXT, {"ref": reference, "s": text})
            self._known().add(reference)
        return {journal.TEXT_REFERENCE: reference}

    def arguments(self, call_id: Any, args: Any) -> dict[str, Any]:
        """Return the fields that say what a tool was called with; long arguments that the reply holds
        already are referred to by the reply's event and the call's place in it."""
        import json

        known = self._arguments.get(call_id) if type(call_id) is str else None
        if known is not None and len(known[1]) >= MIN_SHARED_ARGUMENTS:
            with contextlib.suppress(ValueError, RecursionError):
                if json.loads(known[1]) == args:
                    return {"args_of": known[0]}
        return {"args": args}

    def reply(self, data: dict[str, Any], texts: dict[str, Any], calls: list[dict[str, Any]]) -> int:
        """Record the model's reply and remember the argument texts of its calls for arguments()."""
        number = self.event(EventKind.LLM_CALL, data, texts | ({"tool_calls": calls} if calls else {}))
        self._arguments = {
            call["id"]: (number, call["arguments"])
            for call in calls
            if type(call.get("id")) is str and type(call.get("arguments")) is str
        }
        return number

    def attempt(self, request_id: Any) -> int:
        """Count the attempts of one API request: every retry carries the id of the first."""
        self._request = (request_id, self._request[1] + 1 if self._request[0] == request_id else 1)
        return self._request[1]

    def take_parameters(self) -> dict[str, Any] | None:
        """Return what the llm_request middleware saw of the request about to be announced."""
        parameters, self.parameters = self.parameters, None
        return parameters

    def is_background(self, turn_id: Any) -> bool:
        return turn_id in self._background if type(turn_id) is str else False

    def mark_background(self, turn_id: Any) -> None:
        if type(turn_id) is str and len(self._background) < MAX_KNOWN:
            self._background.add(turn_id)

    # The conversation -----------------------------------------------------------------------

    def history(self, messages: list[Any]) -> None:
        """Record the host's message list: only what differs from the list before is stored."""
        before, now, keep = self._history, [], 0
        # The first list after recording was switched on again ends with what is said now.
        withheld = range(len(before), len(messages) - 1) if self._was_off else range(0)
        self._was_off = False
        for index, message in enumerate(messages):
            if type(message) is not dict:
                message = {"role": "unknown", "content": message}
            # The host adds to a message it has shown already, and may put another text in its place.
            size, content, calls = len(message), message.get("content"), message.get("tool_calls")
            old = before[index] if index < len(before) else None
            if old and old[0] is message and old[1] == size and old[2] is content and old[3] is calls:
                reference = old[4]
            else:
                reference = self._message(message, index in withheld)
            keep += keep == index and old is not None and reference == old[4]
            now.append((message, size, content, calls, reference))
        self._history = now
        if not keep == len(before) == len(now):
            added = [entry[4] for entry in now[keep:]]
            self._open().add(RecordKind.HISTORY, {"keep": keep, "add": added})

    def forget_objects(self) -> None:
        """Let go of the host's message objects; the next list is compared by content."""
        self._history = [(None, 0, None, None, entry[4]) for entry in self._history]

    def _message(self, message: dict[str, Any], withheld: bool = False) -> str:
        identity = _identity(message)
        reference = self._messages.get(identity) if identity is not None else None
        if reference is not None:
            return reference
        self._dry = withheld
        try:
            record = self._stored_message(message)
        finally:
            self._dry = False
        reference = journal.fingerprint(journal.dump(record), self._key)
        if withheld and reference not in self._known():
            # Said while recording was off. That it was said is shown by what follows; what was said is not.
            record = {"role": record.get("role"), "content": WITHHELD}
            reference = journal.fingerprint(journal.dump(record), self._key)
        if reference not in self._known():
            self._open().add(RecordKind.MESSAGE, {"ref": reference, "m": record})
            self._known().add(reference)
        if identity is not None:
            _bound(self._messages)
            self._messages[identity] = reference
        return reference

    def _stored_message(self, message: dict[str, Any]) -> dict[str, Any]:
        record = {
            name: self.text(value) if name in _TEXT_FIELDS else self._field(name, value)
            for name, value in list(message.items())
            if type(name) is str and name[:1] != "_"
        }
        if message.get("_compressed_summary"):
            record[SUMMARY] = True
        return record

    def _known(self) -> set[str]:
        if self._stored is None:
            self._stored = journal.known_references(self.directory)
        elif len(self._stored) > MAX_KNOWN:
            # Bounded memory is worth storing a text twice.
            self._stored.clear()
        return self._stored

    # The segment ----------------------------------------------------------------------------

    def _open(self) -> journal.Segment:
        if self._segment is None or self._segment.pid != os.getpid():
            header = {"session_id": self.session_id, "home": str(self.home), **self._header}
            if self.lost:
                header["lost"] = self.lost
            # The header comes first in its segment: a long text in it has no record to refer to yet.
            self._segment = journal.Segment(
                self.directory,
                {name: self._redacted(value, name) for name, value in header.items()},
            )
        return self._segment

    def flush(self) -> None:
        """Write what the hook recorded, with one write.

        A write that fails ends the segment, since a line cut in the middle would hide those behind it;
        the next event opens a new one, whose header says how many were lost.
        """
        if self._segment is None:
            return
        try:
            self._segment.flush()
        except OSError:
            self.lost += self._segment.unwritten
            self._segment.discard_if_empty()
            self._segment = None
            self._reset_memory()
            raise
        self.lost = 0
        self.last_event = time.time()


_TEXT_FIELDS = frozenset({"content", "api_content", "reasoning", "reasoning_content"})


def _bound(memory: dict[Any, Any]) -> None:
    if len(memory) >= MAX_KNOWN:
        memory.clear()


def _identity(value: Any) -> int | None:
    """Hash a message by content, within this process; None for what cannot be hashed this way."""
    try:
        return _hash(value, 0)
    except (TypeError, RecursionError):
        return None


def _hash(value: Any, depth: int) -> int:
    kind = type(value)
    if kind is str or value is None or kind is int or kind is bool or kind is float:
        return hash((kind, value))
    if depth > 20:
        raise TypeError("too deep")
    if kind is dict:
        return hash(
            (
                "dict",
                *((name, _hash(item, depth + 1)) for name, item in list(value.items()) if name[:1] != "_"),
            )
        )
    if kind is list:
        return hash(("list", *(_hash(item, depth + 1) for item in value)))
    raise TypeError(kind)


class TraceRecorder:
    """All sessions of this process. ``off`` keeps sessions that start from now on from being recorded."""

    def __init__(self) -> None:
        self.off = False
        self._lock = threading.Lock()
        self._sessions: OrderedDict[tuple[str, str], LiveSession] = OrderedDict()
        # task and turn ids -> the session they were first seen with
        self._owners: OrderedDict[str, str] = OrderedDict()
        self._header: dict[str, Any] = {}

    def describe(self, **header: Any) -> None:
        """Set what segment headers say about the recorder (version, tags)."""
        self._header = header

    def live(self) -> list[LiveSession]:
        """Return the sessions held now, the one heard of last at the end."""
        with self._lock:
            return list(self._sessions.values())

    def owner(self, identity: str, session_id: str) -> str:
        """Return the session that a task or turn id was first seen with; ``session_id`` when it is new."""
        with self._lock:
            if identity not in self._owners and session_id:
                self._owners[identity] = session_id
                if len(self._owners) > MAX_OWNERS:
                    self._owners.popitem(last=False)
            return self._owners.get(identity, session_id)

    @contextlib.contextmanager
    def recording(
        self, home: Path, session_id: str, platform: str | None = None
    ) -> Iterator[LiveSession | None]:
        """Lock a session, and write what the block records when it ends; None where recording is off."""
        session = self._session(home, session_id, platform)
        if time.monotonic() - session.decided_at > DECISION_SECONDS:
            with session.lock:
                session.decide(settings.load(home))
        if session.off:
            yield None
            return
        with session.lock:
            try:
                yield session
            finally:
                session.flush()

    def _session(self, home: Path, session_id: str, platform: str | None) -> LiveSession:
        name = (str(home), session_id)
        with self._lock:
            session = self._sessions.get(name)
            if session is not None:
                self._sessions.move_to_end(name)
                return session
            wanted = settings.load(home)
            platform = platform if isinstance(platform, str) else None
            session = LiveSession(home, session_id, journal.load_key(home), wanted.custom_patterns)
            session.platform, session.chat = platform, settings.current_chat()
            session.forced_off = self.off
            session.decide(wanted)
            session.describe({**self._header, "tags": list(wanted.tags)} if wanted.tags else self._header)
            self._sessions[name] = session
            if len(self._sessions) > MAX_LIVE_SESSIONS:
                self._sessions.popitem(last=False)
            return session
