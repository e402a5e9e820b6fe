"""The demo of hermes-unroll: a session is recorded, compiled into a program, and replayed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from demo_stage import Demo, Failed, heading, install, say

from tests.host.model_server import auxiliary_route
from tests.host.recordings import Recording, compile_all, run_trace, without_state


def install_unroll(demo: Demo) -> None:
    heading("Install hermes-unroll from this checkout and enable it")
    install(demo, "hermes_unroll", "hermes-unroll")


def record_a_session(demo: Demo) -> None:
    heading("A real session: text with two parallel tools, a tool that fails, and a second turn")
    lists = [demo.home.project / name for name in ("fruit.txt", "herbs.txt")]
    lists[0].write_text("apple\npear\nplum\n", "utf-8")
    lists[1].write_text("mint\nsage\n", "utf-8")
    missing = demo.home.project / "nuts.txt"

    def read(path: Path) -> dict[str, Any]:
        return {"name": "read_file", "arguments": {"path": str(path)}, "id": f"call_{path.stem}"}

    count = {"name": "terminal", "arguments": {"command": f"wc -l < {lists[0]}"}, "id": "call_count"}
    turns = [
        {"text": "I read both lists.", "tool_calls": [read(path) for path in lists]},
        {"text": "Perhaps there is a third.", "tool_calls": [read(missing)]},
        {"text": "fruit.txt is the longest; there is no nuts.txt."},
        {"text": "I count them.", "tool_calls": [count]},
        {"text": "It has three lines."},
    ]
    demo.model.reset([auxiliary_route(), {"name": "agent", "turns": turns}])
    first = demo.hermes("chat", "-Q", "-q", "Which list is the longest?")
    if first.session_id is None:
        raise Failed(f"hermes did not say which session it was: {first.stderr}")
    demo.hermes("chat", "-Q", "-q", "How long is it?", "--resume", first.session_id)


def replay_the_trace(demo: Demo) -> None:
    heading("The session as a program, built and replayed with the host's database moved away")
    with without_state(demo.home):
        say("$ python -m hermes_unroll compile --all")
        traces = compile_all(demo.home)
        if len(traces) != 1:
            raise Failed(f"one session was expected, {len(traces)} are recorded")
        trace = traces[0]
        say(demo.shortened(str(trace)))
        say(f"\n$ head -9 {trace.name}")
        say("".join(trace.read_text("ascii").splitlines(keepends=True)[:9]))
        say(f"$ python -I -S {trace.name} > replay.json")
        done = run_trace(trace, demo.home.root)
    say(demo.shortened(done.stderr.rstrip()))
    kept = demo.keep(trace)
    demo.left += ["The trace stays. Try:", "", f"    python3 {kept} --steps", f"    python3 {kept} --help"]
    result = json.loads(done.stdout)
    prove_equal(Recording(demo.home.path, result["session_id"], trace, result))


def prove_equal(recording: Recording) -> None:
    """Compare the replayed messages with the host's rows, one by one."""
    replay, stored = recording.messages, recording.stored
    for number, (ours, theirs) in enumerate(zip(replay, stored, strict=False)):
        if ours != theirs:
            raise Failed(f"message {number} differs: replayed {ours}, stored {theirs}")
    if len(replay) != len(stored):
        raise Failed(f"replayed {len(replay)} messages, but state.db has {len(stored)} rows")
    if recording.system_prompt != recording.stored_system_prompt:
        raise Failed("the replayed system prompt is not the one in state.db")
    say(f"\nproof: replayed {len(replay)} messages == {len(stored)} rows in state.db, and the system prompt")


def show_unroll_commands(demo: Demo) -> None:
    heading("What is recorded, is it unaltered, does recording work?")
    for command in ("list", "verify", "doctor"):
        demo.hermes("unroll", command)
        say()


CHAPTERS = (install_unroll, record_a_session, replay_the_trace, show_unroll_commands)
