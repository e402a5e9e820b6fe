"""Where a kernel reaches the bridge: a private place or none, and a pair where a path does not fit."""

from __future__ import annotations

import array
import os
import socket
import stat
from pathlib import Path

import pytest

from hermes_rlm import endpoint
from hermes_rlm.endpoint import PATH_BYTES, BridgeError, PairEndpoint, PathEndpoint, open_endpoint


def mode(path: Path) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


def test_directory_and_socket_are_the_users_alone(tmp_path):
    directory = tmp_path / "hermes-rlm-1" / "kernel"
    place = open_endpoint(directory)
    assert (mode(directory.parent), mode(directory), mode(place.path)) == (0o700, 0o700, 0o600)
    place.close()
    assert not directory.exists()


@pytest.mark.parametrize("bits", [0o770, 0o755, 0o777, 0o701])
def test_a_directory_others_can_enter_is_refused(tmp_path, bits):
    directory = tmp_path / "kernel"
    directory.mkdir()
    directory.chmod(bits)
    with pytest.raises(BridgeError, match=f"mode {bits:04o}"):
        open_endpoint(directory)


def test_a_directory_below_one_that_others_can_change_is_refused(tmp_path):
    above = tmp_path / "open"
    above.mkdir()
    above.chmod(0o777)
    with pytest.raises(BridgeError, match="0777"):
        open_endpoint(above / "kernel")
    above.chmod(0o1777)
    open_endpoint(above / "kernel").close()


@pytest.mark.parametrize("level", ["kernel", "above"])
def test_a_symlink_in_place_of_a_directory_is_refused(tmp_path, level):
    target = tmp_path / "target"
    target.mkdir(mode=0o700)
    (tmp_path / level).symlink_to(target)
    directory = tmp_path / "kernel" if level == "kernel" else tmp_path / "above" / "kernel"
    with pytest.raises(BridgeError, match="symbolic link"):
        open_endpoint(directory)
    assert not (target / "bridge.sock").exists()


def test_a_directory_of_another_user_is_refused(tmp_path, monkeypatch):
    directory = tmp_path / "kernel"
    directory.mkdir(mode=0o700)
    owner = os.geteuid()
    monkeypatch.setattr(endpoint.os, "geteuid", lambda: owner + 1)
    with pytest.raises(BridgeError, match=f"belongs to user {owner}"):
        open_endpoint(directory)


def test_what_is_no_directory_is_refused(tmp_path):
    (tmp_path / "kernel").write_text("")
    with pytest.raises(BridgeError, match="not a directory"):
        open_endpoint(tmp_path / "kernel")
    with pytest.raises(BridgeError):
        open_endpoint(tmp_path / "m" / "m" / "k")


def test_a_socket_that_is_there_already_is_not_taken_over(tmp_path):
    first = open_endpoint(tmp_path / "kernel")
    with pytest.raises(BridgeError, match=r"bridge\.sock"):
        open_endpoint(tmp_path / "kernel")
    first.close()


def test_a_path_too_long_for_a_socket_gives_a_pair(tmp_path):
    room = PATH_BYTES - len(os.fsencode(tmp_path)) - len("/" + "/bridge.sock")
    fits = open_endpoint(tmp_path / ("d" * room))
    assert isinstance(fits, PathEndpoint)
    fits.close()
    long = open_endpoint(tmp_path / ("d" * (room + 1)))
    assert isinstance(long, PairEndpoint)
    assert long.address == {"fd": long.child_fds[0]}
    long.close()
    assert os.listdir(tmp_path) == []


def send(place: PairEndpoint, *descriptors: int) -> None:
    rights = array.array("i", descriptors).tobytes()
    mailbox = socket.socket(fileno=os.dup(place.child_fds[0]))
    mailbox.sendmsg([b"c"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)] if descriptors else [])
    mailbox.close()


def test_one_end_of_a_pair_that_is_sent_becomes_a_connection():
    place = PairEndpoint()
    ours, theirs = socket.socketpair()
    send(place, theirs.fileno())
    connection = place.accept()
    ours.sendall(b"hello")
    assert connection.recv(5) == b"hello"
    assert place.accept() is None
    for end in (ours, theirs, connection, place):
        end.close()


def test_what_else_is_sent_is_closed_and_no_connection():
    place = PairEndpoint()
    reading, writing = os.pipe()
    ours, theirs = socket.socketpair()
    datagram, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    before = len(os.listdir("/dev/fd"))
    for descriptors in ((), (reading,), (ours.fileno(), theirs.fileno()), (datagram.fileno(),)):
        send(place, *descriptors)
        assert place.accept() is None
    assert len(os.listdir("/dev/fd")) == before
    for end in (ours, theirs, datagram, other, place):
        end.close()
    os.close(reading)
    os.close(writing)


def test_an_ended_child_leaves_nothing_to_accept():
    place = PairEndpoint()
    place.release_child_fds()
    assert place.accept() is None
    place.close()
