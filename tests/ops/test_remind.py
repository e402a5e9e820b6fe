"""Reminders: the right instant or a reason, the text as it was given, and nothing left when it fails."""

import json
import os
import subprocess
import sys
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_ops import cli
from hermes_ops._common.command_line import UsageError
from hermes_ops.core.action import Done
from hermes_ops.errors import OpsError
from hermes_ops.host.executions import Execution
from hermes_ops.schedule import instants, remind
from tests.ops.job_records import job, new_home, once, read_records, write_jobs

BERLIN = ZoneInfo("Europe/Berlin")
NEW_YORK = ZoneInfo("America/New_York")
NOW = datetime(2026, 11, 30, 1, 0, tzinfo=timezone.utc).timestamp()  # 02:00 in Berlin
TARGET = "telegram:-100:5"


def utc(text):
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()


# What a person says, and the instant.


@pytest.mark.parametrize(
    "written, zone, instant",
    [
        ("2026-12-01 17:30", BERLIN, "2026-12-01 16:30"),
        ("2026-12-01T17:30", NEW_YORK, "2026-12-01 22:30"),
        ("2026-12-01T17:30:15Z", BERLIN, "2026-12-01 17:30:15"),
        ("2026-12-01 17:30-08:00", BERLIN, "2026-12-02 01:30"),
        ("2027-07-09 15:30", BERLIN, "2027-07-09 13:30"),
        ("17:30", BERLIN, "2026-11-30 16:30"),
        ("1:30", BERLIN, "2026-12-01 00:30"),
    ],
)
def test_a_time_is_one_instant(written, zone, instant):
    assert instants.at(written, zone, "there", NOW) == instants.Instant(utc(instant))


def test_a_time_that_does_not_exist_is_explained():
    with pytest.raises(UsageError) as error:
        instants.at("2027-03-28 02:30", BERLIN, "Europe/Berlin", NOW)
    assert "does not exist in Europe/Berlin" in str(error.value)
    assert "take 2027-03-28 01:30 or 2027-03-28 03:30" in str(error.value)


def test_of_a_time_that_comes_twice_the_first_is_taken_and_said():
    first = instants.at("2027-10-31 02:30", BERLIN, "Europe/Berlin", NOW)
    assert first.at == utc("2027-10-31 00:30")
    assert "comes twice" in first.remark and "first (CEST; --fold second is CET)" in first.remark
    second = instants.at("2027-10-31 02:30", BERLIN, "Europe/Berlin", NOW, "second")
    assert second.at == utc("2027-10-31 01:30")
    assert "second (CET" in second.remark
    with pytest.raises(UsageError, match="comes only once"):
        instants.at("2027-10-31 05:30", BERLIN, "Europe/Berlin", NOW, "second")


def test_a_time_of_day_that_the_next_day_lacks_is_explained():
    before_the_gap = datetime(2027, 3, 28, 0, 30, tzinfo=timezone.utc).timestamp()
    with pytest.raises(UsageError, match="does not exist"):
        instants.at("2:30", BERLIN, "Europe/Berlin", before_the_gap)
    after = instants.at("2:30", BERLIN, "Europe/Berlin", before_the_gap + 7200 + 86_400)
    assert after.at == utc("2027-03-30 00:30")


@pytest.mark.parametrize(
    "written, told",
    [
        ("2026-11-29 12:00", "ago"),
        ("2026-11-30 02:00", "ago"),
        ("tomorrow", "expected a time like"),
        ("2026-12-01", "at what time of that day?"),
        ("25:00", "no such time of day"),
        ("2206-12-01 17:30", "more than ten years"),
        ("2026-13-01 17:30", "expected a time like"),
    ],
)
def test_what_is_no_time_to_come_is_refused(written, told):
    with pytest.raises(UsageError, match=told):
        instants.at(written, BERLIN, "Europe/Berlin", NOW)


