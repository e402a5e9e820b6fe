"""`hermes ops gate`: print a text when it changed, else the line that leaves the agent asleep."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from .._common.command_line import Parser, UsageError, complain
from .._common.home import hermes_home
from ..core.moment import show
from ..errors import OpsError
from ..host.zone import zone
from ..schedule import gate, gate_state, gate_text
from ..speak import say, say_json

PROGRAM = "hermes ops gate"
LINES = """NAME [OPTIONS] -- COMMAND ARG...   run a command; print its output when that changed
NAME [OPTIONS] --file FILE         the same for a file; without either for standard input
write NAME [OPTIONS] -- COMMAND    write it as a script, for `hermes cron create --script`
list | reset NAME                  what each gate remembers; forget one"""


def add_arguments(parser: Any) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = LINES
    _add_options(parser)
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="NAME ...", help="see below")


def run(arguments: Any) -> int:
    head, command = _split(arguments.words)
    if not head:
        if command:
            raise UsageError("give the gate a name before the --")
        return _list(arguments.json)
    inner = Parser(prog=PROGRAM)
    _add_options(inner)
    inner.add_argument("names", nargs="*")
    options = inner.parse_args(head, namespace=argparse.Namespace(**vars(arguments)))
    verb = options.names[0] if options.names and options.names[0] in gate_state.RESERVED else None
    names = options.names[1:] if verb else options.names
    if verb == "list":
        if names or command:
            raise UsageError("list takes no name")
        return _list(options.json)
    if len(names) != 1:
        raise UsageError("one name of a gate, then options, then `-- COMMAND ARG...`")
    name = gate_state.check_name(names[0])
    if verb == "reset":
        return _reset(name)
    if command and options.file:
        raise UsageError("either --file or a command, not both")
    if verb == "write":
        return _write(name, options, command)
    return _run(name, options, command)


def _add_options(parser: Any) -> None:
    parser.add_argument(
        "--skip-lines", action="append", default=[], metavar="REGEX", help="lines that do not count"
    )
    parser.add_argument("--sort", action="store_true", help="the order of lines does not count")
    parser.add_argument(
        "--round", type=int, metavar="DIGITS", help="round numbers to so many digits; -1: tens"
    )
    parser.add_argument("--diff", action="store_true", help="print what changed instead of the new text")
    parser.add_argument("--limit", type=int, default=8000, metavar="N", help="print at most N characters")
    parser.add_argument(
        "--timeout", type=float, default=120.0, metavar="S", help="end the command after S seconds"
    )
    parser.add_argument("--quiet-failure", action="store_true", help="a command that fails wakes nobody")
    parser.add_argument("--file", metavar="FILE", help="the text is this file")
    parser.add_argument("--json", action="store_true", help="list: print one JSON object")


def _split(words: list[str]) -> tuple[list[str], list[str]]:
    if "--" in words:
        place = words.index("--")
        return words[:place], words[place + 1 :]
    return words, []


def _options(options: Any) -> gate_text.Options:
    if options.limit < 200:
        raise UsageError("--limit of at least 200 characters")
    if not 0 < options.timeout <= 3600:
        raise UsageError("--timeout from 1 to 3600 seconds")
    if options.round is not None and abs(options.round) > 12:
        raise UsageError("--round from -12 to 12 digits")
    patterns = gate_text.patterns(options.skip_lines)
    return gate_text.Options(patterns, options.sort, options.round, options.diff, options.limit)


def _run(name: str, options: Any, command: list[str]) -> int:
    home, now, chosen = hermes_home(), time.time(), _options(options)
    source = _source(options, command)
    with gate_state.state_file(home, name).changing() as opened:
        if opened.damaged:
            complain(PROGRAM, f"what {name} remembered was damaged and lies at {opened.damaged}", 0)
        before = gate_state.read(name, opened.data)
        verdict = gate.decide(before, source, chosen, now, quiet_failure=options.quiet_failure)
        # Printed before it is remembered: a run that ends in between tells it again.
        sys.stdout.buffer.write(verdict.printed().encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
        opened.data = gate_state.written(verdict.gate)
    if verdict.outcome == gate_state.BASELINE:
        complain(PROGRAM, f"first run of {name}: remembered, nobody is woken", 0)
    if verdict.outcome == gate_state.FAILED and not verdict.wake:
        complain(PROGRAM, f"{name}: {verdict.gate.failure}", 0)
    return 0


def _source(options: Any, command: list[str]) -> gate.Source:
    if command:
        return gate.run_command(command, options.timeout)
    if options.file:
        path = Path(options.file).expanduser()
        return gate.read_file(path)
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("what is to be compared? `-- COMMAND ARG...`, --file FILE, or standard input")
    return gate.text_of(sys.stdin.buffer.read(gate.LARGEST + 1), "standard input")


def _write(name: str, options: Any, command: list[str]) -> int:
    _options(options)
    if not command and not options.file:
        raise UsageError(
            "what is to be compared? a job has no standard input: `-- COMMAND ARG...` or --file FILE"
        )
    home = hermes_home()
    words = [name]
    for text in options.skip_lines:
        words += [f"--skip-lines={text}"]
    words += ["--sort"] if options.sort else []
    words += [f"--round={options.round}"] if options.round is not None else []
    words += ["--diff"] if options.diff else []
    words += [f"--limit={options.limit}"] if options.limit != 8000 else []
    words += [f"--timeout={options.timeout:g}"] if options.timeout != 120.0 else []
    words += ["--quiet-failure"] if options.quiet_failure else []
    words += [f"--file={Path(options.file).expanduser().absolute()}"] if options.file else []
    words += ["--", *command] if command else []
    path, changed = gate.write_script(home, name, words)
    say(f"{path} is {'written' if changed else 'as it was'}")
    say(f'hermes cron create "0 7 * * *" "What to do with the text" --script {path.name} --deliver TARGET')
    return 0


def _reset(name: str) -> int:
    if not gate_state.reset(hermes_home(), name):
        raise OpsError(f"no gate is called {name!r}; see `hermes ops gate list`")
    say(f"{name} has forgotten its text; its next run is the first")
    return 0


def _list(as_json: bool) -> int:
    home = hermes_home()
    found = list(gate_state.all_gates(home))
    unread = [one for one in found if isinstance(one, tuple)]
    gates = [one for one in found if not isinstance(one, tuple)]
    if as_json:
        broken = [{"name": name, "text": why} for name, why in unread]
        say_json({"gates": [one.as_dict() for one in gates], "unread": broken})
        return 1 if unread else 0
    tz = zone(home).tz
    for one in gates:
        last = one.outcomes[-1] if one.outcomes else "never ran"
        more = "  always changing" if one.always_changing else ""
        more += f"  {one.failure}" if one.failure else ""
        say(f"{one.name:<20} {last:<9} ran {show(one.ran_at, tz)}, changed {show(one.changed_at, tz)}{more}")
    for _, why in unread:
        complain(PROGRAM, why, 1)
    if not found:
        say("no gates yet; `hermes ops gate --help` says how to make one")
    return 1 if unread else 0
