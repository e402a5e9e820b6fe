"""Calls from a kernel on their way to the host: permission, arguments, identifiers, values."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hermes_rlm.bridge import CallError, Refused
from hermes_rlm.dispatch import HostTools, OuterCall, whole_script_check
from hermes_rlm.tool_arguments import TOOLS

EVERY = frozenset(TOOLS)
OUTER = OuterCall("session", "task", "turn", "request", "call_1")


class Host:
    """Stands for the host's dispatch: answers with the next of `answers`, the last one again and again."""

    def __init__(self) -> None:
        self.answers: list[Any] = [{}]
        self.calls: list[tuple[str, dict[str, Any], dict[str, Any]]] = []
        self.threads: set[int] = set()

    def handle_function_call(self, tool: str, arguments: dict[str, Any], **identifiers: Any) -> str:
        self.calls.append((tool, arguments, identifiers))
        self.threads.add(threading.get_ident())
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer if isinstance(answer, str) else json.dumps(answer)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    fake = Host()
    module = types.ModuleType("model_tools")
    module.handle_function_call = fake.handle_function_call
    monkeypatch.setitem(sys.modules, "model_tools", module)
    for name in ("tools.file_tools", "tools.terminal_tool", "tools.tool_output_limits"):
        monkeypatch.setitem(sys.modules, name, None)
    return fake


def tools(granted: Any = EVERY, remaining: float = 100.0) -> HostTools:
    return HostTools(OUTER, lambda: granted, lambda: remaining)


def test_a_call_reaches_the_host_with_the_identifiers_of_the_outer_call_on_the_same_thread(host):
    kernel = tools()
    kernel.call("web_search", {"query": "x"})
    kernel.call("web_search", {"query": "y"})
    assert [call[:2] for call in host.calls] == [("web_search", {"query": q}) for q in "xy"]
    assert host.calls[1][2] == {
        "session_id": "session",
        "task_id": "task",
        "turn_id": "turn",
        "api_request_id": "request",
        "tool_call_id": "call_1:b2",
    }
    assert host.calls[0][2]["tool_call_id"] == "call_1:b1"
    assert host.threads == {threading.get_ident()}


@pytest.mark.parametrize("tool", ["execute_code", "rlm_exec", "delegate_task", "", "Terminal"])
def test_a_tool_off_the_list_is_refused_even_when_the_session_has_it(host, tool):
    with pytest.raises(Refused, match="not a tool of kernels"):
        tools(granted=EVERY | {tool}).call(tool, {})
    assert host.calls == []


def test_a_tool_the_sessions_latest_request_has_not_is_refused_and_the_message_names_those_it_has(host):
    with pytest.raises(Refused, match=r"terminal is not among the tools of this session.*it has read_file$"):
        tools(granted={"read_file", "todo"}).call("terminal", {"command": "ls"})
    with pytest.raises(Refused, match="it has none"):
        tools(granted=()).call("terminal", {"command": "ls"})
    assert host.calls == []


def test_every_tool_is_refused_while_the_sessions_tools_are_unknown(host):
    for tool in TOOLS:
        with pytest.raises(Refused, match="not known"):
            tools(granted=None).call(tool, {})
    assert host.calls == []


@pytest.mark.parametrize(
    "tool, arguments, message",
    [
        ("terminal", {"command": "x", "background": True}, "no argument 'background'; it takes command, tim"),
        ("patch", {"path": "a", "old_string": "", "new_string": "", "mode": "patch"}, "no argument 'mode'"),
        ("write_file", {"path": "a", "content": "", "cross_profile": True}, "'cross_profile'"),
        ("terminal", {}, "needs 'command'"),
        ("terminal", {"command": ["ls"]}, "command must be text, not list"),
        ("terminal", {"command": "ls", "timeout": "5"}, "timeout must be a number, not '5'"),
        ("terminal", {"command": "ls", "timeout": 0}, "positive"),
        ("terminal", {"command": "ls", "timeout": float("nan")}, "positive"),
        ("read_file", {"path": "a", "limit": True}, "limit must be a whole number, not bool"),
        ("read_file", {"path": "a", "limit": 0}, "from 1"),
        ("read_file", {"path": "a", "offset": -1}, "from 1"),
        ("search_files", {"pattern": "a", "target": "names"}, "one of content, files, not 'names'"),
        ("search_files", {"pattern": "a", "output_mode": 1}, "one of content, files_only, count, not int"),
        ("web_extract", {"urls": "http://x"}, "urls must be a list of text, not 'http://x'"),
        ("web_extract", {"urls": ["http://x", 1]}, "urls must be a list of text, not list"),
        ("patch", {"path": "a", "old_string": "", "new_string": "", "replace_all": 1}, "True or False"),
    ],
)
def test_wrong_arguments_are_refused_with_what_is_accepted(host, tool, arguments, message):
    with pytest.raises(Refused, match=message):
        tools().call(tool, arguments)
    assert host.calls == []


