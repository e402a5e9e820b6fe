"""What the user has decided: what is recorded, what is hidden, how long it is kept.

Read from the host's config, as ``plugins.entries.hermes-unroll`` or a section ``unroll``:

    record: true                  record sessions of this profile at all
    exclude_platforms: []         platforms that are not recorded (cli, telegram, cron, subagent ...)
    exclude_chats: []             chats that are not recorded, by the chat id of the platform
    redact: {custom_patterns: []} regular expressions of more that must not be written
    retention: {max_age_days: 30, max_size_mb: 2048}   0 keeps for ever
    tags: []                      written into every trace, with UNROLL_SESSION_TAGS
    pricing_overrides: {}         prices of models the table does not have, USD per million tokens

``/unroll off`` and ``hermes unroll off`` add single sessions and chats; they stand in traces/consent.json.
"""

from __future__ import annotations

import json
import sys
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ._common import config, files

PLUGIN = "hermes-unroll"
SECTION = "unroll"
CONSENT_FORMAT = 1
_CONSENT = ("sessions", "chats", "resumed")
# The chat whose message a gateway is handling, for the commands that it answers before it binds a session.
CHAT: ContextVar[str] = ContextVar("hermes_unroll_chat", default="")
DEFAULT_MAX_AGE_DAYS = 30.0
DEFAULT_MAX_SIZE_MB = 2048.0


@dataclass(frozen=True)
class Settings:
    """The decisions in force for one home. ``problems`` are lines for doctor and the log."""

    record: bool = True
    exclude_platforms: frozenset[str] = frozenset()
    exclude_chats: frozenset[str] = frozenset()
    exclude_sessions: frozenset[str] = frozenset()
    resumed: frozenset[str] = frozenset()  # sessions and chats that were off and are on again
    custom_patterns: tuple[str, ...] = ()
    max_age_days: float = DEFAULT_MAX_AGE_DAYS
    max_size_mb: float = DEFAULT_MAX_SIZE_MB
    tags: tuple[str, ...] = ()
    pricing_overrides: dict[str, Any] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    def records(self, session_id: str, platform: str | None = None, chat: tuple[str, ...] = ()) -> bool:
        """Tell whether a session may be recorded; ``chat`` is the one it is held in, see current_chat()."""
        return (
            self.record
            and (platform or "").lower() not in self.exclude_platforms
            and session_id not in self.exclude_sessions
            and not self.exclude_chats.intersection(chat)
        )

    def was_off(self, session_id: str, chat: tuple[str, ...] = ()) -> bool:
        """Tell whether the host may still show what was said while recording was off."""
        return not self.resumed.isdisjoint((session_id, *chat))


def current_chat() -> tuple[str, ...]:
    """Return the messaging chat the host is serving in this context, as its id; empty outside a gateway."""
    context = sys.modules.get("gateway.session_context")
    read = getattr(context, "get_session_env", None)
    try:
        chat = read("HERMES_SESSION_CHAT_ID", "") if read else ""
    except Exception:
        chat = ""
    # A task inherits CHAT from the one that started it, so what the host has bound comes first.
    chat = chat or CHAT.get()
    return (str(chat),) if chat else ()


def load(home: Path) -> Settings:
    """Read the settings of a home.

    What cannot be read has its default and a line in ``problems``; where that leaves open what must not
    be recorded or written, nothing is recorded.
    """
    import os

    found = config.plugin_settings(PLUGIN, SECTION, config.read_config(home))
    read = _Reader(found)
    tags = os.environ.get("UNROLL_SESSION_TAGS", "").split(",")
    consent, consent_problem = _consent(home)
    unreadable = found.problem or (None if found.known else "the config is unreadable")
    settings = Settings(
        record=read.flag("record", True),
        exclude_platforms=frozenset(name.lower() for name in read.names("exclude_platforms")),
        exclude_chats=read.names("exclude_chats") | consent.get("chats", frozenset()),
        exclude_sessions=consent.get("sessions", frozenset()),
        resumed=consent.get("resumed", frozenset()),
        custom_patterns=tuple(sorted(read.names("redact.custom_patterns"))),
        max_age_days=read.number("retention.max_age_days", DEFAULT_MAX_AGE_DAYS),
        max_size_mb=read.number("retention.max_size_mb", DEFAULT_MAX_SIZE_MB),
        tags=tuple(sorted({tag.strip() for tag in tags if tag.strip()} | read.names("tags"))),
        pricing_overrides=read.table("pricing_overrides"),
    )
    if settings.pricing_overrides:
        from ._common.pricing import read_overrides

        wrong = read_overrides(settings.pricing_overrides).problems
        read.problems += [f"{SECTION}.pricing_overrides: {problem}" for problem in wrong]
    read.check_names()
    stops = [problem for problem in (consent_problem, unreadable, *read.consent_problems) if problem]
    problems = [f"nothing is recorded: {problem}" for problem in stops] + read.problems
    return replace(settings, record=settings.record and not stops, problems=tuple(problems))


