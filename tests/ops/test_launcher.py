"""The scripts that run outside the host find the plugin when they run, wherever it is installed then."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import hermes_ops
from hermes_ops.launcher import is_ours, launcher_text

PACKAGE = Path(hermes_ops.__file__).parent
PYTHON = getattr(sys, "_base_executable", sys.executable)


def run(
    home: Path, words: list[str], name: str = "ops-test.py", **environment: str
) -> subprocess.CompletedProcess:
    script = home / "scripts" / name
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(launcher_text(home, words), "utf-8")
    return subprocess.run(
        [PYTHON, str(script)],
        cwd=script.parent,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "HERMES_HOME": str(home), **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


def put(folder: Path, name: str = "hermes-ops") -> Path:
    """A small copy of the plugin that says where it lies, with the manifest of a real one."""
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text(f"name: '{name}'  # comment\nversion: 1\n")
    (folder / "__init__.py").write_text("")
    (folder / "launched.py").write_text(
        f"def main(words):\n    print({str(folder)!r}, words)\n    return 3\n"
    )
    return folder


@pytest.mark.parametrize("place", ["hermes-ops", "suite/hermes_ops", "renamed"])
def test_a_script_finds_a_folder_and_a_whole_repository(tmp_path, place):
    put(tmp_path / "plugins" / place)
    done = run(tmp_path, ["watch", "wallet", "--scheduled"])
    assert (done.returncode, done.stderr) == (3, "")
    assert done.stdout == f"{tmp_path / 'plugins' / place} ['watch', 'wallet', '--scheduled']\n"


def test_what_is_importable_comes_before_folders(tmp_path):
    put(tmp_path / "plugins" / "hermes-ops")
    put(tmp_path / "site" / "hermes_ops")
    done = run(tmp_path, ["x"], PYTHONPATH=str(tmp_path / "site"))
    assert str(tmp_path / "site") in done.stdout


def test_the_real_plugin_runs_from_a_folder(tmp_path):
    shutil.copytree(
        PACKAGE, tmp_path / "plugins" / "hermes-ops", ignore=shutil.ignore_patterns("__pycache__")
    )
    done = run(tmp_path, ["--version"])
    assert done.stdout.startswith("hermes-ops "), done.stderr


def test_files_beside_the_script_are_not_taken_for_modules(tmp_path):
    put(tmp_path / "plugins" / "hermes-ops")
    (tmp_path / "scripts").mkdir()
    for name in ("hermes_ops.py", "json.py", "importlib.py"):
        (tmp_path / "scripts" / name).write_text("raise SystemExit('taken for a module')\n")
    assert run(tmp_path, ["x"]).returncode == 3


def test_another_plugin_or_a_broken_folder_is_not_taken(tmp_path):
    put(tmp_path / "plugins" / "a", name="hermes-ops-other")
    (tmp_path / "plugins" / "hermes-ops").mkdir(parents=True)
    (tmp_path / "plugins" / "file").write_text("")
    done = run(tmp_path, ["x"])
    assert (done.returncode, done.stderr) == (0, "")
    assert "not installed any more" in done.stdout


def test_a_missing_plugin_is_said_once_a_day_and_is_no_failure(tmp_path):
    assert "not installed any more" in run(tmp_path, ["x"]).stdout
    again = run(tmp_path, ["x"])
    assert (again.returncode, again.stdout) == (0, "")
    mark = tmp_path / "ops" / "plugin-missing"
    os.utime(mark, (mark.stat().st_mtime - 90_000,) * 2)
    assert "not installed any more" in run(tmp_path, ["x"]).stdout


def test_the_text_holds_any_home_and_any_words(tmp_path):
    home = tmp_path / 'it\'s "odd" \\ {home} #'
    put(home / "plugins" / "hermes-ops")
    done = run(home, ["gate", 'a "quoted" {word}', "back\\slash"])
    assert done.returncode == 3, done.stderr
    assert done.stdout.rstrip().endswith(repr(["gate", 'a "quoted" {word}', "back\\slash"]))
    words = ["gate", "two\nlines", "\r\x00\u2028", '"""', "{", "}", "%s", "\ud83d"]
    compile(launcher_text(home, words), "script", "exec")


def test_scripts_of_others_are_told_from_ours():
    assert is_ours(launcher_text(Path("/home"), ["x"]))
    assert not is_ours("#!/usr/bin/env python3\nprint('mine')\n")
    assert not is_ours("")
