"""Runs actions inside a process of the host and prints what became of them: `python actions_driver.py HOME`.

Two homes: that of the process, and a profile below it in another zone, which the host is pointed to.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from cron.jobs import create_job, use_cron_store

from hermes_ops.core.action import Action, Done, apply
from hermes_ops.host.jobs import read_jobs

HOME = Path(sys.argv[1])
PROFILE = HOME / "profiles" / "work"
SCRIPT = {"script": "say.py", "no_agent": True, "deliver": "local"}
told: dict[str, Any] = {}


def act(label: str, verb: str, job_id: str | None, home: Path = HOME, /, **arguments: Any) -> Done:
    return tell(label, apply(Action(verb, home, job_id, arguments, "test"), state_home=HOME))


def tell(name: str, done: Done) -> Done:
    job = read_jobs(done.action.home).by_id(done.job_id or "")
    told[name] = {"ok": done.ok, "changed": done.changed, "detail": done.detail, "job": job and dict(job.raw)}
    return done


for home in (HOME, PROFILE):
    (home / "scripts").mkdir(parents=True, exist_ok=True)
    (home / "scripts" / "say.py").write_text("print('said')\n")

made = act("create", "create", None, schedule="every 2h", name="watch", **SCRIPT)
paused = act("pause", "pause", made.job_id)
act("pause again", "pause", made.job_id)
tell("resume", apply(paused.undo, state_home=HOME))
act("run", "run", made.job_id)

edited = act("edit", "edit", made.job_id, schedule="30 4 * * *", deliver="telegram:-100:17", name="nightly")
tell("undo edit", apply(edited.undo, state_home=HOME))

agent = act("create agent", "create", None, schedule="0 9 * * *", prompt="Say what is new.", deliver="local")
pinned = act("pin", "edit", agent.job_id, model="small-model", provider="custom", enabled_toolsets=["web"])
tell("unpin", apply(pinned.undo, state_home=HOME))

soon = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(time.time() + 3600))
once = act("create once", "create", None, schedule=soon, prompt="Remind me.", deliver="local")
act("once again", "edit", once.job_id, schedule="every 3h")

act("bad schedule", "create", None, schedule="99 99 * * *", prompt="x")
act("bad script", "create", None, schedule="every 2h", script="../../etc/passwd", no_agent=True)
act("no such job", "pause", "0" * 12)
act("no id", "pause", "x; touch /tmp/x")

tell("remove", apply(made.undo, state_home=HOME))

with use_cron_store(PROFILE):
    other = create_job("Say what is new.", "0 9 * * *", deliver="local")["id"]
there = act("profile pin", "edit", other, PROFILE, model="small-model")
tell("profile unpin", apply(there.undo, state_home=HOME))
print(json.dumps(told))
