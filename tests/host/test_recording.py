"""What the recorder promises inside the real host: what it records, when it compiles, what it leaves be."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from hermes_unroll import journal
from hermes_unroll.events import STEP_KINDS, TraceSession
from tests.host.conftest import PROBE, Play, Record
from tests.host.hermes import Gateway, HermesHome, Interactive, Run
from tests.host.model_server import ModelServer
from tests.host.recordings import UNROLL, recordings, unroll
from tests.host.scenarios import SCENARIOS, Outcome
from tests.host.scenarios.core import call, notes, script, session_ids, wait_until

pytestmark = pytest.mark.host

# Writes which hooks this host knows, and which file every callback comes from.
WITNESS = """
import inspect, json
from hermes_cli.plugins import VALID_HOOKS, get_plugin_manager
from hermes_constants import get_hermes_home

def origin(callback):
    return inspect.unwrap(callback).__code__.co_filename

def look(**_):
    table = {hook: list(map(origin, found)) for hook, found in get_plugin_manager()._hooks.items()}
    facts = {"valid": sorted(VALID_HOOKS), "registered": table}
    (get_hermes_home() / "witness.json").write_text(json.dumps(facts))

def register(ctx):
    ctx.register_hook("pre_llm_call", look)
"""
# Hook -> the events one call of it becomes.
EVENTS = {
    "pre_llm_call": ["user_message"],
    "pre_api_request": ["pre_api_request"],
    "post_api_request": ["post_api_request", "llm_call"],
    "pre_tool_call": ["pre_tool_call"],
    "post_tool_call": ["tool_call"],
    "on_session_end": ["turn_end"],
    "on_session_finalize": ["session_end"],
    "on_session_start": ["session"],
}


def journal_of(home: HermesHome, session_id: str) -> TraceSession:
    return journal.load_session(journal.session_dir(home.path, session_id))


def files_of(home: HermesHome) -> list[Path]:
    """Everything the recorder wrote, directories too."""
    traces = home.path / "traces"
    return [traces, *sorted(traces.rglob("*"))]


def holds(home: HermesHome, text: str) -> list[str]:
    """The files under traces/ that hold a text, in any of the forms JSON and Python give it."""
    forms = {text, json.dumps(text)[1:-1], ascii(text)[1:-1]}
    wanted = [form.encode("utf-8", "surrogatepass") for form in forms]
    return [
        path.name
        for path in files_of(home)
        if path.is_file() and any(one in path.read_bytes() for one in wanted)
    ]


# Hooks ---------------------------------------------------------------------------------------


def witnessed(home: HermesHome, server: ModelServer) -> Outcome:
    home.write_plugin("witness", WITNESS)
    return SCENARIOS["parallel_tools"](home, server)


def test_registered_hooks_are_the_declared_ones_that_this_host_knows(play: Play) -> None:
    home = play(witnessed, PROBE, UNROLL).home
    witness = json.loads((home.path / "witness.json").read_text("utf-8"))
    ours = [
        hook for hook, files in witness["registered"].items() for file in files if "/hermes_unroll/" in file
    ]
    declared = yaml.safe_load((UNROLL / "plugin.yaml").read_text("utf-8"))["provides_hooks"]
    assert declared == json.loads((UNROLL / "manifest.json").read_text("utf-8"))["hooks"]
    assert sorted(ours) == sorted(set(declared) & set(witness["valid"]))
    assert "on_stream_delta" in set(declared) - set(witness["valid"])
    assert [line for line in home.logs() if "unroll" in line] == []


def test_every_hook_of_a_session_is_recorded_once(play: Play) -> None:
    played = play(witnessed, PROBE, UNROLL)
    called = [json.loads(line)["hook"] for line in played.hooks.read_text("ascii").splitlines()]
    session = journal_of(played.home, played.outcome.session_id)
    expected = Counter(event for hook in called for event in EVENTS.get(hook, ()))
    assert set(EVENTS) <= set(called) and expected["tool_call"] == 2
    found = Counter(event.kind for event in session.events)
    assert {kind: found[kind] for kind in expected} == expected
    assert list(session.chain) == ["1"] and session.damage == []


# Sessions without an end ---------------------------------------------------------------------


@dataclass(frozen=True)
class Leftovers:
    """A home after `-z` (no finalize), a session killed in mid-turn, and one that ended as it should.

    `unsealed` are the trace files that were there when the `-z` process had ended. Each of the first two
    sessions was compiled by the process that came next, before the fixture went on.
    """

    home: HermesHome
    one_shot: str
    killed: str
    ended: str
    unsealed: list[str]


@contextmanager
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    try:
        yield
    finally:
        os.umask(before)


def compiled(home: HermesHome, session_id: str) -> bool:
    return (journal.session_dir(home.path, session_id) / "sealed.json").exists()


@pytest.fixture(scope="module")
def leftovers() -> Iterator[Leftovers]:
    with open_umask(), ModelServer() as server, HermesHome(server.url) as home:
        home.install(UNROLL)
        script(server, {"text": "Hello there."})
        home.one_shot("Say hello.")
        one_shot = session_ids(home)[0]
        unsealed = [path.name for path in (home.path / "traces").glob("unrolled/*")]
        killed = SCENARIOS["sigkill"](home, server).session_id
        wait_until(lambda: compiled(home, one_shot), "the compilation of the -z session")
        ended = SCENARIOS["failing_tool"](home, server).session_id
        wait_until(lambda: compiled(home, killed), "the compilation of the killed session")
        yield Leftovers(home, one_shot, killed, ended, unsealed)


def test_what_a_process_left_is_compiled_by_the_next(leftovers: Leftovers) -> None:
    assert leftovers.unsealed == []
    listed = json.loads(unroll(leftovers.home, "list", "--json").stdout)["sessions"]
    assert {entry["session_id"]: (entry["state"], entry["end"]) for entry in listed} == {
        leftovers.one_shot: ("compiled", "not observed"),
        leftovers.killed: ("compiled", "not observed"),
        leftovers.ended: ("compiled", "observed"),
    }


def test_journal_holds_all_that_was_said_before_a_kill(leftovers: Leftovers) -> None:
    session = journal_of(leftovers.home, leftovers.killed)
    assert session.damage == []
    assert [event.kind for event in session.events][-1] == "pre_tool_call"
    recording = recordings(leftovers.home)[leftovers.killed]
    assert recording.messages == recording.stored
    assert [message["role"] for message in recording.stored] == ["user", "assistant"]


def test_files_are_private_whatever_the_umask(leftovers: Leftovers) -> None:
    modes = {path: path.stat().st_mode & 0o777 for path in files_of(leftovers.home)}
    assert [path for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)] == []
    assert {"live", "journal", "unrolled", "0001.jsonl", "sealed.json", ".key"} <= {
        path.name for path in modes
    }


# Commands ------------------------------------------------------------------------------------


def host_unroll(home: HermesHome, *arguments: str) -> Run:
    return home.run("unroll", *arguments)


@pytest.fixture
def copied(leftovers: Leftovers, tmp_path: Path) -> HermesHome:
    """The same home with traces of its own, to alter."""
    home = copy.copy(leftovers.home)
    home.path = Path(shutil.copytree(leftovers.home.path, tmp_path / "home"))
    return home


def test_list_names_every_session_with_state_counts_and_trace(leftovers: Leftovers) -> None:
    run = host_unroll(leftovers.home, "list")
    assert run.returncode == 0
    lines = run.stdout.splitlines()
    named = [re.search(r" (\d{8}_\d{6}_\w+)  compiled ", line)[1] for line in lines]
    assert named == [leftovers.one_shot, leftovers.killed, leftovers.ended]
    assert "  5 messages, 2 LLM calls, 1 tool calls, " in lines[2]
    assert Path(re.search(r"\S+\.py$", lines[2])[0]).is_file()


def test_compile_prints_the_trace_and_refuses_what_it_cannot_find(leftovers: Leftovers) -> None:
    run = host_unroll(leftovers.home, "compile", leftovers.killed)
    assert run.returncode == 0 and Path(run.stdout.strip()).is_file()
    unknown = host_unroll(leftovers.home, "compile", "no-such-session")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert re.match(r"hermes unroll: no session.* 'no-such-session' in ", unknown.stderr)
    assert host_unroll(leftovers.home, "compile").returncode == 2


def test_verify_tells_an_altered_trace(copied: HermesHome, leftovers: Leftovers) -> None:
    run = host_unroll(copied, "verify")
    assert run.returncode == 0
    assert [line.split()[0] for line in run.stdout.splitlines()] == ["ok"] * 3
    [trace] = [
        path for path in copied.path.glob("traces/unrolled/*.py") if b"Hello there." in path.read_bytes()
    ]
    trace.write_bytes(trace.read_bytes().replace(b"Hello there.", b"Hello where."))
    run = host_unroll(copied, "verify", leftovers.one_shot)
    assert run.returncode == 1
    assert run.stdout.startswith(f"ALTERED {leftovers.one_shot}")


def test_prune_removes_what_it_said_it_would(copied: HermesHome) -> None:
    before = files_of(copied)
    run = host_unroll(copied, "prune", "--dry-run", "--max-age-days", "0.0000001")
    assert run.returncode == 0 and run.stdout.count("would remove") == 3
    assert files_of(copied) == before
    run = host_unroll(copied, "prune", "--max-age-days", "0.0000001")
    assert run.returncode == 0 and run.stdout.count("removed ") == 3
    assert not [path for path in files_of(copied) if path.suffix in (".py", ".jsonl")]


def test_doctor_says_fine_or_what_to_do(leftovers: Leftovers, copied: HermesHome) -> None:
    run = host_unroll(leftovers.home, "doctor")
    assert run.returncode == 0
    assert run.stdout.startswith("fine: recording works")
    copied.configure({"unroll": {"record": False}})
    run = host_unroll(copied, "doctor")
    assert run.returncode == 1
    assert run.stdout.startswith("not fine: recording off")


# Consent -------------------------------------------------------------------------------------


def test_config_keeps_sessions_from_being_recorded(model: ModelServer, home: HermesHome) -> None:
    home.install(UNROLL)
    answers = [{"text": "Hello there."}] * 3
    script(model, *answers)
    home.configure({"unroll": {"record": False}})
    assert home.chat("First question.").returncode == 0
    home.configure({"unroll": {"record": True, "exclude_platforms": ["cli"]}})
    assert home.chat("Second question.").returncode == 0
    assert [path for path in files_of(home) if path.suffix in (".py", ".jsonl")] == []
    assert holds(home, "question") == [] and holds(home, "Hello there.") == []
    home.configure({"unroll": {"exclude_platforms": ["telegram"]}})
    assert home.chat("Third question.").returncode == 0
    assert holds(home, "Third question.") != []


def test_slash_command_shows_the_live_session_and_ends_its_recording(
    model: ModelServer, home: HermesHome
) -> None:
    home.install(UNROLL)
    script(model, {"text": "First answer."}, {"text": "Second answer."})
    with Interactive(home) as session:
        session.wait_until_idle()
        session.ask("One.", "First answer.")
        session_id = session_ids(home)[0]
        session.ask("/unroll", f"{session_id}: ")
        session.ask("/unroll off", f"{session_id} is not recorded from now on.")
        session.ask("Two.", "Second answer.")
        session.ask("/unroll", f"{session_id}: not recorded")
        session.quit()
        shown = re.sub(r"\s+", "", session.output)
    recorded = [event for event in journal_of(home, session_id).events if event.kind in STEP_KINDS]
    assert f"{session_id}: {len(recorded)} events, trace {home.path / 'traces'}".replace(" ", "") in shown
    assert recorded[-1].kind == "turn_end"
    assert holds(home, "First answer.") != [] and holds(home, "Second answer.") == []


# Secrets and neighbours ----------------------------------------------------------------------

KINDS = {
    "token": "gh" + "p_" + "{}k9Lm2Qw8Rt5Yx3Vb7Nc1Zd4Hf6Js0PgAeUi",
    "key": "sk" + "-proj-" + "{}T3BlbkFJq7Wv9Zx2Lm5Rt8Yc1Nd4Hf6Ks0P",
    "mail": "planted-{}" + "@" + "corp.example.net",
    "url": "postgres" + "://app:{}Hq7vW9zX2" + "@" + "db.internal:5432/main",
    "password": "pass" + "word={}Zx8Lm5Rt2Yc",
}
PLACES = ("prompt", "args", "file", "output", "reasoning", "answer", "soul")


def planted(place: str) -> str:
    """A text that holds one made-up secret of each kind, all different from those of other places."""
    mark = f"Q{PLACES.index(place)}"
    return " and ".join(secret.format(mark) for secret in KINDS.values())


def secrets(home: HermesHome, server: ModelServer) -> Outcome:
    """Secrets wherever text comes from."""
    (home.path / "SOUL.md").write_text(f"You are careful. {planted('soul')}\n", "utf-8")
    path = notes(home, text=f"{planted('file')}\n")
    (home.project / "print.py").write_text(f"print({planted('output')!r})\n", "utf-8")
    calls = [
        call("read_file", {"path": path}, "call_a"),
        call("terminal", {"command": f"python3 print.py # {planted('args')}"}, "call_b"),
    ]
    script(
        server,
        {"reasoning": planted("reasoning"), "tool_calls": calls},
        {"text": f"I saw {planted('answer')}."},
    )
    run = home.chat(f"Remember {planted('prompt')}.")
    return Outcome(tuple(session_ids(home)), "chat -Q -q", (run,))


def cores(place: str) -> list[str]:
    """The part of each planted secret that must be nowhere, not even in a mask that keeps its ends."""
    mark = f"Q{PLACES.index(place)}"
    return [secret.format(mark)[secret.index("{") :][:8] for secret in KINDS.values()]


def test_planted_secrets_reach_no_file_of_ours(record: Record, play: Play) -> None:
    [recording] = record(secrets)
    home = play(secrets, UNROLL).home
    assert {place: [holds(home, core) for core in cores(place)] for place in PLACES} == {
        place: [[]] * len(KINDS) for place in PLACES
    }
    assert recording.messages == recording.stored
    assert [message["role"][0] for message in recording.stored] == list("uatta")
    assert len(re.findall(r"<redacted:[a-z-]+:\d+>", json.dumps(recording.messages))) > 3 * len(KINDS)


def test_planted_secrets_were_there_to_be_found(play: Play) -> None:
    played = play(secrets, UNROLL)
    sent = json.dumps([request.body for request in played.server.requests])
    for place in ("prompt", "args", "soul"):
        assert [core in sent for core in cores(place)] == [True] * len(KINDS)
    # Of a result the host itself redacts what it knows; e-mails it does not.
    mail = list(KINDS).index("mail")
    assert cores("file")[mail] in sent and cores("output")[mail] in sent


def two_at_once(home: HermesHome, server: ModelServer) -> Outcome:
    """Two conversations of the gateway whose turns overlap, with the same tool call id."""
    routes = []
    for colour in ("red", "blue"):
        path = notes(home, f"{colour}.txt", f"{colour} file\n")
        turns: list[dict[str, Any]] = [
            {
                "text": f"{colour} look",
                "tool_calls": [call("read_file", {"path": path}, "call_0")],
                "wait": 1.5,
            },
            {"text": f"{colour} answer", "wait": 1.5},
        ]
        routes.append({"name": colour, "when": {"any_text": f"{colour} question"}, "turns": turns})
    script(server, first=routes)
    with Gateway(home) as gateway:

        def ask(colour: str) -> None:
            body = {"model": "hermes-agent", "messages": [{"role": "user", "content": f"{colour} question"}]}
            gateway.request("POST", "/v1/chat/completions", body)

        threads = [threading.Thread(target=ask, args=(colour,)) for colour in ("red", "blue")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return Outcome(tuple(session_ids(home)), "POST /v1/chat/completions of the gateway, twice at once")


def test_sessions_of_one_gateway_do_not_mix(record: Record, play: Play) -> None:
    found = record(two_at_once)
    taken = [request.route for request in play(two_at_once, UNROLL).server.requests]
    assert set(taken[:2]) == set(taken[2:4]) == {"red", "blue"}
    assert len(found) == 2
    for recording in found:
        assert recording.messages == recording.stored
        assert [message["role"][0] for message in recording.messages] == list("uata")
        mine, other = ("red", "blue") if "red" in recording.messages[0]["content"] else ("blue", "red")
        told = journal_of(play(two_at_once, UNROLL).home, recording.session_id)
        text = json.dumps([event.data for event in told.events]) + json.dumps(told.messages)
        for word in ("question", "look", "file", "answer"):
            assert f"{mine} {word}" in text and f"{other} {word}" not in text
