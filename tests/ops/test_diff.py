"""What changed since the acknowledged schedule: each decision by its name, no guess from a broken file."""

import json

import pytest

from hermes_ops import cli
from hermes_ops.core.action import Action, Done
from hermes_ops.core.action_journal import write as write_journal
from hermes_ops.errors import Unreadable
from hermes_ops.schedule import snapshot
from hermes_ops.schedule.diff import difference
from tests.ops.job_records import HALF_HOURLY, LISTS, cron, job, new_home, once, put_list, write_jobs

NOW = 1_796_000_000.0
A, B, C = "aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc"


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = new_home(tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(home))
    monkeypatch.setenv("HERMES_TIMEZONE", "")
    return home


def accept(reason="as set up"):
    assert cli.main(["diff", "--accept", "--reason", reason]) == 0


def said(capsys, *words):
    capsys.readouterr()
    code = cli.main(["diff", *words])
    return code, capsys.readouterr()


def changes(home, now=NOW):
    return {change.job_id: change for change in difference(home, now).changes}


def lines_after(home, **fields):
    """What is told of a job after these fields of it changed."""
    write_jobs(home, job(A, "a"))
    accept()
    write_jobs(home, job(A, **{"name": "a", **fields}))
    found = changes(home)
    return list(found[A].lines) if found else []


@pytest.mark.parametrize(
    "fields, line",
    [
        (
            {"schedule": cron("30 5 * * 1-5")},
            "schedule: at 06:00, Monday to Friday (0 6 * * 1-5) -> at 05:30, Monday to Friday (30 5 * * 1-5)",
        ),
        ({"schedule": HALF_HOURLY}, "schedule: at 06:00, Monday to Friday (0 6 * * 1-5) -> every 30 minutes"),
        ({"deliver": "telegram:-100:6"}, "deliver: telegram:-100:5 -> telegram:-100:6"),
        ({"deliver": None}, "deliver: telegram:-100:5 -> local"),
        ({"model": "x/y"}, "model: default -> x/y"),
        ({"provider": "p"}, "provider: default -> p"),
        ({"base_url": "http://127.0.0.1:1/v1"}, "base_url: default -> http://127.0.0.1:1/v1"),
        ({"enabled": False, "state": "paused"}, "paused"),
        ({"state": "error"}, "state: on -> error"),
        ({"name": "b"}, "renamed: a -> b"),
        ({"skills": ["mail"], "skill": "mail"}, "skills: none -> mail"),
        ({"context_from": [B]}, f"context_from: none -> {B}"),
        ({"enabled_toolsets": ["web"]}, "toolsets: default -> web"),
        ({"workdir": "/srv"}, "workdir: none -> /srv"),
        ({"repeat": {"times": 5, "completed": 1}}, "runs: no end -> 5"),
    ],
)
def test_every_decision_is_told_in_its_own_words(home, fields, line):
    assert lines_after(home, **fields) == [line]


def test_a_prompt_is_told_by_its_size_and_hash_and_kept_nowhere(home):
    (line,) = lines_after(home, prompt="Summarise the mail of yesterday, briefly.")
    assert line.startswith("prompt: ") and "(28 characters)" in line and "(41 characters)" in line
    kept = (home / "ops" / "schedule.json").read_text("utf-8")
    assert "Summarise" not in kept


def test_a_script_with_other_content_is_a_change(home):
    script = home / "scripts" / "x.py"
    script.parent.mkdir()
    script.write_text("print(1)\n")
    write_jobs(home, job(A, "a", script="x.py", no_agent=True))
    accept()
    script.write_text("print(2)\n")
    assert changes(home)[A].lines[0].startswith("content of x.py: ")
    script.unlink()
    assert changes(home)[A].lines[0].endswith("-> missing")
    script.symlink_to("/etc/hostname")
    assert changes(home)[A].lines[0].endswith("-> outside scripts/")


def test_resumed_added_and_removed_are_told(home, capsys):
    write_jobs(home, job(A, "a", enabled=False, state="paused"), job(B, "b"))
    accept()
    write_jobs(home, job(A, "a"), job(C, "c", schedule=HALF_HOURLY, no_agent=True, script="c.py"))
    found = changes(home)
    assert found[A].lines == ("resumed",)
    assert (found[B].kind, found[B].lines) == ("removed", ("removed",))
    assert found[C].lines == ("added: script, every 30 minutes, to telegram:-100:5, on",)
    code, out = said(capsys)
    assert code == 1 and f"job {A} (a)" in out.out


