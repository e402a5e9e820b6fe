"""The commands: exit codes, JSON with a schema, one line for what is wrong, and never a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hermes_rlm import __version__, catalog, cells, cli, sessions
from hermes_rlm._common.command_line import SCHEMA
from hermes_rlm.kernel import registry
from tests.rlm.home_contents import record, register, save_checkpoint

ROOT = Path(__file__).resolve().parents[2]
Output = pytest.CaptureFixture[str]
NASTY = ["a/b", "../up", "n\x00ul", "\ud800half", "x" * 10_240, "new\nline", "\x1b[31mred", "-o", "ünï"]


def run_json(capsys: Output, *arguments: str, code: int = 0) -> dict[str, Any]:
    """Run a command with --json; return its one object."""
    assert cli.main([arguments[0], "--json", *arguments[1:]]) == code
    told = capsys.readouterr()
    assert told.out.count("\n") == 1
    answer = json.loads(told.out)
    assert answer["schema"] == SCHEMA == 1
    return answer


def run(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run `python -m hermes_rlm` as from a checkout."""
    own = {"PATH": os.defpath, "HERMES_HOME": str(home), "HOME": str(home / "none"), **environment}
    command = [sys.executable, "-m", "hermes_rlm", *arguments]
    return subprocess.run(
        command, capture_output=True, cwd=ROOT, env=own, timeout=60, stdin=subprocess.DEVNULL
    )


# What is wrong with a command line --------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"],
        ["status", "extra"],
        ["export"],
        ["export", "a", "b"],
        ["export", "a", "-o"],
        ["checkpoints", "--session"],
        ["checkpoints", "delete"],
        ["checkpoints", "delete", "one"],
        ["checkpoints", "fly"],
        ["checkpoints", "prune", "extra"],
        ["doctor", "--fast"],
        ["status", "--json=1"],
        ["--bogus"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_is_one_line_and_exit_code_2(
    arguments: list[str], home: Path, capsys: Output
) -> None:
    assert cli.main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("hermes rlm: ") and told.err.count("\n") == 1
    assert list(home.iterdir()) == []


def test_names_that_cannot_be_are_one_line_too(home: Path, capsys: Output) -> None:
    record(home, "real", "x = 1")
    for name in ("", "nobody", "..", "/", str(home), *NASTY):
        for command in (
            ["export", "--", name],
            ["checkpoints", f"--session={name}"],
            ["checkpoints", "delete", "--", name, "n"],
        ):
            if command[1] == "--session=":
                continue
            assert cli.main(command) == 1, command
            told = capsys.readouterr()
            assert told.out == "" and told.err.count("\n") == 1 and told.err[:-1].isprintable()
            assert "\x1b" not in told.err and "no session" in told.err and len(told.err) < 1000


def test_help_and_version_are_on_stdout(home: Path, capsys: Output) -> None:
    for arguments, text in (
        (["--help"], "doctor"),
        (["checkpoints", "--help"], "prune"),
        (["checkpoints", "prune", "--help"], "--dry-run"),
        (["--version"], __version__),
    ):
        with pytest.raises(SystemExit) as ended:
            cli.main(arguments)
        assert not ended.value.code
        told = capsys.readouterr()
        assert text in told.out and told.err == ""


def test_the_commands_run_without_the_host_and_without_a_home(tmp_path: Path) -> None:
    for arguments, code in (((), 0), (("status",), 0), (("checkpoints",), 0), (("export", "x"), 1)):
        done = run(tmp_path / "none", *arguments)
        assert done.returncode == code and b"Traceback" not in done.stderr
        assert done.stderr.count(b"\n") == code
    assert not (tmp_path / "none").exists()


def test_a_reader_that_has_gone_is_no_error(home: Path) -> None:
    record(home, "s", *[f"x{i} = 'some text that takes room {i}'" for i in range(3000)])
    command = f"{sys.executable} -m hermes_rlm export s | head -c 10"
    own = {"PATH": os.environ.get("PATH", os.defpath), "HERMES_HOME": str(home)}
    done = subprocess.run(command, shell=True, capture_output=True, cwd=ROOT, env=own, timeout=60)
    assert done.stderr == b"" and len(done.stdout) == 10


# status -----------------------------------------------------------------------------------------


def test_status_is_the_default_and_says_when_there_is_nothing(home: Path, capsys: Output) -> None:
    for arguments in ([], ["status"]):
        assert cli.main(arguments) == 0
        assert (
            capsys.readouterr().out
            == f"No kernel runs in {home}; the first rlm_exec of a session starts one.\n"
        )
    assert run_json(capsys, "status") == {"schema": 1, "home": str(home), "kernels": []}


def test_status_lists_live_orphaned_and_stale_kernels(home: Path, capsys: Output) -> None:
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    register(home, "alive", depth=1)
    register(home, "lonely", parent=gone.pid, parent_start=1)
    register(home, "dead\n\x1b[2J", pid=gone.pid, start_time=1)
    rows = {row["session"]: row for row in run_json(capsys, "status")["kernels"]}
    assert {name: row["state"] for name, row in rows.items()} == {
        "alive": "live",
        "lonely": "orphan",
        "dead\n\x1b[2J": "stale",
    }
    alive = rows["alive"]
    assert set(alive) == {
        *("kernel", "session", "state", "pid", "host_pid", "age_seconds", "idle_seconds"),
        *("memory_bytes", "python", "depth"),
    }
    assert (alive["pid"], alive["depth"], alive["python"]) == (os.getpid(), 1, "/usr/bin/python3")
    assert 99 < alive["age_seconds"] < 1000 and 0 <= alive["idle_seconds"] < 100
    assert alive["memory_bytes"] > 1_000_000 and rows["dead\n\x1b[2J"]["memory_bytes"] is None
    assert cli.main([]) == 0
    out = capsys.readouterr().out
    assert out.count("\n") == 3 and "\x1b" not in out
    assert f"its host (pid {gone.pid}) is gone" in out and "stale: pid" in out
    assert "MB with children" in out


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b"null", b'{"id":"x"}', b'{"id":"x","pid":"7","parent":1}', b"\xff"],
)
def test_a_registration_that_cannot_be_read_is_left_aside(home: Path, capsys: Output, text: bytes) -> None:
    register(home, "alive")
    (registry.directory(home) / "bad.json").write_bytes(text)
    assert [row["session"] for row in run_json(capsys, "status")["kernels"]] == ["alive"]


