"""Each install alone, every pair of two, update and uninstall, with the host's own commands.

All plugins of the repository are installed into the same homes and work in the same sessions: what
hermes-unroll has recorded of a session shows what hermes-rlm did in it.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import tomllib

from hermes_unroll import journal
from hermes_unroll.events import EventKind
from tests.host import installs, kernels
from tests.host.hermes import HermesHome, Run
from tests.host.installs import (
    CHECKOUT,
    KINDS,
    OPS,
    PLUGINS,
    PROJECT,
    RLM,
    UNROLL,
    Kind,
    Listed,
    Plugin,
    Repository,
)
from tests.host.model_server import ModelServer, auxiliary_route

pytestmark = pytest.mark.host

QUESTION, ANSWER = "Ask the kernel", "It lives there."
OTHER_QUESTION = "Say hello"
# The answer is the file that the kernel process was loaded from.
CELL = kernels.cell("import sys\nsys.modules['_hermes_rlm_kernel'].__file__", "where")
ONCE, ONCE_A_REQUEST = 1, 2
RECORDED = {
    EventKind.SYSTEM_PROMPT: ONCE,
    EventKind.USER_MESSAGE: ONCE,
    EventKind.TOOL_SCHEMAS: ONCE,
    EventKind.PRE_API_REQUEST: ONCE_A_REQUEST,
    EventKind.POST_API_REQUEST: ONCE_A_REQUEST,
    EventKind.TOOL_CALL: ONCE,
    EventKind.TURN_END: ONCE,
    EventKind.SESSION_END: ONCE,
}
HOOKS = {
    UNROLL: {"on_session_start", "post_api_request", "post_tool_call", "on_session_finalize"},
    OPS: {"pre_llm_call", "pre_tool_call"},
    RLM: {"pre_tool_call", "on_session_finalize", "subagent_stop", "llm_request"},
}
TOLD = {
    UNROLL: ("hermes plugins enable hermes-unroll", "hermes unroll doctor", "/unroll off"),
    OPS: ("hermes plugins enable hermes-ops", "hermes ops doctor", "hermes plugins disable hermes-ops"),
    RLM: ("hermes plugins enable hermes-rlm", "hermes rlm doctor", "hermes plugins disable hermes-rlm"),
}

# Writes, while a turn is being answered, which file and name every callback and rlm_* tool comes from.
WITNESS = """
import inspect, json
from hermes_cli.plugins import get_plugin_manager
from hermes_constants import get_hermes_home
from tools.registry import registry

def origin(callback):
    callback = inspect.unwrap(getattr(callback, "func", callback))
    return callback.__code__.co_filename

def look(**_):
    manager = get_plugin_manager()
    tables = {**manager._hooks, **manager._middleware}
    hooks = {hook: [origin(one) for one in found] for hook, found in tables.items()}
    names = [name for name in registry.get_all_tool_names() if name.startswith("rlm_")]
    tools = {name: origin(registry.get_entry(name).handler) for name in names}
    (get_hermes_home() / "witness.json").write_text(json.dumps({"hooks": hooks, "tools": tools}))

def register(ctx):
    ctx.register_hook("pre_llm_call", look)
