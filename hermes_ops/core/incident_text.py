"""How messages are worded: one plain line each, redacted before it is cut, safe for a terminal and a chat."""

from __future__ import annotations

import re

from .._common.terminal import printable
from .finding import DAY
from .incident_rules import Draft, returns
from .moment import span

MAX_LINE = 700
MORE = "hermes ops incidents"

# What the host's deliveries act on inside a text: `MEDIA:<path>` attaches a file, `[[...]]` are switches.
_MEDIA = re.compile(r"media:", re.IGNORECASE)
_redactor = None


def clean(text: object, limit: int) -> str:
    """A text on one line: redacted, printable, without directives to a chat, then cut to `limit`."""
    return _cut(_plain(redacted(str(text))), limit)


def clean_lines(text: str, limit: int) -> str:
    """The same for a text of several lines; a secret that goes over lines (a key) is found as a whole."""
    lines = [_plain(one) for one in redacted(text).splitlines()]
    return _cut("\n".join(one for one in lines if one), limit)


def redacted(text: str) -> str:
    """A text with its secrets replaced by placeholders; the same secret has the same one in one process."""
    global _redactor
    if _redactor is None:
        from .._common.redact import Redactor

        _redactor = Redactor()
    return _redactor.text(text)


def _plain(text: str) -> str:
    line = printable(" ".join(text.split()))
    return _MEDIA.sub(lambda found: f"{found[0][:-1]} :", line).replace("[[", "[ [")


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 3].rstrip() + "..."


def line(draft: Draft, clock: float, now: float) -> str:
    """The line of one draft."""
    if draft.kind == "more":
        return f"and {draft.count} more: {MORE}"
    if draft.kind == "held_back":
        return f"{draft.count} more held back, the messages of 24 hours are used up: {MORE}"
    if draft.event is not None:
        return _cut(f"{draft.severity}: {draft.event.text}", MAX_LINE)
    record = draft.record
    if record is None:
        raise ValueError(f"a message of kind {draft.kind} needs an incident")
    what = f"{record.where}: {record.text}" if record.where else record.text
    if draft.kind in ("over", "sees_again"):
        word = "over" if draft.kind == "over" else "sees again"
        lasted = span((record.closed_at or now) - (record.opened_at or now))
        if record.told() is None:
            return _cut(
                f"{word} after {lasted}, before this could be said: {draft.severity}: {what}", MAX_LINE
            )
        return _cut(f"{word} after {lasted}: {what}", MAX_LINE)
    word = "blind" if record.kind == "blind" else record.severity
    if draft.kind == "worse":
        last = record.told()
        word = f"{word} (was {last.severity if last else 'unknown'})"
    elif draft.kind == "remind":
        word = f"{word}, still after {span(now - (record.opened_at or now))}"
    elif returns(record, clock) > 1:
        word = f"{word}, came back, {ordinal(returns(record, clock))} time in 24 h"
    fix = f" Fix: {record.fix}" if record.fix else ""
    return _cut(f"{word}: {what}{'' if what.endswith(('.', '!', '?')) or not fix else '.'}{fix}", MAX_LINE)


def ordinal(number: int) -> str:
    """ "2nd", "3rd", "11th"."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def seconds(text: str) -> float:
    """The seconds of "90m", "4h", "2d", "1w"; ValueError for anything else, and for more than a year."""
    found = re.fullmatch(r"\s*(\d{1,6})\s*([mhdw])\w*\s*", text.lower())
    value = int(found[1]) * {"m": 60.0, "h": 3600.0, "d": DAY, "w": 7 * DAY}[found[2]] if found else 0.0
    if not 0 < value <= 366 * DAY:
        raise ValueError(f"{text[:40]!r}: expected a time like 90m, 4h, 2d or 1w, at most a year")
    return value
