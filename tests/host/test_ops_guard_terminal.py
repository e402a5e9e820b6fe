"""The guard before a person in a terminal: what they are asked, once, and what their answer is about."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

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
    log_text,
    marker,
    ran,
    run,
)
from tests.host.hermes import HermesHome, Interactive
from tests.host.kernels import Agent, cell, warnings
from tests.host.model_server import ModelServer
from tests.host.scenarios.core import call

pytestmark = pytest.mark.host

QUESTION = "Dangerous Command"
ONCE, SESSION, ALWAYS, DENY = "1", "2", "3", "4"


@dataclass
class Talk:
    """A chat in a terminal, and the agent behind it."""

    home: HermesHome
    agent: Agent
    session: Interactive
    turns: int = 0

    def turn(self, *calls: dict[str, Any], choice: str = "") -> str:
        """One turn that makes these calls; with a `choice`, one question is answered. What was shown."""
        self.turns += 1
        before = len(self.session.output)
        self.agent.will(*calls, answer=f"Answer {self.turns}.")
        self.session.send_line(f"Message {self.turns}.")
        if choice:
            self.session.wait_for(QUESTION)
            self.session.wait_for("Deny")
            self.session.send(choice)
        self.session.wait_for(f"Answer {self.turns}.")
        self.session.wait_until_idle()
        return self.session.output[before:]


@pytest.fixture(scope="module")
def talk() -> Iterator[Talk]:
    with ModelServer() as server, guarded_home(server) as home:
        home.configure({"approvals": {"destructive_slash_confirm": False}})
        with Interactive(home) as session:
            session.wait_until_idle()
            yield Talk(home, Agent(server), session)


def words(shown: str) -> str:
    """What a screen shows without the frame around it and its line breaks."""
    return " ".join("".join(letter for letter in shown if letter not in "│╭╮╰╯─").split())


def test_an_ordinary_command_passes_untouched_and_what_must_never_run_does_not(talk: Talk) -> None:
    shown = talk.turn(command(PLAIN, "plain"), command(NEVER, "never"))
    assert QUESTION not in shown and ran(talk.home) == {f"{PLAIN}-plain"}
    assert talk.agent.reply("plain")["exit_code"] == 0
    assert NEVER_REASON in talk.agent.text("never")


def test_the_person_is_shown_command_reason_and_a_safer_way_without_secrets(talk: Talk) -> None:
    shown = words(talk.turn(command(ASKED, "shown", SECRET), choice=DENY))
    for piece in (f"hermes-ops asks: {run(ASKED, 'shown')}", REASON, "policy.asked", SAFER):
        assert piece in shown
    assert SECRET not in shown + log_text(talk.home)
    assert "denied" in talk.agent.text("shown") and f"{ASKED}-shown" not in ran(talk.home)


def test_an_answer_for_the_session_is_about_that_finding_on_that_command(talk: Talk) -> None:
    talk.turn(command(ASKED, "session"), choice=SESSION)
    assert f"{ASKED}-session" in ran(talk.home)
    (talk.home.project / f"ran-{ASKED}-session").unlink()
    assert QUESTION not in talk.turn(call("terminal", {"command": run(ASKED, "session")}, "session again"))
    assert f"{ASKED}-session" in ran(talk.home)
    talk.turn(command(ASKED, "other"), choice=DENY)
    elsewhere = {"command": f"{talk.home.project}/{ASKED} session", "workdir": str(talk.home.path)}
    talk.turn(call("terminal", elsewhere, "elsewhere"), choice=DENY)
    assert f"{ASKED}-other" not in ran(talk.home)


def test_a_person_whom_the_host_asks_is_not_asked_by_us_as_well(talk: Talk) -> None:
    made, removal = marker(talk.home, "once")
    shown = talk.turn(call("terminal", {"command": removal}, "once"), choice=ONCE)
    assert not made.exists() and "hermes-ops" not in shown
    # The answer is given to the host for the whole pattern; then nobody but the guard asks.
    made, removal = marker(talk.home, "pattern")
    talk.turn(call("terminal", {"command": removal}, "pattern"), choice=SESSION)
    assert not made.exists()
    made, removal = marker(talk.home, "guarded")
    shown = talk.turn(call("terminal", {"command": removal}, "guarded"), choice=DENY)
    assert made.exists() and "hermes-ops asks" in words(shown)


def test_what_is_typed_into_a_shell_is_judged_even_when_it_comes_in_pieces(talk: Talk) -> None:
    talk.turn(call("terminal", {"command": "bash", "background": True, "pty": True}, "shell"))
    shell = talk.agent.reply("shell")["session_id"]

    def typed(action: str, data: str, id: str) -> dict[str, Any]:
        return call("process", {"action": action, "session_id": shell, "data": data}, id)

    talk.turn(
        typed("submit", run(NEVER, "typed"), "whole"),
        typed("write", f"./{NEVER} ", "half"),
        typed("submit", run(PLAIN, "typed"), "let through"),
    )
    assert NEVER_REASON in talk.agent.text("whole") and NEVER_REASON in talk.agent.text("half")
    talk.turn(typed("write", f"./{NEVER[:4]}", "first"), typed("submit", f"{NEVER[4:]} typed", "second"))
    assert talk.agent.reply("first")["status"] == "ok" and NEVER_REASON in talk.agent.text("second")
    talk.turn(
        typed("submit", "", "end of line"),
        typed("submit", f"echo zz\x15{run(NEVER, 'typed')}", "erased"),
        typed("submit", f"./{NEVER[:4]}X\x7f{NEVER[4:]} typed", "letter"),
        typed("write", "echo '\n", "open"),
        typed("write", "\x03", "interrupt"),
        typed("submit", run(NEVER, "typed"), "interrupted"),
    )
    for id in ("erased", "letter", "interrupted"):
        assert NEVER_REASON in talk.agent.text(id), id
    keys = f"./{NEVER[:3]}{NEVER[4:]} typed\x01\x1b[C\x1b[C\x1b[C\x1b[C\x1b[C{NEVER[3]}"
    talk.turn(typed("submit", keys, "keys"), choice=DENY)
    talk.turn(typed("submit", run(ASKED, "typed"), "asked"), choice=DENY)
    talk.turn(call("process", {"action": "kill", "session_id": shell}, "kill"))
    assert ran(talk.home) & {f"{stub}-typed" for stub in (NEVER, ASKED, PLAIN)} == {f"{PLAIN}-typed"}


def test_the_script_of_a_job_is_judged_when_the_job_is_made(talk: Talk) -> None:
    for name, stub in (("never.sh", NEVER), ("plain.sh", PLAIN)):
        (talk.home.path / "scripts" / name).write_text(run(stub, "job"), "utf-8")

    def job(name: str) -> dict[str, Any]:
        made = {"action": "create", "schedule": "every 2h", "script": name, "no_agent": True, "name": name}
        return call("cronjob", made, name)

    talk.turn(job("never.sh"), job("plain.sh"))
    assert NEVER_REASON in talk.agent.text("never.sh") and talk.agent.reply("plain.sh")["success"] is True
    stored = json.loads((talk.home.path / "cron" / "jobs.json").read_bytes())
    assert [one["name"] for one in stored["jobs"]] == ["plain.sh"]


def test_a_call_from_a_kernel_asks_the_person_too(talk: Talk) -> None:
    code = f"try:\n    terminal({run(ASKED, 'kernel')!r})\nexcept ToolError as error:\n    print(error)"
    shown = talk.turn(cell(code, "kernel"), choice=DENY)
    assert "hermes-ops asks" in words(shown) and f"{ASKED}-kernel" not in ran(talk.home)


def test_always_is_kept_for_that_command_alone_and_holds_where_nobody_is(talk: Talk) -> None:
    talk.turn(command(ASKED, "always"), choice=ALWAYS)
    kept = talk.home.path / "config.yaml"
    assert kept.read_text("utf-8").count("plugin_rule:hermes-ops:policy.asked:") == 1
    (talk.home.project / f"ran-{ASKED}-always").unlink()
    talk.agent.will(
        call("terminal", {"command": run(ASKED, "always")}, "always again"), command(ASKED, "never-asked")
    )
    assert talk.home.chat("Go on.").returncode == 0
    assert f"{ASKED}-always" in ran(talk.home) and f"{ASKED}-never-asked" not in ran(talk.home)
    assert warnings(talk.home) == [] and ("withheld", "policy.folder") in decided(talk.home)


def test_a_person_who_switched_questions_off_is_not_asked_and_what_must_never_run_does_not() -> None:
    with ModelServer() as server, guarded_home(server) as home, Interactive(home, "--yolo") as session:
        session.wait_until_idle()
        talk = Talk(home, Agent(server), session)
        shown = talk.turn(command(ASKED, "asked"), command(NEVER, "never"))
        assert QUESTION not in shown and ran(home) == {f"{ASKED}-asked"}
        assert NEVER_REASON in talk.agent.text("never")
        assert decided(home) == [("bypassed", "policy.asked"), ("block", "policy.never")]
