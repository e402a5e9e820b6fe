"""The settings of a job against the home it lives in."""

import json
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from hermes_ops.host.jobs import read_jobs
from hermes_ops.host.profiles import Profile
from hermes_ops.schedule.lint.job import lint_job
from hermes_ops.schedule.lint.rules import INFO
from hermes_ops.schedule.lint.structure import surroundings
from tests.ops.job_records import HALF_HOURLY, cron, job, new_home, once, write_jobs

pytest.importorskip("yaml", reason="without PyYAML the config is unknown, and little can be told")

A, B, C = "aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc"
NOW = datetime(2026, 11, 29, 12, 0, tzinfo=ZoneInfo("Europe/Berlin")).timestamp()
PROMPT = "Report the weather of today in Berlin, in two short lines of text."
PINNED = {"model": "a/b", "provider": "custom", "enabled_toolsets": ["web"], "prompt": PROMPT}


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = new_home(tmp_path)
    monkeypatch.setenv("HERMES_HOME", str(home))
    monkeypatch.setenv("HERMES_TIMEZONE", "")
    return home


def config(home, **more):
    path = home / "config.yaml"
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}))


def hits(home, *records, of=A, now=NOW):
    write_jobs(home, *records)
    jobs = read_jobs(home)
    around = surroundings(Profile("default", home), jobs, now)
    found = jobs.by_id(of)
    assert found is not None
    return lint_job(found, around)


def rules(home, *records, of=A, now=NOW, infos=False):
    return {
        hit.rule.id: hit.text
        for hit in hits(home, *records, of=of, now=now)
        if hit.allowed is None and (infos or hit.severity != INFO)
    }


def agent(job_id=A, **fields):
    return job(job_id, "digest", **{**PINNED, **fields})


def script(job_id=A, **fields):
    return job(job_id, "watch", **{"no_agent": True, "prompt": "", "script": "watch.py", **fields})


def test_a_sound_agent_and_a_sound_script_have_nothing(home):
    (home / "scripts").mkdir()
    (home / "scripts" / "watch.py").write_text("")
    assert rules(home, agent(), infos=True) == {}
    assert rules(home, script(), infos=True) == {}


@pytest.mark.parametrize(
    "name, words",
    [
        ("gone.py", "missing"),
        ("watch.py --all", "no arguments"),
        ("../outside.py", "outside"),
        ("link.py", "outside"),
        ("folder", "not a file"),
    ],
)
def test_a_script_that_the_host_would_not_run_is_told(home, name, words):
    scripts = home / "scripts"
    (scripts / "folder").mkdir(parents=True)
    (scripts / "watch.py").write_text("")
    (home / "outside.py").write_text("")
    (scripts / "link.py").symlink_to(home / "outside.py")
    assert words in rules(home, script(script=name))["J101"]


def test_jobs_that_have_nothing_to_do_or_never_use_it_are_told(home):
    assert "J102" in rules(home, script(script=None))
    assert "J104" in rules(home, agent(prompt=""))
    (home / "scripts").mkdir()
    (home / "scripts" / "watch.py").write_text("")
    found = rules(home, script(prompt="as we discussed, post it to Telegram"), infos=True)
    assert set(found) == {"J103"}


def add_skill(root, where, name=None):
    folder = root / where
    folder.mkdir(parents=True)
    title = f"name: {name}\n" if name else ""
    (folder / "SKILL.md").write_text(f"---\n{title}description: d\n---\nbody\n")


def test_skills_are_found_as_the_host_finds_them(home, tmp_path):
    add_skill(home / "skills", "plain")
    add_skill(home / "skills", "cat/deep")
    add_skill(home / "skills", "cat/folder", name="titled")
    add_skill(home / "skills", "plain/references/hidden")
    add_skill(tmp_path / "elsewhere", "outer")
    (home / "skill-bundles").mkdir()
    (home / "skill-bundles" / "morning.yaml").write_text("name: Morning Round\nskills: [plain]\n")
    config(home, skills={"external_dirs": [str(tmp_path / "elsewhere")]})
    for name in ("plain", "deep", "cat/deep", "titled", "outer", "morning", "morning-round"):
        assert rules(home, agent(skills=[name])) == {}, name
    for name in ("absent", "hidden"):
        assert "not installed" in rules(home, agent(skills=[name]))["J105"], name
    assert rules(home, agent(skills=["plugin:its-skill"])) == {}


