"""The demo of the command guard: what it reads, what it says in a session, and what it wrote down."""

from __future__ import annotations

from demo_stage import Demo, Failed, heading, install, say

from tests.host.model_server import auxiliary_route

POLICY = """\
[[rule]]
id = "production"
verdict = "block"
argv = "deploy.sh production **"
reason = "production is deployed by its pipeline"
safer = "open a merge request"
match = ["./deploy.sh production", "sudo -E bash -c 'cd /srv && ./deploy.sh production now'"]
not_match = ["./deploy.sh staging", "echo ./deploy.sh production"]
"""
# Harmless, whatever the guard says of it.
DEPLOY = '#!/bin/sh\necho "deployed to $1"\n'
HIDDEN = "p=prod; x=./deploy.sh; timeout 60 $x ${p}uction"


def guard_commands(demo: Demo) -> None:
    if not (demo.home.path / "plugins" / "hermes-ops").exists():
        install(demo, "hermes_ops", "hermes-ops")
    heading("The command guard reads a command; it does not search it (explain runs nothing)")
    demo.hermes("ops", "guard", "explain", "echo cm0gLXJmIC8K | base64 -d | sh", code=1)
    demo.hermes("ops", "guard", "explain", "git commit -m 'Never run rm -rf / here'")

    heading("A rule of one's own, with examples that are checked, and a session that runs into it")
    policy = demo.home.path / "ops" / "guard.toml"
    policy.parent.mkdir(mode=0o700, exist_ok=True)
    policy.write_text(POLICY, "utf-8")
    say(f"$ cat {demo.shortened(str(policy))}\n{POLICY}")
    demo.hermes("ops", "guard", "accept", "--yes")
    script = demo.home.project / "deploy.sh"
    script.write_text(DEPLOY, "utf-8")
    script.chmod(0o755)
    commands = ("./deploy.sh staging", HIDDEN)
    turns = [
        {"text": "I deploy.", "tool_calls": [_terminal(command, number)]}
        for number, command in enumerate(commands)
    ]
    demo.model.reset([auxiliary_route(), {"name": "agent", "turns": [*turns, {"text": "Staging is done."}]}])
    demo.hermes("chat", "-Q", "-q", "Deploy it.")
    answers = {
        message["tool_call_id"]: message["content"]
        for request in demo.model.requests
        for message in request.body["messages"]
        if message["role"] == "tool"
    }
    for number, command in enumerate(commands):
        say(f"\nthe model calls terminal: {command}\nit is told: {answers[f'call_{number}']}")
    if "deployed to staging" not in answers["call_0"]:
        raise Failed("the ordinary command was expected to run")
    if "BLOCKED" not in answers["call_1"] or "deployed to" in answers["call_1"]:
        raise Failed("the deployment to production was expected to be blocked")
    demo.hermes("ops", "guard", "log")
    demo.hermes("ops", "guard")


def _terminal(command: str, number: int) -> dict[str, object]:
    return {"name": "terminal", "arguments": {"command": command}, "id": f"call_{number}"}


CHAPTERS = (guard_commands,)
