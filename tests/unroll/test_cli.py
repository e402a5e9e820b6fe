"""The commands: exit codes, JSON with a schema, one line for what is wrong, and never a traceback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from hermes_unroll import __version__, catalog, cli, compiler, journal, sealing
from hermes_unroll._common import command_line, config
from hermes_unroll.events import TraceSession
from hermes_unroll.trace import Trace
from tests.unroll.host_driver import Chat, Host, call, conversation, replay

ROOT = Path(__file__).resolve().parents[2]
Output = pytest.CaptureFixture[str]


def record(host: Host, session_id: str, *, cost: bool = False, **facts: Any) -> Chat:
    chat = host.chat(session_id, **facts)
    chat.start()
    chat.ask("hello")
    chat.request()
    used = {"input_tokens": 1000, "output_tokens": 100, "cache_read_tokens": 0} if cost else None
    chat.reply("hi", usage=used)
    chat.answered()
    chat.turn_end()
    return chat


def run_json(capsys: Output, *arguments: str) -> dict[str, Any]:
    """Run a command that succeeds, with --json; return its object."""
    assert cli.main([*arguments, "--json"]) == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert told.out.count("\n") == 1
    answer = json.loads(told.out)
    assert answer["schema"] == command_line.SCHEMA == 1
    return answer


def run(host: Host, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run `python -m hermes_unroll` as from a checkout."""
    own = {"PATH": os.defpath, "HERMES_HOME": str(host.home), "HOME": str(host.home / "none"), **environment}
    command = [sys.executable, "-m", "hermes_unroll", *arguments]
    return subprocess.run(
        command, capture_output=True, cwd=ROOT, env=own, timeout=60, stdin=subprocess.DEVNULL
    )


