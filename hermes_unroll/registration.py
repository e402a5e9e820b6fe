"""What register() does: one copy per process, only hooks this host knows, commands loaded when used.

The host may call register() again in the same process (it reloads plugins in mid-session, after
forgetting all their hooks), so registering twice from one place is normal. A second *copy* of the
plugin at another place registers nothing: two recorders would record everything twice.
"""

from __future__ import annotations

import logging
import os
import sys
import types
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import __version__, presence
from .hooks import COUNTS, HOOKS, MIDDLEWARE, RECORDER

logger = logging.getLogger(__name__)

# One entry of sys.modules, so that all copies find it whatever their module is called.
MARKER = "_hermes_unroll_registered"
HELP = "record sessions as replayable programs: list, compile, verify, prune, doctor"


def register(ctx: Any) -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    other = _other_copy(here)
    if other is not None:
        if other.warned != here:
            other.warned = here
            logger.warning(
                "hermes-unroll is installed twice: %s records, %s does nothing; remove one of them",
                other.path,
                here,
            )
        if here not in other.copies:
            other.copies.append(here)
        return
    marker = sys.modules.get(MARKER)
    if marker is not None and marker.context() is ctx and _is_live(marker, otherwise=True):
        # Called twice for one load: the host has not forgotten the first.
        return
    hooks = [name for name in HOOKS if name in _valid_hooks()]
    for name in hooks:
        ctx.register_hook(name, HOOKS[name])
    for kind, callback in MIDDLEWARE.items():
        _optional(ctx, "register_middleware", kind, callback)
    _optional(
        ctx,
        "register_command",
        "unroll",
        _slash_command,
        "recorded sessions of this process",
        "[off|on [SESSION]]",
    )
    _optional(ctx, "register_cli_command", "unroll", HELP, _set_up_command, _run_command)
    sys.modules[MARKER] = marker = types.ModuleType(MARKER)
    marker.path, marker.hooks, marker.warned, marker.copies = here, HOOKS, None, [here]
    marker.context = _reference(ctx)
    RECORDER.describe(recorder=__version__)
    presence.describe(
        path=here, version=__version__, hooks=hooks, counts=COUNTS, copies=marker.copies, argv=_command_name()
    )


def _other_copy(here: str) -> Any:
    """Return the marker of a copy at another place whose hooks the host still calls."""
    marker = sys.modules.get(MARKER)
    if marker is None or marker.path == here:
        return None
    return marker if _is_live(marker, otherwise=True) else None


def _is_live(marker: Any, otherwise: bool) -> bool:
    """Tell whether the host still calls a registration's hooks; ``otherwise`` where that cannot be seen."""
    plugins = sys.modules.get("hermes_cli.plugins")
    try:
        table = plugins.get_plugin_manager()._hooks
        return any(
            callback in marker.hooks.values() for callbacks in table.values() for callback in callbacks
        )
    except Exception:
        return otherwise


def _reference(ctx: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(ctx)
    except TypeError:
        return lambda: None


def _valid_hooks() -> Any:
    """The hook names this host fires; all of ours where no host says."""
    plugins = sys.modules.get("hermes_cli.plugins")
    return getattr(plugins, "VALID_HOOKS", HOOKS)


def _optional(ctx: Any, method: str, *arguments: Any) -> None:
    register_it: Callable[..., Any] | None = getattr(ctx, method, None)
    if register_it is not None:
        register_it(*arguments)


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