def test_patch_is_always_the_replacing_kind(host):
    tools().call("patch", {"path": "a", "old_string": "b", "new_string": "c"})
    assert host.calls[0][1] == {"path": "a", "old_string": "b", "new_string": "c", "mode": "replace"}


@pytest.mark.parametrize(
    "asked, remaining, given",
    [(None, 1000, 600), (None, 42.9, 42), (30, 100, 30), (90, 12.5, 12), (5, 0.2, 1)],
)
def test_a_command_may_take_at_most_what_the_cell_has_left(host, asked, remaining, given):
    host.answers = [{"output": "", "exit_code": 0}]
    arguments = {"command": "x"} if asked is None else {"command": "x", "timeout": asked}
    tools(remaining=remaining).call("terminal", arguments)
    assert host.calls[0][1]["timeout"] == given


def test_a_command_is_refused_when_the_cell_has_no_time_left(host):
    with pytest.raises(Refused, match="no time left"):
        tools(remaining=0).call("terminal", {"command": "x"})
    assert host.calls == []


def test_a_command_that_failed_is_a_result(host):
    host.answers = [{"output": "no", "exit_code": 1, "error": None, "exit_code_meaning": "not found"}]
    assert tools().call("terminal", {"command": "x"}) == {
        "output": "no",
        "exit_code": 1,
        "exit_code_meaning": "not found",
    }
    host.answers = [{"output": "", "exit_code": 124, "error": "Command timed out after 3 seconds"}]
    assert tools().call("terminal", {"command": "x"})["exit_code"] == 124


@pytest.mark.parametrize(
    "answer, message",
    [
        ({"output": "", "exit_code": -1, "error": "BLOCKED: denied", "status": "blocked"}, "BLOCKED: denied"),
        (
            {
                "output": "",
                "exit_code": -1,
                "error": "",
                "status": "pending_approval",
                "description": "deletes",
            },
            "pending approval: deletes",
        ),
        ({"output": "", "exit_code": 1, "error": "Blocked: gateway", "status": "error"}, "Blocked: gateway"),
        ({"error": "a plugin says no"}, "a plugin says no"),
        ({"output": "", "exit_code": -1, "error": "Command execution failed: OSError"}, "Command execution"),
    ],
)
def test_a_command_that_was_not_run_is_an_error_with_the_hosts_text(host, answer, message):
    host.answers = [answer]
    with pytest.raises(CallError, match=message):
        tools().call("terminal", {"command": "x"})


def test_matches_are_a_list_however_many_there_are(host):
    few = {"total_count": 1, "matches": [{"path": "/a", "line": 1, "content": "x"}]}
    text = "/a b/c.py\n  1: def f():\n  20:     12: x\n/d.py\n  3: "
    many = {"total_count": 3, "matches_format": "path-grouped", "matches_text": text, "truncated": True}
    host.answers = [few, json.dumps(many) + "\n\n[Hint: Results truncated. Use offset=50 to see more.]"]
    assert tools().call("search_files", {"pattern": "x"}) == few
    assert tools().call("search_files", {"pattern": "x"}) == {
        "total_count": 3,
        "truncated": True,
        "hint": "Hint: Results truncated. Use offset=50 to see more.",
        "matches": [
            {"path": "/a b/c.py", "line": 1, "content": "def f():"},
            {"path": "/a b/c.py", "line": 20, "content": "    12: x"},
            {"path": "/d.py", "line": 3, "content": ""},
        ],
    }


@pytest.mark.parametrize("answer", [{"error": "no"}, {"success": False, "message": "no"}, {"success": False}])
def test_a_failure_of_any_tool_is_an_error(host, answer):
    host.answers = [answer]
    for tool, arguments in (("web_search", {"query": "x"}), ("write_file", {"path": "a", "content": ""})):
        with pytest.raises(CallError, match="no"):
            tools().call(tool, arguments)


