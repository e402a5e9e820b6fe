"""/rlm in a chat: the kernels of this process, without waiting for any of them."""

from __future__ import annotations

import time
from typing import Any

from ._common.home import hermes_home
from ._common.terminal import printable
from .display import duration, size

USAGE = "/rlm shows the kernels of this process; /rlm checkpoints what is saved; /rlm doctor how to check"
_SHOWN = 15


def run(arguments: str) -> str:
    """Answer one /rlm command in text."""
    words = arguments.split()
    answer = _ANSWERS.get(words[0] if words else "status") if len(words) < 2 else None
    return answer() if answer else USAGE


def _status() -> str:
    from .kernel.pool import POOL

    home = str(hermes_home())
    # Chats of another profile in the same gateway are nobody's business here.
    rows = [row for row in POOL.overview() if row.get("home", home) == home]
    return _listed([_line(row) for row in rows]) or "No kernel runs in this process yet."


def _line(row: dict[str, Any]) -> str:
    doing = (
        f"busy with cell {row['cell']} for"
        if row["state"] == "busy"
        else f"idle after cell {row['cell']} for"
    )
    count = len(row["names"])
    return (
        f"{printable(row['session'])}: {doing} {duration(row['seconds'])}, "
        f"{count} name{'' if count == 1 else 's'}, memory {size(row['rss'] or None)}"
    )


def _checkpoints() -> str:
    from .catalog import checkpoints

    entries = sorted(checkpoints(hermes_home()), key=lambda entry: -(entry.saved_at or 0.0))
    lines = []
    for entry in entries:
        if entry.problem:
            lines.append(f"damaged: {printable(entry.path.name)}: {printable(entry.problem)}")
            continue
        ago = duration(time.time() - entry.saved_at)
        named = printable(f"{entry.session}: {entry.name}")
        lines.append(f"{named}, saved {ago} ago, {size(entry.size)}, {len(entry.names)} names")
    return _listed(lines) or "No checkpoint is saved."


def _doctor() -> str:
    return "Run `hermes rlm doctor` in a terminal; its last line is for a bug report."


def _listed(lines: list[str]) -> str:
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n".join(lines[:_SHOWN] + more)


_ANSWERS = {"status": _status, "checkpoints": _checkpoints, "doctor": _doctor}