def test_a_length_of_time_from_now_on():
    assert instants.after("45m", NOW).at == NOW + 2700
    assert instants.after("1h30m", NOW).at == NOW + 5400
    assert instants.after("2 days", NOW).at == NOW + 172_800
    for wrong in ("soon", "", "0m", "-5m", "5", "1 month", "5ms"):
        with pytest.raises(UsageError):
            instants.after(wrong, NOW)


def test_an_unknown_zone_is_refused_with_near_ones():
    with pytest.raises(UsageError, match="Europe/Berlin"):
        instants.named_zone("Europe/Berlim")
    with pytest.raises(UsageError):
        instants.named_zone("../../etc/passwd")


@given(
    st.integers(int(utc("2026-01-01")), int(utc("2030-01-01"))),
    st.sampled_from([BERLIN, NEW_YORK, timezone.utc]),
)
def test_what_the_host_is_told_is_that_instant_in_any_zone(at, zone):
    assert datetime.fromisoformat(instants.iso(float(at), zone)).timestamp() == at


# The text and its script.


def test_a_text_is_printed_as_it_is_whatever_is_in_it(tmp_path):
    for text in (
        "Call Ann ✓",
        "\"'''\\n{x} %s $(date) `id`",
        "a\n\n  b\tc",
        "日本語 🎉",
        "#!/bin/sh",
        "x" * 3500,
    ):
        script = tmp_path / "r.py"
        script.write_text(remind.script_text(text, "0123abcd", "due then"), "utf-8")
        done = subprocess.run(
            [sys.executable, "-I", str(script)], capture_output=True, check=True, env={"LC_ALL": "C"}
        )
        assert done.stdout.decode("utf-8") == text + "\n"
        assert remind.is_ours(script)


@given(st.text(max_size=200))
def test_no_text_becomes_code(text):
    try:
        checked = remind.check_text(text)
    except OpsError:
        return
    source = remind.script_text(checked, "0123abcd", "due then")
    tree = compile(source, "r.py", "exec")
    assert checked in tree.co_consts


@pytest.mark.parametrize(
    "text, told",
    [
        ("", "no text"),
        (" \n\t ", "no text"),
        ("[SILENT]", "sign of silence"),
        ("[silent] water the plants", "sign of silence"),
        ("water the plants\nNO_REPLY", "sign of silence"),
        ('done\n{"wakeAgent": false}', "wake gate"),
        ("see MEDIA:/etc/passwd", "attachment"),
        ("x" * 3501, "3501 characters"),
        ("a\0b", "NUL"),
    ],
)
def test_a_text_the_host_would_not_deliver_as_it_is_is_refused(text, told):
    with pytest.raises(OpsError, match=told):
        remind.check_text(text)


def test_a_lone_surrogate_does_not_stop_a_reminder():
    assert remind.check_text("ok \ud83d") == "ok ?"


# Making one, with a host that does what the real one does with its file.


