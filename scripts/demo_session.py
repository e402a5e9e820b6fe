"""The Python half of scripts/demo: chapters, each of which shows one thing and fails when it does not hold.

All of it happens in one throwaway Hermes home with a scripted model on 127.0.0.1; no other machine
can be reached from there.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.host import hermes  # noqa: E402
from tests.host.hermes import HermesHome, Run  # noqa: E402
from tests.host.model_server import ModelServer, auxiliary_route  # noqa: E402
from tests.host.recordings import (  # noqa: E402
    UNROLL,
    CommandError,
    Recording,
    compile_all,
    run_trace,
    without_state,
)


class Failed(Exception):
    """What the demo claims does not hold."""


@dataclass
class Demo:
    """Where the chapters play, where what they leave goes, and the lines that tell of it at the end."""

    home: HermesHome
    model: ModelServer
    kept: Path
    left: list[str] = field(default_factory=list)

    def hermes(self, *arguments: str, show: bool = True) -> Run:
        """Run a hermes command and show it with its output; Failed unless it exits 0."""
        say(f"$ hermes {' '.join(quoted(argument) for argument in arguments)}")
        process = self.home.start(*arguments)
        try:
            run = hermes.finish(process)
        finally:
            hermes.end(process)
        if show or run.returncode != 0:
            say(self.shortened(run.stdout.rstrip()))
        if run.returncode != 0:
            raise Failed(f"the command exited {run.returncode}: {run.stderr.strip()}")
        return run

    def shortened(self, text: str) -> str:
        """A text with the throwaway home's path written as $HERMES_HOME."""
        return text.replace(str(self.home.path), "$HERMES_HOME")

    def keep(self, file: Path) -> Path:
        """Copy a file to where it outlives the home, and return the copy."""
        return Path(shutil.copy2(file, self.kept / file.name))


def say(text: str = "") -> None:
    print(text, flush=True)


def heading(text: str) -> None:
    say(f"\n== {text}\n")


def quoted(argument: str) -> str:
    return f'"{argument}"' if " " in argument else argument


# hermes-unroll ---------------------------------------------------------------------------------


def install_unroll(demo: Demo) -> None:
    heading("Install hermes-unroll from this checkout and enable it")
    target = demo.home.path / "plugins" / "hermes-unroll"
    shutil.copytree(UNROLL, target, ignore=shutil.ignore_patterns("__pycache__"))
    say(f"copied hermes_unroll to {demo.shortened(str(target))}")
    demo.hermes("plugins", "enable", "hermes-unroll", "--no-allow-tool-override")


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Play all chapters; the exit code is 1 when one of them fails."""
    parser = argparse.ArgumentParser(prog="scripts/demo", description="Show the plugins at work.")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="where the trace goes (default: a new folder)"
    )
    options = parser.parse_args(arguments)
    if not hermes.available():
        say("demo: there is no hermes beside this Python; run scripts/demo, which makes one")
        return 1
    kept = options.keep or Path(tempfile.mkdtemp(prefix="hermes-unroll-demo-"))
    kept.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with ModelServer() as model, HermesHome(model.url) as home:
        demo = Demo(home, model, kept.resolve())
        say(f"A throwaway home, $HERMES_HOME = {home.path}; a scripted model on {model.url}.")
        try:
            for chapter in CHAPTERS:
                chapter(demo)
        except (Failed, CommandError, TimeoutError) as failure:
            say(f"\nFAILED: {failure}")
            say("\n".join(demo.left))
            return 1
    heading(f"Done in {time.monotonic() - began:.0f} s; the home is removed")
    for line in demo.left:
        say(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
