"""Homes with the command guard, and stand-ins for what it is about: scripts that only leave a mark.

A policy of the test says of one script that it must never run and of another that a person decides; the guard
knows no other difference between them. Nothing here could hurt if the guard failed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hermes_ops.guard import decisions
from hermes_ops.guard.accepted import accept
from tests.host.hermes import HermesHome
from tests.host.installs import CHECKOUT
from tests.host.kernels import NO_REVIEW, RLM, processes
from tests.host.model_server import ModelServer
from tests.host.scenarios.core import call, wait_until

OPS = CHECKOUT / "hermes_ops"
NEVER, ASKED, PLAIN = "never-stub", "asked-stub", "plain-stub"
REASON, SAFER, NEVER_REASON = "the stand-in for a risk", "run plain-stub", "the stand-in for a catastrophe"
SECRET = "gh" + "p_" + "b7Rk2XmPq9LsT4vWn8cZ" + "1eYf5hJj3uDg"
POLICY = f"""
[[rule]]
id = "never"
verdict = "block"
argv = ["{NEVER}", "**"]
reason = "{NEVER_REASON}"

[[rule]]
id = "asked"
verdict = "approve"
argv = ["{ASKED}", "**"]
reason = "{REASON}"
safer = "{SAFER}"

[[rule]]
id = "folder"
verdict = "approve"
argv = ["rm", "-rf", "*/marker-*"]
reason = "a marker folder"

[[rule]]
id = "file"
verdict = "approve"
path = ["**/kept-*"]
reason = "a file that is kept"
"""
STUB = '#!/bin/sh\n: > "$(dirname "$0")/ran-$(basename "$0")-$1"\n'


@contextmanager
def guarded_home(server: ModelServer) -> Iterator[HermesHome]:
    """A home with hermes_ops and hermes_rlm, the policy accepted and the stubs in its project."""
    with HermesHome(server.url) as home:
        for folder in (OPS, RLM):
            home.install(folder)
        home.configure(NO_REVIEW)
        (home.path / "scripts").mkdir()
        set_policy(home)
        for name in (NEVER, ASKED, PLAIN):
            stub = home.project / name
            stub.write_text(STUB, "utf-8")
            stub.chmod(0o755)
        try:
            yield home
        finally:
            wait_until(lambda: not processes(home), "the end of the kernels", 15)


def set_policy(home: HermesHome, unattended: str = "block") -> None:
    """Write the policy, and accept it as a person would."""
    policy = home.path / "ops" / "guard.toml"
    policy.parent.mkdir(mode=0o700, exist_ok=True)
    policy.write_text(f'unattended = "{unattended}"\n{POLICY}', "utf-8")
    accept(home.path, time.time())


def ran(home: HermesHome) -> set[str]:
    """The marks of the stubs that ran: "never-stub-<word>"."""
    return {path.name.removeprefix("ran-") for path in home.project.glob("ran-*")}


def run(stub: str, word: str, *more: str) -> str:
    """A command that runs a stub, which then leaves a mark with this word."""
    return " ".join((f"./{stub}", word, *more))


def command(stub: str, word: str, *more: str) -> dict[str, Any]:
    """A call of the terminal that runs a stub; its id is the word."""
    return call("terminal", {"command": run(stub, word, *more)}, word)


def marker(home: HermesHome, name: str) -> tuple[Path, str]:
    """A folder of which our policy and the host's detector would ask, and the command removing it."""
    made = home.project / f"marker-{name}"
    made.mkdir()
    return made, f"rm -rf {made}"


def decided(home: HermesHome) -> list[tuple[str, str]]:
    """What the guard wrote down of calls: answer and first rule, the oldest first, without counts."""
    found = [record for record in decisions.read(home.path) if record["answer"] not in ("allow", "accepted")]
    return [(record["answer"], record["rules"][0]) for record in found]


def log_text(home: HermesHome) -> str:
    return json.dumps(list(decisions.read(home.path)))