def test_what_a_run_changes_is_no_change(home, capsys):
    fields = {
        "last_run_at": "2026-11-30T06:00:09+01:00",
        "next_run_at": "2026-12-01T06:00:00+01:00",
        "last_status": "error",
        "last_error": "x",
        "last_delivery_error": "y",
        "repeat": {"times": None, "completed": 7},
        "run_claim": {"at": "2026-11-30T06:00:00+01:00", "by": "m"},
        "fire_claim": None,
        "model_snapshot": "other/model",
        "provider_snapshot": "other",
    }
    assert lines_after(home, **fields) == []
    assert said(capsys)[0] == 0


def test_the_order_of_targets_and_the_place_in_the_file_do_not_count(home):
    write_jobs(home, job(A, "a", deliver="slack,telegram"), job(B, "b"))
    accept()
    write_jobs(home, job(B, "b"), job(A, "a", deliver=["telegram", "slack"]))
    assert changes(home) == {}


def test_the_first_run_says_that_there_is_no_snapshot(home, capsys):
    write_jobs(home, job(A, "a"))
    code, out = said(capsys)
    assert code == 1 and "no snapshot yet" in out.out
    assert not (home / "ops").exists()


@pytest.mark.usefixtures("impatient")
def test_a_torn_list_is_an_error_that_names_the_file_and_changes_nothing(home, capsys):
    write_jobs(home, job(A, "a"))
    accept()
    kept = (home / "ops" / "schedule.json").read_bytes()
    path = put_list(home, "truncated.json")
    code, out = said(capsys)
    assert code == 2 and str(path) in out.err and "removed" not in out.out
    code, out = said(capsys, "--accept", "--reason", "whatever")
    assert code == 2 and str(path) in out.err
    assert (home / "ops" / "schedule.json").read_bytes() == kept
    assert path.read_bytes() == (LISTS / "truncated.json").read_bytes()


def test_a_list_that_vanished_is_not_all_removed(home, capsys):
    path = write_jobs(home, job(A, "a"))
    accept()
    path.unlink()
    code, out = said(capsys)
    assert code == 2 and "1 acknowledged jobs were in it" in out.err
    write_jobs(home)
    assert changes(home)[A].kind == "removed"


@pytest.mark.usefixtures("impatient")
def test_a_torn_list_of_one_profile_does_not_hide_the_changes_of_another(home, capsys):
    work = home / "profiles" / "work"
    write_jobs(home, job(A, "a"))
    write_jobs(work, job(B, "b"))
    accept()
    write_jobs(home, job(A, "renamed"))
    put_list(work, "truncated.json")
    code, out = said(capsys, "--json")
    data = json.loads(out.out)
    assert code == 2
    assert [change["job"] for change in data["changes"]] == [A]
    assert [one["profile"] for one in data["unread"]] == ["work"]


def test_a_job_that_an_edit_of_the_file_killed_is_told(home):
    case = json.loads((LISTS / "killed_by_an_edit.json").read_text())
    before = job(
        A, "daily audit brief", **{k: v for k, v in case["before"].items() if k not in ("id", "name")}
    )
    write_jobs(home, before)
    accept()
    write_jobs(home, {**before, **case["peer_writes"]})
    assert changes(home)[A].lines[0].endswith("-> invalid: a string, where the host writes a mapping")
    write_jobs(home, {**before, **case["host_after_next_tick"]})
    assert [line.partition(":")[0] for line in changes(home)[A].lines] == ["schedule", "state"]


def test_a_one_shot_is_expected_to_go_at_its_time_and_not_before(home, capsys):
    write_jobs(home, job(A, "a", schedule=once("2026-11-30T10:00:00+01:00")))
    accept()
    write_jobs(home)
    due = 1_796_029_200.0
    assert changes(home, due - 60)[A].expected is None
    assert changes(home, due + 60)[A].expected == "a one-shot whose time has come"
    record = job(A, "a", schedule=once("2026-11-30T10:00:00+01:00"), enabled=False, state="completed")
    write_jobs(home, record)
    assert changes(home, due + 60)[A].expected == "a one-shot whose time has come"


def test_the_same_instant_in_another_zone_is_no_change(home):
    write_jobs(home, job(A, "a", schedule=once("2026-12-24T17:30:00+01:00")))
    accept()
    write_jobs(home, job(A, "a", schedule=once("2026-12-24T16:30:00+00:00")))
    assert changes(home) == {}


