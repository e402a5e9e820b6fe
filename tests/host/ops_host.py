"""The host's own Python as one process that does what it is told: each start of the host takes seconds.

It creates and runs jobs through `cron`, and runs watchers and commands of this checkout's hermes_ops beside
them, in a home that a test has made.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.host.hermes import HermesHome, end

ROOT = Path(__file__).parents[2]

# Lives in the host's Python and does what it is told, one JSON line after the other: each start of the host
# takes seconds.
DRIVER = """
import contextlib, io, json, sys, time
from pathlib import Path
from cron import jobs
from cron.scheduler import run_one_job
from hermes_constants import get_hermes_home

def create(**job):
    return jobs.create_job(**job)["id"]

def run(ids):
    for job_id in ids:
        run_one_job(jobs.get_job(job_id))

def pause(job_id, reason):
    jobs.pause_job(job_id, reason=reason)

def tick():
    # What the ticker of a gateway leaves once a minute.
    jobs.record_ticker_heartbeat(success=True)

def listed():
    return {job["id"]: job for job in jobs.list_jobs(include_disabled=True)}

def watch(module, later=0.0):
    from importlib import import_module
    from hermes_ops.core.watch import Context
    context = Context(Path(get_hermes_home()), time.time() + later)
    try:
        reading = import_module("hermes_ops." + module).watch(context)
    finally:
        context.close()
    findings = {one.id: [one.severity, one.text, *one.evidence] for one in reading.findings}
    return {
        "findings": findings,
        "blind": [one.text for one in reading.blind],
        "events": [event.text for event in reading.events],
    }

def ops(*arguments):
    from hermes_ops import cli
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.main(list(arguments))
    return [code, out.getvalue(), err.getvalue()]

answers = sys.stdout
sys.stdout = sys.stderr
for line in sys.stdin:
    name, positional, named = json.loads(line)
    print(json.dumps(globals()[name](*positional, **named)), file=answers, flush=True)
"""


class Host:
    """The process of the host."""

    def __init__(self, home: HermesHome) -> None:
        environment = {**home.environment(), "PYTHONPATH": str(ROOT)}
        self.log = (home.root / "driver.err").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [sys.executable, "-c", DRIVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=environment,
            cwd=home.project,
            start_new_session=True,
        )

    def ask(self, call: str, /, *positional: Any, **named: Any) -> Any:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps([call, positional, named]) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            self.log.seek(0)
            raise RuntimeError(f"{call} ended the host: {self.log.read()[-2000:]}")
        return json.loads(answer)

    def ops(self, *arguments: str, code: int = 0) -> str:
        found, out, err = self.ask("ops", *arguments)
        assert found == code, f"{arguments}: exit {found}\n{out}\n{err}"
        return out

    def states(self) -> dict[str, tuple[str, str | None]]:
        return {name: (job["state"], job["paused_reason"]) for name, job in self.ask("listed").items()}

    def close(self) -> None:
        end(self.process)
        self.log.close()
