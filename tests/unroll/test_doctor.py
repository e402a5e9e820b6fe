"""Doctor gives every state of an installation an answer of its own, and says what to do."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import hermes_unroll
from hermes_unroll import cli, presence, sealing
from hermes_unroll._common import config, copies
from hermes_unroll.doctor import Report, examine
from tests.unroll.host_driver import Host

PACKAGE = Path(hermes_unroll.__file__).parent


class Installation:
    """A home with copies of the plugin, and the host's config."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.values: dict[str, Any] = {"plugins": {"enabled": ["hermes-unroll"], "disabled": []}}
        self.problem: str | None = None

    def copy(self, *parts: str, source: str | None = None) -> Path:
        """Put a copy below plugins/; with `source` it is one whose registration.py is that text."""
        place = self.home.joinpath("plugins", *parts)
        place.parent.mkdir(parents=True, exist_ok=True)
        if source is None:
            place.symlink_to(PACKAGE)
            return place
        place.mkdir()
        shutil.copy(PACKAGE / "plugin.yaml", place)
        (place / "__init__.py").write_text("def register(ctx): ...\n")
        (place / "registration.py").write_text(source)
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
    return installation


def statuses(report: Report) -> list[str]:
    return [status for status, _ in report.findings]


def said(report: Report) -> str:
    return "\n".join(report.lines())


# One answer each --------------------------------------------------------------------------------


def test_fine(installation: Installation, host: Host) -> None:
    place = installation.copy("hermes-unroll")
    host.chat().turn("hello")
    report = examine(host.home)
    assert (report.status, report.findings, report.ok) == ("fine", [], True)
    assert said(report).startswith("fine: recording works\n")
    assert f"copy (folder, hermes-unroll, active): {place}" in said(report)
    assert "1 sessions recorded" in said(report) and "1 processes recording now" in said(report)
    assert "last event 0 s ago, in session 20260101_000000_abc123" in said(report)


def test_not_installed(installation: Installation, home: Path) -> None:
    report = examine(home)
    assert report.status == "not installed"
    assert "hermes plugins install" in said(report)


@pytest.mark.parametrize(
    "plugins",
    [
        {"enabled": []},
        {},
        {"enabled": ["other"]},
        {"enabled": ["hermes-unroll"], "disabled": ["hermes-unroll"]},
        {"enabled": "hermes-unroll"},
    ],
)
def test_disabled(plugins: Any, installation: Installation, home: Path) -> None:
    installation.copy("hermes-unroll")
    installation.values["plugins"] = plugins
    report = examine(home)
    assert report.status == "disabled"
    assert "hermes plugins enable hermes-unroll" in said(report)