def test_a_skill_that_is_two_is_none_for_the_host(home):
    add_skill(home / "skills", "a/same")
    add_skill(home / "skills", "b/same")
    assert "is 2 skills" in rules(home, agent(skills=["same"]))["J105"]
    assert rules(home, agent(skills=["a/same"])) == {}


def test_a_skill_that_the_host_cannot_read_is_told(home):
    add_skill(home / "skills", "latin")
    add_skill(home / "skills", "marked")
    (home / "skills" / "latin" / "SKILL.md").write_bytes(b"---\nname: latin\n---\n" + b"x" * 9000 + b"\xe9\n")
    (home / "skills" / "marked" / "SKILL.md").write_bytes(b"\xef\xbb\xbf---\nname: marked\n---\nbody\n")
    assert "no UTF-8" in rules(home, agent(skills=["latin"]))["J105"]
    assert rules(home, agent(skills=["marked"])) == {}


def test_context_from_needs_a_job_that_is_there_and_runs(home):
    other = agent(B, schedule=cron("0 5 * * *"))
    mine = {"schedule": cron("0 6 * * *")}
    assert rules(home, agent(context_from=[B], **mine), other) == {}
    assert "no such job" in rules(home, agent(context_from=[C], **mine), other)["J106"]
    assert "itself" in rules(home, agent(context_from=[A], **mine), other)["J106"]
    paused = {**other, "enabled": False, "state": "paused"}
    assert "does not run" in rules(home, agent(context_from=[B], **mine), paused)["J107"]


@pytest.mark.parametrize(
    "source, reader, words",
    [
        ("0 5 * * *", "0 6 * * *", None),
        ("0 7 * * *", "0 6 * * *", "23 h old"),
        ("0 6 * * *", "0 6 * * *", "same minute"),
        ("*/30 * * * *", "0 6 * * *", "same minute"),
        ("50 * * * *", "0 6 * * *", None),
    ],
)
def test_context_from_is_held_to_the_order_of_runs(home, source, reader, words):
    found = rules(home, agent(context_from=[B], schedule=cron(reader)), agent(B, schedule=cron(source)))
    assert (words in found["J107"]) if words else found == {}


def test_what_comes_from_before_makes_above_legitimate(home):
    prompt = "Explain the list above in plain words, two sentences for each of the points."
    other = agent(B, schedule=cron("0 5 * * *"))
    assert "L103" in rules(home, agent(prompt=prompt), other)
    assert rules(home, agent(prompt=prompt, context_from=[B]), other) == {}


