"""Table, diff, reminders and the gate on jobs that the real host made, ran, edited and delivered."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest

from hermes_ops.host.jobs import read_jobs
from hermes_ops.schedule import remind
from tests.host.file_chats import FileChats
from tests.host.hermes import HermesHome
from tests.host.model_server import ModelServer
from tests.host.ops_host import CHECKOUT, Host

pytestmark = pytest.mark.host

CHAT = "me"
TEXT = "Call Ann about the keys ✓"


@pytest.fixture(scope="module")
def home() -> Iterator[HermesHome]:
    with ModelServer([]) as server, HermesHome(server.url) as home:
        home.configure({"timezone": "Europe/Berlin", "cron": {"wrap_response": False}})
        home.install(CHECKOUT / "hermes_ops")
        yield home


@pytest.fixture(scope="module")
def chats(home: HermesHome) -> FileChats:
    return FileChats(home)


@pytest.fixture(scope="module")
def host(home: HermesHome, chats: FileChats) -> Iterator[Host]:
    with Host(home) as started:
        yield started


@pytest.fixture(scope="module")
def steps(home: HermesHome, host: Host) -> dict[str, Any]:
    """What commands said between jobs, runs and edits of the host."""

    def ops(*words: str) -> list[Any]:
        return host.ask("ops", *words)

    def table() -> list[str]:
        return [ops("table", form)[1] for form in ("--markdown", "--json", "--html")]

    def ran(job_id: str) -> dict[str, Any]:
        return host.ask("ran", job_id)

    steps: dict[str, Any] = {}
    (home.path / "scripts").mkdir(exist_ok=True)
    (home.path / "scripts" / "disk.py").write_text("print('disk is full')\n")
    local = {"deliver": "local"}
    script = {"no_agent": True, **local}
    mail = "Summarise the mail of today."
    digest = host.ask("create", prompt=mail, schedule="0 6 * * 1-5", name="morning | digest", **local)
    disk = host.ask("create", schedule="every 30m", name="disk", script="disk.py", **script)
    later = host.ask("create", prompt="Say hello.", schedule="2027-07-09T15:30:00", name="later", **local)
    steps["ids"] = {"digest": digest, "disk": disk, "later": later}

    steps["tables"] = [table(), table()]
    steps["accepted"] = ops("diff", "--accept", "--reason", "as set up")
    steps["disk ran"] = ran(disk)
    steps["tables"].append(table())
    steps["same"] = ops("diff")
    host.ask("cron.jobs.update_job", digest, {"schedule": "30 5 * * 1-5", "model": "other/model"})
    host.ask("cron.jobs.remove_job", later)
    steps["changed"] = ops("diff", "--json")
    steps["table after"] = ops("table", "--json")[1]

    looked_at = home.root / "looked-at"
    looked_at.write_text("one\n")
    steps["gate written"] = ops("gate", "write", "news", "--skip-lines", "^# ", "--file", str(looked_at))
    hourly = {"schedule": "every 1h", "script": "ops-gate-news.py"}
    quiet = host.ask("create", name="gate", **hourly, **script)
    agent = host.ask("create", name="gated agent", prompt="Tell me.", **hourly, **local)
    steps["gate first"] = ran(quiet)
    looked_at.write_text("# a comment\none\n")
    steps["gate same"] = ran(quiet)
    steps["gate before an agent"] = ran(agent)
    looked_at.write_text("two\n")
    steps["gate changed"] = ran(quiet)
    looked_at.unlink()
    steps["gate failed"] = ran(quiet)

    steps["local refused"] = ops("remind", "x", "--in", "5m", "--deliver", "local")
    zones = ("--at", "2027-07-09 15:30", "--zone", "America/New_York", "--force-local", "--json")
    steps["zones"] = ops("remind", "Call Ann", *zones)
    made = json.loads(steps["zones"][1])
    steps["pending"] = host.ask("cron.jobs.get_job", made["job"])
    steps["cancelled"] = ops("remind", "cancel", made["reminder"])
    steps["after cancelling"] = host.ask("cron.jobs.get_job", made["job"])
    steps["blocked"] = ops("remind", "run hermes gateway restart", "--in", "5m", "--force-local")
    steps["scripts left"] = sorted(path.name for path in (home.path / "scripts").glob("ops-remind-*.py"))
    return steps


def changed(step: list[Any]) -> dict[str, list[str]]:
    return {change["job"]: change["lines"] for change in json.loads(step[1])["changes"]}


def test_the_table_of_real_jobs_stays_the_same_when_a_job_ran(steps: dict[str, Any]) -> None:
    first, again, after_a_run = steps["tables"]
    assert first == again == after_a_run
    markdown = first[0]
    assert "at 06:00, Monday to Friday" in markdown and "every 30 minutes" in markdown
    assert "once at 2027-07-09 15:30 CEST" in markdown and "times in Europe/Berlin" in markdown
    assert "morning \\| digest" in markdown
    assert steps["disk ran"]["job"]["last_status"] == "ok"
    assert steps["accepted"][0] == 0 and steps["same"][0] == 0


def test_what_the_host_changed_is_told_and_nothing_else(steps: dict[str, Any]) -> None:
    code, ids = steps["changed"][0], steps["ids"]
    assert code == 1
    assert changed(steps["changed"]) == {
        ids["digest"]: [
            "schedule: at 06:00, Monday to Friday (0 6 * * 1-5) -> at 05:30, Monday to Friday (30 5 * * 1-5)",
            "model: default -> other/model",
        ],
        ids["later"]: ["removed"],
    }
    assert steps["table after"] != steps["tables"][0][1]


def test_the_host_takes_an_unchanged_text_for_silence(steps: dict[str, Any]) -> None:
    assert steps["gate written"][0] == 0
    for step in ("gate first", "gate same"):
        assert "**Status:** silent (wakeAgent=false)" in steps[step]["text"], step
        assert steps[step]["job"]["last_status"] == "ok"
    assert "agent skipped" in steps["gate before an agent"]["text"]


def test_the_host_delivers_what_changed_and_a_failure(steps: dict[str, Any]) -> None:
    changed_text = steps["gate changed"]["text"].split("---\n")[-1]
    assert changed_text.strip().splitlines()[-1] == "two"
    assert "news cannot tell whether anything changed" in steps["gate failed"]["text"]
    assert steps["gate failed"]["job"]["last_status"] == "ok"


def test_a_reminder_is_at_the_instant_that_was_meant_until_it_is_cancelled(steps: dict[str, Any]) -> None:
    assert steps["local refused"][0] == 1 and "tells nobody" in steps["local refused"][2]
    made = json.loads(steps["zones"][1])
    assert made["yours"] == "2027-07-09 15:30 EDT" and made["host"] == "2027-07-09 21:30 CEST"
    assert steps["pending"]["next_run_at"] == "2027-07-09T21:30:00+02:00"
    assert datetime.fromisoformat("2027-07-09T19:30:00+00:00").timestamp() == made["at"]
    assert steps["cancelled"][0] == 0 and steps["after cancelling"] is None


def test_what_the_host_refuses_to_schedule_leaves_no_script(steps: dict[str, Any]) -> None:
    code, _, err = steps["blocked"]
    assert code == 1 and "Blocked" in err
    assert steps["scripts left"] == []


@pytest.fixture
def zone_of_the_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Logs are read in the zone of the process that wrote them."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("zone_of_the_home")
def test_a_reminder_says_exactly_its_text_and_what_did_not_arrive_is_told(
    home: HermesHome, chats: FileChats, host: Host
) -> None:
    def remind_of(text: str) -> dict[str, Any]:
        return json.loads(host.ops("remind", text, "--in", "2m", "--deliver", f"file-chat:{CHAT}", "--json"))

    heard, unheard = remind_of(TEXT), remind_of("Water the plants")
    host.ask("run", [heard["job"]])
    assert chats.said(CHAT) == [TEXT]
    chats.reachable(False)
    host.ask("run", [unheard["job"]])
    assert chats.said(CHAT) == [TEXT]
    states = {one.reminder.job_id: one.state for one in remind.listed(home.path, time.time())}
    assert (states[heard["job"]], states[unheard["job"]]) == ("delivered", "undelivered")
    # The host has forgotten both.
    assert {heard["job"], unheard["job"]}.isdisjoint(job.id for job in read_jobs(home.path).jobs)


def test_the_gate_takes_a_command_behind_the_hosts_own_command_line(home: HermesHome) -> None:
    words = ("gate", "write", "clock", "--skip-lines", "^at ", "--sort", "--", "/bin/sh", "-c")
    written = home.run("ops", *words, "echo at 5; echo b; echo a")
    assert written.returncode == 0, written.stdout + written.stderr
    script = [sys.executable, str(home.path / "scripts" / "ops-gate-clock.py")]
    run = subprocess.run(script, env=home.environment(), capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == {"wakeAgent": False}
    kept = json.loads((home.path / "ops" / "gates" / "clock.json").read_text("utf-8"))
    assert (kept["text"], kept["compared"]) == ("at 5\nb\na\n", "a\nb")
