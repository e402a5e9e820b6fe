"""Each install alone, every pair of two, update and uninstall, with the host's own commands."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import tomllib

import hermes_unroll
from hermes_unroll import journal
from hermes_unroll.events import EventKind
from tests.host import installs
from tests.host.hermes import HermesHome, Run
from tests.host.installs import CHECKOUT, FOLDER, KINDS, PLUGIN, PROJECT, Kind, Repository
from tests.host.model_server import ModelServer, auxiliary_route

pytestmark = pytest.mark.host

QUESTION, ANSWER = "Say hello", "Hello from the model."
ONCE_A_TURN = (
    EventKind.SYSTEM_PROMPT,
    EventKind.USER_MESSAGE,
    EventKind.PRE_API_REQUEST,
    EventKind.TOOL_SCHEMAS,
    EventKind.POST_API_REQUEST,
    EventKind.TURN_END,
    EventKind.SESSION_END,
)

# Writes, while a turn is being answered, which file and name every callback of the host comes from.
WITNESS = """
import inspect, json
from hermes_cli.plugins import get_plugin_manager
from hermes_constants import get_hermes_home

def origin(callback):
    callback = inspect.unwrap(getattr(callback, "func", callback))
    return callback.__code__.co_filename

def look(**_):
    table = {hook: [origin(one) for one in found] for hook, found in get_plugin_manager()._hooks.items()}
    (get_hermes_home() / "witness.json").write_text(json.dumps(table))

def register(ctx):
    ctx.register_hook("pre_llm_call", look)
"""


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    answer = {"name": "main", "turns": [{"text": ANSWER}], "repeat": True}
    with ModelServer([auxiliary_route(), answer]) as server:
        yield server


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository(tmp_path_factory.mktemp("published"))


@pytest.fixture(scope="module")
def site(repository: Repository, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pip") / "site"
    repository.build_site(folder)
    return folder


@dataclass(frozen=True)
class Installed:
    """One kind of install after one session, with what the commands on the way showed."""

    kind: Kind
    home: HermesHome
    copy: Path
    shown: str
    before: list[tuple[str, str, str]]
    after: list[tuple[str, str, str]]
    session: Run


@pytest.fixture(scope="module", params=list(KINDS))
def installed(
    request: pytest.FixtureRequest, model: ModelServer, repository: Repository, site: Path
) -> Iterator[Installed]:
    kind = KINDS[request.param]
    with HermesHome(model.url) as home:
        home.write_plugin("witness", WITNESS)
        run = installs.install(home, repository, kind.name, site)
        before = installs.listed(home)
        installs.enable(home)
        after = installs.listed(home)
        session = installs.done(home.chat(QUESTION))
        shown = installs.said(run) if run else ""
        yield Installed(kind, home, installs.copy_path(home, kind.name, site), shown, before, after, session)


def version() -> str:
    """The version in the plugin's manifest."""
    return re.search(r"^version: (\S+)$", (CHECKOUT / FOLDER / "plugin.yaml").read_text("utf-8"), re.M)[1]


def hook_files(home: HermesHome) -> dict[str, list[str]]:
    """Hook name -> files of this plugin's callbacks, as the witness saw them in the last session."""
    table = json.loads((home.path / "witness.json").read_text("utf-8"))
    ours = {
        hook: [file for file in files if f"/{FOLDER}/" in file or f"/{PLUGIN}/" in file]
        for hook, files in table.items()
    }
    return {hook: files for hook, files in ours.items() if files}


