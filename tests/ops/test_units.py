"""The unit of the supervisor, the rule for root to put in place, and installing and removing it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from hermes_ops._common.files import is_alive
from hermes_ops.errors import OpsError
from hermes_ops.launcher import is_ours
from hermes_ops.liveness import units
from hermes_ops.liveness.memory import MemoryFile
from hermes_ops.liveness.service import Machine, Outcome

ANALYZE = shutil.which("systemd-analyze")


class Systemctl:
    """A `systemctl` that keeps what it was asked; `refuses` is the word it refuses."""

    def __init__(self, refuses: str = "") -> None:
        self.asked: list[list[str]] = []
        self.refuses = refuses

    def __call__(self, arguments: Sequence[str], timeout: float, environment: object) -> Outcome:
        self.asked.append(list(arguments))
        return Outcome(self.refuses not in arguments, "no bus")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    for folder in ("user", "system"):
        (tmp_path / folder).mkdir()
    return Machine(tmp_path, (tmp_path / "user",), (tmp_path / "system",), True, False)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / ".hermes"
    path.mkdir()
    return path


def gateway_unit(folder: Path, home: Path) -> None:
    (folder / "hermes-gateway.service").write_text(
        "[Service]\nExecStart=/v/bin/python -m hermes_cli.main gateway run\n"
        f'Environment="HERMES_HOME={home}"\n'
    )


def verify(path: Path) -> list[str]:
    """What systemd-analyze says about this unit; other units of the machine are not our business."""
    done = subprocess.run(
        [str(ANALYZE), "verify", "--user", "--man=no", str(path)],
        capture_output=True,
        text=True,
        env={**os.environ, "XDG_RUNTIME_DIR": str(path.parent), "SYSTEMD_LOG_LEVEL": "warning"},
    )
    return [line for line in (done.stdout + done.stderr).splitlines() if path.name in line]


@pytest.mark.skipif(not ANALYZE, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("folder", ["plain", 'with space 100% $HOME "quoted" back\\slash'])
def test_systemd_accepts_the_unit(tmp_path: Path, folder: str) -> None:
    home = tmp_path / folder
    home.mkdir()
    script = home / "ops-supervise.py"
    script.touch()
    path = tmp_path / "hermes-ops-supervise.service"
    path.write_text(units.unit_text(home, sys.executable, script, "hermes-gateway.service"))
    assert verify(path) == []
    path.write_text(path.read_text().replace("Restart=on-failure", "Restart=nonsense"))
    assert verify(path) != []  # it would have said so


def test_the_unit_restarts_on_failure_is_bounded_and_depends_on_nothing(home: Path) -> None:
    text = units.unit_text(home, "/usr/bin/python3", home / "x.py", "hermes-gateway.service")
    for line in ("Restart=on-failure", "After=hermes-gateway.service", "NoNewPrivileges=yes", "UMask=0077"):
        assert f"\n{line}\n" in text
    assert re.search(r"\nMemoryMax=\d+M\nTasksMax=\d+\nCPUQuota=\d+%\n", text)
    for word in ("Requires=", "BindsTo=", "PartOf=", "Wants="):
        assert word not in text
    with pytest.raises(OpsError):
        units.unit_text(home / "a\nExecStart=/bin/evil", "/usr/bin/python3", home / "x.py")


def test_the_polkit_rule_allows_two_verbs_on_one_unit_to_one_user() -> None:
    rule = units.polkit_rule('ann"a', "hermes-gateway.service")
    assert rule.count("polkit.Result.YES") == 1
    assert 'subject.user == "ann\\"a"' in rule and 'action.lookup("unit") == "hermes-gateway.service"' in rule
    assert set(re.findall(r'verb == "(\w+)"', rule)) == {"start", "restart"}
    if node := shutil.which("node"):
        asked = """
        const given = [];
        const polkit = {Result: {YES: "yes"}, addRule: rule => given.push(rule)};
        RULE
        const ask = (user, unit, verb) => given[0](
            {id: "org.freedesktop.systemd1.manage-units", lookup: name => ({unit, verb})[name]}, {user});
        console.log(JSON.stringify([["hermes", "hermes-gateway.service", "restart"],
            ["hermes", "hermes-gateway.service", "stop"], ["hermes", "ssh.service", "restart"],
            ["eve", "hermes-gateway.service", "start"]].map(one => ask(...one) === "yes")));
        """.replace("RULE", units.polkit_rule("hermes", "hermes-gateway.service"))
        answers = subprocess.run([node, "-e", asked], capture_output=True, text=True, check=True).stdout
        assert json.loads(answers) == [True, False, False, False]


def test_install_writes_script_and_unit_and_starts_it(home: Path, machine: Machine) -> None:
    gateway_unit(machine.user_units[0], home)
    systemctl = Systemctl()
    said = units.install(home, machine=machine, run=systemctl, user="nobody-here", python="/v/bin/python")
    unit = machine.user_units[0] / "hermes-ops-supervise.service"
    assert f'ExecStart="/v/bin/python" "{home}/ops/bin/ops-supervise.py"' in unit.read_text()
    assert "After=hermes-gateway.service" in unit.read_text()
    assert is_ours(units.script_path(home).read_text())
    assert [words[2:] for words in systemctl.asked] == [
        ["daemon-reload"],
        ["enable", unit.name],
        ["restart", unit.name],
    ]
    assert any("loginctl enable-linger nobody-here" in line for line in said)
    assert units.installed(home) == units.Installed("systemd", unit.name, str(unit))
    before = unit.read_text()
    units.install(home, machine=machine, run=systemctl, user="nobody-here", python="/v/bin/python")
    assert unit.read_text() == before


def test_for_a_system_unit_the_rule_is_printed_and_not_put_in_place(home: Path, machine: Machine) -> None:
    gateway_unit(machine.system_units[0], home)
    said = "\n".join(units.install(home, machine=machine, run=Systemctl(), user="hermes"))
    assert "as root, let hermes restart hermes-gateway.service" in said and "polkit.addRule" in said
    assert [path.name for path in machine.system_units[0].iterdir()] == ["hermes-gateway.service"]


def test_a_dry_run_shows_everything_and_writes_nothing(home: Path, machine: Machine) -> None:
    systemctl = Systemctl()
    said = units.install(home, dry_run=True, machine=machine, run=systemctl, user="hermes")
    assert "ExecStart=" in "\n".join(said) and systemctl.asked == []
    assert list(home.iterdir()) == [] and list(machine.user_units[0].iterdir()) == []


def test_a_systemd_that_refuses_is_said(home: Path, machine: Machine) -> None:
    with pytest.raises(OpsError, match="no bus"):
        units.install(home, machine=machine, run=Systemctl("enable"), user="hermes")


def test_uninstall_removes_what_install_made_and_keeps_the_memory(home: Path, machine: Machine) -> None:
    units.install(home, machine=machine, run=Systemctl(), user="hermes")
    (home / "ops" / "supervisor.json").write_text("kept")
    systemctl = Systemctl()
    assert len(units.uninstall(home, dry_run=True, machine=machine, run=systemctl)) == 2
    assert units.script_path(home).exists() and systemctl.asked == []
    units.uninstall(home, machine=machine, run=systemctl)
    assert systemctl.asked[0][2:] == ["disable", "--now", "hermes-ops-supervise.service"]
    assert not units.script_path(home).exists() and list(machine.user_units[0].iterdir()) == []
    assert (home / "ops" / "supervisor.json").read_text() == "kept" and units.installed(home) is None
    assert units.uninstall(home, machine=machine, run=systemctl) == []


def test_a_profile_has_a_unit_of_its_own(tmp_path: Path) -> None:
    profile = tmp_path / ".hermes" / "profiles" / "coder"
    assert units.unit_name(profile, tmp_path) == "hermes-ops-supervise-coder.service"


def test_without_systemd_it_is_started_detached_and_holds_nothing_of_ours(
    home: Path, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    bare = Machine(machine.user_home, machine.user_units, machine.system_units, False, False)
    said = units.install(home, machine=bare)
    pid = int(re.search(r"process (\d+)", "\n".join(said))[1])
    try:
        limit = time.monotonic() + 20
        while MemoryFile(home).read().pid != pid and time.monotonic() < limit:
            time.sleep(0.05)
        assert MemoryFile(home).read().pid == pid and os.getsid(pid) == pid
        open_files = {os.path.realpath(f"/proc/{pid}/fd/{fd}") for fd in (0, 1, 2)}
        assert open_files == {"/dev/null", str(home / "ops" / "supervise.log")}
        assert "runs already" in "\n".join(units.install(home, machine=bare))
        assert f"process {pid}" in units.uninstall(home, machine=bare)
        while is_alive(pid, MemoryFile(home).read().started) and time.monotonic() < limit:
            time.sleep(0.05)
        assert not is_alive(pid, MemoryFile(home).read().started)
    finally:
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass
