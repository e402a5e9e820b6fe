"""What register() does: one copy per process, the tools that are switched on, commands loaded when used."""

from __future__ import annotations

import logging
import sys
from typing import Any

from . import settings, tools
from ._common.home import hermes_home
from ._common.registration import Registration, optional
from .hooks import HOOKS, MIDDLEWARE

logger = logging.getLogger(__name__)

MARKER = "_hermes_rlm_registered"
SLASH_ARGUMENTS = "[status|checkpoints|doctor]"
HELP = "persistent Python kernels: status, checkpoints, export, doctor"


def register(ctx: Any) -> None:
    registration = Registration("hermes-rlm", MARKER, __file__, HOOKS)
    if not registration.begin(ctx, logger):
        return
    registration.wire_hooks(ctx, MIDDLEWARE)
    found = settings.load(hermes_home())
    for problem in found.problems:
        logger.warning("hermes-rlm: %s", problem)
    for tool in tools.TOOLS:
        if not tool.feature or getattr(found, tool.feature):
            ctx.register_tool(
                name=tool.name,
                toolset=tools.TOOLSET,
                schema=tool.schema,
                handler=tool.handler,
                description=tool.description,
            )
    optional(ctx, "register_command", "rlm", _slash_command, "kernels of this process", SLASH_ARGUMENTS)
    optional(ctx, "register_cli_command", "rlm", HELP, _set_up_command, _run_command)
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
