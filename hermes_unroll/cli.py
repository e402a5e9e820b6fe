"""`hermes unroll ...` and `python -m hermes_unroll ...`: the same commands with and without the host.

Exit codes: 0 fine, 1 a finding or failure, 2 usage. Data goes to stdout, with --json as one object that
carries `schema`; messages go to stderr.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import __version__, catalog, sealing
from . import settings as settings_of
from ._common.command_line import Parser, UsageError, carry_out, complain, say, say_json
from ._common.home import hermes_home

PROGRAM = "hermes unroll"
_FAILURES = (catalog.NotFoundError, sealing.SealError, ValueError)


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Add the commands to a parser (the host's subparser, or main's own)."""
    verbs = parser.add_subparsers(dest="unroll_command", metavar="COMMAND")

    def verb(name: str, handler: Callable[[Any], int], text: str, *, json_output: bool = True) -> Any:
        command = verbs.add_parser(name, help=text, description=text)
        command.set_defaults(unroll_handler=handler)
        if json_output:
            command.add_argument("--json", action="store_true", help="print one JSON object")
        return command

    def add_lineage(command: Any) -> None:
        command.add_argument(
            "--lineage",
            choices=("single", "logical"),
            default="single",
            help="the sessions named alone (default), or with what they came from, led to and delegated to",
        )

    command = verb("list", list_sessions, "list recorded sessions, the latest at the end")
    command.add_argument("session", nargs="*", help="session id, trace path, or a prefix; default: all")
    add_lineage(command)
    command.add_argument(
        "--limit", type=_count, default=50, metavar="N", help="at most N (default 50, 0: all)"
    )
    command = verb("compile", compile_sessions, "compile journals into trace programs")
    command.add_argument("session", nargs="*", help="session id, trace path, or a prefix of either")
    command.add_argument("--pending", action="store_true", help="all that wait and are not being written")
    command.add_argument("--all", action="store_true", help="all, from the journals, as they are now")
    command.add_argument("--journal", metavar="NAME", help=argparse.SUPPRESS)
    add_lineage(command)
    command = verb("verify", verify_sessions, "check traces and journals against their hash chains")
    command.add_argument("session", nargs="*", help="session id, trace path, or a prefix; default: all")
    add_lineage(command)
    command = verb("prune", prune_sessions, "remove recordings that are too old or take too much room")
    command.add_argument("--dry-run", action="store_true", help="say what would go, remove nothing")
    command.add_argument("--max-age-days", type=_amount, metavar="N", help="instead of the configured age")
    command.add_argument("--max-size-mb", type=_amount, metavar="N", help="instead of the configured size")
    verb("doctor", run_doctor, "check that recording works, and say what to do where it does not")
    for name, text in (("off", "stop recording a session or chat"), ("on", "record it again")):
        command = verb(name, set_consent, text, json_output=False)
        command.set_defaults(allowed=name == "on")
        command.add_argument("session", nargs="?", help="session id or a prefix of it")
        command.add_argument("--chat", metavar="ID", help="a chat id of a messaging platform")


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, not {text!r}")
    return int(text)


