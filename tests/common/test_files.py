"""Files are private, whole or absent, and never written through a link; dead processes are told apart."""

import errno
import os
import signal
import stat
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_unroll._common import files
from hermes_unroll._common.files import (
    FileLock,
    append_line,
    is_alive,
    open_append,
    process_start_time,
    read_complete_lines,
    torn_tail,
    write_atomic,
)

ROOT = Path(__file__).resolve().parents[2]
PRELUDE = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from hermes_unroll._common.files import *\n"

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def start(code, *args):
    return subprocess.Popen(
        [sys.executable, "-c", PRELUDE + code, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def end(process):
    if process.poll() is None:
        process.kill()
    process.communicate()


# --- atomic writes


def test_a_new_file_and_its_folders_are_private(tmp_path):
    before = os.umask(0)
    try:
        path = write_atomic(tmp_path / "a" / "b" / "file", "é")
    finally:
        os.umask(before)
    assert path.read_bytes() == "é".encode()
    assert (mode_of(path), mode_of(path.parent), mode_of(path.parent.parent)) == (0o600, 0o700, 0o700)


@pytest.mark.parametrize("mode", [0o640, 0o664, 0o400, 0o755])
def test_an_existing_file_keeps_its_mode(tmp_path, mode):
    path = tmp_path / "shared"
    path.write_text("old")
    path.chmod(mode)
    write_atomic(path, b"new")
    assert (path.read_bytes(), mode_of(path)) == (b"new", mode)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to give files away")
def test_an_existing_file_keeps_its_group_and_owner(tmp_path):
    path = tmp_path / "shared"
    path.write_text("old")
    os.chown(path, 12345, 23456)
    write_atomic(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_a_failed_write_leaves_the_old_content_and_no_litter(tmp_path, monkeypatch):
    path = write_atomic(tmp_path / "file", b"old")

    def full(fd, data):
        raise OSError(errno.ENOSPC, "disk full")

    monkeypatch.setattr(files.os, "write", full)
    with pytest.raises(OSError, match="disk full"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_content_is_on_the_disk_before_the_name_and_the_name_before_returning(tmp_path, monkeypatch):
    steps = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(fd):
        steps.append("folder" if stat.S_ISDIR(os.fstat(fd).st_mode) else "file")
        real_fsync(fd)

    def replace(source, target):
        steps.append("replace")
        real_replace(source, target)

    monkeypatch.setattr(files.os, "fsync", fsync)
    monkeypatch.setattr(files.os, "replace", replace)
    write_atomic(tmp_path / "file", b"x")
    assert steps == ["file", "replace", "folder"]
    steps.clear()
    write_atomic(tmp_path / "file", b"x", durable=False)
    assert steps == ["replace"]


def test_writes_the_system_cuts_short_are_completed(tmp_path, monkeypatch):
    real_write = os.write
    monkeypatch.setattr(files.os, "write", lambda fd, data: real_write(fd, bytes(data)[:7]))
    assert write_atomic(tmp_path / "file", b"0123456789" * 5).read_bytes() == b"0123456789" * 5


def test_readers_see_the_old_or_the_new_content_never_a_mixture(tmp_path):
    path = write_atomic(tmp_path / "file", b"0" * 200_000)
    writer = start(
        "for n in range(60): write_atomic(sys.argv[1], str(n % 10) * 200_000, durable=False)", path
    )
    try:
        seen = set()
        while writer.poll() is None:
            content = path.read_bytes()
            assert len(content) == 200_000 and len(set(content)) == 1
            seen.add(content[:1])
        assert writer.returncode == 0 and seen
    finally:
        end(writer)


def test_a_link_is_refused_and_its_target_untouched(tmp_path):
    target = tmp_path / "target"
    target.write_text("theirs")
    link = tmp_path / "ours"
    link.symlink_to(target)
    for write in (write_atomic, append_line):
        with pytest.raises(OSError) as refused:
            write(link, b"x")
        assert refused.value.errno == errno.ELOOP
    with pytest.raises(OSError):
        FileLock(link).acquire()
    assert link.is_symlink() and target.read_text() == "theirs"


def test_a_dangling_link_is_not_followed_either(tmp_path):
    (tmp_path / "ours").symlink_to(tmp_path / "nowhere")
    for write in (write_atomic, append_line):
        with pytest.raises(OSError):
            write(tmp_path / "ours", b"x")
    assert not (tmp_path / "nowhere").exists()


def test_a_linked_folder_above_is_fine(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "disk")
    write_atomic(tmp_path / "home" / "x" / "file", b"1")
    assert (tmp_path / "disk" / "x" / "file").read_bytes() == b"1"


def test_a_pipe_or_folder_in_the_place_of_a_file_is_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("folder", "pipe"):
        for write in (write_atomic, append_line):
            with pytest.raises(OSError):
                write(tmp_path / name, b"x")


def test_a_name_of_full_length_can_be_written(tmp_path):
    name = "n" * 255
    write_atomic(tmp_path / name, b"1")
    write_atomic(tmp_path / name, b"2")
    assert (tmp_path / name).read_bytes() == b"2"


def test_a_busy_target_on_windows_is_tried_again_and_elsewhere_reported(tmp_path, monkeypatch):
    busy, pauses = [3], []
    real_replace = os.replace

    def replace(source, target):
        if busy[0]:
            busy[0] -= 1
            raise PermissionError(errno.EACCES, "in use")
        real_replace(source, target)

    source = tmp_path / "source"
    source.write_text("x")
    monkeypatch.setattr(files.os, "replace", replace)
    monkeypatch.setattr(files.time, "sleep", pauses.append)
    with pytest.raises(PermissionError):
        files._replace(source, tmp_path / "target")
    monkeypatch.setattr(files, "os", types.SimpleNamespace(**{**vars(os), "name": "nt"}))
    files._replace(source, tmp_path / "target")
    assert (tmp_path / "target").exists() and len(pauses) == 2 and all(0 < p < 1 for p in pauses)
    busy[0] = 1000
    (tmp_path / "source").write_text("y")
    with pytest.raises(PermissionError):
        files._replace(source, tmp_path / "target")


# --- appended lines


def test_a_line_is_one_write_on_an_appending_private_descriptor(tmp_path, monkeypatch):
    fd = open_append(tmp_path / "new" / "log")
    try:
        writes = []
        real_write = os.write
        monkeypatch.setattr(files.os, "write", lambda fd, data: writes.append(data) or real_write(fd, data))
        assert append_line(fd, b"one") == 4
        assert append_line(fd, b"two\n") == 4
        assert writes == [b"one\n", b"two\n"]
    finally:
        os.close(fd)
    assert mode_of(tmp_path / "new" / "log") == 0o600
    assert append_line(tmp_path / "new" / "log", b"three") == 6
    assert list(read_complete_lines(tmp_path / "new" / "log")) == [b"one", b"two", b"three"]


def test_a_newline_inside_a_line_is_refused(tmp_path):
    for line in (b"a\nb", b"\na", b"a\n\n"):
        with pytest.raises(ValueError):
            append_line(tmp_path / "log", line)
    assert not (tmp_path / "log").exists()


def test_processes_appending_at_once_do_not_tear_each_others_lines(tmp_path):
    log = tmp_path / "log"
    code = (
        "fd = open_append(sys.argv[1]); input()\n"
        "for n in range(200): append_line(fd, (sys.argv[2] * (1 + n * 37 % 9000)).encode())"
    )
    writers = [start(code, log, letter) for letter in "abc"]
    try:
        while not log.exists():
            time.sleep(0.001)
        for writer in writers:
            writer.stdin.write("go\n")
            writer.stdin.flush()
        assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    finally:
        for writer in writers:
            end(writer)
    lines = list(read_complete_lines(log))
    assert len(lines) == 600 and torn_tail(log) == 0
    for letter in b"abc":
        own = sorted(len(line) for line in lines if line[0] == letter)
        assert own == sorted(1 + n * 37 % 9000 for n in range(200))
    assert all(len(set(line)) == 1 for line in lines)


def test_a_line_the_system_takes_in_parts_is_completed(tmp_path, monkeypatch):
    real_write = os.write
    monkeypatch.setattr(files.os, "write", lambda fd, data: real_write(fd, bytes(data)[:3]))
    assert append_line(tmp_path / "log", b"0123456789") == 11
    assert list(read_complete_lines(tmp_path / "log")) == [b"0123456789"]


def test_a_disk_that_fills_within_a_line_does_not_spoil_the_next_one(tmp_path, monkeypatch):
    real_write, left = os.write, [4]

    def write(fd, data):
        if len(data) > left[0] and not left[0]:
            raise OSError(errno.ENOSPC, "disk full")
        taken = real_write(fd, bytes(data)[: left[0]])
        left[0] -= taken
        return taken

    monkeypatch.setattr(files.os, "write", write)
    with pytest.raises(OSError, match="disk full"):
        append_line(tmp_path / "log", b"0123456789")
    monkeypatch.undo()
    assert torn_tail(tmp_path / "log") == 4
    append_line(tmp_path / "log", b"next")
    assert list(read_complete_lines(tmp_path / "log")) == [b"0123", b"next"]


def test_every_finished_line_survives_kill(tmp_path):
    code = (
        "fd = open_append(sys.argv[1]); n = 0\n"
        "while True:\n"
        "    append_line(fd, b'%d ' % n + b'x' * 5000)\n"
        "    print(n, flush=True); n += 1"
    )
    writer = start(code, tmp_path / "log")
    try:
        for _ in range(20):
            last = int(writer.stdout.readline())
        os.kill(writer.pid, signal.SIGKILL)
    finally:
        end(writer)
    lines = list(read_complete_lines(tmp_path / "log"))
    assert [int(line.split()[0]) for line in lines] == list(range(len(lines))) and len(lines) > last
    assert all(len(line.split()[1]) == 5000 for line in lines)


def test_a_torn_last_line_is_left_out_measured_and_closed_by_the_next_writer(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b"one\n\ntwo\nthr")
    assert list(read_complete_lines(log)) == [b"one", b"two"]
    assert torn_tail(log) == 3
    append_line(log, b"four")
    assert log.read_bytes() == b"one\n\ntwo\nthr\nfour\n" and torn_tail(log) == 0


@pytest.mark.parametrize(
    ("content", "tail"),
    [(b"", 0), (b"\n", 0), (b"x", 1), (b"x" * 3_000_000, 3_000_000), (b"\n" + b"x" * 1_048_576, 1_048_576)],
)
def test_a_torn_tail_is_measured_however_long(tmp_path, content, tail):
    (tmp_path / "log").write_bytes(content)
    assert torn_tail(tmp_path / "log") == tail


def test_a_missing_file_is_an_error_not_an_empty_one(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(read_complete_lines(tmp_path / "none"))
    with pytest.raises(FileNotFoundError):
        torn_tail(tmp_path / "none")


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"")), max_size=20),
    st.binary(max_size=9),
)
def test_what_was_appended_is_what_is_read(tmp_path_factory, lines, torn):
    log = tmp_path_factory.mktemp("log") / "log"
    log.touch()
    for line in lines:
        append_line(log, line)
    with open(log, "ab") as file:
        file.write(torn.replace(b"\n", b""))
    assert list(read_complete_lines(log)) == [line for line in lines if line]


# --- locks


def test_two_objects_exclude_each_other_and_the_holder_is_named(tmp_path):
    first, second = FileLock(tmp_path / "new" / "lock"), FileLock(tmp_path / "new" / "lock")
    assert first.acquire() and first.held and first.holder() == os.getpid()
    assert not second.acquire() and not second.held
    with pytest.raises(BlockingIOError, match=f"process {os.getpid()}"), second:
        pass
    with pytest.raises(RuntimeError):
        first.acquire()
    first.release()
    first.release()
    assert first.holder() is None
    with second:
        assert second.held
    assert not second.held and mode_of(tmp_path / "new" / "lock") == 0o600


def test_a_lock_waits_no_longer_than_asked(tmp_path, monkeypatch):
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    first.acquire()
    clock, pauses = [0.0], []

    def sleep(seconds):
        pauses.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(files, "time", types.SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep))
    assert not second.acquire(timeout=2.0)
    assert clock[0] == pytest.approx(2.0) and max(pauses) <= 0.1
    first.release()


