"""Events -> steps: what each event says, and what the host's message lists say about it afterwards."""

from __future__ import annotations

import json
from typing import Any

from .conversation import SUMMARY, Conversation, Entry, call_of
from .events import STEP_KINDS, EventKind, RecordKind, TraceEvent, TraceSession
from .values import encode

# What an event carries for the compiler alone, and what the message of a step says already.
_INTERNAL = frozenset(
    {"turn", "task", "platform", "sender_id", "started_at", "args_of", "tools"}
    | {"content", "reasoning", "reasoning_content", "tool_calls", "result"}
)


class StepBuilder:
    """What the events of one session have come to so far. Give them to take() in order."""

    def __init__(self, session: TraceSession) -> None:
        self.session = session
        self.steps: list[dict[str, Any]] = []
        self.results: dict[str, Any] = {}  # event id -> what the tool returned
        self.replies: dict[tuple[str, int], dict[str, Any]] = {}  # event -> the reply it recorded
        self.conversation = Conversation()
        self.last_reply: dict[str, tuple[Entry, list[dict[str, Any]], set[int]]] = {}
        self.turns: dict[str, dict[str, Any]] = {}
        self.facts: dict[str, Any] = {}
        self.inexact: list[dict[str, Any]] = []
        # The note on an interrupted turn's end, and the predictions it is about, until a list comes.
        self.unsure: tuple[dict[str, Any], list[Entry]] | None = None
        self.last_list: str | None = None  # the segment whose message list came last
        self.interleaved = False
        self.children: list[str] = []
        self.skills: list[str] = []
        self.tools: list[Any] = []
        self.provider: dict[str, Any] = {}
        self.ended = False
        self.announced: str | None = None  # the segment in which the host announced the session as a new one
        self.given: set[int] = set()  # ids of the entries that were there before the session's first message
        self.start = session.events[0].time if session.events else 0.0
        self.end = session.events[-1].time if session.events else 0.0

    # Events -> steps ------------------------------------------------------------------------

    def take(self, event: TraceEvent) -> None:
        if event.kind in STEP_KINDS:
            step = self._step(event)
            handler = _HANDLERS.get(event.kind)
            if handler:
                handler(self, event, step)
        elif event.kind == RecordKind.HISTORY:
            self._follow(event)
        elif event.kind == RecordKind.SEGMENT:
            self._tell("recorder", event.data.get("recorder"))
            self._tell("tags", event.data.get("tags"))
            if event.data.get("lost"):
                self._note("events", f"{event.data['lost']} events could not be written", event.event_id)
        elif event.kind == RecordKind.SESSION:
            self.announced = event.segment
            self._tell("model", event.data.get("model"))
            self._tell("platform", event.data.get("platform"))
        elif event.kind == RecordKind.LINEAGE:
            for name in ("parent", "predecessor"):
                self._tell(name, event.data.get(name))

    def _tell(self, name: str, value: Any) -> None:
        """Keep the first thing said about the session under a name."""
        if value is not None:
            self.facts.setdefault(name, value)

    def _step(self, event: TraceEvent) -> dict[str, Any]:
        step: dict[str, Any] = {
            "kind": event.kind,
            "event_id": event.event_id,
            "offset_ms": self.offset(event.time),
            "duration_ms": None,
        }
        turn = self._turn(event)
        if turn is not None:
            step["turn"] = turn
        step.update((name, value) for name, value in event.data.items() if name not in _INTERNAL)
        self.steps.append(step)
        return step

    def offset(self, time: float) -> int:
        return max(0, round((time - self.start) * 1000))

    def _turn(self, event: TraceEvent) -> int | None:
        """Number the turns of the conversation; a background review has none."""
        turn_id = event.data.get("turn")
        if not isinstance(turn_id, str) or event.data.get("background"):
            return None
        turn = self.turns.get(turn_id)
        if turn is None:
            number = len(self.turns) + 1
            turn = self.turns[turn_id] = {
                "turn": number,
                "completed": None,
                "interrupted": None,
                "error": None,
            }
        return turn["turn"]

    def _system_prompt(self, event: TraceEvent, step: dict[str, Any]) -> None:
        message = {"role": "system", "content": event.data.get("content")}
        before = self.conversation.system
        if before is not None and before.message == message:
            # Another process has picked the session up.
            step["repeated"] = True
            return
        self.conversation.set_system(message, event.segment).step = step
        if before is not None:
            self._context_step(event, "system_prompt")

    def _user_message(self, event: TraceEvent, step: dict[str, Any]) -> None:
        self._tell("model", event.data.get("model"))
        self._tell("platform", event.data.get("platform"))
        message = {"role": "user", "content": event.data.get("content")}
        if event.data.get("background"):
            step["content"] = message["content"]
        else:
            self.conversation.predict(message, event.segment).step = step

    def _llm_call(self, event: TraceEvent, step: dict[str, Any]) -> None:
        data = event.data
        calls = [call for call in data.get("tool_calls") or [] if isinstance(call, dict)]
        self.replies[event.segment, event.number] = data
        message: dict[str, Any] = {"role": "assistant", "content": _flat(data.get("content"))}
        reasoning = data.get("reasoning") or data.get("reasoning_content")
        if reasoning is not None:
            message["reasoning"] = reasoning
            message["reasoning_content"] = data.get("reasoning_content") or reasoning
        if calls:
            message["tool_calls"] = [
                {
                    "id": call.get("id"),
                    "type": "function",
                    "function": {"name": call.get("name"), "arguments": call.get("arguments")},
                }
                for call in calls
            ]
        if data.get("background"):
            self.results[event.event_id] = message
            return
        entry = self.conversation.predict(message, event.segment)
        entry.step = step
        self.last_reply[event.segment] = (entry, calls, set())

    def _post_api_request(self, event: TraceEvent, step: dict[str, Any]) -> None:
        if not event.data.get("background"):
            self.provider.update(
                (name, event.data[name])
                for name in ("provider", "base_url", "api_mode", "model")
                if name in event.data
            )

    def _api_request_error(self, event: TraceEvent, step: dict[str, Any]) -> None:
        turn = self.turns.get(event.data.get("turn", ""))
        if turn is not None:
            turn["error"] = {
                name: event.data[name] for name in ("status_code", "reason", "error") if name in event.data
            }

    def _pre_api_request(self, event: TraceEvent, step: dict[str, Any]) -> None:
        turn = self.turns.get(event.data.get("turn", ""))
        if turn is not None:
            turn["error"] = None
        self._post_api_request(event, step)

    def _pre_tool_call(self, event: TraceEvent, step: dict[str, Any]) -> None:
        step["args"] = self._args(event)

    def _skill_view(self, event: TraceEvent, step: dict[str, Any]) -> None:
        skill = event.data.get("skill")
        step["name"] = skill
        step.pop("skill", None)
        if isinstance(skill, str) and skill not in self.skills:
            self.skills.append(skill)

    def _tool_call(self, event: TraceEvent, step: dict[str, Any]) -> None:
        data = event.data
        step["args"] = self._args(event)
        self.results[event.event_id] = data.get("result")
        if data.get("background") or data.get("inner"):
            return
        asked = self._asked(event, step)
        if asked is None:
            step["inner"] = True
            return
        if data.get("error_type") == "keyboard_interrupt":
            step["stored"] = False
            return
        entry, rank = asked
        message = {
            "role": "tool",
            "content": data.get("result"),
            "tool_call_id": data.get("tool_call_id"),
            "tool_name": data.get("name"),
        }
        self.conversation.predict_tool(message, event.segment, entry, rank).step = step

    def _asked(self, event: TraceEvent, step: dict[str, Any]) -> tuple[Entry, int] | None:
        """Find the call that a tool ran for: by id, else (the host makes up missing ids) by name."""
        reply = self.last_reply.get(event.segment)
        if reply is None:
            return None
        entry, calls, served = reply
        call_id, name = event.data.get("tool_call_id"), event.data.get("name")
        for matches in (
            # One id may stand for two calls; then the arguments tell them apart.
            lambda call: _has_id(call, call_id) and _parsed(call.get("arguments")) == step.get("args"),
            lambda call: _has_id(call, call_id),
            lambda call: not _stripped(call.get("id")) and call.get("name") == name,
        ):
            for rank, call in enumerate(calls):
                if rank not in served and matches(call):
                    served.add(rank)
                    return entry, rank
        return None

    def _args(self, event: TraceEvent) -> Any:
        """Return what a tool was called with: recorded with the event, or the arguments text of the reply."""
        if "args_of" not in event.data:
            return event.data.get("args")
        reply = self.replies.get((event.segment, event.data["args_of"]), {})
        for call in reply.get("tool_calls") or []:
            if call.get("id") == event.data.get("tool_call_id"):
                try:
                    return encode(json.loads(call.get("arguments")))
                except (TypeError, ValueError, RecursionError):
                    break
        self._note("args", "the reply that holds the arguments is missing", event.event_id)
        return None

    def _subagent_start(self, event: TraceEvent, step: dict[str, Any]) -> None:
        child = event.data.get("child_session_id")
        if isinstance(child, str) and child not in self.children:
            self.children.append(child)

    def _subagent_stop(self, event: TraceEvent, step: dict[str, Any]) -> None:
        self._subagent_start(event, step)

    def _tool_schemas(self, event: TraceEvent, step: dict[str, Any]) -> None:
        tools = event.data.get("tools")
        self.tools = tools if isinstance(tools, list) else []
        step["names"] = [_schema_name(tool) for tool in self.tools]

    def _turn_end(self, event: TraceEvent, step: dict[str, Any]) -> None:
        turn = self.turns.get(event.data.get("turn", ""))
        if turn is None:
            return
        turn["completed"] = event.data.get("completed")
        turn["interrupted"] = event.data.get("interrupted")
        if turn["interrupted"] and event.data.get("reason") != "keyboard_interrupt":
            self._interrupted(event)

    def _interrupted(self, event: TraceEvent) -> None:
        """Predict what the host stores for an interrupted turn: no hook tells, only the next turn's list."""
        tail = self.conversation.active[-1] if self.conversation.active else None
        reply, calls, served = self.last_reply.get(event.segment, (None, [], set()))
        waiting = [] if reply is None else [rank for rank in range(len(calls)) if rank not in served]
        why = "the turn was interrupted: the host tells no hook what it stores then"
        if tail is None or tail.message.get("role") == "user":
            self._note_end(f"{why}; an answer cut while it streamed is missing", [], event)
        if tail is None or reply is None or (tail is not reply and tail.asked_by is not reply):
            return
        entries = []
        for rank in waiting:
            call_id, name = calls[rank].get("id"), calls[rank].get("name")
            text = f"[Tool execution skipped — {name} was not started. User sent a new message]"
            message = {"role": "tool", "content": text, "tool_call_id": call_id, "tool_name": name}
            served.add(rank)
            entries.append(self.conversation.predict_tool(message, event.segment, reply, rank))
        if calls:
            message = {"role": "assistant", "content": "Operation interrupted."}
            entries.append(self.conversation.predict(message, event.segment))
        for place, entry in enumerate(entries):
            self._step_from_list(event, entry, place, "predicted")
        self._note_end(f"{why}; its last messages are predicted", entries, event)

    def _note_end(self, why: str, predicted: list[Entry], event: TraceEvent) -> None:
        """Note what is not known of a turn's end until the next message list tells."""
        self._note("messages", why, event.event_id)
        self.unsure = (self.inexact[-1], predicted)

    def _sure(self) -> None:
        """A message list has come: what it says of an interrupted turn's end is no prediction any more."""
        if self.unsure is None:
            return
        (note, predicted), self.unsure = self.unsure, None
        self.inexact.remove(note)
        for entry in predicted:
            if entry.confirmed and entry.step is not None:
                entry.step["source"] = "message list"

    def _session_end(self, event: TraceEvent, step: dict[str, Any]) -> None:
        self.ended = True

    def _inexact_event(self, event: TraceEvent, step: dict[str, Any]) -> None:
        self._note(event.data.get("what"), event.data.get("why"), event.event_id)

    def _note(self, what: Any, why: Any, event_id: str) -> None:
        self.inexact.append({"what": what, "why": why, "event_id": event_id})

    # The host's message list ------------------------------------------------------------------

    def _follow(self, event: TraceEvent) -> None:
        added = []
        for name in event.data.get("add", ()):
            message = self.session.messages.get(name)
            if message is None:
                self._note("messages", f"the journal lacks message {name}", event.event_id)
            else:
                added.append(message)
        first = not self.conversation.followed
        if self.last_list not in (None, event.segment) and event.data.get("keep") and not self.interleaved:
            self.interleaved = True
            self._note(
                "messages",
                "two processes worked on this session at once: the conversation is the one of the list that "
                "came last, what only the other process was told stands in its steps",
                event.event_id,
            )
        self.last_list = event.segment
        change = self.conversation.follow(event.segment, event.data.get("keep", 0), added)
        self._sure()
        for entry in change.dropped:
            if entry.step is not None:
                entry.step["stored"] = False
                if entry.step["kind"] == EventKind.USER_MESSAGE:
                    entry.step["content"] = entry.message.get("content")
                self.results.setdefault(entry.step["event_id"], entry.message)
        for entry in change.returned:
            if entry.step is not None:
                entry.step.pop("stored")
                entry.step.pop("content", None)
        if change.replaced:
            self._context_step(event, "rewritten")
            return
        if first:
            self._note_beginning(event)
        for place, entry in enumerate(change.added):
            self._step_from_list(event, entry, place)

    def _note_beginning(self, event: TraceEvent) -> None:
        """Note the messages that the first list holds before what the user said first."""
        active = self.conversation.active
        asked = next((n for n, entry in enumerate(active) if entry.step is not None), 0)
        if asked and self.announced == event.segment:
            self.given = {id(entry) for entry in active[:asked]}
        elif asked:
            self._note(
                "messages",
                f"{asked} messages were there before recording began; "
                "a client may have brought them, then the host does not store them",
                event.event_id,
            )

    def _step_from_list(
        self, event: TraceEvent, entry: Entry, place: int, source: str = "message list"
    ) -> None:
        """Make the step of a message that no hook reported: an unknown tool, a cancelled call."""
        role = entry.message.get("role")
        kind = _KIND_OF_ROLE.get(role if isinstance(role, str) else "", EventKind.USER_MESSAGE)
        step: dict[str, Any] = {
            "kind": kind,
            "event_id": f"{event.event_id}.{place}",
            "offset_ms": self.offset(event.time),
            "duration_ms": None,
            "source": source,
        }
        if kind == EventKind.TOOL_CALL:
            call = self._call_before(entry)
            step["name"] = entry.message.get("tool_name") or entry.message.get("name") or call[0]
            step["args"] = call[1]
            step["tool_call_id"] = entry.message.get("tool_call_id")
        entry.step = step
        self.steps.append(step)

    def _call_before(self, entry: Entry) -> tuple[Any, Any]:
        """Return name and arguments of the call that a stored tool message answers."""
        active = self.conversation.active
        for other in reversed(active[: active.index(entry)]):
            for call in other.message.get("tool_calls") or []:
                if isinstance(call, dict) and call.get("id") == entry.message.get("tool_call_id"):
                    name, arguments = call_of(call)
                    try:
                        return name, encode(json.loads(arguments))
                    except (TypeError, ValueError, RecursionError):
                        return name, arguments
        return None, None

    def _context_step(self, event: TraceEvent, reason: str) -> None:
        system = [self.conversation.system] if self.conversation.system else []
        entries = system + self.conversation.active
        summary = any(entry.message.get(SUMMARY) for entry in entries)
        self.steps.append(
            {
                "kind": "context",
                "event_id": f"{event.event_id}.c",
                "offset_ms": self.offset(event.time),
                "duration_ms": None,
                "reason": "compaction" if summary and reason == "rewritten" else reason,
                "messages": entries,
            }
        )


