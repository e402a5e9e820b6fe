"""Calls from a kernel against the real host's tools and approvals, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [
    pytest.mark.host,
    pytest.mark.skipif(find_spec("model_tools") is None, reason="hermes-agent is not installed"),
]

PRELUDE = """
import json, os, sys, threading, time
from hermes_rlm.bridge import CallError
from hermes_rlm.dispatch import HostTools, OuterCall, whole_script_check
from hermes_rlm.tool_arguments import TOOLS
work = os.environ["WORK"]
def tools(**identifiers):
    return HostTools(OuterCall("session", "task", **identifiers), lambda: set(TOOLS), lambda: 60.0)
kernel = tools()
def call(tool, **arguments):
    try: return kernel.call(tool, arguments)
    except CallError as error: return "error: " + error.message
said = {}
"""


def run(
    tmp_path: Path, code: str, config: dict[str, Any] | None = None, **environment: str
) -> dict[str, Any]:
    """Run `code` in a process with a fresh home; return the dict `said` it leaves."""
    home = tmp_path / "home"
    work = tmp_path / "work"
    for directory in (home, work):
        directory.mkdir(exist_ok=True)
    settings = {
        "_config_version": 33,
        "approvals": {"mode": "manual", "timeout": 2},
        "security": {"allow_lazy_installs": False, "tirith_enabled": False},
        "terminal": {"backend": "local"},
        **(config or {}),
    }
    (home / "config.yaml").write_text(json.dumps(settings), "utf-8")
    result = tmp_path / "said.json"
    ending = f"\nopen({str(result)!r}, 'w').write(json.dumps(said)); sys.stdout.flush(); os._exit(0)"
    finished = subprocess.run(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(code) + ending],
        cwd=work,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "HOME": str(home),
            "HERMES_HOME": str(home),
            "WORK": str(work),
            "TMPDIR": str(tmp_path),
            "LANG": "C.UTF-8",
            **environment,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert finished.returncode == 0, finished.stderr
    return json.loads(result.read_text("utf-8"))


def test_a_file_is_read_whole_any_number_of_times_and_the_agents_own_reads_stay_as_they_were(tmp_path):
    said = run(
        tmp_path,
        """
        import model_tools
        text = "".join(f"{number}|é\\n" for number in range(2100)) + "end"
        path = work + "/a.txt"; open(path, "w").write(text)
        said["reads"] = [call("read_file", path=path) == text for _ in range(20)]
        own = lambda: model_tools.handle_function_call("read_file", {"path": path}, task_id="task")
        said["own first"] = json.loads(own())["content"][:4]
        said["own second"] = json.loads(own()).get("status")
        said["between"] = call("read_file", path=path) == text
        said["own third"] = json.loads(own()).get("error", "")[:7]
        said["searches"] = [call("search_files", pattern="2099", path=path)["total_count"] for _ in range(6)]
        """,
    )
    assert said == {
        "reads": [True] * 20,
        "own first": "1|0|",
        "own second": "unchanged",
        "between": True,
        "own third": "BLOCKED",
        "searches": [1] * 6,
    }


def test_texts_of_every_ending_come_back_as_they_are_and_can_be_written_again(tmp_path):
    said = run(
        tmp_path,
        """
        said["same"] = []
        texts = "a\\nb\\n", "a\\nb", "", "\\n", "x\\r\\ny\\r\\n", "tail  \\n\\n", "|\\n12|\\n", "\\u2028é\\n"
        for text in texts:
            path = work + "/t.txt"; open(path, "w", newline="").write(text)
            said["same"].append(call("read_file", path=path) == text)
        written = call("write_file", path=work + "/new/w.txt", content="x\\ny\\n")
        said["written"] = [written["bytes_written"], open(work + "/new/w.txt").read()]
        call("patch", path=work + "/new/w.txt", old_string="y", new_string="z")
        said["patched"] = call("read_file", path=work + "/new/w.txt")
        said["not found"] = call("patch", path=work + "/new/w.txt", old_string="q", new_string="z")
        for name in "abcdefg": open(f"{work}/{name}.py", "w").write("import os\\n")
        said["matches"] = len(call("search_files", pattern="^import", path=work)["matches"])
        said["files"] = len(call("search_files", pattern="*.py", target="files", path=work)["files"])
        """,
    )
    assert said["same"] == [True] * 8
    assert said["written"] == [4, "x\ny\n"]
    assert said["patched"] == "x\nz\n"
    assert said["not found"].startswith("error: Could not find a match")
    assert (said["matches"], said["files"]) == (7, 7)


def test_what_cannot_be_read_as_text_is_refused_with_the_hosts_words(tmp_path):
    said = run(
        tmp_path,
        """
        open(work + "/long", "w").write("a\\n" + "z" * 2500 + "\\nb\\n")
        open(work + "/bytes", "wb").write(bytes(range(32)) * 90)
        open(os.environ["HERMES_HOME"] + "/.env", "w").write("A=1\\n")
        for name in ("long", "bytes", "none"): said[name] = call("read_file", path=f"{work}/{name}")
        said["rest"] = call("read_file", path=work + "/long", offset=3)
        said["env"] = call("read_file", path=os.environ["HERMES_HOME"] + "/.env")
        """,
    )
    assert "line 2 of" in said["long"] and "open()" in said["long"]
    assert said["rest"] == "b\n"
    assert "Binary file" in said["bytes"]
    assert "File not found" in said["none"]
    assert "credential store" in said["env"]


def test_commands_run_in_the_sessions_directory_and_within_their_time(tmp_path):
    said = run(
        tmp_path,
        """
        said["code"] = call("terminal", command="echo hi; exit 3")
        call("terminal", command="cd /; true")
        said["directory"] = call("terminal", command="pwd")["output"]
        said["elsewhere"] = call("terminal", command="pwd", workdir="/usr")["output"]
        said["late"] = call("terminal", command="sleep 30", timeout=1)["exit_code"]
        said["server"] = call("terminal", command="python -m http.server")
        said["root"] = call("terminal", command="rm -rf /")
        """,
    )
    assert said["code"] == {"output": "hi", "exit_code": 3}
    assert (said["directory"], said["elsewhere"], said["late"]) == ("/", "/usr", 124)
    assert "long-lived" in said["server"]
    assert said["root"].startswith("error: BLOCKED")


def test_a_dangerous_command_is_asked_about_on_the_calling_thread_and_denied_without_an_answer(tmp_path):
    said = run(
        tmp_path,
        """
        from tools.terminal_tool import set_approval_callback
        asked = []
        set_approval_callback(lambda command, description, **rest: asked.append(command) or "deny")
        os.mkdir(work + "/victim")
        said["denied"] = call("terminal", command=f"rm -rf {work}/victim")
        said["asked"] = [work in command for command in asked]
        said["there"] = os.path.isdir(work + "/victim")
        set_approval_callback(lambda command, description, **rest: "once")
        said["approved"] = call("terminal", command=f"rm -rf {work}/victim")["exit_code"]
        said["gone"] = not os.path.isdir(work + "/victim")
        """,
        HERMES_INTERACTIVE="1",
    )
    assert said["denied"].startswith("error: BLOCKED")
    assert said["asked"] == [True] and said["there"]
    assert (said["approved"], said["gone"]) == (0, True)


IN_A_GATEWAY = """
from gateway.session_context import set_session_vars
set_session_vars(platform="telegram", chat_id="1", session_key="key", session_id="session")
"""


def test_a_dangerous_command_of_a_gateway_session_waits_for_approval(tmp_path):
    said = run(
        tmp_path,
        IN_A_GATEWAY
        + """