def test_a_waiting_lock_is_taken_when_it_comes_free(tmp_path, monkeypatch):
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    first.acquire()
    monkeypatch.setattr(files.time, "sleep", lambda seconds: first.release())
    assert second.acquire(timeout=30)
    second.release()


def test_a_lock_held_elsewhere_is_refused_until_its_holder_is_killed(tmp_path):
    lock = FileLock(tmp_path / "lock")
    other = start(
        "lock = FileLock(sys.argv[1]); lock.acquire(); print('held', flush=True); input()", lock.path
    )
    try:
        assert other.stdout.readline() == "held\n"
        assert not lock.acquire() and lock.holder() == other.pid
    finally:
        end(other)
    assert lock.acquire(timeout=10) and lock.holder() == os.getpid()
    lock.release()


def test_a_forked_child_does_not_keep_a_lock_that_was_given_back(tmp_path):
    lock = FileLock(tmp_path / "lock")
    lock.acquire()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    try:
        lock.release()
        second = FileLock(tmp_path / "lock")
        assert second.acquire()
        second.release()
    finally:
        os.close(write)
        os.close(read)
        os.waitpid(child, 0)


def test_a_file_that_cannot_be_locked_at_all_is_an_error_not_a_refusal(tmp_path, monkeypatch):
    (tmp_path / "lock").mkdir()
    with pytest.raises(OSError):
        FileLock(tmp_path / "lock").acquire()
    monkeypatch.setattr(files, "fcntl", None)
    monkeypatch.setattr(files, "msvcrt", None)
    with pytest.raises(OSError, match="no file locks"):
        FileLock(tmp_path / "other").acquire()


