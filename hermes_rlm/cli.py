"""`hermes rlm ...` and `python -m hermes_rlm ...`: the same commands with and without the host.

Exit codes: 0 fine, 1 a finding or failure, 2 usage. Data goes to stdout, with --json as one object that
carries `schema`; messages go to stderr.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

from . import __version__, catalog, cells, sessions
from ._common.command_line import Parser, carry_out, complain, say, say_json
from ._common.home import hermes_home
from .display import duration, moment, size

PROGRAM = "hermes rlm"


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Add the commands to a parser (the host's subparser, or main's own)."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    verbs = parser.add_subparsers(dest="rlm_command", metavar="COMMAND")

    def verb(among: Any, name: str, handler: Callable[[Any], int], text: str) -> Any:
        command = among.add_parser(name, help=text, description=text)
        command.set_defaults(rlm_handler=handler)
        # Without a default of its own a command keeps what the one above it was given.
        command.add_argument(
            "--json", action="store_true", default=argparse.SUPPRESS, help="print one JSON object"
        )
        return command

    verb(verbs, "status", show_status, "list the kernels of this home (the default)")
    command = verb(verbs, "checkpoints", list_checkpoints, "list saved states; or delete, prune")
    command.add_argument("--session", metavar="S", help="only those of one session")
    actions = command.add_subparsers(dest="rlm_action", metavar="ACTION")
    command = verb(actions, "delete", delete_checkpoint, "delete one checkpoint")
    command.add_argument("target", metavar="SESSION", help="session id or a unique beginning of it")
    command.add_argument("name", metavar="NAME", help="name of the checkpoint")
    command = verb(actions, "prune", prune_checkpoints, "remove what is too old or too much")
    command.add_argument("--dry-run", action="store_true", help="say what would go, remove nothing")
    command = verb(verbs, "export", export_session, "print the cells that made the live names, as a script")
    command.add_argument("target", metavar="SESSION", help="session id or a unique beginning of it")
    command.add_argument("-o", "--output", metavar="FILE", help="write the script there")
    verb(verbs, "doctor", run_doctor, "check that kernels work here, and say what to do where not")


def main(arguments: list[str] | None = None) -> int:
    """Run a command line without the host; returns the exit code."""
    parser = Parser(prog=PROGRAM, description="Persistent Python kernels, one per session.")
    parser.add_argument("--version", action="version", version=f"hermes-rlm {__version__}")
    add_commands(parser)
    return carry_out(PROGRAM, lambda: run(parser.parse_args(arguments)))


def run(arguments: Any) -> int:
    """Run a parsed command; returns the exit code."""
    handler = getattr(arguments, "rlm_handler", None)
    if handler is None:
        handler = show_status
    return carry_out(PROGRAM, lambda: handler(arguments), (catalog.NotFoundError, ValueError))


# Commands ------------------------------------------------------------------------------------


def show_status(arguments: Any) -> int:
    from . import status

    home = hermes_home()
    rows = status.rows(home)
    if arguments.json:
        say_json({"home": str(home), "kernels": [row.as_dict() for row in rows]})
        return 0
    for row in rows:
        say(row.line())
    if not rows:
        say(f"No kernel runs in {home}; the first rlm_exec of a session starts one.")
    return 0


def list_checkpoints(arguments: Any) -> int:
    home = hermes_home()
    entries = catalog.checkpoints(home)
    if arguments.session:
        session = catalog.find(home, arguments.session)
        entries = [entry for entry in entries if entry.session == session]
    entries.sort(key=lambda entry: (entry.saved_at or 0.0, entry.session, entry.name))
    if arguments.json:
        say_json({"home": str(home), "checkpoints": [_checkpoint(entry) for entry in entries]})
    else:
        for entry in entries:
            say(_checkpoint_line(entry))
        if not entries:
            say("No checkpoint is saved" + (f" for {session}." if arguments.session else f" in {home}."))
    return 1 if any(entry.problem for entry in entries) else 0


def _checkpoint(entry: Any) -> dict[str, Any]:
    return {
        "session": entry.session,
        "name": entry.name,
        "saved_at": moment(entry.saved_at) if entry.saved_at else None,
        "bytes": entry.size,
        "names": len(entry.names),
        "path": str(entry.path),
        "problem": entry.problem or None,
    }


def _checkpoint_line(entry: Any) -> str:
    if entry.problem:
        return f"DAMAGED  {entry.path}  {size(entry.size)}  {entry.problem}"
    when = f"{moment(entry.saved_at)}, {duration(time.time() - entry.saved_at)} ago"
    return f"{entry.session}  {entry.name}  {when}  {size(entry.size)}  {len(entry.names)} names"


def delete_checkpoint(arguments: Any) -> int:
    from . import checkpoint

    home = hermes_home()
    session = catalog.find(home, arguments.target)
    if not checkpoint.delete(home, session, arguments.name):
        names = sorted(entry.name for entry in catalog.checkpoints(home) if entry.session == session)
        there = ", ".join(names[:10]) or "none"
        raise catalog.NotFoundError(f"{session} has no checkpoint {arguments.name!r}; it has: {there}")
    if arguments.json:
        say_json({"session": session, "deleted": arguments.name})
    else:
        say(f"Deleted checkpoint {arguments.name} of {session}.")
    return 0


def prune_checkpoints(arguments: Any) -> int:
    from . import checkpoint

    doomed = checkpoint.prune(hermes_home(), None, dry_run=arguments.dry_run)
    if arguments.json:
        say_json({"dry_run": arguments.dry_run, "removed": [_checkpoint(entry) for entry in doomed]})
        return 0
    verb = "would remove" if arguments.dry_run else "removed"
    for entry in doomed:
        say(f"{verb}  {_checkpoint_line(entry)}")
    if not doomed:
        say("Nothing to remove.")
    return 0


def export_session(arguments: Any) -> int:
    from . import export

    home = hermes_home()
    session = catalog.find(home, arguments.target)
    recorded = cells.read(sessions.directory(home, session))
    if not recorded.cells:
        raise catalog.NotFoundError(f"the journal of {session} holds no cells")
    script = export.script(recorded.cells, session)
    if arguments.output:
        _write(arguments.output, script)
    if recorded.damaged:
        complain(PROGRAM, f"{recorded.damaged} lines of the journal cannot be read and are left out", 1)
    if arguments.json:
        data = {"session": session, "cells": len(recorded.cells), "damaged_lines": recorded.damaged}
        say_json({**data, "output": arguments.output, "script": script})
    elif not arguments.output:
        sys.stdout.buffer.write(script.encode("utf-8"))
        sys.stdout.buffer.flush()
    return 1 if recorded.damaged else 0


def _write(output: str, script: str) -> None:
    from ._common import files

    files.write_atomic(output, script.encode("utf-8"))


def run_doctor(arguments: Any) -> int:
    from .doctor import examine

    report = examine(hermes_home())
    if arguments.json:
        say_json(report.as_dict())
    else:
        for line in report.lines():
            say(line)
    return 0 if report.ok else 1
