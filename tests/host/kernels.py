"""Sessions whose agent uses hermes_rlm: scripted cells, the replies the model got, what kernels left.

`witnessed_home` adds a second plugin that writes down every tool hook and blocks what says "forbidden".
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.host.hermes import HermesHome
from tests.host.installs import CHECKOUT
from tests.host.model_server import ModelServer
from tests.host.scenarios.core import call, script, wait_until

RLM = CHECKOUT / "hermes_rlm"
TOOLS = ("rlm_exec", "rlm_vars", "rlm_reset", "rlm_skills", "rlm_checkpoint")
REPLY_LIMIT = 8000
# After ten calls the host would review the conversation with requests of its own.
NO_REVIEW = {"memory": {"nudge_interval": 0}, "skills": {"creation_nudge_interval": 0}}
WITNESS = """
import json
from hermes_constants import get_hermes_home

IDENTIFIERS = ("tool_name", "args", "session_id", "task_id", "turn_id", "api_request_id", "tool_call_id")

def note(hook, told, **more):
    noted = {"hook": hook, **{name: told.get(name) for name in IDENTIFIERS}, **more}
    with (get_hermes_home() / "witness.jsonl").open("a") as out:
        out.write(json.dumps(noted) + "\\n")

def before(**told):
    note("pre_tool_call", told)
    if told["tool_name"] != "rlm_exec" and "forbidden" in json.dumps(told["args"]):
        return {"action": "block", "message": "The witness says no."}

def after(**told):
    note("post_tool_call", told, status=told.get("status"))

def register(ctx):
    ctx.register_hook("pre_tool_call", before)
    ctx.register_hook("post_tool_call", after)
"""


@contextmanager
def witnessed_home(server: ModelServer, *plugins: Path) -> Iterator[HermesHome]:
    """A home with hermes_rlm, the witness and `plugins`; kernels it leaves behind fail no other test."""
    with HermesHome(server.url) as home:
        for folder in (RLM, *plugins):
            home.install(folder)
        home.write_plugin("witness", WITNESS)
        home.configure(NO_REVIEW)
        try:
            yield home
        finally:
            wait_until(lambda: not processes(home), "the end of the kernels", 15)


def witnessed(home: HermesHome, hook: str) -> list[dict[str, Any]]:
    """What the witness wrote of a hook, oldest first."""
    lines = (home.path / "witness.jsonl").read_text("utf-8").splitlines()
    return [told for told in map(json.loads, lines) if told["hook"] == hook]


def ended(home: HermesHome, id: str) -> bool:
    """Whether the call with this id has ended, as the witness saw it."""
    return any(told["tool_call_id"] == id for told in witnessed(home, "post_tool_call"))


def cell(code: str, id: str, **options: Any) -> dict[str, Any]:
    """A scripted call of rlm_exec."""
    return call("rlm_exec", {"code": code, **options}, id)


def _turns(calls: Sequence[dict[str, Any]], answer: str) -> list[dict[str, Any]]:
    return [*({"tool_calls": [one]} for one in calls), {"text": answer}]


class Agent:
    """A scripted agent and the tool results it was sent, kept from one script to the next."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self._texts: dict[str, str] = {}

    def will(self, *calls: dict[str, Any], answer: str = "Done.", goal: dict[str, Any] | None = None) -> None:
        """Script the next turn: these calls, one per model request, and then the answer.

        `goal` holds the one call that a sub-agent makes which is given the words of its key.
        """
        self._collect()
        children = [
            {"when": {"last_user": words, "has_tools": True}, "turns": _turns([one], "The child is done.")}
            for words, one in (goal or {}).items()
        ]
        script(self.server, *_turns(calls, answer), first=children)

    def text(self, id: str) -> str:
        """The result of a call as the model read it."""
        self._collect()
        return self._texts[id]

    def reply(self, id: str) -> dict[str, Any]:
        """The same, parsed. The host may append a remark of its own to the JSON."""
        return json.JSONDecoder().raw_decode(self.text(id))[0]

    def _collect(self) -> None:
        for request in self.server.requests:
            for message in request.body["messages"]:
                if message["role"] == "tool":
                    self._texts[message["tool_call_id"]] = message["content"]


def processes(home: HermesHome) -> list[int]:
    """The pids of everything that kernels of this home have started and that still runs."""
    if sys.platform != "linux":
        return []
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        is_marked = any(variable.startswith(b"HERMES_RLM_KERNEL_ID=") for variable in environment)
        if is_marked and f"HERMES_HOME={home.path}".encode() in environment:
            found.append(int(entry.name))
    return found


def remains(home: HermesHome) -> list[str]:
    """What is left of kernels in the temporary directory and among the registrations."""
    places = [*home.root.glob("tmp/hermes-rlm-*/*"), *home.path.glob("state/rlm/kernels/*")]
    return [str(path.relative_to(home.root)) for path in places]


def warnings(home: HermesHome) -> list[str]:
    """What the plugin logged at WARNING and above, or was logged of it by the plugin system."""
    loggers = ("hermes_plugins", "hermes_cli.plugins", "hermes_rlm")
    return [line for line in home.logs() if any(f" {logger}" in line for logger in loggers)]
