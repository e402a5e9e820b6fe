"""The command line: errors of one line, exit codes, and nothing loaded that is not called."""

import argparse
import io
import json
import os
import subprocess
import sys
import time
from contextlib import redirect_stderr

import pytest

from hermes_ops import cli, slash
from hermes_ops.core import run
from hermes_ops.core.finding import Finding, Reading
from hermes_ops.core.incident import Incidents

NOW = 1_796_000_000.0


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    return tmp_path


def parser_of_the_host():
    """As the host's: its own class of parser, with ours as one of its commands."""
    parser = argparse.ArgumentParser(prog="hermes")
    cli.add_commands(parser.add_subparsers(dest="command").add_parser("ops"))
    return parser


@pytest.mark.parametrize(
    "words",
    [["nosuch"], ["wallet", "--nosuch"], ["incidents", "ack"], ["supervise", "bogus"], ["watch", "a", "b"]],
)
def test_a_wrong_command_line_ends_with_2_and_one_line_by_itself_and_in_the_host(home, words, capsys):
    assert cli.main(words) == 2
    assert capsys.readouterr().err.count("\n") == 1
    # The host parses twice, the first time with stderr taken away, and catches SystemExit alone.
    said = io.StringIO()
    with redirect_stderr(said), pytest.raises(SystemExit) as ended:
        parser_of_the_host().parse_args(["ops", *words])
    assert ended.value.code == 2
    assert said.getvalue().strip()


# Those of `hermes_cli._parser.build_top_level_parser` (hermes-agent 0.19.0), and what is read before it.
# fmt: off
OPTIONS_OF_THE_HOST = (
    "--accept-hooks", "--cli", "--continue", "--dev", "--help", "--ignore-rules", "--ignore-user-config",
    "--model", "--no-restore-cwd", "--oneshot", "--pass-session-id", "--profile", "--provider",
    "--resume", "--safe-mode", "--skills", "--toolsets", "--tui", "--usage-file", "--version",
    "--worktree", "--yolo",
)
# fmt: on


def options_below(parser):
    """Every option of a parser and of those below it."""
    parser.format_help()  # a command's module adds its options when it is asked for something
    for action in parser._actions:
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from options_below(below)


def test_no_option_is_ambiguous_to_the_host_which_looks_at_all_of_them():
    found = {option for option in options_below(parser_of_the_host()) if option.startswith("--")}
    assert {"--json", "--skip-lines", "--deliver"} <= found
    meant = {
        option: [one for one in OPTIONS_OF_THE_HOST if one.startswith(option)]
        for option in found - set(OPTIONS_OF_THE_HOST)
    }
    assert {option: one for option, one in meant.items() if len(one) > 1} == {}


def watched(home, ran=None, error=None):
    """A home in which one watcher is installed, and ran so long ago."""
    (home / "ops" / "watchers").mkdir(parents=True, exist_ok=True)
    (home / "ops" / "install.json").write_text(json.dumps({"format": 1, "jobs": {"wallet": "0123456789ab"}}))
    if ran is not None:
        run.record(home, "wallet", time.time() - ran, error)


def test_silence_of_watchers_that_do_not_look_is_not_health(home, capsys):
    watched(home, ran=60)
    assert cli.main(["status"]) == 0
    assert "Nothing is wrong" in capsys.readouterr().out
    for ran, error in ((10 * 86_400, None), (60, "boom"), (-3600, None)):
        watched(home, ran, error)
        assert cli.main(["status"]) == 1
        shown = capsys.readouterr().out
        assert "NOT KNOWN: wallet" in shown and "Nothing is wrong" not in shown
        assert "NOT KNOWN" in slash.run("")
    (home / "ops" / "watchers" / "wallet.json").unlink()
    assert cli.main(["status"]) == 1  # nothing has been seen yet, and it was installed just now
    os.utime(home / "ops" / "install.json", (1, 1))
    assert cli.main(["status"]) == 1
    assert "has not run since it was installed" in capsys.readouterr().out


def test_without_a_command_it_shows_where_things_stand(home, capsys):
    assert cli.main([]) == 1
    shown = capsys.readouterr().out
    assert "hermes ops install --deliver TARGET" in shown
    arguments = parser_of_the_host().parse_args(["ops"])
    assert cli.run(arguments) == 1
    assert capsys.readouterr().out == shown


def test_status_tells_open_incidents_and_ends_with_1(home, capsys):
    finding = Finding("a.b", "critical", "job 1", "it burns", "default/1", fix="do it")
    Incidents(home).update("sweep", Reading.of([finding]), NOW, lambda messages: True)
    assert cli.main(["status"]) == 1
    assert "CRITICAL job 1: it burns" in capsys.readouterr().out
    assert cli.main(["status", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["schema"] == 1
    assert [one["id"] for one in answer["incidents"]] == ["a.b:default/1"]


def test_in_a_chat_incidents_are_shown_acknowledged_and_snoozed(home):
    finding = Finding("a.b", "error", "job 1", "it burns", "default/1")
    Incidents(home).update("sweep", Reading.of([finding]), NOW, lambda messages: True)
    assert "it burns" in slash.run("")
    assert "Acknowledged: it burns" in slash.run("ack a.b")
    assert "acknowledged" in slash.run("status")
    assert "Quiet for 2 h" in slash.run("snooze a.b 2")
    for wrong in (
        "ack",
        "nosuch",
        "snooze a.b",
        "snooze a.b x",
        "ack nosuch",
        "snooze a.b 0",
        "snooze a.b 1e9",
    ):
        assert "\n" not in slash.run(wrong)
    assert "wallet" in slash.run("watchers")


def test_a_home_that_does_not_exist_is_an_error_and_is_not_made(tmp_path, monkeypatch, capsys):
    missing = tmp_path / "missing"
    monkeypatch.setenv("HERMES_HOME", str(missing))
    for words in ([], ["sweep"], ["watch", "wallet"], ["costs"]):
        assert cli.main(words) == 1
        assert "HERMES_HOME" in capsys.readouterr().err
    assert not missing.exists()


def test_a_message_in_any_script_is_one_line_of_it(home, capsys):
    assert cli.main(["watch", "утро"]) == 2
    assert "утро" in capsys.readouterr().err


def test_a_command_loads_no_other_and_registering_loads_none():
    code = (
        "import sys; from hermes_ops import registration; from hermes_ops import cli; import argparse;"
        "cli.add_commands(argparse.ArgumentParser());"
        "print([m for m in sys.modules if m.startswith('hermes_ops.') and '.commands.' in m],"
        "      [m for m in ('sqlite3', 'urllib.request', 'ssl', 'tomllib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] []"
