"""The Python half of scripts/demo: chapters, each of which shows one thing and fails when it does not hold.

All of it happens in one throwaway Hermes home with a scripted model on 127.0.0.1; no other machine
can be reached from there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "lib"))

import demo_guard
import demo_ops
import demo_rlm
import demo_unroll
from demo_stage import Demo, Failed, heading, say

from tests.host import hermes
from tests.host.hermes import HermesHome
from tests.host.model_server import ModelServer
from tests.host.recordings import CommandError

CHAPTERS = (*demo_unroll.CHAPTERS, *demo_rlm.CHAPTERS, *demo_ops.CHAPTERS, *demo_guard.CHAPTERS)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play all chapters; the exit code is 1 when one of them fails."""
    parser = argparse.ArgumentParser(prog="scripts/demo", description="Show the plugins at work.")
    parser.add_argument("--only", default="", metavar="WORD", help="only chapters whose name holds this")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="where traces and pages go (default: a new folder)"
    )
    options = parser.parse_args(arguments)
    if not hermes.available():
        say("demo: there is no hermes beside this Python; run scripts/demo, which makes one")
        return 1
    kept = options.keep or Path(tempfile.mkdtemp(prefix="hermes-demo-"))
    kept.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with ModelServer() as model, HermesHome(model.url) as home:
        demo = Demo(home, model, kept.resolve())
        say(f"A throwaway home, $HERMES_HOME = {home.path}; a scripted model on {model.url}.")
        try:
            for chapter in CHAPTERS:
                if options.only in chapter.__name__:
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
