"""The command line of a program: every flag, every wrong value, exit codes, and what goes where."""

import json
import os
import subprocess
import sys

import pytest

from tests.unroll.trace_samples import Session, load, run, two_turns, write_program


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write_program(two_turns(), tmp_path_factory.mktemp("flags"))


def result_of(path, *arguments):
    done = run(path, *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_from_and_to(path):
    result = result_of(path, "--from", "4", "--to=6")
    assert [entry["step"] for entry in result["timing_log"]] == [4, 5, 6]
    assert (result["from_step"], result["to_step"]) == (4, 6)


def test_stop_at_executes_only_so_many(path):
    result = result_of(path, "--from", "1", "--stop-at", "2")
    assert [step["step"] for step in result["steps"]] == [1, 2]


def test_substitute_tool(path):
    result = result_of(path, "--substitute-tool", '1:6 {"command": "ls -a", "n": [1, null]}')
    assert result["steps"][5]["args"] == {"command": "ls -a", "n": [1, None]}
    assert result["stale"] == [5, 8]


@pytest.mark.parametrize(
    ("given", "content", "value"),
    [
        ("plain text, kept  as it is ", "plain text, kept  as it is ", "plain text, kept  as it is "),
        ('{"a": [1, true]}', '{"a": [1, true]}', {"a": [1, True]}),
        ('"quoted"', "quoted", "quoted"),
        ('""', "", ""),
        ("NaN", "NaN", "NaN"),
        ("[" * 100_000, "[" * 100_000, "[" * 100_000),
        ("é\U0001f600", "é\U0001f600", "é\U0001f600"),
    ],
)
def test_substitute_result(path, given, content, value):
    result = result_of(path, "--substitute-result", f"1:6 {given}")
    assert result["messages"][3]["content"] == content
    assert result["response_cache"]["tool:1:6"]["result"] == value
    assert result["stale"] == [8]


def test_substitutions_can_be_repeated_and_mixed(path):
    result = result_of(
        path, "--substitute-result", "1:6 A", "--substitute-result", "1:7 B", "--substitute-tool", "1:7 {}"
    )
    assert [result["messages"][index]["content"] for index in (3, 4)] == ["A", "B"]
    assert result["steps"][6]["substituted"] == ["args", "result"]


def test_show_state(path):
    done = run(path, "--show-state", "--to", "4")
    assert "state: 5 steps, 3 messages\n" in done.stderr
    assert json.loads(done.stdout)["state"] == {"steps": 5, "messages": 3}


def test_dry_run_tells_destructive_calls_and_consent_only_silences_it(path):
    dry, consented = run(path), run(path, "--allow-destructive")
    assert '[DRY-RUN] terminal {"command": "rm -rf build"}\n' in dry.stderr
    assert dry.stderr.count("[DRY-RUN]") == 1 and "[DRY-RUN]" not in consented.stderr
    assert json.loads(dry.stdout)["messages"] == json.loads(consented.stdout)["messages"]


def test_steps_lists_numbers_and_event_ids(path):
    done = run(path, "--steps")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == 12 and lines[1].split() == ["1", "1:2", "user_message", '"list', "the", 'files"']
    listed = json.loads(run(path, "--steps", "--json").stdout)
    assert listed["schema"] == 1 and [row["step"] for row in listed["steps"]] == list(range(12))


def test_help_says_every_flag_and_that_a_denylist_is_no_sandbox(path):
    done = run(path, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    for flag in (
        "--from",
        "--to",
        "--stop-at",
        "--substitute-tool",
        "--substitute-result",
        "--edit",
        "--diff",
    ):
        assert flag in done.stdout
    assert "no sandbox" in done.stdout and "--live" not in done.stdout and "--html" not in done.stdout


WRONG = [
    (["--from", "5", "--to", "4"], "range is empty"),
    (["--from", "-1"], "--from"),
    (["--to", "-3"], "--to"),
    (["--from", "12"], "steps 0 to 11"),
    (["--to", "12"], "steps 0 to 11"),
    (["--from", "x"], "whole number"),
    (["--from", ""], "whole number"),
    (["--from", "1.0"], "whole number"),
    (["--from", "1_0"], "whole number"),
    (["--from", "\u0663"], "whole number"),
    (["--from", "9" * 5000], "whole number"),
    (["--from", "a\nb\x1b[31m"], r"a\nb\u001b[31m"),
    (["--from"], "expected one argument"),
    (["--stop-at", "0"], "1 or more"),
    (["--stop-at", "-1"], "--stop-at"),
    (["--stop-at", "two"], "whole number"),
    (["--substitute-tool", "1:99 {}"], "no event"),
    (["--substitute-tool", "1:2 {}"], "only a tool_call"),
    (["--substitute-tool", "1:6 {bad"], "expected JSON arguments"),
    (["--substitute-tool", "1:6 [NaN]"], "NaN is no JSON"),
    (["--substitute-tool", "1:6 " + "[" * 200_000], "expected JSON arguments"),
    (["--substitute-tool", "1:6"], "as one quoted argument"),
    (["--substitute-tool", ""], "as one quoted argument"),
    (["--substitute-tool", "1:6 {}", "--substitute-tool", "1:6 {}"], "twice"),
    (["--substitute-tool", "1:6 {}", "--from", "8"], "outside the range"),
    (["--substitute-result", "1:99 x"], "no event"),
    (["--substitute-result", "1:5 x"], "only a tool_call"),
    (["--substitute-result", "1:6"], "as one quoted argument"),
    (["--substitute-result", "   "], "as one quoted argument"),
    (["--edit", ""], "as one quoted argument"),
    (["--edit", "1"], "as one quoted argument"),
    (["--edit", "1   "], "as one quoted argument"),
    (["--edit", "x text"], "whole number"),
    (["--edit", "-1 text"], "whole number"),
    (["--edit", "4 text"], "no user message"),
    (["--edit", "99 text"], "no user message"),
    (["--edit", "1 text", "--from", "0"], "cannot be combined with --from"),
    (["--edit", "1 text", "--substitute-result", "1:6 x"], "cannot be combined with --substitute-result"),
    (["--edit", "9 text", "--to", "3"], "range is empty"),
    (["--diff", "/nonexistent/trace.py"], "cannot read"),
    (["--diff", ""], "cannot read"),
    (["--diff", "."], "no regular file"),
    (["--diff", "/dev/null"], "no regular file"),
    (["--diff", "a\x00b"], "cannot read"),
    (["--diff", "x", "--from", "1"], "cannot be combined with --from"),
    (["--steps", "--show-state"], "cannot be combined with --show-state"),
    (["--live"], "--live"),
    (["--html", "x"], "--html"),
    (["--fro", "1"], "--fro"),
    (["extra"], "extra"),
    (["ex\ntra\x1b[31m"], r"ex\ntra\x1b[31m"),
    (["--allow-destructive=yes"], "--allow-destructive"),
]


@pytest.mark.parametrize(("arguments", "told"), WRONG, ids=[" ".join(case[0])[:40] for case in WRONG])
def test_wrong_request_is_exit_2_and_one_line(path, arguments, told, capsys):
    # NUL cannot stand in a real argument, so the program is called as it calls itself.
    code = load(path.read_bytes())["main"](arguments)
    shown = capsys.readouterr()
    assert (code, shown.out) == (2, "")
    assert shown.err.startswith("error: ") and shown.err.count("\n") == 1
    assert shown.err[:-1].isprintable() and told in shown.err and len(shown.err) < 500


def test_wrong_request_leaves_the_process_with_2(path):
    for arguments in (["--from", "99"], ["--nonsense"], ["--edit", "1"], ["--diff", "/nonexistent/trace.py"]):
        done = run(path, *arguments)
        assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1


def test_cache_miss_is_exit_1_and_one_line(tmp_path):
    path = write_program(two_turns(), tmp_path)
    path.write_bytes(path.read_bytes().replace(b" 'tool:1:6': {'message': 3},\n", b""))
    done = run(path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: cache miss at step 5: RESPONSE_CACHE has no 'tool:1:6'")
    assert 'first differs at /args/command: "ls" asked, "rm -rf build" recorded' in done.stderr
    assert done.stderr.count("\n") == 1
    assert run(path, "--from", "6").returncode == 0


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"'message': 0}", b"'message': 99}"),
        (b"{'kind': 'turn_end', 'event_id': '1:12'", b"{'event_id': '1:12'"),
        (b"'kind': 'turn_end', ", b"'kind': 'context', "),
        (b"TIMELINE = [", b"TIMELINE = 5 or ["),
        (b"'usage': {", b"'usage': 'x' or {"),
        (b" 6: [4],", b" 6: 4,"),
    ],
)
def test_a_record_spoilt_by_hand_is_one_line_not_a_traceback(tmp_path, old, new):
    path = write_program(two_turns(), tmp_path)
    program = path.read_bytes()
    assert program.count(old) == 1
    path.write_bytes(program.replace(old, new))
    done = run(path, "--substitute-result", "1:6 x")
    assert (done.returncode, done.stdout) == (1, "")
    assert "was it edited by hand?" in done.stderr and done.stderr.count("\n") == 1


