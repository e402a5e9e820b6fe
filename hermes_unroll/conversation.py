"""The conversation as the host stores it, followed through a journal.

Two kinds of evidence are put together. Events (a user message, a reply, a tool result) say at once what
happened, in the form the hook had: they give *predicted* messages. The host's own message list, which
comes with the next hook that carries it, says what is stored: it *confirms* predictions, replaces
their text by the stored one, adds what no hook reported and drops what was never kept.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Message = dict[str, Any]

# How the recorder keeps the host's mark of a message that holds the summary of a compaction.
SUMMARY = "compressed_summary"
# How the host starts what it adds to a tool's result when the user steers a running turn.
STEER = "\n\n[OUT-OF-BAND USER MESSAGE"
# How it starts the preview of a result that it has moved to a file; no result up to SHORT_RESULT characters
# is moved for its own length, every one over LONG_RESULT is.
SPILLED = "<persisted-output>"
SHORT_RESULT = 8_000
LONG_RESULT = 100_000


@dataclass(eq=False)
class Entry:
    """One message of the conversation.

    ``step`` is the step that put it there, None when only a list did. A tool's message knows the reply
    that asked for it and the place of its call there.
    """

    message: Message
    segment: str
    confirmed: bool = False
    step: dict[str, Any] | None = None
    asked_by: Entry | None = None
    rank: int = 0


@dataclass
class Change:
    """What a message list of the host's changed."""

    added: list[Entry] = field(default_factory=list)  # messages that no event reported
    dropped: list[Entry] = field(default_factory=list)  # predictions that the host did not store
    returned: list[Entry] = field(default_factory=list)  # dropped before, for another process's list
    replaced: bool = False  # the host put another list in place of the one before


class _List:
    """The entries that each message of a host's list stands for, and how many the first n stand for."""

    def __init__(self) -> None:
        self.groups: list[list[Entry]] = []
        self._ends: list[int] = []

    def cut(self, keep: int) -> int:
        """Keep the first messages; return how many entries they stand for."""
        del self.groups[keep:], self._ends[keep:]
        return self._ends[-1] if self._ends else 0

    def extend(self, groups: list[list[Entry]]) -> None:
        for group in groups:
            self._ends.append((self._ends[-1] if self._ends else 0) + len(group))
        self.groups += groups


