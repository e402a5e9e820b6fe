"""The home is the host's answer of this very call; directories made below it are private."""

import os
import stat
import subprocess
import sys
import types
from ast import literal_eval
from pathlib import Path

import pytest

from hermes_unroll._common import home

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def without_host(monkeypatch):
    monkeypatch.delitem(sys.modules, "hermes_constants", raising=False)
    monkeypatch.setattr(home, "_host_is_missing", True)


@pytest.fixture
def wide_umask():
    before = os.umask(0o002)
    yield
    os.umask(before)


def test_home_follows_the_host_from_call_to_call(monkeypatch):
    answers = iter(["/profiles/a", Path("/profiles/b")])
    host = types.SimpleNamespace(get_hermes_home=lambda: next(answers))
    monkeypatch.setitem(sys.modules, "hermes_constants", host)
    monkeypatch.setenv("HERMES_HOME", "/elsewhere")
    assert [home.hermes_home(), home.hermes_home()] == [Path("/profiles/a"), Path("/profiles/b")]


def test_home_without_the_host_is_the_environment_of_the_moment(monkeypatch, without_host):
    monkeypatch.setenv("HERMES_HOME", " /data/one ")
    monkeypatch.setenv("HOME", "/data/one/home")
    assert home.hermes_home() == Path("/data/one")
    monkeypatch.setenv("HERMES_HOME", "/data/two")
    assert home.hermes_home() == Path("/data/two")


@pytest.mark.parametrize("unset", [None, "", "  "])
def test_home_without_any_name_is_the_default_below_the_users_home(monkeypatch, without_host, unset):
    monkeypatch.delenv("HERMES_HOME", raising=False)
    if unset is not None:
        monkeypatch.setenv("HERMES_HOME", unset)
    monkeypatch.setenv("HOME", "/home/someone")
    assert home.hermes_home() == Path("/home/someone/.hermes")


def test_home_on_windows_is_below_the_local_application_data(monkeypatch, without_host):
    monkeypatch.delenv("HERMES_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", "/users/me/local")
    assert home.hermes_home() == Path("/users/me/local/hermes")


def test_home_is_not_created_by_asking(monkeypatch, without_host, tmp_path):
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "new"))
    home.hermes_home()
    assert not (tmp_path / "new").exists()


def test_home_agrees_with_the_real_host_also_inside_a_task_of_another_profile(monkeypatch, tmp_path):
    host = pytest.importorskip("hermes_constants", reason="hermes-agent is not installed")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    assert home.hermes_home() == tmp_path
    token = host.set_hermes_home_override(tmp_path / "profiles" / "b")
    try:
        assert home.hermes_home() == tmp_path / "profiles" / "b"
    finally:
        host.reset_hermes_home_override(token)
    assert home.hermes_home() == tmp_path


def test_home_imports_nothing_of_the_host_but_its_constants(tmp_path):
    pytest.importorskip("hermes_constants", reason="hermes-agent is not installed")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from hermes_unroll._common.home import hermes_home\n"
        "print(hermes_home()); print(sorted(m for m in sys.modules if m.startswith(('hermes_', 'agent'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT)],
        env={**os.environ, "HERMES_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    told, modules = done.stdout.splitlines()
    assert told == str(tmp_path)
    assert [name for name in literal_eval(modules) if not name.startswith("hermes_unroll")] == [
        "hermes_constants"
    ]


def test_private_dir_makes_every_missing_level_private(tmp_path, wide_umask):
    made = home.private_dir(tmp_path / "a" / "b" / "c")
    assert made == tmp_path / "a" / "b" / "c"
    for level in (made, made.parent, made.parent.parent):
        assert stat.S_IMODE(level.stat().st_mode) == 0o700
    assert home.private_dir(made) == made


def test_private_dir_leaves_the_mode_of_what_exists(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o770)
    home.private_dir(shared / "below")
    assert stat.S_IMODE(shared.stat().st_mode) == 0o770


def test_private_dir_refuses_a_file_in_the_way(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError):
        home.private_dir(tmp_path / "file")
    with pytest.raises(OSError):
        home.private_dir(tmp_path / "file" / "below")