def test_windows_locks_one_byte_behind_the_text(tmp_path, monkeypatch):
    locked = {}

    def locking(fd, how, size):
        byte = (os.fstat(fd).st_ino, os.lseek(fd, 0, os.SEEK_CUR), size)
        if how == 0:
            assert locked.pop(byte) == fd
        elif byte in locked:
            raise PermissionError(errno.EACCES, "locked")
        else:
            locked[byte] = fd

    monkeypatch.setattr(files, "fcntl", None)
    monkeypatch.setattr(files, "msvcrt", types.SimpleNamespace(LK_NBLCK=2, LK_UNLCK=0, locking=locking))
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert first.acquire() and not second.acquire() and first.holder() == os.getpid()
    first.release()
    assert not locked and second.acquire()
    second.release()


# --- processes


@linux
def test_this_process_is_alive_and_keeps_its_start_time():
    started = process_start_time()
    assert isinstance(started, int) and started == process_start_time(os.getpid())
    assert is_alive(os.getpid(), started) is True
    assert is_alive(os.getpid(), str(started)) is True


@linux
def test_a_reused_id_is_not_the_old_process():
    assert is_alive(os.getpid(), process_start_time() - 1) is False


@linux
def test_an_ended_process_is_dead_with_or_without_its_start_time():
    other = start("input()")
    pid, started = other.pid, process_start_time(other.pid)
    try:
        assert is_alive(pid, started) is True
        other.kill()
        deadline = time.monotonic() + 30
        while is_alive(pid, started) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert is_alive(pid, started) is False, "a zombie is dead"
    finally:
        end(other)
    assert is_alive(pid, started) is False and is_alive(pid, None) is False
    assert process_start_time(pid) is None