def test_strange_values_in_a_registration_are_unknown(home: Path, capsys: Output) -> None:
    for number, at in enumerate((None, "x", -5, 1e400, True, [])):
        register(home, f"s{number}", id=f"k{number}", started_at=at, python=None, depth="two")
    rows = run_json(capsys, "status")["kernels"]
    assert len(rows) == 6
    assert all(row["age_seconds"] is None and row["depth"] is None for row in rows)
    assert cli.main(["status"]) == 0
    assert capsys.readouterr().out.count("unknown old") == 6


# checkpoints ------------------------------------------------------------------------------------


def test_checkpoints_are_listed_with_session_name_age_size_and_names(home: Path, capsys: Output) -> None:
    path = save_checkpoint(home, "one", "first", a=1, b=[2])
    save_checkpoint(home, "two", "autosave", c=3)
    rows = run_json(capsys, "checkpoints")["checkpoints"]
    assert [(row["session"], row["name"], row["names"], row["problem"]) for row in rows] == [
        ("one", "first", 2, None),
        ("two", "autosave", 1, None),
    ]
    assert rows[0]["path"] == str(path) and rows[0]["bytes"] == path.stat().st_size
    assert rows[0]["saved_at"].endswith("Z")
    assert [row["session"] for row in run_json(capsys, "checkpoints", "--session", "tw")["checkpoints"]] == [
        "two"
    ]
    assert cli.main(["checkpoints"]) == 0
    out = capsys.readouterr().out
    assert "one  first  20" in out and " s ago" in out and "2 names" in out


