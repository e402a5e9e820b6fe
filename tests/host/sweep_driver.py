"""Run by the host's Python in a home: the host's own ticks on a clock of ours, and our sweep between them.

Prints one JSON object: what each sweep found. The argument is the checkout.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

sys.path.insert(0, sys.argv[1])

from cron import executions, jobs, scheduler

from hermes_ops.cli import main
from hermes_ops.core.watch import Context
from hermes_ops.schedule import sweep

HOME = Path(os.environ["HERMES_HOME"])
BERLIN = ZoneInfo("Europe/Berlin")
STEPS: dict[str, Any] = {}
clock = [datetime(2026, 6, 1, 0, 10, tzinfo=BERLIN).timestamp()]

real_now = jobs._hermes_now
for module in (jobs, executions, scheduler):
    module._hermes_now = lambda: datetime.fromtimestamp(clock[0], BERLIN)


def script(name: str, text: str) -> str:
    (HOME / "scripts").mkdir(exist_ok=True)
    (HOME / "scripts" / name).write_text(text)
    return name


def moment(day: int, time: str) -> float:
    return datetime.fromisoformat(f"2026-06-{day:02}T{time}").replace(tzinfo=BERLIN).timestamp()


def go_on(day: int, time: str) -> None:
    """Let the host tick every half hour until then."""
    until = moment(day, time)
    while clock[0] < until:
        clock[0] = min(until, clock[0] + 1800)
        scheduler.tick(verbose=False, sync=True)
        for name in ("ticker_heartbeat", "ticker_last_success"):
            (HOME / "cron" / name).write_text(str(clock[0]))


def swept(step: str) -> None:
    """Keep what a sweep finds now."""
    context = Context(HOME, clock[0])
    try:
        reading = sweep.watch(context)
    finally:
        context.close()
    found = {
        finding.id.removeprefix("schedule."): [finding.severity, finding.text, *finding.evidence]
        for finding in reading.findings
    }
    STEPS[step] = {"findings": found, "blind": [blind.text for blind in reading.blind]}


def make(name: str, schedule: str, text: str, **fields: Any) -> str:
    made = jobs.create_job(
        "", schedule, name=name, script=script(f"{name}.py", text), no_agent=True, **fields
    )
    STEPS.setdefault("ids", {})[name] = made["id"]
    return made["id"]


make("often", "0 */6 * * *", "print('x')", deliver="local")
daily = make("daily", "0 6 * * *", "print('x')", deliver="local")
broken = make("broken", "0 9 * * *", "import sys; sys.exit('no luck')", deliver="local")
sent = make("sent", "0 9 * * *", "print('x')", deliver="discord:55")
once = make("once", "2026-06-02T10:00", "print('x')", deliver="local")
idle = make("idle", "0 9 * * *", "print('x')", deliver="local")
jobs.pause_job(idle, reason="a holiday")

go_on(3, "12:00")
swept("three days")
go_on(4, "05:40")
clock[0] = moment(4, "06:05")
jobs.advance_next_run(daily)  # what a gateway leaves that dies between planning a run and making it
go_on(4, "12:00")
swept("a run lost")
script("broken.py", "print('x')")
jobs.update_job(sent, {"deliver": "local"})
go_on(5, "12:00")
swept("mended")
go_on(6, "05:40")
clock[0] = moment(6, "14:10")
go_on(6, "15:00")
swept("after a night without a gateway")
go_on(9, "12:00")
swept("a week later")
jobs.resume_job(idle)
go_on(10, "12:00")
swept("all well")

for module in (jobs, executions, scheduler):
    module._hermes_now = real_now
(HOME / "scripts" / "often.py").unlink()
with contextlib.redirect_stdout(io.StringIO()):
    main(["sweep", "--brief", "--write"])
    brief = jobs.create_job("Tell the operator.", "15 5 * * *", name="brief", script="hermes-ops-brief.py")
    STEPS["briefs"] = []
    for _ in range(2):
        scheduler.run_one_job(jobs.get_job(brief["id"]))
        after = jobs.get_job(brief["id"])
        newest = max((HOME / "cron" / "output" / brief["id"]).glob("*.md"))
        STEPS["briefs"].append([after["last_status"], after["last_error"], newest.read_text("utf-8")])
        time.sleep(1.1)  # the host names an output by the second
print(json.dumps(STEPS))
