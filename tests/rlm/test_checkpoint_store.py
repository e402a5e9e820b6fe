"""The checkpoints of a home: where they lie, what is listed, what is removed and what never is."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_rlm import checkpoint
from hermes_rlm.checkpoint import AUTOSAVE, CheckpointError, path_of
from hermes_rlm.kernel.child.definitions import Definitions
from hermes_rlm.kernel.child.saving import save

DAY = 86400


def add(home: Path, session: str, name: str, *, days: float = 0, size: int = 0) -> Path:
    path = path_of(home, session, name)
    values = {"x": bytes(size), "no": (n for n in ())}
    options = {"session": session, "name": name, "cell": 3, "limit": 1 << 30}
    assert save(values, Definitions(), path=str(path), key=checkpoint.signing_key(home), **options)["ok"]
    os.utime(path, (time.time() - days * DAY,) * 2)
    return path


def test_the_key_is_made_once_and_private(tmp_path: Path) -> None:
    key = checkpoint.signing_key(tmp_path)
    assert len(key) == 32 and checkpoint.signing_key(tmp_path) == key
    assert checkpoint.signing_key(tmp_path / "other") != key
    path = tmp_path / "state" / "rlm" / "key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and os.listdir(path.parent) == ["key"]
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_key_that_others_may_have_made_is_refused(tmp_path: Path) -> None:
    key = checkpoint.signing_key(tmp_path)
    path = tmp_path / "state" / "rlm" / "key"
    path.chmod(0o644)
    with pytest.raises(CheckpointError, match="0644"):
        checkpoint.signing_key(tmp_path)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CheckpointError, match="symbolic link"):
        checkpoint.signing_key(tmp_path)
    path.unlink()
    for content in (b"", key[:31], key + b"x"):
        path.write_bytes(content)
        path.chmod(0o600)
        with pytest.raises(CheckpointError, match="damaged"):
            checkpoint.signing_key(tmp_path)


@given(st.text(), st.text(), st.text())
def test_names_and_ids_never_leave_their_directory(session: str, name: str, other: str) -> None:
    home = Path("/home/of/tests")
    path = path_of(home, session, name)
    assert path.parent.parent == home / "state" / "rlm" / "sessions"
    assert (path_of(home, session, other) == path) == (other == name)
    assert (path_of(home, other, name) == path) == (other == session)


@pytest.mark.parametrize("name", ["../../x", "/tmp/evil", "..", "", "n" * 10_240, "\ud800", "a\0b", AUTOSAVE])
def test_hostile_names_are_saved_listed_and_deleted_in_their_place(tmp_path: Path, name: str) -> None:
    path = add(tmp_path, name, name)
    assert path.resolve().is_relative_to((tmp_path / "state" / "rlm" / "sessions").resolve())
    (entry,) = checkpoint.listing(tmp_path)
    assert (entry.session, entry.name, entry.names) == (name, name, ["x"])
    assert not checkpoint.delete(tmp_path, name, name + "?")
    assert checkpoint.delete(tmp_path, name, name) and not checkpoint.delete(tmp_path, name, name)
    assert checkpoint.listing(tmp_path) == [] and checkpoint.describe(path) is None


def test_a_listing_tells_what_is_in_each_file(tmp_path: Path) -> None:
    before = time.time()
    old, new = add(tmp_path, "s", "old", days=2), add(tmp_path, "t", "new", size=5000)
    newest, oldest = checkpoint.listing(tmp_path)
    assert (newest.path, oldest.path) == (new, old)
    assert (newest.session, newest.name, newest.cell, newest.problem) == ("t", "new", 3, None)
    assert newest.size == new.stat().st_size > 5000 and before <= newest.saved_at <= time.time()
    assert newest.variables == (("x", "bytes"),)
    assert newest.skipped == (("no", "TypeError: cannot pickle 'generator' object"),)
    assert checkpoint.describe(new) == newest


def test_damaged_files_are_listed_with_the_reason(tmp_path: Path) -> None:
    good, cut, link, opened, other = (
        add(tmp_path, "s", name) for name in ("good", "cut", "link", "open", "other")
    )
    cut.write_bytes(cut.read_bytes()[:-50])
    link.unlink()
    link.symlink_to(good)
    opened.chmod(0o644)
    other.write_bytes(b"something else")
    (good.parent / "notes.txt").write_text("not a checkpoint")
    (tmp_path / "state" / "rlm" / "sessions" / "stray").write_text("not a directory")
    problems = {entry.path: entry.problem for entry in checkpoint.listing(tmp_path)}
    assert problems.pop(good) is None
    expected = {cut: "damaged", link: "symbolic link", opened: "0644", other: "not a checkpoint"}
    assert set(problems) == set(expected)
    assert all(word in problems[path] for path, word in expected.items())


def test_a_home_without_checkpoints_lists_none(tmp_path: Path) -> None:
    assert checkpoint.listing(tmp_path) == [] and checkpoint.prune(tmp_path, None) == []
    assert not checkpoint.delete(tmp_path, "s", "n") and checkpoint.describe(tmp_path / "none") is None


def test_old_checkpoints_go_and_the_one_just_saved_never_does(tmp_path: Path) -> None:
    old, older = add(tmp_path, "s", "old", days=15), add(tmp_path, "s", "older", days=400)
    young = add(tmp_path, "t", "young", days=13)
    assert [entry.path for entry in checkpoint.prune(tmp_path, older)] == [old]
    assert older.exists() and young.exists() and not old.exists()
    assert [entry.name for entry in checkpoint.prune(tmp_path, young)] == ["older"]


def test_over_the_size_autosaves_go_first_then_the_oldest(tmp_path: Path) -> None:
    size = 100_000
    first = add(tmp_path, "s", "first", days=9, size=size)
    second = add(tmp_path, "s", "second", days=8, size=size)
    auto = add(tmp_path, "s", AUTOSAVE, days=1, size=size)
    auto_old = add(tmp_path, "t", AUTOSAVE, days=2, size=size)
    saved = add(tmp_path, "t", "saved", size=size)
    room = 3 * (size + 2000)
    assert [entry.path for entry in checkpoint.prune(tmp_path, saved, max_bytes=room)] == [auto_old, auto]
    assert [entry.path for entry in checkpoint.prune(tmp_path, saved, max_bytes=room - size)] == [first]
    assert [entry.path for entry in checkpoint.prune(tmp_path, saved, max_bytes=0)] == [second]
    assert saved.exists()


def test_an_autosave_just_made_is_not_pruned_by_itself(tmp_path: Path) -> None:
    kept = add(tmp_path, "s", AUTOSAVE, size=100_000)
    other = add(tmp_path, "t", "other", size=10)
    assert [entry.path for entry in checkpoint.prune(tmp_path, kept, max_bytes=50_000)] == [other]
    assert kept.exists()


def test_a_dry_run_tells_what_a_prune_removes(tmp_path: Path) -> None:
    add(tmp_path, "s", "a", days=20)
    add(tmp_path, "s", "b", size=5000)
    told = checkpoint.prune(tmp_path, None, max_bytes=1000, dry_run=True)
    assert len(checkpoint.listing(tmp_path)) == 2
    assert checkpoint.prune(tmp_path, None, max_bytes=1000) == told and len(told) == 2


def test_damaged_files_count_and_go_by_age(tmp_path: Path) -> None:
    path = add(tmp_path, "s", "a")
    path.write_bytes(b"damaged")
    os.utime(path, (0, 0))
    assert [entry.problem is not None for entry in checkpoint.prune(tmp_path, None)] == [True]


def test_remains_of_killed_saves_go_after_an_hour(tmp_path: Path) -> None:
    path = add(tmp_path, "s", "a")
    fresh, stale = path.parent / ".saving-1-aa", path.parent / ".saving-2-bb"
    for remains in (fresh, stale):
        remains.write_bytes(b"half a checkpoint")
    os.utime(stale, (time.time() - 3700,) * 2)
    checkpoint.prune(tmp_path, path, dry_run=True)
    assert stale.exists()
    checkpoint.prune(tmp_path, path)
    assert fresh.exists() and not stale.exists() and path.exists()
