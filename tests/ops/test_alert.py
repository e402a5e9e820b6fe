"""Alerts past the gateway: what reaches a Bot API, the host's command or a program, and what is said."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from hermes_ops.core import alert
from hermes_ops.host import command
from hermes_ops.host.command import Said
from tests.ops.loopback import Loopback, Says

TOKEN = "12345678:" + "AAH" + "x" * 30
SEND = f"/bot{TOKEN}/sendMessage"
OK = {"ok": True, "result": {"message_id": 1}}


@pytest.fixture
def home(tmp_path: Path, monkeypatch) -> Path:
    for name in ("TELEGRAM_BOT_TOKEN", "OPS_CHAT_ID", "OPS_THREAD_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    return tmp_path


def configure(home: Path, **ops: object) -> None:
    pytest.importorskip("yaml")
    (home / "config.yaml").write_text(json.dumps({"ops": ops}))


def set_up_bot(home: Path, api: Loopback, chat: str = "-1001234567890", **ops: object) -> None:
    (home / ".env").write_text(f"TELEGRAM_BOT_TOKEN={TOKEN}\nOPS_CHAT_ID={chat}\n")
    configure(home, alert_telegram_url=api.url, **ops)


def asked(api: Loopback) -> list[dict]:
    return [json.loads(one.body) for one in api.asked]


def test_nothing_configured_sends_nothing(home: Path) -> None:
    assert alert.channels(home) == []
    assert alert.send(home, "text") == []
    assert alert.problems(home) == []


def test_a_bot_message_goes_to_chat_and_topic_as_plain_text(home: Path) -> None:
    with Loopback({SEND: Says(OK)}) as api:
        set_up_bot(home, api, alert_thread="17")
        assert alert.channels(home) == ["telegram chat -1001234567890 topic 17"]
        assert alert.send(home, "gateway dead\n<b>since 06:00</b>") == [
            alert.Sent("telegram", True, "chat -1001234567890 topic 17: arrived")
        ]
    (message,) = asked(api)
    assert message["chat_id"] == "-1001234567890" and message["message_thread_id"] == 17
    assert message["text"] == "gateway dead\n<b>since 06:00</b>"
    assert "parse_mode" not in message and message["disable_notification"] is False
    assert api.asked[0].method == "POST"


def test_a_message_goes_to_the_topic_and_to_the_person(home: Path) -> None:
    with Loopback({SEND: Says(OK)}) as api:
        set_up_bot(home, api, chat="-100123:17,99887766")
        sent = alert.send(home, "text", severity="info")
    assert [one.ok for one in sent] == [True, True]
    assert [(one["chat_id"], one.get("message_thread_id")) for one in asked(api)] == [
        ("-100123", 17),
        ("99887766", None),
    ]
    assert asked(api)[0]["disable_notification"] is True


def test_the_first_channel_that_confirms_ends_it_unless_all_are_wanted(home: Path) -> None:
    with Loopback({SEND: Says(OK)}) as api:
        set_up_bot(home, api, alert_command=[sys.executable, "-c", "pass"])
        assert [one.channel for one in alert.send(home, "text")] == ["telegram"]
        everywhere = alert.send(home, "text", everywhere=True)
        assert [(one.channel, one.ok) for one in everywhere] == [("telegram", True), ("command", True)]
        assert [one.channel for one in alert.send(home, "text", channel="command")] == ["command"]
        configure(
            home, alert_telegram_url=api.url, alert_command=[sys.executable, "-c", "pass"], alert_all=True
        )
        assert len(alert.send(home, "text")) == 2


def test_when_one_fails_the_next_is_tried(home: Path) -> None:
    with Loopback({SEND: Says({"ok": False, "description": "Forbidden: bot was kicked"}, 403)}) as api:
        set_up_bot(home, api, alerts="telegram,command", alert_command=[sys.executable, "-c", "pass"])
        sent = alert.send(home, "text")
    assert [(one.channel, one.ok) for one in sent] == [("telegram", False), ("command", True)]
    assert sent[0].detail == "chat -1001234567890: Telegram says 403: Forbidden: bot was kicked"


def test_a_topic_that_is_gone_does_not_swallow_the_alert(home: Path) -> None:
    gone = {"ok": False, "error_code": 400, "description": "Bad Request: message thread not found"}
    with Loopback({SEND: [Says(gone, 400), Says(OK)]}) as api:
        set_up_bot(home, api, alert_thread=17)
        (sent,) = alert.send(home, "text")
    assert sent.ok and sent.detail.endswith("arrived, but in the chat itself: the topic is gone")
    assert "message_thread_id" not in asked(api)[1]


def test_a_chat_that_moved_is_followed(home: Path) -> None:
    moved = {"ok": False, "description": "upgraded", "parameters": {"migrate_to_chat_id": -100777}}
    with Loopback({SEND: [Says(moved, 400), Says(OK)]}) as api:
        set_up_bot(home, api, chat="-55")
        (sent,) = alert.send(home, "text")
    assert sent.ok and "the chat is now -100777" in sent.detail
    assert [one["chat_id"] for one in asked(api)] == ["-55", -100777]


def test_a_bot_that_is_asked_to_wait_waits_and_a_server_error_is_tried_again(home: Path) -> None:
    busy = {"ok": False, "error_code": 429, "parameters": {"retry_after": 0}}
    answers = [Says(busy, 429, {"Retry-After": "0"}), Says(b"oops", 502, {"Retry-After": "0"}), Says(OK)]
    with Loopback({SEND: answers}) as api:
        set_up_bot(home, api)
        (sent,) = alert.send(home, "text")
    assert sent.ok and len(api.asked) == 3


@pytest.mark.parametrize(
    "answer",
    [
        Says(b"<html>login</html>"),
        Says({"ok": False}),
        Says([1]),
        Says({"ok": "true"}),
        Says(b"", 500),
        Says(b"[" * 100_000),
    ],
)
def test_only_a_confirmation_counts_as_arrived(home: Path, answer: Says) -> None:
    with Loopback({SEND: [Says(answer.body, answer.status, {"Retry-After": "0"})]}) as api:
        set_up_bot(home, api)
        (sent,) = alert.send(home, "text")
    assert not sent.ok


def test_the_token_is_in_no_result_whatever_goes_wrong(home: Path) -> None:
    said = {"ok": False, "description": f"no such path /bot{TOKEN}/sendMessage"}
    with Loopback({SEND: Says(said, 404)}) as api:
        set_up_bot(home, api)
        results = alert.send(home, "text")
        url = api.url
    results += alert.send(home, "text", timeout=0.5)  # nobody listens now
    configure(home, alert_telegram_url=url + "/\x00")
    results += alert.send(home, "text", timeout=0.5)
    assert len(results) == 3 and not any(one.ok for one in results)
    for one in results:
        assert TOKEN not in repr(one) and TOKEN.split(":")[1][:12] not in repr(one)


def test_a_server_that_is_silent_costs_no_more_than_its_time(home: Path) -> None:
    with Loopback({SEND: lambda handler: api.stopping.wait(30)}) as api:
        set_up_bot(home, api)
        began = time.monotonic()
        (sent,) = alert.send(home, "text", timeout=1.0)
    assert not sent.ok and time.monotonic() - began < 15


def test_a_half_set_up_says_what_is_missing(home: Path) -> None:
    (home / ".env").write_text("OPS_CHAT_ID=5\n")
    (sent,) = alert.send(home, "text")
    assert not sent.ok and "no TELEGRAM_BOT_TOKEN" in sent.detail
    assert "no TELEGRAM_BOT_TOKEN" in alert.problems(home)[0]
    (home / ".env").write_text("OPS_THREAD_ID=5\n")
    assert "no chat" in alert.problems(home)[0]
    (home / ".env").write_text("TELEGRAM_BOT_TOKEN=not/a/token\nOPS_CHAT_ID=5\n")
    (sent,) = alert.send(home, "text")
    assert not sent.ok and "is not the token of a bot" in sent.detail


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alerts", "telegram,pigeon"),
        ("alert_chat", "five"),
        ("alert_chat", "5;rm"),
        ("alert_thread", "x"),
        ("alert_telegram_url", "http://example.org"),
        ("alert_telegram_url", "ftp://x"),
        ("alert_command", []),
        ("alert_command", [1]),
        ("alert_command", ""),
        ("alert_all", "maybe"),
    ],
)
def test_settings_that_are_wrong_are_said(home: Path, name: str, value: object) -> None:
    configure(home, **{name: value})
    (problem,) = alert.problems(home)
    assert problem.startswith(f"config.yaml: {name}")


def test_texts_are_redacted_and_bounded_before_they_leave(home: Path) -> None:
    key = "-----BEGIN PRIVATE " + "KEY-----\n" + "Abcd1234+/" * 6 + "\n-----END PRIVATE " + "KEY-----"
    with Loopback({SEND: Says(OK)}) as api:
        set_up_bot(home, api)
        alert.send(home, f"log says\n{key}\nMEDIA:/etc/passwd.png\x1b[2J\n\n" + "\N{PILE OF POO}" * 5000)
    (message,) = asked(api)
    assert "Abcd1234" not in message["text"] and "MEDIA:" not in message["text"]
    assert "\x1b" not in message["text"]
    assert len(message["text"].encode("utf-16-le")) <= 2 * 4096


def fake_host(monkeypatch, said: Said) -> list:
    calls = []

    def run_hermes(home: Path, arguments: list[str], timeout: float, stdin: str | None = None) -> Said:
        calls.append((home, arguments, stdin))
        return said

    monkeypatch.setattr(command, "run_hermes", run_hermes)
    return calls


def test_the_host_sends_to_each_target(home: Path, monkeypatch) -> None:
    calls = fake_host(monkeypatch, Said(0, 'noise\n{"success": true}', ""))
    configure(home, alert_send=["slack:C01", "telegram"])
    assert [one.ok for one in alert.send(home, "text")] == [True, True]
    assert calls[0] == (home, ["send", "--to=slack:C01", "--json"], "text")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (Said(0, '{"success": true, "skipped": true, "reason": "muted"}', ""), "muted"),
        (Said(0, "sent", ""), "sent"),
        (Said(1, '{"error": "Chat not found"}', ""), "Chat not found"),
        (Said(2, "", "no such platform"), "no such platform"),
        (Said(None, "", ""), "did not end within"),
    ],
)
def test_the_hosts_word_is_not_taken_for_more_than_it_says(
    home: Path, monkeypatch, said: Said, why: str
) -> None:
    fake_host(monkeypatch, said)
    configure(home, alert_send="slack")
    (sent,) = alert.send(home, "text")
    assert not sent.ok and why in sent.detail


def program(home: Path, code: str) -> list[str]:
    path = home / "page.py"
    path.write_text(code)
    return [sys.executable, str(path)]


def test_a_program_gets_the_text_on_its_input(home: Path) -> None:
    code = "import os, sys; open(sys.argv[1], 'w').write(os.environ['OPS_ALERT_SEVERITY'] + sys.stdin.read())"
    configure(home, alert_command=[*program(home, code), str(home / "out.txt")])
    assert alert.send(home, "two\nlines; $(touch x)", severity="critical") == [
        alert.Sent("command", True, f"{sys.executable}: exit 0")
    ]
    assert (home / "out.txt").read_text() == "criticaltwo\nlines; $(touch x)"


@pytest.mark.parametrize(
    ("code", "ok", "why"),
    [
        ("import sys; sys.stderr.write('no route'); sys.exit(3)", False, "exit 3: no route"),
        ("import time; time.sleep(60)", False, "did not end within 1 s"),
        ("import sys; sys.stdout.write('x' * 3_000_000)", True, "exit 0"),
        ("import sys; sys.stdin.close()", True, "exit 0"),
        (
            "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(4)'])",
            True,
            "exit 0",
        ),
    ],
)
def test_a_program_is_bounded_and_its_exit_code_counts(home: Path, code: str, ok: bool, why: str) -> None:
    configure(home, alert_command=program(home, code))
    (sent,) = alert.send(home, "text" * 30_000, timeout=1.0 if not ok else 20.0)
    assert sent.ok is ok and why in sent.detail


def test_a_program_that_is_not_there_is_a_failure(home: Path) -> None:
    configure(home, alert_command=["/no/such/program", "secret-argument"])
    assert alert.channels(home) == ["command /no/such/program"]
    (sent,) = alert.send(home, "text")
    assert not sent.ok and "secret-argument" not in sent.detail


def test_an_env_file_that_cannot_be_read_is_said(home: Path) -> None:
    (home / ".env").mkdir()
    assert "Is a directory" in alert.problems(home)[0]
    configure(home, alert_chat=5, alert_command=program(home, "pass"))
    assert [(one.channel, one.ok) for one in alert.send(home, "text")] == [
        ("telegram", False),
        ("command", True),
    ]
