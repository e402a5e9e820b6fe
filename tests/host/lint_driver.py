"""Run by the host's Python in a home: the host makes jobs, our commands lint them, both tell toolsets.

Prints one JSON object. The argument is the checkout.
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

import toolsets as host_toolsets
from agent.skill_utils import normalize_skill_lookup_name
from cron.jobs import create_job
from hermes_cli.config import load_config
from hermes_cli.tools_config import _get_platform_tools
from tools.skills_tool import skill_view

from hermes_ops import cli
from hermes_ops._common.config import read_config
from hermes_ops.host import toolsets as ours
from hermes_ops.host.skills import Skills
from hermes_ops.host.toolset_table import CRON_DEFAULT, INCLUDES, TOOLS

HOME = Path(os.environ["HERMES_HOME"])
PINNED = {"model": "scripted-model", "provider": "custom", "deliver": "local"}
GOOD = "Report the weather of today in Berlin, in two short lines of text."


def ops(*words: str) -> dict[str, Any]:
    """Run `hermes ops WORDS --json` in this process."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(out):
        cli.main([*words, "--json"])
    out.flush()
    return json.loads(out.buffer.getvalue().decode("utf-8"))


(HOME / "scripts").mkdir(exist_ok=True)
(HOME / "scripts" / "disk.py").write_text("print('disk is full')\n")
for folder, name in (
    ("plain", ""),
    ("cat/deep", ""),
    ("cat/short", "long-title"),
    ("x/same", ""),
    ("y/same", ""),
):
    path = HOME / "skills" / folder
    path.mkdir(parents=True)
    title = f"name: {name}\n" if name else ""
    (path / "SKILL.md").write_text(f"---\n{title}description: says something\n---\nSay something.\n")

early = create_job(GOOD, "0 5 * * *", name="early", enabled_toolsets=["web"], **PINNED)
jobs = {
    "early": early,
    "reader": create_job(
        "Explain the list above in plain words, two sentences for each of its points.",
        "0 6 * * *",
        name="reader",
        context_from=early["id"],
        enabled_toolsets=["web"],
        **PINNED,
    ),
    "too early": create_job(
        GOOD, "0 4 * * *", name="too early", context_from=[early["id"]], enabled_toolsets=["web"], **PINNED
    ),
    "vague": create_job(
        "Prepare the usual digest for {{city}} and post it to the Telegram channel.",
        "0 7 * * *",
        name="vague",
    ),
    "script": create_job("", "every 30m", name="script", script="disk.py", no_agent=True, deliver="local"),
    "arguments": create_job(
        "", "every 30m", name="arguments", script="disk.py --all", no_agent=True, deliver="local"
    ),
    "slip": create_job(GOOD, "0 8 * * *", name="slip", enabled_toolsets=["files", "safe"], **PINNED),
    "lacking": create_job(
        "Run `df -h` and name the fullest disk.",
        "0 9 * * *",
        name="lacking",
        enabled_toolsets=["web"],
        **PINNED,
    ),
    "skilled": create_job(GOOD, "0 10 * * *", name="skilled", skills=["plain", "absent"], **PINNED),
}

config = read_config(HOME)
mine = ours.read_toolsets(config)
skills = Skills(HOME, config)
names = ("plain", "deep", "cat/deep", "long-title", "same", "x/same", "absent")
print(
    json.dumps(
        {
            "ids": {name: record["id"] for name, record in jobs.items()},
            "lint": ops("lint"),
            "toolsets": ops("toolsets"),
            "source": mine.source,
            "resolved": {
                name: [
                    sorted(mine.tools(name) or ()),
                    sorted(ours._from_table(name)),
                    sorted(host_toolsets.resolve_toolset(name, include_registry=False)),
                ]
                for name in host_toolsets.TOOLSETS
            },
            "table": sorted({*TOOLS, *INCLUDES}),
            "valid": {
                name: [mine.known(name), host_toolsets.validate_toolset(name)]
                for name in ("files", "web", "all")
            },
            "cron default": [sorted(CRON_DEFAULT), sorted(_get_platform_tools(load_config(), "cron"))],
            "skills": {
                name: [
                    len(skills.find(name) or ()) == 1,
                    bool(json.loads(skill_view(normalize_skill_lookup_name(name))).get("success")),
                ]
                for name in names
            },
        }
    )
)