def _amount(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number of at least 0, not {text!r}")
    return value


def main(arguments: list[str] | None = None) -> int:
    """Run a command line without the host; returns the exit code."""
    parser = Parser(prog=PROGRAM, description="Recorded sessions as replayable programs.")
    parser.add_argument("--version", action="version", version=f"hermes-unroll {__version__}")
    add_commands(parser)
    return carry_out(PROGRAM, lambda: run(parser.parse_args(arguments)))


def run(arguments: Any) -> int:
    """Run a parsed command; returns the exit code."""
    _limit_cpu()
    handler = getattr(arguments, "unroll_handler", None)
    if handler is None:
        handler, arguments.limit, arguments.json, arguments.session = list_sessions, 10, False, []
    return carry_out(PROGRAM, lambda: handler(arguments), _FAILURES)


def _limit_cpu() -> None:
    """A compiler started by the host is bounded: it must not outlive its use."""
    seconds = os.environ.get("UNROLL_CPU_SECONDS", "")
    if seconds.isdigit():
        try:
            import resource

            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
        except (ImportError, ValueError, OSError):
            pass


# Commands ------------------------------------------------------------------------------------


def list_sessions(arguments: Any) -> int:
    home = hermes_home()
    entries = _named(home, arguments) or catalog.sessions(home)
    shown = entries[-arguments.limit :] if arguments.limit else entries
    cost = _total_cost(entries)
    if arguments.json:
        rows = [entry.as_dict() for entry in shown]
        say_json({"home": str(home), "total": len(entries), **cost, "sessions": rows})
        return 0
    if not entries:
        say(f"No session is recorded in {home}. `hermes unroll doctor` tells whether recording works.")
        return 0
    for entry in shown:
        say(_line(entry))
    if len(shown) < len(entries):
        say(f"{len(entries) - len(shown)} earlier ones: hermes unroll list --limit 0")
    if arguments.session and len(entries) > 1:
        say(f"{len(entries)} sessions together: {_cost(cost)}")
    return 0


def _named(home: Path, arguments: Any) -> list[catalog.Recorded]:
    """Return the sessions a command line names, with their lineage where that is asked for."""
    found: dict[str, catalog.Recorded] = {}
    for name in arguments.session:
        entry = catalog.find(home, name)
        for member in catalog.lineage(home, entry) if arguments.lineage == "logical" else [entry]:
            found.setdefault(member.session_id, member)
    return list(found.values())


def _total_cost(entries: list[catalog.Recorded]) -> dict[str, Any]:
    """Add up what is known; a session whose cost is not makes the sum a lower bound."""
    costs = [entry.summary.get("cost_usd") for entry in entries]
    known = [cost for cost in costs if cost is not None]
    exact = len(known) == len(costs) and all(
        entry.summary.get("cost_status") != "unknown" for entry in entries
    )
    status = "estimated" if exact else "unknown"
    return {"cost_usd": round(sum(known), 8) if known else None, "cost_status": status}


def _line(entry: catalog.Recorded) -> str:
    summary = entry.summary
    counts = ""
    if "messages" in summary:
        counts = f"{summary['messages']} messages, {summary['llm_calls']} LLM calls, "
        counts += f"{summary['tool_calls']} tool calls, {_cost(summary)}, "
    problem = f"  ({entry.problem})" if entry.problem else ""
    trace = entry.trace or entry.journal
    when = summary.get("started_at") or catalog.journal_time(entry.modified)
    when = when[:19].replace("T", " ")
    return f"{when}  {entry.session_id}  {entry.state}  {counts}{entry.bytes:,} bytes  {trace}{problem}"


def _cost(summary: dict[str, Any]) -> str:
    cost = summary.get("cost_usd")
    if cost is None:
        return "cost unknown"
    return f"{'at least ' if summary.get('cost_status') == 'unknown' else ''}${cost:.4f}"


def compile_sessions(arguments: Any) -> int:
    home = hermes_home()
    wanted = len(arguments.session) > 0
    if wanted + arguments.pending + arguments.all + bool(arguments.journal) != 1:
        raise UsageError("say what to compile: one or more sessions, --pending or --all")
    if arguments.pending:
        written, problems = sealing.seal_pending(home)
    else:
        written, problems = _compile_each(home, _journals(home, arguments))
    if arguments.pending or arguments.journal:
        from .retention import prune

        prune(home, settings_of.load(home))
    if arguments.json:
        say_json({"traces": [str(path) for path in written], "problems": problems})
    else:
        for path in written:
            say(str(path))
        if not written and not problems:
            print("Nothing waits to be compiled.", file=sys.stderr)
    for problem in problems:
        complain(PROGRAM, problem, 1)
    return 1 if problems else 0


def _journals(home: Path, arguments: Any) -> list[Path]:
    if arguments.all:
        return list(sealing.journals(home))
    if arguments.journal:
        return [directory for directory in sealing.journals(home) if directory.name == arguments.journal]
    found = []
    for entry in _named(home, arguments):
        if entry.journal is None:
            raise UsageError(
                f"the journal of {entry.session_id} is gone: only its trace is left, at {entry.trace}"
            )
        found.append(entry.journal)
    return found


def _compile_each(home: Path, directories: list[Path]) -> tuple[list[Path], list[str]]:
    written, problems = [], []
    for count, directory in enumerate(directories, 1):
        if len(directories) > 1 and sys.stderr.isatty():
            print(f"\r{count}/{len(directories)} {directory.name[:60]:<60}", end="", file=sys.stderr)
        try:
            written.append(sealing.seal(home, directory))
        except (sealing.SealError, OSError) as error:
            problems.append(f"{directory.name}: {error}")
    if len(directories) > 1 and sys.stderr.isatty():
        print(file=sys.stderr)
    return written, problems


def verify_sessions(arguments: Any) -> int:
    from .verification import verify

    home = hermes_home()
    entries = _named(home, arguments) or catalog.sessions(home)
    results = [verify(entry) for entry in entries]
    if arguments.json:
        say_json({"sessions": [result.as_dict() for result in results]})
    else:
        for result in results:
            say(f"{'ok' if result.ok else 'ALTERED':8}{result.session_id}  {'; '.join(result.notes)}")
        if not results:
            say(f"No session is recorded in {home}.")
    return 0 if all(result.ok for result in results) else 1


def prune_sessions(arguments: Any) -> int:
    from dataclasses import replace

    from . import retention

    home = hermes_home()
    wanted = settings_of.load(home)
    for name in ("max_age_days", "max_size_mb"):
        if getattr(arguments, name) is not None:
            wanted = replace(wanted, **{name: getattr(arguments, name)})
    doomed = retention.plan(home, wanted) if arguments.dry_run else retention.prune(home, wanted)
    if arguments.json:
        rows = [{"name": item.name, "bytes": item.bytes, "why": item.why} for item in doomed]
        say_json({"dry_run": arguments.dry_run, "removed": rows, "bytes": sum(item.bytes for item in doomed)})
        return 0
    verb = "would remove" if arguments.dry_run else "removed"
    for item in doomed:
        say(f"{verb}  {item.name}  {item.bytes:,} bytes  ({item.why})")
    if not doomed:
        say("Nothing to remove.")
    return 0


def run_doctor(arguments: Any) -> int:
    from .doctor import examine

    report = examine(hermes_home())
    if arguments.json:
        say_json(report.as_dict())
    else:
        for line in report.lines():
            say(line)
    return 0 if report.ok else 1


def set_consent(arguments: Any) -> int:
    home = hermes_home()
    if bool(arguments.session) == bool(arguments.chat):
        raise UsageError("name one session, or one chat with --chat")
    if arguments.chat:
        name, value = "chats", arguments.chat
    else:
        name, value = "sessions", _session_id(home, arguments)
    settings_of.set_consent(home, name, value, arguments.allowed)
    verb = "recorded" if arguments.allowed else "not recorded any more"
    kind = "Chat" if arguments.chat else "Session"
    say(f"{kind} {value} is {verb}; a running process follows within seconds.")
    return 0


def _session_id(home: Path, arguments: Any) -> str:
    """Return the id a session is named by. One that is off may have no recording."""
    decided = settings_of.load(home).exclude_sessions
    if arguments.session in decided:
        return arguments.session
    return catalog.find(home, arguments.session).session_id
