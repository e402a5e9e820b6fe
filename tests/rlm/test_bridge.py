"""The parent's end of a bridge: what is refused and how, and that no client can make the host wait."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hermes_rlm import bridge as bridge_module
from hermes_rlm.bridge import CONNECTIONS, REQUEST_BYTES, Bridge, CallError, Grant, Refused
from hermes_rlm.budget import Budget

CELL = 7


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def bridge(tmp_path: Path, clock: Clock) -> Iterator[Bridge]:
    opened = Bridge(Grant.issue("session"), tmp_path / "kernel", clock=clock)
    yield opened
    opened.close()


def never(tool: str, arguments: dict[str, Any]) -> Any:
    raise AssertionError(f"{tool} was called")


def echo(tool: str, arguments: dict[str, Any]) -> Any:
    return [tool, arguments]


def connect(bridge: Bridge) -> socket.socket:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    client.settimeout(10)
    client.connect(bridge.address["path"])
    return client


def turn(bridge: Bridge, call: Callable[..., Any], cell: int | None = CELL) -> None:
    """One round of what the thread that waits for a cell does, with every descriptor taken for ready."""
    for fd in bridge.readable():
        bridge.handle(fd, cell, call)


def request(bridge: Bridge, **changes: Any) -> dict[str, Any]:
    plain = {"token": bridge.grant.token, "cell": CELL, "tool": "terminal", "args": {"command": "true"}}
    return {**plain, **changes}


def line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def answer(client: socket.socket) -> dict[str, Any]:
    pieces = [client.recv(1 << 16)]
    while pieces[-1] and not pieces[-1].endswith(b"\n"):
        pieces.append(client.recv(1 << 16))
    return json.loads(b"".join(pieces))


def ask(
    bridge: Bridge, data: bytes, call: Callable[..., Any] = never, cell: int | None = CELL
) -> dict[str, Any]:
    with connect(bridge) as client:
        client.sendall(data)
        turn(bridge, call, cell)
        return answer(client)


def test_a_valid_request_is_called_once_and_answered(bridge):
    calls = []
    found = ask(bridge, line(request(bridge)), lambda tool, args: calls.append((tool, args)) or {"n": 1})
    assert found == {"result": {"n": 1}}
    assert calls == [("terminal", {"command": "true"})]


@pytest.mark.parametrize("token", ["wrong", "", "ключ", "\ud800", None, 5, ["x"], {}])
def test_a_wrong_token_is_refused_whatever_it_is_made_of(bridge, token):
    assert "token" in ask(bridge, line(request(bridge, token=token)))["error"]


def test_a_missing_token_is_refused(bridge):
    without = {name: value for name, value in request(bridge).items() if name != "token"}
    assert "token" in ask(bridge, line(without))["error"]


def test_the_token_of_another_session_is_refused(bridge):
    assert "token" in ask(bridge, line(request(bridge, token=Grant.issue("other").token)))["error"]


@pytest.mark.parametrize("field", ["depth", "session_id", "budget", "task_id"])
def test_an_unknown_field_is_refused_by_name(bridge, field):
    assert f"'{field}'" in ask(bridge, line(request(bridge, **{field: 0})))["error"]
    assert bridge.grant.depth == 0


@pytest.mark.parametrize(
    "field, value",
    [("cell", "7"), ("cell", True), ("cell", 7.0), ("tool", 3), ("tool", None), ("args", []), ("args", "x")],
)
def test_a_field_of_a_wrong_type_is_refused_by_name(bridge, field, value):
    assert f"'{field}'" in ask(bridge, line(request(bridge, **{field: value})))["error"]


@pytest.mark.parametrize("field", ["cell", "tool", "args"])
def test_a_missing_field_is_refused_by_name(bridge, field):
    short = {name: value for name, value in request(bridge).items() if name != field}
    assert f"'{field}'" in ask(bridge, line(short))["error"]


@pytest.mark.parametrize(
    "data", [b"\n", b"hello\n", b"[]\n", b"3\n", b"\xff\xfe\n", b'{"token"\n', b"9" * 5000 + b"\n"]
)
def test_what_is_no_request_is_refused(bridge, data):
    assert "error" in ask(bridge, data)


def test_json_nested_too_deeply_is_refused(bridge):
    for deep in (b"[" * 100_000, b'{"a":' * 20_000):
        assert ask(bridge, deep + b"\n")["error"] == "the request is nested too deeply"
    assert ask(bridge, line(request(bridge)), echo)["result"][0] == "terminal"


@pytest.mark.parametrize("cell", [None, CELL + 1])
def test_a_call_of_a_cell_that_does_not_run_is_refused(bridge, cell):
    assert ask(bridge, line(request(bridge)), cell=cell)["error"] == "the cell that made this call has ended"


def test_a_line_without_an_end_is_bounded(bridge, monkeypatch):
    monkeypatch.setattr(bridge_module, "REQUEST_BYTES", 100_000)
    with connect(bridge) as client:
        client.settimeout(0.2)
        sent = 0
        try:
            while True:
                sent += client.send(b"x" * 65536)
                turn(bridge, never)
                assert sent < 2_000_000
        except ConnectionError:
            pass
        assert len(bridge.readable()) == 1
    assert REQUEST_BYTES == 32 << 20


def test_a_request_that_arrives_in_pieces_is_served_when_it_is_whole(bridge):
    data = line(request(bridge, args={"command": "é" * 200_000}))
    with connect(bridge) as client:
        for start in range(0, len(data), 60_000):
            turn(bridge, never)
            client.sendall(data[start : start + 60_000])
        turn(bridge, lambda tool, arguments: len(arguments["command"]))
        assert answer(client) == {"result": 200_000}


def test_a_newline_that_arrives_alone_ends_the_request(bridge):
    with connect(bridge) as client:
        client.sendall(line(request(bridge))[:-1])
        turn(bridge, never)
        client.sendall(b"\n")
        turn(bridge, echo)
        assert "result" in answer(client)


def test_a_silent_client_blocks_nobody_and_is_dropped_in_time(bridge, clock):
    with connect(bridge) as silent:
        turn(bridge, never)
        assert ask(bridge, line(request(bridge)), echo)["result"]
        clock.now += 9.9
        assert len(bridge.readable()) == 2
        clock.now += 0.2
        assert len(bridge.readable()) == 1
        assert "10 seconds" in answer(silent)["error"]


def test_the_time_of_another_clients_call_does_not_count_against_a_waiting_one(bridge, clock):
    def slow(tool: str, arguments: dict[str, Any]) -> str:
        clock.now += 60
        return "done"

    with connect(bridge) as waiting:
        turn(bridge, never)
        assert ask(bridge, line(request(bridge)), slow) == {"result": "done"}
        waiting.sendall(line(request(bridge)))
        turn(bridge, echo)
        assert "result" in answer(waiting)


def test_clients_beyond_the_limit_wait_until_there_is_room(bridge, clock):
    silent = [connect(bridge) for _ in range(CONNECTIONS)]
    for _ in silent:
        turn(bridge, never)
    late = connect(bridge)
    late.sendall(line(request(bridge)))
    turn(bridge, never)
    assert len(bridge.readable()) == CONNECTIONS
    clock.now += 11
    turn(bridge, echo)
    assert "result" in answer(late)
    for client in [*silent, late]:
        client.close()


def test_many_clients_at_once_are_all_served(bridge):
    clients = [connect(bridge) for _ in range(60)]
    for number, client in enumerate(clients):
        client.sendall(line(request(bridge, args={"command": str(number)})))
    for _ in range(80):
        turn(bridge, echo)
    for number, client in enumerate(clients):
        assert answer(client)["result"][1] == {"command": str(number)}
        client.close()


def test_a_client_that_leaves_in_the_middle_is_forgotten(bridge):
    client = connect(bridge)
    client.sendall(b'{"token": ')
    turn(bridge, never)
    client.close()
    turn(bridge, never)
    assert len(bridge.readable()) == 1


def test_a_client_that_leaves_during_its_call_costs_only_its_answer(bridge):
    client = connect(bridge)
    client.sendall(line(request(bridge)))
    turn(bridge, lambda tool, arguments: client.close())
    assert len(bridge.readable()) == 1
    assert "result" in ask(bridge, line(request(bridge)), echo)


def test_a_client_that_does_not_read_a_large_answer_is_dropped(bridge, monkeypatch):
    monkeypatch.setattr(bridge_module, "WRITE_SECONDS", 0.2)
    with connect(bridge) as client:
        client.sendall(line(request(bridge)))
        began = time.monotonic()
        turn(bridge, lambda tool, arguments: "x" * 30_000_000)
        assert time.monotonic() - began < 10
        assert len(bridge.readable()) == 1


def test_an_answer_with_a_lone_surrogate_arrives(bridge):
    assert ask(bridge, line(request(bridge)), lambda tool, arguments: "\ud800é") == {"result": "\ud800é"}


def test_a_failing_call_is_an_error_with_its_details(bridge):
    def refuse(tool: str, arguments: dict[str, Any]) -> Any:
        raise CallError("BLOCKED: no", hint="ask")

    assert ask(bridge, line(request(bridge)), refuse) == {"error": "BLOCKED: no", "hint": "ask"}
    assert ask(bridge, line(request(bridge)), lambda *_: 1 / 0)["error"].startswith("ZeroDivisionError")
    assert ask(bridge, line(request(bridge)), lambda *_: {1, 2})["error"].startswith("TypeError")


def test_an_interrupt_passes_through_and_drops_the_client(bridge):
    def interrupted(tool: str, arguments: dict[str, Any]) -> Any:
        raise KeyboardInterrupt

    with connect(bridge) as client:
        client.sendall(line(request(bridge)))
        with pytest.raises(KeyboardInterrupt):
            turn(bridge, interrupted)
        assert client.recv(10) == b""


def test_calls_beyond_the_budget_are_refused_with_what_was_spent(tmp_path):
    grant = Grant("token", "session", 1, Budget(calls=2))
    bridge = Bridge(grant, tmp_path / "kernel")
    data = line(request(bridge))
    assert "result" in ask(bridge, data, echo)
    assert "result" in ask(bridge, data, echo)
    refused = ask(bridge, data)
    assert "2 tool calls" in refused["error"]
    assert refused["budget"] == {"calls": 2, "limit": 2}
    later = line(request(bridge, cell=CELL + 1))
    assert "result" in ask(bridge, later, echo, cell=CELL + 1)
    bridge.close()


def test_a_refused_call_costs_no_budget_and_a_failed_one_does(tmp_path):
    bridge = Bridge(Grant("token", "session", 0, Budget(calls=2)), tmp_path / "kernel")

    def failing(error: Exception) -> Callable[..., Any]:
        def call(tool: str, arguments: dict[str, Any]) -> Any:
            raise error

        return call

    for _ in range(5):
        assert ask(bridge, line(request(bridge)), failing(Refused("no such tool")))["error"] == "no such tool"
    for _ in range(2):
        assert ask(bridge, line(request(bridge)), failing(CallError("failed")))["error"] == "failed"
    assert "budget" in ask(bridge, line(request(bridge)))
    bridge.close()


def test_an_unknown_descriptor_is_ignored(bridge):
    bridge.handle(-1, CELL, never)
    bridge.handle(0, CELL, never)


def test_close_leaves_no_file_and_no_descriptor(tmp_path):
    before = set(os.listdir("/dev/fd"))
    for directory in (tmp_path / "kernel", None):
        bridge = Bridge(Grant.issue("session"), directory)
        if directory is not None:
            client = connect(bridge)
            turn(bridge, never)
            client.close()
        bridge.close()
        bridge.close()
    assert os.listdir(tmp_path) == []
    assert set(os.listdir("/dev/fd")) == before