@linux
def test_a_running_id_without_a_start_time_is_unknown():
    assert is_alive(os.getpid(), None) is None


@pytest.mark.parametrize("pid", [None, 0, -1, True, "12", 1.5])
def test_what_is_no_process_id_is_unknown(pid):
    assert is_alive(pid, 1) is None


def test_an_impossible_id_is_nobody():
    assert is_alive(2**70, 1) is False


@linux
def test_a_process_name_with_brackets_and_spaces_does_not_shift_the_fields(tmp_path):
    odd = tmp_path / "a) R 1 (b"
    odd.symlink_to("/bin/sleep")
    other = subprocess.Popen([str(odd), "60"])
    try:
        deadline = time.monotonic() + 30
        while b") R" not in Path(f"/proc/{other.pid}/comm").read_bytes() and time.monotonic() < deadline:
            time.sleep(0.01)
        ticks = os.sysconf("SC_CLK_TCK")
        uptime = float(Path("/proc/uptime").read_text().split()[0])
        assert 0 <= uptime - process_start_time(other.pid) / ticks < 120
    finally:
        other.kill()
        other.wait()


def test_where_processes_cannot_be_probed_only_this_one_is_known(monkeypatch):
    monkeypatch.setattr(files.sys, "platform", "win32")
    monkeypatch.setattr(files, "os", types.SimpleNamespace(name="nt", getpid=lambda: 77))
    assert (is_alive(77, None), is_alive(78, 1), process_start_time()) == (True, None, None)


def test_on_macos_the_start_time_is_what_ps_tells(monkeypatch):
    monkeypatch.setattr(files.sys, "platform", "darwin")
    monkeypatch.setattr(files, "_ps_start", lambda pid: "Sat Nov 28 10:00:00 2026")
    assert process_start_time() == "Sat Nov 28 10:00:00 2026"
    assert is_alive(os.getpid(), "Sat Nov 28 10:00:00 2026") is True
    assert is_alive(os.getpid(), "Sat Nov 28 10:00:01 2026") is False
    monkeypatch.setattr(files, "_ps_start", lambda pid: None)
    assert is_alive(os.getpid(), "Sat Nov 28 10:00:00 2026") is None
    assert is_alive(2**70, "Sat Nov 28 10:00:00 2026") is False


def test_importing_pulls_in_nothing_heavy():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import hermes_unroll._common.files, hermes_unroll._common.home, hermes_unroll._common.config\n"
        "heavy = {'sqlite3', 'urllib.request', 'yaml', 'subprocess', 'asyncio', 'json', 'tempfile',\n"
        "         'random', 'logging', 'inspect', 'dataclasses', 'hermes_constants'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(ROOT)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