def test_no_checkpoint_is_said(home: Path, capsys: Output) -> None:
    assert cli.main(["checkpoints"]) == 0
    assert capsys.readouterr().out == f"No checkpoint is saved in {home}.\n"
    record(home, "s", "x = 1")
    assert cli.main(["checkpoints", "--session", "s"]) == 0
    assert capsys.readouterr().out == "No checkpoint is saved for s.\n"


@pytest.mark.parametrize("damage", ["empty", "garbage", "cut", "link", "open", "directory"])
def test_a_damaged_checkpoint_is_a_finding_with_its_reason(home: Path, capsys: Output, damage: str) -> None:
    save_checkpoint(home, "s", "good", a=1)
    path = save_checkpoint(home, "s", "bad", a=1)
    if damage == "empty":
        path.write_bytes(b"")
    elif damage == "garbage":
        path.write_bytes(os.urandom(5000))
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[:-20])
    elif damage == "open":
        path.chmod(0o644)
    else:
        path.unlink()
        path.mkdir() if damage == "directory" else path.symlink_to("good")
    rows = run_json(capsys, "checkpoints", code=1)["checkpoints"]
    (bad,) = [row for row in rows if row["problem"]]
    assert bad["path"] == str(path) and bad["saved_at"] is None and len(rows) == 2
    assert cli.main(["checkpoints"]) == 1
    told = capsys.readouterr()
    assert "DAMAGED" in told.out and bad["problem"] in told.out and told.err == ""


def test_delete_takes_one_checkpoint_and_no_other(home: Path, capsys: Output) -> None:
    for session in ("session-one", "session-two"):
        save_checkpoint(home, session, "name", a=1)
    assert cli.main(["checkpoints", "delete", "session-", "name"]) == 1
    told = capsys.readouterr()
    assert "2 sessions begin with" in told.err and "session-one, session-two" in told.err
    assert cli.main(["checkpoints", "delete", "session-o", "other"]) == 1
    assert capsys.readouterr().err == ("hermes rlm: session-one has no checkpoint 'other'; it has: name\n")
    assert run_json(capsys, "checkpoints", "delete", "session-o", "name") == {
        "schema": 1,
        "session": "session-one",
        "deleted": "name",
    }
    assert [entry.session for entry in catalog.checkpoints(home)] == ["session-two"]


def test_prune_says_what_goes_and_dry_run_removes_nothing(home: Path, capsys: Output) -> None:
    old = save_checkpoint(home, "s", "old", a=1)
    save_checkpoint(home, "s", "new", a=1)
    os.utime(old, (time.time() - 30 * 86400,) * 2)
    answer = run_json(capsys, "checkpoints", "prune", "--dry-run")
    assert answer["dry_run"] is True and [row["name"] for row in answer["removed"]] == ["old"]
    assert old.exists()
    assert cli.main(["checkpoints", "prune"]) == 0
    assert capsys.readouterr().out.startswith("removed  s  old  ")
    assert not old.exists() and len(catalog.checkpoints(home)) == 1
    assert cli.main(["checkpoints", "prune"]) == 0
    assert capsys.readouterr().out == "Nothing to remove.\n"


# export -----------------------------------------------------------------------------------------


def test_export_prints_or_writes_a_script(home: Path, capfdbinary: Any, tmp_path: Path) -> None:
    record(home, "telegram:dm:42", "x = 1", "y = x + 1  # ü")
    assert cli.main(["export", "telegram"]) == 0
    told = capfdbinary.readouterr()
    assert b"# cell 2\ny = x + 1  # \xc3\xbc\n" in told.out and told.err == b""
    target = tmp_path / "out.py"
    assert cli.main(["export", "telegram:dm:42", "-o", str(target)]) == 0
    assert target.read_bytes() == told.out and capfdbinary.readouterr().out == b""
    found: dict[str, Any] = {}
    exec(target.read_text(encoding="utf-8"), found)
    assert found["y"] == 2