"""


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    routes = [
        {
            "name": "kernel",
            "turns": [{"tool_calls": [CELL]}, {"text": ANSWER}],
            "when": {"last_user": QUESTION},
        },
        {"name": "words", "turns": [{"text": "Hello."}], "when": {"last_user": OTHER_QUESTION}},
    ]
    with ModelServer([auxiliary_route(), *({**route, "repeat": True} for route in routes)]) as server:
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
    site: Path
    shown: dict[str, str]
    before: Listed
    after: Listed
    session: Run

    def copy(self, plugin: Plugin) -> Path:
        return installs.copy_path(self.home, self.kind.name, self.site, plugin)


@pytest.fixture(scope="module", params=list(KINDS))
def installed(
    request: pytest.FixtureRequest, model: ModelServer, repository: Repository, site: Path
) -> Iterator[Installed]:
    kind = KINDS[request.param]
    with HermesHome(model.url) as home:
        home.write_plugin("witness", WITNESS)
        runs = installs.install(home, repository, kind.name, site)
        before = installs.listed(home)
        installs.enable(home)
        after = installs.listed(home)
        session = installs.done(home.chat(QUESTION))
        shown = {name: installs.said(run) for name, run in runs.items()}
        yield Installed(kind, home, site, shown, before, after, session)


def plugins_of(files: list[str], plugin: Plugin) -> list[Path]:
    """Those of the files that belong to a copy of a plugin, whatever its install."""
    return [Path(file) for file in files if f"/{plugin.folder}/" in file or f"/{plugin.name}/" in file]


def assert_live_once(home: HermesHome, copies: dict[Plugin, Path]) -> None:
    """In the last session every hook and tool was there once, and from the copies that should work."""
    seen = json.loads((home.path / "witness.json").read_text("utf-8"))
    for plugin, copy in copies.items():
        found = {hook: plugins_of(files, plugin) for hook, files in seen["hooks"].items()}
        found = {hook: files for hook, files in found.items() if files}
        assert HOOKS[plugin] <= set(found)
        assert {hook: len(files) for hook, files in found.items()} == dict.fromkeys(found, 1)
        assert all(file.is_relative_to(copy) for files in found.values() for file in files)
    assert sorted(seen["tools"]) == sorted(kernels.TOOLS)
    assert all(Path(file).is_relative_to(copies[RLM]) for file in seen["tools"].values())


def assert_recorded_once(home: HermesHome, session: Run, kernel_of: Path) -> None:
    """The session has one journal without doubles and one trace; its cell ran in a kernel of that copy."""
    [directory] = (home.path / "traces" / "journal").iterdir()
    recorded = journal.load_session(directory)
    assert (recorded.session_id, recorded.damage) == (session.session_id, [])
    counts = Counter(event.kind for event in recorded.events)
    assert {kind: counts[kind] for kind in RECORDED} == RECORDED

    [trace] = (home.path / "traces" / "unrolled").glob("*.py")
    replay = json.loads(installs.run_checked([sys.executable, "-I", str(trace)], home.project))
    assert replay["session_id"] == session.session_id
    said = [message for message in replay["messages"] if message["role"] != "system"]
    assert [message["role"] for message in said] == ["user", "assistant", "tool", "assistant"]
    assert (said[0]["content"], said[-1]["content"]) == (QUESTION, ANSWER)
    # The host may append a remark of its own to the JSON.
    reply, _ = json.JSONDecoder().raw_decode(said[2]["content"])
    assert reply["ok"] is True
    assert Path(ast.literal_eval(reply["value"])).is_relative_to(kernel_of)


def files_below(folder: Path) -> dict[str, bytes]:
    """Relative path -> content of every file below a folder."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def warnings_about_us(home: HermesHome) -> list[str]:
    """WARNING and worse of the host's logs that name a plugin of ours, without their timestamps."""
    return [
        line.split(" ", 2)[2] for line in home.logs() if any(plugin.command in line for plugin in PLUGINS)
    ]


def written(home: HermesHome) -> dict[str, bytes]:
    """What the plugins have written into a home: path -> content."""
    folders = ("traces", "state/rlm")
    return {f"{at}/{name}": data for at in folders for name, data in files_below(home.path / at).items()}


def test_wheel_holds_the_plugin_folders_and_nothing_else(site: Path) -> None:
    for plugin in PLUGINS:
        found = {name for name in files_below(site / plugin.folder) if "__pycache__" not in name}
        assert found == installs.plugin_files(plugin)
    project = f"{PROJECT.replace('-', '_')}-{installs.version(UNROLL)}.dist-info"
    assert {path.name for path in site.iterdir()} == {project, *(plugin.folder for plugin in PLUGINS)}


def test_only_plugin_folders_hold_a_manifest() -> None:
    manifests = {
        name for name in installs.checkout_files() if Path(name).name in ("plugin.yaml", "plugin.yml")
    }
    shallow = {name for name in manifests if name.count("/") < 2}
    assert shallow == {f"{plugin.folder}/plugin.yaml" for plugin in PLUGINS}


def test_every_place_names_the_same_version() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    newest = re.search(r"^## (\S+)", (CHECKOUT / "CHANGELOG.md").read_text("utf-8"), re.M)[1]
    for plugin in PLUGINS:
        manifest = json.loads((CHECKOUT / plugin.folder / "manifest.json").read_text("utf-8"))
        module = importlib.import_module(plugin.folder)
        places = [installs.version(plugin), manifest["version"], module.__version__, newest]
        assert places == [project["version"]] * 4


def test_every_plugin_folder_is_an_entry_point_of_its_name() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    points = project["entry-points"]["hermes_agent.plugins"]
    assert points == {plugin.name: plugin.folder for plugin in PLUGINS}


