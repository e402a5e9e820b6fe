"""`hermes ops test-alert`: every channel is tried, and its exit code is what arrived."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from hermes_ops.cli import main
from tests.ops.loopback import Loopback, Says

TOKEN = "12345678:" + "AAH" + "x" * 30
SEND = f"/bot{TOKEN}/sendMessage"


@pytest.fixture
def home(tmp_path: Path, monkeypatch) -> Path:
    for name in ("TELEGRAM_BOT_TOKEN", "OPS_CHAT_ID", "OPS_THREAD_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    return tmp_path


def set_up(home: Path, api: Loopback, code: str) -> None:
    pytest.importorskip("yaml")
    (home / ".env").write_text(f"export TELEGRAM_BOT_TOKEN='{TOKEN}'\nOPS_CHAT_ID=-100123\n")
    argv = [sys.executable, "-c", code]
    (home / "config.yaml").write_text(
        json.dumps({"ops": {"alert_telegram_url": api.url, "alert_command": argv}})
    )


def test_without_a_channel_it_fails_and_says_what_to_set(home: Path, capsys) -> None:
    assert main(["test-alert"]) == 1
    assert "OPS_CHAT_ID" in capsys.readouterr().out
    assert main(["test-alert", "--channel", "send"]) == 1
    assert capsys.readouterr().out == "channel send is not configured\n"


def test_every_channel_gets_one_message(home: Path, capsys) -> None:
    with Loopback({SEND: Says({"ok": True})}) as api:
        set_up(home, api, "import sys; assert 'nothing is wrong' in sys.stdin.read()")
        assert main(["test-alert"]) == 0
        out = capsys.readouterr().out
        assert main(["test-alert", "--channel", "command"]) == 0
    assert out == f"ok  telegram  chat -100123: arrived\nok  command  {sys.executable}: exit 0\n"
    assert len(api.asked) == 1


def test_one_that_failed_is_exit_code_1_and_the_others_are_tried(home: Path, capsys) -> None:
    with Loopback({SEND: Says({"ok": False, "description": "Unauthorized"}, 401)}) as api:
        set_up(home, api, "pass")
        assert main(["test-alert", "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert [(one["channel"], one["ok"]) for one in said["sent"]] == [("telegram", False), ("command", True)]
    assert said["ok"] is False and said["schema"] == 1 and TOKEN not in json.dumps(said)


def test_a_wrong_setting_is_said(home: Path, capsys) -> None:
    pytest.importorskip("yaml")
    (home / "config.yaml").write_text(json.dumps({"ops": {"alerts": "pigeon"}}))
    assert main(["test-alert"]) == 1
    assert "wrong: config.yaml: alerts 'pigeon'" in capsys.readouterr().out