def test_recorded_text_cannot_command_the_terminal(tmp_path):
    session = Session()
    session.user("\x1b]0;title\x07\x1b[2J \u202e")
    session.tool("c", "\x1b[31mrm", {"command": "rm -rf \x1b[2J\r"}, "x")
    path = write_program(session.trace, tmp_path)
    for arguments in ([], ["--steps"], ["--diff", str(write_program(two_turns(), tmp_path, "other.py"))]):
        done = run(path, *arguments)
        shown = done.stdout + done.stderr
        assert all(line.isprintable() for line in shown.splitlines())
        assert "x1b" in shown or "u001b" in shown


@pytest.mark.parametrize("size", [1, 1_000_000])
def test_a_closed_pipe_is_no_traceback(tmp_path, size):
    session = Session()
    session.user("x" * size)
    path = write_program(session.trace, tmp_path)
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-I", "-S", str(path)]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    os.close(writing)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "error: cannot write to stdout: Broken pipe"
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_exit_1_and_one_line(path):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(path)],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(b"error: cannot write to stdout: No space left")


@pytest.mark.skipif(os.name != "posix", reason="closes descriptors through a shell")
def test_closed_descriptors_do_not_mix_the_streams(path):
    command = [sys.executable, "-I", "-S", str(path)]
    without_stderr = subprocess.run(
        ["sh", "-c", 'exec "$@" 2>&-', "sh", *command], stdout=subprocess.PIPE, timeout=60, check=False
    )
    assert without_stderr.returncode == 0
    assert json.loads(without_stderr.stdout)["messages_count"] == 8
    without_stdout = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command], stderr=subprocess.PIPE, timeout=60, check=False
    )
    assert without_stdout.returncode == 1
    assert b"cannot write to stdout: it is closed" in without_stdout.stderr


def test_a_program_read_from_stdin_replays_but_cannot_be_edited(path):
    def fed(*arguments):
        command = [sys.executable, "-I", "-S", "-", *arguments]
        return subprocess.run(
            command, input=path.read_text(), capture_output=True, text=True, timeout=60, check=False
        )

    assert json.loads(fed().stdout)["messages_count"] == 8
    assert fed("--diff", str(path)).returncode == 0
    done = fed("--edit", "1 x y")
    assert (done.returncode, done.stdout) == (1, "")
    assert "run it from its file" in done.stderr and done.stderr.count("\n") == 1
