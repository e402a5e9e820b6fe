"""`hermes ops lint` and its watcher."""

import io
import json
import sys

import pytest

from hermes_ops import cli
from hermes_ops.core.watch import Context
from hermes_ops.schedule.lint import watch
from tests.ops.job_records import job, new_home, once, put_list, write_jobs

A, B, C = "aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc"
NOW = 1_796_000_000.0
GOOD = "Report the weather of today in Berlin, in two short lines of text."
BAD = "Prepare the usual digest, like last time, with the weather for {{city}}."
KEY = "sk-" + "or-v1-" + "0123456789abcdef" * 4


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = new_home(tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(home))
    monkeypatch.setenv("HERMES_TIMEZONE", "")
    return home


def agent(job_id, prompt=GOOD, name="digest", **fields):
    pinned = {"model": "a/b", "provider": "custom", "enabled_toolsets": ["web"], "prompt": prompt}
    return job(job_id, name, **{**pinned, **fields})


def lint(capsys, *words):
    code = cli.main(["lint", *words])
    out, err = capsys.readouterr()
    return code, out, err


def as_json(capsys, *words):
    code, out, _ = lint(capsys, "--json", *words)
    return code, json.loads(out)


def told(data):
    return {
        (one["name"], hit["rule"]) for one in data["targets"] for hit in one["findings"] if not hit["allowed"]
    }


def test_nothing_to_say_is_one_line_and_exit_0(home, capsys):
    write_jobs(home, agent(A), agent(B))
    assert lint(capsys) == (0, "2 prompts: nothing found; fine\n", "")


def test_a_home_without_jobs_is_fine(home, capsys):
    assert lint(capsys)[:2] == (0, "0 prompts: nothing found; fine\n")


def test_a_fault_is_one_line_with_its_place_and_what_to_write_instead(home, capsys):
    write_jobs(home, agent(A, BAD))
    code, out, _ = lint(capsys)
    assert code == 1
    lines = out.splitlines()
    assert lines[0].startswith(f'default/{A}:1:9 (digest): error L109 history.habit: "the usual digest"')
    assert lines[1].startswith("    instead: ")
    assert lines[-1] == "1 prompt: 3 errors; will not survive"


@pytest.mark.usefixtures("impatient")
def test_all_profiles_are_linted_and_one_that_cannot_be_read_hides_no_other(home, capsys):
    other = home / "profiles" / "second"
    other.mkdir(parents=True)
    write_jobs(home, agent(A))
    write_jobs(other, agent(B, BAD))
    code, data = as_json(capsys)
    assert code == 1 and ("second/" + B, "L109") in told(data)
    put_list(other, "truncated.json")
    code, out, err = lint(capsys)
    assert code == 1 and "1 prompt: nothing found" in out and "profile second" in err


def test_a_job_is_named_by_id_beginning_or_name(home, capsys):
    write_jobs(home, agent(A, BAD, name="morning"), agent(B))
    for named in (A, A[:4], "Morning"):
        assert lint(capsys, named)[0] == 1
    assert lint(capsys, B)[0] == 0
    code, _, err = lint(capsys, "nosuch")
    assert code == 1 and "no job 'nosuch'" in err and "Traceback" not in err


def test_a_one_shot_that_is_over_is_linted_only_by_name(home, capsys):
    done = agent(A, BAD, schedule=once("2026-11-20T10:00:00+01:00"), state="completed", enabled=False)
    write_jobs(home, done)
    assert lint(capsys)[0] == 0
    assert lint(capsys, A)[0] == 1


def test_several_files_and_standard_input(home, capsys, tmp_path, monkeypatch):
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("\ufeff" + GOOD, "utf-8")
    bad.write_text(BAD.replace(",", ",\r\n"), "utf-8")
    code, data = as_json(capsys, "--prompt-file", str(good), "--prompt-file", str(bad))
    assert code == 1 and {name for name, _ in told(data)} == {str(bad)}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    assert lint(capsys, "-")[0] == 1
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))
    assert lint(capsys, "-")[0] == 0


def test_files_that_are_no_prompt_are_one_line(home, capsys, tmp_path):
    binary = tmp_path / "x.bin"
    binary.write_bytes(b"\xff\xfe\x00")
    for path in (binary, tmp_path / "gone", tmp_path):
        code, _, err = lint(capsys, "--prompt-file", str(path))
        assert code == 1 and len(err.splitlines()) == 1


def test_strict_counts_warnings(home, capsys):
    write_jobs(home, agent(A, "Report the weather."))
    assert lint(capsys)[0] == 0
    assert lint(capsys, "--strict")[0] == 1


def test_allow_takes_ids_names_and_kinds_and_refuses_what_is_none(home, capsys):
    write_jobs(home, agent(A, "Prepare the usual digest of the weather, in two short lines."))
    for written in ("L109", "history.habit", "HISTORY", "l109=the skill says it"):
        assert lint(capsys, "--allow", written)[0] == 0, written
    code, _, err = lint(capsys, "--allow", "L999")
    assert code == 2 and "L999" in err


