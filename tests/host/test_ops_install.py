"""`hermes ops install` in a real home: jobs run by the host, silence, one line per change, uninstall."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from hermes_ops.core.watch import WATCHERS
from tests.host import installs
from tests.host.file_chats import FileChats
from tests.host.hermes import Gateway, HermesHome, Run
from tests.host.installs import KINDS, OPS, Repository
from tests.host.model_server import ModelServer
from tests.host.scenarios.core import wait_until

pytestmark = pytest.mark.host

CHAT = "ops"
TARGET = f"file-chat:{CHAT}"
PROBE = """
[[probe]]
id = "lamp"
kind = "file_fresh"
title = "the lamp is lit"
path = "lamp"
"""


@dataclass
class Watched:
    """A home with one install of the plugin, its probes watcher installed as a job."""

    home: HermesHome
    chats: FileChats
    installed: Run

    @property
    def jobs(self) -> list[dict]:
        return json.loads((self.home.path / "cron" / "jobs.json").read_text("utf-8"))["jobs"]

    @property
    def job(self) -> dict:
        [job] = [job for job in self.jobs if job["script"] == "ops-probes.py"]
        return job

    @property
    def said(self) -> list[str]:
        return self.chats.said(CHAT)

    def light(self, lit: bool) -> None:
        lamp = self.home.path / "lamp"
        lamp.write_text("lit") if lit else lamp.unlink(missing_ok=True)

    def run(self) -> list[str]:
        """Let the host run the job; what it delivered."""
        before = len(self.said)
        installs.done(self.home.run("cron", "run", self.job["id"]))
        return self.said[before:]


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with ModelServer([]) as server:
        yield server


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(tmp_path_factory.mktemp("published"))


@pytest.fixture(scope="module")
def site(repository: Repository, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pip") / "site"
    repository.build_site(folder)
    return folder


@pytest.fixture(scope="module", params=list(KINDS))
def watched(
    request: pytest.FixtureRequest, model: ModelServer, repository: Repository, site: Path
) -> Iterator[Watched]:
    with HermesHome(model.url) as home:
        chats = FileChats(home)
        home.configure({"cron": {"wrap_response": False}})
        home.variables["FILE_CHAT_HOME"] = CHAT
        installs.install(home, repository, request.param, site, plugins=[OPS])
        installs.enable(home, [OPS])
        (home.path / "ops").mkdir()
        (home.path / "ops" / "probes.toml").write_text(PROBE)
        (home.path / "lamp").write_text("lit")
        yield Watched(home, chats, home.run("ops", "install", "probes", "--deliver", TARGET, "--json"))


def test_install_makes_a_script_and_a_job_that_the_host_runs(watched: Watched) -> None:
    installed = json.loads(installs.done(watched.installed).stdout)
    [step] = installed["steps"]
    job = watched.job
    assert (step["watcher"], step["what"], step["job"], step["ok"]) == ("probes", "created", job["id"], True)
    assert (job["no_agent"], job["deliver"], job["enabled"]) == (True, TARGET, True)
    assert job["schedule"]["expr"] == "55 * * * *"
    assert job["next_run_at"]
    script = watched.home.path / "scripts" / "ops-probes.py"
    assert script.stat().st_mode & 0o777 == 0o600
    # Silent when all is well, one line when something breaks, silence again, one line when it is over.
    assert watched.run() == []
    assert watched.job["last_status"] == "ok"
    watched.light(False)
    [broken] = watched.run()
    assert "the lamp is lit" in broken and "\n" not in broken
    assert watched.run() == []
    watched.light(True)
    [over] = watched.run()
    assert "lamp" in over and "\n" not in over
    assert watched.job["last_status"] == "ok"


@pytest.fixture(scope="module")
def one(model: ModelServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    """A home that has the plugin as one linked folder."""
    with HermesHome(model.url) as home:
        chats = FileChats(home)
        home.configure({"cron": {"wrap_response": False}})
        home.variables["FILE_CHAT_HOME"] = CHAT
        home.install(installs.CHECKOUT / OPS.folder, link=True)
        (home.path / "ops").mkdir()
        (home.path / "ops" / "probes.toml").write_text(PROBE)
        (home.path / "lamp").write_text("lit")
        yield Watched(home, chats, home.run("ops", "install", "probes", "--deliver", TARGET))


def test_what_does_not_arrive_is_noticed_and_said_again(one: Watched) -> None:
    installs.done(one.installed)
    one.light(False)
    one.chats.reachable(False)
    assert one.run() == []
    assert "cannot be reached" in one.job["last_delivery_error"]
    doctor = one.home.run("ops", "doctor")
    assert doctor.returncode == 1
    assert "undelivered" in doctor.stdout
    one.chats.reachable(True)
    lines = "\n".join(one.run()).splitlines()
    assert any("the lamp is lit" in line for line in lines)
    assert any("did not reach" in line and "cannot be reached" in line for line in lines)
    one.light(True)
    assert any("lamp" in line for line in one.run())
    assert one.run() == []


def test_a_target_that_cannot_be_reached_is_refused_at_once(one: Watched) -> None:
    before = one.jobs
    for target in ("nosuchplatform:1", "origin"):
        refused = one.home.run("ops", "install", "sweep", "--deliver", target)
        assert refused.returncode == 1, refused.stdout
        assert "nothing would arrive" in refused.stderr
    missing = one.home.run("ops", "install", "sweep")
    assert (missing.returncode, "--deliver" in missing.stderr) == (2, True)
    assert one.jobs == before


def test_the_real_ticker_runs_it(one: Watched) -> None:
    one.light(False)
    driver = f"from cron.jobs import trigger_job\nassert trigger_job({one.job['id']!r})"
    subprocess.run(
        [sys.executable, "-c", driver], env=one.home.environment(), cwd=one.home.project, check=True
    )
    before, ran_at = len(one.said), one.job["last_run_at"]
    with Gateway(one.home):
        wait_until(lambda: len(one.said) > before, "a message of the ticker's run", 90)
        # The host notes a run after it has delivered; a gateway that ends before that calls it interrupted.
        wait_until(lambda: one.job["last_run_at"] != ran_at, "the end of that run", 30)
        ran = one.job
    # Read before the gateway ends: it calls a job interrupted that it has noted as run but not yet closed.
    assert "the lamp is lit" in one.said[-1]
    assert (ran["last_status"], ran["last_error"]) == ("ok", None)
    one.light(True)


def test_install_again_changes_nothing_and_uninstall_leaves_the_ledger(one: Watched) -> None:
    jobs = one.home.path / "cron" / "jobs.json"
    before, scripts = jobs.read_bytes(), one.home.path / "scripts"
    again = installs.done(one.home.run("ops", "install", "probes", "--deliver", TARGET))
    assert "as it was" in again.stdout
    assert jobs.read_bytes() == before
    every = installs.done(one.home.run("ops", "install", "--deliver", TARGET, "--json"))
    steps = json.loads(every.stdout)["steps"]
    assert len(steps) == len(WATCHERS) and all(step["ok"] for step in steps)
    assert len(one.jobs) == len(WATCHERS) and all(job["next_run_at"] for job in one.jobs)
    (scripts / "mine.py").write_text("print('mine')")
    planned = installs.done(one.home.run("ops", "uninstall", "--dry-run"))
    assert len(one.jobs) == len(WATCHERS) and "would remove job" in planned.stdout
    installs.done(one.home.run("ops", "uninstall"))
    assert one.jobs == []
    assert [path.name for path in scripts.iterdir()] == ["mine.py"]
    assert (one.home.path / "ops" / "ledger.db").exists()
    assert "hermes ops install" in one.home.run("ops", "doctor").stdout
    installs.done(one.home.run("ops", "uninstall", "--purge"))
    assert [path.name for path in (one.home.path / "ops").iterdir()] == ["probes.toml"]


def test_the_host_has_the_slash_command_and_the_skill(one: Watched) -> None:
    code = (
        "import json\n"
        "from hermes_cli.plugins import discover_plugins, get_plugin_command_handler\n"
        "discover_plugins()\n"
        "from tools.skills_tool import skill_view\n"
        "shown = json.loads(skill_view('hermes-ops:one-shot-reminder'))\n"
        "print(json.dumps([get_plugin_command_handler('ops')('watchers'), shown]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=one.home.environment(),
        cwd=one.home.project,
        capture_output=True,
        text=True,
        check=True,
    )
    answer, skill = json.loads(done.stdout.splitlines()[-1])
    assert "wallet" in answer
    assert skill["success"] is True
    assert "hermes ops remind" in skill["content"]
