"""Whatever stands where a file should: no command waits for it, or fails with a traceback."""

import json
import os
import signal
import sqlite3
import time

import pytest

from hermes_ops import cli
from hermes_ops._common import config
from hermes_ops.core.run import look
from hermes_ops.core.watch import WATCHERS
from hermes_ops.host import environment
from hermes_ops.host.profiles import profiles

HOST_FILES = (
    "cron/jobs.json",
    "cron/executions.db",
    "cron/ticker_heartbeat",
    "cron/ticker_last_success",
    ".env",
    "config.yaml",
    "state.db",
    "gateway.pid",
    "gateway.lock",
    "gateway_state.json",
    "gateway-starts.log",
    "gateway-exit-diag.log",
    "gateway.json",
    "state/gateway.heartbeat",
    "logs/errors.log",
    "logs/agent.log",
)
OUR_FILES = (
    "ops/ledger.db",
    "ops/incidents.json",
    "ops/install.json",
    "ops/schedule.json",
    "ops/sweep.json",
    "ops/supervisor.json",
    "ops/budget.json",
    "ops/suppress.toml",
    "ops/policy.toml",
    "ops/watchers.toml",
    "ops/notes.toml",
    "ops/probes.toml",
    "ops/roles.toml",
)
COMMANDS = (
    ["status"],
    ["doctor"],
    ["settings"],
    ["sweep"],
    ["table"],
    ["diff"],
    ["lint"],
    ["watchers"],
    ["policy"],
    ["deliveries"],
    ["outcomes"],
    ["thinking"],
    ["budget"],
    ["costs"],
    ["schedule"],
    ["incidents"],
    ["supervise", "status"],
    ["explain", "dead"],
    ["explain", "slow"],
    ["backup", "list"],
    ["remind", "list"],
    ["toolsets"],
)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    for folder in ("cron", "state", "logs", "ops"):
        (tmp_path / folder).mkdir()
    config._cache.clear()
    environment._cache.clear()
    previous = signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(100)
    yield tmp_path
    signal.alarm(0)
    signal.signal(signal.SIGALRM, previous)


def _too_long(*_):
    raise AssertionError("something waits for a pipe")


@pytest.mark.once
@pytest.mark.parametrize("names", [HOST_FILES, OUR_FILES], ids=["of the host", "of ours"])
def test_a_pipe_in_the_place_of_any_file_holds_nothing_up(home, names, capsys):
    for name in names:
        os.mkfifo(home / name)
    for command in COMMANDS:
        assert cli.main(command) in (0, 1, 2, 3), command
    for watcher in WATCHERS:
        assert cli.main(["watch", watcher.name, "--scheduled"]) == 0
    said = capsys.readouterr()
    assert "Traceback" not in said.out + said.err


@pytest.mark.once
def test_half_a_character_in_a_job_blinds_nobody(home, capsys):
    """As a model's tool call writes it: JSON can hold one half of a pair, and no database takes it."""
    job = {
        "id": "0123456789ab",
        "name": "party \ud83d",
        "prompt": "celebrate \udc00",
        "schedule": {"kind": "interval", "minutes": 60, "display": "every \ud83d"},
        "enabled": True,
        "state": "scheduled",
        "deliver": "telegram:1\ud83d",
        "last_error": "no \ud83d",
        "last_status": "error",
    }
    (home / "cron" / "jobs.json").write_text(json.dumps({"jobs": [job]}))
    connection = sqlite3.connect(home / "cron" / "executions.db")
    connection.execute(
        "CREATE TABLE executions(id TEXT, job_id TEXT, source TEXT, process_id TEXT, pid INTEGER,"
        " process_started_at TEXT, status TEXT, claimed_at TEXT, started_at TEXT, finished_at TEXT,"
        " error TEXT)"
    )
    at = "2026-11-29T10:00:00+00:00"
    row = ("e1", "0123456789ab", "builtin", "p", 1, "", "failed", at, at, at, "x")
    connection.execute(f"INSERT INTO executions VALUES ({', '.join('?' * len(row))})", row)
    connection.commit()
    connection.close()
    for command in COMMANDS:
        assert cli.main(command) in (0, 1, 2), command
    for watcher in WATCHERS:
        outcome = look(watcher, home, time.time())
        assert outcome.error is None, (watcher.name, outcome.error)
    assert "Traceback" not in capsys.readouterr().err


def test_a_link_that_leads_to_itself_is_no_profile_and_hides_none(home):
    (home / "profiles" / "work").mkdir(parents=True)
    (home / "profiles" / "loop").symlink_to("loop")
    (home / "profiles" / "gone").symlink_to("nowhere")
    assert [profile.name for profile in profiles(home)] == ["default", "work"]
