"""What hermes_rlm promises in a gateway: a kernel per session and profile, stops, an end with the host."""

from __future__ import annotations

import os
import shutil
import signal
from ast import literal_eval
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.host.file_chats import FileChats
from tests.host.hermes import Gateway, HermesHome, end
from tests.host.kernels import Agent, cell, ended, processes, remains, warnings, witnessed_home
from tests.host.model_server import ModelServer
from tests.host.scenarios.core import call, wait_until

pytestmark = pytest.mark.host

# No approvals: what they ask for is told in test_rlm_approvals.
OPEN = {"approvals": {"mode": "off"}}
STOP_SECONDS = 10
END_SECONDS = 5


@dataclass
class Served:
    """A gateway with a chat platform, and the agent behind it."""

    home: HermesHome
    agent: Agent
    gateway: Gateway
    chats: FileChats

    def begun(self, id: str) -> str:
        """A path that a cell makes to tell that it runs."""
        return str(self.home.root / f"{id.replace(' ', '-')}.begun")

    def wait_for(self, id: str) -> None:
        wait_until(lambda: os.path.exists(self.begun(id)), f"cell {id!r}")

    def chat(self, chat: str, *calls: dict[str, Any]) -> None:
        """One turn in a chat."""
        self.agent.will(*calls, answer="Done here.")
        self.chats.say(chat, "Go on.", "Done here.")

    def run(self, session_id: str, *calls: dict[str, Any]) -> str:
        """Start a turn that makes these calls by POST /v1/runs; the run's id."""
        self.agent.will(*calls)
        return self.start(session_id)

    def start(self, session_id: str) -> str:
        started, _ = self.gateway.request("POST", "/v1/runs", {"input": "Go on.", "session_id": session_id})
        return started["run_id"]

    def status(self, run_id: str) -> str:
        return self.gateway.request("GET", f"/v1/runs/{run_id}")[0]["status"]


@dataclass
class Conversation:
    """A conversation with the API server of a profile: each message is sent with all that was said before."""

    served: Served
    prefix: str = ""
    messages: list[dict[str, str]] = field(default_factory=list)

    def say(self, text: str, *calls: dict[str, Any]) -> str:
        """Send a message; the session's id."""
        self.served.agent.will(*calls)
        self.messages.append({"role": "user", "content": text})
        body = {"model": "hermes-agent", "messages": self.messages}
        answer, headers = self.served.gateway.request("POST", f"{self.prefix}/v1/chat/completions", body)
        self.messages.append(answer["choices"][0]["message"])
        return headers["x-hermes-session-id"]


@contextmanager
def serve(*profiles: str) -> Iterator[Served]:
    """A gateway of the default profile, and of others of the same configuration."""
    with ModelServer() as server, witnessed_home(server) as home:
        home.configure({**OPEN, "gateway": {"multiplex_profiles": bool(profiles)}})
        for name in profiles:
            profile = home.path / "profiles" / name
            profile.mkdir(parents=True)
            shutil.copy(home.path / "config.yaml", profile)
        chats = FileChats(home)
        with Gateway(home) as gateway:
            yield Served(home, Agent(server), gateway, chats)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serve() as one:
        yield one


def endless(served: Served, id: str) -> str:
    return f"open({served.begun(id)!r}, 'w').close()\nwhile True: pass"


def test_conversations_with_the_api_server_have_kernels_of_their_own(served: Served) -> None:
    red, blue = Conversation(served), Conversation(served)
    first = red.say("Red.", cell("import os\nmine = 'red'\npid = os.getpid()", "red"))
    assert blue.say("Blue.", cell("'mine' in dir()", "blue")) != first
    assert served.agent.reply("blue")["value"] == "False"
    assert red.say("And now?", cell("mine, pid == os.getpid()", "red again")) == first
    assert served.agent.reply("red again") == {"ok": True, "value": "('red', True)"}


def test_chats_have_kernels_of_their_own(served: Served) -> None:
    served.chat("red", cell("mine = 'red chat'", "red chat"))
    served.chat("blue", cell("'mine' in dir()", "blue chat"))
    assert served.agent.reply("blue chat")["value"] == "False"
    served.chat("red", cell("mine", "red chat again"))
    assert served.agent.reply("red chat again") == {"ok": True, "value": "'red chat'"}
    assert "idle after cell 2" in served.chats.say("blue", "/rlm", "idle after")


