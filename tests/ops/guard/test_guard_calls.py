"""What a tool call would run and write: every way in which the host's tools take code or paths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hermes_ops.guard import TOOLS, calls, links, written
from hermes_ops.guard.calls import Call, Code, Write
from hermes_ops.guard.inputs import input_language
from hermes_ops.guard.remembered import Inputs
from hermes_ops.guard.surroundings import Backend, Process, working_directory


def read(tool: str, args: dict[str, Any], **given: Any) -> Call | None:
    return calls.read(tool, args, **{"hermes_home": "/h", "cwd": "/w", **given})


def codes(tool: str, args: dict[str, Any], **given: Any) -> list[tuple[str, str]]:
    call = read(tool, args, **given)
    assert call is not None
    return [(code.language, code.text) for code in call.codes]


def test_commands_and_code_are_taken_as_they_are() -> None:
    assert read("terminal", {"command": "ls -l"}) == Call((Code("shell", "ls -l"),), shown="ls -l")
    for tool in ("execute_code", "rlm_exec"):
        assert codes(tool, {"code": "1 + 1"}) == [("python", "1 + 1")]


@pytest.mark.parametrize(
    "tool, args",
    [
        ("terminal", {}),
        ("terminal", {"command": None}),
        ("terminal", {"command": ["ls"]}),
        ("execute_code", {"code": 3}),
        ("process", {"action": "poll", "session_id": "p"}),
        ("process", {"action": "write", "session_id": "p"}),
        ("cronjob", {"action": "list"}),
        ("cronjob", {"action": "create", "prompt": "rm -rf /"}),
        ("cronjob", {"action": "create", "script": ""}),
        ("cronjob", {"action": "create", "script": "missing.sh"}),
        ("write_file", {"content": "x"}),
        ("write_file", {"path": 3, "content": "x"}),
        ("patch", {"mode": "patch"}),
        ("skill_manage", {"action": "create", "name": "x", "content": "rm -rf /"}),
        (
            "skill_manage",
            {"action": "write_file", "file_path": "references/a.md", "file_content": "rm -rf /"},
        ),
        ("mcp_shell", {"command": "rm -rf /"}),
        ("read_file", {"path": "/etc/passwd"}),
    ],
)
def test_a_call_that_runs_nothing_is_not_judged(tool: str, args: dict[str, Any]) -> None:
    assert read(tool, args, process=lambda _: Process("bash", None)) is None


def test_every_judged_tool_has_a_reader() -> None:
    assert set(calls._READERS) == TOOLS


@pytest.mark.parametrize(
    "command, language",
    [
        ("bash", "shell"),
        ("cd /srv && exec zsh -l", "shell"),
        ("/bin/sh -i", "shell"),
        ("sudo -u deploy bash", "shell"),
        ("sudo -i", "shell"),
        ("ssh -t admin@example.com", "shell"),
        ("docker exec -it web sh", "shell"),
        ("kubectl exec -it pod/x -- bash", "shell"),
        ("python3", "python"),
        ("env X=1 python3.12 -i setup.py", "python"),
        ("python3 -u -", "python"),
        ("node", "node"),
        ("psql -h db app", "sql"),
        ("docker compose exec db psql -U me", "sql"),
        ("bash run.sh", ""),
        ("bash -c 'read x'", ""),
        ("python3 server.py", ""),
        ("python3 -m http.server", ""),
        ("ssh host tail -f log", ""),
        ("npm run dev", ""),
        ("cat > notes.txt", ""),
        ("", ""),
    ],
)
def test_the_input_of_a_shell_or_an_interpreter_is_code(command: str, language: str) -> None:
    assert input_language(command) == language


def test_input_of_a_process_is_judged_with_what_came_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "INPUTS", Inputs())
    running = {"process": {"p": Process("bash", "/w")}.get}
    first = read("process", {"action": "write", "session_id": "p", "data": "rm -rf "}, **running)
    assert first is not None and first.codes[0].text == "rm -rf " and first.process == "p"
    calls.INPUTS.let_through("p", first.codes[0].text)
    second = read("process", {"action": "submit", "session_id": "p", "data": "/"}, **running)
    assert second is not None and second.codes[0].text == "rm -rf /\n" and second.shown == "/"
    assert read("process", {"action": "submit", "session_id": "q", "data": "/"}, **running) is None


def test_input_at_a_terminal_is_judged_as_it_is_edited_and_as_it_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(calls, "INPUTS", Inputs())
    for is_terminal, kept in ((True, "run\n"), (False, "echo a\x15run\n")):
        running = {"process": {"p": Process("bash", "/w", is_terminal)}.get}
        args = {"action": "submit", "session_id": "p", "data": "echo a\x15run"}
        call = read("process", args, **running)
        assert call is not None and call.kept == kept and call.keys == ""
        assert [code.text for code in call.codes] == ["run\n", "echo a\x15run\n"]
        moved = read("process", {**args, "data": "un\x01r"}, **running)
        assert moved is not None and moved.keys == "U+0001"


def test_input_of_a_process_that_is_unknown_is_judged_as_a_shells() -> None:
    found = codes(
        "process", {"action": "write", "session_id": 7, "data": 1}, process=lambda _: Process("", None)
    )
    assert found == [("shell", "1")]


def test_the_script_of_a_job_is_read_and_judged_by_its_suffix(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    for name, language in (("a.sh", "shell"), ("b.bash", "shell"), ("c.py", "python"), ("d", "python")):
        (tmp_path / "scripts" / name).write_text(f"content of {name}")
        found = codes("cronjob", {"action": "create", "script": name}, hermes_home=str(tmp_path))
        assert found == [(language, f"content of {name}")]
    assert codes("cronjob", {"action": "update", "job_id": "x", "script": "rm -rf x\nls"}) == [
        ("shell", "rm -rf x\nls")
    ]


HOOK = "#!/bin/sh\nrun\n"


@pytest.mark.parametrize(
    "path, content, found",
    [
        ("/h/scripts/x.sh", "run", [("shell", "run")]),
        ("/h/scripts/x.py", "run()", [("python", "run()")]),
        ("/h/scripts/sub/../x.sh", "run", [("shell", "run")]),
        ("~/.bashrc", "alias x=y", [("shell", "alias x=y")]),
        ("/etc/profile.d/x.sh", "run", [("shell", "run")]),
        (".git/hooks/pre-commit", HOOK, [("shell", HOOK)]),
        ("/w/.husky/pre-push", "npm test", [("shell", "npm test")]),
        (".git/hooks/post-merge", "#!/usr/bin/env python3\nx()", [("python", "#!/usr/bin/env python3\nx()")]),
        ("/var/spool/cron/crontabs/me", "# c\n0 5 * * * run a b\n@daily other\nX=1", ["run a b\nother"]),
        ("/etc/cron.d/job", "*/5 * * * * root run a", ["run a"]),
        ("/etc/cron.daily/job", HOOK, [("shell", HOOK)]),
        (
            "~/.config/systemd/user/x.service",
            "[Service]\nExecStart=-/bin/run a\nExecStop=stop",
            ["/bin/run a\nstop"],
        ),
        ("deploy.sh", "rm -rf /", []),
        ("docs/.bashrc.md", "rm -rf /", []),
        ("notes.txt", "0 5 * * * rm -rf /", []),
    ],
)
def test_a_file_is_judged_as_what_it_will_be(path: str, content: str, found: list[Any]) -> None:
    expected = [("shell", item) if isinstance(item, str) else item for item in found]
    call = read("write_file", {"path": path, "content": content})
    assert call is not None and call.writes == (Write(path),) and call.shown == path
    assert [(code.language, code.text) for code in call.codes] == expected


PATCH = """*** Begin Patch
*** Update File: src/a.py
@@ def f @@
 context
