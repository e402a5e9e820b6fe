"""Runs of jobs in the ledger: outcomes, deliveries that the host forgets, runs that were still going on."""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime, timezone

import pytest

from hermes_ops.core.ledger import Ledger
from tests.ops.made import A, B, Home, at

SIX = at("2026-11-29 06:00")


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


@pytest.fixture
def opened(home):
    ledger = Ledger.open(home.path)
    yield ledger
    ledger.close()


def iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, timezone.utc).isoformat()


def ran(
    home: Home, job_id: str, claimed: float, answer: str | None = "done", error: str | None = None, **more
):
    """A finished run as the host leaves it: output, record of the job, row of the execution."""
    home.ran(job_id, claimed, **more)
    if answer is not None:
        home.said(job_id, claimed + 58, answer)
    last = {"last_run_at": iso(claimed + 59), "last_status": "ok", "last_delivery_error": error}
    held = next((one for one in home.jobs if one["id"] == job_id), {"deliver": "telegram:-100"})
    home.job(job_id, deliver=held["deliver"], **last)


def runs(ledger: Ledger, **chosen):
    return ledger.runs(0.0, 4e9, **chosen)


def test_a_run_is_kept_with_its_answer_and_delivery(home, opened):
    ran(home, A, SIX, "three cards")
    assert opened.collect(SIX + 600).runs == 1
    [run] = runs(opened)
    assert (run.job_id, run.job_name, run.status, run.outcome) == (A, "job a", "completed", "said")
    assert (run.delivery, run.targets, run.response_chars) == ("sent", ("telegram:-100",), len("three cards"))
    assert (run.claimed_at, run.finished_at, run.output) == (SIX, SIX + 60, "2026-11-29_06-00-58.md")
    assert opened.collect(SIX + 700).runs == 0


def test_a_delivery_error_stays_when_the_host_forgets_it(home, opened):
    ran(home, A, SIX, error="platform 'telegram' not configured/enabled")
    opened.collect(SIX + 600)
    ran(home, A, SIX + 3600)
    opened.collect(SIX + 4200)
    first, second = runs(opened)
    assert (first.delivery, first.delivery_error) == ("failed", "platform 'telegram' not configured/enabled")
    assert (second.delivery, second.delivery_error) == ("sent", None)


def test_of_runs_between_two_looks_only_the_newest_is_judged_by_the_record(home, opened):
    ran(home, A, SIX)
    ran(home, A, SIX + 3600, error="chat not found")
    opened.collect(SIX + 7200)
    first, second = runs(opened)
    assert (first.delivery, second.delivery) == ("unknown", "failed")


def test_a_record_of_a_later_run_says_nothing_of_this_one(home, opened):
    ran(home, A, SIX)
    home.job(A, last_run_at=iso(SIX + 1800), last_delivery_error="chat not found")
    opened.collect(SIX + 1900)
    assert [run.delivery for run in runs(opened)] == ["unknown"]
    home.ran(A, SIX + 1740)
    opened.collect(SIX + 2000)
    assert [run.delivery for run in runs(opened)] == ["unknown", "failed"]


@pytest.mark.parametrize(
    ("deliver", "answer", "outcome", "delivery"),
    [
        ("local", "done", "said", "local"),
        (None, "done", "said", "local"),
        ("telegram:-100", "[SILENT]", "silent", "silent"),
        ("telegram:-100", "(No response generated)", "empty", "silent"),
        ("telegram,slack", "done", "said", "sent"),
        ("origin", "done", "said", "unknown"),
        ("telegram:-100", None, "unknown", "unknown"),
    ],
)
def test_what_is_known_of_a_delivery(home, opened, deliver, answer, outcome, delivery):
    home.job(A, deliver=deliver)
    ran(home, A, SIX, answer)
    opened.collect(SIX + 600)
    [run] = runs(opened)
    assert (run.outcome, run.delivery) == (outcome, delivery)


def test_a_failed_run_is_failed_whatever_its_output_says(home, opened):
    home.ran(A, SIX, status="failed")
    home.said(A, SIX + 58, "a plausible answer")
    home.job(A, last_run_at=iso(SIX + 59), last_status="error")
    opened.collect(SIX + 600)
    [run] = runs(opened)
    assert (run.status, run.outcome, run.delivery) == ("failed", "failed", "sent")


def test_a_run_that_goes_on_is_kept_and_finished_later(home, opened):
    home.job(A)
    name = f"{A}{SIX:.0f}"
    home.ran(A, SIX, status="running")
    set_run(home, name, finished_at=None)
    opened.collect(SIX + 10)
    assert [(run.status, run.outcome) for run in runs(opened)] == [("running", "running")]
    set_run(home, name, status="completed", finished_at=iso(SIX + 60))
    home.said(A, SIX + 58, "done")
    assert opened.collect(SIX + 600).runs == 1
    [run] = runs(opened)
    assert (run.status, run.outcome, run.finished_at) == ("completed", "said", SIX + 60)