os.mkdir(work + "/victim")
said["pending"] = call("terminal", command=f"rm -rf {work}/victim")
said["there"] = os.path.isdir(work + "/victim")
""",
    )
    assert said["pending"].startswith("error: pending approval")
    assert said["there"]


def test_hooks_of_plugins_see_the_call_with_its_identifiers_and_can_block_it(tmp_path):
    plugin = tmp_path / "home" / "plugins" / "watch"
    plugin.mkdir(parents=True)
    (plugin / "plugin.yaml").write_text("name: watch\nversion: 1.0.0\nkind: standalone\n")
    (plugin / "__init__.py").write_text(
        "import os\n"
        "SEEN = []\n"
        "def before(**call):\n"
        "    SEEN.append([call[n] for n in"
        " ('tool_name', 'session_id', 'task_id', 'turn_id', 'api_request_id', 'tool_call_id')])\n"
        "    if 'forbidden' in str(call['args']): return {'action': 'block', 'message': 'no, says watch'}\n"
        "def register(ctx):\n"
        "    ctx.register_hook('pre_tool_call', before)\n"
    )
    said = run(
        tmp_path,
        """
        import model_tools
        kernel = tools(turn_id="turn", api_request_id="request", tool_call_id="call_1")
        said["ran"] = call("terminal", command="echo hi")
        said["blocked"] = call("terminal", command="echo forbidden")
        said["seen"] = sys.modules["hermes_plugins.watch"].SEEN
        """,
        config={"plugins": {"enabled": ["watch"], "disabled": []}},
    )
    assert said["ran"]["output"] == "hi"
    assert said["blocked"] == "error: no, says watch"
    identifiers = ["terminal", "session", "task", "turn", "request"]
    assert said["seen"] == [[*identifiers, "call_1:b1"], [*identifiers, "call_1:b2"]]


# The check of whole scripts.

CHECK = 'said["check"] = whole_script_check("import os\\nprint(1)")\n'


def test_a_script_in_an_interactive_session_is_allowed(tmp_path):
    assert run(tmp_path, CHECK, HERMES_INTERACTIVE="1") == {"check": None}


def test_a_script_in_a_gateway_session_waits_for_approval(tmp_path):
    check = run(tmp_path, IN_A_GATEWAY + CHECK)["check"]
    assert "Asking the user for approval" in check
    assert "print(1)" not in check


def test_a_script_in_ask_mode_waits_for_approval(tmp_path):
    assert "Asking the user" in run(tmp_path, CHECK, HERMES_EXEC_ASK="1")["check"]


def test_a_script_of_a_cron_job_follows_the_cron_setting(tmp_path):
    cron = {"HERMES_CRON_SESSION": "1"}
    assert run(tmp_path, CHECK, **cron)["check"].startswith("BLOCKED")
    approve = {"approvals": {"mode": "manual", "cron_mode": "approve"}}
    assert run(tmp_path, CHECK, approve, **cron) == {"check": None}


def test_a_script_is_allowed_where_approvals_are_bypassed(tmp_path):
    assert run(tmp_path, IN_A_GATEWAY + CHECK, HERMES_YOLO_MODE="1") == {"check": None}
    assert run(tmp_path, IN_A_GATEWAY + CHECK, {"approvals": {"mode": "off"}}) == {"check": None}


@pytest.mark.parametrize("choice, refused", [("once", False), ("deny", True)])
def test_the_answer_of_a_gateways_user_decides_and_clears_an_interrupt_that_came_meanwhile(
    tmp_path, choice, refused
):
    said = run(
        tmp_path,
        IN_A_GATEWAY
        + f"""
from tools import approval
from tools.interrupt import is_interrupted, set_interrupt
own = threading.get_ident()
def notify(data):
    def answer():
        time.sleep(0.3)
        approval.resolve_gateway_approval("key", {choice!r})
    threading.Thread(target=answer).start()
approval.register_gateway_notify("key", notify)
resolve = approval.resolve_gateway_approval
def interrupted(*a, **k):
    set_interrupt(True, own)
    return resolve(*a, **k)
approval.resolve_gateway_approval = interrupted
{CHECK}
said["interrupted"] = is_interrupted()
""",
    )
    assert (said["check"] is not None) is refused
    assert said["interrupted"] is refused