def test_languages_are_checked(home, capsys):
    write_jobs(home, agent(A, "Сделай сводку погоды как обычно, две строки, без вступления."))
    assert lint(capsys)[0] == 1
    assert lint(capsys, "--lang", "en")[0] == 0
    assert lint(capsys, "--lang", "de")[0] == 2


def test_remarks_and_what_is_allowed_are_shown_on_demand(home, capsys):
    prompt = "Prepare the usual digest of the weather.\n# ops-lint: allow L109 because the skill says it"
    write_jobs(home, agent(A, prompt, enabled_toolsets=None))
    code, out, _ = lint(capsys)
    assert (code, out) == (0, "1 prompt: 1 remark, 1 allowed (--all shows remarks); fine\n")
    out = lint(capsys, "--all")[1]
    assert "allowed: the skill says it" in out and "J111" in out


def test_rules_are_listed(home, capsys):
    code, out, _ = lint(capsys, "--rules")
    assert code == 0 and "L103  error" in out
    assert json.loads(lint(capsys, "--rules", "--json")[1])["rules"][0]["id"] == "L001"


def test_secrets_are_not_shown_and_controls_are_no_commands(home, capsys):
    prompt = f"As we discussed, use [insert {KEY} here] and \x1b[31m read /srv/x, two lines please."
    write_jobs(home, agent(A, prompt, name="di\x1b[31mgest"))
    for form in ("--text", "--json", "--sarif"):
        out = lint(capsys, form)[1]
        assert KEY not in out and "\x1b" not in out, form


def test_sarif_has_rules_places_and_suppressions(home, capsys, tmp_path):
    file = tmp_path / "p.txt"
    file.write_text(BAD + "\n# ops-lint: allow L109 because it is so\n")
    code, out, _ = lint(capsys, "--sarif", "--prompt-file", str(file))
    assert code == 1
    sarif = json.loads(out)
    (run,) = sarif["runs"]
    assert sarif["version"] == "2.1.0"
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(ids) == len(set(ids))
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] >= 1
    suppressed = {result["ruleId"] for result in run["results"] if "suppressions" in result}
    assert suppressed == {"L109"}
    write_jobs(home, agent(A, BAD))
    (run,) = json.loads(lint(capsys, "--sarif")[1])["runs"]
    place = run["results"][0]["locations"][0]["logicalLocations"][0]
    assert place["fullyQualifiedName"] == f"default/{A}"


# ---- the watcher


def look(home):
    return watch.watch(Context(home, NOW))


def test_the_watcher_tells_errors_of_live_jobs_by_job_and_rule(home):
    write_jobs(home, agent(A, BAD), agent(B, BAD, enabled=False, state="paused"), agent(C, "Report it."))
    reading = look(home)
    assert {one.id for one in reading.findings} == {
        f"lint.error:default/{A}/L109",
        f"lint.error:default/{A}/L201",
    }
    (habit,) = [one for one in reading.findings if one.key.endswith("L109")]
    assert "(and 1 more)" in habit.text and len(habit.evidence) == 2
    assert look(home).findings == reading.findings


def test_what_the_sweep_tells_is_not_told_twice(home):
    write_jobs(home, job(A, "watch", no_agent=True, prompt="", script="gone.py"), agent(B, schedule={}))
    assert look(home).findings == ()


def test_a_profile_that_cannot_be_read_is_blind_and_hides_no_other(home):
    other = home / "profiles" / "second"
    other.mkdir(parents=True)
    put_list(other, "truncated.json")
    write_jobs(home, agent(A, BAD))
    reading = look(home)
    assert [one.covers for one in reading.blind] == ["lint.error:second/"]
    assert reading.findings


def test_a_changed_prompt_is_told_until_it_is_acknowledged(home, capsys):
    write_jobs(home, agent(A))
    assert look(home).events == ()
    write_jobs(home, agent(A, GOOD + " And the wind."))
    (event,) = look(home).events
    assert event.id.startswith(f"lint.prompt:default/{A}:") and f"--acknowledge {A}" in event.text
    assert look(home).events == (event,)
    assert lint(capsys, "--acknowledge", A)[1] == "1 prompt acknowledged, 1 had changed\n"
    assert look(home).events == ()


def test_a_job_that_went_and_came_back_is_new(home):
    write_jobs(home, agent(A))
    look(home)
    write_jobs(home)
    look(home)
    write_jobs(home, agent(A, GOOD + " And the wind."))
    assert look(home).events == ()


def test_a_damaged_state_is_set_aside_and_said(home):
    write_jobs(home, agent(A))
    look(home)
    state = home / "ops" / "lint.json"
    state.write_text('{"format": 1, "prompts": [1]}')
    reading = look(home)
    assert state.with_name("lint.json.damaged-1").exists()
    assert [one.id for one in reading.events] == ["lint.damaged:lint.json.damaged-1"]
    assert state.stat().st_mode & 0o777 == 0o600
