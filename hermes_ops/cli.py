"""`hermes ops ...` and `python -m hermes_ops ...`: the same commands with and without the host.

Each command is a file of commands/, loaded when it is the one that is called. One that can do without a
home, such as judging a file in CI, says so with `without_home` among its defaults. Exit codes: 0 fine, 1 a
finding or failure, 2 usage.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import import_module
from typing import Any, NoReturn

from . import __version__
from ._common.command_line import Parser, UsageError, carry_out, complain
from ._common.home import hermes_home
from .errors import OpsError

PROGRAM = "hermes ops"

# name -> (module below commands/, what it does)
COMMANDS = {
    "status": ("status", "what is wrong now, and when each watcher ran (the default)"),
    "install": ("install", "write wrapper scripts and create the jobs of the watchers"),
    "uninstall": ("uninstall", "remove the scripts, jobs and units that install made"),
    "doctor": ("doctor", "check that all this works here, and say what to do where it does not"),
    "settings": ("settings", "every setting with its value here and its default"),
    "watch": ("watch", "run one watcher now, as its job does"),
    "incidents": ("incidents", "list, acknowledge and snooze incidents"),
    "test-alert": ("test_alert", "send a test message by every alert channel"),
    "explain": ("explain", "walk a decision tree: slow, spend, missing, dead, duplicate"),
    "wallet": ("wallet", "balance at the provider, burn, and who burns"),
    "costs": ("costs", "what was spent, by day, model, task, job and session"),
    "budget": ("budget", "the daily cap, what it paused, and resuming it"),
    "outcomes": ("outcomes", "cost per successful run, with its interval"),
    "thinking": ("thinking", "reasoning tokens and auxiliary models against their cap"),
    "supervise": ("supervise", "watch the gateway from outside and restart it when it is dead"),
    "backup": ("backup", "copy state.db, verify the copy, list copies"),
    "sweep": ("sweep", "expected runs against real ones"),
    "watchers": ("watchers", "who watches whom, checked"),
    "policy": ("policy", "delivery policy and documented exclusions, checked"),
    "deliveries": ("deliveries", "sent, silent and failed, by channel"),
    "schedule": ("schedule", "jobs that cost and jobs worth moving"),
    "table": ("table", "the watch table, as Markdown, JSON or HTML"),
    "diff": ("diff", "what changed since the acknowledged schedule"),
    "lint": ("lint", "whether prompts of jobs survive a session without history"),
    "remind": ("remind", "a reminder at a time, shown in both zones and verified"),
    "gate": ("gate", "wake an agent only when something changed"),
    "probes": ("probes", "declared checks against an accepted baseline"),
    "toolsets": ("toolsets", "what prompts need against the tools that jobs have"),
    "guard": ("guard", "the command guard: explain, test, learn, status, accept"),
    "skills": ("skills", "scan skills before an install and afterwards; find what is broken in them"),
    "lanes": ("lanes", "a worktree per writer, and a gate before anything merges"),
}
DEFAULT = "status"


class _Command(Parser):
    """The parser of one command: it loads the command's module when it is asked to do something."""

    module: str = ""
    is_hosted: bool = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        self._load()
        return super().parse_known_args(args, namespace)

    def format_help(self) -> str:
        self._load()
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """End as argparse does where the host parses: it takes no other end for a wrong command line."""
        if self.is_hosted:
            self.exit(2, f"{self.prog}: {message}; see `{self.prog} --help`\n")
        super().error(message)

    def _load(self) -> None:
        if self.module:
            command = _module(self.module)
            self.module = ""
            command.add_arguments(self)
            self.set_defaults(ops_run=command.run)


class _HostedCommand(_Command):
    is_hosted = True


def add_commands(parser: argparse.ArgumentParser) -> None:
    """Add the commands to a parser (the host's subparser, or main's own)."""
    kind = _Command if isinstance(parser, Parser) else _HostedCommand
    verbs = parser.add_subparsers(dest="ops_command", metavar="COMMAND", parser_class=kind)
    for name, (module, text) in COMMANDS.items():
        verbs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".").module = module


def main(arguments: list[str] | None = None) -> int:
    """Run a command line without the host; returns the exit code."""
    parser = Parser(prog=PROGRAM, description="Watchers, reports and actions for Hermes Agent.")
    parser.add_argument("--version", action="version", version=f"hermes-ops {__version__}")
    add_commands(parser)
    try:
        parsed = parser.parse_args(arguments)
    except UsageError as error:
        return complain(PROGRAM, error, 2)
    return run(parsed)


def run(arguments: argparse.Namespace) -> int:
    """Run a parsed command; returns the exit code."""
    handler = getattr(arguments, "ops_run", None)
    if handler is None:
        default = _Command(prog=f"{PROGRAM} {DEFAULT}")
        default.module = COMMANDS[DEFAULT][0]
        arguments = default.parse_args([])
        handler = arguments.ops_run
    return carry_out(PROGRAM, lambda: _spoken(handler, arguments), ())


def _spoken(handler: Callable[[Any], int], arguments: argparse.Namespace) -> int:
    """Run a command; what it complains of may quote texts of the host, so it is redacted."""
    try:
        home = hermes_home()
        if not home.is_dir() and not getattr(arguments, "without_home", False):
            raise OpsError(f"{home} is no directory; HERMES_HOME should name the home of a Hermes Agent")
        return handler(arguments)
    except (OpsError, UsageError) as error:
        from .speak import clean

        return complain(PROGRAM, clean(str(error)), 2 if isinstance(error, UsageError) else 1)


def _module(name: str) -> Any:
    return import_module(f".commands.{name}", __package__)
