"""Doctor proves the guard live through the real host, or says why not; only a person accepts a policy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.host.hermes import HermesHome
from tests.host.installs import CHECKOUT, OPS
from tests.host.model_server import ModelServer
from tests.host.scenarios.core import call, script

pytestmark = pytest.mark.host

FIRST = """
def register(ctx):
    ctx.register_hook("pre_tool_call", lambda **told: {"action": "block", "message": "not today"})
"""


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as found:
        yield found


@pytest.fixture(scope="module")
def home(server: ModelServer) -> Iterator[HermesHome]:
    """A home with the plugin installed and enabled."""
    with HermesHome(server.url) as made:
        made.install(CHECKOUT / OPS.folder)
        (made.path / "ops").mkdir()
        yield made


def status(home: HermesHome, **variables: str) -> dict[str, Any]:
    """`hermes ops guard status --json` outside the host: it asks a fresh process of it."""
    done = subprocess.run(
        [sys.executable, "-P", "-m", "hermes_ops", "guard", "status", "--json"],
        env={**home.environment(), "PYTHONPATH": str(CHECKOUT), **variables},
        cwd=home.project,
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def test_the_guard_is_live_in_a_fresh_process_and_in_the_one_of_the_command(home: HermesHome) -> None:
    done = home.run("ops", "doctor", "--json")
    report = json.loads(done.stdout)
    where = home.path / "plugins" / OPS.folder
    live = [fact for fact in report["facts"] if fact.startswith("guard: live")]
    assert live == [
        f"guard: live in {process} ({where})" for process in ("a fresh process of the host", "this process")
    ]
    assert "guard off" not in [finding["status"] for finding in report["findings"]]


def test_without_the_host_a_fresh_process_of_it_is_asked(home: HermesHome) -> None:
    assert status(home)["live"] is True
    off = status(home, HERMES_SAFE_MODE="1")
    assert off["live"] is False and "HERMES_SAFE_MODE" in off["reason"]


@pytest.fixture
def configured(home: HermesHome) -> Iterator[HermesHome]:
    """The home, whose configuration is put back afterwards."""
    kept = home.config
    yield home
    home.config = kept
    home.configure({})


def test_a_disabled_plugin_is_off(configured: HermesHome) -> None:
    configured.configure({"plugins": {"disabled": ["hermes-ops"]}})
    assert status(configured)["reason"] == "installed, but not enabled"


def test_a_plugin_whose_hook_answers_first_is_named_as_the_reason(configured: HermesHome) -> None:
    configured.write_plugin("a-first", FIRST)
    found = status(configured)
    assert found["live"] is False
    assert found["reason"].startswith("another plugin answers before it (block: not today)")


def test_a_copy_that_does_not_answer_is_off_though_it_is_loaded(home: HermesHome) -> None:
    entry = home.path / "plugins" / OPS.folder / "guard" / "__init__.py"
    text = entry.read_text("utf-8")
    entry.write_text(f"{text}\n\ndef pre_tool_call(**told):\n    return None\n", "utf-8")
    try:
        found = status(home)
    finally:
        entry.write_text(text, "utf-8")
    assert found["live"] is False and found["reason"].startswith("it is loaded, and does not block")


def test_report_mode_is_off_once_a_person_has_accepted_it(home: HermesHome) -> None:
    policy = home.path / "ops" / "guard.toml"
    policy.write_text("mode = 'report'\n")
    try:
        assert home.run("ops", "guard", "accept").returncode == 1  # nobody is at a terminal
        assert home.run("ops", "guard", "accept", "--yes").returncode == 0
        found = status(home)
        assert found["policy"]["mode"] == "report"
        assert found["live"] is False and found["reason"].startswith("mode is report")
    finally:
        policy.unlink()
        (home.path / "ops" / "guard" / "accepted.json").unlink()
        (home.path / "ops" / "guard" / "key").unlink()
        (home.path / ".hermes-ops-guard.json").unlink()


def test_an_agent_cannot_accept_a_policy_and_its_calls_are_learned_from(
    home: HermesHome, server: ModelServer
) -> None:
    policy = home.path / "ops" / "guard.toml"
    policy.write_text("mode = 'report'\n")
    accept = f"{sys.executable} -m hermes_ops guard accept --yes"
    tries = home.project / "tries.sh"
    # The last one is cut off from the agent: no variable of it, no process above it.
    variables = f"PATH=$PATH HOME=$HOME HERMES_HOME={home.path} PYTHONPATH={CHECKOUT}"
    tries.write_text(
        f"export PYTHONPATH={CHECKOUT}\n{accept}\nenv -u HERMES_SESSION_ID {accept}\n"
        f"said=$(mktemp)\n(env -i {variables} setsid sh -c '{accept} > '$said' 2>&1; echo end >> '$said &)\n"
        "until grep -q end $said; do sleep 0.1; done\ncat $said\n"
    )
    code = (
        "import os, subprocess\n"
        "clean = {k: v for k, v in os.environ.items() if not k.startswith('HERMES_RPC')}\n"
        f"print(subprocess.run(['sh', {str(tries)!r}], capture_output=True, text=True, env=clean))\n"
    )
    script(
        server,
        {"tool_calls": [call("terminal", {"command": f"sh {tries}"}, "c1")]},
        {"tool_calls": [call("execute_code", {"code": code}, "c2")]},
        {"text": "done"},
    )
    assert home.one_shot("Go on.").returncode == 0
    said = [message for message in server.requests[-1].body["messages"] if message["role"] == "tool"]
    assert [message["content"].count("only a person accepts a policy") for message in said] == [3, 3], said
    assert not (home.path / "ops" / "guard" / "accepted.json").exists()
    policy.unlink()

    done = subprocess.run(
        [sys.executable, "-P", "-m", "hermes_ops", "guard", "learn", "--json"],
        env={**home.environment(), "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    learned = json.loads(done.stdout)
    assert learned["calls"] == 2 and learned["unreadable"] == 0


def test_the_second_reader_ends_with_the_process_that_has_it(home: HermesHome, tmp_path: Path) -> None:
    (tmp_path / "bashlex.py").write_text("def parse(text):\n    return []\n")
    code = (
        "import time\nfrom hermes_ops.guard import second\nchild = second._child()\n"
        "while child.commands('true') is None:\n    time.sleep(0.02)\n"
        "print(child.process.pid, flush=True)\nimport os; os._exit(0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**home.environment(), "PYTHONPATH": f"{CHECKOUT}:{tmp_path}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    pid = int(done.stdout)
    for _ in range(500):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    raise AssertionError("the second reader lives on")
