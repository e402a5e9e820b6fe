"""Journal -> Trace: the events of a session become steps, its messages a conversation.

Needs nothing of the host. The same journal gives the same Trace: no clock, no randomness, no order
that is not the journal's own.
"""

from __future__ import annotations

from typing import Any

from .answers import response_cache
from .arguments import refer_to_arguments
from .cost import cost_of
from .differences import stored_otherwise
from .events import TraceSession
from .graph import dependencies, state_graph
from .steps import StepBuilder
from .trace import Trace

# Stands once in PROVIDER_CONFIG; a step says it where it differs.
_PROVIDER_FIELDS = ("provider", "base_url", "api_mode", "model")


def compile_session(session: TraceSession, overrides: dict[str, Any] | None = None) -> Trace:
    """Compile one session. ``overrides`` are the user's prices (see _common/pricing.py)."""
    built = StepBuilder(session)
    for event in session.events:
        built.take(event)
    order = built.conversation.order
    messages = [entry.message for entry in order]
    place = {id(entry): index for index, entry in enumerate(order)}
    for index, entry in enumerate(order):
        if entry.step is not None:
            entry.step["message"] = index
    cost = cost_of(built.steps, overrides or {})
    for step in built.steps:
        if step["kind"] == "context":
            step["messages"] = [place[id(entry)] for entry in step["messages"] if id(entry) in place]
        _leave_out(step, built.provider)
    cache = response_cache(built.steps, messages, built.results)
    refer_to_arguments(built.steps, messages)
    links = dependencies(built.steps, messages)
    built.inexact += stored_otherwise(order, built.results, built.given, built.facts.get("platform"))
    return Trace(
        session=_session(built, session),
        messages=messages,
        steps=built.steps,
        response_cache=cache,
        cost=cost,
        state_graph=state_graph(built.steps, links),
        dependencies=links,
        tool_schemas=built.tools,
        provider_config=built.provider,
        chain=session.chain,
    )


def _leave_out(step: dict[str, Any], provider: dict[str, Any]) -> None:
    """Take off a step what PROVIDER_CONFIG says for all of them."""
    for name in _PROVIDER_FIELDS:
        if name in step and step[name] == provider.get(name):
            del step[name]
    if step.get("response_model") == provider.get("model"):
        step.pop("response_model", None)


def _session(built: StepBuilder, session: TraceSession) -> dict[str, Any]:
    facts = built.facts
    return {
        "session_id": session.session_id,
        "model": built.provider.get("model", facts.get("model")),
        "provider": built.provider.get("provider"),
        "platform": facts.get("platform"),
        "started_at": iso_time(built.start),
        "ended_at": iso_time(built.end),
        "end": "observed" if built.ended else "not observed",
        "original_duration_ms": built.offset(built.end),
        "parent_session_id": facts.get("parent"),
        "predecessor_session_id": facts.get("predecessor"),
        "children": built.children,
        "turns": list(built.turns.values()),
        "tags": facts.get("tags", []),
        "active_skills": built.skills,
        "recorder": facts.get("recorder"),
        "inexact": built.inexact,
        "damage": session.damage,
    }


def iso_time(time: float) -> str:
    """Write epoch seconds as UTC with milliseconds."""
    from datetime import datetime, timezone

    return (
        datetime.fromtimestamp(time, timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    )
