"""Expected runs against real ones: what is missed, late, failing, stuck or dead is told, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from hermes_ops.cli import main
from hermes_ops.core.finding import Finding, Reading
from hermes_ops.core.watch import Context
from hermes_ops.schedule import sweep
from hermes_ops.schedule.expected import Attempt, failing

CASES = Path(__file__).parent / "cron"
BERLIN = ZoneInfo("Europe/Berlin")
DIGEST = "06c6883b7ddd"


def at(text: str, zone: tzinfo = BERLIN) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=zone).timestamp()


def iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, BERLIN).isoformat()


NOW = at("2026-11-27T12:00")


class Host:
    """A home with the files of the host, written as the host writes them; the ticker is well unless told."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.jobs: list[dict[str, Any]] = []
        self.runs: list[tuple[Any, ...]] = []
        self.heartbeat: float | None = 0.0  # seconds before now; None: no file
        self.success: float | None = 0.0
        self.config = "timezone: Europe/Berlin\nmodel: {default: some-model}\n"
        (root / "cron").mkdir(parents=True)

    def job(self, job_id: str = DIGEST, schedule: Any = "0 6 * * *", **fields: Any) -> dict[str, Any]:
        if isinstance(schedule, str):
            schedule = {"kind": "cron", "expr": schedule, "display": schedule}
        record = {
            "id": job_id,
            "name": f"job {job_id[:3]}",
            "prompt": "p",
            "schedule": schedule,
            "enabled": True,
            "state": "scheduled",
            "deliver": "local",
            "created_at": iso(NOW - 90 * 86_400),
            "last_status": "ok",
            **fields,
        }
        self.jobs.append(record)
        return record

    def run(
        self,
        begin: float,
        job_id: str = DIGEST,
        status: str = "completed",
        lasts: float = 20.0,
        error: str | None = None,
        **fields: Any,
    ) -> None:
        end = None if status in ("claimed", "running") else iso(begin + lasts)
        pid, source = fields.get("pid"), fields.get("source", "builtin")
        row = (f"e{len(self.runs)}", job_id, source, status, iso(begin), iso(begin), end, error, pid, None)
        self.runs.append(row)
        for job in self.jobs:
            if job["id"] == job_id and end:
                job["last_run_at"], job["last_status"] = end, "ok" if status == "completed" else "error"
                job["last_error"] = error

    def write(self, now: float = NOW) -> Path:
        cron = self.root / "cron"
        (self.root / "config.yaml").write_text(self.config)
        (cron / "jobs.json").write_text(json.dumps({"jobs": self.jobs, "updated_at": iso(now)}))
        for name, age in (("ticker_heartbeat", self.heartbeat), ("ticker_last_success", self.success)):
            (cron / name).unlink(missing_ok=True)
            if age is not None:
                (cron / name).write_text(str(now - age))
        (cron / "executions.db").unlink(missing_ok=True)
        connection = sqlite3.connect(cron / "executions.db")
        connection.execute(
            "CREATE TABLE executions (id, job_id, source, status, claimed_at, started_at, finished_at, error,"
            " pid, process_started_at)"
        )
        connection.executemany("INSERT INTO executions VALUES (?,?,?,?,?,?,?,?,?,?)", self.runs)
        connection.commit()
        connection.close()
        return self.root

    def sweep(self, now: float = NOW) -> Reading:
        """One run of the watcher over the files as they are now."""
        context = Context(self.write(now), now)
        try:
            return sweep.watch(context)
        finally:
            context.close()

    def rules(self, now: float = NOW) -> list[str]:
        return rules(self.sweep(now))

    def healthy_day_by_day(self, job_id: str, hour: int, days: int = 5, until: float = NOW) -> None:
        """Runs at an hour of each of the last days, as they should be."""
        for back in range(days, -1, -1):
            day = datetime.fromtimestamp(until - back * 86_400, BERLIN).strftime("%Y-%m-%d")
            begin = at(f"{day}T{hour:02}:00") + 21
            if begin < until:
                self.run(begin, job_id)


def rules(reading: Reading) -> list[str]:
    return sorted(finding.rule.removeprefix("schedule.") for finding in reading.findings)


