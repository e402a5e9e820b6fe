"""Channels: what arrived, since when nothing does, and which silence is longer than chance."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_ops import cli
from hermes_ops.core.watch import Context
from hermes_ops.host.logs import Record
from hermes_ops.schedule import deliveries
from hermes_ops.schedule.channels import (
    FAILED,
    KINDS,
    SENT,
    SILENT,
    UNDELIVERED,
    UNKNOWN,
    Place,
    channels,
    concerns,
    failing,
    kind,
    quiet,
)
from hermes_ops.schedule.delivery_log import told
from tests.ops.made import BERLIN, A, B, C, Home, at, job, run

NOW = at("2026-11-29 12:00")
HOUR = 3600.0
WEEK = 7 * 24 * HOUR
NEWS, OPS = "telegram:-100", "slack:C1"


def history(*outcomes, job_id=A, **fields):
    """Runs an hour apart, the last one an hour ago; "!" is an answer that did not arrive."""
    runs = []
    for back, outcome in enumerate(reversed(outcomes), 1):
        more = (
            {"delivery": "failed", "delivery_error": "delivery error: chat not found"}
            if outcome == "!"
            else {}
        )
        kind = "said" if outcome == "!" else outcome
        runs.append(run(job_id, NOW - back * HOUR, kind, **{**more, **fields}))
    return runs[::-1]


def seen(runs, *jobs, due=lambda place, since, until: 7):
    return channels(runs, [Place("default", one, BERLIN) for one in jobs], NOW - WEEK, NOW, due)


@pytest.mark.parametrize(
    ("outcome", "fields", "expected"),
    [
        ("said", {}, SENT),
        ("said", {"delivery": "unknown"}, UNKNOWN),
        ("said", {"delivery": "failed", "delivery_error": "no"}, UNDELIVERED),
        ("silent", {}, SILENT),
        ("failed", {}, FAILED),
        ("failed", {"delivery": "failed", "delivery_error": "no"}, UNDELIVERED),
        ("empty", {}, FAILED),
        ("silent", {"delivery": "local", "targets": ("local",)}, SILENT),
        ("unknown", {"delivery": "unknown"}, UNKNOWN),
    ],
)
def test_what_a_run_did_to_its_channel(outcome, fields, expected):
    assert kind(run(A, NOW, outcome, **fields), NEWS) == expected


def test_an_error_about_one_target_leaves_the_other_alone():
    error = "delivery to telegram:-100 failed: chat not found"
    one = run(A, NOW, targets=(NEWS, OPS), delivery="failed", delivery_error=error)
    assert (kind(one, NEWS), kind(one, OPS)) == (UNDELIVERED, SENT)
    assert concerns("platform 'slack' not configured/enabled", "slack", ("slack", NEWS))
    assert not concerns("platform 'slack' not configured/enabled", NEWS, ("slack", NEWS))
    unclear = "delivery error: chat not found"
    assert concerns(unclear, NEWS, (NEWS, OPS)) and concerns(unclear, OPS, (NEWS, OPS))


def test_a_channel_fails_from_the_first_message_that_was_lost_until_one_arrives():
    lost = failing(history("said", "!", "silent", "!", "silent"), NEWS)
    assert (lost.times, lost.since, lost.last_sent) == (2, NOW - 4 * HOUR, NOW - 5 * HOUR)
    assert failing(history("!", "!", "said", "silent"), NEWS) is None
    notice = run(A, NOW - 60, "failed")  # the host's message about a failed run arrived
    assert failing([*history("!", "!"), notice], NEWS) is None
    unseen = run(A, NOW - 60, "said", delivery="unknown")
    assert failing([*history("!", "!"), unseen], NEWS).times == 2


def test_counts_are_of_the_window_and_every_job_of_the_channel_is_named():
    old = run(A, NOW - 30 * 24 * HOUR)
    [news, local] = seen(
        [old, *history("said", "silent", "failed"), *history("said", job_id=C, targets=("local",))],
        job(A),
        job(B),
        job(C, deliver=("local",)),
    )
    assert (news.target, news.runs, news.counts[SENT], news.counts[SILENT], news.counts[FAILED]) == (
        NEWS,
        3,
        1,
        1,
        1,
    )
    assert [one.job_id for one in news.members] == [A, B] and news.expected == 14
    assert local.state == "local only"


def test_only_what_arrives_is_good_news():
    def state(*outcomes, **fields):
        return seen(history(*outcomes, **fields), job(A))[0].state

    assert state("said") == "sends"
    assert state("silent", "silent") == "only silent"
    assert state("failed") == "only failed"
    assert state("said", delivery="unknown") == "unknown"
    assert state("said", "!") == "failing"
    assert seen([], job(A))[0].state == "no run"
    assert seen([], job(A), due=lambda *_: 0)[0].state == "nothing due"


def test_paused_and_removed_jobs_are_said_as_such_and_are_not_red():
    gone, paused = seen(
        [*history("said", job_id=C), *history("said", job_id=B, targets=(OPS,))],
        job(B, state="paused", enabled=False, deliver=(OPS,)),
    )[::-1]
    assert gone.members[0].state == "removed" and gone.members[0].expected is None
    assert paused.members[0].state == "paused" and paused.quiet is None
    assert seen([], job(A, state="paused", enabled=False)) == []


def test_the_chat_that_a_job_was_made_in_is_its_channel():
    made_in = job(A, deliver=("origin",), origin={"platform": "telegram", "chat_id": -5, "thread_id": 17})
    [one] = seen(history("said", targets=("origin",)), made_in)
    assert one.target == "telegram:-5:17"


def test_a_failure_of_a_job_that_is_over_is_news_for_the_window_and_no_longer():
    lost = history("!", job_id=C)
    assert seen(lost)[0].failing is not None
    old = [replace(one, claimed_at=NOW - WEEK - 60) for one in lost]
    assert seen(old) == []


# --- silence


def test_a_silence_is_odd_by_the_channels_own_habit():
    assert quiet(history(*["said"] * 30, *["silent"] * 8)) is not None
    now_and_then = ["said", *["silent"] * 9] * 6
    assert quiet(history(*now_and_then, *["silent"] * 20)) is None
    long = quiet(history(*now_and_then, *["silent"] * 300))
    assert long.silent == 309 and long.longest == 9 and long.chance < 0.001


def test_a_silence_is_not_odd_while_the_history_is_short_or_had_one_as_long():
    assert quiet(history(*["said"] * 4, *["silent"] * 50)) is None
    assert quiet(history(*["silent"] * 50)) is None
    holiday = ["said"] * 40 + ["silent"] * 12 + ["said"] * 40
    assert quiet(history(*holiday, *["silent"] * 12)) is None
    assert quiet(history(*holiday, *["silent"] * 13)) is not None


def test_failed_runs_are_no_silence():
    assert quiet(history(*["said"] * 30, *["failed"] * 50)) is None


def test_a_script_that_alarmed_for_a_time_and_is_silent_again_is_well():
    alarm = ["silent"] * 20 + ["said"] * 10 + ["silent"] * 200
    assert quiet(history(*alarm, no_agent=True)) is None
    talker = quiet(history(*["said"] * 30, *["silent"] * 10, no_agent=True))
    assert talker is not None


def test_one_job_that_falls_silent_in_a_lively_channel_is_found():
    runs = history(*["said"] * 40, *["silent"] * 10) + history(*["said"] * 50, job_id=B)
    [one] = seen(runs, job(A), job(B))
    assert one.quiet is None and [bool(member.quiet) for member in one.members] == [True, False]


@given(st.lists(st.sampled_from(["said", "silent", "failed", "empty", "!", "unknown"]), max_size=80))
def test_every_run_is_counted_once_and_a_channel_that_just_spoke_is_neither_stopped_nor_failing(outcomes):
    runs = history(*outcomes)
    [one] = seen(runs, job(A))
    assert set(one.counts) == set(KINDS) and one.runs == len(runs)
    after = [*runs, run(A, NOW - 60)]
    [one] = seen(after, job(A))
    assert one.state == "sends" and one.quiet is None and one.failing is None


def test_a_job_is_expected_from_its_creation_on_and_until_its_pause():
    place = Place("default", job(A, "0 9 * * *"), BERLIN)
    assert deliveries.due_count(place, NOW - WEEK, NOW) == 7
    young = replace(place, job=replace(place.job, created_at=NOW - 2 * 24 * HOUR))
    assert deliveries.due_count(young, NOW - WEEK, NOW) == 2
    paused = replace(place, job=replace(place.job, enabled=False, paused_at=NOW - 3 * 24 * HOUR))
    assert deliveries.due_count(paused, NOW - WEEK, NOW) == 4
    every = replace(place, job=job(B, "every 120m"))
    assert deliveries.due_count(every, NOW - 24 * HOUR, NOW) == 12
    autumn = deliveries.due_count(place, at("2026-10-24 12:00"), at("2026-10-26 12:00"))
    assert autumn == 2


# --- over a home


@pytest.fixture
def home(tmp_path, monkeypatch):
    made = Home(tmp_path / "home")
    monkeypatch.setenv("HERMES_HOME", str(made.path))
    monkeypatch.setattr("hermes_ops.commands.deliveries.time.time", lambda: NOW)
    return made


def lost(home, job_id, error, hours=1):
    """A run whose answer did not arrive, as the host leaves it."""
    claimed = NOW - hours * HOUR
    home.ran(job_id, claimed)
    home.said(job_id, claimed + 50, "Here it is.")
    home.job(job_id, last_run_at="2026-11-29T11:01:00+01:00", last_status="ok", last_delivery_error=error)


def looked(home, now=NOW):
    context = Context(home.path, now)
    try:
        return deliveries.watch(context)
    finally:
        context.close()


def test_a_delivery_error_is_found_although_the_run_was_ok_and_says_what_the_host_said(home, capsys):
    key = "sk-" + "proj-" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4"
    lost(home, A, f"delivery to telegram:-100 failed: bad key {key}")
    log = home.path / "logs" / "errors.log"
    log.parent.mkdir()
    line = f"ERROR cron.scheduler: Job '{A}': delivery to telegram:-100 failed: chat gone"
    log.write_text(f"2026-11-29 11:01:00,123 {line}\n")
    [finding] = looked(home).findings
    assert finding.id == "deliveries.failing:default/telegram:-100" and finding.severity == "error"
    assert "nothing arrives since 2026-11-29 11:00 CET" in finding.text
    assert any(line.startswith("errors.log: ") and "chat gone" in line for line in finding.evidence)
    assert key not in finding.text and f"job {A} (job a)" in finding.evidence
    assert cli.main(["deliveries", "--json"]) == 1
    [channel] = json.loads(capsys.readouterr().out)["channels"]
    assert (channel["state"], channel["undelivered"], channel["expected"]) == ("failing", 1, 7)
    assert cli.main(["deliveries"]) == 1
    assert "failing" in capsys.readouterr().out


def test_when_our_own_words_do_not_arrive_it_is_critical(home):
    ops = home.path / "ops"
    ops.mkdir()
    (ops / "install.json").write_text(json.dumps({"format": 1, "jobs": {"sweep": A}}))
    lost(home, A, "platform 'telegram' not configured/enabled")
    [finding] = looked(home).findings
    assert finding.severity == "critical" and "hermes ops itself" in finding.text


@pytest.mark.usefixtures("impatient")
def test_an_unreadable_list_of_jobs_is_blind_and_not_all_is_well(home, capsys):
    lost(home, A, "no")
    (home.path / "cron" / "jobs.json").write_text('{"jobs": [')
    reading = looked(home)
    assert reading.findings == ()
    assert {one.covers for one in reading.blind} >= {
        "deliveries.failing:default/",
        "deliveries.stopped:default/",
    }
    assert cli.main(["deliveries"]) == 1


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("command", ["lint", "deliveries", "schedule", "toolsets"])
def test_of_a_job_list_that_cannot_be_read_no_command_says_that_all_is_well(home, capsys, command):
    (home.path / "cron" / "jobs.json").write_text('{"jobs": [')
    assert cli.main([command]) == 1
    out = capsys.readouterr().out
    assert "is known" in out or "is not known" in out
    assert not any(word in out for word in ("fine", "No job", "all keep")), out


def test_a_home_without_jobs_says_so(home, capsys):
    assert looked(home) == deliveries.Reading()
    assert cli.main(["deliveries"]) == 0
    assert "No job delivers" in capsys.readouterr().out
    assert cli.main(["deliveries", "--days", "-1"]) == 2


# --- the host's log


def logged(*lines):
    return [Record(NOW - HOUR + 30, level, None, "cron.scheduler", text) for level, text in lines]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([("INFO", f"Job '{A}': delivered to telegram:-100")], "sent"),
        ([("INFO", f"Job '{A}': delivered to telegram:-100 via live adapter")], "sent"),
        ([("ERROR", f"Job '{A}': delivery error: chat not found")], "failed"),
        ([("WARNING", f"Job '{A}': platform 'telegram' not configured/enabled")], "failed"),
        ([("ERROR", f"Delivery failed for job {A}: timeout")], "failed"),
        ([("INFO", f"Job '{A}': delivered to a:1"), ("ERROR", f"Job '{A}': delivery error: no")], "failed"),
        ([("WARNING", f"Job '{A}': delivery mirror failed for telegram:-100: x")], "unknown"),
        ([("INFO", f"Job '{B}': delivered to telegram:-100")], "unknown"),
        ([("WARNING", f"Job '{A}': took long")], "unknown"),
    ],
)
def test_the_log_settles_what_nobody_saw(lines, expected):
    unseen = run(A, NOW - HOUR, delivery="unknown")
    [one] = told([unseen], logged(*lines))
    assert one.delivery == expected
    later = run(A, NOW - 5 * HOUR, delivery="unknown")
    assert told([later], logged(*lines)) == [later]
    known = run(A, NOW - HOUR, delivery="failed", delivery_error="seen before")
    assert told([known], logged(*lines)) == [known]


def test_what_the_record_of_a_job_forgot_is_read_from_the_log(home, capsys):
    for hours in (3, 2):
        home.ran(A, NOW - hours * HOUR)
        home.said(A, NOW - hours * HOUR + 50, "Here it is.")
    home.job(A)
    log = home.path / "logs" / "agent.log"
    log.parent.mkdir()
    stamp = datetime.fromtimestamp(NOW - 3 * HOUR + 55).strftime("%Y-%m-%d %H:%M:%S")
    log.write_text(f"{stamp},001 INFO cron.scheduler: Job '{A}': delivered to telegram:-100\n")
    assert cli.main(["deliveries", "--json"]) == 0
    [channel] = json.loads(capsys.readouterr().out)["channels"]
    assert (channel["sent"], channel["unknown"]) == (1, 1) and channel["last_sent"] == NOW - 3 * HOUR
