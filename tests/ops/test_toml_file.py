"""What people write: whatever stands in the place of a TOML file is one line of error, in each of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import timezone
from pathlib import Path
from typing import Any

import pytest

from hermes_ops.core import suppress, toml_file
from hermes_ops.errors import OpsError, Unreadable
from hermes_ops.quality import probe_set
from hermes_ops.schedule import manifest, notes, policy
from hermes_ops.spend.outcomes import read_roles

READERS: dict[str, Callable[[Path], Any]] = {
    "suppress.toml": lambda home: suppress.load(home / "ops"),
    "policy.toml": lambda home: policy.load(home, timezone.utc),
    "notes.toml": notes.load,
    "watchers.toml": manifest.load,
    "roles.toml": read_roles,
    "probes.toml": probe_set.load,
}


@pytest.fixture(params=READERS)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    (tmp_path / "ops").mkdir()
    return tmp_path / "ops" / request.param


def error_of(file: Path) -> OpsError:
    with pytest.raises(OpsError) as raised:
        READERS[file.name](file.parents[1])
    assert str(file) in str(raised.value) and "\n" not in str(raised.value)
    return raised.value


@pytest.mark.parametrize(
    "content",
    [
        b"\xff",
        b"a = ",
        b"a = 1" + b"0" * 5000,
        b"a = " + b"[" * 100_000,
        b"a = " + b"{b=" * 100_000,
        b"a = 1\0",
        b"\0",
        b'"new\\nline" = 1',
    ],
    ids=["bytes", "torn", "digits", "lists", "tables", "nul after", "nul", "key"],
)
def test_what_is_no_toml_or_no_setting_is_an_error_of_one_line(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    error_of(file)


def test_a_pipe_a_folder_and_a_huge_file_are_unreadable_and_nothing_waits(file: Path) -> None:
    os.mkfifo(file)
    assert isinstance(error_of(file), Unreadable)
    file.unlink()
    file.mkdir()
    assert isinstance(error_of(file), Unreadable)
    file.rmdir()
    file.write_bytes(b"#" * 1_000_001)
    assert isinstance(error_of(file), Unreadable)


def test_a_mark_at_the_beginning_as_some_editors_write_it_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_bytes(b"\xef\xbb\xbfa = 1")
    assert toml_file.read(file) == {"a": 1}
    assert toml_file.read(tmp_path / "none.toml") is None


def test_values_of_another_kind_are_named() -> None:
    table = {"word": [], "age": 10**400, "length": "1" * 1_000_000, "until": 7}
    for ask in (
        lambda: toml_file.choice(table, "word", "here", {"one": 1}, None),
        lambda: toml_file.seconds(table, "age", "here", None),
        lambda: toml_file.seconds(table, "length", "here", None),
        lambda: toml_file.until(table, "until", "here", timezone.utc),
    ):
        with pytest.raises(OpsError, match="here: "):
            ask()
