"""hermes_ops keeps Hermes Agent alive, within budget and honest."""

from __future__ import annotations

from typing import Any

__version__ = "0.1.0"


def register(ctx: Any) -> None:
    """Wire the plugin to the host: /ops, `hermes ops` and the skill it brings."""
    from .registration import register as wire

    wire(ctx)
