"""The journal of cells: everything run is in it, nothing secret is, and a bad line costs itself alone."""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hermes_rlm import cells, sessions
from hermes_rlm.cells import Cell, CellJournal

TOKEN = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def journal(tmp_path: Path) -> CellJournal:
    return CellJournal(tmp_path, "s/1")


def path_of(journal: CellJournal) -> Path:
    return journal.directory / cells.FILE_NAME


def test_what_is_appended_comes_back(journal: CellJournal) -> None:
    written = [
        Cell(1, 1.5, True, "x = 1\ny = '\u00fc\U0001f600\ud800\x00'", ("x", "y")),
        Cell(2, 2.5, False, "del x", (), ("x",)),
        Cell(2, 3.0, deleted=("y",), event="lost"),
        Cell(2, 3.0, assigned=("y",), event="restored", as_of=1),
        Cell(2, 3.0, event="reset"),
        Cell(3, 4.0, False, "while 1: pass", event="interrupted"),
    ]
    for cell in written:
        journal.append(cell)
    assert journal.entries() == written
    assert cells.read(journal.directory) == cells.Recorded("s/1", tuple(written))
    assert cells.session_of(journal.directory) == "s/1"


def test_numbers_go_on_across_kernels_and_processes(tmp_path: Path) -> None:
    one, other = CellJournal(tmp_path, "s"), CellJournal(tmp_path, "s")
    assert one.last == 0
    one.append(Cell(1, 0.0))
    assert (one.last, other.last) == (1, 1)
    other.append(Cell(2, 0.0))
    assert (one.last, other.last) == (2, 2)
    other.append(Cell(2, 0.0, event="reset"))
    assert one.last == 2
    assert CellJournal(tmp_path, "t").last == 0


def test_files_are_private(journal: CellJournal, tmp_path: Path) -> None:
    journal.append(Cell(1, 0.0))
    assert stat.S_IMODE(path_of(journal).stat().st_mode) == 0o600
    for place in (journal.directory, journal.directory.parent, tmp_path / "state"):
        assert stat.S_IMODE(place.stat().st_mode) == 0o700


def test_no_secret_reaches_the_disk(journal: CellJournal) -> None:
    journal.append(Cell(1, 0.0, True, f"token = {TOKEN!r}\nx = 1", ("token", TOKEN), (f"{TOKEN}_",)))
    assert TOKEN.encode() not in path_of(journal).read_bytes()
    (entry,) = journal.entries()
    assert entry.code.startswith("token = '<redacted:") and entry.code.endswith("\nx = 1")
    assert entry.assigned[0] == "token"


@pytest.mark.parametrize("error", [RuntimeError("no"), RecursionError(), MemoryError(), UnicodeError()])
def test_what_cannot_be_redacted_is_left_out(
    journal: CellJournal, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object, text: str) -> str:
        raise error

    monkeypatch.setattr("hermes_rlm._common.redact.Redactor.text", fail)
    journal.append(Cell(1, 0.0, True, "secret code", ("name",), ("gone",)))
    journal.append(Cell(1, 0.0, event="reset"))
    assert b"secret code" not in path_of(journal).read_bytes()
    assert [entry.code for entry in journal.entries()] == [cells.LEFT_OUT, ""]
    assert journal.last == 1


@pytest.mark.parametrize("place", range(cells.MAX_CODE - 50, cells.MAX_CODE + 60, 10))
def test_long_code_is_cut_with_a_mark_and_not_through_a_secret(journal: CellJournal, place: int) -> None:
    code = "x" * place + "\n" + TOKEN + "\n" + "y\n" * 200_000
    journal.append(Cell(1, 0.0, True, code))
    (entry,) = journal.entries()
    assert entry.code.endswith(cells.CUT_MARK)
    assert len(entry.code) <= cells.MAX_CODE + len(cells.CUT_MARK)
    assert len(entry.code) > cells.MAX_CODE - 20_000
    assert TOKEN[:8] not in entry.code


