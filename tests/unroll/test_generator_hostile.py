"""Whatever a session holds, its program parses, runs nothing of it and gives every value back.

UNROLL_TEST_EXAMPLES sets how many sessions are tried; scripts/fuzz-generator runs more of them.
"""

import ast
import builtins
import contextlib
import io
import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_unroll.generator import generate_trace_program, verify_program
from hermes_unroll.trace import Trace
from hermes_unroll.values import encode
from tests.unroll.trace_samples import load

EXAMPLES = int(os.environ.get("UNROLL_TEST_EXAMPLES", "200"))

# Every one of these adds to SENTINEL if it is ever executed.
CALL = "__import__('builtins').SENTINEL.append(1)"
BREAKOUTS = [
    *(
        f"'\n{CALL}\n'",
        f'"\n{CALL}\n"',
        f'"""\n{CALL}\n"""',
        f"'''\n{CALL}\n'''",
        f"'); {CALL} #",
        f'"); {CALL} #',
    ),
    *(
        f"\r{CALL}",
        f"\x0c{CALL}",
        f"\u2028{CALL}",
        f"\\\n{CALL}",
        f"{{{CALL}}}",
        f"{{{{{CALL}}}}}",
        f"%({CALL})s",
    ),
    *(
        f"\x00\n{CALL}",
        f"\\'\n{CALL}",
        f"\\N{{x}}\n{CALL}",
        f"]\n{CALL}\n[",
        f"<<SESSION>>\n{CALL}",
        f"coding: utf-7\n{CALL}",
    ),
    *(
        '\nDIGEST = "' + "0" * 64 + f'"\n{CALL}',
        "<<include safety.py>>",
        "{{x}}",
        "\ud83d",
        "\ude00\ud83d",
        "\U0001f600",
        "\u202e",
    ),
]

texts = st.one_of(
    st.text(st.characters(codec=None, exclude_categories=()), max_size=40),
    st.sampled_from(BREAKOUTS),
    st.builds(lambda text, times: (text + "\n") * times, st.text(max_size=30), st.integers(1, 40)),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(10**30, 10**40),
    st.floats(),
    texts,
    st.binary(max_size=8),
)
huge = st.integers(0, 2).map(lambda n: 10 ** (4_000 + 900 * n))


def nested(depth):
    value = "bottom"
    for _ in range(depth):
        value = [value] if depth % 2 else {"{{x}}": value}
    return value


anything = st.recursive(
    st.one_of(scalars, huge, st.integers(90, 130).map(nested)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(texts, st.integers(), st.just("__unroll__")), inner, max_size=4),
        st.tuples(inner, inner),
    ),
    max_leaves=8,
)
values = anything.map(encode)
fields = st.dictionaries(texts, values, max_size=4)


@st.composite
def traces(draw):
    messages = draw(st.lists(fields.map(lambda more: {**more, "role": "tool", "content": "x"}), max_size=5))
    for message in messages:
        message["content"] = draw(values)
        message["tool_calls"] = draw(values)
    steps, cache = [], {}
    for number in range(draw(st.integers(0, 6))):
        kind = draw(
            st.sampled_from(["tool_call", "llm_call", "user_message", "api_request_error", "on_stream_delta"])
        )
        step = {
            **draw(fields),
            "name": draw(values),
            "args": draw(values),
            "kind": kind,
            "event_id": f"1:{number}",
        }
        step.update(offset_ms=draw(st.none() | st.integers(0, 10**9)), duration_ms=None)
        step.pop("message", None)
        if messages and kind != "api_request_error":
            step["message"] = draw(st.integers(0, len(messages) - 1))
        if kind == "tool_call":
            cache[f"tool:1:{number}"] = {"result": draw(values)}
        if kind == "llm_call":
            cache[f"llm:1:{number}"] = {"message": step["message"]} if messages else {"result": draw(fields)}
        steps.append(step)
    session = {
        **draw(fields),
        **{name: draw(values) for name in ("session_id", "model", "provider", "end", "recorder")},
    }
    return Trace(
        session=session,
        messages=messages,
        steps=steps,
        response_cache=cache,
        cost=draw(fields),
        state_graph=draw(fields),
        dependencies={number: list(range(number)) for number in range(len(steps))},
        tool_schemas=draw(st.lists(values, max_size=3)),
        provider_config=draw(fields),
        chain=draw(st.dictionaries(texts, fields, max_size=2)),
    )


@pytest.mark.once
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
@given(traces())
def test_every_recorded_value_comes_back_and_none_runs(trace):
    builtins.SENTINEL = []
    printed = io.StringIO()
    try:
        program = generate_trace_program(trace)
        assert program.isascii() and verify_program(program) is None
        for statement in ast.parse(program[: program.index(b'\nDIGEST = "')]).body[2:]:
            ast.literal_eval(statement.value)
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            names = load(program)
            result = names["replay"]()
        assert builtins.SENTINEL == []
        assert printed.getvalue() == ""
    finally:
        del builtins.SENTINEL

    recorded = {
        "SESSION": trace.session,
        "CONVERSATION_HISTORY": trace.messages,
        "TIMELINE": trace.steps,
        "COST": trace.cost,
        "STATE_GRAPH": trace.state_graph,
        "DEPENDENCIES": trace.dependencies,
        "TOOL_SCHEMAS": trace.tool_schemas,
        "PROVIDER_CONFIG": trace.provider_config,
        "CHAIN": trace.chain,
        "RECORDER": trace.session["recorder"],
    }
    for name, value in recorded.items():
        # repr tells what == does not: True from 1, 1 from 1.0, 0.0 from -0.0, and the order of keys.
        assert repr(names[name]) == repr(value)
    for key, entry in trace.response_cache.items():
        kept = entry.get("result", trace.messages[entry["message"]] if "message" in entry else None)
        assert repr(next(iter(names["RESPONSE_CACHE"][key].values()))) == repr(kept)
    assert json.loads(json.dumps(result, allow_nan=False))["messages"] == json.loads(
        json.dumps(result["messages"])
    )
    used = sorted({step["message"] for step in trace.steps if "message" in step})
    assert [repr(message) for message in result["messages"]] == [
        repr(trace.messages[index]) for index in used
    ]


def test_the_breakouts_would_show_if_they_ran():
    builtins.SENTINEL = []
    try:
        exec(CALL)
        assert builtins.SENTINEL == [1]
    finally:
        del builtins.SENTINEL