def test_a_run_that_vanished_while_it_went_on_is_unknown(home, opened):
    home.job(A)
    home.ran(A, SIX, status="running")
    opened.collect(SIX + 10)
    with sqlite3.connect(home.path / "cron" / "executions.db") as db:
        db.execute("DELETE FROM executions")
    db.close()
    opened.collect(SIX + 600)
    assert [(run.status, run.outcome) for run in runs(opened)] == [("unknown", "unknown")]


def test_what_the_host_drops_stays(home, opened):
    ran(home, A, SIX)
    opened.collect(SIX + 600)
    with sqlite3.connect(home.path / "cron" / "executions.db") as db:
        db.execute("DELETE FROM executions")
    db.close()
    home.jobs = []
    home.write_jobs()
    ran(home, B, SIX + 7200)
    opened.collect(SIX + 7800)
    assert [(run.job_id, run.job_name, run.delivery) for run in runs(opened)] == [
        (A, "job a", "sent"),
        (B, "job b", "sent"),
    ]


def test_a_one_shot_that_is_gone_from_the_list_keeps_its_run(home, opened):
    home.ran(A, SIX)
    home.said(A, SIX + 58, "reminder")
    home.write_jobs()
    opened.collect(SIX + 600)
    [run] = runs(opened)
    assert (run.job_name, run.outcome, run.delivery, run.targets) == ("job", "said", "unknown", ())
    assert not run.no_agent


def test_a_script_that_is_gone_from_the_list_is_still_a_script_with_its_name(home, opened):
    home.ran(A, SIX)
    home.said(A, SIX + 58, "tea")
    [path] = (home.path / "cron" / "output" / A).iterdir()
    head = path.read_text().split("**Schedule:**")[0].replace("Cron Job: job", "Cron Job: reminder 0a1b: tea")
    path.write_text(f"{head}**Mode:** no_agent (script)\n\n---\n\ntea\n")
    home.write_jobs()
    opened.collect(SIX + 600)
    [run] = runs(opened)
    assert (run.job_name, run.outcome, run.no_agent) == ("reminder 0a1b: tea", "said", True)


@pytest.mark.usefixtures("impatient")
def test_a_torn_job_list_is_blind_and_settled_once_it_is_whole(home, opened):
    ran(home, A, SIX)
    jobs = home.path / "cron" / "jobs.json"
    whole = jobs.read_text("utf-8")
    jobs.write_text(whole[: len(whole) // 2], "utf-8")
    [blind] = opened.collect(SIX + 600).blind
    assert blind.key == "runs/default/jobs" and str(jobs) in blind.text
    assert [run.delivery for run in runs(opened)] == ["unknown"]
    jobs.write_text(whole, "utf-8")
    assert opened.collect(SIX + 700).blind == ()
    [run] = runs(opened)
    assert run.delivery == "sent"


def test_a_damaged_list_of_runs_is_blind_and_use_is_still_collected(home, opened):
    (home.path / "cron" / "executions.db").write_bytes(b"no database" * 500)
    home.use(f"cron_{A}_20261129_060000", SIX, 0.5)
    collected = opened.collect(SIX + 600)
    assert [blind.key for blind in collected.blind] == ["runs/default/executions"]
    assert collected.usage_rows == 1


def test_runs_are_asked_by_time_profile_and_job(home, opened):
    work = Home(home.path / "profiles" / "work")
    for there, job_id, claimed in ((home, A, SIX), (home, B, SIX + 60), (work, A, SIX + 120)):
        ran(there, job_id, claimed)
    opened.collect(SIX + 600)
    assert [run.profile for run in runs(opened, job_id=A)] == ["default", "work"]
    assert [run.job_id for run in runs(opened, profile="default")] == [A, B]
    assert [run.claimed_at for run in opened.runs(SIX + 60, SIX + 120)] == [SIX + 60]


def test_secrets_in_errors_and_names_are_not_kept(home, opened):
    token = "gh" + "p_" + "a1B2" * 9
    home.ran(A, SIX, status="failed")
    set_run(home, f"{A}{SIX:.0f}", error=f"401 for {token}")
    home.job(A, name=f"use {token}", last_run_at=iso(SIX + 59), last_delivery_error=f"refused {token}")
    opened.collect(SIX + 600)
    [run] = runs(opened)
    assert token not in json.dumps([run.error, run.job_name, run.delivery_error])
    assert run.error.startswith("401 for") and run.delivery == "failed"


def set_run(home: Home, execution_id: str, **fields: object) -> None:
    names = ", ".join(f"{name} = ?" for name in fields)
    with sqlite3.connect(home.path / "cron" / "executions.db") as db:
        db.execute(f"UPDATE executions SET {names} WHERE id = ?", (*fields.values(), execution_id))
    db.close()
