"""The guard where nobody can be asked: what must never run does not, what a person would decide does not.

One-shot runs (under the host's yolo), quiet chats without a terminal, scheduled jobs; the other surfaces are
in test_ops_guard_terminal and test_ops_guard_gateway.
"""

from __future__ import annotations

import re

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
    ran,
    run,
    set_policy,
)
from tests.host.kernels import Agent, cell, warnings
from tests.host.model_server import ModelServer
from tests.host.scenarios.core import call

pytestmark = pytest.mark.host

INNER = "import subprocess\nsubprocess.run({words!r})"
# The command stands in a file, so that only the call of the tool tells what would run.
FROM_FILE = "from hermes_tools import terminal\nprint(terminal(open({path!r}).read()))"
PATCH = "*** Begin Patch\n*** Add File: {path}\n+{line}\n*** Add File: {other}\n+plain\n*** End Patch"


def test_a_one_shot_run_is_held_to_it_by_every_tool_that_runs_or_writes() -> None:
    with ModelServer() as server, guarded_home(server) as home:
        agent = Agent(server)
        scripts = home.path / "scripts"
        later = home.root / "later"
        later.write_text(run(NEVER, "inner"), "utf-8")
        (home.project / "link").symlink_to(home.path)
        plain = home.project / "notes.txt"
        agent.will(
            command(NEVER, "never"),
            command(ASKED, "asked", SECRET),
            command(PLAIN, "plain"),
            call("execute_code", {"code": INNER.format(words=[f"./{NEVER}", "code"])}, "code"),
            call("execute_code", {"code": FROM_FILE.format(path=str(later))}, "inner"),
            call("write_file", {"path": str(scripts / "a.sh"), "content": run(NEVER, "script")}, "script"),
            call("write_file", {"path": "link/ops/guard.toml", "content": "mode = 'report'"}, "linked"),
            call(
                "write_file", {"path": "link/scripts/c.sh", "content": run(NEVER, "linked")}, "linked script"
            ),
            call("write_file", {"path": str(plain), "content": run(NEVER, "text")}, "text"),
            call("write_file", {"path": "kept-1", "content": "x"}, "kept"),
            call(
                "patch",
                {
                    "mode": "patch",
                    "patch": PATCH.format(
                        path=scripts / "b.sh", line=run(NEVER, "patch"), other=home.project / "p.txt"
                    ),
                },
                "patch",
            ),
            cell(INNER.format(words=[f"./{NEVER}", "cell"]), "cell"),
            cell(f"terminal({run(ASKED, 'bridged')!r})", "bridged"),
            cell("2 + 2", "sum"),
        )
        assert home.one_shot("Go on.").returncode == 0
        assert ran(home) == {f"{PLAIN}-plain"}
        assert sorted(path.name for path in scripts.iterdir()) == []
        assert plain.read_text("utf-8") == run(NEVER, "text")
        assert not (home.project / "kept-1").exists() and not (home.project / "p.txt").exists()
        assert agent.reply("sum") == {"ok": True, "value": "4"}

        never, asked = agent.text("never"), agent.text("asked")
        assert "BLOCKED by hermes-ops" in never and NEVER_REASON in never and "unattended" not in never
        assert all(piece in asked for piece in (REASON, SAFER, "policy.asked", "nobody can be asked here"))
        assert "`unattended` in ops/guard.toml" in asked
        assert "mode = 'report'" not in (home.path / "ops" / "guard.toml").read_text("utf-8")
        assert "guard.changed" in agent.text("linked")
        for id in ("code", "inner", "script", "linked script", "patch", "cell"):
            assert NEVER_REASON in agent.text(id), id
        assert REASON in agent.text("bridged") and "a file that is kept" in agent.text("kept")
        assert SECRET not in asked + log_text(home)
        assert decided(home) == [
            ("block", "policy.never"),
            ("block", "policy.asked"),
            ("block", "policy.never"),
            ("block", "policy.never"),
            ("block", "policy.never"),
            ("block", "guard.changed"),
            ("block", "policy.never"),
            ("block", "policy.file"),
            ("block", "policy.never"),
            ("block", "policy.never"),
            ("block", "policy.asked"),
        ]
        assert warnings(home) == []


def test_a_quiet_chat_without_a_terminal_blocks_at_once_and_does_not_wait_for_an_answer() -> None:
    with ModelServer() as server, guarded_home(server) as home:
        home.configure({"approvals": {"timeout": 600}})
        agent = Agent(server)
        agent.will(command(NEVER, "never"), command(ASKED, "asked"), command(PLAIN, "plain"))
        assert home.chat("Go on.").returncode == 0
        assert ran(home) == {f"{PLAIN}-plain"}
        assert NEVER_REASON in agent.text("never") and "takes no answers" in agent.text("asked")


def test_a_job_is_blocked_where_the_host_would_approve_by_itself_unless_the_policy_asks_it() -> None:
    with ModelServer() as server, guarded_home(server) as home:
        home.configure({"approvals": {"cron_mode": "approve"}})
        agent = Agent(server)
        made = home.run("cron", "create", "every 2h", "Go on.", "--name", "job")
        found = re.search(r"[0-9a-f]{12}", made.stdout)
        assert found, made.stdout
        agent.will(command(NEVER, "never"), command(ASKED, "asked"), command(PLAIN, "plain"))
        assert home.run("cron", "run", found[0]).returncode == 0
        assert ran(home) == {f"{PLAIN}-plain"}
        assert NEVER_REASON in agent.text("never") and "a scheduled job" in agent.text("asked")
        set_policy(home, unattended="ask")
        agent.will(command(NEVER, "never again"), command(ASKED, "asked-again"))
        assert home.run("cron", "run", found[0]).returncode == 0
        assert ran(home) == {f"{PLAIN}-plain", f"{ASKED}-asked-again"}
        assert NEVER_REASON in agent.text("never again")
