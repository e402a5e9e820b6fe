"""No secret of a file of the host, of a setting or of an error comes out: not printed, not kept."""

import json
import sqlite3
from datetime import datetime, timezone

import pytest

from hermes_ops import cli, slash
from hermes_ops._common import config
from hermes_ops.core.watch import WATCHERS
from hermes_ops.host import environment

from .test_hostile_files import COMMANDS

# Of formats that a redactor knows, put together here so that no scanner takes this file for a leak.
NAME = "sk-" + "or-v1-" + "0123456789abcdef" * 4
PROMPT = "gh" + "p_" + "a1B2" * 9
ERROR = "xo" + "xb-" + "123456789012-" + "AbCdEfGhIjKlMnOpQrStUvWx"
BOT = "1234567890" + ":" + "AAE" + "xYz0" * 8
LOGGED = "sk-" + "ant-api03-" + "Ab1" * 31 + "AA"
# Of no known format: kept apart by where they stand.
ACCOUNT, PINGED, ARGUMENT = "plain-password-1234567890", "ping-capability-77", "argument-secret-88"
SECRETS = (NAME, PROMPT, ERROR, BOT, LOGGED, ACCOUNT, PINGED, ARGUMENT)
JOB = "0123456789ab"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    config._cache.clear()
    environment._cache.clear()
    for folder in ("cron", "logs", "scripts", "state"):
        (tmp_path / folder).mkdir()
    at = datetime.now(timezone.utc).isoformat()
    job = {
        "id": JOB,
        "name": f"pay with {NAME}",
        "prompt": f"call it with {PROMPT} as I said",
        "schedule": {"kind": "interval", "minutes": 60, "display": f"every {NAME}"},
        "enabled": True,
        "state": "scheduled",
        "deliver": f"telegram:1,slack:{NAME}",
        "last_status": "error",
        "last_run_at": at,
        "last_error": f"refused: {ERROR}",
        "last_delivery_error": f"https://api.telegram.org/bot{BOT}/sendMessage 404",
        "enabled_toolsets": [NAME],
        "skills": [NAME],
        "created_at": "2026-01-01T00:00:00+00:00",
    }
    nameless = {**job, "id": "ba9876543210", "name": None}
    (tmp_path / "cron" / "jobs.json").write_text(json.dumps({"jobs": [job, nameless]}))
    connection = sqlite3.connect(tmp_path / "cron" / "executions.db")
    connection.execute(
        "CREATE TABLE executions(id TEXT, job_id TEXT, source TEXT, process_id TEXT, pid INTEGER,"
        " process_started_at TEXT, status TEXT, claimed_at TEXT, started_at TEXT, finished_at TEXT,"
        " error TEXT)"
    )
    row = ("e1", JOB, "builtin", "p", 1, "", "failed", at, at, at, f"refused: {ERROR}")
    connection.execute(f"INSERT INTO executions VALUES ({', '.join('?' * len(row))})", row)
    connection.commit()
    connection.close()
    stamp = datetime.now().strftime("%Y-%m-%d %H:%M:%S,000")
    (tmp_path / "logs" / "errors.log").write_text(
        f"{stamp} WARNING agent.client: 429 rate limit for {LOGGED}\n"
    )
    platforms = {"telegram": {"state": "failed", "error_message": f"bad token {ERROR}"}}
    state = {"pid": 2**22 - 5, "gateway_state": "running", "platforms": platforms}
    (tmp_path / "gateway_state.json").write_text(json.dumps(state))
    accounts = [{"name": "a", "provider": "json", "url": "http://127.0.0.1:9/x", "key": ACCOUNT}]
    settings = {
        "wallet": {"accounts": accounts},
        "ping_url": f"http://127.0.0.1:9/{PINGED}",
        "alert_command": ["/bin/true", "--token", ARGUMENT],
    }
    (tmp_path / "config.yaml").write_text(json.dumps({"ops": settings}))
    return tmp_path


def assert_clean(text, what):
    for secret in SECRETS:
        assert secret not in text, (what, secret)


@pytest.mark.once
def test_no_command_prints_one_and_nothing_of_ours_keeps_one(home, capsys):
    extra = (["explain", "missing", JOB], ["explain", "duplicate", JOB], ["sweep", "--all"], ["lint", JOB])
    for command in (*COMMANDS, *extra):
        for words in (command, [*command, "--json"]):
            cli.main(words)
            said = capsys.readouterr()
            assert_clean(said.out + said.err, words)
    for watcher in WATCHERS:
        for words in (["--scheduled"], ["--json"]):
            cli.main(["watch", watcher.name, *words])
            said = capsys.readouterr()
            assert_clean(said.out + said.err, (watcher.name, words))
    for words in ("", "status", "watchers"):
        assert_clean(slash.run(words), words)
    for path in (home / "ops").rglob("*"):
        if path.is_file():
            assert_clean(path.read_bytes().decode("utf-8", "replace"), path)


@pytest.mark.parametrize(
    "ops",
    [
        {"wallet": {"accounts": [{"ky": ACCOUNT, "name": "a"}]}},
        {"wallet": {"accounts": [{"key": ACCOUNT, "nme": 3}]}},
        {"wallet": {"accounts": ACCOUNT}},
        {"wallet": {"floor": NAME}},
        {"wallet": {"floor": 10**400}},
        {"wallet": {"floor": {"a": [NAME]}}},
        {"actions": NAME},
        {"quiet_hours": NAME},
    ],
)
def test_a_wrong_setting_is_told_without_what_it_holds(home, ops, capsys):
    (home / "config.yaml").write_text(json.dumps({"ops": ops}))
    config._cache.clear()
    for words in (["settings"], ["settings", "--json"], ["doctor"], ["watch", "wallet", "--scheduled"]):
        cli.main(words)
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert_clean(said.out + said.err, ops)
    for path in (home / "ops").rglob("*.json"):
        assert_clean(path.read_text("utf-8"), path)