def assert_recorded_once(home: HermesHome, session: Run, live: Path) -> None:
    """The session was heard by the copy at `live` alone, has one journal without doubles and one trace."""
    files = hook_files(home)
    assert {"on_session_start", "post_api_request", "post_tool_call", "on_session_finalize"} <= set(files)
    assert {hook: len(found) for hook, found in files.items()} == dict.fromkeys(files, 1)
    assert all(Path(found[0]).is_relative_to(live) for found in files.values())

    [directory] = (home.path / "traces" / "journal").iterdir()
    recorded = journal.load_session(directory)
    assert (recorded.session_id, recorded.damage) == (session.session_id, [])
    counts = Counter(event.kind for event in recorded.events)
    assert {kind: counts[kind] for kind in ONCE_A_TURN} == dict.fromkeys(ONCE_A_TURN, 1)

    [trace] = (home.path / "traces" / "unrolled").glob("*.py")
    replay = json.loads(installs.run_checked([sys.executable, "-I", str(trace)], home.project))
    assert replay["session_id"] == session.session_id
    said = [(message["role"], message["content"]) for message in replay["messages"]]
    assert [pair for pair in said if pair[0] != "system"] == [("user", QUESTION), ("assistant", ANSWER)]


def files_below(folder: Path) -> dict[str, bytes]:
    """Relative path -> content of every file below a folder."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def warnings_about_us(home: HermesHome) -> list[str]:
    """WARNING and worse of the host's logs that name this plugin, without their timestamps."""
    return [line.split(" ", 2)[2] for line in home.logs() if "unroll" in line]


def test_wheel_holds_the_plugin_folder_and_nothing_else(site: Path) -> None:
    folder = site / FOLDER
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {name for name in found if "__pycache__" not in name} == installs.plugin_files()
    assert sorted(path.name for path in site.iterdir()) == [
        FOLDER,
        f"{PROJECT.replace('-', '_')}-{version()}.dist-info",
    ]


def test_only_plugin_folders_hold_a_manifest() -> None:
    manifests = {
        name for name in installs.checkout_files() if Path(name).name in ("plugin.yaml", "plugin.yml")
    }
    shallow = {name for name in manifests if name.count("/") < 2}
    assert shallow == {f"{FOLDER}/plugin.yaml"}


def test_every_place_names_the_same_version() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    manifest = json.loads((CHECKOUT / FOLDER / "manifest.json").read_text("utf-8"))
    newest = re.search(r"^## (\S+)", (CHECKOUT / "CHANGELOG.md").read_text("utf-8"), re.M)[1]
    places = [project["version"], manifest["version"], hermes_unroll.__version__, newest]
    assert places == [version()] * 4


def test_install_does_not_turn_recording_on(installed: Installed) -> None:
    assert installed.before == [("not enabled", version(), installed.kind.source)]


def test_enable_by_the_plugin_name_works_in_every_install(installed: Installed) -> None:
    assert installed.after == [("enabled", version(), installed.kind.source)]
    assert installs.keys(installed.home, "enabled") == sorted(["witness", installed.kind.key])


def test_install_says_how_to_enable_check_and_turn_off(installed: Installed) -> None:
    text = installed.shown or (installed.copy / "after-install.md").read_text("utf-8")
    for command in (f"hermes plugins enable {PLUGIN}", "hermes unroll doctor", "/unroll off"):
        assert command in text


def test_each_hook_is_live_once_and_from_the_installed_copy(installed: Installed) -> None:
    assert_recorded_once(installed.home, installed.session, installed.copy)


def test_host_logs_nothing_against_the_plugin(installed: Installed) -> None:
    expected = [f"WARNING hermes_cli.plugins_cmd: {installs.WARNS_EVERY_TIME}"]
    assert warnings_about_us(installed.home) == (expected if installed.kind.name == "repository" else [])


@pytest.mark.parametrize("name", list(KINDS))
def test_update_brings_the_new_version_and_leaves_it_enabled(
    name: str, model: ModelServer, tmp_path: Path
) -> None:
    repository, site = Repository(tmp_path), tmp_path / "site"
    with HermesHome(model.url) as home:
        if name == "pip":
            repository.build_site(site)
        installs.install(home, repository, name, site)
        installs.enable(home)
        repository.release("99.0.0")
        if name == "repository":
            installs.done(home.run("plugins", "update", PROJECT))
        else:
            refused = home.run("plugins", "update", PLUGIN)
            assert refused.returncode == 1
            assert ("not found" if name == "pip" else "not installed from git") in installs.said(refused)
            if name == "pip":
                repository.build_site(site)
            else:
                installs.install(home, repository, name, site, "--force")
        assert installs.listed(home) == [("enabled", "99.0.0", KINDS[name].source)]


