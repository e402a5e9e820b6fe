"""The demo of hermes-rlm: data is loaded once, three later questions are asked of it in one session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from demo_stage import Demo, Failed, heading, install, say

from tests.host.hermes import Interactive
from tests.host.model_server import auxiliary_route
from tests.host.recordings import compile_all, run_trace

SKILL = """---
name: ledger
description: Reads sales ledgers.
---
In rlm_exec: `import ledger; rows = ledger.load("sales.csv")`.
"""
SKILL_MODULE = """\
import csv

def load(path):
    with open(path, newline="") as file:
        return [{**row, "cents": int(row["cents"])} for row in csv.DictReader(file)]
"""
LOAD = """\
import os, ledger
rows = ledger.load("sales.csv")
terms = read_file("terms.txt")
lines = terminal("wc -l < sales.csv")["output"].strip()
print(terms.strip(), "|", lines, "lines")
len(rows), os.getpid()"""
NORTH = "sum(r['cents'] for r in rows if r['region'] == 'north'), os.getpid()"
BEST = """\
by = {}
for r in rows: by[r['region']] = by.get(r['region'], 0) + r['cents']
max(by, key=by.get), os.getpid()"""
# (what the person asks, what the model runs, what the model answers)
QUESTIONS = (
    ("Load the sales.", LOAD, "20,000 sales are loaded."),
    ("What was sold in all?", "sum(r['cents'] for r in rows), os.getpid()", "The total is there."),
    (
        "And in the north?",
        "sum(r['cents'] for r in rows if r['region'] == 'north'), os.getpid()",
        "The north is there.",
    ),
    ("Which region sold most?", BEST, "The best region is there."),
)
SALES = [(("north", "south", "east")[n % 3], (n * 7919) % 10_000 + n % 3) for n in range(20_000)]


def install_rlm(demo: Demo) -> None:
    heading("Install hermes-rlm and a skill that is a Python module")
    install(demo, "hermes_rlm", "hermes-rlm")
    skill = demo.home.path / "skills" / "ledger"
    (skill / "python" / "ledger").mkdir(parents=True)
    (skill / "SKILL.md").write_text(SKILL, "utf-8")
    (skill / "python" / "ledger" / "__init__.py").write_text(SKILL_MODULE, "utf-8")
    demo.hermes("rlm", "doctor")


def ask_the_kernel(demo: Demo) -> None:
    heading("One session: load once, then three questions in later turns; every value is the kernel's")
    write_sales(demo.home.project)
    turns: list[dict[str, Any]] = []
    for number, (_, code, answer) in enumerate(QUESTIONS):
        call = {"name": "rlm_exec", "arguments": {"code": code}, "id": f"call_cell_{number}"}
        turns += [{"text": "", "tool_calls": [call]}, {"text": answer}]
    demo.model.reset([auxiliary_route(), {"name": "agent", "turns": turns}])
    with Interactive(demo.home) as session:
        session.wait_until_idle()
        for question, _, answer in QUESTIONS:
            session.ask(question, answer)
        session.quit()
    replies = cell_replies(demo)
    for number, (question, code, _) in enumerate(QUESTIONS):
        say(f"> {question}")
        say("\n".join(f"    {line}" for line in code.splitlines()))
        say(f"  {demo.shortened(json.dumps(replies[number]))}\n")
    prove_answers(replies)


def cell_replies(demo: Demo) -> list[dict[str, Any]]:
    """The kernel's replies as the model read them, in order."""
    last = demo.model.requests[-1].body["messages"]
    found = [message["content"] for message in last if message["role"] == "tool"]
    if len(found) != len(QUESTIONS):
        raise Failed(f"{len(QUESTIONS)} tool results were expected, the model saw {len(found)}")
    return [json.loads(content) for content in found]


def prove_answers(replies: list[dict[str, Any]]) -> None:
    """Compare the kernel's values with what the data says; one process gave them all."""
    regions = {region: sum(cents for name, cents in SALES if name == region) for region, _ in SALES}
    expected = [
        len(SALES),
        sum(regions.values()),
        regions["north"],
        max(regions, key=lambda name: regions[name]),
    ]
    pids = set()
    for reply, value in zip(replies, expected, strict=True):
        found, _, pid = reply.get("value", "").strip("()").rpartition(", ")
        pids.add(pid)
        if found != repr(value):
            raise Failed(f"the kernel said {reply}, but the data says {value!r}")
    if len(pids) != 1:
        raise Failed(f"the answers came from several kernels: {pids}")
    if replies[0]["stdout"] != "Net 30 days. | 20001 lines\n":
        raise Failed(f"read_file and terminal gave another text: {replies[0]['stdout']!r}")
    say("proof: four answers equal those computed from the data, by one kernel process without a reload")


def find_it_in_the_trace(demo: Demo) -> None:
    heading("The same session in its trace, and what is left on disk")
    traces = [trace for trace in compile_all(demo.home) if "rlm_exec" in trace.read_text("ascii")]
    if len(traces) != 1:
        raise Failed(f"one trace with the kernel's calls was expected, there are {len(traces)}")
    done = run_trace(traces[0], demo.home.root, "--steps", "--json")
    steps = json.loads(done.stdout)["steps"]
    calls = [step["name"] for step in steps if step["kind"] == "tool_call"]
    say(f"the trace holds these tool calls: {', '.join(calls)}")
    if sorted(calls) != ["read_file", *["rlm_exec"] * len(QUESTIONS), "terminal"]:
        raise Failed("the trace does not hold the four cells and the two calls from inside the kernel")
    demo.keep(traces[0])
    for command in (("rlm", "status"), ("rlm", "checkpoints")):
        demo.hermes(*command)


def write_sales(project: Path) -> None:
    rows = "".join(f"{region},{cents}\n" for region, cents in SALES)
    (project / "sales.csv").write_text(f"region,cents\n{rows}", "utf-8")
    (project / "terms.txt").write_text("Net 30 days.\n", "utf-8")


CHAPTERS = (install_rlm, ask_the_kernel, find_it_in_the_trace)
