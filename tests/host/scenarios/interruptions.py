"""Sessions that are stopped, or spoken to, while they work."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence

from tests.host.hermes import HermesHome, Interactive, Run, end, finish
from tests.host.model_server import ModelServer
from tests.host.scenarios.core import call, scenario, script, session_ids, wait_until
from tests.host.stored import stored_rows

SLOW_COMMAND = "echo $$ > begun; exec sleep 30"


@scenario("chat in a terminal, Ctrl-C")
def interrupted_tool(home: HermesHome, server: ModelServer) -> None:
    """Ctrl-C while the first of two commands runs, then one more turn."""
    calls = [
        call("terminal", {"command": SLOW_COMMAND}, "call_a"),
        call("terminal", {"command": "date"}, "call_b"),
    ]
    script(server, {"text": "Starting.", "tool_calls": calls}, {"text": "Still here."})
    with Interactive(home) as session:
        session.wait_until_idle()
        session.send_line("Run it.")
        _wait_for_command(home)
        session.interrupt()
        wait_until(_stored(home, "Operation interrupted."), "the end of the turn")
        session.wait_until_idle()
        session.ask("Are you there?", "Still here.")
        session.quit()


@scenario("chat in a terminal, Ctrl-C")
def interrupted_stream(home: HermesHome, server: ModelServer) -> None:
    """Ctrl-C while the answer is being streamed, then one more turn."""
    long = "One two three four five. " * 20
    script(server, {"text": long, "wait_between": 0.3}, {"text": "Still here."})
    with Interactive(home) as session:
        session.wait_until_idle()
        session.send_line("Count.")
        session.wait_for("One two three")
        session.interrupt()
        wait_until(_stored(home, "One two three"), "the end of the turn")
        session.wait_until_idle()
        session.ask("Are you there?", "Still here.")
        session.quit()


@scenario("chat in a terminal, /steer")
def steered(home: HermesHome, server: ModelServer) -> None:
    """A /steer while a command runs: its text is added to the result the model sees."""
    command = "echo $$ > begun; sleep 3"
    script(server, {"tool_calls": [call("terminal", {"command": command}, "call_a")]}, {"text": "Steered."})
    with Interactive(home) as session:
        session.wait_until_idle()
        session.send_line("Run it.")
        _wait_for_command(home)
        session.send_line("/steer Be brief.")
        session.wait_for("Steered.")
        session.wait_until_idle()
        session.quit()


@scenario("chat -Q -q, SIGINT")
def sigint(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """SIGINT to a quiet run while a command runs."""
    return _signalled(home, server, signal.SIGINT, "chat", "-Q", "-q", "Run it.")


@scenario("chat -q, SIGTERM")
def sigterm(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """SIGTERM while a command runs."""
    return _signalled(home, server, signal.SIGTERM, "chat", "-q", "Run it.")


@scenario("chat -Q -q, SIGKILL")
def sigkill(home: HermesHome, server: ModelServer) -> Sequence[Run]:
    """SIGKILL while a command runs: no hook comes after it."""
    return _signalled(home, server, signal.SIGKILL, "chat", "-Q", "-q", "Run it.")


def _wait_for_command(home: HermesHome) -> None:
    """Wait until the command of the script runs, and take away the file that told it."""
    begun = home.project / "begun"
    wait_until(begun.exists, "the command")
    begun.rename(home.project / "begun.seen")


def _stored(home: HermesHome, text: str) -> Callable[[], bool]:
    """A condition: the newest session has an assistant row that contains `text`."""

    def condition() -> bool:
        rows = stored_rows(home.path, session_ids(home)[-1])
        return any(row["role"] == "assistant" and text in (row["content"] or "") for row in rows)

    return condition


def _signalled(home: HermesHome, server: ModelServer, number: int, *arguments: str) -> Sequence[Run]:
    script(
        server, {"text": "Starting.", "tool_calls": [call("terminal", {"command": SLOW_COMMAND}, "call_a")]}
    )
    process = home.start(*arguments)
    try:
        _wait_for_command(home)
        os.kill(process.pid, number)
        return [finish(process, 60)]
    finally:
        end(process)
        _end_slow_command(home)


def _end_slow_command(home: HermesHome) -> None:
    """The command runs in a session of its own and outlives a killed host."""
    try:
        os.kill(int((home.project / "begun.seen").read_text("utf-8")), signal.SIGKILL)
    except (OSError, ValueError):
        pass
