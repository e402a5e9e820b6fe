"""Who would answer, and what becomes of a verdict because of that."""

from __future__ import annotations

import io
import sys
import threading
from contextvars import ContextVar
from types import ModuleType
from typing import Any

import pytest

from hermes_ops.guard import presence, surroundings
from hermes_ops.guard.presence import ALLOW, ASK, BLOCK, CHAT, NOBODY, TERMINAL, UNKNOWN, Presence, answer
from hermes_ops.guard.surroundings import Backend
from hermes_ops.guard.verdict import Verdict

PERSON, IN_CHAT, ALONE = Presence(TERMINAL), Presence(CHAT), Presence(NOBODY, "a scheduled job")
YOLO = Presence(TERMINAL, bypassed=True)
YOLO_ALONE = Presence(NOBODY, bypassed=True)
UNHEARD = Presence(CHAT, "the host takes it for a job", reachable=False)


class Host:
    """The names of the host's approvals that are read, as the host of 0.19 has them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.approval: Any = ModuleType("tools.approval")
        self.terminal: Any = ModuleType("tools.terminal_tool")
        self.context: Any = ModuleType("gateway.session_context")
        self.interactive = self.gateway = self.bypassed = False
        self.mode, self.key, self.approved = "manual", "key", set[str]()
        self.dangerous: tuple[bool, str | None, str | None] = (False, None, None)
        self.callback: Any = None
        approval, terminal = self.approval, self.terminal
        approval._lock, approval._gateway_notify_cbs = threading.Lock(), {}
        approval.is_approval_bypass_active = lambda: self.bypassed
        approval._is_interactive_cli = lambda: self.interactive
        approval._is_gateway_approval_context = lambda: self.gateway
        approval._get_approval_mode = lambda: self.mode
        approval.get_current_session_key = lambda default="default": self.key or default
        approval.is_approved = lambda key, pattern: key == self.key and pattern in self.approved
        approval._command_matches_permanent_allowlist = lambda text: text in self.approved
        approval.detect_dangerous_command = lambda text: self.dangerous
        terminal._get_approval_callback = lambda: self.callback
        self.context._SESSION_ID = ContextVar("HERMES_SESSION_ID", default=None)
        for module in (approval, terminal, self.context):
            monkeypatch.setitem(sys.modules, module.__name__, module)
        for variable in ("HERMES_EXEC_ASK", "HERMES_CRON_SESSION", "HERMES_SESSION_ID"):
            monkeypatch.delenv(variable, raising=False)
        for stream in ("stdin", "stdout"):
            monkeypatch.setattr(sys, stream, io.StringIO())

    def notifies(self) -> None:
        self.approval._gateway_notify_cbs[self.key] = print


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    return Host(monkeypatch)


@pytest.mark.parametrize("here", [PERSON, IN_CHAT, ALONE, YOLO, YOLO_ALONE, UNHEARD, Presence(UNKNOWN)])
@pytest.mark.parametrize("unattended", ["block", "ask", "allow"])
def test_what_must_never_run_is_blocked_whoever_is_there(here: Presence, unattended: str) -> None:
    assert answer(Verdict.BLOCK, here, unattended, approved=True, withheld=True) == BLOCK
    assert answer(Verdict.ALLOW, here, unattended) == ALLOW


def test_a_person_decides_unless_they_have_switched_questions_off() -> None:
    assert answer(Verdict.APPROVE, PERSON) == answer(Verdict.APPROVE, IN_CHAT) == ASK
    assert answer(Verdict.APPROVE, YOLO) == ALLOW
    assert answer(Verdict.APPROVE, PERSON, withheld=True) == ALLOW
    assert answer(Verdict.APPROVE, PERSON, approved=True) == ALLOW


@pytest.mark.parametrize("alone", [ALONE, YOLO_ALONE])
def test_where_nobody_is_the_setting_decides_and_a_misspelt_one_blocks(alone: Presence) -> None:
    given = {setting: answer(Verdict.APPROVE, alone, setting) for setting in ("block", "ask", "allow", "?")}
    assert given == {"block": BLOCK, "ask": ASK, "allow": ALLOW, "?": BLOCK}
    assert answer(Verdict.APPROVE, alone, withheld=True) == BLOCK
    assert answer(Verdict.APPROVE, alone, approved=True) == ALLOW


def test_a_person_whom_the_host_would_not_ask_is_not_overruled_by_the_setting_for_nobody() -> None:
    assert answer(Verdict.APPROVE, UNHEARD, "allow") == answer(Verdict.APPROVE, UNHEARD, "ask") == BLOCK


def test_a_person_who_cannot_be_reached_by_our_question_may_be_by_the_hosts_own(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert answer(Verdict.APPROVE, UNHEARD, withheld=True) == ALLOW
    host.dangerous = (True, "recursive delete", "recursive delete")
    assert not asks(host, UNHEARD)
    monkeypatch.setenv("HERMES_EXEC_ASK", "1")
    assert asks(host, UNHEARD) and not asks(host, UNHEARD, tool="execute_code")


def test_a_host_that_cannot_be_read_is_given_the_word() -> None:
    assert answer(Verdict.APPROVE, Presence(UNKNOWN)) == ASK


def test_a_prompt_of_the_terminal_is_a_person(host: Host) -> None:
    host.interactive, host.callback = True, lambda *_: "once"
    assert presence.look("20260101_000000_abc") == Presence(TERMINAL)
    host.bypassed = True
    assert presence.look() == Presence(TERMINAL, bypassed=True)


def test_an_interactive_flag_without_a_terminal_is_nobody(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.interactive = host.bypassed = True
    assert presence.look().who == NOBODY
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    assert presence.look().who == NOBODY
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert presence.look() == Presence(TERMINAL, bypassed=True)


@pytest.mark.parametrize("module", ["tools.delegate_tool", "agent.background_review"])
def test_a_callback_that_answers_by_itself_is_nobody(host: Host, module: str) -> None:
    def automatic(*_: object) -> str:
        return "once"

    automatic.__module__ = module
    host.interactive, host.callback = True, automatic
    assert presence.look().who == NOBODY


@pytest.mark.parametrize("screen, who", [(None, NOBODY), (object(), TERMINAL)])
def test_a_prompt_without_a_screen_is_nobody(host: Host, screen: object, who: str) -> None:
    class Line:
        _app = screen

        def prompt(self) -> str:
            return "once"

    host.interactive, host.callback = True, Line().prompt
    assert presence.look().who == who


def test_a_chat_is_a_person_only_where_the_host_can_reach_it(host: Host) -> None:
    host.gateway = True
    assert presence.look().who == NOBODY
    host.notifies()
    assert presence.look() == Presence(CHAT)
    host.key = "another session"
    assert presence.look().who == NOBODY


def test_a_job_is_known_by_its_session_and_not_by_the_environment(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.notifies()
    host.gateway = True
    assert presence.look("cron_0123456789ab_20260101_000000").who == NOBODY
    token = host.context._SESSION_ID.set("cron_0123456789ab_20260101_000000")
    assert presence.look("").who == NOBODY  # a call from a script of the job, which has no session id
    host.context._SESSION_ID.reset(token)
    monkeypatch.setenv("HERMES_SESSION_ID", "cron_0123456789ab_20260101_000000")
    assert presence.look("").who == CHAT


def test_a_chat_in_a_process_that_ran_a_job_is_there_and_cannot_be_asked(host: Host) -> None:
    host.notifies()  # and the host no longer takes it for a gateway's, as after the first job
    here = presence.look("20260101_000000_abc")
    assert (here.who, here.reachable) == (CHAT, False) and "scheduled job" in here.reason


def test_a_one_shot_run_is_nobody_under_its_yolo(host: Host) -> None:
    host.bypassed = True
    assert presence.look().who == NOBODY


def test_a_host_that_lost_a_name_is_unknown_and_nothing_is_raised(host: Host) -> None:
    del host.approval._is_interactive_cli
    assert presence.look().who == UNKNOWN
    assert presence.approved_before("k") is False


def test_an_answer_of_a_person_is_found_under_our_key_alone(host: Host) -> None:
    host.approved = {"plugin_rule:hermes-ops:files.x:abc"}
    assert presence.approved_before("hermes-ops:files.x:abc")
    assert not presence.approved_before("hermes-ops:files.x:abd")


def asks(host: Host, here: Presence = PERSON, **given: Any) -> bool:
    values = {"tool": "terminal", "text": "rm -rf x", "backend": Backend(), "smart": "ask", **given}
    return surroundings.host_asks(values["tool"], values["text"], here, values["backend"], values["smart"])


def test_our_question_is_withheld_only_where_the_host_asks_the_same_person(host: Host) -> None:
    assert not asks(host)
    host.dangerous = (True, "recursive delete", "recursive delete")
    assert asks(host)
    for here in (ALONE, YOLO, UNHEARD, Presence(UNKNOWN)):
        assert not asks(host, here)
    assert not asks(host, backend=Backend("docker", isolated=True))
    assert not asks(host, tool="process")
    host.approved = {"recursive delete"}
    assert not asks(host)
    host.approved = {"rm -rf x"}
    assert not asks(host)


def test_in_smart_mode_a_model_might_answer_so_we_ask_unless_it_is_trusted(host: Host) -> None:
    host.dangerous, host.mode = (True, "recursive delete", "recursive delete"), "smart"
    assert not asks(host)
    assert asks(host, smart="trust")


@pytest.mark.parametrize("tool", ["execute_code", "rlm_exec"])
def test_whole_scripts_are_asked_about_by_the_host_in_chats_alone(host: Host, tool: str) -> None:
    assert asks(host, IN_CHAT, tool=tool)
    assert not asks(host, PERSON, tool=tool)
    host.approved = {"execute_code"}
    assert not asks(host, IN_CHAT, tool=tool)
