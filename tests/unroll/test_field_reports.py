"""What went wrong for users of such recorders, one test per kind of fault, named after the promise."""

from __future__ import annotations

import base64
import importlib.util
import json
import logging
import os
import subprocess
import sys
import tracemalloc
import types
from pathlib import Path
from typing import Any

import pytest

from hermes_unroll import cli, hooks, journal, registration, sealing
from hermes_unroll._common.pricing import estimate_cost, normalize_usage
from hermes_unroll.doctor import examine
from hermes_unroll.tracer import MAX_LIVE_SESSIONS, UNATTRIBUTED
from tests.unroll.host_driver import Chat, Host, call, conversation, replay

PACKAGE = Path(registration.__file__).parent


class Context:
    """What the host hands to register(): it keeps what is registered."""

    def __init__(self) -> None:
        self.hooks: dict[str, list[Any]] = {}
        self.middleware: dict[str, list[Any]] = {}

    def register_hook(self, name: str, callback: Any) -> None:
        self.hooks.setdefault(name, []).append(callback)

    def register_middleware(self, kind: str, callback: Any) -> None:
        self.middleware.setdefault(kind, []).append(callback)

    def register_command(self, *arguments: Any, **more: Any) -> None: ...
    def register_cli_command(self, *arguments: Any, **more: Any) -> None: ...


# Ends -------------------------------------------------------------------------------------------


