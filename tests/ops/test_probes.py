"""Declared checks: a set is validated as a whole, each kind tells right from wrong; the baseline."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hermes_ops import cli
from hermes_ops.core.watch import Context
from hermes_ops.errors import OpsError
from hermes_ops.quality import probe_kinds, probe_set, probes
from hermes_ops.quality.probe_kinds import check

NOW = 1_796_000_000.0
PYTHON = sys.executable


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HERMES_HOME", str(home))
    return home


def declare(home: Path, text: str) -> None:
    (home / "ops").mkdir(exist_ok=True)
    (home / "ops" / "probes.toml").write_text(text, "utf-8")


def probe(home: Path, kind: str, **options: object) -> str | None:
    rows = "\n".join(f"{key} = {json.dumps(value)}" for key, value in options.items())
    declare(home, f'[[probe]]\nid = "one"\nkind = "{kind}"\n{rows}\n')
    return check(probe_set.load(home)[0], home, NOW)


def aged(path: Path, hours: float, content: bytes = b"content") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (NOW - hours * 3600, NOW - hours * 3600))
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no [[probe]]"),
        ("probe = 1", "no [[probe]]"),
        ("[[probe]\n", "Expected"),
        ('[[probe]]\nid = "A b"\nkind = "command"', "id 'A b'"),
        ('[[probe]]\nid = "a"\nkind = "file_frsh"', "did you mean 'file_fresh'"),
        ('[[probe]]\nid = "a"\nkind = "file_fresh"', "path is missing"),
        (
            '[[probe]]\nid = "a"\nkind = "file_fresh"\npath = "x"\nmax_age_hour = 3',
            "did you mean 'max_age_hours'",
        ),
        ('[[probe]]\nid = "a"\nkind = "file_fresh"\npath = "x"\nmax_age_hours = nan', "at least 0"),
        ('[[probe]]\nid = "a"\nkind = "file_fresh"\npath = "x"\nmax_age_hours = true', "at least 0"),
        ('[[probe]]\nid = "a"\nkind = "text_match"\npath = "x"\npattern = "("', "not a regular expression"),
        ('[[probe]]\nid = "a"\nkind = "command"\nargv = "ls -l"', "expected a list"),
        (
            '[[probe]]\nid = "a"\nkind = "command"\nargv = ["ls"]\nexpect = "empty"',
            '"silent", "output" or "any"',
        ),
        ('[[probe]]\nid = "a"\nkind = "command"\nargv = ["ls"]\ntimeout = 0', "timeout"),
        ('[[prob]]\nid = "a"', "unknown key 'prob'; did you mean probe?"),
        ('[[probe]]\nid = "a"\nkind = []', "kind [] is not known"),
        ('[[probe]]\nid = "a"\nkind = "file_fresh"\npath = "x\\u0000"', "expected a path"),
        ('[[probe]]\nid = "a"\nkind = "no_secrets"\nglob = "x\\u0000*"', "expected a path"),
        ('[[probe]]\nid = "a"\nkind = "command"\nargv = ["ls", "\\u0000"]', "expected a list"),
        ('[[probe]]\nid = "a"\nkind = "command"\nargv = ["ls"]\ncwd = "\\u0000"', "expected a path"),
        ('[[probe]]\nid = "a"\nkind = "text_match"\npath = "x"\npattern = "\\u0000"', "regular expression"),
        (f'[[probe]]\nid = "a"\nkind = "file_fresh"\npath = "x"\nmin_bytes = 1{"0" * 400}', "at least 0"),
        (
            '[[probe]]\nid = "a"\nkind = "command"\nargv = ["ls"]\n' * 2,
            "two probes are called 'a'",
        ),
    ],
)
def test_a_set_with_one_fault_does_not_run_and_the_fault_is_named(home, text, said):
    declare(home, text)
    with pytest.raises(OpsError, match=r"probes\.toml") as raised:
        probes.run(home, NOW)
    assert said in str(raised.value)
    assert not (home / "ops" / probes.REPORT).exists()


def test_a_missing_set_says_how_to_begin(home):
    with pytest.raises(OpsError, match="probes init"):
        probes.run(home, NOW)


def test_a_file_is_fresh_old_small_from_the_future_or_no_file(home):
    aged(home / "a", 1)
    assert probe(home, "file_fresh", path="a", max_age_hours=2) is None
    assert "2 h are wanted" in probe(home, "file_fresh", path=str(aged(home / "b", 3)), max_age_hours=2)
    assert "bytes" in probe(home, "file_fresh", path="a", min_bytes=100)
    assert "in the future" in probe(home, "file_fresh", path=str(aged(home / "c", -5)))
    assert "No such file" in probe(home, "file_fresh", path="none")
    os.mkfifo(home / "pipe")
    assert "no file" in probe(home, "file_fresh", path="pipe")


def test_a_folder_is_as_fresh_as_its_newest_finished_file(home):
    aged(home / "out" / "old.md", 50)
    aged(home / "out" / "new.md", 1)
    aged(home / "out" / ".output_x.tmp", 0)
    assert probe(home, "file_fresh", path="out", max_age_hours=2) is None
    (home / "out" / "new.md").unlink()
    assert "old" in probe(home, "file_fresh", path="out", max_age_hours=2)
    (home / "empty").mkdir()
    assert "empty directory" in probe(home, "file_fresh", path="empty")


def test_empty_files_are_counted_and_no_match_is_no_success(home):
    aged(home / "out" / "a.md", 1)
    aged(home / "out" / "b.md", 1, b"")
    assert "b.md" in probe(home, "files_not_empty", glob="out/*.md")
    assert probe(home, "files_not_empty", glob="out/*.md", max_empty=1) is None
    assert "matches 0 files" in probe(home, "files_not_empty", glob="nowhere/*")


def test_a_pattern_finds_what_a_shell_would_find_and_no_hidden_file(home, monkeypatch):
    made = ("a.md", "b/a.md", "b/c/a.md", "b/c/d.txt", ".x.md", "b/.x/a.md", "b/.x/.y.md")
    for name in made:
        aged(home / "t" / name, 1)
    (home / "t" / "link").symlink_to(home / "t" / "b")
    (home / "t" / "dir.md").mkdir()

    def found(pattern: str) -> list[str]:
        paths = probe_kinds._files(str(home / pattern), time.monotonic() + 60)
        return sorted(str(path.relative_to(home / "t")) for path in paths)

    assert found("t/*.md") == ["a.md"]
    assert found("t/**/*.md") == ["a.md", "b/a.md", "b/c/a.md"]
    assert found("t/**/c/**") == ["b/c/a.md", "b/c/d.txt"]
    assert found("t/**/**/d.*") == ["b/c/d.txt"]
    assert found("t/*/a.md") == ["b/a.md", "link/a.md"]
    assert found("t/.*") == [".x.md"] and found("t/b/.x/*.md") == ["b/.x/a.md"]
    assert found("t/b/c/d.txt") == ["b/c/d.txt"] and found("t/[!a]*/c/?.md") == ["b/c/a.md", "link/c/a.md"]
    assert found("none/*") == []
    monkeypatch.setattr(probe_kinds, "MOST_FILES", 2)
    assert "more than 2 files" in probe(home, "no_secrets", glob="t/**/*.md")


def test_a_pattern_that_leads_round_in_a_circle_or_takes_too_long_ends(home, monkeypatch):
    (home / "loop").mkdir()
    for name in "ab":
        (home / "loop" / name).symlink_to(".")
    assert "matches 0 files" in probe(home, "no_secrets", glob="loop/**/*.x", timeout=30)
    started = time.monotonic()
    steep = "/".join(["loop", *"*" * 40, "x"])  # 2 to the 40th ways
    assert "took over 0.5 s" in probe(home, "files_not_empty", glob=steep, timeout=0.5)
    assert "took over 0.5 s" in probe(home, "no_secrets", glob=steep, timeout=0.5)
    assert time.monotonic() - started < 20


def test_json_keys_are_looked_for_with_the_size_of_what_they_hold(home):
    (home / "x.json").write_text('{"a": {"b": [1, 2]}, "n": 1}', "utf-8-sig")
    assert probe(home, "json_keys", path="x.json", keys=["a.b"], min_items=2) is None
    assert "has 2 items" in probe(home, "json_keys", path="x.json", keys=["a.b"], min_items=3)
    assert "is no list" in probe(home, "json_keys", path="x.json", keys=["n"], min_items=1)
    assert "no a.c" in probe(home, "json_keys", path="x.json", keys=["a.c"])
    for content in ('{"a": NaN}', "{", "[" * 100_000):
        (home / "x.json").write_text(content)
        assert "no JSON" in probe(home, "json_keys", path="x.json", keys=["a"])


def test_text_is_matched_and_a_pattern_that_hangs_is_ended(home):
    (home / "log").write_text("error one\nfine\nerror two\n" + "a" * 40 + "!")
    assert probe(home, "text_match", path="log", pattern="^error", min_count=2) is None
    assert "2 times" in probe(home, "text_match", path="log", pattern="^error", min_count=3)
    assert "more than 1" in probe(home, "text_match", path="log", pattern="^error", max_count=1)
    assert "took over" in probe(home, "text_match", path="log", pattern="(a+)+$", timeout=0.5)


def test_a_command_is_judged_by_its_code_and_by_what_it_says(home):
    def command(code: str, **options: object) -> str | None:
        return probe(home, "command", argv=[PYTHON, "-c", code], **options)

    assert command("pass") is None
    assert "said: noise" in command("print('noise')")
    assert command("print('noise')", expect="output") is None
    assert "said nothing" in command("pass", expect="output")
    assert "code 3" in command("raise SystemExit(3)")
    assert command("raise SystemExit(3)", exit_code=3) is None
    assert command("import sys; sys.stdout.buffer.write(b'\\xff\\xfe')", expect="output") is None
    assert "No such file" in probe(home, "command", argv=["/no/such/program"])


def test_a_command_that_takes_too_long_is_ended_with_its_children(home):
    sleep = f"import time; time.sleep(60)  # {home}"
    code = f"import subprocess; subprocess.Popen([{PYTHON!r}, '-c', {sleep!r}]); {sleep}"
    assert "took over" in probe(home, "command", argv=[PYTHON, "-c", code], timeout=1)
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert sleep not in listed


def test_a_child_that_keeps_the_pipe_does_not_hold_the_probe(home):
    code = f"import subprocess; subprocess.Popen([{PYTHON!r}, '-c', 'import time; time.sleep(30)'])"
    started = time.monotonic()
    assert probe(home, "command", argv=[PYTHON, "-c", code], timeout=20) is None
    assert time.monotonic() - started < 15


def test_secrets_are_found_in_any_kind_of_file_and_masked_ones_are_not(home):
    token = "gh" + "p_" + "a1B2" * 9
    aged(home / "notes" / "x.txt", 1, b"token: ***\n")
    assert probe(home, "no_secrets", glob="notes/*") is None
    aged(home / "notes" / "y.log", 2, f"remember {token}".encode())
    said = probe(home, "no_secrets", glob="notes/*")
    assert "y.log" in said
    assert token not in said


SET = "\n".join(f'[[probe]]\nid = "{name}"\nkind = "file_fresh"\npath = "{name}"\n' for name in "ab")


def test_the_baseline_tells_broken_mended_new_and_gone_and_only_accept_moves_it(home):
    declare(home, SET)
    aged(home / "a", 1)
    aged(home / "b", 1)
    results = probes.run(home, NOW)
    assert [(result.id, result.change) for result in results] == [("a", "new"), ("b", "new")]
    probes.accept(home, results, NOW)

    (home / "b").unlink()
    changes = {result.id: result.change for result in probes.run(home, NOW)}
    assert changes == {"a": "same", "b": "broken"}
    # Seen again it is still broken: running moves nothing.
    assert {result.id: result.change for result in probes.run(home, NOW)} == changes

    declare(home, SET.replace('"b"\nkind', '"renamed"\nkind'))
    changes = {result.id: result.change for result in probes.run(home, NOW)}
    assert changes == {"a": "same", "renamed": "new", "b": "gone"}
    assert [result.id for result in probes.run(home, NOW) if result.regression] == ["b"]


def test_accept_refuses_to_freeze_a_failure_unless_told_to(home):
    declare(home, SET)
    aged(home / "a", 1)
    results = probes.run(home, NOW)
    with pytest.raises(OpsError, match="do not hold now: b"):
        probes.accept(home, results, NOW)
    assert probes.read_baseline(home) is None
    assert probes.accept(home, results, NOW, failing=True) == 2
    aged(home / "b", 1)
    assert {result.id: result.change for result in probes.run(home, NOW)} == {"a": "same", "b": "mended"}


@pytest.mark.parametrize(
    "content", ["", "[]", "null", '{"format": 1}', '{"format": 9, "accepted_at": 1, "probes": {}}']
)
def test_a_damaged_baseline_is_an_error_not_a_first_run(home, content):
    declare(home, SET)
    (home / "ops" / probes.BASELINE).write_text(content)
    with pytest.raises(OpsError, match=r"probes-baseline\.json"):
        probes.run(home, NOW)


def test_the_watcher_is_silent_without_a_set_and_tells_what_does_not_hold(home):
    assert probes.watch(Context(home, NOW)) == probes.Reading()
    declare(home, SET)
    aged(home / "a", 1)
    aged(home / "b", 1)
    probes.accept(home, probes.run(home, NOW), NOW)
    assert probes.watch(Context(home, NOW)).findings == ()
    (home / "b").unlink()
    (finding,) = probes.watch(Context(home, NOW)).findings
    assert (finding.id, finding.severity) == ("probe.broken:b", "error")
    (home / "ops" / "probes.toml").unlink()
    with pytest.raises(OpsError):
        probes.watch(Context(home, NOW))


def test_the_command_ends_with_what_was_found(home, capsys):
    assert cli.main(["probes", "init"]) == 0
    assert cli.main(["probes", "init"]) == 1
    (home / "cron").mkdir()
    (home / "cron" / "jobs.json").write_text('{"jobs": []}')
    assert cli.main(["probes"]) == 0
    assert cli.main(["probes", "check"]) == 1  # no baseline is no pass
    assert cli.main(["probes", "accept"]) == 0
    assert cli.main(["probes", "check"]) == 0
    (home / "cron" / "jobs.json").write_text('{"jobs": ')
    capsys.readouterr()
    assert cli.main(["probes", "check", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["probes"][0]["change"] == "broken"
    assert cli.main(["probes", "run", "nosuch"]) == 2
