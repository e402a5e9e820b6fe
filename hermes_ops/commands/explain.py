"""`hermes ops explain SYMPTOM`: a decision tree over the host's files, with the evidence at each node."""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

from .._common.command_line import UsageError
from .._common.home import hermes_home
from ..core.watch import Context
from ..speak import say, say_json

TREES = {
    "slow": "the agent is slow or not itself [SESSION]",
    "spend": "money goes, and nobody knows where",
    "missing": "nothing came of a job JOB",
    "dead": "the bot does not answer",
    "duplicate": "the same came twice JOB",
    "incident": "an incident the watchers recorded, as an autopsy ID",
}
NEEDS_SUBJECT = ("missing", "duplicate", "incident")


def add_arguments(parser: Any) -> None:
    listed = "; ".join(f"{name}: {text}" for name, text in TREES.items())
    parser.add_argument("symptom", nargs="?", metavar="SYMPTOM", help=listed)
    parser.add_argument("subject", nargs="?", metavar="WHAT", help="a session, a job, an incident")
    parser.add_argument("--all", action="store_true", help="ask every question, also after a cause is found")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: Any) -> int:
    if arguments.symptom is None:
        for name, text in TREES.items():
            say(f"hermes ops explain {name:<10} {text}")
        return 0
    if arguments.symptom not in TREES:
        raise UsageError(f"no tree for {arguments.symptom!r}; there are: {', '.join(TREES)}")
    if arguments.symptom in NEEDS_SUBJECT and not arguments.subject:
        raise UsageError(f"say what: hermes ops explain {arguments.symptom} WHAT")
    context = Context(hermes_home(), time.time())
    try:
        if arguments.symptom == "incident":
            return _autopsy(context, arguments)
        return _walk(context, arguments)
    finally:
        context.close()


def _walk(context: Context, arguments: Any) -> int:
    from ..playbook.tree import Case, walk

    questions = import_module(f"..playbook.{arguments.symptom}", __package__).QUESTIONS
    done = walk(questions, Case(context, arguments.subject), every=arguments.all)
    if arguments.json:
        say_json({"symptom": arguments.symptom, "subject": arguments.subject, **done.as_dict()})
    else:
        for line in done.lines():
            say(line)
    return 1 if done.causes or done.unknown else 0


def _autopsy(context: Context, arguments: Any) -> int:
    from ..core.incident import Incidents, as_dict
    from ..playbook.autopsy import markdown

    episodes = Incidents(context.home).find(arguments.subject)
    if arguments.json:
        say_json({"symptom": "incident", "episodes": [as_dict(one) for one in episodes]})
    else:
        for line in markdown(episodes, context.zone.tz, context.now).splitlines():
            say(line)
    return 0
