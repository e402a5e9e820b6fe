"""The blast radius: counted within its bounds, never by following or running anything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hermes_ops.guard import blast


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("a.txt", "b.txt", ".hidden", "sub/c.txt", "sub/deep/d.bin"):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 1000)
    return tmp_path


def told(tree: Path, *targets: str, **bounds: float) -> str:
    return blast.radius(
        targets, str(tree), seconds=bounds.get("seconds", 10), entries=bounds.get("entries", 100)
    )


def test_files_and_bytes_below_a_target_are_counted(tree: Path) -> None:
    assert told(tree, "data") == told(tree, str(tree / "data")) == "5 files, 5.0 KB"
    assert told(tree, "data/a.txt") == "1 file, 1.0 KB"
    assert told(tree, "data/a.txt", "data/sub") == "3 files, 3.0 KB"


def test_a_glob_is_what_a_shell_would_make_of_it(tree: Path) -> None:
    assert told(tree, "data/*.txt") == "2 files, 2.0 KB"
    assert told(tree, "data/*") == "4 files, 4.0 KB"
    assert told(tree, "*/sub/*/d.???") == "1 file, 1.0 KB"


def test_what_is_not_there_or_not_known_is_not_told(tree: Path) -> None:
    assert told(tree, "none", "no*", "", "$X/\0") == ""
    assert blast.radius(["data"], None) == ""


def test_home_is_the_one_of_the_user(tree: Path) -> None:
    assert blast.radius(["~/data"], None, str(tree), seconds=10) == "5 files, 5.0 KB"


def test_links_are_counted_and_never_followed(tree: Path) -> None:
    (tree / "other").mkdir()
    (tree / "other/link").symlink_to(tree / "data")
    (tree / "to-data").symlink_to(tree / "data")
    assert told(tree, "other").startswith("1 file,")
    assert told(tree, "to-data").startswith("1 file,")


def test_too_many_entries_end_the_count(tree: Path) -> None:
    assert told(tree, "data", entries=3).startswith("more than ")


def test_time_ends_the_count(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / str(number)).touch()
    assert told(tmp_path, ".", seconds=0, entries=10_000).startswith("more than ")


def test_a_repository_with_an_index_is_named(tree: Path) -> None:
    (tree / "data/.git").mkdir()
    assert "repository" not in told(tree, "data")
    (tree / "data/.git/index").touch()
    assert told(tree, "data").endswith("a git repository among them")


def test_a_file_system_of_another_machine_is_left_alone(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blast, "_mounts", [(str(tree / "data"), "nfs4")])
    assert told(tree, "data") == told(tree, "data/a.txt") == ""


def test_a_directory_that_cannot_be_read_is_no_error(tree: Path) -> None:
    os.chmod(tree / "data/sub", 0)
    try:
        assert "files" in told(tree, "data")
    finally:
        os.chmod(tree / "data/sub", 0o700)