def test_install_turns_nothing_on(installed: Installed) -> None:
    assert installed.before == installs.each("not enabled", installed.kind.source)


def test_enable_by_the_plugin_name_works_in_every_install(installed: Installed) -> None:
    assert installed.after == installs.each("enabled", installed.kind.source)
    ours = [installed.kind.key(plugin) for plugin in PLUGINS]
    assert installs.keys(installed.home, "enabled") == sorted(["witness", *ours])


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.command)
def test_install_says_how_to_enable_check_and_turn_off(installed: Installed, plugin: Plugin) -> None:
    page = installed.copy(plugin) / "after-install.md"
    text = installed.shown.get(plugin.name) or page.read_text("utf-8")
    for command in TOLD[plugin]:
        assert command in text


def test_hooks_and_tools_are_live_once_and_from_the_installed_copy(installed: Installed) -> None:
    assert_live_once(installed.home, {plugin: installed.copy(plugin) for plugin in PLUGINS})


def test_a_session_is_recorded_once_and_has_a_kernel_of_the_installed_copy(installed: Installed) -> None:
    assert_recorded_once(installed.home, installed.session, installed.copy(RLM))


def test_host_logs_nothing_against_the_plugins(installed: Installed) -> None:
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
            refused = home.run("plugins", "update", RLM.name)
            assert refused.returncode == 1
            assert ("not found" if name == "pip" else "not installed from git") in installs.said(refused)
            if name == "pip":
                repository.build_site(site)
            else:
                installs.install(home, repository, name, site, "--force")
        assert installs.listed(home) == installs.each("enabled", KINDS[name].source, "99.0.0")


@pytest.mark.parametrize("name", list(KINDS))
def test_disabled_does_nothing_and_removal_keeps_what_was_written(
    name: str, model: ModelServer, repository: Repository, site: Path
) -> None:
    with HermesHome(model.url) as home:
        installs.install(home, repository, name, site)
        installs.enable(home)
        installs.done(home.chat(QUESTION))
        kept = written(home)
        assert {path.split("/")[0] for path in kept} == {"traces", "state"}
        installs.disable(home)
        installs.done(home.chat(OTHER_QUESTION))
        offered = [tool["function"]["name"] for tool in model.requests[-1].body["tools"]]
        assert offered and not [tool for tool in offered if tool.startswith("rlm_")]
        assert installs.listed(home) == installs.each("disabled", KINDS[name].source)
        installs.remove(home, name)
        assert installs.listed(home) == {plugin.name: [] for plugin in PLUGINS}
        for plugin in PLUGINS:
            assert home.run(plugin.command).returncode == 2
        assert written(home) == kept
        assert installs.keys(home, "enabled") == []


def test_removing_without_disabling_leaves_the_next_install_enabled(
    model: ModelServer, repository: Repository, site: Path
) -> None:
    with HermesHome(model.url) as home:
        installs.install(home, repository, "folder", site)
        installs.enable(home)
        installs.remove(home, "folder")
        assert home.run("plugins", "disable", RLM.name).returncode == 1
        installs.install(home, repository, "repository", site)
        assert installs.listed(home) == installs.each("enabled", "user")


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
def test_of_two_copies_one_works(pair: Pair, model: ModelServer, repository: Repository, site: Path) -> None:
    with HermesHome(model.url) as home:
        home.write_plugin("witness", WITNESS)
        installs.install(home, repository, pair.first, site)
        if pair.enabled_after == "first":
            installs.enable(home)
        installs.install(home, repository, pair.second, site)
        if pair.enabled_after == "both":
            installs.enable(home)
        for copies in installs.listed(home).values():
            assert [(status, source) for status, _, source in copies] == pair.listed
        session = installs.done(home.chat(QUESTION))
        live = {plugin: installs.copy_path(home, pair.live, site, plugin) for plugin in PLUGINS}
        assert_live_once(home, live)
        assert_recorded_once(home, session, live[RLM])
        told = [line for line in warnings_about_us(home) if installs.WARNS_EVERY_TIME not in line]
        assert len(told) == (0 if pair.idle is None else len(PLUGINS))
        for plugin in PLUGINS:
            if pair.idle is not None:
                idle = installs.copy_path(home, pair.idle, site, plugin)
                assert [line for line in told if str(live[plugin]) in line and str(idle) in line]
            doctor = home.run(plugin.command, "doctor").stdout
            for name in (pair.first, pair.second):
                assert str(installs.copy_path(home, name, site, plugin)) in doctor
