"""Every message of the channel against its shape: real requests, real replies, and wrong ones."""

from __future__ import annotations

import json
import socket

import pytest

from hermes_rlm.kernel import channel, handle
from hermes_rlm.kernel import pool as pool_

NAMED = {"exec": {"cell": 3, "code": "x"}, "vars": {}}


@pytest.fixture
def seen(monkeypatch):
    """Every message between host and kernel, as (operation or event, message)."""
    found = []

    def recorded(operation, number, **fields):
        message = channel.request(operation, number, **fields)
        found.append((operation, message))
        return message

    def check_reply(operation, reply):
        found.append((f"reply to {operation}", reply))
        channel.check_reply(operation, reply)

    def check_event(event):
        found.append((event["event"], event))
        channel.check_event(event)

    monkeypatch.setattr(handle, "request", recorded)
    monkeypatch.setattr(handle, "check_reply", check_reply)
    monkeypatch.setattr(handle, "check_event", check_event)
    return found


def test_all_messages_of_a_session_fit_their_shapes(agent, seen):
    agent.run("x = 1\nprint('out')\nx")
    agent.run("1 / 0")
    agent.run("del x\nlock = __import__('threading').Lock()\ny = [1]")
    agent.call("rlm_vars", {})
    agent.call("rlm_checkpoint", {"action": "save", "name": "n"})
    agent.call("rlm_checkpoint", {"action": "restore", "name": "n"})
    agent.call("rlm_checkpoint", {"action": "restore", "name": "absent"})
    agent.evict()
    agent.run("y")
    agent.run("import time\nwhile True:\n    try: time.sleep(0.01)\n    except BaseException: pass", 1)
    kinds = {kind for kind, _ in seen}
    assert kinds >= set(channel.REQUESTS) | {f"reply to {name}" for name in channel.REPLIES} | set(
        channel.EVENTS
    )
    assert json.loads(json.dumps([message for _, message in seen]))


@pytest.mark.parametrize("operation", NAMED)
def test_a_request_with_a_missing_wrong_or_extra_field_is_refused(operation):
    fields = NAMED[operation]
    channel.request(operation, 1, **fields)
    with pytest.raises(channel.ProtocolError, match="not known"):
        channel.request(operation, 1, **fields, extra=1)
    for name in fields:
        with pytest.raises(channel.ProtocolError, match=f"{name} is missing"):
            channel.request(operation, 1, **{key: value for key, value in fields.items() if key != name})
        with pytest.raises(channel.ProtocolError, match=f"{name} is not what"):
            channel.request(operation, 1, **{**fields, name: [fields[name]]})


GOOD = {"id": 1, "ok": True, "notes": [], "assigned": ["x"], "deleted": [], "figures": []}


@pytest.mark.parametrize(
    "change",
    [{"ok": 1}, {"id": "1"}, {"notes": [1]}, {"value": 5}, {"surprise": 1}, {"assigned": None}, {"id": True}],
)
def test_a_reply_of_another_shape_is_refused(change):
    channel.check_reply("exec", GOOD)
    with pytest.raises(channel.ProtocolError):
        channel.check_reply("exec", {**GOOD, **change})


def test_a_failed_reply_may_leave_out_its_results():
    channel.check_reply("exec", {"id": 1, "ok": False, "error": "no"})
    with pytest.raises(channel.ProtocolError):
        channel.check_reply("exec", {"id": 1, "ok": True})


@pytest.mark.parametrize("line", [b"nonsense\n", b"[]\n", b"5\n", b"\xff\n", b"[" * 100_000 + b"\n", b"\n"])
def test_a_line_that_is_no_message_is_refused(line):
    mine, theirs = socket.socketpair()
    with mine, theirs:
        theirs.sendall(line)
        with pytest.raises(channel.ProtocolError):
            while not channel.HostChannel(mine).receive():
                pass


def test_messages_arrive_whole_however_they_are_cut():
    mine, theirs = socket.socketpair()
    with mine, theirs:
        host = channel.HostChannel(mine)
        found = []
        for byte in b'{"a": 1}\n{"b": 2}\n{"c"':
            theirs.sendall(bytes([byte]))
            found += host.receive()
        assert found == [{"a": 1}, {"b": 2}]
        theirs.sendall(b": 3}\n")
        assert host.receive() == [{"c": 3}]
        assert host.receive() == []
        theirs.close()
        assert host.receive() is None


FIND_CHANNEL = (
    "import os, stat\nfor fd in range(200, 260):\n"
    "    try:\n        if stat.S_ISSOCK(os.fstat(fd).st_mode): channel = fd; break\n"
    "    except OSError: pass\n"
)


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": 999, "ok": true, "notes": [], "assigned": [], "deleted": [], "figures": [], "value": "F"}',
        b'{"event": "surprise"}',
        b"garbage",
    ],
)
def test_a_kernel_that_writes_to_the_channel_itself_is_ended(agent, line):
    agent.run("keep = 1")
    answer = agent.run(FIND_CHANNEL + f"os.write(channel, {line + bytes([10])!r})")
    assert not answer["ok"] and "broke its protocol" in answer["error"]
    follow = agent.run("1 + 1")
    assert follow["value"] == "2" and "lost: [keep" in follow["note"]


def test_the_kernel_is_not_started_for_listing(agent):
    agent.call("rlm_vars", {})
    agent.call("rlm_skills", {})
    assert pool_.POOL.overview() == []
