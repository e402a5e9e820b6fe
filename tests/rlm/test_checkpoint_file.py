"""A checkpoint file is unpickled only when it is ours, private, unchanged and of the right session."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes_rlm.kernel.child.definitions import Definitions
from hermes_rlm.kernel.child.saving import restore, save
from hermes_rlm.kernel.child.saving.format import CHUNK, MAGIC, digests_on_disk, signature

KEY = b"k" * 32
unpickled: list[int] = []


class Trap:
    """Tells when it is unpickled."""

    def __init__(self) -> None:
        self.armed = True

    def __setstate__(self, state: dict) -> None:
        unpickled.append(1)


def write(path: Path, values: dict, session: str = "s") -> bytes:
    options = {"path": str(path), "key": KEY, "session": session, "name": "n", "cell": 7, "limit": 1 << 30}
    assert save(values, Definitions(), **options)["ok"]
    unpickled.clear()
    return path.read_bytes()


def read(path: Path, *, key: bytes = KEY, session: str | None = "s") -> tuple[dict, dict]:
    names: dict = {}
    return restore(names, Definitions(), path=str(path), key=key, overwrite=False, session=session), names


def is_refused(path: Path, why: str, **options: object) -> None:
    reply, names = read(path, **options)
    assert reply["ok"] is False and why in reply["error"], reply
    assert names == {} and unpickled == [] and reply["restored"] == []


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    """A place to write files to, and a valid file."""
    directory = tmp_path_factory.mktemp("checkpoints")
    return directory / "changed", write(
        directory / "a", {"trap": Trap(), "json": json, "data": [1, "x" * 50]}
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write(tmp_path / "a", {"trap": Trap()})
    return tmp_path / "a"


def put(path: Path, content: bytes) -> Path:
    path.unlink(missing_ok=True)
    path.touch(0o600)
    path.write_bytes(content)
    unpickled.clear()
    return path


def signed(content: bytes, path: Path) -> Path:
    """Put a file whose signature fits whatever is in it."""
    put(path, content)
    descriptor = os.open(path, os.O_RDONLY)
    digests = digests_on_disk(descriptor, len(content))
    os.close(descriptor)
    return put(path, content + signature(KEY, len(content), digests))


def with_manifest(content: bytes, **changes: object) -> bytes:
    """An unsigned file with other fields in its manifest."""
    length = int.from_bytes(content[-40:-32], "big")
    start = len(content) - 40 - length
    text = json.dumps({**json.loads(content[start:-40]), **changes}).encode()
    return content[:start] + text + len(text).to_bytes(8, "big")


def test_an_untouched_file_is_restored(path: Path) -> None:
    reply, names = read(path)
    assert reply["ok"] and reply["restored"] == ["trap"] and reply["cell"] == 7 and reply["session"] == "s"
    assert unpickled == [1] and set(names) == {"trap"}


def test_files_are_private_and_leave_nothing_beside_them(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        write(tmp_path / "new" / "deep" / "a", {"x": 1})
    finally:
        os.umask(old)
    assert (tmp_path / "new" / "deep" / "a").stat().st_mode & 0o777 == 0o600
    assert (
        (tmp_path / "new").stat().st_mode & 0o777
        == (tmp_path / "new" / "deep").stat().st_mode & 0o777
        == 0o700
    )
    assert os.listdir(tmp_path / "new" / "deep") == ["a"]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.floats(0, 1), flip=st.integers(1, 255))
def test_a_changed_byte_anywhere_is_refused(sample: tuple[Path, bytes], where: float, flip: int) -> None:
    place, content = sample
    index = min(int(where * len(content)), len(content) - 1)
    is_refused(put(place, content[:index] + bytes([content[index] ^ flip]) + content[index + 1 :]), "refused")


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_cut_moved_or_grown_file_is_refused(sample: tuple[Path, bytes], data: st.DataObject) -> None:
    place, content = sample
    start = data.draw(st.integers(0, len(content) - 1))
    length = data.draw(st.integers(1, len(content) - start))
    piece = content[start : start + length]
    for changed in (
        content[:start],
        content[:start] + content[start + length :],
        content[:start] + piece + content[start:],
    ):
        is_refused(put(place, changed), "refused")


def test_a_change_in_a_large_file_is_refused_wherever_it_is(tmp_path: Path) -> None:
    content = bytearray(write(tmp_path / "a", {"big": bytes(3 * CHUNK), "trap": Trap()}))
    for index in (CHUNK - 1, CHUNK, 2 * CHUNK + 5, 3 * CHUNK - 1):
        content[index] ^= 1
        is_refused(put(tmp_path / "b", bytes(content)), "altered")
        content[index] ^= 1
    assert read(put(tmp_path / "b", bytes(content)))[0]["ok"]


@pytest.mark.parametrize(
    "content", [b"", b"x", MAGIC, MAGIC + bytes(8 + 32), b"\x80\x05K\x01.", bytes(10_000)]
)
def test_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    is_refused(put(tmp_path / "b", content), "refused")


def test_a_signature_of_another_home_is_refused(path: Path) -> None:
    is_refused(path, "altered", key=b"o" * 32)


def test_another_session_is_refused_unless_it_is_allowed(path: Path) -> None:
    is_refused(path, "another session", session="t")
    assert read(path, session=None)[0]["restored"] == ["trap"]


@pytest.mark.parametrize(("number", "word"), [(0, "older"), (-1, "older"), (2, "newer"), (10**30, "newer")])
def test_another_format_is_named(path: Path, number: int, word: str) -> None:
    is_refused(signed(with_manifest(path.read_bytes(), format=number), path), f"is {word} than format 1")


@pytest.mark.parametrize(
    "changes",
    [
        {"format": "1"},
        {"format": True},
        {"records": None},
        {"records": [5]},
        {"records": [{"kind": "other", "names": [], "types": [], "offset": 22, "length": 0}]},
        {"records": [{"kind": "value", "names": [], "types": [], "offset": 0, "length": 1}]},
        {"records": [{"kind": "value", "names": [], "types": [], "offset": 22, "length": 10**9}]},
        {"records": [{"kind": "value", "names": [3], "types": ["int"], "offset": 22, "length": 1}]},
        {"session": 5},
        {"saved_at": "now"},
    ],
)
def test_a_manifest_without_sense_is_refused(path: Path, changes: dict) -> None:
    is_refused(signed(with_manifest(path.read_bytes(), **changes), path), "refused")


def test_a_link_is_refused(path: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(path)
    is_refused(tmp_path / "link", "symbolic link")


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo", 0o600)
    is_refused(tmp_path / "fifo", "not a regular file")
    (tmp_path / "directory").mkdir(0o700)
    is_refused(tmp_path / "directory", "not a regular file")
    is_refused(tmp_path / "missing", "no such checkpoint")
    is_refused(tmp_path / "missing" / "deeper", "no such checkpoint")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601, 0o777])
def test_a_file_others_can_open_is_refused(path: Path, mode: int) -> None:
    path.chmod(mode)
    is_refused(path, f"0{mode:o}")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_somebody_else_is_refused(path: Path) -> None:
    os.chown(path, 12345, -1)
    is_refused(path, "12345")


def test_a_name_of_main_is_never_imported(tmp_path: Path) -> None:
    import pickle

    content = write(tmp_path / "a", {"x": 1})
    evil = pickle.dumps({"x": 1}).replace(b"K\x01", b"c__main__\nsystem\n")
    length = int.from_bytes(content[-40:-32], "big")
    manifest = content[len(content) - 40 - length : -32]
    record = {"kind": "value", "names": ["x"], "types": ["int"], "offset": len(MAGIC), "length": len(evil)}
    path = signed(with_manifest(MAGIC + evil + manifest + bytes(32), records=[record]), tmp_path / "b")
    reply, names = read(path)
    assert (
        reply["ok"] and reply["restored"] == [] and "system" in reply["failed"][0]["reason"] and names == {}
    )
