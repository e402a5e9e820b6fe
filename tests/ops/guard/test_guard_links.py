"""Links that were made earlier: what is written or removed through them is judged by where it leads."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hermes_ops import guard
from hermes_ops.guard import blast, calls, decisions, hook, links, presence, surroundings
from hermes_ops.guard.links import Links
from hermes_ops.guard.presence import TERMINAL, Presence
from hermes_ops.guard.remembered import Inputs

Answer = Callable[[str, dict[str, Any]], str]
NEVER = "hermes-ops-guard-canary"


@pytest.fixture
def answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Answer:
    """What the guard answers in a folder with links to the host's home, to what is in it, and elsewhere."""
    user = tmp_path / "user"
    home = user / ".hermes"
    work = user / "work"
    for folder in (
        home / "ops" / "guard",
        home / "scripts",
        home / "skills",
        home / "plugins" / "x",
        user / ".ssh",
        work,
    ):
        folder.mkdir(parents=True)
    for name in ("config.yaml", "ops/guard.toml", "ops/guard/key"):
        (home / name).write_text("x")
    for name, target in {
        "hd": user,
        "up": "hd/work",
        "g": home / "ops" / "guard",
        "s": home / "scripts",
        "k": home / "skills",
        "c": home / "config.yaml",
        "etc": "/etc",
        "py": "/usr/bin/env",
        "loop": "loop",
        "real": ".",
    }.items():
        os.symlink(target, work / name)
    monkeypatch.setenv("HOME", str(user))
    monkeypatch.setenv("HERMES_HOME", str(home))
    monkeypatch.setattr(hook, "hermes_home", lambda: home)
    monkeypatch.setattr(decisions, "_counted", 0.0)
    monkeypatch.setattr(calls, "INPUTS", Inputs())
    monkeypatch.setattr(presence, "look", lambda session="": Presence(TERMINAL))
    monkeypatch.setattr(presence, "approved_before", lambda key: False)
    monkeypatch.setattr(surroundings, "host_asks", lambda *_: False)
    monkeypatch.setattr(surroundings, "working_directory", lambda *_: str(work))

    def given(tool: str, args: dict[str, Any]) -> str:
        found = guard.pre_tool_call(tool_name=tool, args=args)
        return found["action"] if found else "allow"

    return given


@pytest.mark.parametrize(
    "path, action",
    [
        ("hd/.hermes/ops/guard.toml", "block"),
        ("hd/.hermes/ops/guard/accepted.json", "block"),
        ("hd/.hermes/ops/guard/new/deep.json", "block"),
        ("up/hd/.hermes/config.yaml", "block"),
        ("g/key", "block"),
        ("c", "block"),
        ("k/../config.yaml", "block"),
        ("hd/.ssh/authorized_keys", "block"),
        ("hd/.bashrc", "approve"),
        ("hd/.hermes/plugins/x/__init__.py", "approve"),
        ("etc/passwd", "block"),
        ("hd/work/notes.txt", "allow"),
        ("real/notes.txt", "allow"),
        ("loop/x", "allow"),
        ("notes.txt", "allow"),
        ("new/folder/notes.txt", "allow"),
        ("s/report.sh", "allow"),
    ],
)
def test_a_file_is_judged_by_where_its_path_leads(answer: Answer, path: str, action: str) -> None:
    assert answer("write_file", {"path": path, "content": "true"}) == action
    assert answer("patch", {"mode": "patch", "patch": f"*** Add File: {path}\n+true"}) == action


def test_a_script_behind_a_link_is_judged_as_a_script(answer: Answer) -> None:
    for path in ("s/a.sh", "hd/.hermes/scripts/a.sh", "k/../scripts/a.sh", "hd/.bashrc"):
        assert answer("write_file", {"path": path, "content": NEVER}) == "block"
    assert answer("write_file", {"path": "hd/work/a.sh", "content": NEVER}) == "allow"


COMMANDS = {
    "echo x > hd/.hermes/ops/guard/key": "block",
    "echo x > k/../ops/guard.toml": "block",
    "cp note.txt hd/.hermes/ops/guard/accepted.json": "block",
    "sed -i s/a/b/ hd/.hermes/config.yaml": "block",
    "tee c < note.txt": "block",
    "truncate -s 0 g/decisions.jsonl": "block",
    "rm g/key": "block",
    "rm -r hd/.hermes/ops": "block",
    "mv hd/.hermes/ops old": "block",
    "cat key >> hd/.ssh/authorized_keys": "block",
    'python3 -c \'open("hd/.hermes/config.yaml", "w").write("")\'': "block",
    "echo x > hd/work/notes.txt": "allow",
    "rm c": "allow",
    "rm hd": "allow",
    "ln -sf /usr/bin/python3 py": "allow",
    "cp a.txt real/b.txt": "allow",
    "cp hosts etc/": "approve",
    "cat c": "allow",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_judged_by_where_the_files_lead_that_it_changes(answer: Answer, command: str) -> None:
    assert answer("terminal", {"command": command}) == COMMANDS[command]


def test_links_of_another_machine_are_not_looked_for_here(
    answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surroundings, "backend", lambda: surroundings.Backend("ssh"))
    assert answer("terminal", {"command": "echo x > g/key"}) == "allow"


def test_a_path_is_followed_as_far_as_it_exists(tmp_path: Path) -> None:
    root = Path(os.path.realpath(tmp_path))
    (root / "a" / "b").mkdir(parents=True)
    os.symlink("../a/b", root / "a" / "rel")
    os.symlink(root / "a", root / "abs")
    for path in ("abs/rel/new/x", "abs/rel/..", "abs/./b//y", "missing/../abs/b", "abs", "x"):
        assert Links().real(f"{root}/{path}") == os.path.realpath(root / path)
    assert Links().real(f"{root}/abs/rel", last=False) == f"{root}/a/rel"
    assert Links().real("/") == "/" and Links().real("/..") == "/" and Links().real("a/b") == "a/b"
    os.symlink("loop", root / "loop")
    for odd in (f"{root}/loop/x", f"{root}/a\0b", "/" + "x" * 10_000, "/" + "a/" * 2_000):
        assert Links().real(odd).rstrip("/") == odd.rstrip("/")


def test_outside_of_a_call_nothing_is_looked_at(tmp_path: Path) -> None:
    os.symlink("/etc", tmp_path / "e")
    assert links.real(f"{tmp_path}/e") == f"{tmp_path}/e" and not links.are_followed()
    with links.followed():
        assert links.real(f"{tmp_path}/e") == "/etc"
        with links.followed(local=False):
            assert links.real(f"{tmp_path}/e") == f"{tmp_path}/e"


def test_a_file_system_of_another_machine_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.symlink("/etc", tmp_path / "e")
    monkeypatch.setattr(blast, "_mounts", [(str(tmp_path), "nfs4")])
    monkeypatch.setattr(os, "readlink", lambda path: pytest.fail(path) if str(tmp_path) in path else "")
    assert Links().real(f"{tmp_path}/e/x") == f"{tmp_path}/e/x"


def test_each_link_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    readlink = os.readlink
    monkeypatch.setattr(os, "readlink", lambda path: looked.append(path) or readlink(path))
    one = Links()
    for number in range(20):
        one.real(f"{tmp_path}/x/{number % 2}")
    assert len(looked) == len(set(looked))
