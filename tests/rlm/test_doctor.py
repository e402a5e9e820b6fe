"""Doctor gives every state of an installation an answer of its own, and says what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import Any

import pytest

import hermes_rlm
from hermes_rlm import checkpoint, cli, doctor, examination, tools
from hermes_rlm._common import config, copies
from hermes_rlm.doctor import Report, examine
from hermes_rlm.kernel import process, registry
from tests.rlm.home_contents import register, save_checkpoint

PACKAGE = Path(hermes_rlm.__file__).parent


class Installation:
    """A home with copies of the plugin, and the host's config."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.values: dict[str, Any] = {"plugins": {"enabled": ["hermes-rlm"], "disabled": []}}
        self.problem: str | None = None

    def copy(self, *parts: str) -> Path:
        place = self.home.joinpath("plugins", *parts)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(PACKAGE)
        return place

    def read_config(self, home: Any = None) -> config.HostConfig:
        path = self.home / "config.yaml"
        if self.problem:
            return config.HostConfig(path, {}, "unreadable", False, self.problem)
        return config.HostConfig(path, self.values, "yaml")


@pytest.fixture
def installation(home: Path, monkeypatch: pytest.MonkeyPatch) -> Installation:
    installation = Installation(home)
    monkeypatch.setattr(config, "read_config", installation.read_config)
    monkeypatch.setattr(copies, "_entry_points", lambda plugin: iter(()))
    for name in [name for name in sys.modules if name.partition(".")[0] == "hermes_cli"]:
        monkeypatch.delitem(sys.modules, name)
    installation.copy("hermes-rlm")
    return installation


def statuses(report: Report) -> list[str]:
    return [status for status, _ in report.findings]


def said(report: Report) -> str:
    return "\n".join(report.lines())


# One answer each --------------------------------------------------------------------------------


def test_fine(installation: Installation, home: Path) -> None:
    save_checkpoint(home, "s", "n", a=1)
    register(home, "s")
    report = examine(home)
    assert (report.status, report.findings, report.ok) == ("fine", [], True)
    text = said(report)
    assert text.startswith("fine: kernels work\n")
    assert f"copy (folder, hermes-rlm, active): {home}/plugins/hermes-rlm" in text
    assert f"kernels run on cpython {'.'.join(map(str, sys.version_info[:3]))}: {sys.executable}" in text
    assert "1 kernels run" in text and "1 checkpoints, " in text and "not run by the host" in text


def test_not_installed(installation: Installation, home: Path) -> None:
    (home / "plugins" / "hermes-rlm").unlink()
    report = examine(home)
    assert report.status == "not installed" and "hermes plugins install" in said(report)


@pytest.mark.parametrize(
    "plugins",
    [
        {"enabled": []},
        {},
        {"enabled": ["other"]},
        {"enabled": ["hermes-rlm"], "disabled": ["hermes-rlm"]},
        {"enabled": "hermes-rlm"},
    ],
)
def test_disabled(plugins: Any, installation: Installation, home: Path) -> None:
    installation.values["plugins"] = plugins
    report = examine(home)
    assert report.status == "disabled" and "hermes plugins enable hermes-rlm" in said(report)


