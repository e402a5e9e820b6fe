"""The host's own Python as one process that does what it is told, for all tests of hermes_ops in one file.

It makes and runs jobs through the host's `cron`, books use in its database, and runs watchers and commands of
this checkout's hermes_ops beside them, in a home that a test has made. Each start of `hermes` takes a second
or two; a question to this process takes none.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.host.hermes import HermesHome, end

CHECKOUT = Path(__file__).resolve().parents[2]
PROCESS = Path(__file__).with_name("ops_host_process.py")


class Refused(Exception):
    """What was raised in the process of the host: its type and text."""


class Host:
    """The process, with the environment of a home; what it prints is in `driver.err` of the home's root."""

    def __init__(self, home: HermesHome) -> None:
        self.log = (home.root / "driver.err").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(PROCESS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            encoding="utf-8",
            env={**home.environment(), "PYTHONPATH": str(CHECKOUT)},
            cwd=home.project,
            start_new_session=True,
        )

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *exception: object) -> None:
        end(self.process)
        self.log.close()

    def ask(self, name: str, /, *positional: Any, **named: Any) -> Any:
        """Call a function of the process, or anything that can be imported there by its dotted name.

        Refused when it raises, RuntimeError with what the process printed when it ends.
        """
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps([name, positional, named]) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.log.seek(0)
            raise RuntimeError(f"{name} ended the host: {self.log.read()[-2000:]}")
        done, answer = json.loads(line)
        if not done:
            raise Refused(answer)
        return answer

    def ops(self, *words: str, code: int = 0) -> str:
        """What `hermes ops WORDS` prints; it ends with this exit code."""
        found, out, err = self.ask("ops", *words)
        assert found == code, f"{words}: exit {found}\n{out}\n{err}"
        return out

    def states(self) -> dict[str, tuple[str, str | None]]:
        """State and reason of the pause of every job."""
        return {name: (job["state"], job["paused_reason"]) for name, job in self.ask("listed").items()}
