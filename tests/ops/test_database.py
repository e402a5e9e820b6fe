"""Reading the host's databases: the right answer or Unreadable, and the writer never feels it."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hermes_ops.errors import Unreadable
from hermes_ops.host.database import columns, reading

ODD_NAMES = ["a?b.db", "a#b.db", "100%41.db", "with space.db", "ü名.db", "a&b=c;d.db", "file:x?mode=rw.db"]
CRASHED_WRITER = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA journal_mode=WAL")
connection.execute("CREATE TABLE numbers(n)")
connection.executemany("INSERT INTO numbers VALUES(?)", [(n,) for n in range(1000)])
connection.commit()
os._exit(0)
"""


def made(path: Path, wal: bool = True) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=0.2, check_same_thread=False)
    connection.execute(f"PRAGMA journal_mode={'WAL' if wal else 'DELETE'}")
    connection.execute("CREATE TABLE numbers(n)")
    connection.execute("INSERT INTO numbers VALUES(1)")
    connection.commit()
    return connection


def total(path: Path, timeout: float = 2.0) -> int:
    with reading(path, timeout) as connection:
        return connection.execute("SELECT COALESCE(SUM(n), 0) FROM numbers").fetchone()[0]


def prints(*paths: Path) -> dict[str, tuple[str, int]]:
    return {p.name: (hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_mtime_ns) for p in paths}


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_path_with_odd_characters_is_that_file_and_no_other(tmp_path, name):
    made(tmp_path / name).close()
    assert total(tmp_path / name) == 1
    made_files = {p.name for p in tmp_path.iterdir()}
    assert made_files <= {name, f"{name}-wal", f"{name}-shm"}


def test_a_writer_with_an_open_transaction_is_not_felt_and_feels_nothing(tmp_path):
    path = tmp_path / "state.db"
    writer = made(path)
    writer.execute("INSERT INTO numbers VALUES(10)")
    assert total(path) == 1
    with reading(path) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT COUNT(*) FROM numbers").fetchone()[0] == 1
        writer.commit()
        writer.execute("INSERT INTO numbers VALUES(100)")
        writer.commit()
        assert reader.execute("SELECT COUNT(*) FROM numbers").fetchone()[0] == 1
    assert total(path) == 111
    assert writer.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    writer.close()


def test_a_writer_that_never_stops_sees_no_error_while_it_is_read(tmp_path):
    path = tmp_path / "state.db"
    writer = made(path)
    done, errors = threading.Event(), []

    def write() -> None:
        try:
            while not done.is_set():
                writer.execute("INSERT INTO numbers VALUES(1)")
                writer.commit()
        except sqlite3.Error as error:
            errors.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    seen = [total(path) for _ in range(100)]
    done.set()
    thread.join()
    assert errors == [] and seen == sorted(seen)
    assert writer.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert (tmp_path / "state.db-wal").exists()
    writer.close()


@pytest.mark.parametrize("wal", [True, False])
def test_locked_exclusively_is_unknown_not_empty(tmp_path, wal):
    path = tmp_path / "state.db"
    made(path, wal).close()
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("PRAGMA locking_mode=EXCLUSIVE")
    writer.execute("BEGIN EXCLUSIVE")
    writer.execute("INSERT INTO numbers VALUES(2)")
    with pytest.raises(Unreadable, match="locked") as caught:
        total(path, timeout=0.1)
    assert str(path) in str(caught.value)
    writer.execute("COMMIT")
    assert writer.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    writer.close()
    assert total(path) == 3


def test_what_a_crashed_writer_left_in_its_wal_is_read_and_left_there(tmp_path):
    path = tmp_path / "state.db"
    subprocess.run([sys.executable, "-c", CRASHED_WRITER, str(path)], check=True)
    wal = tmp_path / "state.db-wal"
    before = prints(path, wal)
    assert total(path) == sum(range(1000))
    assert prints(path, wal) == before


