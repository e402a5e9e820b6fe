"""The watch table: every job as it was decided, byte for byte the same until somebody changes one."""

import html
import json
import os
import subprocess

import pytest

from hermes_ops import cli
from hermes_ops.core.watch import Context
from hermes_ops.schedule import table
from hermes_ops.schedule.declared import read_all
from tests.ops.job_records import HALF_HOURLY, cron, job, new_home, once, put_list, write_jobs

NOW = 1_796_000_000.0
A, B, C = "aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc"


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = new_home(tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(home))
    monkeypatch.setenv("HERMES_TIMEZONE", "")
    return home


def said(capsys, *words):
    code = cli.main(["table", *words])
    return code, capsys.readouterr()


def rows(home):
    (section,) = table.sections(read_all(home), [], {})
    return {row.job.id: row for row in section.rows}


def test_every_shape_that_hosts_have_left_is_a_row(home):
    put_list(home, "host_shapes.json")
    found = rows(home)
    assert len(found) == 7
    assert found[A].job.name == "watch.py"
    assert found[A].deliver == "slack, telegram"
    assert (found[A].words, found[A].runs, found[A].model) == (
        "every 30 minutes",
        "script watch.py (missing)",
        "none",
    )
    assert (found[B].deliver, found[B].job.state) == ("local", "error")
    assert found[C].words.startswith("invalid: empty") and found[C].job.state == "off"
    assert found["dddddddddddd"].words == "invalid: a string, where the host writes a mapping"
    assert found["06c6883b7ddd"].deliver == "discord:55, telegram:-100123:17"
    assert found["eeeeeeeeeeee"].words == "once at 2026-11-20 10:00 CET"


def test_a_bare_list_with_marks_and_control_characters_is_read_and_not_rewritten(home):
    path = put_list(home, "bare_list_bom_control.json")
    before = path.read_bytes()
    (row,) = rows(home).values()
    assert row.words == "every 5 minutes"
    assert path.read_bytes() == before


def test_the_same_jobs_give_the_same_bytes_whatever_ran(home, capsys):
    first = job(A, "b", schedule=HALF_HOURLY), job(B, "a", no_agent=True, script="x.py")
    forms = ("--markdown", "--json", "--html", "--format=text")
    write_jobs(home, *first)
    before = [said(capsys, form)[1].out for form in forms]
    ran = {
        "last_run_at": "2026-11-30T07:00:00+01:00",
        "next_run_at": "2026-12-01T07:00:00+01:00",
        "last_status": "error",
        "last_error": "boom",
        "last_delivery_error": "no such chat",
        "repeat": {"times": None, "completed": 9},
        "fire_claim": {"at": "2026-11-30T07:00:00+01:00"},
        "model_snapshot": "c/d",
    }
    write_jobs(
        home, *[{**record, **ran} for record in reversed(first)], updated_at="2026-12-01T00:00:00+01:00"
    )
    assert [said(capsys, form)[1].out for form in forms] == before
    assert all(before)


def test_the_zone_of_each_profile_is_named(home):
    other = home / "profiles" / "work"
    write_jobs(home, job(A, "a"))
    write_jobs(other, job(B, "b"))
    (other / "config.yaml").write_text('{"timezone": "Asia/Tokyo"}', "utf-8")
    found = table.sections(read_all(home), [], {})
    assert [(section.profile, section.zone) for section in found] == [
        ("default", "Europe/Berlin"),
        ("work", "Asia/Tokyo"),
    ]
    assert "times in Asia/Tokyo" in table.as_markdown(found)


def test_names_cannot_break_out_of_any_format(home, capsys):
    name = "a | b\n<script>alert(1)</script> [x](y) `z`"
    write_jobs(home, job(A, name))
    markdown = said(capsys, "--markdown")[1].out
    (line,) = [line for line in markdown.splitlines() if A in line]
    assert line.count(" | ") == len(table.COLUMNS) - 1
    assert "<script>" not in markdown and "[x](y)" not in markdown
    page = said(capsys, "--html")[1].out
    assert "<script" not in page and html.escape("<script>") in page
    assert json.loads(said(capsys, "--json")[1].out)["profiles"][0]["jobs"][0]["name"] == name
    text = said(capsys)[1].out
    assert len([line for line in text.splitlines() if A in line]) == 1


