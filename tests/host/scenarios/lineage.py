"""Sessions that become several, or are rewritten: sub-agents, /new, compaction, background review."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from tests.host.hermes import HermesHome, Interactive, Run
from tests.host.model_server import ModelServer
from tests.host.scenarios.core import call, notes, scenario, script, wait_until


def _delegate(home: HermesHome, server: ModelServer, goals: Sequence[str]) -> Sequence[Run]:
    path = notes(home)
    arguments: dict[str, Any] = {"goal": goals[0], "context": "none"}
    if len(goals) > 1:
        arguments = {"tasks": [{"goal": goal, "context": "none"} for goal in goals]}
    children = [
        {
            "name": goal,
            "when": {"last_user": goal, "has_tools": True},
            "turns": [{"tool_calls": [call("read_file", {"path": path}, "call_child")]}],
        }
        for goal in goals
    ]
    for number, child in enumerate(children):
        child["turns"].append({"text": f"Child {number} says two."})
    answers = [
        {"tool_calls": [call("delegate_task", arguments, "call_parent")]},
        {"text": "The children said two."},
    ]
    parent = {"name": "parent", "when": {"last_user": "Ask somebody"}, "turns": answers}
    script(server, first=[parent, *children])
    return [home.one_shot("Ask somebody to count.")]


@scenario("-z")
def delegate_one(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """One sub-agent that uses a tool, run to its end within the parent's turn."""
    return _delegate(home, server, ["COUNT-ALPHA"])


@scenario("-z")
def delegate_two(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """Two sub-agents at the same time."""
    return _delegate(home, server, ["COUNT-ALPHA", "COUNT-BETA"])


@scenario("chat in a terminal")
def delegate_background(home: HermesHome, server: ModelServer) -> None:
    """A sub-agent in the background, whose result comes back as a user message of its own."""
    child = {"name": "child", "when": {"last_user": "COUNT-ALPHA"}, "turns": [{"text": "Two.", "wait": 1.0}]}
    back = {
        "name": "back",
        "when": {"last_user": "ASYNC DELEGATION"},
        "turns": [{"text": "The child has answered."}],
    }
    arguments = {"goal": "COUNT-ALPHA", "context": "none"}
    script(
        server,
        {"tool_calls": [call("delegate_task", arguments, "call_parent")]},
        {"text": "It is under way."},
        first=[back, child],
    )
    with Interactive(home) as session:
        session.wait_until_idle()
        session.ask("Ask somebody.", "It is under way.")
        session.wait_for("The child has answered.")
        session.wait_until_idle()
        session.quit()


@scenario("chat -Q -q")
def compaction(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """The conversation is compacted in place between two model calls of one turn.

    The model reports 100,000 prompt tokens after the sixth call, which passes the threshold.
    """
    path = notes(home)
    home.configure({"compression": {"protect_first_n": 1, "protect_last_n": 3, "in_place": True}})
    turns: list[dict[str, Any]] = [
        {
            "text": f"Step {number}.",
            "tool_calls": [call("read_file", {"path": path, "limit": number}, f"call_{number}")],
        }
        for number in range(1, 8)
    ]
    turns[6]["usage"] = {"prompt_tokens": 100_000}
    script(server, *turns, {"text": "All steps done."})
    return [home.chat("Take seven steps.")]


@scenario("chat in a terminal, /new")
def new_session(home: HermesHome, server: ModelServer) -> None:
    """A turn, /new, and a turn of the next session in the same process."""
    home.configure({"approvals": {"destructive_slash_confirm": False}})
    script(server, {"text": "First answer."}, {"text": "Second answer."})
    with Interactive(home) as session:
        session.wait_until_idle()
        session.ask("One.", "First answer.")
        session.ask("/new", "New session started")
        session.ask("Two.", "Second answer.")
        session.quit()


@scenario("chat in a terminal, with skills.creation_nudge_interval 2")
def background_review(home: HermesHome, server: ModelServer) -> None:
    """A turn with two tool calls, after which the host reviews it on a thread of its own."""
    path = notes(home)
    home.configure({"skills": {"creation_nudge_interval": 2}})
    turns = [
        {"tool_calls": [call("read_file", {"path": path, "limit": number}, f"call_{number}")]}
        for number in (1, 2)
    ]
    review = {
        "name": "review",
        "when": {"last_user": "Review the conversation above"},
        "turns": [
            {
                "tool_calls": [
                    call("skills_list", {}, "call_review"),
                    call("read_file", {"path": path}, "call_no"),
                ]
            },
            {"text": "Nothing to save."},
        ],
    }
    script(server, *turns, {"text": "All read."}, first=[review])
    with Interactive(home) as session:
        session.wait_until_idle()
        session.ask("Read it twice.", "All read.")
        wait_until(lambda: sum(r.route == "review" for r in list(server.requests)) >= 2, "the review")
        time.sleep(1)
        session.quit()
