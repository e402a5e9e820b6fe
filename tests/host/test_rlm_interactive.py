"""What hermes_rlm promises to a person in a terminal: approvals, Ctrl-C, one kernel for the whole session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.host.hermes import HermesHome, Interactive
from tests.host.kernels import Agent, cell, ended, processes, remains, warnings, witnessed_home
from tests.host.model_server import ModelServer
from tests.host.scenarios.core import call, session_ids, wait_until

pytestmark = pytest.mark.host

QUESTION = "Dangerous Command"
ONCE, DENY = "1", "4"
SLEEP = "kept = 'before the stop'\nopen('begun', 'w').close()\nimport time\ntime.sleep(60)"
STOP_SECONDS = 10


@dataclass
class Talk:
    """A chat in a terminal, and the agent behind it."""

    home: HermesHome
    agent: Agent
    session: Interactive
    turns: int = 0

    def turn(self, *calls: dict[str, Any], choice: str = "") -> None:
        """One turn that makes these calls; with a `choice`, one question is awaited and answered."""
        self.turns += 1
        self.agent.will(*calls, answer=f"Answer {self.turns}.")
        self.session.send_line(f"Message {self.turns}.")
        if choice:
            self.session.wait_for(QUESTION)
            self.session.send(choice)
        self.session.wait_for(f"Answer {self.turns}.")
        self.session.wait_until_idle()


@pytest.fixture(scope="module")
def talk() -> Iterator[Talk]:
    with ModelServer() as server, witnessed_home(server) as home:
        home.configure({"approvals": {"destructive_slash_confirm": False}})
        with Interactive(home) as session:
            session.wait_until_idle()
            yield Talk(home, Agent(server), session)


def folder(talk: Talk, name: str) -> tuple[Path, str]:
    """A marker folder and the command that removes it, which the host takes for dangerous."""
    made = talk.home.project / name
    made.mkdir()
    return made, f"rm -rf {made}"


def test_one_kernel_answers_all_turns(talk: Talk) -> None:
    talk.turn(cell("import os\npid = os.getpid()\npid", "first"))
    talk.turn(cell("pid == os.getpid()", "second"))
    assert talk.agent.reply("second") == {"ok": True, "value": "True"}


def test_a_kernel_works_where_the_session_does(talk: Talk) -> None:
    talk.turn(cell("import os\nos.getcwd()", "where"))
    assert talk.agent.reply("where")["value"] == repr(str(talk.home.project))


def test_the_person_denies_a_command_from_a_kernel_as_the_agents_own(talk: Talk) -> None:
    made, command = folder(talk, "denied")
    code = f"try:\n    told = terminal({command!r})\nexcept ToolError as error:\n    told = str(error)\ntold"
    talk.turn(call("terminal", {"command": command}, "own"), choice=DENY)
    talk.turn(cell(code, "bridged"), choice=DENY)
    assert made.is_dir()
    own = json.loads(talk.agent.text("own"))["error"]
    assert "denied" in own and talk.agent.reply("bridged")["value"] == repr(own)


def test_the_person_allows_a_command_from_a_kernel_as_the_agents_own(talk: Talk) -> None:
    one, command = folder(talk, "allowed")
    talk.turn(call("terminal", {"command": command}, "own allowed"), choice=ONCE)
    assert not one.exists()
    two, command = folder(talk, "allowed-too")
    talk.turn(cell(f"terminal({command!r})['exit_code']", "allowed"), choice=ONCE)
    assert talk.agent.reply("allowed")["value"] == "0" and not two.exists()
    three, command = folder(talk, "asked-again")
    talk.turn(cell(f"terminal({command!r})", "asked again"), choice=DENY)
    assert talk.agent.reply("asked again")["ok"] is False and three.is_dir()


def test_ctrl_c_stops_a_cell_and_keeps_the_variables(talk: Talk) -> None:
    talk.agent.will(cell(SLEEP, "stopped"))
    talk.session.send_line("Run it.")
    wait_until((talk.home.project / "begun").exists, "the cell")
    talk.session.interrupt()
    try:
        wait_until(lambda: ended(talk.home, "stopped"), "the end of the cell", STOP_SECONDS)
    except TimeoutError:
        # As a person would: keys can be lost while the host draws its screen.
        talk.session.interrupt()
        wait_until(lambda: ended(talk.home, "stopped"), "the end of the cell", STOP_SECONDS)
    talk.session.wait_until_idle()
    talk.turn(cell("kept", "after"))
    assert talk.agent.reply("after") == {"ok": True, "value": "'before the stop'"}
    assert "stopped by the user" in talk.agent.reply("stopped")["error"]


def test_the_slash_command_tells_of_the_kernel(talk: Talk) -> None:
    talk.turn(cell("told = 1", "told"))
    [session_id] = session_ids(talk.home)
    talk.session.ask("/rlm", f"{session_id}: idle after cell")
    assert len(processes(talk.home)) == 1


def test_a_reset_is_final(talk: Talk) -> None:
    talk.turn(
        cell("gone = 1", "before reset"),
        call("rlm_reset", {}, "reset"),
        cell("[name for name in dir() if not name.startswith('_')]", "after reset"),
    )
    assert talk.agent.reply("reset") == {"ok": True, "note": "kernel ended, its state is discarded"}
    assert talk.agent.reply("after reset") == {"ok": True, "value": "[]"}


def test_a_new_session_has_a_kernel_of_its_own(talk: Talk) -> None:
    talk.turn(cell("import os\nold = os.getpid()\nold", "old"))
    talk.session.ask("/new", "New session started")
    talk.turn(cell("'old' in dir()", "new"))
    assert talk.agent.reply("new") == {"ok": True, "value": "False"}
    old = int(talk.agent.reply("old")["value"])
    wait_until(lambda: old not in processes(talk.home), "the end of the old kernel")


def test_the_end_of_the_session_leaves_nothing(talk: Talk) -> None:
    talk.turn(cell("last = 1", "last"))
    assert talk.session.quit() == 0
    assert (processes(talk.home), remains(talk.home), warnings(talk.home)) == ([], [], [])
