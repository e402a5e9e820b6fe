"""Copies of state.db: consistent while a host writes, verified, kept; nothing is restored by itself."""

import json
import sqlite3
import threading
import time
from pathlib import Path

import pytest

from hermes_ops import cli
from hermes_ops.core.watch import Context
from hermes_ops.errors import OpsError, Unreadable
from hermes_ops.host.profiles import Profile
from hermes_ops.liveness import backup

NOW = 1_796_000_000.0
DAY = 86_400.0


@pytest.fixture
def home(tmp_path, monkeypatch):
    home = tmp_path / "home # 50%?"
    home.mkdir()
    monkeypatch.setenv("HERMES_HOME", str(home))
    return home


def database(path: Path, rows: int = 100) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE IF NOT EXISTS sessions(id INTEGER PRIMARY KEY, text TEXT)")
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO sessions(text) VALUES (?)", [("x" * 500,)] * rows)
    connection.execute("COMMIT")
    return connection


def count(path: Path) -> int:
    with sqlite3.connect(f"file:{path}?mode=ro".replace(" ", "%20"), uri=True) as connection:
        return connection.execute("SELECT count(*) FROM sessions").fetchone()[0]


def default(home: Path) -> Profile:
    return Profile("default", home)


def test_a_copy_holds_what_is_committed_and_not_what_is_open(home, tmp_path):
    writer = database(home / "state.db")
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO sessions(text) VALUES ('open')")
    copy = backup.back_up(home / "ops", default(home), NOW)
    assert copy.good
    moved = tmp_path / "plain.db"
    moved.write_bytes(copy.path.read_bytes())
    assert count(moved) == 100
    assert (copy.path.stat().st_mode & 0o777) == 0o600
    assert [path.name for path in copy.path.parent.iterdir()] == [copy.path.name]
    # The writer felt nothing, and the host's journal is still there.
    writer.execute("COMMIT")
    assert (home / "state.db-wal").exists()
    assert writer.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    writer.close()


def test_a_copy_is_made_while_a_host_writes(home):
    writer = database(home / "state.db", 2000)
    stop, errors = threading.Event(), []

    def write() -> None:
        busy = sqlite3.connect(home / "state.db", isolation_level=None, timeout=1.0)
        while not stop.is_set():
            try:
                busy.execute("INSERT INTO sessions(text) VALUES ('more')")
            except sqlite3.Error as error:
                errors.append(error)
        busy.close()

    thread = threading.Thread(target=write)
    thread.start()
    try:
        copies = [backup.back_up(home / "ops", default(home), NOW + second) for second in range(3)]
    finally:
        stop.set()
        thread.join()
    assert errors == []
    assert all(backup.verify(copy.path) is None for copy in copies)
    writer.close()


def test_a_home_without_a_database_is_no_failure(home):
    assert backup.back_up(home / "ops", default(home), NOW) is None
    assert backup.watch(Context(home, NOW)) == backup.Reading()


def test_a_damaged_database_is_told_and_takes_no_good_copy_away(home):
    database(home / "state.db", 2000).close()
    first = backup.back_up(home / "ops", default(home), NOW - 5 * DAY)
    with open(home / "state.db", "r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * 4096 * 20)
    (finding,) = [one for one in backup.watch(Context(home, NOW)).findings if one.rule == "backup.failed"]
    assert "state.db" in finding.where
    assert first.path.exists(), "the newest good copy stays, however old"
    assert backup.verify(first.path) is None


def test_copies_older_than_the_limit_go_and_the_newest_good_one_stays(home):
    database(home / "state.db").close()
    for age in (10, 5, 3, 1, 0):
        backup.back_up(home / "ops", default(home), NOW - age * DAY)
    gone = backup.prune(home / "ops", "default", 2.0, NOW)
    assert len(gone) == 3
    ages = [round((NOW - copy.made_at) / DAY) for copy in backup.copies(home / "ops", "default")]
    assert ages == [1, 0]
    backup.prune(home / "ops", "default", 0.04, NOW + 100 * DAY)
    assert [round((NOW - copy.made_at) / DAY) for copy in backup.copies(home / "ops", "default")] == [0]


def test_a_locked_database_is_not_known_rather_than_failed(home, monkeypatch):
    holder = sqlite3.connect(home / "state.db", isolation_level=None)
    holder.execute("CREATE TABLE sessions(id)")
    holder.execute("BEGIN EXCLUSIVE")
    real = backup._copy
    monkeypatch.setattr(backup, "_copy", lambda *arguments: _impatient(real, arguments, monkeypatch))
    (result,) = list(backup.run(home / "ops", [default(home)], NOW, 2.0))
    assert isinstance(result, backup.Blind)
    assert "locked" in result.text
    assert list((home / "ops" / "backups" / "default").iterdir()) == []
    holder.execute("COMMIT")
    holder.close()


def _impatient(real, arguments, monkeypatch):
    from hermes_ops.host import database

    patient = database.reading
    monkeypatch.setattr(database, "reading", lambda path, timeout=2.0: patient(path, timeout=0.1))
    return real(*arguments)


def test_no_room_is_said_before_anything_is_written(home, monkeypatch):
    database(home / "state.db").close()
    usage = backup.shutil.disk_usage(home)
    monkeypatch.setattr(backup.shutil, "disk_usage", lambda path: usage._replace(free=1000))
    with pytest.raises(Unreadable, match="MB free"):
        backup.back_up(home / "ops", default(home), NOW)
    assert list((home / "ops" / "backups" / "default").iterdir()) == []


def test_quarantine_saves_every_part_and_touches_none(home):
    writer = database(home / "state.db")
    parts = sorted(path.name for path in home.glob("state.db*"))
    before = {name: (home / name).read_bytes() for name in parts if not name.endswith("-shm")}
    saved, steps = backup.quarantine(home / "ops", default(home), NOW)
    assert sorted(path.name for path in saved.iterdir()) == parts
    assert {name: (home / name).read_bytes() for name in before} == before
    assert {name: (saved / name).read_bytes() for name in before} == before
    assert any("no good copy" in step for step in steps)
    backup.back_up(home / "ops", default(home), NOW)
    assert any(step.startswith("cp ") for step in backup.quarantine(home / "ops", default(home), NOW + 1)[1])
    writer.close()


def test_quarantine_of_nothing_is_an_error(home):
    with pytest.raises(OpsError, match="nothing to save"):
        backup.quarantine(home / "ops", default(home), NOW)


def test_a_stale_newest_copy_is_told_until_a_new_one_is_there(home, monkeypatch):
    database(home / "state.db").close()
    backup.back_up(home / "ops", default(home), NOW - 2 * DAY)
    monkeypatch.setattr(backup, "back_up", lambda *arguments: None)
    (finding,) = backup.watch(Context(home, NOW)).findings
    assert finding.id == "backup.stale:default"
    monkeypatch.undo()
    assert backup.watch(Context(home, NOW)).findings == ()


def test_the_command_makes_lists_and_verifies(home, capsys):
    assert cli.main(["backup"]) == 0
    assert cli.main(["backup", "verify"]) == 1  # nothing is no proof
    database(home / "state.db").close()
    assert cli.main(["backup", "run"]) == 0
    capsys.readouterr()
    assert cli.main(["backup", "verify", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["copies"]
    assert row["problem"] is None
    assert time.time() - row["made_at"] < 60
    Path(row["path"]).write_bytes(b"no database")
    assert cli.main(["backup", "verify"]) == 1
    assert cli.main(["backup", "run", "--profile", "nosuch"]) == 2
    assert cli.main(["backup", "recover"]) == 0
    assert "Nothing was restored" in capsys.readouterr().out