class Conversation:
    """``order``: entries in order of first appearance; ``active``: those that are the conversation now."""

    def __init__(self) -> None:
        self.order: list[Entry] = []
        self.active: list[Entry] = []
        self.system: Entry | None = None
        # Per segment: the entries that each message of its last list stands for, and the predictions no
        # list of its own has decided on.
        self._lists: dict[str, _List] = {}
        self._undecided: dict[str, list[Entry]] = {}
        self._out: set[int] = set()
        self._last_segment: str | None = None

    @property
    def followed(self) -> bool:
        """Whether any message list of the host's is known yet."""
        return self._last_segment is not None

    def set_system(self, message: Message, segment: str) -> Entry:
        """Make this the system prompt. The first one stands before all other messages."""
        entry = Entry(message, segment, confirmed=True)
        if self.system is None:
            self.order.insert(0, entry)
        else:
            self.order.append(entry)
        self.system = entry
        return entry

    def predict(self, message: Message, segment: str) -> Entry:
        """Append a message that an event reports."""
        entry = Entry(message, segment)
        self.order.append(entry)
        self.active.append(entry)
        self._undecided.setdefault(segment, []).append(entry)
        return entry

    def predict_tool(self, message: Message, segment: str, asked_by: Entry, rank: int) -> Entry:
        """Put a tool's message behind the reply that asked for it, in the order of that reply's calls."""
        entry = self.predict(message, segment)
        entry.asked_by, entry.rank = asked_by, rank
        place = len(self.active) - 1
        while place and self.active[place - 1].asked_by is asked_by and self.active[place - 1].rank > rank:
            place -= 1
        if place < len(self.active) - 1:
            self.order.pop()
            self.order.insert(self.order.index(self.active[place]), entry)
            self.active.insert(place, self.active.pop())
        return entry

    def follow(self, segment: str, keep: int, added: list[Message]) -> Change:
        """Follow one message list: ``keep`` messages of that segment's last list, then ``added``."""
        known = self._lists.setdefault(segment, _List())
        change = Change()
        if segment == self._last_segment or not known.groups:
            # Only what is new is looked at: a long conversation comes with every request.
            length = known.cut(keep)
            tail = self.active[length:]
            prefix: list[Entry] | None = None
        else:
            # Another process has worked on the session in between; this one does not know of that.
            known.cut(keep)
            prefix = [entry for group in known.groups for entry in group]
            own = {id(entry) for entry in prefix}
            left = [entry for entry in self.active if id(entry) not in own]
            tail = [entry for entry in left if not entry.confirmed and entry.segment == segment]
            change.replaced = len(tail) < len(left) or prefix != self.active[: len(prefix)]
        groups = self._match(segment, added, tail, change)
        now = [entry for group in groups for entry in group]
        self._settle(segment, prefix or [], now, change)
        if prefix is None:
            self.active[length:] = now
        else:
            self.active = prefix + now
        known.extend(groups)
        self._last_segment = segment
        return change

    def _match(
        self, segment: str, added: list[Message], tail: list[Entry], change: Change
    ) -> list[list[Entry]]:
        """Return, for each message added, the entries it stands for, where ``tail`` stood before."""
        groups: list[list[Entry]] = []
        # The first list of all may begin with messages that came before the first event.
        for entry, message in zip(tail, added, strict=False) if self.followed else ():
            if not _fits(entry, message, exact=True):
                break
            groups.append([_confirm(entry, message)])
        left, rest = tail[len(groups) :], added[len(groups) :]
        predicted = [entry for entry in left if not entry.confirmed]
        predicted += [entry for entry in self._undecided.get(segment, ()) if entry not in tail]
        stored = _Stored([entry for entry in left if entry.confirmed])
        stored.replaced = any(message.get(SUMMARY) for message in rest)
        taken = [stored.take(message) for message in rest]
        unknown = [place for place, found in enumerate(taken) if not found]
        claims = _claims(predicted, [rest[place] for place in unknown])
        for place, entry in zip(unknown, claims, strict=True):
            if entry is None:
                entry = Entry(rest[place], segment, confirmed=True)
                change.added.append(entry)
            taken[place] = [_confirm(entry, rest[place])]
        groups += taken
        rows = stored.keep_rows(groups)
        if groups:
            groups[-1] += rows
            _keep_second_answers(groups, predicted)
        change.replaced = change.replaced or stored.replaced
        return groups

    def _settle(self, segment: str, prefix: list[Entry], now: list[Entry], change: Change) -> None:
        """Drop the predictions this list decides against, and give new entries their place in ``order``."""
        kept = {id(entry) for entry in now}
        change.returned = [entry for entry in now if id(entry) in self._out]
        decided = self._undecided.pop(segment, [])
        undone = [entry for entry in decided if not entry.confirmed and id(entry) not in kept]
        change.dropped = [entry for entry in undone if id(entry) not in self._out]
        self._out.difference_update(map(id, decided))
        if segment != self._last_segment:
            kept.update(id(entry) for entry in prefix)
            others = [entry for entry in self.active if not entry.confirmed and id(entry) not in kept]
            others = [entry for entry in others if entry.segment != segment]
            change.dropped += others
            self._out.update(id(entry) for entry in others)
        if change.dropped:
            dropped = {id(entry) for entry in change.dropped}
            self.order = [entry for entry in self.order if id(entry) not in dropped]
        new = {id(entry) for entry in (*change.added, *change.returned)}
        follower: Entry | None = None
        waiting: list[Entry] = []
        for entry in reversed(now):
            if id(entry) in new:
                waiting.append(entry)
                continue
            self._insert(waiting, follower)
            follower, waiting = entry, []
        self._insert(waiting, follower)

    def _insert(self, backwards: list[Entry], follower: Entry | None) -> None:
        if backwards:
            place = len(self.order) if follower is None else self.order.index(follower)
            self.order[place:place] = backwards[::-1]


class _Stored:
    """Stored messages that the host's new list no longer shows where they were.

    The host's store is append-only: its live list may lose a message (a second answer to one call id),
    join two, or change a text after storing it, and the rows stay. Only a summary, or a list
    that is shorter without such a reason, replaces rows.
    """

    def __init__(self, entries: list[Entry]) -> None:
        self._entries = entries
        self._next = 0
        self._places: dict[Any, list[int]] | None = None
        self.replaced = False

    def take(self, message: Message) -> list[Entry]:
        """Return the entries that a message of the new list stands for: none, one, or several it joins."""
        if self._next >= len(self._entries) and not self.replaced:
            return []
        place = self._find(message)
        if self.replaced:
            return [] if place is None else [self._entries[place]]
        start = self._next
        if place is None:
            joined = self._joined(message)
            self._next += joined
            if joined == 1:
                self._entries[start].message.setdefault("live_content", message.get("content"))
            return self._entries[start : self._next]
        self._next = place + 1
        return self._entries[start : self._next]

    def _find(self, message: Message) -> int | None:
        if self._places is None:
            self._places = {}
            for place in range(len(self._entries) - 1, -1, -1):
                self._places.setdefault(_identity(self._entries[place].message), []).append(place)
        places = self._places.get(_identity(message), [])
        while places and not self.replaced and places[-1] < self._next:
            places.pop()
        return places.pop() if places else None

    def _joined(self, message: Message) -> int:
        """Count the entries from here on that a message joins; 1 is a text changed after it was stored."""
        first, text = self._entries[self._next].message, _text(message)
        if first.get("role") != message.get("role") or _call_ids(first) != _call_ids(message):
            return 0
        if message.get("role") == "tool":
            return 1
        count, position = 0, 0
        for entry in self._entries[self._next :]:
            found = text.find(_text(entry.message), position)
            if entry.message.get("role") != message.get("role") or found < 0:
                break
            count, position = count + 1, found + len(_text(entry.message))
        return count if count > 1 else 0

    def keep_rows(self, groups: list[list[Entry]]) -> list[Entry]:
        """Return the entries behind the new list's end that are still stored, or note that they are not."""
        left = self._entries[self._next :]
        if self.replaced or not left:
            return []
        answered = {_plain(entry.message.get("tool_call_id")) for group in groups for entry in group}
        if all(
            e.message.get("role") == "tool" and _plain(e.message.get("tool_call_id")) in answered
            for e in left
        ):
            return left
        self.replaced = True
        return []