# What is wrong with a command line --------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"],
        ["list", "--limit", "-1"],
        ["list", "--limit", "1.5"],
        ["list", "--limit", "\u00b2"],
        ["list", "--limit"],
        ["list", "--lineage", "all"],
        ["compile"],
        ["compile", "--all", "--pending"],
        ["compile", "x", "--pending"],
        ["prune", "--max-age-days", "-1"],
        ["prune", "--max-size-mb", "nan"],
        ["prune", "--max-size-mb", "inf"],
        ["prune", "--max-age-days", "many"],
        ["prune", "extra"],
        ["doctor", "--fast"],
        ["off"],
        ["on"],
        ["off", "a", "--chat", "b"],
        ["verify", "--bogus"],
        ["list", "--json=1"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_is_one_line_and_exit_code_2(
    arguments: list[str], home: Path, capsys: Output
) -> None:
    assert cli.main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("hermes unroll: ") and told.err.count("\n") == 1
    assert "Traceback" not in told.err
    assert list(home.iterdir()) == []


def test_names_that_cannot_be_are_one_line_too(host: Host, capsys: Output) -> None:
    for name in ("", "nobody", "a\nb", "\x1b[31m", "\ud83d", "/", "..", str(host.home), "x" * 5000, "\x00"):
        for command in ("compile", "verify", "list"):
            assert cli.main([command, name]) in (1, 2)
            told = capsys.readouterr()
            assert told.out == "" and told.err.count("\n") == 1 and told.err[:-1].isprintable()
            assert "\x1b" not in told.err


def test_help_and_version_are_on_stdout(home: Path, capsys: Output) -> None:
    for arguments, text in (
        (["--help"], "doctor"),
        (["compile", "--help"], "--pending"),
        (["--version"], __version__),
    ):
        with pytest.raises(SystemExit) as ended:
            cli.main(arguments)
        assert not ended.value.code
        told = capsys.readouterr()
        assert text in told.out and told.err == ""


def test_a_journal_that_cannot_be_compiled_is_a_failure(host: Host, capsys: Output) -> None:
    record(host, "good")
    record(host, "bad")
    host.segments("bad")[0].write_bytes(b"")
    assert cli.main(["compile", "--all"]) == 1
    told = capsys.readouterr()
    assert told.out.count("\n") == 1 and "no readable journal" in told.err
    assert len(host.programs()) == 1


def test_a_trace_whose_journal_is_gone_cannot_be_compiled_again(host: Host, capsys: Output) -> None:
    record(host, "one")
    host.program("one")
    host.segments("one")[0].unlink()
    assert cli.main(["compile", "one"]) in (1, 2)
    assert "only its trace is left" in capsys.readouterr().err
    assert len(host.programs()) == 1


def test_a_place_that_cannot_be_written_is_named(host: Host, capsys: Output) -> None:
    record(host, "one")
    sealing.unrolled_dir(host.home).write_text("no directory")
    assert cli.main(["compile", "one"]) == 1
    told = capsys.readouterr().err
    assert "is not a directory" in told and str(sealing.unrolled_dir(host.home)) in told


# list -------------------------------------------------------------------------------------------


def test_an_empty_home_is_said_to_be_empty(home: Path, capsys: Output) -> None:
    for arguments in ([], ["list"]):
        assert cli.main(arguments) == 0
        told = capsys.readouterr().out
        assert "No session is recorded" in told and "doctor" in told and str(home) in told
    assert run_json(capsys, "list")["sessions"] == []
    assert cli.main(["verify"]) == 0


def test_list_shows_the_latest_at_the_end_and_how_many_there_are(host: Host, capsys: Output) -> None:
    for number in range(4):
        record(host, f"session {number}", cost=True)
        then = time.time() - 1000 + number
        os.utime(host.segments(f"session {number}")[0], (then, then))
    assert cli.main(["list", "--limit", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[1] for line in lines[:2]] == ["session 2", "session 3"]
    assert "2 earlier ones" in lines[2]
    assert len(run_json(capsys, "list", "--limit", "0")["sessions"]) == 4
    assert run_json(capsys, "list", "--limit", "1")["total"] == 4
    assert cli.main([]) == 0


def test_the_rows_of_list_say_what_was_compiled(host: Host, capsys: Output) -> None:
    chat = record(host, "one", cost=True)
    chat.finalize()
    answer = run_json(capsys, "list")
    assert set(answer) == {"schema", "home", "total", "sessions", "cost_usd", "cost_status"}
    (row,) = answer["sessions"]
    assert (row["session_id"], row["messages"], row["llm_calls"], row["tool_calls"]) == ("one", 3, 1, 0)
    assert (row["model"], row["platform"], row["end"]) == ("gpt-4o", "cli", "observed")
    assert row["trace"] == str(host.programs()[0])
    assert row["state"] == "live"
    assert answer["cost_usd"] == row["cost_usd"] > 0
    assert cli.main(["list"]) == 0
    assert f"${row['cost_usd']:.4f}" in capsys.readouterr().out


def test_states_follow_the_life_of_a_session(host: Host, capsys: Output) -> None:
    pid = os.fork()
    if pid == 0:
        try:
            record(host, "one")
        finally:
            os._exit(0)
    os.waitpid(pid, 0)

    def state() -> str:
        (entry,) = catalog.sessions(host.home)
        return entry.state

    assert state() == "pending"
    assert cli.main(["compile", "--pending"]) == 0
    assert state() == "compiled"
    host.new_process()
    record(host, "one")
    assert state() == "live"
    for path in host.segments("one"):
        path.unlink()
    assert state() == "trace only"
    assert "one" in capsys.readouterr().out or cli.main(["list", "one"]) == 0


def test_a_session_is_found_by_any_of_its_names(host: Host, capsys: Output) -> None:
    record(host, "20260101_000000_abc123")
    record(host, "20260102_000000_def456")
    program = host.program("20260101_000000_abc123")
    names = [
        "20260101_000000_abc123",
        "20260101",
        str(program),
        program.name,
        program.stem,
        program.stem[-8:],
        host.directory("20260101_000000_abc123").name,
    ]
    for name in names:
        (row,) = run_json(capsys, "list", name)["sessions"]
        assert row["session_id"] == "20260101_000000_abc123", name
    assert cli.main(["list", "2026"]) == 1
    told = capsys.readouterr().err
    assert "names 2 sessions" in told and "20260102_000000_def456" in told


def test_an_exact_name_wins_over_a_prefix(host: Host, capsys: Output) -> None:
    for session_id in ("a", "ab", "abc"):
        record(host, session_id)
    (row,) = run_json(capsys, "list", "ab")["sessions"]
    assert row["session_id"] == "ab"


def test_a_lineage_is_taken_as_one_with_its_cost(host: Host, capsys: Output) -> None:
    old = record(host, "old", cost=True)
    host.fire("subagent_start", parent_session_id="old", child_session_id="child", child_goal="x")
    record(host, "child", cost=True, platform="subagent")
    old.finalize("session_boundary")
    host.fire("on_session_reset", session_id="new", platform="cli", reason="new_session")
    record(host, "new", cost=True)
    record(host, "unrelated", cost=True)
    assert cli.main(["compile", "--all"]) == 0
    capsys.readouterr()
    single = run_json(capsys, "list", "new")
    logical = run_json(capsys, "list", "new", "--lineage", "logical")
    assert [row["session_id"] for row in single["sessions"]] == ["new"]
    assert {row["session_id"] for row in logical["sessions"]} == {"old", "child", "new"}
    assert logical["cost_usd"] == pytest.approx(3 * single["cost_usd"])
    assert cli.main(["list", "old", "--lineage", "logical"]) == 0
    assert f"3 sessions together: ${logical['cost_usd']:.4f}" in capsys.readouterr().out
    assert cli.main(["verify", "child", "--lineage", "logical"]) == 0
    assert capsys.readouterr().out.count("ok ") == 3


def test_a_cost_that_is_not_known_is_not_added_as_nothing(host: Host, capsys: Output) -> None:
    record(host, "known", cost=True)
    record(host, "unknown", cost=True, model="no such model")
    cli.main(["compile", "--all"])
    capsys.readouterr()
    answer = run_json(capsys, "list")
    assert answer["cost_status"] == "unknown" and answer["cost_usd"] > 0
    assert cli.main(["list", "known", "unknown"]) == 0
    assert "2 sessions together: at least $" in capsys.readouterr().out


# compile ----------------------------------------------------------------------------------------


def test_compile_prints_the_programs_it_wrote(host: Host, capsys: Output) -> None:
    record(host, "one")
    record(host, "two")
    assert cli.main(["compile", "one", "two"]) == 0
    paths = capsys.readouterr().out.split()
    assert sorted(map(Path, paths)) == host.programs()
    assert len(run_json(capsys, "compile", "--all")["traces"]) == 2
    assert all(re.fullmatch(r"\d{8}_\d{6}_[0-9a-f]{8}\.py", path.name) for path in host.programs())


def test_nothing_waits_where_everything_is_being_written(host: Host, capsys: Output) -> None:
    record(host, "one")
    assert cli.main(["compile", "--pending"]) == 0
    assert capsys.readouterr() == ("", "Nothing waits to be compiled.\n")
    assert host.programs() == []


def test_equal_ids_in_two_homes_are_different_traces(host: Host, tmp_path: Path, monkeypatch: Any) -> None:
    record(host, "same")
    other = Host(tmp_path / "other")
    monkeypatch.setenv("HERMES_HOME", str(other.home))
    record(other, "same")
    assert host.program("same").name[-11:] != other.program("same").name[-11:]


def test_a_rule_the_recorder_did_not_have_is_applied_when_compiling(host: Host, monkeypatch: Any) -> None:
    chat = record(host, "one")
    values = {"unroll": {"redact": {"custom_patterns": ["hel+o"]}}}
    monkeypatch.setattr(
        config, "read_config", lambda home=None: config.HostConfig(host.home / "config.yaml", values, "yaml")
    )
    result = host.replay("one")
    assert result["messages"][1]["content"] == "<redacted:custom:1>"
    assert result["messages"][2]["content"] == chat.messages[1]["content"]
    assert b"hello" not in host.programs()[0].read_bytes()


def test_late_events_are_compiled_under_the_same_name(host: Host) -> None:
    chat = record(host, "one")
    chat.finalize()
    (program,) = host.programs()
    chat.turn("more", (call("call_0", command="ls"), "a file"))
    chat.finalize()
    assert host.programs() == [program]
    assert conversation(replay(program)) == chat.stored


def test_the_end_of_a_small_session_compiles_it_and_of_a_large_one_asks_for_a_child(
    host: Host, children: list[list[str]]
) -> None:
    record(host, "small").finalize()
    assert len(host.programs()) == 1
    large = host.chat("large")
    large.ask(os.urandom(sealing.SMALL_JOURNAL_BYTES).hex())
    large.finalize()
    assert len(host.programs()) == 1
    assert children[-1] == ["compile", "--journal", host.directory("large").name]
    assert cli.main(children[-1]) == 0
    assert len(host.programs()) == 2


def test_the_child_is_a_bounded_process_of_its_own(host: Host, start_child: Any) -> None:
    record(host, "one")
    start_child(host.home, ["compile", "--journal", host.directory("one").name])
    child = sealing._children[-1]
    assert child.wait(timeout=60) == 0
    assert os.name == "nt" or child.args[1] == "-I"
    (program,) = host.programs()
    assert replay(program)["session_id"] == "one"
    sealing._children.clear()


def test_idle_sessions_of_a_long_lived_process_are_compiled(
    host: Host, children: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    record(host, "idle")
    assert children == []
    now = time.time()
    monkeypatch.setattr(sealing.time, "time", lambda: now + sealing.IDLE_SECONDS + 1)
    monkeypatch.setattr(sealing, "SWEEP_SECONDS", 0.0)
    host.chat("busy").ask("hello")
    assert children[:1] == [["compile", "--pending"]]
    written, problems = sealing.seal_pending(host.home)
    assert problems == []
    assert replay(written[0])["end"] == "not observed"


# prune, and how things are printed --------------------------------------------------------------


def test_prune_says_what_would_go_before_it_goes(host: Host, capsys: Output) -> None:
    record(host, "old")
    host.program("old")
    for path in host.segments("old"):
        path.unlink()
    then = time.time() - 50 * 86_400
    os.utime(host.programs()[0], (then, then))
    answer = run_json(capsys, "prune", "--dry-run")
    assert answer["dry_run"] and [row["name"] for row in answer["removed"]] == ["old"]
    assert cli.main(["prune", "--dry-run", "--max-age-days", "60"]) == 0
    assert capsys.readouterr().out == "Nothing to remove.\n"
    assert host.programs()
    assert cli.main(["prune"]) == 0
    assert capsys.readouterr().out.startswith("removed  old  ")
    assert host.programs() == []
    assert run_json(capsys, "prune") == {"schema": 1, "dry_run": False, "removed": [], "bytes": 0}


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["verify"], ["compile", "--all"]])
def test_any_name_is_printed_in_an_ascii_locale(arguments: list[str], host: Host) -> None:
    for session_id in ("caf\u00e9 \U0001f600", "\ud83d", "a\x1b[31m\nb"):
        record(host, session_id, model="m\u00f6del\u2028")
        host.program(session_id)
    done = run(
        host, *arguments, LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0"
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii() and done.stdout.count(b"\n") in (1, 3)
    assert b"\x1b" not in done.stdout


def test_a_reader_that_goes_away_is_no_failure(host: Host) -> None:
    for number in range(30):
        host.chat(f"session {number} " + "x" * 200).start()
    own = {"PATH": os.defpath, "HERMES_HOME": str(host.home), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "hermes_unroll", "list"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT, env=own, stdin=subprocess.DEVNULL
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 0


def test_the_commands_run_from_a_checkout(host: Host) -> None:
    record(host, "one")
    done = run(host, "compile", "one")
    assert (done.returncode, done.stderr) == (0, b"")
    assert Path(done.stdout.decode().strip()) == host.programs()[0]
    assert run(host, "fly").returncode == 2


def test_one_journal_that_cannot_be_compiled_does_not_keep_the_others_waiting(
    host: Host, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    compiling = compiler.compile_session

    def fail_for_one(session: TraceSession, overrides: Any = None) -> Trace:
        if session.session_id == "one":
            raise KeyError("unforeseen")
        return compiling(session, overrides)

    for session_id in ("one", "two"):
        host.fire("pre_llm_call", session_id=session_id, turn_id="t", user_message="hello")
    monkeypatch.setattr(compiler, "compile_session", fail_for_one)
    assert cli.main(["compile", "--all"]) == 1
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 1
    assert "not compiled: KeyError: 'unforeseen'" in said.err
    monkeypatch.undo()
    directory = host.directory("one")
    assert sealing.is_pending(directory, idle=0) is False
    record = json.loads((directory / sealing.SEALED).read_bytes())
    (directory / sealing.SEALED).write_text(json.dumps({**record, "recorder": "0.0.9"}))
    assert sealing.is_pending(directory, idle=0) is True


def test_a_journal_that_lost_events_does_not_replace_the_trace_that_has_them(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "is_live", lambda path: False)
    chat = record(host, "kept")
    trace = host.program("kept")
    whole = trace.read_bytes()
    (segment,) = host.segments("kept")
    data = segment.read_bytes()
    segment.write_bytes(data[: data.rindex(b"\n", 0, len(data) * 2 // 3) + 1])
    assert chat.session_id == "kept"
    assert cli.main(["verify", "kept"]) == 1
    host.new_process()
    written, problems = sealing.seal_pending(host.home, idle=0)
    assert written == [] and "has lost events" in problems[0]
    assert trace.read_bytes() == whole
    assert cli.main(["verify", "kept"]) == 1
    assert catalog.find(host.home, "kept").state == "damaged"
    (host.directory("kept") / sealing.SEALED).unlink()
    assert cli.main(["compile", "kept"]) == 1
    assert trace.read_bytes() == whole
    trace.unlink()
    assert cli.main(["compile", "kept"]) == 0


def test_an_edit_of_an_edit_is_a_recording_that_prune_knows(host: Host) -> None:
    record(host, "s")
    trace = host.program("s")
    copy = trace.with_name(f"{trace.stem}_edit_20260101_000000_edit_20260101_000001_2.py")
    copy.write_bytes(trace.read_bytes())
    assert copy in catalog.traces(host.home)


def test_a_value_the_scan_flags_is_left_out_and_the_session_published(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hermes_unroll._common.redact import Finding, Redactor

    find = Redactor.find

    def flag_more(self: Redactor, text: str) -> list[Finding]:
        place = text.find("zebra")
        return find(self, text) + ([Finding("secret", place, place + 5)] if place >= 0 else [])

    monkeypatch.setattr(Redactor, "find", flag_more)
    host.chat("s").turn("hello", (call("call_a", command="ls"), "a zebra in a result"))
    result = replay(host.program("s"))
    contents = [message["content"] for message in result["messages"]]
    assert sealing.LEFT_OUT in contents and "hello" in contents and "done" in contents
    assert [note["what"] for note in result["inexact"]] == ["redaction"]


def test_two_calls_of_one_id_are_told_apart_by_their_arguments(host: Host) -> None:
    chat = host.chat("s")
    one, two = call("call_0", command="one"), call("call_0", command="two")
    chat.ask("hello")
    chat.request()
    chat.reply("", one, two)
    for used, result in ((two, "TWO"), (one, "ONE")):
        chat.before_tool(used)
        host.fire(
            "post_tool_call",
            session_id="s",
            turn_id=chat.turn_id,
            tool_name=used["name"],
            args=used["args"],
            result=result,
            tool_call_id="call_0",
            status="ok",
        )
    messages = [message for message in host.trace("s").messages if message["role"] == "tool"]
    assert [message["content"] for message in messages] == ["ONE", "TWO"]
