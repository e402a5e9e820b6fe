"""Nothing is more allowed in a kernel than the agent is itself: scripts and commands, mode by mode.

The command in all of them removes a marker folder inside the test's home; the host takes it for
dangerous, and the folder tells whether it was run. The terminal mode is in test_rlm_interactive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.host.file_chats import FileChats
from tests.host.hermes import Gateway, HermesHome
from tests.host.kernels import Agent, cell, processes, warnings, witnessed_home
from tests.host.model_server import ModelServer
from tests.host.scenarios.core import call, wait_until

pytestmark = pytest.mark.host

QUESTION = "requires approval"
CAUGHT = "try:\n    told = terminal({command!r})\nexcept ToolError as error:\n    told = str(error)\ntold"
SCRIPT = "open({path!r}, 'w').close()"


@dataclass
class Guarded:
    """A gateway with approvals, and the agent behind it."""

    home: HermesHome
    agent: Agent
    gateway: Gateway
    chats: FileChats

    def folder(self, name: str) -> tuple[Path, str]:
        """A marker folder and the command that removes it."""
        made = self.home.project / name
        made.mkdir()
        return made, f"rm -rf {made}"

    def chat(self, chat: str, *answers: str, calls: list[dict[str, Any]]) -> list[str]:
        """One turn in a chat in which each question gets the next of the answers; the questions."""
        self.agent.will(*calls, answer="Done here.")
        self.chats.send(chat, "Go on.")
        asked = []
        for answer in answers:
            asked.append(self.chats.hear(chat, QUESTION))
            self.chats.send(chat, answer)
        self.chats.hear(chat, "Done here.")
        # The answer is sent before the turn is over; a message in between would interrupt it.
        wait_until(self.is_idle, "the end of the turn")
        return asked

    def is_idle(self) -> bool:
        """Whether the gateway is in no turn of a chat."""
        state = json.loads((self.home.path / "gateway_state.json").read_bytes())
        return state.get("active_agents") == 0

    def run(self, *choices: str, calls: list[dict[str, Any]]) -> None:
        """One turn by POST /v1/runs in which each question gets the next of the choices."""
        self.agent.will(*calls)
        started, _ = self.gateway.request("POST", "/v1/runs", {"input": "Go on."})
        run = f"/v1/runs/{started['run_id']}"

        def status() -> str:
            return self.gateway.request("GET", run)[0]["status"]

        for choice in choices:
            wait_until(lambda: status() == "waiting_for_approval", "the question", 30)
            self.gateway.request("POST", f"{run}/approval", {"choice": choice})
            wait_until(lambda: status() != "waiting_for_approval", "the end of the question", 30)
        wait_until(lambda: status() == "completed", "the end of the run", 30)


@pytest.fixture(scope="module")
def guarded() -> Iterator[Guarded]:
    with ModelServer() as server, witnessed_home(server) as home:
        chats = FileChats(home)
        with Gateway(home) as gateway:
            yield Guarded(home, Agent(server), gateway, chats)


def test_a_chat_is_asked_for_a_cell_as_for_a_script(guarded: Guarded) -> None:
    own, ours = (guarded.home.project / name for name in ("own", "ours"))
    calls = [
        call("execute_code", {"code": SCRIPT.format(path=str(own))}, "own"),
        cell(SCRIPT.format(path=str(ours)), "ours"),
    ]
    asked = guarded.chat("scripts", "/deny", "/deny", calls=calls)
    assert not own.exists() and not ours.exists()
    assert asked[0].replace(str(own), str(ours)) == asked[1]
    denial = json.loads(guarded.agent.text("own"))["error"]
    assert guarded.agent.reply("ours") == {"ok": False, "error": denial}
    guarded.chat("scripts", "/approve", "/approve", calls=calls)
    assert own.exists() and ours.exists()


def test_a_chat_decides_on_a_command_from_a_kernel_as_on_the_agents_own(guarded: Guarded) -> None:
    guarded.chat("commands", "/approve session", calls=[cell("ready = True", "ready")])
    for answer, stays in (("/deny", True), ("/approve", False)):
        own, command = guarded.folder(f"chat-own-{stays}")
        ours, bridged = guarded.folder(f"chat-ours-{stays}")
        calls = [
            call("terminal", {"command": command}, f"own {answer}"),
            cell(CAUGHT.format(command=bridged), f"ours {answer}"),
        ]
        asked = guarded.chat("commands", answer, answer, calls=calls)
        assert asked[0].replace(str(own), str(ours)) == asked[1]
        assert (own.is_dir(), ours.is_dir()) == (stays, stays)
    denial = json.loads(guarded.agent.text("own /deny"))["error"]
    assert guarded.agent.reply("ours /deny")["value"] == repr(denial)


def test_the_client_of_a_run_decides_on_cells_and_commands(guarded: Guarded) -> None:
    refused = guarded.home.project / "refused"
    guarded.run("deny", calls=[cell(SCRIPT.format(path=str(refused)), "refused")])
    assert not refused.exists() and guarded.agent.reply("refused")["ok"] is False
    for choice, stays in (("deny", True), ("once", False)):
        own, command = guarded.folder(f"run-own-{stays}")
        ours, bridged = guarded.folder(f"run-ours-{stays}")
        calls = [
            call("terminal", {"command": command}, f"run own {choice}"),
            cell(CAUGHT.format(command=bridged), f"run ours {choice}"),
        ]
        guarded.run(choice, "once", choice, calls=calls)
        assert (own.is_dir(), ours.is_dir()) == (stays, stays)


def test_where_nobody_can_answer_a_cell_is_refused_as_a_script_is(guarded: Guarded) -> None:
    path = guarded.home.project / "unanswered"
    code = SCRIPT.format(path=str(path))
    guarded.agent.will(call("execute_code", {"code": code}, "alone own"), cell(code, "alone ours"))
    body = {"model": "hermes-agent", "messages": [{"role": "user", "content": "Go on."}]}
    guarded.gateway.request("POST", "/v1/chat/completions", body)
    assert not path.exists()
    assert "error" in json.loads(guarded.agent.text("alone own"))
    ours = guarded.agent.reply("alone ours")
    assert ours["ok"] is False and ours["error"].endswith("The code was not run.")


@pytest.mark.parametrize("mode, runs", [("deny", False), ("approve", True)])
def test_a_cron_job_may_use_a_kernel_where_it_may_run_scripts(mode: str, runs: bool) -> None:
    with ModelServer() as server, witnessed_home(server) as home:
        home.configure({"approvals": {"cron_mode": mode}})
        agent = Agent(server)
        own, ours = home.project / "own", home.project / "ours"
        kept = home.project / "kept"
        kept.mkdir()
        made = home.run("cron", "create", "2h", "Go on.", "--name", "job")
        job = re.search(r"[0-9a-f]{12}", made.stdout)[0]
        agent.will(
            call("execute_code", {"code": SCRIPT.format(path=str(own))}, "own"),
            cell(SCRIPT.format(path=str(ours)) + f"\nterminal({f'rm -rf {kept}'!r})", "ours"),
        )
        assert home.run("cron", "run", job).returncode == 0
        assert (own.exists(), ours.exists(), kept.exists()) == (runs, runs, not runs)
        assert agent.reply("ours")["ok"] is runs
        assert (processes(home), warnings(home)) == ([], [])
