"""Installing is the same done once, twice, or by two at once; what cannot be undone keeps what it needs."""

import json
import threading
import time
from pathlib import Path

import pytest

from hermes_ops import cli, install, launcher
from hermes_ops.core.action import Done
from hermes_ops.core.finding import Finding, Reading
from hermes_ops.core.incident import Incidents
from hermes_ops.core.watch import WATCHERS

TARGET = "telegram:1"


class Host:
    """A host that makes and removes jobs, slowly enough for two to meet."""

    def __init__(self, home):
        self.path = home / "cron" / "jobs.json"
        self.path.parent.mkdir(parents=True)
        self.jobs, self.refuses, self.lock = [], set(), threading.Lock()

    def apply(self, action, *, dry_run=False, state_home=None):
        if dry_run:
            return Done(action, True, "would", action.job_id, None)
        if action.verb in self.refuses:
            return Done(action, False, "refused", action.job_id, None)
        time.sleep(0.02)
        with self.lock:
            job_id = action.job_id or f"{len(self.jobs) + 1:012x}"
            if action.verb == "create":
                self.jobs.append(self.record(job_id, action.arguments))
            elif action.verb == "edit":
                [job] = [job for job in self.jobs if job["id"] == job_id]
                job.update(
                    self.record(job_id, {**job, "schedule": install_schedule(job), **action.arguments})
                )
            else:
                self.jobs = [job for job in self.jobs if job["id"] != job_id]
            self.path.write_text(json.dumps({"jobs": self.jobs}))
        return Done(action, True, action.verb, job_id, None)

    def record(self, job_id, wanted):
        text = wanted["schedule"]
        if text.startswith("every"):
            schedule = {"kind": "interval", "minutes": int(text.split()[1].rstrip("m")), "display": text}
        else:
            schedule = {"kind": "cron", "expr": text, "display": text}
        return {
            **wanted,
            "id": job_id,
            "schedule": schedule,
            "enabled": True,
            "state": "scheduled",
            "next_run_at": "2026-12-01T00:00:00+00:00",
        }


