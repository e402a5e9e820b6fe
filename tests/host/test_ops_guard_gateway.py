"""The guard in a gateway: people in chats and clients of runs are asked, requests without either are not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.host.file_chats import FileChats
from tests.host.guarded import (
    ASKED,
    NEVER,
    NEVER_REASON,
    PLAIN,
    REASON,
    SAFER,
    SECRET,
    command,
    decided,
    guarded_home,
    marker,
    ran,
    run,
)
from tests.host.hermes import Gateway, HermesHome
from tests.host.kernels import Agent, cell, warnings
from tests.host.model_server import ModelServer
from tests.host.scenarios.core import call, wait_until

pytestmark = pytest.mark.host

QUESTION = "requires approval"
SCRIPT = "import subprocess\nsubprocess.run({words!r})"


@dataclass
class Served:
    """A gateway with a chat platform, and the agent behind it."""

    home: HermesHome
    agent: Agent
    gateway: Gateway
    chats: FileChats

    def chat(
        self, chat: str, *calls: dict[str, Any], answers: tuple[str, ...] = (), **script: Any
    ) -> list[str]:
        """One turn in a chat in which each question gets the next of the answers; the questions."""
        self.agent.will(*calls, answer="Done here.", **script)
        self.chats.send(chat, "Go on.")
        asked = []
        for answer in answers:
            asked.append(self.chats.hear(chat, QUESTION))
            self.chats.send(chat, answer)
        self.chats.hear(chat, "Done here.")
        wait_until(self.is_idle, "the end of the turn")
        return asked

    def run(self, *calls: dict[str, Any], choice: str = "", **script: Any) -> None:
        """One turn by POST /v1/runs; with a `choice`, one question is awaited and answered."""
        self.agent.will(*calls, **script)
        started, _ = self.gateway.request("POST", "/v1/runs", {"input": "Go on."})
        path = f"/v1/runs/{started['run_id']}"

        def is_in(status: str) -> bool:
            return self.gateway.request("GET", path)[0]["status"] == status

        if choice:
            wait_until(lambda: is_in("waiting_for_approval"), "the question", 30)
            self.gateway.request("POST", f"{path}/approval", {"choice": choice})
        wait_until(lambda: is_in("completed"), "the end of the run", 30)

    def is_idle(self) -> bool:
        state = json.loads((self.home.path / "gateway_state.json").read_bytes())
        return state.get("active_agents") == 0

    def asked(self, chat: str) -> int:
        """How many questions a chat has got."""
        return sum(QUESTION in said for said in self.chats.said(chat))


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with ModelServer() as server, guarded_home(server) as home:
        home.configure({"terminal": {"cwd": str(home.project)}, "display": {"busy_input_mode": "queue"}})
        chats = FileChats(home)
        with Gateway(home) as gateway:
            yield Served(home, Agent(server), gateway, chats)


def test_a_chat_is_asked_with_command_reason_and_a_safer_way_and_its_answer_holds(served: Served) -> None:
    calls = [command(PLAIN, "chat-plain"), command(NEVER, "chat-never"), command(ASKED, "chat", SECRET)]
    (asked,) = served.chat("red", *calls, answers=("/deny",))
    for piece in (run(ASKED, "chat"), REASON, "policy.asked", SAFER):
        assert piece in asked
    assert SECRET not in asked and ran(served.home) == {f"{PLAIN}-chat-plain"}
    assert NEVER_REASON in served.agent.text("chat-never")
    served.chat("red", command(ASKED, "session"), answers=("/approve session",))
    (served.home.project / f"ran-{ASKED}-session").unlink()
    served.chat("red", call("terminal", {"command": run(ASKED, "session")}, "again"))
    assert f"{ASKED}-session" in ran(served.home)
    served.chat("blue", call("terminal", {"command": run(ASKED, "session")}, "elsewhere"), answers=("/deny",))
    assert "denied" in served.agent.text("elsewhere")


def test_a_chat_is_asked_once_where_the_host_asks_itself(served: Served) -> None:
    made, removal = marker(served.home, "chat")
    (asked,) = served.chat("green", call("terminal", {"command": removal}, "removal"), answers=("/approve",))
    assert not made.exists() and "hermes-ops" not in asked
    script = SCRIPT.format(words=[f"./{ASKED}", "script"])
    for tool, id in (
        (call("execute_code", {"code": script}, "script"), "script"),
        (cell(script, "cell"), "cell"),
    ):
        (asked,) = served.chat("green", tool, answers=("/deny",))
        assert "hermes-ops" not in asked and "denied" in served.agent.text(id)
    assert served.asked("green") == 3 and f"{ASKED}-script" not in ran(served.home)


def test_yolo_in_a_chat_is_about_questions_and_not_about_what_must_never_run(served: Served) -> None:
    served.chats.say("yolo", "/yolo", "YOLO")
    served.chat("yolo", command(ASKED, "yolo"), command(NEVER, "yolo-never"))
    assert f"{ASKED}-yolo" in ran(served.home) and served.asked("yolo") == 0
    assert NEVER_REASON in served.agent.text("yolo-never")


def test_the_client_of_a_run_is_asked(served: Served) -> None:
    for choice, runs in (("deny", False), ("once", True)):
        served.run(command(ASKED, f"run-{choice}"), choice=choice)
        assert (f"{ASKED}-run-{choice}" in ran(served.home)) is runs


def test_a_completion_is_asked_nothing_and_blocked(served: Served) -> None:
    served.agent.will(command(ASKED, "completion"), command(NEVER, "completion-never"), command(PLAIN, "api"))
    body = {"model": "hermes-agent", "messages": [{"role": "user", "content": "Go on."}]}
    served.gateway.request("POST", "/v1/chat/completions", body)
    assert "nobody can be asked here: a request without a chat" in served.agent.text("completion")
    assert NEVER_REASON in served.agent.text("completion-never")
    found = ran(served.home)
    assert f"{PLAIN}-api" in found and f"{ASKED}-completion" not in found


def test_a_sub_agent_is_held_to_it(served: Served) -> None:
    goal = {"COUNT-ALPHA": command(NEVER, "child")}
    served.run(call("delegate_task", {"goal": "COUNT-ALPHA", "context": "none"}, "task"), goal=goal)
    assert NEVER_REASON in served.agent.text("child")


def test_a_chat_is_no_job_after_a_job_has_run_but_the_host_can_no_longer_ask_it(served: Served) -> None:
    made = {"action": "create", "schedule": "every 2h", "prompt": "COUNT-BETA", "name": "job"}
    served.chat("late", call("cronjob", made, "made"))
    job = served.agent.reply("made")["job_id"]
    run_now = call("cronjob", {"action": "run", "job_id": job}, "run")
    served.chat("late", run_now, goal={"COUNT-BETA": command(ASKED, "job")})
    assert "nobody can be asked here: a scheduled job" in served.agent.text("job")
    served.chat("late", command(ASKED, "late"), command(PLAIN, "late-plain"))
    assert "the person here cannot be asked: a scheduled job has run" in served.agent.text("late")
    found = ran(served.home)
    assert f"{ASKED}-late" not in found and f"{PLAIN}-late-plain" in found
    folder, removal = marker(served.home, "late")  # about commands that it knows the host still asks
    served.chat("late", call("terminal", {"command": removal}, "removal late"), answers=("/approve",))
    assert not folder.exists()
    assert warnings(served.home) == []


def test_what_was_decided_is_written_down(served: Served) -> None:
    found = set(decided(served.home))
    assert {("ask", "policy.asked"), ("approved", "policy.asked"), ("block", "policy.never")} <= found
    assert {("bypassed", "policy.asked"), ("withheld", "policy.folder")} <= found