def _keep_second_answers(groups: list[list[Entry]], predicted: list[Entry]) -> None:
    """Keep a second answer to one call id: it is stored, but gone from the live list."""
    for entry in predicted:
        if entry.asked_by is None:
            continue
        for group in reversed(groups):
            other = group[-1]
            if other.asked_by is entry.asked_by and _call_ids(other.message) == _call_ids(entry.message):
                entry.confirmed = True
                group.append(entry)
                break


def _claims(predicted: list[Entry], messages: list[Message]) -> list[Entry | None]:
    """Give each message the prediction that it decides on, and take that off the list.

    A prediction goes to the last message that is exactly it: what came before the first event of a journal
    stands in front, and may look alike. What no text decides goes by kind, in order.
    """
    claims: list[Entry | None] = [None] * len(messages)
    places: dict[Any, list[int]] = {}
    for place, message in enumerate(messages):
        places.setdefault(_likeness(message), []).append(place)
    for entry in reversed(predicted):
        found = places.get(_likeness(entry.message))
        if found:
            claims[found.pop()] = entry
    claimed = {id(entry) for entry in claims}
    predicted[:] = [entry for entry in predicted if id(entry) not in claimed]
    for place, message in enumerate(messages):
        if claims[place] is None:
            claims[place] = next((entry for entry in predicted if _fits(entry, message, exact=False)), None)
            if claims[place] is not None:
                predicted.remove(claims[place])
    return claims


def _likeness(message: Message) -> tuple[Any, ...]:
    return (
        _plain(message.get("role")),
        _plain(message.get("tool_call_id")),
        bool(_calls(message)),
        _text(message).strip(),
    )


def _confirm(entry: Entry, message: Message) -> Entry:
    if entry.confirmed and "api_content" in message:
        # What a hook injects is added to the message after it was shown first.
        entry.message = {**entry.message, "api_content": message["api_content"]}
    if not entry.confirmed:
        entry.message, entry.confirmed = _stored_form(entry.message, message), True
    return entry


def _stored_form(predicted: Message, message: Message) -> Message:
    """Return the form that is stored of a tool's message which the host changed after storing it.

    It adds what the user says to steer a running turn, and takes the largest results of a batch out of a
    request that would be too long. A single result is taken out only above SHORT_RESULT, before it is stored.
    """
    result, content = predicted.get("content"), message.get("content")
    if message.get("role") != "tool" or not isinstance(result, str) or not isinstance(content, str):
        return message
    taken_out = SPILLED in content and SPILLED not in result and len(result) <= SHORT_RESULT
    if taken_out or content.startswith(result + STEER):
        return {**message, "content": result, "live_content": content}
    return message


def _fits(entry: Entry, message: Message, exact: bool) -> bool:
    """Tell whether a stored message is this entry's. A prediction may differ from it in text: the host strips
    reasoning tags, shortens results, adds notes."""
    if entry.confirmed:
        return _identity(entry.message) == _identity(message)
    if entry.message.get("role") != message.get("role"):
        return False
    if message.get("role") == "tool":
        return entry.message.get("tool_call_id") == message.get("tool_call_id")
    if bool(_calls(entry.message)) != bool(_calls(message)):
        return False
    return not exact or _text(entry.message).strip() == _text(message).strip()


def _identity(message: Message) -> tuple[Any, ...]:
    return (
        _plain(message.get("role")),
        _text(message),
        _plain(message.get("tool_call_id")),
        tuple((_plain(call.get("id")), *map(_plain, call_of(call))) for call in _calls(message)),
    )


def _plain(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else repr(value)


def _call_ids(message: Message) -> tuple[Any, ...]:
    return (_plain(message.get("tool_call_id")), *(_plain(call.get("id")) for call in _calls(message)))


def _calls(message: Message) -> list[dict[str, Any]]:
    calls = message.get("tool_calls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def call_of(call: dict[str, Any]) -> tuple[Any, Any]:
    """Return name and argument text of a tool call, in the provider's form or the recorder's."""
    function = call.get("function")
    source = function if isinstance(function, dict) else call
    return source.get("name"), source.get("arguments")


def _text(message: Message) -> str:
    """Flatten a content as the host's store does: text parts by line, images as a word."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else repr(content)
    parts = []
    for part in content:
        if isinstance(part, dict) and part.get("type") == "text":
            parts.append(str(part.get("text", "")))
        elif isinstance(part, dict) and part.get("type") in ("image", "image_url", "input_image"):
            parts.append("[screenshot]")
    return "\n".join(parts)