def test_export_as_json(home: Path, capsys: Output) -> None:
    record(home, "s", "x = 1")
    answer = run_json(capsys, "export", "s")
    assert set(answer) == {"schema", "session", "cells", "damaged_lines", "output", "script"}
    assert (answer["session"], answer["cells"], answer["output"]) == ("s", 1, None)
    compile(answer["script"], "x", "exec")


@pytest.mark.parametrize("session", NASTY, ids=lambda name: ascii(name[:20]))
def test_sessions_with_any_id_are_listed_and_exported(home: Path, capsys: Output, session: str) -> None:
    record(home, session, "x = 1")
    assert catalog.known(home) == [session]
    assert run_json(capsys, "export", f"--output={home / 'out.py'}", "--", session)["session"] == session
    compile((home / "out.py").read_bytes(), "x", "exec")
    assert catalog.find(home, session[: max(1, len(session) // 2)]) == session


def test_a_journal_with_garbage_is_exported_as_far_as_it_goes(home: Path, capsys: Output) -> None:
    record(home, "s", "x = 1")
    with open(sessions.directory(home, "s") / cells.FILE_NAME, "ab") as file:
        file.write(b"garbage\n[]\n")
    assert cli.main(["export", "s"]) == 1
    told = capsys.readouterr()
    assert "x = 1" in told.out
    assert told.err == "hermes rlm: 2 lines of the journal cannot be read and are left out\n"


def test_what_cannot_be_read_or_written_is_one_line(home: Path, capsys: Output, tmp_path: Path) -> None:
    record(home, "s", "x = 1")
    for output in (str(tmp_path), "/proc/nowhere/x", str(home / "state" / "rlm" / "sessions" / "x" / "\x00")):
        assert cli.main(["export", "s", "-o", output]) == 1
        told = capsys.readouterr()
        assert told.out == "" and told.err.count("\n") == 1 and told.err.startswith("hermes rlm: ")
    journal = sessions.directory(home, "s") / cells.FILE_NAME
    journal.unlink()
    journal.mkdir()
    assert cli.main(["export", "s"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_session_without_cells_has_nothing_to_export(home: Path, capsys: Output) -> None:
    save_checkpoint(home, "s", "n", a=1)
    assert cli.main(["export", "s"]) == 1
    assert capsys.readouterr().err == "hermes rlm: the journal of s holds no cells\n"


def test_a_terminal_that_knows_no_unicode_gets_escapes(home: Path) -> None:
    save_checkpoint(home, "ünï", "näme", a=1)
    done = run(home, "checkpoints", PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 0 and b"\\xfcn\\xef  n\\xe4me" in done.stdout


def test_the_host_gets_the_same_commands(home: Path, capsys: Output) -> None:
    import argparse

    parser = argparse.ArgumentParser()
    cli.add_commands(parser)
    assert cli.run(parser.parse_args([])) == 0
    assert cli.run(parser.parse_args(["checkpoints", "--json", "prune", "--dry-run"])) == 0
    out = capsys.readouterr().out
    assert "No kernel runs" in out and '"dry_run": true' in out


def test_the_commands_run_by_the_path_of_an_installed_folder(tmp_path):
    """Where the host does not load the plugin, its folder is still there, under any name."""
    import shutil
    import subprocess
    import sys

    folder = tmp_path / "plugins" / "hermes-rlm"
    source = Path(cli.__file__).parent
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, str(folder / "__main__.py"), "status", "--json"],
        capture_output=True,
        text=True,
        env={"HERMES_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["schema"] == 1


def test_json_may_stand_before_the_command_and_alone(home, capsys):
    for arguments in (["--json"], ["--json", "status"], ["status", "--json"], ["--json", "checkpoints"]):
        assert cli.main(arguments) == 0
        assert json.loads(capsys.readouterr().out)["schema"] == 1