def test_a_secret_in_any_name_is_not_shown_and_not_written(home, capsys, tmp_path):
    secret = "gh" + "p_" + "a1B2" * 9
    write_jobs(
        home, job(A, f"push with {secret}", model=secret, provider=secret, deliver=f"telegram:{secret}")
    )
    for form in ("markdown", "html", "text", "json"):
        assert secret not in said(capsys, "--format", form)[1].out
        assert cli.main(["table", "--format", form, "--out", str(tmp_path / form)]) == 0
        assert secret not in (tmp_path / form).read_text("utf-8")


def test_notes_stand_beside_their_job_and_say_when_they_have_none(home, capsys):
    write_jobs(home, job(A, "a"))
    (home / "ops").mkdir()
    notes = home / "ops" / "notes.toml"
    notes.write_text(
        f'["{A}"]\nowner = "anna"\nnote = "at breakfast"\nwatcher = "a phone call"\n["{B}"]\nnote = "x"\n'
    )
    code, out = said(capsys)
    assert code == 0
    assert "anna: at breakfast" in out.out and "a phone call" in out.out
    assert f"there is no job default/{B}" in out.err
    notes.write_text(f'["{A}"]\nowmer = "anna"\n')
    code, out = said(capsys)
    assert code == 1
    assert "notes.toml" in out.err and "did you mean owner?" in out.err
    notes.write_text("[x\n")
    assert "not valid TOML" in said(capsys)[1].err


def test_a_jobs_file_is_read_from_where_it_lies(home, capsys, tmp_path):
    elsewhere = write_jobs(tmp_path / "elsewhere", job(A, "from elsewhere"))
    write_jobs(home, job(B, "of this home"))
    code, out = said(capsys, "--jobs", str(elsewhere))
    assert code == 0
    assert "from elsewhere" in out.out and "of this home" not in out.out and "unknown" in out.out
    code, out = said(capsys, "--jobs", str(tmp_path / "none.json"))
    assert code == 1 and "none.json" in out.err


def test_what_is_due_is_shown_on_request_only(home, capsys, monkeypatch):
    monkeypatch.setattr("hermes_ops.commands.table.time.time", lambda: NOW)
    write_jobs(
        home,
        job(A, "daily", schedule=cron("0 6 * * *")),
        job(B, "often", schedule=cron("*/5 * * * *")),
        job(C, "paused", schedule=cron("0 7 * * *"), enabled=False, state="paused"),
    )
    code, out = said(capsys, "--timeline")
    lines = out.out.splitlines()
    assert code == 0 and len(lines) == 2
    assert "and 287 times after" in lines[0] and "often" in lines[0]
    assert lines[1] == f"2026-11-30 06:00 CET  job {A} (daily)"
    assert cli.main(["table", "--timeline", "--out", "x.md"]) == 2


def test_a_file_is_written_only_when_it_changed(home, capsys, tmp_path):
    write_jobs(home, job(A, "a"))
    out = tmp_path / "table.md"
    assert cli.main(["table", "--out", str(out)]) == 0
    os.utime(out, (1, 1))
    assert cli.main(["table", "--out", str(out)]) == 0
    assert out.stat().st_mtime == 1
    assert out.read_text("utf-8") == table.as_markdown(table.sections(read_all(home), [], {}))
    for name, begins in (("t.html", "<!doctype html>"), ("t.json", "{"), ("t.txt", "What runs when")):
        cli.main(["table", "--out", str(tmp_path / name)])
        assert (tmp_path / name).read_text("utf-8").startswith(begins)


@pytest.mark.usefixtures("impatient")
def test_a_profile_that_cannot_be_read_hides_no_other_and_no_file_is_written(home, capsys, tmp_path):
    write_jobs(home, job(A, "a"))
    put_list(home / "profiles" / "work", "truncated.json")
    code, out = said(capsys)
    assert code == 1 and A in out.out and "work/cron/jobs.json" in out.err
    target = tmp_path / "table.md"
    assert cli.main(["table", "--out", str(target)]) == 1
    assert not target.exists()