def test_a_session_that_nobody_ends_is_compiled_later_once_and_takes_a_late_end(
    host: Host, children: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    pid = os.fork()
    if pid == 0:
        try:
            chat = host.chat()
            chat.start()
            chat.ask("hello")
            chat.request()
            chat.reply("hi")
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    kinds = [event.kind for event in host.events("20260101_000000_abc123")]
    assert [kinds.count(kind) for kind in ("user_message", "pre_api_request", "llm_call")] == [1, 1, 1]
    assert not host.programs()
    # The next process of the host asks for what waits.
    host.chat("another").start()
    assert children == [["compile", "--pending"]]
    assert cli.main(["compile", "--pending"]) == 0
    (program,) = host.programs()
    assert replay(program)["end"] == "not observed"
    written = program.read_bytes()
    assert cli.main(["compile", "--pending"]) == 0
    assert (host.programs(), program.read_bytes()) == ([program], written)
    host.chat().finalize()
    assert host.programs() == [program]
    late = replay(program)
    assert late["end"] == "observed"
    assert [message["content"] for message in late["messages"]][1:] == ["hello", "hi"]


def test_an_end_without_a_session_is_none_and_the_end_of_a_turn_is_not_the_end(host: Host) -> None:
    for nothing in (None, "", 0, [], "\x00"[:0]):
        host.fire("on_session_finalize", session_id=nothing, platform="cli")
    assert not (host.home / "traces" / "journal").exists()
    chat = host.chat()
    for turn in range(5):
        chat.turn(f"question {turn}")
    assert not host.programs()
    chat.finalize()
    assert len(host.programs()) == 1
    chat.turn("once more")
    result = host.replay(chat.session_id)
    assert conversation(result) == chat.stored
    assert len(host.programs()) == 1
    assert not [name for name, _ in host.everything_written() if "None" in name]


def test_a_second_end_changes_nothing_but_the_number_of_ends(host: Host) -> None:
    chat = host.chat()
    chat.turn("hello")
    chat.finalize()
    chat.finalize("session_expired")
    (program,) = host.programs()
    result = replay(program)
    assert [step.get("reason") for step in result["steps"] if step["kind"] == "session_end"] == [
        "shutdown",
        "session_expired",
    ]
    assert conversation(result) == chat.stored


def test_sessions_that_ended_do_not_pile_up_in_memory(host: Host) -> None:
    for number in range(MAX_LIVE_SESSIONS + 40):
        chat = host.chat(f"session {number}")
        chat.ask("hello")
        chat.finalize()
    assert len(hooks.RECORDER.live()) <= MAX_LIVE_SESSIONS


def test_a_turn_that_dies_of_an_api_error_says_so_and_stands_apart_from_the_next(host: Host) -> None:
    chat = host.chat()
    chat.ask("first")
    chat.request()
    chat.error(400, retryable=False, message="no such model")
    chat.turn("second", answer="fine")
    trace = host.trace(chat.session_id)
    first, second = trace.session["turns"]
    assert first["error"]["status_code"] == 400
    assert first["error"]["error"]["message"] == "no such model"
    assert (first["completed"], second["completed"], second["error"]) == (None, True, None)
    turns = {step["turn"] for step in trace.steps if step["kind"] == "user_message"}
    assert turns == {1, 2}


# Cost -------------------------------------------------------------------------------------------


def test_one_call_costs_the_same_in_either_convention_of_counting(host: Host) -> None:
    hermes = {"input_tokens": 1000, "cache_read_tokens": 9000, "cache_write_tokens": 0, "output_tokens": 300}
    hermes["reasoning_tokens"] = 200
    openai = {
        "prompt_tokens": 10_000,
        "completion_tokens": 300,
        "prompt_tokens_details": {"cached_tokens": 9000},
    }
    openai["completion_tokens_details"] = {"reasoning_tokens": 200}
    costs = []
    for number, usage in enumerate((hermes, openai)):
        chat = host.chat(f"session {number}")
        chat.ask("hello")
        chat.request()
        chat.reply("hi", usage=usage)
        costs.append(host.trace(chat.session_id).cost)
    assert costs[0] == costs[1]
    assert costs[0]["cost_usd"] > 0
    assert (costs[0]["cache_read"], costs[0]["reasoning"], costs[0]["output_tokens"]) == (9000, 200, 300)


@pytest.mark.parametrize("model", ["vendor/new-model-x", "vendor/new-model-x:free", "no such model"])
def test_the_cost_of_an_unknown_model_is_unknown_and_totals_say_at_least(
    model: str, host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = host.chat()
    usage = {"input_tokens": 1000, "output_tokens": 100, "cache_read_tokens": 0}
    for used in ("gpt-4o", model):
        chat.facts["model"] = used
        chat.ask("hello")
        chat.request()
        chat.reply("hi", usage=usage)
    cost = host.trace(chat.session_id).cost
    known = estimate_cost([("gpt-4o", "openai", normalize_usage(usage), None)]).as_dict()["cost_usd"]
    assert (cost["cost_usd"], cost["status"]) == (known, "unknown")
    chat.finalize()
    assert cli.main(["list"]) == 0
    assert f"at least ${known:.4f}" in capsys.readouterr().out
    assert "unknown" in host.programs()[0].read_text("ascii").partition("# Cost: ")[2].partition("\n")[0]


# Lineage ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["terminal", "gateway", "in mid-turn"])
def test_a_session_that_goes_on_under_another_id_names_the_one_before(way: str, host: Host) -> None:
    old, new = host.chat("old"), host.chat("new")
    old.turn("hello")
    if way == "terminal":
        old.finalize("session_boundary")
        host.fire("on_session_reset", session_id="new", platform="cli", reason="new_session")
    elif way == "gateway":
        ids = {"old_session_id": "old", "new_session_id": "new", "platform": "telegram"}
        host.fire("on_session_finalize", session_id="old", reason="new_session", **ids)
        host.fire("on_session_reset", session_id="new", reason="new_session", **ids)
    else:
        old.ask("and now")
        turn = {"turn_id": old.turn_id, "task_id": "task"}
        host.fire("pre_tool_call", session_id="new", tool_name="terminal", args={}, **turn)
    new.turn("go on")
    assert host.trace("new").session["predecessor_session_id"] == "old"
    assert host.trace("old").session["predecessor_session_id"] is None


# Attribution ------------------------------------------------------------------------------------


def test_a_call_without_a_session_is_found_through_its_task_else_kept_apart_and_reported(host: Host) -> None:
    chat = host.chat()
    chat.ask("hello")
    nothing = {"session_id": "", "tool_call_id": "", "turn_id": "", "tool_name": "terminal"}
    host.fire("pre_tool_call", **nothing, args={"command": "ls"}, task_id=chat.session_id)
    host.fire("pre_tool_call", **nothing, args={"command": "pwd"}, task_id="nobody's")
    (known,) = host.events(chat.session_id, "pre_tool_call")
    assert known.data["args"] == {"command": "ls"}
    (lost,) = host.events(UNATTRIBUTED, "pre_tool_call")
    assert lost.data["args"] == {"command": "pwd"}
    assert any(UNATTRIBUTED in fact for fact in examine(host.home).facts)


# Loading ----------------------------------------------------------------------------------------


def test_registering_again_and_in_two_copies_records_everything_once(
    host: Host, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    first = Context()
    registration.register(first)
    chat = host.chat()
    chat.ask("before")
    again = Context()
    registration.register(again)
    assert again.hooks == first.hooks
    assert all(len(callbacks) == 1 for callbacks in again.hooks.values())
    copy = Context()
    load_copy(tmp_path, "a_second_copy").register(copy)
    assert copy.hooks == {}
    (warning,) = caplog.messages
    assert "installed twice" in warning
    chat.ask("after")
    said = [event.data["content"] for event in host.events(chat.session_id, "user_message")]
    assert said == ["before", "after"]
    assert len(host.segments(chat.session_id)) == 1
    facts = examine(host.home).facts
    assert any(f"process {os.getpid()}: " in fact and "hook calls" in fact for fact in facts)
    assert any("last event" in fact and chat.session_id in fact for fact in facts)


def load_copy(folder: Path, name: str) -> types.ModuleType:
    """Load the plugin from another place under another name, as a second installation is."""
    link = folder / name
    link.symlink_to(PACKAGE)
    spec = importlib.util.spec_from_file_location(
        name, link / "__init__.py", submodule_search_locations=[str(link)]
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_each_call_is_recorded_in_the_home_of_its_own_moment(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    homes = [tmp_path / "one", tmp_path / "two"]
    for home in homes:
        home.mkdir()
        monkeypatch.setenv("HERMES_HOME", str(home))
        monkeypatch.setenv("HOME", str(home / "home"))
        host.chat().ask(f"in {home.name}")
    for home in homes:
        (event,) = Host(home).events("20260101_000000_abc123", "user_message")
        assert event.data["content"] == f"in {home.name}"
        assert {path.name for path in home.iterdir()} == {"traces"}


def test_the_folder_alone_loads_as_the_host_loads_it_without_slow_modules(tmp_path: Path) -> None:
    folder = tmp_path / "hermes_unroll"
    folder.symlink_to(PACKAGE)
    code = """
import importlib.util, sys, types
before = set(sys.modules)
sys.modules["hermes_plugins"] = parent = types.ModuleType("hermes_plugins")
parent.__path__ = []
name = "hermes_plugins.hermes_unroll"
spec = importlib.util.spec_from_file_location(
    name, sys.argv[1] + "/__init__.py", submodule_search_locations=[sys.argv[1]])
module = importlib.util.module_from_spec(spec)
sys.modules[name] = module
spec.loader.exec_module(module)
class Context:
    def __getattr__(self, method):
        return lambda *arguments, **more: None
module.register(Context())
print(*sorted(set(sys.modules) - before))
"""
    environment = {"HERMES_HOME": str(tmp_path / "home"), "PATH": os.defpath}
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, str(folder)],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
        cwd=tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    loaded = set(done.stdout.split())
    assert "hermes_plugins.hermes_unroll.hooks" in loaded
    # urllib.parse comes with pathlib.
    slow = {
        "sqlite3",
        "bashlex",
        "asyncio",
        "ssl",
        "http",
        "yaml",
        "argparse",
        "subprocess",
        "urllib.request",
    }
    assert not loaded & slow
    assert "hermes_unroll" not in loaded
    assert not (tmp_path / "home").exists()


ARGUMENTS = (
    *("session_id", "task_id", "turn_id", "api_request_id", "user_message", "conversation_history"),
    *("request_messages", "request", "model", "provider", "base_url", "api_mode", "platform", "usage"),
    *("assistant_message", "response", "tool_name", "args", "result", "tool_call_id", "status", "error"),
    *("delta", "kind", "parent_session_id", "child_session_id", "child_goal", "reason", "event"),
)


@pytest.mark.parametrize("hook", sorted({**hooks.HOOKS, **hooks.MIDDLEWARE}))
def test_a_hook_takes_no_arguments_unknown_ones_and_none(hook: str, host: Host) -> None:
    every = dict.fromkeys(ARGUMENTS)
    callback = {**hooks.HOOKS, **hooks.MIDDLEWARE}[hook]
    for kwargs in ({}, every, {"new_in_a_later_host": object()}, {**every, "session_id": "s", "later": [1]}):
        assert callback(**kwargs) is None
    assert hooks.COUNTS[hook] == 4


# Secrets ----------------------------------------------------------------------------------------


SECRETS = {
    "gitlab": "glp" + "at-" + "AbCd3FgH1jKlMnOpQrSt",
    "aws": "ASI" + "AIOSFODNN7EXAMPLE",
    "github": "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "openai": "s" + "k-proj-" + "Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe9Dc8Ba7",
    "password": "Corr3ct" + "Horse" + "Battery",
}


def test_no_secret_reaches_the_disk_wherever_it_comes_from(
    host: Host,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    gitlab, aws, github, openai, password = SECRETS.values()
    monkeypatch.setenv("UNROLL_SESSION_TAGS", f"work,{github}")
    chat = host.chat(f"title-{github}", model=f"m?key={openai}")
    chat.provider["base_url"] = f"https://user:{password}@127.0.0.1:9/v1"
    chat.system = f"Your token is {github}."
    chat.start()
    chat.ask([{"type": "text", "text": f"use {openai}"}])
    chat.request()
    chat.error(message=f"Authorization: Bearer {openai}")
    chat.request(again=True)
    used = call("call_0", "terminal", command=f"export GITLAB_TOKEN={gitlab}", password=password)
    chat.reply(f"With {aws}.", used, reasoning=f"The key {aws} it is.")
    chat.before_tool(used)
    chat.tool(
        used, json.dumps({"env": f"GITLAB={gitlab}\nAWS={aws}", "inner": json.dumps({"password": password})})
    )
    for args in (
        {1: 2, "password": password},
        {"token": openai.encode()},
        {"secrets": ({"password": {password}},)},
    ):
        host.fire("pre_tool_call", session_id=chat.session_id, tool_name="terminal", args=args)
    skill = call("call_1", "skill_view", name=github, file_path=f"/tmp/{gitlab}")
    chat.before_tool(skill)
    ids = {"parent_session_id": chat.session_id, "child_session_id": f"child-{gitlab}"}
    host.fire("subagent_start", **ids, child_role=github, child_goal=f"fetch with {openai}")
    host.fire("subagent_stop", **ids, child_summary=f"used {openai}", child_status=github)
    ids = {"session_id": chat.session_id, "turn_id": chat.turn_id}
    for part in ("line with ", github[:12], github[12:], "\n"):
        host.fire("on_stream_delta", **ids, delta=part)
    chat.tool(call("call_2", "terminal"), LongText(490, github))
    chat.request()
    chat.reply("done")
    chat.answered()
    chat.turn_end(reason=f"because {github}")
    chat.finalize(f"closed by {github}")
    host.program(f"child-{gitlab}")
    for arguments in (["list"], ["list", "--json"], ["verify"], ["doctor"]):
        cli.main(arguments)
    output = capsys.readouterr()
    places = dict(host.everything_written())
    assert len(places) > 6
    assert any("traces/unrolled/" in name for name in places)
    places["names"] = "\n".join(places).encode()
    places["output"] = (output.out + output.err + caplog.text).encode()
    for kind, secret in SECRETS.items():
        for form in (secret, secret[:14], base64.b64encode(secret.encode()).decode()[:16]):
            holders = [name for name, data in places.items() if form.encode() in data]
            assert holders == [], kind
    # Equal secrets stay equal.
    trace = host.trace(f"title-{github}")
    asked = trace.messages[1]["content"][0]["text"]
    assert asked.startswith("use <redacted:")
    assert asked.removeprefix("use ") in repr(
        [step for step in trace.steps if step["kind"] == "api_request_error"]
    )


class LongText:
    """An object of the host's whose text is cut in the middle of a secret."""

    def __init__(self, before: int, secret: str) -> None:
        self.text = "word " * (before // 5) + secret + " and more"

    def __str__(self) -> str:
        return self.text


def test_a_secret_in_a_long_streamed_line_is_not_cut_in_two(host: Host) -> None:
    secret = SECRETS["github"]
    ids = {"session_id": "s", "turn_id": "t"}
    for part in ("word " * 1636, "x " + secret[:20], secret[20:] + " end", " of the line\n"):
        host.fire("on_stream_delta", **ids, delta=part)
    host.fire("on_session_end", **ids)
    written = b"".join(data for _, data in host.everything_written())
    assert secret[:20].encode() not in written
    assert secret[20:].encode() not in written
    text = "".join(event.data["text"] for event in host.events("s", "on_stream_delta"))
    assert text.startswith("word word") and text.endswith(" end of the line\n")
    assert "<redacted:" in text


# Values -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "ok \ud83d",
        "\ude00\ud83d",
        "a\x00b",
        "a\u2028b\u2029c\x85d",
        "a\rb\r\nc",
        "x" * 1_000_000,
        "\ufeff",
        "\x1b[31m",
    ],
    ids=["high surrogate", "low surrogate", "NUL", "line separators", "CR", "1 MB line", "BOM", "escape"],
)
def test_any_text_comes_back_as_it_was(text: str, host: Host) -> None:
    chat = host.chat()
    used = call(f"id {text[:50]}", command=text)
    chat.turn(text, (used, text), answer=f"<{text}>")
    result = host.replay(chat.session_id)
    assert conversation(result) == chat.stored
    assert [step["args"] for step in result["steps"] if step["kind"] == "tool_call"] == [{"command": text}]


def test_an_image_becomes_its_hash_and_size_and_the_text_beside_it_stays(host: Host) -> None:
    image = "data:image/png;base64," + base64.b64encode(os.urandom(1_500_000)).decode()
    chat = host.chat()
    chat.turn([{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": image}}])
    assert sum(len(data) for _, data in host.everything_written()) < 60_000
    message = host.replay(chat.session_id)["messages"][1]
    text, picture = message["content"]
    assert text == {"type": "text", "text": "hi"}
    url = picture["image_url"]["url"]
    assert url.startswith("data:image/png;base64,<blob sha256:")
    assert f"{len(image) - len('data:image/png;base64,')} characters" in url


def test_a_result_that_the_next_request_shows_changed_is_a_difference_and_no_crash(host: Host) -> None:
    chat = host.chat()
    used = call("call_0", command="now")
    chat.ask("what time is it?")
    chat.request()
    chat.reply("", used)
    chat.before_tool(used)
    chat.tool(used, '{"id": "f4af", "ts": 1}')
    chat.messages[-1]["content"] = '{"id": "07c3", "ts": 2}'
    chat.request()
    chat.reply("noon")
    chat.answered()
    result = host.replay(chat.session_id)
    assert result["messages"][3]["content"] == '{"id": "07c3", "ts": 2}'
    (step,) = [step for step in result["steps"] if step["kind"] == "tool_call"]
    assert result["response_cache"][f"tool:{step['event_id']}"]["result"] == '{"id": "f4af", "ts": 1}'
    assert "stored another text" in step["note"]


def test_no_time_is_made_up_for_tools_that_finish_together(host: Host) -> None:
    chat = host.chat()
    tools = [call(f"call_{number}", command=str(number)) for number in range(3)]
    chat.ask("do three things")
    chat.request()
    chat.reply("", *tools)
    for used in tools:
        chat.before_tool(used)
    for used, duration in zip(tools, (12, None, 0), strict=True):
        chat.tool(used, "done", duration_ms=duration)
    result = host.replay(chat.session_id)
    found = [entry["duration_ms"] for entry in result["timing_log"] if entry["kind"] == "tool_call"]
    assert found == [12, None, 0]
    starts = [step["duration_ms"] for step in result["steps"] if step["kind"] == "pre_tool_call"]
    assert starts == [None, None, None]


# Old recordings, long lives ---------------------------------------------------------------------


def test_a_journal_of_the_first_format_still_compiles_and_replays(host: Host) -> None:
    directory = journal.journal_dir(host.home) / "20260101_000000_abc123-0f8d3c5e"
    directory.mkdir(parents=True)
    source = Path(__file__).parent / "cases" / "journal_format_1.jsonl"
    (directory / "0001.jsonl").write_bytes(source.read_bytes())
    program = sealing.seal(host.home, directory)
    assert program.name == "20260101_000000_" + program.name[-11:]
    result = replay(program)
    contents = [message.get("content") for message in result["messages"]]
    assert contents == [
        "You are a test agent.",
        "list the files",
        "Let me look.",
        "a file\n" * 50,
        "One file.",
    ]
    assert result["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"command": "ls"}'
    assert result["end"] == "observed"


def test_many_sessions_without_an_end_take_bounded_memory_and_no_descriptors(host: Host) -> None:
    def record(numbers: range) -> None:
        for number in numbers:
            chat = host.chat(f"session {number}")
            chat.ask(f"hello {number}")
            for count in range(4):
                used = call(f"call_{count}", command=f"{number} {count}")
                chat.before_tool(used)
                chat.tool(used, f"result {number} {count} " * 20, store=False)

    record(range(MAX_LIVE_SESSIONS))
    descriptors = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    tracemalloc.start()
    try:
        record(range(100, 100 + MAX_LIVE_SESSIONS))
        first = tracemalloc.get_traced_memory()[0]
        record(range(200, 200 + 2 * MAX_LIVE_SESSIONS))
        second = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(hooks.RECORDER.live()) <= MAX_LIVE_SESSIONS
    assert second < 1.3 * first
    if descriptors:
        assert len(os.listdir("/proc/self/fd")) <= descriptors


def test_a_session_that_is_not_there_is_a_failure_and_leaves_no_file(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["compile", "nobody"], ["verify", "nobody"], ["list", "nobody"]):
        assert cli.main(command) == 1
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.startswith("hermes unroll: ") and told.err.count("\n") == 1
        assert "nobody" in told.err
    assert list(host.everything_written()) == []


def test_events_of_a_long_dead_session_start_a_new_segment_not_a_new_trace(host: Host) -> None:
    chat = host.chat()
    chat.turn("first")
    chat.finalize()
    (program,) = host.programs()
    host.new_process()
    resumed: Chat = host.chat()
    resumed.messages = [{key: value for key, value in m.items() if key[:1] != "_"} for m in chat.messages]
    resumed._turn = 1
    resumed.turn("second")
    resumed.finalize()
    assert host.programs() == [program]
    assert conversation(replay(program)) == resumed.stored
    assert len(host.segments(chat.session_id)) == 2
