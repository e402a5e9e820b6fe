"""Run by the host's Python in a home: real jobs, runs and edits by the host, and our commands between them.

Prints one JSON object: what each step said. The arguments are the checkout and a file the gate looks at.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, sys.argv[1])

from cron.jobs import create_job, get_job, remove_job, update_job
from cron.scheduler import run_one_job

from hermes_ops import cli

HOME = Path(os.environ["HERMES_HOME"])
LOOKED_AT = Path(sys.argv[2])
STEPS: dict[str, Any] = {}


def ops(*words: str) -> tuple[int, str, str]:
    """Run `hermes ops WORDS` in this process: exit code, stdout, stderr."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = cli.main(list(words))
    out.flush()
    return code, out.buffer.getvalue().decode("utf-8"), err.getvalue()


def ran(job_id: str) -> dict[str, Any]:
    """Let the host run a job: its record afterwards (None: it is gone), and the newest output of it."""
    run_one_job(get_job(job_id))
    outputs = sorted(
        (HOME / "cron" / "output" / job_id).glob("*.md"), key=lambda path: path.stat().st_mtime_ns
    )
    return {"job": get_job(job_id), "output": outputs[-1].read_text("utf-8") if outputs else ""}


scripts = HOME / "scripts"
scripts.mkdir(exist_ok=True)
(scripts / "disk.py").write_text("print('disk is full')\n")
digest = create_job("Summarise the mail of today.", "0 6 * * 1-5", name="morning | digest", deliver="local")
disk = create_job("", "every 30m", name="disk", script="disk.py", no_agent=True, deliver="local")
later = create_job("Say hello.", "2027-07-09T15:30:00", name="later", deliver="local")

forms = ("--markdown", "--json", "--html")
STEPS["tables"] = [[ops("table", form)[1] for form in forms] for _ in range(2)]
STEPS["accepted"] = ops("diff", "--accept", "--reason", "as set up")
STEPS["disk ran"] = ran(disk["id"])
STEPS["tables"].append([ops("table", form)[1] for form in forms])
STEPS["same"] = ops("diff")
update_job(digest["id"], {"schedule": "30 5 * * 1-5", "model": "other/model"})
remove_job(later["id"])
STEPS["changed"] = ops("diff", "--json")
STEPS["table after"] = ops("table", "--json")[1]

LOOKED_AT.write_text("one\n")
STEPS["gate written"] = ops("gate", "write", "news", "--ignore", "^# ", "--file", str(LOOKED_AT))
quiet = create_job("", "every 1h", name="gate", script="ops-gate-news.py", no_agent=True, deliver="local")
agent = create_job("Tell me.", "every 1h", name="gated agent", script="ops-gate-news.py", deliver="local")
STEPS["gate first"] = ran(quiet["id"])
LOOKED_AT.write_text("# a comment\none\n")
STEPS["gate same"] = ran(quiet["id"])
STEPS["gate before an agent"] = ran(agent["id"])
LOOKED_AT.write_text("two\n")
STEPS["gate changed"] = ran(quiet["id"])
LOOKED_AT.unlink()
STEPS["gate failed"] = ran(quiet["id"])

STEPS["local refused"] = ops("remind", "x", "--in", "5m", "--deliver", "local")
zones = ("--at", "2027-07-09 15:30", "--zone", "America/New_York", "--force-local", "--json")
STEPS["zones"] = ops("remind", "Call Ann", *zones)
made = json.loads(STEPS["zones"][1])
STEPS["pending"] = get_job(made["job"])
STEPS["cancelled"] = ops("remind", "cancel", made["reminder"])
STEPS["after cancelling"] = get_job(made["job"])
STEPS["blocked"] = ops("remind", "run hermes gateway restart", "--in", "5m", "--force-local")
STEPS["scripts left"] = sorted(path.name for path in scripts.glob("ops-remind-*.py"))
STEPS["unheard"] = ops("remind", "Water the plants", "--in", "2m", "--deliver", "file-chat:me", "--json")
STEPS["ids"] = {"digest": digest["id"], "disk": disk["id"], "later": later["id"]}

print(json.dumps(STEPS))