def git(folder, *words):
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "docs"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "config", "user.name", "Docs")
    git(folder, "config", "user.email", "docs@example.org")
    return folder


def test_a_commit_takes_the_file_alone_and_only_when_it_changed(home, repository, capsys):
    (repository / "staged").write_text("x")
    git(repository, "add", "staged")
    write_jobs(home, job(A, "a"))
    target = repository / "sub" / "TABLE.md"
    target.parent.mkdir()
    for _ in range(2):
        assert cli.main(["table", "--out", str(target), "--commit"]) == 0
    assert git(repository, "show", "--stat", "--format=%s").split("|")[0].split() == [
        "Update",
        "TABLE.md",
        "sub/TABLE.md",
    ]
    assert git(repository, "rev-list", "--count", "HEAD").strip() == "1"
    write_jobs(home, job(A, "renamed"))
    assert cli.main(["table", "--out", str(target), "--commit"]) == 0
    assert git(repository, "rev-list", "--count", "HEAD").strip() == "2"
    assert git(repository, "status", "--porcelain").split() == ["A", "staged"]
    assert "nothing to commit" in capsys.readouterr().out


def test_a_commit_is_refused_outside_a_work_tree_before_anything_is_written(
    home, tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    write_jobs(home, job(A, "a"))
    target = tmp_path / "TABLE.md"
    assert cli.main(["table", "--out", str(target), "--commit"]) == 1
    assert "not inside a git work tree" in capsys.readouterr().err
    assert not target.exists()
    assert cli.main(["table", "--commit"]) == 2


def test_what_git_refuses_is_said_and_leaves_nothing_staged(home, repository, capsys):
    write_jobs(home, job(A, "a"))
    hook = repository / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no such day >&2\nexit 1\n")
    hook.chmod(0o755)
    assert cli.main(["table", "--out", str(repository / "T.md"), "--commit"]) == 1
    assert "no such day" in capsys.readouterr().err
    assert git(repository, "status", "--porcelain").split() == ["??", "T.md"]
    (repository / ".gitignore").write_text("*.md\n")
    assert cli.main(["table", "--out", str(repository / "T.md"), "--commit"]) == 1
    assert "ignored by git" in capsys.readouterr().err


def looked(home, now=NOW):
    return table.watch(Context(home, now))


def test_the_watcher_tells_each_unannounced_change_until_it_is_accepted(home, capsys):
    write_jobs(home, job(A, "a"), job(B, "b"))
    (first,) = looked(home).findings
    assert (first.rule, first.severity) == ("schedule.unacknowledged", "info")
    assert cli.main(["diff", "--accept", "--reason", "set up"]) == 0
    assert looked(home).findings == ()
    write_jobs(home, job(A, "a", schedule=cron("30 5 * * 1-5")), job(C, "c"))
    found = {finding.id: finding for finding in looked(home).findings}
    assert set(found) == {f"schedule.changed:default/{one}" for one in (A, B, C)}
    assert "06:00, Monday to Friday" in found[f"schedule.changed:default/{A}"].text
    assert cli.main(["diff", "--accept", "--reason", "moved"]) == 0
    assert looked(home).findings == () and looked(home).blind == ()


def test_the_watcher_is_blind_for_a_profile_it_cannot_read_and_sees_the_others(home):
    work = home / "profiles" / "work"
    write_jobs(home, job(A, "a"))
    write_jobs(work, job(B, "b"))
    assert cli.main(["diff", "--accept", "--reason", "set up"]) == 0
    put_list(work, "truncated.json")
    write_jobs(home, job(A, "renamed"))
    reading = looked(home)
    assert [finding.key for finding in reading.findings] == [f"default/{A}"]
    (blind,) = reading.blind
    assert blind.covers == "schedule.changed:work/" and "work/cron/jobs.json" in blind.text


def test_a_one_shot_that_ran_is_no_change_to_tell(home):
    write_jobs(home, job(A, "a", schedule=once("2026-11-30T10:00:00+01:00")))
    assert cli.main(["diff", "--accept", "--reason", "set up"]) == 0
    write_jobs(home)
    due = 1_796_029_200.0
    assert [finding.key for finding in looked(home, due - 60).findings] == [f"default/{A}"]
    assert looked(home, due + 60).findings == ()
