"""hermes_unroll records every session of Hermes Agent and compiles it into one replayable Python program."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"


def register(ctx: Any) -> None:
    """Wire the plugin to the host: hooks, the llm_request middleware, /unroll and `hermes unroll`."""
    from .registration import register as wire

    wire(ctx)
