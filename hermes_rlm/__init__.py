"""hermes_rlm gives Hermes Agent a persistent Python kernel per session."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"


def register(ctx: Any) -> None:
    """Wire the plugin to the host: the rlm_* tools, hooks, /rlm and `hermes rlm`."""
    from .registration import register as wire

    wire(ctx)