def test_a_secret_at_the_end_of_what_is_looked_at_is_dropped_too(journal: CellJournal) -> None:
    many = "\n".join(f"k{i} = '{TOKEN[:-4]}{i:04}'" for i in range(8000))
    journal.append(Cell(1, 0.0, True, many + "x" * 300_000))
    assert TOKEN[:12].encode() not in path_of(journal).read_bytes()
    assert len(journal.entries()[0].code) > 50_000


GARBAGE = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'"n"',
    b"12",
    b"\xff\xfe\x00",
    b"{}",
    b'{"n":1}',
    b'{"n":"1","at":0,"ok":true}',
    b'{"n":true,"at":0,"ok":true}',
    b'{"n":-1,"at":0,"ok":true}',
    b'{"n":1.5,"at":0,"ok":true}',
    b'{"n":1e30,"at":0,"ok":true}',
    b'{"n":1' + b"0" * 400 + b',"at":0,"ok":true}',
    b'{"n":1' + b"0" * 5000 + b',"at":0,"ok":true}',
    b'{"n":1,"at":NaN,"ok":true}',
    b'{"n":1,"at":1e999,"ok":true}',
    b'{"n":1,"at":0,"ok":1}',
    b'{"n":1,"at":0,"ok":true,"code":7}',
    b'{"n":1,"at":0,"ok":true,"assigned":7}',
    b'{"n":1,"at":0,"ok":true,"assigned":[7]}',
    b'{"n":1,"at":0,"ok":true,"deleted":[null]}',
    b'{"n":1,"at":0,"ok":true,"event":[]}',
    b'{"n":1,"at":0,"ok":true,"as_of":"x"}',
    b'{"session":7}',
    b"[" * 100_000,
    b'{"a":' * 100_000,
]


@pytest.mark.parametrize("line", GARBAGE, ids=lambda line: ascii(line[:40]))
def test_a_line_that_is_no_cell_costs_itself_alone(journal: CellJournal, line: bytes) -> None:
    journal.append(Cell(4, 0.0, True, "a = 1", ("a",)))
    with open(path_of(journal), "ab") as file:
        file.write(line + b"\n")
    journal.append(Cell(5, 0.0, True, "b = 1", ("b",)))
    with open(path_of(journal), "ab") as file:
        file.write(line + b"\n")
    found = cells.read(journal.directory)
    assert [cell.number for cell in found.cells] == [4, 5]
    assert found.session_id == "s/1" and found.damaged == (2 if line else 0)
    assert journal.last == CellJournal(journal.directory.parents[3], "s/1").last == 5


def test_a_torn_last_line_does_not_take_the_next_one_with_it(journal: CellJournal, tmp_path: Path) -> None:
    journal.append(Cell(1, 0.0, True, "a = 1"))
    journal.append(Cell(2, 0.0, True, "b = 1"))
    journal.close()
    data = path_of(journal).read_bytes()
    path_of(journal).write_bytes(data[:-7])
    assert [cell.number for cell in journal.entries()] == [1]
    again = CellJournal(tmp_path, "s/1")
    assert again.last == 1
    again.append(Cell(2, 0.0, True, "c = 1"))
    assert [cell.code for cell in again.entries()] == ["a = 1", "c = 1"]


def test_a_removed_file_is_made_again(journal: CellJournal) -> None:
    journal.append(Cell(1, 0.0))
    path_of(journal).unlink()
    journal.append(Cell(2, 0.0))
    assert [cell.number for cell in journal.entries()] == [2]
    assert cells.session_of(journal.directory) == "s/1"
    path_of(journal).unlink()
    os.rmdir(journal.directory)
    journal.append(Cell(3, 0.0))
    assert [cell.number for cell in journal.entries()] == [3] and journal.last == 3


