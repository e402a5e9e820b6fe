"""The scripted model keeps to its script, on the wire as a provider would."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.host.model_server import ModelServer, ScriptError, auxiliary_route

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
USER = [{"role": "user", "content": "hello"}]
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {}}}]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


def post(url: str, **body: Any) -> tuple[int, dict[str, str], str]:
    """Status, headers (lower-case names) and text of one chat completion."""
    body = {"model": "m", "messages": USER, **body}
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode())
    try:
        with DIRECT.open(request, timeout=10) as answer:
            return answer.status, _lower(answer.headers), answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, _lower(error.headers), error.read().decode()


def _lower(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def said(url: str, **body: Any) -> dict[str, Any]:
    """The message of an answer that is not streamed."""
    return json.loads(post(url, **body)[2])["choices"][0]["message"]


def streamed(url: str, **body: Any) -> list[dict[str, Any]]:
    """The chunks of a streamed answer; the end mark is checked and left out."""
    events = [
        line[6:] for line in post(url, stream=True, **body)[2].splitlines() if line.startswith("data: ")
    ]
    assert events.pop() == "[DONE]"
    return [json.loads(event) for event in events]


def joined(chunks: list[dict[str, Any]], key: str) -> str:
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    return "".join(delta.get(key) or "" for delta in deltas)


def test_turns_are_answered_in_order_and_a_short_script_is_refused(server: ModelServer) -> None:
    server.reset([{"name": "only", "turns": [{"text": "one"}, {"text": "two"}]}])
    assert [said(server.url)["content"], said(server.url)["content"]] == ["one", "two"]
    status, _, text = post(server.url)
    assert status == 400 and "route only has no turn left" in text


def test_a_repeating_route_starts_again(server: ModelServer) -> None:
    server.reset([{"turns": [{"text": "one"}, {"text": "two"}], "repeat": True}])
    assert [said(server.url)["content"] for _ in range(5)] == ["one", "two", "one", "two", "one"]


@pytest.mark.parametrize(
    ("when", "body"),
    [
        ({"has_tools": True}, {"tools": TOOLS}),
        ({"model": "special"}, {"model": "special"}),
        ({"last_user": "bye"}, {"messages": [*USER, {"role": "user", "content": "good bye"}]}),
        ({"system": "terse"}, {"messages": [{"role": "system", "content": "be terse"}, *USER]}),
        ({"any_text": "noon"}, {"messages": [{"role": "assistant", "content": "at noon"}, *USER]}),
        (
            {"last_user": "red"},
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "red"}]}]},
        ),
    ],
)
def test_the_first_route_whose_conditions_hold_answers(
    server: ModelServer, when: dict[str, Any], body: dict[str, Any]
) -> None:
    server.reset([{"when": when, "turns": [{"text": "chosen"}]}, {"turns": [{"text": "other"}]}])
    assert said(server.url)["content"] == "other"
    assert said(server.url, **body)["content"] == "chosen"


def test_last_user_ignores_earlier_user_messages(server: ModelServer) -> None:
    server.reset([{"when": {"last_user": "first"}, "turns": [{"text": "chosen"}]}])
    status, _, text = post(server.url, messages=[{"role": "user", "content": "first"}, *USER])
    assert status == 400 and "no route accepts" in text


def test_stream_condition_tells_the_two_forms_apart(server: ModelServer) -> None:
    server.reset([{"when": {"stream": True}, "turns": [{"text": "flow"}]}, {"turns": [{"text": "whole"}]}])
    assert said(server.url)["content"] == "whole"
    assert joined(streamed(server.url), "content") == "flow"


def test_the_auxiliary_route_takes_only_calls_without_tools(server: ModelServer) -> None:
    server.reset([auxiliary_route("Title"), {"turns": [{"text": "agent"}]}])
    assert said(server.url)["content"] == "Title"
    assert said(server.url, tools=TOOLS)["content"] == "agent"
    assert said(server.url)["content"] == "Title"
    assert [request.route for request in server.requests] == ["auxiliary", "1", "auxiliary"]


def test_streamed_and_whole_answers_carry_the_same_content(server: ModelServer) -> None:
    turn = {
        "text": "long text with ünïcödé 😀 " * 5,
        "reasoning": "first this, then that, " * 4,
        "tool_calls": [
            {"name": "look", "arguments": {"where": "here " * 30}, "id": "call_0"},
            {"name": "look", "arguments": '{"raw" :1', "id": "call_0"},
        ],
    }
    server.reset([{"turns": [turn, turn]}])
    whole = said(server.url)
    chunks = streamed(server.url)
    assert joined(chunks, "content") == whole["content"] == turn["text"]
    assert joined(chunks, "reasoning_content") == whole["reasoning_content"] == turn["reasoning"]
    calls: dict[int, dict[str, str]] = {}
    for chunk in chunks:
        for piece in chunk["choices"][0]["delta"].get("tool_calls", []):
            call = calls.setdefault(piece["index"], {"id": "", "name": "", "arguments": ""})
            call["id"] += piece.get("id", "")
            call["name"] += piece["function"].get("name", "")
            call["arguments"] += piece["function"]["arguments"]
    assert list(calls.values()) == [{"id": c["id"], **c["function"]} for c in whole["tool_calls"]]
    assert calls[1]["arguments"] == '{"raw" :1'
    assert chunks[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_lone_surrogates_reach_the_client(server: ModelServer) -> None:
    server.reset([{"turns": [{"text": "\ud83d!"}]}])
    assert said(server.url)["content"] == "\ud83d!"


def test_calls_without_an_id_get_different_ones_that_a_reset_repeats(server: ModelServer) -> None:
    route = [{"turns": [{"tool_calls": [{"name": "look"}, {"name": "look"}]}]}]
    server.reset(route)
    first = [call["id"] for call in said(server.url)["tool_calls"]]
    server.reset()
    assert first == [call["id"] for call in said(server.url)["tool_calls"]] and len(set(first)) == 2


def test_usage_is_reported_in_both_forms(server: ModelServer) -> None:
    usage = {"prompt_tokens": 70, "completion_tokens": 9, "cached_tokens": 60, "reasoning_tokens": 4}
    server.reset([{"turns": [{"text": "x", "usage": usage}], "repeat": True}])
    expected = {
        "prompt_tokens": 70,
        "completion_tokens": 9,
        "total_tokens": 79,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 4},
    }
    assert json.loads(post(server.url)[2])["usage"] == expected
    assert streamed(server.url, stream_options={"include_usage": True})[-1]["usage"] == expected
    assert all("usage" not in chunk for chunk in streamed(server.url))


def test_http_errors_carry_status_headers_and_message(server: ModelServer) -> None:
    limited = {"status": 429, "message": "slow down", "headers": {"Retry-After": "7"}}
    server.reset([{"turns": [limited, {"status": 500}, {"text": "well"}]}])
    status, headers, text = post(server.url, stream=True)
    assert (status, headers["retry-after"]) == (429, "7")
    assert json.loads(text)["error"] == {"message": "slow down", "type": "rate_limit_error"}
    assert post(server.url)[0] == 500
    assert said(server.url)["content"] == "well"


def test_a_dropped_answer_is_cut_where_the_script_says(server: ModelServer) -> None:
    server.reset([{"turns": [{"text": "y" * 100, "drop_after": 2}, {"text": "never", "drop_after": 0}]}])
    with pytest.raises(http.client.IncompleteRead) as cut:
        post(server.url, stream=True)
    assert cut.value.partial.count(b"data: ") == 2
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError, urllib.error.URLError)):
        post(server.url)


def test_waits_hold_the_answer_back(server: ModelServer) -> None:
    server.reset([{"turns": [{"text": "z", "wait": 0.3}, {"text": "z", "wait_between": 0.1}]}])
    started = time.monotonic()
    said(server.url)
    between = time.monotonic()
    streamed(server.url)
    assert between - started > 0.2 and time.monotonic() - between > 0.2


def test_leaving_the_server_does_not_wait_for_a_slow_turn() -> None:
    with ModelServer([{"turns": [{"text": "late", "wait": 600}]}]) as server:
        client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        client.request("POST", "/v1/chat/completions", json.dumps({"messages": USER}))
        server.wait_for_requests(1)
    client.close()


def test_requests_are_kept_with_headers_route_and_turn(server: ModelServer) -> None:
    server.reset([{"name": "a", "turns": [{"text": "1"}]}])
    post(server.url, temperature=0.5)
    post(server.url)
    first, second = server.requests
    assert first.body["temperature"] == 0.5 and first.body["messages"] == USER
    assert "content-length" in first.headers
    assert (first.route, first.turn) == ("a", 0) and (second.route, second.turn) == (None, None)
    server.reset()
    assert server.requests == [] and said(server.url)["content"] == "1"


def test_waiting_for_requests_fails_with_the_number_that_came(server: ModelServer) -> None:
    with pytest.raises(TimeoutError, match="0 of 1"):
        server.wait_for_requests(1, timeout=0.05)


def test_models_are_listed_with_their_context_length() -> None:
    with (
        ModelServer(model="tiny", context_length=99) as server,
        DIRECT.open(f"{server.url}/models", timeout=10) as answer,
    ):
        assert json.load(answer)["data"] == [{"id": "tiny", "object": "model", "context_length": 99}]


def test_other_paths_and_bodies_are_refused(server: ModelServer) -> None:
    for path, body, status in (
        ("/embeddings", b"{}", 404),
        ("/chat/completions", b"{", 400),
        ("/x", None, 404),
    ):
        with pytest.raises(urllib.error.HTTPError) as refused:
            DIRECT.open(urllib.request.Request(server.url + path, body), timeout=10)
        assert refused.value.code == status
        refused.value.close()
    assert server.requests == []


@pytest.mark.parametrize(
    ("route", "message"),
    [
        ({"turn": []}, "route: unknown key turn; valid are name, when"),
        ({"when": {"has_tool": True}}, "when: unknown key has_tool; valid are has_tools"),
        ({"turns": [{"txt": "x"}]}, "turn: unknown key txt; valid are text"),
        ({"turns": [{"tool_calls": [{"name": "x", "args": {}}]}]}, "tool call: unknown key args"),
        ({"turns": [{"usage": {"tokens": 1}}]}, "usage: unknown key tokens"),
    ],
)
def test_a_misspelt_script_is_refused_with_the_valid_keys(route: dict[str, Any], message: str) -> None:
    with pytest.raises(ScriptError, match=message):
        ModelServer([route])


def test_it_serves_a_script_file_from_the_shell(tmp_path: Path) -> None:
    script, port_file = tmp_path / "script.json", tmp_path / "port"
    script.write_text(
        json.dumps({"model": "demo", "routes": [{"turns": [{"text": "from a file"}]}]}), "utf-8"
    )
    command = [sys.executable, str(Path(__file__).with_name("model_server.py"))]
    process = subprocess.Popen(
        [*command, "--script", str(script), "--port-file", str(port_file)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split()[-1]
        assert address == f"http://127.0.0.1:{port_file.read_text('utf-8').strip()}/v1"
        assert said(address)["content"] == "from a file"
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()
