"""What depends on what: the dependencies between steps, and the state graph made of them."""

from __future__ import annotations

from typing import Any

from .events import EventKind

_MESSAGE_STEPS = (EventKind.SYSTEM_PROMPT, EventKind.USER_MESSAGE, EventKind.LLM_CALL, EventKind.TOOL_CALL)


def dependencies(steps: list[dict[str, Any]], messages: list[dict[str, Any]]) -> dict[int, list[int]]:
    """Return for each step the earlier steps it follows from.

    A request follows from the messages that came since the reply before it, and from that reply; a
    reply from its request; a tool's start from the reply that asked for it; its result from its start.
    Steps of a background review depend on one another only.
    """
    main, background = _Lines(), _Lines()
    calls: dict[str, int] = {}  # tool call id -> step of the reply that asked for it, the last one
    started: dict[Any, list[int]] = {}  # tool call id -> starts whose result has not come
    open_tools: list[int] = []  # starts whose result has not come, the outermost first
    children: dict[Any, int] = {}
    links: dict[int, list[int]] = {}
    for index, step in enumerate(steps):
        kind, call_id, child = (
            step["kind"],
            _key(step.get("tool_call_id")),
            _key(step.get("child_session_id")),
        )
        line = background if step.get("background") else main
        if kind == EventKind.PRE_API_REQUEST:
            found = [*line.before(), *line.inputs]
            line.request, line.inputs = index, []
        elif kind in (EventKind.POST_API_REQUEST, EventKind.API_REQUEST_ERROR, EventKind.STREAM_DELTA):
            found = line.last("request")
            if kind == EventKind.POST_API_REQUEST:
                line.answer = index
        elif kind == EventKind.LLM_CALL:
            found = line.last("answer") or [*line.before(), *line.inputs]
            line.reply, line.answer, line.inputs = index, None, []
            message = messages[step["message"]] if "message" in step else {}
            for call in message.get("tool_calls") or []:
                if isinstance(call, dict) and isinstance(call.get("id"), str):
                    calls[call["id"]] = index
        elif kind in (EventKind.PRE_TOOL_CALL, EventKind.TOOL_CALL):
            key = (call_id, _key(step.get("name")))
            if kind == EventKind.PRE_TOOL_CALL:
                found = [calls[call_id]] if call_id in calls else open_tools[-1:]
                started.setdefault(key, []).append(index)
                open_tools.append(index)
            else:
                starts = started.get(key)
                found = (
                    [starts.pop(0)] if starts else [calls[call_id]] if call_id in calls else open_tools[-1:]
                )
                if found and found[0] in open_tools:
                    open_tools.remove(found[0])
        elif kind == EventKind.SUBAGENT_STOP and child in children:
            found = [children[child]]
        elif kind in (EventKind.SUBAGENT_START, EventKind.SKILL_VIEW):
            found = open_tools[-1:]
            if kind == EventKind.SUBAGENT_START:
                children[child] = index
        elif kind in (EventKind.TURN_END, "context"):
            found = line.before()
        else:
            found = []
        if kind in _MESSAGE_STEPS and kind != EventKind.LLM_CALL and not step.get("inner"):
            line.inputs.append(index)
        links[index] = found
    return links


class _Lines:
    """Where one line of requests and replies stands."""

    def __init__(self) -> None:
        self.request: int | None = None
        self.answer: int | None = None
        self.reply: int | None = None
        self.inputs: list[int] = []

    def last(self, name: str) -> list[int]:
        value = getattr(self, name)
        return [] if value is None else [value]

    def before(self) -> list[int]:
        return self.last("reply")


def state_graph(steps: list[dict[str, Any]], links: dict[int, list[int]]) -> dict[str, Any]:
    """Return {nodes, edges, subgraphs}: nodes are steps, edges dependencies, subgraphs turns and children."""
    subgraphs: list[dict[str, Any]] = []
    turns: dict[int, dict[str, Any]] = {}
    children: dict[Any, dict[str, Any]] = {}
    for index, step in enumerate(steps):
        turn = step.get("turn")
        if turn is not None:
            if turn not in turns:
                turns[turn] = {"kind": "turn", "turn": turn, "start": index, "stop": index}
                subgraphs.append(turns[turn])
            turns[turn]["stop"] = index
        child = _key(step.get("child_session_id"))
        if step["kind"] == EventKind.SUBAGENT_START:
            children[child] = {
                "kind": "subagent",
                "role": step.get("child_role"),
                "child_session_id": step.get("child_session_id"),
                "start": index,
                "stop": None,
            }
            subgraphs.append(children[child])
        elif step["kind"] == EventKind.SUBAGENT_STOP and child in children:
            children[child]["stop"] = index
    return {
        "nodes": [{"id": index, "label": _label(step)} for index, step in enumerate(steps)],
        "edges": [[before, index] for index, found in links.items() for before in found],
        "subgraphs": subgraphs,
    }


def _key(value: Any) -> str | None:
    """Make a dict's key of what a host named something by: it may be any value."""
    return value if value is None or isinstance(value, str) else repr(value)


def _label(step: dict[str, Any]) -> str:
    name = step.get("name") or step.get("child_role")
    return f"{step['kind']}:{name}" if isinstance(name, str) else step["kind"]
