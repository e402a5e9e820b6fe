"""Doctor finds a healthy home fine, and names each thing that keeps a message from being said or heard."""

import json
import os
import time

import pytest

from hermes_ops import cli, doctor
from hermes_ops._common import config
from hermes_ops.core import run
from hermes_ops.guard.examine import Probe
from hermes_ops.host import environment
from tests.ops import healthy_home


@pytest.fixture
def home(tmp_path, monkeypatch):
    pinned = healthy_home.CONFIG.replace(
        "auxiliary:\n", "auxiliary:\n  background_review: {provider: openrouter, model: vendor/small-1}\n"
    )
    made = healthy_home.make(tmp_path / "home", time.time(), jobs=1, runs=3, config=pinned)
    jobs = json.loads((made.path / "cron" / "jobs.json").read_text())["jobs"]
    ours = {job["script"][4:-3]: job["id"] for job in jobs if job.get("no_agent")}
    (made.path / "ops" / "install.json").write_text(json.dumps({"format": 1, "jobs": ours}))
    monkeypatch.setenv("HERMES_HOME", str(made.path))
    monkeypatch.delenv("HERMES_SAFE_MODE", raising=False)
    # A process of the host that is asked takes seconds; tests/host asks a real one.
    monkeypatch.setattr("hermes_ops.guard.examine.fresh", lambda home: Probe(True, path="a copy"))
    config._cache.clear()
    environment._cache.clear()
    return made.path


def statuses(home):
    return {status for status, _ in doctor.examine(home, time.time()).findings}


def jobs_of(home):
    path = home / "cron" / "jobs.json"
    return path, json.loads(path.read_text())


def change_job(home, script, **fields):
    path, data = jobs_of(home)
    [job] = [job for job in data["jobs"] if job.get("script") == script]
    job.update(fields)
    path.write_text(json.dumps(data))


def test_a_healthy_home_is_fine_and_says_so_in_one_line_for_a_bug_report(home, capsys):
    report = doctor.examine(home, time.time())
    assert report.findings == []
    assert cli.main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("fine: the watchers work")
    assert str(home) not in shown.splitlines()[-1]
    assert cli.main(["doctor", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] == "fine"


@pytest.mark.parametrize(
    ("status", "fields"),
    [
        ("job off", {"enabled": False, "state": "paused"}),
        ("undelivered", {"last_delivery_error": "chat not found"}),
        ("unreachable", {"deliver": "nosuchplatform:1"}),
        ("job gone", {"id": "ffffffffffff"}),
    ],
)
def test_a_watcher_that_nobody_would_hear_is_named(home, status, fields):
    change_job(home, "ops-sweep.py", **fields)
    assert status in statuses(home)


def test_a_watcher_that_does_not_run_is_named(home):
    run.record(home, "sweep", time.time() - 10 * 86_400, None)
    assert "watcher late" in statuses(home)
    run.record(home, "sweep", time.time(), "boom")
    assert "watcher failed" in statuses(home)
    (home / "scripts" / "ops-sweep.py").unlink()
    assert "script gone" in statuses(home)


def test_two_jobs_of_one_watcher_are_named(home):
    path, data = jobs_of(home)
    [job] = [job for job in data["jobs"] if job.get("script") == "ops-wallet.py"]
    data["jobs"].append({**job, "id": "eeeeeeeeeeee"})
    path.write_text(json.dumps(data))
    assert "two jobs" in statuses(home)


def test_a_scheduler_that_stands_still_is_named(home):
    (home / "cron" / "ticker_heartbeat").write_text(str(time.time() - 4000))
    assert "scheduler" in statuses(home)
    (home / "cron" / "ticker_heartbeat").unlink()
    assert "scheduler" in statuses(home)


def test_nobody_outside_is_named_unless_something_is_pinged(home, monkeypatch):
    (home / "ops" / "supervisor.json").unlink()
    assert "nobody watches" in statuses(home)
    monkeypatch.setenv("OPS_PING_URL", "http://127.0.0.1:9/{watcher}")
    assert "nobody watches" not in statuses(home)


def test_auxiliary_calls_on_the_main_model_are_named_unless_accepted(home):
    text = (home / "config.yaml").read_text()
    loose = text.replace(
        "title_generation: {provider: openrouter, model: vendor/small-1}", "title_generation: {}"
    )
    assert loose != text
    (home / "config.yaml").write_text(loose)
    config._cache.clear()
    assert "auxiliary not pinned" in statuses(home)
    (home / "config.yaml").write_text(loose + "\nops: {doctor: {auxiliary: any}}\n")
    config._cache.clear()
    assert "auxiliary not pinned" not in statuses(home)


def test_what_is_set_wrong_damaged_or_over_is_named(home):
    (home / "ops" / "suppress.toml").write_text(
        '[[suppress]]\npattern = "a.b"\nreason = "old"\nuntil = 2020-01-01\n'
    )
    assert "suppressions" in statuses(home)
    (home / "ops" / "suppress.toml").write_text("[[suppress]]\n")
    assert "own files" in statuses(home)
    with (home / "config.yaml").open("a") as file:
        file.write("\nops: {wallet: {flor: 1}}\n")
    config._cache.clear()
    assert "settings" in statuses(home)
    (home / "cron" / "jobs.json").write_text('{"jobs": [')
    assert "job list" in statuses(home)


def test_a_plugin_that_the_host_does_not_load_is_named(home, monkeypatch):
    text = (home / "config.yaml").read_text()
    (home / "config.yaml").write_text(text.replace("enabled: [hermes-ops]", "enabled: []"))
    config._cache.clear()
    assert "disabled" in statuses(home)
    monkeypatch.setenv("HERMES_SAFE_MODE", "1")
    assert "safe mode" in statuses(home)


def test_a_run_that_worked_is_pinged_and_one_that_failed_is_not(home, monkeypatch):
    from hermes_ops.core import http

    asked = []
    monkeypatch.setattr(http, "request", lambda url, **options: asked.append(url))
    monkeypatch.setenv("OPS_PING_URL", "http://127.0.0.1:9/{watcher}")
    run.as_job("probes", home)
    assert asked == ["http://127.0.0.1:9/probes"]
    (home / "ops" / "probes.toml").write_text("nonsense")
    run.as_job("probes", home)
    assert len(asked) == 1
    assert os.path.exists(home / "ops" / "watchers" / "probes.json")
