"""Alerts that do not go through the gateway, for when it is the gateway that died.

Telegram's Bot API by the token of the environment or `.env`; `hermes send`; any command. Each is tried in
the order of `ops.alerts`; the first that confirms ends it, unless `ops.alert_all`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Sent:
    """What became of one channel: "telegram", "send" or "command"; ok; what it said, without any secret."""

    channel: str
    ok: bool
    detail: str


def channels(home: Path) -> list[str]:
    """The channels that are configured, in their order, by name and target; never a token."""
    raise NotImplementedError


def send(home: Path, text: str, *, severity: str = "error", timeout: float = 20.0) -> list[Sent]:
    """Send one text (redacted, cut to what the channel takes); [] when no channel is configured."""
    raise NotImplementedError