-old
+new
***Add File: /h/scripts/job.sh
+run one
+run two
*** Delete File: /etc/passwd
*** Move File: a.txt -> ~/.bashrc
*** End Patch"""


def test_a_patch_in_each_of_its_forms_names_every_file() -> None:
    path = "/h/scripts/x.sh"
    one = read("patch", {"path": path, "old_string": "a", "new_string": "run"})
    assert one == Call((Code("shell", "run", f"what {path} would run"),), (Write(path),), path, content="run")
    many = read("patch", {"mode": "patch", "patch": PATCH})
    assert many is not None
    assert many.writes == (
        Write("src/a.py"),
        Write("/h/scripts/job.sh"),
        Write("/etc/passwd", "delete"),
        Write("a.txt", "move"),
        Write("~/.bashrc"),
    )
    assert [(code.language, code.text) for code in many.codes] == [("shell", "run one\nrun two")]
    both = read("patch", {"mode": "patch", "path": "x", "new_string": "y", "patch": PATCH})
    assert both is not None and len(both.writes) == 6


def test_a_patch_of_very_many_files_is_read_up_to_a_bound_and_says_so() -> None:
    patch = "".join(f"*** Add File: /h/scripts/{number}.sh\n+run {number}\n" for number in range(1000))
    call = read("patch", {"mode": "patch", "patch": patch})
    assert call is not None and (len(call.writes), call.excess, len(call.codes)) == (200, 800, 1)


def test_a_long_file_is_judged_whole() -> None:
    comments = "# a comment\n" * 20_000
    for path in ("/h/scripts/x.sh", "/h/scripts/x.py", "~/.bashrc"):
        assert codes("write_file", {"path": path, "content": comments + "end"})[0][1] == comments + "end"
    table = read("write_file", {"path": "/etc/cron.d/x", "content": "* * * * * root run\n" * 20_000})
    assert table is not None and table.unread


def test_a_script_on_the_disk_that_is_too_long_to_be_read_is_no_script_that_was_read(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    for name, length, unread in (("a.sh", 500_000, False), ("b.sh", 3_000_000, True)):
        (tmp_path / "scripts" / name).write_text("#" * length + "\nrun\n")
        call = read("cronjob", {"action": "create", "script": name}, hermes_home=str(tmp_path))
        assert call is not None and bool(call.unread) == unread
        assert unread or call.codes[0].text.endswith("\nrun\n")


@pytest.mark.parametrize("letter", ["\x0b", "\x0c", "\x1c", "\x1d", "\x85", "\u2028", "\u2029", "\r"])
def test_a_line_of_a_patch_ends_at_a_newline_alone(letter: str) -> None:
    patch = f"*** Begin Patch\n*** Add File: /h/scripts/a.sh\n+: '{letter}'; run\n*** End Patch"
    assert codes("patch", {"mode": "patch", "patch": patch}) == [("shell", f": '{letter}'; run")]


PATCHES = {
    "a header that is indented is a line of the file before": (
        "*** Add File: /h/scripts/a.sh\n *** Add File: n.txt\n+run",
        [("/h/scripts/a.sh", "write", "run")],
    ),
    "a header without a path is none": ("*** Add File: \n+a", []),
    "what stands before the last beginning is left out": (
        "*** Begin Patch\n*** Add File: a\n+1\n+ *** Begin Patch\n*** Add File: b\n+2",
        [("b", "write", "2")],
    ),
    "what stands behind the end is left out": (
        "***Begin Patch\n*** Add File: a\n+1\n***End Patch\n+2\n*** Add File: b",
        [("a", "write", "1")],
    ),
    "blanks may be missing": (
        "***Update File:a\n@@ x @@\n-1\n+2\n 3\n+4",
        [("a", "write", "2\n4")],
    ),
    "a move without a target is a line": (
        "*** Update File: a\n*** Move File: b\n+1",
        [("a", "write", "1")],
    ),
    "a header does not go on in the next line": ("***\nAdd File: a\n+1", []),
}


@pytest.mark.parametrize("name", PATCHES)
def test_a_patch_is_read_as_the_host_reads_it(name: str) -> None:
    patch, expected = PATCHES[name]
    changes, _ = written.patched(patch)
    assert [(change.path, change.action, change.content()) for change in changes] == expected


def test_what_a_patch_moves_is_judged_by_where_it_ends(tmp_path: Path) -> None:
    moved = "*** Add File: n.txt\n+run\n*** Move File: n.txt -> {}"
    for target in ("/h/scripts/z.sh", "~/.bashrc"):
        call = read("patch", {"mode": "patch", "patch": moved.format(target)})
        assert call is not None and [code.text for code in call.codes] == ["run"]
        assert call.writes == (Write("n.txt"), Write("n.txt", "move"), Write(target))
    assert codes("patch", {"mode": "patch", "patch": moved.format("other.txt")}) == []
    folder = moved.replace("n.txt", "n.sh").format("/h/scripts")
    call = read("patch", {"mode": "patch", "patch": folder}, hermes_home="/h")
    assert call is not None and call.writes[-1] == Write("/h/scripts/n.sh")
    assert [(code.language, code.text) for code in call.codes] == [("shell", "run")]
    (tmp_path / "scripts" / "sub").mkdir(parents=True)
    with links.followed():
        args = {"mode": "patch", "patch": moved.replace("n.txt", "n.sh").format(tmp_path / "scripts" / "sub")}
        assert codes("patch", args, hermes_home=str(tmp_path)) == [("shell", "run")]
    (tmp_path / "old.txt").write_text("run on the disk")
    args = {"mode": "patch", "patch": "*** Move File: old.txt -> /h/scripts/z.sh"}
    with links.followed():
        assert codes("patch", args, cwd=str(tmp_path)) == [("shell", "run on the disk")]
    assert codes("patch", args, cwd=str(tmp_path)) == []


def test_a_unit_goes_on_in_the_next_line_and_a_cron_table_does_not() -> None:
    unit = {"path": "/etc/systemd/system/x.service", "content": "ExecStart=/bin/run \\\n  a\rExecStop=b"}
    assert codes("write_file", unit) == [("shell", "/bin/run    a\nb")]
    table = {"path": "/etc/cron.d/x", "content": "* * * * * root : '\x0c'; run"}
    assert codes("write_file", table) == [("shell", ": '\x0c'; run")]


def test_another_content_of_the_same_file_is_another_call() -> None:
    one, other = (read("write_file", {"path": "a", "content": content}) for content in ("x", "y"))
    assert one is not None and other is not None and one.exact != other.exact


def test_scripts_of_skills_are_judged_and_their_prose_is_not() -> None:
    args = {"action": "write_file", "name": "s", "file_path": "scripts/a.sh", "file_content": "run"}
    assert codes("skill_manage", args) == [("shell", "run")]
    args = {"action": "patch", "name": "s", "file_path": "scripts/a.py", "new_string": "run()"}
    assert codes("skill_manage", args) == [("python", "run()")]
    assert written.skill_language("scripts/tool", HOOK) == "shell"
    assert written.skill_language("scripts/tool", "no script") == ""


def test_a_directory_is_the_sessions_unless_the_call_names_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERMINAL_CWD", "/start")
    local = Backend()
    assert working_directory(None, "t", local) == "/start"
    assert working_directory("sub", "t", local) == "/start/sub"
    assert working_directory("/other", "t", local) == "/other"
    assert working_directory(3, "t", local) == "/start"
    assert working_directory(None, "t", Backend("ssh")) is None
    assert working_directory("sub", "t", Backend("ssh")) is None
    assert working_directory("/remote", "t", Backend("ssh")) == "/remote"