def test_a_full_file_is_put_aside_and_the_newest_part_kept(
    journal: CellJournal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells, "ROTATE_BYTES", 4000)
    other = CellJournal(tmp_path, "s/1")
    for number in range(1, 101):
        (journal if number % 2 else other).append(Cell(number, 0.0, True, "x" * 200))
    numbers = [cell.number for cell in journal.entries()]
    assert numbers == list(range(numbers[0], 101)) and 15 < len(numbers) < 100
    assert journal.last == other.last == CellJournal(tmp_path, "s/1").last == 100
    assert sorted(os.listdir(journal.directory)) == [cells.OLDER_NAME, cells.FILE_NAME]
    assert sum(path.stat().st_size for path in journal.directory.iterdir()) < 9000
    assert cells.session_of(journal.directory) == "s/1"


def test_a_number_is_found_however_long_the_lines_behind_it_are(journal: CellJournal, tmp_path: Path) -> None:
    journal.append(Cell(9, 0.0, True, "a"))
    with open(path_of(journal), "ab") as file:
        file.write(b"x" * 3_000_000 + b"\n")
    assert CellJournal(tmp_path, "s/1").last == 9


def test_threads_and_descriptors(journal: CellJournal) -> None:
    def work(start: int) -> None:
        for number in range(start, start + 50):
            journal.append(Cell(number, 0.0, True, f"x = {number}" * 50))
            if number % 10 == 0:
                journal.close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(0, 400, 50)))
    assert sorted(cell.number for cell in journal.entries()) == list(range(400))
    assert journal.last == 399


def test_descriptors_are_given_back(tmp_path: Path) -> None:
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("no list of descriptors here")
    before = len(os.listdir("/proc/self/fd"))
    journals = [CellJournal(tmp_path, str(number)) for number in range(20)]
    for journal in journals:
        journal.append(Cell(1, 0.0))
        journal.append(Cell(2, 0.0))
        journal.close()
        journal.close()
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_link_is_not_written_through(journal: CellJournal, tmp_path: Path) -> None:
    journal.directory.mkdir(parents=True)
    target = tmp_path / "elsewhere"
    target.write_text("mine\n")
    path_of(journal).symlink_to(target)
    with pytest.raises(OSError):
        journal.append(Cell(1, 0.0))
    assert target.read_text() == "mine\n"


def test_a_place_that_cannot_be_written_is_an_error_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    journal = CellJournal(tmp_path, "s")
    with pytest.raises(OSError):
        journal.append(Cell(1, 0.0))
    assert journal.last == 0


def test_the_time_of_an_append_does_not_grow_with_the_journal(journal: CellJournal) -> None:
    def seconds() -> float:
        start = time.process_time()
        for number in range(200):
            journal.append(Cell(number, 0.0, True, "x = 1"))
        return time.process_time() - start

    first = min(seconds() for _ in range(3))
    for number in range(3000):
        journal.append(Cell(number, 0.0, True, "y = 1" * 100))
    assert min(seconds() for _ in range(3)) < first * 20


def test_every_line_is_ascii_json(journal: CellJournal) -> None:
    journal.append(Cell(1, 0.0, True, "\u2028\x85\ud83d", ("\u00e4",)))
    lines = path_of(journal).read_bytes().splitlines()
    assert len(lines) == 2
    assert json.loads(lines[0]) == {"format": cells.FORMAT, "session": "s/1"}
    assert all(line.isascii() for line in lines)


def test_sessions_do_not_meet(tmp_path: Path) -> None:
    ids = ["a/b", "a-b", "a_b", "A-b", "..", "x" * 10_240, "\ud800", "n\x00"]
    barrier = threading.Barrier(len(ids))

    def work(session_id: str) -> None:
        barrier.wait()
        CellJournal(tmp_path, session_id).append(Cell(1, 0.0, True, "own = 1", ("own",)))

    with ThreadPoolExecutor(len(ids)) as threads:
        list(threads.map(work, ids))
    for session_id in ids:
        found = cells.read(sessions.directory(tmp_path, session_id))
        assert (found.session_id, len(found.cells)) == (session_id, 1)