def test_a_missing_shm_is_made_again_and_the_wal_stays(tmp_path):
    path = tmp_path / "state.db"
    subprocess.run([sys.executable, "-c", CRASHED_WRITER, str(path)], check=True)
    (tmp_path / "state.db-shm").unlink()
    before = prints(path, tmp_path / "state.db-wal")
    assert total(path) == sum(range(1000))
    assert prints(path, tmp_path / "state.db-wal") == before


def test_reading_does_not_change_the_database_nor_its_journal(tmp_path):
    path = tmp_path / "state.db"
    writer = made(path)
    before = prints(path, tmp_path / "state.db-wal")
    for _ in range(3):
        total(path)
    assert prints(path, tmp_path / "state.db-wal") == before
    writer.close()


def test_nothing_can_be_written_through_it(tmp_path):
    path = tmp_path / "state.db"
    made(path).close()
    for statement in ("INSERT INTO numbers VALUES(5)", "CREATE TABLE more(n)", "PRAGMA user_version=7"):
        try:
            with reading(path) as connection:
                connection.execute(statement)
                connection.execute("COMMIT") if connection.in_transaction else None
        except Unreadable:
            pass
    assert total(path) == 1
    with reading(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == 0
        assert columns(connection, "more") == set()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX permissions")
def test_a_read_only_directory_gives_the_answer_or_says_why_not(tmp_path):
    directory = tmp_path / "closed"
    directory.mkdir()
    path = directory / "state.db"
    made(path).close()
    directory.chmod(0o555)
    try:
        if os.geteuid():
            with pytest.raises(Unreadable, match="read-only directory"):
                total(path)
            assert [p.name for p in directory.iterdir()] == ["state.db"]
        else:  # root may write everywhere
            assert total(path) == 1
    finally:
        directory.chmod(0o755)
    assert total(path) == 1


def test_an_unwritable_directory_is_named_as_the_cause(tmp_path, monkeypatch):
    path = tmp_path / "state.db"
    made(path).close()

    def refuse(*_args, **_more):
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(sqlite3, "connect", refuse)
    monkeypatch.setattr(os, "access", lambda place, mode: mode == os.R_OK)
    with pytest.raises(Unreadable, match="-shm cannot be made in a read-only directory"):
        total(path)


def test_a_missing_file_is_said_and_not_made(tmp_path):
    with pytest.raises(Unreadable, match="missing"):
        total(tmp_path / "state.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"not a database at all, but long enough to be read" * 40, b"\0" * 4096])
def test_what_is_no_database_is_said(tmp_path, content):
    path = tmp_path / "state.db"
    path.write_bytes(content)
    with pytest.raises(Unreadable):
        total(path)
    assert path.read_bytes() == content


def test_a_damaged_page_is_said(tmp_path):
    path = tmp_path / "state.db"
    writer = made(path, wal=False)
    writer.executemany("INSERT INTO numbers VALUES(?)", [(n,) for n in range(5000)])
    writer.commit()
    writer.close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(Unreadable, match="damaged"):
        total(path)


def test_a_directory_or_a_pipe_is_not_waited_for(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        with pytest.raises(Unreadable, match="not a file"):
            total(tmp_path / name)


def test_an_older_schema_is_told_from_a_broken_one(tmp_path):
    path = tmp_path / "state.db"
    made(path).close()
    with reading(path) as connection:
        assert columns(connection, "numbers") == {"n"}
        assert columns(connection, "sessions") == set()
    with pytest.raises(Unreadable, match="no such column: later"), reading(path) as connection:
        connection.execute("SELECT later FROM numbers")


def test_text_that_is_no_utf8_does_not_end_the_reading(tmp_path):
    path = tmp_path / "state.db"
    writer = made(path)
    writer.execute("CREATE TABLE names(name TEXT)")
    writer.execute("INSERT INTO names VALUES(CAST(X'66ff6f' AS TEXT))")
    writer.commit()
    with reading(path) as connection:
        assert (
            connection.execute("SELECT name FROM names").fetchone()["name"] == "f\N{REPLACEMENT CHARACTER}o"
        )
    writer.close()