def test_a_sub_agent_has_a_kernel_of_its_own_that_ends_with_it(served: Served) -> None:
    where = "import os\nfound = 'mine' in dir()\nmine = 'child'\nfound, os.getpid()"
    served.agent.will(
        cell("mine = 'parent'", "parent"),
        call("delegate_task", {"goal": "COUNT-ALPHA", "context": "none"}, "delegate"),
        cell("mine", "parent again"),
        goal={"COUNT-ALPHA": cell(where, "child")},
    )
    run_id = served.start("delegating")
    wait_until(lambda: served.status(run_id) == "completed", "the end of the run")
    assert served.agent.reply("parent again") == {"ok": True, "value": "'parent'"}
    found, pid = literal_eval(served.agent.reply("child")["value"])
    assert found is False
    wait_until(lambda: pid not in processes(served.home), "the end of the child's kernel")


def test_stop_in_a_chat_ends_a_cell_that_runs_a_command(served: Served) -> None:
    command = f"touch {served.begun('command')}; exec sleep 60"
    code = f"kept = 'before the stop'\nterminal({command!r})\nkept = 'went on'"
    served.agent.will(cell(code, "command"))
    served.chats.send("green", "Run it.")
    served.wait_for("command")
    served.chats.say("green", "/stop", "Stopped")
    wait_until(lambda: ended(served.home, "command"), "the end of the cell", STOP_SECONDS)
    served.chat("green", cell("kept", "after command"))
    assert served.agent.reply("after command") == {"ok": True, "value": "'before the stop'"}
    assert "stopped by the user" in served.agent.reply("command")["error"]


def test_stop_of_a_run_ends_its_cell(served: Served) -> None:
    run_id = served.run("one-session", cell(f"kept = 'before the stop'\n{endless(served, 'loop')}", "loop"))
    served.wait_for("loop")
    served.gateway.request("POST", f"/v1/runs/{run_id}/stop")
    wait_until(lambda: served.status(run_id) == "cancelled", "the end of the run", STOP_SECONDS)
    assert ended(served.home, "loop")
    run_id = served.run("one-session", cell("kept", "after loop"))
    wait_until(lambda: served.status(run_id) == "completed", "the next run")
    assert served.agent.reply("after loop") == {"ok": True, "value": "'before the stop'"}


def test_kernels_end_with_a_gateway_that_is_killed(served: Served) -> None:
    code = f"import subprocess\nsubprocess.Popen(['sleep', '600'])\n{endless(served, 'busy')}"
    served.run("one-session", cell(code, "busy"))
    served.wait_for("busy")
    assert len(processes(served.home)) > 2 and warnings(served.home) == []
    os.kill(served.gateway.process.pid, signal.SIGKILL)
    wait_until(lambda: not processes(served.home), "the end of the kernels", END_SECONDS)


def test_profiles_of_one_gateway_share_nothing_and_are_saved_when_it_ends() -> None:
    where = "import os\nfound = 'mine' in dir()\nmine = 1\nfound, os.environ['HERMES_HOME']"
    with serve("second") as served:
        first, second = Conversation(served), Conversation(served, "/p/second")
        session_id = first.say("The same words.", cell(where, "default"))
        assert second.say("The same words.", cell(where, "second")) == session_id
        homes = [served.home.path, served.home.path / "profiles" / "second"]
        assert [served.agent.reply(id)["value"] for id in ("default", "second")] == [
            repr((False, str(home))) for home in homes
        ]
        assert [len(list(home.glob("state/rlm/sessions/*/cells.jsonl"))) for home in homes] == [1, 1]
        end(served.gateway.process)
        for home in homes:
            assert list(home.glob("state/rlm/kernels/*")) == []
            assert len(list(home.glob("state/rlm/sessions/*/autosave-*.checkpoint"))) == 1
        assert (processes(served.home), remains(served.home), warnings(served.home)) == ([], [], [])