_DECISIONS = ("record", "exclude_", "redact")
_KNOWN = (
    *("record", "exclude_platforms", "exclude_chats", "redact.custom_patterns"),
    *("retention.max_age_days", "retention.max_size_mb", "tags", "pricing_overrides"),
)


def _paths(values: Any, start: str = "") -> list[str]:
    """Return the paths of the settings that are there, into the tables that settings are kept in."""
    found = []
    for name, value in values.items():
        path = f"{start}{name}"
        is_table = isinstance(value, dict) and any(known.startswith(f"{path}.") for known in _KNOWN)
        found += _paths(value, f"{path}.") if is_table else [path]
    return found


class _Reader:
    """Reads typed settings and notes what is of another type."""

    def __init__(self, settings: config.PluginSettings) -> None:
        self._get = settings.get
        self._values = settings.values
        self.problems: list[str] = []
        self.consent_problems: list[str] = []

    def _wrong(self, path: str, expected: str, default: Any) -> Any:
        if path.startswith(_DECISIONS):
            self.consent_problems.append(f"{SECTION}.{path} is not {expected}")
        else:
            self.problems.append(f"{SECTION}.{path} is not {expected}; the default is used")
        return default

    def check_names(self) -> None:
        """Note settings that do not exist: one may be a decision on recording, misspelt."""
        from difflib import get_close_matches

        for path in _paths(self._values):
            if path in _KNOWN:
                continue
            meant = get_close_matches(path, _KNOWN, 1, 0.75)
            decision = (meant[0] if meant else path).startswith(_DECISIONS)
            what = f"is no setting{f'; did you mean {meant[0]}?' if meant else ''}"
            if any(known.startswith(f"{path}.") for known in _KNOWN):
                what = "is not a table"
            problems = self.consent_problems if decision else self.problems
            problems.append(f"{SECTION}.{path} {what}")

    def flag(self, path: str, default: bool) -> bool:
        value = self._get(path)
        if value is None or isinstance(value, bool):
            return default if value is None else value
        return self._wrong(path, "true or false", default)

    def number(self, path: str, default: float) -> float:
        value = self._get(path)
        if value is None:
            return default
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0:
            return float(value)
        return self._wrong(path, "a number of at least 0", default)

    def names(self, path: str) -> frozenset[str]:
        value = self._get(path)
        if value is None:
            return frozenset()
        if isinstance(value, (list, tuple)) and all(isinstance(item, (str, int)) for item in value):
            return frozenset(str(item) for item in value)
        return self._wrong(path, "a list of texts", frozenset())

    def table(self, path: str) -> dict[str, Any]:
        value = self._get(path)
        if value is None or isinstance(value, dict):
            return value or {}
        return self._wrong(path, "a table", {})


def consent_path(home: Path) -> Path:
    return home / "traces" / "consent.json"


def _consent(home: Path) -> tuple[dict[str, frozenset[str]], str | None]:
    try:
        data = json.loads(consent_path(home).read_bytes())
        return {name: frozenset(map(str, data.get(name, []))) for name in _CONSENT}, None
    except FileNotFoundError:
        return {}, None
    except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
        # Whoever said no is not recorded because a file broke: nothing is until it is mended.
        return {}, f"traces/consent.json cannot be read ({error}); remove it or mend it"


def set_consent(home: Path, name: str, value: str, allowed: bool) -> None:
    """Switch recording of one session or chat (``name`` is "sessions" or "chats") on or off for good."""
    consent, problem = _consent(home)
    if problem:
        raise ValueError(problem)
    values = {key: set(consent.get(key, ())) for key in _CONSENT}
    if allowed and value in values[name]:
        values["resumed"].add(value)
    (values[name].discard if allowed else values[name].add)(value)
    text = json.dumps({"format": CONSENT_FORMAT, **{key: sorted(items) for key, items in values.items()}})
    files.write_atomic(consent_path(home), text.encode("utf-8"))