_HANDLERS = {
    EventKind.SYSTEM_PROMPT: StepBuilder._system_prompt,
    EventKind.USER_MESSAGE: StepBuilder._user_message,
    EventKind.LLM_CALL: StepBuilder._llm_call,
    EventKind.POST_API_REQUEST: StepBuilder._post_api_request,
    EventKind.API_REQUEST_ERROR: StepBuilder._api_request_error,
    EventKind.PRE_API_REQUEST: StepBuilder._pre_api_request,
    EventKind.PRE_TOOL_CALL: StepBuilder._pre_tool_call,
    EventKind.SKILL_VIEW: StepBuilder._skill_view,
    EventKind.TOOL_CALL: StepBuilder._tool_call,
    EventKind.TOOL_SCHEMAS: StepBuilder._tool_schemas,
    EventKind.SUBAGENT_START: StepBuilder._subagent_start,
    EventKind.SUBAGENT_STOP: StepBuilder._subagent_stop,
    EventKind.TURN_END: StepBuilder._turn_end,
    EventKind.SESSION_END: StepBuilder._session_end,
    EventKind.INEXACT: StepBuilder._inexact_event,
}
_KIND_OF_ROLE = {
    "assistant": EventKind.LLM_CALL,
    "tool": EventKind.TOOL_CALL,
    "system": EventKind.SYSTEM_PROMPT,
}


def _flat(content: Any) -> Any:
    """Give a reply's text the form the host stores: without outer blanks, empty where there is none."""
    return content.strip() if isinstance(content, str) else "" if content is None else content


def _has_id(call: dict[str, Any], call_id: Any) -> bool:
    return isinstance(call_id, str) and _stripped(call.get("id")) == call_id.strip()


def _parsed(arguments: Any) -> Any:
    try:
        return encode(json.loads(arguments))
    except (TypeError, ValueError, RecursionError):
        return None


def _stripped(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _schema_name(tool: Any) -> Any:
    function = tool.get("function") if isinstance(tool, dict) else None
    return (
        function.get("name")
        if isinstance(function, dict)
        else tool.get("name")
        if isinstance(tool, dict)
        else None
    )