@pytest.mark.parametrize("name", list(KINDS))
def test_disabled_records_nothing_and_removal_keeps_the_traces(
    name: str, model: ModelServer, repository: Repository, site: Path
) -> None:
    with HermesHome(model.url) as home:
        installs.install(home, repository, name, site)
        installs.enable(home)
        installs.done(home.chat(QUESTION))
        recorded = files_below(home.path / "traces")
        assert recorded
        installs.disable(home)
        installs.done(home.chat("Say hello again"))
        assert installs.listed(home) == [("disabled", version(), KINDS[name].source)]
        if name == "pip":
            del home.variables["PYTHONPATH"]
        else:
            installs.done(home.run("plugins", "remove", PROJECT if name == "repository" else PLUGIN))
        assert installs.listed(home) == []
        assert home.run("unroll", "list").returncode == 2
        assert files_below(home.path / "traces") == recorded
        assert installs.keys(home, "enabled") == []


def test_removing_without_disabling_leaves_the_next_install_enabled(
    model: ModelServer, repository: Repository, site: Path
) -> None:
    with HermesHome(model.url) as home:
        installs.install(home, repository, "folder", site)
        installs.enable(home)
        installs.done(home.run("plugins", "remove", PLUGIN))
        assert home.run("plugins", "disable", PLUGIN).returncode == 1
        installs.install(home, repository, "repository", site)
        assert installs.listed(home) == [("enabled", version(), "user")]


@dataclass(frozen=True)
class Pair:
    """Two copies in one home: installed in this order, enabled by name after the first or after both.

    `live` is the copy whose hooks run; `idle` the one that was loaded too and stood back, None when the
    host itself loaded only one.
    """

    first: str
    second: str
    enabled_after: str
    live: str
    idle: str | None
    listed: list[tuple[str, str]]


ON, OFF = "enabled", "not enabled"
PAIRS = [
    Pair("folder", "repository", "both", "folder", "repository", [(ON, "user"), (ON, "user")]),
    Pair("folder", "pip", "both", "pip", None, [(ON, "entrypoint")]),
    Pair("repository", "pip", "both", "repository", None, [(ON, "user"), (OFF, "entrypoint")]),
    Pair("pip", "repository", "first", "repository", "pip", [(ON, "user"), (ON, "entrypoint")]),
]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.first}-then-{pair.second}")
def test_two_copies_record_a_session_once(
    pair: Pair, model: ModelServer, repository: Repository, site: Path
) -> None:
    with HermesHome(model.url) as home:
        home.write_plugin("witness", WITNESS)
        installs.install(home, repository, pair.first, site)
        if pair.enabled_after == "first":
            installs.enable(home)
        installs.install(home, repository, pair.second, site)
        if pair.enabled_after == "both":
            installs.enable(home)
        assert [(status, source) for status, _, source in installs.listed(home)] == pair.listed
        session = installs.done(home.chat(QUESTION))
        live = installs.copy_path(home, pair.live, site)
        assert_recorded_once(home, session, live)
        told = [line for line in warnings_about_us(home) if installs.WARNS_EVERY_TIME not in line]
        if pair.idle is None:
            assert told == []
        else:
            idle = installs.copy_path(home, pair.idle, site)
            assert len(told) == 1
            assert str(live) in told[0] and str(idle) in told[0]
        doctor = home.run("unroll", "doctor").stdout
        for name in (pair.first, pair.second):
            assert str(installs.copy_path(home, name, site)) in doctor
