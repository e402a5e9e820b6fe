"""`hermes ops test-alert`: one test message by every alert channel, and what arrived."""

from __future__ import annotations

import argparse
import socket
import time
from datetime import datetime, timezone

from .._common.home import hermes_home
from ..core import alert
from ..speak import say, say_json

UNSET = (
    "no alert channel is configured: set TELEGRAM_BOT_TOKEN and OPS_CHAT_ID in .env, or ops.alert_send, or "
    "ops.alert_command in config.yaml"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--channel", choices=alert.CHANNELS, help="only this channel")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Send by each channel, whatever the others did; 1 when none is configured or one failed."""
    home = hermes_home()
    at = datetime.fromtimestamp(time.time(), timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
    text = f"test of hermes ops alerts from {socket.gethostname()}, {at}: nothing is wrong"
    sent = alert.send(home, text, severity="error", channel=arguments.channel, everywhere=True)
    problems = alert.problems(home)
    failed = not sent or any(not one.ok for one in sent)
    if arguments.json:
        rows = [{"channel": one.channel, "ok": one.ok, "detail": one.detail} for one in sent]
        say_json({"home": str(home), "sent": rows, "problems": problems, "ok": not failed})
        return int(failed)
    for one in sent:
        say(f"{'ok' if one.ok else 'FAILED'}  {one.channel}  {one.detail}")
    if not sent:
        say(f"channel {arguments.channel} is not configured" if arguments.channel else UNSET)
    for problem in problems:
        say(f"wrong: {problem}")
    return int(failed)
