"""What register() does: one copy per process; the guard, `hermes ops`, /ops and the skills it brings."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

from . import guard
from ._common.registration import Registration, optional

logger = logging.getLogger(__name__)

MARKER = "_hermes_ops_registered"
SLASH_ARGUMENTS = "[status|ack ID|snooze ID HOURS|watchers]"
HELP = "watchers, reports and actions: wallet, supervise, sweep, costs, doctor, ..."
HOOKS = {"pre_llm_call": guard.pre_llm_call, "pre_tool_call": guard.pre_tool_call}
SKILLS = {"one-shot-reminder": "Set a reminder that is delivered once, at the right instant, and verified"}


def register(ctx: Any) -> None:
    registration = Registration("hermes-ops", MARKER, __file__, HOOKS, {"ops": _run_command})
    if not registration.begin(ctx, logger):
        return
    registration.wire_hooks(ctx, {})
    optional(ctx, "register_command", "ops", _slash_command, "incidents and watchers", SLASH_ARGUMENTS)
    optional(ctx, "register_cli_command", "ops", HELP, _set_up_command, _run_command)
    for name, text in SKILLS.items():
        path = Path(__file__).resolve().parent / "skills" / name / "SKILL.md"
        optional(ctx, "register_skill", name, path, text)
    registration.done(ctx)


def _slash_command(arguments: str) -> str:
    from .slash import run

    return run(arguments)


def _set_up_command(parser: Any) -> None:
    from .cli import add_commands

    add_commands(parser)


def _run_command(arguments: Any) -> None:
    from .cli import run

    sys.exit(run(arguments))
