"""register(): only hooks the host knows, once per place, one recorder per process."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hermes_unroll
from hermes_unroll import hooks, presence
from tests.unroll.host_driver import Host

PACKAGE = Path(hermes_unroll.__file__).parent


class Context:
    """What the host hands to register(), as its plugin manager does: it remembers what is registered."""

    def __init__(self) -> None:
        self.hooks: dict[str, Any] = {}
        self.middleware: dict[str, Any] = {}
        self.commands: dict[str, tuple[Any, ...]] = {}

    def register_hook(self, name: str, callback: Any) -> None:
        assert name not in self.hooks
        self.hooks[name] = callback

    def register_middleware(self, kind: str, callback: Any) -> None:
        self.middleware[kind] = callback

    def register_command(self, name: str, handler: Any, description: str = "", args_hint: str = "") -> None:
        self.commands["/" + name] = (handler, description, args_hint)

    def register_cli_command(self, name: str, help: str, setup_fn: Any, handler_fn: Any = None) -> None:
        self.commands[name] = (help, setup_fn, handler_fn)


class OldContext:
    """A host that has hooks and nothing else."""

    def __init__(self) -> None:
        self.hooks: dict[str, Any] = {}

    def register_hook(self, name: str, callback: Any) -> None:
        self.hooks[name] = callback


@pytest.fixture
def manager(monkeypatch: pytest.MonkeyPatch) -> types.SimpleNamespace:
    """The host's plugin manager: VALID_HOOKS and the table of what is registered."""
    found = types.SimpleNamespace(_hooks={})
    module = types.ModuleType("hermes_cli.plugins")
    module.VALID_HOOKS = set(hooks.HOOKS) - {"on_stream_delta"} | {"pre_verify"}
    module.get_plugin_manager = lambda: found
    monkeypatch.setitem(sys.modules, "hermes_cli.plugins", module)
    return found


@pytest.fixture
def copy_of(tmp_path: Path) -> Iterator[Any]:
    """Load the plugin once more, from another place and under another name."""
    loaded: list[str] = []

    def load(name: str) -> types.ModuleType:
        link = tmp_path / name
        link.symlink_to(PACKAGE)
        spec = importlib.util.spec_from_file_location(
            name, link / "__init__.py", submodule_search_locations=[str(link)]
        )
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        loaded.append(name)
        spec.loader.exec_module(module)
        return module

    yield load
    for name in list(sys.modules):
        if name.partition(".")[0] in loaded:
            del sys.modules[name]


def register() -> Context:
    context = Context()
    hermes_unroll.register(context)
    return context


# Declared and registered ------------------------------------------------------------------------


def declared() -> tuple[list[str], dict[str, Any]]:
    """The hooks of plugin.yaml, and manifest.json."""
    text = (PACKAGE / "plugin.yaml").read_text("utf-8")
    listed = re.search(r"^provides_hooks:\n((?:  - \w+\n)+)", text, re.M).group(1)
    return re.findall(r"- (\w+)", listed), json.loads((PACKAGE / "manifest.json").read_text("utf-8"))


def test_what_is_registered_is_what_is_declared(home: Path) -> None:
    context = register()
    listed, manifest = declared()
    assert sorted(context.hooks) == sorted(listed) == sorted(manifest["hooks"])
    assert sorted(context.middleware) == manifest["middleware"]
    assert sorted(context.commands) == ["/unroll", "unroll"]
    text = (PACKAGE / "plugin.yaml").read_text("utf-8")
    assert f"\nversion: {hermes_unroll.__version__}\n" in text
    assert f"name: {manifest['name']}\n" in text
    assert manifest["version"] == hermes_unroll.__version__


def test_only_hooks_that_the_host_fires_are_registered(home: Path, manager: Any) -> None:
    context = register()
    assert sorted(context.hooks) == sorted(set(hooks.HOOKS) - {"on_stream_delta"})


@pytest.mark.skipif(importlib.util.find_spec("hermes_cli") is None, reason="hermes-agent is not installed")
def test_the_real_host_is_offered_no_hook_it_does_not_know(home: Path) -> None:
    valid = importlib.import_module("hermes_cli.plugins").VALID_HOOKS
    assert sorted(register().hooks) == sorted(set(hooks.HOOKS) & set(valid))


