"""The process of the second reader: bashlex reads one command after the other, as lines of JSON.

    python -P second_child.py SECONDS MEGABYTES

A line on stdin is [number, text], one on stdout [number, [[word, ...], ...]], the simple commands that
bashlex sees; [number, null] where it cannot read. The first line on stdout is "ready". bashlex can hang: a
command that takes longer than SECONDS ends the process. So does the end of stdin or of the parent.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
from collections.abc import Iterator
from typing import Any

ORPHAN_SECONDS = 5.0
MOST_COMMANDS = 60
MOST_WORDS = 400
DEEPEST = 60


def main(seconds: float, megabytes: int) -> None:
    parent = os.getppid()
    limit = megabytes * 1_000_000
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    import bashlex

    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    # The default action ends the process even inside a loop that never comes back to the interpreter's eye.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    print("ready", flush=True)
    for line in lines(parent):
        number, text = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            found = list(simple_commands(bashlex.parse(text)))
        except Exception:
            # bashlex raises what it stumbles over: AttributeError, IndexError, RecursionError, ...
            found = None
        signal.setitimer(signal.ITIMER_REAL, 0)
        print(json.dumps([number, found]), flush=True)


def lines(parent: int) -> Iterator[bytes]:
    """The lines of stdin until it ends, or until somebody else has become the parent."""
    waiting = b""
    while True:
        ready, _, _ = select.select([0], [], [], ORPHAN_SECONDS)
        if os.getppid() != parent:
            return
        if not ready:
            continue
        chunk = os.read(0, 65_536)
        if not chunk:
            return
        *whole, waiting = (waiting + chunk).split(b"\n")
        yield from whole


def simple_commands(nodes: list[Any]) -> Iterator[list[str]]:
    """The words of every simple command below some nodes, those inside substitutions too."""
    waiting, count = [(node, 0) for node in reversed(nodes)], 0
    while waiting and count < MOST_COMMANDS:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            continue
        if node.kind == "command":
            words = [part.word for part in node.parts if part.kind == "word"]
            if words and len(words) <= MOST_WORDS:
                count += 1
                yield words
        below = list(getattr(node, "parts", ())) + list(getattr(node, "list", ()))
        command = getattr(node, "command", None)
        if command is not None:
            below.append(command)
        waiting += [(one, depth + 1) for one in reversed(below)]


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