def test_another_zone_of_the_home_is_a_change_of_every_job(home):
    write_jobs(home, job(A, "a"))
    accept()
    (home / "config.yaml").write_text('{"timezone": "Asia/Tokyo"}', "utf-8")
    (change,) = difference(home, NOW).changes
    assert change.kind == "zone" and change.lines[0].startswith("zone: Europe/Berlin -> Asia/Tokyo")


def test_a_job_made_anew_is_told_as_one(home):
    write_jobs(home, job(A, "digest"))
    accept()
    write_jobs(home, job(B, "digest", model="x/y"))
    (change,) = difference(home, NOW).changes
    assert change.lines == (f"made anew: {A} -> {B}", "model: default -> x/y")


def test_a_profile_that_is_gone_is_told_by_its_jobs(home):
    work = home / "profiles" / "work"
    write_jobs(home, job(A, "a"))
    path = write_jobs(work, job(B, "b"))
    accept()
    path.unlink()
    path.parent.rmdir()
    work.rmdir()
    assert changes(home)[B].lines == ("the profile work is gone",)


def test_what_hermes_ops_did_itself_is_said_beside_the_change(home):
    write_jobs(home, job(A, "a"))
    accept()
    action = Action("pause", home, A, {}, "over the cap of the day")
    made = snapshot.load(home)
    write_journal(home, action, Done(action, True, "is paused", A, None), made.at + 60)
    write_jobs(home, job(A, "a", enabled=False, state="paused"))
    assert changes(home)[A].lines == ("paused", "done by hermes ops: pause (over the cap of the day)")


def test_who_accepted_what_and_why_is_kept(home, capsys):
    write_jobs(home, job(A, "a"))
    assert cli.main(["diff", "--accept", "--reason", "first", "--by", "anna"]) == 0
    write_jobs(home, job(A, "b"))
    assert cli.main(["diff", "--accept", "--reason", "renamed", "--by", "ben"]) == 0
    found = snapshot.load(home)
    assert (found.by, found.reason) == ("ben", "renamed")
    assert [entry["by"] for entry in found.history] == ["anna", "ben"]
    code, out = said(capsys, "--history")
    assert code == 0 and "anna: first" in out.out
    assert (home / "ops" / "schedule.json").stat().st_mode & 0o777 == 0o600


def test_accepting_needs_a_reason(home, capsys):
    write_jobs(home, job(A, "a"))
    code, out = said(capsys, "--accept")
    assert code == 2 and "--reason" in out.err
    assert snapshot.load(home) is None


def test_a_damaged_snapshot_is_kept_aside_and_said(home, capsys):
    write_jobs(home, job(A, "a"))
    accept()
    path = home / "ops" / "schedule.json"
    path.write_text("{torn")
    code, out = said(capsys)
    assert code == 2 and str(path) in out.err and path.read_text() == "{torn"
    code, out = said(capsys, "--accept", "--reason", "again")
    assert code == 0 and "schedule.json.damaged-1" in out.out
    assert (home / "ops" / "schedule.json.damaged-1").read_text() == "{torn"
    path.write_text(json.dumps({"format": 99}))
    with pytest.raises(Exception, match="newer"):
        snapshot.load(home)


def test_a_snapshot_of_other_shapes_is_damage_not_a_traceback(home):
    write_jobs(home, job(A, "a"))
    accept()
    path = home / "ops" / "schedule.json"
    good = json.loads(path.read_text())
    wrong_field = [
        {**good, "jobs": [{**good["jobs"][0], name: value}]}
        for name, value in (("schedule", 3), ("deliver", "x"), ("prompt_chars", "y"), ("name", None))
    ]
    for bad in ([], {"format": 1}, {**good, "jobs": [{}]}, {**good, "format": True}, *wrong_field):
        path.write_text(json.dumps(bad))
        with pytest.raises(Unreadable):
            snapshot.load(home)


def test_a_secret_in_a_changed_field_is_not_shown(home, capsys):
    secret = "gh" + "p_" + "a1B2" * 9
    write_jobs(home, job(A, "a"))
    accept()
    write_jobs(home, job(A, f"a {secret}", base_url=f"http://u:{secret}@127.0.0.1/v1"))
    code, out = said(capsys)
    assert code == 1 and secret not in out.out
    assert secret not in said(capsys, "--json")[1].out