@pytest.mark.parametrize(
    "deliver, origin, told",
    [
        ("telegram:-100:5", None, False),
        ("local", None, False),
        ("nowhere:1", None, True),
        ("slack:C1", None, True),
        ("origin", None, True),
        ("origin", {"platform": "telegram", "chat_id": "1"}, False),
        ("telegram:1,nowhere:1", None, True),
    ],
)
def test_targets_that_cannot_be_delivered_to_are_told(home, monkeypatch, deliver, origin, told):
    for name in ("TELEGRAM_HOME_CHANNEL", "SLACK_BOT_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    assert ("J108" in rules(home, agent(deliver=deliver, origin=origin))) is told


def test_toolsets_are_known_a_slip_or_not_to_be_told(home):
    found = hits(home, agent(enabled_toolsets=["files", "web", "debugging", "no_mcp"]))
    assert [(hit.rule.id, hit.instead) for hit in found] == [("J109", "did you mean 'file'?")]
    config(home, mcp_servers={"notes": {"command": "x"}}, plugins={"enabled": ["mine"]})
    found = hits(home, agent(enabled_toolsets=["notes", "somebodys"]))
    assert [(hit.rule.id, hit.severity) for hit in found] == [("J110", "info")]
    config(home, plugins={"enabled": []})
    assert "J109" in rules(home, agent(enabled_toolsets=["somebodys"]))
    assert set(rules(home, agent(enabled_toolsets=None), infos=True)) == {"J111"}


def test_drift_and_pins(home):
    unpinned = {"model": None, "provider": None, "model_snapshot": "a/b"}
    config(home, model={"default": "a/b"})
    assert set(rules(home, agent(**unpinned), infos=True)) == {"J113"}
    config(home, model={"default": "c/d"})
    assert "c/d" in rules(home, agent(**unpinned))["J112"]


def test_a_workdir_that_is_gone_is_told(home, tmp_path):
    assert "J114" in rules(home, agent(workdir=str(tmp_path / "gone")))
    relative = "Read data/notes.md and sum it up in two short lines of text."
    assert "L603" in rules(home, agent(prompt=relative))
    assert rules(home, agent(prompt=relative, workdir=str(tmp_path))) == {}


def test_paths_that_a_run_reads_have_to_be_there(home, tmp_path):
    (tmp_path / "there.csv").write_text("")
    there, gone = tmp_path / "there.csv", tmp_path / "gone.csv"
    for prompt, told in (
        (f"Read {there} and report the totals by month in two lines.", False),
        (f"Read {gone} and report the totals by month in two lines.", True),
        (f"Read `{gone}` and report the totals by month in two lines.", True),
        (f"Прочитай {gone} и посчитай суммы по месяцам, две строки.", True),
        (f"Report the totals by month and write them to {gone} as well.", False),
        (f"Сложи итоги за месяц и допиши их в {gone}, каждый на строке.", False),
        (f"Create {gone} if it is missing. Read {gone} and report what it says.", False),
        (f"Over ssh on the web host read {gone} and report the totals.", False),
        (f"Read {tmp_path}/gone-<date>.csv and report the totals by month.", False),
        (f"Read {tmp_path}/*.log and report the errors of the last day.", False),
        ("Call /v1/items of the shop's interface and report the totals by month.", False),
    ):
        assert ("J115" in rules(home, agent(prompt=prompt))) is told, prompt
    config(home, terminal={"backend": "docker"})
    assert "J115" not in rules(home, agent(prompt=f"Read {gone} and report the totals by month."))


def test_schedules_that_never_run_or_run_too_often_are_told(home):
    assert "J116" in rules(home, agent(schedule={}))
    assert "J116" in rules(home, agent(state="error", last_error="Failed to compute next run"))
    five = {"kind": "interval", "minutes": 5, "display": "every 5m"}
    assert "every 5 minutes" in rules(home, agent(schedule=five))["J117"]
    assert rules(home, agent(schedule=HALF_HOURLY)) == {}
    (home / "scripts").mkdir()
    (home / "scripts" / "watch.py").write_text("")
    assert rules(home, agent(schedule=five, script="watch.py")) == {}
    assert rules(home, agent(schedule=once("2026-12-01T10:00:00+01:00"))) == {}


def test_faults_of_the_record_are_told(home):
    assert "string" in rules(home, agent(enabled_toolsets="web"))["J118"]


def test_a_prompt_can_allow_what_its_settings_break(home):
    prompt = PROMPT + "\n# ops-lint: allow J108, job.toolset because it is moved next week"
    found = hits(home, agent(prompt=prompt, deliver="nowhere:1", enabled_toolsets=["files"]))
    assert {(hit.rule.id, hit.allowed) for hit in found} == {
        ("J108", "it is moved next week"),
        ("J109", "it is moved next week"),
    }


def test_records_of_every_shape_are_linted_without_a_crash(home):
    shapes = Path(__file__).parent / "job_lists"
    for path in sorted(shapes.glob("*.json")):
        (home / "cron").mkdir(exist_ok=True)
        (home / "cron" / "jobs.json").write_bytes(path.read_bytes())
        try:
            jobs = read_jobs(home)
        except Exception as error:
            assert type(error).__name__ == "Unreadable", path
            continue
        around = surroundings(Profile("default", home), jobs, NOW)
        for one in jobs.jobs:
            for hit in lint_job(one, around):
                assert hit.text and hit.instead