@pytest.mark.parametrize("value", ["1", "true", "TRUE", "yes"])
def test_safe_mode(
    value: str, installation: Installation, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.copy("hermes-unroll")
    host.chat().turn("hello")
    monkeypatch.setenv("HERMES_SAFE_MODE", value)
    assert examine(host.home).status == "safe mode"
    monkeypatch.setenv("HERMES_SAFE_MODE", "0")
    assert examine(host.home).status == "fine"


@pytest.mark.parametrize(
    ("source", "tells"),
    [
        ("import no_such_module_here\n", "ModuleNotFoundError: No module named 'no_such_module_here'"),
        ("def broken(:\n", "SyntaxError"),
        ("raise RuntimeError('half installed')\n", "RuntimeError: half installed"),
        ("import sys; sys.exit(3)\n", "exit code 3"),
    ],
)
def test_broken_import(source: str, tells: str, installation: Installation, home: Path) -> None:
    place = installation.copy("hermes-unroll", source=source)
    report = examine(home)
    assert report.status == "broken import"
    assert tells in said(report) and str(place) in said(report)


def test_an_earlier_failure_in_the_log_is_a_fact_and_no_finding(
    installation: Installation, host: Host
) -> None:
    installation.copy("hermes-unroll")
    host.chat().turn("hello")
    (host.home / "logs").mkdir()
    log = host.home / "logs" / "agent.log"
    log.write_text("WARNING Failed to load plugin 'hermes-unroll': ImportError: x\nINFO fine now\n" * 3)
    report = examine(host.home)
    assert report.ok
    assert "earlier failure to load it: ImportError: x" in said(report)


def test_two_copies(installation: Installation, host: Host) -> None:
    one, two = installation.copy("hermes-unroll"), installation.copy("suite", "hermes_unroll")
    host.chat().turn("hello")
    report = examine(host.home)
    assert report.status == "two copies"
    assert str(one) in said(report) and str(two) in said(report)
    assert [copy.kind for copy in copies.find(host.home, "hermes-unroll")] == ["folder", "repository"]


def test_a_copy_behind_a_later_one_of_its_key_is_hidden(
    installation: Installation, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.copy("hermes-unroll")
    entry = ("pip", "hermes-unroll", str(PACKAGE))
    monkeypatch.setattr(copies, "_entry_points", lambda plugin: iter([entry]))
    found = copies.find(home, "hermes-unroll")
    assert [(copy.kind, copy.hidden, copy.active) for copy in found] == [
        ("folder", True, False),
        ("pip", False, True),
    ]
    assert examine(home).status == "two copies"


def test_never_fired(installation: Installation, home: Path) -> None:
    installation.copy("hermes-unroll")
    report = examine(home)
    assert report.status == "never fired"
    assert "start a session" in said(report)


def test_recording_off_and_settings(installation: Installation, host: Host) -> None:
    installation.copy("hermes-unroll")
    host.chat().turn("hello")
    for unroll, status, tells in (
        ({"record": False}, "recording off", "unroll.record is false"),
        ({"record": "no"}, "settings", "nothing is recorded: unroll.record"),
        ({"retention": {"max_size_mb": "x"}}, "settings", "max_size_mb"),
        ({"redact": {"custom_patterns": ["("]}}, "settings", "nothing is recorded"),
    ):
        installation.values["unroll"] = unroll
        report = examine(host.home)
        assert report.status == status, unroll
        assert tells in said(report)
    installation.problem = "config.yaml: line 2: tabs"
    assert "nothing is recorded: config.yaml: line 2: tabs" in said(examine(host.home))


def test_what_is_left_out_is_counted(installation: Installation, host: Host) -> None:
    installation.copy("hermes-unroll")
    host.chat().turn("hello")
    installation.values["unroll"] = {"exclude_platforms": ["cron"], "exclude_chats": ["1", "2"]}
    report = examine(host.home)
    assert report.ok
    assert "platforms not recorded: 1" in report.facts and "chats not recorded: 2" in report.facts


def test_a_trace_that_must_not_be_published_is_told(installation: Installation, host: Host) -> None:
    installation.copy("hermes-unroll")
    host.chat().turn("hello")
    # A pattern that the program's own text matches: nothing that is redacted helps.
    installation.values["unroll"] = {"redact": {"custom_patterns": ["def replay"]}}
    with pytest.raises(sealing.SealError, match="looks like a secret"):
        host.program("20260101_000000_abc123")
    assert host.programs() == []
    installation.values["unroll"] = {}
    make_dead(host, "20260101_000000_abc123")
    report = examine(host.home)
    assert report.status == "refused"
    assert "looks like a secret" in said(report)


def make_dead(host: Host, session_id: str) -> None:
    """Let a segment look as if the process that wrote it had ended, its size unchanged."""
    (segment,) = host.segments(session_id)
    data = segment.read_bytes()
    pid = str(os.getpid()).encode()
    segment.write_bytes(data.replace(b'"pid":' + pid, b'"pid":' + b"9" * len(pid), 1))


def test_the_first_thing_that_is_wrong_is_the_status_and_all_are_findings(
    installation: Installation, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_SAFE_MODE", "1")
    installation.copy("hermes-unroll")
    installation.values = {"unroll": {"record": False}}
    report = examine(home)
    assert report.status == "safe mode"
    assert statuses(report) == ["safe mode", "disabled", "recording off"]


# What it says -----------------------------------------------------------------------------------


def test_hooks_are_shown_to_be_alive_per_process(installation: Installation, host: Host) -> None:
    hermes_unroll.register(type("Context", (), {"register_hook": lambda self, name, callback: None})())
    installation.copy("hermes-unroll")
    host.chat().turn("hello")
    presence.write(host.home)
    report = examine(host.home)
    assert any(
        fact.startswith(f"process {os.getpid()}: ") and fact.endswith(f" hook calls, copy {PACKAGE}")
        for fact in report.facts
    )


def test_the_line_for_a_bug_report_names_nothing_of_the_users(installation: Installation, host: Host) -> None:
    installation.copy("hermes-unroll")
    host.chat("my secret project").turn("hello")
    line = examine(host.home).line
    assert line.startswith(f"hermes-unroll {hermes_unroll.__version__}, hermes-agent ")
    assert "status fine, copies folder" in line
    for own in (str(host.home), "my secret project", os.path.expanduser("~"), str(PACKAGE)):
        assert own not in line
    assert "\n" not in line and len(line) < 300


def test_exit_codes_and_json(
    installation: Installation, host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    installation.copy("hermes-unroll")
    assert cli.main(["doctor", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert (answer["schema"], answer["status"]) == (1, "never fired")
    assert set(answer) == {"schema", "status", "findings", "facts", "line"}
    assert [finding["status"] for finding in answer["findings"]] == ["never fired"]
    host.chat().turn("hello")
    assert cli.main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("fine: recording works\n") and "\nFor a bug report: hermes-unroll " in out


def test_doctor_changes_nothing(installation: Installation, host: Host) -> None:
    installation.copy("hermes-unroll")
    host.chat().turn("hello")
    before = list(host.everything_written())
    examine(host.home)
    assert [name for name, _ in before] == [name for name, _ in host.everything_written()]


@pytest.mark.parametrize("broken", ["short key", "journal is a file", "dangling link"])
def test_what_cannot_be_written_is_found_before_a_session_is_lost(broken: str, home: Path) -> None:
    if broken == "dangling link":
        (home / "traces").symlink_to(home / "nowhere" / "else")
        (home / "nowhere").write_text("in the way")
    else:
        (home / "traces").mkdir()
        if broken == "short key":
            (home / "traces" / ".key").write_bytes(b"xx")
            os.utime(home / "traces" / ".key", (1, 1))
        else:
            (home / "traces" / "journal").write_text("in the way")
    findings = dict(examine(home).findings)
    assert "nothing can be recorded" in findings["cannot write"]