@pytest.mark.parametrize("value", ["1", "true", "TRUE", "yes"])
def test_safe_mode(
    value: str, installation: Installation, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_SAFE_MODE", value)
    assert examine(home).status == "safe mode"
    monkeypatch.setenv("HERMES_SAFE_MODE", "0")
    assert examine(home).ok


def test_two_copies(installation: Installation, home: Path) -> None:
    other = installation.copy("suite", "hermes_rlm")
    report = examine(home)
    assert report.status == "two copies"
    assert str(other) in said(report) and f"{home}/plugins/hermes-rlm" in said(report)


def test_a_copy_behind_a_later_one_of_its_key_is_hidden(
    installation: Installation, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_entry_points", lambda plugin: iter([("pip", "hermes-rlm", str(PACKAGE))]))
    assert [(copy.kind, copy.hidden, copy.active) for copy in copies.find(home, "hermes-rlm")] == [
        ("folder", True, False),
        ("pip", False, True),
    ]
    assert examine(home).status == "two copies"


def test_a_config_that_cannot_be_read_is_unknown_and_not_fine(installation: Installation, home: Path) -> None:
    installation.problem = "config.yaml: line 2: tabs"
    assert dict(examine(home).findings)["config"].endswith("config.yaml: line 2: tabs; mend it")


def test_tools_that_are_switched_off(installation: Installation, home: Path) -> None:
    installation.values["agent"] = {"disabled_toolsets": ["web", "rlm"]}
    report = examine(home)
    assert report.status == "tools hidden" and "agent.disabled_toolsets" in said(report)
    installation.values["agent"] = {"disabled_toolsets": "rlm"}
    installation.values["known_plugin_toolsets"] = {"telegram": ["rlm"], "cli": ["rlm"], "cron": [], "x": 3}
    installation.values["platform_toolsets"] = {"telegram": ["web"], "cli": ["rlm"], "cron": ["web"], "x": 3}
    report = examine(home)
    assert report.ok and "tools switched off with `hermes tools` on: telegram" in report.facts


def test_wrong_settings_and_switched_off_features(
    installation: Installation, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_RLM_MAX_KERNELS", "many")
    monkeypatch.setenv("HERMES_RLM_ENABLE_CHECKPOINT", "0")
    monkeypatch.setenv("HERMES_RLM_IDLE_SECONDS", "900")
    report = examine(home)
    assert statuses(report) == ["settings"] and "HERMES_RLM_MAX_KERNELS='many'" in said(report)
    assert any(
        fact.startswith("off by HERMES_RLM_ENABLE_CHECKPOINT=0 (environment)") for fact in report.facts
    )
    assert "HERMES_RLM_IDLE_SECONDS=900 (environment)" in report.facts


@pytest.mark.parametrize(
    ("program", "tells"),
    [
        ("#!/bin/sh\nexit 3\n", "exit code 3"),
        ("#!/bin/sh\necho cpython 3 9 18\n", "cpython 3.9.18; kernels need cpython 3.10 or later"),
        ("#!/bin/sh\necho pypy 3 11 1\n", "pypy 3.11.1; kernels need cpython"),
        ("#!/bin/sh\necho hello\n", "is no Python that runs"),
        ("#!/bin/sh\necho broken >&2; exit 1\n", "is no Python that runs (broken)"),
        ("#!/no/such/interpreter\n", "does not start"),
        ("not a program", "does not start"),
    ],
)
def test_an_interpreter_that_is_none(
    installation: Installation, home: Path, program: str, tells: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = home / "python"
    path.write_text(program)
    path.chmod(0o700)
    monkeypatch.setenv("HERMES_RLM_PYTHON", str(path))
    report = examine(home)
    assert statuses(report) == ["interpreter"] and tells in said(report)
    assert "HERMES_RLM_PYTHON" in dict(report.findings)["interpreter"]


def test_an_interpreter_that_hangs_does_not_hang_doctor(
    installation: Installation, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examination, "START_SECONDS", 0.2)
    path = home / "python"
    path.write_text("#!/bin/sh\nexec sleep 60\n")
    path.chmod(0o700)
    monkeypatch.setenv("HERMES_RLM_PYTHON", str(path))
    assert "does not start (TimeoutExpired)" in said(examine(home))


@pytest.mark.parametrize("broken", ["no home", "state is a file", "state/rlm is a file", "a dangling link"])
def test_a_home_that_cannot_be_written(
    broken: str, installation: Installation, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if broken == "no home":
        home = home / "none"
    elif broken == "state is a file":
        (home / "state").write_text("in the way")
    else:
        (home / "state").mkdir()
        place = home / "state" / "rlm"
        place.write_text("in the way") if "file" in broken else place.symlink_to(home / "nowhere")
    assert "cannot write" in statuses(examine(home))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_home(installation: Installation, home: Path) -> None:
    home.chmod(0o500)
    assert "cannot write" in statuses(examine(home))
    home.chmod(0o700)


def test_a_temporary_directory_of_somebody_else(installation: Installation, home: Path) -> None:
    base = registry.temporary_base()
    base.symlink_to(home)
    report = examine(home)
    assert report.status == "temporary directory" and "pair of sockets is used instead" in said(report)
    base.unlink()
    base.mkdir(mode=0o755)
    base.chmod(0o755)
    report = examine(home)
    assert report.ok and f"{base} is open to others; the next kernel makes it private" in report.facts


def test_a_path_too_long_for_a_socket_is_a_fact_with_its_fallback(
    installation: Installation, home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    long = tmp_path / ("x" * 120)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    report = examine(home)
    assert report.ok and any("an inherited pair of sockets is used instead" in fact for fact in report.facts)


@pytest.mark.parametrize("broken", ["mode", "length", "link", "directory", "owner"])
def test_a_signing_key_that_others_may_know(
    broken: str, installation: Installation, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint.signing_key(home)
    path = home / "state" / "rlm" / "key"
    if broken == "mode":
        path.chmod(0o640)
    elif broken == "length":
        path.write_bytes(b"short")
    elif broken == "owner":
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    else:
        path.unlink()
        path.mkdir() if broken == "directory" else path.symlink_to(home / "other")
    report = examine(home)
    assert report.status == "signing key" and str(path) in said(report) and "remove it" in said(report)


def test_damaged_checkpoints_are_named(installation: Installation, home: Path) -> None:
    save_checkpoint(home, "s", "good", a=1)
    for number in range(7):
        checkpoint.path_of(home, "s", str(number)).write_bytes(b"x" * 100)
    report = examine(home)
    assert statuses(report) == ["damaged checkpoint"] * 6
    assert "2 more: hermes rlm checkpoints" in said(report)


def test_kernels_without_a_host_and_what_they_left(installation: Installation, home: Path) -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    register(home, "stale", id="k1", pid=gone.pid, start_time=1)
    report = examine(home)
    assert report.ok and any("1 registrations of ended kernels" in fact for fact in report.facts)
    register(home, "orphan", id="k2", parent=gone.pid, parent_start=1)
    with subprocess.Popen(["sleep", "60"], env={**os.environ, process.MARK: "k1"}) as left:
        try:
            deadline = time.monotonic() + 10
            while not process.marked({"k1"}) and time.monotonic() < deadline:
                time.sleep(0.01)
            report = examine(home)
        finally:
            left.kill()
    assert statuses(report) == ["leftover process"] * 2
    assert f"(pid {left.pid})" in said(report) and f"kernel k2 (pid {os.getpid()})" in said(report)


def test_a_platform_without_kernels_is_refused_and_nothing_is_tried(
    installation: Installation, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examination.os, "name", "nt")
    report = Report("kernels work")
    assert not examination.platform_works(report)
    assert report.findings == [("platform", tools.UNSUPPORTED)]


def test_what_the_host_no_longer_has(
    installation: Installation, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def host(**functions: Any) -> None:
        for module, name, _ in doctor.HOST_FUNCTIONS:
            part = types.ModuleType(module)
            setattr(part, name, functions.get(name, lambda *_: None))
            monkeypatch.setitem(sys.modules, module, part)
        monkeypatch.setitem(sys.modules, "tools", types.ModuleType("tools"))
        monkeypatch.setitem(sys.modules, "hermes_cli", types.ModuleType("hermes_cli"))

    host()
    assert examine(home).ok
    host(is_interrupted=None)
    report = examine(home)
    assert statuses(report) == ["host changed"] and "tools.interrupt.is_interrupted is missing" in said(
        report
    )
    monkeypatch.setitem(sys.modules, "model_tools", None)
    assert "model_tools.handle_function_call is missing" in said(examine(home))


# What it says -----------------------------------------------------------------------------------


def test_the_first_thing_that_is_wrong_is_the_status_and_all_are_findings(
    installation: Installation, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_SAFE_MODE", "1")
    monkeypatch.setenv("HERMES_RLM_DEPTH", "deep")
    installation.values = {}
    report = examine(home)
    assert report.status == "safe mode"
    assert statuses(report) == ["safe mode", "disabled", "settings"]


def test_the_line_for_a_bug_report_names_nothing_of_the_users(installation: Installation, home: Path) -> None:
    save_checkpoint(home, "my secret project", "n", a=1)
    line = examine(home).line
    assert line.startswith(f"hermes-rlm {hermes_rlm.__version__}, hermes-agent ")
    assert "status fine, copies folder" in line and "kernels cpython 3." in line
    for own in (str(home), "my secret project", os.path.expanduser("~"), str(PACKAGE), sys.executable):
        assert own not in line
    assert "\n" not in line and len(line) < 300


def test_exit_codes_and_json(
    installation: Installation, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["doctor", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["status"], answer["findings"]) == (1, "fine", [])
    assert set(answer) == {"schema", "status", "findings", "facts", "line"}
    installation.values = {}
    assert cli.main(["doctor", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert [finding["status"] for finding in answer["findings"]] == ["disabled"]
    assert cli.main(["doctor"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("not fine: disabled\n") and "\nFor a bug report: hermes-rlm " in out


def test_doctor_changes_nothing(installation: Installation, home: Path) -> None:
    save_checkpoint(home, "s", "n", a=1)

    def everything() -> list[tuple[Path, int]]:
        return sorted((path, path.lstat().st_size) for path in home.parent.rglob("*"))

    before = everything()
    examine(home)
    assert everything() == before
