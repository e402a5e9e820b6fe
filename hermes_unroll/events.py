"""The words of a journal: kinds of records, one event as read back, one session's events together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


class EventKind:
    """What an event says. Each of these becomes a step of the trace."""

    SYSTEM_PROMPT = "system_prompt"
    USER_MESSAGE = "user_message"
    LLM_CALL = "llm_call"
    TOOL_CALL = "tool_call"
    PRE_TOOL_CALL = "pre_tool_call"
    SKILL_VIEW = "skill_view"
    PRE_API_REQUEST = "pre_api_request"
    TOOL_SCHEMAS = "tool_schemas"
    POST_API_REQUEST = "post_api_request"
    API_REQUEST_ERROR = "api_request_error"
    SUBAGENT_START = "subagent_start"
    SUBAGENT_STOP = "subagent_stop"
    STREAM_DELTA = "on_stream_delta"
    # Markers of the recorder's own.
    TURN_END = "turn_end"
    SESSION_END = "session_end"
    INEXACT = "inexact"


class RecordKind:
    """What a journal holds besides events: they become no step of their own."""

    SEGMENT = "segment"  # first line of a segment: who writes it
    SESSION = "session"  # the host announced the session: model, platform
    LINEAGE = "lineage"  # a parent or predecessor became known
    TEXT = "text"  # a long text, stored once and referred to
    MESSAGE = "message"  # a message of the conversation, stored once and referred to
    HISTORY = "history"  # the host's message list, as the change against the list before


STEP_KINDS = frozenset(
    value for name, value in vars(EventKind).items() if name.isupper() and isinstance(value, str)
)


@dataclass(frozen=True)
class TraceEvent:
    """One record of a journal segment, texts resolved.

    ``segment`` and ``number`` identify it for good; ``time`` is epoch seconds (UTC), never running
    backwards within a segment.
    """

    kind: str
    segment: str
    number: int
    time: float
    data: dict[str, Any]

    @property
    def event_id(self) -> str:
        return f"{self.segment}:{self.number}"


@dataclass
class TraceSession:
    """All that the journal of one session holds, segments merged in order of time."""

    session_id: str
    home: str
    events: list[TraceEvent] = field(default_factory=list)
    messages: dict[str, dict[str, Any]] = field(default_factory=dict)
    chain: dict[str, dict[str, Any]] = field(default_factory=dict)
    damage: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)  # segments that do not hold what a trace was compiled from