class Host:
    """Keeps jobs.json as the host would; `wrong` are fields it gets wrong, `refuses` what it says instead."""

    def __init__(self, home):
        self.home, self.wrong, self.refuses, self.asked = home, {}, None, []

    def apply(self, action, **_):
        self.asked.append(action)
        records = read_records(self.home)
        if action.verb == "remove":
            write_jobs(self.home, *[one for one in records if one["id"] != action.job_id])
            return Done(action, True, "removed", action.job_id, None)
        if self.refuses:
            return Done(action, False, self.refuses, None, None)
        given = dict(action.arguments)
        run_at = given.pop("schedule")
        job_id = f"{len(self.asked):012x}"
        record = job(job_id, given.pop("name"), prompt="", schedule=once(run_at), next_run_at=run_at, **given)
        write_jobs(self.home, *records, {**record, **self.wrong})
        return Done(action, True, "made", job_id, None)


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = new_home(tmp_path)
    write_jobs(home)
    monkeypatch.setenv("HERMES_HOME", str(home))
    monkeypatch.setenv("HERMES_TIMEZONE", "")
    for name in ("OPS_ZONE", "HERMES_SESSION_PLATFORM", "HERMES_SESSION_CHAT_ID", "HERMES_SESSION_THREAD_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("hermes_ops.commands.remind.time.time", lambda: NOW)
    return home


@pytest.fixture
def host(home, monkeypatch):
    host = Host(home)
    monkeypatch.setattr(remind, "apply", host.apply)
    return host


def said(capsys, *words):
    code = cli.main(["remind", *words])
    return code, capsys.readouterr()


AT = ("--at", "2026-12-01 17:30", "--deliver", TARGET)


def left(home):
    return sorted(path.name for path in (home / "scripts").glob("*"))


def test_a_reminder_is_shown_in_both_zones_and_stands_as_it_was_asked_for(home, host, capsys):
    code, out = said(capsys, "Call Ann", *AT, "--zone", "America/New_York")
    assert code == 0
    assert "2026-12-01 17:30 EST = 2026-12-01 23:30 CET on the host" in out.out
    (record,) = read_records(home)
    assert record["schedule"]["run_at"] == "2026-12-01T23:30:00+01:00"
    assert record["no_agent"] is True and record["deliver"] == TARGET
    (script,) = left(home)
    assert record["script"] == script
    assert (home / "scripts" / script).stat().st_mode & 0o777 == 0o600
    (kept,) = remind.listed(home, NOW)
    assert (kept.state, kept.reminder.job_id, kept.reminder.text) == ("pending", record["id"], "Call Ann")


def test_settings_say_where_to_and_in_which_zone(home, host, capsys):
    config = json.loads((home / "config.yaml").read_text())
    config["ops"] = {"remind": {"deliver": TARGET, "zone": "Asia/Tokyo"}}
    (home / "config.yaml").write_text(json.dumps(config))
    code, out = said(capsys, "Call Ann", "--at", "2026-12-01 17:30")
    assert code == 0 and "2026-12-01 17:30 JST = 2026-12-01 09:30 CET on the host" in out.out


def test_here_is_the_chat_that_the_host_tells_its_tools(home, host, capsys, monkeypatch):
    code, out = said(capsys, "x", "--in", "45m", "--deliver", "here")
    assert code == 2 and "not run in a chat" in out.err
    for name, value in (("PLATFORM", "telegram"), ("CHAT_ID", "-100"), ("THREAD_ID", "17")):
        monkeypatch.setenv(f"HERMES_SESSION_{name}", value)
    for words in (("--deliver", "here"), ()):
        assert said(capsys, "x", "--in", "45m", *words)[0] == 0
    assert {record["deliver"] for record in read_records(home)} == {"telegram:-100:17"}
    monkeypatch.setenv("HERMES_SESSION_PLATFORM", "cli")
    code, out = said(capsys, "x", "--in", "45m")
    assert code == 1 and "knows no platform 'cli'" in out.err


@pytest.mark.parametrize(
    "words, told",
    [
        (("x", "--at", "2026-12-01 17:30"), "where to?"),
        (("x", "--at", "2026-12-01 17:30", "--deliver", "local"), "tells nobody"),
        (("x", "--at", "2026-12-01 17:30", "--deliver", "origin"), "origin"),
        (("x", "--at", "2026-12-01 17:30", "--deliver", "nowhere:1"), "nowhere"),
        (("x", "--at", "2026-12-01 17:30", "--deliver", "telegram:1,local"), "tells nobody"),
        (("x", "--at", "2026-11-01 17:30", "--deliver", TARGET), "ago"),
        (("x", "--deliver", TARGET), "when?"),
        (("x", "y", *AT), "put it in quotes"),
        (("x", *AT, "--in", "5m"), "not both"),
        (("[SILENT]", *AT), "sign of silence"),
        (("cancel",), "cancel which?"),
    ],
)
def test_what_would_be_lost_is_refused_and_leaves_nothing(home, host, capsys, words, told):
    code, out = said(capsys, *words)
    assert code in (1, 2) and told in out.err
    assert host.asked == [] and left(home) == [] and not (home / "ops").exists()


def test_local_is_taken_when_it_is_insisted_on(home, host, capsys):
    assert said(capsys, "x", "--in", "45m", "--force-local")[0] == 0
    assert read_records(home)[0]["deliver"] == "local"


def test_a_dry_run_makes_nothing(home, host, capsys):
    code, out = said(capsys, "x", *AT, "--dry-run")
    assert code == 0 and "would be made: 2026-12-01 17:30 CET" in out.out
    assert host.asked == [] and left(home) == [] and not (home / "ops").exists()


@pytest.mark.parametrize(
    "wrong, told",
    [
        ({"next_run_at": "2026-12-01T16:30:00+01:00"}, "its next run is 2026-12-01T16:30:00+01:00"),
        ({"next_run_at": None}, "its next run is None"),
        ({"deliver": "local"}, "it delivers to local"),
        ({"no_agent": False, "script": None}, "it runs an agent"),
    ],
)
def test_a_job_that_is_not_as_asked_for_is_removed_again(home, host, capsys, wrong, told):
    host.wrong = wrong
    code, out = said(capsys, "x", *AT)
    assert code == 1 and told in out.err
    assert read_records(home) == [] and left(home) == []
    assert remind.listed(home, NOW) == []


def test_what_the_host_refuses_is_said_and_leaves_nothing(home, host, capsys):
    host.refuses = "Blocked: gateway lifecycle command"
    code, out = said(capsys, "x", *AT)
    assert code == 1 and "Blocked: gateway lifecycle command" in out.err
    assert left(home) == []


def test_a_reminder_that_cannot_be_written_down_is_taken_back(home, host, capsys):
    (home / "ops").mkdir()
    (home / "ops" / "reminders.json").mkdir()
    assert said(capsys, "x", *AT)[0] == 1
    assert read_records(home) == [] and left(home) == []


def test_cancelling_takes_job_and_script_away(home, host, capsys):
    said(capsys, "one", *AT)
    said(capsys, "two", *AT)
    first, second = sorted(remind.listed(home, NOW), key=lambda one: one.reminder.text)
    assert said(capsys, "cancel", first.reminder.id[:6])[0] == 0
    assert [record["id"] for record in read_records(home)] == [second.reminder.job_id]
    assert left(home) == [second.reminder.script]
    code, out = said(capsys, "cancel", first.reminder.id)
    assert code == 1 and "cannot be cancelled any more: cancelled" in out.err
    code, out = said(capsys, "cancel", "ffffffff")
    assert code == 1 and "no reminder is called" in out.err
    assert said(capsys, "cancel", second.reminder.job_id)[0] == 0


def execution(job_id, status, error=None):
    return Execution("e", job_id, "builtin", status, NOW, NOW, NOW, error)


@pytest.mark.parametrize(
    "later, gone, run, state",
    [
        (-3600, False, None, "pending"),
        (60, False, None, "pending"),
        (600, False, None, "late"),
        (-3600, True, None, "lost"),
        (600, True, None, "lost"),
        (600, True, "completed", "ran"),
        (600, True, "failed", "failed"),
        (30, False, "running", "pending"),
        (30 * 86_400, True, None, "unknown"),
    ],
)
def test_what_became_of_a_reminder(home, host, capsys, monkeypatch, later, gone, run, state):
    said(capsys, "x", *AT)
    (record,) = read_records(home)
    runs = [execution(record["id"], run, "boom" if run == "failed" else None)] if run else []
    monkeypatch.setattr("hermes_ops.host.executions.read_executions", lambda home, since=0.0: runs)
    if gone:
        write_jobs(home)
    due = utc("2026-12-01 16:30")
    (found,) = remind.listed(home, due + later)
    assert found.state == state


@pytest.mark.parametrize(
    "line, state",
    [
        ("INFO cron.scheduler: Job '{job}': delivered to telegram:-100", "delivered"),
        ("WARNING cron.scheduler: Job '{job}': platform 'telegram' not configured/enabled", "undelivered"),
        ("ERROR cron.scheduler: Job '{job}': delivery to telegram:-100 failed: x", "undelivered"),
        ("INFO cron.scheduler: Job 'ffffffffffff': delivered to telegram:-100", "ran"),
        ("INFO gateway.run: user said: Job '{job}': delivered to telegram:-100", "ran"),
        ("", "ran"),
    ],
)
def test_whether_it_arrived_is_read_where_the_host_left_it(home, host, capsys, monkeypatch, line, state):
    said(capsys, "x", *AT)
    (record,) = read_records(home)
    write_jobs(home)
    runs = [execution(record["id"], "completed")]
    monkeypatch.setattr("hermes_ops.host.executions.read_executions", lambda home, since=0.0: runs)
    due = utc("2026-12-01 16:30")
    (home / "logs").mkdir()
    at = datetime.fromtimestamp(due + 5).strftime("%Y-%m-%d %H:%M:%S,000")
    log = home / "logs" / "agent.log"
    log.write_text(f"{at} {line.format(job=record['id'])}\n" if line else "")
    os.utime(log, (due + 5, due + 5))
    (found,) = remind.listed(home, due + 600)
    assert found.state == state


def test_a_lost_reminder_is_listed_and_the_list_is_not_fine(home, host, capsys, monkeypatch):
    said(capsys, "water the plants", *AT)
    code, out = said(capsys)
    assert code == 0 and "pending" in out.out and "water the plants" in out.out
    write_jobs(home)
    monkeypatch.setattr("hermes_ops.commands.remind.time.time", lambda: utc("2026-12-01 18:00"))
    code, out = said(capsys, "list")
    assert code == 1 and "lost" in out.out and "no run of it is known" in out.out
    data = json.loads(said(capsys, "--json")[1].out)
    assert data["reminders"][0]["state"] == "lost"


def test_scripts_of_what_is_over_go_and_others_stay(home, host, capsys):
    said(capsys, "x", *AT)
    (script,) = left(home)
    (home / "scripts" / "ops-remind-00000000.py").write_text("# somebody's own\n")
    write_jobs(home)
    due = utc("2026-12-01 16:30")
    assert remind.clean(home, due + 600) == []
    assert remind.clean(home, due + 2 * 3600) == [script]
    assert left(home) == ["ops-remind-00000000.py"]
    remind.clean(home, due + 91 * 86_400)
    assert remind.listed(home, due) == []


def test_nothing_is_delivered_while_no_scheduler_runs_and_that_is_said(home, host, capsys):
    assert "the scheduler has never run here" in said(capsys, "x", *AT)[1].err
    (home / "cron" / "ticker_heartbeat").write_text(str(NOW - 3600))
    assert "has not run for 60 min" in said(capsys, "x", *AT)[1].err
    (home / "cron" / "ticker_heartbeat").write_text(str(NOW - 30))
    assert said(capsys, "x", *AT)[1].err == ""


def test_a_reminder_is_no_surprise_in_the_schedule(home, host, capsys):
    assert cli.main(["diff", "--accept", "--reason", "empty"]) == 0
    said(capsys, "x", *AT)
    assert cli.main(["diff"]) == 0
    assert cli.main(["diff", "--accept", "--reason", "with it"]) == 0
    said(capsys, "cancel", remind.listed(home, NOW)[0].reminder.id)
    assert cli.main(["diff"]) == 0
    out = capsys.readouterr().out
    assert "a reminder that was cancelled" in out


def test_a_reminder_that_somebody_else_removed_is_a_surprise(home, host, capsys):
    said(capsys, "x", *AT)
    assert cli.main(["diff", "--accept", "--reason", "with it"]) == 0
    write_jobs(home)
    assert cli.main(["diff"]) == 1


def test_a_secret_in_a_text_is_not_listed(home, host, capsys):
    secret = "gh" + "p_" + "a1B2" * 9
    cli.main(["remind", f"use {secret}", *AT])
    out = capsys.readouterr()
    assert "the host masks" in out.err and secret not in out.err + out.out
    assert secret not in said(capsys)[1].out
    assert secret not in said(capsys, "--json")[1].out
