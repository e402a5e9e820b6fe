"""scripts/sync-common keeps the copies of the shared module equal, in a tree of its own here."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "sync-common"


@pytest.fixture
def tree(tmp_path):
    """A small repository: the script, an original with a subfolder, two plugins."""
    for folder in ("scripts", "hermes_unroll/_common/deep", "hermes_ops", "hermes_rlm"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copy(SCRIPT, tmp_path / "scripts")
    original = tmp_path / "hermes_unroll" / "_common"
    (original / "__init__.py").write_bytes(b"")
    (original / "odd.py").write_bytes(b"# \xff\r\n\x00 no newline at the end")
    (original / "deep" / "table.py").write_bytes(b"x = 1\n")
    (original / "__pycache__").mkdir()
    (original / "__pycache__" / "odd.pyc").write_bytes(b"bytecode")
    return tmp_path


def sync(tree, *arguments):
    return subprocess.run(
        [sys.executable, str(tree / "scripts" / "sync-common"), *arguments],
        cwd="/",
        capture_output=True,
        text=True,
    )


def content(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_copies_are_equal_byte_for_byte_without_bytecode(tree):
    assert sync(tree).returncode == 0
    expected = content(tree / "hermes_unroll" / "_common")
    del expected["__pycache__/odd.pyc"]
    for plugin in ("hermes_ops", "hermes_rlm"):
        assert content(tree / plugin / "_common") == expected
    again = sync(tree)
    assert (again.returncode, again.stdout) == (0, "")
    assert sync(tree, "--check").returncode == 0


def test_check_names_every_kind_of_drift_and_changes_nothing(tree):
    sync(tree)
    ops, rlm = tree / "hermes_ops" / "_common", tree / "hermes_rlm" / "_common"
    (ops / "odd.py").write_bytes(b"changed")
    (ops / "deep" / "table.py").unlink()
    (rlm / "old.py").write_bytes(b"left over")
    (rlm / "gone").mkdir()
    (rlm / "gone" / "older.py").write_bytes(b"left over")
    before = content(tree)
    told = sync(tree, "--check")
    assert told.returncode == 1
    assert told.stdout.splitlines() == [
        "hermes_ops/_common/deep/table.py: missing",
        "hermes_ops/_common/odd.py: differs",
        "hermes_rlm/_common/gone/older.py: stale",
        "hermes_rlm/_common/old.py: stale",
    ]
    assert "scripts/sync-common" in told.stderr
    assert content(tree) == before
    assert sync(tree).returncode == 0
    assert sync(tree, "--check").returncode == 0
    assert not (rlm / "gone").exists() and not (rlm / "old.py").exists()


def test_bytecode_of_a_copy_is_no_drift_and_is_left_alone(tree):
    sync(tree)
    bytecode = tree / "hermes_ops" / "_common" / "__pycache__" / "x.pyc"
    bytecode.parent.mkdir()
    bytecode.write_bytes(b"bytecode")
    assert sync(tree, "--check").returncode == 0
    sync(tree)
    assert bytecode.exists()


def test_a_link_in_place_of_a_copy_is_drift_and_its_target_stays(tree):
    sync(tree)
    copy = tree / "hermes_ops" / "_common" / "odd.py"
    original = tree / "hermes_unroll" / "_common" / "odd.py"
    before = original.read_bytes()
    copy.unlink()
    copy.symlink_to(original)
    assert "odd.py: differs" in sync(tree, "--check").stdout
    sync(tree)
    assert not copy.is_symlink() and copy.read_bytes() == original.read_bytes() == before


def test_a_plugin_that_is_not_there_gets_no_copy(tree):
    shutil.rmtree(tree / "hermes_rlm")
    assert sync(tree).returncode == 0 and sync(tree, "--check").returncode == 0
    assert not (tree / "hermes_rlm").exists()


def test_outside_a_checkout_and_with_a_wrong_option_it_says_so(tree):
    assert sync(tree, "--chek").returncode == 2
    shutil.rmtree(tree / "hermes_unroll")
    told = sync(tree)
    assert told.returncode == 1 and "does not exist" in told.stderr and "Traceback" not in told.stderr


def test_no_copy_in_this_checkout_has_drifted():
    told = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True)
    assert (told.returncode, told.stdout) == (0, "")
