"""Whatever the host passes to a hook is recorded or marked, and what comes out compiles, parses and replays.

SOAK=10 tries ten times as many sequences; scripts/soak-journal does that.
"""

from __future__ import annotations

import ast
import json
import os
import runpy
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_unroll import hooks, sealing
from hermes_unroll.reader import read_trace
from tests.unroll.conftest import Faults
from tests.unroll.host_driver import Host, forget_everything

SOAK = int(os.environ.get("SOAK", "1"))


class Hostile:
    """An object whose attributes and text cannot be had."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __str__(self) -> str:
        raise RuntimeError("no text")


def circular() -> list[Any]:
    around: list[Any] = [{"role": "user"}]
    around[0]["content"] = around
    return around


def deep() -> Any:
    value: Any = "bottom"
    for number in range(250):
        value = [value] if number % 2 else {"k": value}
    return value


texts = st.text(max_size=30) | st.sampled_from(
    [
        "",
        " ",
        "\ud83d",
        "a\x00b",
        "\u2028",
        "{{",
        "'''",
        '"""',
        "\\",
        "x" * 5000,
        "\n" * 300,
        'DIGEST = "',
        "__unroll__",
    ]
)
junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | texts
    | st.binary(max_size=5)
    | st.datetimes()
    | st.builds(Hostile)
    | st.builds(object)
    | st.builds(circular)
    | st.builds(deep)
    | st.builds(lambda: 10**5000)
    | st.sets(st.integers() | st.text(max_size=3), max_size=3),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(texts | st.integers() | st.none() | st.binary(max_size=2), inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["role", "content", "id", "function", "name", "type"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)
ids = st.sampled_from(["one", "two", "", None, 7, "\ud83d", "a\nb", "x" * 300, b"bytes"])
calls = st.lists(
    st.builds(
        lambda form, name, call_id, arguments: (
            {"id": call_id, "function": {"name": name, "arguments": arguments}}
            if form
            else SimpleNamespace(id=call_id, name=name, arguments=arguments)
        ),
        st.booleans(),
        texts,
        ids,
        texts | st.just('{"command": "ls"}') | junk,
    ),
    max_size=3,
)
messages = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "tool", "system", "developer", None, 1]),
        "content": texts | junk,
    },
    optional={
        "tool_calls": calls.map(lambda found: [call for call in found if isinstance(call, dict)]) | junk,
        "tool_call_id": ids,
        "reasoning": texts,
        "_empty_recovery_synthetic": st.booleans(),
        "_compressed_summary": st.booleans(),
        "name": texts,
    },
)
lists = st.lists(messages, max_size=5) | st.lists(junk, max_size=3)
replies = st.builds(
    lambda content, found, reasoning: SimpleNamespace(content=content, tool_calls=found, reasoning=reasoning),
    texts | junk,
    calls | st.none(),
    texts | st.none(),
)
usages = st.dictionaries(
    st.sampled_from(
        ["input_tokens", "output_tokens", "prompt_tokens", "completion_tokens", "cache_read_tokens"]
    ),
    st.integers(-5, 10**18) | junk,
    max_size=4,
)
likely = {
    "session_id": ids,
    "parent_session_id": ids,
    "child_session_id": ids,
    "task_id": ids,
    "turn_id": ids,
    "api_request_id": ids,
    "tool_call_id": ids,
    "tool_name": st.sampled_from(["terminal", "skill_view", "execute_code"]) | texts,
    "args": st.dictionaries(texts, junk, max_size=3),
    "user_message": texts,
    "conversation_history": lists,
    "request_messages": lists,
    "request": st.fixed_dictionaries(
        {}, optional={"tools": lists, "body": st.dictionaries(texts, junk, max_size=2)}
    ),
    "assistant_message": replies,
    "usage": usages,
    "delta": texts,
    "duration_ms": st.integers() | st.floats(),
    "api_duration": st.integers() | st.floats(),
    "completed": st.booleans(),
    "interrupted": st.booleans(),
    "platform": texts,
    "model": texts,
    "provider": texts,
    "reason": texts,
    "error": st.dictionaries(texts, junk, max_size=2),
    "error_type": st.sampled_from(["keyboard_interrupt", "tool_error"]) | texts,
    "result": texts | junk,
    "event": st.builds(SimpleNamespace, source=st.builds(SimpleNamespace, chat_id=ids)),
    "old_session_id": ids,
    "kind": texts,
    "child_goal": texts,
}
kwargs = st.fixed_dictionaries({}, optional={name: values | junk for name, values in likely.items()})
sequences = st.lists(
    st.tuples(
        st.sampled_from(sorted({**hooks.HOOKS, **hooks.MIDDLEWARE})),
        kwargs,
        st.sampled_from([None, None, None, "bg-review", "Thread-4 (_runner)"]),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.once
@settings(
    max_examples=100 * SOAK,
    deadline=None,
    suppress_health_check=[
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
        HealthCheck.function_scoped_fixture,
    ],
)
@given(calls=sequences)
def test_any_arguments_in_any_order_are_recorded_compiled_and_replayed(calls: Any, faults: Faults) -> None:
    with tempfile.TemporaryDirectory() as scratch, mock.patch.dict(os.environ, HERMES_HOME=scratch):
        forget_everything()
        host = Host(Path(scratch))
        for hook, arguments, thread in calls:
            host.fire(hook, thread=thread, **arguments)
        host.stop()
        assert faults.take() == []
        recorded = list(sealing.journals(host.home))
        for directory in recorded:
            assert_replays(sealing.seal(host.home, directory))
        assert len(host.programs()) == len(recorded)


def assert_replays(program: Path) -> None:
    source = program.read_bytes()
    assert source.isascii()
    for node in ast.walk(ast.parse(source.partition(b"\nDIGEST = ")[0])):
        assert not isinstance(node, (ast.Call, ast.Attribute, ast.JoinedStr, ast.Lambda))
    data = read_trace(str(program))
    assert len({step["event_id"] for step in data["TIMELINE"]}) == len(data["TIMELINE"])
    namespace = runpy.run_path(str(program))
    result = namespace["replay"]()
    json.dumps(result, allow_nan=False)
    assert len(result["steps"]) == len(data["TIMELINE"])
    assert data["CONVERSATION_HISTORY"] == namespace["CONVERSATION_HISTORY"]
    assert all(message in data["CONVERSATION_HISTORY"] for message in result["messages"])