def test_an_answer_a_plugin_replaced_by_text_is_that_text(host):
    host.answers = ["replaced"]
    assert tools().call("web_search", {"query": "x"}) == "replaced"
    assert tools().call("read_file", {"path": "x"}) == "replaced"


def numbered(text: str, start: int = 1) -> str:
    return "\n".join(f"{start + index}|{row}" for index, row in enumerate(text.split("\n")))


def test_a_file_is_its_text_without_line_numbers(host):
    for text in ("a\nb\n", "a\nb", "", "\n", "x\r\ny\r\n", "1|a\n7|b\n", "no | bar", "é\u2028ü\n\n\n"):
        host.answers = [{"content": numbered(text), "truncated": False}]
        assert tools().call("read_file", {"path": "f"}) == text


def test_a_line_without_a_number_of_its_own_is_kept_as_it_is(host):
    # The host masks secrets after it has numbered the lines; one that spanned lines leaves such rows.
    host.answers = [{"content": "4|key = ***\n2|rest\nplain\n7|end\n8|", "truncated": False}]
    text = tools().call("read_file", {"path": "f", "offset": 4})
    assert text == "key = ***\n2|rest\nplain\nend\n"


class Pages:
    """A host that hands out a file in pages as the real one does: by lines, or by a number of characters."""

    def __init__(self, text: str, characters: int = 10**9) -> None:
        self.text, self.characters = text, characters
        self.lines = text.splitlines(keepends=True)

    def __call__(self, tool: str, arguments: dict[str, Any], **identifiers: Any) -> str:
        first, last = arguments["offset"], arguments["offset"] + arguments["limit"] - 1
        content = numbered("".join(self.lines[first - 1 : last]), first)
        found: dict[str, Any] = {"content": content, "truncated": self.text.count("\n") > last}
        if len(content) > self.characters:
            kept: list[str] = []
            for row in content.split("\n"):
                if len("\n".join([*kept, row])) > self.characters:
                    break
                kept.append(row)
            found = {"content": "\n".join(kept), "truncated": True, "truncated_by": "bytes"}
            found["next_offset"] = first + len(kept)
        return json.dumps(found)


@pytest.mark.parametrize("lines", [0, 1, 1999, 2000, 2001, 4000, 4001, 5000])
@pytest.mark.parametrize("end", ["", "last"])
@pytest.mark.parametrize("characters", [10**9, 700])
def test_pages_are_joined_to_the_whole_file(host, monkeypatch, lines, end, characters):
    text = "".join(f"line {number}\n" for number in range(lines)) + end
    monkeypatch.setattr(sys.modules["model_tools"], "handle_function_call", Pages(text, characters))
    assert tools().call("read_file", {"path": "f"}) == text


@pytest.mark.parametrize("offset, limit", [(1, 1), (2, 3), (1, 2500), (4000, 100), (9000, 5), (2001, None)])
def test_offset_and_limit_select_lines(host, monkeypatch, offset, limit):
    text = "".join(f"line {number}\n" for number in range(4050))
    wanted = "".join(text.splitlines(keepends=True)[offset - 1 : limit and offset - 1 + limit])
    arguments = {"path": "f", "offset": offset, **({} if limit is None else {"limit": limit})}
    for characters in (10**9, 700):
        monkeypatch.setattr(sys.modules["model_tools"], "handle_function_call", Pages(text, characters))
        assert tools().call("read_file", arguments) == wanted


def test_pages_of_a_document_turned_into_text_are_joined_by_newlines(host):
    host.answers = [
        {"content": "1|a\n2|b", "truncated": True, "extracted_document": True},
        {"content": "2001|c", "truncated": False, "extracted_document": True},
    ]
    assert tools().call("read_file", {"path": "f.docx"}) == "a\nb\nc"