def test_a_host_without_middleware_and_commands_is_recorded_too(host: Host) -> None:
    context = OldContext()
    hermes_unroll.register(context)
    assert set(context.hooks) == set(hooks.HOOKS)
    context.hooks["pre_llm_call"](session_id="s", user_message="hello")
    assert [event.data["content"] for event in host.events("s", "user_message")] == ["hello"]


def test_registering_writes_nothing(home: Path) -> None:
    register()
    assert list(home.iterdir()) == []


# Again, and elsewhere ---------------------------------------------------------------------------


def test_registering_again_from_one_place_registers_the_same_callbacks_again(home: Path) -> None:
    first, second = register(), register()
    assert first.hooks == second.hooks
    assert first.middleware == second.middleware


def test_a_session_goes_on_over_a_reload(host: Host) -> None:
    register()
    chat = host.chat()
    chat.ask("before")
    register()
    chat.ask("after")
    assert [event.data["content"] for event in host.events(chat.session_id, "user_message")] == [
        "before",
        "after",
    ]
    assert len(host.segments(chat.session_id)) == 1


def test_a_second_copy_registers_nothing_and_says_so_once(
    home: Path, copy_of: Any, caplog: pytest.LogCaptureFixture
) -> None:
    register()
    copy = copy_of("second_copy")
    for _ in range(3):
        context = Context()
        copy.register(context)
        assert (context.hooks, context.middleware, context.commands) == ({}, {}, {})
    (told,) = [message for message in caplog.messages if "installed twice" in message]
    assert str(PACKAGE) in told and "second_copy" in told
    presence.write(home)
    (record,) = presence.read(home)
    assert len(record["copies"]) == 2


def test_a_copy_takes_over_when_the_host_has_dropped_the_first(
    home: Path, copy_of: Any, manager: Any, faults: Any
) -> None:
    manager._hooks = {"pre_llm_call": [hooks.HOOKS["pre_llm_call"]]}
    register()
    copy = copy_of("copy_that_takes_over")
    held_back = Context()
    copy.register(held_back)
    assert held_back.hooks == {}
    manager._hooks = {"pre_llm_call": [print]}
    context = Context()
    copy.register(context)
    assert set(context.hooks) == set(hooks.HOOKS) - {"on_stream_delta"}
    assert context.hooks["pre_llm_call"] is not hooks.HOOKS["pre_llm_call"]
    # The first copy stands back now.
    manager._hooks = {name: [callback] for name, callback in context.hooks.items()}
    assert register().hooks == {}
    assert ["installed twice" in told for told in faults.take()] == [True]


def test_a_host_whose_table_cannot_be_read_is_not_recorded_twice(
    home: Path, copy_of: Any, manager: Any
) -> None:
    register()
    manager._hooks = None
    context = Context()
    copy_of("copy_beside_an_odd_host").register(context)
    assert context.hooks == {}


# What the host calls ----------------------------------------------------------------------------


def test_the_slash_command_answers_in_text(host: Host) -> None:
    handler = register().commands["/unroll"][0]
    assert "No session" in handler("")
    host.chat("abc").ask("hello")
    assert "abc: " in handler("") and "events" in handler("")
    assert "/unroll off" in handler("what is this")


def test_the_command_line_of_the_host_gets_our_commands_and_our_exit_codes(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import argparse

    _, set_up, handle = register().commands["unroll"]
    parser = argparse.ArgumentParser(prog="hermes")
    set_up(parser.add_subparsers().add_parser("unroll"))
    for words, code in ((["unroll", "list"], 0), (["unroll"], 0), (["unroll", "verify", "nobody"], 1)):
        with pytest.raises(SystemExit) as ended:
            handle(parser.parse_args(words))
        assert ended.value.code == code
    assert "Traceback" not in capsys.readouterr().err


def test_a_process_says_on_disk_what_it_records(host: Host) -> None:
    register()
    host.chat().ask("hello")
    (record,) = presence.read(host.home)
    assert record["alive"] in (True, None)
    assert record["path"] == str(PACKAGE)
    assert record["version"] == hermes_unroll.__version__
    assert set(record["hooks"]) == set(hooks.HOOKS)
    presence.write(host.home)
    assert presence.read(host.home)[0]["counts"] == {"pre_llm_call": 1}
