"""A user's stop that comes while a cell waits for a tool of the host."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from hermes_rlm import settings
from hermes_rlm.kernel import pool
from hermes_rlm.kernel.session import Caller

CODE = """
try:
    terminal("sleep 60")
except ToolError:
    pass
went_on = True
"""


def test_a_stop_during_a_tool_call_is_seen_before_the_answer_to_the_call(home: Path) -> None:
    stopped: list[bool] = []

    def serve(tool: str, arguments: dict[str, Any]) -> Any:
        stopped.append(True)
        return {"output": "", "exit_code": 130}

    def interrupted() -> bool:
        if stopped:
            time.sleep(0.5)  # longer than the rest of the cell takes
        return bool(stopped)

    session = pool.POOL.session(home, "s")
    with session.turn(10, lambda: False):
        ran = session.run(CODE, 30, settings.load(home), Caller(interrupted=interrupted, serve=serve))
    assert ran.answer.stopped == "user" and ran.answer.reply is not None
    assert ran.answer.reply["assigned"] == [] and ran.answer.reply["interrupted"]
