"""Settings and consent: what is recorded at all, and that doubt stops recording."""

from __future__ import annotations

import json
import stat
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from hermes_unroll import cli, hooks, settings, slash
from hermes_unroll._common import config
from tests.unroll.host_driver import Host, conversation

Configure = Any


@pytest.fixture
def configure(monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Set the host's config: `configure(record=False)`, or `configure(problem="...")` for a broken one."""

    def apply(problem: str | None = None, **unroll: Any) -> None:
        def read(home: Any = None) -> config.HostConfig:
            path = Path(home or "/home") / "config.yaml"
            if problem:
                return config.HostConfig(path, {}, "unreadable", False, problem)
            return config.HostConfig(path, {"unroll": unroll}, "yaml")

        monkeypatch.setattr(config, "read_config", read)

    return apply


def is_recorded(host: Host, session_id: str = "s", **facts: Any) -> bool:
    """Fire hooks of a session in a fresh process and see whether anything of it was written."""
    host.new_process()
    host.chat(session_id, **facts).turn("hello")
    return bool(host.segments(session_id))


# Defaults ---------------------------------------------------------------------------------------


def test_without_settings_everything_is_recorded_and_kept_for_a_while(host: Host) -> None:
    found = settings.load(host.home)
    assert found == settings.Settings()
    assert (found.max_age_days, found.max_size_mb) == (30, 2048)
    assert is_recorded(host)


def test_settings_come_from_the_config_and_the_environment(
    home: Path, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNROLL_SESSION_TAGS", "night, work")
    configure(
        exclude_platforms=["cron"],
        exclude_chats=["42"],
        redact={"custom_patterns": ["b+", "a+"]},
        retention={"max_age_days": 7, "max_size_mb": 0},
        tags=["work", "mine"],
        pricing_overrides={"m": {"input": 1, "output": 2}},
    )
    found = settings.load(home)
    assert found == settings.Settings(
        exclude_platforms=frozenset(["cron"]),
        exclude_chats=frozenset(["42"]),
        custom_patterns=("a+", "b+"),
        max_age_days=7,
        max_size_mb=0,
        tags=("mine", "night", "work"),
        pricing_overrides={"m": {"input": 1, "output": 2}},
    )


# Off --------------------------------------------------------------------------------------------


def test_a_profile_that_is_off_writes_nothing_of_a_session(host: Host, configure: Configure) -> None:
    configure(record=False)
    assert not is_recorded(host)
    chat = host.chat("s")
    chat.finalize()
    written = [name for name, _ in host.everything_written()]
    assert all(name.startswith("traces/live/") or name == "traces/.key" for name in written)
    assert all(b"hello" not in data for _, data in host.everything_written())


def test_platforms_and_sessions_can_be_left_out(host: Host, configure: Configure) -> None:
    configure(exclude_platforms=["cron", "subagent"])
    assert not is_recorded(host, "a", platform="cron")
    assert is_recorded(host, "b", platform="cli")
    settings.set_consent(host.home, "sessions", "c", False)
    assert not is_recorded(host, "c")
    assert is_recorded(host, "cc")
    settings.set_consent(host.home, "sessions", "c", True)
    assert is_recorded(host, "c")


def serve_chat(monkeypatch: pytest.MonkeyPatch, chat: Any) -> None:
    """Let the host say which messaging chat it serves."""
    context = types.ModuleType("gateway.session_context")

    def get_session_env(name: str, default: str = "") -> Any:
        if isinstance(chat, Exception):
            raise chat
        return chat if name == "HERMES_SESSION_CHAT_ID" else default

    context.get_session_env = get_session_env
    monkeypatch.setitem(sys.modules, "gateway.session_context", context)


def test_a_chat_can_be_left_out(host: Host, configure: Configure, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(exclude_chats=["42"])
    for chat, recorded in (
        ("42", False),
        (42, False),
        ("421", True),
        ("", True),
        (RuntimeError("no chat"), True),
    ):
        serve_chat(monkeypatch, chat)
        assert is_recorded(host, f"session of {chat}", platform="telegram") == recorded


def test_a_child_of_a_chat_that_is_off_is_not_recorded_either(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.set_consent(host.home, "chats", "42", False)
    serve_chat(monkeypatch, "42")
    host.chat("parent", platform="telegram").ask("hello")
    host.fire("subagent_start", parent_session_id="parent", child_session_id="child", child_goal="x")
    host.chat("child", platform="subagent").ask("hello")
    assert not host.segments("parent") and not host.segments("child")


# Doubt ------------------------------------------------------------------------------------------


def test_a_config_that_cannot_be_read_stops_recording(host: Host, configure: Configure) -> None:
    configure(problem="config.yaml: line 3: bad indent")
    assert not is_recorded(host)
    (problem,) = settings.load(host.home).problems
    assert problem == "nothing is recorded: config.yaml: line 3: bad indent"


@pytest.mark.parametrize(
    "unroll",
    [
        {"record": "no"},
        {"record": 0},
        {"exclude_platforms": "cron"},
        {"exclude_platforms": {"cron": True}},
        {"exclude_chats": 42},
        {"redact": {"custom_patterns": "a+"}},
        {"redact": ["zebra"]},
        {"redact": 5},
        {"redact": {"custom_pattern": ["zebra"]}},
        {"recrod": False},
        {"exclude_platform": ["cli"]},
    ],
)
def test_a_decision_of_another_type_stops_recording(unroll: Any, host: Host, configure: Configure) -> None:
    configure(**unroll)
    assert not is_recorded(host)
    (problem,) = settings.load(host.home).problems
    assert problem.startswith("nothing is recorded: unroll.") and problem.count("\n") == 0


@pytest.mark.parametrize(
    "unroll",
    [
        {"retention": {"max_age_days": "long"}},
        {"retention": {"max_size_mb": -1}},
        {"retention": {"max_size_mb": True}},
        {"retention": {"max_age_days": float("nan")}},
        {"tags": "work"},
        {"pricing_overrides": [1]},
        {"retention": 7},
        {"tag": ["work"]},
        {"pricing_overrides": {"m": {"input": "free"}}},
    ],
)
def test_a_setting_of_another_type_has_its_default_and_is_told(
    unroll: Any, host: Host, configure: Configure
) -> None:
    configure(**unroll)
    found = settings.load(host.home)
    assert (found.max_age_days, found.max_size_mb, found.tags) == (30, 2048, ())
    (problem,) = found.problems
    assert next(iter(unroll)) in problem
    assert is_recorded(host)


def test_a_pattern_that_is_none_stops_recording(host: Host, configure: Configure, faults: Any) -> None:
    configure(redact={"custom_patterns": ["("]})
    assert not is_recorded(host)
    assert faults.take()
    assert list((host.home / "traces").glob("journal/*/*")) == []


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"sessions": 1}', '{"chats": {"a": 1}}', "\xff"])
def test_a_consent_file_that_broke_stops_recording_until_it_is_mended(
    text: str, host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    path = settings.consent_path(host.home)
    path.parent.mkdir()
    path.write_bytes(text.encode("latin-1"))
    if text == '{"chats": {"a": 1}}':
        # Readable all the same: the names of a mapping.
        assert settings.load(host.home).exclude_chats == {"a"}
        return
    assert not is_recorded(host)
    with pytest.raises(ValueError, match=r"consent\.json cannot be read"):
        settings.set_consent(host.home, "sessions", "x", False)
    assert cli.main(["off", "x"]) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert path.read_bytes() == text.encode("latin-1")
    path.unlink()
    assert is_recorded(host)


# Consent ----------------------------------------------------------------------------------------


def test_consent_is_kept_privately_and_can_be_given_back(home: Path) -> None:
    for value in ("b", "a", "b"):
        settings.set_consent(home, "sessions", value, False)
    settings.set_consent(home, "chats", "42", False)
    path = settings.consent_path(home)
    assert json.loads(path.read_text()) == {
        "format": 1,
        "sessions": ["a", "b"],
        "chats": ["42"],
        "resumed": [],
    }
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    settings.set_consent(home, "sessions", "a", True)
    settings.set_consent(home, "sessions", "never off", True)
    kept = json.loads(path.read_text())
    assert kept["sessions"] == ["b"] and kept["resumed"] == ["a"]


@pytest.mark.parametrize("process", ["the same process", "another process"])
def test_what_was_said_while_off_stays_out_when_it_is_on_again(host: Host, process: str) -> None:
    chat = host.chat()
    session_id = chat.session_id
    chat.turn("said before")
    slash.run(f"off {session_id}")
    chat.turn("said in between", answer="a private answer")
    slash.run(f"on {session_id}")
    if process == "another process":
        host.new_process()
    chat.turn("said after")
    written = b"".join(path.read_bytes() for path in host.segments(session_id))
    assert b"said before" in written and b"said after" in written and b"said in between" not in written
    contents = [message["content"] for message in conversation(host.replay(session_id))]
    withheld = "<not recorded: recording was off>"
    assert contents == ["said before", "done", withheld, withheld, "said after", "done"]


def test_off_from_the_command_line_takes_a_prefix_and_lasts(
    host: Host, capsys: pytest.CaptureFixture[str]
) -> None:
    host.chat("session one").turn("hello")
    assert cli.main(["off", "session o"]) == 0
    assert "session one" in capsys.readouterr().out
    size = sum(path.stat().st_size for path in host.segments("session one"))
    host.new_process()
    host.chat("session one").turn("again")
    assert sum(path.stat().st_size for path in host.segments("session one")) == size
    assert cli.main(["on", "session one"]) == 0
    assert is_recorded(host, "session one")
    assert len(host.segments("session one")) == 2
    assert cli.main(["off", "--chat", "42"]) == 0
    assert settings.load(host.home).exclude_chats == {"42"}
    capsys.readouterr()
    assert cli.main(["off", "misspelt"]) == 1
    assert "no session, trace or file is called 'misspelt'" in capsys.readouterr().err
    assert settings.load(host.home).exclude_sessions == frozenset()


def test_a_running_session_follows_what_another_process_decides(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = host.chat("running")
    chat.turn("first")
    monkeypatch.setattr("hermes_unroll.tracer.DECISION_SECONDS", 0.0)
    settings.set_consent(host.home, "sessions", "running", False)
    chat.turn("second")
    settings.set_consent(host.home, "sessions", "running", True)
    chat.turn("third", answer="heard")
    written = b"".join(path.read_bytes() for path in host.segments("running"))
    assert b"first" in written and b"third" in written and b"second" not in written


def test_platforms_are_named_in_any_case(host: Host, configure: Configure) -> None:
    configure(exclude_platforms=["CLI"])
    assert not is_recorded(host, platform="cli")


def test_a_section_that_is_no_table_stops_recording(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    (host.home / "config.yaml").write_text("unroll: false\n")
    pytest.importorskip("yaml")
    assert not is_recorded(host)
    assert any("unroll must be a mapping" in problem for problem in settings.load(host.home).problems)


def test_slash_off_stops_the_session_one_is_in_and_on_goes_on(host: Host) -> None:
    chat = host.chat("mine")
    chat.ask("recorded")
    host.chat("child", platform="subagent").ask("recorded too")
    assert slash.run("off") == "mine is not recorded from now on."
    chat.ask("unrecorded")
    assert "mine: not recorded" in slash.run("")
    assert slash.run("on mi") == "mine is recorded from now on."
    chat.ask("recorded again")
    said = [event.data["content"] for event in host.events("mine", "user_message")]
    assert said == ["recorded", "recorded again"]


def test_slash_off_before_a_session_starts_holds_for_this_process(host: Host) -> None:
    assert "not recorded from now on" in slash.run("off")
    assert not hooks.RECORDER.live()
    host.chat("s").ask("hello")
    assert not host.segments("s")
    slash.run("on")
    host.chat("t").ask("hello")
    assert host.segments("t")


def test_slash_off_in_a_messaging_chat_is_about_that_chat(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve_chat(monkeypatch, "41")
    other = host.chat("other", platform="telegram")
    other.ask("hello")
    serve_chat(monkeypatch, "42")
    mine = host.chat("mine", platform="telegram")
    mine.ask("hello")
    assert slash.run("off") == "This chat is not recorded from now on."
    mine.ask("unrecorded")
    other.ask("recorded")
    assert [event.data["content"] for event in host.events("mine", "user_message")] == ["hello"]
    assert [event.data["content"] for event in host.events("other", "user_message")] == ["hello", "recorded"]
    assert settings.load(host.home).exclude_chats == {"42"}


def test_slash_off_asks_for_a_name_where_several_sessions_live(host: Host) -> None:
    for name in ("one", "two"):
        host.chat(name).ask("hello")
    answer = slash.run("off")
    assert "one" in answer and "two" in answer
    assert settings.load(host.home).exclude_sessions == frozenset()
    assert slash.run("off nobody").startswith("Name one session")
    assert slash.run("off a b") == slash.run("help") == slash.USAGE