def install_schedule(job):
    return job["schedule"]["display"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def host(home, monkeypatch):
    made = Host(home)
    monkeypatch.setattr(install, "apply", made.apply)
    monkeypatch.setattr(install, "check_target", lambda home, deliver: None)
    monkeypatch.setattr(launcher, "problem", lambda home: None)
    return made


def run(home, deliver=TARGET, names=()):
    return list(install.install(home, install.named(names, minimal=False), deliver))


def test_each_watcher_gets_one_script_and_one_job(home, host):
    steps = run(home)
    assert {step.what for step in steps} == {install.CREATED}
    assert sorted(job["script"] for job in host.jobs) == sorted(f"ops-{one.name}.py" for one in WATCHERS)
    assert set(install.installed(home)) == {one.name for one in WATCHERS}
    assert set(install.scripts(home)) == {one.name for one in WATCHERS}


def test_again_changes_nothing_and_another_target_changes_that_alone(home, host):
    run(home)
    before = json.dumps(host.jobs)
    assert {step.what for step in run(home)} == {install.KEPT}
    assert json.dumps(host.jobs) == before
    assert {step.what for step in run(home, "telegram:2")} == {install.CHANGED}
    assert {job["deliver"] for job in host.jobs} == {"telegram:2"}
    assert len(host.jobs) == len(WATCHERS)
    assert {step.what for step in run(home, "telegram:2")} == {install.KEPT}


def test_two_installs_at_once_make_one_job_each(home, host):
    threads = [threading.Thread(target=run, args=(home,)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(host.jobs) == len(WATCHERS)


def test_a_script_of_somebody_else_is_not_overwritten(home, host):
    script = home / "scripts" / "ops-wallet.py"
    script.parent.mkdir()
    script.write_text("print('mine')\n")
    with pytest.raises(Exception, match=r"not ours|edited"):
        run(home, names=["wallet"])
    assert script.read_text() == "print('mine')\n"
    assert host.jobs == []
    list(install.uninstall(home))
    assert script.exists()


def test_a_job_that_cannot_be_removed_keeps_its_script(home, host):
    run(home, names=["wallet", "sweep"])
    host.refuses.add("remove")
    steps = list(install.uninstall(home))
    assert not all(step.ok for step in steps)
    assert set(install.scripts(home)) == set(install.installed(home)) == {"wallet", "sweep"}
    host.refuses.clear()
    assert all(step.ok for step in install.uninstall(home))
    assert (install.scripts(home), install.installed(home), host.jobs) == ({}, {}, [])
    assert list(install.uninstall(home)) == []


def test_a_refused_job_is_a_failure_and_not_written_down(home, host):
    host.refuses.add("create")
    [step] = run(home, names=["wallet"])
    assert not step.ok
    assert install.installed(home) == {}


def test_dry_run_touches_nothing(home, host):
    before = sorted(home.rglob("*"))
    steps = list(install.install(home, install.named([], minimal=True), TARGET, dry_run=True))
    assert [step.watcher for step in steps] == ["wallet", "supervisor"]
    assert sorted(home.rglob("*")) == before


def test_the_command_wants_a_target_and_a_known_watcher(home, host, capsys):
    assert cli.main(["install"]) == 2
    assert "--deliver" in capsys.readouterr().err
    assert cli.main(["install", "walet", "--deliver", TARGET]) == 2
    assert cli.main(["install", "wallet", "--deliver", "local"]) == 0
    assert "tells nobody" in capsys.readouterr().out
    assert cli.main(["install", "wallet", "--deliver", "local", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [step["what"] for step in answer["steps"]] == [install.KEPT]


def test_purge_follows_no_link(home, host, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "kept").write_text("x")
    (home / "ops").symlink_to(elsewhere, target_is_directory=True)
    assert cli.main(["uninstall", "--purge"]) == 1
    assert (elsewhere / "kept").exists()


def test_purge_keeps_what_people_wrote_and_copies_of_the_database(home, host, capsys):
    run(home, names=["wallet"])
    (home / "ops" / "policy.toml").write_text("")
    (home / "ops" / "ledger.db").write_text("x")
    for folder in ("backups", "quarantine"):
        (home / "ops" / folder / "default").mkdir(parents=True)
        (home / "ops" / folder / "default" / "state.db").write_text("x")
    before = sorted(home.rglob("*"))
    assert cli.main(["uninstall", "--purge", "--dry-run"]) == 0
    assert f"would remove  {home / 'ops' / 'ledger.db'}" in capsys.readouterr().out
    assert sorted(home.rglob("*")) == before
    assert cli.main(["uninstall", "--purge"]) == 0
    assert sorted(path.name for path in (home / "ops").iterdir()) == ["backups", "policy.toml", "quarantine"]
    assert "backups, policy.toml, quarantine" in capsys.readouterr().out


def test_incidents_of_watchers_that_go_are_closed(home, host):
    run(home, names=["wallet"])
    finding = Finding("wallet.low", "error", "wallet", "it is low", "default/a")
    Incidents(home).update("wallet", Reading.of([finding]), time.time(), lambda messages: True)
    assert cli.main(["uninstall"]) == 0
    assert Incidents(home).all() == []


def test_a_script_that_somebody_edited_or_still_uses_is_left_alone(home, host):
    run(home, names=["wallet", "sweep"])
    edited = home / "scripts" / "ops-wallet.py"
    edited.write_text(edited.read_text() + "\nprint('mine')\n")
    with pytest.raises(Exception, match="edited"):
        run(home, names=["wallet"])
    [job] = [job for job in host.jobs if job["script"] == "ops-sweep.py"]
    job.update(no_agent=False, prompt="use it")
    host.path.write_text(json.dumps({"jobs": host.jobs}))
    steps = {(step.watcher, step.what): step for step in install.uninstall(home)}
    assert "edited" in steps["wallet", "remove script"].detail
    assert "still runs it" in steps["sweep", "remove script"].detail
    assert sorted(path.name for path in (home / "scripts").iterdir()) == ["ops-sweep.py", "ops-wallet.py"]


def test_nothing_is_installed_that_would_not_find_the_plugin(home, host, monkeypatch, capsys):
    monkeypatch.undo()
    monkeypatch.setenv("HERMES_HOME", str(home))
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setattr(install, "check_target", lambda home, deliver: None)
    assert cli.main(["install", "wallet", "--deliver", TARGET]) == 1
    assert "do not find hermes-ops" in capsys.readouterr().err
    assert host.jobs == [] and not (home / "scripts").exists()
    assert not (home / "ops" / "plugin-missing").exists()
    (home / "plugins").mkdir()
    (home / "plugins" / "hermes-ops").symlink_to(Path(launcher.__file__).parent)
    assert launcher.problem(home) is None
