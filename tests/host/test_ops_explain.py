"""Causes, copies, probes and doctor over files that the real host wrote."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

import pytest

from tests.host.file_chats import FileChats
from tests.host.hermes import HermesHome
from tests.host.model_server import ModelServer, auxiliary_route
from tests.host.ops_host import Host

pytestmark = pytest.mark.host

BIG = {"prompt_tokens": 530_000, "completion_tokens": 100}
ROUTES = [
    {"name": "quiet", "when": {"any_text": "Watch the lamp"}, "turns": [{"text": "[SILENT]"}]},
    {"name": "big", "when": {"any_text": "Tell me all"}, "turns": [{"text": "All.", "usage": BIG}]},
]


@pytest.fixture(scope="module")
def home() -> Iterator[HermesHome]:
    routes = [{**route, "repeat": True} for route in ROUTES]
    with (
        ModelServer([auxiliary_route(), *routes]) as model,
        HermesHome(model.url, context_length=1_000_000) as made,
    ):
        yield made


@pytest.fixture(scope="module")
def host(home: HermesHome) -> Iterator[Host]:
    FileChats(home)
    (home.path / "scripts").mkdir()
    (home.path / "scripts" / "fails.py").write_text("raise SystemExit('the disk is gone')\n")
    (home.path / "scripts" / "says.py").write_text("print('water the plants')\n")
    with Host(home) as started:
        yield started


def cause(host: Host, *words: str) -> str:
    answer = json.loads(host.ops("explain", *words, "--json", code=1))
    assert answer["causes"], answer
    return answer["causes"][0]


def test_missing_names_why_nothing_came_of_a_real_job(home: HermesHome, host: Host) -> None:
    script = {"no_agent": True, "schedule": "every 1h"}
    paused = host.ask("create", **{**script, "name": "paused", "script": "says.py", "deliver": "local"})
    failing = host.ask("create", **{**script, "name": "failing", "script": "fails.py", "deliver": "local"})
    lost = host.ask(
        "create", **{**script, "name": "lost", "script": "says.py", "deliver": "file-chat:nobody"}
    )
    silent = host.ask(
        "create", name="silent", prompt="Watch the lamp", schedule="every 1h", deliver="file-chat:lamp"
    )
    host.ask("pause", paused, "on holiday")
    assert "paused" in cause(host, "missing", "paused")
    assert "never run here" in cause(host, "missing", "failing")
    host.ask("tick")
    assert "never run" in cause(host, "missing", "failing") or "not due" in cause(host, "missing", "failing")

    (home.root / "chat" / "unreachable").touch()
    host.ask("run", [failing, lost, silent])
    (home.root / "chat" / "unreachable").unlink()
    assert "failed: Script exited with code 1" in cause(host, "missing", failing)
    assert "did not arrive" in cause(host, "missing", lost)
    assert "silence by design" in cause(host, "missing", silent)
    host.ask("run", [lost])
    assert "did not arrive" not in host.ops("explain", "missing", lost, code=0)


def test_slow_and_spend_see_the_giant_session_that_the_host_booked(home: HermesHome, host: Host) -> None:
    host.ops("costs", "--json")
    usage = home.root / "usage.json"
    assert host.ask("hermes_cli.oneshot.run_oneshot", "Tell me all", usage_file=str(usage)) == 0
    assert "530,000 tokens a call" in cause(host, "slow")
    assert "530,000 tokens a call" in cause(host, "slow", json.loads(usage.read_text())["session_id"])
    found = json.loads(host.ops("explain", "spend", "--all", "--json", code=1))
    assert len(found["nodes"]) == 5


def test_backup_copies_the_database_that_the_host_writes(home: HermesHome, host: Host) -> None:
    host.ops("backup", "run")
    [copy] = json.loads(host.ops("backup", "verify", "--json"))["copies"]
    with sqlite3.connect(copy["path"]) as connection:
        copied = connection.execute("SELECT count(*) FROM messages").fetchone()
    with sqlite3.connect(f"file:{home.path / 'state.db'}?mode=ro", uri=True) as connection:
        assert copied == connection.execute("SELECT count(*) FROM messages").fetchone()
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert host.ask("watch", "liveness.backup") == {"findings": {}, "blind": [], "events": []}


def test_probes_of_what_the_host_wrote_hold_until_it_is_gone(home: HermesHome, host: Host) -> None:
    host.ops("probes", "init")
    host.ops("probes", "accept")
    assert host.ask("watch", "quality.probes")["findings"] == {}
    jobs = home.path / "cron" / "jobs.json"
    content = jobs.read_bytes()
    jobs.write_bytes(content[:40])
    assert list(host.ask("watch", "quality.probes")["findings"]) == ["probe.broken:jobs-readable"]
    jobs.write_bytes(content)
    assert host.ask("watch", "quality.probes")["findings"] == {}


def test_doctor_says_what_is_missing_in_this_home(host: Host) -> None:
    said = host.ops("doctor", code=1)
    for word in ("no watchers", "nobody watches", "auxiliary not pinned"):
        assert word in said
    assert "hermes-agent 0.19.0" in said