def one(reading: Reading, rule: str) -> Finding:
    found = [finding for finding in reading.findings if finding.rule == f"schedule.{rule}"]
    assert len(found) == 1, [finding.id for finding in reading.findings]
    return found[0]


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    for name in list(os.environ):
        if name.startswith(("HERMES_", "TELEGRAM_", "DISCORD_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "home"))
    yield Host(tmp_path / "home")


# times


def test_jobs_that_run_as_they_should_are_silent(host: Host) -> None:
    host.job()
    host.job("aaaaaaaaaaaa", {"kind": "interval", "minutes": 30})
    host.healthy_day_by_day(DIGEST, 6)
    begin = NOW - 5 * 86_400
    while begin < NOW - 60:
        host.run(begin, "aaaaaaaaaaaa")
        begin += 20 + 1800 + 35
    assert host.rules() == []


def test_a_missed_run_is_told_with_the_time_it_was_due_and_is_over_after_a_while(host: Host) -> None:
    host.job(next_run_at=iso(at("2026-11-28T06:00")))
    host.job("aaaaaaaaaaaa", "*/15 * * * *")
    for quarter in range(6 * 96):
        host.run(NOW - 6 * 86_400 + quarter * 900 + 20, "aaaaaaaaaaaa")
    host.healthy_day_by_day(DIGEST, 6, until=at("2026-11-27T05:00"))
    found = one(host.sweep(), "missed")
    assert found.id == f"schedule.missed:default/{DIGEST}"
    assert "2026-11-27 06:00 CET" in found.text and "has not run since" in found.text
    assert found.severity == "error"
    host.run(at("2026-11-28T06:00") + 20)
    for quarter in range(4 * 96):
        host.run(NOW + quarter * 900 + 20, "aaaaaaaaaaaa")
    later = one(host.sweep(at("2026-11-28T12:00")), "missed")
    assert later.severity == "warning" and "ran again 2026-11-28 06:00 CET" in later.text
    host.run(at("2026-11-29T06:00") + 20)
    host.run(at("2026-11-30T06:00") + 20)
    assert host.rules(at("2026-11-30T12:00")) == []


def test_within_the_hosts_grace_nothing_is_missed_yet(host: Host) -> None:
    host.job()
    host.healthy_day_by_day(DIGEST, 6, until=at("2026-11-27T05:00"))
    assert host.rules(at("2026-11-27T07:59")) == []
    assert host.rules(at("2026-11-27T08:30")) == ["missed"]


def test_one_catch_up_run_after_downtime_is_late_and_not_missed(host: Host) -> None:
    host.job()
    host.healthy_day_by_day(DIGEST, 6, until=at("2026-11-26T07:00"))
    host.run(at("2026-11-27T11:30"))
    reading = host.sweep()
    assert rules(reading) == ["late"]
    found = one(reading, "late")
    assert (
        "due 2026-11-27 06:00 CET" in found.text and "6 h late" in found.text and "no job ran" in found.text
    )


def test_a_gap_in_which_nothing_ran_is_told_once_for_all_jobs(host: Host) -> None:
    ids = [f"{number:012x}" for number in range(4)]
    for job_id in ids:
        host.job(job_id, "*/30 * * * *")
    for job_id in ids:
        for half in range(3 * 48):
            begin = NOW - 3 * 86_400 + half * 1800
            if not at("2026-11-27T01:10") < begin < at("2026-11-27T08:50"):
                host.run(begin + 15, job_id)
    reading = host.sweep()
    assert rules(reading) == ["outage"]
    found = one(reading, "outage")
    assert "4 jobs were due" in found.text and "2026-11-27 01:00 CET to 2026-11-27 09:00 CET" in found.text
    assert found.key == "default/"


def test_a_slow_start_while_others_ran_is_late(host: Host) -> None:
    host.job()
    host.job("aaaaaaaaaaaa", "*/15 * * * *")
    for quarter in range(5 * 96):
        host.run(NOW - 5 * 86_400 + quarter * 900 + 20, "aaaaaaaaaaaa")
    host.healthy_day_by_day(DIGEST, 6, until=at("2026-11-26T07:00"))
    host.run(at("2026-11-27T09:30"))
    found = one(host.sweep(), "late")
    assert "began 4 h late" in found.text
    assert "the host allows 2 h" in found.text and "no job ran" not in found.text


def test_what_falls_due_while_the_job_still_runs_is_not_missed(host: Host) -> None:
    host.job(schedule="*/10 * * * *")
    begin = NOW - 3 * 86_400
    while begin < NOW - 120:
        host.run(begin + 15, lasts=24 * 60)
        begin += 30 * 60
    assert host.rules() == []


def test_the_days_on_which_clocks_change_are_no_fault(host: Host) -> None:
    host.job(created_at=iso(at("2026-01-01T00:00")))
    moments = (
        "2026-10-22T06:00",
        "2026-10-23T06:00",
        "2026-10-24T06:00",
        "2026-10-25T07:00",
        "2026-10-26T06:00",
    )
    for text in moments:
        host.run(at(text) + 20)
    assert host.rules(at("2026-10-26T12:00")) == []
    host.runs.clear()
    for text in (
        "2026-03-27T06:00",
        "2026-03-28T06:00",
        "2026-03-29T05:00",
        "2026-03-29T06:00",
        "2026-03-30T06:00",
    ):
        host.run(at(text) + 20)
    assert host.rules(at("2026-03-30T12:00")) == []


def test_nothing_is_expected_before_the_job_was_made(host: Host) -> None:
    host.job("aaaaaaaaaaaa", "*/30 * * * *")
    for half in range(5 * 48):
        host.run(NOW - 5 * 86_400 + half * 1800 + 15, "aaaaaaaaaaaa")
    host.job(created_at=iso(NOW - 3600), last_status=None)
    assert host.rules() == []


def test_nothing_is_expected_before_the_first_run_on_record(host: Host) -> None:
    host.job(last_run_at=iso(at("2026-11-27T06:00:20")))
    host.job("aaaaaaaaaaaa", "*/30 * * * *")
    for half in range(8):
        host.run(at("2026-11-27T08:00") + half * 1800 + 15, "aaaaaaaaaaaa")
    assert host.rules() == []


def test_a_job_that_was_paused_owes_nothing_for_the_pause(host: Host) -> None:
    job = host.job()
    host.job("aaaaaaaaaaaa", "*/30 * * * *")
    for half in range(8 * 48):
        host.run(NOW - 8 * 86_400 + half * 1800 + 15, "aaaaaaaaaaaa")
    host.healthy_day_by_day(DIGEST, 6, until=at("2026-11-25T07:00"))
    job.update(enabled=False, state="paused", paused_at=iso(at("2026-11-25T08:00")))
    assert host.rules(at("2026-11-26T12:00")) == []
    job.update(enabled=True, state="scheduled", paused_at=None, next_run_at=iso(at("2026-11-28T06:00")))
    assert host.rules() == []


def test_another_schedule_counts_from_when_it_was_seen(host: Host) -> None:
    job = host.job()
    host.job("aaaaaaaaaaaa", "*/30 * * * *")
    for half in range(8 * 48):
        host.run(NOW - 8 * 86_400 + half * 1800 + 15, "aaaaaaaaaaaa")
    host.healthy_day_by_day(DIGEST, 6, until=at("2026-11-27T07:00"))
    assert host.rules() == []
    job["schedule"] = {"kind": "cron", "expr": "0 9 * * *", "display": "0 9 * * *"}
    assert host.rules(NOW + 60) == []


def test_an_interval_that_stopped_is_missed(host: Host) -> None:
    host.job(schedule={"kind": "interval", "minutes": 30, "display": "every 30m"})
    host.job("aaaaaaaaaaaa", "*/10 * * * *")
    for ten in range(3 * 144):
        host.run(NOW - 3 * 86_400 + ten * 600 + 15, "aaaaaaaaaaaa")
    begin = NOW - 3 * 86_400
    while begin < NOW - 4 * 3600:
        host.run(begin)
        begin += 1860
    found = one(host.sweep(), "missed")
    assert "it missed 8 runs, 2026-11-27 08:11 CET to 2026-11-27 11:41 CET" in found.text


def test_a_job_that_died_long_ago_is_overdue_though_its_next_run_looks_fine(host: Host) -> None:
    host.job(
        schedule="0 5 * * *",
        last_run_at="2026-09-15T05:00:00+00:00",
        next_run_at="2026-11-28T05:00:00+00:00",
        created_at=None,
    )
    found = one(host.sweep(), "overdue")
    assert "73 days" in found.text and "last_status: ok" in found.evidence[1]


def test_a_job_that_never_ran_though_its_time_is_past_is_overdue(host: Host) -> None:
    host.job(created_at=None, last_run_at=None, last_status=None, next_run_at=iso(NOW - 3 * 3600))
    found = one(host.sweep(), "overdue")
    assert "has never run" in found.text and "past, and nothing happened" in found.evidence[2]


def test_many_starts_after_a_long_sleep_are_one_event_and_no_trend(host: Host) -> None:
    ids = [f"{number:012x}" for number in range(12)]
    for job_id in ids:
        host.job(job_id, "0 */2 * * *")
    wake = NOW - 3600
    for place, job_id in enumerate(ids):
        for slot in range(0, 10):
            host.run(wake - 42 * 3600 - slot * 7200 - 300, job_id)
        host.run(wake + place * 9, job_id)
    reading = host.sweep()
    bursts = [event for event in reading.events if event.id.startswith("schedule.burst:")]
    assert len(bursts) == 1
    assert "12 runs of 12 jobs" in bursts[0].text and "no trend" in bursts[0].text
    assert rules(reading) == ["outage"]
    assert [event.id for event in host.sweep(NOW + 600).events] == [bursts[0].id]


# failures


def test_failures_in_a_row_are_counted_and_a_success_closes_them(host: Host) -> None:
    host.job()
    for back in range(5, 0, -1):
        host.run(at("2026-11-27T06:00") - back * 86_400 + 20, status="failed", error=f"boom {back}\nmore")
    host.run(at("2026-11-27T06:00") + 20, status="failed", error="boom 0\nmore")
    found = one(host.sweep(), "failing")
    assert "6 failures in a row since 2026-11-22 06:00 CET" in found.text and "boom 0" in found.text
    assert found.severity == "error" and found.evidence == ("more",)
    host.run(at("2026-11-28T06:00") + 20)
    assert host.rules(at("2026-11-28T12:00")) == []


def test_a_failure_before_the_last_success_is_over(host: Host) -> None:
    host.job()
    host.healthy_day_by_day(DIGEST, 6, until=at("2026-11-25T07:00"))
    host.run(at("2026-11-26T06:00") + 20, status="failed", error="boom")
    host.run(at("2026-11-27T06:00") + 20)
    assert host.rules() == []


def test_a_run_that_was_cut_off_is_neither_failure_nor_success() -> None:
    def run(begin: float, status: str, failed: bool) -> Attempt:
        return Attempt(str(begin), DIGEST, status, begin, begin + 1, failed=failed)

    runs = [
        run(1, "completed", False),
        run(2, "failed", True),
        run(3, "unknown", False),
        run(4, "failed", True),
    ]
    streak = failing(runs)
    assert streak is not None and (streak.count, streak.since, streak.more) == (2, 2, False)
    assert failing(runs[:1]) is None and failing([]) is None
    only = failing([run(2, "failed", True)])
    assert only is not None and only.more


def test_the_jobs_own_status_counts_where_no_run_is_on_record(host: Host) -> None:
    host.job(
        last_run_at=iso(NOW - 3600), last_status="error", last_error="Script exited with code 1\nstdout:\nx"
    )
    found = one(host.sweep(), "failing")
    assert "Script exited with code 1" in found.text and found.evidence == ("stdout:", "x")


def test_a_run_that_takes_too_long_is_told_once_it_is_longer_than_its_longest(host: Host) -> None:
    host.job(schedule={"kind": "interval", "minutes": 600})
    host.run(NOW - 9 * 3600, lasts=1800)
    host.run(NOW - 80 * 60, status="running", pid=os.getpid())
    assert host.rules() == []
    found = one(host.sweep(NOW + 60 * 60), "long")
    assert "running for 2 h" in found.text


def test_a_run_whose_process_is_gone_is_cut_off(host: Host) -> None:
    import subprocess
    import sys

    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    host.job(schedule={"kind": "interval", "minutes": 600})
    host.run(NOW - 600, status="running", pid=process.pid)
    assert host.rules() == ["cut_off"]


def test_a_stale_claim_is_told_and_a_fresh_one_is_not(host: Host) -> None:
    job = host.job(schedule={"kind": "once", "run_at": iso(NOW - 60)}, last_status=None)
    job["run_claim"] = {"at": iso(NOW - 50), "by": "box:17"}
    assert host.rules() == []
    assert "stale_claim" in host.rules(NOW + 3 * 3600)


# one-shots


def test_a_one_shot_in_time_is_silent(host: Host) -> None:
    host.job(schedule={"kind": "once", "run_at": iso(NOW + 10)}, last_status=None)
    host.job("aaaaaaaaaaaa", {"kind": "once", "run_at": iso(NOW - 100)}, last_status=None)
    assert host.rules() == []


def test_a_one_shot_whose_time_is_past_is_lost(host: Host) -> None:
    host.job(schedule={"kind": "once", "run_at": iso(NOW - 7200)}, last_status=None, next_run_at=None)
    found = one(host.sweep(), "lost")
    assert "given it up" in found.text


def test_a_one_shot_that_is_gone_without_a_run_is_told_once(host: Host) -> None:
    host.job(schedule={"kind": "once", "run_at": iso(NOW + 3600)}, last_status=None)
    host.job("aaaaaaaaaaaa", {"kind": "once", "run_at": iso(NOW + 3600)}, last_status=None)
    host.job("bbbbbbbbbbbb", {"kind": "once", "run_at": iso(NOW + 90_000)}, last_status=None)
    host.job("cccccccccccc", {"kind": "once", "run_at": iso(NOW + 3600)}, last_status=None)
    assert host.sweep().events == ()
    host.run(NOW + 3610, "aaaaaaaaaaaa")
    host.run(NOW + 3610, "cccccccccccc", status="failed", error="boom")
    host.jobs.clear()
    events = host.sweep(NOW + 7200).events
    assert [event.id.split("/")[1] for event in events] == [DIGEST, "cccccccccccc"]
    assert "no run of it is on record" in events[0].text and "failed" in events[1].text
    assert host.sweep(NOW + 7300).events == ()


# the record


def test_every_shape_of_the_host_gets_its_verdict(host: Host) -> None:
    host.config = "timezone: Europe/Berlin\n"
    host.write()
    shutil.copy(CASES / "host_shapes.json", host.root / "cron" / "jobs.json")
    (host.root / "cron" / "executions.db").unlink()
    now = at("2026-11-29T01:00")
    (host.root / "cron" / "ticker_heartbeat").write_text(str(now))
    (host.root / "cron" / "ticker_last_success").write_text(str(now))
    context = Context(host.root, now)
    try:
        found = {finding.id.removeprefix("schedule.") for finding in sweep.watch(context).findings}
    finally:
        context.close()
    expected = {
        f"undelivered:default/{DIGEST}",
        f"target:default/{DIGEST}",
        "failing:default/aaaaaaaaaaaa",
        "script:default/aaaaaaaaaaaa",
        "target:default/aaaaaaaaaaaa",
        "broken:default/bbbbbbbbbbbb",
        "dead:default/cccccccccccc",
        "invalid:default/dddddddddddd",
        "record:default/dddddddddddd",
        "overdue:default/ffffffffffff",
    }
    assert found == expected


def test_a_job_killed_by_a_bad_edit_is_noticed(host: Host) -> None:
    case = json.loads((CASES / "bad_edit.json").read_text())
    host.job(schedule=None)
    host.jobs[0].update({**case["before"], **case["host_after_next_tick"], "id": DIGEST})
    found = one(host.sweep(), "dead")
    assert "30 9 * * *" in found.text and '--schedule "30 9 * * *"' in found.fix
    host.jobs[0].update({**case["before"], "schedule": case["editor_writes"]["schedule"], "id": DIGEST})
    assert "invalid" in host.rules()


def test_a_finished_one_shot_never_alarms(host: Host) -> None:
    host.job(
        schedule={"kind": "once", "run_at": iso(NOW - 86_400), "display": "once at 2026-11-26 12:00"},
        state="completed",
        enabled=False,
        last_run_at=iso(NOW - 86_400),
    )
    assert host.rules() == []


def test_a_pause_is_told_after_a_week_unless_the_budget_made_it(host: Host) -> None:
    job = host.job(enabled=False, state="paused", paused_at=iso(NOW - 6 * 86_400), paused_reason="holiday")
    assert host.rules() == []
    found = one(host.sweep(NOW + 2 * 86_400), "paused")
    assert "8 days" in found.text and "holiday" in found.text
    record = {
        "profile": "default",
        "home": str(host.root),
        "job": DIGEST,
        "name": "x",
        "day": "2026-11-20",
        "at": NOW,
        "paused_at": job["paused_at"],
        "paused_reason": None,
        "reason": "over the cap",
        "status": "paused",
        "asked": True,
    }
    (host.root / "ops" / "budget.json").write_text(json.dumps({"format": 1, "paused": [record], "days": {}}))
    from hermes_ops.spend import budget_pauses

    assert budget_pauses.paused(host.root)
    assert host.rules(NOW + 2 * 86_400) == []


def test_scripts_must_lie_where_the_host_looks(host: Host, tmp_path: Path) -> None:
    (host.root / "scripts").mkdir()
    (host.root / "scripts" / "good.py").touch()
    (tmp_path / "outside.py").touch()
    os.symlink(tmp_path / "outside.py", host.root / "scripts" / "link.py")
    names = [
        "good.py",
        "gone.py",
        "../config.yaml",
        str(tmp_path / "outside.py"),
        "link.py",
        "good.py --flag",
    ]
    for number, name in enumerate(names):
        host.job(f"{number:012x}", {"kind": "interval", "minutes": 600}, script=name, no_agent=True)
    host.job("aaaaaaaaaaaa", script="gone.py", enabled=False, state="paused", paused_at=iso(NOW))
    found = {
        finding.key: finding.text for finding in host.sweep().findings if finding.rule == "schedule.script"
    }
    assert sorted(found) == [f"default/{number:012x}" for number in range(1, 6)]
    assert "missing" in found["default/000000000001"]
    assert all("outside" in found[f"default/{number:012x}"] for number in (2, 3, 4))
    assert "takes no arguments" in found["default/000000000005"]


def test_an_unpinned_job_whose_default_model_moved_on_is_told(host: Host) -> None:
    host.healthy_day_by_day(DIGEST, 6)
    host.job(model_snapshot="old/model", last_run_at=iso(at("2026-11-27T06:00:20")))
    host.job("aaaaaaaaaaaa", "0 6 * * *", model="old/model", model_snapshot=None, created_at=iso(NOW))
    host.job("bbbbbbbbbbbb", "0 6 * * *", model_snapshot="SOME-model", created_at=iso(NOW))
    found = one(host.sweep(), "drift")
    assert "old/model" in found.text and "some-model" in found.text and found.key == f"default/{DIGEST}"
    host.config = "model: [broken\n"
    assert "drift" not in host.rules()


def test_an_answer_that_did_not_arrive_is_told_though_the_run_was_ok(host: Host) -> None:
    host.job(last_delivery_error="chat not found", deliver="local", last_run_at=iso(NOW - 3600))
    host.run(at("2026-11-27T06:00") + 20)
    found = one(host.sweep(), "undelivered")
    assert "chat not found" in found.text and "though the run counts as ok" in found.text


# the scheduler


@pytest.mark.parametrize(
    ("heartbeat", "success", "rule"),
    [
        (30.0, 30.0, None),
        (30.0, 3 * 3600.0, "ticker_failing"),
        (30.0, None, "ticker_failing"),
        (3 * 3600.0, 3 * 3600.0, "ticker_stalled"),
        (None, None, "ticker_never"),
    ],
)
def test_the_scheduler_has_three_ways_to_be_dead(
    host: Host, heartbeat: float | None, success: float | None, rule: str | None
) -> None:
    host.job(created_at=iso(NOW), last_status=None)
    host.heartbeat, host.success = heartbeat, success
    assert host.rules() == ([rule] if rule else [])
    host.jobs.clear()
    assert host.rules() == []


def test_what_falls_due_while_the_scheduler_stands_still_is_told_with_it(host: Host) -> None:
    for number in range(6):
        host.job(f"{number:012x}", "*/30 * * * *")
        for half in range(5 * 48):
            host.run(NOW - 5 * 86_400 - 6 * 3600 + half * 1800 + 15, f"{number:012x}")
    host.heartbeat = host.success = 6 * 3600.0
    assert host.rules() == ["ticker_stalled"]


# what cannot be read


@pytest.mark.usefixtures("impatient")
def test_a_truncated_list_is_blind_and_never_no_jobs(host: Host) -> None:
    host.job(schedule={"kind": "once", "run_at": iso(NOW - 60)}, last_status=None)
    host.sweep()
    shutil.copy(CASES / "truncated.json", host.root / "cron" / "jobs.json")
    memory = (host.root / "ops" / "sweep.json").read_text()
    context = Context(host.root, NOW + 7200)
    try:
        reading = sweep.watch(context)
    finally:
        context.close()
    assert reading.findings == () and reading.events == ()
    assert all("jobs.json" in blind.text for blind in reading.blind)
    covers = {blind.covers for blind in reading.blind}
    assert "schedule.missed:default/" in covers and "schedule.paused:default/" in covers
    assert json.loads((host.root / "ops" / "sweep.json").read_text())["jobs"] == json.loads(memory)["jobs"]


@pytest.mark.usefixtures("impatient")
def test_a_profile_that_cannot_be_read_hides_no_other(host: Host) -> None:
    host.job(schedule={}, schedule_display="0 6 * * *")
    coder = host.root / "profiles" / "coder" / "cron"
    coder.mkdir(parents=True)
    (coder / "jobs.json").write_text("{")
    reading = host.sweep()
    assert "invalid" in rules(reading)
    assert {blind.covers.partition(":")[2] for blind in reading.blind} == {"coder/"}


def test_runs_that_cannot_be_read_leave_the_record_to_be_judged(host: Host) -> None:
    host.job(schedule={}, schedule_display="0 6 * * *")
    host.write()
    (host.root / "cron" / "executions.db").write_bytes(b"no database " * 50)
    context = Context(host.root, NOW)
    try:
        reading = sweep.watch(context)
    finally:
        context.close()
    assert rules(reading) == ["invalid"]
    covers = {blind.covers for blind in reading.blind}
    assert "schedule.missed:default/" in covers and "schedule.invalid:default/" not in covers


def test_a_damaged_memory_is_set_aside_and_said(host: Host) -> None:
    host.job(created_at=iso(NOW), last_status=None)
    (host.root / "ops").mkdir()
    (host.root / "ops" / "sweep.json").write_text("{")
    reading = host.sweep()
    assert any("damaged" in event.text for event in reading.events)
    assert (host.root / "ops" / "sweep.json.damaged-1").read_text() == "{"


def test_a_list_the_host_stops_on_is_told(host: Host) -> None:
    host.job(created_at=iso(NOW), last_status=None)
    host.jobs.append("nonsense")  # type: ignore[arg-type]
    assert host.rules() == ["list"]


# the command


def test_the_command_lists_what_is_wrong_and_exits_1(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    host.job(schedule={}, schedule_display="0 6 * * *", name="a\tb")
    host.write()
    assert main(["sweep"]) == 1
    out = capsys.readouterr().out
    assert f"schedule.invalid:default/{DIGEST}" in out and "\t" not in out
    assert main(["sweep", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["schema"] == 1 and f"schedule.invalid:default/{DIGEST}" in {
        one["id"] for one in data["findings"]
    }


def test_the_command_is_content_with_a_healthy_home(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep"]) == 0
    assert "0 of 0 jobs" in capsys.readouterr().out
    assert not (host.root / "ops" / "sweep.json").exists()


@pytest.mark.parametrize(
    "words", [["--days", "0"], ["--days", "x"], ["--write"], ["--brief", "--json"], ["x"]]
)
def test_what_cannot_be_meant_is_usage(host: Host, words: list[str]) -> None:
    assert main(["sweep", *words]) == 2


def test_secrets_in_errors_do_not_leave(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    secret = "gh" + "p_" + "a1B2c3D4e5" * 4
    host.job(last_status="error", last_error=f"401 for {secret}", last_run_at=iso(NOW))
    host.write()
    main(["sweep"])
    main(["sweep", "--json"])
    main(["sweep", "--brief"])
    out = capsys.readouterr().out
    assert "401 for" in out and secret not in out
    assert all(
        secret not in path.read_text("utf-8", "replace") for path in (host.root / "ops").glob("*.json")
    )


def test_what_is_accepted_does_not_count(host: Host, capsys: pytest.CaptureFixture[str]) -> None:
    host.job(schedule={}, schedule_display="0 6 * * *")
    host.heartbeat = host.success = None
    host.write()
    (host.root / "ops").mkdir()
    text = f'[[suppress]]\npattern = "schedule.invalid:default/{DIGEST}"\nreason = "kept as a note"\n'
    (host.root / "ops" / "suppress.toml").write_text(text)
    assert main(["sweep"]) == 0
    assert "1 accepted" in capsys.readouterr().out
    main(["sweep", "--all"])
    assert "kept as a note" in capsys.readouterr().out
