"""What register() does: one copy per process, only hooks this host knows, commands loaded when used."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Any

from . import __version__, presence
from ._common.registration import Registration, optional
from .hooks import COUNTS, HOOKS, MIDDLEWARE, RECORDER

logger = logging.getLogger(__name__)

MARKER = "_hermes_unroll_registered"
HELP = "record sessions as replayable programs: list, compile, verify, prune, doctor"


def register(ctx: Any) -> None:
    registration = Registration("hermes-unroll", MARKER, __file__, HOOKS)
    if not registration.begin(ctx, logger):
        return
    hooks = registration.wire_hooks(ctx, MIDDLEWARE)
    optional(
        ctx,
        "register_command",
        "unroll",
        _slash_command,
        "recorded sessions of this process",
        "[off|on [SESSION]]",
    )
    optional(ctx, "register_cli_command", "unroll", HELP, _set_up_command, _run_command)
    marker = registration.done(ctx)
    RECORDER.describe(recorder=__version__)
    presence.describe(
        path=registration.here,
        version=__version__,
        hooks=hooks,
        counts=COUNTS,
        copies=marker.copies,
        argv=_command_name(),
    )


def _command_name() -> str:
    return Path(sys.argv[0]).name if sys.argv and sys.argv[0] else ""


def _slash_command(arguments: str) -> str:
    from .slash import run

    return run(arguments)


def _set_up_command(parser: Any) -> None:
    from .cli import add_commands

    add_commands(parser)


def _run_command(arguments: Any) -> None:
    from .cli import run

    sys.exit(run(arguments))
