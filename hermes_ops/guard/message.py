"""What the guard says to a person or to the model: one line, redacted, safe for a terminal and a chat."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from ..core.incident_text import redacted
from .presence import Presence
from .verdict import Found, Verdict

MOST_COMMAND = 160
MOST_PART = 100
MOST_WHY = 240
MOST_REASONS = 3
_MOST_READ = 4_000  # characters of a text that are redacted before it is cut
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_SETTING = "`unattended` in ops/guard.toml says what becomes of it"
_NOT_AGAIN = (
    "Do not try to reach the same by another command, tool or spelling: "
    "say what you wanted to do and why, and let a person do it"
)


def ask(shown: str, findings: Iterable[Found], radius: str = "") -> str:
    """What a person is asked who decides."""
    reasons = list(findings)
    return _join(
        f"hermes-ops asks: {command(shown)}",
        _reasons(reasons),
        _radius(radius),
        _safer(reasons, "Safer"),
    )


def block(shown: str, findings: Iterable[Found], radius: str = "") -> str:
    """What the model is told of a call that must never run."""
    reasons = [found for found in findings if found.verdict is Verdict.BLOCK]
    return _join(
        f"BLOCKED by hermes-ops: {command(shown)}",
        _reasons(reasons),
        _radius(radius),
        _safer(reasons, "Instead"),
        _NOT_AGAIN,
    )


def unattended(shown: str, findings: Iterable[Found], here: Presence, radius: str = "") -> str:
    """What the model is told of a call that a person would have to decide on, where none can be asked."""
    reasons = list(findings)
    who = "nobody can be asked here" if not here.person else "the person here cannot be asked"
    return _join(
        f"BLOCKED by hermes-ops: {command(shown)}",
        _reasons(reasons),
        _radius(radius),
        f"A person has to approve this, and {who}: {here.reason or 'no reason known'}; {_SETTING}",
        _safer(reasons, "Instead"),
        _NOT_AGAIN,
    )


def rule_key(findings: Iterable[Found], tool: str, shown: str, workdir: str | None) -> str:
    """The key under which a person's "session" or "always" is kept: these findings on this exact command."""
    rules = sorted({found.rule for found in findings})
    exact = "\0".join((tool, shown, workdir or "", *rules))
    digest = hashlib.sha256(exact.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"hermes-ops:{'+'.join(rules[:MOST_REASONS])}:{digest}"


def command(text: str, limit: int = MOST_COMMAND) -> str:
    """A command as it may be shown: secrets replaced, on one line, letters that cannot be seen spelled out.

    Redacted before it is cut, so that no half of a secret is left; the middle is left out of a long one.
    """
    line = _line(text)
    if len(line) <= limit:
        return line
    return f"{line[: limit * 2 // 3].rstrip()} [...] {line[-limit // 3 :].lstrip()}"


@lru_cache(maxsize=8)
def _line(text: str) -> str:
    if len(text) > _MOST_READ:
        # The last word could be half a secret, and what comes after it the rest of a key.
        text = text[:_MOST_READ].rpartition(" ")[0] + " ..."
    return visible(" ".join(redacted(text).split()))


def visible(text: str) -> str:
    """A text without anything that a terminal or a chat would obey or hide; such letters are spelled out."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter if _plain(letter) else f"<U+{ord(letter):04X}>" for letter in text)


def _plain(letter: str) -> bool:
    if letter == " " or letter.isascii():
        return letter.isprintable()
    # Unseen: controls, formats (bidi, zero width), separators, unassigned, and what is drawn as nothing.
    return unicodedata.category(letter)[0] not in "CZ" and not _BLANK.match(letter)


def _reasons(findings: list[Found]) -> str:
    told = [
        f"{command(found.why, MOST_WHY)} ({found.rule}{_understood(found)})"
        for found in findings[:MOST_REASONS]
    ]
    more = f"; and {len(findings) - MOST_REASONS} more" if len(findings) > MOST_REASONS else ""
    return "Why: " + "; ".join(told) + more if told else ""


def _understood(found: Found) -> str:
    return f", understood: {command(found.part, MOST_PART)}" if found.part else ""


def _radius(radius: str) -> str:
    return f"That is {radius}" if radius else ""


def _safer(findings: list[Found], label: str) -> str:
    ways = list(dict.fromkeys(command(found.safer, MOST_WHY) for found in findings if found.safer))
    return f"{label}: {'; '.join(ways[:2])}" if ways else ""


def _join(*sentences: str) -> str:
    return " ".join(f"{sentence.rstrip(' .')}." for sentence in sentences if sentence)