def test_a_line_the_host_cut_is_an_error_that_names_it(host):
    host.answers = [{"content": "1|a\n2|" + "z" * 2000 + "... [truncated]\n3|b\n4|", "truncated": False}]
    with pytest.raises(CallError, match=r"line 2 of f is cut .* 2,000 characters.*open\(\)"):
        tools().call("read_file", {"path": "f"})
    clamped = {"content": "7|zz", "truncated": True, "hint": "the first line was clamped mid-line; its"}
    host.answers = [clamped]
    with pytest.raises(CallError, match="line 7 of f is cut"):
        tools().call("read_file", {"path": "f", "offset": 7})
    host.answers = [{"content": "1|it says ... [truncated]\n2|", "truncated": False}]
    assert tools().call("read_file", {"path": "f"}) == "it says ... [truncated]\n"


@pytest.mark.parametrize(
    "answer, message",
    [
        (
            {"error": "File not found: f", "similar_files": ["/a/g", "/a/h"]},
            r"File not found: f \(similar: /a/g,",
        ),
        ({"error": "Binary file - cannot display as text."}, "Binary file"),
        (
            {"is_image": True, "is_binary": True, "content": None, "hint": "Image file detected."},
            "Image file",
        ),
        ({"status": "unchanged", "message": "File unchanged since last read."}, "File unchanged"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_with_the_hosts_text(host, answer, message):
    host.answers = [answer]
    with pytest.raises(CallError, match=message):
        tools().call("read_file", {"path": "f"})


def test_a_file_too_large_for_an_answer_is_an_error(host, monkeypatch):
    monkeypatch.setattr("hermes_rlm.file_reading.TEXT_CHARACTERS", 5 << 20)
    monkeypatch.setattr(sys.modules["model_tools"], "handle_function_call", Pages(("x" * 1999 + "\n") * 3000))
    with pytest.raises(CallError, match="larger than 5 MiB"):
        tools().call("read_file", {"path": "f"})


def test_reading_ends_with_the_cells_time(host):
    host.answers = [{"content": numbered("a\n" * 2000), "truncated": True}]
    left = iter([5.0, 3.0, -1.0])
    with pytest.raises(CallError, match="time ended"):
        HostTools(OUTER, lambda: EVERY, lambda: next(left)).call("read_file", {"path": "f"})
    assert len(host.calls) == 2


# The host's memory of what the conversation has read.


def file_tools(**members: Any) -> types.ModuleType:
    module = types.ModuleType("tools.file_tools")
    module.__dict__.update(members)
    return module


@pytest.mark.parametrize(
    "tool, arguments", [("read_file", {"path": "f"}), ("search_files", {"pattern": "x"})]
)
def test_what_the_agent_has_read_is_set_aside_during_a_call_and_put_back(host, monkeypatch, tool, arguments):
    key = ("/f", 1, 2000)
    memory = {
        "last_key": ("read", "/f", 1, 2000),
        "consecutive": 3,
        "dedup": {key: 5.0},
        "dedup_hits": {key: 2},
        "read_timestamps": {},
    }
    tracker = {"task": dict(memory), "other": dict(memory)}
    module = file_tools(_read_tracker=tracker, _read_tracker_lock=threading.Lock())
    monkeypatch.setitem(sys.modules, "tools.file_tools", module)
    seen = []

    def call(tool: str, arguments: dict[str, Any], **identifiers: Any) -> str:
        task = tracker["task"]
        seen.append((task["last_key"], task["consecutive"], dict(task["dedup"]), dict(task["dedup_hits"])))
        task["consecutive"] += 1
        task["dedup"][("/g", 1, 2000)] = 6.0
        task["read_timestamps"]["/g"] = 6.0
        return json.dumps({"content": "1|x"})

    monkeypatch.setattr(sys.modules["model_tools"], "handle_function_call", call)
    tools().call(tool, arguments)
    assert seen == [(None, 0, {}, {})]
    assert tracker == {"task": {**memory, "read_timestamps": {"/g": 6.0}}, "other": memory}


def test_a_first_read_by_the_kernel_is_not_taken_for_one_by_the_agent(host, monkeypatch):
    tracker: dict[str, Any] = {}
    module = file_tools(_read_tracker=tracker, _read_tracker_lock=threading.Lock())
    monkeypatch.setitem(sys.modules, "tools.file_tools", module)

    def call(tool: str, arguments: dict[str, Any], **identifiers: Any) -> str:
        tracker["task"] = {"last_key": "k", "consecutive": 1, "dedup": {"k": 1}, "dedup_hits": {}}
        return json.dumps({"content": "1|x"})

    monkeypatch.setattr(sys.modules["model_tools"], "handle_function_call", call)
    tools().call("read_file", {"path": "f"})
    assert tracker["task"] == {"last_key": None, "consecutive": 0, "dedup": {}, "dedup_hits": {}}


def test_a_host_that_keeps_its_memory_elsewhere_is_asked_to_forget_before_and_after(host, monkeypatch):
    said: list[str] = []
    module = file_tools(
        reset_file_dedup=lambda task: said.append(f"dedup {task}"),
        notify_other_tool_call=lambda task: said.append(f"other {task}"),
    )
    monkeypatch.setitem(sys.modules, "tools.file_tools", module)
    host.answers = [{"content": "1|x"}]
    tools().call("read_file", {"path": "f"})
    assert said == ["dedup task", "other task"] * 2


# The check of whole scripts.


@contextlib.contextmanager
def approval(check: Callable[..., Any] | None, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    cleared: list[str] = []
    interrupt = types.ModuleType("tools.interrupt")
    interrupt.clear_current_thread_interrupt = lambda: cleared.append("cleared")
    module = types.ModuleType("tools.approval")
    if check is not None:
        module.check_execute_code_guard = check
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "tools.approval", module)
        patched.setitem(sys.modules, "tools.interrupt", interrupt)
        yield cleared


def test_the_hosts_guard_is_asked_as_for_a_local_script(monkeypatch):
    asked = []

    def check(code: str, env_type: str) -> dict[str, Any]:
        asked.append((code, env_type))
        return {"approved": True}

    with approval(check, monkeypatch) as cleared:
        assert whole_script_check("x = 1") is None
    assert asked == [("x = 1", "local")]
    assert cleared == []


def test_an_approval_by_the_user_clears_the_interrupt_that_came_while_they_were_asked(monkeypatch):
    with approval(lambda *_: {"approved": True, "user_approved": True}, monkeypatch) as cleared:
        assert whole_script_check("x") is None
    assert cleared == ["cleared"]


@pytest.mark.parametrize(
    "verdict, message",
    [
        ({"approved": False, "message": "BLOCKED: cron"}, "BLOCKED: cron"),
        ({"approved": False, "message": "Asking.\n\n**Code:**\n```python\nsecret\n```"}, "Asking."),
        ({"approved": False}, "BLOCKED by the host's check of whole scripts"),
        ({}, "BLOCKED by the host's check of whole scripts"),
    ],
)
def test_a_refused_script_is_refused_with_the_hosts_text(monkeypatch, verdict, message):
    with approval(lambda *_: verdict, monkeypatch):
        assert whole_script_check("x") == message


def test_a_guard_that_fails_refuses(monkeypatch):
    with approval(lambda *_: 1 / 0, monkeypatch):
        assert "ZeroDivisionError" in whole_script_check("x")


@pytest.mark.parametrize(
    "variable",
    ["HERMES_CRON_SESSION", "HERMES_GATEWAY_SESSION", "HERMES_EXEC_ASK", "HERMES_SESSION_PLATFORM"],
)
def test_without_a_guard_a_script_is_refused_where_approvals_are_needed(monkeypatch, variable):
    for name in (
        "HERMES_CRON_SESSION",
        "HERMES_GATEWAY_SESSION",
        "HERMES_EXEC_ASK",
        "HERMES_SESSION_PLATFORM",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setitem(sys.modules, "gateway.session_context", None)
    with approval(None, monkeypatch):
        assert whole_script_check("x") is None
        monkeypatch.setenv(variable, "1")
        assert whole_script_check("x").startswith("BLOCKED")


def test_without_a_guard_a_session_of_a_gateway_is_known_by_the_hosts_context(monkeypatch):
    context = types.ModuleType("gateway.session_context")
    context.get_session_env = lambda name, default: {"HERMES_SESSION_PLATFORM": "telegram"}.get(name, default)
    monkeypatch.setitem(sys.modules, "gateway.session_context", context)
    with approval(None, monkeypatch):
        assert whole_script_check("x").startswith("BLOCKED")


def test_the_hosts_standard_output_is_left_alone(host):
    before = sys.stdout
    seen: list[Any] = []
    original = host.handle_function_call
    sys.modules["model_tools"].handle_function_call = lambda *a, **k: (
        seen.append(sys.stdout) or original(*a, **k)
    )
    tools().call("web_search", {"query": "x"})
    assert seen == [before]
